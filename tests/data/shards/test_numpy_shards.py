"""Shards of NumPy files: rows of .npy files, and whole .npz files."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from shard_cases import check, check_copies, rows_of

from perceptrons.data import batches, source
from perceptrons.data.numpy_files import NumpySource


@pytest.fixture
def X():
    return np.random.default_rng(3).integers(-9, 9, (101, 4)) / 4


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("rows", [0, 1, 2, 101])
def test_rows_of_npy_files(tmp_path, X, order, dtype, rows, monkeypatch):
    path = tmp_path / "rows.npy"
    np.save(path, np.asarray(X[:rows].astype(dtype), order=order))
    for most in (7, 1 << 16):
        monkeypatch.setattr(batches, "MOST_ROWS", most)
        for n in (1, 2, 3, 10, 200):
            shards = check(lambda: NumpySource([str(path)], target=1), n)
            assert len(shards) == min(n, max(1, rows))
            sizes = [sum(len(batch.rows) for batch in shard.batches()) for shard in shards]
            assert max(sizes) - min(sizes) <= 1


def test_files_of_every_kind(tmp_path, X):
    np.save(tmp_path / "a.npy", X)
    np.save(tmp_path / "b.npy", X[:0])
    (tmp_path / "c.npy").write_bytes(gzip.compress((tmp_path / "a.npy").read_bytes()))
    np.savez(tmp_path / "d.npz", X=X[:, :3], y=X[:, 3])
    np.savez_compressed(tmp_path / "e.npz", X=X[:, :3], y=X[:, 3])
    paths = [str(tmp_path / name) for name in ("b.npy", "a.npy", "b.npy", "c.npy", "d.npz", "e.npz", "a.npy")]
    for n in (1, 2, 5, 9, 40):
        check(lambda: NumpySource(paths), n)
    assert max(len(shard.paths) for shard in NumpySource(paths).shards(3)) > 1


def test_sparse_files(tmp_path, X):
    for k in range(3):
        matrix = sp.csr_array(X[k * 30 : k * 30 + 30])
        np.savez(
            tmp_path / f"{k}.npz",
            data=matrix.data,
            indices=matrix.indices,
            indptr=matrix.indptr,
            shape=np.array(matrix.shape),
            y=np.array(["é", "b", "c"] * 10),
        )
    paths = [str(tmp_path / f"{k}.npz") for k in range(3)]
    assert [len(check(lambda: NumpySource(paths), n)) for n in (1, 2, 3, 9)] == [1, 2, 3, 3]


def test_errors_name_the_row_of_the_file(tmp_path, X):
    path = tmp_path / "rows.npy"
    for row in (0, 50, 100):
        wrong = X.copy()
        wrong[row, 2] = np.nan
        np.save(path, wrong)
        for n in (1, 3, 20):
            check(lambda: NumpySource([str(path)]), n)
        errors = [rows_of([shard])[1] for shard in NumpySource([str(path)]).shards(20)]
        [error] = [error for error in errors if error is not None]
        assert f"row {row + 1}, column 2" in error


def test_damaged_files_have_the_errors_of_the_whole(tmp_path, X):
    path = tmp_path / "rows.npy"
    np.save(path, X)
    good = path.read_bytes()
    for content in (good[:1500], good[:60], good[:5], b"", b"nothing like it", good + b"more"):
        path.write_bytes(content)
        for n in (1, 2, 7):
            check(lambda: NumpySource([str(path)]), n)
    np.save(path, X[:, 0])
    check(lambda: NumpySource([str(path)]), 3)
    np.save(tmp_path / "wide.npy", X)
    np.save(path, X[:, :3])
    for n in (1, 2, 3, 8):
        check(lambda: NumpySource([str(tmp_path / "wide.npy"), str(path)]), n)


def test_copies_of_shards(tmp_path, X):
    np.save(tmp_path / "rows.npy", X)
    check_copies(lambda: source(tmp_path / "rows.npy", cache=str(tmp_path / "copies")), 4)
