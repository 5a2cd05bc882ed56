"""The learner in a kernel's feature space that keeps at most B rows: bounded memory and time for endless streams."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.kernel import budget as core
from perceptrons.core.kernel import dual
from perceptrons.core.linear import readouts as keeping
from perceptrons.core.linear.passes import How
from perceptrons.core.linear.readouts import AVERAGED, OVERFLOW, QUIET, SEEN, UPDATES
from perceptrons.data import Rows
from perceptrons.learn.examples import Examples
from perceptrons.learn.hypotheses import overflow
from perceptrons.learn.kernel.expansion import Expansion, Ints
from perceptrons.learn.readouts import Floats

Array = npt.NDArray[Any]
BLOCK = 256  # examples whose kernel values are computed together

# Each policy by its name, given a seed and the threshold of projections.
POLICIES: dict[str, Any] = {
    "random": lambda seed, threshold: core.Random(np.uint64(seed)),
    "forgetron": lambda seed, threshold: core.Forgetron(),
    "projectron": lambda seed, threshold: core.Projectron(float(threshold)),
    "projectron++": lambda seed, threshold: core.ProjectronPP(float(threshold)),
}


class BudgetLearner(Expansion):
    """Keeps at most so many support rows; the policy says what becomes of the others.

    Only the final hypothesis can be read out: averages, votes and pockets would have to remember rows that are gone.
    Nothing is proved about margins, because a hypothesis that forgets is no longer the sum of its steps.
    """

    other_space = "or another kernel (a larger gamma or degree)"

    def __init__(
        self,
        rule: Any,
        readout: str,
        *,
        budget: int,
        policy: str,
        threshold: float,
        seed: int,
        **settings: Any,
    ) -> None:
        super().__init__(rule, readout, **settings)
        self.fixed |= {"budget": budget, "policy": policy, "threshold": threshold}
        self.policy = POLICIES[policy](seed, threshold)
        self.definite = False
        self.size = budget
        self.born: Floats = np.zeros(0)
        self.room: Floats = self.zeros(0)  # α, for all slots
        self.slots: Ints = np.empty(0, dtype=np.intp)  # of the support rows
        self.table: Floats = np.zeros((0, 0))  # k among the rows kept
        self.factor: Floats = np.zeros((0, 0))  # its Cholesky factor
        self.memory: Floats = np.zeros(core.SIZE)  # what the policy remembers
        self.plan = f"at most {budget:,} rows are kept ({policy}), examples in blocks of {BLOCK}"

    def _make_room(self, more: int) -> None:
        """Have slots for so many more rows, up to the budget; they grow by doubling, so that a large budget is free."""
        now, used = len(self.born), len(self.slots)
        size = min(self.size, max(2 * now, used + more))
        if used + more <= now or size == now:
            return
        table = 0 if isinstance(self.policy, core.Random) else size
        factor = size if isinstance(self.policy, core.Projectron | core.ProjectronPP) else 0
        new = {"born": np.zeros(size), "room": self.zeros(size)}
        new |= {"table": np.zeros((table, table)), "factor": np.zeros((factor, factor))}
        for name, array in new.items():
            old = getattr(self, name)
            array[tuple(map(slice, old.shape))] = old
        vars(self).update(new)

    # -- learning ---------------------------------------------------------------------------------------------

    def at_once(self, examples: Examples) -> int:
        """How many passes over these examples one call may make."""
        return 1

    def once(
        self, examples: Examples, order: Array, predicted: npt.NDArray[Any] | None = None, last: bool = False
    ) -> float:
        """One pass over the rows `order`, in blocks; returns the number of mistakes. `last` makes no difference."""
        if self.source is not examples.rows:
            self.seal()
            self.source = examples.rows
        mistakes, updates = self.counts[keeping.MISTAKES], self.counts[UPDATES]
        weighted = examples.weight is not None and not np.isin(examples.weight, (0.0, 1.0)).all()
        if weighted and isinstance(self.policy, core.Forgetron):
            raise ValueError("policy='forgetron' is defined for steps of length 1: it takes no weights of examples")
        if self.n_classes < 2:  # nothing else can be predicted: no mistake, no step
            self.counts[[SEEN, AVERAGED]] += examples.count(order)
        else:
            for begin in range(0, len(order), BLOCK):
                self._block(examples, order[begin : begin + BLOCK].astype(np.intp), predicted)
        self.counts[QUIET] = updates == self.counts[UPDATES]
        return float(self.counts[keeping.MISTAKES] - mistakes)

    def _block(self, examples: Examples, where: Ints, predicted: npt.NDArray[Any] | None) -> None:
        """Learn from some examples, one after the other."""
        rows = examples.rows.take(where)
        block = self.space.among(rows, where)
        own = self.space.products(block, self.space.members(block, np.arange(len(where))))
        kept = len(self.slots)
        gram = np.empty((len(where), kept + len(where)))
        gram[:, kept:] = own
        if kept:
            gram[:, self.slots] = self.sealed.products(rows)
        sq_norm = self.space.sq_norm(block)
        self.sq_radius = max(self.sq_radius, float(sq_norm.max()) - self.bias)
        codes, weight = examples.codes[where], None if examples.weight is None else examples.weight[where]
        guesses = np.zeros(len(where), dtype=np.int32)
        how = How(self.rule, keeping.Last(), self.eta, self.bias, self.tie_positive, 0.0)
        self._make_room(len(where))
        state = (self.room, np.arange(len(self.born)), self.born, self.table, self.factor, self.memory, self.counts)
        try:
            learn = core.learn.for_rule(self.rule)
            learn(gram, sq_norm, codes, weight, how, self.policy, *state, guesses)
        finally:  # Ctrl-C during the call is raised when it returns: coefficients have moved, the rest must follow
            filled, before = state[1][: int(self.memory[core.USED])], self.slots
            try:
                self._take_over(rows, where, codes, filled)
            except KeyboardInterrupt:
                if self.slots is before:
                    self._take_over(rows, where, codes, filled)
                raise
        if self.counts[OVERFLOW]:
            raise overflow(f"at row {where[int(self.counts[OVERFLOW]) - 1]}")
        if predicted is not None:
            predicted[where] = guesses

    def _take_over(self, rows: Rows, where: Ints, codes: Array, source: Ints) -> None:
        """Keep the rows that fill the slots now, all or nothing: column `source` of the kernel values says which."""
        kept = len(self.slots)
        alive, filled = np.flatnonzero(source[self.slots] < kept), np.flatnonzero(source >= kept)
        state: dict[str, Any] = {"slots": np.append(self.slots[alive], filled)}
        if len(filled):
            new = source[filled] - kept
            support = self.sealed.take(alive)
            support.add(self.space.members(rows, new if self.space.kernel != "precomputed" else where[new]))
            state["sealed"] = support
            state["numbers"] = np.append(self.numbers[alive], self.given + where[new])
            state["codes"] = np.append(self.codes[alive], codes[new].astype(np.intp))
            state["kept"] = self.zeros(len(state["slots"]))
        vars(self).update(state, alpha=self.room[state["slots"]])

    def errors(self, examples: Examples) -> float:
        """Mistakes of the hypothesis in force on these examples."""
        scores = self.support.combine(examples.rows, self.alpha)
        return float(dual.errors(scores, examples.codes, examples.weight, self.tie_positive))

    def confirms(self, examples: Examples) -> bool:
        """After a pass without a mistake: whether the hypothesis in force makes none on these examples."""
        return self.errors(examples) == 0.0

    def fill_pocket(self, examples: Examples) -> None:
        """There is no pocket."""

    def converge(self) -> None:
        """There is no pocket."""

    def gives_up(self, tol: float) -> bool:
        """Nothing is proved about margins."""
        return False

    # -- classes, and going back ------------------------------------------------------------------------------

    def grow(self, n_classes: int, codes: Ints) -> None:
        """Make room for new classes."""
        if n_classes > 2 and isinstance(self.policy, core.Forgetron):
            raise ValueError("policy='forgetron' is defined for two classes, got a third: use another policy")
        super().grow(n_classes, codes)
        if n_classes > 2:
            self.room = self.zeros(len(self.born))
            self.room[self.slots] = self.alpha

    def snapshot(self, columns: Array | None = None) -> dict[str, Any]:
        """What `restore` needs to undo learning."""
        names = ("room", "born", "table", "factor", "memory")
        return {**super().snapshot(columns), **{name: getattr(self, name).copy() for name in names}}

    def scale(self, factor: float) -> None:
        """Multiply the hypothesis by a positive number; no prediction changes."""
        super().scale(factor)
        self.room *= factor

    @property
    def projection_error(self) -> float | None:
        """The largest relative residual of a projection so far; None if the policy does not project."""
        projects = isinstance(self.policy, core.Projectron | core.ProjectronPP)
        return float(self.memory[core.RESIDUAL]) if projects else None

    @property
    def state(self) -> str:
        """How much of the budget is in use."""
        return f"{len(self.slots):,} of {self.size:,} rows kept"
