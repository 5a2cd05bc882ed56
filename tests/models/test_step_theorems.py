"""What is proved about a single step holds: its geometry, invariances, limits of rules; and about readouts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from theorem_cases import RULES, SEEDS, half_space, learned, margins, noisy, property_test, separable, weights
from training_cases import textbook

from perceptrons.rules import PA1, PA2, Margin

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
        textbook(eta0=eta, fit_intercept=fit_intercept, random_state=seed, tol=0.02).fit(problem.X, problem.y)
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
    model = textbook(fit_intercept=False, random_state=seed, tol=0.02)
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
        textbook(rule=rule, fit_intercept=fit_intercept, random_state=seed, max_iter=5).fit(layout, y)
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
        textbook(rule=r, fit_intercept=fit_intercept, random_state=seed, max_iter=20).fit(problem.X, problem.y)
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
        textbook(readout=readout, fit_intercept=fit_intercept) for readout in ("last", "averaged", "voted")
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
        textbook(readout="pocket", tol=None, max_iter=n, random_state=seed).fit(problem.X, problem.y)
        for n in (max_iter, max_iter + 3)
    )
    assert errors(longer) <= errors(shorter)
    coef, intercept = problem.separator[:, :-1], problem.separator[:, -1]
    model = textbook(readout="pocket", tol=None, max_iter=max_iter, random_state=seed)
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
