"""Which hypothesis is kept: what each readout stores while learning, and what it reads out.

`kept` is the array that a pass updates for it; the marker picks the pass's code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.core.linear import passes
from perceptrons.core.linear import readouts as keeping
from perceptrons.core.linear.readouts import AVERAGED
from perceptrons.data import Rows

Floats = npt.NDArray[np.float64]
BLOCK = 1 << 22  # entries of the largest table of inner products, and of dense rows, that votes are counted from


class Last:
    """The final w."""

    marker: ClassVar[Any] = keeping.Last()

    def begin(self, w: Floats) -> Floats | None:
        return None

    def weights(self, w: Floats, kept: Any, counts: Floats) -> Floats:
        return w


class Averaged:
    """The mean of w over all examples, after their updates: ((T + 1)·w − u)/T with u = w_0 + Σ t·δ_t."""

    marker: ClassVar[Any] = keeping.Averaged()

    def begin(self, w: Floats) -> Floats | None:
        return np.copy(w)

    def weights(self, w: Floats, kept: Any, counts: Floats) -> Floats:
        total = counts[AVERAGED]
        return np.asarray(((total + 1) * w - kept) / total) if total else w


class Pocket:
    """The w with the fewest mistakes on all training rows."""

    marker: ClassVar[Any] = keeping.Pocket()

    def begin(self, w: Floats) -> Floats | None:
        return np.copy(w)

    def weights(self, w: Floats, kept: Floats, counts: Floats) -> Floats:
        return kept


class Step(NamedTuple):
    """Updates in the order they were made: their log, whose column ROW counts in `rows`."""

    rows: Any  # Rows, or the support of a learner in a kernel's feature space
    log: Floats


class Voted:
    """All hypotheses, each by the step that made it. Weight vectors are never stored."""

    marker: ClassVar[Any] = keeping.Voted()

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.source: Rows | None = None  # rows that the logs not yet sealed count in
        self.logs: list[Floats] = []

    def begin(self, w: Floats) -> Floats | None:
        return None

    def add(self, source: Rows, log: Floats) -> None:
        """One more piece of log, about rows of `source`."""
        if self.source is not source:
            self.seal()
        self.source = source
        self.logs.append(log)

    def seal(self) -> None:
        """Keep a copy of the rows that made updates, and let go of all others."""
        self.steps += self.unsealed(0)
        self.source, self.logs = None, []

    def unsealed(self, first: int) -> list[Step]:
        """The updates of the logs not yet sealed, from number `first` on, with copies of their rows."""
        log = np.concatenate([np.empty((0, keeping.COLUMNS)), *self.logs[first:]])
        if self.source is None or len(log) == 0:
            return []
        rows, column = np.unique(log[:, keeping.ROW].astype(np.intp), return_inverse=True)
        log[:, keeping.ROW] = column
        return [Step(self.source.take(rows), log)]

    def mark(self) -> tuple[list[Step], int, list[Floats], int, Rows | None]:
        """Where this is now, for `back_to`: lists become longer, or others take their place."""
        return self.steps, len(self.steps), self.logs, len(self.logs), self.source

    def back_to(self, mark: tuple[list[Step], int, list[Floats], int, Rows | None]) -> None:
        """Forget what came after the mark."""
        self.steps, n_steps, self.logs, n_logs, self.source = mark
        del self.steps[n_steps:], self.logs[n_logs:]

    def resize(self, n_features: int) -> None:
        """Count so many features from here on."""
        self.seal()
        self.steps = [Step(rows.wide(n_features), log) for rows, log in self.steps]

    def remapped(self, codes: npt.NDArray[np.intp], scale: float) -> Voted:
        """The same with the classes renumbered and every step scaled."""
        self.seal()
        new = Voted()
        for rows, log in self.steps:
            log = log.copy()
            log[:, [keeping.UP, keeping.DOWN]] = codes[log[:, [keeping.UP, keeping.DOWN]].astype(np.intp)]
            log[:, keeping.STEP] *= scale
            new.steps.append(Step(rows, log))
        return new

    def merged(self) -> list[Step]:
        """All updates, those about rows of one layout together; a stream leaves many small pieces."""
        self.seal()
        groups: list[list[Step]] = []
        for step in self.steps:
            if groups and (groups[-1][0].rows.indices is None) == (step.rows.indices is None):
                groups[-1].append(step)
            else:
                groups.append([step])
        self.steps = [_joined(group) for group in groups]
        return self.steps


def _joined(group: list[Step]) -> Step:
    """One step of several about rows of one layout."""
    if len(group) == 1:
        return group[0]
    logs = []
    offset = 0
    for rows, log in group:
        log = log.copy()
        log[:, keeping.ROW] += offset
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
            self._in_force(log[0, keeping.AT])
            lasts = np.diff(log[:, keeping.AT], append=log[-1, keeping.AT])  # the last one is still in force
            column = log[:, keeping.ROW].astype(np.uintp)
            wide = self.rows.n_features if self.rows.indices is None else 1
            height = max(1, BLOCK // max(len(rows), wide))
            for top in range(0, len(self.rows), height):
                part = slice(top, top + height)
                gram = self.gram(self.rows.part(top, top + height), rows)
                passes.vote(gram, column, log, lasts, self.tie_positive, self.scores[part], self.votes[part])
            self.since = log[-1, keeping.AT]
        self._in_force(seen + 1)
        return self.votes


READOUTS: dict[str, Any] = {"last": Last, "averaged": Averaged, "voted": Voted, "pocket": Pocket}
