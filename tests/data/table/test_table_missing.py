"""Missing cells of tables: absent entries and features that mark them, against rows written with dicts."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from naive_tables import write

from perceptrons.data import batches as sizes
from perceptrons.data.table import csv_blocks
from perceptrons.data.table.encoding import MISSING, Encoding
from perceptrons.data.table.tables import TableSource

ROWS = [
    {"age": 0.0, "pay": 7.0, "job": "nurse", "y": 0},
    {"age": None, "pay": 0.0, "job": "cook", "y": 1},
    {"age": 3.0, "pay": None, "job": None, "y": 0},
    {"age": None, "pay": None, "job": "cook", "y": 1},
    {"age": 5.0, "pay": 2.0, "job": "nurse", "y": 1},
]


def files_of(tmp_path, form, columns):
    table = pa.table({name: [row[name] for row in ROWS] for name in columns})
    path = tmp_path / f"a.{form}"
    if form == "parquet":
        pa.parquet.write_table(table, path)
        return [str(path)]
    lines = [",".join(columns)]
    lines += [",".join("" if row[name] is None else str(row[name]) for name in columns) for row in ROWS]
    return write(path, "\n".join(lines) + "\n")


def entries(source):
    """All entries of each row by the name of their feature, zeros too."""
    found = []
    for batch in source.batches():
        matrix = batch.rows
        for i in range(len(matrix)):
            if matrix.indices is None:
                pairs = enumerate(matrix.values[i].tolist())
            else:
                span = slice(int(matrix.indptr[i]), int(matrix.indptr[i + 1]))
                pairs = zip(matrix.indices[span].tolist(), matrix.values[span].tolist(), strict=True)
            found.append({source.encoding.feature_name(j): x for j, x in pairs})
    return found


def expected(columns, scale, means=None, known=None):
    """From the definition: numbers that are there, an indicator for the others, one feature for each category."""
    rows = []
    for row in ROWS:
        entry = {}
        for name in columns:
            if name == "job":
                entry[f"job={row[name] or '(missing)'}"] = 1.0
            elif name != "y":
                value = row[name]
                if value is None:
                    entry[f"{name}=(missing)"] = 1.0
                    value = None if scale == "standard" and means is None else (means or {}).get(name, 0.0)
                if value is not None and (value != 0.0 or scale == "standard"):
                    entry[name] = value
        rows.append({name: x for name, x in entry.items() if known is None or name in known})
    return rows


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("columns", [["age", "pay", "job", "y"], ["age", "pay", "y"]])
@pytest.mark.parametrize("scale", ["standard", "none"])
def test_missing_cells_by_definition(tmp_path, monkeypatch, form, columns, scale):
    paths = files_of(tmp_path, form, columns)
    source = TableSource(paths, format=form, target="y", scale=scale)
    assert source.scale == scale and entries(source) == expected(columns, scale)
    assert source.encoding.scale == scale and source.encoding.numbers == ["age", "pay"]
    order = source.encoding.seen
    restored = Encoding.from_state(*source.encoding.state())
    assert restored == source.encoding
    monkeypatch.setattr(sizes, "MOST_ROWS", 2)
    small = TableSource(paths, format=form, target="y", scale=scale)
    assert entries(small) == expected(columns, scale) and small.encoding.seen == order
    restored.means = {"age": 2.5}
    frozen = TableSource(paths, format=form, like=restored)
    assert frozen.scale == scale and entries(frozen) == expected(columns, scale, {"age": 2.5})


def test_indicators_that_training_has_not_seen(tmp_path):
    trained = Encoding("y", "int64", ["age", "pay"], [], [], [], missing="mean", sparse=True, scale="standard")
    trained.seen.append(("age", MISSING))
    trained = Encoding.from_state(*trained.state())
    source = TableSource(files_of(tmp_path, "csv", ["age", "pay", "y"]), format="csv", like=trained)
    known = {"age", "pay", "age=(missing)"}
    assert entries(source) == expected(["age", "pay", "y"], "standard", {}, known)


def test_cells_that_are_missing_only_later_get_the_mean_of_the_beginning(tmp_path, monkeypatch):
    for name in ("BEGINNING", "BLOCK"):
        monkeypatch.setattr(csv_blocks, name, 32)
    begin = [[float(i % 4), 2.0 * i] for i in range(30)]
    text = "a,b,y\n" + "".join(f"{a},{b},{i % 2}\n" for i, (a, b) in enumerate(begin)) + ",5,0\n3,,1\n"
    source = TableSource(write(tmp_path / "a.csv", text), format="csv", target="y")
    rows = np.vstack([batch.rows.values for batch in source.batches()])
    assert source.encoding.dense and rows[:30].tolist() == begin
    block = np.array(begin[: source.sampled])  # the rows of the first block
    assert 0 < len(block) < 30
    assert rows[30:].tolist() == [[block[:, 0].mean(), 5.0], [3.0, block[:, 1].mean()]]
    like = Encoding.from_state(*source.encoding.state())
    like.means = {"a": -1.0}
    rows = np.vstack([batch.rows.values for batch in TableSource([*source.paths], format="csv", like=like).batches()])
    assert rows[30:].tolist() == [[-1.0, 5.0], [3.0, 0.0]]


def test_encodings_of_older_versions_refuse_missing_cells_and_do_not_scale():
    meta, lists = Encoding("y", "str", ["a"], ["c"], [], []).state()
    for name in ("scale", "sparse", "means", "dialect"):
        del meta[name]
    old = Encoding.from_state(meta, lists)
    assert old.scale == "none" and old.missing is None and old.means == {} and old.dialect is None


def read_like(tmp_path, text, **settings):
    return TableSource(write(tmp_path / "a.csv", text), format="csv", **settings)


@pytest.mark.parametrize("hash_bits", [None, 8])
def test_the_word_missing_is_not_a_missing_cell(tmp_path, hash_bits):
    text = "c,y\nmissing,0\n,1\nu,0\nNA,1\n"
    rows = entries(read_like(tmp_path, text, target="y", hash_bits=hash_bits))
    assert rows[1] == rows[3] != rows[0] != rows[2] != rows[1]
    if hash_bits is None:
        assert rows[:3] == [{"c=missing": 1.0}, {"c=(missing)": 1.0}, {"c=u": 1.0}]


@pytest.mark.parametrize("hash_bits", [None, 8])
def test_models_of_earlier_versions_read_as_they_did(tmp_path, hash_bits):
    """They took the word "missing" for a missing cell, and "NA" for a word."""
    text = "a,c,y\n1,missing,0\n,,1\n3,NA,0\n4,?,1\n"
    source = read_like(tmp_path, "a,c,y\n1,missing,0\n2,u,1\n", target="y", hash_bits=hash_bits, na=[])
    word = entries(source)[0]  # where the word "missing" is hashed
    encoding = source.encoding
    meta, lists = encoding.state()
    del meta["absent"], meta["dialect"]["words"]
    if hash_bits is None:
        lists = {"column": ["c", "c", "a"], "category": ["missing", "NA", "missing"]}
    old = Encoding.from_state(meta, lists)
    assert Encoding.from_state(*old.state()) == old
    rows = [{name: x for name, x in row.items() if name != "a"} for row in entries(read_like(tmp_path, text, like=old))]
    if hash_bits is None:
        gap = {"c=(missing)": 1.0}
        assert rows == [gap, gap | {"a=(missing)": 1.0}, {"c=NA": 1.0}, gap]
    else:
        assert rows[0] == rows[3] == rows[1] != rows[2] and rows[0].items() <= word.items()


@pytest.mark.parametrize(
    "part, value",
    [
        ("scale", "log"),
        ("scale", 1),
        ("sparse", 1),
        ("means", []),
        ("means", {"c": 1.0}),
        ("means", {"a": float("nan")}),
        ("means", {"a": "1"}),
        ("missing", "median"),
        ("missing", {"a": "mean"}),
        ("dialect", {"delimiter": ",,"}),
        ("dialect", {"delimiter": 1}),
        ("dialect", {"header": 1}),
        ("dialect", {"decimal": "x"}),
        ("dialect", {"encoding": "no-such"}),
        ("dialect", {"encoding": "zip"}),
        ("dialect", {"na": [1]}),
        ("dialect", {"words": [1]}),
        ("absent", "gone"),
        ("absent", []),
        ("dialect", {"other": 1}),
        ("dialect", "csv"),
    ],
)
def test_damaged_states_are_refused(part, value):
    meta, lists = Encoding("y", "str", ["a"], ["c"], [], []).state()
    with pytest.raises(ValueError, match=r"."):
        Encoding.from_state(meta | {part: value}, lists)
