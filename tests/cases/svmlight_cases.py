"""Svmlight files for property tests, and the comparison of the parser with its slow twin."""

import re

import naive_svmlight as naive
import numpy as np
from hypothesis import strategies as st

from perceptrons.data.files import DataError
from perceptrons.data.svmlight import SvmlightSource

LARGEST = 2**1024 - 2**970  # the first number that rounds to infinity
BIG = 1 << 23  # a block larger than any file here
BLOCKS = st.sampled_from([1, 2, 7, 33, 100, BIG])
PLACE = re.compile(r"(?P<path>.*?):(?P<line>\d+):(?P<column>\d+): (?P<what>.*)", re.DOTALL)
SAMPLE = b"""# a file with everything
+1 qid:3 0:1.5 2:-2e-3\t7:.5 # first
-1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1 11:1 12:1 13:1 14:1 15:1 16:1\r

0
 3.0\t100:-0 #
\t# nothing
1e3 00:1 1:+.25e+1 268435455:9007199254740993#end
-0 5:5"""


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
