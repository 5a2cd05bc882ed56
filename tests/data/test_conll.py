"""Files of one token a line against a slow twin: the same sentences, or the same line refused."""

import gzip
import io
import itertools
import re

import naive_tokens as naive
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perceptrons.core.parse import interning
from perceptrons.data import DataError, Tokens, read_conll
from perceptrons.data.arrays import readonly
from perceptrons.data.token.conll import CONLLU, with_labels

PLAIN = [b"a", b"b2", b"\xc3\xa4", b" ", b"\t", b"\n", b"\n", b"\r\n", b"\r", b"-DOCSTART-", b"#", b"\x00", b"\x0b"]
ROWS = [
    b"1\tthe\tD\n",
    b"2-3\tx\ty\n",
    b"4.1\t_\t_\n",
    b"# a - b\n",
    b"\n",
    b"5\tcat\tN\r\n",
    b"\tx\ty\n",
    b"6\tx\n",
    b"a-1\tx\ty\n",
    b"1-2-3\tx\ty\n",
    b".5\tx\ty\n",
    b"7",
]


def texts(tokens):
    """The sentences that columns stand for; types must be distinct, and in the order of first occurrence."""
    columns = []
    for codes, types in tokens.columns.values():
        assert codes.dtype == np.uint32 and len(set(types)) == len(types)
        assert list(dict.fromkeys(codes.tolist())) == list(range(len(types)))
        columns.append([types[code] for code in codes])
    rows = list(zip(*columns, strict=True))
    assert tokens.n_tokens == len(rows) and tokens.n_sequences == len(tokens.bounds) - 1
    ends = tokens.bounds.tolist()
    return [rows[a:b] for a, b in itertools.pairwise(ends)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("conll") / "train.txt"


def check(path, content, names, **settings):
    """Read a file in both ways."""
    path.write_bytes(content)
    byte = settings.get("separator")
    try:
        expected = naive.read(content, names, **{**settings, "separator": byte and byte.encode()})
    except naive.Refused as refused:
        number, what = refused.args
        with pytest.raises(DataError, match=re.escape(f"{path}:{number}: {what}")):
            read_conll(path, names, **settings)
    else:
        tokens = read_conll(path, names, **settings)
        assert texts(tokens) == expected
        text = tokens.lines.text
        lines = [text[a:b] for a, b in zip(tokens.lines.begins, tokens.lines.ends, strict=True)]
        flat = [token for sentence in expected for token in sentence]
        assert all(token[-1].encode() in line for line, token in zip(lines, flat, strict=True))


@given(st.lists(st.sampled_from(PLAIN), max_size=40), st.integers(1, 3), st.booleans(), st.sampled_from([None, "\t"]))
@example([b"\xef\xbb\xbf", b"a", b" ", b"b2", b"\r\n", b"\r\n", b"a b"], 2, False, None)
@example([b"-DOCSTART-", b"\x00"], 1, False, None)
def test_columns_are_those_of_the_twin(path, pieces, n, more, separator):
    check(path, b"".join(pieces), ["word", "pos", "chunk"][:n], more=more, separator=separator)


@given(st.lists(st.sampled_from(ROWS), max_size=12), st.booleans())
def test_comments_ranges_and_empty_nodes_are_passed_over(path, rows, more):
    rows = [row.replace(b"\n", b"\t_" * 7 + b"\n") if row.count(b"\t") == 2 else row for row in rows]
    rows = [row.replace(b"\r\t_", b"\t_").replace(b"\t_\n", b"\t_\r\n") if b"\r" in row else row for row in rows]
    content = b"".join(rows)
    path.write_bytes(content)
    try:
        expected = naive.read(content, CONLLU, b"\t", True)
    except naive.Refused as refused:
        with pytest.raises(DataError, match=re.escape(f"{path}:{refused.args[0]}: {refused.args[1]}")):
            read_conll(path, conllu=True)
    else:
        assert texts(read_conll(path, conllu=True)) == expected
        some = read_conll(path, ["xpos", "form"], conllu=True)  # in the order of the file
        assert texts(some) == [[(token[1], token[4]) for token in sentence] for sentence in expected]


def test_long_words_and_equal_hashes_keep_words_apart(path):
    rng = np.random.default_rng(0)
    words = [f"w{i}" * (1 + i % 4) for i in rng.integers(150_000, size=250_000)]
    path.write_text("\n".join(f"{word} L{i % 5000}" for i, word in enumerate(words)))
    tokens = read_conll(path)
    assert list(tokens.columns) == ["word", "tag"]
    known = {word: i for i, word in enumerate(dict.fromkeys(words))}
    codes, types = tokens.column("word")
    assert types == list(known) and codes.tolist() == [known[word] for word in words]
    assert len(tokens.column("tag")[1]) == 5000
    # The hash has 32 bits: among so many words some have the same.
    text = np.frombuffer(tokens.lines.text + bytes(interning.PADDING), dtype=np.uint8)
    hashes = hashes_of(text, tokens.lines.begins, [len(word) for word in words])
    assert len(set(hashes)) < len(known)


def hashes_of(text, begins, lengths):
    """What the table keeps of strings."""
    slots = np.zeros(1 << 19, dtype=np.uint64)
    homes, codes = np.empty(1 << 18, dtype=np.uint64), np.empty(len(begins), dtype=np.uint32)
    interning.intern(text, begins, readonly(np.array(lengths, dtype=np.uint32)), 0, 0, slots, homes, codes)
    return (slots[slots > 0] >> np.uint64(32)).tolist()


def test_several_files_are_one_below_the_other(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"the DT\ncat NN")
    with gzip.open(tmp_path / "b.txt.gz", "wb") as file:
        file.write(b"\xef\xbb\xbfthe DT\n\n\n")
    (tmp_path / "c.txt").write_bytes(b"")
    tokens = read_conll(tmp_path / "*.txt*", ["word", "pos"])
    assert texts(tokens) == [[("the", "DT"), ("cat", "NN")], [("the", "DT")]]
    labelled = with_labels(tokens.lines, ["B", "I", "O"])
    (tmp_path / "d").write_bytes(labelled)
    assert texts(read_conll(tmp_path / "d", only=["word", "chunk"])) == [[("the", "B"), ("cat", "I")], [("the", "O")]]
    (tmp_path / "b.txt").write_bytes(b"the DT\n\ncat\n")
    with pytest.raises(DataError, match=r"b\.txt:3: 1 column, expected 2 \(word, pos\)"):
        read_conll([tmp_path / "a.txt", tmp_path / "b.txt"], ["word", "pos"])


def test_lines_are_written_again_with_labels(path):
    content = b"# text\r\n1\tthe\t_\tX" + b"\t_" * 6 + b"\r\n2-3\t" + b"\t_" * 8 + b"\r\n2\tcat\t_\tX" + b"\t_" * 6
    path.write_bytes(content)
    tokens = read_conll(path, ["form"], conllu=True)
    changed = with_labels(tokens.lines, ["DET", "NÖUN"], column=3)
    assert changed == content.replace(b"X", b"DET", 1).replace(b"X", "NÖUN".encode()) + b"\n"
    path.write_bytes(b"the\tDT\r\n\r\ncat\tNN")
    assert with_labels(read_conll(path).lines, ["B", "I"]) == b"the\tDT\tB\r\n\r\ncat\tNN\tI\n"
    path.write_bytes(b"-DOCSTART- -X- O\r\n\r\na DT O\n\n -DOCSTART-\n\nb-DOCSTART- NN O\n-DOCSTART- -X- O")
    expected = b"-DOCSTART- -X- O O\r\n\r\na DT O X\n\n -DOCSTART- O\n\nb-DOCSTART- NN O Y\n-DOCSTART- -X- O O\n"
    assert with_labels(read_conll(path).lines, ["X", "Y"]) == expected  # conlleval wants as many columns in each line
    path.write_bytes(b"the\tDT\r\n\r\ncat\tNN")
    with pytest.raises(ValueError, match="one label for each of 2 tokens, got 1 labels"):
        with_labels(read_conll(path).lines, ["B"])


@pytest.mark.parametrize(
    "content, names",
    [(b"", "word"), (b"\n \n", "word"), (b"-DOCSTART- -X-\n\na b c d", "word pos chunk ner"), (b"a", "word"),
     (b"a b c d e\r\n", "word column2 column3 column4 column5")],
)  # fmt: skip
def test_columns_have_usual_names(path, content, names):
    path.write_bytes(content)
    assert list(read_conll(path).columns) == names.split()


def test_standard_input(monkeypatch):
    class Stdin:
        buffer = io.BufferedReader(io.BytesIO(b"the DT\n"))

    monkeypatch.setattr("sys.stdin", Stdin)
    assert texts(read_conll("-")) == [[("the", "DT")]]


@pytest.mark.parametrize(
    "content, settings, message",
    [
        (b"a b\n\nc \xe4\n", {}, r"train\.txt:3: the tag b'\\xe4' is not UTF-8"),
        (b"a b\n", {"only": ["pos"]}, r"there is no column 'pos': the columns are word, tag"),
        (b"a b\n", {"columns": ["x", "x"]}, r"two columns are called 'x'"),
        (b"a b\n", {"columns": "word"}, r"column names must be a list of strings, got 'word'"),
        (b"a b\n", {"separator": "ab"}, r"separator must be one ASCII character, got 'ab'"),
        (b"a b\n", {"separator": " ", "conllu": True}, r"separator must be a tab for CoNLL-U, got ' '"),
        (b"a b\n", {"columns": ["word"], "conllu": True}, r"there is no column 'word': the columns are id, form"),
        (b"a,,b\n", {"columns": ["x", "y", "z"], "separator": ","}, r"train\.txt:1: column 2 \(y\) is empty"),
        (
            b"8-" + b"\t_" * 9,
            {"conllu": True},
            r"train\.txt:1: id '8-' is not a number, range \(3-4\) or empty node \(5\.1\)",
        ),
        (b"a b\n\na b c\n", {"columns": ["x"], "more": True}, r"train\.txt:3: 3 columns, expected 2 as before"),
        (b"\x1f\x8bdamaged", {}, r"train\.txt starts like a compressed file but cannot be decompressed"),
    ],
)
def test_what_cannot_be_read_says_why(path, content, settings, message):
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_conll(path, **settings)


def test_files_of_two_formats_are_read_apart(tmp_path):
    for name in ("a.txt", "b.conllu"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(DataError, match=r"only some file names end in \.conllu"):
        read_conll(tmp_path / "*")


# -- tokens from lists ----------------------------------------------------------------------------------------

WORDS = st.sampled_from(["a", "b", "", "ä", "c c"])


@given(st.lists(st.lists(st.tuples(WORDS, WORDS), max_size=4), max_size=4), st.data())
def test_tokens_of_lists(X, data):
    tokens = Tokens.of([[list(token) for token in sentence] for sentence in X], ["word", "pos"])
    assert texts(tokens) == X
    assert texts(Tokens.of(([w for w, _ in s] for s in X), ["word"])) == [[(w,) for w, _ in s] for s in X]
    order = data.draw(st.lists(st.integers(0, len(X) - 1), max_size=4)) if X else []
    assert texts(tokens.take(order)) == [X[i] for i in order]
    assert list(tokens.renamed({"word": "form"}).columns) == ["form", "pos"]


@pytest.mark.parametrize(
    "X, names, message",
    [
        (["the cat"], ["word"], r"sentence 0 must be a list of tokens, got 'the cat': split it"),
        ("the cat", ["word"], r"X must be a list of sentences, got 'the cat'"),
        ([["a"], 5], ["word"], r"sentence 1 must be a list of tokens, got 5"),
        ([["a"], ["b", 5]], ["word"], r"sentence 1, token 1: word must be a string, got 5"),
        ([["a"], ["b", {}]], ["word"], r"sentence 1, token 1: word must be a string, got {}"),
        ([[], [("a", None)]], ["word", "pos"], r"sentence 1, token 0: pos must be a string, got None"),
        ([[("a", "b")], [("a",)]], ["word", "pos"], r"sentence 1, token 0: .* tuple of 2 strings \(word, pos\), got"),
        ([["ab"]], ["word", "pos"], r"sentence 0, token 0: a token must be a tuple of 2 strings"),
        ([["a"]], ["word", "word"], r"two columns are called 'word'"),
    ],
)
def test_what_is_no_token_says_where(X, names, message):
    with pytest.raises(DataError, match=message):
        Tokens.of(X, names)


def test_columns_that_are_not_there():
    tokens = Tokens.of([["a"]], ["word"])
    with pytest.raises(DataError, match="there is no column 'pos': the columns are word"):
        tokens.column("pos")
    with pytest.raises(DataError, match="there is no column 'form': the columns are word"):
        tokens.renamed({"form": "word"})
