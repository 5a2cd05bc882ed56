"""An array in a NumPy file, which is read row by row."""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.data import batches, files
from perceptrons.data.whole import copied

Array = npt.NDArray[Any]
HEADER = 10_000  # the most bytes of an array's header, as in NumPy


class FileArray:
    """An array in a file that is read row by row."""

    def __init__(self, stream: Any, name: str) -> None:
        self.shape, fortran, self.dtype = _header(stream, name)
        if self.dtype.kind not in "biufUS":
            raise ValueError(f"{name} has type {self.dtype}, expected numbers or text; Python objects are not read")
        if min(self.shape, default=0) < 0:
            raise ValueError(f"{name} has the shape {self.shape}, expected sizes of at least 0")
        self.name, self.stream, self.at, self.begin = name, stream, 0, stream.tell()
        self.n_columns = math.prod(self.shape[1:])
        self.row_size: int = self.n_columns * max(8, self.dtype.itemsize)  # bytes, read or as float64
        if self.row_size > files.LONGEST:
            most = files.LONGEST >> 20
            raise ValueError(f"each row of {name} takes {self.row_size >> 20:,} MB, expected at most {most} MB")
        self.in_columns = fortran and len(self.shape) > 1
        self.end = self.shape[0] if self.shape else 0  # the row after the last one to read

    def copy(self, stack: ExitStack, where: str) -> None:
        """Copy the array to a temporary file, in which its columns can be found."""
        self.stream, self.begin = stack.enter_context(copied(self.stream, where)), 0

    def only(self, begin: int, end: int | None) -> None:
        """Read only these rows; the file must allow seeking."""
        self.at, self.end = begin, self.end if end is None else end
        if not self.in_columns:
            self.stream.seek(self.begin + begin * self.n_columns * self.dtype.itemsize)

    def take(self, n: int) -> Array:
        """Read the next n rows, or those that are left."""
        n = min(n, self.end - self.at)
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
