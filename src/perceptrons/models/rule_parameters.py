"""Parameters that estimators with a rule and a readout share; those of the rule can be searched as theirs."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from perceptrons import rules
from perceptrons.learn.readouts import READOUTS

COMMON: dict[str, Any] = {
    "rule": "no_validation",  # rules.resolve says what is wrong with it
    "readout": [StrOptions(set(READOUTS))],
    "fit_intercept": ["boolean"],
    "eta0": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left"), None],
    "shuffle": ["boolean"],
    "random_state": ["random_state"],
    "tie": [StrOptions({"mistake", "positive"})],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "warm_start": ["boolean"],
    "verbose": ["verbose"],
}


class RuleParameters(BaseEstimator):
    """For estimators with a parameter `rule`: ``rule__C`` is that of the rule, as with Gaussian-process kernels."""

    rule: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters; with `deep` also those of the rule, as ``rule__C``."""
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            rule = rules.RULES.get(self.rule, tuple)() if isinstance(self.rule, str) else self.rule
            if isinstance(rule, tuple) and hasattr(rule, "_asdict"):
                params.update({f"rule__{name}": value for name, value in rule._asdict().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters. A rule cannot be changed in place: ``rule__C=0.1`` puts a new one in its stead."""
        own = {name: value for name, value in params.items() if not name.startswith("rule__")}
        super().set_params(**own)
        parts = {name.removeprefix("rule__"): value for name, value in params.items() if name not in own}
        if parts:
            rule = rules.resolve(self.rule)
            unknown = [name for name in parts if name not in rule._fields]
            if unknown:
                raise ValueError(
                    f"Invalid parameter {unknown[0]!r} for rule {rule}. Valid parameters are: {list(rule._fields)!r}."
                )
            self.rule = rule._replace(**parts)
        return self
