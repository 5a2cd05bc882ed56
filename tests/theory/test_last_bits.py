"""Verdicts that depend on the last bits of the rows, and limits on the time that they take."""

import numpy as np
import pytest
from naive_theory import exact, separable, separable_by_simplex, signed, sq_margin, verdict
from theory_cases import BIAS, assert_encloses, assert_proved, small

from perceptrons.data import as_rows
from perceptrons.solver import coordinates, faint, simplex
from perceptrons.solver.constraints import Constraints, Hypothesis
from perceptrons.solver.patience import OutOfTime, limited, step
from perceptrons.solver.proof import decide
from perceptrons.theory import mistake_bound, separability


def thin(n, d, rank, seed, *, n_classes=2, wrong=None):
    """Rows of low rank up to rounding. Labels are random, or those of a linear function apart from some wrong ones."""
    random = np.random.default_rng(seed)
    A, W = random.normal(size=(n, rank)), random.normal(size=(rank, n_classes))
    y = random.integers(0, n_classes, size=n)
    if wrong is not None:
        y = (A @ (W - W.mean(axis=1, keepdims=True))).argmax(axis=1)
        y[:wrong] = (y[:wrong] + 1) % n_classes
    return A @ random.normal(size=(rank, d)), y


def assert_decided(X, y, fit_intercept):
    """The verdict is that of the simplex method in fractions, and proved."""
    result = separability(X, y, fit_intercept=fit_intercept)
    assert result.separable is separable_by_simplex(signed(X, y, fit_intercept))
    assert_proved(result, X, y, floats=False)
    return result


def test_both_oracles_agree():
    random = np.random.default_rng(7)
    for _ in range(60):
        Z = signed(*small(random, most=7), fit_intercept=bool(random.integers(2)))
        assert separable_by_simplex(Z) is separable(Z)


@BIAS
@pytest.mark.parametrize("wrong", [None, 1])
def test_rows_of_rank_2_up_to_rounding(fit_intercept, wrong):
    seen = set()
    for seed in range(12):
        n = (9, 14, 40)[seed % 3]
        X, y = thin(n, 6, 2, seed, wrong=wrong)
        if len(set(y)) == 2:
            seen.add(assert_decided(X, y, fit_intercept).separable)
    assert seen == {True, False}


@BIAS
def test_float32_centred_rows_copies_of_columns_and_columns_that_others_determine(fit_intercept):
    X, y = thin(30, 5, 2, 0)
    kinds = np.eye(3)[np.arange(30) % 3]
    for Z in (
        X.astype(np.float32),
        X - X.mean(axis=0),
        np.column_stack([X, X]),
        np.column_stack([X[:, :2], kinds, kinds.sum(axis=1)]),
        np.column_stack([X, X[:, 0] + X[:, 1]]),
        X[:5],
    ):
        assert_decided(Z, y[: len(Z)], fit_intercept)


@BIAS
def test_the_largest_margin_of_the_last_bits(fit_intercept):
    """Of rows on a line, or of more features than rows."""
    separated = 0
    for seed in range(24):
        d = 3 + 4 * (seed % 2)
        X, y = thin(6, d, 1, seed)
        if len(set(y)) == 2 and verdict(X, y, fit_intercept):
            for scale in (1.0, 2.0**-400):
                result = separability(scale * X, y, fit_intercept=fit_intercept)
                assert_proved(result, scale * X, y, floats=False)
                assert_encloses(result, sq_margin(scale * X, y, fit_intercept), 1e-6)
            separated += result.margin < 1e-12 * scale
    assert separated > 5


@BIAS
def test_many_features_of_low_rank(fit_intercept):
    """Few wrong labels are separated by the last bits, random labels are not; the bounds on the margin are narrow."""
    for (X, y), expected in ((thin(200, 40, 6, 0, wrong=1), True), (thin(300, 40, 6, 1), False)):
        result = separability(X, y, fit_intercept=fit_intercept)
        assert result.separable is expected
        assert_proved(result, X, y, floats=False)
        if expected:
            low, high = result.margin_bounds
            assert high < 1e-12 and high <= (1 + 1e-6) * low
            bound = mistake_bound(X, y, fit_intercept=fit_intercept)
            assert bound.check(X, y) and bound.theorem == "novikoff"
        else:
            assert len(result.irreducible) == 41 + fit_intercept  # general position


@BIAS
def test_several_classes_of_low_rank(fit_intercept):
    for wrong in (None, 1):
        X, y = thin(20, 4, 2, 3, n_classes=3, wrong=wrong)
        assert_decided(X, y, fit_intercept)


@BIAS
def test_rows_of_very_different_size(fit_intercept):
    random = np.random.default_rng(150)
    seen = set()
    for k in range(16):
        X, y = thin(12, 3, 1 + k % 3, k, wrong=(k // 4) % 2 if k % 2 else None)
        X = X * 10.0 ** random.uniform(-150, 150, size=(12, 1))
        if len(set(y)) == 2:
            seen.add(assert_decided(X, y, fit_intercept).separable)
    assert seen == {True, False}


def test_many_rows_of_very_different_size_are_decided():
    random = np.random.default_rng(0)
    X, y = thin(150, 12, 12, 0)
    X *= 10.0 ** random.uniform(-150, 150, size=(150, 1))
    for labels in (y, (X @ np.ones(12) > 0).astype(int)):
        result = separability(X, labels)
        assert result.separable is not None and result.check(X, labels)


def test_a_view_of_some_rows_grows_until_it_decides_all(monkeypatch):
    X, y = thin(120, 20, 4, 5, wrong=1)
    constraints = Constraints(as_rows(X), y.astype(np.uint8), 2, True)
    first = constraints.choose(np.arange(2), 1 - y[:2])
    whole = decide(constraints)
    monkeypatch.setattr(coordinates, "SIZE", 21 * 30)
    answer = coordinates.decide(constraints, first)
    assert isinstance(whole, Hypothesis) and isinstance(answer[0], Hypothesis) and len(answer[1].at) < 120
    assert min(signed_margins(constraints, answer[0])) > 0


def signed_margins(constraints, hypothesis):
    from perceptrons.solver.exact import margins

    return margins(constraints, hypothesis, np.arange(len(constraints.rows)))[0]


def test_a_view_is_an_invertible_change_of_features():
    """table·back is what floats see, and back is invertible, also if columns are copies."""
    from flint import fmpz_mat

    X, y = thin(50, 7, 3, 2)
    X = np.column_stack([X, X[:, 0]])
    view = coordinates.view(Constraints(as_rows(X), y.astype(np.uint8), 2, True), np.arange(50))
    rows = coordinates.product(view.table, view.back)
    np.testing.assert_array_equal(np.ldexp(rows.astype(float), -view.bits), view.seen.rows.values)
    assert fmpz_mat(view.back.tolist()).det() != 0
    values = np.linalg.svd(view.seen.rows.values, compute_uv=False)
    assert (values > 1e-3 * values[0]).sum() == 8  # all but the copy, with the constant
    found = faint.widest(view, free=True)
    assert found is None or min(signed_margins(view.of, found[0])) > 0


@pytest.mark.parametrize("block", range(2))
def test_the_simplex_method_alone(block):
    random = np.random.default_rng(40 + block)
    for _ in range(60):
        X, y = small(random, n_classes=2 + block)
        X *= random.integers(8) > 0  # sometimes only zeros
        constraints = Constraints(as_rows(X), y.astype(np.uint8), 2 + block, bool(random.integers(2)))
        answer = simplex.decide(constraints, constraints.choose(np.arange(len(y)), (y + 1) % (2 + block)))
        Z = signed(X, y, constraints.bias)
        if isinstance(answer, Hypothesis):
            assert min(signed_margins(constraints, answer)) > 0
        else:
            chosen, weights = answer
            assert min(weights) > 0 and sum(weights) == 1
            assert not any(np.array(weights) @ exact(np.column_stack([chosen.A, chosen.B])))
        assert isinstance(answer, Hypothesis) is separable(Z)


def test_the_point_where_hulls_meet_is_right_over_the_whole_range_of_floats():
    random = np.random.default_rng(99)
    values = np.array([0.0, 5e-324, 1e-310, 1e-160, 1.0, 1e160, 1.79e308])
    for _ in range(60):
        X = random.choice(values, size=(10, 2)) * random.choice([-1.0, 1.0], size=(10, 2))
        y = np.r_[0, 1, random.integers(0, 2, size=8)]
        for fit_intercept in (True, False):
            assert separability(X, y, fit_intercept=fit_intercept).check(X, y)


def test_columns_that_are_independent_but_not_modulo_a_prime():
    """The determinant of these rows is 2^61 − 1."""
    X, y = np.array([[2.0**31, 1.0], [1.0, 2.0**30]]), np.array([1, 0])
    constraints = Constraints(as_rows(X), y.astype(np.uint8), 2, False)
    answer = simplex.decide(constraints, constraints.choose(np.arange(2), 1 - y))
    assert isinstance(answer, Hypothesis) and min(signed_margins(constraints, answer)) > 0
    assert assert_decided(X, y, False).separable


def test_unlucky_primes_prove_nothing_wrong(monkeypatch):
    X, y = np.array([[2.0**31, 1.0], [1.0, 2.0**30]]), np.array([1, 0])
    monkeypatch.setattr("perceptrons.solver.exact.PRIMES", (2**61 - 1,))
    constraints = Constraints(as_rows(X), y.astype(np.uint8), 2, False)
    assert simplex.decide(constraints, constraints.choose(np.arange(2), 1 - y)) is None


# -- limits on time ---------------------------------------------------------------------------------------------------


def test_what_is_open_when_time_is_over_stays_open():
    X, y = thin(40, 6, 2, 0)
    result = separability(X, y, time_limit=1e-9)
    assert result.separable is None and result.other is None
    assert "the time limit of 1e-09 s is over: allow more time" in result.reason and result.reason in str(result)
    with pytest.raises(ValueError, match="no verdict to check"):
        result.check(X, y)
    enough = separability(X, y, time_limit=1e6)
    assert enough.separable is separability(X, y).separable and enough.check(X, y)
    several = separability(X, np.arange(40) % 3, time_limit=1e-9, pairwise=True)
    assert several.separable is None and [pair.separable for pair in several.pairs.values()] == [None] * 3


@pytest.mark.parametrize("limit", [0, -1.0, float("nan")])
def test_a_time_limit_is_positive(limit):
    with pytest.raises(ValueError, match="time_limit must be a number of seconds > 0"):
        separability([[0.0], [1.0]], [0, 1], time_limit=limit)


def test_limits_nest_and_news_are_passed_on():
    news = []
    with limited(1e6, news.append):
        step("one")
        with limited(1e-9), pytest.raises(OutOfTime, match="1e-09 s"):
            step("two")
        with limited(1e-9), limited(1e6), pytest.raises(OutOfTime, match="1e-09 s"):
            step("three")
        step("four")
    step("five")
    assert news == ["one", "two", "three", "four"]


def test_a_bound_on_mistakes_needs_no_verdict():
    X, y = thin(40, 6, 2, 0, wrong=0)
    with limited(1e-9):
        bound = mistake_bound(X, y)
    assert bound.theorem != "novikoff" and bound.check(X, y)
    assert mistake_bound(X, y).theorem == "novikoff"


def test_a_verdict_that_is_proved_in_time_stays_even_if_the_rest_is_not():
    """Time runs out at each step in turn: what is proved by then is right."""

    class Stop:
        def __init__(self, after):
            self.left = after

        def __call__(self, doing):
            self.left -= 1
            if self.left < 0:
                raise OutOfTime("over")

    seen = set()
    for X, y in (thin(30, 8, 2, 0, wrong=1), thin(60, 6, 2, 1), thin(40, 5, 2, 4, n_classes=3)):
        expected = separability(X, y).separable
        for after in range(40):
            with limited(None, Stop(after)):
                result = separability(X, y)
            seen.add(result.separable)
            assert result.separable in (None, expected)
            if result.separable is not None:
                assert result.check(X, y)
    assert seen == {None, True, False}
