"""A rule of a user's own may be of any kind: a NamedTuple with a formula, passed as an object."""

import pickle
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import Perceptron

rng = np.random.default_rng(0)
X, TWO, THREE = rng.normal(size=(60, 4)), rng.integers(2, size=60), rng.integers(3, size=60)


class Careful(NamedTuple):
    """A metric without a parameter for the covariance: one variance per weight."""

    rate: float = 0.5

    def metric(self, margin, variance, weight):
        if margin >= 1.0:
            return 0.0, 0.0
        return self.rate * (1.0 - margin) / (variance + 1.0), self.rate * weight


class Whole(NamedTuple):
    """A metric with all covariances, and a start Σ = I/a of its own."""

    a: float = 4.0
    covariance: str = "full"

    def metric(self, margin, variance, weight):
        if margin >= 1.0:
            return 0.0, 0.0
        return (1.0 - margin) / (variance + 2.0), 0.5


class Fading(NamedTuple):
    """Old examples fade by a constant factor."""

    keep: float = 0.9

    def scale(self, margin, sq_norm, sq_length, k, weight):
        if margin > 0.0:
            return 1.0, 0.0
        return self.keep, weight / (1.0 + 0.1 * k + 0.01 * sq_length)


# What is compiled for some seconds: each kind once.
OWN = [
    (Careful(0.25), sp.csr_array(X), THREE, "averaged"),
    (Whole(), X, TWO, "last"),
    (Fading(0.5), sp.csr_array(X), THREE, "averaged"),
]


def by_hand(rule, rows, y, n_classes):
    """All hypotheses, with the constant of the bias, by the formula run in Python."""
    Z = np.column_stack([rows, np.ones(len(rows))])
    lines = 1 if n_classes == 2 else n_classes
    w, after, steps = np.zeros((lines, Z.shape[1])), [], 0
    sigma = np.array([np.eye(Z.shape[1]) / getattr(rule, "a", 1.0)] * lines)
    for x, label in zip(Z, y, strict=True):
        scores = w @ x
        if n_classes == 2:
            moves, m = [(0, 2 * label - 1)], (2 * label - 1) * scores[0]
        else:
            rival = max((r for r in range(n_classes) if r != label), key=lambda r: scores[r])
            moves, m = [(label, 1), (rival, -1)], scores[label] - scores[rival]
        if hasattr(rule, "scale"):
            s, tau = rule.scale(m, len(moves) * x @ x, (w**2).sum(), float(steps), 1.0)
            w, steps = s * w, steps + (tau > 0)
            for line, sign in moves:
                w[line] += tau * sign * x
        else:
            alpha, c = rule.metric(m, sum(x @ sigma[line] @ x for line, _ in moves), 1.0)
            w = w.copy()
            for line, sign in moves:
                w[line] += alpha * sign * sigma[line] @ x
                gain = c * np.outer(x, x) if getattr(rule, "covariance", "") == "full" else np.diag(c * x**2)
                sigma[line] = np.linalg.inv(np.linalg.inv(sigma[line]) + gain)
        after.append(w)
    return after


@pytest.mark.parametrize(("rule", "rows", "y", "readout"), OWN, ids=["diagonal", "full", "scale"])
def test_own_rules_do_as_they_say(rule, rows, y, readout):
    n_classes = y.max() + 1
    model = Perceptron(rule=rule, readout=readout).partial_fit(rows, y, classes=range(n_classes))
    after = by_hand(rule, X, y, n_classes)
    expected = after[-1] if readout == "last" else np.mean(after, axis=0)
    np.testing.assert_allclose(np.column_stack([model.coef_, model.intercept_]), expected, rtol=1e-8, atol=1e-10)
    again = pickle.loads(pickle.dumps(model))
    for each in (model, again):
        each.partial_fit(rows, y)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    name = type(rule)._fields[0]
    assert model.set_params(**{f"rule__{name}": 0.125}).get_params()[f"rule__{name}"] == 0.125


class Torn(NamedTuple):
    """Answers that are not numbers, with a metric."""

    alpha: float = 1.0
    c: float = 1.0

    def metric(self, margin, variance, weight):
        return self.alpha, self.c


class TornScale(NamedTuple):
    s: float = 1.0
    tau: float = 1.0

    def scale(self, margin, sq_norm, sq_length, k, weight):
        return self.s, self.tau


@pytest.mark.parametrize(
    "rule",
    [Torn(alpha=np.nan), Torn(c=np.inf), Torn(alpha=np.inf), TornScale(s=np.nan), TornScale(tau=np.inf)],
    ids=str,
)
def test_answers_that_are_not_numbers_are_named(rule):
    sensible = "shifting" if hasattr(rule, "scale") else "arow"
    model = Perceptron(rule=sensible).partial_fit(X, TWO)
    before = {name: model._learner.state[name].copy() for name in model._learner.state}
    with pytest.raises(
        ValueError, match=rf"the rule {type(rule).__name__} returns .* at row 0, for margin=.*unchanged"
    ):
        model.set_params(rule=rule).partial_fit(X, TWO)
    for name, array in before.items():
        np.testing.assert_array_equal(model._learner.state[name], array, err_msg=name)
