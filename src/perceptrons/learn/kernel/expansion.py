"""Hypotheses in a kernel's feature space, w = Σ_j α_j φ(x_j): what is kept of them, and how they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.linear import readouts as keeping
from perceptrons.core.linear.readouts import AVERAGED, LONGEST, SQ_NORM, TAU, UPDATES
from perceptrons.data import Rows
from perceptrons.learn.hypotheses import Hypotheses, overflow
from perceptrons.learn.kernel.feature_space import FeatureSpace, resolved
from perceptrons.learn.kernel.support import Support
from perceptrons.learn.readouts import READOUTS, Ballot, Floats, Pocket, Step, Voted

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.intp]


class Expansion(Hypotheses):
    """Support rows with one coefficient each for two classes, one a class for more.

    The rows of the support that were met last are still in `source`, at `where`; `seal` copies them.
    """

    separable = "separable in the kernel's feature space"
    who_tells = "perceptrons.theory.separability(K=model.kernel_matrix(X), y=y) tells, with a proof"
    other_space = "an averaged, voted or pocket readout, or another kernel (a larger gamma or degree)"
    start: Floats | None = None  # it always starts from zeros
    burn_in = 0

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
        """`rows` are some like those to learn from; `kernel` has a kernel's name and parameters, as of FeatureSpace."""
        self.rule, self.eta = rule, float(eta)
        self.bias = 1.0 if fit_intercept else 0.0
        self.tie_positive = tie == "positive"
        self.fixed = {"readout": readout, "fit_intercept": fit_intercept, **kernel}
        self.space: FeatureSpace = resolved(**kernel, bias=self.bias, rows=rows)
        self.definite = self.space.definite  # else there is no feature space
        self.n_classes = n_classes
        self.readout: Any = READOUTS[readout]()
        self.counts: Floats = np.zeros(keeping.SIZE)
        self.counts[LONGEST] = np.inf  # no trials, but for the pocket
        self.sq_radius = 0.0
        self.alpha: Floats = self.zeros(0)
        self.kept: Floats = self.zeros(0)  # u of the averaged readout, or the coefficients in the pocket
        self.origin: Floats | None = None  # coefficients that Στ counts from, when there were any
        self.numbers: Ints = np.empty(0, dtype=np.intp)  # of the support: rows, counted from the first one given
        self.codes: Ints = np.empty(0, dtype=np.intp)  # of the support: classes
        self.logs: list[Floats] = []  # of the voted readout; column ROW is the number of a member of the support
        self.sealed = Support(self.space)
        self.source: Rows | None = None
        self.where: Ints = np.empty(0, dtype=np.intp)
        self.given = 0  # rows given before the source
        self.gram: Floats | None = None  # of a precomputed kernel: the part of the matrix that is about the support

    def zeros(self, size: int) -> Floats:
        """Coefficients of so many members."""
        return np.zeros(size if self.n_classes <= 2 else (size, self.n_classes))

    def set_origin(self) -> None:
        """Count Στ from here on: the bound on the margin is then about the rows that follow only."""
        self.origin = self.alpha.copy() if self.alpha.any() else None
        self.counts[[TAU, SQ_NORM]] = 0.0
        self.sq_radius = 0.0

    def check_finite(self, columns: Array | None = None) -> None:
        """Refuse coefficients that have overflowed."""
        if not np.isfinite(self.alpha).all() or not np.isfinite(self.kept).all():
            raise overflow("in this pass")

    # -- the support ------------------------------------------------------------------------------------------

    @property
    def support(self) -> Support:
        """All members, also those that have not been copied yet."""
        if self.source is None or len(self.where) == 0:
            return self.sealed
        whole = self.sealed.copy()
        whole.add(self.space.members(self.source, self.where))
        return whole

    def seal(self) -> None:
        """Copy the rows of the support out of the source, and let go of it."""
        if self.source is None:
            return
        gram = self._matrix() if self.space.kernel == "precomputed" else None
        state = {"sealed": self.support, "gram": gram, "given": self.given + len(self.source)}
        # All at once: Ctrl-C must not find half of it done.
        vars(self).update(state, source=None, where=self.where[:0])

    def _matrix(self) -> Floats:
        """The part of a precomputed kernel matrix that is about the support, with the constant feature."""
        if self.source is None:
            assert self.gram is not None
            return self.gram
        return np.asarray(self.source.values[np.ix_(self.numbers, self.numbers)], dtype=np.float64) + self.bias

    def joined(self, rows: Ints, codes: Array) -> dict[str, Any]:
        """What the fields of this learner become when these rows of the source join the support."""
        more = self.zeros(len(rows))
        return {
            "where": np.append(self.where, rows),
            "numbers": np.append(self.numbers, self.given + rows),
            "codes": np.append(self.codes, codes.astype(np.intp)),
            "alpha": np.concatenate([self.alpha, more]),
            "kept": np.concatenate([self.kept, more]),
        }

    def grow(self, n_classes: int, codes: Ints) -> None:
        """Make room for new classes; `codes` are the new numbers of those there were.

        From two classes to more, α becomes +α/2 for the second and −α/2 for the first; a new class starts at 0.
        """
        scale = 0.5 if self.n_classes == 2 and n_classes > 2 else 1.0
        two = self.n_classes <= 2

        def spread(old: Floats) -> Floats:
            if n_classes <= 2:
                return old
            new = np.zeros((len(old), n_classes))
            if not two:
                new[:, codes] = old
            elif len(codes) == 2:
                new[:, codes[1]], new[:, codes[0]] = scale * old, -scale * old
            return new

        counts, logs = self.counts.copy(), []
        counts[TAU] *= scale
        counts[SQ_NORM] *= scale  # ‖w/2‖² for each of two classes
        for log in self.logs:
            new = log.copy()
            new[:, [keeping.UP, keeping.DOWN]] = codes[log[:, [keeping.UP, keeping.DOWN]].astype(np.intp)]
            new[:, keeping.STEP] *= scale
            logs.append(new)
        larger = {name: spread(getattr(self, name)) for name in ("alpha", "kept")}
        origin = None if self.origin is None else spread(self.origin)
        own = codes[self.codes] if len(self.codes) else self.codes
        # All at once: Ctrl-C must not find half of it done.
        vars(self).update(larger, counts=counts, logs=logs, origin=origin, codes=own, n_classes=n_classes)

    # -- going back -------------------------------------------------------------------------------------------

    def snapshot(self, columns: Array | None = None) -> dict[str, Any]:
        """What `restore` needs to undo learning."""
        mutable = {name: getattr(self, name).copy() for name in ("alpha", "kept", "counts", "logs", "sealed")}
        return {**vars(self), **mutable}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Be as at the time of the snapshot."""
        vars(self).update(snapshot)

    def scale(self, factor: float) -> None:
        """Multiply all hypotheses by a positive number; no prediction changes."""
        for array in (self.alpha, self.kept, self.origin):
            if array is not None:
                array *= factor
        self.counts[TAU] *= factor
        self.counts[SQ_NORM] *= factor * factor

    # -- reading ----------------------------------------------------------------------------------------------

    @property
    def coefficients(self) -> Floats:
        """The coefficients of the readout, a line for each member of the support."""
        if isinstance(self.readout, Pocket):
            return np.concatenate([self.kept, self.zeros(len(self.alpha) - len(self.kept))])
        return np.asarray(self.readout.weights(self.alpha, self.kept, self.counts))

    def decide(self, rows: Rows) -> Floats:
        """Scores of all rows, one column for two classes; the share of votes when they vote."""
        if self.by_vote:
            total = max(1.0, self.counts[AVERAGED])
            return np.asarray(self._ballot(rows).count(self._steps(0), self.counts[AVERAGED]) / total)
        scores = self.support.combine(rows, self.coefficients)
        return scores[:, np.newaxis] if scores.ndim == 1 else scores

    def in_force(self, rows: Rows) -> Ints:
        """The classes that the hypothesis in force predicts, whatever the readout."""
        scores = self.support.combine(rows, self.alpha)
        return self.classes_of(scores[:, np.newaxis] if scores.ndim == 1 else scores, self.tie_positive)

    def _ballot(self, rows: Rows) -> Ballot:
        """Empty votes on these rows."""
        columns = 1 if self.n_classes <= 2 else self.n_classes
        return Ballot(rows, np.zeros((len(rows), columns)), lambda x, support: support.products(x), self.tie_positive)

    def _steps(self, first: int) -> list[Step]:
        """The updates from number `first` on, with the support rows that they are about."""
        log = np.concatenate([np.empty((0, keeping.COLUMNS)), *self.logs])
        self.logs = [log]
        if first >= len(log):
            return []
        log = log[first:].copy()
        members, log[:, keeping.ROW] = np.unique(log[:, keeping.ROW].astype(np.intp), return_inverse=True)
        return [Step(self.support.take(members), log)]

    def watch(self, rows: Rows) -> Callable[[], Floats]:
        """A function that gives the scores of these rows by the readout at the time of the call."""
        if not isinstance(self.readout, Voted):
            return lambda: self.decide(rows)
        ballot, counted = self._ballot(rows), 0

        def scores() -> Floats:
            nonlocal counted
            votes = ballot.count(self._steps(counted), self.counts[AVERAGED])
            counted = sum(map(len, self.logs))
            return votes

        return scores

    # -- lengths ----------------------------------------------------------------------------------------------

    def sq_length(self, coef: Floats) -> tuple[float, float]:
        """‖Σ_j coef_j φ(x_j)‖² with the constant feature, over all classes, and a bound on its error."""
        if self.space.kernel != "precomputed":
            return self.support.sq_length(coef)
        gram, size = self._matrix(), np.abs(coef).sum(axis=0)
        error = (2 * len(coef) + 16) * np.finfo(np.float64).eps * np.abs(gram).max(initial=0.0) * (size * size).sum()
        return float((coef * (gram @ coef)).sum()), float(error)

    @property
    def margin_bound(self) -> float:
        """No hypothesis has a larger margin on the rows seen: ‖w − w_0‖/Στ in feature space, rounded outward.

        w − w_0 = Σ τ_t y_t φ(x_t), so ‖w − w_0‖/Στ is the length of a point of the hull of {y_i φ(x_i)}. Each of k
        updates rounds a coefficient by at most ε times its size, which moves w by ε·R·Στ at most; and Στ likewise.
        """
        total = self.counts[TAU]
        if total == 0.0 or not self.definite:
            return float("inf")
        moved = self.alpha.copy()
        if self.origin is not None:
            moved[: len(self.origin)] -= self.origin
        square, error = self.sq_length(moved / total)
        if square + error < 0.0:  # that is proved: the kernel is not positive semi-definite
            self.definite = False
            return float("inf")
        radius = self.radius * (1.0 if self.alpha.ndim == 1 else np.sqrt(2.0))
        start = 0.0 if self.origin is None else float(np.abs(self.origin / total).sum()) * radius
        slack = 2 * (self.counts[UPDATES] + 4) * np.finfo(np.float64).eps * (radius + start)
        return float(np.sqrt(square + error) * (1 + 1e-15) + slack)
