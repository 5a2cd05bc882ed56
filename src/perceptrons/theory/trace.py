"""A run of `fit`, update by update, beside the two halves of the proof that it must end (Novikoff 1962)."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from math import floor, isfinite, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from perceptrons.core.spaces import TINY
from perceptrons.learn.fit import InMemory
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.linear.recording import record
from perceptrons.models import PassiveAggressiveClassifier, Perceptron
from perceptrons.theory import wording
from perceptrons.theory.novikoff import TINY as TINY_SQUARE
from perceptrons.theory.novikoff import best_separator, growth_of
from perceptrons.theory.rounding import down, up

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

# The attributes that have one entry an update; "pass" is a word of Python's.
COLUMNS = (
    *("update", "pass_", "seen", "row", "label", "rival", "kind", "margin_before", "margin_after", "tau", "sum_tau"),
    *("sq_norm", "sq_norm_bound", "relative_bound", "progress", "progress_bound", "cosine", "cosine_bound"),
)

STOPS = {
    "converged": "converged",
    "margin": "gave up: the margin is proved to be below tol",
    "stuck": "gave up: the last pass made mistakes but no step",
    "validation": "stopped early by the held-out error",
    "max_iter": "stopped by max_iter",
}


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """What each update of a run did. `print` gives a short report.

    Attributes
    ----------
    model : the fitted clone

    One entry an update, in the order in which they were made (`columns` has them all):

    update, pass_, seen : ndarray of int
        Numbers of the update and of its pass, from 1, and of examples processed, this one included.
    row, label, rival : ndarray
        The row, its label, and the class that the step leads away from: of two classes the other one, of several the
        strongest wrong one.
    kind : ndarray of str
        "false positive" or "false negative"; with several classes "mistake"; "margin" when the row was right, but by
        too little for the rule.
    margin_before, margin_after : ndarray
        m = y·a(x) of the row before and after the step; several classes: its score less the best of the others.
    tau, sum_tau : ndarray
        Length of the step, η included, and Στ so far.
    sq_norm, sq_norm_bound : ndarray, the latter or None
        ‖w‖², the bias included as a weight, and k·`growth`, which it cannot exceed.
    relative_bound : ndarray or None
        ‖w‖/(R·Στ), which no margin relative to R can exceed (both with the constant 1 appended).
    progress, progress_bound : ndarray or None
        w*·w with the best separator w*, and k·γ, which it is never below.
    cosine, cosine_bound : ndarray or None
        The cosine of w* and w, and √k·γ/√growth, which it is never below.
    weights : ndarray or None
        (w, b) after each update, as learners keep them; None when these are more than a few numbers.

    About the run:

    reason : str or None
        Why some of the above are None.
    separable : bool or None
        Whether the rows learned from are; None: not decided.
    separator, margin : ndarray and float, or None
        w* of length 1 and its proved margin γ, in the space with the constant 1 appended.
    growth : float or None
        The most that an update adds to ‖w‖²: R², for the margin rule R² + 2β; 2R² in place of R² for several classes.
    radius : float
        R, the length of the longest row with the constant 1 appended.
    n_updates, stride : int
        How many updates were made; every so many of them are kept, and the last one.
    converged, stop : bool and str
        Whether the hypothesis that was kept makes no mistake, and how the run ended: "converged", "margin", "stuck",
        "validation" or "max_iter".
    tol : float or None
    n_rows : int
        Rows in each pass.
    """

    model: Any
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

    @property
    def n_passes(self) -> int:
        """How many passes were made."""
        return int(self.model.n_iter_)

    @property
    def kept_pass(self) -> int:
        """The pass whose hypothesis was kept: the last, or with early stopping the one with the smallest error."""
        errors = self.model.validation_errors_
        return self.n_passes - int(np.argmin(errors[::-1])) if self.model.early_stopping else self.n_passes

    @property
    def max_updates(self) -> int | None:
        """Novikoff: no run over these rows makes more updates than growth/γ². None where that is not proved."""
        if self.margin is None or self.growth is None:
            return None
        most = float(self.growth) / float(self.margin) / float(self.margin) * (1 + 4 * float(np.finfo(float).eps))
        return floor(most) if isfinite(most) else None

    @property
    def columns(self) -> dict[str, Array]:
        """The arrays by name, without those that are None."""
        arrays = {name.rstrip("_"): getattr(self, name) for name in COLUMNS}
        return {name: array for name, array in arrays.items() if array is not None}

    def to_frame(self) -> Any:
        """A pandas DataFrame with one row an update."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "to_frame needs pandas: pip install pandas. Without it, `columns` has the same as a dict of arrays."
            ) from error
        return pd.DataFrame(self.columns)

    def __len__(self) -> int:
        return len(self.update)

    def __repr__(self) -> str:
        return f"<Trace of {wording.count(self.n_updates, 'update')} of {self.model!r}>"

    def __str__(self) -> str:
        passes = wording.count(self.n_passes, "pass", "passes")
        lines = [f"{wording.count(self.n_updates, 'update')} in {passes}; {STOPS[self.stop]}"]
        if self.kept_pass < self.n_passes:
            lines.append(f"the model went back to the hypothesis after pass {self.kept_pass}")
        if self.stride > 1:
            lines.append(f"one update in {self.stride} is kept, and the last: {len(self):,} in all")
        if len(self):
            kinds, counts = np.unique(self.kind, return_counts=True)
            parts = [
                f"{count:,} right by too little" if kind == "margin" else wording.count(count, kind)
                for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True)
            ]
            lines.append(("kept: " if self.stride > 1 else "updates: ") + ", ".join(parts))
            lines.append(f"‖w‖ = {sqrt(self.sq_norm[-1]):.4g}, R = {self.radius:.4g}, Στ = {self.sum_tau[-1]:.4g}")
        if self.relative_bound is not None and len(self):
            space = " in the space with the constant 1 appended" if self.model.fit_intercept else ""
            lines.append(f"proved: no hypothesis has a margin above {up(self.model.margin_bound_)}{space}")
        if self.max_updates is not None and self.progress is not None and len(self):
            lines.append(
                f"k·γ = {down(self.n_updates * (self.margin or 0.0))} ≤ w*·w = {self.progress[-1]:.4g} ≤ ‖w‖ ≤ "
                f"√(k·growth) = {up(sqrt(self.n_updates * (self.growth or 0.0)))}"
            )
            lines.append(f"Novikoff: at most {self.max_updates} updates; made: {self.n_updates}")
        if self.reason is not None:
            lines.append(self.reason)
        return "\n  ".join([f"Trace of {type(self.model).__name__}:", *lines])


def trace(
    model: Perceptron | PassiveAggressiveClassifier,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    X_val: Any = None,
    y_val: Any = None,
    coef_init: Any = None,
    intercept_init: Any = None,
    limit: int = 100_000,
) -> Trace:
    """Train a clone of `model` as `fit` would, and note every update. A clone starts anew, also with warm_start.

    Parameters
    ----------
    model : Perceptron or PassiveAggressiveClassifier
        It is left as it is; the fitted clone is the trace's `model`.
    X, y, sample_weight, X_val, y_val, coef_init, intercept_init
        As of `fit`.
    limit : int, default=100_000
        Keep so many updates at most: of longer runs every second, fourth, … and the last (`stride`).

    Returns
    -------
    Trace
        With the best separator w* (length 1, margin γ, both in the space with the constant 1 appended) where the rows
        are separable. `progress_bound` and `sq_norm_bound`, the halves of the proof ``k·γ ≤ w*·w`` and
        ``‖w‖² ≤ k·R²``, are there where they are theorems: with the rules "perceptron" and "margin" (then it is
        ``k·(R² + 2β)``), η = 1, a start from zeros and no weights of examples; with several classes R² is 2R². Else
        they are None, and `reason` says why.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptrons import Perceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> run = trace(Perceptron(), X, y == 0)
    >>> print(run)
    Trace of Perceptron:
      7 updates in 2 passes; converged
      updates: 4 false negatives, 3 false positives
      ‖w‖ = 10.2, R = 11.16, Στ = 7
      proved: no hypothesis has a margin above 1.457 in the space with the constant 1 appended
      k·γ = 5.243 ≤ w*·w = 10.07 ≤ ‖w‖ ≤ √(k·growth) = 29.52
      Novikoff: at most 221 updates; made: 7
    >>> bool((run.progress >= run.progress_bound).all() and (run.sq_norm <= run.sq_norm_bound).all())
    True
    """
    if not isinstance(model, Perceptron | PassiveAggressiveClassifier):
        raise TypeError(
            f"trace takes a Perceptron or a PassiveAggressiveClassifier, got {type(model).__name__}. Transform X first "
            "where the model is the last step of a pipeline, or by Nystroem in place of a kernel."
        )
    if limit < 1:
        raise ValueError(f"limit must be >= 1, got {limit}")
    model = clone(model)
    model._validate_params()
    task, fresh = model._prepare(X, y, sample_weight, X_val, y_val, model._start(coef_init, intercept_init))
    assert isinstance(task.material, InMemory) and isinstance(task.learner, LinearLearner)
    learner, examples = copy.deepcopy(task.learner), task.material.examples  # as they are before the first pass
    run = model._train(task, fresh, stacklevel=3)
    best = best_separator(learner, examples)
    recorder = record(learner, examples, seed=task.passes.seed, n_passes=run.n_iter, star=best.w, limit=limit)
    notes, weights = recorder.finish()

    rounding = 1 + (learner.n_features + 4) * np.finfo(np.float64).eps
    sq_radius = (examples.sq_radius + learner.bias) * rounding  # rounded outward
    growth, obstacle = growth_of(learner, examples, sq_radius)
    gamma, k, length = best.margin, notes["update"], np.sqrt(notes["sq_norm"].clip(0.0))
    from_zeros = "start" not in learner.state and sq_radius > TINY_SQUARE
    return Trace(
        model=model,
        update=k,
        pass_=(notes["seen"] - 1) // model._n_rows + 1,
        seen=notes["seen"],
        row=notes["row"],
        label=task.classes[notes["code"]],
        rival=task.classes[notes["rival"]],
        kind=_kind(notes, learner.n_classes),
        margin_before=_without_ties(notes["margin_before"]),
        margin_after=_without_ties(notes["margin_after"]),
        tau=notes["tau"],
        sum_tau=notes["sum_tau"],
        sq_norm=notes["sq_norm"],
        sq_norm_bound=None if growth is None else k * growth,
        relative_bound=length / (sqrt(sq_radius) * notes["sum_tau"]) if from_zeros else None,
        progress=None if best.w is None else notes["progress"],
        progress_bound=None if growth is None or gamma is None else k * gamma,
        cosine=None if best.w is None else _cosine(notes["progress"], length),
        cosine_bound=None if growth is None or gamma is None else np.sqrt(k) * gamma / sqrt(growth),
        reason=" ".join(filter(None, (best.obstacle, obstacle))) or None,
        weights=weights,
        separable=best.separable,
        separator=None if best.w is None else best.w.T,
        margin=gamma,
        growth=growth,
        radius=sqrt(sq_radius),
        tol=model.tol,
        n_updates=recorder.n_updates,
        stride=recorder.stride,
        converged=run.converged,
        stop=run.stop,
        n_rows=model._n_rows,
    )


def _cosine(progress: Floats, length: Floats) -> Floats:
    """w*·w/‖w‖, which rounding must not carry beyond 1; 0 for w = 0."""
    return np.divide(progress, length, where=length > 0, out=0 * length).clip(-1.0, 1.0)


def _kind(notes: Array, n_classes: int) -> Array:
    """What each update was made for."""
    mistake = notes["margin_before"] <= 0
    if n_classes > 2:
        return np.where(mistake, "mistake", "margin")
    return np.where(mistake, np.where(notes["code"] == 1, "false negative", "false positive"), "margin")


def _without_ties(margin: Floats) -> Floats:
    """Margins, where passes have the smallest number for a tie that was predicted right."""
    return np.where(margin == TINY, 0.0, margin)
