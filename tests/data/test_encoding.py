"""What is kept of a table for the next one: fills, numbers of features, hashes."""

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from naive_tables import MIXED, naive, named, numbered, text_of, write

from perceptrons.data.table.encoding import Encoding
from perceptrons.data.table.tables import TableSource


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_missing_values_are_filled(tmp_path, form):
    table = pa.table(
        {
            "x": pa.array([1.0, None, 3.0]),
            "n": pa.array([None, 2, 3], pa.int64()),
            "c": ["u", None, "v"],
            "t": [None, "word", ""],
            "void": pa.nulls(3),
            "y": [1, 0, 1],
        }
    )
    path = tmp_path / "a"
    (pa.csv.write_csv if form == "csv" else pa.parquet.write_table)(table, path)
    source = TableSource([str(path)], format=form, target="y", text=["t"], missing=-1)
    found = [{name: x for name, x in row.items() if not name.startswith("t[")} for row in named(source)[0]]
    assert found == [
        {"x": 1, "n": -1, "void": -1, "c=u": 1},
        {"x": -1, "n": 2, "void": -1, "c=(missing)": 1},
        {"x": 3, "n": 3, "void": -1, "c=v": 1},
    ]
    assert [sum(name.startswith("t[") for name in row) for row in named(source)[0]] == [0, 1, 0]
    source = TableSource([str(path)], format=form, target="y", drop=["c", "t"], missing={"x": 5, "n": 6, "void": 0})
    assert numbered(source.batches())[0] == [{0: 1, 1: 6}, {0: 5, 1: 2}, {0: 3, 1: 3}]


def test_nan_counts_as_missing(tmp_path):
    pa.parquet.write_table(pa.table({"x": [1.0, float("nan")], "y": [0, 1]}), tmp_path / "a.parquet")
    source = TableSource([str(tmp_path / "a.parquet")], format="parquet", target="y", missing=7)
    assert numbered(source.batches())[0] == [{0: 1}, {0: 7}]


def test_frozen_encoding(tmp_path):
    rows = text_of(MIXED)
    trained = TableSource(write(tmp_path / "a.csv", rows), format="csv", target="y")
    list(trained.batches())
    encoding = Encoding.from_state(*trained.encoding.state())
    width, state = encoding.n_features, encoding.state()
    new = write(tmp_path / "b.csv", "extra,smokes,job,pay,age\n9,False,nurse,2,3\n9,true,pilot,0,0\n")
    source = TableSource(new, format="csv", like=encoding)
    (batch,) = source.batches()
    assert batch.y is None and batch.rows.n_features == width
    assert named(source)[0] == [{"age": 3, "pay": 2, "job=nurse": 1, "smokes=False": 1}, {"smokes=True": 1}]
    assert encoding.state() == state
    labelled = TableSource(write(tmp_path / "c.csv", rows), format="csv", like=encoding)
    assert named(labelled) == named(trained)
    pa.parquet.write_table(pa.table({"age": [1], "pay": [0.5], "job": ["nurse"], "smokes": [True]}), tmp_path / "d")
    frozen = TableSource([str(tmp_path / "d")], format="parquet", like=encoding)
    assert named(frozen)[0] == [{"age": 1, "pay": 0.5, "job=nurse": 1, "smokes=True": 1}]


def test_hashed_categories(tmp_path):
    from sklearn.utils import murmurhash3_32

    source = TableSource(write(tmp_path / "a.csv", text_of(MIXED)), format="csv", target="y", hash_bits=4)
    rows, _ = numbered(source.batches())
    for row, given_row in zip(rows, naive(MIXED, "y", ["age", "pay"], ["smokes"])[0], strict=True):
        expected = {j: given_row[name] for j, name in enumerate(["age", "pay"]) if name in given_row}
        for name in given_row.keys() - {"age", "pay"}:
            j = 2 + murmurhash3_32(name, 0, positive=True) % 16
            expected[j] = expected.get(j, 0) + 1.0
        assert row == expected
    assert source.encoding.n_features == 2 + 16 == len(source.encoding.feature_names)
