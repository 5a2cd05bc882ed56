"""Rounding in the direction in which a bound stays one, to floats and to decimals."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction


def float_up(number: Fraction) -> float:
    """The smallest float that is at least `number`."""
    try:
        rounded = float(number)
    except OverflowError:
        return math.inf
    return rounded if rounded == math.inf or Fraction(rounded) >= number else math.nextafter(rounded, math.inf)


def root_down(square: Fraction) -> float:
    """A float that is at most √square, and the next one is not."""
    root = _root(square)
    while root > 0 and (math.isinf(root) or Fraction(root) ** 2 > square):
        root = math.nextafter(root, 0.0)
    return root


def root_up(square: Fraction) -> float:
    """A float that is at least √square, and the one before is not."""
    root = root_down(square)
    return root if Fraction(root) ** 2 == square else math.nextafter(root, math.inf)


def _root(square: Fraction) -> float:
    """√square, to the last bit or one beside it."""
    bits = max(0, 128 - square.numerator.bit_length() + square.denominator.bit_length())
    root = Fraction(math.isqrt((square.numerator << 2 * bits) // square.denominator), 1 << bits)
    try:
        return max(float(root), math.ulp(0.0)) if root else 0.0
    except OverflowError:
        return math.inf


def up(number: float, digits: int = 4) -> str:
    """The number with so many digits, not smaller than it is.

    >>> up(2 / 3), down(2 / 3), up(12345.6), down(2.0)
    ('0.6667', '0.6666', '1.235e+4', '2')
    """
    return f"{Context(prec=digits, rounding=ROUND_CEILING).create_decimal(number).normalize():g}"


def down(number: float, digits: int = 4) -> str:
    """The number with so many digits, not larger than it is."""
    return f"{Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(number).normalize():g}"
