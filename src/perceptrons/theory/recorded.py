"""A recorded run of `fit`: what each update did."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, isfinite, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.learn.linear.recording import Rerun
from perceptrons.models import PassiveAggressiveClassifier, Perceptron
from perceptrons.shown import count
from perceptrons.solver.rounding import down, up

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

# The attributes with one entry for each update; "pass" alone is a keyword of Python.
COLUMNS = (
    *("update", "pass_", "seen", "row", "label", "rival", "kind", "margin_before", "margin_after", "tau", "sum_tau"),
    *("sq_norm", "sq_norm_bound", "relative_bound", "progress", "progress_bound", "cosine", "cosine_bound"),
)

MOST_COLUMNS = 64  # of x, w and b together, in a table by default

STOPS = {
    "converged": "converged",
    "margin": "gave up: the margin is proved to be below tol",
    "inseparable": "gave up: the rows are proved not to be separable",
    "stuck": "gave up: the last pass made mistakes but no step",
    "validation": "stopped early by the held-out error",
    "settled": "stopped: more passes no longer changed the predictions of the mean",
    "loss": "stopped, because the loss stopped falling",
    "max_iter": "stopped by max_iter",
}


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """The updates of a run, beside the two halves of Novikoff's proof. Print it for a short report.

    The proof says that k updates of the plain rule leave ``k·γ ≤ w*·w`` and ``‖w‖² ≤ k·R²``, where w* is a separator of
    length 1 with margin γ. The attributes whose names end in `_bound` are these lines. They are None where they are not
    theorems, and `reason` says why. They are theorems for the rules "perceptron" and "margin" (with ``k·(R² + 2β)``) if
    η = 1, weights start from zeros and examples have no weights. With several classes R² becomes 2R².

    The attributes from `update` to `weights` are arrays with one entry for each recorded update.

    Attributes
    ----------
    model : Perceptron or PassiveAggressiveClassifier
        The fitted model.
    update, pass_, seen : ndarray of int
        The number of the update and of its pass, from 1, and the number of examples seen, including this one.
    row, label, rival : ndarray
        The number of the row, from 0, its label, and the class that the step moves away from: the other of two
        classes, or the strongest wrong one of several.
    kind : ndarray of str
        "false positive" or "false negative", or "mistake" with several classes; "margin" if the row was right, but not
        by enough for the rule.
    margin_before, margin_after : ndarray
        m = y·a(x) of the row before and after the step. With several classes, its score minus the best other score.
    tau, sum_tau : ndarray
        τ of the step ``w += τ·y·x``, including η, and the sum Στ so far.
    sq_norm, sq_norm_bound : ndarray; the second can be None
        ‖w‖², in which b/c counts as a weight, and its upper bound k·`growth`.
    relative_bound : ndarray or None
        ‖w‖/(R·Στ), an upper bound on the margin relative to R (both with the constant appended).
    progress, progress_bound : ndarray or None
        w*·w for the best separator w*, and its lower bound k·γ.
    cosine, cosine_bound : ndarray or None
        The cosine of the angle between w* and w, and its lower bound √k·γ/√growth.
    weights : ndarray or None
        (w, b/c) after each update, where c is the constant: `intercept_scaling`, usually 1. The last column is b/c, and
        0 without a bias (``fit_intercept=False``). Several classes have one weight vector each, along a third axis.
        None if a hypothesis has many numbers; then call `hypotheses()`.
    reason : str or None
        Why some attributes are None.
    separable : bool or None
        Whether the rows of the run are separable; None if that is not decided.
    separator, margin : ndarray and float, or None
        w* of length 1 and its proved margin γ. With a bias, both are in the space with the constant appended, and the
        last number of w* is the weight of the constant.
    growth : float or None
        The most that an update adds to ‖w‖²: R², or R² + 2β for the margin rule. With several classes R² becomes 2R².
    radius : float
        R, the length of the longest row; with a bias, with the constant appended.
    n_updates, stride : int
        The number of updates of the run. One update in `stride` is recorded, and the last one.
    converged, stop : bool and str
        Whether the final hypothesis makes no mistake, and why the run ended: "converged"; "margin", which is proved to
        be below `tol`; "inseparable", which the rows are proved to be; "stuck", if the last pass made mistakes but no
        step; "settled", if more passes no longer changed what the mean predicts; "loss", which stopped falling;
        "validation", by early stopping; or "max_iter".
    tol : float or None
        The parameter of the model.
    n_rows : int
        The number of rows in each pass.
    rerun : Rerun
        What is needed to repeat the run: it refers to the rows, which must not change while the trace is in use.

    Examples
    --------
    >>> from perceptrons import Perceptron
    >>> from perceptrons.theory import trace
    >>> run = trace(Perceptron(shuffle=False), [[2.0, 1.0], [-1.0, 1.0]], ["yes", "no"])
    >>> len(run), run.row.tolist(), run.kind.tolist()
    (2, [0, 1], ['false negative', 'false positive'])
    >>> run.sq_norm.round(3), run.sq_norm_bound.round(3)
    (array([6., 9.]), array([ 6., 12.]))
    >>> run.n_updates, run.max_updates
    (2, 3)
    """

    model: Perceptron | PassiveAggressiveClassifier
    update: Array
    pass_: Array
    seen: Array
    row: Array
    label: Array
    rival: Array
    kind: Array
    margin_before: Floats
    margin_after: Floats
    tau: Floats
    sum_tau: Floats
    sq_norm: Floats
    sq_norm_bound: Floats | None
    relative_bound: Floats | None
    progress: Floats | None
    progress_bound: Floats | None
    cosine: Floats | None
    cosine_bound: Floats | None
    weights: Floats | None
    reason: str | None
    separable: bool | None
    separator: Floats | None
    margin: float | None
    growth: float | None
    radius: float
    n_updates: int
    stride: int
    converged: bool
    stop: str
    tol: float | None
    n_rows: int
    rerun: Rerun

    @property
    def n_passes(self) -> int:
        """The number of passes."""
        return int(self.model.n_iter_)

    @property
    def kept_pass(self) -> int:
        """The pass whose hypothesis the model kept: the last, or with early stopping the one with the least error."""
        errors = self.model.validation_errors_
        return self.n_passes - int(np.argmin(errors[::-1])) if self.model.early_stopping else self.n_passes

    @property
    def max_updates(self) -> int | None:
        """Novikoff's bound growth/γ² on the updates of any run over these rows; None if it is not proved."""
        if self.margin is None or self.growth is None:
            return None
        most = float(self.growth) / float(self.margin) / float(self.margin) * (1 + 4 * float(np.finfo(float).eps))
        return floor(most) if isfinite(most) else None

    @property
    def columns(self) -> dict[str, Array]:
        """The arrays with one entry for each update, by name, without those that are None."""
        arrays = {name.rstrip("_"): getattr(self, name) for name in COLUMNS}
        return {name: array for name, array in arrays.items() if array is not None}

    def to_frame(self, *, vectors: bool | None = None) -> Any:
        """Return the updates as a table: the columns, and the row x and the weights (w, b) after each update.

        Features have their names or numbers: ``x[0]``, ``w[0]`` and ``b``. With several classes, the weights of each
        are columns: ``w[setosa, 0]`` and ``b[setosa]``. Without a bias, there is no column b.

        Parameters
        ----------
        vectors : bool, optional
            Whether x, w and b are included. By default they are if they have at most 64 columns in all. Weights that
            the trace did not record are computed by repeating the run.

        Returns
        -------
        pandas.DataFrame
            One row for each recorded update.

        Raises
        ------
        ImportError
            If pandas is not installed.
        ValueError
            As for `hypotheses`.

        Examples
        --------
        >>> from perceptrons import Perceptron
        >>> from perceptrons.theory import trace
        >>> run = trace(Perceptron(shuffle=False), [[2.0, 1.0], [-1.0, 1.0]], ["yes", "no"])
        >>> print(run.to_frame()[["row", "x[0]", "x[1]", "label", "tau", "w[0]", "w[1]", "b"]])
           row  x[0]  x[1] label  tau  w[0]  w[1]    b
        0    0   2.0   1.0   yes  1.0   2.0   1.0  1.0
        1    1  -1.0   1.0    no  1.0   3.0   0.0  0.0
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "to_frame needs pandas: pip install pandas. Without it, use `columns`, a dict with the same arrays."
            ) from error
        frame = pd.DataFrame(self.columns)
        n_vectors = self.rerun.learner.n_features + self.rerun.learner.current.size
        if vectors is False or (vectors is None and n_vectors > MOST_COLUMNS):
            return frame
        x, w = (pd.DataFrame(array, columns=names) for array, names in (self._x(), self._w()))
        after_row, after_tau = (1 + frame.columns.get_loc(name) for name in ("row", "tau"))
        parts = (frame.iloc[:, :after_row], x, frame.iloc[:, after_row:after_tau], w, frame.iloc[:, after_tau:])
        return pd.concat(parts, axis=1)

    def hypotheses(self) -> Floats:
        """Return the weights after each recorded update.

        They are those of `weights`. If that is None, the run is repeated.

        Returns
        -------
        ndarray of shape (n_recorded, n_features + 1) or (n_recorded, n_features + 1, n_classes)
            (w, b/c) after each update, where c is the constant of the bias, usually 1. Without a bias, the last column
            is 0.

        Raises
        ------
        ValueError
            If the run has to be repeated, and the rows have changed since.
        """
        if self.weights is not None:
            return self.weights
        notes, weights = self.rerun.record(room=self.rerun.learner.current.size).finish()
        if not all(np.array_equal(notes[name], getattr(self, name)) for name in ("row", "tau", "sq_norm")):
            raise ValueError("the rows have changed since they were traced, so the run cannot be repeated: trace again")
        assert weights is not None
        return weights

    def _names(self) -> list[str]:
        """Names of the features, or their numbers."""
        return [str(name) for name in getattr(self.model, "feature_names_in_", range(self.rerun.learner.n_features))]

    def _x(self) -> tuple[Array, list[str]]:
        """The rows of the updates, and names of their columns."""
        x = self.rerun.examples.rows.matrix()[self.row]
        return x if isinstance(x, np.ndarray) else x.toarray(), [f"x[{name}]" for name in self._names()]

    def _w(self) -> tuple[Floats, list[str]]:
        """The weights after each update, class by class, and names of their columns."""
        d, classes = self.rerun.learner.n_features, [str(name) for name in self.model.classes_]
        lines = self.hypotheses()
        lines = lines.reshape(*lines.shape[:2], 1 if lines.ndim == 2 else len(classes))
        lines = lines[:, : d + bool(self.model.fit_intercept)].copy()
        lines[:, d:] *= self.rerun.learner.bias  # b = c·(the weight of the constant)
        if lines.shape[2] == 1:
            names = [*(f"w[{name}]" for name in self._names()), "b"]
        else:
            names = [text for of in classes for text in (*(f"w[{of}, {name}]" for name in self._names()), f"b[{of}]")]
        if not self.model.fit_intercept:
            names = [name for name in names if name[0] == "w"]
        return lines.transpose(0, 2, 1).reshape(len(self), len(names)), names

    def __len__(self) -> int:
        return len(self.update)

    def __repr__(self) -> str:
        return f"<Trace of {count(self.n_updates, 'update')} of {self.model!r}>"

    def __str__(self) -> str:
        passes = count(self.n_passes, "pass", "passes")
        lines = [f"{count(self.n_updates, 'update')} in {passes}; {STOPS[self.stop]}"]
        if self.kept_pass < self.n_passes:
            lines.append(f"the model went back to the hypothesis after pass {self.kept_pass}")
        if self.stride > 1:
            lines.append(f"one update in {self.stride} is recorded, and the last: {len(self):,} in all")
        if len(self):
            kinds, counts = np.unique(self.kind, return_counts=True)
            parts = [
                f"{number:,} with too small a margin" if kind == "margin" else count(number, kind)
                for kind, number in zip(kinds.tolist(), counts.tolist(), strict=True)
            ]
            lines.append(("recorded: " if self.stride > 1 else "updates: ") + ", ".join(parts))
            lines.append(f"‖w‖ = {sqrt(self.sq_norm[-1]):.4g}, R = {self.radius:.4g}, Στ = {self.sum_tau[-1]:.4g}")
        if self.relative_bound is not None and len(self):
            constant = f"{self.rerun.learner.bias:g}"
            space = f" in the space with the constant {constant} appended" if self.model.fit_intercept else ""
            lines.append(
                f"proved: the rows cannot be separated by a margin above {up(self.model.margin_bound_)}{space}"
            )
        if self.max_updates is not None and self.progress is not None and len(self):
            lines.append(
                f"k·γ = {down(self.n_updates * (self.margin or 0.0))} ≤ w*·w = {self.progress[-1]:.4g} ≤ ‖w‖ ≤ "
                f"√(k·growth) = {up(sqrt(self.n_updates * (self.growth or 0.0)))}"
            )
            lines.append(f"Novikoff: at most {self.max_updates} updates; made: {self.n_updates}")
        if self.reason is not None:
            lines.append(self.reason)
        return "\n  ".join([f"Trace of {type(self.model).__name__}:", *lines])
