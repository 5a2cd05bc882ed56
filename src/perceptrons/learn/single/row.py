"""Room for one row of a linear learner, and the compiled calls that learn from it and score it.

They are the calls of batches, on the same machine code, so that results are the same bit for bit. What is fixed between
calls is set up once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons import rules
from perceptrons.core.counters import OVERFLOW, SEEN
from perceptrons.core.jit.bound import bound
from perceptrons.core.linear import passes
from perceptrons.core.rows import GOOD, survey
from perceptrons.core.rule import How
from perceptrons.core.scaling import move_statistics, rescale, standardize
from perceptrons.core.spaces import scratch
from perceptrons.data.arrays import readonly
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.scale import running
from perceptrons.learn.state import Floats
from perceptrons.learn.targets import Targets


def _readonly(part: Any) -> Any:
    return None if part is None else readonly(part)


def _frozen(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arrays of a row as batches have them: their types pick the same machine code."""
    return tuple(map(_readonly, arrays))


class Row:
    """Room for one row, dense, or sparse with some number of entries. Fill `values`, and `indices` and `indptr`.

    `answers` has what was predicted before the last call that asked for it. If the learner scales features, by a fixed
    scaling or online, the compiled calls read the row on that scale, from `scaled`.
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
        self.online, self.scaling, self.scaled = learner.scales_online, learner.scaling, self.arrays
        if self.scaling is not None:
            self.scaled = np.zeros(self.arrays[0].shape), *self.arrays[1:]
        if self.online:
            self.saved = np.zeros((len(running.BY_FEATURE), self.values.size))  # statistics before the row
        self.sq_norm, self.raw_sq_norm, self.scores = np.zeros(1), np.zeros(1), scratch(learner.state["w"])
        self.out = np.empty((1, self.scores.size))
        self.codes = targets.encode(targets.decode(targets.room(1)))
        self.order, self.answers, self.weight = np.zeros((1, 1), dtype=np.uint32), targets.room(1), np.ones(1)
        settings = learner.eta, learner.bias, learner.tie_positive, 0.0, learner.epsilon or 0.0
        self.how = How(rules.compiled(learner.rule), learner.readout.marker, *settings)
        self.passes: dict[tuple[bool, bool], Any] = {}  # compiled passes, by whether there are weights and answers
        self.simple = self.scaling is None  # whether a pass is all that there is to do
        self.refresh()
        self.survey = bound(survey, *_frozen(self.arrays), np.uint64(0), self.sq_norm)
        self.decide = bound(passes.decide, *_frozen(self.scaled), *self.scored[3:])
        if self.scaling is not None:
            centre, factor, *rest = self.rescaled[3:]
            self.rescale = bound(rescale, *_frozen(self.arrays), readonly(centre), readonly(factor), *rest)
        if self.online:
            self.standardize = bound(standardize, *_frozen(self.arrays), *self.observed[3:])
            self.move = bound(move_statistics, *_frozen(self.arrays)[1:], False, *self.statistics)

    def refresh(self) -> None:
        """Take over the arrays of the learner, which may have grown."""
        state = self.learner.state
        self.course, self.totals = state.course.array, state.totals.array
        measured = self.sq_norm if self.scaling is None else self.raw_sq_norm
        self.measured = *self.arrays, self.learner.n_features, measured
        self.scored = *self.scaled, self.learner.bias, state["w"], self.out, self.scores
        for kind, (call, _) in self.passes.items():
            self.passes[kind] = call, (*self.scaled, *self._settings(*kind))
        if self.scaling is not None:
            scaling = self.learner.scaling
            assert scaling is not None
            used = min(len(scaling.centre), self.learner.n_features)
            scale = scaling.centre[:used], scaling.factor[:used], scaling.limit
            self.rescaled = *self.arrays, *scale, self.scaled[0], self.sq_norm
        if self.online:
            by_feature, centred = [state[name] for name in running.BY_FEATURE], self.learner.bias > 0.0
            self.n_observed = state[running.ROWS]
            self.observed = *self.arrays, None, centred, self.n_observed, *by_feature, self.scaled[0], self.sq_norm
            self.statistics = *by_feature, self.saved

    def is_good(self) -> bool:
        """Measure the row; whether a pass can read it."""
        return bool(self.survey(*self.measured)[0] == GOOD)

    def score(self, hypothesis: Floats) -> Floats:
        """The scores of the row, one for each weight vector, in room that the next call fills again."""
        self.decide(*self.scaled, self.learner.bias, hypothesis, self.out, self.scores)
        return self.out

    def to_scale(self) -> None:
        """Put the row on the scale of the learner."""
        if self.scaling is not None:
            self.rescale(*self.rescaled)

    def learn(self, code: Any, weight: float | None, answers: bool) -> bool:
        """Learn from the row, which must be good; False if it changed nothing, because a number would overflow.

        answers: whether to fill `answers`.
        """
        call, args = self.prepared(weight is not None, answers)
        self.codes[0] = code
        if weight is not None:
            self.weight[0] = weight
        before = self.mistakes[0]
        self.mistakes[0] = 0.0
        learned = bool(call(*args)) if self.simple else self._observe_and_learn(call, args, weight)
        if not learned:
            self.mistakes[0] = before
            self.fails()
        return learned

    def _observe_and_learn(self, call: Any, args: tuple[Any, ...], weight: float | None) -> bool:
        """Put the row on the scale of the learner, then call the pass.

        Ctrl-C is raised when a compiled call returns. What was done then is finished or undone.
        """
        observes = self.online and weight != 0.0
        if not observes:
            self.to_scale()
        else:
            self.move(*self.arrays[1:], False, *self.statistics)
        n_observed, seen, learned = self.n_observed[0] if observes else 0.0, self.totals[SEEN], False
        try:
            if not observes or self.standardize(*self.observed) == 1:  # otherwise a variance overflows
                learned = bool(call(*args))
        finally:
            if observes and not learned and self.totals[SEEN] == seen:
                self.n_observed[0] = n_observed
                self.move(*self.arrays[1:], True, *self.statistics)
        return learned

    def fails(self) -> None:
        """Called after a pass that did not learn: the next one may."""
        self.course[OVERFLOW] = 0.0

    def prepared(self, weighted: bool, answers: bool) -> Any:
        """A compiled pass over the row, and its arguments."""
        found = self.passes.get((weighted, answers))
        if found is None:
            settings = self._settings(weighted, answers)
            call = bound(passes.learn, *_frozen(self.scaled), *settings, rule=self.learner.rule)
            found = self.passes[weighted, answers] = call, (*self.scaled, *settings)
        return found

    def _settings(self, weighted: bool, answers: bool) -> tuple[Any, ...]:
        """The arguments of a pass that follow those of the row."""
        learner, state = self.learner, self.learner.state
        learner.shape.owns(state, True)
        kept = state.get("kept")
        weight = self.weight if weighted else None
        shape = state.get(learner.shape.key or ""), learner.shape.room(state)
        counters = state.totals.array, self.course, self.mistakes, self.answers if answers else None
        return self.codes, weight, self.sq_norm, self.order, self.how, state["w"], kept, *shape, *counters, self.scores

    def for_code(self, code: Any) -> tuple[Any, ...]:
        """The arguments of a pass without weights and answers for an example of this class."""
        codes = np.full_like(self.codes, code)
        return tuple(codes if each is self.codes else each for each in self.prepared(False, False)[1])

    # -- other forms ------------------------------------------------------------------------------------------

    def fill(self, entries: dict[int, float], n_features: int) -> bool:
        """Fill and measure this row, which is sparse; whether a pass can read it, once there are that many features."""
        assert self.indptr is not None and self.indices is not None
        order = sorted(entries)
        n = self.indptr[1] = len(order)
        self.indices[:n], self.values[:n] = order, [entries[j] for j in order]
        return bool(self.survey(*self.arrays, n_features, self.measured[-1])[0] == GOOD)

    def sort(self) -> None:
        """Sort the entries by their features."""
        assert self.indptr is not None and self.indices is not None
        n = int(self.indptr[1])
        order = np.argsort(self.indices[:n], kind="stable")
        self.indices[:n], self.values[:n] = self.indices[:n][order], self.values[:n][order]
