"""The learner over structures: search, compare, step along Δφ = φ(x, y) − φ(x, ŷ)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from perceptrons.core.linear.readouts import MISTAKES, QUIET, SEEN, SIZE, TAU, UPDATES
from perceptrons.learn.hypotheses import at_most, overflow
from perceptrons.learn.structure.problem import Checked, Space
from perceptrons.rules import Margin, demands

EPSILON = float(np.finfo(np.float64).eps)
# Two scores of one structure, summed in different orders, differ by a few ε of the sum of the magnitudes.
ROUNDING = 64 * EPSILON
READOUTS = ("last", "averaged")


class StructuredLearner:
    """Weights of a joint feature space, moved by the mistakes of a search."""

    # What `train` asks every learner for.
    origin = None
    burn_in = 0
    plan = ""

    def __init__(self, problem: Any, *, rule: Any, readout: str, eta: float) -> None:
        self.problem, self.readout = problem, readout
        self.counts = np.zeros(SIZE)
        self.search_errors = 0
        self.sq_radius = 0.0  # max ‖Δφ‖² over all steps
        self.space: Space | None = None  # there once the first example is known
        self._marked: Any = None
        self._read: tuple[float, Any] | None = None  # after how many examples the readout was computed, and it
        self.adopt(problem=problem, rule=rule, readout=readout, eta=eta)

    def adopt(self, *, problem: Any, rule: Any, readout: str, eta: float) -> None:
        """Go on with another rule or step; the problem and the readout are there to stay."""
        if problem is not self.problem or readout != self.readout:
            name = "readout" if problem is self.problem else "problem"
            raise ValueError(f"{name} was changed after learning had begun: use fit, or change it back")
        # The margin rule also steps on examples that are right, and asks the search for what comes too close.
        self.scale = demands(rule) if isinstance(rule, Margin) else None
        self.checked = Checked(problem, augmented=self.scale is not None)
        self.rule, self.eta = rule, float(eta)

    # -- learning ---------------------------------------------------------------------------------------------

    def learn(self, X: Sequence[Any], Y: Sequence[Any], order: Any) -> int:
        """Process examples in this order; returns the number of mistakes. If it fails, nothing has changed."""
        updates, mistakes = self.counts[UPDATES], 0
        self._mark()
        try:
            for number in order:
                mistakes += self._example(int(number), X[number], Y[number])
        except BaseException:
            self._back()
            raise
        self.counts[QUIET] = updates == self.counts[UPDATES]
        self._mark()
        return mistakes

    def _mark(self) -> None:
        self._marked = self.space, self.counts.copy(), self.search_errors, self.sq_radius
        self._read = None
        if self.space is not None:
            self.space.mark()

    def _back(self) -> None:
        self.space, self.counts, self.search_errors, self.sq_radius = self._marked
        if self.space is not None:
            self.space.back()

    def _example(self, number: int, x: Any, y: Any) -> bool:
        """Predict, compare, step; returns whether the prediction was wrong."""
        if self.space is None:
            self.space = self.checked.space(number, x, y)
        self.counts[SEEN] += 1
        space, checked = self.space, self.checked
        mistake, gold, predicted, searched = self._searched(space, number, x, y)
        self.counts[MISTAKES] += mistake
        if searched is None:
            return mistake
        part = searched if searched == "violation" else ""
        phi = checked.features(space, number, x, gold, part)
        phi_hat = checked.features(space, number, x, predicted, searched)
        delta, sq_norm = space.difference(phi, phi_hat)
        if sq_norm == 0.0:
            return mistake
        margin, cost = space.dot(delta), checked.loss(number, gold, predicted)
        if not math.isfinite(sq_norm) or not math.isfinite(margin):
            raise overflow(f"at example {number}")
        # A violation is s(ŷ) ≥ s(y), with scale·L(y, ŷ) added to the left side if the search adds it.
        above = margin - (self.scale or 0.0) * cost
        if above > 0.0:
            if above > ROUNDING * (space.size(phi) + space.size(phi_hat)):
                self.search_errors += 1
                return mistake
            margin -= above
        # L in place of the 1 in ℓ = max(0, 1 − m): the rule is shown a margin that is smaller by target·(L − 1). Of a
        # violation it is at most the target, but for rounding.
        target = demands(self.rule)
        tau = self.rule.tau(min(target, margin - target * (cost - 1.0)), sq_norm, 1.0)
        if tau > 0.0:
            if not space.move(delta, self.eta * tau, float(self.counts[SEEN])):
                raise overflow(f"at example {number}")
            self.counts[UPDATES] += 1
            self.counts[TAU] += self.eta * tau
            self.sq_radius = max(self.sq_radius, sq_norm)
        return mistake

    def _searched(self, space: Space, number: int, x: Any, y: Any) -> tuple[bool, Any, Any, str | None]:
        """Whether the prediction is wrong, the two structures to step between, and which search found the second.

        No search if there is nothing to step between.
        """
        checked, weights = self.checked, space.weights
        if checked.by_violation:
            pair = checked.violation(number, x, weights, y)
            return (False, y, y, None) if pair is None else (True, *pair, "violation")
        search, more = ("argmax", ()) if self.scale is None else ("augmented", (y, self.scale))
        found = checked.search(search, number, x, weights, *more)
        if checked.same(number, y, found):
            return False, y, y, None
        mistake = self.scale is None or not self._finds(number, x, weights, y)
        return mistake, y, found, search

    def _finds(self, number: int, x: Any, weights: Any, y: Any) -> bool:
        return self.checked.same(number, y, self.checked.search("argmax", number, x, weights))

    def confirms(self, X: Sequence[Any], Y: Sequence[Any]) -> bool:
        """After a pass without a mistake: whether the hypothesis in force makes none. Steps may have followed."""
        if self.counts[QUIET] or self.space is None:
            return True
        weights = self.space.weights
        return all(self._finds(number, x, weights, y) for number, (x, y) in enumerate(zip(X, Y, strict=True)))

    def converge(self) -> None:
        """Nothing else is to be done."""

    # -- what has been learned --------------------------------------------------------------------------------

    @property
    def weights(self) -> Any:
        """The weights of the readout."""
        assert self.space is not None
        total = float(self.counts[SEEN])
        if self._read is None or self._read[0] != total:
            averaged = self.readout == "averaged"
            self._read = total, self.space.averaged(total) if averaged else self.space.last()
        return self._read[1]

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """The best structure of each."""
        return [self.checked.search("argmax", number, x, self.weights) for number, x in enumerate(X)]

    @property
    def radius(self) -> float:
        """R: the length of the longest Δφ that was stepped along."""
        return math.sqrt(self.sq_radius)

    @property
    def margin_bound(self) -> float:
        """No w has a larger margin on all pairs stepped along: ‖w‖/Στ, rounded outward.

        w = Σ τ_t·Δφ_t, so ‖w‖/Στ is the length of a point of the hull of the Δφ. Each of k updates rounds w by at most
        ε·‖w‖ ≤ ε·R·Στ, the sum Στ by ε of itself.
        """
        total = float(self.counts[TAU])
        if self.space is None or total == 0.0:
            return math.inf
        roundings = float(self.counts[UPDATES]) + 4
        length = self.space.norm() / total * (1 + (len(self.space.w) + roundings) * EPSILON)
        return length + 2 * roundings * EPSILON * self.radius

    def gives_up(self, tol: float) -> bool:
        """Whether it is proved that the margin is below tol·R."""
        return self.margin_bound <= tol * self.radius

    @property
    def state(self) -> str:
        """What is known of the hypothesis in force, in a few words."""
        errors = f", {self.search_errors} search errors" if self.search_errors else ""
        return f"margin at most {at_most(self.margin_bound)}{errors}"


class Pairs:
    """Examples that are all there: the material of `train`."""

    def __init__(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        self.X, self.Y = X, Y
        self.n_rows = len(X)

    def begin(self, learner: StructuredLearner) -> None:
        """Nothing is to be prepared."""

    def at_once(self, learner: StructuredLearner) -> int:
        return 1

    def learn(
        self, learner: StructuredLearner, number: int, lines: int, seed: int | None, tol: float | None, *, last: bool
    ) -> list[int]:
        """One pass, in an order of its own."""
        order = range(self.n_rows) if seed is None else np.random.default_rng((seed, number)).permutation(self.n_rows)
        return [learner.learn(self.X, self.Y, order)]

    def confirms(self, learner: StructuredLearner) -> bool:
        return learner.confirms(self.X, self.Y)
