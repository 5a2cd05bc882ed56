"""Regression in plain Python, one example after the other, from the formulas; every hypothesis is kept."""

from __future__ import annotations

import numpy as np
from naive import augmented


class NaiveValues:
    """w·x̃ with x̃ = (x, 1), or (x, 0) without a bias. `full`: whether AROW keeps all covariances."""

    def __init__(self, rule="pa1", *, C=1.0, r=1.0, epsilon=0.1, fit_intercept=True, full=False):
        self.rule, self.C, self.r, self.epsilon, self.fit_intercept, self.full = (
            rule,
            C,
            r,
            epsilon,
            fit_intercept,
            full,
        )
        self.w, self.cov, self.steps, self.guesses, self.losses = None, None, [], [], []

    def once(self, X, y, weight=None):
        """One pass, in the order of the rows; returns its loss Σℓ."""
        before = len(self.losses)
        for i, (x, value) in enumerate(zip(augmented(X, self.fit_intercept), y, strict=True)):
            if self.w is None:
                self.w, self.cov = np.zeros(len(x)), np.eye(len(x))
            apart = value - self.w @ x
            loss = max(0.0, abs(apart) - self.epsilon)  # ℓ = max(0, |y − ŷ| − ε)
            self.guesses.append(self.w @ x)
            self.losses.append(loss)
            if loss > 0.0:
                self.w = self.w + np.sign(apart) * self.step(x, loss, 1.0 if weight is None else weight[i])
            self.steps.append(self.w)
        return sum(self.losses[before:])

    def step(self, x, loss, weight):
        if self.rule == "arow":  # α = ℓ/(v + r), Σ⁻¹ += xxᵀ/r; a weight divides r
            direction, r = self.cov @ x, self.r / weight
            alpha = loss / (x @ direction + r)
            precision = np.linalg.inv(self.cov) + np.outer(x, x) / r
            self.cov = np.linalg.inv(precision) if self.full else np.diag(1.0 / np.diag(precision))
            return alpha * direction
        sq_norm = x @ x
        if sq_norm == 0.0:
            return 0.0 * x
        tau = {
            "pa": loss / sq_norm,
            "pa1": min(self.C * weight, loss / sq_norm),
            "pa2": loss / (sq_norm + 1 / (2 * self.C * weight)),
        }[self.rule]
        return tau * x

    @property
    def mean(self):
        """The mean of all hypotheses."""
        return np.mean(self.steps, axis=0)
