"""Read what users pass to the theory: rows X or a kernel matrix K, and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptrons.data import Rows, as_rows
from perceptrons.data.sparse import safe_csr
from perceptrons.learn.labels import encode
from perceptrons.models import validation
from perceptrons.solver.constraints import Constraints
from perceptrons.solver.gram import Gram
from perceptrons.solver.kernel_matrix import factor

Array = npt.NDArray[Any]


def read(X: Any, y: Any, asker: str, *, any_length: bool = False, name: str = "X") -> tuple[Rows, Array]:
    """Return rows, read in place where possible, and their labels.

    asker, name: names of the function and of X for messages. any_length: accept rows whose squared length overflows.
    """
    if y is None:
        raise ValueError(f"{asker} needs the labels y of the rows, got None")
    X = safe_csr(X, name) if sp.issparse(X) else X
    whole = X.data if sp.issparse(X) else np.asarray(X) if isinstance(X, np.ndarray | list) else np.empty(0)
    if whole.dtype.kind in "iu" and whole.dtype.itemsize == 8 and whole.size and max(whole.max(), -whole.min()) > 2**53:
        raise ValueError(
            f"{name} has integers beyond 2^53. float64 cannot hold them exactly, so the verdict would be about other "
            "numbers. Subtract an offset first, or pass floats if their rounding does not matter."
        )
    if whole.dtype.kind == "O" or (whole.dtype.kind == "f" and whole.dtype.itemsize > 8):
        _refuse_rounding(whole, name)
    names = getattr(X, "columns", None)
    readable = validation.readable(X, asker, name)
    rows = as_rows(readable, None if names is None else list(names), name, any_length=any_length)
    return rows, validation.labels(asker, y, rows)


def _refuse_rounding(whole: Array, name: str) -> None:
    """Raise an error for numbers that float64 cannot hold; what is no number at all is refused elsewhere."""
    try:
        rounded = whole.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return
    if (np.isfinite(rounded) & (rounded != whole)).any():
        raise ValueError(
            f"{name} has numbers that float64 cannot hold exactly, so the verdict would be about other numbers. Pass "
            "float64 if their rounding does not matter."
        )


def read_either(
    X: Any, K: Any, y: Any, asker: str, error: float, *, any_length: bool = False
) -> tuple[Rows, Array, float]:
    """Return the rows of X or of K, their labels, and for K the slack of `read_kernel`."""
    if (X is None) == (K is None):
        raise ValueError(
            f"{asker} takes either rows X or their kernel matrix K, got {'both' if K is not None else 'none'}"
        )
    if K is None:
        return *read(X, y, asker, any_length=any_length), 0.0
    table, labels, slack = read_kernel(K, y, asker, error)
    return as_rows(table, any_length=True), labels, slack


def read_problem(
    X: Any, K: Any, y: Any, asker: str, *, error: float, fit_intercept: bool, any_length: bool = False
) -> tuple[Constraints, Array]:
    """Return the constraints of rows X or of a kernel matrix K, and the classes."""
    if K is None and error:
        raise ValueError(f"K_error={error} is a bound on the errors of K, but there is no K")
    rows, labels, slack = read_either(X, K, y, asker, error, any_length=any_length)
    classes = validation.distinct(labels)
    codes = encode(labels, classes)
    if K is None:
        return Constraints(rows, codes, len(classes), bool(fit_intercept)), classes
    L = factor(rows.values, slack)
    return Gram(rows, codes, len(classes), bool(fit_intercept), L, float(error)), classes


def read_kernel(K: Any, y: Any, asker: str, error: float) -> tuple[npt.NDArray[np.float64], Array, float]:
    """Return a kernel matrix, labels, and how far below 0 rounding and errors can bring its eigenvalues.

    The upper triangle counts. The lower one must be the same up to 1000 roundings of the largest entry of the
    diagonal, plus twice the error.
    """
    if not 0 <= error < np.inf:
        raise ValueError(f"K_error must be a number ≥ 0, got {error!r}")
    rows, labels = read(K, y, asker, any_length=True, name="K")
    if len(rows) != rows.n_features:
        raise ValueError(
            f"K must be square, with the inner products of all pairs of points; got shape {rows.matrix().shape}"
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
            f"{i}. If the difference is only inaccuracy, pass (K + K.T)/2."
        )
    upper = np.triu(table)
    return np.ascontiguousarray(upper + np.triu(table, 1).T), labels, len(table) * slack
