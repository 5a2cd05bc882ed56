"""Round bounds outward, to floats and to decimals, so that they stay bounds."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction

import numpy as np

from perceptrons.data import Rows

FEW = 64  # rows whose length is computed exactly


def float_up(number: Fraction) -> float:
    """The smallest float that is at least `number`."""
    try:
        rounded = float(number)
    except OverflowError:
        return math.inf
    return rounded if rounded == math.inf or Fraction(rounded) >= number else math.nextafter(rounded, math.inf)


def root_down(square: Fraction) -> float:
    """The largest float that is at most √square."""
    root = _root(square)
    while root > 0 and (math.isinf(root) or Fraction(root) ** 2 > square):
        root = math.nextafter(root, 0.0)
    return root


def root_up(square: Fraction) -> float:
    """The smallest float that is at least √square."""
    root = root_down(square)
    return root if Fraction(root) ** 2 == square else math.nextafter(root, math.inf)


def _root(square: Fraction) -> float:
    """√square, off by at most one in the last bit."""
    bits = max(0, 128 - square.numerator.bit_length() + square.denominator.bit_length())
    root = Fraction(math.isqrt((square.numerator << 2 * bits) // square.denominator), 1 << bits)
    try:
        return max(float(root), math.ulp(0.0)) if root else 0.0
    except OverflowError:
        return math.inf


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


def up(number: float, digits: int = 4) -> str:
    """Format a number with this many digits, rounded up.

    >>> up(2 / 3), down(2 / 3), up(12345.6), down(2.0)
    ('0.6667', '0.6666', '1.235e+4', '2')
    """
    return f"{Context(prec=digits, rounding=ROUND_CEILING).create_decimal(number).normalize():g}"


def down(number: float, digits: int = 4) -> str:
    """Format a number with this many digits, rounded down."""
    return f"{Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(number).normalize():g}"
