"""Arrays and sparse matrices as rows, without copying them.

C-ordered float32 and float64 arrays and CSR matrices are read in place. What a pass takes for granted is made
sure of here in one compiled sweep: values are finite, indices lie inside the matrix and occur once a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.rows import GOOD, NOT_CANONICAL, survey

Array = npt.NDArray[Any]
Arrays = tuple[Array, Array | None, Array | None]


@dataclass(frozen=True)
class Rows:
    """Rows for a pass: `values` with two axes when dense, else `values, indices, indptr` as in CSR."""

    values: Array
    indices: Array | None
    indptr: Array | None
    n_features: int
    sq_norm: npt.NDArray[np.float64]

    @property
    def arrays(self) -> Arrays:
        """What a kernel takes."""
        return self.values, self.indices, self.indptr

    def __len__(self) -> int:
        return len(self.sq_norm)

    @property
    def touched(self) -> int:
        """An upper bound on the number of features that occur."""
        return self.n_features if self.indices is None else self.indices.size

    def take(self, where: Array) -> Rows:
        """A copy of the rows at `where`."""
        if self.indptr is None:
            arrays: Arrays = readonly(self.values[where]), None, None
        else:
            arrays = _csr(self.matrix()[where])
        return Rows(*arrays, self.n_features, self.sq_norm[where])

    def part(self, begin: int, end: int) -> Rows:
        """The rows from `begin` up to `end`, sharing memory."""
        sq_norm = self.sq_norm[begin:end]
        if self.indices is None or self.indptr is None:
            return Rows(self.values[begin:end], None, None, self.n_features, sq_norm)
        indptr = self.indptr[begin : begin + len(sq_norm) + 1]
        span = slice(int(indptr[0]), int(indptr[-1]))
        return Rows(self.values[span], self.indices[span], readonly(indptr - indptr[0]), self.n_features, sq_norm)

    def first_of_equals(self) -> npt.NDArray[np.intp]:
        """For each row, the number of the first that is equal to it, bit by bit."""
        if self.indices is None or self.indptr is None:
            keys = [line.tobytes() for line in self.values]
        else:
            ends = zip(self.indptr[:-1], self.indptr[1:], strict=True)
            keys = [self.values[a:b].tobytes() + self.indices[a:b].tobytes() for a, b in ends]
        first: dict[bytes, int] = {}
        return np.array([first.setdefault(key, i) for i, key in enumerate(keys)], dtype=np.intp)

    def widened(self) -> Rows:
        """The same rows in float64."""
        return Rows(
            readonly(self.values.astype(np.float64, copy=False)), *self.arrays[1:], self.n_features, self.sq_norm
        )

    def wide(self, n_features: int) -> Rows:
        """The same rows, sharing memory, with more features, which are 0; only for rows that are sparse."""
        return self if n_features == self.n_features else replace(self, n_features=n_features)

    def narrow(self, n_features: int) -> Rows:
        """The first features only; the same rows if they have no others."""
        if self.n_features <= n_features or self.indices is None or self.indptr is None:
            return self
        keep = self.indices < n_features
        if keep.all():
            return self.wide(n_features)
        ends = np.concatenate([[0], np.cumsum(keep)])[self.indptr.astype(np.intp)].astype(np.uint64)
        arrays = readonly(self.values[keep]), readonly(self.indices[keep]), readonly(ends)
        return Rows(*arrays, n_features, survey(*arrays, np.uint64(n_features))[0])

    @staticmethod
    def joined(parts: list[Rows]) -> Rows:
        """One copy of rows of one layout, below each other."""
        matrices = [part.matrix() for part in parts]
        if parts[0].indices is None:
            arrays: Arrays = readonly(np.vstack(matrices)), None, None
        else:
            from scipy.sparse import vstack

            arrays = _csr(vstack(matrices, format="csr"))
        return Rows(*arrays, parts[0].n_features, np.concatenate([part.sq_norm for part in parts]))

    def columns(self) -> Array | None:
        """The features that occur, each once; None when that could be all of them."""
        if self.indices is None or self.touched >= self.n_features:
            return None
        return np.unique(self.indices).astype(np.intp)

    def matrix(self) -> Any:
        """The rows as NumPy or SciPy know them, sharing memory."""
        if self.indices is None or self.indptr is None:
            return self.values
        from scipy.sparse import csr_array  # slow to import: files are learned from without it

        signed = self.indices.view(np.dtype(f"i{self.indices.itemsize}"))
        matrix = csr_array((len(self), self.n_features), dtype=self.values.dtype)
        matrix.data, matrix.indices, matrix.indptr = self.values, signed, self.indptr.view(np.int64)
        return matrix

    def gram(self, other: Rows, bias: float) -> npt.NDArray[np.float64]:
        """Inner products of these rows with others, in float64, the constant of the bias included."""
        products = self.matrix() @ other.matrix().T.astype(np.float64)
        if hasattr(products, "toarray"):
            products = products.toarray()
        return np.asarray(products, dtype=np.float64) + bias


def as_rows(X: Any, names: Sequence[Any] | None = None, input_name: str = "X", *, any_length: bool = False) -> Rows:
    """Rows of a C-ordered float array or a CSR matrix; `names` are those of the features, for messages.

    any_length: take rows whose squared length overflows, too; all squared lengths are then given as infinite.

    >>> as_rows(np.array([[1.0, 2.0], [3.0, np.nan]]))
    Traceback (most recent call last):
    ValueError: Input X contains NaN at row 1, column 1. Remove or impute such values first.
    """
    sparse = hasattr(X, "indptr")
    arrays: Arrays = _csr(X) if sparse else (readonly(X), None, None)
    sq_norm, verdict, row = survey(*arrays, np.uint64(X.shape[1]))
    if verdict == NOT_CANONICAL:
        outside = np.flatnonzero((X.indices < 0) | (X.indices >= X.shape[1]))
        if outside.size:
            row = np.searchsorted(X.indptr, outside[0], side="right") - 1
            raise ValueError(
                f"{input_name} is not a valid CSR matrix: index {X.indices[outside[0]]} in row {row} is outside of "
                f"its {X.shape[1]} columns."
            )
        X = X.copy()  # duplicate entries are summed, as everywhere in SciPy
        X.sum_duplicates()
        return as_rows(X, names, input_name, any_length=any_length)
    if verdict != GOOD and any_length and np.isfinite(X.data if sparse else X).all():
        if sparse:
            X = X.copy()
            X.sum_duplicates()
        return Rows(*(_csr(X) if sparse else arrays), X.shape[1], np.full(X.shape[0], np.inf))
    if verdict != GOOD:
        raise ValueError(_not_finite(X, int(row), names, input_name))
    return Rows(*arrays, X.shape[1], sq_norm)


def _csr(X: Any) -> tuple[Array, Array, Array]:
    """The arrays of a CSR matrix; indices unsigned, and row pointers always 64 bits wide, to compile fewer variants."""
    if X.indptr[0] != 0 or X.indptr[-1] > min(X.data.size, X.indices.size) or (np.diff(X.indptr) < 0).any():
        raise ValueError(
            "X is not a valid CSR matrix: its row pointers do not increase from 0 to the number of values."
        )
    indices = X.indices.view(np.dtype(f"u{X.indices.itemsize}"))
    return readonly(X.data), readonly(indices), readonly(X.indptr.astype(np.int64, copy=False).view(np.uint64))


def readonly(array: Array) -> Array:
    """A view that cannot be written; a writable one would compile a second variant of every pass."""
    view = array.view()
    view.flags.writeable = False
    return view


def _not_finite(X: Any, row: int, names: Sequence[Any] | None, input_name: str) -> str:
    """Where the first value stands that is no number, or whose square is none."""
    line = X[[row]].toarray()[0] if hasattr(X, "indptr") else np.asarray(X[row])
    bad = np.flatnonzero(~np.isfinite(line))
    if bad.size == 0:
        return (
            f"Input {input_name} is too large at row {row}: its squared length "
            "overflows float64. Rescale the features, for instance with StandardScaler."
        )
    column = int(bad[0])
    what = "NaN" if np.isnan(line[column]) else "infinity"
    name = f"{column}" if names is None else f"{column} ({names[column]!r})"
    return f"Input {input_name} contains {what} at row {row}, column {name}. Remove or impute such values first."
