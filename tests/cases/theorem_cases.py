"""Data and helpers that the tests of `theorems` share."""

from math import sqrt
from typing import NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from naive import augmented
from training_cases import textbook

RULES = ["perceptron", "margin", "pa", "pa1", "pa2"]
SEEDS = st.integers(0, 10**6)
property_test = settings(max_examples=30, deadline=None)


class Problem(NamedTuple):
    """Rows of small integers, codes of their labels, and a separator of them over the rows with the constant."""

    X: np.ndarray
    y: np.ndarray
    separator: np.ndarray  # one line for two classes, else one a class
    fit_intercept: bool

    @property
    def rows(self):
        return augmented(self.X, self.fit_intercept)

    @property
    def radius(self):
        """R, the length of the longest row."""
        return np.linalg.norm(self.rows, axis=1).max()

    @property
    def reach(self):
        """Length of the longest plain step: R, or √2·R where two weight vectors move."""
        return self.radius * (1 if len(self.separator) == 1 else sqrt(2))

    @property
    def gamma(self):
        """Margin of the separator, which the best margin is not below."""
        return margins(self.separator, self.rows, self.y).min() / np.linalg.norm(self.separator)


def margins(w, rows, y):
    """y·a(x) for one line of weights; for several the score of the right class less the largest of the others."""
    scores = rows @ w.T
    if len(w) == 1:
        return np.where(y == 1, scores[:, 0], -scores[:, 0])
    right = np.arange(len(y)), y
    own = scores[right]
    scores[right] = -np.inf
    return own - scores.max(axis=1)


def separable(seed, fit_intercept, n_classes=2, n=20):
    """A problem that its separator solves, with every class in it. Repeated rows and rows of zeros occur."""
    random = np.random.default_rng(seed)
    while True:
        d = random.integers(1, 5)
        W = random.integers(-3, 4, size=(1 if n_classes == 2 else n_classes, d + 1)).astype(float)
        W[:, -1] *= fit_intercept
        X = random.integers(-3, 4, size=(n, d)).astype(float)
        scores = augmented(X, fit_intercept) @ W.T
        y = (scores[:, 0] > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
        keep = margins(W, augmented(X, fit_intercept), y) > 0
        if len(set(y[keep])) == n_classes:
            return Problem(X[keep], y[keep], W, fit_intercept)


def noisy(seed, n=20):
    """Rows of small integers and labels of two classes, some of them wrong, and the hypothesis they came from."""
    problem = separable(seed, fit_intercept=True, n=n)
    random = np.random.default_rng(seed)
    while True:
        y = np.where(random.random(len(problem.y)) < 0.1, 1 - problem.y, problem.y)
        if len(set(y)) == 2:
            return problem._replace(y=y)


def weights(model):
    return np.column_stack([model.coef_, model.intercept_])


def learned(problem, **settings):
    """A model after one pass over the problem, to look at its next step."""
    model = textbook(fit_intercept=problem.fit_intercept, **settings)
    return model.partial_fit(problem.X, problem.y, classes=range(max(2, len(problem.separator))))


def half_space(problem, model, i):
    """Normal n of {W : n·W ≥ 1}: the hypotheses with a margin of 1 against the wrong class that is now strongest."""
    row, label, w = problem.rows[i], problem.y[i], weights(model)
    normal = np.zeros_like(w)
    if len(w) == 1:
        normal[0] = row if label == 1 else -row
        return normal
    scores = w @ row
    scores[label] = -np.inf
    normal[label], normal[scores.argmax()] = row, -row
    return normal
