"""The linear learner of values: regression with the rules for which ℓ = max(0, |y − ŷ| − ε) is the loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from perceptrons.data.arrays import Rows
from perceptrons.learn.examples import Examples
from perceptrons.learn.labels import Array
from perceptrons.learn.learner import Words
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.readouts import Readout
from perceptrons.learn.state import Floats
from perceptrons.learn.targets import Unit
from perceptrons.rules import RULES, kind_of, refuse_label, resolve

RULES_OF_VALUES = ("pa", "pa1", "pa2", "arow")  # their steps are in proportion to the loss, up to a limit


def rule_for_values(rule: Any) -> Any:
    """The rule for a name or an object, with checked parameters; rules whose steps ignore the loss are refused.

    >>> rule_for_values("pa1")
    PA1(C=1.0)
    """
    resolved, known = resolve(rule), [RULES[name] for name in RULES_OF_VALUES]
    if type(resolved) in RULES.values() and type(resolved) not in known:
        names = ", ".join(map(repr, RULES_OF_VALUES))
        raise ValueError(
            f"rule must be one of {names} or an object of one of them, got {rule!r}: the steps of other rules do not "
            "depend on how far a value is off"
        )
    if kind_of(resolved) == "scale":
        raise ValueError(f"the rule {type(resolved).__name__} does not combine with regression: it scales w by margins")
    refuse_label(resolved, "regression")
    return resolved


class ValueLearner(LinearLearner):
    """A linear model that learns values. It computes on the scale of `unit`; predictions and errors are in raw values.

    A mistake is a value that is off by more than ε.
    """

    words = Words(
        held_out="held-out mean absolute error {:.6g}",
        mistakes="values off by more than epsilon",
        stuck="the rows that are off by more than epsilon are zero, or too short for a step",
        enough="a larger max_iter, a smaller C, or a larger tol or epsilon",
    )
    unit = Unit()
    epsilon: float

    def __init__(self, rule: Any, readout: str, *, n_classes: int = 2, epsilon: float = 0.1, **settings: Any) -> None:
        super().__init__(rule, readout, n_classes=n_classes, epsilon=epsilon, **settings)

    def adopt(self, *, epsilon: float = 0.1, **settings: Any) -> None:
        super().adopt(**settings)
        self.epsilon = epsilon

    # -- errors -----------------------------------------------------------------------------------------------

    def mistakes_of(self, examples: Examples, hypothesis: Floats) -> float:
        off = np.abs(examples.codes - self.scores(examples.rows, hypothesis)[:, 0]) > self.epsilon
        return float(np.count_nonzero(off) if examples.weight is None else examples.weight[off].sum())

    def margin_of(self, scores: Array, code: Any) -> tuple[float, float, list[int]]:
        return 1.0 - max(0.0, abs(float(code) - float(scores[0])) - self.epsilon), 1.0, [0]

    def watch(self, examples: Examples) -> Callable[[], float]:
        scores = self.readout.watch(self, examples.rows)
        return lambda: self._off(examples.codes, scores()) / max(1, len(examples))

    def wrong(self, examples: Examples) -> float:
        """Σ|y − ŷ| over these examples."""
        return self._off(examples.codes, self.decide(examples.rows))

    def _off(self, codes: Array, scores: Floats) -> float:
        return float(np.abs(codes - scores[:, 0]).sum()) * self.unit.spread

    @property
    def status(self) -> str:
        return ""

    def check_rule(self, rule: Any, eta: float, n_classes: int, readout: Readout) -> None:
        super().check_rule(rule, eta, n_classes, readout)
        rule_for_values(rule)

    # -- reading ----------------------------------------------------------------------------------------------

    def predict(self, scores: Floats) -> Floats:  # type: ignore[override]
        """Values from scores."""
        return self.unit.decode(scores[:, 0])

    def in_force(self, rows: Rows) -> Floats:  # type: ignore[override]
        return self.predict(self.scores(rows, self.current))

    def per_unit(self, weights: Floats) -> tuple[Floats, Floats]:
        w, offset = super().per_unit(weights)
        return w * self.unit.spread, self.unit.decode(offset)

    def per_spread(self, weights: Floats) -> Floats:
        return super().per_spread(weights) * self.unit.spread

    @property
    def on_raw_scale(self) -> bool:
        return super().on_raw_scale and self.unit[:2] == Unit()[:2]

    def of_units(self, w: Floats, offset: Floats) -> tuple[Floats, Floats]:
        return super().of_units(w / self.unit.spread, (offset - self.unit.centre) / self.unit.spread)
