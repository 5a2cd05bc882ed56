"""Streams of single examples, and what the tests of `streams` share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from perceptrons import PassiveAggressiveClassifier, PassiveAggressiveRegressor, Perceptron
from perceptrons.core.linear import shapes as entries
from perceptrons.rules import ALMA, AROW, PA1, ROMMA

LABELS = np.array(["ant", "bee", "cat", "dog"])


# -- models -----------------------------------------------------------------------------------------------------------


def perceptron(rule="perceptron", readout="last", **settings):
    return Perceptron(rule=rule, readout=readout, **settings)


# Each rule, readout and number of classes occurs; the full product would only take longer to compile.
CASES = {
    "perceptron-last-2": (lambda: perceptron(), 2),
    "perceptron-averaged-4": (lambda: perceptron(readout="averaged"), 4),
    "perceptron-voted-2": (lambda: perceptron(readout="voted"), 2),
    "perceptron-voted-4": (lambda: perceptron(readout="voted"), 4),
    "pa1-last-2": (lambda: perceptron(PA1(C=0.1)), 2),
    "pa1-averaged-2": (lambda: PassiveAggressiveClassifier(C=0.1, average=10), 2),
    "pa1-averaged-4": (lambda: PassiveAggressiveClassifier(C=0.1, average=10), 4),
    "arow-last-2": (lambda: perceptron(AROW(r=0.5)), 2),
    "arow-averaged-4": (lambda: perceptron(AROW(r=0.5), "averaged"), 4),
    "romma-last-2": (lambda: perceptron(ROMMA()), 2),
    "alma-averaged-2": (lambda: perceptron(ALMA(alpha=0.5), "averaged"), 2),
    "alma-last-4": (lambda: perceptron(ALMA(alpha=0.5)), 4),
    "values-pa1-last": (lambda: PassiveAggressiveRegressor(C=0.1), None),
    "values-pa1-averaged": (lambda: PassiveAggressiveRegressor(C=0.1, average=10), None),
    "values-arow-last": (lambda: PassiveAggressiveRegressor(rule=AROW(r=0.5)), None),
}
FULL = {
    "arow-full-last-2": (lambda: perceptron(AROW(r=0.5, covariance="full")), 2),
    "arow-full-averaged-4": (lambda: perceptron(AROW(r=0.5, covariance="full"), "averaged"), 4),
}


# -- streams ----------------------------------------------------------------------------------------------------------


class Example(NamedTuple):
    """One example: x for `learn_one`, and X, the same as a matrix with one row, for `partial_fit`."""

    x: Any
    X: Any
    y: Any


def csr(indices, values, width):
    """One sparse row; zeros among the values are kept as entries."""
    indptr = np.array([0, len(indices)], dtype=np.int32)
    values = np.asarray(values)
    values = values if values.dtype == np.float32 else values.astype(np.float64)
    return sp.csr_matrix((values, np.asarray(indices, dtype=np.int32), indptr), shape=(1, width))


def numbers(random, n, dtype=np.float64):
    """Values with many digits, some of them 0."""
    return np.where(random.random(n) < 0.1, 0.0, random.normal(size=n)).astype(dtype)


def label(random, n_classes, i, n):
    """A class; the k-th exists from a share of (k − 1)/(classes + 1) of the stream on. Or a value."""
    if n_classes is None:
        return float(random.normal())
    if i < n_classes and n < 8 * n_classes:  # short streams have all classes
        return LABELS[::-1][i]
    met = min(n_classes, 1 + i * (n_classes + 1) // n)
    return LABELS[::-1][random.integers(met)]  # the last of the sorted ones comes first


def same_width(seed, n, width, n_classes, forms=("dict", "row", "pair"), dtype=np.float64):
    """A stream whose first dict has all names, in the order of their numbers."""
    random = np.random.default_rng(seed)
    found = []
    for i in range(n):
        form = "dict" if i == 0 else str(random.choice(forms))
        some = np.arange(width) if i == 0 else np.sort(random.permutation(width)[: random.integers(width + 1)])
        y = label(random, n_classes, i, n)
        if form == "row":
            row = np.where(random.random(width) < 0.3, 0.0, random.normal(size=width)).astype(dtype)
            x: Any = row if random.random() < 0.5 or dtype == np.float32 else row.tolist()
            found.append(Example(x, row[np.newaxis], y))
            continue
        values = numbers(random, len(some), np.float64 if form == "dict" else dtype)
        X = csr(some, values, width)
        if form == "dict":
            order = np.arange(width) if i == 0 else random.permutation(len(some))
            found.append(Example({f"n{some[k]}": float(values[k]) for k in order}, X, y))
        else:
            pair = (some, values) if random.random() < 0.5 or dtype == np.float32 else (some.tolist(), values.tolist())
            found.append(Example(pair, X, y))
    return found


def growing(seed, n, width, n_classes, forms=("dict", "pair")):
    """A stream of dicts and pairs in which features appear late. The k-th feature has the name "n<k>" or, if a pair
    brought it, "x<k>"."""
    random = np.random.default_rng(seed)
    names: list[str] = []
    found = []
    for i in range(n):
        form, known = str(random.choice(forms)), len(names)
        more = min(width - known, int(random.integers(3)) if i < n - 1 else width)
        old = random.permutation(known)[: random.integers(known + 1)]
        if form == "dict":
            new = np.arange(known, known + more)
            names += [f"n{j}" for j in new]
        else:
            new = np.array([known + more - 1] if more else [], dtype=int)  # features before it get no value
            names += [f"x{j}" for j in range(known, known + more)]
        some = np.concatenate([old, new]).astype(int)
        if form == "dict":  # known and new names mixed; the new ones in their order
            places = random.permutation(len(some)) < len(new)
            mixed = np.empty(len(some), dtype=int)
            mixed[places], mixed[~places] = new, old
            some = mixed
        else:
            some = np.sort(some)
        values = numbers(random, len(some))
        order = np.argsort(some)
        x = {names[j]: v for j, v in zip(some, values.tolist(), strict=True)} if form == "dict" else (some, values)
        found.append(Example(x, csr(some[order], values[order], width), label(random, n_classes, i, n)))
    return found


# -- learning ---------------------------------------------------------------------------------------------------------


def one_by_one(model, stream, weights=None):
    """Call `learn_one` for each example."""
    for i, each in enumerate(stream):
        model.learn_one(each.x, each.y) if weights is None else model.learn_one(each.x, each.y, weights[i])
    return model


def in_chunks(model, stream, seed=0, most=7, weights=None):
    """Call `partial_fit` for runs of at most `most` rows of one layout."""
    random, begin = np.random.default_rng(seed), 0
    while begin < len(stream):
        end = begin + 1
        first, size = stream[begin].X, random.integers(1, most + 1)
        while end < len(stream) and end - begin < size and alike(stream[end].X, first):
            end += 1
        part = [each.X for each in stream[begin:end]]
        X = sp.vstack(part, format="csr") if sp.issparse(first) else np.concatenate(part)
        y = [each.y for each in stream[begin:end]]
        model.partial_fit(X, y, **({} if weights is None else {"sample_weight": weights[begin:end]}))
        begin = end
    return model


def alike(a, b):
    return sp.issparse(a) == sp.issparse(b) and a.dtype == b.dtype


# -- comparing --------------------------------------------------------------------------------------------------------


def exact(array):
    """The values of an array, to the last bit; −0 is 0."""
    return array.shape, (array + 0.0).tobytes()


def bits(model):
    """All that learning has changed, by name, to the last bit."""
    learner = model._learner
    state = {name: learner.state[name] for name in learner.state}
    if "scale" in state:
        state["scale"] = np.delete(state["scale"], entries.OWN)  # not learned: whose array w is
    found = {
        "counts": (model.n_seen_, model.n_mistakes_, model.n_updates_, learner.burn_in),
        "classes": getattr(model, "classes_", np.empty(0)).tolist(),
        "features": model.n_features_in_,
        "bound": model.margin_bound_,
        "totals": exact(learner.totals.array),
        **{f"state {name}": exact(array) for name, array in state.items()},
    }
    if not learner.readout.by_vote:
        found |= {"coef": exact(model.coef_), "intercept": exact(model.intercept_)}
    return found


def queries(width, seed=99, n=12):
    return np.random.default_rng(seed).normal(size=(n, width))


def answers(model, Q):
    """Scores and predictions as bytes, for dense and for sparse rows."""
    scores = getattr(model, "decision_function", model.predict)
    sparse = sp.csr_matrix(Q)
    return exact(scores(Q)), exact(scores(sparse)), model.predict(Q).tolist(), model.predict(sparse).tolist()


def differing(a, b):
    """The names of what differs."""
    return [name for name in sorted({*a, *b}) if a.get(name) != b.get(name)]


def assert_equal_bits(model, twin, Q=None):
    assert differing(bits(model), bits(twin)) == []
    if Q is None:
        Q = queries(model.n_features_in_)
    assert answers(model, Q) == answers(twin, Q)


def everything(model):
    """What must not change when input is refused: weights, counts, names, parameters."""
    if not hasattr(model, "_learner"):
        return {name: repr(value) for name, value in vars(model).items() if name != "_locks"}
    names = list(getattr(model, "feature_names_in_", ()))
    params = {name: repr(value) for name, value in model.get_params().items()}
    Q = queries(model.n_features_in_, n=3)
    counts = {"passes": model.n_iter_, "mistakes": model.mistakes_.tolist()}
    return {**bits(model), "names": names, **params, **counts, "answers": answers(model, Q)}
