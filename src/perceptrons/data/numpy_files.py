"""Examples from NumPy files: .npy with features and labels in one array, .npz with X and y or a sparse matrix."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from perceptrons.core.rows import GOOD, NOT_CANONICAL, survey
from perceptrons.data import batches, files
from perceptrons.data.arrays import OVERFLOW, Rows, readonly
from perceptrons.data.batches import Batch, Source
from perceptrons.data.files import DataError
from perceptrons.data.whole import seekable

Array = npt.NDArray[Any]
SPARSE = ("data", "indices", "indptr", "shape")  # the names that scipy.sparse.save_npz uses


class NumpySource(Source):
    """Rows of NumPy arrays in files. float32 stays float32; other numbers become float64.

    Parameters
    ----------
    paths : list of str
        .npy files with two axes, or .npz files with arrays X and y, or with those of a CSR matrix and y.
    target : int or str, optional
        For .npy files, the column of the labels, by default the last. For .npz files, the name of the array of labels,
        by default y.
    labels : bool, default=True
        Whether there are labels. If not, all columns of a .npy file are features. A .npz file never needs labels.
    """

    def __init__(self, paths: list[str], *, target: int | str | None = None, labels: bool = True) -> None:
        self.paths, self.name = paths, files.display(paths)
        self.target, self.labels = target, labels
        self.n_bytes = files.n_bytes(paths)

    def signature(self) -> dict[str, Any]:
        settings = {"target": self.target, "labels": self.labels}
        return {"format": "numpy", "files": files.signature(self.paths), **settings}

    def batches(self) -> Iterator[Batch]:
        self.begin()
        before, width = 0, None
        for path in self.paths:
            size = files.size(path)
            where = files.display([path])
            try:
                with seekable(path) as file:
                    read = _npz if zipfile.is_zipfile(file) else _npy
                    file.seek(0)
                    for batch, done in read(file, self, where):
                        here = batch.rows.n_features
                        width = width or here
                        if here != width:
                            raise DataError(f"{where} has {here} features, but the files before it have {width}")
                        self.bytes_done = before + int(size * done)
                        yield batch
            except DataError:
                raise
            except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
                raise DataError(f"{where} cannot be read as a NumPy file: {error}") from error
            before += size
            self.bytes_done = before


class _Array:
    """An array in a file that is read row by row."""

    def __init__(self, stream: Any, name: str) -> None:
        version = np.lib.format.read_magic(stream)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"{name} has version {version} of the format, expected (1, 0) or (2, 0)")
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        self.shape, fortran, self.dtype = read(stream)
        if self.dtype.kind not in "biufUS":
            raise ValueError(f"{name} has type {self.dtype}, expected numbers or text; Python objects are not read")
        self.name, self.stream, self.at = name, stream, 0
        self.whole = self._in_columns() if fortran and len(self.shape) > 1 else None

    def _in_columns(self) -> Array:
        """Open an array in Fortran order: mapped into memory, or read at once from an archive."""
        if isinstance(self.stream, zipfile.ZipExtFile):
            return np.frombuffer(self.stream.read(), dtype=self.dtype).reshape(self.shape, order="F")
        return np.memmap(self.stream, self.dtype, "r", self.stream.tell(), self.shape, "F")

    def take(self, n: int) -> Array:
        """Read the next n rows, or those that are left."""
        n = min(n, self.shape[0] - self.at)
        self.at += n
        if self.whole is not None:
            return self.whole[self.at - n : self.at]
        size = n * int(np.prod(self.shape[1:], dtype=np.int64)) * self.dtype.itemsize
        content = self.stream.read(size)
        if len(content) < size:
            raise ValueError(f"{self.name} ends before its {self.shape[0]} rows are complete: the file is cut off")
        return np.frombuffer(content, dtype=self.dtype).reshape(n, *self.shape[1:])

    def rows_at_once(self) -> int:
        """The number of rows in a batch."""
        return batches.rows_at_once(int(np.prod(self.shape[1:], dtype=np.int64)))

    def check_matrix(self) -> None:
        if len(self.shape) != 2 or self.shape[1] == 0 or self.dtype.kind not in "biuf":
            raise ValueError(f"{self.name} has type {self.dtype} and shape {self.shape}, expected a matrix of numbers")


def _npy(file: BinaryIO, source: NumpySource, where: str) -> Iterator[tuple[Batch, float]]:
    """Batches, and how much of the file is done after each."""
    array = _Array(file, "the array")
    array.check_matrix()
    width, target = array.shape[1], -1 if source.target is None else int(source.target)
    if source.labels and not -width <= target < width:
        raise DataError(f"{where} has no column {target} for the labels: it has columns 0 to {width - 1}")
    if source.labels and width == 1:
        raise DataError(f"{where} has only one column, the labels: expected columns of features as well")
    while array.at < array.shape[0]:
        begin, block, y = array.at, array.take(array.rows_at_once()), None
        if source.labels:
            y = _labels(block[:, target], where, begin)
            block = np.delete(block, target, axis=1)
        yield Batch(_dense(block, where, begin), y), array.at / array.shape[0]


def _npz(file: BinaryIO, source: NumpySource, where: str) -> Iterator[tuple[Batch, float]]:
    """Batches, and how much of the file is done after each."""
    with ExitStack() as stack:
        archive = stack.enter_context(zipfile.ZipFile(file))
        names = [name.removesuffix(".npy") for name in archive.namelist()]

        def array(name: str) -> _Array:
            return _Array(stack.enter_context(archive.open(f"{name}.npy")), name)

        label = "y" if source.target is None else str(source.target)
        if source.target is not None and label not in names:
            raise DataError(f"{where} has no array {label!r} of labels: its arrays are {', '.join(names)}")
        y = array(label) if source.labels and label in names else None
        if "X" in names:
            n, parts = _dense_parts(array("X"), where)
        elif set(SPARSE) <= set(names):
            n, parts = _sparse_parts(
                [array(name) for name in SPARSE], array("format") if "format" in names else None, where
            )
        else:
            raise DataError(f"{where} has arrays {', '.join(names)}: expected X and y, or {', '.join(SPARSE)} and y")
        if y is not None and y.shape != (n,):
            raise DataError(f"{where} has {n} rows, but labels of shape {y.shape}")
        begin = 0
        for rows in parts:
            labels = None if y is None else _labels(y.take(len(rows)), where, begin)
            begin += len(rows)
            yield Batch(rows, labels), begin / n


def _dense_parts(X: _Array, where: str) -> tuple[int, Iterator[Rows]]:
    """The number of rows, and the rows."""
    X.check_matrix()
    starts = range(0, X.shape[0], X.rows_at_once())
    return X.shape[0], (_dense(X.take(X.rows_at_once()), where, begin) for begin in starts)


def _sparse_parts(arrays: list[_Array], form: _Array | None, where: str) -> tuple[int, Iterator[Rows]]:
    """The number of rows, and the rows."""
    data, indices, indptr, shape = arrays
    layout = "csr" if form is None else np.frombuffer(form.stream.read(), dtype=form.dtype).astype(str)[0]
    if layout != "csr":
        raise DataError(f"{where} holds a sparse matrix in {layout} format, expected csr: convert it with tocsr()")
    n, width = map(int, shape.take(2))
    if indptr.shape != (n + 1,) or data.shape != indices.shape or not 0 < width < 2**31:
        raise DataError(f"{where} does not hold a valid CSR matrix of {n} rows and {width} columns")

    def parts() -> Iterator[Rows]:
        last, row = int(indptr.take(1)[0]), 0
        while row < n:
            ends = indptr.take(batches.MOST_ROWS).astype(np.int64)
            if last < 0 or (np.diff(ends, prepend=last) < 0).any() or ends[-1] > data.shape[0]:
                raise DataError(f"{where} does not hold a valid CSR matrix: its row pointers do not rise to its size")
            while ends.size:
                k = max(1, int(np.searchsorted(ends, last + batches.MOST_BYTES // 16, side="right")))
                values, which = data.take(int(ends[k - 1]) - last), indices.take(int(ends[k - 1]) - last)
                yield _sparse(values, which, np.concatenate(([0], ends[:k] - last)), width, where, row)
                last, row, ends = int(ends[k - 1]), row + k, ends[k:]

    return n, parts()


def _numbers(block: Array) -> Array:
    return np.ascontiguousarray(block, dtype=np.float32 if block.dtype == np.float32 else np.float64)


def _dense(block: Array, where: str, begin: int) -> Rows:
    values = readonly(_numbers(block))
    sq_norm, verdict, row = survey(values, None, None, np.uint64(values.shape[1]))
    if verdict != GOOD:
        raise _not_finite(values[row], range(values.shape[1]), where, begin + int(row))
    return Rows(values, None, None, values.shape[1], sq_norm)


def _sparse(values: Array, indices: Array, indptr: Array, width: int, where: str, begin: int) -> Rows:
    if indices.size and not 0 <= indices.min() <= indices.max() < width:
        raise DataError(f"{where} does not hold a valid CSR matrix: an index is outside of its {width} columns")
    data, which, ends = (readonly(a) for a in (_numbers(values), indices.astype(np.uint32), indptr.astype(np.uint64)))
    sq_norm, verdict, row = survey(data, which, ends, np.uint64(width))
    if verdict == NOT_CANONICAL:
        import scipy.sparse as sp

        matrix = sp.csr_array((data.copy(), indices.astype(np.int32), indptr), shape=(len(indptr) - 1, width))
        matrix.sum_duplicates()
        return _sparse(matrix.data, matrix.indices, matrix.indptr, width, where, begin)
    if verdict != GOOD:
        span = slice(int(indptr[row]), int(indptr[row + 1]))
        raise _not_finite(data[span], which[span], where, begin + int(row))
    return Rows(data, which, ends, width, sq_norm)


def _labels(y: Array, where: str, begin: int) -> Array:
    if y.dtype.kind == "S":
        raise DataError(f"{where}: the labels are bytes ({y.dtype}): save them as text with y.astype(str)")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise DataError(f"{where}: row {begin + row + 1}: the label is {y[row]}: remove the row")
    if y.dtype.kind == "u" and y.size and y.max() > np.iinfo(np.int64).max:
        raise DataError(f"{where}: row {begin + int(y.argmax()) + 1}: the label {y.max()} does not fit in int64")
    kinds: dict[str, Any] = {"f": np.float64, "i": np.int64, "u": np.int64}
    return np.ascontiguousarray(y, dtype=kinds.get(y.dtype.kind))


def _not_finite(values: Array, columns: Any, where: str, row: int) -> DataError:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size == 0:
        return DataError(f"{where}: row {row + 1}: {OVERFLOW}")
    what = f"got {values[bad[0]]}, expected a finite number: remove or fill such values"
    return DataError(f"{where}: row {row + 1}, column {columns[int(bad[0])]}: {what}")
