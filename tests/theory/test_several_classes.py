"""Separability of several classes, of pairs of them, and of one class."""

from fractions import Fraction
from math import inf, sqrt

import numpy as np
import pytest
from naive_theory import sq_margin, verdict
from theory_cases import BIAS, assert_encloses, assert_proved, small

from perceptrons.theory import separability


@BIAS
@pytest.mark.parametrize("seed", range(4))
def test_the_largest_margin_of_several_classes(seed, fit_intercept):
    random = np.random.default_rng(seed)
    while True:
        X, y = random.integers(-4, 5, size=(4, 2)).astype(float), random.permutation([0, 1, 2, seed % 3])
        if verdict(X, y, fit_intercept):
            break
    result = separability(X, np.array(["x", "y", "z"])[y], fit_intercept=fit_intercept)
    assert result.separable is True
    assert result.coef.shape == (3, 2)
    assert np.shape(result.intercept) == (3,)
    assert list(result.classes) == ["x", "y", "z"]
    assert set(np.asarray(result.rivals).tolist()) <= {"x", "y", "z"}
    assert_proved(result, X, np.array(["x", "y", "z"])[y])
    assert_encloses(result, sq_margin(X, y, fit_intercept), 1e-6)


def test_three_corners_of_a_triangle():
    """Rows e_1, e_2, e_3: W = I − 1/3 is √2 long and has the scores 2/3 and −1/3, a margin of 1/√2."""
    result = separability(np.eye(3), [0, 1, 2])
    assert_proved(result, np.eye(3), [0, 1, 2])
    assert_encloses(result, Fraction(1, 2), 1e-6)
    np.testing.assert_allclose(result.coef, (np.eye(3) - 1 / 3) / sqrt(2), atol=1e-5)


def test_pairs_of_classes_may_be_separable_where_all_together_are_not():
    """The sides of a triangle, each prolonged past a corner: the lines between pairs would have to meet in a point."""
    X = np.array([[-6.0, 0.0], [29.0, 0.0], [33.0, -5.0], [16.0, 25.0], [18.0, 31.0], [1.0, 2.0]])
    y = np.array(["a", "a", "b", "b", "c", "c"])
    result = separability(X, y, pairwise=True)
    assert result.separable is verdict(X, y) is False
    assert_proved(result, X, y)
    assert list(result.pairs) == [("a", "b"), ("a", "c"), ("b", "c")]
    for pair, found in result.pairs.items():
        chosen = np.isin(y, pair)
        assert found.separable is True
        assert tuple(found.classes) == pair
        assert_encloses(found, sq_margin(X[chosen], y[chosen]), 1e-6)
    assert len(str(result).splitlines()) <= 20


@BIAS
def test_pairs_have_the_verdict_and_the_margin_of_their_own_rows(fit_intercept):
    random = np.random.default_rng(8)
    for _ in range(25):
        X, y = small(random, n_classes=3, most=9, d=2)
        result = separability(X, y, fit_intercept=fit_intercept, pairwise=True)
        assert sorted(result.pairs) == [(0, 1), (0, 2), (1, 2)]
        for (p, q), pair in result.pairs.items():
            chosen = np.flatnonzero(np.isin(y, [p, q]))
            assert pair.separable is verdict(X[chosen], y[chosen], fit_intercept)
            if pair.separable:
                assert_encloses(pair, sq_margin(X[chosen], y[chosen], fit_intercept))
        if result.separable:  # W separates p from q by w_p − w_q
            assert all(pair.separable for pair in result.pairs.values())


@BIAS
def test_one_class_is_separable_with_an_infinite_margin(fit_intercept):
    result = separability([[1.0, 2.0], [3.0, 4.0]], ["a", "a"], fit_intercept=fit_intercept)
    assert result.separable is True
    assert result.margin == inf
    assert result.check([[1.0, 2.0], [3.0, 4.0]], ["a", "a"]) is True
    assert list(result.classes) == ["a"]
    assert str(result).startswith("separable with")


def test_dates_as_labels():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    y = np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[ns]")[[0, 0, 1, 1, 2, 2]]
    result = separability(X, y, pairwise=True)
    assert result.check(X, y) and len(result.pairs) == 3
    assert "2020-01-01" in str(result)
