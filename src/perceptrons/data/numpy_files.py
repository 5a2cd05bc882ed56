"""Examples from NumPy files: .npy with features and labels in one array, .npz with X and y or a sparse matrix."""

from __future__ import annotations

import struct
import textwrap
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from copy import copy
from typing import Any, BinaryIO

import numpy as np

from perceptrons.core.rows import GOOD, NOT_CANONICAL, survey
from perceptrons.data import batches, files
from perceptrons.data.arrays import OVERFLOW, Rows, readonly
from perceptrons.data.batches import Batch, Source
from perceptrons.data.files import DataError
from perceptrons.data.numpy_arrays import Array, FileArray
from perceptrons.data.shards.cutting import Place, nearest_end, shards_of
from perceptrons.data.whole import check_growth, seekable

SPARSE = ("data", "indices", "indptr", "shape")  # the names that scipy.sparse.save_npz uses
MAGIC = b"\x93NUMPY"
DIRECTORY = 1 << 20  # the most bytes of the table of contents of an archive
UNREADABLE = (  # what reading a damaged archive raises
    *(ValueError, KeyError, OverflowError, RuntimeError, OSError, EOFError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)


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
        self._width: int | None = None  # the number of features in files before these

    def signature(self) -> dict[str, Any]:
        found = {"format": "numpy", "files": files.signature(self.paths), "target": self.target, "labels": self.labels}
        return found if self.spans is None else {**found, "spans": [[*span] for span in self.spans]}

    def shards(self, n: int | None = None) -> list[Source]:
        found = shards_of(self, n, self._snap)
        if len(found) > 1 and len(self.paths) > 1:
            first = next(copy(self).batches(), None)
            for shard in found:
                shard._width = None if first is None else first.rows.n_features
        return list(found)

    def _snap(self, file: int, offset: int, usual: int) -> Place:
        """The nearest row of a .npy file; others are not cut."""
        path = self.paths[file]
        size = files.size(path)
        with suppress(*UNREADABLE), open(path, "rb") as content:
            array = FileArray(content, path)
            array.check_matrix()
            if array.end:
                row = round(offset / size * array.end)
                return Place(row, size * row // array.end)  # as if each row had its share of the header
        return nearest_end(size, offset)

    def batches(self) -> Iterator[Batch]:
        self.begin()
        before, width = 0, self._width
        for path, (begin, end, size) in self.parts():
            where = files.display([path])
            try:
                with seekable(path) as file:
                    is_npy = file.read(len(MAGIC)) == MAGIC
                    file.seek(0)
                    for batch, done in _npy(file, self, where, begin, end) if is_npy else _npz(file, self, where):
                        here = batch.rows.n_features
                        width = width or here
                        if here != width:
                            raise DataError(f"{where} has {here} features, but the files before it have {width}")
                        self.bytes_done = before + int(size * done)
                        yield batch
            except DataError:
                raise
            except UNREADABLE as error:
                what = textwrap.shorten(str(error), 300, placeholder=" …")
                raise DataError(f"{where} cannot be read as a NumPy file: {what}") from error
            before += size
            self.bytes_done = before


class _Bounded:
    """A file that refuses to read very much at once."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self.file, self.most = file, most
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        content = self.file.read(self.most + 1 if size < 0 else min(size, self.most + 1))
        if len(content) > self.most:
            raise ValueError(f"a part of the archive has more than {self.most >> 20} MB")
        return content


def _npy(file: BinaryIO, source: NumpySource, where: str, first: int, end: int | None) -> Iterator[tuple[Batch, float]]:
    """Batches of the rows [first, end), and how much of them is done after each."""
    array = FileArray(file, "the array")
    array.check_matrix()
    width, target = array.shape[1], -1 if source.target is None else int(source.target)
    if source.labels and not -width <= target < width:
        raise DataError(f"{where} has no column {target} for the labels: it has columns 0 to {width - 1}")
    if source.labels and width == 1:
        raise DataError(f"{where} has only one column, the labels: expected columns of features as well")
    array.only(first, end)
    while array.at < array.end:
        begin, block, y = array.at, array.take(array.rows_at_once()), None
        if source.labels:
            y = _labels(block[:, target], where, begin)
            block = np.delete(block, target, axis=1)
        yield Batch(_dense(block, where, begin), y), (array.at - first) / (array.end - first)


def _npz(file: BinaryIO, source: NumpySource, where: str) -> Iterator[tuple[Batch, float]]:
    """Batches, and how much of the file is done after each."""
    with ExitStack() as stack:
        content: Any = _Bounded(file, DIRECTORY)
        archive = stack.enter_context(zipfile.ZipFile(content))
        content.most = files.LONGEST
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        listed = textwrap.shorten(", ".join(names), 300, placeholder=" …")

        def array(name: str) -> FileArray:
            member = archive.getinfo(f"{name}.npy")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{name} is compressed by a method that NumPy does not use")
            found = FileArray(stack.enter_context(archive.open(member.filename)), name)
            if found.in_columns:
                check_growth(member.file_size, member.compress_size, where, "save it in C order, if you trust it")
                found.copy(stack, where)
            return found

        label = "y" if source.target is None else str(source.target)
        if source.target is not None and label not in names:
            raise DataError(f"{where} has no array {label!r} of labels: its arrays are {listed}")
        y = array(label) if source.labels and label in names else None
        if y is not None and y.dtype.kind in "US" and y.dtype.itemsize > 4 * files.LONGEST_LABEL:
            raise DataError(f"{where}: labels of type {y.dtype} are too long: at most {files.LONGEST_LABEL} characters")
        if "X" in names:
            n, parts = _dense_parts(array("X"), where)
        elif set(SPARSE) <= set(names):
            n, parts = _sparse_parts(
                [array(name) for name in SPARSE], array("format") if "format" in names else None, where
            )
        else:
            raise DataError(f"{where} has arrays {listed}: expected X and y, or {', '.join(SPARSE)} and y")
        if y is not None and y.shape != (n,):
            raise DataError(f"{where} has {n} rows, but labels of shape {y.shape}")
        begin = 0
        for rows in parts:
            labels = None if y is None else _labels(y.take(len(rows)), where, begin)
            begin += len(rows)
            yield Batch(rows, labels), begin / n


def _dense_parts(X: FileArray, where: str) -> tuple[int, Iterator[Rows]]:
    """The number of rows, and the rows."""
    X.check_matrix()
    starts = range(0, X.shape[0], X.rows_at_once())
    return X.shape[0], (_dense(X.take(X.rows_at_once()), where, begin) for begin in starts)


def _sparse_parts(arrays: list[FileArray], form: FileArray | None, where: str) -> tuple[int, Iterator[Rows]]:
    """The number of rows, and the rows."""
    data, indices, indptr, shape = arrays
    layout = "csr" if form is None else form.text()
    if layout != "csr":
        raise DataError(f"{where} holds a sparse matrix in {layout} format, expected csr: convert it with tocsr()")
    invalid = f"{where} does not hold a valid CSR matrix"
    for each in arrays:
        if each.dtype.kind not in ("biuf" if each is data else "iu") or len(each.shape) != 1:
            raise DataError(f"{invalid}: {each.name} has type {each.dtype} and shape {each.shape}")
    n, width = map(int, shape.take(2)) if shape.shape == (2,) else (-1, -1)
    if indptr.shape != (n + 1,) or data.shape != indices.shape or not 0 < width < 2**31:
        raise DataError(f"{invalid} of {n} rows and {width} columns")

    def parts() -> Iterator[Rows]:
        last, row = int(indptr.take(1)[0]), 0
        if last != 0:
            raise DataError(f"{invalid}: its row pointers begin at {last}, expected 0")
        while row < n:
            ends = indptr.take(batches.MOST_ROWS).astype(np.int64)
            if (np.diff(ends, prepend=last) < 0).any() or ends[-1] > data.shape[0]:
                raise DataError(f"{invalid}: its row pointers do not rise to its size")
            while ends.size:
                k = max(1, int(np.searchsorted(ends, last + batches.MOST_BYTES // 16, side="right")))
                size = int(ends[k - 1]) - last
                if 16 * size > files.LONGEST:
                    raise DataError(f"{where}: row {row + 1} takes over {files.LONGEST >> 20} MB")
                yield _sparse(
                    data.take(size), indices.take(size), np.concatenate(([0], ends[:k] - last)), width, where, row
                )
                last, row, ends = int(ends[k - 1]), row + k, ends[k:]

    return n, parts()


def _numbers(block: Array) -> Array:
    with np.errstate(all="ignore"):  # a long double may become infinite, which is refused later
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
    y = _numbers(y) if y.dtype.kind == "f" else y
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise DataError(f"{where}: row {begin + row + 1}: the label is {y[row]}: remove the row")
    if y.dtype.kind == "u" and y.size and y.max() > np.iinfo(np.int64).max:
        raise DataError(f"{where}: row {begin + int(y.argmax()) + 1}: the label {y.max()} does not fit in int64")
    if y.dtype.kind == "U":
        letters = np.ascontiguousarray(y).view(np.dtype(np.uint32).newbyteorder(y.dtype.byteorder)).reshape(len(y), -1)
        wrong = np.flatnonzero(((letters > 0x10FFFF) | (letters >> 11 == 0xD800 >> 11)).any(axis=1))
        if wrong.size:
            raise DataError(f"{where}: row {begin + int(wrong[0]) + 1}: the label is not Unicode text")
    kinds: dict[str, Any] = {"f": np.float64, "i": np.int64, "u": np.int64}
    return np.ascontiguousarray(y, dtype=kinds.get(y.dtype.kind))


def _not_finite(values: Array, columns: Any, where: str, row: int) -> DataError:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size == 0:
        return DataError(f"{where}: row {row + 1}: {OVERFLOW}")
    what = f"got {values[bad[0]]}, expected a finite number: remove or fill such values"
    return DataError(f"{where}: row {row + 1}, column {columns[int(bad[0])]}: {what}")
