"""Every verdict on separability is that of exact arithmetic, and is proved."""

import numpy as np
import pytest
from naive_theory import sq_margin, verdict
from theory_cases import BIAS, assert_encloses, assert_irreducible, assert_proved, assert_right, near_touching, small

from perceptrons.theory import separability


@pytest.mark.parametrize("block", range(6))
def test_gordan_on_small_integers(block):
    """Exactly one of the two certificates exists. 1,200 problems with and without a bias, degenerate very often."""
    random = np.random.default_rng(block)
    for k in range(200):
        X, y = small(random)
        results = {fit_intercept: assert_right(X, y, fit_intercept) for fit_intercept in (True, False)}
        for fit_intercept, result in results.items():
            assert result.other is results[not fit_intercept].separable
            if result.separable and k % 4 == 0:
                R = max(np.linalg.norm(X, axis=1).max(), 1e-300)
                assert_encloses(result, sq_margin(X, y, fit_intercept), 1e-6 if result.margin / R >= 1e-9 else None)
        if results[False].separable:
            assert results[True].separable
            assert results[True].margin_bounds[1] >= results[False].margin_bounds[0]


@pytest.mark.parametrize("block", range(2))
def test_gordan_on_small_integers_of_several_classes(block):
    random = np.random.default_rng(100 + block)
    for _ in range(75):
        X, y = small(random, n_classes=random.integers(3, 5), most=7, d=2)
        for fit_intercept in (True, False):
            result = separability(X, y, fit_intercept=fit_intercept)
            assert result.separable is verdict(X, y, fit_intercept)
            assert_proved(result, X, y)
            if not result.separable:
                assert_irreducible(result, X, y)


@BIAS
def test_verdicts_where_hulls_touch_but_for_the_rounding(fit_intercept):
    seen = set()
    for seed in range(80):
        X, y = near_touching(seed, fit_intercept)
        result = assert_right(X, y, fit_intercept, floats=False)
        seen.add(result.separable)
        if result.separable:
            assert_encloses(result, sq_margin(X, y, fit_intercept))
    assert seen == {True, False}


@BIAS
def test_verdicts_on_integers_up_to_2_to_the_53(fit_intercept):
    random = np.random.default_rng(53)
    for k in range(40):
        d = random.integers(1, 4)
        X = random.integers(-(2**52), 2**52 + 1, size=(d + 1, d))
        middle = X[:2].sum(axis=0) // 2 + random.integers(-1, 2, size=d)
        X = 2 * np.vstack([X, middle]) if k % 2 else np.vstack([X, middle])
        assert np.abs(X).max() <= 2**53
        y = np.r_[np.zeros(d + 1, int), 1]
        result = assert_right(X.astype(float), y, fit_intercept, floats=False)
        if result.separable:
            assert_encloses(result, sq_margin(X, y, fit_intercept))
        assert separability(X, y, fit_intercept=fit_intercept).separable is result.separable


@BIAS
def test_verdicts_on_columns_scaled_by_1e150_up_and_down(fit_intercept):
    """A power of two changes no verdict; any other number rounds, and the verdict is that of the rounded rows."""
    random = np.random.default_rng(150)
    for _ in range(40):
        X, y = small(random, d=3)
        expected = verdict(X, y, fit_intercept)
        for scales in ([2.0**498, 1.0, 2.0**-498], [1e150, 1e-150, 1.0], [1e-150, 1e-150, 1e-150]):
            Z = X * scales[: X.shape[1]]
            result = assert_right(Z, y, fit_intercept, floats=False)
            assert result.separable is expected or scales[0] != 2.0**498
            if result.separable:
                assert_encloses(result, sq_margin(Z, y, fit_intercept))


@BIAS
def test_verdicts_over_the_whole_range_of_floats(fit_intercept):
    """From the smallest subnormal to the largest float in one problem."""
    random = np.random.default_rng(324)
    values = np.array([0.0, 5e-324, 1e-310, 1.0, 1e160, 1.7976931348623157e308])
    for _ in range(40):
        n, d = random.integers(2, 7), random.integers(1, 3)
        X = random.choice(values, size=(n, d)) * random.choice([-1.0, 1.0], size=(n, d))
        y = np.r_[0, 1, random.integers(0, 2, size=n - 2)]
        result = separability(X, y, fit_intercept=fit_intercept)
        assert result.separable is verdict(X, y, fit_intercept)
        assert result.check(X, y) is True
        if not result.separable:
            assert_irreducible(result, X, y)


def test_what_exact_arithmetic_cannot_reach_is_undecided(monkeypatch):
    """With limits of 0, exact arithmetic reaches nothing."""
    monkeypatch.setattr("perceptrons.solver.coordinates.VIEWS", 0)
    monkeypatch.setattr("perceptrons.solver.simplex.REACH", 0)
    monkeypatch.setattr("perceptrons.solver.proof.exact.contradiction", lambda chosen, weights: None)
    result = separability([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert result.separable is None and result.other is None
    assert "takes too long" in result.reason and "undecided with a bias" in str(result)
    with pytest.raises(ValueError, match="no verdict to check"):
        result.check([[0.0], [1.0], [2.0]], [0, 1, 0])


def test_a_row_of_zeros_excludes_separators_through_the_origin_at_once():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 5))
    y = (X @ random.normal(size=5) + 0.3 > 0).astype(int)
    X[0], y[0] = 0.0, 1
    result = separability(X, y, fit_intercept=False)
    assert result.separable is False and result.other is separability(X, y).separable is True


@pytest.mark.parametrize("value", [1.5e-323, 1e-315, 1e-200, 1e200])
def test_one_row_a_class_at_any_scale(value):
    X = np.array([[0.0], [value]])
    result = separability(X, [0, 1])
    assert result.check(X, [0, 1]) and result.coef.tolist() == [1.0]


def test_a_bias_beyond_all_floats():
    X = np.array([[1.7e308] * 4, [0.85e308] * 4])
    result = separability(X, [1, 0])
    assert result.separable and result.check(X, [1, 0]) and str(result)


def test_independent_rows_are_separable_however_nearly_they_are_not():
    random = np.random.default_rng(0)
    X = random.normal(size=(12, 2)) @ random.normal(size=(2, 30))
    y = np.arange(12) % 2
    result = separability(X, y)
    assert result.separable and result.check(X, y)


def test_threads_share_the_hold_on_blas():
    from threading import Thread

    from threadpoolctl import threadpool_info

    before = [library["num_threads"] for library in threadpool_info()]
    X, y = np.random.default_rng(0).normal(size=(500, 5)), np.arange(500) % 2
    threads = [Thread(target=separability, args=(X, y)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [library["num_threads"] for library in threadpool_info()][: len(before)] == before
