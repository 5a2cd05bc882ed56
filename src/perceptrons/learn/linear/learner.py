"""The linear learner: one weight vector for two classes, one per class for more."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain, starmap
from operator import setitem
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from perceptrons import rules
from perceptrons.core.linear import passes
from perceptrons.core.rule import How
from perceptrons.data.arrays import Rows
from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.examples import Examples
from perceptrons.learn.learner import EPSILON, Order, overflow
from perceptrons.learn.linear import mixing
from perceptrons.learn.linear.shapes import shape_of
from perceptrons.learn.readouts import Ballot, Last, Readout, Step
from perceptrons.learn.scale import running
from perceptrons.learn.scale.scaling import Scaling
from perceptrons.learn.state import Floats, Growth, Ints, State

BATCH = 1 << 20  # maximum values that one call reads when it makes several passes over a small data set
SLICE = 1 << 25  # maximum values that one call reads, about 50 ms: Ctrl-C works between calls


class LinearLearner(ClassLearner):
    """A linear model that learns.

    Each row of the array `w` has the weights of one feature; the last row has those of the bias, a constant feature
    with the value c = `intercept_scaling`. The offset of scores is b = c·(the last row).
    """

    def __init__(
        self,
        rule: Any,
        readout: str,
        *,
        n_features: int,
        n_classes: int,
        burn_in: int = 0,
        dense: bool = True,
        epsilon: float | None = None,
        intercept_scaling: float = 1.0,
        scale: str = "none",
        **settings: Any,
    ) -> None:
        super().__init__(rule, readout, n_classes, **settings)
        self.bias *= float(intercept_scaling)
        self.fixed |= {"intercept_scaling": float(intercept_scaling), "scale": scale}
        self.burn_in = burn_in
        self.epsilon = epsilon  # of regression: the error that is no loss; None for classes
        self.n_features = n_features
        layout: Literal["C", "F"] = "F" if dense else "C"  # the faster one for these rows
        self.state = State(tail=1, layout=layout)
        if scale == "online":
            running.begin(self.state, n_features)
        self.shape = shape_of(rule)
        self.words = self.words._replace(**self.shape.advice)
        shape = (n_features + 1,) if n_classes <= 2 else (n_features + 1, n_classes)
        self.set_start(np.zeros(shape, order=layout))

    @property
    def current(self) -> Floats:
        return self._once_computed("current", lambda: self.shape.hypothesis(self.state))

    @property
    def factored(self) -> tuple[Floats, float]:
        return self.state["w"], self.shape.size(self.state)

    @property
    def summed(self) -> tuple[Floats, float]:
        return self.state["w"], self.shape.summed(self.state, self.totals.averaged)

    def _once_computed(self, name: str, compute: Callable[[], Floats]) -> Floats:
        """What `compute` returns; computed once after each change."""
        seen, found = self._read.get(name, (-1.0, None))
        if seen != self.totals.seen or found is None:
            seen, found = self._read[name] = self.totals.seen, compute()
        return found

    @property
    def scales_online(self) -> bool:
        return running.ROWS in self.state

    @property
    def scaling(self) -> Scaling | None:
        """The scaling of features that was set, or that of the rows so far."""
        return running.RunningScaling(self.state) if self.scales_online else vars(self).get("scaling")

    @scaling.setter
    def scaling(self, scaling: Scaling | None) -> None:
        vars(self)["scaling"] = scaling

    def per_unit(self, weights: Floats) -> tuple[Floats, Floats]:
        """Weights and offsets for rows as users have them, not scaled. `weights`: a hypothesis of this learner."""
        w, offset = weights[:-1], np.asarray(weights[-1:].ravel() * self.bias)
        return (w, offset) if self.scaling is None else self.scaling.fold(w, offset)

    def per_spread(self, weights: Floats) -> Floats:
        """Weights for features on the scale of this learner."""
        return weights[:-1]

    @property
    def on_raw_scale(self) -> bool:
        """Whether weights are for rows as users have them."""
        return self.scaling is None

    def of_units(self, w: Floats, offset: Floats) -> tuple[Floats, Floats]:
        """The inverse of `per_unit`: weights and offsets on the scale of this learner."""
        return (w, offset) if self.scaling is None else self.scaling.unfold(w, offset)

    # -- learning ---------------------------------------------------------------------------------------------

    def adopt(
        self, *, rule: Any, eta: float = 1.0, intercept_scaling: float = 1.0, scale: str = "none", **settings: Any
    ) -> None:
        shape = shape_of(rule)
        if shape.key != self.shape.key:
            raise ValueError(
                f"rule was changed from {self.rule} to {rule} after learning had begun, but they keep different things "
                "beside w: use fit (without warm_start), or change it back"
            )
        super().adopt(rule=rule, eta=eta, intercept_scaling=float(intercept_scaling), scale=scale, **settings)
        self.shape = shape

    def check_rule(self, rule: Any, eta: float, n_classes: int, readout: Readout) -> None:
        super().check_rule(rule, eta, n_classes, readout)
        shape_of(rule).refuse(readout, eta)

    def set_start(self, w: Floats) -> None:
        """Set the initial weights, before the first example."""
        self.state["w"] = np.asarray(w, order=self.state.layout)
        for name in ("start", "origin"):
            self.state.hold(name, np.copy(w, order=self.state.layout) if w.any() else None)
        self.shape.begin(self.state)
        self.begin_average()

    def begin_average(self) -> None:
        """Begin what the readout keeps, with the current hypothesis."""
        self._read: dict[str, tuple[float, Floats]] = {}
        kept = self.readout.begin(self.current)
        if kept is not None:
            self.state["kept"] = kept
            self.shape.begin_sum(self.state)

    def set_origin(self) -> None:
        super().set_origin()
        self.shape.set_origin(self.state)

    def observe(self, rows: Rows, weight: Floats | None) -> Rows:
        return running.observe(self.state, rows, weight, self.bias > 0.0) if self.scales_online else rows

    def at_once(self, examples: Examples) -> int:
        rows = max(1, len(examples))
        most = BATCH // (examples.rows.values.size + rows)
        return max(1, min(most, (self.readout.most_visits or most * rows) // rows))

    def once(
        self, examples: Examples, order: Order, predicted: npt.NDArray[Any] | None = None, *, last: bool = False
    ) -> int:
        """Make one pass over the rows `order`, in slices; return the number of mistakes."""
        mistakes, updates = np.zeros(1), self.totals.updates
        for part in self._slices(examples, order):
            while len(part):
                self._pass(examples, part[np.newaxis], mistakes, predicted)
                part = part[int(self.course.paused) - 1 if self.course.paused else len(part) :]
                if self.course.paused:  # a caller has saved only the weights of its rows: change a copy
                    copied = {
                        name: np.copy(self.state[name], order="K") for name in ("w", "kept") if name in self.state
                    }
                    self.state = self.state.with_arrays(**copied)
                    self.shape.owns(self.state, True)
        self.course.quiet = updates == self.totals.updates
        return int(mistakes[0])

    def repeat(self, examples: Examples, orders: Order, tol: float | None) -> list[int]:
        mistakes = np.zeros(len(orders))
        self.shape.owns(self.state, True)  # this pass does not pause
        self._pass(examples, orders, mistakes, tol=tol)
        return [int(count) for count in mistakes[: int(self.course.passes)]]

    def _pass(
        self,
        examples: Examples,
        orders: Order,
        mistakes: Floats,
        predicted: npt.NDArray[Any] | None = None,
        tol: float | None = None,
    ) -> None:
        """Make passes over the lines of `orders` until one makes no mistake, or ‖w‖ < tol·R·Στ."""
        totals, course = self.totals, self.course
        course.logged = course.passes = course.paused = 0.0
        seen, waiting = totals.seen, self.burn_in > 0
        readout = Last() if waiting else self.readout
        room = readout.room(self.state.get("kept"), orders.size) if not waiting else None
        give_up = tol * float(np.sqrt(examples.sq_radius + self.bias**2)) if tol and self.definite else 0.0
        marker, state = readout.marker, self.state
        how = How(
            rules.compiled(self.rule), marker, self.eta, self.bias, self.tie_positive, give_up, self.epsilon or 0.0
        )
        kept_for_rule = state.get(self.shape.key or ""), self.shape.room(state)
        try:
            if self.n_classes < 2:  # one class: no mistake, no step
                totals.visit(examples.count(orders))
                totals.sq_radius = max(totals.sq_radius, examples.sq_radius)
                course.passes = len(orders)
            else:
                learn = passes.learn.for_rule(self.rule)
                counters = totals.array, course.array, mistakes
                learn(*examples.flat, orders, how, state["w"], room, *kept_for_rule, *counters, predicted)
        finally:  # Ctrl-C is raised when the call returns: w has changed, so the rest must follow
            if course.logged and room is not None:
                self.readout.add(examples.rows, room[: int(course.logged)].copy())
            if waiting:
                self.burn_in -= int(totals.seen - seen)
                totals.averaged = 0.0
                if self.burn_in <= 0:
                    self.begin_average()
        if course.overflow:
            raise self._overflow(examples, int(course.overflow) - 1)

    def _overflow(self, examples: Examples, row: int) -> ValueError:
        """The error for a step that is not finite, at this row."""
        rows, where = examples.rows.take(np.array([row])), f"at row {examples.row_numbers[row]}"
        scores, code, weight = self.scores(rows, self.current)[0], examples.codes[row].item(), examples.weight_of(row)
        margin, y, moved = self.margin_of(scores, code)
        sq_norm = (rows.sq_norm[0] + self.bias**2) * len(moved)
        asked = self.shape.asked(self.state, rows, self.bias, margin, float(sq_norm), weight, moved)
        return overflow(where, self.rule, *asked, *([y] if rules.takes_label(self.rule) else []))

    def _slices(self, examples: Examples, order: Order) -> Iterator[Order]:
        """Parts of a pass, one per call."""
        per_row = max(1, examples.rows.values.size // max(1, len(examples.rows)))
        size = max(1, SLICE // per_row)
        size = min(size, self.readout.most_visits or size)
        begin = 0
        while begin < len(order):
            end = begin + (min(size, self.burn_in) if self.burn_in > 0 else size)
            yield order[begin:end]
            begin = end

    def mistakes_of(self, examples: Examples, hypothesis: Floats) -> float:
        return float(passes.errors(*examples.flat[:5], self.bias, self.tie_positive, hypothesis))

    def confirms(self, examples: Examples) -> bool:
        return bool(self.course.quiet) or self.mistakes_of(examples, self.current) == 0

    def check_finite(self, columns: Ints | None = None) -> None:
        """Raise an error if a weight of these features (None: all) has overflowed."""
        if not self.state.is_finite(self._part(columns)):
            raise overflow("in this pass")

    # -- more classes, more features --------------------------------------------------------------------------

    def make_room(self, growth: Growth) -> None:
        """Make room for new classes; a new class starts at 0."""
        self.shape.check_memory(self.n_features + 1, growth.n_classes)
        state, readout = self.state.with_classes(growth), self.readout.with_classes(growth)
        # All at once, so that Ctrl-C never leaves half a change.
        self.shape.measure(state)
        vars(self).update(state=state, readout=readout, n_classes=growth.n_classes, _read={})

    def widen(self, n_features: int) -> None:
        if n_features <= self.n_features:
            return
        self.shape.check_memory(n_features + 1, self.n_classes)
        (state, tails), readout = self.state.grown(n_features), self.readout.with_features(n_features)
        changes = {"state": state, "readout": readout, "n_features": n_features, "_read": {}}
        # No line of Python runs in between, so that Ctrl-C never leaves half a change.
        work = starmap(setitem, [(rows, ..., value) for rows, value in tails]), map(vars(self).update, [changes])
        deque(chain.from_iterable(work), maxlen=0)

    def resize(self, n_features: int) -> None:
        """Make room for more features, which start at 0; or drop features that were never seen."""
        self.shape.check_memory(n_features + 1, self.n_classes)
        state, readout = self.state.with_rows(n_features), self.readout.with_features(n_features)
        vars(self).update(state=state, readout=readout, n_features=n_features, _read={})

    def _part(self, columns: Ints | None) -> Any:
        """The rows of w that belong to these features (None: all) and to the bias; all, if a step changes all."""
        if columns is None or self.shape.touches_all:
            return slice(None)
        return np.concatenate([columns[columns < self.n_features], [self.n_features]])

    # -- shards -----------------------------------------------------------------------------------------------

    refuse_shards, template, send, received = mixing.refuse, mixing.template, mixing.send, mixing.received
    part, mix, reader, send_weights = mixing.part, mixing.mix, mixing.reader, mixing.send_weights
    going_on, take_over, whole = mixing.going_on, mixing.take_over, property(mixing.whole)

    # -- going back -------------------------------------------------------------------------------------------

    def snapshot(self, columns: Ints | None = None) -> tuple[Any, ...]:
        """What `restore` needs to undo learning from rows with only these features (None: all)."""
        part = self._part(columns)
        self.shape.owns(self.state, columns is None)
        return dict(vars(self)), part, self.state.copy(part), self.readout.mark()

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        fields, part, copied, mark = snapshot
        vars(self).update(fields)
        self.state.put_back(copied, part)
        self.readout.back_to(mark)
        self._read = {}

    def is_torn(self, snapshot: tuple[Any, ...]) -> bool:
        _, _, copied, mark = snapshot
        return self.readout.by_vote and self.readout.n_since(mark) != self.totals.updates - copied.totals.updates

    def scale(self, factor: float) -> None:
        """Multiply all hypotheses by a positive number; no prediction changes."""
        self.state.scale(factor)
        self.shape.measure(self.state)
        self._read = {}

    def seal(self) -> None:
        self.readout.seal()

    # -- reading ----------------------------------------------------------------------------------------------

    @property
    def weights(self) -> Floats:
        """The weights of the readout; computed once after each change."""
        return self._once_computed("weights", lambda: self.readout.weights(self))

    @property
    def definite(self) -> bool:  # type: ignore[override]
        return self.shape.proves and self.epsilon is None

    @property
    def roundings(self) -> int:  # type: ignore[override]
        return self.shape.roundings

    def scores(self, rows: Rows, hypothesis: Floats) -> Floats:
        scores: Floats = passes.decide(*rows.arrays, self.bias, hypothesis)
        return scores

    def reads_less(self, rows: Rows) -> bool:
        return rows.touched < self.n_features

    def ballot(self, rows: Rows) -> Ballot:
        """Empty votes on these rows."""
        start = self.state.get("start")
        scores = self.scores(rows, np.zeros_like(self.current) if start is None else start)
        return Ballot(rows, scores, lambda block, others: block.gram(others, self.bias**2), self.tie_positive)

    def steps(self, first: int) -> list[Step]:
        """The updates of the voted readout, starting with number `first`."""
        return self.readout.since(first)

    def hull_point(self, total: float) -> tuple[float, float]:
        origin, moved, start = self.state.get("origin"), self.current, 0.0
        with np.errstate(over="ignore", invalid="ignore"):  # steps tiny beside the start prove nothing
            if origin is not None:
                left = self.shape.share_of_origin(self.state) * origin
                moved, start = moved - left, length_of(left / total)
            length = length_of(moved / total) * (1 + moved.size * EPSILON)
        return (length, start) if np.isfinite(length + start) else (np.inf, np.inf)


def length_of(w: Floats) -> float:
    """‖w‖, without BLAS: its threads wait for each other, on a busy machine for milliseconds."""
    flat = w.ravel(order="K")
    return float(np.sqrt(np.einsum("i,i", flat, flat)))
