"""Kernel matrices with known feature spaces, and proofs of verdicts by substitution."""

from fractions import Fraction

import naive_theory
import numpy as np
import pytest
from naive_theory import verdict
from sklearn.metrics.pairwise import rbf_kernel

from perceptrons.theory import KernelSeparability, separability

XOR = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])


def squares(X):
    """Features whose inner products are (1 + x·x′)² = 1 + x·x′ + x·x′ + (x⊗x)·(x′⊗x′), all of them integers."""
    return np.column_stack([np.ones(len(X)), X, X, np.einsum("ni,nj->nij", X, X).reshape(len(X), -1)])


def gaussian(n, n_classes=2, seed=0, gamma=1.0, d=4):
    random = np.random.default_rng(seed)
    K = rbf_kernel(random.normal(size=(n, d)), gamma=gamma)
    return np.maximum(K, K.T), np.arange(n) % n_classes  # BLAS may round K_ij and K_ji in two ways


def noisy(K, error, random):
    """A symmetric matrix nowhere farther from K than the error."""
    noise = random.uniform(-error, error, size=K.shape) * 0.999
    return K + np.triu(noise) + np.triu(noise, 1).T


def assert_proved(result, Phi, y):
    """What the result shows holds for explicit points Φ with K = ΦΦᵀ, in exact arithmetic."""
    assert all(isinstance(weight, Fraction) and weight > 0 for weight in result.weights)
    assert sum(result.weights) == 1
    point, bias = naive_theory.hull_point(
        Phi, y, result.support.tolist(), result.weights, np.asarray(result.rivals).tolist()
    )
    assert not (result.fit_intercept and any(bias))
    assert Fraction(result.radius) ** 2 >= max(naive_theory.dot(x, x) for x in naive_theory.exact(Phi))
    if not result.separable:
        assert not any(point)
        return
    low, high = result.margin_bounds
    assert 0 < low == result.margin <= high
    assert naive_theory.dot(point, point) <= Fraction(high) ** 2
    points = np.array(naive_theory.exact(Phi), dtype=object)
    for dual_coef, intercept, margin, counts in (
        (result.dual_coef, result.intercept, low, False),
        (result.augmented_dual_coef, result.augmented_intercept, result.augmented_margin, True),
    ):
        alpha = np.array(naive_theory.exact(np.atleast_2d(dual_coef)), dtype=object)
        W = alpha @ points  # w = Σ α φ(x)
        assert result.fit_intercept or not np.any(intercept)
        least = min(naive_theory.scores(Phi, y, W, intercept))
        square = naive_theory.sq_length(W, intercept if counts else 0.0)
        assert least > 0 and least**2 >= Fraction(margin) ** 2 * square
        assert result.K_error or abs(square - 1) < 1e-9 or dual_coef.dtype == object


def assert_right(Phi, y, fit_intercept, width=1e-6):
    """The verdict on K = ΦΦᵀ is the exact one on Φ, and the largest margin of Φ is enclosed."""
    K = Phi @ Phi.T
    result = separability(K=K, y=y, fit_intercept=fit_intercept)
    assert isinstance(result, KernelSeparability)
    assert result.separable is verdict(Phi, y, fit_intercept)
    assert result.other is verdict(Phi, y, not fit_intercept)
    assert result.check(K=K, y=y) is True
    assert_proved(result, Phi, y)
    if result.separable:
        linear = separability(Phi, y, fit_intercept=fit_intercept)
        low, high = result.margin_bounds
        assert low <= linear.margin_bounds[1] and linear.margin_bounds[0] <= high
        assert high - low <= width * low
        assert result.augmented_margin == pytest.approx(linear.augmented_margin, rel=1e-6)
    return result
