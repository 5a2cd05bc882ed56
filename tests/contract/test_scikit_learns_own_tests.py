"""scikit-learn's own tests of its perceptron and its passive-aggressive models, with the classes of this package."""

import functools
import importlib
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.utils import get_tags

import perceptrons

X, y = load_iris(return_X_y=True)

# Tests that these classes do not pass, and why. README.md lists the differences for users.
DIFFERENT = {
    "test_perceptron_l1_ratio": "there are no penalties",
    "test_classifier_accuracy[average]": "private attributes of the mean: `coef_` is the mean itself",
    "test_classifier_partial_fit[average]": "private attributes of the mean: `coef_` is the mean itself",
    "test_regressor_mse[average]": "private attributes of the mean: `coef_` is the mean itself",
    "test_regressor_partial_fit[average]": "private attributes of the mean: `coef_` is the mean itself",
    "test_regressor_correctness": "the bias counts in ‖x‖², and is not damped for sparse rows",
    "test_passive_aggressive_regressor_vs_sgd": "another random order, and the bias counts in ‖x‖²",
    "test_classifier_correctness": "the bias counts in ‖x‖², and is not damped for sparse rows",
    "test_passive_aggressive_classifier_vs_sgd": "another random order, and the bias counts in ‖x‖²",
}
LAST = {"test_perceptron_correctness"}  # compare the last weights, which are scikit-learn's
OURS = ("Perceptron", "PassiveAggressiveClassifier", "PassiveAggressiveRegressor")


def borrowed(name):
    """The tests of a module of scikit-learn, which now find the classes of this package."""
    try:
        module = importlib.import_module(f"sklearn.linear_model.tests.{name}")
    except ImportError:  # not installed with scikit-learn, or gone together with the class
        return
    for ours in OURS:
        if hasattr(module, ours):
            setattr(module, ours, getattr(perceptrons, ours))
    for test in dir(module):
        if test.startswith("test_") and "deprecation" not in test.split("_"):
            yield test, getattr(module, test)


globals().update(
    {test: function for name in ("test_perceptron", "test_passive_aggressive") for test, function in borrowed(name)}
)


@pytest.fixture(autouse=True)
def differences(request, monkeypatch):
    """Expect the differences, and notice when one has gone."""
    if request.node.originalname in LAST:
        last = functools.partial(perceptrons.Perceptron, readout="last")
        monkeypatch.setitem(request.function.__globals__, "Perceptron", last)
    name, params = request.node.originalname, getattr(getattr(request.node, "callspec", None), "params", {})
    reason = DIFFERENT.get(name) or (params.get("average") is True and DIFFERENT.get(f"{name}[average]"))
    if reason:
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


def test_there_are_some():
    if next(borrowed("test_perceptron"), None) is None:
        pytest.skip("scikit-learn was installed without its tests")
    assert "test_perceptron_correctness" in globals()


# -- parameters of scikit-learn's classes ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OURS)
def test_all_parameters_of_scikit_learns_class_are_accepted(name):
    theirs = getattr(importlib.import_module("sklearn.linear_model"), name, None)
    if theirs is None:
        pytest.skip(f"this scikit-learn has no {name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # it is about to go
        given = theirs().get_params()
    model = getattr(perceptrons, name)(**given).fit(X, y)
    assert model.get_params(deep=False).keys() >= given.keys()


def test_what_changes_nothing_changes_nothing():
    plain = perceptrons.Perceptron().fit(X, y)
    same = perceptrons.Perceptron(penalty=None, alpha=0.5, l1_ratio=0.9, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, same.coef_)
    with pytest.raises(ValueError, match=r"penalty must be None, got 'l2': .*SGDClassifier\(loss='perceptron'"):
        perceptrons.Perceptron(penalty="l2").fit(X, y)


@pytest.mark.parametrize("name", [*OURS, "KernelPerceptron"])
def test_early_stopping_is_refused_in_a_stream(name):
    model = getattr(perceptrons, name)(early_stopping=True)
    for learn in (model.partial_fit, model.predict_then_learn):
        with pytest.raises(ValueError, match="early_stopping should be False with partial_fit"):
            learn(X, y)
    assert not hasattr(model, "n_features_in_")
    tagger = perceptrons.SequenceTagger(early_stopping=True)
    with pytest.raises(ValueError, match="early_stopping should be False with partial_fit"):
        tagger.partial_fit([["a"]], [["A"]])


def test_sparse_kernel_matrices_are_not_announced():
    assert get_tags(perceptrons.KernelPerceptron()).input_tags.sparse
    assert not get_tags(perceptrons.KernelPerceptron(kernel="precomputed")).input_tags.sparse
    with pytest.raises(ValueError, match="got a sparse one"):
        perceptrons.KernelPerceptron(kernel="precomputed").fit(sp.eye_array(4, format="csr"), [0, 1, 0, 1])
