"""Rules that keep a covariance of the weights: of each by itself, or of all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from perceptrons.core.linear.passes import variances
from perceptrons.data.arrays import Rows
from perceptrons.data.whole import memory
from perceptrons.learn.linear.along import Along, Change, flat, mixed_sum, some, sums
from perceptrons.learn.readouts import Readout
from perceptrons.learn.shards.part import Part
from perceptrons.learn.state import Floats, Ints, Kind, State

VANISHED = 1e-150  # smaller variances are mixed as if they were this large


class Metric(Along):
    """A covariance of the weights."""

    proves = False
    advice: ClassVar[dict[str, Any]] = {
        "stuck": "the variances of the misclassified rows have vanished, or these rows are zero",
        "unstick": "the rule 'arow', or 'scw1' with a small C, which contradicting rows do not stop",
    }

    def refuse(self, readout: Readout, eta: float) -> None:
        if readout.by_vote:
            raise ValueError(
                f"readout={readout.name!r} does not combine with the rule {type(self.rule).__name__}: votes are "
                "counted from steps along rows, and this rule's steps are along Σx. Use the readout 'averaged'"
            )

    def asked(
        self, state: State, rows: Rows, bias: float, margin: float, sq_norm: float, weight: float, moved: list[int]
    ) -> tuple[float, ...]:
        found = self.variances(state, rows, bias)
        return margin, 0.0 if found is None else float(found[0, moved].sum()), weight

    @property
    def start(self) -> float:
        """The variance of a weight before the first step: 1/a."""
        return 1.0 / float(getattr(self.rule, "a", 1.0))


class Diagonal(Metric):
    """The variance of each weight."""

    key = "variance"

    def begin(self, state: State) -> None:
        w, kind = state["w"], Kind(degree=2, signed=False, fill=self.start)
        state.hold("variance", np.full(w.shape, self.start, order=state.layout), kind)

    def variances(self, state: State, rows: Rows, bias: float) -> Floats | None:
        return np.asarray(variances(*rows.arrays, bias, state["w"], state["variance"], np.empty((1, 1))))

    def check(self, state: State) -> None:
        if not ((state["variance"] >= 0.0) & (state["variance"] < np.inf)).all():
            raise ValueError("variance must have numbers >= 0 only")

    def sent(self, state: State) -> dict[str, Floats]:
        return {"variance": state["variance"]}

    def moved(self, change: Change) -> tuple[Ints | None, dict[str, Floats]]:
        """P·δ, and the precisions that were gained, P − P₀; the number of updates does not count."""
        state, before, _, seen, among = change
        w, w0 = some(state["w"], among), some(before["w"], among)
        variance, variance0 = some(state["variance"], among), some(before["variance"], among)
        kept = None if seen is None else some(state["kept"], among)
        differs = (w != w0) | (variance != variance0)
        changed = np.flatnonzero(differs if kept is None else differs | (kept != 0.0))
        delta, precision = w[changed] - w0[changed], _precision(variance[changed])
        gain = np.where(variance[changed] == variance0[changed], 0.0, precision - _precision(variance0[changed]))
        keys = changed if among is None else among[changed]
        return keys, {"moved": precision * delta, "gain": gain, **sums(delta, kept, changed, seen)}

    def mixed(self, state: State, part: Part, seen: float | None) -> dict[str, Floats]:
        """w₀ + Σ P_i·δ_i/Σ P_i with Σ P_i = S·P₀ + Σ (P_i − P₀); and the precision P₀ + Σ (P_i − P₀)."""
        gain, variance = part.arrays["gain"], state["variance"].copy(order="K")
        at = ... if part.keys is None else part.keys
        before = _precision(flat(variance)[at])
        moved = part.arrays["moved"] / (part.numbers["shards"] * before + gain)
        flat(variance)[at] = np.where(gain == 0.0, flat(variance)[at], 1.0 / (before + gain))
        step = replace(part, arrays={**part.arrays, "moved": moved})
        return {"w": step.on(state["w"], "moved"), "variance": variance, **mixed_sum(state, step, seen)}


def _precision(variance: Floats) -> Floats:
    """1/σ; contradicting rows may make variances vanish."""
    return np.asarray(1.0 / np.maximum(variance, VANISHED))


class Full(Metric):
    """A square root S of the covariance of all weights, Σ = SSᵀ; one per class, if there are several."""

    key = "root"
    touches_all = True

    def begin(self, state: State) -> None:
        w, fill = state["w"], self.start**0.5
        self.check_memory(len(w), w.size // len(w))
        root = fill * np.eye(len(w))
        if w.ndim == 2:
            root = np.repeat(root[np.newaxis], w.shape[1], axis=0)
        state.hold("root", root, Kind(degree=1, by_row=False, signed=False, fill=fill, square=True))

    def check_memory(self, n_weights: int, n_classes: int) -> None:
        needed = 8 * n_weights**2 * (n_classes if n_classes > 2 else 1)
        if needed > memory():
            raise ValueError(
                f"covariance='full' needs {needed / 1e9:,.0f} GB for {n_weights - 1:,} features, the square of their "
                "number for each weight vector: use covariance='diagonal'"
            )

    def room(self, state: State) -> Floats | None:
        return np.empty((4, len(state["w"])))

    def variances(self, state: State, rows: Rows, bias: float) -> Floats | None:
        return np.asarray(variances(*rows.arrays, bias, state["w"], state["root"], np.empty((1, len(state["w"])))))

    def check(self, state: State) -> None:
        if not np.isfinite(state["root"]).all():
            raise ValueError("root must have finite numbers only")

    def sent(self, state: State) -> dict[str, Floats]:
        return {"root": state["root"]}

    def moved(self, change: Change) -> tuple[Ints | None, dict[str, Floats]]:
        """P·δ, and the precisions that were gained, P − P₀, of each weight vector."""
        state, before, _, seen, _ = change
        delta = (state["w"] - before["w"]).reshape(len(state["w"]), -1)
        precision, precision0 = _precisions(state["root"]), _precisions(before["root"])
        moved = np.einsum("cij,jc->ic", precision, delta).reshape(state["w"].shape)
        found = {"moved": flat(np.asarray(moved, order=state.layout)), "gain": precision - precision0}
        more = {} if seen is None else sums(flat(state["w"] - before["w"]), flat(state["kept"]), slice(None), seen)
        return None, found | more

    def mixed(self, state: State, part: Part, seen: float | None) -> dict[str, Floats]:
        w, gain = state["w"], part.arrays["gain"]
        moved = np.empty_like(w, order="K")
        flat(moved)[:] = part.arrays["moved"]
        before = _precisions(state["root"])
        total = part.numbers["shards"] * before + gain
        delta = np.linalg.solve(total, moved.reshape(len(w), -1).T[..., np.newaxis])[..., 0].T.reshape(w.shape)
        root = np.ascontiguousarray(_root(before + gain).reshape(state["root"].shape))
        step = replace(part, arrays={**part.arrays, "moved": flat(np.asarray(delta, order=state.layout))})
        return {"w": step.on(w, "moved"), "root": root, **mixed_sum(state, step, seen)}


def _precisions(root: Floats) -> Floats:
    """Σ⁻¹ of each weight vector: S⁻ᵀS⁻¹."""
    inverse = np.linalg.inv(root.reshape(-1, *root.shape[-2:]))
    return np.asarray(inverse.transpose(0, 2, 1) @ inverse)


def _root(precisions: Floats) -> Floats:
    """A square root of each inverse, V·Λ^(−1/2); rounding errors that make a precision negative are corrected."""
    values, vectors = np.linalg.eigh((precisions + precisions.transpose(0, 2, 1)) / 2)
    values = np.maximum(values, np.finfo(np.float64).eps * values[:, -1:])
    return np.asarray(vectors / np.sqrt(values)[:, np.newaxis])
