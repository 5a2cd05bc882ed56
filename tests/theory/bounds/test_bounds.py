"""Bounds on mistakes: a perceptron never makes more, and they follow from their hypothesis."""

from fractions import Fraction
from math import floor, inf, nextafter, sqrt

import naive_theory
import numpy as np
import pytest
from bound_cases import ONE_PASS, assert_follows, inseparable, one_pass, separable
from hypothesis import given
from hypothesis import strategies as st
from naive_theory import sq_margin, verdict
from theory_cases import BIAS, SEEDS, property_test

from perceptrons import Perceptron
from perceptrons.theory import augment, mistake_bound, separability


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=SEEDS, fit_intercept=st.booleans())
@property_test
def test_novikoff(n_classes, seed, fit_intercept):
    """At most R²‖w*‖²/γ² updates, in any order and any number of passes; several classes: 2R²."""
    X, y, _, _ = separable(seed, fit_intercept, n_classes)
    result = mistake_bound(X, y, fit_intercept=fit_intercept)
    assert result.theorem == "novikoff"
    assert_follows(result, X, y, fit_intercept)
    for order in range(4):
        model = Perceptron(fit_intercept=fit_intercept, tol=None, shuffle=order > 0, random_state=order, max_iter=10**5)
        model.fit(X, y)
        assert model.converged_
        assert model.n_updates_ <= result.bound


@given(seed=SEEDS, fit_intercept=st.booleans())
@property_test
def test_novikoff_for_the_best_separator_is_least(seed, fit_intercept):
    """R²/γ² with the largest margin γ of the rows, the constant among them."""
    X, y, W, b = separable(seed, fit_intercept, n=8)
    result = mistake_bound(X, y, fit_intercept=fit_intercept)
    rows = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    least = naive_theory.sq_reach(X, y, fit_intercept) / sq_margin(rows, y, False)
    assert floor(least) <= result.bound <= least * (1 + Fraction(1, 10**5))
    given_one = mistake_bound(X, y, fit_intercept=fit_intercept, coef=W[0], intercept=b[0])
    assert given_one.bound >= result.bound * (1 - 1e-5) - 1


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=SEEDS, fit_intercept=st.booleans(), scale=st.sampled_from([1.0, 0.125, 64.0]))
@property_test
def test_novikoff_for_a_given_separator(n_classes, seed, fit_intercept, scale):
    """Any separator proves a bound, whatever its scale."""
    X, y, W, b = separable(seed, fit_intercept, n_classes)
    coef, intercept = (W[0], b[0]) if n_classes == 2 else (W, b)
    result = mistake_bound(X, y, fit_intercept=fit_intercept, coef=scale * coef, intercept=scale * intercept)
    assert result.theorem == "novikoff"
    assert_follows(result, X, y, fit_intercept)
    exact = naive_theory.novikoff(X, y, W, b, fit_intercept)
    assert floor(exact) <= result.bound <= float(exact) * (1 + 1e-9)
    model = Perceptron(fit_intercept=fit_intercept, tol=None, shuffle=False, max_iter=10**5).fit(X, y)
    assert model.n_updates_ <= result.bound


def test_novikoff_uses_the_augmented_margin():
    """Rows 1 and 3: R²/γ² is 9 by the rows alone, but with the constant R² = 10 and γ² = 1/5, which makes 50."""
    X, y = np.array([[1.0], [3.0]]), [0, 1]
    result = mistake_bound(X, y)
    assert 50 <= result.bound <= 50 * (1 + 1e-5)
    assert result.margin == pytest.approx(sqrt(0.2), rel=1e-6)
    assert result.radius == pytest.approx(sqrt(10))
    assert separability(X, y).margin == pytest.approx(1, rel=1e-6)


@given(seed=SEEDS)
@property_test
def test_the_bias_is_the_weight_of_the_constant(seed):
    X, y, _, _ = separable(seed, True)
    one, other = mistake_bound(X, y), mistake_bound(augment(X), y, fit_intercept=False)
    assert one.bound == pytest.approx(other.bound, rel=1e-5, abs=1)
    assert one.radius == pytest.approx(other.radius)
    assert one.margin == pytest.approx(other.margin, rel=1e-6)


def test_the_bound_is_attained():
    """Orthonormal rows: every one of n rows is a mistake, and R²/γ² = n."""
    for n in (2, 5, 16):
        X, y = np.eye(n), np.arange(n) % 2
        result = mistake_bound(X, y, fit_intercept=False)
        model = Perceptron(fit_intercept=False, tol=None).fit(X, y)
        assert model.n_updates_ == n <= result.bound <= n * (1 + 1e-5)


def test_a_tiny_margin_has_a_huge_bound():
    """Not an infinite one, nor one of a separator that floats take for one."""
    X, y = np.array([[1.0], [nextafter(1.0, 2)]]), [0, 1]
    result = mistake_bound(X, y)
    assert 1e31 < result.bound < inf
    exact = 2 / sq_margin(augment(X), y, False)
    assert result.bound >= floor(exact)
    assert result.check(X, y) is True


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=SEEDS, fit_intercept=st.booleans())
@property_test
def test_freund_schapire_and_gentile(n_classes, seed, fit_intercept):
    """One pass from zeros, in any order, makes no more mistakes than the bound, which is never above n."""
    X, y, _, _ = inseparable(seed, fit_intercept, n_classes)
    assert separability(X, y, fit_intercept=fit_intercept).separable is False
    result = mistake_bound(X, y, fit_intercept=fit_intercept)
    assert result.theorem in ONE_PASS
    assert_follows(result, X, y, fit_intercept)
    assert result.bound <= len(y)
    for order in range(4):
        assert one_pass(X, y, fit_intercept, order) <= result.bound


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=SEEDS, fit_intercept=st.booleans(), scale=st.sampled_from([1.0, 0.125, 64.0]))
@property_test
def test_one_pass_by_a_given_hypothesis_that_does_not_separate(n_classes, seed, fit_intercept, scale):
    """The better of both theorems for its direction: at least as good as with the weights and any γ as given."""
    X, y, W, b = inseparable(seed, fit_intercept, n_classes)
    coef, intercept = (W[0], b[0]) if n_classes == 2 else (W, b)
    result = mistake_bound(X, y, fit_intercept=fit_intercept, coef=scale * coef, intercept=scale * intercept)
    assert result.theorem in ONE_PASS
    assert_follows(result, X, y, fit_intercept)
    assert result.bound <= len(y)
    assert one_pass(X, y, fit_intercept, 1) <= result.bound
    if result.theorem != "n":  # the hypothesis is the one given, at some scale
        ours, theirs = (
            np.r_[np.ravel(w), np.ravel(c)] for w, c in ((result.coef, result.intercept), (coef, intercept))
        )
        np.testing.assert_allclose(ours / np.linalg.norm(ours), theirs / np.linalg.norm(theirs), atol=1e-9)


def test_one_pass_by_a_hypothesis_that_does_not_separate_separable_rows():
    X, y, W, b = separable(2, True)
    assert verdict(X, y)
    result = mistake_bound(X, y, coef=-W[0], intercept=-b[0])
    assert result.theorem in ONE_PASS
    assert_follows(result, X, y, True)
    assert one_pass(X, y, True, 0) <= result.bound <= len(y)


@BIAS
def test_few_wrong_labels_cost_little(fit_intercept):
    """2,000 rows at a distance of 1, five of them on the wrong side: L = 10 for the weights (1, 0), R² = 3 or 2."""
    random = np.random.default_rng(0)
    X = np.column_stack([random.choice([-1.0, 1.0], size=2000), random.uniform(-1, 1, size=2000)])
    y = (X[:, 0] > 0).astype(int)
    y[::400] = 1 - y[::400]
    expected = float(naive_theory.gentile(X, y, [1.0, 0.0], 0.0, fit_intercept))
    result = mistake_bound(X, y, fit_intercept=fit_intercept)
    assert result.theorem in {"freund-schapire", "gentile"}
    assert_follows(result, X, y, fit_intercept)
    assert result.bound <= 1.2 * expected
    for order in range(3):
        assert one_pass(X, y, fit_intercept, order) <= result.bound
