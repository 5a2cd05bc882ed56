"""How the kernel perceptron trains and ends: convergence and its proof, memory, held-out rows, warm starts."""

import itertools
import tracemalloc
from math import inf, sqrt

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_cases import LINEAR, QUADRATIC, READOUTS, RULES, assert_same, close, data, gram, pair, rings
from naive_kernel import quadratic
from naive_theory import signed, sq_distance
from sklearn.exceptions import ConvergenceWarning
from training_cases import textbook, textbook_kernel

from perceptrons.theory import separability

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])


# -- convergence --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_the_gaussian_separates_whatever_does_not_contradict_itself(rule, n_classes):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(150, 2)), random.integers(n_classes, size=150)
    X[:5], y[:5] = X[5:10], y[5:10]  # repeated rows with the same label do no harm
    model = textbook_kernel(rule=rule, gamma=20.0).fit(X, y)
    assert model.converged_ and model.mistakes_[-1] == 0
    assert model.score(X, y) == 1


def test_the_gaussian_takes_noise_for_truth():
    """With more rows than one block of kernel values, in random order, by default settings but for gamma."""
    X, y = rings(1500, gap=-0.5)
    model = textbook_kernel(gamma=1000.0).fit(X, y)
    assert model.converged_ and model.score(X, y) == 1


@pytest.mark.parametrize("readout", READOUTS)
def test_exclusive_or(readout):
    X, y = XOR
    model = textbook_kernel(**QUADRATIC, readout=readout).fit(X, y)
    assert model.converged_
    if readout in ("last", "pocket"):
        assert model.score(X, y) == 1
    with pytest.warns(ConvergenceWarning):
        assert not textbook_kernel(**LINEAR, readout=readout).fit(X, y).converged_


@pytest.mark.parametrize("readout", READOUTS)
def test_rows_that_contradict_each_other_are_given_up_with_a_proof(readout):
    X, y = rings(60)
    X[1], y[:2] = X[0], [0, 1]
    with pytest.warns(ConvergenceWarning, match=r"stopped after .* passes by tol=0.1") as caught:
        model = textbook_kernel(tol=0.1, gamma=1.0, readout=readout).fit(X, y)
    assert not model.converged_
    assert model.margin_bound_ < 0.1 * sqrt(2)  # R² = k(x, x) + 1
    assert model.n_updates_ <= 1 / 0.1**2 + len(X)
    text = str(caught[0].message)
    assert caught[0].filename == __file__
    for part in (str(model.n_iter_), f"{model.mistakes_[-1]} in the last pass", f"{model.mistakes_.min()} in the best"):
        assert part in text
    for advice in ("smaller tol", "kernel", "separability"):
        assert advice in text


def test_max_iter_bounds_the_passes():
    X, y = rings(60)
    X[1], y[:2] = X[0], [0, 1]
    with pytest.warns(ConvergenceWarning, match="max_iter=7"):
        model = textbook_kernel(tol=None, max_iter=7).fit(X, y)
    assert model.n_iter_ == 7 == len(model.mistakes_) and model.n_seen_ == 420
    assert model.mistakes_.sum() == model.n_mistakes_ == model.n_updates_


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_bound_is_the_length_of_the_mean_step(rule, n_classes):
    """‖w‖/Στ, the step of w taken without η; a bound found earlier in the run may be better still."""
    for seed in range(3):
        X, y, _ = data(rule, n_classes, seed)
        for fit_intercept in (True, False):
            model, twin = pair(rule, "last", fit_intercept, eta0=0.5, max_iter=4)
            K = gram(model, X, X) + fit_intercept
            w = twin.fit(gram(model, X, X), y, 4).last()[:, :-1]
            length = sqrt(np.trace(w @ K @ w.T)) / (0.5 * twin.sum_tau)
            assert 0 < model.fit(X, y).margin_bound_ <= length * (1 + 1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_separator_has_a_larger_margin(n_classes):
    """The largest margin by brute force, in exact arithmetic, over the features that the kernel stands for."""
    separable = 0
    for seed in range(4):
        X, y, _ = data("perceptron", n_classes, seed, n=7 - n_classes)
        X = X[:, :2]
        if textbook_kernel(**QUADRATIC).fit(X, y).converged_:
            separable += 1
            margin = sqrt(sq_distance(signed(quadratic(X).astype(int), y)))
            for rule in RULES:
                for max_iter in (1, 1000):
                    model = textbook_kernel(rule=rule, **QUADRATIC, max_iter=max_iter).fit(X, y)
                    assert margin * (1 - 1e-12) <= model.margin_bound_ < inf
    assert separable > 1


def test_the_bound_needs_a_kernel_that_is_an_inner_product():
    X, y = rings(40)
    for settings in ({"kernel": "sigmoid"}, {"kernel": "poly", "coef0": -1.0}, {"budget": 10}):
        assert textbook_kernel(**settings, max_iter=3).fit(X, y).margin_bound_ == inf
    assert textbook_kernel(max_iter=3).fit(X, y).margin_bound_ < inf


# -- memory -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large():
    """3,000 rows of small integers, and labels with some noise of a concept that is not linear."""
    random = np.random.default_rng(0)
    X = random.integers(-3, 4, size=(3000, 6)).astype(float)
    y = ((X[:, :3] ** 2).sum(axis=1) + 3 * random.normal(size=3000) > 12).astype(int)
    return X, y


@pytest.mark.parametrize(("shape", "seed"), [(QUADRATIC, 0), (QUADRATIC, 1), (LINEAR, 0)], ids=str)
def test_memory_changes_time_only(large, shape, seed):
    X, y = large
    settings = {**shape, "random_state": seed, "max_iter": 3}
    roomy = textbook_kernel(**settings).fit(X, y)
    assert len(roomy.support_) > 300
    primal = textbook(random_state=seed, max_iter=3).fit(quadratic(X) if shape is QUADRATIC else X, y)
    np.testing.assert_array_equal(roomy.mistakes_, primal.mistakes_)
    columns = 8 * len(X)  # bytes of the kernel values of a row with all rows
    for max_memory in (5 * columns, 40 * columns, 400 * columns):
        for rows in (X, sp.csr_array(X)) if max_memory == 40 * columns else (X,):
            narrow = textbook_kernel(**settings, max_memory=max_memory).fit(rows, y)
            np.testing.assert_array_equal(narrow.mistakes_, roomy.mistakes_)
            np.testing.assert_array_equal(narrow.support_, roomy.support_)
            np.testing.assert_array_equal(narrow.dual_coef_, roomy.dual_coef_)


@pytest.mark.parametrize("readout", ["averaged", "voted", "pocket"])
def test_memory_changes_no_readout(large, readout):
    X, y = (part[:1200] for part in large)
    y = y + (X[:, 5] > 1)
    fits = [
        textbook_kernel(**QUADRATIC, readout=readout, max_iter=2, max_memory=memory).fit(X, y)
        for memory in (2**30, 2**17)
    ]
    np.testing.assert_array_equal(fits[0].mistakes_, fits[1].mistakes_)
    close(*(model.decision_function(X[:100]) for model in fits))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_passes_of_every_length(large, n_classes):
    """Around the lengths at which blocks of kernel values may end."""
    X, y = large
    y = y + (n_classes - 2) * (X[:, 5] > 1)
    for n in (1, 2, 255, 256, 257, 511, 512, 513, 1024, 1025, 2049):
        rows, labels, classes = X[:n], y[:n], range(n_classes)
        ours = textbook_kernel(**LINEAR).partial_fit(rows, labels, classes)
        primal = textbook().partial_fit(rows, labels, classes)
        np.testing.assert_array_equal(ours.dual_coef_ @ ours.support_vectors_, primal.coef_)
        if len(set(labels)) == n_classes:
            ours, primal = (model.set_params(max_iter=2).fit(rows, labels) for model in (ours, primal))
            np.testing.assert_array_equal(ours.mistakes_, primal.mistakes_)
            np.testing.assert_array_equal(ours.dual_coef_ @ ours.support_vectors_, primal.coef_)


# -- held-out rows and warm starts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("readout", READOUTS)
def test_held_out_rows_are_those_of_the_perceptron(readout):
    X, y, Q = data("perceptron", 2, n=60)
    settings = {"readout": readout, "tol": None, "n_iter_no_change": 3}
    for options, held_out in itertools.product(({}, {"early_stopping": True}), ({}, {"X_val": X[:9], "y_val": y[:9]})):
        ours, primal = (
            estimator(**kernel, **settings, **options, max_iter=8).fit(X, y, **held_out)
            for estimator, kernel in ((textbook_kernel, LINEAR), (textbook, {}))
        )
        np.testing.assert_array_equal(ours.mistakes_, primal.mistakes_)
        close(ours.decision_function(Q), primal.decision_function(Q))
        assert ours.n_seen_ == primal.n_seen_
        if options or held_out:
            np.testing.assert_array_equal(ours.validation_errors_, primal.validation_errors_)


@pytest.mark.parametrize("readout", ["last", "averaged", "voted"])
def test_warm_start_goes_on(readout):
    for n_classes in (2, 3):
        X, y, Q = data("perceptron", n_classes)
        model, twin = pair("perceptron", readout, max_iter=2)
        model.set_params(warm_start=True).fit(X, y).fit(X, y)
        twin.fit(gram(model, X, X), y, 4)
        np.testing.assert_array_equal(model.mistakes_, twin.mistakes[2:])
        assert (model.n_seen_, model.n_updates_) == (twin.n_seen, twin.n_updates)
        close(model.decision_function(Q), np.squeeze(twin.decision_function(gram(model, Q, X), readout)))
    cold = pair("perceptron", readout, max_iter=2)[0]
    assert cold.fit(X, y).fit(X, y).n_seen_ == 2 * len(X)


@pytest.mark.parametrize("rule", ["perceptron", "pa"])
def test_partial_fit_goes_on_after_fit(rule):
    for n_classes, readout in itertools.product((2, 3), ("last", "averaged", "voted")):
        X, y, Q = data(rule, n_classes)
        model, twin = pair(rule, readout, max_iter=2)
        points = np.vstack([X, Q[:5]])
        twin.fit(gram(model, X, points), y, 2)
        twin.partial_fit(gram(model, Q[:5], points), y[:5], first=len(X))
        assert_same(model.fit(X, y).partial_fit(Q[:5], y[:5]), twin, points, Q)
        assert not model.converged_


def test_separability_is_that_in_the_feature_space():
    X, y = XOR
    curved, straight = (textbook_kernel(**shape).fit(X, y) for shape in (QUADRATIC, LINEAR))
    for error in (0.0, curved.kernel_error(X)):
        assert separability(K=curved.kernel_matrix(X), y=y, K_error=error).separable
    assert not separability(K=straight.kernel_matrix(X), y=y).separable


def test_memory_is_what_was_allowed():
    X, y = rings(6000, gap=-0.5)
    tracemalloc.start()
    textbook_kernel(gamma=1.0, max_iter=2, max_memory=2**25).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**25  # all columns would take 288 MB
