"""Rows with known verdicts, and proofs of verdicts by substitution."""

from fractions import Fraction
from math import isinf

import naive_theory
import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from naive_theory import separable, signed, verdict
from scipy.linalg import hadamard

from perceptrons.theory import separability

SEEDS = st.integers(0, 10**6)
property_test = settings(max_examples=30, deadline=None)
BIAS = pytest.mark.parametrize("fit_intercept", [True, False])


def small(random, n_classes=2, most=8, d=3):
    """A few rows of small integers, so small that rows repeat, lie on lines and hulls touch."""
    n, d, size = random.integers(n_classes, most + 1), random.integers(1, d + 1), random.integers(1, 4)
    X = random.integers(-size, size + 1, size=(n, d)).astype(float)
    y = np.r_[range(n_classes), random.integers(0, n_classes, size=n - n_classes)]
    order = random.permutation(n)
    return X[order], y[order]


def separated(seed, fit_intercept, n_classes=2):
    """Small rows that can be separated."""
    random = np.random.default_rng(seed)
    while True:
        X, y = small(random, n_classes, most=n_classes + 4, d=2)
        if verdict(X, y, fit_intercept):
            return X, y


def slab(n, d, seed=0, across=9):
    """Integer rows whose largest margin is √d, attained by the first column of an orthogonal matrix of ±1.

    In the coordinates of that matrix all rows have a first coordinate of at least 1 on the side of their label, and
    (±1, 0, …, 0) is a row of either class.
    """
    random = np.random.default_rng(seed)
    S = random.integers(-across, across + 1, size=(n, d))
    S[:2] = 0
    y = np.r_[0, 1, random.integers(0, 2, size=n - 2)]
    S[:, 0] = np.where(y == 1, 1, -1) * np.r_[1, 1, random.integers(1, 9, size=n - 2)]
    return (S @ hadamard(d)).astype(float), y


def near_touching(seed, fit_intercept):
    """Rows in general position, and a rounded mean of some of them: only rounding keeps the hulls from touching."""
    random = np.random.default_rng(seed)
    d = random.integers(1, 4)
    if fit_intercept:  # a simplex, and the middle of one of its faces
        X = random.normal(size=(d + 1, d)) * random.choice([1e-3, 1.0, 1e6])
        return np.vstack([X, X[:d].mean(axis=0)]), np.r_[np.zeros(d + 1, int), 1]
    X = random.normal(size=(d + 1, d + 1))  # a cone, and a ray in one of its faces
    return np.vstack([X, random.random(d) @ X[:d]]), np.r_[np.ones(d + 1, int), 0]


def assert_proved(result, X, y, *, floats=True):
    """The certificate holds for the rows, by substitution of what the result shows, in exact arithmetic.

    floats: also check `coef` and `intercept`. Skip this where floats cannot represent the separator.
    """
    assert result.check(X, y) is True
    assert all(isinstance(weight, Fraction) and weight > 0 for weight in result.weights)
    assert sum(result.weights) == 1
    rivals = None if result.rivals is None else np.asarray(result.rivals).tolist()
    point, bias = naive_theory.hull_point(X, y, np.asarray(result.support).tolist(), result.weights, rivals)
    assert not (result.fit_intercept and any(bias))
    if not result.separable:
        assert not any(point)
        return
    low, high = result.margin_bounds
    assert 0 < low <= result.margin <= high
    assert isinf(high) or naive_theory.dot(point, point) <= Fraction(high) ** 2
    if floats:
        assert np.linalg.norm(result.coef) == pytest.approx(1, rel=1e-12)
        assert result.fit_intercept or not np.any(result.intercept)
        least = min(naive_theory.scores(X, y, result.coef, result.intercept))
        assert least > 0
        assert least**2 >= Fraction(low) ** 2 * naive_theory.sq_length(result.coef)


def assert_encloses(result, square, width=None):
    """The bounds enclose γ, whose exact square is given; `width` is the largest relative width allowed."""
    low, high = result.margin_bounds
    assert Fraction(low) ** 2 <= square
    assert isinf(high) or square <= Fraction(high) ** 2
    if width is not None:
        assert high - low <= width * low


def assert_irreducible(result, X, y):
    """The rows cannot be separated, and without any one of them they can; no more of them than needed."""
    rows = np.asarray(result.irreducible).tolist()
    assert len(set(rows)) == len(rows)
    classes = sorted(set(y.tolist()))
    fit_intercept = result.fit_intercept

    def possible(rows):
        return separable(signed(X[rows], y[rows], fit_intercept, classes)) if rows else True

    assert not possible(rows)
    assert all(possible([*rows[:k], *rows[k + 1 :]]) for k in range(len(rows)))
    if len(classes) == 2:
        assert len(rows) <= X.shape[1] + 1 + fit_intercept


def assert_right(X, y, fit_intercept, *, floats=True):
    """The verdict is the exact one, and proved."""
    result = separability(X, y, fit_intercept=fit_intercept)
    assert result.separable is verdict(X, y, fit_intercept)
    assert result.fit_intercept is fit_intercept
    assert_proved(result, X, y, floats=floats)
    if not result.separable:
        assert_irreducible(result, X, y)
    return result


def assert_same_margin(one, other, factor=1.0):
    """Two enclosures of one number have points in common."""
    assert one.margin_bounds[0] * factor <= other.margin_bounds[1]
    assert other.margin_bounds[0] <= one.margin_bounds[1] * factor
    assert other.margin == pytest.approx(one.margin * factor, rel=1e-6)
