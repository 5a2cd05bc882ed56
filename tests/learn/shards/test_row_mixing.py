"""Linear learners that are mixed: as the slow twin does it, and as the theorems say. No cluster."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from naive_mixing import Mixed

from perceptrons import Perceptron, load, rules, save
from perceptrons.data.arrays import as_rows
from perceptrons.learn.shards.crew import FAN_IN, Here, tree
from perceptrons.learn.shards.rows import ArrayShard
from perceptrons.learn.shards.task import from_shards
from perceptrons.theory import separability

RULES = {
    "perceptron": {},
    "pa1": {"C": 0.5},
    "arow": {"r": 2.0},
    "arow full": {"covariance": "full"},
    "romma": {},
    "alma": {},
    "shifting": {"lam": 2.0},
}


def cut(X, y, sizes):
    """Consecutive shards of these sizes."""
    ends = np.cumsum([0, *sizes])
    assert ends[-1] == len(y)
    return [(X[a:b], y[a:b]) for a, b in zip(ends[:-1], ends[1:], strict=True)]


def crew_of(shards, weights=None):
    made = []
    for k, (X, y) in enumerate(shards):
        rows = as_rows(X.copy())
        made.append(ArrayShard(rows, np.asarray(y), None if weights is None else weights[k]))
    return Here(made)


def task_of(model, shards, mixing="mistakes", weights=None):
    return from_shards(model._request(), crew_of(shards, weights), "X", mixing)


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


@pytest.mark.parametrize("mixing", ["mistakes", "uniform"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", RULES)
def test_mixing_is_that_of_the_slow_twin(name, n_classes, mixing):
    """The current hypothesis, the mean over all examples, the covariance, Στ and the mistakes of each shard."""
    X, y = noisy(3, 90, 4, n_classes)
    shards = cut(X, y, [40, 13, 0, 37])
    rule, params = name.split()[0], RULES[name]
    twin = Mixed(rule, shards, mixing, **params)
    model = Perceptron(rule=rules.RULES[rule](**params), readout="averaged", shuffle=False, max_iter=1, tol=None)
    task = task_of(model, shards, mixing)
    for epoch in range(4):
        task.material.learn(task.learner, epoch, 1, task.passes)
        twin.epoch()
        np.testing.assert_allclose(lines(task.learner.current), twin.w, rtol=1e-9, atol=1e-9)
    learner = task.learner
    np.testing.assert_allclose(lines(learner.weights), twin.averaged(), rtol=1e-9, atol=1e-9)
    assert task.material.mistakes == twin.mistakes
    if rule in ("perceptron", "pa1"):
        assert learner.totals.sum_tau == pytest.approx(twin.sum_tau)
    if name == "arow":
        np.testing.assert_allclose(1 / lines(learner.state["variance"]), twin.precision, rtol=1e-9)
    if name == "arow full":
        root = learner.state["root"].reshape(-1, 5, 5)
        np.testing.assert_allclose(np.linalg.inv(root @ root.transpose(0, 2, 1)), twin.precision, rtol=1e-7, atol=1e-9)


# -- theorems ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mixing", ["mistakes", "uniform"])
def test_mistakes_on_separable_rows(mixing):
    """At most S·(R/γ)² mistakes in S shards, and with "mistakes" at most (R/γ)² epochs that make any (theorem 3)."""
    random = np.random.default_rng(5)
    for case in range(200):
        n_classes, S = (2, int(random.integers(2, 9))) if case % 4 else (3, int(random.integers(2, 6)))
        X, y, ratio = separable(random, n_classes)
        sizes = np.bincount(random.integers(0, S, len(y)), minlength=S)
        model = Perceptron(tol=None, max_iter=100_000, random_state=case, fit_intercept=False)
        task, run = trained(model, cut(X, y, sizes), mixing)
        assert run.converged
        assert sum(run.mistakes) <= S * ratio
        if mixing == "mistakes":
            assert np.count_nonzero(run.mistakes) <= ratio
        assert task.learner.totals.mistakes == sum(run.mistakes) == np.sum(task.material.mistakes)


def separable(random, n_classes):
    """Rows, labels, and (R/γ)² for a hypothesis that separates them; 2R² for several classes."""
    n, d = int(random.integers(5, 40)), int(random.integers(2, 6))
    U = random.standard_normal((d, n_classes if n_classes > 2 else 1))
    while True:
        X = random.standard_normal((200 * n, d)) * random.choice([0.1, 1.0, 30.0], size=d)
        scores = X @ U if n_classes > 2 else np.column_stack([-X @ U, X @ U]) / 2
        y = scores.argmax(axis=1)
        best, second = np.sort(scores, axis=1)[:, :-3:-1].T
        margin = (best - second) / np.linalg.norm(U)
        R = np.linalg.norm(X, axis=1)
        keep = np.flatnonzero(margin > random.uniform(0.02, 0.2) * R.max())[:n]
        if len(np.unique(y[keep])) == n_classes:
            break
    X, y, gamma = X[keep], y[keep], margin[keep].min()
    return X, y, (2 if n_classes > 2 else 1) * np.linalg.norm(X, axis=1).max() ** 2 / gamma**2


@pytest.mark.parametrize("rule", ["perceptron", "pa1", "romma"])
@pytest.mark.parametrize("mixing", ["mistakes", "uniform"])
def test_bound_on_the_margin(rule, mixing):
    """No mixture proves a margin below the one that exact arithmetic finds, with a bias as the weight of a constant."""
    random = np.random.default_rng(1)
    for _ in range(10):
        X, y, _ = separable(random, 2)
        largest = separability(X, y).augmented_margin
        task, _ = trained(Perceptron(rule=rule, tol=None, max_iter=30), cut(X, y, [3, len(y) - 3]), mixing)
        assert largest <= task.learner.margin_bound < np.inf


def test_giving_up_is_proved_and_happens():
    X, y = noisy(0, 400, 3, 2)
    task, run = trained(Perceptron(tol=0.3), cut(X, y, [100] * 4))
    assert run.stop == "margin"
    assert task.learner.margin_bound <= 0.3 * task.learner.radius
