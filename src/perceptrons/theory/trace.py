"""A run of `fit`, update by update, beside the two halves of the proof that it must end (Novikoff 1962)."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from math import floor, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from perceptrons.core.spaces import TINY
from perceptrons.learn import Examples, Learner
from perceptrons.learn.recording import record
from perceptrons.models.linear import LinearClassifier
from perceptrons.rules import Margin, Plain
from perceptrons.theory.separability import separability

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


@dataclass(frozen=True, eq=False)
class Trace:
    """What each update of a run did. Arrays have one entry an update, in the order in which they were made."""

    model: Any  # the fitted clone
    update: Array  # number of the update, from 1
    pass_: Array  # number of the pass, from 1; the column "pass"
    seen: Array  # examples processed, this one included
    row: Array
    label: Array
    rival: Array  # the class that the step leads away from: of two the other one, else the strongest wrong one
    kind: Array  # "false positive", "false negative"; several classes: "mistake"; right, but by too little: "margin"
    margin_before: Floats  # m = y·a(x); several classes: score_y − max of the others
    margin_after: Floats
    tau: Floats  # length of the step, η included
    sum_tau: Floats  # Στ so far
    sq_norm: Floats  # ‖w‖², the bias included as a weight
    sq_norm_bound: Floats | None  # k·growth ≥ ‖w‖²
    relative_bound: Floats | None  # ‖w‖/(R·Στ): no margin relative to R is larger (constant 1 appended, as in R)
    progress: Floats | None  # w*·w with the best separator w* of length 1
    progress_bound: Floats | None  # k·γ ≤ w*·w
    cosine: Floats | None  # of w* and w
    cosine_bound: Floats | None  # √k·γ/√growth ≤ cosine
    reason: str | None  # why some of the above are None
    weights: Floats | None = field(repr=False)  # (w, b) after each update, when these are few numbers
    separable: bool | None  # whether the rows learned from are; None: not decided
    separator: Floats | None = field(repr=False)  # w*, in the space with the constant 1 appended
    margin: float | None  # γ: proved margin of w* in that space
    growth: float | None  # the most that an update adds to ‖w‖²: R², R² + 2β, or 2R² for several classes
    radius: float  # R, with the constant 1 appended
    tol: float | None
    n_updates: int  # made; more than are kept when `stride` is not 1
    stride: int  # every so many updates are kept, and the last one
    converged: bool  # whether the hypothesis that was kept makes no mistake
    stop: str  # "converged", "margin", "stuck", "validation" or "max_iter"
    n_rows: int  # in each pass

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
        return floor(self.growth / self.margin**2 * (1 + 4 * np.finfo(float).eps))

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

    def __str__(self) -> str:
        lines = [f"{_count(self.n_updates, 'update')} in {_count(self.n_passes, 'pass', 'passes')}; {STOPS[self.stop]}"]
        if self.kept_pass < self.n_passes:
            lines.append(f"the model went back to the hypothesis after pass {self.kept_pass}")
        if self.stride > 1:
            lines.append(f"one update in {self.stride} is kept, and the last: {len(self):,} in all")
        if len(self):
            kinds, counts = np.unique(self.kind, return_counts=True)
            names = {"margin": "right by too little"}
            parts = [f"{count} {names.get(str(kind), kind)}" for kind, count in zip(kinds, counts, strict=True)]
            lines.append(("kept: " if self.stride > 1 else "updates: ") + ", ".join(parts))
            lines.append(f"‖w‖ = {sqrt(self.sq_norm[-1]):.4g}, R = {self.radius:.4g}, Στ = {self.sum_tau[-1]:.4g}")
        if self.relative_bound is not None and len(self):
            space = " in the space with the constant 1 appended" if self.model.fit_intercept else ""
            lines.append(f"proved: no hypothesis has a margin above {_up(self.model.margin_bound_)}{space}")
        if self.max_updates is not None and self.progress is not None and len(self):
            lines.append(
                f"k·γ = {_down(self.n_updates * (self.margin or 0.0))} ≤ w*·w = {self.progress[-1]:.4g} ≤ ‖w‖ ≤ "
                f"√(k·growth) = {_up(sqrt(self.n_updates * (self.growth or 0.0)))}"
            )
            lines.append(f"Novikoff: at most {self.max_updates} updates; made: {self.n_updates}")
        if self.reason is not None:
            lines.append(self.reason)
        return "\n  ".join([f"Trace of {type(self.model).__name__}:", *lines])


def trace(
    model: LinearClassifier,
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
    """Train a clone of `model` as `fit` would, and note every update.

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
      updates: 4 false negative, 3 false positive
      ‖w‖ = 10.2, R = 11.16, Στ = 7
      proved: no hypothesis has a margin above 1.457 in the space with the constant 1 appended
      k·γ = 5.243 ≤ w*·w = 10.07 ≤ ‖w‖ ≤ √(k·growth) = 29.52
      Novikoff: at most 221 updates; made: 7
    >>> bool((run.progress >= run.progress_bound).all() and (run.sq_norm <= run.sq_norm_bound).all())
    True
    """
    if not isinstance(model, LinearClassifier):
        raise TypeError(
            f"trace takes a Perceptron or a PassiveAggressiveClassifier, got {type(model).__name__}. "
            "Transform X first where the model is the last step of a pipeline."
        )
    if limit < 1:
        raise ValueError(f"limit must be >= 1, got {limit}")
    model = clone(model)
    model._validate_params()
    task = model._prepare(X, y, sample_weight, X_val, y_val, coef_init, intercept_init)
    learner, examples = copy.deepcopy(task.learner), task.examples  # as they are before the first pass
    run = model._train(task, stacklevel=3)
    best = _best_separator(learner, examples)
    recorder = record(learner, examples, seed=task.seed, n_passes=run.n_iter, star=best.w, limit=limit)
    notes, weights = recorder.finish()

    rounding = 1 + (learner.n_features + 4) * np.finfo(np.float64).eps
    sq_radius = (examples.sq_radius + learner.bias) * rounding  # rounded outward
    growth, obstacle = _growth(learner, examples, sq_radius)
    gamma, k, length = best.margin, notes["update"], np.sqrt(notes["sq_norm"].clip(0.0))
    from_zeros = learner.start is None and sq_radius > 0
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
        cosine=None if best.w is None else np.divide(notes["progress"], length, where=length > 0, out=0 * length),
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


class _Best(NamedTuple):
    """The best separator, of the shape of w but for the bias that there is none of; or what is in its way."""

    separable: bool | None
    w: Floats | None = None
    margin: float | None = None
    obstacle: str | None = None


def _best_separator(learner: Learner, examples: Examples) -> _Best:
    order = examples.order()
    rows = examples.rows if len(order) == len(examples.rows) else examples.rows.take(order)
    codes = examples.codes[order]
    if len(np.unique(codes)) < learner.n_classes:
        return _Best(None, obstacle="No separator is looked for: some class has no rows to learn from.")
    found = separability(rows.matrix(), codes, fit_intercept=learner.bias > 0)
    if found.separable is None:
        return _Best(None, obstacle=f"No separator is known: {found.reason}")
    if not found.separable:
        where = "" if learner.bias else " through the origin"
        return _Best(False, obstacle=f"There is no separator: these rows are not linearly separable{where}.")
    w, gamma = found.augmented_separator, found.augmented_margin
    if w is None or gamma is None or not (gamma > 0 and np.isfinite(w).all()):
        return _Best(True, obstacle="The rows are separable, but by less than floating-point numbers can prove.")
    return _Best(True, w.T, gamma)


def _growth(learner: Learner, examples: Examples, sq_radius: float) -> tuple[float | None, str | None]:
    """The most that an update adds to ‖w‖², where the lines of the proof hold; else why they do not.

    ‖w + δ‖² = ‖w‖² + 2m + ‖δ‖² with m ≤ 0 for the plain rule and m ≤ β for the rule with a margin.
    """
    if not isinstance(learner.rule, Plain | Margin):
        name = type(learner.rule).__name__
        return None, f"k·γ and k·R² are bounds for the rules 'perceptron' and 'margin', not for {name}."
    if learner.eta != 1.0:
        return None, f"k·γ and k·R² are bounds for steps of length 1; eta0 is {learner.eta:g}."
    if learner.start is not None:
        return None, "k·γ and k·R² are bounds for a start from zeros."
    if examples.weight is not None and not np.isin(examples.weight, (0.0, 1.0)).all():
        return None, "k·γ and k·R² are bounds for rows without weights."
    beta = learner.rule.beta if isinstance(learner.rule, Margin) else 0.0
    return (sq_radius if learner.n_classes == 2 else 2 * sq_radius) + 2 * beta, None


def _kind(notes: Array, n_classes: int) -> Array:
    """What each update was made for."""
    mistake = notes["margin_before"] <= 0
    if n_classes > 2:
        return np.where(mistake, "mistake", "margin")
    return np.where(mistake, np.where(notes["code"] == 1, "false negative", "false positive"), "margin")


def _without_ties(margin: Floats) -> Floats:
    """Margins, where passes have the smallest number for a tie that was predicted right."""
    return np.where(margin == TINY, 0.0, margin)


def _up(x: float) -> str:
    return f"{Context(prec=4, rounding=ROUND_CEILING).create_decimal(x).normalize():g}"


def _down(x: float) -> str:
    return f"{Context(prec=4, rounding=ROUND_FLOOR).create_decimal(x).normalize():g}"


def _count(number: int, what: str, many: str | None = None) -> str:
    return f"{number:,} {what if number == 1 else many or what + 's'}"
