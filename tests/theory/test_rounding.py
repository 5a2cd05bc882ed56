"""Bounds are rounded outward, to floats and to decimals."""

from decimal import Decimal
from fractions import Fraction
from math import nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptrons.data import as_rows
from perceptrons.theory.inputs import sq_radius
from perceptrons.theory.rounding import down, float_up, root_down, root_up, up

RATIONALS = st.fractions(min_value=0, max_value=10**40).filter(bool)


@given(RATIONALS)
def test_roots_enclose(number):
    low, high = Fraction(root_down(number)), Fraction(root_up(number))
    assert low**2 <= number <= high**2
    assert nextafter(float(low), float(high)) in (low, high)  # neighbours, or one and the same


@given(RATIONALS)
def test_floats_and_decimals_enclose(number):
    rounded = float_up(number)
    assert Fraction(nextafter(rounded, 0.0)) < number <= Fraction(rounded)
    assert Decimal(down(rounded)) <= Decimal(rounded) <= Decimal(up(rounded))


def test_a_number_just_above_a_float_is_rounded_up():
    assert float_up(1 + Fraction(1, 10**30)) == nextafter(1.0, 2.0) and float_up(Fraction(1)) == 1.0
    assert float_up(Fraction(10) ** 400) == root_up(Fraction(10) ** 800) == float("inf")


@pytest.mark.parametrize("copies", [1, 100])
def test_no_row_is_longer_than_the_radius(copies):
    """Rows whose squared lengths differ by less than floats can tell, many or few."""
    random = np.random.default_rng(0)
    X = np.repeat(np.array([random.permutation(random.normal(size=7)) for _ in range(1)]), copies, axis=0)
    X = np.array([random.permutation(line) for line in np.vstack([X, X])])
    exact = max(sum(Fraction(value) ** 2 for value in line) for line in X.tolist())
    found = sq_radius(as_rows(X))
    assert exact <= found <= exact * (1 + Fraction(1, 10**12))
