"""Kernel matrices with errors, and those that separability refuses."""

from fractions import Fraction

import numpy as np
import pytest
from kernel_theory_cases import assert_proved, gaussian, noisy
from naive_theory import sq_margin
from sklearn.metrics.pairwise import sigmoid_kernel
from theory_cases import BIAS, small

from perceptrons.theory import CertificateError, mistake_bound, separability

GOOD = {"K": np.eye(3), "y": [0, 1, 1]}


@BIAS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_is_said_with_an_error_holds_for_every_matrix_within_it(n_classes, fit_intercept):
    """K is off by up to ε from integers; what is said of K is checked on the true points."""
    random = np.random.default_rng(5)
    seen = set()
    for k in range(40):
        X, y = small(random, n_classes, most=7, d=3)
        error = 10.0 ** random.integers(-9, 0)
        K = noisy(X @ X.T, error, random)
        result = separability(K=K, y=y, fit_intercept=fit_intercept, K_error=error)
        seen.add(result.separable)
        assert result.separable in (True, None)  # never False
        if not result.separable:
            with pytest.raises(CertificateError, match="no verdict"):
                result.check(K=K, y=y)
            continue
        assert result.check(K=K, y=y)
        assert_proved(result, X, y)
        if k % 4 == 0 and n_classes == 2:
            low, high = result.margin_bounds
            assert Fraction(low) ** 2 <= sq_margin(X, y, fit_intercept) <= Fraction(high) ** 2
    assert seen == {True, None}


def test_a_larger_error_proves_less():
    K, y = gaussian(50)
    results = [separability(K=K, y=y, K_error=error) for error in (0.0, 1e-12, 1e-6, 1e-3, 0.1)]
    assert [result.separable for result in results] == [True, True, True, True, None]
    lows, highs = zip(*(result.margin_bounds for result in results[:4]), strict=True)
    assert sorted(lows, reverse=True) == list(lows) and sorted(highs) == list(highs)
    assert "nothing is proved to separate" in results[4].reason
    assert "within 1e-06 of K" in str(results[2])


def test_copies_are_open_with_an_error():
    """Two points with the same inner products need not be the same if these are not exact."""
    K = np.ones((2, 2))
    assert separability(K=K, y=[0, 1]).separable is False
    assert separability(K=K, y=[0, 1], K_error=1e-15).separable is None


def test_what_hangs_on_rounding_is_left_open():
    """K = XXᵀ of more rows than columns, rounded: of full rank by nothing but that."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(100, 3)), np.arange(100) % 2
    result = separability(K=X @ X.T, y=y)
    assert result.separable is None and "rounding" in result.reason
    assert "undecided with a bias" in str(result)


def test_the_upper_triangle_counts_where_rounding_made_a_difference():
    K, y = gaussian(30)
    skew = K + np.tril(np.full_like(K, 1e-14), -1)
    assert separability(K=skew, y=y).margin_bounds == separability(K=K, y=y).margin_bounds


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.eye(3)}, "either rows X or their kernel matrix K, got both"),
        ({"K": None}, "either rows X or their kernel matrix K, got none"),
        ({"K": np.ones((3, 2))}, r"square.*\(3, 2\)"),
        ({"K": np.array([[1, 0, 0], [0, 1, np.nan], [0, np.nan, 1]])}, "NaN at row 1, column 2"),
        ({"K": np.array([[1, 0, 0], [0, 1, 0.5], [0, 0.25, 1]])}, "0.5 at row 1, column 2 and 0.25 at row 2, column 1"),
        ({"K": np.diag([1.0, -1.0, 1.0])}, "-1 at row 1, column 1"),
        ({"K": np.array([[1.0, 2, 0], [2, 1, 0], [0, 0, 1]])}, "semi-definite: it has the eigenvalue -1[.] So"),
        ({"K": np.full((3, 3), 2**60)}, r"K has integers beyond 2\^53"),
        ({"y": [0, 1]}, r"\[3, 2\]"),
        ({"y": None}, "labels y"),
        ({"K_error": -1.0}, "K_error"),
        ({"K_error": np.nan}, "K_error"),
        ({"K": None, "X": np.eye(3), "K_error": 1.0}, "K_error"),
    ],
)
def test_what_is_wrong_is_said(change, message):
    for function in (separability, mistake_bound):
        with pytest.raises(ValueError, match=message):
            function(**(GOOD | change))


def test_kernels_that_are_not_semi_definite_are_refused():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(40, 3)), np.arange(40) % 2
    with pytest.raises(ValueError, match="Use another kernel"):
        separability(K=sigmoid_kernel(X, gamma=1.0, coef0=-1.0) + 2.0, y=y)
    with pytest.raises(ValueError, match="coef is a hypothesis about rows"):
        mistake_bound(K=np.eye(3), y=[0, 1, 1], coef=[1.0, 2.0, 3.0])
