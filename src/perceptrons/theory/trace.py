"""Record a run of `fit` update by update, beside the two halves of the proof that it must end (Novikoff 1962)."""

from __future__ import annotations

import copy
from math import sqrt
from typing import Any

import numpy as np
from sklearn.base import clone

from perceptrons import rules
from perceptrons.core.spaces import TINY
from perceptrons.learn.examples import Examples
from perceptrons.learn.fit import Falling, InMemory, Passes, Run
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.linear.recording import Rerun
from perceptrons.models import PassiveAggressiveClassifier, Perceptron
from perceptrons.theory.novikoff import TINY as TINY_SQUARE
from perceptrons.theory.novikoff import Best, best_separator, growth_of
from perceptrons.theory.recorded import Array, Floats, Trace

__all__ = ["Trace", "trace"]


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
    """Train a clone of `model` like `fit`, and record every update. The clone starts anew, even with warm_start.

    Parameters
    ----------
    model : Perceptron or PassiveAggressiveClassifier
        The model, which does not change; the fitted clone is the `model` of the trace. Its rule must step along x.
    X, y, sample_weight, X_val, y_val, coef_init, intercept_init
        The same as for `fit`.
    limit : int, default=100_000
        Maximum number of updates to record. Of longer runs, every second, fourth, … update and the last are recorded.

    Returns
    -------
    Trace
        The updates, with the best separator and the lines of the proof where they apply.

    Raises
    ------
    TypeError, ValueError
        If `model` is of another class, its rule does not step along x, `limit` is below 1, or `fit` fails.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptrons import Perceptron
    >>> from perceptrons.theory import trace
    >>> X, y = load_iris(return_X_y=True)
    >>> print(trace(Perceptron(), X, y == 0))
    Trace of Perceptron:
      7 updates in 2 passes; converged
      updates: 4 false negatives, 3 false positives
      ‖w‖ = 10.2, R = 11.16, Στ = 7
      proved: the rows cannot be separated by a margin above 1.457 in the space with the constant 1 appended
      k·γ = 5.243 ≤ w*·w = 10.07 ≤ ‖w‖ ≤ √(k·growth) = 29.52
      Novikoff: at most 221 updates; made: 7
    """
    if not isinstance(model, Perceptron | PassiveAggressiveClassifier):
        raise TypeError(
            f"trace takes a Perceptron or a PassiveAggressiveClassifier, got {type(model).__name__}. If the model is "
            "the last step of a pipeline, transform X first; instead of a kernel, transform X with Nystroem."
        )
    if limit < 1:
        raise ValueError(f"limit must be >= 1, got {limit}")
    model = clone(model)
    model._validate_params()
    rule = model._settings()["rule"]
    what = "the covariance of the weights" if rules.kind_of(rule) == "metric" else "the scale of all weights"
    rules.refuse_other_kinds(
        rule, "a trace", f"it records steps τ along rows, and this rule also changes {what}", even=False
    )
    task, fresh = model._prepare(X, y, sample_weight, X_val, y_val, model._start(coef_init, intercept_init))
    assert isinstance(task.material, InMemory) and isinstance(task.learner, LinearLearner)
    learner, examples = copy.deepcopy(task.learner), task.material.examples  # as they are before the first pass
    run = model._train(task, fresh, stacklevel=2)
    best = best_separator(learner, examples)
    never = None if task.passes.falling is None else Falling(None, 1)  # as many passes, although rows are separated
    rerun = Rerun(learner, examples, Passes(run.n_iter, seed=task.passes.seed, falling=never), limit)
    return _assembled(model, task.targets.classes, run, rerun, best)


def _assembled(
    model: Perceptron | PassiveAggressiveClassifier, classes: Array, run: Run, rerun: Rerun, best: Best
) -> Trace:
    """The trace of a run, which is repeated."""
    recorder = rerun.record(best.w)
    notes, weights = recorder.finish()
    noted: dict[str, Any] = {name: notes[name] for name in ("update", "seen", "row", "tau", "sum_tau", "sq_norm")}
    return Trace(
        model=model,
        pass_=(notes["seen"] - 1) // model._n_rows + 1,
        label=classes[notes["code"]],
        rival=classes[notes["rival"]],
        kind=_kind(notes, rerun.learner.n_classes),
        margin_before=_without_ties(notes["margin_before"]),
        margin_after=_without_ties(notes["margin_after"]),
        weights=weights,
        tol=model.tol,
        n_updates=recorder.n_updates,
        stride=recorder.stride,
        converged=run.converged,
        stop=run.stop,
        n_rows=model._n_rows,
        rerun=rerun,
        **noted,
        **_proof(notes, rerun.learner, rerun.examples, best),
    )


def _proof(notes: Array, learner: LinearLearner, examples: Examples, best: Best) -> dict[str, Any]:
    """The lines of the proof, as attributes of the trace."""
    rounding = 1 + (learner.n_features + 4) * np.finfo(np.float64).eps
    sq_radius = (examples.sq_radius + learner.bias**2) * rounding  # rounded outward
    growth, obstacle = growth_of(learner, examples, sq_radius)
    gamma, k, length = best.margin, notes["update"], np.sqrt(notes["sq_norm"].clip(0.0))
    from_zeros = "start" not in learner.state and sq_radius > TINY_SQUARE
    return {
        "sq_norm_bound": None if growth is None else k * growth,
        "relative_bound": length / (sqrt(sq_radius) * notes["sum_tau"]) if from_zeros else None,
        "progress": None if best.w is None else notes["progress"],
        "progress_bound": None if growth is None or gamma is None else k * gamma,
        "cosine": None if best.w is None else _cosine(notes["progress"], length),
        "cosine_bound": None if growth is None or gamma is None else np.sqrt(k) * gamma / sqrt(growth),
        "reason": " ".join(filter(None, (best.obstacle, obstacle))) or None,
        "separable": best.separable,
        "separator": None if best.w is None else best.w.T,
        "margin": gamma,
        "growth": growth,
        "radius": sqrt(sq_radius),
    }


def _cosine(progress: Floats, length: Floats) -> Floats:
    """w*·w/‖w‖, clipped to [−1, 1] because of rounding; 0 for w = 0."""
    return np.divide(progress, length, where=length > 0, out=0 * length).clip(-1.0, 1.0)


def _kind(notes: Array, n_classes: int) -> Array:
    """The kind of each update."""
    mistake = notes["margin_before"] <= 0
    if n_classes > 2:
        return np.where(mistake, "mistake", "margin")
    return np.where(mistake, np.where(notes["code"] == 1, "false negative", "false positive"), "margin")


def _without_ties(margin: Floats) -> Floats:
    """Margins, with 0 for −0 and for the tiny number by which passes mark a tie that was predicted right."""
    return np.where(margin == TINY, 0.0, margin) + 0.0
