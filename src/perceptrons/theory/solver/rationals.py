"""Floats as the rationals that they are: whole numbers times powers of two."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.data import Rows

Whole = npt.NDArray[np.object_]  # of Python's integers
FAR = 1 << 20  # the exponent of a column of zeros, which has none
FEW = 64  # rows whose length is computed exactly


def integers(table: npt.NDArray[np.float64], axis: int | None) -> tuple[Whole, Any]:
    """Write a table as integers times 2^e, with one e for each column (axis=0) or one for all (None); return both."""
    fraction, exponent = np.frexp(table)
    whole = np.ldexp(fraction, 53).astype(np.int64)
    zero = whole == 0
    trailing = np.log2(np.where(zero, 1, whole & -whole).astype(np.float64)).astype(np.int64)
    whole, exponent = whole >> trailing, exponent.astype(np.int64) - 53 + trailing
    lowest = np.where(zero, FAR, exponent).min(axis=axis, initial=FAR)
    shift = np.where(zero, 0, exponent - lowest)
    return np.asarray(np.left_shift(whole.astype(object), shift.astype(object))), lowest


def power(exponent: int) -> Fraction:
    """2^exponent."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def sq_radius(rows: Rows) -> Fraction:
    """max ‖x‖², or slightly more. Floats find the few longest rows; their lengths are then computed exactly."""
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
