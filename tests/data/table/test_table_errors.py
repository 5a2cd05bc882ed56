"""What is said of tables that cannot be read: file, line or row, column, what was found, and what to do."""

import re

import pyarrow as pa
import pyarrow.parquet
import pytest

from perceptrons.data import batches as sizes
from perceptrons.data import files
from perceptrons.data.files import DataError
from perceptrons.data.table import csv_blocks
from perceptrons.data.table.encoding import Encoding
from perceptrons.data.table.tables import TableSource


def error(tmp_path, *contents, format="csv", target="y", missing="error", **settings):
    """The message, with names of files but not of their folder."""
    settings |= {} if "like" in settings else {"missing": missing}
    paths = []
    for number, content in enumerate(contents):
        paths.append(str(tmp_path / f"{number}.{format}"))
        if isinstance(content, pa.Table):
            pa.parquet.write_table(content, paths[-1])
        else:
            (tmp_path / f"{number}.{format}").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as caught:
        list(TableSource(paths, format=format, target=target, **settings).batches())
    return str(caught.value).replace(f"{tmp_path}/", "")


MISSING = "the value is missing: remove the row, drop the column, or put {} in its place with missing='mean'"
ADVICE = ": correct it, count it as missing with na=['{}'], or treat all values as categories with categorical=['{}']"
GOOD = "1,u,0\n" * 40

CELLS = {
    "a,c,y\n1,u,0\n,u,1\n": "0.csv:3: column 'a': " + MISSING.format("a number"),
    "a,c,y\n1,u,0\nNA,,1\n": "0.csv:3: column 'a': " + MISSING.format("a number"),
    'a,c,y\n1,"u\n\nv",0\n\n1,,1\n': "0.csv:6: column 'c': " + MISSING.format("the category '(missing)'"),
    "a,c,y\n1,u,0\n1,u,\n": "0.csv:3: column 'y': the label is missing: remove the row",
    "a,c,y\n1,u,x\n1,u,\n": "0.csv:3: column 'y': the label is missing: remove the row",
    f"\r\na,c,y\r\n{GOOD}inf,v,1\r\n": "0.csv:43: column 'a': got inf, expected a finite number",
    f"a,c,y\n{GOOD}1e200,v,1\n": "0.csv:42: the squared length of the row overflows float64: rescale the features",
    f"a,c,y\n{GOOD}1,v\n": "0.csv:42: the row has 2 columns, expected 3: 1,v",
    f"a,c,y\n{GOOD}1,v,0,9\n": "0.csv:42: the row has 4 columns, expected 3: 1,v,0,9",
    f"a,c,y\n1\n{GOOD}": "0.csv:2: the row has 1 column, expected 3: 1",
    "y\n1\n": "0.csv has no columns of features besides the labels 'y'",
    "\n\n": "0.csv is empty: expected a line with column names",
    "day,y\n2020-01-01,1\n": "0.csv has no columns of features besides the labels 'y'. Column 'day' holds dates: treat "
    "its values as categories with categorical=['day']",
    "a,c,y\n1,u,0\n.5e3,u,0\n-2,v,1\n ?,v,1\n,u,0\n": "0.csv:5: column 'a': " + MISSING.format("a number"),
    "a,c,y\n1,u,0\n.5e3,u,0\n-2,v,1\n q,v,1\n,u,0\n": "0.csv:5: column 'a': expected a number as in most rows, got "
    "' q': correct it, count it as missing with na=['q'], or treat all values as categories with categorical=['a']",
    "a,label\n1,2\n": "0.csv has no column 'y'. Its columns are 'a', 'label'.",
    "a,Y1\n1,2\n": "0.csv has no column 'y'. Its columns are 'a', 'Y1'.",
}


# What is read if nothing is said about it.
TOLD = [
    (
        f"a,c,y\n{GOOD}1,".encode() + b"\xff,0\n",
        {"encoding": "utf-8"},
        "0.csv:42: column 'c': the text is not UTF-8: name its encoding with encoding='latin-1', for instance",
    ),
    (
        b"a\xff,y\n1,2\n",
        {"encoding": "utf-8"},
        "0.csv:1: the header is not UTF-8: name its encoding with encoding='latin-1', for instance",
    ),
    (
        b"a,c,y\n1,\xff,0\n",
        {"encoding": "ascii"},
        "0.csv: the text is not ascii: 'ascii' codec can't decode byte 0xff "
        "in position 8: ordinal not in range(128). Name its encoding with encoding='latin-1', for instance",
    ),
    (
        'a,c,y\n1,u,0\n1,"u,0\n1,v,1\n',
        {"quotes": True},
        "0.csv:3: the row that begins here ends inside a quoted cell: "
        "close the quote, or pass quotes=False if quotes have no special meaning",
    ),
    ("a;y\n1;2\n", {"delimiter": ","}, "0.csv has no column 'y'. Its columns are 'a;y'. Perhaps its delimiter is ';'?"),
    (
        "1,2\n3,4\n",
        {},
        "0.csv has no column 'y'. Its columns are '0', '1'. If its first line has the names of the "
        "columns, pass header=True.",
    ),
    (
        "a,y\n1 apple,0\n2,1\n",
        {"numeric": ["a"]},
        "0.csv:2: column 'a': expected a number, got '1 apple': correct it, or count it as missing with na=['1 apple']",
    ),
    (
        "a,b,y\n1,2,0\n2,3,1\n4,5,1\n",
        {"header": False, "target": "2"},
        "0.csv:1: column '0': expected a number as in most rows, got 'a': correct it, count it as missing with "
        "na=['a'], or treat all values as categories with categorical=['0']. Perhaps the first line has the names of "
        "the columns: pass header=True",
    ),
    (
        "2019,2020,2021\n1,2,0\n2,3,1\n",
        {"target": "2021"},
        "0.csv has no column '2021'. Its columns are '0', '1', '2'. If its first line has the names of the "
        "columns, pass header=True.",
    ),
    (
        "a,y\n1,u\n2, NA\n",
        {},
        "0.csv:3: column 'y': the label 'NA' counts as missing: remove the row; if it is a class, pass na=['?']",
    ),
]


@pytest.mark.parametrize("block", [64, 1 << 22])
@pytest.mark.parametrize("content, settings, message", TOLD)
def test_what_is_told_is_not_guessed(tmp_path, monkeypatch, block, content, settings, message):
    for name in ("BEGINNING", "BLOCK"):
        monkeypatch.setattr(csv_blocks, name, block)
    assert error(tmp_path, content, **settings) == message


def test_numbers_that_are_hardly_classes(tmp_path):
    content = "a,y\n" + "".join(f"{i % 7},{i}\n" for i in range(500))
    assert error(tmp_path, content) == (
        "0.csv: column 'y' has 500 different numbers in the first 500 rows, too many for classes: to predict numbers, "
        "pass regression=True; otherwise name another column with target, or group the numbers; if each number is a "
        "class, pass categorical=['y']"
    )
    source = TableSource([str(tmp_path / "0.csv")], format="csv", target="y", categorical=["y"])
    assert [label for batch in source.batches() for label in batch.y.tolist()] == list(range(500))
    content = "a,y\n" + "".join(f"{i % 7},{i}.25\n" for i in range(500))
    assert "has 500 different numbers in the first 500 rows, too many for classes" in error(tmp_path, content)
    assert "'y' has numbers such as 0.5, which are not classes: to predict" in error(tmp_path, "a,y\n1,0\n2,0.5\n")
    source = TableSource([str(tmp_path / "0.csv")], format="csv", target="y", categorical=["y"])
    assert [label for batch in source.batches() for label in batch.y.tolist()] == ["0", "0.5"]


@pytest.mark.parametrize("block", [64, 1 << 22])
def test_cells_lines_and_headers(tmp_path, monkeypatch, block):
    for content, message in CELLS.items():
        for name in ("BEGINNING", "BLOCK"):
            monkeypatch.setattr(csv_blocks, name, block)
        monkeypatch.setattr(sizes, "MOST_ROWS", 7)
        assert error(tmp_path, content) == message


def test_cells_of_later_blocks(tmp_path, monkeypatch):
    for name in ("BEGINNING", "BLOCK"):
        monkeypatch.setattr(csv_blocks, name, 64)
    wrong = error(tmp_path, f'a,c,y\n1,"u\n\nu",0\n{GOOD}1,u,0\nxyz,v,1\n')
    assert wrong == "0.csv:46: column 'a': expected a number, got 'xyz'" + ADVICE.format("xyz", "a")
    wrong = error(tmp_path, f"a,c,y\n{GOOD}1,v,yes\n")
    assert wrong == "0.csv:42: column 'y': expected an integer, as in the rows before, got 'yes'"
    monkeypatch.setattr(files, "LONGEST", 1 << 20)
    wrong = error(tmp_path, f'a,c,y\n1,"u\n\nu",0\n1,"u,0\n{"x" * 2**21}')
    assert wrong.startswith(
        "0.csv:5: the row that begins here is longer than 1 MB: close the quote, or pass quotes=False"
    )
    wrong = error(tmp_path, f"a,c,y\n1,u,0\n{'x' * 2**21}")
    assert wrong == "0.csv:3: the row that begins here is longer than 1 MB: end rows by line feeds"
    flags = "a,c,y\n" + "true,u,x\n" * 20
    assert error(tmp_path, f"{flags}maybe,u,x\n") == "0.csv:22: column 'a': expected true or false, got 'maybe'"


def test_names_of_columns(tmp_path):
    table = "age,pay,label\n1,2,0\n"
    assert error(tmp_path, table, target="lable") == (
        "0.csv has no column 'lable'. Did you mean 'label'? Its columns are 'age', 'pay', 'label'."
    )
    assert error(tmp_path, table, target=None) == (
        "0.csv: name the column of labels with target. Its columns are 'age', 'pay', 'label'"
    )
    for setting in ("features", "drop", "categorical", "text"):
        assert "no column 'ages'. Did you mean 'age'?" in error(tmp_path, table, target="label", **{setting: ["ages"]})
    assert "no column 'ages'" in error(tmp_path, table, target="label", missing={"ages": 1})
    both = error(tmp_path, table, target="label", text=["age"], categorical=["age"])
    assert both == "column 'age' is both in categorical and in text: keep it in one of them"
    many = ",".join(f"c{j}" for j in range(30)) + "\n"
    assert error(tmp_path, many).endswith("'c18', 'c19' and 10 more, the last of them 'c29'.")


def test_columns_of_further_files(tmp_path):
    first, second = "a,b,y\n1,2,0\n", "a,c,y\n1,2,0\n"
    differ = "1.csv: its columns differ from those of 0.csv: it lacks"
    assert error(tmp_path, first, second) == f"{differ} 'b', and it adds 'c'"
    assert error(tmp_path, first, "a,b\n1,2\n") == f"{differ} 'y'"
    wrong = error(tmp_path, first, "a,b,y\n1,u,0\n")
    assert wrong == "1.csv:2: column 'b': expected a number, got 'u'" + ADVICE.format("u", "b")
    like = Encoding("y", "int64", ["a", "b"], [], [], [])
    assert error(tmp_path, second, target=None, like=like) == (
        "0.csv has no column 'b'. Its columns are 'a', 'c', 'y'."
    )
    assert "has no column 'z'" in error(tmp_path, first, target="z", like=like)
    with pytest.raises(TypeError, match=r"as in model\.encoding_, got dict"):
        TableSource([str(tmp_path / "0.csv")], format="csv", like={})


def test_headers_that_a_model_does_not_expect(tmp_path):
    (tmp_path / "bare.csv").write_text("1,0\n2,1\n3,0\n")
    source = TableSource([str(tmp_path / "bare.csv")], format="csv", target="1")
    list(source.batches())
    assert not source.dialect.header
    remedy = "remove it, because the model was trained on a file without names"
    assert error(tmp_path, "a,y\n1,0\n", target=None, like=source.encoding) == (
        "0.csv:1: column '1': expected an integer, as in the rows before, got 'y'. "
        f"Perhaps the first line has the names of the columns: {remedy}"
    )
    (tmp_path / "named.csv").write_text("a,y\n1,0\n2,1\n3,0\n")
    like = TableSource([str(tmp_path / "named.csv")], format="csv", target="y")
    list(like.batches())
    add = " The model knows its columns by name: if the file has no line with names, add it."
    assert error(tmp_path, "1,0\n2,1\n", target=None, like=like.encoding) == (
        f"0.csv has no column 'a'. Its columns are '1', '0'.{add}"
    )
    assert error(tmp_path, "1,0\n2,1\n", target=None, like=like.encoding, header=False).endswith(add)


def test_parquet(tmp_path):
    good = {"x": [1.0, 2.0, 3.0], "c": ["u", "v", "w"], "y": [0, 1, 0]}

    def wrong(**columns):
        return error(tmp_path, pa.table(good | columns), format="parquet")

    assert wrong(x=[1.0, None, 3.0]) == "0.parquet: row 2: column 'x': " + MISSING.format("a number")
    assert wrong(x=[1.0, 2.0, float("nan")], c=["u", None, "w"]).startswith(
        "0.parquet: row 2: column 'c': the value is missing"
    )
    assert wrong(x=[float("nan"), 2.0, 3.0]).startswith("0.parquet: row 1: column 'x': the value is missing")
    assert wrong(x=[1.0, 2.0, -float("inf")]) == "0.parquet: row 3: column 'x': got -inf, expected a finite number"
    assert wrong(y=[0, None, 1]) == "0.parquet: row 2: column 'y': the label is missing: remove the row"
    assert wrong(y=[2.0, float("nan"), 1]) == "0.parquet: row 2: column 'y': the label is missing: remove the row"
    assert (
        wrong(x=[[1], [2], [3]])
        == "0.parquet: column 'x' holds list<element: int64>, which cannot be a feature: drop it"
    )
    assert "column 'x' holds struct" in wrong(x=[{"k": 1}] * 3)
    assert wrong(y=pa.array([0, 2**63, 1], pa.uint64())) == (
        "0.parquet: row 2: column 'y': expected a 64-bit integer, got 9223372036854775808"
    )
    assert "labels in column 'y' are list" in wrong(y=[[1], [2], [3]])
    text = error(tmp_path, pa.table(good | {"c": ["u", None, "v"]}), format="parquet", text=["c"])
    assert text == "0.parquet: row 2: column 'c': " + MISSING.format("a text without words")
    first, second = pa.table(good), pa.table(good | {"x": ["1", "2", "3"]})
    assert error(tmp_path, first, second, format="parquet") == (
        "1.parquet: column 'x' holds string, expected numbers as before"
    )
    halves = pa.table(good | {"y": [0.0, 1.0, 0.5]})
    assert error(tmp_path, first, halves, format="parquet") == (
        "1.parquet: row 3: column 'y': expected a 64-bit integer, got 0.5"
    )
    assert error(tmp_path, "no Parquet", format="parquet").startswith("0.parquet cannot be read as Parquet: ")
    assert error(tmp_path, "FEA1....", format="arrow").endswith(
        "it is a Feather file of version 1: write it again as version 2"
    )


def test_damaged_compression(tmp_path):
    import gzip

    content = gzip.compress(b"a,y\n" + b"1,2\n" * 9999)
    assert "starts like a compressed file but cannot be decompressed" in error(tmp_path, content[:-20])
    assert "cannot be decompressed" in error(tmp_path, content[:-20], format="parquet")


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"format": "xls"}, "format must be csv, tsv, parquet or arrow, got 'xls'"),
        ({"delimiter": ";;"}, "delimiter must be one ASCII character"),
        ({"hash_bits": 0}, "hash_bits must lie between 1 and 28, got 0"),
        ({"text_bits": 32}, "text_bits must lie between 1 and 28, got 32"),
        ({"ngrams": 0}, "ngrams must lie between 1 and 8, got 0"),
        ({"missing": float("nan")}, "missing must be a finite number, got nan"),
        ({"missing": {"a": float("inf")}}, "missing must be a finite number, got inf"),
        ({"like": Encoding("y", "str", ["a"], [], [], []), "ngrams": 2}, "ngrams cannot be given together with like"),
    ],
)
def test_settings(tmp_path, settings, message):
    (tmp_path / "a.csv").write_text("a,y\n1,2\n")
    with pytest.raises(DataError, match=re.escape(message)):
        TableSource([str(tmp_path / "a.csv")], **{"format": "csv", **settings})


def test_signature_tells_settings_apart(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,2\n")
    like = Encoding("y", "int64", ["a"], [], [], [])
    variants = [
        {},
        {"ngrams": 2},
        {"missing": {"a": 1.0}},
        {"delimiter": ";"},
        {"quotes": False},
        {"drop": ["a"]},
        {"like": like},
    ]
    made = [TableSource([str(tmp_path / "a.csv")], format="csv", target="y", **k).signature() for k in variants]
    assert len({repr(one) for one in made}) == len(variants)
