"""Verdicts on separability are those of exact arithmetic, and what proves them can be checked by anyone."""

from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from math import inf, isinf, nextafter, sqrt

import naive_theory
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_theory import separable, signed, sq_margin, verdict
from scipy import sparse
from scipy.linalg import hadamard

from perceptrons.theory import separability

SEEDS = st.integers(0, 10**6)
property_test = settings(max_examples=30, deadline=None)
BIAS = pytest.mark.parametrize("fit_intercept", [True, False])


# -- data ---------------------------------------------------------------------------------------------------------


def small(random, n_classes=2, most=8, d=3):
    """A few rows of small integers, so small that rows repeat, lie on lines and hulls touch."""
    n, d, size = random.integers(n_classes, most + 1), random.integers(1, d + 1), random.integers(1, 4)
    X = random.integers(-size, size + 1, size=(n, d)).astype(float)
    y = np.r_[range(n_classes), random.integers(0, n_classes, size=n - n_classes)]
    order = random.permutation(n)
    return X[order], y[order]


def separated(seed, fit_intercept, n_classes=2):
    """Small rows that can be separated."""
    random = np.random.default_rng(seed)
    while True:
        X, y = small(random, n_classes, most=n_classes + 4, d=2)
        if verdict(X, y, fit_intercept):
            return X, y


def slab(n, d, seed=0, across=9):
    """Integer rows of which the best margin is √d, by the first column of an orthogonal matrix of ±1.

    In the coordinates of that matrix all rows have a first coordinate of at least 1 on the side of their label, and
    (±1, 0, …, 0) is a row of either class.
    """
    random = np.random.default_rng(seed)
    S = random.integers(-across, across + 1, size=(n, d))
    S[:2] = 0
    y = np.r_[0, 1, random.integers(0, 2, size=n - 2)]
    S[:, 0] = np.where(y == 1, 1, -1) * np.r_[1, 1, random.integers(1, 9, size=n - 2)]
    return (S @ hadamard(d)).astype(float), y


def near_touching(seed, fit_intercept):
    """Rows in general position and one more, a rounded mean of some of them: hulls touch but for the rounding."""
    random = np.random.default_rng(seed)
    d = random.integers(1, 4)
    if fit_intercept:  # a simplex, and the middle of one of its faces
        X = random.normal(size=(d + 1, d)) * random.choice([1e-3, 1.0, 1e6])
        return np.vstack([X, X[:d].mean(axis=0)]), np.r_[np.zeros(d + 1, int), 1]
    X = random.normal(size=(d + 1, d + 1))  # a cone, and a ray in one of its faces
    return np.vstack([X, random.random(d) @ X[:d]]), np.r_[np.ones(d + 1, int), 0]


# -- proofs by substitution ---------------------------------------------------------------------------------------


def assert_proved(result, X, y, *, floats=True):
    """The certificate holds for the rows, by substitution of what the result shows, in exact arithmetic.

    Without `floats` the separator is not looked at as floats, which cannot show it.
    """
    assert result.check(X, y) is True
    assert all(isinstance(weight, Fraction) and weight > 0 for weight in result.weights)
    assert sum(result.weights) == 1
    rivals = None if result.rivals is None else np.asarray(result.rivals).tolist()
    point, bias = naive_theory.hull_point(X, y, np.asarray(result.support).tolist(), result.weights, rivals)
    assert not (result.fit_intercept and any(bias))
    if not result.separable:
        assert not any(point)
        return
    low, high = result.margin_bounds
    assert 0 < low <= result.margin <= high
    assert isinf(high) or naive_theory.dot(point, point) <= Fraction(high) ** 2
    if floats:
        assert np.linalg.norm(result.coef) == pytest.approx(1, rel=1e-12)
        assert result.fit_intercept or not np.any(result.intercept)
        least = min(naive_theory.scores(X, y, result.coef, result.intercept))
        assert least > 0
        assert least**2 >= Fraction(low) ** 2 * naive_theory.sq_length(result.coef)


def assert_encloses(result, square, width=None):
    """The enclosure holds γ, of which the square is given exactly, and is not wider than so much of it."""
    low, high = result.margin_bounds
    assert Fraction(low) ** 2 <= square
    assert isinf(high) or square <= Fraction(high) ** 2
    if width is not None:
        assert high - low <= width * low


def assert_irreducible(result, X, y):
    """The rows cannot be separated, and without any one of them they can; no more of them than needed."""
    rows = np.asarray(result.irreducible).tolist()
    assert len(set(rows)) == len(rows)
    classes = sorted(set(y.tolist()))
    fit_intercept = result.fit_intercept

    def possible(rows):
        return separable(signed(X[rows], y[rows], fit_intercept, classes)) if rows else True

    assert not possible(rows)
    assert all(possible([*rows[:k], *rows[k + 1 :]]) for k in range(len(rows)))
    if len(classes) == 2:
        assert len(rows) <= X.shape[1] + 1 + fit_intercept


def assert_right(X, y, fit_intercept, *, floats=True):
    """The verdict is the exact one, and proved."""
    result = separability(X, y, fit_intercept=fit_intercept)
    assert result.separable is verdict(X, y, fit_intercept)
    assert result.fit_intercept is fit_intercept
    assert_proved(result, X, y, floats=floats)
    if not result.separable:
        assert_irreducible(result, X, y)
    return result


# -- every verdict is the exact one -------------------------------------------------------------------------------


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


# -- cases with a known answer ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 1000.0, -7.0])
@pytest.mark.parametrize(("n", "d"), [(50, 1), (3000, 4), (2000, 16)])
def test_the_margin_of_a_slab_is_known(n, d, shift):
    X, y = slab(n, d)
    result = separability(X + shift, y)
    assert result.separable is True
    assert_encloses(result, Fraction(d), 1e-6)
    assert_proved(result, X + shift, y)
    expected = np.ones(d) / sqrt(d)  # the first column of the matrix
    np.testing.assert_allclose(result.coef, hadamard(d)[0] * expected, atol=1e-4)
    through = separability(X, y, fit_intercept=False)
    assert_encloses(through, Fraction(d), 1e-6)
    assert_proved(through, X, y)


def test_the_enclosure_is_narrow_far_from_the_origin():
    """γ/R = 2e-9: the rows of a slab of margin 2 are 1e9 away."""
    X, y = slab(400, 4)
    X += 5e8
    R = np.linalg.norm(X, axis=1).max()
    assert 1e-9 < 2 / R < 2.1e-9
    result = separability(X, y)
    assert_encloses(result, Fraction(4), 1e-6)
    assert_proved(result, X, y, floats=False)


def test_the_enclosure_is_narrow_where_the_slab_is_wide():
    """γ/R = 2e-9 through the origin and with a bias: the slab is as thin as that beside its other sides."""
    X, y = slab(400, 4, across=int(2.8e8))
    R = np.linalg.norm(X, axis=1).max()
    assert 1.5e-9 < 2 / R < 2.5e-9
    for fit_intercept in (True, False):
        result = separability(X, y, fit_intercept=fit_intercept)
        assert_encloses(result, Fraction(4), 1e-6)
        assert_proved(result, X, y, floats=False)


def test_the_enclosure_is_narrow_for_rows_with_all_their_digits():
    random = np.random.default_rng(1)
    X = random.normal(size=(500, 5))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    X[:, 0] += np.where(y == 1, 0.3, -0.3)
    X += 1e8
    result = separability(X, y)
    low, high = result.margin_bounds
    assert low > 0.2
    assert high - low <= 1e-6 * low
    assert_proved(result, X, y, floats=False)


@pytest.mark.parametrize("d", [1, 2, 6])
def test_barely_separable(d):
    """A margin of 1e-12, in the first column, beside columns of ordinary size."""
    random = np.random.default_rng(12)
    X = random.normal(size=(300, d))
    y = np.r_[0, 1, random.integers(0, 2, size=298)]
    X[:2] = 0
    X[:, 0] = np.where(y == 1, 1e-12, -1e-12) * np.r_[1, 1, 1 + random.random(298)]
    for fit_intercept in (True, False):
        result = separability(X, y, fit_intercept=fit_intercept)
        assert result.separable is True
        assert_encloses(result, Fraction(1e-12) ** 2)
        assert_proved(result, X, y, floats=False)
    X[0, 0] = 0.0  # and now it touches, without a bias
    assert separability(X, y, fit_intercept=False).separable is False
    X[1, 0] = 0.0
    assert separability(X, y).separable is False


def test_one_unit_in_the_last_place_separates():
    X, y = np.array([[1.0], [nextafter(1.0, 2)]]), [0, 1]
    result = separability(X, y)
    assert result.separable is True
    assert_encloses(result, Fraction(2) ** -106)
    assert_proved(result, X, y, floats=False)
    assert separability([[0.1 + 0.2], [0.3]], y).separable is True  # which are two numbers
    assert separability([[0.75], [0.25 + 0.5]], y).separable is False


@pytest.mark.parametrize(
    ("zeros", "ones"),
    [
        ([[0, 0], [2, 0]], [[1, 0], [1, 5]]),  # a vertex on an edge
        ([[0, 0], [4, 0], [0, 4]], [[2, 2], [9, 9]]),  # on a slanted one
        ([[0, 0], [2, 2]], [[0, 2], [2, 0]]),  # two edges cross
        ([[0, 0], [3, 0]], [[1, 0], [2, 0]]),  # one segment in the other
        ([[0, 0], [3, 0], [0, 3]], [[1, 1], [9, 9]]),  # a row inside
        ([[1, 1]], [[1, 1]]),  # a row with both labels
        ([[0, 0], [6, 0], [0, 6]], [[3, 0], [3, -1], [8, -5]]),
    ],
)
@pytest.mark.parametrize("scale", [1.0, 2.0**-40, 1e100])
def test_touching_hulls_are_not_separable(zeros, ones, scale):
    X = scale * np.array(zeros + ones, dtype=float)
    y = np.r_[np.zeros(len(zeros), int), np.ones(len(ones), int)]
    result = assert_right(X, y, fit_intercept=True)
    assert result.separable is False
    half = [weight for row, weight in zip(result.support, result.weights, strict=True) if y[row] == 1]
    assert sum(half) == Fraction(1, 2)
    meet = naive_theory.hull_point(X, y, [row for row in result.support if y[row] == 1], half)[0]
    np.testing.assert_allclose(result.point, [float(2 * v) for v in meet], rtol=1e-12, atol=1e-12 * scale)


def test_rows_with_both_labels_are_found_in_a_crowd():
    X, y = slab(1000, 4)
    X[17], y[17], X[33], y[33] = X[5], 0, X[5], 1
    for fit_intercept in (True, False):
        result = separability(X, y, fit_intercept=fit_intercept)
        assert result.separable is False
        assert_proved(result, X, y)
        assert_irreducible(result, X, y)


@pytest.mark.parametrize("n", [200, 2000])
def test_flipped_labels(n):
    """Enough rows with the wrong label cannot be separated, and a handful of rows shows it."""
    X, y = slab(n, 4)
    y[2::10] = 1 - y[2::10]
    for fit_intercept in (True, False):
        result = separability(X, y, fit_intercept=fit_intercept)
        assert result.separable is False
        assert_proved(result, X, y)
        assert_irreducible(result, X, y)


@given(seed=SEEDS, value=st.sampled_from([0.0, 1.0, -3.0]))
@property_test
def test_a_constant_column_does_what_a_bias_does(seed, value):
    X, y = small(np.random.default_rng(seed), most=6, d=2)
    Z = np.insert(X, 1, value, axis=1)
    with_bias, without = (assert_right(Z, y, fit_intercept) for fit_intercept in (True, False))
    assert with_bias.separable is verdict(X, y, True)
    assert without.separable is verdict(X, y, value != 0)


def test_all_columns_constant():
    X, y = np.full((4, 3), 2.5), [0, 0, 1, 1]
    for fit_intercept in (True, False):
        result = separability(X, y, fit_intercept=fit_intercept)
        assert result.separable is False
        assert_proved(result, X, y)
        assert len(result.irreducible) == 2
    zero = separability(np.array([[1.0, 2.0], [0.0, 0.0]]), [1, 0], fit_intercept=False)
    assert zero.separable is False  # no w has y·w·0 > 0
    assert list(zero.irreducible) == list(zero.support) == [1]
    assert zero.weights[0] == 1


@BIAS
@pytest.mark.parametrize("seed", range(5))
def test_more_columns_than_rows(seed, fit_intercept):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(5, 12)), np.array([0, 1, 1, 0, 1])
    result = assert_right(X, y, fit_intercept)
    assert result.separable is True
    assert_encloses(result, sq_margin(X, y, fit_intercept), 1e-6)


def test_many_more_columns_than_rows():
    X, y = np.random.default_rng(0).normal(size=(30, 1000)), np.arange(30) % 2
    result = separability(X, y)
    assert_proved(result, X, y)
    assert result.margin_bounds[1] - result.margin_bounds[0] <= 1e-6 * result.margin


def test_one_row_of_either_class():
    """The margin is half the distance, the boundary half way, and both rows define it."""
    X, y = np.array([[1.0, 2.0], [4.0, 6.0]]), [0, 1]
    result = assert_right(X, np.array(y), True)
    assert_encloses(result, Fraction(25, 4), 1e-6)
    np.testing.assert_allclose(result.coef, [0.6, 0.8], rtol=1e-6)
    assert result.intercept == pytest.approx(-4.7, rel=1e-6)
    assert sorted(result.support) == [0, 1]
    assert list(result.weights) == [Fraction(1, 2), Fraction(1, 2)]


@BIAS
def test_support_rows_are_those_at_the_margin(fit_intercept):
    """Rows away from the margin have no part in it, and the support alone has the same margin."""
    X, y = slab(500, 4)
    result = separability(X, y, fit_intercept=fit_intercept)
    rows = sorted(set(np.asarray(result.support).tolist()))
    distance = np.where(y == 1, 1, -1) * (X @ result.coef + result.intercept)
    assert distance[rows].max() <= result.margin * (1 + 1e-3)
    if len(set(y[rows])) == 2:
        assert_encloses(separability(X[rows], y[rows], fit_intercept=fit_intercept), Fraction(4), 2e-6)


def test_the_augmented_margin_is_another_number():
    """Rows 1 and 3: the margin is 1, the boundary at 2; the hull of (−1, −1) and (3, 1) has (1, −2)/5 nearest."""
    X, y = np.array([[1.0], [3.0]]), [0, 1]
    result = separability(X, y)
    assert_encloses(result, Fraction(1), 1e-6)
    assert result.augmented_margin == pytest.approx(sqrt(0.2), rel=1e-6)
    assert Fraction(result.augmented_margin) ** 2 <= Fraction(1, 5)


@given(seed=SEEDS)
@property_test
def test_the_augmented_margin_is_that_of_rows_with_the_constant(seed):
    """Attained by the separator that comes with it, so that Novikoff's bound holds with it."""
    X, y = separated(seed, True)
    result = separability(X, y)
    rows = np.column_stack([X, np.ones(len(X))])
    square = sq_margin(rows, y, False)
    assert Fraction(result.augmented_margin) ** 2 <= square
    assert result.augmented_margin == pytest.approx(sqrt(square), rel=1e-6)


# -- several classes, and one -------------------------------------------------------------------------------------


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


# -- what does not matter, and what only grows or falls -----------------------------------------------------------


def assert_same_margin(one, other, factor=1.0):
    """Two enclosures of one number have points in common."""
    assert one.margin_bounds[0] * factor <= other.margin_bounds[1]
    assert other.margin_bounds[0] <= one.margin_bounds[1] * factor
    assert other.margin == pytest.approx(one.margin * factor, rel=1e-6)


@given(seed=SEEDS, fit_intercept=st.booleans(), k=st.sampled_from([-300, -60, -1, 3, 60, 300]))
@property_test
def test_scaling_all_rows_scales_the_margin(seed, fit_intercept, k):
    X, y = separated(seed, fit_intercept)
    one, scaled = (separability(Z, y, fit_intercept=fit_intercept) for Z in (X, 2.0**k * X))
    assert_same_margin(one, scaled, 2.0**k)
    assert scaled.check(2.0**k * X, y) is True


@given(seed=SEEDS, shift=st.sampled_from([1.0, -50.0, 2.0**20]))
@property_test
def test_with_a_bias_moving_all_rows_moves_no_margin(seed, shift):
    X, y = separated(seed, True)
    moved = X + shift * np.arange(1, X.shape[1] + 1)
    assert_same_margin(separability(X, y), separability(moved, y))


@given(seed=SEEDS, fit_intercept=st.booleans(), n_classes=st.sampled_from([2, 3]))
@property_test
def test_repeated_and_reordered_rows_change_nothing(seed, fit_intercept, n_classes):
    random = np.random.default_rng(seed)
    X, y = separated(seed, fit_intercept, n_classes)
    rows = random.permutation(np.r_[np.arange(len(y)), random.integers(0, len(y), size=5)])
    assert_same_margin(*(separability(X[r], y[r], fit_intercept=fit_intercept) for r in (slice(None), rows)))


@given(seed=SEEDS, fit_intercept=st.booleans())
@property_test
def test_more_rows_never_have_a_larger_margin(seed, fit_intercept):
    """And what cannot be separated never can be with more rows."""
    X, y = small(np.random.default_rng(seed), most=8, d=2)
    margin = inf
    for n in range(1, len(y) + 1):
        if len(set(y[:n].tolist())) < 2:
            continue
        result = separability(X[:n], y[:n], fit_intercept=fit_intercept)
        margin = margin if result.separable else 0.0
        assert result.separable is (margin > 0)
        if result.separable:
            assert result.margin_bounds[0] <= margin
            margin = result.margin_bounds[1]


@given(seed=SEEDS, fit_intercept=st.booleans())
@property_test
def test_turning_labels_round_keeps_the_margin(seed, fit_intercept):
    X, y = separated(seed, fit_intercept)
    one, turned = (separability(X, labels, fit_intercept=fit_intercept) for labels in (y, 1 - y))
    assert_same_margin(one, turned)
    np.testing.assert_allclose(turned.coef, -one.coef, atol=1e-4)


# -- layouts and types --------------------------------------------------------------------------------------------


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
    """As rationals: neither rounded again nor less sharply looked at than the same numbers in double."""
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


# -- check --------------------------------------------------------------------------------------------------------


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


MANY = pytest.mark.parametrize("n_classes", [2, 3])


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
    """Rows 1, 2 and 3 of three classes, of which none can do without a bias."""
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


# -- the result and its report ------------------------------------------------------------------------------------


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


# -- what is wrong is said ----------------------------------------------------------------------------------------


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


# -- limits -------------------------------------------------------------------------------------------------------


def test_what_exact_arithmetic_cannot_reach_is_undecided(monkeypatch):
    """Rows that only their rounding separates, or not: floats cannot tell."""
    random = np.random.default_rng(0)
    X = random.normal(size=(12, 4)) @ random.normal(size=(4, 5))
    y = np.arange(12) % 2
    decided = [separability(X, y, fit_intercept=bias).separable for bias in (True, False)]
    monkeypatch.setattr("perceptrons.theory.solver.simplex.REACH", 0)
    monkeypatch.setattr("perceptrons.theory.solver.proof.exact.contradiction", lambda chosen, weights: None)
    result = separability([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert result.separable is None and result.other is None
    assert "takes too long" in result.reason and "undecided with a bias" in str(result)
    with pytest.raises(ValueError, match="no verdict to check"):
        result.check([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert None not in decided


def test_rows_that_all_lie_at_a_small_margin_are_worked_out_together():
    """Float passes cannot tell which of them is nearest."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, size=3000)
    X = np.column_stack([random.integers(-9, 9, size=(3000, 3)), 2 * y - 1]) * 1.0
    X[:, 3] *= 1e-10
    result = separability(X, y)
    low, high = result.margin_bounds
    assert low <= 1e-10 <= high <= low * (1 + 1e-6)


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


def test_dates_as_labels():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    y = np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[ns]")[[0, 0, 1, 1, 2, 2]]
    result = separability(X, y, pairwise=True)
    assert result.check(X, y) and len(result.pairs) == 3
    assert "2020-01-01" in str(result)


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
