"""Files of NumPy as batches: against the arrays that were saved."""

import bz2
import gzip
import io
import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import pyarrow
import pytest
import scipy.sparse as sp

from perceptrons.data import batches as sizes
from perceptrons.data.numpy_files import NumpySource

RNG = np.random.default_rng(0)
X = RNG.integers(-3, 4, (11, 4)).astype(float)
zstd = partial(pyarrow.compress, codec="zstd", asbytes=True)
Y = np.array(["p", "q"] * 5 + ["longer"])


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(sizes, "MOST_ROWS", 3)


def joined(source):
    batches = list(source.batches())
    assert max(len(batch.rows) for batch in batches) <= sizes.MOST_ROWS
    labels = [batch.y for batch in batches if batch.y is not None]
    matrix = np.vstack([m.toarray() if sp.issparse(m) else m for m in (batch.rows.matrix() for batch in batches)])
    sq_norm = np.concatenate([batch.rows.sq_norm for batch in batches])
    np.testing.assert_allclose(sq_norm, (matrix.astype(float) ** 2).sum(axis=1))
    return matrix, np.concatenate(labels) if labels else None


def saved(path, **arrays):
    np.savez(path, **arrays)
    return [str(path)]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", "f8", ">f8", "f2", "i4", "u1"])
def test_npy_has_labels_in_a_column(tmp_path, small, order, dtype):
    array = np.asarray(np.abs(X), dtype=dtype, order=order)
    np.save(tmp_path / "a.npy", array)
    for target in (None, 1, "1", -4):
        source = NumpySource([str(tmp_path / "a.npy")], target=target)
        column = -1 if target is None else int(target)
        rows, y = joined(source)
        assert rows.dtype == (np.float32 if dtype == "f4" else np.float64)
        np.testing.assert_array_equal(rows, np.delete(array, column, axis=1))
        np.testing.assert_array_equal(y, array[:, column])
        assert y.dtype == (np.float64 if "f" in dtype else np.int64)
        assert source.bytes_done == source.n_bytes
    rows, y = joined(NumpySource([str(tmp_path / "a.npy")], labels=False))
    np.testing.assert_array_equal(rows, array)
    assert y is None


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, zstd])
def test_compressed_and_standard_input(tmp_path, small, compress, monkeypatch):
    file = io.BytesIO()
    np.save(file, X)
    content = compress(file.getvalue())
    (tmp_path / "a").write_bytes(content)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(content))))
    source = NumpySource(["-"])
    for one in (source, NumpySource([str(tmp_path / "a")])):
        rows, y = joined(one)
        np.testing.assert_array_equal(rows, X[:, :-1])
        np.testing.assert_array_equal(y, X[:, -1])
    with pytest.raises(ValueError, match="standard input can be read only once"):
        next(source.batches())


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array])
@pytest.mark.parametrize("packed", [False, True])
def test_npz(tmp_path, small, make, packed, monkeypatch):
    path = tmp_path / "a.npz"
    if make is sp.csr_array:
        monkeypatch.setattr(sizes, "MOST_BYTES", 16 * 5)  # two or three rows
        matrix = sp.csr_array(X)
        parts = dict(data=matrix.data, indices=matrix.indices, indptr=matrix.indptr, shape=matrix.shape, format=b"csr")
        (np.savez_compressed if packed else np.savez)(path, y=Y, **parts)
    else:
        (np.savez_compressed if packed else np.savez)(path, X=make(X), y=Y)
    source = NumpySource([str(path), str(path)])
    for _ in range(2):
        rows, y = joined(source)
        np.testing.assert_array_equal(rows, np.vstack([X, X]))
        assert y.tolist() == [*Y, *Y]
    assert source.bytes_done == source.n_bytes
    assert joined(NumpySource([str(path)], labels=False))[1] is None


def test_what_scipy_saves_has_no_labels(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csr_matrix(X.astype(np.float32)))
    rows, y = joined(NumpySource([str(tmp_path / "a.npz")]))
    np.testing.assert_array_equal(rows, X)
    assert y is None and rows.dtype == np.float32


def test_labels_by_another_name_and_duplicate_entries(tmp_path):
    parts = dict(data=np.ones(4), indices=[2, 0, 2, 1], indptr=[0, 3, 4], shape=[2, 3])
    rows, y = joined(NumpySource(saved(tmp_path / "a.npz", kind=[True, False], **parts), target="kind"))
    assert rows.tolist() == [[1, 0, 2], [0, 1, 0]] and y.tolist() == [True, False]


def bad(values, row, column, x):
    values = np.array(values)
    values[row, column] = x
    return values


CSR = dict(data=[1.0, 2.0], indices=[0, 1], indptr=[0, 1, 2], shape=[2, 2])


@pytest.mark.parametrize(
    "arrays, message",
    [
        ({"X": bad(X, 5, 2, np.nan)}, r"a\.npz: row 6, column 2: got nan, expected a finite number"),
        ({"X": bad(X, 5, 2, -np.inf)}, r"row 6, column 2: got -inf"),
        ({"X": bad(X, 9, 2, 1e200)}, r"row 10: the squared length of the row overflows"),
        ({"X": X, "y": bad(X, 4, 0, np.nan)[:, 0]}, r"row 5: the label is nan"),
        (
            {"X": X, "y": np.array([1] * 10 + [2**63], np.uint64)},
            r"row 11: the label 9223372036854775808 does not fit in int64",
        ),
        ({"X": X, "y": Y[:5]}, r"has 11 rows, but labels of shape \(5,\)"),
        ({"X": X, "y": Y.astype(bytes)}, r"labels are bytes .*astype\(str\)"),
        ({"X": X[:, 0]}, r"X has type float64 and shape \(11,\), expected a matrix of numbers"),
        ({"X": Y[:, None]}, r"X has type <U6 and shape \(11, 1\), expected a matrix of numbers"),
        ({"Z": X, "y": Y}, r"has arrays Z, y: expected X and y, or data, indices, indptr, shape and y"),
        (CSR | {"format": b"csc"}, r"in csc format, expected csr: convert it with tocsr\(\)"),
        (CSR | {"data": [1.0, np.nan]}, r"row 2, column 1: got nan"),
        (CSR | {"indices": [0, 2]}, r"an index is outside of its 2 columns"),
        (CSR | {"indices": [-1, 1]}, r"an index is outside of its 2 columns"),
        (CSR | {"indptr": [0, 2, 1]}, r"row pointers do not rise"),
        (CSR | {"indptr": [0, 1, 3]}, r"row pointers do not rise"),
        (CSR | {"indptr": [0, 2]}, r"does not hold a valid CSR matrix of 2 rows and 2 columns"),
    ],
)
def test_errors_in_archives(tmp_path, small, arrays, message):
    with pytest.raises(ValueError, match=message):
        list(NumpySource(saved(tmp_path / "a.npz", **arrays)).batches())


def test_errors_in_files(tmp_path, small):
    path = tmp_path / "a.npy"

    def error(**settings):
        with pytest.raises(ValueError) as caught:
            list(NumpySource([str(path)], **settings).batches())
        return str(caught.value)

    np.save(path, bad(X, 7, 1, np.nan))
    assert "a.npy: row 8, column 1: got nan" in error()
    assert "no column 4 for the labels: it has columns 0 to 3" in error(target=4)
    np.save(path, X[:, :1])
    assert "has only one column, the labels" in error()
    np.save(path, np.array([[1, "a"]], dtype=object), allow_pickle=True)
    assert "Python objects are not read" in error()
    np.save(path, X)
    path.write_bytes(path.read_bytes()[:-9])
    assert "ends before its 11 rows are complete" in error()
    path.write_bytes(b"no array at all")
    assert "a.npy cannot be read as a NumPy file" in error()
    np.save(path, X)
    np.save(tmp_path / "b.npy", X[:, :3])
    with pytest.raises(ValueError, match=r"b\.npy has 2 features, but the files before it have 3"):
        list(NumpySource([str(path), str(tmp_path / "b.npy")]).batches())
    with pytest.raises(ValueError, match="has no array 'label' of labels: its arrays are X, y"):
        list(NumpySource(saved(tmp_path / "c.npz", X=X, y=Y), target="label").batches())


def test_no_rows(tmp_path):
    assert list(NumpySource(saved(tmp_path / "a.npz", X=X[:0], y=Y[:0])).batches()) == []
    np.save(tmp_path / "b.npy", X[:0])
    assert list(NumpySource([str(tmp_path / "b.npy")]).batches()) == []


def test_signature_tells_settings_apart(tmp_path):
    np.save(tmp_path / "a.npy", X)
    made = [NumpySource([str(tmp_path / "a.npy")], **k).signature() for k in ({}, {"target": 1}, {"labels": False})]
    assert made[0] != made[1] != made[2] != made[0]
