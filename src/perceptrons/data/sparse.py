"""Sparse matrices, checked before compiled code reads them.

SciPy lets anybody set the parts of a sparse matrix, and its own compiled code trusts them. The checks here make sure
that reading and converting a matrix touches its arrays only: lengths, types, row pointers, and the indices of the
formats that must be converted. The indices of CSR are left to the sweep over all values in `arrays`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
INDEX_TYPES = ("i4", "i8", "u4", "u8")


def check_sparse(X: Any, name: str = "X") -> None:
    """Check that the parts of a sparse matrix fit together, so that converting it is safe.

    Parameters
    ----------
    X : sparse matrix
        Of any format of SciPy.
    name : str, default="X"
        What error messages call it.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> X = csr_array([[0.0, 1.0], [2.0, 0.0]])
    >>> X.indptr[1] = 3
    >>> check_sparse(X)
    Traceback (most recent call last):
    ValueError: X is not a valid CSR matrix: its row pointers fall from 3 to 2 at row 1. Make it anew from its rows.
    """
    CHECKS[X.format](X, name)


def safe_csr(X: Any, name: str = "X") -> Any:
    """Check a sparse matrix of any format and convert it to CSR.

    Parameters
    ----------
    X : sparse matrix
    name : str, default="X"
        What error messages call it.

    Returns
    -------
    CSR matrix
        X itself if it is CSR.
    """
    check_sparse(X, name)
    return X.tocsr()


def csr_parts(X: Any, name: str = "X") -> tuple[Array, Array, Array]:
    """Check a CSR matrix and take its arrays, without spare room behind the last row.

    Parameters
    ----------
    X : CSR matrix
    name : str, default="X"
        What error messages call it.

    Returns
    -------
    values, indices, indptr : ndarray
        Contiguous, with unsigned indices and 64-bit row pointers, to compile fewer variants. Whether the indices lie
        inside the matrix is not checked.
    """
    indptr = _pointers(X, "row", _shape(X)[0], name)
    end = int(indptr[-1])
    return X.data[:end], _unsigned(X.indices[:end]), indptr


def are_pointers(indptr: Array, n_values: int) -> bool:
    """Tell whether row pointers start at 0, never fall, and end at the number of values.

    Parameters
    ----------
    indptr : ndarray of int
        With at least one entry.
    n_values : int

    Returns
    -------
    bool
    """
    return bool(indptr[0] == 0 and indptr[-1] == n_values and (indptr[1:] >= indptr[:-1]).all())


def _pointers(X: Any, kind: str, n: int, name: str) -> Array:
    """Check the arrays of a compressed format; return its row (column) pointers as contiguous uint64."""
    indptr = _whole_numbers(X, "indptr", name)
    indices = _whole_numbers(X, "indices", name)
    blocks = X.format == "bsr"
    values = _part(X, "data", 3 if blocks else 1, name)
    if len(indptr) != n + 1:
        raise _error(X, name, f"it has {len(indptr)} {kind} pointers, expected {n + 1} for {n} {kind}s")
    if len(values) != len(indices):
        raise _error(X, name, f"it has {len(values)} {'blocks' if blocks else 'values'} but {len(indices)} indices")
    if indptr[0] != 0:
        raise _error(X, name, f"its {kind} pointers begin with {indptr[0]}, expected 0")
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        at = int(falls.argmax())
        raise _error(X, name, f"its {kind} pointers fall from {indptr[at]} to {indptr[at + 1]} at {kind} {at}")
    if indptr[-1] > len(indices):
        raise _error(X, name, f"its {kind} pointers end with {indptr[-1]}, but it has {len(indices)} values")
    return np.ascontiguousarray(indptr, dtype=np.int64).view(np.uint64)


def _check_compressed(X: Any, name: str) -> None:
    """CSR, CSC and BSR."""
    kind, (n, width) = ("column", X.shape[::-1]) if X.format == "csc" else ("row", _shape(X))
    if X.format == "bsr":
        values = _part(X, "data", 3, name)
        rows, columns = values.shape[1:]
        if not rows or not columns or n % rows or width % columns:
            raise _error(X, name, f"blocks of {rows} x {columns} do not divide a matrix of {n} x {width}")
        kind, n, width = "row", n // rows, width // columns
    end = int(_pointers(X, kind, n, name)[-1])
    _check_inside(X, X.indices[:end], width, name)


def _check_coordinates(X: Any, name: str) -> None:
    """COO."""
    values = _part(X, "data", 1, name)
    if len(X.coords) != len(X.shape):
        raise _error(X, name, f"it has {len(X.coords)} arrays of coordinates, expected {len(X.shape)}")
    for coordinates, width in zip(X.coords, X.shape, strict=True):
        where = _checked(coordinates, "coords", 1, X, name)
        if where.dtype.kind not in "iu" or len(where) != len(values):
            raise _error(X, name, f"it has {len(where)} coordinates of type {where.dtype} for {len(values)} values")
        _check_inside(X, where, width, name)


def _check_diagonals(X: Any, name: str) -> None:
    """DIA."""
    offsets, values = _whole_numbers(X, "offsets", name), _part(X, "data", 2, name)
    if len(offsets) != len(values):
        raise _error(X, name, f"it has {len(values)} diagonals but {len(offsets)} offsets")
    if len(np.unique(offsets)) < len(offsets):
        raise _error(X, name, "two of its diagonals have the same offset")
    if len(offsets) and not -X.shape[0] <= offsets.min() <= offsets.max() <= X.shape[1]:
        raise _error(X, name, f"its diagonals range from {offsets.min()} to {offsets.max()}, outside of {X.shape}")


def _check_lists(X: Any, name: str) -> None:
    """LIL."""
    rows, values = _part(X, "rows", 1, name), _part(X, "data", 1, name)
    if not len(rows) == len(values) == X.shape[0]:
        raise _error(X, name, f"it has {len(rows)} lists of indices and {len(values)} of values for {X.shape[0]} rows")
    for row, (where, found) in enumerate(zip(rows, values, strict=True)):
        if type(where) is not list or type(found) is not list or len(where) != len(found):
            raise _error(X, name, f"row {row} is not a list of indices and a list of as many values")
        if not all(isinstance(index, int | np.integer) and 0 <= index < X.shape[1] for index in where):
            raise _error(X, name, f"row {row} has an index that is not a column from 0 to {X.shape[1] - 1}")


def _check_keys(X: Any, name: str) -> None:
    """DOK."""
    for key in X.keys():  # noqa: SIM118, since iterating over the matrix itself yields rows
        place = key if isinstance(key, tuple) else (key,)
        whole = len(place) == len(X.shape) and all(isinstance(index, int | np.integer) for index in place)
        if not whole or not all(0 <= index < width for index, width in zip(place, X.shape, strict=True)):
            raise _error(X, name, f"it has an entry at {key}, outside of its shape {X.shape}")


def _shape(X: Any) -> tuple[int, int]:
    """Rows and columns; SciPy's arrays with one axis are one row."""
    n, width = (1, *X.shape)[-2:]
    return n, width


def _whole_numbers(X: Any, part: str, name: str) -> Array:
    array = _part(X, part, 1, name)
    if array.dtype.kind not in "iu":
        raise _error(X, name, f"{part} has type {array.dtype}, expected integers")
    return array


def _part(X: Any, part: str, n_axes: int, name: str) -> Array:
    return _checked(getattr(X, part, None), part, n_axes, X, name)


def _checked(array: Any, part: str, n_axes: int, X: Any, name: str) -> Array:
    """One of the arrays of X, with the right number of axes."""
    if not isinstance(array, np.ndarray):
        raise _error(X, name, f"{part} is of type {type(array).__name__}, expected an array")
    if array.ndim != n_axes:
        raise _error(X, name, f"{part} has shape {array.shape}, expected {n_axes} ax{'is' if n_axes == 1 else 'es'}")
    return array


def _check_inside(X: Any, indices: Array, width: int, name: str) -> None:
    if indices.size and not 0 <= indices.min() <= indices.max() < width:
        raise _error(X, name, f"its indices range from {indices.min()} to {indices.max()}, expected 0 to {width - 1}")


def _unsigned(indices: Array) -> Array:
    """The same indices as contiguous unsigned integers; negative ones become too large."""
    if not (indices.dtype.isnative and indices.dtype.str[1:] in INDEX_TYPES):
        indices = indices.astype(np.int64)
    return np.ascontiguousarray(indices).view(np.dtype(f"u{indices.itemsize}"))


def _error(X: Any, name: str, what: str) -> ValueError:
    return ValueError(f"{name} is not a valid {X.format.upper()} matrix: {what}. Make it anew from its rows.")


CHECKS: dict[str, Callable[[Any, str], None]] = {
    "csr": _check_compressed,
    "csc": _check_compressed,
    "bsr": _check_compressed,
    "coo": _check_coordinates,
    "dia": _check_diagonals,
    "lil": _check_lists,
    "dok": _check_keys,
}
