"""From a scene to what the library takes: rows, labels, and an estimator for each model."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons import rules
from perceptrons.lab.limits import CLASSES, FEATURES, LARGEST, MODELS, ROWS, VISITS
from perceptrons.lab.messages import Choice, Scene
from perceptrons.learn.kernel.budget import POLICIES
from perceptrons.learn.kernel.feature_space import KERNELS
from perceptrons.learn.readouts import READOUTS
from perceptrons.shown import count

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

# What only a model with a kernel has, and what only a linear one has.
OF_KERNELS = ("kernel", "gamma", "degree", "coef0", "budget", "policy", "threshold")
OF_WEIGHTS = ("init",)
USED_BY = {
    "poly": ("gamma", "degree", "coef0"),
    "rbf": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
    "laplacian": ("gamma",),
}


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a scene as one model learns them.

    `at` are their numbers in the scene: with `order="sorted"`, they are in another order.
    """

    X: Floats
    y: Array
    at: Ints
    X_val: Floats | None
    y_val: Array | None


def check(scene: Scene) -> None:
    """Raise an error if a scene is not one that the lab can show."""
    n = len(scene.rows)
    if n > ROWS:
        raise ValueError(f"the lab shows at most {ROWS:,} points, got {n:,}: take fewer, or train with the library")
    if len(scene.labels) != n:
        raise ValueError(f"there are {n} points, but {len(scene.labels)} labels")
    d = len(scene.names)
    if not 1 <= d <= FEATURES:
        raise ValueError(f"the lab takes 1 to {FEATURES} features, got {d}: choose two columns")
    for number, row in enumerate(scene.rows):
        if len(row) != d:
            raise ValueError(f"point {number} has {count(len(row), 'coordinate')}, expected {d}")
        if not all(isfinite(x) and abs(x) <= LARGEST for x in row):
            raise ValueError(f"point {number} is too far away: coordinates go to ±{LARGEST:g}, got {row}")
    if not 2 <= len(scene.classes) <= CLASSES:
        raise ValueError(f"the lab takes 2 to {CLASSES} classes, got {len(scene.classes)}")
    if np.unique(scene.classes).tolist() != scene.classes:
        raise ValueError(f"classes must be different and sorted, got {scene.classes}")
    if any(not 0 <= code < len(scene.classes) for code in scene.labels):
        raise ValueError("a label is not one of the classes")
    if not 1 <= len(scene.models) <= MODELS:
        raise ValueError(f"the lab shows one or two models, got {len(scene.models)}")
    if not 0.0 <= scene.held_out <= 0.9:
        raise ValueError(f"the share of held-out points must be between 0 and 0.9, got {scene.held_out}")
    for choice in scene.models:
        _check_choice(choice, n)


def _check_choice(choice: Choice, n: int) -> None:
    if choice.max_iter < 1:
        raise ValueError(f"the number of passes must be at least 1, got {choice.max_iter}")
    if choice.max_iter * max(1, n) > VISITS:
        most = count(VISITS // max(1, n), "pass", "passes")
        raise ValueError(
            f"the lab records every update, so that points times passes must be at most {VISITS:,}: with "
            f"{count(n, 'point')}, choose at most {most}, got {choice.max_iter:,}"
        )
    if not 0 <= choice.random_state < 2**32:
        raise ValueError(f"the seed must be a whole number from 0 to 2^32 − 1, got {choice.random_state}")
    for name, value, known in (
        ("rule", choice.rule, rules.RULES),
        ("readout", choice.readout, READOUTS),
        ("kernel", choice.kernel, KERNELS),
        ("policy", choice.policy, POLICIES),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")


def held_out(scene: Scene) -> npt.NDArray[np.bool_]:
    """Which rows are held out: a share of them, drawn with a fixed seed."""
    n = len(scene.rows)
    held = np.zeros(n, dtype=bool)
    held[np.random.RandomState(0).permutation(n)[: round(scene.held_out * n)]] = True
    return held


def rows_of(scene: Scene, choice: Choice) -> Rows:
    """The rows that a model learns, in the order of its first pass unless they are shuffled."""
    X = np.array(scene.rows, dtype=np.float64).reshape(len(scene.rows), len(scene.names))
    y, held = np.array(scene.classes)[np.array(scene.labels, dtype=np.intp)], held_out(scene)
    at = np.flatnonzero(~held)
    if choice.order == "sorted":
        at = at[np.argsort(y[at], kind="stable")]
    kept = np.flatnonzero(held & np.isin(y, y[at]))  # a model knows no class that it has not learned
    return Rows(X[at], y[at], at, X[kept] if len(kept) else None, y[kept] if len(kept) else None)


def parameters(choice: Choice) -> dict[str, Any]:
    """The parameters of the estimator, without those that have no effect."""
    fields = rules.RULES[choice.rule]._fields
    unknown = sorted(set(choice.params) - set(fields))
    if unknown:
        raise ValueError(f"the rule {choice.rule!r} has no parameter {unknown[0]!r}")
    kernel = choice.estimator == "KernelPerceptron"
    names = ["readout", "fit_intercept", "eta0", "tie", "max_iter", "tol"]
    if kernel:
        names += ["kernel", *USED_BY.get(choice.kernel, ())]
        if choice.budget is not None:
            names += ["budget", "policy", *(["threshold"] if choice.policy.startswith("projectron") else [])]
    else:
        names += OF_WEIGHTS
    found = {name: getattr(choice, name) for name in names}
    found["shuffle"], found["random_state"] = choice.order == "shuffled", choice.random_state
    rule = rules.RULES[choice.rule](**choice.params)
    return {"rule": choice.rule if rule == rules.RULES[choice.rule]() else rule, **found}


def estimator_of(choice: Choice) -> Any:
    """The estimator of a model, not fitted."""
    from perceptrons import models

    return getattr(models, choice.estimator)(**parameters(choice))
