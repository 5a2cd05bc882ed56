"""Learners as settings and arrays: the linear one, and what all have in common."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from perceptrons.core.linear import readouts as keeping
from perceptrons.learn.linear.learner import Learner
from perceptrons.learn.readouts import READOUTS, Step, Voted
from perceptrons.store.format import Array, Tensors
from perceptrons.store.rows import check_memory, pack_rows, pack_weights, unpack_rows, unpack_weights
from perceptrons.store.values import Settings, check_range, rule_from, take, to_json

# Names of the counts of a learner. That an overflow was met is none of them: it leaves no model.
COUNTS = {
    "seen": keeping.SEEN,
    "mistakes": keeping.MISTAKES,
    "updates": keeping.UPDATES,
    "sum_tau": keeping.TAU,
    "averaged": keeping.AVERAGED,
    "run": keeping.RUN,
    "longest": keeping.LONGEST,
    "tried": keeping.TRIED,
    "pocket": keeping.POCKET,
    "logged": keeping.LOGGED,
    "passes": keeping.PASSES,
    "quiet": keeping.QUIET,
    "sq_norm": keeping.SQ_NORM,
    "visits": keeping.VISITS,
    "waits": keeping.WAITS,
}
WEIGHTS = ("w", "kept", "start", "origin")
MOST = 2**53  # counts are whole numbers that float64 holds
INF = float("inf")  # the longest run of those that need none for the pocket
LIMITS = {"longest": (0, INF), "sum_tau": (0, INF), "sq_norm": (-INF, INF)}


# -- all learners ---------------------------------------------------------------------------------------------


def pack_common(learner: Any) -> dict[str, Any]:
    """The settings that every learner has."""
    return {
        "rule": to_json(learner.rule, "rule"),
        "readout": learner.fixed["readout"],
        "eta": to_json(learner.eta, "eta"),
        "fit_intercept": bool(learner.bias),
        "tie": "positive" if learner.tie_positive else "mistake",
        "n_classes": learner.n_classes,
        "sq_radius": to_json(float(learner.sq_radius), "sq_radius"),
        "counts": {name: to_json(float(learner.counts[at]), name) for name, at in COUNTS.items()},
    }


def unpack_common(settings: Settings) -> dict[str, Any]:
    """What the constructor of every learner takes."""
    eta = settings.number("eta")
    if eta == 0.0:
        raise ValueError("eta must be > 0")
    return {
        "rule": rule_from(settings.any("rule")),
        "readout": settings.choice("readout", list(READOUTS)),
        "eta": eta,
        "fit_intercept": settings.flag("fit_intercept"),
        "tie": settings.choice("tie", ("mistake", "positive")),
        "n_classes": settings.whole("n_classes", 1, 2**31 - 1),
    }


def set_counts(learner: Any, settings: Settings) -> None:
    """Give a learner its counts and its radius."""
    counts = settings.part("counts")
    for name, at in COUNTS.items():
        learner.counts[at] = counts.number(name, *LIMITS.get(name, (0, MOST)))
    learner.sq_radius = settings.number("sq_radius")


def checked_log(log: Array, name: str, n_rows: int, n_classes: int) -> Array:
    """A log of updates whose rows and classes exist: compiled code trusts them."""
    check_range(f"{name}, rows", log[:, keeping.ROW], n_rows)
    check_range(f"{name}, classes", log[:, [keeping.UP, keeping.DOWN]], max(2, n_classes))
    check_range(f"{name}, examples", log[:, keeping.AT], MOST)
    if (np.diff(log[:, keeping.AT]) < 0).any():
        raise ValueError(f"{name} must be in the order of examples")
    return log


# -- the linear learner ---------------------------------------------------------------------------------------


def pack_linear(learner: Learner, drop_zeros: bool) -> tuple[dict[str, Any], Tensors]:
    """A linear learner as settings and arrays."""
    settings = pack_common(learner)
    settings |= {"n_features": learner.n_features, "dense": learner.layout == "F", "burn_in": int(learner.burn_in)}
    tensors: Tensors = {}
    for name in WEIGHTS:
        array = getattr(learner, name)
        if array is not None:
            tensors |= pack_weights(array, name, drop_zeros)
    if isinstance(learner.readout, Voted):
        readout = copy.copy(learner.readout)
        readout.steps = list(readout.steps)  # the learner's own stays as it is
        steps = readout.merged()
        settings["steps"] = []
        for number, (rows, log) in enumerate(steps):
            described, arrays = pack_rows(rows, f"steps.{number}")
            settings["steps"].append(described)
            tensors |= arrays | {f"steps.{number}.log": log}
    return settings, tensors


def unpack_linear(settings: Settings, tensors: Tensors, n_features: int) -> Learner:
    """The learner that `pack_linear` was given."""
    common, dense = unpack_common(settings), settings.flag("dense")
    n_classes = common["n_classes"]
    if settings.whole("n_features") != n_features:
        raise ValueError(f"n_features must be {n_features}, got {settings.whole('n_features')}")
    shape = (n_features + 1,) if n_classes <= 2 else (n_features + 1, n_classes)
    check_memory(WEIGHTS, tensors, shape)
    learner = Learner(**common, n_features=0, dense=dense)  # weights follow: no room is made for them yet
    learner.n_features = n_features
    learner.burn_in = settings.whole("burn_in", -(2**63))
    there = {"w": True, "kept": learner.kept is not None}
    for name in WEIGHTS:
        found = name in tensors or f"{name}.index" in tensors
        array = None
        if found if name in ("start", "origin") else there[name]:
            array = np.asarray(unpack_weights(tensors, name, shape), order=learner.layout)
        setattr(learner, name, array)
    learner._read = (-1.0, learner.w)
    set_counts(learner, settings)
    if isinstance(learner.readout, Voted):
        learner.readout.steps = _steps(settings.any("steps"), tensors, n_features, n_classes)
    return learner


def _steps(described: Any, tensors: Tensors, n_features: int, n_classes: int) -> list[Step]:
    """The updates of a voted readout."""
    if not isinstance(described, list):
        raise ValueError("steps must be a list")
    steps: list[Step] = []
    for number, entry in enumerate(described):
        name = f"steps.{number}"
        rows = unpack_rows(Settings(entry), tensors, name, n_features)
        log = take(tensors, f"{name}.log", "f8", (None, keeping.COLUMNS))
        if len(log) == 0 or (steps and log[0, keeping.AT] < steps[-1].log[-1, keeping.AT]):
            raise ValueError(f"{name}.log must have updates, after those before it")
        steps.append(Step(rows, checked_log(log, f"{name}.log", len(rows), n_classes)))
    return steps
