"""Bounds on mistakes: what check refuses, layouts, reports and errors."""

from dataclasses import replace
from math import inf, isfinite

import numpy as np
import pytest
from bound_cases import assert_follows, inseparable, separable
from scipy import sparse
from theory_cases import BIAS

from perceptrons import Perceptron
from perceptrons.theory import mistake_bound


@BIAS
@pytest.mark.parametrize("make", [separable, inseparable])
def test_check_refuses_other_rows(make, fit_intercept):
    X, y, _, _ = make(4, fit_intercept, n=60)
    result = mistake_bound(X, y, fit_intercept=fit_intercept)
    assert result.check(X, y) is True
    for rows, labels in ((100.0 * X + 1e3, y), (X[:, 1:], y), (X, y[:-1])):
        with pytest.raises(ValueError):
            result.check(rows, labels)
    if make is separable:
        with pytest.raises(ValueError):
            result.check(X, 1 - y)


@BIAS
@pytest.mark.parametrize("make", [separable, inseparable])
def test_check_refuses_less_than_the_theorem_says(make, fit_intercept):
    """Nor a hypothesis that says something else."""
    X, y, _, _ = make(4, fit_intercept, n=60)
    result = mistake_bound(X, y, fit_intercept=fit_intercept)
    for change in ({"bound": result.bound - 1}, {"bound": result.bound / 2}, {"bound": float("nan")}):
        with pytest.raises(ValueError):
            replace(result, **change).check(X, y)
    if result.theorem != "n":
        with pytest.raises(ValueError):
            replace(result, coef=-result.coef, intercept=-result.intercept).check(X, y)


@BIAS
@pytest.mark.parametrize("make", [separable, inseparable])
def test_check_refuses_rows_with_more_columns(make, fit_intercept):
    X, y, _, _ = make(4, fit_intercept, n=60)
    with pytest.raises(ValueError):
        mistake_bound(X, y, fit_intercept=fit_intercept).check(np.column_stack([X, X]), y)


@BIAS
@pytest.mark.parametrize("make", [separable, inseparable])
def test_check_refuses_what_the_bound_is_not_made_of(make, fit_intercept):
    X, y, _, _ = make(4, fit_intercept, n=60)
    result = mistake_bound(X, y, fit_intercept=fit_intercept)
    changes = [{"theorem": "none", "bound": 0.0}, {"radius": result.radius / 2}]
    if result.theorem != "n":
        changes.append({"margin": 2 * result.margin})
    for change in changes:
        with pytest.raises(ValueError):
            replace(result, **change).check(X, y)


def test_a_bound_beyond_all_floats_is_infinite():
    """R/γ = 1e200."""
    X, y = np.array([[1.0, 1e-200], [1.0, -1e-200]]), [1, 0]
    result = mistake_bound(X, y, fit_intercept=False)
    assert result.bound == inf
    assert result.check(X, y) is True
    assert "beyond all floats" in str(result)


@BIAS
def test_sparse_equals_dense_and_float32_equals_double(fit_intercept):
    for make in (separable, inseparable):
        X, y, _, _ = make(6, fit_intercept)
        dense = mistake_bound(X, y, fit_intercept=fit_intercept)
        for rows in (sparse.csr_matrix(X), X.astype(np.float32)):
            result = mistake_bound(rows, y, fit_intercept=fit_intercept)
            assert_follows(result, rows, y, fit_intercept)
            assert result.bound == pytest.approx(dense.bound, rel=1e-3, abs=1)
            assert result.radius == pytest.approx(dense.radius, rel=1e-12)


def test_rows_may_be_read_only():
    X, y, _, _ = separable(6, True)
    before = X.copy()
    X.flags.writeable = y.flags.writeable = False
    assert isfinite(mistake_bound(X, y).bound)
    np.testing.assert_array_equal(X, before)


def test_the_report_names_the_theorem_and_the_bound():
    X, y = np.eye(4), [0, 1, 0, 1]
    text = str(mistake_bound(X, y, fit_intercept=False))
    assert text.startswith("at most 4 mistakes in any number of passes (4 rows)\n  Novikoff 1962: (R·‖w‖/γ)² updates")


def test_the_report_of_several_classes_can_be_substituted():
    """Two weight vectors move at once, so R² counts twice."""
    X, y = np.eye(3), [0, 1, 2]
    result = mistake_bound(X, y, fit_intercept=False)
    assert "(√2·R·‖w‖/γ)²" in str(result)
    assert result.bound == pytest.approx(2 * result.radius**2 / result.margin**2)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]),
        ([[-1, -1], [-1, 1], [1, -1], [1, 1]], [0, 1, 1, 0]),
        ([[1, 2], [1, 2]], [0, 1]),
        ([[0, 0], [0, 0]], [0, 1]),
    ],
)
def test_where_no_weights_are_better_than_none_the_bound_is_the_number_of_rows(X, y):
    for fit_intercept in (True, False):
        result = mistake_bound(X, y, fit_intercept=fit_intercept)
        assert (result.theorem, result.bound) == ("n", len(X)) and result.check(X, y)
        assert f"at most {len(X)} mistakes in one pass" in str(result)


def test_a_model_in_place_of_coef():
    X, y, _, _ = separable(4, True, n=60)
    model = Perceptron().fit(X, y)
    one = mistake_bound(X, y, coef=model)
    two = mistake_bound(X, y, coef=model.coef_, intercept=model.intercept_)
    assert one.bound == two.bound and model.n_updates_ <= one.bound
    with pytest.raises(ValueError, match="its own intercept"):
        mistake_bound(X, y, coef=model, intercept=1.0)


GOOD = {"X": np.array([[0.0, 1.0], [2.0, 3.0], [5.0, -1.0]]), "y": [0, 1, 1]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.array([[0.0, 1.0], [2.0, np.nan], [5.0, -1.0]])}, "NaN at row 1, column 1"),
        ({"y": [0, 1]}, r"\[3, 2\]"),
        ({"coef": [1.0, 2.0, 3.0]}, "coef"),
        ({"coef": np.ones((3, 2))}, "coef"),
        ({"coef": [1.0, np.nan]}, "coef"),
        ({"coef": [1.0, 2.0], "intercept": [1.0, 2.0]}, "intercept"),
        ({"coef": [1.0, 2.0], "intercept": 1.0, "fit_intercept": False}, "intercept"),
        ({"intercept": 1.0}, "coef"),
    ],
)
def test_what_is_wrong_is_said(change, message):
    with pytest.raises(ValueError, match=message):
        mistake_bound(**(GOOD | change))


def test_one_class_has_no_bound():
    """With one class nothing can be learned: `fit` says so too."""
    with pytest.raises(ValueError, match="class"):
        mistake_bound(GOOD["X"], [1, 1, 1])
