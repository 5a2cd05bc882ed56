"""Data and helpers that the tests of `against_naive` share."""

import numpy as np
from hypothesis import strategies as st
from naive import Naive
from scipy import sparse

from perceptrons import Perceptron
from perceptrons.rules import PA, PA1, PA2, Margin, Plain

RULES = {
    "perceptron": Plain(),
    "margin": Margin(beta=2.0),
    "pa": PA(),
    "pa1": PA1(C=0.1),
    "pa2": PA2(C=0.3),
}
READOUTS = ["last", "averaged", "voted", "pocket"]
STREAMING = ["last", "averaged", "voted"]
NAMES = np.array(["ant", "bee", "cat", "dog"])
PASSES = 4


def csr(X, index_type, dtype=np.float64):
    X = sparse.csr_matrix(X.astype(dtype))
    X.indices, X.indptr = X.indices.astype(index_type), X.indptr.astype(index_type)
    return X


LAYOUTS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr-int32": lambda X: csr(X, np.int32),
    "csr-int64": lambda X: csr(X, np.int64),
    "csr-float32": lambda X: csr(X, np.int32, np.float32),
}


def data(rule, n_classes, seed=0, n=16):
    """Rows, labels that no hypothesis explains, and rows to be asked about.

    The first two rules add and subtract whole rows, so on small integers their every sum is exact and their ties are
    true ties. So is the mean over 16 rows, or 32 or 64. PA divides: a tie of its sums would fall either way, so its
    rows have digits that keep it off ties. All numbers are of single precision, so that every layout holds the same.
    """
    random = np.random.default_rng(seed)
    X = random.integers(-2, 3, size=(n, 4)).astype(np.float64)
    Q = random.integers(-3, 4, size=(40, 4)).astype(np.float64)
    if rule.startswith("pa"):
        X, Q = (np.where(A == 0, 0, A + random.normal(size=A.shape) / 4) for A in (X, Q))
        X, Q = (A.astype(np.float32).astype(np.float64) for A in (X, Q))
    y = NAMES[:n_classes][random.permutation(np.arange(n) % n_classes)]
    return X, y, Q


def pair(rule, readout="last", fit_intercept=True, classes=(), start=None, **settings):
    """An estimator and its twin."""
    model = Perceptron(
        rule=RULES[rule], readout=readout, fit_intercept=fit_intercept, shuffle=False, tol=None, **settings
    )
    settings.pop("max_iter", None)
    twin = Naive(
        rule, fit_intercept=fit_intercept, classes=classes, **(start or {}), **RULES[rule]._asdict(), **settings
    )
    return model, twin


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def assert_same(model, twin, Q, layout="float64"):
    """Equal counts, weights, scores and predictions; bit by bit where the sums are exact."""
    exact_mean = twin.n_seen & (twin.n_seen - 1) == 0  # division by a power of two
    exact = not twin.rule.startswith("pa") and (model.readout != "averaged" or exact_mean)
    check = np.testing.assert_array_equal if exact else close
    assert (model.n_seen_, model.n_mistakes_) == (twin.n_seen, twin.n_mistakes)
    # A row that PA has just brought to a margin of 1 may, when met again, lack a rounding error or not.
    either = sum(abs(step.margin - 1) < 1e-9 for step in twin.steps) if twin.rule.startswith("pa") else 0
    assert abs(model.n_updates_ - twin.n_updates) <= either
    np.testing.assert_array_equal(model.classes_, twin.classes)
    if model.readout != "voted":
        w = getattr(twin, model.readout)()
        check(model.coef_, w[:, :-1])
        check(model.intercept_, w[:, -1])
    scores = twin.decision_function(Q, model.readout)
    queries = LAYOUTS[layout](Q)
    check(model.decision_function(queries), scores[:, 0] if len(twin.classes) == 2 else scores)
    best = np.sort(scores, axis=1)
    lead = np.abs(scores[:, 0]) if len(twin.classes) == 2 else best[:, -1] - best[:, -2]
    clear = exact | (lead > 1e-9)  # rounding may push an inexact tie to either side
    np.testing.assert_array_equal(model.predict(queries)[clear], twin.predict(Q, model.readout)[clear])


def assert_same_fit(model, twin, X, y, Q, layout="float64", weight=None, **start):
    twin.fit(X, y, model.max_iter, weight)
    model.fit(LAYOUTS[layout](X), y, sample_weight=weight, **start)
    np.testing.assert_array_equal(model.mistakes_, twin.mistakes)
    assert (model.n_iter_, model.converged_) == (len(twin.mistakes), twin.converged)
    assert_same(model, twin, Q, layout)


# Layouts are chosen by row verbs, so it takes no full product: each layout meets each rule, each readout and both
# numbers of classes.
COVER = [
    (layout, rule, READOUTS[(i + j) % 4], 2 + (i // 2 + j) % 2)
    for j, layout in enumerate(["float32", "csr-int32", "csr-int64"])
    for i, rule in enumerate(RULES)
    if layout != "csr-int64" or rule in ("perceptron", "pa1")  # wide indices: where they are read, not what is learned
] + [("csr-float32", "perceptron", "last", 2), ("csr-float32", "pa1", "averaged", 3)]


# Weights make other variants of the compiled pass: each rule that takes them, each readout, both numbers of classes.
WEIGHTED = [
    ("perceptron", "last", 2),
    ("margin", "averaged", 3),
    ("pa1", "voted", 2),
    ("pa2", "pocket", 3),
    ("perceptron", "pocket", 3),
    ("margin", "voted", 3),
    ("pa1", "last", 3),
    ("pa2", "averaged", 2),
]


# -- streams ------------------------------------------------------------------------------------------------------

STREAMS = [
    ("perceptron", "averaged"),
    ("perceptron", "voted"),
    ("margin", "voted"),
    ("pa", "voted"),
    ("pa1", "last"),
    ("pa2", "averaged"),
]
TIES = st.sampled_from(["mistake", "positive"])
CUTS = st.sets(st.integers(1, 15), max_size=6).map(sorted)


def late(arrivals, seed):
    """Codes of 16 labels, the k-th class first met at row 0, 3, 8, 12."""
    random = np.random.default_rng(seed)
    known = np.searchsorted([0, 3, 8, 12], np.arange(16), side="right")
    codes = random.integers(known)
    codes[[0, 3, 8, 12]] = range(4)
    return np.array(arrivals)[codes]
