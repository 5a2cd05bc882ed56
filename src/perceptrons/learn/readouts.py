"""Which hypothesis predicts: each readout with all that is done for it. Nothing else asks which readout it has.

A readout says what a pass keeps for it (`marker` picks the compiled code, `kept` is the array), and how scores are made
of that. A new readout is a class here, its part of `core.linear.readouts`, and a line in `READOUTS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from perceptrons.core.linear import passes
from perceptrons.core.linear import readouts as markers
from perceptrons.data.arrays import Rows
from perceptrons.learn.examples import Examples
from perceptrons.learn.state import Floats, Growth, Totals

if TYPE_CHECKING:
    from perceptrons.learn.classes import ClassLearner

BLOCK = 1 << 22  # entries of the largest table of inner products, and of dense rows, that votes are counted from
LOG_LINES = 1 << 16  # rows that one call may visit when every update is logged


class Readout:
    """What all readouts have; each changes what is its own."""

    name: ClassVar[str]
    marker: ClassVar[Any]  # picks the code of compiled passes
    sums = False  # whether `kept` adds up steps, for a mean
    over_structures = False  # whether it reads out hypotheses that search for structures
    by_vote = False  # whether many hypotheses predict together, so that there are no weights to read
    weighs_all_rows = False  # whether hypotheses are weighed on all training rows, so that there can be no stream
    most_visits: int | None = None  # rows that one call of a pass may visit

    def begin(self, w: Floats) -> Floats | None:
        """The array that passes keep for this readout, before the first example."""
        return None

    def room(self, kept: Floats | None, visits: int) -> Floats | None:
        """What a pass is given to keep things in."""
        return kept

    def weights(self, w: Floats, kept: Floats | None, totals: Totals) -> Floats:
        """The weights that predict."""
        return w

    def decide(self, learner: ClassLearner, rows: Rows) -> Floats:
        """Scores of all rows, one column for two classes."""
        return learner.scores(rows, learner.weights)

    def watch(self, learner: ClassLearner, rows: Rows) -> Callable[[], Floats]:
        """A function that returns the scores of these rows at the time of the call."""
        return lambda: self.decide(learner, rows)

    def step_sums(self, log: Floats) -> Floats | None:
        """What the updates in a log add to `kept`, a number each; None if that is nothing."""
        return None

    # What only some readouts keep beside an array.

    @property
    def log(self) -> Floats:
        """The updates that were logged and are not sealed, as one piece."""
        return np.empty((0, markers.COLUMNS))

    def fill(self, learner: ClassLearner, examples: Examples) -> None:
        """Get ready for passes over these examples."""

    def converge(self, learner: ClassLearner) -> None:
        """Note that the hypothesis in force makes no mistake."""

    def add(self, source: Rows, log: Floats) -> None:
        """Take over the log of a call, about rows of `source`."""

    @property
    def n_logged(self) -> int:
        """How many updates were logged."""
        return 0

    def with_log(self, log: Floats) -> Readout:
        """The same with one more piece of log, about members of the support."""
        return self

    def since(self, first: int) -> list[Step]:
        """The updates about rows, from number `first` on, where they are kept."""
        return []

    def seal(self) -> None:
        """Let go of the rows learned from, apart from those that are needed."""

    def mark(self) -> Any:
        """Where this is now, for `back_to`."""
        return None

    def back_to(self, mark: Any) -> None:
        """Forget what came after the mark."""

    def with_classes(self, growth: Growth) -> Readout:
        """The same for more classes."""
        return self

    def with_features(self, n_features: int) -> Readout:
        """The same for another number of features."""
        return self

    def set_steps(self, steps: list[Step]) -> None:
        """Take over the updates of a model that was saved."""


class Last(Readout):
    """The final w."""

    name, marker = "last", markers.Last()
    over_structures = True


class Averaged(Readout):
    """The mean of w over all examples, after their updates: ((T + 1)·w − u)/T with u = w_0 + Σ t·δ_t."""

    name, marker = "averaged", markers.Averaged()
    sums = over_structures = True

    def begin(self, w: Floats) -> Floats | None:
        return np.copy(w)

    def weights(self, w: Floats, kept: Floats | None, totals: Totals) -> Floats:
        total = totals.averaged
        if not total or kept is None:
            return w
        return np.asarray(((total + 1) * w - kept) / total)

    def decide(self, learner: ClassLearner, rows: Rows) -> Floats:
        total, kept = learner.totals.averaged, learner.state.get("kept")
        if not total or kept is None or not learner.reads_less(rows):
            return super().decide(learner, rows)
        # The mean of all weights would take longer than these few: combine two scores instead.
        sums, final = (learner.scores(rows, hypothesis) for hypothesis in (kept, learner.current))
        return np.asarray(((total + 1) * final - sums) / total)

    def step_sums(self, log: Floats) -> Floats | None:
        return np.asarray(log[:, markers.STEP] * log[:, markers.AT])


class Pocket(Readout):
    """The w with the fewest mistakes on all training rows (Gallant 1990, with ratchet)."""

    name, marker = "pocket", markers.Pocket()
    weighs_all_rows = True

    def begin(self, w: Floats) -> Floats | None:
        return np.copy(w)

    def weights(self, w: Floats, kept: Floats | None, totals: Totals) -> Floats:
        return w if kept is None else kept

    def fill(self, learner: ClassLearner, examples: Examples) -> None:
        course = learner.course
        course.run = course.longest = course.tried = 0.0
        course.pocket = learner.mistakes_of(examples, learner.state["kept"])

    def converge(self, learner: ClassLearner) -> None:
        learner.state["kept"][:], learner.course.pocket = learner.current, 0.0


class Step(NamedTuple):
    """Updates in the order they were made: their log, whose column ROW counts in `rows`."""

    rows: Any  # Rows, or the support of a learner in a kernel's feature space
    log: Floats


class Voted(Readout):
    """All hypotheses, each by the step that made it. Weight vectors are never stored."""

    name, marker = "voted", markers.Voted()
    by_vote = True
    most_visits: int | None = LOG_LINES

    def __init__(self) -> None:
        self.sealed: list[Step] = []
        self.source: Rows | None = None  # rows that the logs not yet sealed count in; None: they count in the support
        self.logs: list[Floats] = []

    def room(self, kept: Floats | None, visits: int) -> Floats | None:
        return np.empty((visits, markers.COLUMNS))

    def decide(self, learner: ClassLearner, rows: Rows) -> Floats:
        """The share of votes."""
        seen = learner.totals.averaged
        return np.asarray(learner.ballot(rows).count(learner.steps(0), seen) / max(1.0, seen))

    def watch(self, learner: ClassLearner, rows: Rows) -> Callable[[], Floats]:
        """Count on from the last call: each update is looked at once."""
        ballot, counted = learner.ballot(rows), 0

        def votes() -> Floats:
            nonlocal counted
            now = ballot.count(learner.steps(counted), learner.totals.averaged)
            counted = learner.readout.n_logged  # of the readout in force: another may have taken the place of this one
            return now

        return votes

    def add(self, source: Rows, log: Floats) -> None:
        if self.source is not source:
            self.seal()
        self.source = source
        self.logs.append(log)

    def seal(self) -> None:
        """Copy the rows that made updates, and let go of all others."""
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

    def back_to(self, mark: Any) -> None:
        self.sealed, n_sealed, self.logs, n_logs, self.source = mark
        del self.sealed[n_sealed:], self.logs[n_logs:]

    def with_features(self, n_features: int) -> Readout:
        self.seal()
        new = Voted()
        new.sealed = [Step(rows.wide(n_features), log) for rows, log in self.sealed]
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
        """All updates about rows, those of one layout together; a stream leaves many small pieces."""
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


def _renumbered(log: Floats, growth: Growth) -> Floats:
    """A log with the classes renumbered, and every step scaled."""
    new = log.copy()
    classes = [markers.UP, markers.DOWN]
    new[:, classes] = growth.codes[log[:, classes].astype(np.intp)]
    new[:, markers.STEP] *= growth.factor
    return new


def _joined(group: list[Step]) -> Step:
    """One step of several about rows of one layout."""
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

    Scores of successive hypotheses differ by one inner product, so a row costs one inner product for each
    distinct row that made an update.
    """

    def __init__(self, rows: Rows, scores: Floats, gram: Callable[[Rows, Any], Floats], tie_positive: bool) -> None:
        """`scores` are those of the first hypothesis; `gram` gives inner products with the rows of a step."""
        self.rows, self.scores, self.gram, self.tie_positive = rows, scores, gram, tie_positive
        self.votes: Floats = np.zeros_like(self.scores)
        self.since: float = 1.0  # number of the first example that the hypothesis in force has not been counted for

    def _in_force(self, until: float) -> None:
        """Let the hypothesis in force vote for the examples before number `until`."""
        lasts = until - self.since
        if self.scores.shape[1] == 1:
            positive = (self.scores > 0) | (self.tie_positive & (self.scores == 0))
            self.votes += np.where(positive, lasts, -lasts)
        else:
            self.votes[np.arange(len(self.votes)), self.scores.argmax(axis=1)] += lasts
        self.since = until

    def count(self, steps: list[Step], seen: float) -> Floats:
        """The votes after these further updates, `seen` examples having been processed in all."""
        for rows, log in steps:
            self._in_force(log[0, markers.AT])
            lasts = np.diff(log[:, markers.AT], append=log[-1, markers.AT])  # the last one is still in force
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


def refuse_stream(readout: str) -> None:
    """Refuse a readout that cannot be read out of a stream."""
    if READOUTS[readout].weighs_all_rows:
        raise ValueError(
            f"readout={readout!r} compares hypotheses on all training rows, which a stream does not have: "
            "use fit, or another readout"
        )
