"""Arrays and sparse matrices as rows, without copies.

C-ordered float32 and float64 arrays and CSR matrices are read in place. One compiled sweep checks what a pass relies
on: values are finite, and indices lie inside the matrix and occur once a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.rows import GOOD, NOT_CANONICAL, survey
from perceptrons.data.sparse import csr_parts

Array = npt.NDArray[Any]
Arrays = tuple[Array, Array | None, Array | None]
OVERFLOW = "the squared length of the row overflows float64: rescale the features"


@dataclass(frozen=True)
class Rows:
    """Rows for a pass over the data, dense or sparse (CSR). `as_rows` makes it.

    Parameters
    ----------
    values : ndarray
        A matrix if the rows are dense; otherwise the values of a CSR matrix.
    indices, indptr : ndarray or None
        Column numbers and row pointers as in CSR, unsigned; None if the rows are dense.
    n_features : int
        Number of columns.
    sq_norm : ndarray of float64 of shape (n_rows,)
        Squared length of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from perceptrons.data import as_rows
    >>> rows = as_rows(np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 5.0]]))
    >>> len(rows), rows.n_features, rows.sq_norm
    (3, 2, array([ 5., 25., 25.]))
    >>> rows.part(1, 3).matrix()
    array([[3., 4.],
           [0., 5.]])
    """

    values: Array
    indices: Array | None
    indptr: Array | None
    n_features: int
    sq_norm: npt.NDArray[np.float64]

    @property
    def arrays(self) -> Arrays:
        """The arrays `values`, `indices` and `indptr`, which compiled functions take."""
        return self.values, self.indices, self.indptr

    def __len__(self) -> int:
        return len(self.sq_norm)

    @property
    def touched(self) -> int:
        """An upper bound on the number of different features that occur."""
        return self.n_features if self.indices is None else self.indices.size

    def take(self, where: Array) -> Rows:
        """Copy some rows.

        Parameters
        ----------
        where : ndarray
            Numbers of the rows, or a mask.

        Returns
        -------
        Rows
            The rows in the given order.
        """
        if self.indptr is None:
            arrays: Arrays = readonly(self.values[where]), None, None
        else:
            arrays = _csr(self.matrix()[where])
        return Rows(*arrays, self.n_features, self.sq_norm[where])

    def part(self, begin: int, end: int) -> Rows:
        """Slice the rows without copying.

        Parameters
        ----------
        begin, end : int
            The first row, and the row after the last.

        Returns
        -------
        Rows
            A view of these rows.
        """
        sq_norm = self.sq_norm[begin:end]
        if self.indices is None or self.indptr is None:
            return Rows(self.values[begin:end], None, None, self.n_features, sq_norm)
        indptr = self.indptr[begin : begin + len(sq_norm) + 1]
        span = slice(int(indptr[0]), int(indptr[-1]))
        return Rows(self.values[span], self.indices[span], readonly(indptr - indptr[0]), self.n_features, sq_norm)

    def first_of_equals(self) -> npt.NDArray[np.intp]:
        """Find duplicate rows.

        Returns
        -------
        ndarray of int
            For each row, the number of the first row that is equal to it bit by bit.
        """
        if self.indices is None or self.indptr is None:
            keys = [line.tobytes() for line in self.values]
        else:
            ends = zip(self.indptr[:-1], self.indptr[1:], strict=True)
            keys = [self.values[a:b].tobytes() + self.indices[a:b].tobytes() for a, b in ends]
        first: dict[bytes, int] = {}
        return np.array([first.setdefault(key, i) for i, key in enumerate(keys)], dtype=np.intp)

    def widened(self) -> Rows:
        """Convert the values to float64.

        Returns
        -------
        Rows
            The same rows; their values are copied if they were float32.
        """
        return Rows(
            readonly(self.values.astype(np.float64, copy=False)), *self.arrays[1:], self.n_features, self.sq_norm
        )

    def wide(self, n_features: int) -> Rows:
        """Append features that are 0, without copying. The rows must be sparse if features are added.

        Parameters
        ----------
        n_features : int
            The new number of columns.

        Returns
        -------
        Rows
            The wider rows.
        """
        return self if n_features == self.n_features else replace(self, n_features=n_features)

    def padded(self, n_features: int) -> Rows:
        """Append features that are 0, to dense rows too, which are then copied.

        Parameters
        ----------
        n_features : int
            The new number of columns. If the rows have more already, nothing is appended.

        Returns
        -------
        Rows
            The wider rows.
        """
        if self.indices is not None or self.n_features >= n_features:
            return self.wide(max(n_features, self.n_features))
        values = np.zeros((len(self), n_features), dtype=self.values.dtype)
        values[:, : self.n_features] = self.values
        return Rows(readonly(values), None, None, n_features, self.sq_norm)

    def narrow(self, n_features: int) -> Rows:
        """Keep only the first features of sparse rows; dense rows are returned as they are.

        Parameters
        ----------
        n_features : int
            The number of columns to keep.

        Returns
        -------
        Rows
            The narrower rows, copied if they had entries in the other columns.
        """
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
        """Stack rows below each other in one copy.

        Parameters
        ----------
        parts : list of Rows
            All dense or all sparse, with the same number of features.

        Returns
        -------
        Rows
            All rows, in order.
        """
        arrays: Arrays = readonly(np.concatenate([part.values for part in parts])), None, None
        if parts[0].indptr is not None:
            ends = np.cumsum([0, *(part.values.size for part in parts)]).astype(np.uint64)
            pointers = [
                part.indptr[1:] + end for part, end in zip(parts, ends, strict=False) if part.indptr is not None
            ]
            indices = np.concatenate([part.indices for part in parts if part.indices is not None])
            arrays = arrays[0], readonly(indices), readonly(np.concatenate([ends[:1], *pointers]))
        return Rows(*arrays, parts[0].n_features, np.concatenate([part.sq_norm for part in parts]))

    def columns(self) -> Array | None:
        """List the features that occur.

        Returns
        -------
        ndarray of int or None
            Column numbers in ascending order; None if all columns may occur.
        """
        if self.indices is None or self.touched >= self.n_features:
            return None
        if len(self) == 1:  # they rise
            return self.indices.astype(np.intp)
        return np.unique(self.indices).astype(np.intp)

    def matrix(self) -> Any:
        """View the rows as an array or a sparse matrix, without copying values and indices.

        Returns
        -------
        ndarray or scipy.sparse.csr_array of shape (n_rows, n_features)
            Read-only.
        """
        if self.indices is None or self.indptr is None:
            return self.values
        from scipy.sparse import csr_array  # slow to import, and training from files does not need it

        signed = self.indices.view(np.dtype(f"i{self.indices.itemsize}"))
        pointers = self.indptr.view(np.int64)
        if signed.dtype != np.int64 and signed.size <= np.iinfo(signed.dtype).max:
            pointers = pointers.astype(signed.dtype)  # or else SciPy would copy all indices
        matrix = csr_array((len(self), self.n_features), dtype=self.values.dtype)
        matrix.data, matrix.indices, matrix.indptr = self.values, signed, pointers
        return matrix

    def gram(self, other: Rows, bias: float) -> npt.NDArray[np.float64]:
        """Compute inner products with other rows, in float64.

        Parameters
        ----------
        other : Rows
            Rows with the same number of features.
        bias : float
            A constant added to each product.

        Returns
        -------
        ndarray of shape (len(self), len(other))
            The inner product of each pair.
        """
        products = self.matrix() @ other.matrix().T.astype(np.float64)
        if hasattr(products, "toarray"):
            products = products.toarray()
        return np.asarray(products, dtype=np.float64) + bias


def as_rows(X: Any, names: Sequence[Any] | None = None, input_name: str = "X", *, any_length: bool = False) -> Rows:
    """Check an array or a CSR matrix and wrap it as rows, without copying it.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        Of float32 or float64; an array must be C-ordered.
    names : sequence, optional
        Names of the features, for error messages.
    input_name : str, default="X"
        What error messages call the input.
    any_length : bool, default=False
        Whether to accept rows whose squared length overflows. All squared lengths are then infinite.

    Returns
    -------
    Rows
        The rows. They refer to X, unless a sparse row has an index twice.

    Raises
    ------
    ValueError
        If X has another type, a value is NaN or infinite, the squared length of a row overflows, or a CSR matrix is not
        valid.

    Examples
    --------
    >>> import numpy as np
    >>> from perceptrons.data import as_rows
    >>> as_rows(np.array([[1.0, 2.0], [3.0, 4.0]])).sq_norm
    array([ 5., 25.])
    >>> as_rows(np.array([[1.0, 2.0], [3.0, np.nan]]))
    Traceback (most recent call last):
    ValueError: Input X contains NaN at row 1, column 1. Remove or impute such values first.
    """
    sparse = getattr(X, "format", None) == "csr"
    values = getattr(X, "data", None) if sparse else X
    if not isinstance(values, np.ndarray) or len(X.shape) != 2 or values.dtype not in (np.float64, np.float32):
        kind = getattr(values, "dtype", type(values).__name__)
        raise ValueError(f"{input_name} must be an array or a CSR matrix of float32 or float64, got {kind}")
    width = X.shape[1]
    arrays: Arrays = _csr(X, input_name) if sparse else (readonly(X), None, None)
    sq_norm, verdict, row = survey(*arrays, np.uint64(width))
    if verdict == NOT_CANONICAL or (verdict != GOOD and any_length and sparse):
        arrays = _canonical(arrays, X.shape, input_name)
        sq_norm, verdict, row = survey(*arrays, np.uint64(width))
    if verdict != GOOD and any_length and np.isfinite(arrays[0]).all():
        return Rows(*arrays, width, np.full(X.shape[0], np.inf))
    if verdict != GOOD:
        raise ValueError(_not_finite(arrays, int(row), names, input_name))
    return Rows(*arrays, width, sq_norm)


def _csr(X: Any, input_name: str = "X") -> tuple[Array, Array, Array]:
    """Check a CSR matrix and take its arrays."""
    values, indices, indptr = csr_parts(X, input_name)
    if not (values.flags.c_contiguous and values.flags.aligned):
        values = np.require(values, requirements=["C", "A"])
    return readonly(values), readonly(indices), readonly(indptr)


def _canonical(arrays: Arrays, shape: tuple[int, int], input_name: str) -> tuple[Array, Array, Array]:
    """Copy CSR rows, and sum entries with the same index, as SciPy does everywhere."""
    from scipy.sparse import csr_array

    values, indices, indptr = arrays
    assert indices is not None and indptr is not None
    outside = np.flatnonzero(indices >= shape[1])
    if outside.size:
        row = np.searchsorted(indptr, outside[0], side="right") - 1
        index = indices.view(np.dtype(f"i{indices.itemsize}"))[outside[0]]
        raise ValueError(
            f"{input_name} is not a valid CSR matrix: index {index} in row {row} is outside of its {shape[1]} columns."
        )
    X = csr_array((values.copy(), indices.astype(np.int64), indptr.astype(np.int64)), shape=shape)
    if len(values) > shape[1]:  # sorts all rows by counting, in half the time
        X = X.tocsc().tocsr()
    X.sum_duplicates()
    return _csr(X)


def readonly(array: Array) -> Array:
    """Make a read-only view; a writable array would compile a second variant of every pass."""
    view = array.view()
    view.flags.writeable = False
    return view


def _not_finite(arrays: Arrays, row: int, names: Sequence[Any] | None, input_name: str) -> str:
    """Describe the first value in a row that is not finite, or the row if its squared length overflows."""
    values, indices, indptr = arrays
    columns = None
    if indices is None or indptr is None:
        values = values[row]
    else:
        span = slice(int(indptr[row]), int(indptr[row + 1]))
        values, columns = values[span], indices[span]
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size == 0:
        return (
            f"Input {input_name} is too large at row {row}: its squared length "
            "overflows float64. Rescale the features, for instance with StandardScaler."
        )
    first = int(bad[0])
    column = first if columns is None else int(columns[first])
    what = "NaN" if np.isnan(values[first]) else "infinity"
    name = f"{column}" if names is None else f"{column} ({names[column]!r})"
    return f"Input {input_name} contains {what} at row {row}, column {name}. Remove or impute such values first."
