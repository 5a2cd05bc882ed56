"""Batch training: pass after pass until converged, or until one of the reasons to give up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from perceptrons.core.linear import passes
from perceptrons.core.linear.readouts import MISTAKES, QUIET, SEEN, UPDATES
from perceptrons.learn.examples import Examples


@dataclass
class Run:
    """What happened, pass by pass; filled while training goes on."""

    mistakes: list[int] = field(default_factory=list)
    validation_errors: list[float] = field(default_factory=list)
    converged: bool = False
    stop: str = "interrupted"  # or "converged", "margin", "stuck", "stalled", "validation", "max_iter"

    @property
    def n_iter(self) -> int:
        return len(self.mistakes)


class Material(Protocol):
    """What is learned from: examples in memory, or a stream of them."""

    n_rows: int  # in a pass

    def begin(self, learner: Any) -> None:
        """Before the first pass."""

    def at_once(self, learner: Any) -> int:
        """How many passes may be made at once."""

    def learn(
        self, learner: Any, number: int, lines: int, seed: int | None, tol: float | None, *, last: bool
    ) -> list[int]:
        """So many passes, the first of them with this number; returns the mistakes of each. Fewer if one ends it."""

    def confirms(self, learner: Any) -> bool:
        """After a pass without a mistake: whether the hypothesis in force makes none on all rows."""


class InMemory:
    """Examples that are all there."""

    def __init__(self, examples: Examples) -> None:
        self.examples, self.order = examples, examples.order()
        self.n_rows = len(self.order)

    def begin(self, learner: Any) -> None:
        learner.fill_pocket(self.examples)

    def at_once(self, learner: Any) -> int:
        return int(learner.at_once(self.examples))

    def learn(
        self, learner: Any, number: int, lines: int, seed: int | None, tol: float | None, *, last: bool
    ) -> list[int]:
        orders = orders_of(self.order, lines, seed, number)
        if lines == 1:
            return [int(learner.once(self.examples, orders[0], last=last))]
        mistakes = np.zeros(lines)
        done = learner.repeat(self.examples, orders, mistakes, tol=tol)
        return [int(count) for count in mistakes[:done]]

    def confirms(self, learner: Any) -> bool:
        return bool(learner.confirms(self.examples))


def train(
    learner: Any,
    material: Material,
    run: Run,
    *,
    seed: int | None,
    max_iter: int,
    tol: float | None,
    held_out: Callable[[], float] | None = None,
    patience: int | None = None,
    stall: int | None = None,
    report: Callable[[Any, Run], None] | None = None,
    one_by_one: bool = False,
) -> None:
    """Train `learner` on `material`, keeping `run` up to date.

    seed: of the random order of each pass; None keeps the order of rows.
    tol: stop when the margin is proved to be below tol·R: ‖w‖/(R·Στ) < tol. None: never.
    held_out: the error of the learner's readout on held-out rows; taken after each pass.
    patience: stop after so many passes without a smaller held-out error, and go back to the best hypothesis.
    stall: stop when so many passes did not lower the fewest mistakes of a pass. None: never.
    report: called between passes; with `one_by_one` after every pass, else several may go by.
    """
    material.begin(learner)
    # Many passes over a small data set are one call of a kernel, unless something is to be done between them.
    in_between = held_out is not None or one_by_one or learner.origin is not None or learner.burn_in > 0
    together = 1 if in_between else material.at_once(learner)
    best, lines = None, 1
    try:
        while run.n_iter < max_iter and run.stop == "interrupted":
            lines = min(lines, together, max_iter - run.n_iter)
            run.mistakes += material.learn(learner, run.n_iter, lines, seed, tol, last=run.n_iter + lines == max_iter)
            if run.mistakes[-1] == 0 and material.confirms(learner):
                run.converged, run.stop = True, "converged"
                learner.converge()
            elif learner.counts[QUIET]:
                run.stop = "stuck"
            elif tol is not None and learner.gives_up(tol):
                run.stop = "margin"
            elif stall is not None and run.n_iter - 1 - int(np.argmin(run.mistakes)) >= stall:
                run.stop = "stalled"
            if held_out is not None:
                errors = run.validation_errors
                errors.append(held_out())
                if patience is not None:
                    if best is None or errors[-1] <= best[0]:  # of equals the latest, which has learned most
                        best = errors[-1], learner.snapshot(), run.converged
                    if len(errors) - 1 - int(np.argmin(errors)) >= patience and run.stop == "interrupted":
                        run.stop = "validation"
            if report is not None:
                report(learner, run)
            lines *= 2
        if run.stop == "interrupted":
            run.stop = "max_iter"
    finally:
        if best is not None:
            tallies = list(getattr(learner, "tallies", (SEEN, MISTAKES, UPDATES)))
            counts = learner.counts[tallies]
            learner.restore(best[1])
            learner.counts[tallies] = counts  # what was done, not what is kept
            run.converged = best[2]


def orders_of(order: npt.NDArray[Any], lines: int, seed: int | None, first: int) -> npt.NDArray[Any]:
    """The orders of so many passes from number `first` on."""
    orders = np.tile(order, (lines, 1))
    if seed is not None:
        passes.shuffle(orders, np.uint64(seed), np.uint64(first))
    return orders


class HeldOut:
    """The error of the readout on rows that are not learned from."""

    def __init__(self, learner: Any, examples: Examples) -> None:
        self.learner, self.codes = learner, examples.codes
        self.scores = learner.watch(examples.rows)

    def __call__(self) -> float:
        """Share of rows that the readout gets wrong now."""
        return float(np.mean(self.learner.predict(self.scores()) != self.codes))
