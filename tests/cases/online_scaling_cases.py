"""Streams of raw numbers in four forms: dense rows, CSR, dicts and pairs."""

import itertools

import numpy as np
import scipy.sparse as sp

D = 6
SIZES = np.array([1e-3, 1.0, 50.0, 1e4, 1.0, 3.0])
SHIFTS = np.array([0.0, -7.0, 1e3, 1e4, 0.0, 5.0])
FORMS = ("dense", "csr", "dict", "pair")


def numbers(seed, n=40, n_classes=2):
    """Rows of features with different means and sizes, a mask of entries, and labels."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, D)) * SIZES + SHIFTS
    y = np.array(["a", "b", "c"])[(((X - SHIFTS) / SIZES) @ random.normal(size=(D, n_classes))).argmax(axis=1)]
    X[:, 4] = 7.5  # a constant
    present = random.random((n, D)) < np.array([1.0, 1.0, 0.7, 0.9, 1.0, 0.4])
    return X, present, y


def entries(x, present, form):
    """The features that occur in a row of this form, with their values."""
    return {j: float(x[j]) for j in range(D) if form == "dense" or present[j]}


def learn(model, X, present, y, form, weight=None):
    """One call that learns from rows of one form."""
    if form == "dense":
        return model.partial_fit(X, y, sample_weight=weight)
    if form == "csr":
        return model.partial_fit(csr(X, present), y, sample_weight=weight)
    if form == "dict":
        named = [{f"x{j}": value for j, value in entries(*row, form).items()} for row in zip(X, present, strict=True)]
        if len(y) > 1:
            return model.learn_many(named, y, sample_weight=weight)
        return model.learn_one(named[0], y[0], None if weight is None else weight[0])
    for i, row in enumerate(zip(X, present, strict=True)):
        found = entries(*row, form)
        model.learn_one((list(found), list(found.values())), y[i], None if weight is None else weight[i])
    return model


def csr(X, present):
    """Sparse rows with an entry wherever it is present, also of 0."""
    indptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    return sp.csr_array((X[present], np.nonzero(present)[1], indptr), shape=X.shape)


def stream(model, X, present, y, forms, cuts=(), weight=None):
    """Learn from all rows: each has its form, and a call ends where the form changes, and at the cuts."""
    changes = [i for i in range(1, len(y)) if forms[i] != forms[i - 1]]
    for begin, end in itertools.pairwise(sorted({0, *changes, *cuts, len(y)})):
        part = slice(begin, end)
        learn(model, X[part], present[part], y[part], forms[begin], None if weight is None else weight[part])
    return model


def assert_same(one, other):
    """Two models have the same bits."""
    mine, theirs = one._learner.state, other._learner.state
    assert set(mine) == set(theirs)
    for name in mine:
        assert mine[name].tobytes() == theirs[name].tobytes(), name
    assert mine.totals.array.tobytes() == theirs.totals.array.tobytes()
    assert np.array_equal(one.coef_, other.coef_) and np.array_equal(one.intercept_, other.intercept_)
