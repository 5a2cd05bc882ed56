"""Slow twins of the rules that also shape the space: those that keep a covariance, and those that scale w.

The formulas are those of the papers, for dense matrices. A rule with a metric keeps the precision Σ⁻¹ of each weight
vector and inverts it for every example. A rule with a scale computes the new w from the old one; it knows nothing of
scales that are kept apart from vectors. All else, such as readouts, ties and passes, is that of `naive`.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from naive import Naive, Step, augmented
from scipy.stats import norm

METRIC = ("arow", "cw", "scw1", "scw2", "nherd", "sop")
SCALE = ("romma", "alma", "shifting")
TINY = 5e-324  # the margin of a tie that was predicted right


def alpha_and_c(rule, m, v, weight=1.0, *, r=1.0, eta=0.7, C=1.0, a=1.0, covariance="diagonal"):
    """How far μ goes along Σx, and what Σ⁻¹ gains along xxᵀ; (0, 0) for no step. `a` is only the start of Σ."""
    if v == 0:
        return 0.0, 0.0  # a row of zeros
    if rule == "arow":  # a weight divides r
        r = r / weight
        return ((1 - m) / (v + r), 1 / r) if m < 1 else (0.0, 0.0)
    if rule == "nherd":
        C = C * weight
        return ((1 - m) / (v + 1 / C), 2 * C + C**2 * v) if m < 1 else (0.0, 0.0)
    if rule == "sop":  # k copies: α and c of the rank-one update with √k·x
        return (weight * (1 - m) / (1 + weight * v), weight) if m <= 0 else (0.0, 0.0)
    phi = norm.ppf(eta)
    if m >= phi * sqrt(v):
        return 0.0, 0.0
    psi, zeta = 1 + phi**2 / 2, 1 + phi**2
    alpha = max(0.0, (-m * psi + sqrt(m**2 * phi**4 / 4 + v * phi**2 * zeta)) / (v * zeta))
    if rule == "scw1":
        alpha = min(C * weight, alpha)
    if rule == "scw2":
        n = v + 1 / (2 * C * weight)
        gamma = phi * sqrt(phi**2 * m**2 * v**2 + 4 * n * v * (n + v * phi**2))
        alpha = max(0.0, (-(2 * m * n + phi**2 * m * v) + gamma) / (2 * (n**2 + n * v * phi**2)))
    root_u = (-alpha * v * phi + sqrt(alpha**2 * v**2 * phi**2 + 4 * v)) / 2
    return alpha, alpha * phi / root_u


def scaled_step(rule, w, z, m, k, *, aggressive=False, alpha=0.9, lam=1.0):
    """The new w, or None for no step. z is y·x as one joint vector, so that w·z = m; k: steps so far."""
    zz, ww = z @ z, w @ w
    if zz == 0:
        return None  # a row of zeros has no direction
    if rule == "shifting":
        share = lam / (lam + k)
        return (1 - share) * w + share * z if m <= 0 else None
    if rule == "romma":
        if not (m < 1 if aggressive else m <= 0):
            return None
        apart = zz * ww - m**2
        if ww == 0 or apart <= 1e-12 * zz * ww or (aggressive and m >= zz * ww):
            return z / zz
        return ((zz * ww - m) * w + ww * (1 - m) * z) / apart
    if rule == "alma":
        unit = z / sqrt(zz)
        if m / sqrt(zz) > (1 - alpha) * (sqrt(8) / alpha) / sqrt(k + 1):
            return None
        moved = w + sqrt(2) / sqrt(k + 1) * unit
        return moved / max(1.0, np.linalg.norm(moved))
    raise ValueError(rule)


class Shaped(Naive):
    """A perceptron with such a rule, that remembers everything.

    `precision` has the matrix Σ⁻¹ of each weight vector, or the vector of its diagonal. `unclear` counts the examples
    at which a rounding error could decide whether there is a mistake, a step, or which rival moves.
    """

    unclear = 0

    def start(self, length):
        super().start(length)
        self.precision = [self.prior(length) for _ in self.w]

    def prior(self, length):
        """Σ⁻¹ of a class that no example has moved: a·I."""
        start = np.full(length, self.params.get("a", 1.0))
        return np.diag(start) if self.params.get("covariance") == "full" else start

    def sigma(self, line):
        """Σ of one weight vector, as a matrix."""
        precision = self.precision[line]
        return np.linalg.inv(precision) if precision.ndim == 2 else np.diag(1 / precision)

    def variance(self, x, lines):
        return sum(x @ self.sigma(line) @ x for line in lines)

    # -- one example ------------------------------------------------------------------------------------------

    def learn(self, x, label, weight=1.0):
        if self.w is None:
            self.start(len(x))
        guess = self.guess(self.w, x) if self.classes else None
        self.meet(label)
        margin, rival = self.margin(self.w, x, label)
        mistake = self.wrong(self.w, x, label)
        after = None
        if len(self.classes) > 1:
            seen = TINY if margin <= 0 and not mistake else margin
            right = self.classes.index(label)
            moves = [(0, 2 * right - 1)] if rival is None else [(right, 1), (rival, -1)]
            self.unclear += self.is_unclear(x, right, margin, moves, weight)
            after, gain = self.step(x, seen, moves, weight)
            for line, c in gain:
                precision = self.precision[line]
                self.precision[line] = precision + c * (np.outer(x, x) if precision.ndim == 2 else x**2)
        self.w = self.w if after is None else after
        self.steps.append(Step(self.w, margin, mistake, after is not None))
        return guess

    def step(self, x, m, moves, weight):
        """The w after this example, None if it stays; and the weight vectors whose Σ⁻¹ gains c·xxᵀ, with c.

        moves: the weight vectors that move, with the sign of the move.
        """
        if self.rule in SCALE:
            z = np.zeros_like(self.w)
            for line, sign in moves:
                z[line] = sign * x
            after = scaled_step(self.rule, self.w.ravel(), z.ravel(), m, self.n_updates, **self.params)
            return (None if after is None else after.reshape(self.w.shape)), []
        w = self.w.copy()
        if self.rule == "uneven":
            (line, sign), *others = moves
            assert not others, "uneven margins are for two classes"
            if m > self.params["beta_positive" if sign > 0 else "beta_negative"]:
                return None, []
            w[line] += self.eta0 * weight * sign * x
            return w, []
        alpha, c = alpha_and_c(self.rule, m, self.variance(x, [line for line, _ in moves]), weight, **self.params)
        if alpha == 0:
            return None, []
        for line, sign in moves:
            w[line] += self.eta0 * alpha * sign * self.sigma(line) @ x
        return w, [(line, c) for line, _ in moves]

    def is_unclear(self, x, right, margin, moves, weight, error=1e-9):
        whole = self.rule == "uneven" and (self.w == np.rint(self.w)).all() and (x == np.rint(x)).all()
        if whole or self.n_updates == 0 or not x.any():
            return False  # sums are exact, and ties are true ties
        fires = {self.step(x, margin + off, moves, weight)[0] is None for off in (-error, error)}
        others = np.sort(np.delete(self.w @ x, right))[-2:] if len(moves) == 2 else [0.0, 1.0]
        return abs(margin) < error or len(fires) == 2 or 0 < others[-1] - others[0] < error

    def belief(self, X):
        """P(y = +1 | x) = Φ(μ·x/√v) under the distribution of the weights, for two classes."""
        rows = augmented(X, self.fit_intercept)
        return np.array([norm.cdf(self.w[0] @ x / sqrt(self.variance(x, [0]))) for x in rows])

    # -- growth -----------------------------------------------------------------------------------------------

    def meet(self, label):
        """From two classes to three, each gets half of w with half of Σ: the old pair has the same margin and v."""
        if label in self.classes:
            return
        before = len(self.classes)
        super().meet(label)
        if len(self.classes) > 2:
            if before == 2:
                self.precision = [2 * self.precision[0], 2 * self.precision[0]]
            self.precision.insert(self.classes.index(label), self.prior(self.w.shape[1]))

    def widen(self, n_features):
        """More features, before that of the bias: weights of 0, and the variance of the start."""
        old = self.w.shape[1] - 1
        at = [*range(old), n_features]  # where the old ones are

        def wide(w):
            new = np.zeros((len(w), n_features + 1))
            new[:, at] = w
            return new

        def grown(precision):
            new = self.prior(n_features + 1)
            if precision.ndim == 2:
                new[np.ix_(at, at)] = precision
            else:
                new[at] = precision
            return new

        self.w, self.first = wide(self.w), wide(self.first)
        self.steps = [step._replace(after=wide(step.after)) for step in self.steps]
        self.precision = [grown(each) for each in self.precision]
