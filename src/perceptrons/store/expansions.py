"""Kernel learners as settings and arrays, with and without a budget."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from perceptrons.core.kernel import budget
from perceptrons.core.linear import readouts as markers
from perceptrons.data import Rows
from perceptrons.learn.kernel.budget import POLICIES, BudgetLearner
from perceptrons.learn.kernel.feature_space import KERNELS
from perceptrons.learn.kernel.learner import KernelLearner
from perceptrons.learn.kernel.support import Support
from perceptrons.store.format import Array, Tensors
from perceptrons.store.learners import checked_log, pack_common, unpack_common, unpack_totals
from perceptrons.store.memory import Memory
from perceptrons.store.rows import for_products, pack_rows, unpack_rows
from perceptrons.store.values import MOST, Settings, check_range, take, to_json

Expanded = KernelLearner | BudgetLearner
# Older files have the memory of policies in the settings; these are the positions of its entries.
MEMORY = {
    "damage": budget.DAMAGE,
    "radius": budget.RADIUS,
    "projections": budget.PROJECTIONS,
    "residual": budget.RESIDUAL,
}

# -- saving ---------------------------------------------------------------------------------------------------


def kind_of(learner: object) -> str:
    """The kind of a kernel learner: budget or kernel."""
    return "budget" if isinstance(learner, BudgetLearner) else "kernel"


def pack_expansion(learner: Expanded) -> tuple[dict[str, Any], Tensors]:
    """Convert a kernel learner to settings and arrays."""
    kernel = learner.fixed["kernel"]
    if not isinstance(kernel, str):
        raise ValueError(
            f"kernel={kernel!r} cannot be saved: it is a function, and model files hold no code. Use one of "
            f"{', '.join(KERNELS)}, or a precomputed kernel"
        )
    learner = copy.copy(learner)
    learner.seal()  # seals the copy; the learner itself does not change
    settings = pack_common(learner)
    gamma = learner.fixed["gamma"]
    settings |= {"kernel": kernel, "gamma": gamma if isinstance(gamma, str) else to_json(float(gamma), "gamma")}
    settings |= {"degree": int(learner.fixed["degree"]), "coef0": float(learner.fixed["coef0"])}
    settings |= {"gamma_value": to_json(learner.space.gamma, "gamma"), "definite": learner.definite}
    settings |= {"given": int(learner.given), "pieces": []}
    tensors: Tensors = {}
    for number, piece in enumerate(learner.sealed.pieces):
        described, arrays = pack_rows(piece, f"pieces.{number}")
        settings["pieces"].append(described)
        tensors |= arrays
    if learner.gram is not None:
        tensors["gram"] = learner.gram
    state = learner.compact()
    tensors |= {name: state[name] if state[name].dtype.kind == "f" else state[name].astype(np.int64) for name in state}
    if isinstance(learner, BudgetLearner):
        settings |= {"budget": int(learner.budget), "policy": learner.fixed["policy"]}
        settings |= {"threshold": to_json(float(learner.fixed["threshold"]), "threshold")}
        return settings | {"seed": int(getattr(learner.policy, "seed", 0))}, tensors
    settings |= {"max_memory": int(learner.max_memory), "before": float(learner.before)}
    settings |= {"proved": float(learner.proved)}
    if learner.readout.by_vote:
        tensors["log"] = learner.readout.log
    return settings, tensors


# -- loading --------------------------------------------------------------------------------------------------


def unpack_kernel(settings: Settings, tensors: Tensors, n_features: int, memory: Memory) -> KernelLearner:
    """Restore a learner without a budget from `pack_expansion`."""
    learner = KernelLearner(**_shared(settings), max_memory=settings.whole("max_memory", high=2**200))
    size = _set_support(learner, settings, tensors, n_features, memory)
    for name in ("alpha", "kept"):
        learner.state[name] = take(tensors, name, "f8", (size, *_classes(learner)))
    learner.before, learner.proved = (settings.number(name, 0, MOST) for name in ("before", "proved"))
    if learner.readout.by_vote:
        log = take(tensors, "log", "f8", (None, markers.COLUMNS))
        learner.readout = learner.readout.with_log(
            checked_log(log, "log", size, learner.n_classes, learner.totals.averaged)
        )
    return learner


def _classes(learner: Expanded) -> tuple[int, ...]:
    """The shape of coefficients after the axis of rows."""
    return learner.zeros(0).shape[1:]


def unpack_budget(settings: Settings, tensors: Tensors, n_features: int, memory: Memory) -> BudgetLearner:
    """Restore a learner with a budget from `pack_expansion`."""
    policy = settings.choice("policy", list(POLICIES))
    shared = _shared(settings)
    if shared["readout"] != "last":
        raise ValueError(f"a budget needs readout 'last', got {shared['readout']!r}")
    if policy == "forgetron" and shared["n_classes"] > 2:
        raise ValueError(f"policy 'forgetron' is for two classes, got {shared['n_classes']}")
    learner = BudgetLearner(
        **shared,
        budget=settings.whole("budget", 1),
        policy=policy,
        threshold=settings.number("threshold"),
        seed=settings.whole("seed", 0, 2**64 - 1),
    )
    size, state = _set_support(learner, settings, tensors, n_features, memory), learner.state
    if size > learner.budget:
        raise ValueError(f"there are {size} support rows, more than the budget of {learner.budget}")
    state["slots"] = slots = take(tensors, "slots", "i8", (size,)).astype(np.intp, copy=False)
    if not np.array_equal(np.sort(slots), np.arange(size)):  # compiled code uses them as indices, unchecked
        raise ValueError(f"slots must be the numbers from 0 to {size - 1}")
    table, factor = (0 if policy == "random" else size), (size if learner.projects else 0)
    state["born"] = take(tensors, "born", "f8", (size,))
    state["room"] = take(tensors, "room", "f8", (size, *_classes(learner)))
    state["table"] = take(tensors, "table", "f8", (table, table))
    state["factor"] = take(tensors, "factor", "f8", (factor, factor))
    if "memory" in settings.found:
        for name, at in MEMORY.items():
            state["memory"][at] = settings.part("memory").number(name, -MOST if name == "damage" else 0)
    else:
        state["memory"] = take(tensors, "memory", "f8", (budget.SIZE,))
        if not np.isfinite(state["memory"]).all():
            raise ValueError("memory must be finite")
    state["memory"][budget.USED] = size
    state["alpha"], state["kept"] = state["room"][slots], learner.zeros(size)
    return learner


def _shared(settings: Settings) -> dict[str, Any]:
    """Arguments for the constructors of both learners. γ is the number computed from the first rows."""
    return {
        **unpack_common(settings),
        "kernel": settings.choice("kernel", [*KERNELS, "precomputed"]),
        "gamma": settings.number("gamma_value"),
        "degree": settings.whole("degree"),
        "coef0": settings.number("coef0", -np.inf),
        "rows": Rows(np.empty((0, 1)), None, None, 1, np.empty(0)),
    }


def _set_support(learner: Expanded, settings: Settings, tensors: Tensors, n_features: int, memory: Memory) -> int:
    """Give a learner its support rows and their facts; returns the number of support rows."""
    unpack_totals(settings, learner.totals)
    gamma = settings.any("gamma")
    learner.fixed["gamma"] = gamma if gamma in ("scale", "auto") else settings.number("gamma")
    learner.definite = settings.flag("definite")
    learner.given = settings.whole("given", high=MOST)
    precomputed = learner.space.kernel == "precomputed"
    described = settings.any("pieces")
    if not isinstance(described, list):
        raise ValueError("pieces must be a list")
    learner.sealed = Support(learner.space)
    for number, entry in enumerate(described):
        piece = unpack_rows(Settings(entry), tensors, f"pieces.{number}", 1 if precomputed else n_features)
        if len(piece) == 0:
            raise ValueError(f"pieces.{number} has no rows")
        if precomputed:  # each row is the number of a column
            check_range(f"pieces.{number}", piece.values, n_features)
        learner.sealed.pieces.append(piece)
    memory.take(for_products(learner.sealed.pieces))
    size = len(learner.sealed)
    state = learner.state
    state["numbers"] = _numbers(tensors, "numbers", size, MOST)
    state["codes"] = _numbers(tensors, "codes", size, learner.n_classes)
    if "origin" in tensors:
        origin = take(tensors, "origin", "f8", (None, *_classes(learner)))
        if len(origin) > size:
            raise ValueError(f"origin must have at most {size} lines, got {len(origin)}")
        state["origin"] = np.concatenate([origin, learner.zeros(size - len(origin))])
    if precomputed:
        learner.gram = take(tensors, "gram", "f8", (size, size))
    return size


def _numbers(tensors: Tensors, name: str, size: int, below: int) -> Array:
    array = take(tensors, name, "i8", (size,))
    check_range(name, array, below)
    return array.astype(np.intp, copy=False)
