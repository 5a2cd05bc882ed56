"""The svmlight parser against its slow twin: the same rows bit for bit, and the same place of the first error."""

import bz2
import gzip
import io
import json
import math
import os
import random
import re
import threading
from fractions import Fraction

import naive_svmlight as naive
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from perceptrons.data import source
from perceptrons.data.files import MAGIC, DataError
from perceptrons.data.svmlight import SvmlightSource

LARGEST = 2**1024 - 2**970  # the first number that rounds to infinity
BIG = 1 << 23  # a block larger than any file here
BLOCKS = st.sampled_from([1, 2, 7, 33, 100, BIG])
PLACE = re.compile(r"(?P<path>.*?):(?P<line>\d+):(?P<column>\d+): (?P<what>.*)", re.DOTALL)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("svmlight") / "train.svm"


def read(paths, **settings):
    """Everything that can be read, and the error that ended it."""
    batches, error = [], None
    try:
        for batch in SvmlightSource([str(p) for p in paths], **settings).batches():
            batches.append(batch)
    except DataError as refused:
        error = str(refused)
    return batches, error


def joined(batches):
    """The bytes of all rows below each other: values, indices, row pointers and labels."""
    values = [b.rows.values for b in batches]
    indices = [b.rows.indices for b in batches]
    ends, n = [np.zeros(1, np.uint64)], 0
    for b in batches:
        assert b.rows.indptr[0] == 0 and len(b.rows) == len(b.y) == len(b.rows.indptr) - 1
        ends.append(b.rows.indptr[1:] + np.uint64(n))
        n += b.rows.values.size
    y = [b.y for b in batches]
    empty = np.zeros(0), np.zeros(0, np.uint32), np.zeros(0)
    parts = ([e, *p] for e, p in zip(empty, (values, indices, y), strict=True))
    values, indices, y = (np.concatenate(p) for p in parts)
    return as_bytes(values, indices, np.concatenate(ends), y)


def as_bytes(values, indices, indptr, y):
    assert (values.dtype, indices.dtype, indptr.dtype, y.dtype) == (np.float64, np.uint32, np.uint64, np.float64)
    return values.tobytes(), indices.tobytes(), indptr.tobytes(), y.tobytes()


def check(path, data, block=BIG, **settings):
    """Demand of the compiled parser what the naive one says of the same bytes."""
    path.write_bytes(data)
    batches, error = read([path], block=block, **settings)
    try:
        ref = naive.parse(data, **settings)
    except naive.Refused as refused:
        assert error is not None, f"accepted, but {refused}"
        good = naive.parse(b"\n".join(data.split(b"\n")[: refused.line - 1]), **settings)
        got, before = joined(batches), as_bytes(*good)  # whole batches from before the error
        assert all(b.startswith(g) for b, g in zip(before, got, strict=True))
        place = PLACE.fullmatch(error)
        assert place and place["path"] == str(path) and int(place["line"]) == refused.line, (error, refused)
        assert int(place["column"]) == refused.column, (error, refused)
        if re.fullmatch(rb"[!-&(-\[\]-~]{1,20}", refused.token):  # printable, no quotes or backslashes, not long
            assert place["what"].startswith(f"'{refused.token.decode()}' "), (error, refused)
    else:
        assert error is None, error
        assert joined(batches) == as_bytes(*ref)
        widest = 1  # of all columns so far
        for batch in batches:
            widest = max([widest, *(batch.rows.indices.astype(int) + 1)])
            assert batch.rows.n_features == (settings.get("n_features") or widest)


# --- files from the grammar


def text(alphabet, least=0, most=3):
    return st.text(alphabet, min_size=least, max_size=most).map(str.encode)


def concatenated(*parts):
    return st.tuples(*parts).map(b"".join)


WS = text(" \t", 1)
DIGITS = text("0123456789", 1, 4) | text("0123456789", 1, 24)
SIGN = st.sampled_from([b"", b"", b"-", b"+"])
MANTISSA = st.one_of(
    DIGITS,
    concatenated(DIGITS, st.just(b".")),
    concatenated(DIGITS, st.just(b"."), DIGITS),
    concatenated(st.just(b"."), DIGITS),
)
EXPONENT = st.one_of(
    st.just(b""),
    concatenated(st.sampled_from([b"e", b"E"]), SIGN, text("0", 0, 20), st.integers(0, 40).map(lambda n: b"%d" % n)),
    concatenated(st.sampled_from([b"e-", b"E-"]), st.integers(0, 10**20).map(lambda n: b"%d" % n)),
)
NUMBER = concatenated(SIGN, MANTISSA, EXPONENT)
COMMENT = st.just(b"") | concatenated(st.just(b"#"), st.binary(max_size=8).map(lambda b: b.replace(b"\n", b"")))
INDEX = st.integers(1, 12) | st.integers(1, naive.WIDEST - 1)


@st.composite
def records(draw):
    words = [draw(NUMBER)]
    if draw(st.integers(0, 3)) == 3:
        words.append(b"qid:" + draw(DIGITS))
    for index in sorted(draw(st.sets(INDEX, max_size=4))):
        words.append(draw(text("0", 0, 2)) + b"%d:" % index + draw(NUMBER))
    return words[0] + b"".join(draw(WS) + word for word in words[1:])


LINE = concatenated(text(" \t"), st.just(b"") | records() | records(), text(" \t"), COMMENT)
LINE_END = st.sampled_from([b"\n", b"\n", b"\r\n"])
FILE = concatenated(
    st.lists(concatenated(LINE, LINE_END), max_size=4).map(b"".join),
    LINE,
    st.sampled_from([b"", b"\r", b"\n", b"\r\n"]),
)
WIDTH = st.none() | st.integers(1, 15)


@settings(max_examples=120)
@given(FILE, BLOCKS, st.booleans(), WIDTH)
def test_what_the_grammar_allows_is_read_bit_for_bit(path, data, block, zero_based, n_features):
    naive.parse(data)  # the strategy makes no mistakes
    check(path, data, block, zero_based=zero_based, n_features=n_features)


# --- damaged files

PIECES = [bytes([b]) for b in b"0123456789+-.eE: \t\r\n#,qid:naninfx_\x00\xff"]
PIECES += [
    b"nan",
    b"inf",
    b"qid:1",
    b"1e999",
    b"1e200",
    b"0x1",
    b"1,2",
    b" 1:2",
    b" 0:1",
    b"99999999999",
    b"\xef\xbb\xbf",
]


VALID = [
    b"",
    b"# comment",
    b" \t",
    b"1",
    b"-1.5e3#",
    b"+1 3:4",
    b"0 qid:7 1:.5 # c",
    b"\t1 qid:12\t3:1.e-3  ",
    b"-1 1:1 2:-2 3:+.3e1 10:123456789012345678901234567890 11:0",
    b"1 0001:1e0 2:1E-400\t\t3:5e+00#",
    b"2 7:-0.0 268435455:1 #3:4",
]
EDIT = st.tuples(st.integers(0, 99), st.integers(0, 1), st.just(b"") | st.sampled_from(PIECES))


def damage(lines, line_end, edits):
    data = bytearray(line_end.join(lines))
    for at, cut, new in edits:
        at %= len(data) + 1
        data[at : at + cut] = new
    return bytes(data)


DAMAGED = st.builds(
    damage, st.lists(st.sampled_from(VALID), min_size=1, max_size=3), LINE_END, st.lists(EDIT, min_size=1, max_size=3)
)


@settings(max_examples=400)
@given(DAMAGED, BLOCKS, st.booleans(), WIDTH)
@example(b"1 1:2\r\r\n", BIG, True, None)
@example(b"1 1:2\r 3:4\n", 1, True, None)
@example(b"1 0:1\n", BIG, False, None)
@example(b"1 1:2 1:3", BIG, True, None)
@example(b"1 qid:1 qid:1 1:3", BIG, True, None)
@example(b"1 1:3 7:1e999", BIG, True, 2)
@example(b"1 1:3 7:1e200", BIG, True, 2)
@example(b"1 1:1e154 2:1e154", BIG, True, None)
@example(b"1 1:1e200\nx", BIG, True, None)  # the first of two errors, whatever they are
@example(b"1 1:1e200\n1 1:2:3", BIG, True, None)
@example(b"1 1:1e200\n%d" % LARGEST, BIG, True, None)
@example(b"1 1:3 7:%d" % LARGEST, BIG, True, 2)  # also where it is left out
@example(b"1 268435456:1", BIG, True, None)
@example(b"1 268435456:1", BIG, False, None)
@example(b"1 5764607523034234889:1 9223372036854775806:1 9223372036854775807:1", BIG, True, 2)
@example(b"1 9223372036854775808:1", BIG, True, 2)
@example(b"1 99999999999999999999:1", BIG, True, 2)
def test_damaged_files_are_accepted_or_refused_alike(path, data, block, zero_based, n_features):
    check(path, data, block, zero_based=zero_based, n_features=n_features)


def plain(data):
    return not data.startswith(tuple(MAGIC))  # else it is a compressed file


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join) | st.binary(max_size=24).filter(plain), BLOCKS)
def test_any_bytes_are_accepted_or_refused_alike(path, data, block):
    check(path, data, block)


@settings(max_examples=400)
@given(
    st.text("0123456789+-.eE", max_size=9), st.sampled_from(["{}", "1 3:{}", "1 3:{} 4:1", "1 {}:1", "1 qid:{} 3:1"])
)
def test_what_a_number_is(path, token, line):
    check(path, line.format(token).encode())


# --- numbers


def shaped(rng, digits, exponent):
    """digits · 10^exponent, written in one of many ways."""
    sign = rng.choice(["", "", "-", "+"])
    digits = "0" * rng.choice([0, 0, 0, 1, 25]) + digits
    if rng.random() < 0.3 and abs(exponent) < 400:  # without an exponent
        if exponent >= 0:
            return sign + digits + "0" * exponent + rng.choice(["", ".", ".000"])
        digits = digits.rjust(rng.randint(0, 1) - exponent, "0")
        return sign + digits[:exponent] + "." + digits[exponent:]
    zeros = rng.choice([0, 0, 0, 3, 40])
    digits, exponent = digits + "0" * zeros, exponent - zeros
    dot = rng.randint(0, len(digits))
    exponent += len(digits) - dot
    written = f"{rng.choice('eE')}{rng.choice(['', '+']) if exponent >= 0 else '-'}{'0' * rng.choice([0, 0, 1, 20])}"
    return sign + digits[:dot] + "." + digits[dot:] + written + str(abs(exponent))


def middle(x):
    """The middle between a number x >= 0 and the next, exactly: its digits and the power of ten that they count."""
    both = (Fraction(x) + Fraction(math.nextafter(x, math.inf))) / 2
    k = both.denominator.bit_length() - 1
    return both.numerator * 5**k, -k


def random_double(rng):
    return np.uint64(rng.randrange(0x7FEFFFFFFFFFFFFF)).view(np.float64).item()  # all exponents alike


def subnormal(rng):
    return math.ldexp(rng.randrange(2 ** rng.randint(1, 52)), -1074)


def doubles(rng):
    for _ in range(2000):
        yield repr(rng.choice([1, -1]) * random_double(rng))
        yield repr(subnormal(rng))
        yield f"{random_double(rng):.16e}"
        yield f"{rng.uniform(-1000, 1000):.{rng.randint(0, 25)}f}"


def halfway(rng):
    for n in range(800):
        x = subnormal(rng) if n % 4 == 0 else rng.uniform(0, 100) if n % 4 == 1 else random_double(rng)
        whole, exponent = middle(x)
        yield shaped(rng, str(whole), exponent)
        far = rng.choice([1, 2, 20, 300])
        yield shaped(rng, str(whole * 10**far + 1), exponent - far)
        yield shaped(rng, str(whole * 10**far - 1), exponent - far)
        keep = rng.randint(17, 40)  # digits: the rest is cut off, or rounded up
        cut = max(0, len(str(whole)) - keep)
        yield shaped(rng, str(whole // 10**cut), exponent + cut)
        yield shaped(rng, str(whole // 10**cut + 1), exponent + cut)


def short_ties(rng):
    """Middles of at most 19 digits: an odd number of 54 bits is w·5^q, or is w / 5^q times a power of two."""
    for _ in range(200):
        for q in range(23):
            bits = 54 - (5**q).bit_length()
            w = rng.randrange(2**bits, 2 ** (bits + 1)) | 1
            yield shaped(rng, str(w + rng.choice([0, 0, -1, 1])), q)
        for q in range(5):
            w = (rng.randrange(2**53, 2**54) | 1) * 5**q
            yield shaped(rng, str(w + rng.choice([0, 0, -1, 1])), -q)


def long_digits(rng):
    for n in range(1, 801):
        digits = "".join(rng.choices("0123456789", k=n))
        yield shaped(rng, digits, rng.randint(-340 - n, 308 - n))
        yield shaped(rng, digits, -rng.randint(max(0, n - 300), n))
        yield shaped(rng, rng.choice("09") * n + rng.choice("0123456789"), -rng.randint(max(0, n - 300), n))


def integers(rng):
    for n in range(1, 31):
        for _ in range(40):
            yield rng.choice(["", "-", "+", "00"]) + "".join(rng.choices("0123456789", k=n))
        for delta in range(-3, 4):
            yield str(10**n + delta)
    for n in range(0, 130):
        for delta in range(-3, 4):
            yield str(2**n + delta)


def edges(rng):
    """Zeros, the smallest and the largest numbers, and exponents of any length."""
    yield from ["0", "-0", "+0", "0.", ".0", "-.0", "00", "-00.00", "0e5", "-0e-5", "0e400", f"0e{10**20}"]
    yield from ["1e-400", "-1e-400", f"1e-{10**20}", f"1e-{2**32}", "1e+00000000000000000003", "1E-0000000000000003"]
    yield from ["1.", ".5", "5.e1", "0.1e1", "1e22", "1e23", "8.5e-323", "1.7976931348623157e308"]
    yield from ["9007199254740993", "9007199254740992.99999", "9223372036854775808", "18446744073709551616"]
    yield "0." + "0" * 30000 + "1e30001"
    yield "1" + "0" * 30000 + "e-30000"
    for x in (0.0, 5e-324, 2.2250738585072009e-308, 2.2250738585072014e-308):
        digits, exponent = middle(x)
        for more in (-1, 0, 1):
            for far in (1, 50):
                yield shaped(rng, str(digits * 10**far + more), exponent - far)


@pytest.mark.parametrize("family", [doubles, halfway, short_ties, long_digits, integers, edges])
def test_numbers_are_those_that_python_reads(path, family):
    tokens = list(family(random.Random(0)))
    assert all(math.isfinite(float(token)) for token in tokens)
    # The label has no squared length, and may be as large as it likes.
    lines = [f"{token} 5:{token}" if abs(float(token)) < 1e150 else token for token in tokens]
    data = "\n".join(lines).encode()
    path.write_bytes(data)
    batches, error = read([path])
    assert error is None
    y = np.concatenate([batch.y for batch in batches])
    assert [token for token, x in zip(tokens, y.tolist(), strict=True) if repr(x) != repr(float(token))] == []
    check(path, data)


@settings(max_examples=200)
@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(-1e150, 1e150))
def test_doubles_come_back_from_their_repr(path, label, value):
    path.write_text(f"{label!r} 0:{value!r}\n")
    [batch], _ = read([path])
    assert batch.y.tobytes() == np.float64(label).tobytes()
    assert batch.rows.values.tobytes() == np.float64(value).tobytes()


@pytest.mark.parametrize("token", [f"{LARGEST}", f"-{LARGEST}.0", "1e309", "-1e99999999999999999999", "9" * 310])
@pytest.mark.parametrize(("line", "column"), [("{}", 1), ("  {} 1:1", 3), ("1 4:{}", 3), ("1\t 4:{} 5:1\n", 4)])
def test_a_number_too_large_is_an_error(path, token, line, column):
    path.write_text("1 2:3\n" + line.format(token))
    assert read([path])[1].startswith(f"{path}:2:{column}: ")


def test_just_below_that_is_the_largest_double(path):
    path.write_text(f"{LARGEST - 1}\n-{LARGEST - 1}.{'9' * 900}")
    [batch], _ = read([path])
    assert batch.y.tolist() == [np.finfo(float).max, -np.finfo(float).max]


def test_squared_lengths(path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 7)) * 10.0 ** rng.integers(-5, 5, size=(200, 1))
    path.write_text("\n".join("1 " + " ".join(f"{j}:{x!r}" for j, x in enumerate(row)) for row in X.tolist()))
    batches, _ = read([path], block=500)
    got = np.concatenate([batch.rows.sq_norm for batch in batches])
    assert np.allclose(got, [math.fsum(x * x for x in row) for row in X.tolist()], rtol=1e-14, atol=0)


@pytest.mark.parametrize("line", ["1 1:1e155", "-1 1:-1e154 2:1e154 3:1", "1 1:3 5:1e300 # long"])
def test_a_squared_length_that_overflows_is_an_error(path, line):
    path.write_text(f"1 1:1e153\n{line}\n1 1:1")
    batches, error = read([path])
    assert not batches and error.startswith(f"{path}:2:1: ") and "squared length" in error
    assert read([path], n_features=1)[1] is None  # of columns that are left out nothing is known


# --- blocks and files


SAMPLE = b"""# a file with everything
+1 qid:3 0:1.5 2:-2e-3\t7:.5 # first
-1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1 11:1 12:1 13:1 14:1 15:1 16:1\r

0
 3.0\t100:-0 #
\t# nothing
1e3 00:1 1:+.25e+1 268435455:9007199254740993#end
-0 5:5"""
SIZES = [*range(1, 80), *range(80, 270, 20)]  # the longest line has 74 bytes, the file 220


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n", b"\n\n\n", b"\n#", b" \t"])
def test_every_size_of_block_gives_the_same_rows(path, end):
    for block in SIZES:
        check(path, SAMPLE + end, block)


@pytest.mark.parametrize("bad", [b"x", b"1 1:1 a:3", b"1 2:1 2:1", b"1 1:1e200", b"1 3:1\r\r"])
@pytest.mark.parametrize("line", [0, 3, 9])
def test_every_size_of_block_gives_the_same_error(path, bad, line):
    lines = SAMPLE.split(b"\n")
    data = b"\n".join([*lines[:line], bad, *lines[line:]])
    path.write_bytes(data)
    [whole] = {read([path], block=block)[1] for block in SIZES}
    assert whole.startswith(f"{path}:{line + 1}:")
    check(path, data)


def test_batches_are_cut_at_the_ends_of_lines_and_bounded(path):
    line = b"1 1:2 3:4\n"
    path.write_bytes(line * 300)
    for block in (1, 9, 10, 11, 64, 999, 2999, 5000):
        sizes = [len(batch.y) for batch in read([path], block=block)[0]]
        assert sum(sizes) == 300 and max(sizes) <= 1 + block // len(line)


def test_batches_before_the_error_are_delivered(path):
    path.write_bytes(b"1 1:2 3:4\n" * 1000 + b"1 1:2 3;4\n" + b"1 1:2 3:4\n" * 1000)
    batches, error = read([path], block=100)
    assert error.startswith(f"{path}:1001:7: '3;4' ")
    assert 980 <= sum(len(batch.y) for batch in batches) <= 1000


def test_a_long_file_has_the_right_line_numbers(path):
    """Long enough for several threads, whatever a block is cut into."""
    rng = random.Random(0)
    lines = [f"{rng.choice('+-')}1 {rng.randint(0, 99)}:{rng.random():.3} 100:1" for _ in range(100_000)]
    check(path, "\n".join(lines).encode(), 1 << 18)
    for block in (1 << 18, BIG):
        for bad in (0, 33_333, 99_999):
            damaged = [*lines[:bad], "1 5", *lines[bad + 1 :], "a:1"]
            path.write_text("\n".join(damaged))
            assert read([path], block=block)[1].startswith(f"{path}:{bad + 1}:3: '5' ")


def zstd(data):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.compress(data, "zstd", asbytes=True)


COMPRESSIONS = [(".gz", gzip.compress), (".bz2", bz2.compress), (".zst", zstd)]


@pytest.mark.parametrize(("ending", "compress"), COMPRESSIONS)
def test_compressed_files_are_read_as_plain_ones(path, ending, compress):
    packed = path.with_name("packed.svm" + ending)
    data = SAMPLE + b"\n" + b"1 1:2 3:4\n" * 500
    path.write_bytes(data)
    packed.write_bytes(compress(data))
    for block in (50, 1000, BIG):
        plain, _ = read([path], block=block)
        got, error = read([packed], block=block)
        assert error is None
        assert [joined([batch]) for batch in got] == [joined([batch]) for batch in plain]
        packed_bad = packed.with_name("bad.svm" + ending)
        packed_bad.write_bytes(compress(data + b"\n1  1:x"))
        line = data.count(b"\n") + 2
        assert read([packed_bad], block=block)[1].startswith(f"{packed_bad}:{line}:4: '1:x' ")


@pytest.mark.parametrize(("ending", "compress"), COMPRESSIONS)
def test_a_compressed_file_that_breaks_off_is_an_error(path, ending, compress):
    packed = path.with_name("broken.svm" + ending)
    packed.write_bytes(compress(b"1 1:2 3:4\n" * 500)[:-9])
    assert read([packed])[1].startswith(f"{packed}")


def test_a_compressed_file_with_other_bytes_in_it_is_an_error(path):
    random.seed(0)
    lines = "".join(f"1 1:{random.random()}\n" for _ in range(2000)).encode()
    packed, content = path.with_name("damaged.svm.gz"), bytearray(gzip.compress(lines))
    content[len(content) // 2 : len(content) // 2 + 20] = b"\xff" * 20
    packed.write_bytes(content)
    assert read([packed])[1].startswith(f"{packed} cannot be read as what it begins like, a compressed file")


@pytest.mark.parametrize("n_features", [-1, 0, 1 << 32])
def test_numbers_of_columns_that_cannot_be(path, n_features):
    with pytest.raises(DataError, match=f"n_features must lie between 1 and 4,294,967,295, got {n_features}"):
        SvmlightSource([str(path)], n_features=n_features)


def test_pipes_under_a_name_come_by_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        pipe.write_bytes(SAMPLE)

    with pytest.raises(DataError, match="pipe has no ending that tells its format: say which of"):
        source(pipe)  # nothing has been read
    writer = threading.Thread(target=write)
    writer.start()
    made = source(pipe, format="svmlight").again(often=False)
    for _ in range(2):  # from a copy the second time
        assert joined(list(made.batches())) == as_bytes(*naive.parse(SAMPLE))
    writer.join()
    with pytest.raises(DataError, match="pipe can be read once only: write it to a file"):
        next(made.source.batches())


def test_standard_input(monkeypatch):
    def pipe(data):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))

    pipe(SAMPLE)
    batches, error = read(["-"], block=40)
    assert error is None and joined(batches) == as_bytes(*naive.parse(SAMPLE))
    pipe(SAMPLE + b"\n1 x")
    assert read(["-"], block=40)[1].startswith("standard input:10:3: 'x' ")


@pytest.mark.parametrize("block", [1, 40, BIG])
def test_several_files_follow_each_other(path, block):
    texts = [b"1 0:1 9:1", b"", b"# nothing", SAMPLE, b"-1 5:1\n2 3:1\n"]
    paths = [path.with_name(f"part{i}.svm") for i in range(len(texts))]
    for part, data in zip(paths, texts, strict=True):
        part.write_bytes(data)
    batches, error = read(paths, block=block)
    assert error is None and joined(batches) == as_bytes(*naive.parse(b"\n".join(texts)))
    assert batches[-1].rows.n_features == naive.WIDEST  # the width is that of all files
    paths[-1].write_bytes(b"-1 5:1\n2 3:1:1\n")
    batches, error = read(paths, block=block)
    assert error.startswith(f"{paths[-1]}:2:3: '3:1:1' ")
    assert sum(len(batch.y) for batch in batches) >= 6


@pytest.mark.parametrize("data", [b"", b"\n", b"\r", b"\r\n\r\n", b" \t ", b"#", b"# 1 1:1\n  # 2 2:2", b"\n\n#\n"])
def test_files_without_rows(path, data):
    for block in (1, BIG):
        check(path, data, block)
    assert sum(len(batch.rows) for batch in read([path])[0]) == 0


def test_every_reading_starts_anew(path):
    path.write_bytes(SAMPLE)
    source = SvmlightSource([str(path)], block=60)
    first = [joined([batch]) for batch in source.batches()]
    widths = [batch.rows.n_features for batch in source.batches()]
    abandoned = source.batches()
    next(abandoned)
    assert [joined([batch]) for batch in source.batches()] == first
    assert len(first) > 2
    assert widths[-1] == naive.WIDEST
    assert source.name == str(path) and source.n_bytes == source.bytes_done == len(SAMPLE)


def test_an_error_comes_again_at_every_reading(path):
    path.write_bytes(SAMPLE + b"\nx")
    source = SvmlightSource([str(path)], block=60)
    for _ in range(2):
        with pytest.raises(DataError, match=r"train\.svm:10:1: 'x' "):
            list(source.batches())


def test_rows_are_read_only(path):
    path.write_bytes(SAMPLE)
    [batch], _ = read([path])
    for array in batch.rows.arrays:
        assert not array.flags.writeable


def test_settings_are_part_of_the_signature(path):
    path.write_bytes(SAMPLE)
    signatures = [
        SvmlightSource([str(path)], **settings).signature()
        for settings in ({}, {"zero_based": False}, {"n_features": 3}, {"n_features": 4})
    ]
    assert all(a != b for i, a in enumerate(signatures) for b in signatures[:i])
    assert SvmlightSource([str(path)]).signature() == signatures[0]
    assert json.loads(json.dumps(signatures)) == signatures


# --- what is refused, by example


@pytest.mark.parametrize(
    ("line", "column", "token"),
    [
        ("a 1:1", 1, "a"),
        ("  nan 1:1", 3, "nan"),
        ("1:2 3:4", 1, "1:2"),
        ("qid:1 3:4", 1, "qid:1"),
        ("1 a:3", 3, "a:3"),
        ("1 1:inf", 3, "1:inf"),
        ("1 1:0x10", 3, "1:0x10"),
        ("1 1:1_0", 3, "1:1_0"),
        ("1 1: 2", 3, "1:"),
        ("1 1 :2", 3, "1"),
        ("1\t:2", 3, ":2"),
        ("1 1:2:3", 3, "1:2:3"),
        ("1 1:1e", 3, "1:1e"),
        ("1 1:1e+#", 3, "1:1e+"),
        ("1 1:.", 3, "1:."),
        ("1 1:-", 3, "1:-"),
        ("1 1:--1", 3, "1:--1"),
        ("1 -1:1", 3, "-1:1"),
        ("1 +1:1", 3, "+1:1"),
        ("1 1.0:1", 3, "1.0:1"),
        ("1 qid:", 3, "qid:"),
        ("1 qid:-1", 3, "qid:-1"),
        ("1 QID:1", 3, "QID:1"),
        ("1 1:1 qid:2", 7, "qid:2"),
        ("1 2:1  2:1", 8, "2:1"),
        ("1 2:1 10:1 9:1 1:1", 12, "9:1"),
        ("1 4294967296:1", 3, "4294967296:1"),
        ("1 4294967297:1", 3, "4294967297:1"),
        ("1 18446744073709551617:1", 3, "18446744073709551617:1"),
        ("1 340282366920938463463374607431768211457:1", 3, ""),
    ],
)
def test_what_is_refused_is_named(path, line, column, token):
    check(path, f"1 1:1\n{line}\n1 1:1".encode())
    assert read([path])[1].startswith(f"{path}:2:{column}: '{token}")


def test_several_labels_are_named_as_such(path):
    path.write_text("1 1:1\n1,2 1:1")
    error = read([path])[1]
    assert error.startswith(f"{path}:2:1: '1,2' ") and "several labels" in error


def test_index_0_in_a_file_that_counts_from_1(path):
    path.write_text("1 1:1 5:2\n1 0:1")
    batches, error = read([path], zero_based=False, block=1)
    assert batches[0].rows.indices.tolist() == [0, 4] and batches[0].rows.n_features == 5
    assert error.startswith(f"{path}:2:3: '0:1' ")


def test_labels_and_columns(path):
    path.write_text("+1 0:1\n-1 2:3\n0\n3.0 1:1 4:0\n")
    [batch], _ = read([path])
    assert batch.y.tolist() == [1.0, -1.0, 0.0, 3.0]
    assert batch.rows.indices.tolist() == [0, 2, 1, 4] and batch.rows.values.tolist() == [1.0, 3.0, 1.0, 0.0]
    assert batch.rows.indptr.tolist() == [0, 1, 2, 2, 4] and batch.rows.n_features == 5
    [batch], _ = read([path], n_features=2)  # a model that knows two columns
    assert batch.rows.indices.tolist() == [0, 1] and batch.rows.n_features == 2
    assert batch.rows.indptr.tolist() == [0, 1, 1, 1, 2] and batch.rows.sq_norm.tolist() == [1.0, 0.0, 0.0, 1.0]


# --- scikit-learn


@settings(max_examples=40)
@given(st.lists(records(), min_size=1, max_size=5))
def test_scikit_learn_reads_the_same(path, lines):
    path.write_bytes(b"\n".join(lines))
    X, y = load_svmlight_file(str(path), zero_based=True)
    batches, _ = read([path])
    ends = X.indptr.astype(np.uint64)
    assert joined(batches) == as_bytes(X.data, X.indices.astype(np.uint32), ends, y)
    assert batches[-1].rows.n_features == X.shape[1]


@pytest.mark.parametrize("zero_based", [True, False])
def test_what_scikit_learn_writes_comes_back(path, zero_based):
    rng = np.random.default_rng(0)
    X = rng.integers(-(10**6), 10**6, size=(200, 20)) * (rng.random((200, 20)) < 0.3) / 1000  # 16 digits are written
    X[:, -1] = 1.0
    y = rng.choice([-1.0, 1.0, 2.5], size=200)
    dump_svmlight_file(X, y, str(path), zero_based=zero_based, comment="made here", query_id=np.arange(200))
    batches, _ = read([path], zero_based=zero_based, block=1000)
    back = np.zeros_like(X)
    begin = 0
    for batch in batches:
        for i in range(len(batch.rows)):
            one = batch.rows.part(i, i + 1)
            back[begin + i, one.indices] = one.values
        begin += len(batch.rows)
    assert np.array_equal(back, X) and begin == 200
    assert np.concatenate([batch.y for batch in batches]).tobytes() == y.tobytes()
