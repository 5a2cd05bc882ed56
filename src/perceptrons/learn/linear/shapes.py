"""What a linear learner keeps for its rule, besides w: see `core.linear.shapes`.

Learning asks only here for the kind of a rule.

To add a kind, write a class here, its part in `core.linear.shapes`, and a line in `shape_of`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from perceptrons.core.linear import shapes as entries
from perceptrons.core.linear.passes import variances
from perceptrons.data.arrays import Rows
from perceptrons.data.whole import memory
from perceptrons.learn.readouts import Readout
from perceptrons.learn.state import FIXED, Floats, Kind, State
from perceptrons.rules import CHOICES, kind_of


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

    def check(self, state: State) -> None:
        numbers = state["scale"]
        if not ((numbers >= 0.0) & (numbers < np.inf)).all() or numbers[entries.SCALE] == 0.0:
            raise ValueError("scale must have numbers >= 0 only, and the first of them > 0")


def shape_of(rule: Any) -> Along:
    """What this rule keeps."""
    if kind_of(rule) == "metric":
        return (Full if getattr(rule, "covariance", CHOICES["covariance"][0]) == "full" else Diagonal)(rule)
    return (Scaled if kind_of(rule) == "scale" else Along)(rule)
