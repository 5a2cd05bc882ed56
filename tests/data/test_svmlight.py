"""The svmlight parser against its slow twin: the same rows bit for bit, and the same place of the first error."""

import naive_svmlight as naive
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from svmlight_cases import BIG, BLOCKS, FILE, LARGEST, LINE_END, WIDTH, as_bytes, check, joined, read, records

from perceptrons.data.files import MAGIC


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
