"""Linear learners that are mixed: as the slow twin does it, and as the theorems say. No cluster."""

import numpy as np
import pytest
from mixing_cases import cut, lines, noisy, task_of, trained
from naive_mixing import Mixed

from perceptrons import Perceptron, rules
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
    """Rows, labels, and (R/γ)² for the largest margin; 2R² for several classes."""
    n, d = int(random.integers(5, 40)), int(random.integers(2, 6))
    if n_classes == 2:  # γ along u, and much more across it
        y = np.arange(n) % 2
        across = random.standard_normal((n, d - 1))
        across /= np.linalg.norm(across, axis=1, keepdims=True)
        X = np.column_stack([random.uniform(0.02, 0.3) * (2 * y - 1), across])
    while n_classes > 2:
        U, X = random.standard_normal((d, n_classes)), random.standard_normal((200 * n, d))
        best, second = np.sort(X @ U, axis=1)[:, :-3:-1].T
        X = X[best - second > 0.05 * np.linalg.norm(U)][:n]
        y = (X @ U).argmax(axis=1)
        if len(np.unique(y)) == n_classes:
            break
    gamma = separability(X, y, fit_intercept=False).margin
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
