"""Notes on a run: what each update did, and the hypothesis after it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons import rules
from perceptrons.core.linear.readouts import AT, DOWN, STEP, UP
from perceptrons.learn.examples import Examples
from perceptrons.learn.kernel.expansion import Expansion
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.state import Totals

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
NAMES = ("update", "seen", "row", "code", "rival", "mistake", "before", "after", "tau", "second", "variance")
WHOLE = {"update", "seen", "row", "code", "rival", "mistake"}
UNKNOWN = float("nan")
Noted = tuple[dict[str, Array], Floats, Floats | None]  # columns, path, and what predicts at each position


def by_row(coef: Floats, numbers: Array, n_rows: int) -> Floats:
    """Coefficients of all rows, one line for each weight vector; a budget may keep a row twice."""
    placed = np.zeros((n_rows, *coef.shape[1:]))
    np.add.at(placed, numbers, coef)
    return placed[np.newaxis] if placed.ndim == 1 else placed.T


def columns_of(lines: list[tuple[float, ...]]) -> dict[str, Array]:
    """One column for each name, from lines with one entry for each."""
    table = np.array(lines, dtype=np.float64).reshape(-1, len(NAMES))
    return {name: table[:, j].astype(np.int64) if name in WHOLE else table[:, j] for j, name in enumerate(NAMES)}


class WeightNotes:
    """Notes on a linear learner whose rows are visited one by one: any rule."""

    def __init__(self, learner: LinearLearner, examples: Examples) -> None:
        self.learner, self.examples = learner, examples
        self.lines: list[tuple[float, ...]] = []
        self.now = self.hypothesis(learner.current)
        self.path = [self.now]
        self.reads = learner.readout.name != "last"
        self.read: list[Floats] = []  # what predicts, at the end of each position
        self.state = learner.state.copy()  # as it is since the last update
        self.mistakes = 0.0  # before the row

    def hypothesis(self, weights: Floats) -> Floats:
        """A copy of a hypothesis, one line for each weight vector."""
        lines = weights[np.newaxis] if weights.ndim == 1 else weights.T
        return np.asarray(lines * np.append(np.ones(lines.shape[1] - 1), self.learner.bias))

    def before(self, learner: Any) -> None:
        """Note what predicts, which may change with rows that make no update."""
        self.mistakes = learner.totals.mistakes
        if self.reads:
            self.now = self.hypothesis(learner.weights)

    def updated(self, learner: Any, row: int | None) -> None:
        """Note an update."""
        done, after = (learner.totals.updates, learner.totals.seen), self.hypothesis(learner.current)
        if row is None:
            self.lines.append((*done, -1, -1, -1, -1, *[UNKNOWN] * 5))
        else:
            code = int(self.examples.codes[row])
            margin, y, moved = learner.margin_of(self.scores(row, self.path[-1]), code)
            rival = 1 - code if learner.n_classes <= 2 else moved[1]
            mistake = learner.totals.mistakes > self.mistakes
            reached = learner.margin_of(self.scores(row, after), code)[0]
            numbers = self.step(row, margin, y, moved)
            self.lines.append((*done, row, code, rival, mistake, margin + 0.0, reached + 0.0, *numbers))
        if self.reads:
            self.read.append(self.now)
        self.path.append(after)

    def scores(self, row: int, hypothesis: Floats) -> Floats:
        """The scores of a row, one for each weight vector."""
        weights = hypothesis[0] if len(hypothesis) == 1 else np.asarray(hypothesis.T, order=self.learner.state.layout)
        return np.asarray(self.learner.scores(self.examples.rows.take(np.array([row])), weights)[0])

    def step(self, row: int, margin: float, y: float, moved: list[int]) -> tuple[float, float, float]:
        """What the rule answers for a row: the length of the step, its second number, and the variance it got."""
        learner, rows = self.learner, self.examples.rows.take(np.array([row]))
        sq_norm = float(rows.sq_norm[0] + learner.bias**2) * len(moved)
        asked = learner.shape.asked(self.state, rows, learner.bias, margin, sq_norm, 1.0, moved)
        self.state = learner.state.copy()
        kind = rules.kind_of(learner.rule)
        answer = getattr(learner.rule, kind)(*asked, *([y] if rules.takes_label(learner.rule) else []))
        if kind == "tau":
            return learner.eta * answer, UNKNOWN, UNKNOWN
        if kind == "metric":
            return learner.eta * answer[0], answer[1], asked[1]
        return answer[1], answer[0], UNKNOWN

    def finish(self) -> Noted:
        """Everything noted, after the last row."""
        columns, path = columns_of(self.lines), np.stack(self.path)
        columns["sq_norm"] = (path * path).sum(axis=(1, 2))[1:]
        read = np.stack([*self.read, self.hypothesis(self.learner.weights)]) if self.reads else None
        return columns, path, read


class CoefficientNotes:
    """Notes on a learner in a kernel's feature space, which tells of its updates itself: it is the `watcher`.

    Hypotheses have a coefficient for every row, mostly 0. A pass after the first `most` rows is noted as one update.
    """

    def __init__(self, learner: Expansion, examples: Examples, most: int) -> None:
        self.learner, self.codes, self.n = learner, examples.codes, len(examples.rows)
        self.watched = most // self.n * self.n
        self.now = np.zeros((1 if learner.n_classes <= 2 else learner.n_classes, self.n))
        self.path = [self.now]
        self.lines: list[tuple[float, ...]] = []  # the entries from `update` to `mistake`, and tau
        self.read: list[Floats] = []  # what predicts, at the end of each position
        self.pocket = self.now
        self.total, self.since = np.zeros_like(self.now), 1  # the sum of hypotheses over the examples before `since`
        self.updates, self.noted = 0, 0  # number of steps so far, and of the pass in which the last update was

    def stepped(self, rows: Ints, log: Floats) -> None:
        """Note steps along rows."""
        plain = isinstance(self.learner.rule, rules.Plain)  # all its updates are mistakes
        for row, line in zip(rows.tolist(), log.tolist(), strict=True):
            up, down = int(line[UP]), int(line[DOWN])
            now = self.now.copy()
            if len(now) == 1:
                now[0, row] += line[STEP] * (2 * up - 1)
            else:
                now[up, row] += line[STEP]
                now[down, row] -= line[STEP]
            self.updates += 1
            self._note(self.updates, int(line[AT]), row, down, plain or UNKNOWN, line[STEP], now)

    def closely(self, seen: float) -> bool:
        """Whether rows up to this one are watched one by one."""
        return seen <= self.watched

    def moved(self, totals: Totals, row: int, mistake: bool, coef: Floats, numbers: Ints) -> None:
        """Note an update that may have changed all coefficients."""
        after = by_row(coef, numbers, self.n)
        self._note(int(totals.updates), int(totals.seen), row, UNKNOWN, mistake, UNKNOWN, after)

    def pocketed(self, coef: Floats, numbers: Ints) -> None:
        """Note what goes into the pocket."""
        self.pocket = by_row(coef, numbers, self.n)

    def _note(self, update: int, seen: int, row: int, rival: float, mistake: float, tau: float, after: Floats) -> None:
        number = (seen - 1) // self.n + 1  # of the pass
        again, self.noted = seen > self.watched and number == self.noted, number
        line = (update, seen, row, self.codes[row], rival, mistake, tau)
        if seen > self.watched:
            line = (update, number * self.n, -1, -1, -1, -1, UNKNOWN)
        if again:
            self.lines[-1], self.path[-1] = line, after
        else:
            self.read.append(self._read(seen if seen <= self.watched else (number - 1) * self.n + 1))
            self.lines.append(line)
            self.path.append(after)
        self.total += self.now * (seen - self.since)
        self.now, self.since = after, seen

    def _read(self, end: int) -> Floats:
        """What predicts before example number `end`."""
        if not self.learner.readout.sums:
            return self.pocket
        return (self.total + self.now * (end - self.since)) / (end - 1) if end > 1 else self.now

    def finish(self, K: Floats) -> Noted:
        """Everything noted, after the last row; K: kernel values of all rows, with the constant of the bias."""
        learner, lines = self.learner, list[tuple[float, ...]]()
        for k, (*known, rival, mistake, tau) in enumerate(self.lines):
            row, code = int(known[2]), int(known[3])
            if row < 0:
                lines.append((*known, rival, mistake, *[UNKNOWN] * 5))
                continue
            margin, _, moved = learner.margin_of(self.path[k] @ K[row], code)
            if rival != rival:
                rival = 1 - code if learner.n_classes <= 2 else moved[1]
            wins_ties = learner.tie_positive and (code == 1 if learner.n_classes <= 2 else code < rival)
            if mistake != mistake:
                mistake = margin < 0.0 or (margin == 0.0 and not wins_ties)
            reached = learner.margin_of(self.path[k + 1] @ K[row], code)[0]
            lines.append((*known, rival, mistake, margin + 0.0, reached + 0.0, tau, UNKNOWN, UNKNOWN))
        columns, path = columns_of(lines), np.stack(self.path)
        columns["sq_norm"] = ((path[1:] @ K) * path[1:]).sum(axis=(1, 2)).clip(0.0)
        reads = learner.readout.name != "last" and not learner.readout.by_vote
        return columns, path, np.stack([*self.read, self.pocket]) if reads else None
