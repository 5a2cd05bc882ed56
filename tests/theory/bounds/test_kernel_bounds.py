"""Bounds on the mistakes of kernel perceptrons."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from kernel_theory_cases import gaussian, noisy, squares
from sklearn.metrics.pairwise import rbf_kernel
from theory_cases import BIAS, small

from perceptrons.theory import CertificateError, mistake_bound, separability


def kernel_perceptron(K, y, fit_intercept, order, passes):
    """Count the mistakes of the plain rule on α, from zeros, until a pass makes none or all passes are done."""
    n_classes = max(2, y.max() + 1)
    table, A, mistakes = K + fit_intercept, np.zeros((n_classes, len(y))), 0
    for _ in range(passes):
        before = mistakes
        for i in order:
            scores = A @ table[:, i]
            rival = max((r for r in range(n_classes) if r != y[i]), key=lambda r: scores[r])
            if scores[y[i]] <= scores[rival]:
                A[y[i], i] += 1
                A[rival, i] -= 1
                mistakes += 1
        if mistakes == before:
            break
    return mistakes


@BIAS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_novikoff_in_feature_space(n_classes, fit_intercept):
    for seed in range(4):
        K, y = gaussian(40, n_classes, seed=seed)
        result = mistake_bound(K=K, y=y, fit_intercept=fit_intercept)
        gamma = separability(K=K, y=y, fit_intercept=fit_intercept).augmented_margin
        R2 = (K.max() + fit_intercept) * (1 if n_classes == 2 else 2)
        assert result.theorem == "novikoff" and result.coef is None and result.check(K=K, y=y)
        assert result.bound == pytest.approx(R2 / gamma**2, rel=1e-6)
        order = np.random.default_rng(seed).permutation(len(y))
        assert kernel_perceptron(K, y, fit_intercept, order, 1000) <= result.bound


@BIAS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_pass_in_feature_space(n_classes, fit_intercept):
    """The same bounds as for explicit features, up to the search; never less than a perceptron does."""
    random = np.random.default_rng(1)
    for seed in range(3):
        X = random.integers(-3, 4, size=(60, 2)).astype(float)
        y = (X[:, 0] > 0) + (n_classes > 2) * (X[:, 1] > 0)
        y[:6] = (y[:6] + 1) % n_classes
        X, y = np.vstack([X, X[:1]]), np.r_[y, (y[0] + 1) % n_classes]
        Phi = squares(X)
        result = mistake_bound(K=Phi @ Phi.T, y=y, fit_intercept=fit_intercept)
        linear = mistake_bound(Phi, y, fit_intercept=fit_intercept)
        assert result.theorem in ("freund-schapire", "gentile", "n") and result.check(K=Phi @ Phi.T, y=y)
        assert result.bound == pytest.approx(linear.bound, rel=0.05)
        order = np.random.default_rng(seed).permutation(len(y))
        assert kernel_perceptron(Phi @ Phi.T, y, fit_intercept, order, 1) <= result.bound


def test_few_wrong_labels_cost_little():
    """Two far groups and a few points with two labels: far fewer mistakes than rows, and the formula is substituted."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2)) * 0.3 + np.where(np.arange(300) % 2, 2.0, -2.0)[:, np.newaxis]
    X, y = np.vstack([X, X[:2]]), np.r_[np.arange(300) % 2, 1, 0]
    K = rbf_kernel(X, gamma=0.1)
    result = mistake_bound(K=K, y=y)
    assert result.theorem != "n" and result.bound < 60
    scores = np.where(y == 1, 1, -1) * (K @ result.dual_coef + result.intercept)
    short, length = np.maximum(0, 1 - scores), result.dual_coef @ K @ result.dual_coef + result.intercept**2
    a, L, D = length, short.sum(), sqrt((short**2).sum())  # R² = 2
    expected = {"gentile": a + L + sqrt(2 * a * L + a * a), "freund-schapire": (sqrt(2 * length) + D) ** 2}
    assert result.bound == pytest.approx(expected[result.theorem], rel=1e-6)
    assert kernel_perceptron(K, y, True, np.arange(302), 1) <= result.bound
    for change in (
        {"bound": result.bound * 0.99},
        {"radius": result.radius * 0.99},
        {"margin": result.margin * 1.01},
        {"dual_coef": -result.dual_coef},
        {"intercept": result.intercept + 10},
        {"dual_coef": result.dual_coef[1:]},
        {"K_error": 1e-2},
        {"n_rows": 301},
        {"theorem": "novikoff"},
        {"coef": result.dual_coef},
    ):
        with pytest.raises(CertificateError):
            replace(result, **change).check(K=K, y=y)
    with pytest.raises(CertificateError, match="not rows X"):
        result.check(K, y)


@BIAS
def test_bounds_with_an_error_hold_for_the_true_kernel(fit_intercept):
    random = np.random.default_rng(7)
    for k in range(12):
        X, y = small(random, 2 + k % 2, most=12, d=2)
        Phi, error = squares(X), 1e-4
        truth, K = Phi @ Phi.T, noisy(Phi @ Phi.T, error, random)
        result, exact = (
            mistake_bound(K=t, y=y, fit_intercept=fit_intercept, K_error=e) for t, e in ((K, error), (truth, 0))
        )
        assert result.check(K=K, y=y)
        passes = 10**4 if result.theorem == "novikoff" else 1
        assert kernel_perceptron(truth, y, fit_intercept, range(len(y)), passes) <= result.bound
        if result.theorem == exact.theorem == "novikoff":
            assert result.bound >= exact.bound * (1 - 1e-9)


def test_all_points_zero():
    result = mistake_bound(K=np.zeros((4, 4)), y=[0, 1, 0, 1])
    assert (result.theorem, result.bound) == ("n", 4) and result.check(K=np.zeros((4, 4)), y=[0, 1, 0, 1])
