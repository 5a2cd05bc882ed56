"""The readouts: which hypothesis makes predictions. No other code asks which readout is in use.

A readout defines what a pass keeps for it (`marker` picks the compiled code, `kept` is the array), and how to compute
scores from that. To add a readout, write a class here, its part in `core.linear.readouts`, and a line in `READOUTS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from perceptrons.core.linear import passes
from perceptrons.core.linear import readouts as markers
from perceptrons.data.arrays import Rows, readonly
from perceptrons.learn.examples import Examples
from perceptrons.learn.state import Course, Floats, Growth

if TYPE_CHECKING:
    from perceptrons.learn.classes import ClassLearner

BLOCK = 1 << 22  # maximum entries in a table of inner products, and in dense rows, when votes are counted
LOG_LINES = 1 << 16  # maximum rows that one call may visit when every update is logged


class Readout:
    """Base class of readouts; these defaults keep nothing and read out the final w."""

    name: ClassVar[str]
    marker: ClassVar[Any]  # picks the code of compiled passes
    sums = False  # whether `kept` adds up steps, for a mean
    over_structures = False  # whether learners of sequences and structures support it
    by_vote = False  # whether many hypotheses vote, so that there is no single weight vector
    weighs_all_rows = False  # whether it tries hypotheses on all training rows, which rules out streams
    most_visits: int | None = None  # maximum rows that one call of a pass may visit
    unmixed = ""  # why learners of different shards cannot be mixed; empty if they can

    def begin(self, w: Floats) -> Floats | None:
        """The array that passes keep for this readout, before the first example."""
        return None

    def room(self, kept: Floats | None, visits: int) -> Floats | None:
        """The array that a pass may write to."""
        return kept

    def weights(self, learner: ClassLearner) -> Floats:
        """The weights that predict."""
        return learner.current

    def decide(self, learner: ClassLearner, rows: Rows) -> Floats:
        """Scores of all rows, one column for two classes."""
        return learner.scores(rows, learner.weights)

    def decide_one(self, learner: ClassLearner, score: Callable[[Floats], Floats]) -> Floats | None:
        """Scores of one row that reads only some weights; `score` gives its scores by a hypothesis.

        None if the readout has no such way.
        """
        return None

    def watch(self, learner: ClassLearner, rows: Rows) -> Callable[[], Floats]:
        """A function that returns the current scores of these rows."""
        return lambda: self.decide(learner, rows)

    def step_sums(self, log: Floats) -> Floats | None:
        """What each update in a log adds to `kept`, one number per update; None if nothing."""
        return None

    # For readouts that keep more than an array.

    @property
    def log(self) -> Floats:
        """The logged updates that are not sealed yet, as one array."""
        return np.empty((0, markers.COLUMNS))

    def fill(self, learner: ClassLearner, examples: Examples) -> None:
        """Get ready for passes over these examples."""

    def converge(self, learner: ClassLearner) -> None:
        """Called when the current hypothesis makes no mistake."""

    def may_improve(self, course: Course) -> bool:
        """Whether passes over rows that cannot be separated are made to find a better hypothesis."""
        return False

    def add(self, source: Rows, log: Floats) -> None:
        """Add the log of a call; it refers to rows of `source`."""

    @property
    def n_logged(self) -> int:
        """Number of logged updates."""
        return 0

    def with_log(self, log: Floats) -> Readout:
        """The same readout with more updates, which refer to the support."""
        return self

    def since(self, first: int) -> list[Step]:
        """The logged updates, starting with number `first`, if the readout keeps their rows."""
        return []

    def seal(self) -> None:
        """Release the training rows, except those that are needed."""

    def mark(self) -> Any:
        """The current position, for `back_to`."""
        return None

    def n_since(self, mark: Any) -> int:
        """Number of updates that were logged after the mark."""
        return 0

    def back_to(self, mark: Any) -> None:
        """Discard everything after the mark."""

    def with_classes(self, growth: Growth) -> Readout:
        """The same readout for more classes."""
        return self

    def with_features(self, n_features: int) -> Readout:
        """The same readout for another number of features."""
        return self

    def set_steps(self, steps: list[Step]) -> None:
        """Set the updates, when a model is loaded."""


class Last(Readout):
    """The final w."""

    name, marker = "last", markers.Last()
    over_structures = True

    def decide(self, learner: ClassLearner, rows: Rows) -> Floats:
        if not learner.reads_less(rows):
            return super().decide(learner, rows)
        return self.decide_one(learner, lambda w: learner.scores(rows, w))

    def decide_one(self, learner: ClassLearner, score: Callable[[Floats], Floats]) -> Floats:
        w, factor = learner.factored  # scaling scores is faster than scaling all weights
        return factor * score(w)


def mean_of(w: Floats, factor: float, kept: Floats, total: float) -> Floats:
    """The mean of all hypotheses after `total` examples: (factor·w − kept)/total."""
    mean = np.asarray(factor * w)  # one array: all weights may take much memory
    mean -= kept
    mean /= total
    return mean


class Averaged(Readout):
    """The mean of w over all examples, after their updates: ((T + 1)·w − u)/T with u = w_0 + Σ t·δ_t.

    If w is kept as s·v, (S·v − u)/T: see `core.linear.readouts`.
    """

    name, marker = "averaged", markers.Averaged()
    sums = over_structures = True

    def begin(self, w: Floats) -> Floats | None:
        return np.copy(w)

    def weights(self, learner: ClassLearner) -> Floats:
        total, kept = learner.totals.averaged, learner.state.get("kept")
        if not total or kept is None:
            return learner.current
        return mean_of(*learner.summed, kept, total)

    def decide(self, learner: ClassLearner, rows: Rows) -> Floats:
        total, kept = learner.totals.averaged, learner.state.get("kept")
        if not total or kept is None or not learner.reads_less(rows):
            return super().decide(learner, rows)
        return self.decide_one(learner, lambda hypothesis: learner.scores(rows, hypothesis))

    def decide_one(self, learner: ClassLearner, score: Callable[[Floats], Floats]) -> Floats:
        # Combining two scores is faster than computing the mean of all weights.
        total, kept = learner.totals.averaged, learner.state.get("kept")
        if not total or kept is None:
            return score(learner.current)
        w, factor = learner.summed
        final = factor * score(w)
        return np.asarray((final - score(kept)) / total)

    def step_sums(self, log: Floats) -> Floats | None:
        return np.asarray(log[:, markers.STEP] * log[:, markers.AT])


class Pocket(Readout):
    """The w with the fewest mistakes on all training rows (Gallant 1990, with ratchet)."""

    name, marker = "pocket", markers.Pocket()
    weighs_all_rows = True
    unmixed = "it tries hypotheses on all rows, and each shard has only some"

    def begin(self, w: Floats) -> Floats | None:
        return np.copy(w)

    def weights(self, learner: ClassLearner) -> Floats:
        kept = learner.state.get("kept")
        return learner.current if kept is None else kept

    def fill(self, learner: ClassLearner, examples: Examples) -> None:
        course = learner.course
        course.run = course.longest = course.tried = 0.0
        course.pocket = learner.mistakes_of(examples, learner.state["kept"])

    def converge(self, learner: ClassLearner) -> None:
        learner.state["kept"][:], learner.course.pocket = learner.current, 0.0

    def may_improve(self, course: Course) -> bool:
        return course.pocket > 1.0  # at least one of such rows is wrong


class Step(NamedTuple):
    """Updates in the order they were made: their log, whose column ROW refers to `rows`."""

    rows: Any  # Rows, or the support of a learner in a kernel's feature space
    log: Floats


class Voted(Readout):
    """All hypotheses, stored as the steps between them; weight vectors are never stored."""

    name, marker = "voted", markers.Voted()
    by_vote = True
    most_visits: int | None = LOG_LINES
    unmixed = "votes are counted along one sequence of hypotheses, and each shard makes its own"

    def __init__(self) -> None:
        self.sealed: list[Step] = []
        self.source: Rows | None = None  # rows that unsealed logs refer to; None: they refer to the support
        self.logs: list[Floats] = []

    def room(self, kept: Floats | None, visits: int) -> Floats | None:
        return np.empty((visits, markers.COLUMNS))

    def decide(self, learner: ClassLearner, rows: Rows) -> Floats:
        """Shares of votes."""
        seen = learner.totals.averaged
        return np.asarray(learner.ballot(rows).count(learner.steps(0), seen) / max(1.0, seen))

    def watch(self, learner: ClassLearner, rows: Rows) -> Callable[[], Floats]:
        """Continue from the last call, so that each update is counted once."""
        ballot, counted = learner.ballot(rows), 0

        def votes() -> Floats:
            nonlocal counted
            now = ballot.count(learner.steps(counted), learner.totals.averaged)
            counted = learner.readout.n_logged  # of the current readout, which may have replaced this one
            return now

        return votes

    def add(self, source: Rows, log: Floats) -> None:
        if self.source is not source:
            self.seal()
        self.source = source
        self.logs.append(log)

    def seal(self) -> None:
        """Copy the rows that made updates, and release all others."""
        if self.source is not None:
            self.sealed += _about_rows(self.source, self.log)
            self.source, self.logs = None, []

    @property
    def log(self) -> Floats:
        self.logs = [np.concatenate([np.empty((0, markers.COLUMNS)), *self.logs])]
        return self.logs[0]

    @property
    def n_logged(self) -> int:
        return sum(len(step.log) for step in self.sealed) + sum(map(len, self.logs))

    def with_log(self, log: Floats) -> Readout:
        new = Voted()
        new.sealed, new.source, new.logs = self.sealed, self.source, [*self.logs, log]
        return new

    def since(self, first: int) -> list[Step]:
        if first == 0:
            return self.merged()
        steps = []
        for step in self.sealed:
            if first < len(step.log):
                steps.append(Step(step.rows, step.log[first:]))
            first = max(0, first - len(step.log))
        return steps if self.source is None else steps + _about_rows(self.source, self.log[first:])

    def mark(self) -> Any:
        return self.sealed, len(self.sealed), self.logs, len(self.logs), self.source

    def n_since(self, mark: Any) -> int:
        new = sum(len(step.log) for step in self.sealed[mark[1] :]) + sum(map(len, self.logs))
        return new - sum(map(len, mark[2][: mark[3]]))

    def back_to(self, mark: Any) -> None:
        self.sealed, n_sealed, self.logs, n_logs, self.source = mark
        del self.sealed[n_sealed:], self.logs[n_logs:]

    def with_features(self, n_features: int) -> Readout:
        self.seal()
        new = Voted()
        new.sealed = [Step(_resized(rows, n_features), log) for rows, log in self.sealed]
        return new

    def with_classes(self, growth: Growth) -> Readout:
        self.seal()
        new = Voted()
        new.sealed = [Step(rows, _renumbered(log, growth)) for rows, log in self.sealed]
        new.logs = [_renumbered(log, growth) for log in self.logs]
        return new

    def set_steps(self, steps: list[Step]) -> None:
        self.sealed = steps

    def merged(self) -> list[Step]:
        """All updates, with rows of one layout joined: a stream leaves many small pieces."""
        self.seal()
        groups: list[list[Step]] = []
        for step in self.sealed:
            if groups and (groups[-1][0].rows.indices is None) == (step.rows.indices is None):
                groups[-1].append(step)
            else:
                groups.append([step])
        self.sealed = [_joined(group) for group in groups]
        return self.sealed


def _about_rows(source: Rows, log: Floats) -> list[Step]:
    """Updates with copies of the rows that made them."""
    if len(log) == 0:
        return []
    log = log.copy()
    rows, log[:, markers.ROW] = np.unique(log[:, markers.ROW].astype(np.intp), return_inverse=True)
    return [Step(source.take(rows), log)]


def _resized(rows: Rows, n_features: int) -> Rows:
    """The same rows with more features, which are 0, or with fewer."""
    if rows.indices is not None or n_features == rows.n_features:
        return rows.wide(n_features)
    if n_features > rows.n_features:
        return rows.padded(n_features)
    return Rows(readonly(rows.values[:, :n_features].copy()), None, None, n_features, rows.sq_norm)


def _renumbered(log: Floats, growth: Growth) -> Floats:
    """A copy of a log with renumbered classes and scaled steps."""
    new = log.copy()
    classes = [markers.UP, markers.DOWN]
    new[:, classes] = growth.codes[log[:, classes].astype(np.intp)]
    new[:, markers.STEP] *= growth.factor
    return new


def _joined(group: list[Step]) -> Step:
    """Join steps whose rows have one layout."""
    if len(group) == 1:
        return group[0]
    logs = []
    offset = 0
    for rows, log in group:
        log = log.copy()
        log[:, markers.ROW] += offset
        offset += len(rows)
        logs.append(log)
    return Step(Rows.joined([step.rows for step in group]), np.concatenate(logs))


class Ballot:
    """The votes on some rows, counted hypothesis by hypothesis; more updates can be added later.

    Scores of successive hypotheses differ by one inner product. So each row costs one inner product for each
    distinct row that made an update.
    """

    def __init__(self, rows: Rows, scores: Floats, gram: Callable[[Rows, Any], Floats], tie_positive: bool) -> None:
        """`scores` are those of the first hypothesis; `gram` gives inner products with the rows of a step."""
        self.rows, self.scores, self.gram, self.tie_positive = rows, scores, gram, tie_positive
        self.votes: Floats = np.zeros_like(self.scores)
        self.since: float = 1.0  # number of the first example for which the current hypothesis has not voted yet

    def _in_force(self, until: float) -> None:
        """Let the current hypothesis vote for the examples before number `until`."""
        lasts = until - self.since
        if self.scores.shape[1] == 1:
            positive = (self.scores > 0) | (self.tie_positive & (self.scores == 0))
            self.votes += np.where(positive, lasts, -lasts)
        else:
            self.votes[np.arange(len(self.votes)), self.scores.argmax(axis=1)] += lasts
        self.since = until

    def count(self, steps: list[Step], seen: float) -> Floats:
        """Add the votes of these updates; return all votes after `seen` examples."""
        for rows, log in steps:
            self._in_force(log[0, markers.AT])
            lasts = np.diff(log[:, markers.AT], append=log[-1, markers.AT])  # the last one is still current
            column = log[:, markers.ROW].astype(np.uintp)
            wide = self.rows.n_features if self.rows.indices is None else 1
            height = max(1, BLOCK // max(len(rows), wide))
            for top in range(0, len(self.rows), height):
                part = slice(top, top + height)
                gram = self.gram(self.rows.part(top, top + height), rows)
                passes.vote(gram, column, log, lasts, self.tie_positive, self.scores[part], self.votes[part])
            self.since = log[-1, markers.AT]
        self._in_force(seen + 1)
        return self.votes


READOUTS: dict[str, type[Readout]] = {kind.name: kind for kind in (Last, Averaged, Voted, Pocket)}


OVER_STRUCTURES = tuple(name for name, kind in READOUTS.items() if kind.over_structures)
