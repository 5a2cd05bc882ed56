"""What separability takes and gives: layouts, types, labels, reports and errors."""

from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from naive_theory import verdict
from scipy import sparse
from theory_cases import (
    BIAS,
    assert_encloses,
    assert_proved,
    assert_right,
    assert_same_margin,
    near_touching,
    slab,
    small,
)

from perceptrons import Perceptron
from perceptrons.theory import separability


@pytest.mark.parametrize("layout", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
def test_sparse_equals_dense(layout):
    random = np.random.default_rng(4)
    for k in range(20):
        X, y = small(random, n_classes=2 + k % 2, most=7, d=3)
        for fit_intercept in (True, False):
            dense, other = (separability(Z, y, fit_intercept=fit_intercept) for Z in (X, layout(X)))
            assert dense.separable is other.separable is verdict(X, y, fit_intercept)
            assert dense.check(layout(X), y) is other.check(X, y) is other.check(layout(X), y) is True
            assert_proved(other, X, y)
            if dense.separable:
                assert_same_margin(dense, other)


def test_sparse_rows_with_explicit_zeros_and_empty_ones():
    X = sparse.csr_matrix(([0.0, 1.0, 2.0, 0.0], [0, 1, 0, 1], [0, 2, 2, 4]), shape=(3, 2))
    for fit_intercept in (True, False):
        result = assert_right(X.toarray(), np.array([0, 1, 0]), fit_intercept)
        assert separability(X, [0, 1, 0], fit_intercept=fit_intercept).separable is result.separable


@BIAS
def test_float32_rows_are_taken_at_their_value(fit_intercept):
    """float32 rows are not rounded again, and have the verdict of the same numbers in float64."""
    random = np.random.default_rng(32)
    seen = set()
    for seed in range(30):
        X, y = near_touching(seed, fit_intercept)
        X = X.astype(np.float32)
        result = separability(X, y, fit_intercept=fit_intercept)
        double = separability(X.astype(float), y, fit_intercept=fit_intercept)
        assert result.separable is double.separable is verdict(X, y, fit_intercept)
        assert_proved(result, X, y, floats=False)
        seen.add(result.separable)
    assert seen == {True, False}
    X = random.normal(size=(200, 5)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += np.where(y == 1, 0.25, -0.25).astype(np.float32)
    result = separability(X, y, fit_intercept=fit_intercept)
    assert_proved(result, X, y)
    assert result.margin_bounds[1] - result.margin_bounds[0] <= 1e-6 * result.margin


def test_rows_may_be_read_only_in_any_order_or_on_disk(tmp_path):
    X, y = slab(200, 4)
    np.save(tmp_path / "rows.npy", X)
    y.flags.writeable = False
    frozen = X.copy()
    frozen.flags.writeable = False
    layouts = [
        frozen,
        np.load(tmp_path / "rows.npy", mmap_mode="r"),
        np.asfortranarray(X),
        np.repeat(X, 2, axis=1)[:, ::2],
        X.astype(int),
        X.tolist(),
    ]
    for rows in layouts:
        result = separability(rows, y)
        assert_encloses(result, Fraction(4), 1e-6)
        assert result.check(rows, y) is True
    np.testing.assert_array_equal(frozen, slab(200, 4)[0])
    np.testing.assert_array_equal(np.load(tmp_path / "rows.npy"), X)


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [False, True], [-1.0, 1.0]])
def test_labels_are_whatever_the_user_has(labels):
    X, y = slab(100, 4)
    named = np.array(labels)[y]
    result = separability(X, named)
    assert list(result.classes) == labels
    assert ((X @ result.coef + result.intercept > 0) == (y == 1)).all()
    assert result.check(X, named) is True


def test_a_result_cannot_be_changed():
    result = separability([[0.0], [1.0]], [0, 1])
    with pytest.raises(FrozenInstanceError):
        result.separable = False


def test_the_report_is_short_and_says_what_the_bias_is_worth():
    """Rows 1 and 2 need the bias, rows −1 and 1 do not, equal rows are lost in any case."""
    for rows, with_bias, without in (([1, 2], True, False), ([-1, 1], True, True), ([1, 1], False, False)):
        X = np.array(rows, dtype=float)[:, None]
        for fit_intercept, own, other in ((True, with_bias, without), (False, without, with_bias)):
            result = separability(X, [0, 1], fit_intercept=fit_intercept)
            assert result.separable is own
            assert result.other is other
            text = str(result)
            assert 2 <= len(text.splitlines()) <= 15
            assert "separable" in text
            assert "bias" in text
            assert text.lower().count("not separable") == (not own) + (not other)
            if own:
                assert "margin" in text


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.array([[0.0, 1], [2, 3], [4, np.nan], [6, 7]]), [0, 1, 0, 1], "NaN at row 2, column 1"),
        (sparse.csr_matrix(np.array([[0.0, 1], [2, 3], [np.inf, 5]])), [0, 1, 0], "row 2, column 0"),
        (np.eye(3), [0, 1], r"\[3, 2\]"),
        (np.eye(3), [0, 1, np.nan], "NaN at row 2"),
        (np.eye(3), None, "needs the labels y"),
        ([[2**53], [2**53 + 1]], [0, 1], "integers beyond 2"),
        (np.ones(3), [0, 1, 0], "2D"),
        (np.empty((0, 3)), [], "0 sample"),
        (np.eye(3), np.eye(3), "1d|y should be"),
    ],
)
def test_bad_input(X, y, message):
    with pytest.raises(ValueError, match=message):
        separability(X, y)


def test_numbers_that_floats_cannot_hold_are_refused():
    for X in (np.array([[2**70], [2**70 + 1]], dtype=object), np.array([[1], [1 + np.longdouble(2) ** -60]])):
        with pytest.raises(ValueError, match="X has numbers that float64 cannot hold exactly"):
            separability(X, [0, 1])
    assert separability(np.array([[2**70], [2**71]], dtype=object), [0, 1]).separable
    with pytest.raises(ValueError, match="time_limit must be a number of seconds"):
        separability([[1.0], [2.0]], [0, 1], time_limit="soon")


def test_the_report_shows_the_margin_that_tol_is_about():
    X, y = [[1000.0], [1001.0], [1010.0], [1011.0]], [0, 0, 1, 1]
    result = separability(X, y)
    share = result.augmented_margin / np.hypot(1011, 1)
    assert share < 1e-5 and f"or {share:.3g} of R with the constant 1" in str(result)
    assert not Perceptron().fit(X, y).converged_ and Perceptron().fit(np.array(X) - 1005.5, y).converged_
