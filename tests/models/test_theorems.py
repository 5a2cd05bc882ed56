"""What is proved about perceptrons holds for these: bounds on mistakes, geometry of a step, and invariances."""

from math import sqrt
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import augmented
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from perceptrons import Perceptron
from perceptrons.rules import PA1, PA2, Margin

RULES = ["perceptron", "margin", "pa", "pa1", "pa2"]
SEEDS = st.integers(0, 10**6)
property_test = settings(max_examples=30, deadline=None)


class Problem(NamedTuple):
    """Rows of small integers, codes of their labels, and a separator of them over the rows with the constant."""

    X: np.ndarray
    y: np.ndarray
    separator: np.ndarray  # one line for two classes, else one a class
    fit_intercept: bool

    @property
    def rows(self):
        return augmented(self.X, self.fit_intercept)

    @property
    def radius(self):
        """R, the length of the longest row."""
        return np.linalg.norm(self.rows, axis=1).max()

    @property
    def reach(self):
        """Length of the longest plain step: R, or √2·R where two weight vectors move."""
        return self.radius * (1 if len(self.separator) == 1 else sqrt(2))

    @property
    def gamma(self):
        """Margin of the separator, which the best margin is not below."""
        return margins(self.separator, self.rows, self.y).min() / np.linalg.norm(self.separator)


def margins(w, rows, y):
    """y·a(x) for one line of weights; for several the score of the right class less the largest of the others."""
    scores = rows @ w.T
    if len(w) == 1:
        return np.where(y == 1, scores[:, 0], -scores[:, 0])
    right = np.arange(len(y)), y
    own = scores[right]
    scores[right] = -np.inf
    return own - scores.max(axis=1)


def separable(seed, fit_intercept, n_classes=2, n=20):
    """A problem that its separator solves, with every class in it. Repeated rows and rows of zeros occur."""
    random = np.random.default_rng(seed)
    while True:
        d = random.integers(1, 5)
        W = random.integers(-3, 4, size=(1 if n_classes == 2 else n_classes, d + 1)).astype(float)
        W[:, -1] *= fit_intercept
        X = random.integers(-3, 4, size=(n, d)).astype(float)
        scores = augmented(X, fit_intercept) @ W.T
        y = (scores[:, 0] > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
        keep = margins(W, augmented(X, fit_intercept), y) > 0
        if len(set(y[keep])) == n_classes:
            return Problem(X[keep], y[keep], W, fit_intercept)


def noisy(seed, n=20):
    """Rows of small integers and labels of two classes, some of them wrong, and the hypothesis they came from."""
    problem = separable(seed, fit_intercept=True, n=n)
    random = np.random.default_rng(seed)
    while True:
        y = np.where(random.random(len(problem.y)) < 0.1, 1 - problem.y, problem.y)
        if len(set(y)) == 2:
            return problem._replace(y=y)


def weights(model):
    return np.column_stack([model.coef_, model.intercept_])


def learned(problem, **settings):
    """A model after one pass over the problem, to look at its next step."""
    model = Perceptron(fit_intercept=problem.fit_intercept, **settings)
    return model.partial_fit(problem.X, problem.y, classes=range(max(2, len(problem.separator))))


# -- bounds on mistakes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=SEEDS, fit_intercept=st.booleans(), order=st.integers(0, 100))
@property_test
def test_novikoff(n_classes, seed, fit_intercept, order):
    """At most R²‖w*‖²/γ² updates (several classes: 2R²), in any order, over all passes; then no mistake is left."""
    problem = separable(seed, fit_intercept, n_classes)
    bound = (problem.reach / problem.gamma) ** 2
    model = Perceptron(fit_intercept=fit_intercept, tol=None, shuffle=order > 0, random_state=order)
    model.fit(problem.X, problem.y)
    assert model.converged_
    assert model.n_updates_ == model.n_mistakes_ == model.mistakes_.sum() <= bound * (1 + 1e-12)
    assert (margins(weights(model), problem.rows, problem.y) > 0).all()
    assert model.score(problem.X, problem.y) == 1

    random = np.random.default_rng(order)
    stream = Perceptron(fit_intercept=fit_intercept)
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
    model = Perceptron(rule=Margin(beta=beta), fit_intercept=fit_intercept)
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
    model = Perceptron(rule=rule, fit_intercept=fit_intercept, tol=tol, init=init, random_state=seed)
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
        model = Perceptron(rule=rule, fit_intercept=False, shuffle=shuffle).fit(X, y)
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
    model = Perceptron(fit_intercept=fit_intercept, tol=tol, random_state=seed)
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
    model = Perceptron(
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
    model = Perceptron(rule=rule, fit_intercept=False, random_state=seed, max_iter=2000).fit(X, y)
    assert model.margin_bound_ >= gamma - 1e-14  # the rows themselves are rounded


@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
@given(seed=SEEDS, fit_intercept=st.booleans())
@property_test
def test_the_margin_bound_when_classes_appear_later(rule, seed, fit_intercept):
    """It is about the joint space of all classes, also for steps made when there were two."""
    problem = separable(seed, fit_intercept, n_classes=3)
    order = np.argsort(problem.y == np.random.default_rng(seed).integers(3), kind="stable")  # one class comes last
    model = Perceptron(rule=rule, fit_intercept=fit_intercept)
    model.partial_fit(problem.X[order], problem.y[order])
    assert problem.gamma * (1 - 1e-12) <= model.margin_bound_ <= problem.reach * (1 + 1e-6)


def test_the_margin_bound_of_two_classes_becomes_that_of_three():
    """y·x = (−1, ∓10) have the mean (−1, 0), so w = (−2, 0) after two steps, and the bound is 1 for two classes.

    In the joint space it is √2, and there is a separator with nearly that: the coordinate in common keeps off the
    third class.
    """
    X, y = np.array([[1.0, 10.0], [-1.0, 10.0]]), np.array([0, 1])
    model = Perceptron(fit_intercept=False).partial_fit(X, y, classes=[0, 1])
    assert model.margin_bound_ == pytest.approx(1)
    model.partial_fit(X, y, classes=[0, 1, 2])
    W = np.array([[1, 0.1], [-1, 0.1], [0, -0.2]])
    assert model.n_updates_ == 2
    assert margins(W, X, y).min() / np.linalg.norm(W) > 1.39
    assert model.margin_bound_ == pytest.approx(sqrt(2))


# -- the geometry of a step ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
@given(seed=SEEDS, fit_intercept=st.booleans(), eta0=st.sampled_from([0.25, 1.0, 3.0]))
@property_test
def test_a_mistake_moves_its_score_towards_its_label(layout, seed, fit_intercept, eta0):
    """By η(‖x‖² + 1), or η‖x‖² without a bias; a row that is right moves nothing."""
    problem = separable(seed, fit_intercept)
    model = learned(problem, eta0=eta0)
    for row, label in zip(problem.X[:, None], 1 - problem.y, strict=True):  # labels turned round make mistakes
        x, sign = layout(row), 2 * label - 1
        before = model.decision_function(x)[0]
        after = model.partial_fit(x, [label]).decision_function(x)[0]
        mistake = sign * before <= 0
        assert after - before == (sign * eta0 * ((row**2).sum() + fit_intercept) if mistake else 0)


@given(seed=SEEDS, fit_intercept=st.booleans(), eta0=st.sampled_from([0.5, 1.0]))
@property_test
def test_the_plain_step_follows_a_subgradient(seed, fit_intercept, eta0):
    """f(w) = max(0, −m) and g = −step/η: f(v) ≥ f(w) + g·(v − w) for every v."""
    problem = noisy(seed)._replace(fit_intercept=fit_intercept)
    random = np.random.default_rng(seed)
    model = learned(problem, eta0=eta0)
    for i in range(len(problem.y)):
        row, label = problem.rows[i : i + 1], problem.y[i : i + 1]

        def f(w, row=row, label=label):
            return max(0.0, -margins(w, row, label)[0])

        w = weights(model)
        g = -(weights(model.partial_fit(problem.X[i : i + 1], label)) - w) / eta0
        for v in w + random.integers(-9, 10, size=(20, *w.shape)):
            v[:, -1] *= fit_intercept
            assert f(v) >= f(w) + (g * (v - w)).sum()


def half_space(problem, model, i):
    """Normal n of {W : n·W ≥ 1}: the hypotheses with a margin of 1 against the wrong class that is now strongest."""
    row, label, w = problem.rows[i], problem.y[i], weights(model)
    normal = np.zeros_like(w)
    if len(w) == 1:
        normal[0] = row if label == 1 else -row
        return normal
    scores = w @ row
    scores[label] = -np.inf
    normal[label], normal[scores.argmax()] = row, -row
    return normal


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=SEEDS, fit_intercept=st.booleans())
@property_test
def test_pa_is_the_smallest_change(n_classes, seed, fit_intercept):
    """w' is the projection of w on the half-space of margin 1, and no other point of the half-space is as near."""
    problem = separable(seed, fit_intercept, n_classes)
    random = np.random.default_rng(seed)
    model = learned(problem, rule="pa")
    for i in range(len(problem.y)):
        w, normal = weights(model), half_space(problem, model, i)
        after = weights(model.partial_fit(problem.X[i : i + 1], problem.y[i : i + 1]))
        if not normal.any():  # a row of zeros: the half-space is empty, and nothing is to be done
            assert (after == w).all()
            continue
        assert (normal * after).sum() >= 1 - 1e-9
        distance = np.linalg.norm(after - w)
        to_border = (1 - (normal * w).sum()) / np.linalg.norm(normal)
        assert distance == pytest.approx(max(0, to_border), abs=1e-9)
        for v in after + random.normal(size=(10, *w.shape)):
            v[:, -1] *= fit_intercept
            v += max(0, 1 - (normal * v).sum()) * normal / (normal**2).sum()
            assert np.linalg.norm(v - w) >= distance - 1e-9


@pytest.mark.parametrize("rule", [PA1, PA2])
@given(seed=SEEDS, C=st.sampled_from([0.01, 0.1, 1.0]), weight=st.sampled_from([0.5, 1.0, 3.0]))
@property_test
def test_pa1_and_pa2_are_least_of_change_and_loss(rule, seed, C, weight):
    """PA-I minimises ½‖v − w‖² + Cℓ(v), PA-II ½‖v − w‖² + Cℓ(v)², with the weight of the example times C."""
    problem = noisy(seed)
    power = 1 if rule is PA1 else 2
    model = learned(problem, rule=rule(C=C))
    random = np.random.default_rng(seed)
    for i in range(len(problem.y)):
        w, normal = weights(model), half_space(problem, model, i)
        model.partial_fit(problem.X[i : i + 1], problem.y[i : i + 1], sample_weight=[weight])

        def cost(v, w=w, normal=normal):
            return ((v - w) ** 2).sum() / 2 + C * weight * max(0, 1 - (normal * v).sum()) ** power

        after = weights(model)
        for v in (
            w + 0.99 * (after - w),
            w + 1.01 * (after - w),
            after + 1e-3 * normal,
            after - 1e-3 * normal,
            *(after + random.normal(size=(5, *w.shape)) / 10),
        ):
            assert cost(after) <= cost(v) + 1e-12


# -- invariances --------------------------------------------------------------------------------------------------


@given(seed=SEEDS, fit_intercept=st.booleans(), eta0=st.sampled_from([0.25, 3.0, 8.0]))
@property_test
def test_eta0_only_scales(seed, fit_intercept, eta0):
    """The plain rule from zeros: w is scaled, and no prediction changes."""
    problem = noisy(seed)
    Q = np.random.default_rng(seed).integers(-4, 5, size=(30, problem.X.shape[1]))
    one, scaled = (
        Perceptron(eta0=eta, fit_intercept=fit_intercept, random_state=seed, tol=0.02).fit(problem.X, problem.y)
        for eta in (1.0, eta0)
    )
    np.testing.assert_array_equal(weights(scaled), eta0 * weights(one))
    np.testing.assert_array_equal(scaled.predict(Q), one.predict(Q))
    np.testing.assert_array_equal(scaled.mistakes_, one.mistakes_)
    assert scaled.margin_bound_ == pytest.approx(one.margin_bound_)


@given(seed=SEEDS, scale=st.sampled_from([0.25, 3.0, 8.0]))
@property_test
def test_without_a_bias_the_scale_of_rows_does_not_matter(seed, scale):
    problem = noisy(seed)
    Q = np.random.default_rng(seed).integers(-4, 5, size=(30, problem.X.shape[1]))
    model = Perceptron(fit_intercept=False, random_state=seed, tol=0.02)
    one = weights(model.fit(problem.X, problem.y))
    predictions, mistakes, bound = model.predict(Q), model.mistakes_, model.margin_bound_
    model.fit(scale * problem.X, problem.y)
    np.testing.assert_array_equal(weights(model), scale * one)
    np.testing.assert_array_equal(model.predict(scale * Q), predictions)
    np.testing.assert_array_equal(model.mistakes_, mistakes)
    assert model.margin_bound_ == pytest.approx(scale * bound)


@pytest.mark.parametrize("rule", RULES)
@given(seed=SEEDS, fit_intercept=st.booleans())
@property_test
def test_dense_equals_csr(rule, seed, fit_intercept):
    X, y = noisy(seed)[:2]
    exact = rule in ("perceptron", "margin")
    if not exact:  # PA divides: digits keep it off ties, which would fall either way
        X = np.where(X == 0, 0, X + np.random.default_rng(seed).normal(size=X.shape) / 8)
    dense, csr = (
        Perceptron(rule=rule, fit_intercept=fit_intercept, random_state=seed, max_iter=5).fit(layout, y)
        for layout in (X, sparse.csr_matrix(X))
    )
    np.testing.assert_allclose(weights(csr), weights(dense), rtol=0 if exact else 1e-9, atol=0 if exact else 1e-12)
    np.testing.assert_array_equal(csr.mistakes_, dense.mistakes_)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("rule", "limit"), [(PA1(C=1e300), "pa"), (Margin(beta=0), "perceptron")])
@given(seed=SEEDS, fit_intercept=st.booleans())
@property_test
def test_rules_have_each_other_as_limits(rule, limit, n_classes, seed, fit_intercept):
    problem = separable(seed, fit_intercept, n_classes)
    one, other = (
        Perceptron(rule=r, fit_intercept=fit_intercept, random_state=seed, max_iter=20).fit(problem.X, problem.y)
        for r in (rule, limit)
    )
    np.testing.assert_array_equal(weights(one), weights(other))
    np.testing.assert_array_equal(one.mistakes_, other.mistakes_)
    assert one.n_updates_ == other.n_updates_


# -- readouts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=SEEDS, fit_intercept=st.booleans())
@property_test
def test_averaged_and_voted_are_made_of_every_last_hypothesis(n_classes, seed, fit_intercept):
    """The mean of what `last` holds after each example, and one vote of it an example. Neither changes learning."""
    problem = separable(seed, fit_intercept, n_classes)
    Q = np.random.default_rng(seed).integers(-4, 5, size=(20, problem.X.shape[1]))
    last, averaged, voted = (
        Perceptron(readout=readout, fit_intercept=fit_intercept) for readout in ("last", "averaged", "voted")
    )
    hypotheses, votes = [], np.zeros((len(Q), n_classes))
    for i in range(len(problem.y)):
        for model in (last, averaged, voted):
            model.partial_fit(problem.X[i : i + 1], problem.y[i : i + 1], classes=range(n_classes))
        hypotheses.append(weights(last))
        votes[np.arange(len(Q)), last.predict(Q)] += 1
        np.testing.assert_allclose(weights(averaged), np.mean(hypotheses, axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(voted.predict(Q), votes.argmax(axis=1))
    assert last.n_mistakes_ == averaged.n_mistakes_ == voted.n_mistakes_


def test_averaged_differs_from_last():
    problem = separable(0, fit_intercept=True)
    last, averaged = (learned(problem, readout=readout) for readout in ("last", "averaged"))
    assert last.n_updates_ > 1
    assert (weights(last) != weights(averaged)).any()
    assert (last.decision_function(problem.X) != averaged.decision_function(problem.X)).any()


@given(seed=SEEDS, max_iter=st.integers(1, 5))
@property_test
def test_the_pocket_is_never_worse_than_where_it_started(seed, max_iter):
    """Its mistakes on the training rows never become more with more passes, and from good weights it keeps them."""
    problem = noisy(seed)

    def errors(model):
        return (margins(weights(model), problem.rows, problem.y) <= 0).sum()

    shorter, longer = (
        Perceptron(readout="pocket", tol=None, max_iter=n, random_state=seed).fit(problem.X, problem.y)
        for n in (max_iter, max_iter + 3)
    )
    assert errors(longer) <= errors(shorter)
    coef, intercept = problem.separator[:, :-1], problem.separator[:, -1]
    model = Perceptron(readout="pocket", tol=None, max_iter=max_iter, random_state=seed)
    model.fit(problem.X, problem.y, coef_init=coef, intercept_init=intercept)
    assert errors(model) <= (margins(problem.separator, problem.rows, problem.y) <= 0).sum()


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=SEEDS, fit_intercept=st.booleans(), readout=st.sampled_from(["last", "averaged"]))
@property_test
def test_normalized(n_classes, seed, fit_intercept, readout):
    """‖w‖ = 1, the same boundary and predictions, and scores of two classes are signed distances from the boundary."""
    problem = separable(seed, fit_intercept, n_classes)
    Q = np.random.default_rng(seed).normal(size=(30, problem.X.shape[1]))  # off the boundary, where nothing is to keep
    model = learned(problem, readout=readout)
    if not model.coef_.any():
        with pytest.raises(ValueError, match="all weights are 0"):
            model.normalized()
        return
    before = weights(model)
    unit = model.normalized()
    assert np.linalg.norm(unit.coef_) == pytest.approx(1, rel=1e-12)
    np.testing.assert_allclose(weights(unit) * np.linalg.norm(model.coef_), before, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(weights(model), before)
    np.testing.assert_array_equal(unit.predict(Q), model.predict(Q))
    assert unit.margin_bound_ == pytest.approx(model.margin_bound_)
    if n_classes == 2:
        distance = unit.decision_function(Q)
        foot = Q - distance[:, None] * unit.coef_  # the projection onto the boundary
        np.testing.assert_allclose(model.decision_function(foot), 0, atol=1e-9)
