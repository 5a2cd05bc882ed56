"""Verdicts and largest margins of rows for which the answer is known."""

from fractions import Fraction
from math import nextafter, sqrt

import naive_theory
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_theory import sq_margin, verdict
from scipy.linalg import hadamard
from theory_cases import (
    BIAS,
    SEEDS,
    assert_encloses,
    assert_irreducible,
    assert_proved,
    assert_right,
    property_test,
    separated,
    slab,
    small,
)

from perceptrons.theory import separability


@pytest.mark.parametrize("shift", [0.0, 1000.0, -7.0])
@pytest.mark.parametrize(("n", "d"), [(50, 1), (3000, 4), (2000, 16)])
def test_the_margin_of_a_slab_is_known(n, d, shift):
    X, y = slab(n, d)
    result = separability(X + shift, y)
    assert result.separable is True
    assert_encloses(result, Fraction(d), 1e-6)
    assert_proved(result, X + shift, y)
    expected = np.ones(d) / sqrt(d)  # the first column of the matrix
    np.testing.assert_allclose(result.coef, hadamard(d)[0] * expected, atol=1e-4)
    through = separability(X, y, fit_intercept=False)
    assert_encloses(through, Fraction(d), 1e-6)
    assert_proved(through, X, y)


def test_the_enclosure_is_narrow_far_from_the_origin():
    """γ/R = 2e-9: the rows of a slab of margin 2 are 1e9 away."""
    X, y = slab(400, 4)
    X += 5e8
    R = np.linalg.norm(X, axis=1).max()
    assert 1e-9 < 2 / R < 2.1e-9
    result = separability(X, y)
    assert_encloses(result, Fraction(4), 1e-6)
    assert_proved(result, X, y, floats=False)


def test_the_enclosure_is_narrow_where_the_slab_is_wide():
    """γ/R = 2e-9 through the origin and with a bias: the slab is as thin as that beside its other sides."""
    X, y = slab(400, 4, across=int(2.8e8))
    R = np.linalg.norm(X, axis=1).max()
    assert 1.5e-9 < 2 / R < 2.5e-9
    for fit_intercept in (True, False):
        result = separability(X, y, fit_intercept=fit_intercept)
        assert_encloses(result, Fraction(4), 1e-6)
        assert_proved(result, X, y, floats=False)


def test_the_enclosure_is_narrow_for_rows_with_all_their_digits():
    random = np.random.default_rng(1)
    X = random.normal(size=(500, 5))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    X[:, 0] += np.where(y == 1, 0.3, -0.3)
    X += 1e8
    result = separability(X, y)
    low, high = result.margin_bounds
    assert low > 0.2
    assert high - low <= 1e-6 * low
    assert_proved(result, X, y, floats=False)


@pytest.mark.parametrize("d", [1, 2, 6])
def test_barely_separable(d):
    """A margin of 1e-12, in the first column, beside columns of ordinary size."""
    random = np.random.default_rng(12)
    X = random.normal(size=(300, d))
    y = np.r_[0, 1, random.integers(0, 2, size=298)]
    X[:2] = 0
    X[:, 0] = np.where(y == 1, 1e-12, -1e-12) * np.r_[1, 1, 1 + random.random(298)]
    for fit_intercept in (True, False):
        result = separability(X, y, fit_intercept=fit_intercept)
        assert result.separable is True
        assert_encloses(result, Fraction(1e-12) ** 2)
        assert_proved(result, X, y, floats=False)
    X[0, 0] = 0.0  # and now it touches, without a bias
    assert separability(X, y, fit_intercept=False).separable is False
    X[1, 0] = 0.0
    assert separability(X, y).separable is False


def test_one_unit_in_the_last_place_separates():
    X, y = np.array([[1.0], [nextafter(1.0, 2)]]), [0, 1]
    result = separability(X, y)
    assert result.separable is True
    assert_encloses(result, Fraction(2) ** -106)
    assert_proved(result, X, y, floats=False)
    assert separability([[0.1 + 0.2], [0.3]], y).separable is True  # which are two numbers
    assert separability([[0.75], [0.25 + 0.5]], y).separable is False


@pytest.mark.parametrize(
    ("zeros", "ones"),
    [
        ([[0, 0], [2, 0]], [[1, 0], [1, 5]]),  # a vertex on an edge
        ([[0, 0], [4, 0], [0, 4]], [[2, 2], [9, 9]]),  # on a slanted one
        ([[0, 0], [2, 2]], [[0, 2], [2, 0]]),  # two edges cross
        ([[0, 0], [3, 0]], [[1, 0], [2, 0]]),  # one segment in the other
        ([[0, 0], [3, 0], [0, 3]], [[1, 1], [9, 9]]),  # a row inside
        ([[1, 1]], [[1, 1]]),  # a row with both labels
        ([[0, 0], [6, 0], [0, 6]], [[3, 0], [3, -1], [8, -5]]),
    ],
)
@pytest.mark.parametrize("scale", [1.0, 2.0**-40, 1e100])
def test_touching_hulls_are_not_separable(zeros, ones, scale):
    X = scale * np.array(zeros + ones, dtype=float)
    y = np.r_[np.zeros(len(zeros), int), np.ones(len(ones), int)]
    result = assert_right(X, y, fit_intercept=True)
    assert result.separable is False
    half = [weight for row, weight in zip(result.support, result.weights, strict=True) if y[row] == 1]
    assert sum(half) == Fraction(1, 2)
    meet = naive_theory.hull_point(X, y, [row for row in result.support if y[row] == 1], half)[0]
    np.testing.assert_allclose(result.point, [float(2 * v) for v in meet], rtol=1e-12, atol=1e-12 * scale)


def test_rows_with_both_labels_are_found_in_a_crowd():
    X, y = slab(1000, 4)
    X[17], y[17], X[33], y[33] = X[5], 0, X[5], 1
    for fit_intercept in (True, False):
        result = separability(X, y, fit_intercept=fit_intercept)
        assert result.separable is False
        assert_proved(result, X, y)
        assert_irreducible(result, X, y)


@pytest.mark.parametrize("n", [200, 2000])
def test_flipped_labels(n):
    """Enough rows with the wrong label cannot be separated, and a handful of rows shows it."""
    X, y = slab(n, 4)
    y[2::10] = 1 - y[2::10]
    for fit_intercept in (True, False):
        result = separability(X, y, fit_intercept=fit_intercept)
        assert result.separable is False
        assert_proved(result, X, y)
        assert_irreducible(result, X, y)


@given(seed=SEEDS, value=st.sampled_from([0.0, 1.0, -3.0]))
@property_test
def test_a_constant_column_does_what_a_bias_does(seed, value):
    X, y = small(np.random.default_rng(seed), most=6, d=2)
    Z = np.insert(X, 1, value, axis=1)
    with_bias, without = (assert_right(Z, y, fit_intercept) for fit_intercept in (True, False))
    assert with_bias.separable is verdict(X, y, True)
    assert without.separable is verdict(X, y, value != 0)


def test_all_columns_constant():
    X, y = np.full((4, 3), 2.5), [0, 0, 1, 1]
    for fit_intercept in (True, False):
        result = separability(X, y, fit_intercept=fit_intercept)
        assert result.separable is False
        assert_proved(result, X, y)
        assert len(result.irreducible) == 2
    zero = separability(np.array([[1.0, 2.0], [0.0, 0.0]]), [1, 0], fit_intercept=False)
    assert zero.separable is False  # no w has y·w·0 > 0
    assert list(zero.irreducible) == list(zero.support) == [1]
    assert zero.weights[0] == 1


@BIAS
@pytest.mark.parametrize("seed", range(5))
def test_more_columns_than_rows(seed, fit_intercept):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(5, 12)), np.array([0, 1, 1, 0, 1])
    result = assert_right(X, y, fit_intercept)
    assert result.separable is True
    assert_encloses(result, sq_margin(X, y, fit_intercept), 1e-6)


def test_many_more_columns_than_rows():
    X, y = np.random.default_rng(0).normal(size=(30, 1000)), np.arange(30) % 2
    result = separability(X, y)
    assert_proved(result, X, y)
    assert result.margin_bounds[1] - result.margin_bounds[0] <= 1e-6 * result.margin


def test_one_row_of_either_class():
    """The margin is half the distance, the boundary half way, and both rows define it."""
    X, y = np.array([[1.0, 2.0], [4.0, 6.0]]), [0, 1]
    result = assert_right(X, np.array(y), True)
    assert_encloses(result, Fraction(25, 4), 1e-6)
    np.testing.assert_allclose(result.coef, [0.6, 0.8], rtol=1e-6)
    assert result.intercept == pytest.approx(-4.7, rel=1e-6)
    assert sorted(result.support) == [0, 1]
    assert list(result.weights) == [Fraction(1, 2), Fraction(1, 2)]


@BIAS
def test_support_rows_are_those_at_the_margin(fit_intercept):
    """Rows away from the margin have no part in it, and the support alone has the same margin."""
    X, y = slab(500, 4)
    result = separability(X, y, fit_intercept=fit_intercept)
    rows = sorted(set(np.asarray(result.support).tolist()))
    distance = np.where(y == 1, 1, -1) * (X @ result.coef + result.intercept)
    assert distance[rows].max() <= result.margin * (1 + 1e-3)
    if len(set(y[rows])) == 2:
        assert_encloses(separability(X[rows], y[rows], fit_intercept=fit_intercept), Fraction(4), 2e-6)


def test_the_augmented_margin_is_another_number():
    """Rows 1 and 3: the margin is 1, the boundary at 2; the hull of (−1, −1) and (3, 1) has (1, −2)/5 nearest."""
    X, y = np.array([[1.0], [3.0]]), [0, 1]
    result = separability(X, y)
    assert_encloses(result, Fraction(1), 1e-6)
    assert result.augmented_margin == pytest.approx(sqrt(0.2), rel=1e-6)
    assert Fraction(result.augmented_margin) ** 2 <= Fraction(1, 5)


@given(seed=SEEDS)
@property_test
def test_the_augmented_margin_is_that_of_rows_with_the_constant(seed):
    """Attained by the separator that comes with it, so that Novikoff's bound holds with it."""
    X, y = separated(seed, True)
    result = separability(X, y)
    rows = np.column_stack([X, np.ones(len(X))])
    square = sq_margin(rows, y, False)
    assert Fraction(result.augmented_margin) ** 2 <= square
    assert result.augmented_margin == pytest.approx(sqrt(square), rel=1e-6)


def test_rows_that_all_lie_at_a_small_margin_are_worked_out_together():
    """Float passes cannot tell which of them is nearest."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, size=3000)
    X = np.column_stack([random.integers(-9, 9, size=(3000, 3)), 2 * y - 1]) * 1.0
    X[:, 3] *= 1e-10
    result = separability(X, y)
    low, high = result.margin_bounds
    assert low <= 1e-10 <= high <= low * (1 + 1e-6)
