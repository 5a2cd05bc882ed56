"""The learner: weights, what the readout keeps, and counts as one state that passes update in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

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
    TAU,
    TRIED,
    UPDATES,
)
from perceptrons.data import Rows
from perceptrons.learn.examples import Examples
from perceptrons.learn.hypotheses import Hypotheses, at_most, overflow
from perceptrons.learn.readouts import READOUTS, Averaged, Ballot, Floats, Last, Pocket, Voted

BATCH = 1 << 20  # values that several passes over a small data set may read in one call of a kernel
SLICE = 1 << 25  # values that one call of a kernel may read, about 50 ms: Ctrl-C is heard in between
LOG_LINES = 1 << 16  # rows that one call may visit when every update is logged


class Learner(Hypotheses):
    """A linear model that learns: one weight vector for two classes, one a class for more.

    `w` has the weights of one feature in each row, and those of the constant feature of the bias in the last.
    """

    separable = "linearly separable"
    who_tells = "perceptrons.theory.separability tells, with a proof"
    other_space = "an averaged, voted or pocket readout, or nonlinear features (a kernel)"

    def __init__(
        self,
        rule: Any,
        readout: str,
        *,
        n_features: int,
        n_classes: int,
        eta: float = 1.0,
        fit_intercept: bool = True,
        tie: str = "mistake",
        burn_in: int = 0,
        dense: bool = True,
    ) -> None:
        self.rule, self.eta = rule, float(eta)
        self.bias = 1.0 if fit_intercept else 0.0
        self.tie_positive = tie == "positive"
        self.fixed = {"readout": readout, "fit_intercept": fit_intercept}
        self.burn_in = burn_in  # examples still to be seen before averaging begins
        self.n_features, self.n_classes = n_features, n_classes
        self.layout: Literal["C", "F"] = "F" if dense else "C"  # the one that is fast for the rows to come
        self.w: Floats = self._zeros(n_classes)
        self.start: Floats | None = None  # weights before the first example, when they were not zeros
        self.origin: Floats | None = None  # weights that Στ counts from, when they were not zeros
        self.sq_radius = 0.0  # max ‖x‖² over all rows seen
        self.counts: Floats = np.zeros(keeping.SIZE)
        self.readout: Any = READOUTS[readout]()
        self.kept = self.readout.begin(self.w)
        self._read: tuple[float, Floats] = (-1.0, self.w)

    def _zeros(self, n_classes: int) -> Floats:
        shape = (self.n_features + 1,) if n_classes <= 2 else (self.n_features + 1, n_classes)
        return np.zeros(shape, order=self.layout)

    # -- learning ---------------------------------------------------------------------------------------------

    def set_start(self, w: Floats) -> None:
        """Begin with these weights, before the first example."""
        self.w[:] = w
        self.start, self.origin = (np.copy(self.w), np.copy(self.w)) if self.w.any() else (None, None)
        self.kept = self.readout.begin(self.w)
        self._read = (-1.0, self.w)

    def set_origin(self) -> None:
        """Count Στ from here on: the bound on the margin is then about the rows that follow only."""
        self.origin = np.copy(self.w) if self.w.any() else None
        self.counts[TAU] = 0.0
        self.sq_radius = 0.0

    def at_once(self, examples: Examples) -> int:
        """How many passes over these examples one call of a kernel may make."""
        return max(1, BATCH // (examples.rows.values.size + len(examples.rows)))

    def once(
        self,
        examples: Examples,
        order: npt.NDArray[Any],
        predicted: npt.NDArray[Any] | None = None,
        last: bool = False,
    ) -> float:
        """One pass over the rows `order`, in slices; returns the number of mistakes.

        last: whether no other pass over these rows follows. It makes no difference here.
        """
        mistakes, updates = np.zeros(1), self.counts[UPDATES]
        for part in self._slices(examples, order):
            self.repeat(examples, part[np.newaxis], mistakes, predicted)
        self.counts[QUIET] = updates == self.counts[UPDATES]
        return float(mistakes[0])

    def repeat(
        self,
        examples: Examples,
        order: npt.NDArray[Any],
        mistakes: Floats,
        predicted: npt.NDArray[Any] | None = None,
        tol: float | None = None,
    ) -> int:
        """Passes over the lines of `order` until one has no mistake, or ‖w‖ < tol·R·Στ; returns how many."""
        self.sq_radius = max(self.sq_radius, examples.sq_radius)
        self.counts[[LOGGED, PASSES]] = 0.0
        seen = self.counts[SEEN]
        waiting = self.burn_in > 0
        voted = isinstance(self.readout, Voted)
        log = np.empty((order.size if voted else 0, keeping.COLUMNS))
        readout, kept = (Last(), None) if waiting else (self.readout, log if voted else self.kept)
        give_up = (tol or 0.0) * float(np.sqrt(examples.sq_radius + self.bias))
        how = passes.How(self.rule, readout.marker, self.eta, self.bias, self.tie_positive, give_up)
        try:
            if self.n_classes < 2:  # nothing else can be predicted: no mistake, no step
                self.counts[[SEEN, AVERAGED]] += examples.count(order)
                self.counts[PASSES] = len(order)
            else:
                kernel = passes.learn.for_rule(self.rule)
                kernel(*examples.flat, order, how, self.w, kept, self.counts, mistakes, predicted)
        finally:  # Ctrl-C during the call is raised when it returns: w has moved, the rest must follow
            if self.counts[LOGGED]:
                self.readout.add(examples.rows, log[: int(self.counts[LOGGED])].copy())
            if waiting:
                self.burn_in -= int(self.counts[SEEN] - seen)
                self.counts[AVERAGED] = 0.0
                self.kept = self.readout.begin(self.w) if self.burn_in <= 0 else self.kept
        if self.counts[OVERFLOW]:
            raise overflow(f"at row {examples.first + int(self.counts[OVERFLOW]) - 1}")
        return int(self.counts[PASSES])

    def _slices(self, examples: Examples, order: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
        """Parts of a pass that one call works off."""
        per_row = max(1, examples.rows.values.size // max(1, len(examples.rows)))
        size = max(1, SLICE // per_row)
        if isinstance(self.readout, Voted):
            size = min(size, LOG_LINES)
        begin = 0
        while begin < len(order):
            end = begin + (min(size, self.burn_in) if self.burn_in > 0 else size)
            yield order[begin:end]
            begin = end

    def fill_pocket(self, examples: Examples) -> None:
        """Weigh what is in the pocket on these examples."""
        if isinstance(self.readout, Pocket):
            self.counts[[RUN, LONGEST, TRIED]] = 0.0
            self.counts[POCKET] = passes.errors(*examples.flat[:5], self.bias, self.tie_positive, self.kept)

    def converge(self) -> None:
        """The w in force makes no mistake: it belongs into the pocket, whatever its run."""
        if isinstance(self.readout, Pocket):
            self.kept[:], self.counts[POCKET] = self.w, 0.0

    def check_finite(self, columns: npt.NDArray[np.intp] | None = None) -> None:
        """Refuse weights that have overflowed, of the given features or of all."""
        part = self._part(columns)
        if not np.isfinite(self.w[part]).all() or (self.kept is not None and not np.isfinite(self.kept[part]).all()):
            raise overflow("in this pass")

    # -- classes ----------------------------------------------------------------------------------------------

    def grow(self, n_classes: int, codes: npt.NDArray[np.intp]) -> None:
        """Make room for new classes; `codes` are the new numbers of those there were.

        From two classes to more, w becomes +w/2 for the second and −w/2 for the first; a new class starts at 0.
        """
        scale = 0.5 if self.n_classes == 2 and n_classes > 2 else 1.0

        def spread(old: Floats) -> Floats:
            new = self._zeros(n_classes)
            if new.shape == old.shape:
                return old
            if old.ndim == 2:
                new[:, codes] = old
            elif self.n_classes == 2:
                new[:, codes[1]], new[:, codes[0]] = scale * old, -scale * old
            return new

        arrays = {name: getattr(self, name) for name in ("w", "kept", "start", "origin")}
        larger = {name: None if array is None else spread(array) for name, array in arrays.items()}
        readout = self.readout.remapped(codes, scale) if isinstance(self.readout, Voted) else self.readout
        counts = self.counts.copy()
        counts[TAU] *= scale
        # All at once: Ctrl-C must not find half of it done.
        vars(self).update(larger, readout=readout, counts=counts, n_classes=n_classes, _read=(-1.0, larger["w"]))

    def resize(self, n_features: int) -> None:
        """Have room for so many features; new ones start at 0. Fewer are right only if the others were never seen."""

        def resized(old: Floats | None) -> Floats | None:
            if old is None:
                return None
            new = np.zeros((n_features + 1, *old.shape[1:]), order=self.layout)
            both = min(n_features, self.n_features)
            new[:both], new[-1] = old[:both], old[-1]
            return new

        arrays = {name: resized(getattr(self, name)) for name in ("w", "kept", "start", "origin")}
        if isinstance(self.readout, Voted):
            self.readout.resize(n_features)
        vars(self).update(arrays, n_features=n_features, _read=(-1.0, arrays["w"]))

    def _part(self, columns: npt.NDArray[np.intp] | None) -> Any:
        """The rows of w that belong to these features (None: all) and to the bias."""
        return slice(None) if columns is None else np.append(columns, self.n_features)

    # -- going back -------------------------------------------------------------------------------------------

    def snapshot(self, columns: npt.NDArray[np.intp] | None = None) -> tuple[Any, ...]:
        """What `restore` needs to undo learning that touches the weights of these features only (None: all)."""
        part = self._part(columns)
        kept = None if self.kept is None else self.kept[part].copy()
        mark = self.readout.mark() if isinstance(self.readout, Voted) else None
        return dict(vars(self)), part, self.w[part].copy(), kept, self.counts.copy(), mark

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        """Be as at the time of the snapshot."""
        fields, part, w, kept, counts, mark = snapshot
        vars(self).update(fields)
        self.w[part], self.counts[:] = w, counts
        if kept is not None:
            self.kept[part] = kept
        if mark is not None:
            self.readout.back_to(mark)
        self._read = (-1.0, self.w)

    def scale(self, factor: float) -> None:
        """Multiply all hypotheses by a positive number; no prediction changes."""
        for array in (self.w, self.kept, self.start, self.origin):
            if array is not None:
                array *= factor
        self.counts[TAU] *= factor
        self._read = (-1.0, self.w)

    def seal(self) -> None:
        """Let go of the rows learned from, but for those that a voted readout needs."""
        if isinstance(self.readout, Voted):
            self.readout.seal()

    # -- reading ----------------------------------------------------------------------------------------------

    @property
    def weights(self) -> Floats:
        """The weights of the readout; made once after each change."""
        if self._read[0] != self.counts[SEEN]:
            self._read = (self.counts[SEEN], self.readout.weights(self.w, self.kept, self.counts))
        return self._read[1]

    def decide(self, rows: Rows) -> Floats:
        """Scores of all rows, one column for two classes; the share of votes when they vote."""
        if isinstance(self.readout, Voted):
            total = max(1.0, self.counts[AVERAGED])
            return np.asarray(self.ballot(rows).count(self.readout.merged(), self.counts[AVERAGED]) / total)
        total = self.counts[AVERAGED]
        if isinstance(self.readout, Averaged) and total and rows.touched < self.n_features:
            # The mean of all weights would take longer than these few: combine two scores instead.
            sums, final = (passes.decide(*rows.arrays, self.bias, w) for w in (self.kept, self.w))
            return np.asarray(((total + 1) * final - sums) / total)
        scores: Floats = passes.decide(*rows.arrays, self.bias, self.weights)
        return scores

    def ballot(self, rows: Rows) -> Ballot:
        """Empty votes on these rows."""
        start = np.zeros_like(self.w) if self.start is None else self.start
        scores = passes.decide(*rows.arrays, self.bias, start)
        return Ballot(rows, scores, lambda block, others: block.gram(others, self.bias), self.tie_positive)

    def watch(self, rows: Rows) -> Callable[[], Floats]:
        """A function that gives the scores of these rows by the readout at the time of the call."""
        if not isinstance(self.readout, Voted):
            return lambda: self.decide(rows)
        ballot, counted = self.ballot(rows), 0  # pieces of the log whose votes are in
        ballot.count(self.readout.merged(), self.counts[AVERAGED])

        def scores() -> Floats:
            nonlocal counted
            votes = ballot.count(self.readout.unsealed(counted), self.counts[AVERAGED])
            counted = len(self.readout.logs)
            return votes

        return scores

    def in_force(self, rows: Rows) -> npt.NDArray[np.intp]:
        """The classes that the w in force predicts, whatever the readout."""
        return self.classes_of(passes.decide(*rows.arrays, self.bias, self.w), self.tie_positive)

    def errors(self, examples: Examples) -> float:
        """Mistakes of the w in force on these examples."""
        return float(passes.errors(*examples.flat[:5], self.bias, self.tie_positive, self.w))

    def confirms(self, examples: Examples) -> bool:
        """After a pass without a mistake: whether the w in force makes none on these examples."""
        return bool(self.counts[QUIET]) or self.errors(examples) == 0

    @property
    def margin_bound(self) -> float:
        """No hypothesis has a larger margin on the rows seen: ‖w − w_0‖/Στ, rounded outward.

        w − w_0 = Σ τ_t y_t x_t, so ‖w − w_0‖/Στ is the length of a point of the hull of {y_i x_i}. Each of k updates
        rounds w by at most ε·‖w‖ ≤ ε·(‖w_0‖ + R·Στ), the sum Στ by ε of itself; R is √2·R for several classes.
        """
        total = self.counts[TAU]
        if total == 0.0:
            return float("inf")
        moved = self.w if self.origin is None else self.w - self.origin
        with np.errstate(over="ignore"):  # steps that vanish beside the start prove nothing: the bound is infinite
            start = 0.0 if self.origin is None else float(np.linalg.norm(self.origin / total))
        epsilon, roundings = np.finfo(np.float64).eps, self.counts[UPDATES] + 4
        radius = self.radius * (1.0 if self.w.ndim == 1 else np.sqrt(2.0))
        length = np.linalg.norm(moved / total) * (1 + (moved.size + roundings) * epsilon)
        return float(length + 2 * roundings * epsilon * (radius + start))

    def gives_up(self, tol: float) -> bool:
        """Whether it is proved that the margin of the rows seen is below tol·R."""
        return self.margin_bound <= tol * self.radius

    @property
    def state(self) -> str:
        """What is known of the hypothesis in force, in a few words."""
        return f"margin at most {at_most(self.margin_bound)}"
