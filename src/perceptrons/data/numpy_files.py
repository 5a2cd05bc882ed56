"""Examples from NumPy files: .npy with features and labels in one array, .npz with X and y or a sparse matrix."""

from __future__ import annotations

import io
import math
import struct
import textwrap
import warnings
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
from perceptrons.data.whole import check_growth, copied, seekable

Array = npt.NDArray[Any]
SPARSE = ("data", "indices", "indptr", "shape")  # the names that scipy.sparse.save_npz uses
MAGIC = b"\x93NUMPY"
HEADER = 10_000  # the most bytes of an array's header, as in NumPy
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
                    read = _npy if file.read(len(MAGIC)) == MAGIC else _npz
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
            except UNREADABLE as error:
                what = textwrap.shorten(str(error), 300, placeholder=" …")
                raise DataError(f"{where} cannot be read as a NumPy file: {what}") from error
            before += size
            self.bytes_done = before


class _Array:
    """An array in a file that is read row by row."""

    def __init__(self, stream: Any, name: str) -> None:
        self.shape, fortran, self.dtype = _header(stream, name)
        if self.dtype.kind not in "biufUS":
            raise ValueError(f"{name} has type {self.dtype}, expected numbers or text; Python objects are not read")
        if min(self.shape, default=0) < 0:
            raise ValueError(f"{name} has the shape {self.shape}, expected sizes of at least 0")
        self.name, self.stream, self.at = name, stream, 0
        self.n_columns = math.prod(self.shape[1:])
        self.row_size: int = self.n_columns * max(8, self.dtype.itemsize)  # bytes, read or as float64
        if self.row_size > files.LONGEST:
            most = files.LONGEST >> 20
            raise ValueError(f"each row of {name} takes {self.row_size >> 20:,} MB, expected at most {most} MB")
        self.in_columns = fortran and len(self.shape) > 1
        if self.in_columns:
            self.begin = stream.tell()

    def copy(self, stack: ExitStack, where: str) -> None:
        """Copy the array to a temporary file, in which its columns can be found."""
        self.stream, self.begin = stack.enter_context(copied(self.stream, where)), 0

    def take(self, n: int) -> Array:
        """Read the next n rows, or those that are left."""
        n = min(n, self.shape[0] - self.at)
        self.at += n
        if not self.in_columns:
            return self._read(n * self.n_columns).reshape(n, *self.shape[1:])
        columns = np.empty((self.n_columns, n), dtype=self.dtype)
        for j in range(self.n_columns):
            self.stream.seek(self.begin + (j * self.shape[0] + self.at - n) * self.dtype.itemsize)
            self._check(self.stream.readinto(columns[j].view(np.uint8)), n)
        return columns.T

    def _read(self, n: int) -> Array:
        """Read the next n values."""
        content = self.stream.read(n * self.dtype.itemsize)
        self._check(len(content), n)
        return np.frombuffer(content, dtype=self.dtype)

    def _check(self, size: int, n: int) -> None:
        """Refuse `size` bytes where n values were expected."""
        if size < n * self.dtype.itemsize:
            rows = self.shape[0] if self.shape else 1
            raise ValueError(f"{self.name} ends before its {rows} rows are complete: the file is cut off")

    def rows_at_once(self) -> int:
        """The number of rows in a batch."""
        return max(1, min(batches.MOST_ROWS, batches.MOST_BYTES // max(1, self.row_size)))

    def text(self) -> str:
        """Read a single text."""
        if self.shape != () or self.dtype.itemsize > files.LONGEST_LABEL:
            raise ValueError(f"{self.name} has type {self.dtype} and shape {self.shape}, expected a short text")
        return str(self._read(1).astype(str)[0])

    def check_matrix(self) -> None:
        if len(self.shape) != 2 or self.shape[1] == 0 or self.dtype.kind not in "biuf":
            raise ValueError(f"{self.name} has type {self.dtype} and shape {self.shape}, expected a matrix of numbers")


def _header(stream: Any, name: str) -> tuple[tuple[int, ...], bool, Any]:
    """The shape of an array, whether it is in Fortran order, and its type."""
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"{name} has version {version} of the format, expected (1, 0) or (2, 0)")
    first = version == (1, 0)
    length = stream.read(2 if first else 4)
    if int.from_bytes(length, "little") > HEADER:
        raise ValueError(f"the header of {name} has more than {HEADER:,} bytes")
    header = io.BytesIO(length + stream.read(int.from_bytes(length, "little")))
    read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read(header)
    except Exception as error:  # NumPy evaluates the header as Python code, which may raise anything
        raise ValueError(f"the header of {name} is damaged: {textwrap.shorten(str(error), 200)}") from error


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
        content: Any = _Bounded(file, DIRECTORY)
        archive = stack.enter_context(zipfile.ZipFile(content))
        content.most = files.LONGEST
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        listed = textwrap.shorten(", ".join(names), 300, placeholder=" …")

        def array(name: str) -> _Array:
            member = archive.getinfo(f"{name}.npy")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{name} is compressed by a method that NumPy does not use")
            found = _Array(stack.enter_context(archive.open(member.filename)), name)
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


def _dense_parts(X: _Array, where: str) -> tuple[int, Iterator[Rows]]:
    """The number of rows, and the rows."""
    X.check_matrix()
    starts = range(0, X.shape[0], X.rows_at_once())
    return X.shape[0], (_dense(X.take(X.rows_at_once()), where, begin) for begin in starts)


def _sparse_parts(arrays: list[_Array], form: _Array | None, where: str) -> tuple[int, Iterator[Rows]]:
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
