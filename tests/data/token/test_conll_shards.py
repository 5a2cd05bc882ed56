"""Shards of files have the sentences of the whole, in the same order, and name the same lines in errors."""

import gzip
import os
import pickle
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perceptrons.data import DataError, files, read_conll, whole
from perceptrons.data.shards.cutting import LARGEST, SMALLEST, usual_number
from perceptrons.data.token.conll_shards import conll_shards

LINES = [b"a b\n", b"b2 c\n", b"\xc3\xa4\tb\r\n", b"\n", b"\n", b" \t\n", b"\r\n", b"\t\r\n", b"-DOCSTART- x\n"]
ODD = [b"a b c\n", b"a\n", b"\r\r\n", b" -DOCSTART-\tx\n", b"a b", b"-DOCSTART-", b"\r", b" ", b"\xef\xbb\xbf"]
ROWS = [b"1\tthe\n", b"2-3\tx\n", b"4.1\t_\n", b"# a\n", b"\n", b"\n", b" \r\n", b"5\tcat\r\n", b"# b\n\n", b"x\ty\n"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("shards")


def sentences(tokens):
    return [tokens[i] for i in range(len(tokens))], list(tokens.columns)


def outcome(read):
    """What a function reads, or the text of its error."""
    try:
        return read()
    except DataError as error:
        return str(error)


def together(paths, n, settings):
    """The sentences of all shards, each read as another process would read it."""
    found, names = [], []
    for shard in conll_shards(paths, n=n, **settings):
        tokens = pickle.loads(pickle.dumps(shard)).read()
        assert tokens.lines is None
        more, names = sentences(tokens)
        found += more
    return found, names


def check(folder, contents, n, **settings):
    paths = []
    for k, content in enumerate(contents):
        paths.append(folder / f"{k}.txt")
        paths[-1].write_bytes(content)
    expected = outcome(lambda: sentences(read_conll(paths, **settings)))
    assert outcome(lambda: together(paths, n, settings)) == expected


@given(
    st.lists(st.lists(st.sampled_from(LINES * 3 + ODD), max_size=20).map(b"".join), min_size=1, max_size=3),
    st.integers(1, 9),
    st.booleans(),
    st.sampled_from([None, "\t", " "]),
)
@example([b"a b\n\nc d\n\ne f g\n"], 3, True, None)  # the third sentence has more columns than the first one
@example([b"\xef\xbb\xbfa b c\n\nc d\n"], 2, True, None)
@example([b"", b"\xef\xbb\xbf", b"a b\n\n" * 9], 4, False, None)
@example([b"a b\n \n \n\t\r\nc d\n\n\n\ne f\n"], 9, False, None)
@example([b"a\n\r\r\n" * 9], 4, False, None)  # one sentence: a line with two carriage returns is a token
@example([b"a b\n\n\xef\xbb\xbfc d\n\n" * 9], 9, False, None)  # only the first mark of a file is no part of a word
def test_shards_together_are_the_whole(folder, contents, n, more, separator):
    check(folder, contents, n, more=more, separator=separator)
    check(folder, contents, n, more=more, separator=separator, columns=["word"], only=["word"])


@given(st.lists(st.sampled_from(ROWS), max_size=25), st.integers(1, 9), st.booleans())
def test_shards_of_conllu_are_the_whole(folder, rows, n, more):
    content = b"".join(re.sub(rb"\t(\S+)", rb"\t\1" + b"\t_" * (8 + len(row) % 3 // 2), row) for row in rows)
    check(folder, [content], n, more=more, conllu=True)


def test_errors_name_the_line_in_the_file(folder):
    path = folder / "long.txt"
    good = b"a b\nc d\n\n" * 40
    for bad, message in (
        (b"a b c\n", r"long\.txt:121: 3 columns, expected 2 \(word, tag\)"),
        (b"a \xe4\n", r"long\.txt:121: the tag b'\\xe4' is not UTF-8"),
    ):
        path.write_bytes(good + bad + good)
        *_, last = (shard for shard in conll_shards(path, n=7) if shard.spans[0].begin <= len(good))
        assert last.spans[0].begin > 0
        with pytest.raises(DataError, match=message):
            last.read()


def test_long_lines_are_refused_where_they_are(folder, monkeypatch):
    monkeypatch.setattr(files, "LONGEST", 100)
    monkeypatch.setattr(whole, "CHUNK", 50)
    path = folder / "damaged.txt"
    path.write_bytes(b"a b\n\n" * 60 + b"x" * 500)
    shards = conll_shards(path, n=4)
    assert len(shards) > 1
    with pytest.raises(DataError, match=r"damaged\.txt:121: the line that begins here is longer than"):
        shards[-1].read()


def test_shards_have_about_the_same_size_and_cut_no_sentence(folder):
    path = folder / "even.txt"
    path.write_bytes(b"a b\nc d\n\n" * 1000)
    shards = conll_shards(path, n=6)
    assert len(shards) == 6 and len(pickle.dumps(shards[0])) < 1000
    assert all(160 <= len(shard.read()) <= 172 for shard in shards)
    assert shards[1].name == f"{path} (bytes 1,503 to 3,006)"
    path.write_bytes(b"a b\n" * 1000)
    assert [shard.name for shard in conll_shards(path, n=6)] == [str(path)]


def test_compressed_files_stay_whole_and_small_files_share_a_shard(folder):
    paths = [folder / f"part{k}.txt.gz" for k in range(3)]
    for path in paths:
        path.write_bytes(gzip.compress(os.urandom(300).hex().encode() + b" x\n\nc d\n", mtime=0))
    assert [[span.end for span in shard.spans] for shard in conll_shards(paths, n=9)] == [[None]] * 3
    small = [folder / f"small{k}.txt" for k in range(9)]
    for path in small:
        path.write_bytes(b"a b\n\nc d\n")
    shards = conll_shards(small, n=3)
    assert [len(shard.spans) for shard in shards] == [3, 3, 3] and shards[0].name == f"{small[0]} and 2 more"
    assert together([*paths, *small], 4, {}) == sentences(read_conll([*paths, *small]))
    assert len(conll_shards([*paths, *small])) == 1  # so few bytes


def test_paths_are_found_from_another_folder(folder, monkeypatch):
    (folder / "here.txt").write_bytes(b"a b\n\na\n")
    monkeypatch.chdir(folder)
    shard = conll_shards("here.txt")[0]
    monkeypatch.chdir("/")
    with pytest.raises(DataError, match=r"^here\.txt:3: 1 column, expected 2"):
        shard.read()


def test_the_number_of_shards_depends_on_the_size():
    assert [usual_number(n) for n in (0, SMALLEST - 1, 2 * SMALLEST, 8 * SMALLEST, 8 * LARGEST)] == [1, 1, 2, 8, 8]
    assert usual_number(8 * LARGEST + 1) == 9


def test_what_cannot_be_cut_says_why(folder):
    with pytest.raises(DataError, match=r"standard input can be read only once, .*: write it to a file first"):
        conll_shards("-")
    path = folder / "changed.txt"
    path.write_bytes(b"a b\n\nc d\n")
    with pytest.raises(DataError, match="n must be >= 1, got 0"):
        conll_shards(path, n=0)
    shard = conll_shards(path)[0]
    path.write_bytes(b"a b\n")
    with pytest.raises(DataError, match=r"changed\.txt has changed .*: it has 4 bytes and had 9"):
        shard.read()
