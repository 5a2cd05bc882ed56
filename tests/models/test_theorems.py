"""What is proved about perceptrons holds for these: bounds on mistakes, when training ends, and the margin bound."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from theorem_cases import RULES, SEEDS, learned, margins, noisy, property_test, separable, weights
from training_cases import textbook

from perceptrons.rules import Margin

# -- bounds on mistakes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=SEEDS, fit_intercept=st.booleans(), order=st.integers(0, 100))
@property_test
def test_novikoff(n_classes, seed, fit_intercept, order):
    """At most R²‖w*‖²/γ² updates (several classes: 2R²), in any order, over all passes; then no mistake is left."""
    problem = separable(seed, fit_intercept, n_classes)
    bound = (problem.reach / problem.gamma) ** 2
    model = textbook(fit_intercept=fit_intercept, tol=None, shuffle=order > 0, random_state=order)
    model.fit(problem.X, problem.y)
    assert model.converged_
    assert model.n_updates_ == model.n_mistakes_ == model.mistakes_.sum() <= bound * (1 + 1e-12)
    assert (margins(weights(model), problem.rows, problem.y) > 0).all()
    assert model.score(problem.X, problem.y) == 1

    random = np.random.default_rng(order)
    stream = textbook(fit_intercept=fit_intercept)
    for _ in range(50):
        rows = random.permutation(len(problem.y))
        stream.partial_fit(problem.X[rows], problem.y[rows], classes=range(n_classes))
    assert stream.n_updates_ <= bound * (1 + 1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=SEEDS, fit_intercept=st.booleans(), beta=st.sampled_from([0.0, 1.0, 7.0]))
@property_test
def test_both_halves_of_the_proof(n_classes, seed, fit_intercept, beta):
    """After k updates w*·w ≥ k·γ for w* of unit length, and ‖w‖² ≤ k(R² + 2β)."""
    problem = separable(seed, fit_intercept, n_classes)
    unit = problem.separator / np.linalg.norm(problem.separator)
    model = textbook(rule=Margin(beta=beta), fit_intercept=fit_intercept)
    for i in range(len(problem.y)):
        model.partial_fit(problem.X[i : i + 1], problem.y[i : i + 1], classes=range(n_classes))
        k, w = model.n_updates_, weights(model)
        assert (unit * w).sum() >= k * problem.gamma - 1e-9
        assert (w**2).sum() <= k * (problem.reach**2 + 2 * beta) + 1e-9


@given(seed=SEEDS, gamma=st.floats(0.01, 10), wrong_by=st.floats(0, 1))
@property_test
def test_one_pass_over_inseparable_data(seed, gamma, wrong_by):
    """Freund & Schapire 1999 for any unit u and γ > 0, and Gentile for any w: none is exceeded in one pass."""
    problem = noisy(seed, n=60)
    mistakes = learned(problem).n_mistakes_
    random = np.random.default_rng(seed)
    u = problem.separator / np.linalg.norm(problem.separator) + wrong_by * random.normal(size=problem.separator.shape)
    R = problem.radius

    unit = u / np.linalg.norm(u)
    D = np.linalg.norm(np.maximum(0, gamma - margins(unit, problem.rows, problem.y)))
    assert mistakes <= ((R + D) / gamma) ** 2 + 1e-9

    w = u / gamma
    L = np.maximum(0, 1 - margins(w, problem.rows, problem.y)).sum()
    size = R**2 * (w**2).sum()
    assert mistakes <= size / 2 + L + sqrt(size * L + (size / 2) ** 2) + 1e-9
    assert mistakes <= len(problem.y)


# -- when training ends -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", RULES)
@given(seed=SEEDS, fit_intercept=st.booleans(), init=st.sampled_from(["zeros", "random"]))
@property_test
def test_data_of_margin_tol_are_separated(rule, n_classes, seed, fit_intercept, init):
    """Giving up is proved: with `tol` the relative margin of a known separator, training never gives up."""
    problem = separable(seed, fit_intercept, n_classes)
    tol = problem.gamma / problem.radius * (1 - 1e-9)
    model = textbook(rule=rule, fit_intercept=fit_intercept, tol=tol, init=init, random_state=seed)
    model.fit(problem.X, problem.y)
    assert model.converged_
    assert model.mistakes_[-1] == 0
    assert (model.predict(problem.X) == problem.y).all()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("g", [0.02, 0.005, 0.00125])
def test_hard_data_are_separated_by_default(rule, g):
    """y·x = (1, g, 0), (−1, g, 0), (½, 0, 1): margin about g, so that default settings must end without an error.

    The third row puts w₁ between the whole numbers, where the first two push it to and fro: every step gains only g²,
    and the plain rule needs about 1/(2g²) of them.
    """
    X, y = np.array([[1, g, 0], [1, -g, 0], [0.5, 0, 1], [-0.5, 0, -1]]), np.array([1, 0, 1, 0])
    for shuffle in (True, False):
        model = textbook(rule=rule, fit_intercept=False, shuffle=shuffle).fit(X, y)
        assert model.converged_
        assert model.score(X, y) == 1
        assert model.margin_bound_ >= g / sqrt(1 + g**2) * (1 - 1e-12)  # the margin of w = (0, 1, g)
    if rule == "perceptron":
        assert model.n_updates_ > 0.4 / g**2 and model.n_iter_ > 0.1 / g**2


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=SEEDS, fit_intercept=st.booleans(), tol=st.sampled_from([0.05, 0.2]))
@property_test
def test_inseparable_data_stop_the_run(n_classes, seed, fit_intercept, tol):
    """A row with two labels: ‖w‖/(R·Στ) ≤ 1/√k falls below tol after 1/tol² updates, and the pass is finished.

    Several classes: ‖W‖ ≤ √(2k)·R makes it twice as many.
    """
    problem = separable(seed, fit_intercept, n_classes)
    X, y = np.vstack([problem.X, problem.X[:1]]), np.append(problem.y, (problem.y[0] + 1) % n_classes)
    model = textbook(fit_intercept=fit_intercept, tol=tol, random_state=seed)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert not model.converged_
    assert model.n_updates_ <= (problem.reach / problem.radius / tol) ** 2 + len(y)
    assert model.margin_bound_ < tol * problem.radius
    assert model.n_iter_ == len(model.mistakes_) and model.mistakes_[-1] > 0


# -- margin_bound_ ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", RULES)
@given(seed=SEEDS, fit_intercept=st.booleans(), start=st.sampled_from(["zeros", "random", "coef_init"]))
@property_test
def test_no_separator_beats_the_margin_bound(rule, n_classes, seed, fit_intercept, start):
    """Neither the known one nor the one found. And the bound says something: it is not above the longest step."""
    problem = separable(seed, fit_intercept, n_classes)
    random = np.random.default_rng(seed)
    model = textbook(
        rule=rule,
        fit_intercept=fit_intercept,
        init="random" if start == "random" else "zeros",
        random_state=seed,
        eta0=random.choice([0.25, 0.5, 1.0]),  # PA diverges with steps of twice its length and more
        max_iter=random.choice([1, 3, 1000]),
    )
    coef = 20 * random.normal(size=problem.separator[:, :-1].shape) if start == "coef_init" else None
    model.fit(problem.X, problem.y, coef_init=coef)
    best = problem.gamma
    if model.converged_:
        best = max(best, margins(weights(model), problem.rows, problem.y).min() / np.linalg.norm(weights(model)))
    assert model.margin_bound_ >= best * (1 - 1e-12)
    if model.n_updates_:
        assert model.margin_bound_ <= problem.reach * (1 + 1e-6)


@pytest.mark.parametrize("rule", RULES)
@given(seed=SEEDS, gamma=st.floats(0.05, 2))
@property_test
def test_the_margin_bound_where_the_best_margin_is_known(rule, seed, gamma):
    """y·x = γu ± p with p orthogonal to u: the hull holds γu, so γ is the best margin. No rounding goes below it."""
    random = np.random.default_rng(seed)
    u, *P = np.linalg.qr(random.normal(size=(5, 5)))[0]
    P = random.normal(size=(6, 4)) @ np.array(P)
    y = np.tile([0, 1], 6)
    X = np.where(y == 1, 1, -1)[:, None] * (gamma * u + np.vstack([P, -P]))
    model = textbook(rule=rule, fit_intercept=False, random_state=seed, max_iter=2000).fit(X, y)
    assert model.margin_bound_ >= gamma - 1e-14  # the rows themselves are rounded


@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
@given(seed=SEEDS, fit_intercept=st.booleans())
@property_test
def test_the_margin_bound_when_classes_appear_later(rule, seed, fit_intercept):
    """It is about the joint space of all classes, also for steps made when there were two."""
    problem = separable(seed, fit_intercept, n_classes=3)
    order = np.argsort(problem.y == np.random.default_rng(seed).integers(3), kind="stable")  # one class comes last
    model = textbook(rule=rule, fit_intercept=fit_intercept)
    model.partial_fit(problem.X[order], problem.y[order])
    assert problem.gamma * (1 - 1e-12) <= model.margin_bound_ <= problem.reach * (1 + 1e-6)


def test_the_margin_bound_of_two_classes_becomes_that_of_three():
    """y·x = (−1, ∓10) have the mean (−1, 0), so w = (−2, 0) after two steps, and the bound is 1 for two classes.

    In the joint space it is √2, and there is a separator with nearly that: the coordinate in common keeps off the
    third class.
    """
    X, y = np.array([[1.0, 10.0], [-1.0, 10.0]]), np.array([0, 1])
    model = textbook(fit_intercept=False).partial_fit(X, y, classes=[0, 1])
    assert model.margin_bound_ == pytest.approx(1)
    model.partial_fit(X, y, classes=[0, 1, 2])
    W = np.array([[1, 0.1], [-1, 0.1], [0, -0.2]])
    assert model.n_updates_ == 2
    assert margins(W, X, y).min() / np.linalg.norm(W) > 1.39
    assert model.margin_bound_ == pytest.approx(sqrt(2))
