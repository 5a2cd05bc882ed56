"""The kernel perceptron: its kernels, its steps in the dual, and what it tells of a fitted model."""

import copy
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from kernel_cases import (
    LINEAR,
    NAMES,
    QUADRATIC,
    READOUTS,
    RULES,
    assert_same_fit,
    close,
    coefficients,
    data,
    gram,
    pair,
    rings,
)
from naive import Naive
from naive_kernel import quadratic
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from perceptrons import KernelPerceptron, Perceptron
from perceptrons.rules import PA1

PASSES = 4
TAKES = {  # what each kernel is given in scikit-learn
    "linear": (),
    "poly": ("gamma", "degree", "coef0"),
    "rbf": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
    "cosine": (),
    "laplacian": ("gamma",),
}
LAYOUTS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "csr-float32": lambda X: sp.csr_array(X.astype(np.float32)),
}


def rows_of(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def decided(model, K):
    """Scores by the definition, from kernel values of shape (n, n_support)."""
    scores = K @ model.dual_coef_.T + model.intercept_
    return scores[:, 0] if len(model.classes_) == 2 else scores


# -- kernels ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", TAKES)
def test_scores_are_kernel_values_times_coefficients(name, layout):
    random = np.random.default_rng(0)
    X, Q = random.normal(size=(50, 4)), random.normal(size=(20, 4))
    X[random.random(X.shape) < 0.3] = 0
    X[7] = Q[3] = 0  # the cosine of a row of zeros is 0
    rtol = 1e-4 if "32" in layout else 1e-9
    numbers = {"gamma": 0.3, "degree": 2, "coef0": 0.5}
    for n_classes in (2, 3):
        y = random.integers(n_classes, size=50)
        model = KernelPerceptron(kernel=name, max_iter=3, **numbers).fit(LAYOUTS[layout](X), y)
        vectors = rows_of(model.support_vectors_)
        np.testing.assert_array_equal(vectors, rows_of(LAYOUTS[layout](X))[model.support_])
        K = pairwise_kernels(Q, vectors.astype(float), metric=name, **{key: numbers[key] for key in TAKES[name]})
        np.testing.assert_allclose(model.decision_function(LAYOUTS[layout](Q)), decided(model, K), rtol, 30 * rtol)


def test_gamma_by_name_is_that_of_svc():
    X, y, Q = data("pa", 2)
    for rows in (X, sp.csr_array(X), X.astype(np.float32)):
        for name, number in (("scale", 1 / (3 * X.var())), ("auto", 1 / 3)):
            by_name, by_number = (KernelPerceptron(gamma=gamma, max_iter=3).fit(rows, y) for gamma in (name, number))
            np.testing.assert_allclose(by_name.decision_function(Q), by_number.decision_function(Q), 1e-5, 1e-5)
    constant = np.ones((4, 2))
    assert KernelPerceptron(max_iter=2).fit(constant, [0, 1, 0, 1]).predict(constant).shape == (4,)


def test_defaults_are_those_of_svc():
    X, y, Q = data("pa", 2)
    defaults = {"gamma": 1 / (3 * X.var()), "degree": SVC().degree, "coef0": SVC().coef0}
    for name in ("poly", "sigmoid", "rbf"):
        model = KernelPerceptron(kernel=name, max_iter=3).fit(X, y)
        numbers = {key: defaults[key] for key in TAKES[name]}
        close(model.decision_function(Q), decided(model, pairwise_kernels(Q, X[model.support_], name, **numbers)))
    assert SVC().kernel == KernelPerceptron().kernel and SVC().gamma == KernelPerceptron().gamma


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_callable_and_a_matrix_say_the_same_as_a_name(n_classes):
    X, y, Q = data("perceptron", n_classes)

    def values(A, B):
        return (A @ B.T + 1) ** 2

    for readout in READOUTS:
        named = KernelPerceptron(**QUADRATIC, readout=readout, max_iter=PASSES).fit(X, y)
        called = KernelPerceptron(kernel=values, readout=readout, max_iter=PASSES).fit(X, y)
        given = KernelPerceptron(kernel="precomputed", readout=readout, max_iter=PASSES).fit(values(X, X), y)
        for model, rows in ((called, Q), (given, values(Q, X))):
            np.testing.assert_array_equal(model.mistakes_, named.mistakes_)
            np.testing.assert_array_equal(model.support_, named.support_)
            np.testing.assert_array_equal(model.decision_function(rows), named.decision_function(Q))
            np.testing.assert_array_equal(model.predict(rows), named.predict(Q))
            if readout != "voted":
                np.testing.assert_array_equal(model.dual_coef_, named.dual_coef_)
        np.testing.assert_array_equal(called.support_vectors_, named.support_vectors_)
        assert given.support_vectors_.shape == (0, 0)


# -- the dual makes the steps of the primal -----------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_the_linear_kernel_is_the_perceptron(rule, n_classes):
    """In a new random order each pass, with the same seed: on rows that can be separated and on rows that cannot."""
    random = np.random.default_rng(1)
    X = random.integers(-3, 4, size=(60, 5)).astype(float)
    if rule.startswith("pa"):
        X += random.normal(size=X.shape) / 4
    learnable = (X @ random.normal(size=(5, n_classes))).argmax(axis=1)
    check = close if rule.startswith("pa") else np.testing.assert_array_equal
    for fit_intercept in (True, False):
        for y in (learnable, random.integers(n_classes, size=60)):
            settings = {
                "rule": RULES[rule],
                "readout": "last",
                "fit_intercept": fit_intercept,
                "max_iter": 300,
                "random_state": 3,
            }
            ours, primal = KernelPerceptron(**LINEAR, **settings).fit(X, y), Perceptron(**settings).fit(X, y)
            check(ours.dual_coef_ @ ours.support_vectors_, primal.coef_)
            check(ours.intercept_, primal.intercept_)
            np.testing.assert_array_equal(ours.mistakes_, primal.mistakes_)
            # A row that PA has brought to a margin of 1 may, when met again, lack a rounding error or not.
            assert abs(ours.n_updates_ - primal.n_updates_) <= (5 if rule.startswith("pa") else 0)
            assert ours.n_seen_ == primal.n_seen_
            assert (ours.converged_, ours.n_iter_) == (primal.converged_, primal.n_iter_)
            np.testing.assert_array_equal(ours.predict(X), primal.predict(X))
            np.testing.assert_allclose(ours.margin_bound_, primal.margin_bound_, rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_polynomial_is_the_perceptron_over_products_of_features(n_classes):
    X, y, Q = data("perceptron", n_classes, n=40)
    settings = {"rule": "perceptron", "max_iter": 30, "tol": None}
    for readout in READOUTS:
        ours = KernelPerceptron(**QUADRATIC, readout=readout, **settings).fit(X, y)
        primal = Perceptron(readout=readout, **settings).fit(quadratic(X), y)
        np.testing.assert_array_equal(ours.mistakes_, primal.mistakes_)
        close(ours.decision_function(Q), primal.decision_function(quadratic(Q)))
        if readout == "last":
            np.testing.assert_array_equal(ours.dual_coef_ @ quadratic(ours.support_vectors_), primal.coef_)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_the_twin_is_a_perceptron_over_products_of_features(rule, n_classes):
    X, y, Q = data(rule, n_classes)
    model, twin = pair(rule)
    primal = Naive(rule, **RULES[rule]._asdict()).fit(quadratic(X), y, PASSES)
    assert twin.fit(gram(model, X, X), y, PASSES).mistakes == primal.mistakes
    for readout in READOUTS:
        close(twin.decision_function(gram(model, Q, X), readout), primal.decision_function(quadratic(Q), readout))
    assert (twin.pocket() != twin.last()).any()


# -- every rule and readout does what the twin does ----------------------------------------------------------------

COVER = [(rule, readout, 2 + (i + j) % 2) for i, rule in enumerate(RULES) for j, readout in enumerate(READOUTS)]
COVER += [("perceptron", readout, 3 - j % 2) for j, readout in enumerate(READOUTS)]


@pytest.mark.parametrize(("rule", "readout", "n_classes"), COVER)
def test_fit(rule, readout, n_classes):
    for seed, (fit_intercept, shape) in enumerate([(True, QUADRATIC), (False, QUADRATIC), (True, LINEAR)]):
        model, twin = pair(rule, readout, fit_intercept, shape=shape, max_iter=PASSES)
        assert_same_fit(model, twin, *data(rule, n_classes, seed))


@pytest.mark.parametrize("readout", READOUTS)
def test_ties_steps_and_weights(readout):
    for n_classes in (2, 3):
        X, y, Q = data("perceptron", n_classes)
        X[1:6] = Q[:3] = 0
        for fit_intercept in (True, False):
            model, twin = pair("perceptron", readout, fit_intercept, tie="positive", max_iter=PASSES, shape=LINEAR)
            assert_same_fit(model, twin, X, y, Q)
        model, twin = pair("perceptron", readout, eta0=0.25, max_iter=PASSES)
        assert_same_fit(model, twin, X, y, Q)
        weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 8.0], size=len(y))
        model, twin = pair("perceptron", readout, max_iter=PASSES)
        assert_same_fit(model, twin, X, y, Q, weight)


@pytest.mark.parametrize(("rule", "n_classes"), [("margin", 3), ("pa1", 2), ("pa2", 3)])
def test_weights_of_examples_and_classes(rule, n_classes):
    X, y, Q = data(rule, n_classes)
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 8.0], size=len(y))
    model, twin = pair(rule, max_iter=PASSES)
    assert_same_fit(model, twin, X, y, Q, weight)
    by_class = clone(model).set_params(class_weight={"ant": 2.0, "bee": 0.25}).fit(X, y, weight)
    both = clone(model).fit(X, y, weight * np.select([y == "ant", y == "bee"], [2.0, 0.25], 1.0))
    np.testing.assert_array_equal(by_class.decision_function(Q), both.decision_function(Q))
    with pytest.raises(ValueError, match="does not accept sample_weight"):
        KernelPerceptron(rule="pa").fit(X, y, weight)


# -- what a fitted model tells ------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_attributes_are_those_of_a_support_vector_machine(layout, n_classes):
    X, _ = rings(80)
    y = NAMES[np.random.default_rng(0).integers(n_classes, size=80)]
    model = KernelPerceptron(max_iter=2).fit(LAYOUTS[layout](X), y)
    n = len(model.support_)
    assert model.dual_coef_.shape == (1 if n_classes == 2 else n_classes, n)
    assert model.intercept_.shape == (1 if n_classes == 2 else n_classes,)
    assert model.n_support_.shape == (n_classes,) and model.n_support_.sum() == n
    codes = np.searchsorted(NAMES, y[model.support_])
    assert (np.diff(codes * 1000 + model.support_) > 0).all()  # by class, then by number
    np.testing.assert_array_equal(np.bincount(codes, minlength=n_classes), model.n_support_)
    assert sp.issparse(model.support_vectors_) == layout.startswith("csr")
    np.testing.assert_array_equal(rows_of(model.support_vectors_), rows_of(LAYOUTS[layout](X))[model.support_])
    np.testing.assert_allclose(model.intercept_, model.dual_coef_.sum(axis=1))  # the bias is a feature like any other
    scores, rows = model.decision_function(X), X.copy()
    X *= 3  # it has kept rows of its own
    np.testing.assert_array_equal(model.decision_function(rows), scores)
    if n_classes == 2:
        np.testing.assert_array_equal(np.sign(model.dual_coef_[0]), 2 * codes - 1)
    else:
        np.testing.assert_allclose(model.dual_coef_.sum(axis=0), 0, atol=1e-12)
        assert (model.dual_coef_[codes, np.arange(n)] > 0).all()


def test_voted_has_no_coefficients():
    X, y = rings(40)
    model = KernelPerceptron(readout="voted", max_iter=2).fit(X, y)
    for name in ("dual_coef_", "intercept_"):
        with pytest.raises(AttributeError, match="vote"):
            getattr(model, name)
    assert (np.abs(model.decision_function(X)) <= 1).all()


@pytest.mark.parametrize("settings", [{}, {"readout": "voted"}, {"readout": "averaged"}, {"budget": 10}], ids=str)
def test_copies(settings, tmp_path):
    X, y = rings(60)
    model = KernelPerceptron(max_iter=3, **settings).fit(X, y)
    joblib.dump(model, tmp_path / "model")
    copies = [pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model"), copy.deepcopy(model)]
    again = clone(model)
    assert not hasattr(again, "support_") and again.get_params() == model.get_params()
    scores = model.decision_function(X)
    np.testing.assert_array_equal(again.fit(X, y).decision_function(X), scores)
    model.partial_fit(X[:20], 1 - y[:20])
    for other in copies:
        np.testing.assert_array_equal(other.decision_function(X), scores)
        other.partial_fit(X[:20], 1 - y[:20])
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))


def test_parameters():
    X, y = rings(60)
    assert KernelPerceptron(rule="pa1").set_params(rule__C=0.25).rule == PA1(0.25)
    grid = {"rule__C": [1e-3, 10.0], "gamma": [0.1, 1.0], "readout": ["last", "averaged"]}
    search = GridSearchCV(KernelPerceptron(rule=PA1(), max_iter=3), grid, cv=2).fit(X, y)
    assert len(search.cv_results_["params"]) == 8
    few = KernelPerceptron(rule=PA1(1e-3), max_iter=1).fit(X, y)
    np.testing.assert_allclose(np.abs(few.dual_coef_).max(), 1e-3)
    with pytest.raises(TypeError, match="positional"):
        KernelPerceptron("rbf")


def test_coefficients_of_all_rows_make_the_weights_of_a_mean():
    """The mean of hypotheses has the mean coefficients: with the linear kernel, the averaged perceptron."""
    X, y, _ = data("perceptron", 3, n=64)
    ours = KernelPerceptron(**LINEAR, rule="perceptron", readout="averaged", max_iter=4, tol=None).fit(X, y)
    primal = Perceptron(readout="averaged", max_iter=4, tol=None).fit(X, y)
    close(coefficients(ours, 64) @ X, primal.coef_)
    close(ours.intercept_, primal.intercept_)
