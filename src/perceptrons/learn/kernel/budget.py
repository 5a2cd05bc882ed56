"""The learner in a kernel's feature space that keeps at most B rows: bounded memory and time for endless streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.kernel import budget as core
from perceptrons.core.kernel import dual
from perceptrons.core.linear.readouts import Last
from perceptrons.core.rule import How
from perceptrons.data.arrays import Rows
from perceptrons.learn.examples import Examples
from perceptrons.learn.kernel.expansion import Expansion
from perceptrons.learn.learner import Order
from perceptrons.learn.state import FIXED, Floats, Growth, Ints, Kind, State

Array = npt.NDArray[Any]
BLOCK = 256  # examples whose kernel values are computed together
BY_SLOT = Kind(by_row=False)  # coefficients, in the order of slots
SLOTS = {"born": 1, "room": 1, "table": 2, "factor": 2}  # arrays by slot, and how many of their axes are slots

# Policies by name: functions of a seed and the threshold of projections.
POLICIES: dict[str, Any] = {
    "random": lambda seed, threshold: core.Random(np.uint64(seed)),
    "forgetron": lambda seed, threshold: core.Forgetron(),
    "projectron": lambda seed, threshold: core.Projectron(float(threshold)),
    "projectron++": lambda seed, threshold: core.ProjectronPP(float(threshold)),
}


class BudgetLearner(Expansion):
    """A learner that keeps at most `budget` support rows; the policy decides what happens to the others.

    Only the final hypothesis can be read out: averages, votes and pockets would need rows that have been discarded.
    Nothing is proved about margins, because a hypothesis that forgets rows is no longer the sum of its steps.
    """

    words = Expansion.words._replace(
        other_space="or another kernel (a larger gamma or degree)",
        stalled="with this budget, recent passes made no fewer mistakes than earlier ones",
        unstall="a larger budget, a larger n_iter_no_change",
    )

    def __init__(
        self, rule: Any, readout: str, *, budget: int, policy: str, threshold: float, seed: int, **settings: Any
    ) -> None:
        super().__init__(rule, readout, **settings)
        self.fixed |= {"budget": budget, "policy": policy, "threshold": threshold}
        self.policy = POLICIES[policy](seed, threshold)
        self.definite = False
        self.budget = budget
        self.state.hold("slots", np.empty(0, dtype=np.intp), FIXED)  # slots of the support rows
        self.state.hold("room", self.zeros(0), BY_SLOT)  # α, for all slots
        self.state.hold("born", np.zeros(0), FIXED)  # for each slot, the update that added its row
        self.state.hold("table", np.zeros((0, 0)), FIXED)  # k among the rows kept
        self.state.hold("factor", np.zeros((0, 0)), FIXED)  # its Cholesky factor
        self.state.hold("memory", np.zeros(core.SIZE), FIXED)  # what the policy remembers
        self.plan = f"at most {budget:,} rows are kept ({policy}), examples in blocks of {BLOCK}"

    def _add_slots(self, more: int) -> None:
        """Make slots for more rows, up to the budget, by doubling: a large budget costs nothing until it is used."""
        now, used = len(self.state["born"]), len(self.state["slots"])
        size = min(self.budget, max(2 * now, used + more))
        if used + more <= now or size == now:
            return
        new = {"born": np.zeros(size), "room": self.zeros(size)}
        for name, needed in (("table", not isinstance(self.policy, core.Random)), ("factor", self.projects)):
            new[name] = np.zeros((size, size) if needed else (0, 0))
        for name, array in new.items():
            old = self.state[name]
            array[tuple(map(slice, old.shape))] = old
        self.state = self.state.with_arrays(**new)

    def compact(self) -> State:
        """The state without unused slots, and without coefficients, which the slots already hold."""
        used = len(self.state["slots"])
        state = self.state.with_arrays(
            **{name: self.state[name][(slice(used),) * axes] for name, axes in SLOTS.items()}
        )
        for name in ("alpha", "kept"):
            del state.arrays[name]
        return state

    # -- learning ---------------------------------------------------------------------------------------------

    def once(self, examples: Examples, order: Order, predicted: Array | None = None, *, last: bool = False) -> int:
        """Make one pass over the rows `order`, in blocks; return the number of mistakes."""
        if self.source is not examples.rows:
            self.seal()
            self.source = examples.rows
        mistakes, updates = self.totals.mistakes, self.totals.updates
        weighted = examples.weight is not None and not np.isin(examples.weight, (0.0, 1.0)).all()
        if weighted and isinstance(self.policy, core.Forgetron):
            raise ValueError("policy='forgetron' accepts no sample_weight or class_weight: its steps have length 1")
        if self.n_classes < 2:  # one class: no mistake, no step
            self.totals.visit(examples.count(order))
        else:
            for begin in range(0, len(order), BLOCK):
                self._block(examples, order[begin : begin + BLOCK].astype(np.intp), predicted)
        self.course.quiet = updates == self.totals.updates
        return int(self.totals.mistakes - mistakes)

    def _block(self, examples: Examples, where: Ints, predicted: npt.NDArray[Any] | None) -> None:
        """Learn from some examples, one after the other."""
        rows = examples.rows.take(where)
        block = self.space.among(rows, where)
        own = self.space.products(block, self.space.members(block, np.arange(len(where))))
        kept = self.size
        gram = np.empty((len(where), kept + len(where)))
        gram[:, kept:] = own
        if kept:
            gram[:, self.state["slots"]] = self.sealed.products(rows)
        sq_norm = self.space.sq_norm(block)
        self.totals.sq_radius = max(self.totals.sq_radius, float(sq_norm.max()) - self.bias)
        codes, weight = examples.codes[where], None if examples.weight is None else examples.weight[where]
        guesses = np.zeros(len(where), dtype=np.int32)
        how = How(self.rule, Last(), self.eta, self.bias, self.tie_positive, 0.0)
        self._add_slots(len(where))
        state = self.state
        columns = np.arange(len(state["born"]))  # the column of kernel values of each slot's row
        arrays = (state["room"], columns, *(state[name] for name in ("born", "table", "factor", "memory")))
        counters = state.totals.array, state.course.array
        try:
            learn = core.learn.for_rule(self.rule)
            for some in self._parts(where, columns):  # all together, unless somebody watches
                weights = None if weight is None else weight[some]
                read = gram[some, : kept + some.stop], sq_norm[some], codes[some], weights
                learn(*read, how, self.policy, *arrays, *counters, guesses[some])
                if self.course.overflow:
                    self.course.overflow += some.start
                    break
        finally:  # Ctrl-C is raised when the call returns: coefficients have changed, so the rest must follow
            filled = columns[: int(state["memory"][core.USED])]
            try:
                self._take_over(rows, where, codes, filled)
            except KeyboardInterrupt:
                if self.state is state:
                    self._take_over(rows, where, codes, filled)
                raise
        if self.course.overflow:
            row = int(self.course.overflow) - 1
            scores = self.scores(rows.take(np.array([row])), self.current)[0]
            told = int(codes[row]), sq_norm[row], examples.weight_of(int(where[row]))
            raise self.step_error(f"at row {where[row]}", scores, *told)
        if predicted is not None:
            predicted[where] = guesses

    def _parts(self, where: Ints, columns: Ints) -> Iterator[slice]:
        """Cut a block into the parts that one call visits: single examples if somebody watches, who is told of each."""
        watcher, state, totals, n = self.watcher, self.state, self.totals, len(where)
        if watcher is None:
            yield slice(0, n)
            return
        numbers = np.append(np.empty(self.size, dtype=np.intp), self.given + where)  # of the row of each column
        numbers[state["slots"]] = state["numbers"]
        size = 1 if watcher.closely(totals.seen + n) else n
        for begin in range(0, n, size):
            mistakes, updates = totals.mistakes, totals.updates
            yield slice(begin, begin + size)
            if totals.updates > updates:
                used = int(state["memory"][core.USED])
                coef = state["room"][:used], numbers[columns[:used]]
                watcher.moved(totals, int(where[begin]), totals.mistakes > mistakes, *coef)

    def _take_over(self, rows: Rows, where: Ints, codes: Array, source: Ints) -> None:
        """Keep the rows that fill the slots now, in one step; `source` has the column of kernel values of each slot."""
        state, kept = self.state, self.size
        slots = state["slots"]
        alive, filled = np.flatnonzero(source[slots] < kept), np.flatnonzero(source >= kept)
        slots = np.append(slots[alive], filled)
        arrays = {"slots": slots, "alpha": state["room"][slots], "kept": self.zeros(len(slots))}
        support = self.sealed
        if len(filled):
            new = source[filled] - kept
            support = self.sealed.take(alive)
            support.add(self.space.members(rows, new if self.space.kernel != "precomputed" else where[new]))
            arrays["numbers"] = np.append(state["numbers"][alive], self.given + where[new])
            arrays["codes"] = np.append(state["codes"][alive], codes[new].astype(np.intp))
        # All at once, so that Ctrl-C never leaves half a change.
        vars(self).update(sealed=support, state=state.with_arrays(**arrays))

    def mistakes_of(self, examples: Examples, hypothesis: Floats) -> float:
        scores = self.support.combine(examples.rows, hypothesis)
        return float(dual.errors(scores, examples.codes, examples.weight, self.tie_positive))

    def confirms(self, examples: Examples) -> bool:
        return self.mistakes_of(examples, self.current) == 0.0

    def make_room(self, growth: Growth) -> None:
        if growth.n_classes > 2 and isinstance(self.policy, core.Forgetron):
            raise ValueError("policy='forgetron' requires two classes, got a third: use another policy")
        super().make_room(growth)

    @property
    def projects(self) -> bool:
        return isinstance(self.policy, core.Projectron | core.ProjectronPP)

    @property
    def projection_error(self) -> float | None:
        """The largest relative residual of a projection so far; None if the policy does not project."""
        return float(self.state["memory"][core.RESIDUAL]) if self.projects else None

    @property
    def status(self) -> str:
        return f"{self.size:,} of {self.budget:,} rows kept"
