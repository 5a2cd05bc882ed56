"""Hypotheses in a kernel's feature space, w = Σ_j α_j φ(x_j): their support rows, coefficients and readout."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from perceptrons.core.linear import readouts as markers
from perceptrons.data.arrays import Rows
from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.kernel.feature_space import FeatureSpace, resolved
from perceptrons.learn.kernel.support import Support
from perceptrons.learn.learner import EPSILON, Words, overflow
from perceptrons.learn.readouts import Ballot, Readout, Step
from perceptrons.learn.state import FACT, Floats, Growth, Ints, State, Totals
from perceptrons.rules import refuse_other_kinds

Array = npt.NDArray[Any]


class Watcher(Protocol):
    """Somebody who watches the updates of a run.

    The same rows, learned in other pieces, may have kernel values that differ in the last bit, so that a tie falls the
    other way: to see what a run does, watch that run.
    """

    def stepped(self, rows: Ints, log: Floats) -> None:
        """Called after steps without a budget: the numbers of their rows, and their log."""

    def closely(self, seen: float) -> bool:
        """Whether updates with a budget, up to this number of examples, are told one by one; otherwise by blocks."""

    def moved(self, totals: Totals, row: int, mistake: bool, coef: Floats, numbers: Ints) -> None:
        """Called after updates with a budget: the counts, and the coefficients of the rows with these numbers."""

    def pocketed(self, coef: Floats, numbers: Ints) -> None:
        """Called when a hypothesis goes into the pocket: the coefficients of the rows with these numbers."""


class Expansion(ClassLearner):
    """Support rows, with one coefficient each for two classes, and one per class for more.

    Arrays by support row: `alpha`, the coefficients; `kept`, those of the readout; `numbers`, counted from the first
    row ever given; `codes`, the classes. The newest rows are still in `source`, at `where`; `seal` copies them.
    """

    watcher: Watcher | None = None  # told of every update while it is made

    words = Words(
        separable="separable in the kernel's feature space",
        who_tells="perceptrons.theory.separability(K=model.kernel_matrix(X), y=y) proves whether they are",
        other_space="an averaged readout, or another kernel (a larger gamma or degree)",
    )

    def check_rule(self, rule: Any, eta: float, n_classes: int, readout: Readout) -> None:
        refuse_other_kinds(
            rule, "kernels", "w is kept as a sum of rows, and this rule's steps are not along rows", even=False
        )
        super().check_rule(rule, eta, n_classes, readout)

    def __init__(
        self,
        rule: Any,
        readout: str,
        *,
        rows: Rows,
        n_classes: int,
        eta: float = 1.0,
        fit_intercept: bool = True,
        tie: str = "mistake",
        **kernel: Any,
    ) -> None:
        """`rows`: examples of the rows to learn from. `kernel`: a kernel's name and parameters, as in FeatureSpace."""
        super().__init__(rule, readout, n_classes, eta, fit_intercept, tie)
        self.fixed |= kernel
        self.space: FeatureSpace = resolved(**kernel, bias=self.bias, rows=rows)
        self.definite = self.space.definite  # otherwise there is no feature space
        self.state = State()
        self.state["alpha"], self.state["kept"] = self.zeros(0), self.zeros(0)
        for name in ("numbers", "codes"):
            self.state.hold(name, np.empty(0, dtype=np.intp), FACT)
        self.state.hold("origin", None)
        self.course.longest = np.inf  # no trials, except for the pocket
        self.sealed = Support(self.space)
        self.source: Rows | None = None
        self.where: Ints = np.empty(0, dtype=np.intp)
        self.given = 0  # number of rows given before those of the source
        self.gram: Floats | None = None  # kernel values among the support, for a precomputed kernel

    def zeros(self, size: int) -> Floats:
        """Coefficients of this many support rows, all 0."""
        return np.zeros(size if self.n_classes <= 2 else (size, self.n_classes))

    @property
    def current(self) -> Floats:
        return self.state["alpha"]

    @property
    def size(self) -> int:
        """Number of support rows."""
        return len(self.state["numbers"])

    def check_finite(self, columns: Ints | None = None) -> None:
        """Raise an error if a coefficient has overflowed; `columns` is ignored."""
        if not self.state.is_finite():
            raise overflow("in this pass")

    # -- the support ------------------------------------------------------------------------------------------

    @property
    def support(self) -> Support:
        """All support rows, including those not copied yet."""
        if self.source is None or len(self.where) == 0:
            return self.sealed
        whole = self.sealed.copy()
        whole.add(self.space.members(self.source, self.where))
        return whole

    def seal(self) -> None:
        """Copy the support rows from the source, and release the source."""
        if self.source is None:
            return
        gram = self._matrix() if self.space.kernel == "precomputed" else None
        state = {"sealed": self.support, "gram": gram, "given": self.given + len(self.source)}
        # All at once, so that Ctrl-C never leaves half a change.
        vars(self).update(state, source=None, where=self.where[:0])

    def _matrix(self) -> Floats:
        """The precomputed kernel values among the support, plus the constant feature."""
        if self.source is None:
            assert self.gram is not None
            return self.gram
        numbers = self.state["numbers"]
        return np.asarray(self.source.values[np.ix_(numbers, numbers)], dtype=np.float64) + self.bias

    def joined(self, rows: Ints, codes: Array) -> State:
        """The state after these rows of the source join the support, with coefficients of 0."""
        before = self.size
        state = self.state.with_rows(before + len(rows))
        state["numbers"][before:] = self.given + rows
        state["codes"][before:] = codes
        return state

    def make_room(self, growth: Growth) -> None:
        """Make room for new classes; a new class starts at 0."""
        state = self.state.with_classes(growth)
        if self.size:
            state["codes"] = growth.codes[state["codes"]]
        # All at once, so that Ctrl-C never leaves half a change.
        vars(self).update(state=state, readout=self.readout.with_classes(growth), n_classes=growth.n_classes)

    def widen(self, n_features: int) -> None:
        self.sealed = self.sealed.wide(n_features)

    # -- going back -------------------------------------------------------------------------------------------

    def snapshot(self, columns: Ints | None = None) -> tuple[Any, ...]:
        """What `restore` needs to undo learning."""
        return {**vars(self), "sealed": self.sealed.copy()}, self.state.copy(), self.readout.mark()

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        fields, state, mark = snapshot
        vars(self).update(fields)
        self.state = state.copy()
        self.readout.back_to(mark)

    def scale(self, factor: float) -> None:
        """Multiply all hypotheses by a positive number; no prediction changes."""
        self.state.scale(factor)

    # -- reading ----------------------------------------------------------------------------------------------

    def scores(self, rows: Rows, hypothesis: Floats) -> Floats:
        scores = self.support.combine(rows, hypothesis)
        return scores[:, np.newaxis] if scores.ndim == 1 else scores

    def ballot(self, rows: Rows) -> Ballot:
        """Empty votes on these rows."""
        columns = 1 if self.n_classes <= 2 else self.n_classes
        return Ballot(rows, np.zeros((len(rows), columns)), lambda x, support: support.products(x), self.tie_positive)

    def steps(self, first: int) -> list[Step]:
        """The updates of the voted readout, starting with number `first`, with their support rows."""
        log = self.readout.log[first:].copy()
        if len(log) == 0:
            return []
        members, log[:, markers.ROW] = np.unique(log[:, markers.ROW].astype(np.intp), return_inverse=True)
        return [Step(self.support.take(members), log)]

    # -- lengths ----------------------------------------------------------------------------------------------

    def sq_length(self, coef: Floats) -> tuple[float, float]:
        """‖Σ_j coef_j φ(x_j)‖² with the constant feature, over all classes, and a bound on its error."""
        if self.space.kernel != "precomputed":
            return self.support.sq_length(coef)
        gram, size = self._matrix(), np.abs(coef).sum(axis=0)
        error = (2 * len(coef) + 16) * EPSILON * np.abs(gram).max(initial=0.0) * (size * size).sum()
        return float((coef * (gram @ coef)).sum()), float(error)

    def hull_point(self, total: float) -> tuple[float, float]:
        """As for weights. Each update rounds a coefficient by a relative ε, which moves w by at most ε·R·Στ."""
        origin = self.state.get("origin")
        moved = self.current if origin is None else self.current - origin
        square, error = self.sq_length(moved / total)
        if square + error < 0.0:  # this proves that the kernel is not positive semi-definite
            self.definite = False
            return float("inf"), 0.0
        start = 0.0 if origin is None else float(np.abs(origin / total).sum()) * self.longest_step
        return float(np.sqrt(square + error)) * (1 + 1e-15), start
