"""Data and helpers that the tests of `training` share."""

import numpy as np

from perceptrons import KernelPerceptron, Perceptron

rng = np.random.default_rng(0)


MANY = 10**7


def textbook(**settings):
    """The perceptron of the textbooks: the last weights predict, and there are as many passes as needed."""
    return Perceptron(**{"readout": "last", "max_iter": MANY, **settings})


def textbook_kernel(**settings):
    """The same in a kernel's feature space."""
    return KernelPerceptron(**{"rule": "perceptron", "readout": "last", "max_iter": MANY, **settings})


def separable(n, d, margin, seed=0):
    """Normal rows that a random hyperplane separates by at least `margin` on either side."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    w = random.normal(size=d)
    distance = X @ w / np.linalg.norm(w)
    keep = np.abs(distance) >= margin
    return X[keep], (distance[keep] > 0).astype(int)


def noisy(n=200, d=5, classes=2):
    X = rng.normal(size=(n, d))
    return X, rng.integers(classes, size=n)


INTERRUPTED = """
import sys, threading, os, signal, numpy as np
from perceptrons import Perceptron
rng = np.random.default_rng(0)
X, y = rng.normal(size=(200_000, 50)), rng.integers(2, size=200_000)
model = Perceptron(tol=None, readout=sys.argv[1])
Perceptron(readout=sys.argv[1], max_iter=1).fit(X[:100], y[:100])
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print(model.n_iter_ >= 1, model.n_seen_ >= len(X), len(model.mistakes_) == model.n_iter_)
    print(model.predict(X[:5]).shape)
    print(model.partial_fit(X[:10], y[:10]).n_seen_ > len(X))
"""
