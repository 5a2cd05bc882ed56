"""The slow twin of mixing: iterative parameter mixing in plain Python (McDonald, Hall & Mann 2010, figure 3).

Every shard makes one pass from the same hypothesis, with the slow twins of all rules; all hypotheses are remembered.
"""

from __future__ import annotations

import copy

import numpy as np
from naive import Naive
from naive_shapes import METRIC, SCALE, Shaped


class Later(Shaped):
    """A perceptron that has made some steps before: `before` of them."""

    before = 0.0

    @property
    def n_updates(self):
        return self.before + super().n_updates


class Mixed:
    """Learns from shards, epoch after epoch."""

    def __init__(self, rule, shards, mixing, **params):
        self.rule, self.shards, self.mixing, self.params = rule, shards, mixing, params
        self.classes = sorted({label for _, y in shards for label in y})
        first = self.twin()
        first.start(shards[0][0].shape[1] + 1)
        self.w, self.precision = first.w, getattr(first, "precision", None)
        self.steps, self.sum_tau = 0.0, 0.0
        self.hypotheses, self.mistakes = [], []

    def twin(self):
        kind = Later if self.rule in (*METRIC, *SCALE, "uneven") else Naive
        return kind(self.rule, classes=self.classes, **self.params)

    def epoch(self):
        twins = []
        for X, y in self.shards:
            twin = self.twin()
            twin.start(self.w.shape[1])
            twin.w, twin.precision, twin.before = self.w, copy.deepcopy(self.precision), self.steps
            twin.partial_fit(X, y)
            twins.append(twin)
            self.hypotheses += [step.after for step in twin.steps]
        updates = [sum(step.updated for step in twin.steps) for twin in twins]
        self.mistakes.append([twin.n_mistakes for twin in twins])
        share = np.full(len(twins), 1 / len(twins))
        if self.mixing == "mistakes" and sum(updates):
            share = np.array(updates) / sum(updates)
        self.sum_tau += sum(mu * twin.sum_tau for mu, twin in zip(share, twins, strict=True))
        if self.rule in SCALE:
            self.steps = sum(mu * twin.n_updates for mu, twin in zip(share, twins, strict=True))
        if self.rule in METRIC:
            self.mix_by_precision(twins)
        else:
            self.w = sum(mu * twin.w for mu, twin in zip(share, twins, strict=True))
        return self

    def mix_by_precision(self, twins):
        """μ = (Σ P_i)⁻¹ Σ P_i μ_i; the precision is that before the epoch plus what each shard gained."""
        w = np.zeros_like(self.w)
        for line, before in enumerate(self.precision):
            each = [twin.precision[line] for twin in twins]
            matrices = [np.diag(p) if p.ndim == 1 else p for p in each]
            w[line] = np.linalg.solve(sum(matrices), sum(p @ t.w[line] for p, t in zip(matrices, twins, strict=True)))
            self.precision[line] = before + sum(p - before for p in each)
        self.w = w

    def averaged(self):
        """The mean over every example that any shard has processed."""
        return np.mean(self.hypotheses, axis=0)
