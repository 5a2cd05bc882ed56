"""Learners in a kernel's feature space as settings and arrays: with all support rows, and with a budget."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from perceptrons.core.kernel import budget
from perceptrons.core.linear import readouts as keeping
from perceptrons.data import Rows
from perceptrons.learn.kernel.budget import POLICIES, BudgetLearner
from perceptrons.learn.kernel.feature_space import KERNELS
from perceptrons.learn.kernel.learner import KernelLearner
from perceptrons.learn.kernel.support import Support
from perceptrons.learn.readouts import Pocket, Voted
from perceptrons.store.format import Array, Tensors
from perceptrons.store.learners import MOST, checked_log, pack_common, set_counts, unpack_common
from perceptrons.store.rows import pack_rows, unpack_rows
from perceptrons.store.values import Settings, check_range, take, to_json

# Names of what a policy remembers, but for the slots in use, which are counted.
MEMORY = {
    "damage": budget.DAMAGE,
    "radius": budget.RADIUS,
    "projections": budget.PROJECTIONS,
    "residual": budget.RESIDUAL,
}
KEPT = ("born", "room", "table", "factor")  # arrays about the slots of a budget

# -- saving ---------------------------------------------------------------------------------------------------


def kind_of(learner: object) -> str:
    """Which of the two it is."""
    return "budget" if isinstance(learner, BudgetLearner) else "kernel"


def pack_expansion(learner: KernelLearner | BudgetLearner) -> tuple[dict[str, Any], Tensors]:
    """A learner in a kernel's feature space as settings and arrays."""
    kernel = learner.fixed["kernel"]
    if not isinstance(kernel, str):
        raise ValueError(
            f"kernel={kernel!r} is a function, and a model file holds no code: it cannot be saved. Kernels that can "
            f"be: {', '.join(KERNELS)}, and a precomputed one"
        )
    learner = copy.copy(learner)
    learner.seal()  # of the copy: the learner itself stays as it is
    settings = pack_common(learner)
    gamma = learner.fixed["gamma"]
    settings |= {"kernel": kernel, "gamma": gamma if isinstance(gamma, str) else to_json(float(gamma), "gamma")}
    settings |= {"degree": int(learner.fixed["degree"]), "coef0": float(learner.fixed["coef0"])}
    settings |= {"gamma_value": to_json(learner.space.gamma, "gamma"), "definite": learner.definite}
    settings |= {"given": int(learner.given), "pieces": []}
    tensors: Tensors = {"numbers": learner.numbers.astype(np.int64), "codes": learner.codes.astype(np.int64)}
    for number, piece in enumerate(learner.sealed.pieces):
        described, arrays = pack_rows(piece, f"pieces.{number}")
        settings["pieces"].append(described)
        tensors |= arrays
    optional = {"origin": learner.origin, "gram": learner.gram}
    tensors |= {name: array for name, array in optional.items() if array is not None}
    if isinstance(learner, BudgetLearner):
        return settings | _pack_budget(learner), tensors | _slots(learner)
    settings |= {"max_memory": int(learner.max_memory), "before": float(learner.before)}
    settings |= {"proved": float(learner.proved)}
    tensors |= {"alpha": learner.alpha, "kept": learner.kept}
    if isinstance(learner.readout, Voted):
        tensors["log"] = np.concatenate([np.empty((0, keeping.COLUMNS)), *learner.logs])
    return settings, tensors


def _pack_budget(learner: BudgetLearner) -> dict[str, Any]:
    return {
        "budget": int(learner.size),
        "policy": learner.fixed["policy"],
        "threshold": to_json(float(learner.fixed["threshold"]), "threshold"),
        "seed": int(getattr(learner.policy, "seed", 0)),
        "memory": {name: to_json(float(learner.memory[at]), name) for name, at in MEMORY.items()},
    }


def _slots(learner: BudgetLearner) -> Tensors:
    """What a budget keeps about the slots in use; those not in use yet are zeros."""
    used = len(learner.slots)
    kept = {}
    for name in KEPT:
        array = getattr(learner, name)
        square = slice(used) if name in ("table", "factor") else slice(None)
        kept[name] = array[:used] if array.ndim == 1 else array[:used, square]
    return {"slots": learner.slots.astype(np.int64), **kept}


# -- loading --------------------------------------------------------------------------------------------------


def unpack_kernel(settings: Settings, tensors: Tensors, n_features: int) -> KernelLearner:
    """The learner with all support rows that `pack_expansion` was given."""
    learner = KernelLearner(**_shared(settings), max_memory=settings.whole("max_memory", high=2**200))
    size = _set_support(learner, settings, tensors, n_features)
    shape = learner.zeros(0).shape[1:]
    learner.alpha = take(tensors, "alpha", "f8", (size, *shape))
    pocket = isinstance(learner.readout, Pocket)
    learner.kept = take(tensors, "kept", "f8", (None if pocket else size, *shape))
    if len(learner.kept) > size:
        raise ValueError(f"kept must have at most {size} lines, got {len(learner.kept)}")
    learner.before, learner.proved = (np.float64(settings.number(name, 0, MOST)) for name in ("before", "proved"))
    if isinstance(learner.readout, Voted):
        log = take(tensors, "log", "f8", (None, keeping.COLUMNS))
        learner.logs = [checked_log(log, "log", size, learner.n_classes)]
    return learner


def unpack_budget(settings: Settings, tensors: Tensors, n_features: int) -> BudgetLearner:
    """The learner with a budget that `pack_expansion` was given."""
    policy = settings.choice("policy", list(POLICIES))
    shared = _shared(settings)
    if shared["readout"] != "last":
        raise ValueError(f"a budget goes with readout 'last', got {shared['readout']!r}")
    if policy == "forgetron" and shared["n_classes"] > 2:
        raise ValueError(f"policy 'forgetron' is for two classes, got {shared['n_classes']}")
    learner = BudgetLearner(
        **shared,
        budget=settings.whole("budget", 1),
        policy=policy,
        threshold=settings.number("threshold"),
        seed=settings.whole("seed", 0, 2**64 - 1),
    )
    size = _set_support(learner, settings, tensors, n_features)
    if size > learner.size:
        raise ValueError(f"there are {size} support rows, more than the budget of {learner.size}")
    slots = take(tensors, "slots", "i8", (size,))
    if not np.array_equal(np.sort(slots), np.arange(size)):  # compiled code looks into all of them
        raise ValueError(f"slots must be the numbers from 0 to {size - 1}")
    learner.slots = slots.astype(np.intp, copy=False)
    table = 0 if policy == "random" else size
    factor = size if policy.startswith("projectron") else 0
    learner.born = take(tensors, "born", "f8", (size,))
    learner.room = take(tensors, "room", "f8", (size, *learner.zeros(0).shape[1:]))
    learner.table = take(tensors, "table", "f8", (table, table))
    learner.factor = take(tensors, "factor", "f8", (factor, factor))
    memory = settings.part("memory")
    for name, at in MEMORY.items():
        learner.memory[at] = memory.number(name, -MOST if name == "damage" else 0)
    learner.memory[budget.USED] = size
    learner.alpha, learner.kept = learner.room[learner.slots], learner.zeros(size)
    return learner


def _shared(settings: Settings) -> dict[str, Any]:
    """What the constructors of both learners take. γ is the number that was worked out from rows of the time."""
    return {
        **unpack_common(settings),
        "kernel": settings.choice("kernel", [*KERNELS, "precomputed"]),
        "gamma": settings.number("gamma_value"),
        "degree": settings.whole("degree"),
        "coef0": settings.number("coef0", -np.inf),
        "rows": Rows(np.empty((0, 1)), None, None, 1, np.empty(0)),
    }


def _set_support(learner: KernelLearner | BudgetLearner, settings: Settings, tensors: Tensors, n_features: int) -> int:
    """Give a learner its support rows and what is known about them; returns how many there are."""
    set_counts(learner, settings)
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
        if precomputed:  # rows are numbers of columns
            check_range(f"pieces.{number}", piece.values, n_features)
        learner.sealed.pieces.append(piece)
    size = len(learner.sealed)
    learner.numbers = _numbers(tensors, "numbers", size, MOST)
    learner.codes = _numbers(tensors, "codes", size, learner.n_classes)
    if "origin" in tensors:
        learner.origin = take(tensors, "origin", "f8", (None, *learner.zeros(0).shape[1:]))
        if len(learner.origin) > size:
            raise ValueError(f"origin must have at most {size} lines, got {len(learner.origin)}")
    if precomputed:
        learner.gram = take(tensors, "gram", "f8", (size, size))
    return size


def _numbers(tensors: Tensors, name: str, size: int, below: int) -> Array:
    array = take(tensors, name, "i8", (size,))
    check_range(name, array, below)
    return array.astype(np.intp, copy=False)
