"""Batch training: pass after pass until converged, or until one of the reasons to give up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core import passes
from perceptrons.core.keeping import MISTAKES, QUIET, SEEN, UPDATES
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


def train(
    learner: Any,
    examples: Examples,
    run: Run,
    *,
    seed: int | None,
    max_iter: int,
    tol: float | None,
    validation: Examples | None = None,
    patience: int | None = None,
    stall: int | None = None,
    report: Callable[[Any, Run], None] | None = None,
    one_by_one: bool = False,
) -> None:
    """Train `learner` on `examples`, keeping `run` up to date.

    seed: of the random order of each pass; None keeps the order of rows.
    tol: stop when the margin is proved to be below tol·R: ‖w‖/(R·Στ) < tol. None: never.
    validation: its error is taken after each pass.
    patience: stop after so many passes without a smaller validation error, and go back to the best hypothesis.
    stall: stop when so many passes did not lower the fewest mistakes of a pass. None: never.
    report: called between passes; with `one_by_one` after every pass, else several may go by.
    """
    learner.fill_pocket(examples)
    order = examples.order()
    held_out = None if validation is None else HeldOut(learner, validation)
    # Many passes over a small data set are one call of a kernel, unless something is to be done between them.
    in_between = held_out is not None or one_by_one or learner.origin is not None or learner.burn_in > 0
    together = 1 if in_between else learner.at_once(examples)
    best, lines = None, 1
    try:
        while run.n_iter < max_iter and run.stop == "interrupted":
            lines = min(lines, together, max_iter - run.n_iter)
            orders = orders_of(order, lines, seed, run.n_iter)
            if lines == 1:
                run.mistakes.append(int(learner.once(examples, orders[0], last=run.n_iter + 1 == max_iter)))
            else:
                mistakes = np.zeros(lines)
                done = learner.repeat(examples, orders, mistakes, tol=tol)
                run.mistakes += mistakes[:done].astype(int).tolist()
            if run.mistakes[-1] == 0 and learner.confirms(examples):
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
                errors.append(held_out.error())
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
            counts = learner.counts[[SEEN, MISTAKES, UPDATES]]
            learner.restore(best[1])
            learner.counts[[SEEN, MISTAKES, UPDATES]] = counts  # what was done, not what is kept
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

    def error(self) -> float:
        """Share of rows that the readout gets wrong now."""
        return float(np.mean(self.learner.predict(self.scores()) != self.codes))
