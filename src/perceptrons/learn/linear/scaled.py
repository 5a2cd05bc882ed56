"""Rules that also scale w, which is kept as a number and a vector."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perceptrons.core.linear import shapes as entries
from perceptrons.data.arrays import Rows
from perceptrons.learn.linear.along import Along, Change, flat
from perceptrons.learn.readouts import Readout
from perceptrons.learn.shards.part import Part
from perceptrons.learn.state import FIXED, Floats, Ints, State


class Scaled(Along):
    """w = s·v, with v in the array w."""

    key = "scale"
    roundings = 4

    def refuse(self, readout: Readout, eta: float) -> None:
        name = type(self.rule).__name__
        if readout.by_vote:
            raise ValueError(
                f"readout={readout.name!r} does not combine with the rule {name}: votes are counted from steps along "
                "rows, and this rule also scales w. Use the readout 'averaged'"
            )
        if eta != 1.0:
            raise ValueError(f"eta0 must be 1 with the rule {name}, which sets the length of w itself, got {eta:g}")

    def begin(self, state: State) -> None:
        numbers = np.zeros(entries.ENTRIES)
        numbers[[entries.SCALE, entries.SUM, entries.ORIGIN, entries.OWN]] = 1.0
        state.hold("scale", numbers, FIXED)
        self.measure(state)

    def asked(
        self, state: State, rows: Rows, bias: float, margin: float, sq_norm: float, weight: float, moved: list[int]
    ) -> tuple[float, ...]:
        numbers = state["scale"]
        return margin, sq_norm, float(numbers[entries.SQ_LENGTH]), float(numbers[entries.STEPS]), weight

    def size(self, state: State) -> float:
        return float(state["scale"][entries.SCALE])

    def hypothesis(self, state: State) -> Floats:
        return np.asarray(self.size(state) * state["w"])

    def summed(self, state: State, seen: float) -> float:
        return float(state["scale"][entries.SUM])

    def begin_sum(self, state: State) -> None:
        state["scale"][entries.SUM] = state["scale"][entries.SCALE]

    def measure(self, state: State) -> None:
        w = self.hypothesis(state).ravel()
        w = w[w != 0.0]  # how NumPy groups a sum must not depend on the number of features that are still 0
        with np.errstate(over="ignore"):  # the pass will say so
            state["scale"][entries.SQ_LENGTH] = float((w * w).sum())
        state["scale"][entries.DOUBT] = 0.0

    def share_of_origin(self, state: State) -> float:
        return float(state["scale"][entries.ORIGIN])

    def set_origin(self, state: State) -> None:
        state["scale"][entries.ORIGIN] = 1.0

    def owns(self, state: State, all_entries: bool) -> None:
        state["scale"][entries.OWN] = float(all_entries)

    def sent(self, state: State) -> dict[str, Floats]:
        """The numbers for w itself in the place of v, so that s = 1."""
        numbers = state["scale"].copy()
        numbers[[entries.SCALE, entries.SUM, entries.ORIGIN, entries.OWN]] = 1.0
        return {"scale": numbers}

    def begin_kept(self, state: State) -> Floats:
        return np.copy(state["w"], order="K")

    def numbers(self, state: State, weight: float) -> dict[str, float]:
        numbers = state["scale"]
        return {"steps": weight * float(numbers[entries.STEPS]), "origin": weight * float(numbers[entries.ORIGIN])}

    def moved(self, change: Change) -> tuple[Ints | None, dict[str, Floats]]:
        state, before, weight, seen, _ = change
        w0 = flat(before["w"])
        found = {"moved": weight * (flat(self.hypothesis(state)) - w0)}
        if seen is not None:
            found["sums"] = self.summed(state, seen) * flat(state["w"]) - flat(state["kept"]) - seen * w0
        return None, found

    def mixed(self, state: State, part: Part, seen: float | None) -> dict[str, Floats]:
        """The mixed w in the place of v, with s = 1 and the mean numbers of steps and shares of the origin."""
        w0, weight, scale = self.hypothesis(state), part.numbers["weight"], state["scale"].copy()
        step = replace(part, arrays={**part.arrays, "moved": part.arrays["moved"] / weight})
        arrays = {"w": step.on(w0, "moved"), "scale": scale}
        if seen is not None:  # (T + N + 1)·w − kept′ = (Σ w_t so far) + N·w₀ + D
            so_far = scale[entries.SUM] * flat(state["w"]) - flat(state["kept"])
            total = so_far + part.numbers["averaged"] * flat(w0) + part.arrays["sums"]
            kept = arrays["kept"] = np.empty_like(w0, order="K")
            flat(kept)[:] = (seen + 1.0) * flat(arrays["w"]) - total
            scale[entries.SUM] = seen + 1.0
        scale[entries.SCALE], scale[entries.STEPS] = 1.0, part.numbers["steps"] / weight
        scale[entries.ORIGIN] *= part.numbers["origin"] / weight
        scale[entries.SQ_LENGTH], scale[entries.DOUBT] = float((arrays["w"] ** 2).sum()), 0.0
        return arrays

    def check(self, state: State) -> None:
        numbers = state["scale"]
        if not ((numbers >= 0.0) & (numbers < np.inf)).all() or numbers[entries.SCALE] == 0.0:
            raise ValueError("scale must have numbers >= 0 only, and the first of them > 0")
