"""Bounds for other rules than the plain one: no run makes more mistakes, and they follow from their hypothesis."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from bound_cases import inseparable, separable
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_runs import RULES, classes_for, counted, each_rule, facts
from sklearn.exceptions import ConvergenceWarning
from theory_cases import SEEDS

from perceptrons import Perceptron
from perceptrons.rules import ALMA, AROW, PA, PA1, PA2, ROMMA, SOP, Margin
from perceptrons.theory import mistake_bound
from perceptrons.theory.theorems import BOUNDS, HOLDS, any_passes, counts_updates

# -- runs -----------------------------------------------------------------------------------------------------------


@each_rule
@given(seed=SEEDS, fit_intercept=st.booleans())
@settings(max_examples=6, deadline=None)
def test_separable_rows_in_any_number_of_passes(rule, seed, fit_intercept):
    X, y, _, _ = separable(seed, fit_intercept, classes_for(rule, seed))
    result = mistake_bound(X, y, fit_intercept=fit_intercept, rule=rule)
    if any_passes(HOLDS[type(rule)][0]):
        assert any_passes(result.theorem)
    else:
        assert result.bound <= len(y)
    assert result.rule == rule and result.check(X, y) is True
    for order in range(2):
        rows = np.random.default_rng(order).permutation(len(y))
        assert counted(rule, result.theorem, X[rows], y[rows], fit_intercept, 15) <= result.bound


@each_rule
@given(seed=SEEDS, fit_intercept=st.booleans())
@settings(max_examples=3, deadline=None)
def test_one_pass_over_any_rows(rule, seed, fit_intercept):
    X, y, _, _ = inseparable(seed, fit_intercept, classes_for(rule, seed))
    result = mistake_bound(X, y, fit_intercept=fit_intercept, rule=rule)
    assert not any_passes(result.theorem)
    assert result.bound <= len(y) and result.check(X, y) is True
    for order in range(4):
        rows = np.random.default_rng(order).permutation(len(y))
        assert counted(rule, result.theorem, X[rows], y[rows], fit_intercept, 1) <= result.bound


@pytest.mark.parametrize(
    "rule", [Margin(0.5), PA1(0.3), PA2(0.3), ROMMA(), ALMA(), AROW(1.0, "full"), SOP(1.0, "full")], ids=str
)
@pytest.mark.parametrize("make", [separable, inseparable])
def test_the_estimator_makes_no_more_mistakes(rule, make):
    for seed in range(3):
        X, y, _, _ = make(seed, True, n=60)
        result = mistake_bound(X, y, rule=rule)
        passes = 30 if any_passes(result.theorem) else 1
        model = Perceptron(rule=rule, tol=None, max_iter=passes, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        assert (model.n_updates_ if counts_updates(rule) else model.n_mistakes_) <= result.bound


OF_THEIR_OWN = [rule for rule in RULES if HOLDS[type(rule)][0] in BOUNDS]


@pytest.mark.parametrize("rule", OF_THEIR_OWN, ids=str)
def test_the_theorem_holds_for_every_hypothesis(rule):
    """Climb from tiny integer rows and hypotheses to those where mistakes come nearest to the bound: never beyond."""
    random = np.random.default_rng(7)
    for start in range(6):
        n_classes, fit_intercept = classes_for(rule, start), start % 3 == 0
        n, d = int(random.integers(n_classes, 9)), int(random.integers(1, 4))
        X = random.integers(-2, 3, size=(n, d)).astype(float)
        W = random.integers(-2, 3, size=(1 if n_classes == 2 else n_classes, d + fit_intercept))
        y, scale, best = np.arange(n) % n_classes, Fraction(1, 2), Fraction(0)
        for _ in range(25):
            change = random.integers(4)
            trial = [X.copy(), y.copy(), W.copy(), scale]
            if change == 0:
                trial[0][random.integers(n), random.integers(d)] += random.choice([-1, 1])
            elif change == 1:
                trial[1][random.integers(n)] = random.integers(n_classes)
            elif change == 2:
                trial[2][random.integers(len(W)), random.integers(d + fit_intercept)] += random.choice([-1, 1])
            else:
                trial[3] = scale * random.choice([Fraction(1, 2), Fraction(4, 5), Fraction(3, 2)])
            if len(set(trial[1].tolist())) < n_classes or not trial[2].any():
                continue
            ratio = most_of_bound(rule, *trial, fit_intercept)
            if ratio >= best:
                (X, y, W, scale), best = trial, ratio


def most_of_bound(rule, X, y, W, scale, fit_intercept):
    """The share of the bounds that is reached; at most 1, or the theorem is wrong."""
    about = facts(X, y, [[int(v) * scale for v in line] for line in W], fit_intercept)
    shares = [0.0]
    for theorem in HOLDS[type(rule)]:
        bound = BOUNDS[theorem](rule, about)
        if bound is not None and not (any_passes(theorem) and min(about.margins) <= 0):
            made = counted(rule, theorem, X, y, fit_intercept, 12)
            assert made <= bound, (theorem, made, float(bound))
            shares.append(float(made / bound) if bound and bound < len(y) else 0.0)
    return max(shares)


def test_a_row_of_zeros_is_a_mistake_that_moves_nothing():
    """Every rule makes a mistake there in each pass; the bounds for one pass count it."""
    X, y = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [2.0, 1.0]]), np.array([1, 0, 1, 0, 1])
    for rule in (PA(), PA1(0.03), PA2(1.0), ALMA(), AROW(1.0, "full"), SOP(1.0, "full")):
        result = mistake_bound(X, y, fit_intercept=False, rule=rule)
        assert counted(rule, result.theorem, X, y, False, 1) <= result.bound <= len(y)
        assert result.check(X, y) is True


@pytest.mark.parametrize("rule", [Margin(1.0), PA(), PA1(0.3), PA2(0.3)], ids=str)
@pytest.mark.parametrize("make", [separable, inseparable])
def test_a_linear_kernel_has_the_bound_of_the_rows(rule, make):
    X, y, _, _ = make(5, False)
    one = mistake_bound(X, y, rule=rule, fit_intercept=False)
    two = mistake_bound(K=X @ X.T, y=y, rule=rule, fit_intercept=False)
    assert two.check(K=X @ X.T, y=y) is True
    assert two.theorem == one.theorem and two.bound == pytest.approx(one.bound, rel=0.05)
    assert counted(rule, two.theorem, X, y, False, 10) <= two.bound
