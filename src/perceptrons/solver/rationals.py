"""Floats as the rationals that they are: whole numbers times powers of two."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.object_]  # of Python's integers
FAR = 1 << 20  # the exponent of a column of zeros, which has none


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


def primitive(table: npt.NDArray[np.float64]) -> tuple[Whole, list[int], list[int]]:
    """Write a table as small integers: each row times 2^r, then each column times 2^c; return them with all r and c."""
    whole, lowest = integers(table.T, axis=0)
    rows = [0 if e >= FAR else -int(e) for e in lowest]
    lines = whole.T
    common = [
        min(((entry & -entry).bit_length() - 1 for entry in column if entry), default=0) for column in whole.tolist()
    ]
    return lines >> np.array(common, dtype=object), rows, [-e for e in common]


def power(exponent: int) -> Fraction:
    """2^exponent."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)
