"""What all learners have in common, whatever space they move in."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.learn.readouts import Floats, Voted


class Hypotheses:
    """Settings of a learner and how its scores are read. Each kind of learner adds the space that it moves in."""

    rule: Any
    eta: float
    bias: float  # value of the constant feature: 1, or 0 without a bias
    tie_positive: bool
    readout: Any
    fixed: dict[str, Any]  # settings that cannot change once learning has begun
    n_classes: int
    sq_radius: float  # max ‖x‖² over all rows seen, without the constant
    plan = ""  # how passes are made, where there is a choice
    definite = True  # whether rows have lengths and margins in the space, so that something can be proved

    def adopt(self, *, rule: Any, eta: float = 1.0, tie: str = "mistake", **others: Any) -> None:
        """Go on with another rule, step or tie; all other settings are there to stay."""
        for name, value in self.fixed.items():
            if others[name] != value:
                raise ValueError(
                    f"{name} was changed after learning had begun: fit without warm_start, or change it back"
                )
        self.rule, self.eta, self.tie_positive = rule, float(eta), tie == "positive"

    @property
    def by_vote(self) -> bool:
        """Whether many hypotheses predict together, so that there are no weights to read."""
        return isinstance(self.readout, Voted)

    def predict(self, scores: Floats) -> npt.NDArray[np.intp]:
        """The classes that scores stand for. An even vote goes to the first class, whatever `tie` says."""
        return self.classes_of(scores, self.tie_positive and not self.by_vote)

    def classes_of(self, scores: Floats, tie_positive: bool) -> npt.NDArray[np.intp]:
        """Two classes: the sign. Several: the largest, the first of equals."""
        if self.n_classes != 2:
            return np.asarray(scores.argmax(axis=1))
        return np.asarray(scores[:, 0] >= 0 if tie_positive else scores[:, 0] > 0, dtype=np.intp)

    @property
    def radius(self) -> float:
        """R: the length of the longest row, with the constant feature if there is a bias."""
        return float(np.sqrt(self.sq_radius + self.bias))


def overflow(where: str) -> ValueError:
    return ValueError(
        f"weights overflow float64 {where}; the model is left as it was. "
        "Rescale the features, for instance with StandardScaler, or lower eta0."
    )


def at_most(number: float) -> str:
    """A number with three digits, rounded up: what is said of a bound holds."""
    return f"{float(Context(prec=3, rounding=ROUND_CEILING).create_decimal_from_float(number)):.3g}"
