"""Verdicts and margins on kernel matrices are those of the points of the feature space."""

from fractions import Fraction
from math import inf, sqrt

import numpy as np
import pytest
from kernel_theory_cases import XOR, assert_right, gaussian, squares
from naive_theory import sq_margin, verdict
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.svm import SVC
from theory_cases import BIAS, small

from perceptrons.theory import mistake_bound, separability


@BIAS
def test_the_linear_kernel_is_the_linear_problem(fit_intercept):
    """On small integers, where K = XXᵀ is exact; degenerate very often, and of lower rank than rows."""
    random = np.random.default_rng(0)
    seen = set()
    for k in range(60):
        X, y = small(random)
        result = assert_right(X, y, fit_intercept)
        seen.add(result.separable)
        if result.separable and k % 2 == 0:
            low, high = result.margin_bounds
            assert Fraction(low) ** 2 <= sq_margin(X, y, fit_intercept) <= Fraction(high) ** 2
    assert seen == {True, False}


@BIAS
def test_the_linear_kernel_of_several_classes(fit_intercept):
    random = np.random.default_rng(1)
    for _ in range(20):
        X, y = small(random, n_classes=random.integers(3, 5), most=7, d=2)
        assert_right(X, y, fit_intercept)


@BIAS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_polynomial_kernel_is_its_explicit_features(n_classes, fit_intercept):
    random = np.random.default_rng(2)
    for _ in range(20):
        X, y = small(random, n_classes, most=9, d=2)
        Phi = squares(X)
        np.testing.assert_array_equal(Phi @ Phi.T, polynomial_kernel(X, degree=2, gamma=1, coef0=1))
        assert_right(Phi, y, fit_intercept)


@BIAS
def test_irreducible_rows(fit_intercept):
    """They cannot be separated, and without any one of them they can."""
    random = np.random.default_rng(3)
    found = 0
    while found < 15:
        X, y = small(random, most=10, d=2)
        result = separability(K=X @ X.T, y=y, fit_intercept=fit_intercept)
        if result.separable:
            continue
        found += 1
        rows = result.irreducible.tolist()
        assert sorted(rows) == sorted(set(rows)) == sorted(result.support.tolist())
        assert not verdict(X[rows], y[rows], fit_intercept, [0, 1])
        for k in range(len(rows)):
            fewer = [*rows[:k], *rows[k + 1 :]]
            assert not fewer or verdict(X[fewer], y[fewer], fit_intercept, [0, 1])


def test_exclusive_or_takes_the_square():
    X, y = XOR
    assert separability(K=X @ X.T, y=y).separable is False
    result = assert_right(squares(X), y, True)
    assert result.margin == pytest.approx(sqrt(3 / 32))
    text = str(result)
    assert text.startswith("separable with a bias, separable without one, in the kernel's feature space (4 rows, 2 c")
    assert "suppose that K is positive semi-definite" in text


@BIAS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_distinct_points_are_separable_by_the_gaussian_kernel_and_copies_are_not(n_classes, fit_intercept):
    K, y = gaussian(60, n_classes)
    result = separability(K=K, y=y, fit_intercept=fit_intercept)
    low, high = result.margin_bounds
    assert result.separable is result.other is True
    assert high - low <= 1e-9 * low
    assert result.check(K=K, y=y)
    at = np.r_[:60, 7]
    copied, labels = K[np.ix_(at, at)], np.r_[y, (y[7] + 1) % n_classes]
    never = separability(K=copied, y=labels, fit_intercept=fit_intercept)
    assert never.separable is never.other is False
    assert set(never.irreducible.tolist()) == {7, 60}
    assert never.check(K=copied, y=labels)
    same = separability(K=copied, y=np.r_[y, y[7]], fit_intercept=fit_intercept)
    assert same.separable is True and same.margin == pytest.approx(result.margin, rel=1e-9)


def test_the_margin_is_that_of_a_support_vector_machine():
    K, y = gaussian(150, gamma=0.5)
    result = separability(K=K, y=y)
    machine = SVC(kernel="precomputed", C=1e10, tol=1e-10).fit(K, y)
    alpha = machine.dual_coef_[0]
    length = sqrt(alpha @ K[np.ix_(machine.support_, machine.support_)] @ alpha)
    assert result.margin == pytest.approx(1 / length, rel=1e-4)
    assert result.support.tolist() == sorted(machine.support_.tolist())
    shown = np.zeros(150)
    shown[machine.support_] = alpha / length
    np.testing.assert_allclose(result.dual_coef, shown, atol=1e-4 * np.abs(shown).max())
    assert result.intercept == pytest.approx(machine.intercept_[0] / length, abs=1e-6)


def test_the_enclosure_is_narrow():
    """Also with a margin of 2e-4 of R, and where directions are lost to rounding."""
    for gamma, width in ((1.0, 1e-9), (0.1, 1e-7)):
        K, y = gaussian(500, gamma=gamma, d=5)
        result = separability(K=K, y=np.random.default_rng(0).permutation(y))
        low, high = result.margin_bounds
        assert result.separable and high - low <= width * low


def test_the_augmented_margin_is_that_of_the_kernel_plus_one():
    K, y = gaussian(40)
    one, other = separability(K=K, y=y), separability(K=K + 1, y=y, fit_intercept=False)
    assert one.augmented_margin == pytest.approx(other.margin, rel=1e-9)
    assert one.augmented_margin <= other.margin_bounds[1]


def test_points_of_length_zero():
    """φ(x) = 0 scores b: without a bias it is on no side."""
    K, y = np.zeros((3, 3)), [0, 1, 1]
    for fit_intercept in (True, False):
        result = separability(K=K, y=y, fit_intercept=fit_intercept)
        assert result.separable is False and result.radius == 0 and result.check(K=K, y=y)
    K = np.diag([0.0, 1.0, 1.0])
    assert separability(K=K, y=y).separable is True
    zero = separability(K=K, y=y, fit_intercept=False)
    assert zero.separable is False and zero.irreducible.tolist() == [0] and zero.other is True
    assert_right(np.array([[0.0, 0], [1, 0], [0, 1]]), np.array(y), True)


def test_two_points():
    """Half the distance, and without a bias the distance from 0 to the segment of y·φ."""
    K = np.array([[5.0, 2.0], [2.0, 8.0]])
    assert separability(K=K, y=[0, 1]).margin == pytest.approx(1.5)
    through = separability(K=K, y=["no", "yes"], fit_intercept=False)
    assert through.margin == pytest.approx(sqrt((40 - 4) / 17))
    assert through.rivals.tolist() == ["yes", "no"]
    assert separability(K=np.array([[1.0, 2.0], [2.0, 4.0]]), y=[0, 1], fit_intercept=False).separable is False


def test_one_class_has_nothing_to_separate():
    result = separability(K=np.eye(3), y=[1, 1, 1])
    assert result.separable is True and result.margin_bounds == (inf, inf) and result.check(K=np.eye(3), y=[1, 1, 1])
    with pytest.raises(ValueError, match="two classes"):
        mistake_bound(K=np.eye(3), y=[1, 1, 1])


@pytest.mark.parametrize("scale", [2.0**-600, 1e-30, 1e30, 2.0**600])
def test_the_scale_of_a_kernel_scales_margins(scale):
    K, y = gaussian(20)
    one, other = (separability(K=table, y=y, fit_intercept=False) for table in (K, scale * K))
    assert other.margin == pytest.approx(one.margin * sqrt(scale), rel=1e-9)
    assert other.check(K=scale * K, y=y)
