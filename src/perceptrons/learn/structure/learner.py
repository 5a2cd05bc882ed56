"""The learner over structures: search, compare, step along Δφ = φ(x, y) − φ(x, ŷ)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.learn.learner import EPSILON, Learner, Order, overflow, words_of_structures
from perceptrons.learn.readouts import READOUTS
from perceptrons.learn.state import State
from perceptrons.learn.structure.problem import Checked, Space
from perceptrons.rules import Margin, demands, refuse_label, refuse_other_kinds

# Two scores of one structure, summed in different orders, differ by a few ε of the sum of the magnitudes.
ROUNDING = 64 * EPSILON


class Pairs:
    """Inputs with their structures: the examples of a structured learner."""

    def __init__(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        self.X, self.Y = X, Y

    def __len__(self) -> int:
        return len(self.X)

    def order(self) -> Order:
        return np.arange(len(self), dtype=np.uint32)

    def split(self, held: npt.NDArray[np.bool_]) -> tuple[Pairs, Pairs]:
        learned, kept = (np.flatnonzero(part).tolist() for part in (~held, held))
        return self._take(learned), self._take(kept)

    def _take(self, where: list[int]) -> Pairs:
        return Pairs([self.X[i] for i in where], [self.Y[i] for i in where])


class StructuredLearner(Learner[Pairs]):
    """A learner of weights in a joint feature space, from the mistakes of a search."""

    words = words_of_structures("structures", "structures", found="structures")

    def __init__(self, problem: Any, *, rule: Any, readout: str, eta: float) -> None:
        self.problem, self.readout = problem, READOUTS[readout]()
        self.state = State()
        self.search_errors = 0
        self.space: Space | None = None  # set at the first example
        self._marked: Any = None
        self._read: tuple[float, Any] | None = None  # the readout, and the number of examples when it was computed
        self.adopt(problem=problem, rule=rule, readout=readout, eta=eta)

    def adopt(self, *, problem: Any, rule: Any, readout: str, eta: float) -> None:
        """Continue with another rule or step scale; the problem and the readout must stay."""
        if problem is not self.problem or readout != self.readout.name:
            name = "readout" if problem is self.problem else "problem"
            raise ValueError(f"{name} was changed after learning had begun: use fit, or change it back")
        refuse_other_kinds(rule, "structures", "steps are along Δφ, and this rule's are not")
        refuse_label(rule, "structures")
        # The margin rule also steps on right predictions, when the search finds a structure that comes too close.
        self.scale = demands(rule) if isinstance(rule, Margin) else None
        self.checked = Checked(problem, augmented=self.scale is not None)
        self.rule, self.eta = rule, float(eta)

    # -- learning ---------------------------------------------------------------------------------------------

    def once(self, examples: Pairs, order: Order, *, last: bool = False) -> int:
        """Process examples in this order; return the number of mistakes. An error changes nothing."""
        updates, mistakes = self.totals.updates, 0
        self._mark()
        try:
            for number in order.tolist():
                mistakes += self._example(number, examples.X[number], examples.Y[number])
        except BaseException:
            self._back()
            raise
        self.course.quiet = updates == self.totals.updates
        self._mark()
        return mistakes

    def _mark(self) -> None:
        self._marked = self.space, self.state.copy(), self.search_errors
        self._read = None
        if self.space is not None:
            self.space.mark()

    def _back(self) -> None:
        self.space, self.state, self.search_errors = self._marked
        if self.space is not None:
            self.space.back()

    def snapshot(self) -> Any:
        return copy.deepcopy(self.space), self.state.copy(), self.search_errors

    def restore(self, snapshot: Any) -> None:
        space, state, self.search_errors = snapshot
        self.space, self.state, self._read = copy.deepcopy(space), state.copy(), None

    def _example(self, number: int, x: Any, y: Any) -> bool:
        """Predict, compare, step; returns whether the prediction was wrong."""
        if self.space is None:
            self.space = self.checked.space(number, x, y)
        self.totals.visit(1)
        space, checked = self.space, self.checked
        mistake, gold, predicted, searched = self._searched(space, number, x, y)
        self.totals.mistakes += mistake
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
        # L replaces the 1 in ℓ = max(0, 1 − m): the rule gets a margin that is smaller by target·(L − 1). For a
        # violation it is at most the target, except for rounding.
        target = demands(self.rule)
        asked = min(target, margin - target * (cost - 1.0)), sq_norm, 1.0
        tau = self.rule.tau(*asked)
        if not math.isfinite(tau):
            raise overflow(f"at example {number}", self.rule, *asked)
        if tau > 0.0:
            totals = self.totals
            if not space.move(delta, self.eta * tau, totals.seen):
                raise overflow(f"at example {number}")
            totals.updates += 1
            totals.sum_tau += self.eta * tau
            totals.sq_radius = max(totals.sq_radius, sq_norm)
        return mistake

    def _searched(self, space: Space, number: int, x: Any, y: Any) -> tuple[bool, Any, Any, str | None]:
        """Whether the prediction is wrong, the two structures to step between, and which search found the second.

        The last is None if there is no step.
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

    def confirms(self, examples: Pairs) -> bool:
        """Search all examples again, unless the last pass made no step."""
        if self.course.quiet or self.space is None:
            return True
        weights, pairs = self.space.weights, zip(examples.X, examples.Y, strict=True)
        return all(self._finds(number, x, weights, y) for number, (x, y) in enumerate(pairs))

    # -- reading ---------------------------------------------------------------------------------------------

    @property
    def weights(self) -> Any:
        """The weights of the readout."""
        assert self.space is not None
        total = self.totals.seen
        if self._read is None or self._read[0] != total:
            self._read = total, self.space.averaged(total) if self.readout.sums else self.space.last()
        return self._read[1]

    def watch(self, examples: Pairs) -> Callable[[], float]:
        """A function that returns the share of structures that the readout currently predicts wrong."""

        def error() -> float:
            pairs = zip(examples.Y, self.predict(examples.X), strict=True)
            return float(np.mean([not self.checked.same(number, *pair) for number, pair in enumerate(pairs)]))

        return error

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """The best structure of each input."""
        return [self.checked.search("argmax", number, x, self.weights) for number, x in enumerate(X)]

    def hull_point(self, total: float) -> tuple[float, float]:
        assert self.space is not None
        return self.space.norm() / total * (1 + len(self.space.w) * EPSILON), 0.0

    @property
    def status(self) -> str:
        errors = f", {self.search_errors} search errors" if self.search_errors else ""
        return super().status + errors
