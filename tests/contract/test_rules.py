"""What every rule must satisfy, run over the registry: a new rule is tested by its registration alone."""

import re
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from structured_cases import Classes

from perceptrons import KernelPerceptron, Perceptron, StructuredPerceptron
from perceptrons.learn.readouts import READOUTS
from perceptrons.rules import RULES, kind_of, resolve, takes_label, takes_weights

numbers = st.floats(-50, 50)
ALONG = [name for name in RULES if kind_of(RULES[name]) == "tau"]
# Formulas do not know the layout of rows: of each other kind, one rule is compiled for sparse rows.
FIRST = {kind_of(RULES[name]): name for name in reversed(RULES) if name not in ALONG}
LAYOUTS = [(name, np.asarray) for name in RULES] + [(name, sp.csr_array) for name in (*ALONG, *FIRST.values())]


def answer(rule, margin, size, weight=1.0, sq_length=0.0, k=0.0):
    """The step and all other numbers that a rule answers with: of both classes, if it asks for the class."""
    if kind_of(rule) == "metric":
        alpha, c = rule.metric(margin, size, weight)
        return alpha, [c]
    if kind_of(rule) == "scale":
        s, tau = rule.scale(margin, size, sq_length, k, weight)
        return tau, [s]
    if takes_label(rule):
        return min(rule.tau(margin, size, weight, y) for y in (-1.0, 1.0)), []
    return rule.tau(margin, size, weight), []


@pytest.mark.parametrize("name", RULES)
@settings(deadline=None)
@given(
    margin=numbers,
    size=st.just(0.0) | st.floats(1e-6, 1e6),
    weight=st.floats(0, 100),
    sq_length=st.floats(0, 1e6),
    k=st.integers(0, 10**9).map(float),
)
def test_steps_are_finite_and_never_backwards(name, margin, size, weight, sq_length, k):
    rule = resolve(name)
    if kind_of(rule) != "tau":  # passes leave out rows of weight 0, and rows of zeros for rules with a metric
        weight, size = max(weight, 1e-6), size if kind_of(rule) == "scale" else max(size, 1e-6)
    step, others = answer(rule, margin, size, weight, sq_length, k)
    assert all(0 <= number < np.inf for number in (step, *others))


@pytest.mark.parametrize("name", RULES)
@settings(deadline=None)
@given(
    margin=st.floats(-50, 0), size=st.floats(1e-6, 1e6), sq_length=st.floats(0, 1e6), k=st.integers(0, 10**9).map(float)
)
def test_every_mistake_makes_a_step(name, margin, size, sq_length, k):
    step, _ = answer(resolve(name), margin, size, 1.0, sq_length, k)
    assert step > 0


@pytest.mark.parametrize("name", RULES)
def test_examples_far_on_the_right_side_make_none(name):
    step, others = answer(resolve(name), 1e9, 1.0, 1.0, 1e18)
    assert step == 0 and others in ([], [0.0], [1.0])  # c = 0, or s = 1


@pytest.mark.parametrize("name", RULES)
def test_rows_of_zeros_do_no_harm(name):
    model = Perceptron(rule=name, readout="last", fit_intercept=False).partial_fit(np.zeros((3, 2)), [0, 1, 0])
    assert (model.coef_ == 0).all() and model.n_mistakes_ == 2  # the first row knew one class only
    model.partial_fit([[1.0, 2.0]], [0]).partial_fit([[2.0, -1.0]], [1])
    before = model.coef_.copy()
    np.testing.assert_array_equal(model.partial_fit(np.zeros((3, 2)), [0, 1, 0]).coef_, before)
    if name in ALONG:
        dual = KernelPerceptron(rule=name, kernel="linear", fit_intercept=False)
        dual.partial_fit(np.zeros((3, 2)), [0, 1, 0])
        assert (dual.decision_function(np.ones((2, 2))) == 0).all() and dual.n_mistakes_ == 2


def expected_step(rule, state, x, sign):
    """One step from (w, σ, k) by the rule's own formula, run by Python; σ is the variance of each weight."""
    w, sigma, k = state
    margin, sq_norm = sign * (w @ x), x @ x
    if kind_of(rule) == "metric":
        alpha, c = rule.metric(margin, float(sigma @ x**2), 1.0)  # w += α·y·Σx, Σ⁻¹ += c·xxᵀ
        return w + alpha * sign * sigma * x, 1 / (1 / sigma + c * x**2), k + (alpha > 0)
    if kind_of(rule) == "scale":
        s, tau = rule.scale(margin, sq_norm, float(w @ w), k, 1.0)  # w ← s·w + τ·y·x
        return s * w + tau * sign * x, sigma, k + (tau > 0)
    tau = rule.tau(margin, sq_norm, 1.0, *([float(sign)] if takes_label(rule) else []))  # w += τ·y·x
    return w + tau * sign * x, sigma, k + (tau > 0)


@pytest.mark.parametrize(("name", "layout"), LAYOUTS)
@settings(deadline=None, max_examples=25)
@given(
    x=st.lists(st.integers(-4, 4), min_size=3, max_size=3), w=st.lists(numbers, min_size=4, max_size=4), y=st.booleans()
)
def test_the_compiled_step_is_the_formula(name, layout, x, w, y):
    """On a row with its constant, x̃ = (x, 1), and on a row of zeros, which moves the bias only."""
    x, w, sign = np.array(x, dtype=float), np.array(w), 2 * y - 1
    rule = resolve(name)
    model = Perceptron(rule=name, readout="last", max_iter=1, tol=None, shuffle=False)
    # A row of zeros gives fit its second class.
    model.fit(layout(np.array([x, np.zeros(3)])), [y, not y], coef_init=w[:3], intercept_init=w[3:])
    state = w, np.full(4, 1 / getattr(rule, "a", 1.0)), 0.0
    state = expected_step(rule, state, np.append(x, 1.0), sign)
    expected, *_ = expected_step(rule, state, np.array([0.0, 0.0, 0.0, 1.0]), -sign)
    np.testing.assert_allclose(np.append(model.coef_[0], model.intercept_), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", RULES)
def test_rules_say_where_they_are_from(name):
    said, kind = RULES[name].__doc__, kind_of(RULES[name])
    assert re.search(r"\b(19|20)\d\d\b", said) and ("α" if kind == "metric" else "τ") in said


@pytest.mark.parametrize("name", [name for name in RULES if takes_weights(RULES[name])])
def test_weights_of_one_change_nothing(name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(2, size=50)
    plain, weighted = (Perceptron(rule=name, max_iter=3).fit(X, y, weight) for weight in (None, np.ones(50)))
    np.testing.assert_array_equal(plain.coef_, weighted.coef_)
    heavy = Perceptron(rule=name, max_iter=3).fit(X, y, np.full(50, 0.01))
    assert not np.allclose(plain.coef_, heavy.coef_)


class Capped(NamedTuple):
    """A rule of a user's: as far as the hinge loss, but no further than `most`."""

    most: float = 2.0

    def tau(self, margin, sq_norm, weight):
        return min(self.most, max(0.0, 1.0 - margin)) * weight


@pytest.mark.parametrize("readout", READOUTS)
def test_a_rule_of_ones_own_works_everywhere(readout):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(3, size=40)
    for rows, labels in ((X, y), (sp.csr_array(X), y), (X, y > 0)):
        model = Perceptron(rule=Capped(0.5), readout=readout, max_iter=3).fit(rows, labels)
        assert model.n_updates_ > model.n_mistakes_ > 0
        assert model.predict(rows).shape == (40,)
    dual = KernelPerceptron(rule=Capped(0.5), kernel="linear", readout=readout, max_iter=3).fit(X, y > 0)
    np.testing.assert_array_equal(dual.mistakes_, model.mistakes_)
    np.testing.assert_allclose(dual.decision_function(X), model.decision_function(X), atol=1e-9)
    assert model.set_params(rule__most=1).get_params()["rule__most"] == 1


@pytest.mark.parametrize("most", [np.nan, -np.inf])
def test_a_rule_that_returns_no_number_is_named(most):
    """It is not an overflow of weights; the error says what the rule was asked."""
    X, y = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 1.0], [2.0, 1.0, 0.0]]), np.array([0, 1, 2])
    asked = rf"the rule Capped returns {most} at (row|example) 0, for margin=-?0, sq_norm=[0-9]+, weight=1; .*unchanged"
    models = [(Perceptron(rule=Capped(most), shuffle=False), rows, y) for rows in (X, sp.csr_array(X))]
    models += [(Perceptron(rule=Capped(most), shuffle=False), X, y > 0)]
    models += [(KernelPerceptron(rule=Capped(most), kernel="linear", shuffle=False), X, y > 0)]
    models += [(StructuredPerceptron(Classes(), rule=Capped(most), shuffle=False), X[:, :1].tolist(), [1, 1, 0])]
    for model, rows, labels in models:
        with pytest.raises(ValueError, match=asked):
            model.fit(rows, labels)
    model = Perceptron(rule=Capped(0.5), shuffle=False).fit(X, y > 0)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match=r"the rule Capped returns .* for margin=[-0-9.e]+, sq_norm=7, weight=3"):
        model.set_params(rule=Capped(most)).partial_fit(X, y > 0, sample_weight=np.full(3, 3.0))
    np.testing.assert_array_equal(model.coef_, before)


def test_what_is_no_rule_is_refused():
    for rule in (3.0, (1.0,), PlainTuple(1.0)):
        with pytest.raises((TypeError, ValueError), match="rule"):
            Perceptron(rule=rule).fit([[1.0], [2.0]], [0, 1])


class PlainTuple(NamedTuple):
    C: float
