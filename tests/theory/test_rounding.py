"""Bounds are rounded outward, to floats and to decimals."""

from decimal import Decimal
from fractions import Fraction
from math import nextafter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from perceptrons.data import as_rows
from perceptrons.solver.rounding import down, float_up, root_down, root_up, sq_radius, up

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


def tied_rows():
    """Rows that differ by an ulp and by the order of their values, their squared lengths in floats, and exactly."""
    random = np.random.default_rng(0)
    X = np.tile(random.normal(size=7), (500, 1)) * (1 + 2.0**-52 * random.integers(-1, 2, size=(500, 7)))
    X = random.permuted(X, axis=1)
    exact = [sum(Fraction(value) ** 2 for value in line) for line in X.tolist()]
    return X, as_rows(X).sq_norm, exact


def test_the_longest_row_is_found_where_floats_take_another_for_it():
    X, floats, exact = tied_rows()
    one, two = next((i, j) for i in range(500) for j in range(500) if floats[i] > floats[j] and exact[i] < exact[j])
    assert sq_radius(as_rows(X[[one, two]])) == exact[two]


def test_no_row_is_longer_than_the_radius_of_many():
    """There are too many rows to compute each exactly, so the float length is rounded up."""
    X, floats, exact = tied_rows()
    short = next(i for i in range(500) if Fraction(floats[i]) < exact[i])
    found = sq_radius(as_rows(np.tile(X[short], (100, 1))))
    assert exact[short] <= found <= exact[short] * (1 + Fraction(1, 10**12))
