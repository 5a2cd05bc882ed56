"""Slow twins of the budget policies: one example after the other, rows in a list, the formulas as the papers have them.

A support row is a pair [x, coefficients]; coefficients are a number for two classes and an array, one a class, for
several. Nothing is kept between examples but the list of them: kernel matrices are made anew, and solved by NumPy.
"""

from __future__ import annotations

import numpy as np
from naive import tau

TINY = 5e-324


def splitmix(seed, k):
    """The k-th output of SplitMix64 (Steele, Lea & Flood 2014), in integers of Python."""
    mask = 2**64 - 1
    z = (seed + k * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


class Budgeted:
    """What all policies share: scores, margins, counts. A policy says what a step does with the support rows."""

    def __init__(self, kernel, budget, classes=2, rule="perceptron", eta0=1.0, tie_positive=False, **params):
        self.kernel, self.budget, self.classes = kernel, budget, classes
        self.rule, self.eta0, self.tie_positive, self.params = rule, eta0, tie_positive, params
        self.support = []
        self.seen = self.mistakes = self.updates = self.projections = 0
        self.sum_tau = 0.0
        self.most = 0  # rows ever kept at once

    def values(self, x):
        return np.array([self.kernel(row, x) for row, _ in self.support])

    def gram(self):
        return np.array([self.values(row) for row, _ in self.support])

    def score(self, x):
        start = 0.0 if self.classes == 2 else np.zeros(self.classes)
        return sum((a * self.kernel(row, x) for row, a in self.support), start)

    def judge(self, x, label):
        """Margin, direction of a step in the space of classes, and prediction."""
        scores = self.score(x)
        if self.classes == 2:
            y = 2 * label - 1
            margin, guess = y * scores, int(scores > 0 or (self.tie_positive and scores == 0))
            direction = float(y)
        else:
            guess = int(np.argmax(scores))
            rival = max((r for r in range(self.classes) if r != label), key=lambda r: scores[r])
            margin = scores[label] - scores[rival]
            direction = np.eye(self.classes)[label] - np.eye(self.classes)[rival]
        if self.tie_positive and margin == 0 and guess == label:
            margin = TINY
        return margin, direction, guess

    def learn(self, x, label, weight=1.0):
        margin, direction, guess = self.judge(x, label)
        if weight == 0:
            return guess
        self.seen += 1
        self.mistakes += bool(margin <= 0)
        length = self.eta0 * self.length(x, margin, direction, weight)
        if length > 0:
            self.updates += 1
            self.sum_tau += length
            self.step(x, length * direction, margin)
            self.most = max(self.most, len(self.support))
        return guess

    def length(self, x, margin, direction, weight):
        return tau(self.rule, margin, np.sum(np.square(direction)) * self.kernel(x, x), weight, **self.params)


class Random(Budgeted):
    """Cavallanti et al. 2007. The slot of a dropped row is taken by the new one, so that numbers of slots mean rows."""

    def __init__(self, *args, seed=0, **kwargs):
        super().__init__(*args, **kwargs)
        self.seed = seed

    def step(self, x, change, margin):
        if len(self.support) < self.budget:
            self.support.append([x, change])
        else:
            slot = (splitmix(self.seed, self.updates) >> 32) * self.budget >> 32
            self.support[slot] = [x, change]


class Forgetron(Budgeted):
    """Dekel et al. 2008, §5, for the kernel K/R²."""

    Q, sq_radius, phi = 0.0, 1.0, 1.0

    def step(self, x, change, margin):
        self.sq_radius = max(self.sq_radius, self.kernel(x, x))
        self.support.append([x, change])
        if len(self.support) <= self.budget:
            return
        oldest, a = self.support[0]
        delta, mu = abs(a), np.sign(a) * self.score(oldest) / self.sq_radius
        self.phi = best_shrinkage(delta, mu, self.Q, self.mistakes)
        self.Q += damage(delta, mu, self.phi)
        self.support = [[row, self.phi * a] for row, a in self.support[1:]]


def damage(delta, mu, phi):
    """Ψ(δφ, φμ) of Dekel et al. 2008: what it costs to remove δφ·y·k(x, ·), of margin φμ."""
    return (delta * phi) ** 2 + 2 * delta * phi * (1 - phi * mu)


def best_shrinkage(delta, mu, Q, mistakes):
    """The largest φ in (0, 1] with Q + Ψ ≤ (15/32)·M: 1, or a root of the quadratic."""
    roots = np.roots([delta**2 - 2 * delta * mu, 2 * delta, Q - 15 / 32 * mistakes])
    candidates = [1.0, *(r.real for r in roots if abs(r.imag) < 1e-12 and 0 < r.real < 1)]
    limit = 15 / 32 * mistakes
    return max(phi for phi in candidates if Q + damage(delta, mu, phi) <= limit * (1 + 1e-12))


class Projectron(Budgeted):
    """Orabona et al. 2009, §3: `threshold` is η, on Δ."""

    def __init__(self, *args, threshold=0.1, **kwargs):
        super().__init__(*args, **kwargs)
        self.threshold = threshold

    def project(self, x):
        """d = K⁻¹k, by least squares, and Δ."""
        if not self.support:
            return np.empty(0), self.kernel(x, x)
        K, k = self.gram(), self.values(x)
        d = np.linalg.lstsq(K, k, rcond=1e-14)[0]
        delta = self.kernel(x, x) - k @ d
        return d, delta if delta > 1e-12 * self.kernel(x, x) else 0.0

    def step(self, x, change, margin):
        d, delta = self.project(x)
        if margin <= 0 and delta > self.threshold and len(self.support) < self.budget:
            self.support.append([x, change])
        else:
            self.projections += 1
            self.support = [[row, a + change * part] for (row, a), part in zip(self.support, d, strict=True)]


class ProjectronPP(Projectron):
    """Orabona et al. 2009, §4; with several classes η is meant for each of the two projections."""

    def length(self, x, margin, direction, weight):
        if margin <= 0:
            return weight
        loss = 1 - margin
        if loss <= 0:
            return 0.0
        moved = np.sum(np.square(direction))  # weight vectors that move
        _, delta = self.project(x)
        if delta >= self.threshold * loss > 0 or delta > self.threshold == 0:  # ℓ − Δ/η ≤ 0
            return 0.0
        sure = loss - delta / self.threshold if delta > 0 else loss
        sq_projection = moved * (self.kernel(x, x) - delta)
        if sq_projection <= 0:
            return 0.0
        return min(loss / sq_projection, weight, 2 * sure / sq_projection)
