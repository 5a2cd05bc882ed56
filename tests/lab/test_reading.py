"""Files, uploads and pasted text become small tables of numbers with labels."""

import bz2
import datetime
import gzip
import os
import tempfile
import threading

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from perceptrons.lab.limits import BYTES, CLASSES, FEATURES, ROWS
from perceptrons.lab.reading import read_bytes, read_path

POINTS = [[1.0, 2.0], [3.5, -4.0], [5.0, 6.0]]


def pasted(text, target=None):
    return read_bytes("pasted text", text.encode() if isinstance(text, str) else text, target)


@pytest.fixture
def written(tmp_path):
    """Write a file, and return its path."""

    def write(name, content):
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return str(tmp_path / name)

    return write


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder of its own for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


# -- formats ----------------------------------------------------------------------------------------------------------

WRITTEN = {
    "header": ("a.csv", "x1,x2,colour\n1,2,red\n3.5,-4,blue\n5,6,red\n"),
    "no header": ("a.csv", "1,2,red\n3.5,-4,blue\n5,6,red\n"),
    "decimal comma": ("a.csv", "x1;x2;colour\n1;2,0;red\n3,5;-4;blue\n5,0;6;red\n"),
    "tabs": ("a.tsv", "x1\tx2\tcolour\n1\t2\tred\n3.5\t-4\tblue\n5\t6\tred\n"),
    "bars": ("a.csv", "1|2|red\n3.5|-4|blue\n5|6|red"),
    "label first": ("a.csv", "colour,x1,x2\nred,1,2\nblue,3.5,-4\nred,5,6\n"),
    "quotes": ("a.csv", '"x1","x2","colour"\n"1","2","red"\n"3.5","-4","blue"\n"5","6","red"\n'),
    "Windows": ("a.csv", b"\xef\xbb\xbfx1,x2,colour\r\n1,2,red\r\n3.5,-4,blue\r\n5,6,red\r\n"),
    "UTF-16": ("a.csv", "x1,x2,colour\n1,2,red\n3.5,-4,blue\n5,6,red\n".encode("utf-16")),
    "gzip": ("a.csv.gz", gzip.compress(b"1,2,red\n3.5,-4,blue\n5,6,red\n")),
    "bzip2": ("a.csv", bz2.compress(b"1,2,red\n3.5,-4,blue\n5,6,red\n")),
    "unknown ending": ("a.data", "1,2,red\n3.5,-4,blue\n5,6,red\n"),
}


@pytest.mark.parametrize("name, content", WRITTEN.values(), ids=WRITTEN)
def test_tables_are_read_however_they_are_written(written, name, content):
    path = written(name, content)
    content = content.encode() if isinstance(content, str) else content
    for table in (read_path(path), read_bytes(name, content), read_bytes(f"C:\\data\\{name}", content)):
        assert table.values.tolist() == POINTS and table.labels == ["red", "blue", "red"]
        assert table.values.dtype == np.float64 and table.values.flags.c_contiguous
        assert table.name == name and table.target in table.targets and table.target not in table.names


PASTED = {
    "two lines": "1,2,a\n3,4,b",
    "spreadsheet": "1\t2\ta\n3\t4\tb\n",
    "spreadsheet with header": "left\tright\tkind\n1\t2\ta\n3\t4\tb\n",
    "header": "left,right,kind\n1,2,a\n3,4,b",
    "blanks": " 1, 2, a\n 3, 4, b\n\n",
}


@pytest.mark.parametrize("text", PASTED.values(), ids=PASTED)
def test_short_pastes_are_tables(text):
    table = pasted(text)
    assert table.name == "pasted text" and table.notes == []
    assert table.values.tolist() == [[1.0, 2.0], [3.0, 4.0]] and table.labels == ["a", "b"]
    assert [*table.names, table.target] in (["0", "1", "2"], ["left", "right", "kind"])


@pytest.mark.parametrize("write", [pyarrow.parquet.write_table, pyarrow.feather.write_feather])
def test_typed_tables(tmp_path, write):
    days = [datetime.date(2024, 1, day) for day in (1, 2, 3)]
    columns = {"n": [1, 2, 3], "day": days, "x": [0.5, 1.5, 2.5], "ok": [True, False, True], "c": ["a", "b", "a"]}
    path = str(tmp_path / ("a.parquet" if write is pyarrow.parquet.write_table else "a.feather"))
    write(pa.table(columns), path)
    table = read_path(path)
    assert table.names == ["n", "x"] and table.values.tolist() == [[1, 0.5], [2, 1.5], [3, 2.5]]
    assert table.target == "c" and table.labels == ["a", "b", "a"] and table.targets == ["n", "x", "ok", "c"]
    (note,) = table.notes
    assert "'day'" in note and "'ok'" in note and "'x'" not in note
    assert read_path(path, "ok").labels == ["true", "false", "true"]
    assert read_path(path, "n").labels == [1, 2, 3] and read_path(path, "n").names == ["x"]
    with pytest.raises(ValueError, match="column 'day' has no values that can be classes"):
        read_path(path, "day")


def test_svmlight(written):
    table = read_path(written("a.svm", "+1 1:0.5 3:2\n-1 2:4\n"))
    assert table.names == ["1", "2", "3"] and table.values.tolist() == [[0.5, 0.0, 2.0], [0.0, 4.0, 0.0]]
    assert table.labels == [1, -1] and table.target == "label" and table.targets == ["label"]
    assert pasted("1 0:5 1:2\n2 1:7\n").names == ["0", "1"]
    assert pasted("1 1:5\n2 1:7\n", "label").labels == [1, 2]
    with pytest.raises(ValueError, match="no column 'x'"):
        pasted("1 1:5\n2 1:7\n", "x")


def test_numpy_files(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[1.0, 2.0, 0.0], [3.5, -4.0, 1.0], [5.0, 6.0, 0.0]]))
    for target in (None, "2"):
        table = read_path(str(tmp_path / "a.npy"), target)
        assert table.values.tolist() == POINTS and table.labels == [0, 1, 0]
        assert table.names == ["0", "1"] and table.target == "2" and table.targets == ["2"]
    assert read_path(str(tmp_path / "a.npy"), "0").names == ["1", "2"]
    for target in ("3", "x", "-1"):
        with pytest.raises(ValueError, match="has no column"):
            read_path(str(tmp_path / "a.npy"), target)
    np.savez(tmp_path / "a.npz", X=np.array(POINTS, dtype=np.float32), y=np.array(["a", "b", "a"]))
    for target in (None, "y"):
        table = read_bytes("a.npz", (tmp_path / "a.npz").read_bytes(), target)
        assert table.values.tolist() == POINTS and table.values.dtype == np.float64
        assert table.labels == ["a", "b", "a"] and table.target == "y" and table.targets == ["y"]
    np.savez(tmp_path / "b.npz", X=np.array(POINTS))
    with pytest.raises(ValueError, match=r"b\.npz has no labels: add an array y"):
        read_path(str(tmp_path / "b.npz"))


def test_pipes_are_read_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=["1,2,a\n3,4,b\n"])
    writer.start()
    assert read_path(str(tmp_path / "pipe")).labels == ["a", "b"]
    writer.join()


# -- labels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cells, labels",
    [
        (["1", "-1"], [1, -1]),
        (["1.0", "2.0"], [1, 2]),
        (["0.5", "2"], [0.5, 2]),
        (["yes", "no"], ["yes", "no"]),
        (["true", "false"], ["true", "false"]),
        (["none", "-"], ["none", "-"]),
        (["2024-01-01", "2024-01-02"], ["2024-01-01", "2024-01-02"]),
        (["ä", "日本"], ["ä", "日本"]),
    ],
)
def test_labels_are_plain_values(cells, labels):
    found = pasted(f"x1,x2,label\n1,2,{cells[0]}\n3,4,{cells[1]}\n").labels
    assert found == labels and list(map(type, found)) == list(map(type, labels))


@pytest.mark.parametrize("y, labels", [([True, False], ["true", "false"]), ([7, 8], [7, 8]), ([1.0, 0.5], [1, 0.5])])
def test_labels_of_arrays_are_plain_values(tmp_path, y, labels):
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=np.array(y))
    found = read_path(str(tmp_path / "a.npz")).labels
    assert found == labels and list(map(type, found)) == list(map(type, labels))


# -- columns ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, target",
    [
        ("Species,x1,x2,kind\na,1,2,u\nb,3,4,v\n", "Species"),  # by its name
        ("x1,LABEL,x2\n1,2,3\n4,5,6\n", "LABEL"),
        ("x1,x2,y,z\n1,2,0,7\n3,4,1,8\n", "y"),
        ("x,y,z\n1,2,0\n3,4,1\n", "z"),  # y is a coordinate
        ("category,class,x1\na,u,1\nb,u,2\nc,v,3\nd,v,4\ne,u,5\nf,u,6\ng,v,7\n", "class"),  # the other has 7 values
        ("u,c,x1,d\na,b,1,7\nb,c,2,8\n", "c"),  # the last that is not a number
        ("1,2,0\n3,4,1\n5,6,1\n", "2"),  # the last
        ("1,0.5,0.25\n0,1.5,0.75\n1,2.5,3.5\n", "0"),  # whole numbers rather than fractions
    ],
)
def test_target_by_default(text, target):
    assert pasted(text).target == target


def test_every_possible_target_can_be_chosen():
    text = "n,x1,c,d,many\n" + "".join(f"{i % 3},{i / 4},{'ab'[i % 2]},k,w{i}\n" for i in range(20))
    table = pasted(text)
    assert table.target == "c" and table.targets == ["n", "c"] and table.names == ["n", "x1"]
    for target in table.targets:
        chosen = pasted(text, target)
        assert chosen.target == target and chosen.targets == table.targets and target not in chosen.names
        assert len(set(chosen.labels)) == (3 if target == "n" else 2)


def test_numbers_that_look_like_ids_or_codes_are_features():
    table = pasted("id,zip,label\n" + "".join(f"{i},{i % 4:04},{i % 2}\n" for i in range(60)))
    assert table.names == ["id", "zip"] and table.values[:3].tolist() == [[0, 0], [1, 1], [2, 2]]


def test_one_column_of_numbers_is_enough():
    assert pasted("1,a\n2,b\n").values.tolist() == [[1.0], [2.0]]
    assert pasted("x,label\n1,0\n2,1\n").names == ["x"]


def test_other_columns_are_ignored_and_named():
    (note,) = pasted("x1,name,day,c\n1,Ann,2024-01-01,a\n2,Bob,2024-01-02,b\n").notes
    assert "'name', 'day'" in note
    head, cells = ",".join(f"w{j}" for j in range(9)), ",".join(["word"] * 9)
    (note,) = pasted(f"{head},x1,label\n{cells},1,a\n{cells},2,b\n").notes
    assert "'w5' and 3 more" in note and "'w6'" not in note


@pytest.mark.parametrize("format", ["csv", "svm", "npy"])
def test_the_first_features_are_kept(tmp_path, format):
    X = np.arange(2.0 * 80).reshape(2, 80) + 1
    path = tmp_path / f"a.{format}"
    if format == "csv":
        path.write_text("".join(",".join(map(str, row)) + f",{'ab'[i]}\n" for i, row in enumerate(X.tolist())))
    elif format == "svm":
        lines = [" ".join(f"{j + 1}:{value}" for j, value in enumerate(row)) for row in X.tolist()]
        path.write_text("".join(f"{i} {line}\n" for i, line in enumerate(lines)))
    else:
        np.save(path, np.hstack([X, [[0], [1]]]))
    table = read_path(str(path))
    assert (table.values == X[:, :FEATURES]).all() and len(table.names) == FEATURES
    assert table.notes == ["Only the first 64 of 80 columns of numbers are used."]


# -- rows -------------------------------------------------------------------------------------------------------------


def test_incomplete_rows_are_left_out():
    table = pasted("1,2,a\n3,,b\n4,5,\n6,NA,b\n7,8,b\n9,1,?\n")
    assert table.values.tolist() == [[1, 2], [7, 8]] and table.labels == ["a", "b"]
    assert table.notes == ["4 rows with a missing number or label were left out."]
    assert pasted("1,2,a\n3,,b\n7,8,b\n").notes == ["1 row with a missing number or label was left out."]
    assert pasted("1,2,0\n3,4,\n5,6,1\n").labels == [0, 1]  # a label that is a number


def test_missing_cells_of_columns_that_are_not_used_do_not_matter():
    table = pasted("x1,word,nothing,c\n1,,,a\n2,u,,b\n")
    assert table.names == ["x1"] and table.labels == ["a", "b"]


def test_missing_values_of_typed_tables(tmp_path):
    columns = {"x": [1.0, None, float("nan"), 4.0, 5.0], "nothing": [None] * 5, "c": ["a", "b", "a", None, "b"]}
    table = pa.table(columns)
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    found = read_path(str(tmp_path / "a.parquet"))
    assert found.values.tolist() == [[1.0], [5.0]] and found.labels == ["a", "b"]
    assert found.notes[1:] == ["3 rows with a missing number or label were left out."]


def test_many_rows_are_sampled_evenly_and_in_order(written):
    n = 30_000
    path = written("a.csv", "i,c\n" + "".join(f"{i},{'abc'[i % 3]}\n" for i in range(n)))
    table, again = read_path(path), read_path(path)
    order = table.values[:, 0]
    assert len(order) == len(table.labels) == ROWS and (np.diff(order) > 0).all()
    assert table.labels == ["abc"[int(i) % 3] for i in order]
    assert table.notes == ["1,000 of 30,000 rows, drawn at random."]
    assert (again.values == table.values).all()
    halves = (order < n / 2).sum()
    assert abs(halves - ROWS / 2) < 6 * np.sqrt(ROWS / 4)  # six standard deviations


def test_a_sample_has_every_class(written):
    lines = [f"{i},{'rare' if i == 7777 else 'ab'[i % 2]}\n" for i in range(20_000)]
    assert set(read_path(written("a.csv", "".join(lines))).labels) == {"a", "b", "rare"}


@pytest.mark.parametrize("format", ["csv", "svm"])
def test_of_huge_files_the_first_rows_are_sampled(written, format):
    line = "{i},class {c}\n" if format == "csv" else "{c} 1:{i}\n"
    table = read_path(written(f"a.{format}", "".join(line.format(i=i, c=i % 2) for i in range(1, 200_500))), None)
    assert len(table.labels) == ROWS and table.values.max() <= 200_000
    assert table.notes == ["1,000 of the first 200,000 rows, drawn at random."]


# -- errors -----------------------------------------------------------------------------------------------------------

BAD = {
    "nothing": (b"", ["pasted text is empty", "expected"]),
    "blanks": (b" \n\r\n\t", ["pasted text is empty"]),
    "only names": (b"x1,x2,c\n", ["pasted text has no rows"]),
    "one column": (b"1\n2\n3\n", ["only one column", "commas"]),
    "blanks between cells": (b"1 2 a\n3 4 b\n", ["only one column", "commas"]),
    "no class": (b"1.5,2\n3,4\n5,6\n", ["two columns of numbers", "third column"]),
    "no class below names": (b"x,y\n1,2\n3,4\n", ["two columns of numbers", "third column"]),
    "no numbers": (b"u,v,w\na,b,c\nd,e,f\n", ["no column of numbers", "'w'", "add one"]),
    "few values": (b"x1,x2,c\n1,2,a\n", ["no column has 2 to 6 different values", "'c' has 1", "add a column"]),
    "short line": (b"1,2,a\n3,4\n5,6,b\n", ["pasted text:2: ", "2 columns, expected 3"]),
    "long line": (b"1;2;a\n3;4;b;5\n5;6;b\n", ["pasted text:2: ", "4 columns, expected 3"]),
    "no number": (b"x1,x2,c\n1,2,a\n3,4,b\n5,abc,b\n", ["pasted text:4: ", "column 'x2'", "'abc'", "correct"]),
    "infinite": (b"1,2,a\n1e400,4,b\n", ["pasted text:2: ", "inf, expected a finite number"]),
    "overflow": (b"1,2,a\n1e200,4,b\n", ["pasted text:2: ", "rescale"]),
    "NUL": (b"1,2,a\0\n3,4,b\n", ["pasted text has NUL characters", "CSV"]),
    "binary": (bytes(range(256)), ["pasted text has NUL characters"]),
    "half of UTF-16": ("1,2,a\n3,4,b\n".encode("utf-16")[:-1], ["pasted text: the text is not utf-16"]),
    "gzip": (b"\x1f\x8b\x08\0\0\0", ["pasted text starts like a compressed file"]),
    "svmlight": (b"1 1:2\n-1 1:x\n", ["pasted text:2:4: '1:x' is not index:value"]),
    "empty class": (b"x1,x2,class\n1,2,\n3,4,\n", ["no row with all numbers and a label"]),
    "no complete row": (b"x1,x2,c\n1,,a\n,2,b\n", ["no row with all numbers and a label"]),
    "too many classes": (
        b"x1,ok,label\n" + b"".join(b"%d,%d,w%d\n" % (i, i % 2, i) for i in range(20)),
        ["column 'label' has 20 different values", "2 to 6", "choose another column", "'ok'"],
    ),
    "only many values": (
        b"u,v,w\n" + b"".join(b"%d,%d,%d\n" % (i, i, i) for i in range(20)),
        ["no column has 2 to 6 different values", "'w' has more", "add a column"],
    ),
    "one class": (b"1 1:2\n1 1:3\n", ["1 different value", "2 to 6"]),
}


@pytest.mark.parametrize("content, words", BAD.values(), ids=BAD)
def test_what_cannot_be_read_is_explained(temporary, content, words):
    with pytest.raises(ValueError) as error:
        pasted(content)
    assert all(word in str(error.value) for word in words), error.value
    assert str(temporary) not in str(error.value) and list(temporary.iterdir()) == []


@pytest.mark.parametrize("ending", ["parquet", "arrow", "npy", "npz", "svm"])
@pytest.mark.parametrize("content", [b"x,y,c\n1,2,a\n", b"\0" * 100, b"PAR1PAR1", b"PK\3\4", b"\x93NUMPY", b"ARROW1"])
def test_files_with_wrong_endings_are_refused(temporary, ending, content):
    with pytest.raises(ValueError, match=rf"^upload\.{ending}\b"):
        read_bytes(f"upload.{ending}", content)
    assert list(temporary.iterdir()) == []


def test_text_in_another_encoding_is_read_with_a_note():
    table = pasted("1,2,Müller\n3,4,b\n".encode("latin-1"))
    assert table.labels == ["Müller", "b"]
    assert table.notes == ["The text is not UTF-8, and is read as Windows-1252."]
    (note,) = read_bytes("wide.csv", "1,2,a\n3,4,b\n".encode("utf-16")).notes
    assert note == "The file wide.csv is read as UTF-16."


def test_targets_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match=r"pasted text: column 'q' does not exist.*'x1', 'c'"):
        pasted("x1,c\n1,a\n2,b\n", "q")


def test_large_uploads_are_refused():
    rows = b"1,2,a\n3,4,b\n"
    content = rows * (BYTES // len(rows))
    assert len(read_bytes("a.csv", content).labels) == ROWS
    with pytest.raises(ValueError, match=r"^a\.csv has more than 5,000,000 bytes"):
        read_bytes("a.csv", content + rows)


def test_files_that_cannot_be_opened_are_named(tmp_path, written):
    for name in ("nowhere.csv", "*.nothing"):
        with pytest.raises(ValueError, match=r"no such file|no file matches"):
            read_path(str(tmp_path / name))
    with pytest.raises(ValueError, match="is a folder"):
        read_path(str(tmp_path))
    path = written("a.csv", "1,2,a\n3,4\n")
    with pytest.raises(ValueError, match=r"a\.csv:2: "):
        read_path(path)
    written("b.csv", "1,2,a\n")
    with pytest.raises(ValueError, match="stands for 2 files"):
        read_path(str(tmp_path / "*.csv"))


@pytest.mark.parametrize(
    "name", ["../../etc/passwd.csv", "/etc/passwd", "..\\..\\passwd.csv", "a\0b.csv", "~/.csv", "..", "/", "x" * 9999]
)
def test_names_of_uploads_are_only_names(temporary, name):
    before = sorted(temporary.parent.iterdir())
    table = read_bytes(name, b"1,2,a\n3,4,b\n")
    assert table.labels == ["a", "b"] and "/" not in table.name and "\0" not in table.name and table.name
    assert sorted(temporary.parent.iterdir()) == before and list(temporary.iterdir()) == []


def test_nothing_stays_on_the_disk(temporary, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(temporary))
    for name, content in WRITTEN.values():
        read_bytes(name, content.encode() if isinstance(content, str) else content)
    assert list(temporary.iterdir()) == []


def test_tables_stay_within_their_limits():
    text = "".join(",".join(str(i * j % 11) for j in range(90)) + f",{'abcdef'[i % 6]}\n" for i in range(1500))
    table = pasted(text)
    assert table.values.shape == (ROWS, FEATURES) and len(set(table.labels)) == CLASSES
