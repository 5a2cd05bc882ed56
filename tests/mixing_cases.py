"""Rows in shards, and training on them in this process."""

import warnings
from itertools import pairwise

import numpy as np

from perceptrons.data.arrays import as_rows
from perceptrons.learn.shards.crew import Here
from perceptrons.learn.shards.rows import ArrayShard
from perceptrons.learn.shards.task import from_shards


def cut(X, y, sizes):
    """Consecutive shards of these sizes."""
    ends = np.cumsum([0, *sizes])
    assert ends[-1] == len(y)
    return [(X[a:b], y[a:b]) for a, b in pairwise(ends)]


def crew_of(shards, weights=None):
    made = []
    for k, (X, y) in enumerate(shards):
        rows = as_rows(X.copy())
        made.append(ArrayShard(rows, np.asarray(y), None if weights is None else weights[k]))
    return Here(made)


def task_of(model, shards, mixing="mistakes", weights=None):
    return from_shards(model._request(), crew_of(shards, weights), mixing)


def trained(model, shards, mixing="mistakes"):
    task = task_of(model, shards, mixing)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return task, task.run()


def lines(hypothesis):
    """One line per weight vector."""
    return hypothesis[np.newaxis] if hypothesis.ndim == 1 else hypothesis.T


def noisy(seed, n, d, n_classes):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    return X, (X @ random.standard_normal((d, n_classes)) + 0.7 * random.standard_normal((n, n_classes))).argmax(axis=1)
