"""Rows with and without a separator, and bounds on mistakes by substitution."""

from fractions import Fraction
from math import floor, sqrt

import naive_theory
import numpy as np
import pytest

from perceptrons import Perceptron

ONE_PASS = {"freund-schapire", "gentile", "n"}


def separable(seed, fit_intercept, n_classes=2, n=20):
    """Rows and labels of small integers, and integer weights that separate them. Repeated rows occur."""
    random = np.random.default_rng(seed)
    lines = 1 if n_classes == 2 else n_classes
    while True:
        d = random.integers(1, 5)
        W, b = random.integers(-3, 4, size=(lines, d)).astype(float), random.integers(-3, 4, size=lines) * 1.0
        b *= fit_intercept
        X = random.integers(-3, 4, size=(n, d)).astype(float)
        scores = X @ W.T + b
        y = (scores[:, 0] > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
        if len(set(y.tolist())) < n_classes:
            continue
        keep = np.array(naive_theory.scores(X, y, W, b, range(n_classes))) > 0
        if len(set(y[keep].tolist())) == n_classes:
            return X[keep], y[keep], W, b


def inseparable(seed, fit_intercept, n_classes=2, n=40):
    """The same with wrong labels and a row that has two."""
    random = np.random.default_rng(seed)
    X, y, W, b = separable(seed, fit_intercept, n_classes, n)
    flipped = random.random(len(y)) < 0.1
    y = np.where(flipped, (y + 1) % n_classes, y)
    row = random.integers(len(y))
    X, y = np.vstack([X, X[row]]), np.r_[y, (y[row] + 1) % n_classes]
    missing = [label for label in range(n_classes) if label not in y]
    return np.vstack([X, np.ones((len(missing), X.shape[1]))]), np.r_[y, missing].astype(int), W, b


def one_pass(X, y, fit_intercept, order):
    """Mistakes of the plain rule, each row once, from zeros."""
    model = Perceptron(readout="last", fit_intercept=fit_intercept)
    rows = np.random.default_rng(order).permutation(len(y)) if order else np.arange(len(y))
    guesses = model.predict_then_learn(X[rows], y[rows], classes=np.unique(y))
    assert model.n_mistakes_ >= (guesses != y[rows]).sum()  # a score of 0 is a mistake whatever was predicted
    return model.n_mistakes_


def substituted(result, X, y, fit_intercept):
    """What the theorem says for the hypothesis of the result: a bound that may be rounded down to a whole number."""
    if result.theorem == "n":
        return len(y)
    w, b = result.coef, result.intercept
    if result.theorem == "novikoff":
        return naive_theory.novikoff(X, y, w, b, fit_intercept)
    if result.theorem == "gentile":
        return naive_theory.gentile(X, y, w, b, fit_intercept)
    assert result.theorem == "freund-schapire"
    return naive_theory.freund_schapire(X, y, w, b, result.margin, fit_intercept)


def assert_follows(result, X, y, fit_intercept):
    """Not below the theorem, which holds for whole numbers, nor above it by more than roundings; it checks itself."""
    exact = substituted(result, X, y, fit_intercept)
    assert result.bound >= floor(exact)
    assert result.bound <= float(exact) * (1 + 1e-9)
    R2 = max(naive_theory.dot(x, x) for x in naive_theory.exact(X)) + fit_intercept
    assert Fraction(result.radius) ** 2 >= R2
    assert result.radius == pytest.approx(sqrt(R2), rel=1e-12)
    assert fit_intercept or not np.any(result.intercept)
    assert result.check(X, y) is True
