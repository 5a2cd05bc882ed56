"""Rows or a kernel matrix, and labels, as the theory takes them; and the length of the longest row."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptrons.data import Rows, as_rows
from perceptrons.models import validation

FEW = 64  # rows whose length is worked out exactly


def read(X: Any, y: Any, asker: str, *, any_length: bool = False, name: str = "X") -> tuple[Rows, npt.NDArray[Any]]:
    """Rows, read in place where possible, and their labels; `asker` is a name for messages, `name` that of X.

    any_length: also rows so long that the square of their length overflows.
    """
    if y is None:
        raise ValueError(f"{asker} needs the labels y of the rows, got None")
    whole = X.data if sp.issparse(X) else np.asarray(X) if isinstance(X, np.ndarray | list) else np.empty(0)
    if whole.dtype.kind in "iu" and whole.dtype.itemsize == 8 and whole.size and max(whole.max(), -whole.min()) > 2**53:
        raise ValueError(
            f"{name} has integers beyond 2^53, which float64 does not hold exactly, so that a verdict would be about "
            "other numbers. Subtract an offset first, or pass floats if their rounding does not matter."
        )
    names = getattr(X, "columns", None)
    readable = validation.readable(X, asker, name)
    rows = as_rows(readable, None if names is None else list(names), name, any_length=any_length)
    return rows, validation.labels(asker, y, rows)


def only_one(X: Any, K: Any, asker: str) -> None:
    """Raise unless either rows or their kernel matrix are given."""
    if (X is None) == (K is None):
        raise ValueError(
            f"{asker} takes either rows X or their kernel matrix K, got {'both' if K is not None else 'none'}"
        )


def read_kernel(K: Any, y: Any, asker: str, error: float) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any], float]:
    """A kernel matrix, labels, and how far below 0 its eigenvalues can be by rounding and errors of its entries.

    Entries are those of the upper triangle. Those below must be the same up to 1000 roundings of the largest entry of
    the diagonal, and twice the error.
    """
    if not 0 <= error < np.inf:
        raise ValueError(f"K_error must be a number ≥ 0, got {error!r}")
    rows, labels = read(K, y, asker, any_length=True, name="K")
    if len(rows) != rows.n_features:
        raise ValueError(
            f"K must be square, the inner products of all pairs of points; got shape {rows.matrix().shape}"
        )
    whole = rows.matrix().toarray() if rows.indices is not None else rows.values
    table = whole.astype(np.float64)
    diagonal = table.diagonal()
    if diagonal.min() < -error:
        row = int(diagonal.argmin())
        raise ValueError(f"K has {diagonal[row]:g} at row {row}, column {row}: the square of a length must be ≥ 0")
    slack = 1000 * float(np.finfo(whole.dtype).eps) * float(diagonal.max()) + 2 * error
    with np.errstate(over="ignore"):
        apart = np.abs(table - table.T)
    if apart.max() > slack:
        i, j = np.unravel_index(int(apart.argmax()), apart.shape)
        raise ValueError(
            f"K must be symmetric, got {table[i, j]:g} at row {i}, column {j} and {table[j, i]:g} at row {j}, column "
            f"{i}. (K + K.T)/2 is, if the difference is nothing but inaccuracy."
        )
    upper = np.triu(table)
    return np.ascontiguousarray(upper + np.triu(table, 1).T), labels, len(table) * slack


def sq_radius(rows: Rows) -> Fraction:
    """max ‖x‖², or slightly more: floats find the few longest rows, which are then worked out exactly."""
    largest = float(rows.sq_norm.max())
    slack = 2 * (rows.n_features + 4) * np.finfo(np.float64).eps
    if 1e-250 < largest < np.inf:
        (longest,) = np.nonzero(rows.sq_norm >= (1 - slack) * largest)
        if len(longest) > FEW:
            return Fraction(largest) * (1 + Fraction(slack))
    else:  # squares left the range of floats
        longest = np.arange(len(rows))
    table = rows.take(longest)
    lines = table.values if table.indptr is None else np.split(table.values, table.indptr[1:-1].astype(np.intp))
    return max(sum((Fraction(value) ** 2 for value in line.tolist()), Fraction(0)) for line in lines)
