"""What a linear learner keeps for its rule, besides w: see `core.linear.shapes`.

Learning asks only here for the kind of a rule.

To add a kind, write a class here, its part in `core.linear.shapes`, and a line in `shape_of`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from perceptrons.core.linear import shapes as entries
from perceptrons.core.linear.passes import variances
from perceptrons.data.arrays import Rows
from perceptrons.data.whole import memory
from perceptrons.learn.readouts import Readout
from perceptrons.learn.shards.part import Part
from perceptrons.learn.state import FIXED, Floats, Ints, Kind, State
from perceptrons.rules import CHOICES, kind_of

VANISHED = 1e-150  # smaller variances are mixed as if they were this large


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

    def moved(
        self,
        state: State,
        before: Mapping[str, Floats],
        weight: float,
        seen: float | None,
        among: Ints | None = None,
    ) -> tuple[Ints | None, dict[str, Floats]]:
        """What a shard has changed since `before`: the entries (None: all), and what is to be added up of each.

        These are k·δ ("moved") and, after `seen` examples, D = Σ_t (w_t − w₀) ("sums"); no sums if seen is None.
        among: entries outside of which nothing has changed, if they are known.
        """
        w, w0 = _some(state["w"], among), _some(before["w"], among)
        kept = None if seen is None else _some(state["kept"], among)
        changed = np.flatnonzero(w != w0 if kept is None else (w != w0) | (kept != 0.0))
        delta = w[changed] - w0[changed]
        keys = changed if among is None else among[changed]
        return keys, {"moved": weight * delta, **_sums(delta, kept, changed, seen)}

    def mixed(self, state: State, part: Part, seen: float | None) -> dict[str, Floats]:
        """The arrays of the mixed hypothesis; `seen`: number of examples in the mean, if there is one."""
        step = replace(part, arrays={**part.arrays, "moved": part.arrays["moved"] / part.numbers["weight"]})
        return {"w": step.on(state["w"], "moved"), **_mixed_sum(state, step, seen)}


def _flat(array: Floats) -> Floats:
    """All entries in the order of memory."""
    return array.ravel(order="K")


def _some(array: Floats, among: Ints | None) -> Floats:
    """Some entries, by their numbers in the order of memory; None: all."""
    return _flat(array) if among is None else _flat(array)[among]


def _sums(delta: Floats, kept: Floats | None, keys: Any, seen: float | None) -> dict[str, Floats]:
    """D = (n + 1)·δ − kept, if there are averages."""
    return {} if kept is None or seen is None else {"sums": (seen + 1.0) * delta - kept[keys]}


def _mixed_sum(state: State, step: Part, seen: float | None) -> dict[str, Floats]:
    """The array `kept` after an epoch, if there are averages.

    Before, Σ w_t = (T + 1)·w₀ − kept. After N more examples, Σ w_t + N·w₀ + D = (T + N + 1)·(w₀ + δ) − kept′, so that
    kept′ = kept + (T + N + 1)·δ − D.
    """
    if seen is None:
        return {}
    change = (seen + 1.0) * step.arrays["moved"] - step.arrays["sums"]
    return {"kept": replace(step, arrays={"kept": change}).on(state["kept"], "kept")}


class Metric(Along):
    """A covariance of the weights."""

    proves = False
    advice: ClassVar[dict[str, Any]] = {
        "other_space": "an averaged or pocket readout, or nonlinear features (a kernel)",
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

    def moved(
        self,
        state: State,
        before: Mapping[str, Floats],
        weight: float,
        seen: float | None,
        among: Ints | None = None,
    ) -> tuple[Ints | None, dict[str, Floats]]:
        """P·δ, and the precisions that were gained, P − P₀; the number of updates does not count."""
        w, w0 = _some(state["w"], among), _some(before["w"], among)
        variance, variance0 = _some(state["variance"], among), _some(before["variance"], among)
        kept = None if seen is None else _some(state["kept"], among)
        differs = (w != w0) | (variance != variance0)
        changed = np.flatnonzero(differs if kept is None else differs | (kept != 0.0))
        delta, precision = w[changed] - w0[changed], _precision(variance[changed])
        gain = np.where(variance[changed] == variance0[changed], 0.0, precision - _precision(variance0[changed]))
        keys = changed if among is None else among[changed]
        return keys, {"moved": precision * delta, "gain": gain, **_sums(delta, kept, changed, seen)}

    def mixed(self, state: State, part: Part, seen: float | None) -> dict[str, Floats]:
        """w₀ + Σ P_i·δ_i/Σ P_i with Σ P_i = S·P₀ + Σ (P_i − P₀); and the precision P₀ + Σ (P_i − P₀)."""
        gain, variance = part.arrays["gain"], state["variance"].copy(order="K")
        at = ... if part.keys is None else part.keys
        before = _precision(_flat(variance)[at])
        moved = part.arrays["moved"] / (part.numbers["shards"] * before + gain)
        _flat(variance)[at] = np.where(gain == 0.0, _flat(variance)[at], 1.0 / (before + gain))
        step = replace(part, arrays={**part.arrays, "moved": moved})
        return {"w": step.on(state["w"], "moved"), "variance": variance, **_mixed_sum(state, step, seen)}


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

    def moved(
        self,
        state: State,
        before: Mapping[str, Floats],
        weight: float,
        seen: float | None,
        among: Ints | None = None,
    ) -> tuple[Ints | None, dict[str, Floats]]:
        """P·δ, and the precisions that were gained, P − P₀, of each weight vector."""
        delta = (state["w"] - before["w"]).reshape(len(state["w"]), -1)
        precision, precision0 = _precisions(state["root"]), _precisions(before["root"])
        moved = np.einsum("cij,jc->ic", precision, delta).reshape(state["w"].shape)
        found = {"moved": _flat(np.asarray(moved, order=state.layout)), "gain": precision - precision0}
        sums = {} if seen is None else _sums(_flat(state["w"] - before["w"]), _flat(state["kept"]), slice(None), seen)
        return None, found | sums

    def mixed(self, state: State, part: Part, seen: float | None) -> dict[str, Floats]:
        w, gain = state["w"], part.arrays["gain"]
        moved = np.empty_like(w, order="K")
        _flat(moved)[:] = part.arrays["moved"]
        before = _precisions(state["root"])
        total = part.numbers["shards"] * before + gain
        delta = np.linalg.solve(total, moved.reshape(len(w), -1).T[..., np.newaxis])[..., 0].T.reshape(w.shape)
        root = np.ascontiguousarray(_root(before + gain).reshape(state["root"].shape))
        step = replace(part, arrays={**part.arrays, "moved": _flat(np.asarray(delta, order=state.layout))})
        return {"w": step.on(w, "moved"), "root": root, **_mixed_sum(state, step, seen)}


def _precisions(root: Floats) -> Floats:
    """Σ⁻¹ of each weight vector: S⁻ᵀS⁻¹."""
    inverse = np.linalg.inv(root.reshape(-1, *root.shape[-2:]))
    return np.asarray(inverse.transpose(0, 2, 1) @ inverse)


def _root(precisions: Floats) -> Floats:
    """A square root of each inverse, V·Λ^(−1/2); rounding errors that make a precision negative are corrected."""
    values, vectors = np.linalg.eigh((precisions + precisions.transpose(0, 2, 1)) / 2)
    values = np.maximum(values, np.finfo(np.float64).eps * values[:, -1:])
    return np.asarray(vectors / np.sqrt(values)[:, np.newaxis])


class Scaled(Along):
    """w = s·v, with v in the array w."""

    key = "scale"
    roundings = 4
    advice: ClassVar[dict[str, Any]] = {"other_space": Metric.advice["other_space"]}

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
        with np.errstate(over="ignore"):  # the pass will say so
            state["scale"][entries.SQ_LENGTH] = float((self.hypothesis(state) ** 2).sum())
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

    def moved(
        self,
        state: State,
        before: Mapping[str, Floats],
        weight: float,
        seen: float | None,
        among: Ints | None = None,
    ) -> tuple[Ints | None, dict[str, Floats]]:
        w0 = _flat(before["w"])
        found = {"moved": weight * (_flat(self.hypothesis(state)) - w0)}
        if seen is not None:
            found["sums"] = self.summed(state, seen) * _flat(state["w"]) - _flat(state["kept"]) - seen * w0
        return None, found

    def mixed(self, state: State, part: Part, seen: float | None) -> dict[str, Floats]:
        """The mixed w in the place of v, with s = 1 and the mean numbers of steps and shares of the origin."""
        w0, weight, scale = self.hypothesis(state), part.numbers["weight"], state["scale"].copy()
        step = replace(part, arrays={**part.arrays, "moved": part.arrays["moved"] / weight})
        arrays = {"w": step.on(w0, "moved"), "scale": scale}
        if seen is not None:  # (T + N + 1)·w − kept′ = (Σ w_t so far) + N·w₀ + D
            so_far = scale[entries.SUM] * _flat(state["w"]) - _flat(state["kept"])
            total = so_far + part.numbers["averaged"] * _flat(w0) + part.arrays["sums"]
            kept = arrays["kept"] = np.empty_like(w0, order="K")
            _flat(kept)[:] = (seen + 1.0) * _flat(arrays["w"]) - total
            scale[entries.SUM] = seen + 1.0
        scale[entries.SCALE], scale[entries.STEPS] = 1.0, part.numbers["steps"] / weight
        scale[entries.ORIGIN] *= part.numbers["origin"] / weight
        scale[entries.SQ_LENGTH], scale[entries.DOUBT] = float((arrays["w"] ** 2).sum()), 0.0
        return arrays

    def check(self, state: State) -> None:
        numbers = state["scale"]
        if not ((numbers >= 0.0) & (numbers < np.inf)).all() or numbers[entries.SCALE] == 0.0:
            raise ValueError("scale must have numbers >= 0 only, and the first of them > 0")


def shape_of(rule: Any) -> Along:
    """What this rule keeps."""
    if kind_of(rule) == "metric":
        return (Full if getattr(rule, "covariance", CHOICES["covariance"][0]) == "full" else Diagonal)(rule)
    return (Scaled if kind_of(rule) == "scale" else Along)(rule)
