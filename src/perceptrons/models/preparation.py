"""What `fit` sets up before the first pass: weights to start from, and rows to hold out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.learn.examples import Examples
from perceptrons.learn.labels import encode
from perceptrons.learn.linear.learner import Learner
from perceptrons.models import validation

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Task:
    """A run of `fit`, ready for its first pass."""

    fresh: Any  # a copy of the model that knows the features
    learner: Any  # Learner, or one in another space
    material: Any  # what is learned from: InMemory, or Stream
    held_out: Callable[[], float] | None  # the error on rows that are not learned from
    classes: validation.Array
    seed: int | None  # of the random order of each pass; None keeps the order of rows
    finish: Callable[[], None] = lambda: None  # to be called when the last pass is over


def given_weights(learner: Learner, coef: Any, intercept: Any) -> Floats:
    """Weights to start from: those given, of the shapes of `coef_` and `intercept_`, else the learner's."""
    w = np.copy(learner.w)
    lines = 1 if w.ndim == 1 else w.shape[1]
    for name, given, part in (("coef_init", coef, slice(-1)), ("intercept_init", intercept, slice(-1, None))):
        if given is None:
            continue
        given, target = np.asarray(given, dtype=np.float64), w[part]
        right = (lines, target.size // lines) if name == "coef_init" else (lines,)
        if given.shape != right and not (lines == 1 and given.shape in (right[1:], (1,))):
            expected = f"({lines}, {len(w) - 1})" if name == "coef_init" else f"({lines},)"
            raise ValueError(f"{name} must be of shape {expected}, got {given.shape}")
        if not np.isfinite(given).all():
            raise ValueError(f"{name} must be finite, got NaN or infinity")
        target[:] = given.reshape(lines, -1).T.reshape(target.shape)
    if learner.bias == 0.0 and w[-1:].any():
        raise ValueError("intercept_init must be 0 with fit_intercept=False")
    return w


def random_weights(learner: Learner, random: np.random.RandomState) -> Floats:
    """Weights to start from: normal random numbers."""
    w: Floats = random.standard_normal(learner.w.shape)
    w[-1] *= learner.bias
    return w


def held_out(model: Any, X_val: Any, y_val: Any, classes: validation.Array) -> Examples:
    """The held-out examples that were passed to fit."""
    if X_val is None or y_val is None:
        raise ValueError("X_val and y_val go together: pass both or neither")
    rows = validation.features(model, X_val, reset=False, input_name="X_val")
    y_val = validation.labels(model, y_val, rows, "y_val")
    return Examples(rows, encode(y_val, classes, "y_val"))


def split(examples: Examples, fraction: float, random: np.random.RandomState) -> tuple[Examples, Examples]:
    """Examples to learn from, and a fraction of each class to hold out.

    Weight 0 leaves the latter out of training without a copy of all the others.
    """
    from sklearn.model_selection import StratifiedShuffleSplit  # slow to import, seldom needed

    shuffle = StratifiedShuffleSplit(test_size=fraction, random_state=random)
    try:
        _, held = next(shuffle.split(np.zeros((len(examples.codes), 1)), examples.codes))
    except ValueError as error:
        raise ValueError(
            f"validation_fraction={fraction} of {len(examples.codes)} rows cannot hold every class ({error}). Use a "
            "larger fraction, or pass X_val and y_val to fit."
        ) from error
    weight = np.ones(len(examples.rows)) if examples.weight is None else examples.weight.copy()
    weight[held] = 0.0
    if not weight.any():
        raise ValueError(f"validation_fraction={fraction} leaves no rows to learn from")
    return Examples(examples.rows, examples.codes, weight), Examples(examples.rows.take(held), examples.codes[held])


def make_room(learner: Any, known: validation.Array, classes: validation.Array) -> None:
    """Make room in the learner for all `classes`."""
    if len(classes) > len(known):
        learner.grow(len(classes), np.searchsorted(classes, known) if len(known) else np.empty(0, dtype=np.intp))
