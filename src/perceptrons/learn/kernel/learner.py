"""The learner in a kernel's feature space: w = Σ_j α_j φ(x_j), with a coefficient for each row that made a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.kernel import dual
from perceptrons.core.linear import passes
from perceptrons.core.linear import readouts as keeping
from perceptrons.core.linear.readouts import (
    AVERAGED,
    LOGGED,
    LONGEST,
    OVERFLOW,
    PASSES,
    POCKET,
    QUIET,
    RUN,
    SEEN,
    SQ_NORM,
    TAU,
    TRIED,
    UPDATES,
    VISITS,
    WAITS,
)
from perceptrons.learn.examples import Examples
from perceptrons.learn.hypotheses import overflow
from perceptrons.learn.kernel.expansion import Expansion, Ints
from perceptrons.learn.kernel.field import PENDING, Field, Table
from perceptrons.learn.readouts import Averaged, Floats, Pocket, Voted

Array = npt.NDArray[Any]
AGAIN = 1.1  # by so much the updates grow between two attempts at a proof
NOISE = 32.0  # roundings that a score may be off by, in units of ‖α‖·R²
AHEAD = 16  # lines of kernel values that are computed together
VISITED = 1 << 20  # visits in one call of a compiled pass: Ctrl-C is heard in between


class KernelLearner(Expansion):
    """Learns with all support rows that it meets."""

    def __init__(self, rule: Any, readout: str, *, max_memory: int, **settings: Any) -> None:
        super().__init__(rule, readout, **settings)
        self.fixed["budget"] = None
        self.max_memory = max_memory
        self.field: Field | None = None  # scores of the rows of the source
        self.examples: Examples | None = None  # that hypotheses are tried on for the pocket
        self.taken = 0  # lines of the log of a pass that have been taken over
        self.before = 0.0  # updates before those that Στ counts
        self.proved = 0.0  # of those, the ones at which the bound on the margin was worked out last

    def adopt(self, *, max_memory: int = 2**30, **settings: Any) -> None:
        """Go on with another rule, step, tie or limit."""
        super().adopt(**settings)
        self.max_memory = max_memory

    def set_origin(self) -> None:
        """Count Στ from here on."""
        super().set_origin()
        self.before, self.proved = self.counts[UPDATES], 0.0

    def begin(self, examples: Examples) -> Field:
        """The scores of these rows, up to date."""
        if self.source is not examples.rows:
            self.seal()
            self.source, self.field = examples.rows, None
        if self.field is None:
            scores = self.support.combine(examples.rows, self.alpha)
            self.field = Field(self.space, examples.rows, scores, self.max_memory)
            self.plan = self.field.plan
            self.field.members[self.where] = len(self.numbers) - len(self.where) + np.arange(len(self.where))
        counted = self.field.sq_norm if examples.weight is None else self.field.sq_norm[examples.weight > 0]
        self.sq_radius = max(self.sq_radius, float(counted.max(initial=self.bias)) - self.bias)
        return self.field

    def at_once(self, examples: Examples) -> int:
        """How many passes over these examples one call of a kernel may make."""
        return max(1, VISITED // len(examples.rows)) if self.begin(examples).small else 1

    def once(
        self, examples: Examples, order: Array, predicted: npt.NDArray[Any] | None = None, last: bool = False
    ) -> float:
        """One pass over the rows `order`; returns the number of mistakes.

        last: whether no other pass over these rows follows.
        """
        mistakes, updates = np.zeros(1), self.counts[UPDATES]
        field = self.begin(examples)
        begin = 0
        if self.n_classes < 2:  # nothing else can be predicted: no mistake, no step
            self.counts[[SEEN, AVERAGED]] += examples.count(order)
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
        self.counts[QUIET] = updates == self.counts[UPDATES]
        return float(mistakes[0])

    def repeat(self, examples: Examples, order: Array, mistakes: Floats, tol: float | None = None) -> int:
        """Passes over the lines of `order` until one has no mistake, or ‖w‖ < tol·R·Στ; returns how many.

        For few rows, all of which have room in the table.
        """
        waits = self.origin is not None or self.counts[UPDATES] - self.before < AGAIN * self.proved
        give_up = 0.0 if tol is None or waits else tol * self.radius
        self._visit_all(examples, order, mistakes, None, give_up)
        return int(self.counts[PASSES])

    def _visit_all(
        self, examples: Examples, order: Array, mistakes: Floats, predicted: Array | None, give_up: float = 0.0
    ) -> int:
        """Passes with the table of all rows, as far as it has what they need; returns the number of visits."""
        field = self.begin(examples)
        field.spread()
        local = (examples.codes, examples.weight, field.sq_norm)
        everything = np.arange(len(examples.rows))
        self._visit(field, everything, field.table, field.scores, local, order, mistakes, predicted, give_up)
        return int(self.counts[VISITS])

    def _visit_window(self, examples: Examples, where: Ints, mistakes: Floats, predicted: Array | None) -> int:
        """Visit these rows with a table of their own; returns how many it had room for."""
        field, updates = self.begin(examples), self.counts[UPDATES]
        table, scores = field.window(where)
        weight = None if examples.weight is None else examples.weight[where]
        local = (examples.codes[where], weight, field.sq_norm[where])
        guesses = None if predicted is None else np.zeros(len(where), dtype=predicted.dtype)
        visits = np.arange(len(where), dtype=np.uint32)[np.newaxis]
        self._visit(field, where, table, scores, local, visits, mistakes, guesses)
        done = int(self.counts[VISITS])
        if predicted is not None and guesses is not None:
            predicted[where[:done]] = guesses[:done]
        field.adjust(done, self.counts[UPDATES] - updates)
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
        """Visit rows of the table in this order; `where` says which rows of the field they are.

        `local` are their classes, weights and squared lengths. In the field's own table it ends before the first row
        whose kernel values are missing, unless there are few rows; else when the table is full.
        """
        counts, codes = self.counts, local[0]
        counts[[VISITS, PASSES, LOGGED]] = 0.0
        self.taken = 0
        how = passes.How(self.rule, keeping.Last(), self.eta, self.bias, self.tie_positive, give_up)
        learn, ahead = (kernel.for_rule(self.rule) for kernel in (dual.learn, dual.ahead))
        log = np.empty((order.size, keeping.COLUMNS))
        try:
            while counts[VISITS] < order.size:
                learn(table.values, table.lines, *local, order, how, scores, log, counts, mistakes, predicted)
                if counts[OVERFLOW]:
                    raise overflow(f"at row {where[int(counts[OVERFLOW]) - 1]}")
                if counts[WAITS] == dual.LINE:
                    if table.room == 0 or (table is field.table and not field.small):
                        break
                    row = int(order.flat[int(counts[VISITS])])
                    if table.lines[row] == dual.ELSEWHERE:
                        field.copy_line(where, row, table)
                        continue
                    found = np.empty(min(AHEAD, table.room), dtype=np.int64)
                    count = ahead(table.lines, codes, local[2], order, int(counts[VISITS]), how, scores, found)
                    if table.lines[row] == dual.MISSING:  # it steps for its weight only
                        table.lines[found[:count]] = dual.MISSING
                        found[0], count = row, 1
                    table.add(found[:count])
                elif counts[WAITS] == dual.TRIAL:
                    self._absorb(field, where, log, codes, spread=scores is field.scores)
                    self._try()
        finally:  # also after Ctrl-C: scores have moved, the rest must follow
            self._absorb(field, where, log, codes, spread=scores is field.scores)

    def _absorb(self, field: Field, where: Ints, log: Floats, codes: Array, spread: bool) -> None:
        """Take over the steps in the log, also when Ctrl-C comes just then."""
        try:
            self._take_over(field, where, log, codes, spread)
        except KeyboardInterrupt:
            self._take_over(field, where, log, codes, spread)
            raise

    def _take_over(self, field: Field, where: Ints, log: Floats, codes: Array, spread: bool) -> None:
        """Coefficients, what the readout keeps, and scores unless they have the steps: all of them, or nothing yet."""
        end = int(self.counts[LOGGED])
        log = log[self.taken : end]
        if len(log) == 0:
            return
        rows, inverse = np.unique(log[:, keeping.ROW].astype(np.intp), return_inverse=True)
        here = where[rows]
        new = np.flatnonzero(field.members[here] < 0)
        state = self.joined(here[new], codes[rows[new]])
        members = field.members[here]
        members[new] = len(self.numbers) + np.arange(len(new))
        steps = self._summed(inverse, len(rows), log, log[:, keeping.STEP])
        state["alpha"][members] += steps
        if isinstance(self.readout, Averaged):
            sums = self._summed(inverse, len(rows), log, log[:, keeping.STEP] * log[:, keeping.AT])
            state["kept"][members] += sums
        elif isinstance(self.readout, Voted):
            log = log.copy()
            log[:, keeping.ROW] = members[inverse]
            state["logs"] = [*self.logs, log]
        vars(self).update(state, taken=end)
        field.members[here] = members
        if not spread:
            field.add(here, steps)

    def _summed(self, inverse: Array, size: int, log: Floats, length: Floats) -> Floats:
        """For each of so many rows, the sum of its steps of this length, by classes."""
        total = self.zeros(size)
        up, down = (log[:, column].astype(np.intp) for column in (keeping.UP, keeping.DOWN))
        if total.ndim == 1:
            np.add.at(total, inverse, length * (2.0 * up - 1.0))
        else:
            np.add.at(total, (inverse, up), length)
            np.subtract.at(total, (inverse, down), length)
        return total

    # -- the pocket, and the end ------------------------------------------------------------------------------

    def fill_pocket(self, examples: Examples) -> None:
        """Weigh what is in the pocket on these examples."""
        if isinstance(self.readout, Pocket):
            self.begin(examples)
            self.counts[[RUN, LONGEST, TRIED]] = 0.0
            self.examples = examples
            scores = self.support.combine(examples.rows, self.coefficients)
            self.counts[POCKET] = dual.errors(scores, examples.codes, examples.weight, self.tie_positive)

    def _try(self) -> None:
        """Try the hypothesis in force for the pocket."""
        assert self.examples is not None
        found = self.errors(self.examples)
        if found < self.counts[POCKET]:
            self.kept, self.counts[POCKET] = self.alpha.copy(), found

    def converge(self) -> None:
        """The hypothesis in force makes no mistake: it belongs into the pocket, whatever its run."""
        if isinstance(self.readout, Pocket):
            self.kept, self.counts[POCKET] = self.alpha.copy(), 0.0

    def errors(self, examples: Examples) -> float:
        """Mistakes of the hypothesis in force on the rows in training."""
        field = self.begin(examples)
        field.spread()
        return float(dual.errors(field.scores, examples.codes, examples.weight, self.tie_positive))

    def confirms(self, examples: Examples) -> bool:
        """After a pass without a mistake: whether the hypothesis in force makes none on these examples.

        Where some margin is as small as rounding errors of scores may be, all scores are worked out anew, as they are
        in predictions.
        """
        field = self.begin(examples)
        field.spread()
        smallest = dual.smallest(field.scores, examples.codes, examples.weight)
        noise = NOISE * np.finfo(field.table.values.dtype).eps * np.linalg.norm(self.alpha) * self.radius**2
        if smallest > noise:
            return True
        field.scores[:] = self.support.combine(examples.rows, self.alpha)
        self.counts[QUIET] = 0.0
        return float(dual.errors(field.scores, examples.codes, examples.weight, self.tie_positive)) == 0.0

    def gives_up(self, tol: float) -> bool:
        """Whether it is proved that the margin of the rows seen is below tol·R.

        The proof takes a product of all support rows with each other. It is looked for when the length of w, as it was
        added up step by step, promises success, and there are more updates than at the last attempt.
        """
        updates, total = self.counts[UPDATES] - self.before, self.counts[TAU]
        length = np.sqrt(max(0.0, self.counts[SQ_NORM])) if self.origin is None else 0.0
        if length > tol * self.radius * total or updates < AGAIN * self.proved or total == 0.0:
            return False
        self.proved = updates
        return self.margin_bound <= tol * self.radius or not self.definite

    def grow(self, n_classes: int, codes: Ints) -> None:
        """Make room for new classes."""
        super().grow(n_classes, codes)
        self.field = None

    def snapshot(self, columns: Array | None = None) -> dict[str, Any]:
        """What `restore` needs to undo learning; scores are worked out anew then."""
        return {**super().snapshot(columns), "field": None}

    def seal(self) -> None:
        """Let go of the rows learned from, but for copies of the support."""
        self.field = self.examples = None  # first, so that its memory is free for the copies
        super().seal()

    @property
    def state(self) -> str:
        """What the hypothesis in force has cost, in a few words."""
        columns = "" if self.field is None else f", {self.field.cost}"
        return f"{len(self.numbers):,} support rows{columns}"
