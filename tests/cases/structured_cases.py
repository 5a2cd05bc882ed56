"""Problems over structures that tests learn."""

from itertools import pairwise

import naive_structures as naive
import numpy as np
import scipy.sparse as sp

from perceptrons.structures import Ranking


class Classes:
    """Several classes as a structure: φ(x, y) has x in the block of class y. Of equals the first is the best."""

    def __init__(self, n_classes=3, form="array"):
        self.n_classes, self.form = n_classes, form

    def features(self, x, y):
        if self.form == "dict":
            return {(y, j): value for j, value in enumerate(x)}
        phi = np.zeros((self.n_classes, len(x)))
        phi[y] = x
        return phi.ravel() if self.form == "array" else sp.csr_array(phi.reshape(1, -1))

    def scores(self, x, weights):
        if self.form == "dict":
            return np.array([sum(weights[y, j] * value for j, value in enumerate(x)) for y in range(self.n_classes)])
        return np.asarray(weights).reshape(self.n_classes, -1) @ x

    def argmax(self, x, weights):
        return int(self.scores(x, weights).argmax())

    def augmented(self, x, weights, y, scale):
        scores = self.scores(x, weights) + scale
        scores[y] -= scale
        others = np.delete(np.arange(self.n_classes), y)
        wrong = int(others[scores[others].argmax()])
        return wrong if scores[wrong] >= scores[y] else y


class Orders(Ranking):
    """Rankings that can be listed."""

    def all(self, x):
        return naive.orders(len(x))


class AlwaysWrong(Classes):
    """A search that finds nothing but class 1."""

    def argmax(self, x, weights):
        return 1


def points(n=60, d=4, seed=0):
    """Whole numbers, so that sums are exact."""
    random = np.random.RandomState(seed)
    X = random.randint(-3, 4, (n, d)).astype(float)
    return X, (X @ random.randint(-2, 3, (d, 3)) + random.randint(-1, 2, (n, 3))).argmax(axis=1)


def tastes(n=40, d=4, seed=0, noise=0.0):
    """Candidates in the order of a hidden taste, which is returned as well."""
    random = np.random.RandomState(seed)
    taste = random.normal(size=d)
    X = [random.normal(size=(random.randint(2, 5), d)) for _ in range(n)]
    Y = [np.argsort(-(x @ taste + noise * random.normal(size=len(x)))).tolist() for x in X]
    return X, Y, taste / np.linalg.norm(taste)


class Greedy:
    """Labels of a sequence one after the other, by (label, token) and (label, label) features; no looking ahead."""

    def features(self, x, y):
        names = [("token", token, label) for token, label in zip(x, y, strict=False)]
        names += [("link", *pair) for pair in pairwise(y)]
        return {name: names.count(name) for name in names}

    def extended(self, x, weights, y):
        def score(label):
            return weights["token", x[len(y)], label] + (weights["link", y[-1], label] if y else 0.0)

        return (*y, max("ab", key=score))

    def argmax(self, x, weights):
        y = ()
        while len(y) < len(x):
            y = self.extended(x, weights, y)
        return y


class EarlyUpdate(Greedy):
    """The same, told where the search goes astray."""

    def violation(self, x, weights, y):
        found = ()
        while len(found) < len(x):
            found = self.extended(x, weights, found)
            if found != y[: len(found)]:
                return y[: len(found)], found
        return None


class Failing(Classes):
    """A search that fails, or is interrupted, when it is called for the n-th time."""

    def __init__(self, form, error, calls):
        super().__init__(form=form)
        self.error, self.calls = error, calls

    def argmax(self, x, weights):
        self.calls -= 1
        if self.calls == 0:
            raise self.error
        return super().argmax(x, weights)
