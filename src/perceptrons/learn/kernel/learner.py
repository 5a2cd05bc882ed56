"""The kernel learner: w = Σ_j α_j φ(x_j), with a coefficient for each row that made a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.kernel import dual
from perceptrons.core.linear import readouts as markers
from perceptrons.core.rule import How
from perceptrons.learn.examples import Examples
from perceptrons.learn.kernel.expansion import Expansion
from perceptrons.learn.kernel.field import PENDING, Field, Table
from perceptrons.learn.learner import Order
from perceptrons.learn.state import Floats, Growth, Ints

Array = npt.NDArray[Any]
AGAIN = 1.1  # growth factor of the updates between two attempts at a proof
NOISE = 32.0  # possible rounding error of a score, in units of ε·‖α‖·R²
AHEAD = 16  # number of lines of kernel values that are computed together
VISITED = 1 << 20  # maximum visits in one call of a compiled pass: Ctrl-C works between calls


class KernelLearner(Expansion):
    """A learner that keeps all support rows."""

    def __init__(self, rule: Any, readout: str, *, max_memory: int, **settings: Any) -> None:
        super().__init__(rule, readout, **settings)
        self.fixed["budget"] = None
        self.max_memory = max_memory
        self.field: Field | None = None  # scores of the rows of the source
        self.examples: Examples | None = None  # on which hypotheses are tried for the pocket
        self.taken = 0  # number of lines of a pass's log that have been applied
        self.before = 0.0  # number of updates before Στ was restarted
        self.proved = 0.0  # number of updates since then at the last attempt at a proof

    def adopt(self, *, max_memory: int = 2**30, **settings: Any) -> None:
        """Continue with another rule, step scale, tie or memory limit."""
        super().adopt(**settings)
        self.max_memory = max_memory

    def set_origin(self) -> None:
        """Restart Στ here."""
        super().set_origin()
        self.before, self.proved = self.totals.updates, 0.0

    def begin(self, examples: Examples) -> None:
        super().begin(examples)
        self.examples = examples

    def field_of(self, examples: Examples) -> Field:
        """The scores of these rows, up to date."""
        if self.source is not examples.rows:
            self.seal()
            self.source, self.field = examples.rows, None
        if self.field is None:
            scores = self.support.combine(examples.rows, self.current)
            self.field = Field(self.space, examples.rows, scores, self.max_memory)
            self.plan = self.field.plan
            self.field.members[self.where] = self.size - len(self.where) + np.arange(len(self.where))
        counted = self.field.sq_norm if examples.weight is None else self.field.sq_norm[examples.weight > 0]
        self.totals.sq_radius = max(self.totals.sq_radius, float(counted.max(initial=self.bias)) - self.bias)
        return self.field

    def at_once(self, examples: Examples) -> int:
        return max(1, VISITED // len(examples.rows)) if self.field_of(examples).small else 1

    def once(self, examples: Examples, order: Order, predicted: Array | None = None, *, last: bool = False) -> int:
        """Make one pass over the rows `order`; return the number of mistakes. `last`: whether it is the last pass."""
        mistakes, updates = np.zeros(1), self.totals.updates
        field = self.field_of(examples)
        begin = 0
        if self.n_classes < 2:  # one class: no mistake, no step
            self.totals.visit(examples.count(order))
            begin = len(order)
        elif field.small or field.passes:
            begin = self._visit_all(examples, order[np.newaxis], mistakes, predicted)
        while begin < len(order):
            where = order[begin : begin + field.width].astype(np.intp)
            begin += self._visit_window(examples, where, mistakes, predicted)
            if len(field.where) >= PENDING and not last:
                field.spread()
        if not last:
            field.spread()
        field.passes += 1
        self.course.quiet = updates == self.totals.updates
        return int(mistakes[0])

    def repeat(self, examples: Examples, orders: Order, tol: float | None) -> list[int]:
        """As for all learners; only for few rows, which all fit into the table."""
        waits = "origin" in self.state or self.totals.updates - self.before < AGAIN * self.proved
        give_up = 0.0 if tol is None or waits else tol * self.radius
        mistakes = np.zeros(len(orders))
        self._visit_all(examples, orders, mistakes, None, give_up)
        return [int(count) for count in mistakes[: int(self.course.passes)]]

    def _visit_all(
        self, examples: Examples, order: Order, mistakes: Floats, predicted: Array | None, give_up: float = 0.0
    ) -> int:
        """Make passes with the table of all rows, until a line is missing; return the number of visits."""
        field = self.field_of(examples)
        field.spread()
        local = (examples.codes, examples.weight, field.sq_norm)
        everything = np.arange(len(examples.rows))
        self._visit(field, everything, field.table, field.scores, local, order, mistakes, predicted, give_up)
        return int(self.course.visits)

    def _visit_window(self, examples: Examples, where: Ints, mistakes: Floats, predicted: Array | None) -> int:
        """Visit these rows with a table of their own; return how many were visited before it was full."""
        field, updates = self.field_of(examples), self.totals.updates
        table, scores = field.window(where)
        weight = None if examples.weight is None else examples.weight[where]
        local = (examples.codes[where], weight, field.sq_norm[where])
        guesses = None if predicted is None else np.zeros(len(where), dtype=predicted.dtype)
        visits = np.arange(len(where), dtype=np.uint32)[np.newaxis]
        self._visit(field, where, table, scores, local, visits, mistakes, guesses)
        done = int(self.course.visits)
        if predicted is not None and guesses is not None:
            predicted[where[:done]] = guesses[:done]
        field.adjust(done, self.totals.updates - updates)
        return done

    def _visit(
        self,
        field: Field,
        where: Ints,
        table: Table,
        scores: Floats,
        local: tuple[Array, Floats | None, Floats],
        order: Array,
        mistakes: Floats,
        predicted: Array | None,
        give_up: float = 0.0,
    ) -> None:
        """Visit rows of the table in this order; `where` has their numbers in the field.

        `local` are their classes, weights and squared lengths. With the field's own table, it ends before the first row
        whose kernel values are missing, unless there are few rows; with another table, when that is full.
        """
        totals, course, codes = self.totals.array, self.course, local[0]
        course.visits = course.passes = course.logged = 0.0
        self.taken = 0
        how = How(self.rule, markers.Last(), self.eta, self.bias, self.tie_positive, give_up)
        learn, ahead = (function.for_rule(self.rule) for function in (dual.learn, dual.ahead))
        log = np.empty((order.size, markers.COLUMNS))
        flat = (table.values, table.lines, *local, order, how, scores, log, totals, course.array, mistakes, predicted)
        try:
            while course.visits < order.size:
                learn(*flat)
                if course.overflow:
                    row = int(course.overflow) - 1
                    told = int(codes[row]), local[2][row], 1.0 if local[1] is None else local[1][row]
                    raise self.step_error(f"at row {where[row]}", np.atleast_1d(scores[row]), *told)
                if course.waits == dual.LINE:
                    if table.room == 0 or (table is field.table and not field.small):
                        break
                    row = int(order.flat[int(course.visits)])
                    if table.lines[row] == dual.ELSEWHERE:
                        field.copy_line(where, row, table)
                        continue
                    found = np.empty(min(AHEAD, table.room), dtype=np.int64)
                    count = ahead(table.lines, codes, local[2], order, int(course.visits), how, scores, found)
                    if table.lines[row] == dual.MISSING:  # only its weight makes it step
                        table.lines[found[:count]] = dual.MISSING
                        found[0], count = row, 1
                    table.add(found[:count])
                elif course.waits == dual.TRIAL:
                    self._absorb(field, where, log, codes, spread=scores is field.scores)
                    self._try()
        finally:  # also after Ctrl-C: scores have changed, so the rest must follow
            self._absorb(field, where, log, codes, spread=scores is field.scores)

    def _absorb(self, field: Field, where: Ints, log: Floats, codes: Array, spread: bool) -> None:
        """Apply the steps in the log, even if Ctrl-C comes during this."""
        try:
            self._take_over(field, where, log, codes, spread)
        except KeyboardInterrupt:
            self._take_over(field, where, log, codes, spread)
            raise

    def _take_over(self, field: Field, where: Ints, log: Floats, codes: Array, spread: bool) -> None:
        """Apply the steps to coefficients, readout and scores (unless these include them), all in one step."""
        end = int(self.course.logged)
        log = log[self.taken : end]
        if len(log) == 0:
            return
        rows, inverse = np.unique(log[:, markers.ROW].astype(np.intp), return_inverse=True)
        here = where[rows]
        new = np.flatnonzero(field.members[here] < 0)
        state = self.joined(here[new], codes[rows[new]])
        members = field.members[here]
        members[new] = self.size + np.arange(len(new))
        steps = self._summed(inverse, len(rows), log, log[:, markers.STEP])
        state["alpha"][members] += steps
        sums = self.readout.step_sums(log)
        if sums is not None:
            state["kept"][members] += self._summed(inverse, len(rows), log, sums)
        log = log.copy()
        log[:, markers.ROW] = members[inverse]
        found = {"where": np.append(self.where, here[new]), "readout": self.readout.with_log(log)}
        # All at once, so that Ctrl-C never leaves half a change.
        vars(self).update(found, state=state, taken=end)
        field.members[here] = members
        if not spread:
            field.add(here, steps)
        if self.watcher is not None:
            self.watcher.stepped(here[inverse], log)

    def _summed(self, inverse: Array, size: int, log: Floats, length: Floats) -> Floats:
        """The sum of the steps of each of `size` rows, by class."""
        total = self.zeros(size)
        up, down = (log[:, column].astype(np.intp) for column in (markers.UP, markers.DOWN))
        if total.ndim == 1:
            np.add.at(total, inverse, length * (2.0 * up - 1.0))
        else:
            np.add.at(total, (inverse, up), length)
            np.subtract.at(total, (inverse, down), length)
        return total

    # -- the pocket, and the end ------------------------------------------------------------------------------

    def _try(self) -> None:
        """Put the current hypothesis into the pocket if it makes fewer mistakes."""
        assert self.examples is not None
        found = self.errors(self.examples)
        if found < self.course.pocket:
            self.state["kept"], self.course.pocket = self.current.copy(), found
            if self.watcher is not None:
                self.watcher.pocketed(self.current, self.state["numbers"])

    def mistakes_of(self, examples: Examples, hypothesis: Floats) -> float:
        self.field_of(examples)
        scores = self.support.combine(examples.rows, hypothesis)
        return float(dual.errors(scores, examples.codes, examples.weight, self.tie_positive))

    def errors(self, examples: Examples) -> float:
        """Mistakes of the current hypothesis on the training rows, whose scores are known."""
        field = self.field_of(examples)
        field.spread()
        return float(dual.errors(field.scores, examples.codes, examples.weight, self.tie_positive))

    def confirms(self, examples: Examples) -> bool:
        """After a pass without a mistake: whether the current hypothesis makes none on these examples.

        If a margin is as small as the rounding errors of scores, all scores are computed again, as in predictions.
        """
        field = self.field_of(examples)
        field.spread()
        smallest = dual.smallest(field.scores, examples.codes, examples.weight)
        noise = NOISE * np.finfo(field.table.values.dtype).eps * np.linalg.norm(self.current) * self.radius**2
        if smallest > noise:
            return True
        field.scores[:] = self.support.combine(examples.rows, self.current)
        self.course.quiet = 0.0
        return float(dual.errors(field.scores, examples.codes, examples.weight, self.tie_positive)) == 0.0

    def gives_up(self, tol: float) -> bool:
        """Whether the margin of the rows seen is proved to be below tol·R.

        The proof takes the kernel values of all pairs of support rows. It is attempted when ‖w‖, as added up step by
        step, is small enough, and there have been enough updates since the last attempt.
        """
        updates, total = self.totals.updates - self.before, self.totals.sum_tau
        length = np.sqrt(max(0.0, self.totals.sq_norm)) if "origin" not in self.state else 0.0
        if length > tol * self.radius * total or updates < AGAIN * self.proved or total == 0.0:
            return False
        self.proved = updates
        return self.margin_bound <= tol * self.radius or not self.definite

    def make_room(self, growth: Growth) -> None:
        super().make_room(growth)
        self.field = None

    def snapshot(self, columns: Ints | None = None) -> tuple[Any, ...]:
        """What `restore` needs to undo learning; scores are then computed again."""
        fields, *others = super().snapshot(columns)
        return {**fields, "field": None}, *others

    def seal(self) -> None:
        """Release the training rows, except for copies of the support rows."""
        self.field = self.examples = None  # first, so that its memory is free for the copies
        super().seal()

    @property
    def status(self) -> str:
        columns = "" if self.field is None else f", {self.field.cost}"
        return f"{self.size:,} support rows{columns}"
