"""Slow twin of the kernel perceptron: kernels written out for two rows, and the dual as a `Naive` over kernel values.

A row is told by its kernel values with all points, (k(x, x_0), …, k(x, x_n−1), 1), and a hypothesis by its
coefficients and bias, (α_0, …, α_n−1, b), one such line a class for several: their product is the score. So whatever
`Naive` says of hypotheses and readouts holds as it stands; only the step is another one.
"""

from __future__ import annotations

import numpy as np
from naive import Naive, Step, augmented, tau


def cosine(x, z):
    """0 for a row of zeros, as scikit-learn has it."""
    lengths = np.sqrt((x @ x) * (z @ z))
    return x @ z / lengths if lengths else 0.0


KERNELS = {
    "linear": lambda x, z, gamma, degree, coef0: x @ z,
    "poly": lambda x, z, gamma, degree, coef0: (gamma * (x @ z) + coef0) ** degree,
    "rbf": lambda x, z, gamma, degree, coef0: np.exp(-gamma * ((x - z) @ (x - z))),
    "sigmoid": lambda x, z, gamma, degree, coef0: np.tanh(gamma * (x @ z) + coef0),
    "cosine": lambda x, z, gamma, degree, coef0: cosine(x, z),
    "laplacian": lambda x, z, gamma, degree, coef0: np.exp(-gamma * np.abs(x - z).sum()),
}


def kernel(name, X, points, gamma=1.0, degree=3, coef0=0.0):
    """k of every row with every point."""
    return np.array([[KERNELS[name](x, z, gamma, degree, coef0) for z in points] for x in X])


def quadratic(X):
    """φ with φ(x)·φ(z) = (1 + x·z)²: all products of two entries of (x, 1), in either order. Integers stay integers."""
    return np.array([np.outer(x, x).ravel() for x in augmented(X)])


class NaiveKernel(Naive):
    """A kernel perceptron that remembers everything; it is fed rows of kernel values with all points.

    Row number j of what it learns from is point j; a stream goes on with `first`, the number of its next row.
    """

    def learn(self, x, label, weight, number):
        """As `Naive.learn`, but the step adds to the coefficient of the point and to the bias."""
        if self.w is None:
            self.start(len(x))
        guess = self.guess(self.w, x) if self.classes else None
        self.meet(label)
        margin, rival = self.margin(self.w, x, label)
        mistake = self.wrong(self.w, x, label)
        step = np.zeros(len(x))
        step[number], step[-1] = 1.0, x[-1]
        sq_norm = x @ step  # k(x, x), + 1 with a bias
        t = tau(self.rule, margin, sq_norm if rival is None else 2 * sq_norm, weight, **self.params)
        if self.rule == "perceptron" and not mistake:
            t = 0.0  # a tie that was predicted right
        if t > 0:
            self.w = self.w.copy()
            if rival is None:
                self.w[0] += self.eta0 * t * (step if label == self.classes[1] else -step)
            else:
                self.w[self.classes.index(label)] += self.eta0 * t * step
                self.w[rival] -= self.eta0 * t * step
            self.sum_tau += t
        self.steps.append(Step(self.w, margin, mistake, t > 0))
        return guess

    def partial_fit(self, K, y, weight=None, first=0):
        """Every row once, in order; rows of weight 0 are left out. Returns the predictions made on the way."""
        weight = np.ones(len(K)) if weight is None else weight
        examples = zip(augmented(K, self.fit_intercept), y, weight, range(first, first + len(K)), strict=True)
        return [self.learn(*example) for example in examples if example[2] > 0]
