"""Streams of raw numbers on one scale (scale="online"): the definition, and that cuts do not matter."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_scaling import NaiveScaling, TwoPasses
from online_scaling_cases import FORMS, D, assert_same, csr, entries, numbers, stream
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from perceptrons import PassiveAggressiveClassifier, PassiveAggressiveRegressor, Perceptron
from perceptrons.data.arrays import as_rows
from perceptrons.learn.scale import running
from perceptrons.learn.state import State

ESTIMATORS = {
    "perceptron": (Perceptron(scale="online"), 2),
    "averaged": (Perceptron(rule="pa1", readout="averaged", scale="online"), 2),
    "arow": (Perceptron(rule="arow", scale="online"), 2),
    "three": (Perceptron(scale="online"), 3),
    "no bias": (Perceptron(scale="online", fit_intercept=False), 2),
    "pa": (PassiveAggressiveClassifier(average=True, scale="online"), 2),
}
WIDTH = st.lists(st.integers(1, 39), max_size=8)
FORMS_OF_ROWS = st.lists(st.sampled_from(FORMS), min_size=8, max_size=8)


def new(name):
    model, n_classes = ESTIMATORS[name]
    return type(model)(**model.get_params(deep=False)), n_classes


def blocks(forms):
    """A form for each of 40 rows; the first row is dense, so that all features exist."""
    return ["dense", *np.repeat(forms, 5)[1:]]


def scaled_rows(X, present, forms, *, centred=True, twin=NaiveScaling):
    """The rows as the twin scales them; absent entries are 0."""
    found, Z = twin(centred=centred), np.zeros_like(X)
    for i, row in enumerate(zip(X, present, forms, strict=True)):
        for j, z in found.observe(entries(*row)).items():
            Z[i, j] = z
    return Z, found


# -- the definition -------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 1000), forms=st.sampled_from(["dense", "csr"]), centred=st.booleans(), cuts=WIDTH)
@settings(max_examples=40, deadline=None)
def test_rows_on_their_scale(seed, forms, centred, cuts):
    """The compiled function gives the bits of the twin, and the numbers of two passes."""
    X, present, _ = numbers(seed)
    state = State(tail=1)
    running.begin(state, D)
    parts = []
    for part in np.split(np.arange(len(X)), sorted(set(cuts))):
        rows = as_rows(X[part] if forms == "dense" else csr(X[part], present[part]))
        parts.append(running.observe(state, rows, None, centred).matrix())
    Z = np.vstack(parts) if forms == "dense" else sp.vstack(parts).toarray()
    expected, twin = scaled_rows(X, present, [forms] * len(X), centred=centred)
    assert np.array_equal(Z, expected)
    for name, found in (
        (running.COUNT, twin.count),
        (running.MEAN, twin.mean),
        (running.SQUARES, twin.squares),
        (running.CENTRE, twin.centre),
        (running.FACTOR, twin.factor),
    ):
        assert np.array_equal(state[name], [*(found.get(j, 0.0) for j in range(D)), 0.0]), name
    two, _ = scaled_rows(X, present, [forms] * len(X), centred=centred, twin=TwoPasses)
    np.testing.assert_allclose(Z, two, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", ESTIMATORS)
@given(seed=st.integers(0, 1000), forms=FORMS_OF_ROWS)
@settings(max_examples=8, deadline=None)
def test_learning_is_that_of_the_scaled_rows(name, seed, forms):
    """A model without scaling learns the same from the rows of the twin; lengths of rows differ by rounding."""
    model, n_classes = new(name)
    (X, present, y), forms = numbers(seed, n_classes=n_classes), blocks(forms)
    stream(model, X, present, y, forms)
    Z, twin = scaled_rows(X, present, forms, centred=model.fit_intercept)
    plain = type(model)(**{**model.get_params(deep=False), "scale": "none"})
    for z, label, form in zip(Z, y, forms, strict=True):
        plain.partial_fit(z[np.newaxis] if form == "dense" else sp.csr_array(z[np.newaxis]), [label])
    weights, expected = model._learner.weights, plain._learner.weights
    np.testing.assert_allclose(weights, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert (model.n_mistakes_, model.n_updates_) == (plain.n_mistakes_, plain.n_updates_)
    later = [twin.scaled(entries(*row, "dense")) for row in zip(X, present, strict=True)]
    scores = plain.decision_function(np.array([[z[j] for j in range(D)] for z in later]))
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-9, atol=1e-9 * np.abs(scores).max())


def test_a_feature_is_sparse_once_it_was_absent():
    model = Perceptron(scale="online")
    model.learn_one({"a": 10.0, "b": 3.0}, 0).learn_one({"a": 14.0}, 1).learn_one({"a": 12.0, "b": 4.0}, 0)
    found = model._learner.scaling
    assert found.centre.tolist() == [12.0, 0.0]
    np.testing.assert_allclose(found.spread, [np.sqrt(8 / 3), np.sqrt(12.5)])
    assert model.score_one({"b": 4.0}) == pytest.approx(
        model._learner.weights[1] * 4 / np.sqrt(12.5) + model._learner.weights[2]
    )
    assert model.score_one({}) == model.score_one({"a": 12.0}) == model._learner.weights[2]  # absent: as the centre


def test_single_rows_score_as_many_do():
    X, present, y = numbers(3)
    model = stream(Perceptron(rule="pa1", scale="online"), X, present, y, ["dense"] * len(y))
    assert [model.score_one(x) for x in X] == model.decision_function(X).tolist()
    assert [model.predict_one(x) for x in X] == model.predict(X).tolist()


# -- cuts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ESTIMATORS)
@given(seed=st.integers(0, 1000), forms=FORMS_OF_ROWS, one=WIDTH, other=WIDTH)
@settings(max_examples=10, deadline=None)
def test_how_a_stream_is_cut_does_not_matter(name, seed, forms, one, other):
    (first, n_classes), (second, _), (third, _) = new(name), new(name), new(name)
    (X, present, y), forms = numbers(seed, n_classes=n_classes), blocks(forms)
    weight = np.random.default_rng(seed).choice([0.0, 0.5, 2.0], size=len(y), p=[0.2, 0.4, 0.4])
    for given_weight in (None, weight):
        stream(first, X, present, y, forms, one, given_weight)
        stream(second, X, present, y, forms, other, given_weight)
        stream(third, X, present, y, forms, range(len(y)), given_weight)
        assert_same(first, second)
        assert_same(first, third)


@given(seed=st.integers(0, 1000), cuts=WIDTH)
@settings(max_examples=10, deadline=None)
def test_guesses_do_not_depend_on_cuts(seed, cuts):
    X, _, y = numbers(seed, n_classes=3)
    whole, cut = Perceptron(scale="online"), Perceptron(scale="online")
    guesses = whole.predict_then_learn(X, y)
    where = sorted(set(cuts))
    parts = [cut.predict_then_learn(*part) for part in zip(np.split(X, where), np.split(y, where), strict=True)]
    first = np.unique(y, return_index=True)[1]  # without `classes`, a new class is not guessed
    assert np.concatenate(parts).tolist() == guesses.tolist()
    assert np.count_nonzero(guesses != y) >= whole.n_mistakes_ - len(first)
    assert_same(whole, cut)


@given(seed=st.integers(0, 1000), cuts=WIDTH)
@settings(max_examples=10, deadline=None)
def test_regression(seed, cuts):
    X, present, _ = numbers(seed)
    y = (X / (1 + np.abs(X).max(axis=0))) @ np.arange(D) * 10 + 100
    for rule in ("pa1", "arow"):
        whole, cut = (PassiveAggressiveRegressor(rule=rule, scale="online") for _ in range(2))
        stream(whole, X, present, y, ["dense"] * len(y))
        stream(cut, X, present, y, ["dense"] * len(y), cuts)
        assert_same(whole, cut)
        np.testing.assert_allclose(X @ whole.coef_ + whole.intercept_, whole.predict(X), rtol=1e-9, atol=1e-9)
        assert whole._learner.unit[:2] == (0.0, 1.0)  # the values are not scaled


@given(seed=st.integers(0, 1000), cuts=WIDTH)
@settings(max_examples=20, deadline=None)
def test_new_names(seed, cuts):
    """Features that appear late are sparse; the twin knows them by name."""
    random, twin = np.random.default_rng(seed), NaiveScaling()
    dicts = [
        {f"n{j}": float(random.normal() * 10.0**j) for j in range(1 + i // 5) if j == 0 or random.random() < 0.6}
        for i in range(40)
    ]
    y = random.integers(2, size=len(dicts)).tolist()
    one, many = Perceptron(scale="online"), Perceptron(scale="online")
    for x, label in zip(dicts, y, strict=True):
        twin.observe(x)
        one.learn_one(x, label)
    ends = sorted({0, *cuts, len(dicts)})
    for begin, end in itertools.pairwise(ends):
        many.learn_many(dicts[begin:end], y[begin:end])
    assert_same(one, many)
    found = one._learner.scaling
    for j, name in enumerate(one.feature_names_in_):
        assert (found.centre[j], found.factor[j]) == (twin.centre[name], twin.factor[name])


# -- raw numbers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
@pytest.mark.parametrize("rule", ["perceptron", "pa1", "arow"])
def test_raw_numbers_are_learned_with_fewer_mistakes(load, rule):
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    plain, online = Perceptron(rule=rule), Perceptron(rule=rule, scale="online")
    assert online.partial_fit(X[order], y[order]).n_mistakes_ < plain.partial_fit(X[order], y[order]).n_mistakes_


def test_raw_numbers_are_regressed_with_smaller_errors():
    X, y = load_diabetes(return_X_y=True)
    X = X * 10.0 ** np.arange(X.shape[1]) + 5
    plain, online = (PassiveAggressiveRegressor(C=10.0, scale=scale) for scale in ("none", "online"))
    off = [np.abs(model.predict_then_learn(X, y) - y).mean() for model in (plain, online)]
    assert off[1] < off[0]
