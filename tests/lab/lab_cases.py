"""Scenes, models and the order of their rows, which the tests of the lab share."""

import json
import struct

import numpy as np
from naive_budget import splitmix

from perceptrons.lab.messages import Choice, Scene

# What other tests compile anyway, and a few more: rules with readouts and numbers of classes.
ALONG = ("perceptron", "margin", "pa", "pa1", "pa2")
METRIC = ("arow", "cw", "scw1", "scw2", "nherd", "sop")
SCALE = ("romma", "alma", "shifting")
COVER = [(rule, readout, c) for rule in ALONG for readout in ("last", "averaged", "voted", "pocket") for c in (2, 3)]
COVER += [("uneven", readout, 2) for readout in ("last", "voted", "averaged")]
COVER += [(rule, "last", 2) for rule in (*METRIC, *SCALE)]
COVER += [("arow", "averaged", 2), ("arow", "pocket", 2), ("arow", "averaged", 3), ("romma", "averaged", 2)]
COVER += [("alma", "averaged", 2), ("shifting", "averaged", 3), ("shifting", "pocket", 2)]
KERNEL_COVER = [(rule, readout, c) for rule, readout, c in COVER if rule in ("perceptron", "margin", "pa1")]
POLICIES = [("random", 2), ("random", 3), ("forgetron", 2), ("projectron", 2), ("projectron++", 2)]
POLICIES += [("projectron", 3), ("projectron++", 3)]
PARAMS = {
    "margin": {"beta": 2.0},
    "uneven": {"beta_positive": 3.0, "beta_negative": 0.5},
    "pa1": {"C": 0.05},
    "pa2": {"C": 0.3},
    "arow": {"r": 0.5},
    "sop": {"a": 2.0},
    "alma": {"alpha": 0.5},
    "shifting": {"lam": 1.7},
    "cw": {"eta": 0.8},
}


def points(n, d, n_classes, seed, *, integers=False, separable=False):
    """Rows and the numbers of their classes, each of which occurs; labels at random, or such that planes separate."""
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, size=(n, d)).astype(np.float64)
    if not integers:
        X += random.normal(size=X.shape) / 3
    if not separable:
        return X, random.permutation(np.arange(n) % n_classes)
    for _ in range(1000):
        W = random.normal(size=(n_classes, d + 1))
        scores = np.sort(X @ W[:, :-1].T + W[:, -1], axis=1)
        y = (X @ W[:, :-1].T + W[:, -1]).argmax(axis=1)
        if len(np.unique(y)) == n_classes and (scores[:, -1] - scores[:, -2]).min() > 0.02 * np.abs(scores).max():
            return X, y
    raise AssertionError("no plane leaves a gap between these points: try another seed")


def scene(X, y, *choices, classes=None, held_out=0.0):
    """A scene with these points and models."""
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    names = [f"x{j + 1}" for j in range(X.shape[1])]
    classes = list(range(int(y.max()) + 1)) if classes is None else classes
    models = list(choices) or [Choice()]
    return Scene(X.tolist(), y.tolist(), classes, names=names, models=models, held_out=held_out)


def choice(rule="perceptron", readout="last", **others):
    """A model with a few passes, and parameters of the rule that matter for small points."""
    return Choice(rule=rule, params=PARAMS.get(rule, {}), readout=readout, **{"max_iter": 6, **others})


def kernel_choice(rule="perceptron", readout="last", **others):
    return choice(rule, readout, estimator="KernelPerceptron", **others)


def order_of(made, n, n_iter, drawn=None):
    """The numbers of the rows in the order in which a model visits them.

    Shuffled passes: Fisher & Yates with SplitMix64, seeded by the first number that the seed gives after a random
    start, which has the shape `drawn`.
    """
    if made.order != "shuffled":
        return [i for _ in range(n_iter) for i in range(n)]
    random, found = np.random.RandomState(made.random_state), []
    if drawn is not None:
        random.standard_normal(drawn)
    seed = int(random.randint(2**31))
    for number in range(n_iter):
        state = splitmix((seed + splitmix(number, 0)) % 2**64, 0)
        order = list(range(n))
        for k, q in enumerate(range(n - 1, 0, -1), 1):
            other = ((splitmix(state, k) >> 32) * (q + 1)) >> 32
            order[q], order[other] = order[other], order[q]
        found += order
    return found


def decoded(answer):
    """An answer of the lab: its head, and the arrays that the head names. Every array begins at a multiple of 8."""
    (length,) = struct.unpack("<I", answer[:4])
    assert (4 + length) % 8 == 0
    head, arrays = json.loads(answer[4 : 4 + length]), {}
    for name, (kind, at, shape) in head.pop("arrays").items():
        assert kind in ("<f8", "<i4") and at % 8 == 0
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(answer, kind, count, 4 + length + at).reshape(shape)
    return head, arrays


def number(value):
    """A number of an answer, in which infinite ones are text."""
    return None if value is None else float(value)
