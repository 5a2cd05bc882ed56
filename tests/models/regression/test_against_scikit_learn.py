"""PassiveAggressiveRegressor in place of scikit-learn's: the same signature, and the same results without a bias."""

import inspect
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn.datasets import make_regression
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

from perceptrons import PassiveAggressiveRegressor
from perceptrons.rules import AROW

# As for the classifiers: a row of weight 2 makes one step with 2C, two rows make up to two steps.
EXPECTED = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "a weight scales C, and n rows make n steps",
)
LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive")


@pytest.fixture(scope="module")
def theirs():
    """scikit-learn's class, as long as it is there."""
    found = getattr(sklearn.linear_model, "PassiveAggressiveRegressor", None)
    if found is None:
        pytest.skip("this scikit-learn has no PassiveAggressiveRegressor")

    def make(**params):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # it is about to go
            return found(**params)

    make.signature = inspect.signature(found)
    return make


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 5)) * (random.random((120, 5)) < 0.7)
    return X, X @ random.normal(size=5) * 3 + 0.3 * random.normal(size=120)


def test_same_parameters_with_the_same_defaults(theirs):
    ours = inspect.signature(PassiveAggressiveRegressor).parameters
    for name, parameter in theirs.signature.parameters.items():
        assert ours[name].default == parameter.default, name
        assert ours[name].kind == parameter.kind == inspect.Parameter.KEYWORD_ONLY
    assert set(ours) - set(theirs.signature.parameters) == {"rule", "scale"}


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.01, 0.3, 2.0])
def test_same_weights_without_a_bias_and_without_shuffling(theirs, data, loss, C, layout):
    X, y = layout(data[0]), data[1]
    for params in ({}, {"epsilon": 0.5}, {"tol": None, "max_iter": 3}, {"n_iter_no_change": 2, "tol": 0.01}):
        params = {"C": C, "loss": loss, "shuffle": False, "fit_intercept": False, **params}
        a, b = theirs(**params).fit(X, y), PassiveAggressiveRegressor(**params).fit(X, y)
        np.testing.assert_allclose(b.coef_, a.coef_, rtol=1e-9, atol=1e-12)
        assert b.n_iter_ == a.n_iter_ and b.coef_.shape == a.coef_.shape
        np.testing.assert_array_equal(b.intercept_, a.intercept_)
        np.testing.assert_allclose(b.predict(X), a.predict(X), rtol=1e-9)
        np.testing.assert_allclose(b.score(X, y), a.score(X, y))


def test_same_streams(theirs, data):
    X, y = data
    a, b = (make(C=0.2, fit_intercept=False, shuffle=False) for make in (theirs, PassiveAggressiveRegressor))
    for part in np.split(np.arange(len(y)), 4):
        np.testing.assert_allclose(b.partial_fit(X[part], y[part]).coef_, a.partial_fit(X[part], y[part]).coef_)


def test_same_start(theirs, data):
    X, y = data
    params = {"fit_intercept": False, "shuffle": False, "max_iter": 2, "tol": None}
    a, b = (make(**params).fit(X, y, coef_init=np.arange(5.0)) for make in (theirs, PassiveAggressiveRegressor))
    np.testing.assert_allclose(b.coef_, a.coef_)


@pytest.mark.parametrize("params", [{}, {"rule": AROW(r=2.0), "average": True}], ids=["pa1", "arow"])
def test_scikit_learns_checks(params):
    model = PassiveAggressiveRegressor(**params)
    results = check_estimator(model, expected_failed_checks=EXPECTED, on_fail=None, on_skip=None)
    assert not {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert len(results) > 40


def test_grid_search_reaches_the_rules_parameters():
    X, y = make_regression(100, 4, noise=5.0, random_state=0)
    model = PassiveAggressiveRegressor(rule=AROW(), max_iter=3, random_state=0)
    search = GridSearchCV(model, {"rule__r": [1e-3, 1e6]}, cv=3).fit(X, y)
    assert search.best_params_ == {"rule__r": 1e-3}
    assert PassiveAggressiveRegressor(rule="pa1", C=0.5).get_params()["rule__C"] == 0.5
