"""Rows and labels as the theory takes them, and the length of the longest row."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptrons.data import Rows, as_rows
from perceptrons.models import validation

FEW = 64  # rows whose length is worked out exactly


def read(X: Any, y: Any, asker: str, *, any_length: bool = False) -> tuple[Rows, npt.NDArray[Any]]:
    """Rows, read in place where possible, and their labels; `asker` is a name for messages.

    any_length: also rows so long that the square of their length overflows.
    """
    if y is None:
        raise ValueError(f"{asker} needs the labels y of the rows, got None")
    whole = X.data if sp.issparse(X) else np.asarray(X) if isinstance(X, np.ndarray | list) else np.empty(0)
    if whole.dtype.kind in "iu" and whole.dtype.itemsize == 8 and whole.size and max(whole.max(), -whole.min()) > 2**53:
        raise ValueError(
            "X has integers beyond 2^53, which float64 does not hold exactly, so that a verdict would be about other "
            "numbers. Subtract an offset first, or pass floats if their rounding does not matter."
        )
    names = getattr(X, "columns", None)
    rows = as_rows(validation.readable(X, asker), None if names is None else list(names), any_length=any_length)
    return rows, validation.labels(asker, y, rows)


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
