"""Streams in any chunks do what `naive` does, and so does the passive-aggressive classifier."""

import cProfile

import numpy as np
import pytest
import scipy.sparse as sp
from against_naive_cases import (
    CUTS,
    NAMES,
    RULES,
    STREAMING,
    STREAMS,
    TIES,
    assert_same,
    close,
    data,
    late,
    pair,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import Naive

from perceptrons import PassiveAggressiveClassifier, Perceptron


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("rule", "readout"), STREAMS)
@given(cuts=CUTS, seed=st.integers(0, 1000), fit_intercept=st.booleans())
@settings(max_examples=20, deadline=None)
def test_chunks_with_classes_announced(rule, readout, n_classes, cuts, seed, fit_intercept):
    X, y, Q = data(rule, n_classes, seed)
    model, twin = pair(rule, readout, fit_intercept, classes=NAMES[:n_classes])
    twin.partial_fit(X, y)
    for rows, labels in zip(np.split(X, cuts), np.split(y, cuts), strict=True):
        model.partial_fit(rows, labels, classes=NAMES[:n_classes])
    assert_same(model, twin, Q)


@pytest.mark.parametrize(("rule", "readout"), STREAMS)
@given(cuts=CUTS, seed=st.integers(0, 1000), arrivals=st.permutations(range(4)), tie=TIES)
@settings(max_examples=40, deadline=None)
def test_chunks_with_classes_that_appear_later(rule, readout, cuts, seed, arrivals, tie):
    """One class, then two, then more: whether a class is first met inside a chunk or at its start."""
    X, _, Q = data(rule, 4, seed)
    y = NAMES[late(arrivals, seed)]
    model, twin = pair(rule, readout, tie=tie)
    twin.partial_fit(X, y)
    for rows, labels in zip(np.split(X, cuts), np.split(y, cuts), strict=True):
        model.partial_fit(rows, labels)
    assert_same(model, twin, Q)


@pytest.mark.parametrize(("rule", "readout"), [("perceptron", "averaged"), ("pa1", "last")])
@given(cuts=CUTS, seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_chunks_with_weights(rule, readout, cuts, seed):
    X, y, Q = data(rule, 2, seed)
    weight = np.random.default_rng(seed).choice([0.0, 0.5, 2.0], size=len(y))
    weight[[0, *cuts]] = 1  # a chunk without any weight has a test of its own
    model, twin = pair(rule, readout, classes=NAMES[:2])
    twin.partial_fit(X, y, weight)
    for rows, labels, weights in zip(*(np.split(part, cuts) for part in (X, y, weight)), strict=True):
        model.partial_fit(rows, labels, classes=NAMES[:2], sample_weight=weights)
    assert_same(model, twin, Q)


def test_a_chunk_without_weight_changes_nothing():
    """Rows of weight 0 are left out, and cutting a stream into other chunks changes nothing: so they may be a chunk."""
    X, y, Q = data("perceptron", 2)
    weight = np.repeat([1.0, 0.0, 1.0], [6, 4, 6])
    model, twin = pair("perceptron", classes=NAMES[:2])
    twin.partial_fit(X, y, weight)
    for part in (slice(6), slice(6, 10), slice(10, 16)):
        model.partial_fit(X[part], y[part], classes=NAMES[:2], sample_weight=weight[part])
    assert_same(model, twin, Q)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_partial_fit_goes_on_after_fit(rule, n_classes):
    X, y, Q = data(rule, n_classes)
    for readout in STREAMING:
        model, twin = pair(rule, readout, max_iter=2)
        twin.fit(X, y, 2)
        twin.partial_fit(X[:5], y[:5])
        assert_same(model.fit(X, y).partial_fit(X[:5], y[:5]), twin, Q)
        assert not model.converged_


@pytest.mark.parametrize("tie", ["mistake", "positive"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_predict_then_learn(rule, n_classes, tie):
    """Predictions are those of the hypothesis before each row, whatever the readout; it learns like partial_fit."""
    X, y, Q = data(rule, n_classes)
    for readout in STREAMING:
        model, twin = pair(rule, readout, classes=NAMES[:n_classes], tie=tie)
        for begin, end in ((0, 7), (7, 8), (8, 16)):
            expected = twin.partial_fit(X[begin:end], y[begin:end])
            got = model.predict_then_learn(X[begin:end], y[begin:end], classes=NAMES[:n_classes])
            np.testing.assert_array_equal(got, expected)
        assert_same(model, twin, Q)


@given(cuts=CUTS, seed=st.integers(0, 1000), arrivals=st.permutations(range(4)))
@settings(max_examples=40, deadline=None)
def test_predict_then_learn_with_classes_that_appear_later(cuts, seed, arrivals):
    """No prediction names a class before its first label was received. (The first row has no class to choose.)"""
    X, _, Q = data("perceptron", 4, seed)
    y = NAMES[late(arrivals, seed)]
    model, twin = pair("perceptron", "averaged")
    expected = twin.partial_fit(X, y)
    got = [
        model.predict_then_learn(rows, labels)
        for rows, labels in zip(np.split(X, cuts), np.split(y, cuts), strict=True)
    ]
    assert np.concatenate(got)[1:].tolist() == expected[1:]
    assert_same(model, twin, Q)


def calls(function, *args):
    """Number of functions that a call calls: its work, where timings would be noise."""
    profile = cProfile.Profile()
    profile.runcall(function, *args)
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_predict_then_learn_takes_less_than_both_apart(form):
    """Input and parameters are checked once, not twice."""
    X, y, _ = data("perceptron", 2)
    model = Perceptron().partial_fit(form(X), y)
    row, label = form(X[:1]), y[:1]
    model.predict(row), model.partial_fit(row, label), model.predict_then_learn(row, label)  # compiled and imported
    apart = calls(model.predict, row) + calls(model.partial_fit, row, label)
    assert calls(model.predict_then_learn, row, label) < apart


def test_predict_then_learn_refuses_wrong_parameters():
    X, y, _ = data("perceptron", 2)
    with pytest.raises(ValueError, match="eta0"):
        Perceptron(eta0=-1.0).predict_then_learn(X, y)
    model = Perceptron().partial_fit(X, y)
    before = model.coef_
    with pytest.raises(ValueError, match="tie"):
        model.set_params(tie="maybe").predict_then_learn(X, y)
    np.testing.assert_array_equal(model.coef_, before)


# -- PassiveAggressiveClassifier ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("loss", "rule"), [("hinge", "pa1"), ("squared_hinge", "pa2")])
def test_passive_aggressive(loss, rule, n_classes):
    X, y, Q = data(rule, n_classes)
    C = RULES[rule].C
    for average in (False, True, 1, 7):
        model = PassiveAggressiveClassifier(C=C, loss=loss, average=average, shuffle=False, tol=None, max_iter=3)
        twin = Naive(rule, C=C).fit(X, y, max_iter=3)
        expected = twin.averaged(after=int(average) - 1) if average else twin.last()
        model.fit(X, y)
        close(np.column_stack([model.coef_, model.intercept_]), expected)
        reference = Perceptron(
            rule=RULES[rule], readout="averaged" if average else "last", shuffle=False, tol=None, max_iter=3
        ).fit(X, y)
        if average in (False, 1):
            np.testing.assert_array_equal(model.coef_, reference.coef_)
            np.testing.assert_array_equal(model.decision_function(Q), reference.decision_function(Q))
        assert (model.n_seen_, model.n_updates_) == (reference.n_seen_, reference.n_updates_)


@pytest.mark.parametrize("announced", [True, False])
@given(cuts=CUTS, first=st.integers(2, 15))
@settings(max_examples=30, deadline=None)
def test_a_mean_that_begins_later_does_so_in_any_chunks(announced, cuts, first):
    """Examples count from the first one, also while only one class is known."""
    X, y, _ = data("pa1", 2)
    y[:4] = "ant"
    classes = NAMES[:2] if announced else None
    model = PassiveAggressiveClassifier(C=0.1, average=first)
    twin = Naive("pa1", C=0.1, classes=NAMES[:2] if announced else ())
    twin.partial_fit(X, y)
    for rows, labels in zip(np.split(X, cuts), np.split(y, cuts), strict=True):
        model.partial_fit(rows, labels, classes=classes)
    close(np.column_stack([model.coef_, model.intercept_]), twin.averaged(after=first - 1))


def test_before_a_mean_begins_the_last_hypothesis_predicts():
    X, y, _ = data("pa1", 2)
    model = PassiveAggressiveClassifier(C=0.1, average=17).partial_fit(X, y, classes=NAMES[:2])
    twin = Naive("pa1", C=0.1, classes=NAMES[:2])
    twin.partial_fit(X, y)
    close(np.column_stack([model.coef_, model.intercept_]), twin.last())


def test_the_pocket_counts_mistakes_by_their_weights():
    """On data where counting every mistake as one would keep another hypothesis."""
    telling = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        X, y = random.integers(-3, 4, size=(40, 2)).astype(float), random.integers(2, size=40)
        weight = np.where(y == 1, 1.0, 0.0625)
        twin = Naive("perceptron").fit(X, y, 6, weight)
        model = Perceptron(readout="pocket", shuffle=False, tol=None, max_iter=6).fit(X, y, weight)
        ours = np.append(model.coef_[0], model.intercept_)
        np.testing.assert_array_equal(ours, np.ravel(twin.pocket()))
        twin.examples = [(x, label, 1.0) for x, label, _ in twin.examples]
        telling += not np.array_equal(ours, np.ravel(twin.pocket()))
    assert telling > 0
