"""Learn from the rows of a stream once, in their order; new classes may appear."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons.data.arrays import Rows
from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.examples import Examples
from perceptrons.learn.fit import Run
from perceptrons.learn.labels import Array, encode, union
from perceptrons.learn.state import Floats
from perceptrons.learn.task import make_room


class Once:
    """Rows to learn from once. `classes` are those that the learner has room for."""

    def __init__(
        self, learner: ClassLearner, rows: Rows, y: Array, weight: Floats | None, classes: Array, predict: bool
    ) -> None:
        self.learner, self.rows, self.y, self.weight, self.classes = learner, rows, y, weight, classes
        self.guesses: Array | None = None  # labels predicted before learning, if asked for
        self.codes = np.zeros(len(rows), dtype=np.int32) if predict else None

    def learn(self, settings: dict[str, Any], known: Array, new: list[int]) -> Run:
        """Learn from all rows; an error leaves the learner unchanged.

        known: classes that exist or were announced. new: the first row of each other class. After Ctrl-C, `Run.stop` is
        "interrupted" and the learner holds what it has learned so far.
        """
        learner, columns, run = self.learner, self.rows.columns(), Run(mistakes=[0], stop="stream")
        before = learner.snapshot(columns)
        try:
            learner.adopt(**settings)
            self._learn(known, new, run)
            learner.check_finite(columns)
        except KeyboardInterrupt:
            if len(self.classes) != learner.n_classes:  # it came while room was made for a class
                learner.restore(before)
                raise
            run.stop, run.interrupted = "interrupted", True
        except Exception:
            learner.restore(before)
            raise
        return run

    def _learn(self, known: Array, new: list[int], run: Run) -> None:
        """Learn up to the first example of a new class, make room for the class, continue."""
        self._make_room(known)
        if self.codes is not None:
            self.guesses = np.empty(len(self.rows), dtype=union(known, self.y[new]).dtype if new else known.dtype)
        for begin, end in zip([0, *new], [*new, len(self.rows)], strict=True):
            if begin == end:
                continue
            first_guess = self.y[begin]
            if begin in new:
                if self.codes is not None and len(self.classes):  # predict before the label is known
                    code = self.learner.in_force(self.rows.take(np.array([begin])))[0]
                    first_guess = self.classes[code]
                self._make_room(union(self.classes, self.y[begin : begin + 1]))
            run.mistakes[0] += self._learn_part(begin, end)
            if self.guesses is not None and begin in new:
                self.guesses[begin] = first_guess

    def _make_room(self, classes: Array) -> None:
        make_room(self.learner, self.classes, classes)
        self.classes = classes

    def _learn_part(self, begin: int, end: int) -> int:
        part = encode(self.y[begin:end], self.classes)
        codes = np.zeros(len(self.rows), dtype=part.dtype)
        codes[begin:end] = part
        order = np.arange(begin, end, dtype=np.uint32)
        mistakes = self.learner.once(Examples(self.rows, codes, self.weight), order, self.codes)
        if self.guesses is not None and self.codes is not None:
            self.guesses[begin:end] = self.classes[self.codes[begin:end]]
        return mistakes
