"""Regression does what `naive_values` does, in streams of any cut and in passes."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_values import NaiveValues

from perceptrons import PassiveAggressiveRegressor
from perceptrons.rules import AROW, PA, PA1, PA2

RULES = {
    "pa": (PA(), {}),
    "pa1": (PA1(0.2), {"C": 0.2}),
    "pa2": (PA2(0.2), {"C": 0.2}),
    "arow": (AROW(2.0), {"r": 2.0}),
    "full": (AROW(2.0, "full"), {"r": 2.0, "full": True}),
}
CUTS = st.lists(st.integers(0, 40), max_size=4).map(sorted)


def data(seed, n=40):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4)) * (random.random((n, 4)) < 0.6)
    X[3] = 0.0  # without a bias, no step can correct such a row
    return X, X @ np.array([1.0, -2.0, 0.0, 3.0]) + 2.0 + random.normal(size=n)


def pair(name, **params):
    rule, own = RULES[name]
    twin = NaiveValues(name if name != "full" else "arow", **own, **params)
    return PassiveAggressiveRegressor(rule=rule, shuffle=False, **params), twin


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("name", RULES)
def test_passes(name, layout):
    X, y = data(1)
    for fit_intercept in (True, False):
        for average in (False, True):
            model, twin = pair(name, fit_intercept=fit_intercept, epsilon=0.3)
            model.set_params(max_iter=3, tol=None, average=average).fit(layout(X), y)
            for _ in range(3):
                twin.once(X, y)
            w = twin.mean if average else twin.w
            np.testing.assert_allclose(model.coef_, w[:-1], atol=1e-9)
            np.testing.assert_allclose(model.intercept_, w[-1:] * fit_intercept, atol=1e-9)
            np.testing.assert_allclose(model.predict(layout(X)), X @ w[:-1] + w[-1] * fit_intercept, atol=1e-9)
            assert model.n_mistakes_ == np.count_nonzero(twin.losses) and model.n_seen_ == 120


@pytest.mark.parametrize("name", RULES)
@given(cuts=CUTS, seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_streams_may_be_cut_anywhere(name, cuts, seed):
    X, y = data(seed)
    whole, twin = pair(name)
    guesses = whole.set_params(average=True).predict_then_learn(X, y)
    twin.once(X, y)
    np.testing.assert_allclose(guesses, twin.guesses, atol=1e-9)
    np.testing.assert_allclose(whole.coef_, twin.mean[:-1], atol=1e-9)
    parts = pair(name)[0].set_params(average=True)
    told = [parts.predict_then_learn(X[part], y[part]) for part in np.split(np.arange(40), cuts) if len(part)]
    np.testing.assert_array_equal(np.concatenate(told), guesses)  # bit for bit
    np.testing.assert_array_equal(parts.coef_, whole.coef_)
    np.testing.assert_array_equal(parts.intercept_, whole.intercept_)


@pytest.mark.parametrize("name", ["pa1", "pa2", "arow"])
def test_weights_scale_C_or_divide_r(name):
    X, y = data(2)
    weight = np.random.default_rng(0).choice([0.0, 0.5, 2.0], size=len(y))
    model, twin = pair(name)
    twin.once(X[weight > 0], y[weight > 0], weight[weight > 0])
    np.testing.assert_allclose(model.partial_fit(X, y, sample_weight=weight).coef_, twin.w[:-1], atol=1e-9)
    assert model.n_seen_ == np.count_nonzero(weight)


def test_training_ends_when_the_loss_stops_falling():
    X, y = data(3)
    model, twin = pair("pa1")
    model.set_params(tol=0.05, n_iter_no_change=2).fit(X, y)
    losses, best, worse = [], np.inf, 0
    while worse < 2:
        losses.append(twin.once(X, y))
        worse = worse + 1 if losses[-1] > best - 0.05 * len(y) else 0
        best = min(best, losses[-1])
    assert model.n_iter_ == len(losses)
    np.testing.assert_allclose(model.coef_, twin.w[:-1], atol=1e-9)


def test_pa_reaches_the_value_up_to_epsilon():
    """The step of plain PA is the smallest that brings the loss to 0, if the row is not zero."""
    X, y = data(4)
    model = PassiveAggressiveRegressor(rule="pa", epsilon=0.25)
    for x, value in zip(X, y, strict=True):
        model.partial_fit([x], [value])
        assert abs(model.predict([x])[0] - value) <= 0.25 + 1e-12


def test_arow_with_a_large_r_moves_nothing():
    X, y = data(5)
    assert np.abs(PassiveAggressiveRegressor(rule=AROW(1e12)).partial_fit(X, y).coef_).max() < 1e-9
