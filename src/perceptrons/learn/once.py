"""Learn from the rows of a stream once, in their order; new classes may appear."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons.data.arrays import Rows
from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.examples import Examples
from perceptrons.learn.fit import Run
from perceptrons.learn.labels import Array
from perceptrons.learn.state import Floats
from perceptrons.learn.targets import Targets


class Once:
    """Rows to learn from once. `targets` is what the learner is prepared for."""

    def __init__(
        self, learner: ClassLearner, rows: Rows, y: Array, weight: Floats | None, targets: Targets, predict: bool
    ) -> None:
        self.learner, self.rows, self.y, self.weight, self.targets = learner, rows, y, weight, targets
        self.guesses: Array | None = None  # labels predicted before learning, if asked for
        self.answers = targets.room(len(rows)) if predict else None

    def learn(self, changed: dict[str, Any] | None, known: Targets, new: list[int]) -> Run:
        """Learn from all rows; an error leaves the learner unchanged.

        changed: settings to continue with, if they are not those of the learner. known: what exists or was announced.
        new: the first row of each other class. After Ctrl-C, `Run.stop` is "interrupted" and the learner holds what it
        has learned so far.
        """
        learner, columns, run = self.learner, self.rows.columns(), Run(mistakes=[0], stop="stream")
        before, seen = learner.snapshot(columns), learner.totals.seen
        try:
            if changed is not None:
                learner.adopt(**changed)
            learner.widen(self.rows.n_features)
            self.rows = learner.observe(self.rows, self.weight)  # on the scale of a stream
            self._learn(known, new, run)
            learner.check_finite(columns)
        except KeyboardInterrupt:
            # It came before the first example was learned, while room was made for a class, or before a log was kept.
            if learner.totals.seen == seen or self.targets.n_classes != learner.n_classes or learner.is_torn(before):
                learner.restore(before)
                raise
            run.stop, run.interrupted = "interrupted", True
        except Exception:
            learner.restore(before)
            raise
        return run

    def _learn(self, known: Targets, new: list[int], run: Run) -> None:
        """Learn up to the first example of a new class, make room for the class, continue."""
        self._prepare(known)
        if self.answers is not None:
            final = known.joined(known.found(self.y[new])) if new else known
            self.guesses = np.empty(len(self.rows), dtype=final.decode(self.answers[:0]).dtype)
        for begin, end in zip([0, *new], [*new, len(self.rows)], strict=True):
            if begin == end:
                continue
            first_guess = self.y[begin]
            if begin in new:
                if self.answers is not None and self.targets.n_classes:  # predict before the label is known
                    code = self.learner.in_force(self.rows.take(np.array([begin])))[0]
                    first_guess = self.targets.decode(code)
                self._prepare(self.targets.joined(self.targets.found(self.y[begin : begin + 1])))
            run.mistakes[0] += self._learn_part(begin, end)
            if self.guesses is not None and begin in new:
                self.guesses[begin] = first_guess

    def _prepare(self, targets: Targets) -> None:
        targets.prepare(self.learner, self.targets)
        self.targets = targets

    def _learn_part(self, begin: int, end: int) -> int:
        part = self.targets.encode(self.y[begin:end])
        codes = np.zeros(len(self.rows), dtype=part.dtype)
        codes[begin:end] = part
        order = np.arange(begin, end, dtype=np.uint32)
        mistakes = self.learner.once(Examples(self.rows, codes, self.weight), order, self.answers)
        if self.guesses is not None and self.answers is not None:
            self.guesses[begin:end] = self.targets.decode(self.answers[begin:end])
        return mistakes
