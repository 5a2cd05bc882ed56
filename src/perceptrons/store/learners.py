"""Class learners as settings and arrays: what all of them share, and the linear one."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np

from perceptrons.core.linear import readouts as markers
from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.linear.values import ValueLearner
from perceptrons.learn.readouts import READOUTS, Step
from perceptrons.learn.scale import running
from perceptrons.learn.state import Entries, State, Totals
from perceptrons.learn.targets import Unit
from perceptrons.store.format import Array, Tensors
from perceptrons.store.memory import Memory
from perceptrons.store.rows import for_products, pack_rows, pack_weights, unpack_rows, unpack_weights, without_zeros
from perceptrons.store.values import LARGEST, MOST, Settings, check_range, rule_from, take, to_json

L = TypeVar("L", bound=LinearLearner)

# Totals that are not whole numbers.
LIMITS = {"sum_tau": (0.0, LARGEST), "sq_norm": (-LARGEST, LARGEST), "sq_radius": (0.0, LARGEST)}


# -- all learners ---------------------------------------------------------------------------------------------


def pack_totals(totals: Totals) -> dict[str, Any]:
    """Convert the totals of a learner to settings. ‖w‖², which is added up step by step, may have overflowed."""
    found = {name: getattr(totals, name) for name in Totals.names()}
    found["sq_norm"] = float(np.nan_to_num(found["sq_norm"]))
    for name, value in found.items():
        if not math.isfinite(value):
            raise ValueError(f"the model cannot be saved: its {name} overflows float64")
    return {name: to_json(value, name) for name, value in found.items()}


def unpack_totals(settings: Settings, totals: Entries) -> None:
    """Restore a learner's totals.

    Older files have the radius beside the counts, tokens only for taggers, and nothing about mixing.
    """
    counts = settings.part("counts")
    for name in Totals.names():
        where = settings if name == "sq_radius" and name not in counts.found else counts
        if name in where.found or name not in ("tokens", "wrong_tokens", "mixed"):
            setattr(totals, name, where.number(name, *LIMITS.get(name, (0.0, MOST))))


def pack_common(learner: ClassLearner) -> dict[str, Any]:
    """The settings that every class learner has."""
    return {
        "rule": to_json(learner.rule, "rule"),
        "readout": learner.readout.name,
        "eta": to_json(learner.eta, "eta"),
        "fit_intercept": bool(learner.bias),
        "tie": "positive" if learner.tie_positive else "mistake",
        "n_classes": learner.n_classes,
        "counts": pack_totals(learner.totals),
    }


def unpack_common(settings: Settings) -> dict[str, Any]:
    """Arguments for the constructor of every class learner."""
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


def checked_log(log: Array, name: str, n_rows: int, n_classes: int, seen: float) -> Array:
    """Check that the rows and classes of a log exist: compiled code trusts them. `seen`: number of examples so far."""
    check_range(f"{name}, rows", log[:, markers.ROW], n_rows)
    check_range(f"{name}, classes", log[:, [markers.UP, markers.DOWN]], max(2, n_classes))
    check_range(f"{name}, examples", log[:, markers.AT], int(seen) + 1)
    if (np.diff(log[:, markers.AT]) < 0).any():
        raise ValueError(f"{name} must be in the order of examples")
    return log


# -- the linear learner ---------------------------------------------------------------------------------------


def pack_linear(learner: LinearLearner, drop_zeros: bool) -> tuple[dict[str, Any], Tensors]:
    """Convert a linear learner to settings and arrays."""
    dense = learner.state.layout == "F"
    settings = pack_common(learner)
    settings |= {"n_features": learner.n_features, "dense": dense, "burn_in": int(learner.burn_in), "steps": []}
    settings["intercept_scaling"] = to_json(learner.fixed["intercept_scaling"], "intercept_scaling")
    if learner.scales_online:
        settings["scale"] = "online"
    tensors: Tensors = {}
    for name in learner.state:
        tensors |= pack_weights(learner.state[name], name, drop_zeros)
    tensors |= {f"{name}.fresh": row[0] for name, row in learner.state.fresh.items()}
    readout = learner.readout.with_features(learner.n_features)  # a copy; the learner does not change
    for number, (rows, log) in enumerate(readout.since(0)):
        described, arrays = pack_rows(rows, f"steps.{number}")
        settings["steps"].append(described)
        tensors |= arrays | {f"steps.{number}.log": log}
    return settings, tensors


def unpack_linear(settings: Settings, tensors: Tensors, n_features: int, memory: Memory) -> LinearLearner:
    """Restore a learner from `pack_linear`."""
    return _unpacked(LinearLearner, settings, tensors, n_features, memory)


def _unpacked(make: type[L], settings: Settings, tensors: Tensors, n_features: int, memory: Memory, **own: Any) -> L:
    """Restore a linear learner of any class. own: arguments that only this class has."""
    common, dense = unpack_common(settings), settings.flag("dense")
    n_classes = common["n_classes"]
    if settings.whole("n_features") != n_features:
        raise ValueError(f"n_features must be {n_features}, got {settings.whole('n_features')}")
    shape = (n_features + 1,) if n_classes <= 2 else (n_features + 1, n_classes)
    scaling = settings.number("intercept_scaling", 0.0, LARGEST) if "intercept_scaling" in settings.found else 1.0
    if scaling == 0.0:
        raise ValueError("intercept_scaling must be > 0")
    # Weights follow; allocate nothing yet.
    scale = settings.choice("scale", ("none", "online")) if "scale" in settings.found else "none"
    learner = make(**common, n_features=0, dense=dense, intercept_scaling=scaling, scale=scale, **own)
    state, steps = learner.state, list[Step]()
    unpack_totals(settings, learner.totals)
    if learner.readout.by_vote:
        steps = _steps(settings.any("steps"), tensors, n_features, n_classes, learner.totals.averaged)
        learner.readout.set_steps(steps)
    memory.take(without_zeros(tensors, state.shapes(shape)) + for_products([step.rows for step in steps]))
    for name, kind in list(state.kinds.items()):
        if name in state or name in tensors or f"{name}.index" in tensors:
            layout = state.layout if kind.by_row else "C"
            state.hold(name, unpack_weights(tensors, name, state.shapes(shape)[name], layout), kind)
    state.fresh = _fresh(state, tensors, n_classes)
    learner.shape.check(state)
    if learner.scales_online:
        running.check(state)
    learner.n_features, learner.burn_in = n_features, settings.whole("burn_in", -(2**63))
    return learner


def _fresh(state: State, tensors: Tensors, n_classes: int) -> dict[str, Array]:
    """Restore the rows of features that were never seen."""
    found = {name: f"{name}.fresh" for name in state if f"{name}.fresh" in tensors}
    rows = {name: take(tensors, key, "f8", (n_classes,))[np.newaxis] for name, key in found.items()}
    if not all((row > 0.0).all() for row in rows.values()):
        raise ValueError("numbers for features that were never seen must be > 0")
    return rows


def pack_values(learner: ValueLearner, drop_zeros: bool) -> tuple[dict[str, Any], Tensors]:
    """Convert a learner of values to settings and arrays."""
    settings, tensors = pack_linear(learner, drop_zeros)
    unit = {name: to_json(float(value), name) for name, value in learner.unit._asdict().items()}
    return {**settings, "epsilon": to_json(float(learner.epsilon), "epsilon"), "unit": unit}, tensors


def unpack_values(settings: Settings, tensors: Tensors, n_features: int, memory: Memory) -> ValueLearner:
    """Restore a learner from `pack_values`."""
    unit, epsilon = settings.part("unit"), settings.number("epsilon", 0.0, LARGEST)
    settings.whole("n_classes", 2, 2)
    settings.choice("readout", [name for name, readout in READOUTS.items() if readout.over_structures])
    found = Unit(*(unit.number(name, -LARGEST, LARGEST) for name in Unit._fields))
    if not found.spread > 0:
        raise ValueError(f"the spread of values must be > 0, got {found.spread}")
    learner = _unpacked(ValueLearner, settings, tensors, n_features, memory, epsilon=epsilon)
    learner.unit = found
    return learner


def _steps(described: Any, tensors: Tensors, n_features: int, n_classes: int, seen: float) -> list[Step]:
    """Restore the updates of a voted readout."""
    if not isinstance(described, list):
        raise ValueError("steps must be a list")
    steps: list[Step] = []
    for number, entry in enumerate(described):
        name = f"steps.{number}"
        rows = unpack_rows(Settings(entry), tensors, name, n_features)
        log = take(tensors, f"{name}.log", "f8", (None, markers.COLUMNS))
        if len(log) == 0 or (steps and log[0, markers.AT] < steps[-1].log[-1, markers.AT]):
            raise ValueError(f"{name}.log must have updates that follow those of the step before")
        steps.append(Step(rows, checked_log(log, f"{name}.log", len(rows), n_classes, seen)))
    return steps
