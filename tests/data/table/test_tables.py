"""Tables: the same rows whatever file they come from, against an encoding written with dicts."""

import bz2
import csv
import gzip
import io
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive_tables import MIXED, naive, named, numbered, text_of, write

from perceptrons.data import batches as sizes
from perceptrons.data import files
from perceptrons.data.table import csv_blocks
from perceptrons.data.table.tables import TableSource


def arrays_of(batches):
    found = []
    for batch in batches:
        found += [a.tolist() for a in batch.rows.arrays if a is not None] + [batch.y.tolist(), batch.y.dtype.kind]
    return found


@pytest.fixture
def small(monkeypatch):
    """Blocks of a few rows."""
    for name in ("BEGINNING", "BLOCK"):
        monkeypatch.setattr(csv_blocks, name, 64)
    monkeypatch.setattr(sizes, "MOST_ROWS", 3)


def test_mixed_columns_against_dicts(tmp_path):
    source = TableSource(write(tmp_path / "a.csv", text_of(MIXED)), format="csv", target="y")
    expected, order = naive(MIXED, "y", ["age", "pay"], ["smokes"])
    assert named(source) == (expected, [row["y"] for row in MIXED])
    assert source.encoding.feature_names == ["age", "pay", *order]
    assert source.bytes_done == source.n_bytes == (tmp_path / "a.csv").stat().st_size
    (batch,) = source.batches()
    assert batch.rows.values.dtype == np.float64 and not batch.rows.values.flags.writeable
    assert batch.rows.indices.dtype == np.uint32 and batch.rows.indptr.dtype == np.uint64
    assert (np.diff(batch.rows.indices.astype(int))[[0, 1, 2, 4]] > 0).all()


def test_numbers_make_dense_rows(tmp_path):
    rows = "a,b,y\n1,2.5,1\n 3 ,-4e2,0\n5,6,1\n"
    (batch,) = TableSource(write(tmp_path / "a.csv", rows), format="csv", target="y").batches()
    assert batch.rows.indices is None and batch.rows.values.flags.c_contiguous
    assert batch.rows.values.tolist() == [[1, 2.5], [3, -400], [5, 6]]
    assert batch.y.tolist() == [1, 0, 1] and batch.y.dtype == np.int64


TABLE = pa.table(
    {
        "n": pa.array([1, 2**60, 0, -4, 5, 6, 7], pa.int64()),
        "x": pa.array([0.5, 1, 2, 0, 4, 5, 6], pa.float32()),
        "word": pa.array(list("abacabb")).dictionary_encode(),
        "flag": [True, False, True, True, False, True, True],
        "msg": ["Hi there", "hi hi", "", "你好 hi", "a\nb", "c", 'say "x"'],
        "y": ["p", "q", "p", "p", "q", "q", "p"],
    }
)


def compressed(content, ending):
    if ending == "zst":
        return pa.compress(content, "zstd", asbytes=True)
    return {"": bytes, "gz": gzip.compress, "bz2": bz2.compress}[ending](content)


def content_of(table, form):
    sink = io.BytesIO()
    if form == "csv":
        plain = table.set_column(2, "word", table["word"].cast("string"))
        pa.csv.write_csv(plain, sink)
    elif form == "parquet":
        pa.parquet.write_table(table, sink, row_group_size=4)
    elif form == "feather":
        pa.feather.write_feather(table, sink, chunksize=2)
    else:
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("form", ["csv", "parquet", "feather", "stream"])
def test_formats_and_compressions_give_the_same_rows(tmp_path, form, monkeypatch):
    reference, ref_y = numbered(
        TableSource(write(tmp_path / "ref", content_of(TABLE, "csv")), format="csv", target="y", text=["msg"]).batches()
    )
    assert ref_y == TABLE["y"].to_pylist()
    format = {"feather": "arrow", "stream": "arrow"}.get(form, form)
    for ending in ("", "gz", "bz2", "zst"):
        content = compressed(content_of(TABLE, form), ending)
        paths = write(tmp_path / f"{form}.{ending}", content)
        source = TableSource(paths, format=format, target="y", text=["msg"])
        assert numbered(source.batches()) == (reference, ref_y)
        assert source.encoding.seen[:2] == [("word", "a"), ("flag", "True")]
        assert source.bytes_done == source.n_bytes
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(content))))
        source = TableSource(["-"], format=format, target="y", text=["msg"])
        assert numbered(source.batches()) == (reference, ref_y) and source.n_bytes is None
        with pytest.raises(ValueError, match="standard input can be read only once"):
            next(source.batches())


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_rewinding_and_cutting(tmp_path, small, form):
    content = content_of(TABLE, "feather" if form == "arrow" else form)
    source = TableSource(write(tmp_path / "a", content), format=form, target="y", text=["msg"])
    batches = source.batches()
    first, done = [], []
    for batch in batches:
        first.append(batch)
        done.append(source.bytes_done)
    widths = [batch.rows.n_features for batch in first]
    assert len(first) >= 3 and widths == sorted(widths) and widths[-1] == source.encoding.n_features
    assert done == sorted(done) and 0 < done[0] <= source.bytes_done == source.n_bytes
    assert max(len(batch.rows) for batch in first) <= 3
    again = list(source.batches())
    assert arrays_of(again) == arrays_of(first)
    half = source.batches()  # left in the middle; another one is not disturbed
    next(half)
    assert arrays_of(source.batches()) == arrays_of(first)
    assert [len(batch.rows) for batch in again] == [len(batch.rows) for batch in first]


def test_several_files_are_one_whatever_the_order_of_columns(tmp_path, small):
    rows = [{"a": str(i % 3), "c": f"v{i * i % 7}", "d": f"w{i % 5}", "y": str(i % 2)} for i in range(20)]
    whole = TableSource(write(tmp_path / "all.csv", text_of(rows)), format="csv", target="y")
    turned = [{name: row[name] for name in ("y", "d", "a", "c")} for row in rows[9:]]
    paths = write(tmp_path / "1.csv", text_of(rows[:9])) + write(tmp_path / "2.csv", text_of(turned))
    parts = TableSource(paths, format="csv", target="y")
    assert numbered(parts.batches()) == numbered(whole.batches())
    assert parts.encoding.state() == whole.encoding.state()
    assert named(whole)[0] == naive(rows, "y", ["a"])[0]
    assert whole.encoding.feature_names[1:] == naive(rows, "y", ["a"])[1]
    assert parts.signature() != whole.signature()


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).map(lambda s: s.strip(" \t"))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(cells, cells.filter(bool)), min_size=1, max_size=12),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_quotes_and_line_feeds_in_values(tmp_path, small, pairs, delimiter, end, all_quoted):
    rows = [{"c": f"v{c}", "y": f"l{y}"} for c, y in pairs]
    quoting = csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL
    content = text_of(rows, delimiter=delimiter, lineterminator=end, quoting=quoting)
    paths = write(tmp_path / "a.csv", content)
    source = TableSource(paths, format="csv", target="y", delimiter=delimiter, quotes=True)
    found, y = named(source)
    assert y == [row["y"] for row in rows]
    assert found == [{f"c={row['c']}": 1.0} for row in rows]


def test_quotes_inside_of_a_field_are_letters(tmp_path, small):
    rows = "".join(f'{i} 5" pipe {i},{i % 2}\n' for i in range(9))
    source = TableSource(write(tmp_path / "a.csv", "size,y\n" + rows), format="csv", target="y")
    assert [*named(source)[0]] == [{f'size={i} 5" pipe {i}': 1.0} for i in range(9)]
    stray = 'size\ty\n"one\t0\ntwo"\t1\n'
    source = TableSource(write(tmp_path / "b.tsv", stray), format="tsv", target="y", quotes=False)
    assert [*named(source)[0]] == [{'size="one': 1.0}, {'size=two"': 1.0}]


@pytest.mark.parametrize(
    "content", ["a,y\r\n1,0\r\n2,1\r\n", "\ufeffa,y\n1,0\n2,1", "\n\na,y\n\n1,0\n\n2,1\n\n\n", "a , y\n1,0\n2,1\n"]
)
def test_ways_to_end_lines_and_begin_files(tmp_path, content):
    source = TableSource(write(tmp_path / "a.csv", content), format="csv", target="y")
    assert numbered(source.batches()) == ([{0: 1.0}, {0: 2.0}], [0, 1])


def test_rows_that_end_by_carriage_returns_are_cut_too(tmp_path, small, monkeypatch):
    monkeypatch.setattr(files, "LONGEST", 1 << 8)
    paths = write(tmp_path / "a.csv", "a,y\r" + "".join(f"{i},{i % 2}\r" for i in range(1, 300)))
    rows, _ = numbered(TableSource(paths, format="csv", target="y").batches())
    assert rows == [{0: float(i)} for i in range(1, 300)]


def test_files_without_rows(tmp_path):
    empty = write(tmp_path / "empty.csv", "")
    header = write(tmp_path / "header.csv", "a,y\n")
    rows = write(tmp_path / "rows.csv", "a,y\n1,0\n")
    with pytest.raises(ValueError, match=r"empty\.csv is empty"):
        list(TableSource(empty, format="csv", target="y").batches())
    assert list(TableSource(header, format="csv", target="y").batches()) == []
    assert numbered(TableSource(header + rows, format="csv", target="y").batches()) == ([{0: 1.0}], [0])
    path = tmp_path / "none.parquet"
    pa.parquet.write_table(TABLE.slice(0, 0), path)
    assert list(TableSource([str(path)], format="parquet", target="y").batches()) == []


def test_without_a_header(tmp_path):
    source = TableSource(write(tmp_path / "a.csv", "1,x\n2,y\n"), format="csv", target="1", header=False)
    assert named(source) == ([{"0": 1.0}, {"0": 2.0}], ["x", "y"])


def test_columns_chosen_dropped_and_marked(tmp_path):
    path = write(tmp_path / "a.csv", "id,zip,x,day,y\n1,01,5,2020-01-01,a\n2,1,0,2020-01-02,b\n")
    source = TableSource(path, format="csv", target="y", drop=["id"], categorical=["zip", "day"])
    first, second = named(source)[0]
    assert first == {"zip=01": 1.0, "x": 5.0, "day=2020-01-01": 1.0} and second == {"zip=1": 1.0, "day=2020-01-02": 1.0}
    source = TableSource(path, format="csv", target="y", features=["x", "id"])
    assert named(source)[0] == [{"x": 5.0, "id": 1.0}, {"id": 2.0}] and source.encoding.columns == ["x", "id"]


def test_integers_may_become_fractions(tmp_path, small):
    rows = "x,c,y\n" + "1,0,0\n" * 30 + "1.5,0,1\n"
    y = numbered(TableSource(write(tmp_path / "a.csv", rows), format="csv", target="y").batches())
    assert y[0][-1] == {0: 1.5} and y[1][-1] == 1


def test_labels_keep_their_type(tmp_path):
    for labels, kind in {"1,2": "i", "1.0,2.0": "f", "true,false": "b", "x,1": "U"}.items():
        one, two = labels.split(",")
        (batch,) = TableSource(write(tmp_path / "a", f"a,y\n1,{one}\n2,{two}\n"), format="csv", target="y").batches()
        assert batch.y.dtype.kind == kind, labels
    big = 2**62 + 1
    table = pa.table({"a": [1.0], "y": pa.array([big], pa.uint64())})
    pa.parquet.write_table(table, tmp_path / "b.parquet")
    (batch,) = TableSource([str(tmp_path / "b.parquet")], format="parquet", target="y").batches()
    assert batch.y.tolist() == [big]
