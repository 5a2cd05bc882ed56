"""Notes on a learner whose rows are visited one by one: what each update did, and the hypothesis after it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons import rules
from perceptrons.learn.examples import Examples
from perceptrons.learn.kernel.budget import BudgetLearner
from perceptrons.learn.kernel.learner import KernelLearner
from perceptrons.learn.linear.learner import LinearLearner

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
NAMES = ("update", "seen", "row", "code", "rival", "mistake", "before", "after", "tau", "second", "variance")
WHOLE = {"update", "seen", "row", "code", "rival", "mistake"}
UNKNOWN = float("nan")


def by_row(coef: Floats, numbers: Array, n_rows: int) -> Floats:
    """Coefficients of all rows, one line for each weight vector; a budget may keep a row twice."""
    placed = np.zeros((n_rows, *coef.shape[1:]))
    np.add.at(placed, numbers, coef)
    return placed[np.newaxis] if placed.ndim == 1 else placed.T


class Notes:
    """An observer of a learner; subclasses know the space of its hypotheses."""

    def __init__(self, learner: Any, examples: Examples) -> None:
        self.learner, self.examples = learner, examples
        self.lines: list[tuple[float, ...]] = []
        self.start = self.hypothesis(learner.current)
        self.path = [self.start]
        self.reads = learner.readout.name != "last" and not learner.readout.by_vote
        self.read: list[Floats] = []  # what predicts, at the end of each position
        self.now = self.start

    def hypothesis(self, weights: Floats) -> Floats:
        """A copy of a hypothesis, one line for each weight vector."""
        raise NotImplementedError

    def scores(self, row: int, hypothesis: Floats) -> Floats:
        """The scores of a row, one for each weight vector."""
        raise NotImplementedError

    def step(self, row: int, margin: float, y: float, moved: list[int]) -> tuple[float, float, float]:
        """What the rule answers for a row: the length of the step, its second number, and the variance it got."""
        raise NotImplementedError

    def before(self, learner: Any) -> None:
        """Note what predicts, which may change with rows that make no update."""
        if self.reads:
            self.now = self.hypothesis(learner.weights)

    def updated(self, learner: Any, row: int | None) -> None:
        """Note an update."""
        done = learner.totals.updates, learner.totals.seen
        after = self.hypothesis(learner.current)
        if row is None:
            self.lines.append((*done, -1, -1, -1, -1, *[UNKNOWN] * 5))
        else:
            code = int(self.examples.codes[row])
            margin, y, moved = learner.margin_of(self.scores(row, self.path[-1]), code)
            rival = 1 - code if learner.n_classes <= 2 else moved[1]
            wins_ties = learner.tie_positive and (code == 1 if learner.n_classes <= 2 else code < rival)
            mistake = margin < 0.0 or (margin == 0.0 and not wins_ties)
            reached = learner.margin_of(self.scores(row, after), code)[0]
            numbers = self.step(row, margin, y, moved)
            self.lines.append((*done, row, code, rival, mistake, margin + 0.0, reached + 0.0, *numbers))
        if self.reads:
            self.read.append(self.now)
        self.path.append(after)

    def finish(self) -> tuple[dict[str, Array], Floats, Floats | None]:
        """The columns, the path, and what predicts at each position."""
        table = np.array(self.lines, dtype=np.float64).reshape(-1, len(NAMES))
        columns: dict[str, Array] = {
            name: table[:, j].astype(np.int64) if name in WHOLE else table[:, j] for j, name in enumerate(NAMES)
        }
        path = np.stack(self.path)
        columns["sq_norm"] = self.sq_norms(path)[1:]
        read = np.stack([*self.read, self.hypothesis(self.learner.weights)]) if self.reads else None
        return columns, path, read

    def sq_norms(self, path: Floats) -> Floats:
        """‖w‖² at each position, with the bias as a weight."""
        raise NotImplementedError


class WeightNotes(Notes):
    """Notes on a linear learner: any rule."""

    learner: LinearLearner

    def __init__(self, learner: LinearLearner, examples: Examples) -> None:
        super().__init__(learner, examples)
        self.state = learner.state.copy()  # as it is since the last update

    def hypothesis(self, weights: Floats) -> Floats:
        lines = weights[np.newaxis] if weights.ndim == 1 else weights.T
        return np.asarray(lines * np.append(np.ones(lines.shape[1] - 1), self.learner.bias))

    def scores(self, row: int, hypothesis: Floats) -> Floats:
        weights = hypothesis[0] if len(hypothesis) == 1 else np.asarray(hypothesis.T, order=self.learner.state.layout)
        return np.asarray(self.learner.scores(self.examples.rows.take(np.array([row])), weights)[0])

    def step(self, row: int, margin: float, y: float, moved: list[int]) -> tuple[float, float, float]:
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

    def sq_norms(self, path: Floats) -> Floats:
        return np.asarray((path * path).sum(axis=(1, 2)))


class CoefficientNotes(Notes):
    """Notes on a learner in a kernel's feature space; hypotheses have a coefficient for every row, mostly 0."""

    learner: KernelLearner | BudgetLearner

    def __init__(self, learner: KernelLearner | BudgetLearner, examples: Examples, K: Floats) -> None:
        self.K = K + learner.bias
        super().__init__(learner, examples)

    def hypothesis(self, weights: Floats) -> Floats:
        return by_row(weights, self.learner.state["numbers"], len(self.K))

    def scores(self, row: int, hypothesis: Floats) -> Floats:
        return np.asarray(hypothesis @ self.K[row])

    def step(self, row: int, margin: float, y: float, moved: list[int]) -> tuple[float, float, float]:
        learner = self.learner
        if isinstance(learner, BudgetLearner):  # the policy changes other coefficients, too
            return UNKNOWN, UNKNOWN, UNKNOWN
        asked = margin, float(self.K[row, row]) * len(moved), 1.0
        answer = learner.rule.tau(*asked, *([y] if rules.takes_label(learner.rule) else []))
        return learner.eta * answer, UNKNOWN, UNKNOWN

    def sq_norms(self, path: Floats) -> Floats:
        return np.asarray(((path @ self.K) * path).sum(axis=(1, 2))).clip(0.0)
