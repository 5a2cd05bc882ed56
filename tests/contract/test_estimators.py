"""Estimators and scikit-learn: its own conformance checks, searches, pipelines, metadata."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from perceptrons import Perceptron
from perceptrons.rules import PA1, PA2, RULES, Margin, resolve

# scikit-learn expects these of its own Perceptron as well: a weight scales a step, and n rows make n steps.
EXPECTED = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "a row of weight 2 makes one step of length 2, two rows make up to two steps",
)


def test_scikit_learns_checks(classifier):
    results = check_estimator(classifier, expected_failed_checks=EXPECTED, on_fail=None, on_skip=None)
    wrong = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert not wrong
    assert len(results) > 50


@pytest.fixture(scope="module")
def data():
    return make_classification(300, 8, n_informative=5, n_classes=3, random_state=0)


def test_grid_search_reaches_the_rules_parameters(data):
    X, y = data
    search = GridSearchCV(Perceptron(rule=PA1(), max_iter=5), {"rule__C": [1e-3, 10.0]}, cv=3).fit(X, y)
    assert {p["rule__C"] for p in search.cv_results_["params"]} == {1e-3, 10.0}
    fitted = [Perceptron(rule=PA1(C), max_iter=5).fit(X, y).coef_ for C in (1e-3, 10.0)]
    assert not np.allclose(*fitted)
    best = Perceptron(rule=PA1(search.best_params_["rule__C"]), max_iter=5).fit(X, y)
    np.testing.assert_array_equal(search.best_estimator_.coef_, best.coef_)


def test_rules_can_be_searched_together(data):
    X, y = data
    grid = {"rule": ["perceptron", Margin(0.5), PA2(0.1)], "readout": ["last", "averaged"]}
    assert len(GridSearchCV(Perceptron(max_iter=3), grid, cv=2).fit(X, y).cv_results_["params"]) == 6


def test_parameters_of_rules():
    model = Perceptron(rule="pa1")
    assert model.get_params()["rule__C"] == 1.0
    assert "rule__C" not in model.get_params(deep=False)
    assert model.set_params(rule__C=0.25, eta0=2.0).rule == PA1(0.25)
    assert clone(model).rule == PA1(0.25)
    assert "rule=PA1(C=0.25)" in repr(model)
    with pytest.raises(ValueError, match=r"Invalid parameter 'D' for rule PA1\(C=0.25\)"):
        model.set_params(rule__D=1)
    with pytest.raises(ValueError, match="Invalid parameter 'bogus'"):
        model.set_params(bogus=1)
    assert PA1(1.0) != PA2(1.0) and hash(PA1(1.0)) != hash(PA2(1.0))
    assert PA1(1.0) == PA1(1.0)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (PA1(C=-1), "C must be > 0, got -1.0"),
        (PA2(C=0), "C must be > 0, got 0.0"),
        (PA1(C=float("nan")), "C must be > 0, got nan"),
        (Margin(-0.5), "beta must be >= 0, got -0.5"),
        ("pa3", f"rule must be one of {', '.join(map(repr, RULES))}"),
    ],
)
def test_bad_rules_are_named(rule, message):
    with pytest.raises(ValueError, match=message):
        resolve(rule)
    model = Perceptron(rule=rule)
    with pytest.raises(ValueError, match=message):
        model.fit([[1.0], [-1.0]], [0, 1])
    assert not hasattr(model, "classes_")


def test_pipelines_scores_calibration_and_output(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), Perceptron(readout="averaged", max_iter=10))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.5
    assert pipeline.set_output(transform="pandas").fit(X, y).predict(X).shape == y.shape
    calibrated = CalibratedClassifierCV(Perceptron(readout="averaged", max_iter=10), cv=3).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)
    assert not hasattr(Perceptron(), "predict_proba")


def test_metadata_routing(data):
    X, y = data
    weight = np.where(y == 0, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = Perceptron(max_iter=3).set_fit_request(sample_weight=True)
        routed = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model).fit(
            X, y, sample_weight=weight
        )
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(routed[-1].coef_, Perceptron(max_iter=3).fit(scaled, y, weight).coef_)
    assert not np.array_equal(routed[-1].coef_, Perceptron(max_iter=3).fit(scaled, y).coef_)


def test_no_warning_but_the_one_about_convergence():
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Perceptron().fit(X, y == 0)
        with pytest.warns(ConvergenceWarning):
            Perceptron(max_iter=1).fit(sp.csr_array(X), y)
