"""Streams through the kernel perceptron: chunks change nothing, classes may appear, and it does what its twin does."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import NAMES, assert_same, close, data, gram, pair, rings
from training_cases import textbook_kernel

STREAMS = [
    ("perceptron", "averaged"),
    ("perceptron", "voted"),
    ("margin", "last"),
    ("pa", "voted"),
    ("pa1", "last"),
    ("pa2", "averaged"),
]
CUTS = st.sets(st.integers(1, 15), max_size=6).map(sorted)
few = settings(max_examples=12, deadline=None)


def late(arrivals, seed):
    """Codes of 16 labels, the k-th class first met at row 0, 3, 8, 12."""
    random = np.random.default_rng(seed)
    known = np.searchsorted([0, 3, 8, 12], np.arange(16), side="right")
    codes = random.integers(known)
    codes[[0, 3, 8, 12]] = range(4)
    return np.array(arrivals)[codes]


def chunks(cuts, *parts):
    return zip(*(np.split(part, cuts) for part in parts), strict=True)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("rule", "readout"), STREAMS)
@given(cuts=CUTS, seed=st.integers(0, 1000), fit_intercept=st.booleans())
@few
def test_chunks_with_classes_announced(rule, readout, n_classes, cuts, seed, fit_intercept):
    X, y, Q = data(rule, n_classes, seed)
    model, twin = pair(rule, readout, fit_intercept, classes=NAMES[:n_classes])
    twin.partial_fit(gram(model, X, X), y)
    for rows, labels in chunks(cuts, X, y):
        model.partial_fit(rows, labels, classes=NAMES[:n_classes])
    assert_same(model, twin, X, Q)


@pytest.mark.parametrize(("rule", "readout"), STREAMS)
@given(
    cuts=CUTS,
    seed=st.integers(0, 1000),
    arrivals=st.permutations(range(4)),
    tie=st.sampled_from(["mistake", "positive"]),
)
@few
def test_classes_that_appear_later(rule, readout, cuts, seed, arrivals, tie):
    """One class, then two, then more; predictions name no class before its first label was received."""
    X, _, Q = data(rule, 4, seed)
    y = NAMES[late(arrivals, seed)]
    model, twin = pair(rule, readout, tie=tie)
    expected = twin.partial_fit(gram(model, X, X), y)
    got = [model.predict_then_learn(rows, labels) for rows, labels in chunks(cuts, X, y)]
    assert np.concatenate(got)[1:].tolist() == expected[1:]
    assert_same(model, twin, X, Q)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("tie", ["mistake", "positive"])
def test_predict_then_learn(n_classes, tie):
    """Predictions are those of the hypothesis before each row, whatever the readout; it learns like partial_fit."""
    X, y, Q = data("perceptron", n_classes)
    for readout in ("last", "averaged", "voted"):
        model, twin = pair("perceptron", readout, classes=NAMES[:n_classes], tie=tie)
        for begin, end in ((0, 7), (7, 8), (8, 16)):
            expected = twin.partial_fit(gram(model, X[begin:end], X), y[begin:end], first=begin)
            got = model.predict_then_learn(X[begin:end], y[begin:end], classes=NAMES[:n_classes])
            np.testing.assert_array_equal(got, expected)
            assert model.n_mistakes_ == twin.n_mistakes
        assert_same(model, twin, X, Q)


@pytest.mark.parametrize("readout", ["last", "averaged", "voted"])
@pytest.mark.parametrize("shape", [{"kernel": "rbf", "gamma": 0.7}, {"kernel": "laplacian", "gamma": 0.7}], ids=str)
def test_long_streams_in_chunks_and_layouts(readout, shape):
    """More rows than a block of kernel values, in chunks of 1, of a few and of many rows, dense and sparse in turn."""
    X, y = rings(900, gap=-0.3)
    whole = textbook_kernel(readout=readout, **shape).partial_fit(X, y, classes=[0, 1])
    for layouts in ((np.asarray,), (sp.csr_array,), (np.asarray, sp.csr_array)):
        model, begin = textbook_kernel(readout=readout, **shape), 0
        for i, length in enumerate((1, 1, 30, 255, 256, 257, 100)):
            rows = layouts[i % len(layouts)](X[begin : begin + length])
            model.partial_fit(rows, y[begin : begin + length], classes=[0, 1])
            model.predict(X[:3])  # asking in between changes nothing
            begin += length
        assert (model.n_seen_, model.n_mistakes_, model.n_updates_) == (900, whole.n_mistakes_, whole.n_updates_)
        np.testing.assert_array_equal(model.support_, whole.support_)
        close(model.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("readout", ["last", "averaged"])
def test_weights(readout):
    """Rows of weight 0 are left out, and a chunk may have no others."""
    for n_classes in (2, 3):
        X, y, Q = data("perceptron", n_classes)
        weight = np.repeat([1.0, 0.0, 0.5, 2.0], [4, 4, 4, 4])
        model, twin = pair("perceptron", readout, classes=NAMES[:n_classes])
        twin.partial_fit(gram(model, X, X), y, weight)
        for rows, labels, part in chunks([4, 8, 11], X, y, weight):
            model.partial_fit(rows, labels, classes=NAMES[:n_classes], sample_weight=part)
        assert model.n_seen_ == twin.n_seen == 12
        close(model.decision_function(Q), np.squeeze(twin.decision_function(gram(model, Q, X), readout)))


def test_gamma_is_that_of_the_first_rows():
    X, y, Q = data("pa", 2)
    model = textbook_kernel().partial_fit(X[:6], y[:6]).partial_fit(10 * X[6:], y[6:])
    fixed = textbook_kernel(gamma=1 / (3 * X[:6].var())).partial_fit(X[:6], y[:6]).partial_fit(10 * X[6:], y[6:])
    close(model.decision_function(Q), fixed.decision_function(Q))


def test_support_vectors_are_numbered_from_the_beginning():
    X, y = rings(50)
    model = textbook_kernel(gamma=1.0)
    for part in np.split(np.arange(50), [1, 8, 30]):
        model.partial_fit(X[part], y[part], classes=[0, 1])
        np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
        assert model.n_support_.tolist() == np.bincount(y[model.support_], minlength=2).tolist()
    X *= 2  # the model has kept rows of its own
    np.testing.assert_array_equal(model.support_vectors_ * 2, X[model.support_])


def test_a_failed_chunk_is_undone():
    X, y = rings(40)
    model = textbook_kernel(gamma=1.0, readout="averaged").partial_fit(X[:20], y[:20])
    scores, seen = model.decision_function(X), model.n_seen_
    hole = X[20:].copy()
    hole[7, 1] = np.nan
    for rows, labels, message in (
        (hole, y[20:], "contains NaN at row 7, column 1"),
        (X[20:], y[21:], "inconsistent numbers of samples"),
        (X[20:], np.where(y[20:], "a", "b"), "labels do not match"),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(rows, labels)
        np.testing.assert_array_equal(model.decision_function(X), scores)
        assert model.n_seen_ == seen
    whole = textbook_kernel(gamma=1.0, readout="averaged").partial_fit(X, y)
    close(model.partial_fit(X[20:], y[20:]).decision_function(X), whole.decision_function(X))


def test_a_callable_that_fails_midway_is_undone():
    X, y = rings(40)

    def moody(A, B):
        values = np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))
        return np.where((A**2).sum(axis=1)[:, None] > 100, np.nan, values)

    model = textbook_kernel(kernel=moody).partial_fit(X, y)
    scores = model.decision_function(X)
    bad = X.copy()
    bad[30] = 50
    with pytest.raises(ValueError, match="kernel"):
        model.partial_fit(bad, 1 - y)
    np.testing.assert_array_equal(model.decision_function(X), scores)
    assert model.n_seen_ == 40


def test_parameters_that_may_not_change_in_a_stream():
    X, y = rings(40)
    for change in ({"kernel": "linear"}, {"gamma": 2.0}, {"readout": "averaged"}, {"fit_intercept": False}):
        model = textbook_kernel(gamma=1.0).partial_fit(X, y).set_params(**change)
        with pytest.raises(ValueError, match=f"{next(iter(change))} was changed"):
            model.partial_fit(X, y)
