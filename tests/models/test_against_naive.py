"""The linear estimators do what `naive` does: the same hypotheses, counts, scores and predictions."""

import numpy as np
import pytest
from against_naive_cases import (
    COVER,
    LAYOUTS,
    NAMES,
    PASSES,
    READOUTS,
    RULES,
    WEIGHTED,
    assert_same,
    assert_same_fit,
    data,
    pair,
)
from naive import Naive

from perceptrons import Perceptron


def test_the_data_are_worth_it():
    """They must meet every branch: ties after the first example, steps cut off by C and not, and a pocket in use."""
    for n_classes in (2, 3):
        X, y, Q = data("perceptron", n_classes)
        twin = Naive().fit(X, y, PASSES)
        assert sum(step.margin == 0 for step in twin.steps) > 3
        assert (twin.decision_function(Q, "last") == 0).any()
        assert twin.errors(twin.first) > twin.errors(twin.pocket())
        assert (twin.pocket() != twin.last()).any()
        X, y, _ = data("pa1", n_classes)
        twin = Naive("pa1", C=RULES["pa1"].C).fit(X, y, PASSES)
        assert RULES["pa1"].C * 0.5 * twin.n_updates < twin.sum_tau < RULES["pa1"].C * twin.n_updates


# -- every rule with every readout ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("rule", RULES)
def test_fit(rule, readout, n_classes):
    for fit_intercept in (True, False):
        for seed in range(3):
            model, twin = pair(rule, readout, fit_intercept, max_iter=PASSES)
            assert_same_fit(model, twin, *data(rule, n_classes, seed))


@pytest.mark.parametrize(("layout", "rule", "readout", "n_classes"), COVER)
def test_layouts(layout, rule, readout, n_classes):
    for fit_intercept in (True, False):
        model, twin = pair(rule, readout, fit_intercept, max_iter=PASSES)
        assert_same_fit(model, twin, *data(rule, n_classes), layout=layout)
        if readout != "pocket":
            X, y, Q = data(rule, n_classes)
            model, twin = pair(rule, readout, fit_intercept)
            twin.partial_fit(X, y)
            assert_same(model.partial_fit(LAYOUTS[layout](X), y), twin, Q, layout)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_convergence_ends_the_passes(rule, n_classes):
    """On rows that can be separated, and with the pocket, which then holds the final hypothesis."""
    X, _, Q = data(rule, n_classes, n=24)
    W = np.array([[3, 1, -2, 2], [-2, 3, 1, 1], [-1, -4, 1, -3]])[:n_classes]
    scores = np.sort(X @ W.T, axis=1)
    clear = scores[:, -1] > scores[:, -2]
    X, y = X[clear], NAMES[(X @ W.T).argmax(axis=1)][clear]
    for readout in READOUTS:
        model, twin = pair(rule, readout, fit_intercept=False, max_iter=1000)
        assert_same_fit(model, twin, X, y, Q)
        assert model.converged_ and 1 < model.n_iter_ < 1000
        assert model.mistakes_[-1] == 0


# -- settings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_eta0(rule, n_classes):
    for readout in READOUTS:
        model, twin = pair(rule, readout, eta0=0.25, max_iter=PASSES)
        assert_same_fit(model, twin, *data(rule, n_classes))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_tie_positive(rule, n_classes):
    """Rows of zeros and opposite rows make ties even for PA."""
    for readout in READOUTS:
        for fit_intercept in (True, False):
            X, y, Q = data(rule, n_classes)
            X[1:6] = 0
            Q[:3] = 0
            model, twin = pair(rule, readout, fit_intercept, tie="positive", max_iter=PASSES)
            assert_same_fit(model, twin, X, y, Q)


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("rule", RULES)
def test_rows_of_zeros(rule, readout):
    """Without a bias they are mistakes for ever; PA cannot step there, and does not divide by zero."""
    for seed in range(3):
        X, y, Q = data(rule, 2, seed)
        X[np.random.default_rng(seed).random(len(y)) < 0.3] = 0
        for fit_intercept in (True, False):
            model, twin = pair(rule, readout, fit_intercept, max_iter=PASSES)
            assert_same_fit(model, twin, X, y, Q)


def test_a_mistake_without_a_step_ends_a_run_of_right_answers():
    """The first hypothesis, (1, 0), is right twice in a row. The second, (1, 1), is right once, wrong on the row of
    zeros, and right twice: no longer a run, so the pocket does not try it."""
    X = np.array([[1, 0], [-1, 0], [1, 0], [0, 1], [1, 0], [0, 0], [1, 0], [0, -1]], dtype=float)
    y = np.array(["bee", "ant", "bee", "bee", "bee", "bee", "bee", "ant"])
    model, twin = pair("pa", "pocket", fit_intercept=False, max_iter=1)
    assert_same_fit(model, twin, X, y, X)


@pytest.mark.parametrize(("rule", "readout", "n_classes"), WEIGHTED)
def test_sample_weight(rule, readout, n_classes):
    """Weights scale the step or C. An example counts once in means and votes whatever its weight; 0 leaves it out."""
    for seed in range(6):
        X, y, Q = data(rule, n_classes, seed)
        weight = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 8.0], size=len(y))
        model, twin = pair(rule, readout, max_iter=PASSES)
        assert_same_fit(model, twin, X, y, Q, weight=weight)
        if readout != "pocket":
            model, twin = pair(rule, readout, classes=NAMES[:n_classes])
            twin.partial_fit(X, y, weight)
            assert_same(model.partial_fit(X, y, classes=NAMES[:n_classes], sample_weight=weight), twin, Q)


@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_class_weight(rule):
    """It multiplies the weights of examples."""
    X, y, Q = data(rule, 2)
    weight = np.random.default_rng(1).choice([0.5, 1.0, 2.0], size=len(y))
    model, twin = pair(rule, max_iter=PASSES)
    model.set_params(class_weight={"ant": 2.0, "bee": 0.25})
    twin.fit(X, y, PASSES, weight * np.where(y == "ant", 2.0, 0.25))
    assert_same(model.fit(X, y, sample_weight=weight), twin, Q)


def test_pa_refuses_weights():
    X, y, _ = data("pa", 2)
    with pytest.raises(ValueError, match="weight"):
        Perceptron(rule="pa").fit(X, y, sample_weight=np.full(len(y), 2.0))
    with pytest.raises(ValueError, match="weight"):
        Perceptron(rule="pa").partial_fit(X, y, sample_weight=np.full(len(y), 2.0))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_start_weights(rule, n_classes):
    """The start counts among the hypotheses of a mean or a vote for as long as it is in force."""
    lines = 1 if n_classes == 2 else n_classes
    random = np.random.default_rng(2)
    X, y, Q = data(rule, n_classes)
    for readout in READOUTS:
        coef = random.integers(-3, 4, size=(lines, X.shape[1])).astype(float)
        intercept = random.integers(-3, 4, size=lines).astype(float)
        model, twin = pair(rule, readout, start={"coef": coef, "intercept": intercept}, max_iter=PASSES)
        assert_same_fit(model, twin, X, y, Q, coef_init=coef, intercept_init=intercept)
        model, twin = pair(rule, readout, start={"intercept": intercept}, max_iter=1)
        assert_same_fit(model, twin, X, y, Q, intercept_init=intercept)


@pytest.mark.parametrize("readout", ["last", "averaged", "voted"])
def test_warm_start_goes_on(readout):
    X, y, Q = data("perceptron", 2)
    model, twin = pair("perceptron", readout, max_iter=2)
    model.set_params(warm_start=True).fit(X, y).fit(X, y)
    assert_same(model, twin.fit(X, y, max_iter=4), Q)
    np.testing.assert_array_equal(model.mistakes_, twin.mistakes[2:])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_margin_bound_is_the_length_of_the_mean_step(rule, n_classes):
    """‖w‖/Στ, the step of w taken without η; a bound found earlier in the run may be better still."""
    X, y, _ = data(rule, n_classes)
    for fit_intercept in (True, False):
        model, twin = pair(rule, "last", fit_intercept, eta0=0.5, max_iter=PASSES)
        twin.fit(X, y, PASSES)
        bound = np.linalg.norm(twin.w) / (0.5 * twin.sum_tau)
        assert 0 < model.fit(X, y).margin_bound_ <= bound * (1 + 1e-9)
