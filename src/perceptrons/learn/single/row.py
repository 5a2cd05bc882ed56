"""Room for one row of a linear learner, and the compiled calls that learn from it and score it.

They are the calls of batches, on the same machine code, so that results are the same bit for bit. What is fixed between
calls is set up once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons import rules
from perceptrons.core.counters import LOGGED, OVERFLOW
from perceptrons.core.jit.bound import bound
from perceptrons.core.linear import passes
from perceptrons.core.rows import GOOD, survey
from perceptrons.core.rule import How
from perceptrons.core.spaces import scratch
from perceptrons.data.arrays import Rows, readonly
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.state import Floats
from perceptrons.learn.targets import Targets


class Row:
    """Room for one row, dense, or sparse with some number of entries. Fill `values`, and `indices` and `indptr`.

    `answers` has what was predicted before the last call that asked for it.
    """

    def __init__(
        self, learner: LinearLearner, targets: Targets, mistakes: Floats, n_entries: int | None, kind: Any
    ) -> None:
        """n_entries: for sparse rows; None for dense ones. kind: the type of values. mistakes[0] counts mistakes."""
        self.learner, self.targets, self.mistakes = learner, targets, mistakes
        self.values = np.zeros(learner.n_features if n_entries is None else n_entries, dtype=kind)
        self.indices = None if n_entries is None else np.zeros(n_entries, dtype=np.uint32)
        self.indptr = None if n_entries is None else np.zeros(2, dtype=np.uint64)
        dense = self.values[np.newaxis], None, None
        self.arrays: tuple[Any, ...] = dense if self.indices is None else (self.values, self.indices, self.indptr)
        self.sq_norm, self.scores = np.zeros(1), scratch(learner.state["w"])
        self.out = np.empty((1, self.scores.size))
        self.codes = targets.encode(targets.decode(targets.room(1)))
        self.order, self.answers, self.weight = np.zeros((1, 1), dtype=np.uint32), targets.room(1), np.ones(1)
        self.log = learner.readout.room(None, 1)  # of updates, for readouts that keep one
        self.passes: dict[tuple[bool, bool], Any] = {}  # compiled passes, by whether there are weights and answers
        self.survey = bound(survey, *self._frozen(), np.uint64(0), self.sq_norm)
        self.refresh()
        self.decide = bound(passes.decide, *self._frozen(), *self.scored[3:])

    def _frozen(self) -> tuple[Any, ...]:
        """The arrays as batches have them: their types pick the same machine code."""
        return tuple(None if part is None else readonly(part) for part in self.arrays)

    def refresh(self) -> None:
        """Take over the arrays of the learner, which may have grown."""
        self.course = self.learner.state.course.array
        self.measured = *self.arrays, self.learner.n_features, self.sq_norm
        self.scored = *self.arrays, self.learner.bias, self.learner.state["w"], self.out, self.scores
        for kind, (call, _) in self.passes.items():
            self.passes[kind] = call, (*self.arrays, *self._settings(*kind))

    def is_good(self) -> bool:
        """Measure the row; whether a pass can read it."""
        return bool(self.survey(*self.measured)[0] == GOOD)

    def score(self, hypothesis: Floats) -> Floats:
        """The scores of the row, one for each weight vector, in room that the next call fills again."""
        self.decide(*self.arrays, self.learner.bias, hypothesis, self.out, self.scores)
        return self.out

    def learn(self, code: Any, weight: float | None, answers: bool) -> bool:
        """Learn from the row, which must be good; False if it changed nothing, because a number would overflow.

        answers: whether to fill `answers`.
        """
        call, args = self.prepared(weight is not None, answers)
        self.codes[0] = code
        if weight is not None:
            self.weight[0] = weight
        self.mistakes[0] = self.course[LOGGED] = 0.0  # a pass over a batch may have left lines in its own log
        return bool(call(*args)) or self.fails()

    def fails(self) -> bool:
        """Called after a pass that did not learn."""
        self.course[OVERFLOW] = 0.0
        return False

    def keep_log(self) -> None:
        """Called after a pass of a readout that logs updates."""
        if self.log is not None and self.course[LOGGED]:
            self.course[LOGGED] = 0.0
            self.learner.readout.add(self.rows(), self.log.copy())
            self.learner.readout.seal()

    def prepared(self, weighted: bool, answers: bool) -> Any:
        """A compiled pass over the row, and its arguments."""
        found = self.passes.get((weighted, answers))
        if found is None:
            settings = self._settings(weighted, answers)
            call = bound(passes.learn, *self._frozen(), *settings, rule=self.learner.rule)
            found = self.passes[weighted, answers] = call, (*self.arrays, *settings)
        return found

    def _settings(self, weighted: bool, answers: bool) -> tuple[Any, ...]:
        """The arguments of a pass that follow those of the row."""
        learner, state = self.learner, self.learner.state
        learner.shape.owns(state, True)
        kept = state.get("kept") if self.log is None else self.log
        settings = learner.eta, learner.bias, learner.tie_positive, 0.0, learner.epsilon or 0.0
        how = How(rules.compiled(learner.rule), learner.readout.marker, *settings)
        weight = self.weight if weighted else None
        shape = state.get(learner.shape.key or ""), learner.shape.room(state)
        counters = state.totals.array, self.course, self.mistakes, self.answers if answers else None
        return self.codes, weight, self.sq_norm, self.order, how, state["w"], kept, *shape, *counters, self.scores

    def for_code(self, code: Any) -> tuple[Any, ...]:
        """The arguments of a pass without weights and answers for an example of this class."""
        codes = np.full_like(self.codes, code)
        return tuple(codes if each is self.codes else each for each in self.prepared(False, False)[1])

    # -- other forms ------------------------------------------------------------------------------------------

    def take(self, rows: Rows) -> None:
        """Fill this row, which is sparse, with another one."""
        assert self.indptr is not None and self.indices is not None and rows.indices is not None
        n = self.indptr[1] = rows.values.size
        self.values[:n], self.indices[:n], self.sq_norm[0] = rows.values, rows.indices, rows.sq_norm[0]

    def sort(self) -> None:
        """Sort the entries by their features."""
        assert self.indptr is not None and self.indices is not None
        n = int(self.indptr[1])
        order = np.argsort(self.indices[:n], kind="stable")
        self.indices[:n], self.values[:n] = self.indices[:n][order], self.values[:n][order]

    def rows(self) -> Rows:
        """A copy of the row."""
        sq_norm = self.sq_norm.copy()
        if self.indptr is None or self.indices is None:
            return Rows(readonly(self.values[np.newaxis].copy()), None, None, self.learner.n_features, sq_norm)
        values, indices = (part[: int(self.indptr[1])].copy() for part in (self.values, self.indices))
        return Rows(readonly(values), readonly(indices), readonly(self.indptr.copy()), self.learner.n_features, sq_norm)
