"""Bounds for other rules than the plain one, beside the theorems as they are published."""

from fractions import Fraction
from math import inf, log, sqrt

import numpy as np
import pytest
from bound_cases import inseparable, separable
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_runs import facts, run
from theory_cases import SEEDS

from perceptrons.rules import ALMA, AROW, PA, PA1, PA2, SOP, Margin, Uneven
from perceptrons.theory import mistake_bound
from perceptrons.theory.theorems import BOUNDS


def substituted(result, X, y, fit_intercept):
    """ℓ*, u·x, ‖u‖² and R² for the hypothesis of a bound for two classes."""
    rows = np.column_stack([X, np.ones(len(y))]) if fit_intercept else X
    u = np.append(result.coef, result.intercept) if fit_intercept else result.coef
    margins = np.where(y == 1, 1, -1) * (rows @ np.asarray(u, dtype=float))
    return np.maximum(0, 1 - margins), margins, float(u @ u), (rows * rows).sum(axis=1)


@given(seed=SEEDS, fit_intercept=st.booleans(), C=st.sampled_from([0.01, 0.2, 3.0, inf]))
@settings(max_examples=20, deadline=None)
def test_passive_aggressive_separable(seed, fit_intercept, C):
    """Crammer et al.: R²‖u‖² for PA, max(R², 1/C)‖u‖² for PA-I, (R² + 1/2C)‖u‖² for PA-II; ours are not above."""
    X, y, _, _ = separable(seed, fit_intercept)
    bounds = [mistake_bound(X, y, fit_intercept=fit_intercept, rule=rule) for rule in (PA(), PA1(C), PA2(C))]
    R2 = bounds[0].radius ** 2
    squares = 1 / bounds[0].margin ** 2
    assert bounds[0].bound == pytest.approx(R2 * squares)
    for result, factor in zip(bounds[1:], (max(R2, 1 / C), R2 + 0.5 / C), strict=True):
        assert result.bound <= factor * squares * (1 + 1e-9)
    if inf == C:
        assert bounds[1].bound == bounds[2].bound == bounds[0].bound


@given(seed=SEEDS, fit_intercept=st.booleans(), C=st.sampled_from([0.01, 0.2, 3.0]))
@settings(max_examples=10, deadline=None)
def test_passive_aggressive_with_noise(seed, fit_intercept, C):
    """Theorems 4 and 5: max(R², 1/C)(‖u‖² + 2CΣℓ*) for PA-I, (R² + 1/2C)(‖u‖² + 2CΣℓ*²) for PA-II."""
    X, y, W, b = inseparable(seed, fit_intercept)
    for rule in (PA(), PA1(C), PA2(C)):
        about = facts(X, y, [[Fraction(v) / 2 for v in (*W[0], *b[:fit_intercept])]], fit_intercept)
        short, squares, R2 = about.short.astype(float), float(about.squares), float(about.longest)
        U = sqrt((short**2 / np.where(about.sq_steps > 0, about.sq_steps, inf).astype(float)).sum())
        published = {
            PA: R2 * (U + sqrt(U * U + squares)) ** 2 + (about.sq_steps == 0).sum(),
            PA1: max(R2, 1 / C) * (squares + 2 * C * short.sum()),
            PA2: (R2 + 0.5 / C) * (squares + 2 * C * (short**2).sum()),
        }
        assert BOUNDS["pa"](rule, about) <= published[type(rule)] * (1 + 1e-9)


@given(seed=SEEDS, fit_intercept=st.booleans(), a=st.sampled_from([0.1, 1.0, 20.0]))
@settings(max_examples=15, deadline=None)
def test_second_order_as_published(seed, fit_intercept, a):
    """The factor of u that the theorems leave free is chosen for all rows here."""
    X, y, _, _ = inseparable(seed, fit_intercept)
    result = mistake_bound(X, y, fit_intercept=fit_intercept, rule=AROW(a, "full"))
    rows = np.column_stack([X, np.ones(len(y))]) if fit_intercept else X
    D = np.linalg.slogdet(np.eye(rows.shape[1]) + rows.T @ rows / a)[1]
    if result.theorem == "arow":
        assert D <= result.log_det <= D + 1e-6
        short, margins, squares, _ = substituted(result, X, y, fit_intercept)
        worst = (a * squares + (margins**2).sum()) + D + np.maximum(0, 1 - 2 * margins).sum()  # of 2u, at the worst U
        assert result.bound <= worst * (1 + 1e-9)
        assert result.bound <= (a * squares + ((1 - margins) ** 2).sum() + D) * (1 + 1e-9)
    result = mistake_bound(X, y, fit_intercept=fit_intercept, rule=SOP(a, "full"))
    if result.theorem == "sop":
        made, _ = run(SOP(a, "full"), X, y, fit_intercept)
        short, margins, squares, _ = substituted(result, X, y, fit_intercept)
        assert made <= short.sum() + sqrt((a * squares + (margins**2).sum()) * D)


def test_margins_that_are_demanded_are_added_to_the_radius():
    """‖w‖² grows by R² + 2β at most, so Novikoff's bound becomes (R² + 2β)/γ²."""
    X, y, _, _ = separable(3, True)
    plain, rows = mistake_bound(X, y), mistake_bound(X, y).radius ** 2
    for rule, beta in ((Margin(4.0), 4.0), (Uneven(0.5, 3.0), 3.0), (Margin(0.0), 0.0)):
        assert mistake_bound(X, y, rule=rule).bound == pytest.approx(plain.bound * (1 + 2 * beta / rows))
    assert mistake_bound(X, y, rule=Margin(inf)).theorem == "n"


@given(seed=SEEDS, fit_intercept=st.booleans(), alpha=st.sampled_from([0.3, 0.9, 1.0]))
@settings(max_examples=15, deadline=None)
def test_alma_separable(seed, fit_intercept, alpha):
    """Gentile: (2/γ²)(2/α − 1)² + 8/α − 4; ours is not above, and not below the recursion that it comes from."""
    X, y, _, _ = separable(seed, fit_intercept)
    result = mistake_bound(X, y, fit_intercept=fit_intercept, rule=ALMA(alpha))
    gamma, A = result.margin, 8 / alpha - 6
    assert result.bound <= 2 / gamma**2 * (2 / alpha - 1) ** 2 + 8 / alpha - 4
    f, k = 0.0, 0
    while gamma * f <= 1 and k < 10**5:
        k += 1
        f = (f + sqrt(2 / k)) / sqrt(1 + A / k)
    assert result.bound >= min(k - 1, 10**5)


def test_a_large_start_of_the_second_order_perceptron_has_the_bound_of_the_plain_one():
    X, y, _, _ = separable(3, False)
    plain = mistake_bound(X, y, fit_intercept=False).bound
    assert mistake_bound(X, y, fit_intercept=False, rule=SOP(1e9, "full")).bound == pytest.approx(plain, rel=1e-3)


@given(seed=SEEDS, fit_intercept=st.booleans(), a=st.sampled_from([0.5, 1.0, 8.0]))
@settings(max_examples=30, deadline=None)
def test_the_logarithm_of_the_determinant_is_rounded_up(seed, fit_intercept, a):
    """The exact determinant by elimination in fractions."""
    random = np.random.default_rng(seed)
    X = random.integers(-50, 51, size=(random.integers(1, 9), random.integers(1, 5))) / 16.0
    about = facts(X, np.zeros(len(X), int), [[1] * (X.shape[1] + fit_intercept)], fit_intercept)
    rows = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    d = rows.shape[1]
    A = [
        [Fraction(int(i == j)) + sum(Fraction(x[i]) * Fraction(x[j]) for x in rows) / Fraction(a) for j in range(d)]
        for i in range(d)
    ]
    det = Fraction(1)
    for i in range(d):
        det *= A[i][i]
        for r in range(i + 1, d):
            A[r] = [v - A[r][i] / A[i][i] * p for v, p in zip(A[r], A[i], strict=True)]
    exact = log(det)
    assert exact <= about.log_det(a) <= exact + 1e-9
