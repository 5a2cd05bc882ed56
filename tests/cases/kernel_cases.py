"""What the tests of the kernel perceptron share: data, an estimator with its twin, and what it means to agree."""

from __future__ import annotations

import numpy as np
from naive_kernel import NaiveKernel, kernel

from perceptrons import KernelPerceptron
from perceptrons.rules import PA, PA1, PA2, Margin, Plain

RULES = {
    "perceptron": Plain(),
    "margin": Margin(beta=20.0),
    "pa": PA(),
    "pa1": PA1(C=0.01),
    "pa2": PA2(C=0.3),
}
READOUTS = ["last", "averaged", "voted", "pocket"]
NAMES = np.array(["ant", "bee", "cat", "dog"])
QUADRATIC = {"kernel": "poly", "gamma": 1.0, "degree": 2, "coef0": 1.0}  # (1 + x·z)², exact on small integers
LINEAR = {"kernel": "linear"}


def data(rule, n_classes, seed=0, n=16):
    """Rows, labels drawn at random, and rows to be asked about.

    The first two rules add and subtract kernel values, so on small integers every sum is exact and ties are true ties;
    so are means over 16, 32 or 64 rows. PA divides: its rows have digits that keep it off ties.
    """
    random = np.random.default_rng(seed)
    X = random.integers(-2, 3, size=(n, 3)).astype(np.float64)
    Q = random.integers(-3, 4, size=(30, 3)).astype(np.float64)
    if rule.startswith("pa"):
        X, Q = (np.where(A == 0, 0, A + random.normal(size=A.shape) / 4) for A in (X, Q))
    y = NAMES[:n_classes][random.permutation(np.arange(n) % n_classes)]
    return X, y, Q


def gram(model, X, points):
    """The kernel that a model names, by its formula. Its gamma must be a number."""
    numbers = {} if model.kernel == "linear" else {"gamma": model.gamma, "degree": model.degree, "coef0": model.coef0}
    return kernel(model.kernel, X, points, **numbers)


def pair(rule, readout="last", fit_intercept=True, classes=(), shape=QUADRATIC, **settings):
    """An estimator and its twin."""
    model = KernelPerceptron(
        rule=RULES[rule], readout=readout, fit_intercept=fit_intercept, shuffle=False, tol=None, **shape, **settings
    )
    settings.pop("max_iter", None)
    return model, NaiveKernel(rule, fit_intercept=fit_intercept, classes=classes, **RULES[rule]._asdict(), **settings)


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def coefficients(model, n_points):
    """The coefficients of all points: 0 for those that support nothing."""
    every = np.zeros((len(model.dual_coef_), n_points))
    every[:, model.support_] = model.dual_coef_
    return every


def assert_same(model, twin, points, Q):
    """Equal counts, coefficients, scores and predictions; bit by bit where the sums are exact."""
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
        check(coefficients(model, len(points)), w[:, :-1])
        check(model.intercept_, w[:, -1])
    K = gram(model, Q, points)
    scores = twin.decision_function(K, model.readout)
    check(model.decision_function(Q), scores[:, 0] if len(twin.classes) == 2 else scores)
    best = np.sort(scores, axis=1)
    lead = np.abs(scores[:, 0]) if len(twin.classes) == 2 else best[:, -1] - best[:, -2]
    clear = exact | (lead > 1e-9)  # rounding may push an inexact tie to either side
    np.testing.assert_array_equal(model.predict(Q)[clear], twin.predict(K, model.readout)[clear])


def assert_same_fit(model, twin, X, y, Q, weight=None):
    twin.fit(gram(model, X, X), y, model.max_iter, weight)
    model.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.mistakes_, twin.mistakes)
    assert (model.n_iter_, model.converged_) == (len(twin.mistakes), twin.converged)
    assert_same(model, twin, X, Q)


def rings(n, seed=0, gap=0.5):
    """Two classes that no line separates: inside a circle, and outside of a larger one."""
    random = np.random.default_rng(seed)
    y = random.integers(2, size=n)
    radius = np.where(y, 1 + gap / 2 + random.random(n), random.random(n) * (1 - gap / 2))
    angle = 2 * np.pi * random.random(n)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y
