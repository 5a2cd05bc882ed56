"""A limit of one thread: the calling thread reads, parses and writes copies itself, with the same rows."""

import threading

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from shard_cases import rows_of

from perceptrons.data import batches, source
from perceptrons.data.mixing import mixed_pieces, read_groups
from perceptrons.data.svmlight import SvmlightSource


@pytest.fixture(params=["rows.svm", "rows.csv", "rows.parquet", "rows.arrow", "rows.npy"])
def path(request, tmp_path):
    X = np.arange(60.0).reshape(20, 3)
    X[:, 2] %= 2
    path = tmp_path / request.param
    text = [[f"{value:g}" for value in row] for row in X]
    if path.suffix == ".svm":
        path.write_text("".join(f"{c} 0:{a} 1:{b}\n" for a, b, c in text))
    elif path.suffix == ".npy":
        np.save(path, X)
    else:
        table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": X[:, 2].astype(int)})
        if path.suffix == ".csv":
            path.write_text("a,b,y\n" + "".join(",".join(row) + "\n" for row in text))
        elif path.suffix == ".parquet":
            parquet.write_table(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as writer:
                writer.write_table(table)
    return path


def opened(path, **settings):
    return source(path, **settings, **({"target": "y"} if path.suffix in (".csv", ".parquet", ".arrow") else {}))


@pytest.fixture
def no_threads(monkeypatch):
    def start(self):
        raise AssertionError("a thread was started")

    monkeypatch.setattr(threading.Thread, "start", start)


def test_the_calling_thread_does_everything(path, tmp_path, no_threads):
    with batches.threads(1):
        whole = rows_of([opened(path, cache=False)])
        kept = opened(path, cache=str(tmp_path / "copies")).again()
        assert rows_of([kept]) == whole and kept.table is not None
        assert rows_of([kept]) == whole
        groups = mixed_pieces(kept.starts, 1, 0)
        numbers = np.concatenate(list(read_groups(kept, groups, lambda batch, numbers: numbers)))
        assert sorted(numbers.tolist()) == list(range(20))


def test_the_limit_does_not_change_the_rows(path):
    whole = rows_of([opened(path, cache=False)])
    assert len(whole[0]) == 20
    for n in (1, 2, 100):
        with batches.threads(n):
            assert rows_of([opened(path, cache=False)]) == whole


def test_the_limit_holds_for_what_begins_inside(path):
    with batches.threads(1):
        made = opened(path, cache=False).batches()
        first = next(made)
        assert batches.n_workers() == 1 and batches.alone()
    usual = batches.n_workers()
    assert not batches.alone() and len(first.rows) + sum(len(rows) for rows, _ in made) == 20
    with batches.threads(1):
        with batches.threads(2):
            assert not batches.alone()
        assert batches.alone()
    with batches.threads(100):
        assert batches.n_workers() == usual
    with pytest.raises(ValueError, match="at least 1, got 0"), batches.threads(0):
        pass


def test_the_limit_is_one_of_the_thread_that_sets_it():
    usual, seen = batches.n_workers(), []
    with batches.threads(1):
        other = threading.Thread(target=lambda: seen.append(batches.n_workers()))
        other.start()
        other.join()
    assert seen == [usual]


def test_errors_come_after_the_batches_before_them(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_bytes(b"1 1:2\n" * 100 + b"x\n")
    with batches.threads(1):
        rows, error = rows_of([SvmlightSource([str(path)], block=60)])
    assert len(rows) == 100 and error.startswith(f"{path}:101:1:")
