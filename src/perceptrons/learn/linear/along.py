"""Rules that step along x and keep nothing besides w; the base class of what other rules keep.

Functions about mixing: see `mixing`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from perceptrons.data.arrays import Rows
from perceptrons.learn.readouts import Readout
from perceptrons.learn.shards.part import Part
from perceptrons.learn.state import Floats, Ints, State


class Change(NamedTuple):
    """What a shard has done in an epoch."""

    state: State
    before: Mapping[str, Floats]  # arrays at the beginning
    weight: float  # how much the shard counts
    seen: float | None  # number of examples, if there are averages
    among: Ints | None = None  # entries outside of which nothing has changed, if they are known


class Along:
    """Nothing: steps go along x, w − w_0 = Σ τ_t·y_t·x_t."""

    key: ClassVar[str | None] = None  # name of its array in the state
    proves = True  # whether ‖w − w_0‖/Στ bounds the margin
    touches_all = False  # whether a step changes weights of features that its row does not have
    roundings = 1  # of w in a step, at most
    advice: ClassVar[dict[str, Any]] = {}  # entries of `Words` that differ

    def __init__(self, rule: Any) -> None:
        self.rule = rule

    def begin(self, state: State) -> None:
        """Make the array, for the w in the state."""

    def room(self, state: State) -> Floats | None:
        """Room for a pass to work in."""
        return None

    def refuse(self, readout: Readout, eta: float) -> None:
        """Raise an error for settings that do not combine with the rule."""

    def check_memory(self, n_weights: int, n_classes: int) -> None:
        """Raise an error if this many weights, for this many classes, need more memory than the machine has."""

    def size(self, state: State) -> float:
        """s: w is s times the array w."""
        return 1.0

    def hypothesis(self, state: State) -> Floats:
        """w."""
        return state["w"]

    def summed(self, state: State, seen: float) -> float:
        """The factor S of the averaged readout: the sum of all hypotheses is S·(the array w) − kept."""
        return seen + 1.0

    def begin_sum(self, state: State) -> None:
        """Called when the averaged readout begins."""

    def measure(self, state: State) -> None:
        """Called when w was changed other than by a step."""

    def share_of_origin(self, state: State) -> float:
        """What is left of w_0 in w."""
        return 1.0

    def set_origin(self, state: State) -> None:
        """Measure `share_of_origin` from here."""

    def owns(self, state: State, all_entries: bool) -> None:
        """Note whether steps may change all entries of w, or a caller has saved only those of its rows."""

    def variances(self, state: State, rows: Rows, bias: float) -> Floats | None:
        """The variance of each score, one column per weight vector; None if the rule keeps none."""
        return None

    def asked(
        self, state: State, rows: Rows, bias: float, margin: float, sq_norm: float, weight: float, moved: list[int]
    ) -> tuple[float, ...]:
        """The arguments of the rule's formula for one row that would move these weight vectors."""
        return margin, sq_norm, weight

    def check(self, state: State) -> None:
        """Raise an error if the array, which was read from a file, cannot have been made by steps."""

    # -- mixing: see `mixing` ---------------------------------------------------------------------------------

    def sent(self, state: State) -> dict[str, Floats]:
        """What shards need besides w."""
        return {}

    def begin_kept(self, state: State) -> Floats:
        """The array `kept` of a shard, before its first example."""
        return np.zeros_like(state["w"])

    def numbers(self, state: State, weight: float) -> dict[str, float]:
        """Numbers of a shard that are added up."""
        return {}

    def moved(self, change: Change) -> tuple[Ints | None, dict[str, Floats]]:
        """What a shard has changed: the entries (None: all), and what is to be added up of each.

        These are k·δ ("moved") and, for averages, D = Σ_t (w_t − w₀) ("sums").
        """
        state, before, weight, seen, among = change
        w, w0 = some(state["w"], among), some(before["w"], among)
        kept = None if seen is None else some(state["kept"], among)
        changed = np.flatnonzero(w != w0 if kept is None else (w != w0) | (kept != 0.0))
        delta = w[changed] - w0[changed]
        keys = changed if among is None else among[changed]
        return keys, {"moved": weight * delta, **sums(delta, kept, changed, seen)}

    def mixed(self, state: State, part: Part, seen: float | None) -> dict[str, Floats]:
        """The arrays of the mixed hypothesis; `seen`: number of examples in the mean, if there is one."""
        step = replace(part, arrays={**part.arrays, "moved": part.arrays["moved"] / part.numbers["weight"]})
        return {"w": step.on(state["w"], "moved"), **mixed_sum(state, step, seen)}


def flat(array: Floats) -> Floats:
    """All entries in the order of memory."""
    return array.ravel(order="K")


def some(array: Floats, among: Ints | None) -> Floats:
    """Some entries, by their numbers in the order of memory; None: all."""
    return flat(array) if among is None else flat(array)[among]


def sums(delta: Floats, kept: Floats | None, keys: Any, seen: float | None) -> dict[str, Floats]:
    """D = (n + 1)·δ − kept, if there are averages."""
    return {} if kept is None or seen is None else {"sums": (seen + 1.0) * delta - kept[keys]}


def mixed_sum(state: State, step: Part, seen: float | None) -> dict[str, Floats]:
    """The array `kept` after an epoch, if there are averages.

    Before, Σ w_t = (T + 1)·w₀ − kept. After N more examples, Σ w_t + N·w₀ + D = (T + N + 1)·(w₀ + δ) − kept′, so that
    kept′ = kept + (T + N + 1)·δ − D.
    """
    if seen is None:
        return {}
    change = (seen + 1.0) * step.arrays["moved"] - step.arrays["sums"]
    return {"kept": replace(step, arrays={"kept": change}).on(state["kept"], "kept")}
