"""A certificate passes its check for its own rows, and nothing that is changed passes."""

from dataclasses import replace
from fractions import Fraction
from math import inf, nextafter

import numpy as np
import pytest
from theory_cases import BIAS, separated, slab

from perceptrons.theory import separability

MANY = pytest.mark.parametrize("n_classes", [2, 3])


def with_multipliers(result, multipliers):
    support, rivals, weights = zip(*multipliers, strict=True)
    return replace(result, support=np.array(support), rivals=np.array(rivals), weights=list(weights))


def refuses(result, X, y):
    with pytest.raises(ValueError) as error:
        result.check(X, y)
    assert str(error.value)


@BIAS
@pytest.mark.parametrize("separable", [True, False])
def test_check_refuses_other_data(separable, fit_intercept):
    X, y = slab(60, 4)
    if not separable:
        X[20:40] = -X[20:40]
    result = separability(X, y, fit_intercept=fit_intercept)
    assert result.separable is separable
    assert result.check(X, y) is True
    refuses(result, X, 1 - y if separable else np.where(np.isin(range(60), result.support[:1]), 1 - y, y))
    refuses(result, X[:, :3], y)
    refuses(result, np.column_stack([X, X]), y)
    refuses(result, X[:10], y)
    refuses(result, X, y[:10])
    refuses(result, X + np.arange(60)[:, None] % 7 * 1e3, y)
    refuses(result, X, np.array(["a", "b"])[y])
    refuses(result, X, np.r_[y[:-1], 2])
    refuses(result, X[:0], y[:0])
    broken = X.copy()
    broken[3, 1] = np.nan
    refuses(result, broken, y)


@BIAS
def test_check_notices_one_row_across_the_boundary(fit_intercept):
    X, y = slab(300, 4)
    result = separability(X, y, fit_intercept=fit_intercept)
    for row in (0, 150, 299):
        moved = X.copy()
        moved[row] = -3 * moved[row]
        refuses(result, moved, y)
        flipped = y.copy()
        flipped[row] = 1 - y[row]
        refuses(result, X, flipped)


def test_check_notices_one_unit_in_the_last_place():
    above = nextafter(1.0, 2)
    y = [0, 1]
    result = separability([[1.0], [above]], y)
    refuses(result, [[above], [above]], y)
    refuses(result, [[1.0], [1.0]], y)
    refuses(result, [[above], [1.0]], y)
    touching = separability([[1.0], [1.0]], y)
    refuses(touching, [[1.0], [above]], y)
    refuses(touching, [[above], [1.0]], y)
    X, y = np.array([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0], [1.0, 3.0]]), [0, 0, 1, 1]
    touching = separability(X, y)
    assert touching.separable is False
    X[2, 1] = above
    refuses(touching, X, y)
    assert separability(X, y).separable is True


def tampered(n_classes, fit_intercept):
    """Verdicts of either kind beside their rows."""
    X, y = separated(11, fit_intercept, n_classes)
    Z = np.array([[1.0, 1.0], [3.0, 1.0], [4.0, 2.0], [2.0, 1.0], [2.0, 5.0], [-1.0, -3.0], [-2.0, -5.0]])
    z = np.array([0, 0, 0, 1, 1, n_classes - 1, n_classes - 1])
    results = [separability(*data, fit_intercept=fit_intercept) for data in ((X, y), (Z, z))]
    assert [result.separable for result in results] == [True, False]
    return (results[0], X, y), (results[1], Z, z)


@BIAS
@MANY
@pytest.mark.parametrize("kind", [0, 1])
def test_check_refuses_the_other_verdict(kind, n_classes, fit_intercept):
    result, X, y = tampered(n_classes, fit_intercept)[kind]
    assert result.check(X, y) is True
    refuses(replace(result, separable=not result.separable), X, y)


@BIAS
@MANY
def test_check_refuses_bounds_that_are_not_proved(n_classes, fit_intercept):
    (result, X, y), _ = tampered(n_classes, fit_intercept)
    low, high = result.margin_bounds
    for bounds in (
        (nextafter(high, inf), 2 * high),  # no separator has more
        (low / 2, 0.99 * low),  # no point of the hull is nearer
        (low * 1.01, high * 1.02),
    ):
        refuses(replace(result, margin_bounds=bounds), X, y)


@BIAS
@MANY
def test_check_refuses_a_separator_that_is_none(n_classes, fit_intercept):
    (result, X, y), _ = tampered(n_classes, fit_intercept)
    lines = result.certificate.separator
    for separator in (
        [[-v for v in line] for line in lines],
        [[0 * v for v in line] for line in lines],
        [line[:-1] for line in lines],
        [[*line[:-1], line[-1] + 10 * (k + 1)] for k, line in enumerate(lines)],
    ):
        refuses(replace(result, certificate=replace(result.certificate, separator=separator)), X, y)


@MANY
def test_check_refuses_a_separator_with_an_offset_for_one_through_the_origin(n_classes):
    """Rows 1, 2 and 3 of three classes cannot be separated without a bias."""
    X, y = np.arange(1.0, n_classes + 1)[:, None], np.arange(n_classes)
    result = separability(X, y)
    assert (result.separable, result.other) == (True, False)
    refuses(replace(result, fit_intercept=False), X, y)


@BIAS
@MANY
def test_check_refuses_multipliers_that_do_not_balance(n_classes, fit_intercept):
    """Nor such as are negative or do not sum to 1."""
    tiny = Fraction(1, 10**30)
    for result, X, y in tampered(n_classes, fit_intercept):
        multipliers = list(zip(result.support, result.rivals, result.weights, strict=True))
        (row, rival, weight), *rest = multipliers
        changes = [
            [(row, rival, 2 * weight), *((i, r, 2 * v) for i, r, v in rest)],
            [(row, rival, -weight), *((i, r, -v) for i, r, v in rest)],
            [(row, rival, weight - tiny), *rest],
            rest,
            [*multipliers, (row, rival, tiny), (row, rival, -tiny)],
        ]
        if n_classes > 2:
            changes.append([(row, y[row], weight), *rest])  # against its own class
        for change in changes:
            refuses(with_multipliers(result, change), X, y)


@BIAS
@MANY
def test_check_refuses_multipliers_of_rows_that_are_not_there(n_classes, fit_intercept):
    for result, X, y in tampered(n_classes, fit_intercept):
        (row, rival, weight), *rest = zip(result.support, result.rivals, result.weights, strict=True)
        for other in (row + len(y), row - len(y)):
            refuses(with_multipliers(result, [(other, rival, weight), *rest]), X, y)


@BIAS
@MANY
def test_check_refuses_to_vouch_for_what_its_certificate_does_not_say(n_classes, fit_intercept):
    """Rows, weights and separator are shown beside the certificate: they are to be the same."""
    one, two = tampered(n_classes, fit_intercept)
    for result, X, y in (one, two):
        for change in (
            {"weights": [2 * weight for weight in result.weights]},
            {"weights": [-weight for weight in result.weights]},
            {"weights": list(result.weights)[:-1]},
            {"support": (result.support + 1) % len(y)},
            {"support": result.support + len(y)},
        ):
            refuses(replace(result, **change), X, y)
    result, X, y = one
    low, high = result.margin_bounds
    for change in (
        {"coef": -result.coef},
        {"coef": 0 * result.coef},
        {"margin": 2 * high},
        {"margin_bounds": (low, -high)},
    ):
        refuses(replace(result, **change), X, y)
    result, X, y = two
    if n_classes == 2:
        refuses(replace(result, irreducible=result.irreducible[:-1]), X, y)


@pytest.mark.parametrize("change", [{"radius": 0.1}, {"point": np.array([9.0, 9.0])}])
def test_check_refuses_another_radius_or_point(change):
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 1, 1, 0]
    refuses(replace(separability(X, y), **change), X, y)


def test_check_refuses_rows_that_can_be_left_out():
    """Two contradictions at once are no irreducible one, although they balance."""
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), [0, 1, 0, 1]
    result = separability(X, y)
    assert len(result.irreducible) == 2
    every = replace(
        result,
        support=np.arange(4),
        irreducible=np.arange(4),
        rivals=np.array([1, 0, 1, 0]),
        weights=[Fraction(1, 4)] * 4,
        point=np.array([0.5]),
    )
    with pytest.raises(ValueError, match="can be left out"):
        every.check(X, y)


def test_check_refuses_multipliers_that_forget_the_bias():
    """Σ λ·y·x = 0 alone excludes separators through the origin only."""
    X, y = np.array([[0.0], [10.0]]), [0, 1]
    forged = replace(
        separability(X, y),
        separable=False,
        support=np.array([0]),
        rivals=np.array([1]),
        weights=[Fraction(1)],
        irreducible=np.array([0]),
        point=np.zeros(1),
    )
    with pytest.raises(ValueError, match="do not balance"):
        forged.check(X, y)
