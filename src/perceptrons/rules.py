"""The rules: how far a step goes, given the margin and the squared length of an example.

A rule is a NamedTuple of its parameters with one formula, ``tau``. The formula is plain arithmetic, which Python can
run and the passes in ``core`` compile. To add a rule, write its class with an ``@register`` line above it that
describes each parameter; estimators, the options of the command line, their help and model files follow from that. A
rule of your own needs no registration: pass it as an object.

A step is ``w += η·τ·y·x``. The margin m is ``y·a(x)``; with several classes, the score of the right class minus that of
the strongest wrong one. ``ℓ = max(0, 1 − m)`` is the hinge loss. ``sq_norm`` is the squared length of the step's
direction, including the constant feature of the bias, and doubled for several classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

R = TypeVar("R")
RULES: dict[str, Any] = {}


def register(name: str, *, takes_weights: bool = True, **parameters: str) -> Callable[[type[R]], type[R]]:
    """Make a rule available by `name`, and unequal to other rules with equal parameters.

    takes_weights: whether it accepts weights of examples. parameters: a description of each of its parameters.
    """

    def enter(cls: type[R]) -> type[R]:
        members: dict[str, Any] = {
            "__eq__": lambda self, other: type(self) is type(other) and tuple.__eq__(self, other),
            "__ne__": lambda self, other: type(self) is not type(other) or tuple.__ne__(self, other),
            "__hash__": lambda self: hash((cls.__name__, *self)),
            "takes_weights": takes_weights,
            "parameters": parameters,
        }
        undescribed = set(cls._fields) ^ set(parameters)  # type: ignore[attr-defined]
        if undescribed:
            raise TypeError(f"@register({name!r}) must describe each parameter: see {', '.join(sorted(undescribed))}")
        for member, value in members.items():
            setattr(cls, member, value)
        RULES[name] = cls
        return cls

    return enter


@register("perceptron")
class Plain(NamedTuple):
    """The perceptron (Rosenblatt 1958): τ = 1 when m ≤ 0. A weight scales the step."""

    target = 0.0  # type: ignore[misc]  # no field

    def tau(self, margin: float, sq_norm: float, weight: float) -> float:
        return weight if margin <= 0.0 else 0.0


@register("margin", beta="margin to reach")
class Margin(NamedTuple):
    """The perceptron with margin (Krauth & Mézard 1987): τ = 1 when m ≤ β. A weight scales the step."""

    beta: float = 1.0

    @property
    def target(self) -> float:
        return self.beta

    def tau(self, margin: float, sq_norm: float, weight: float) -> float:
        return weight if margin <= self.beta else 0.0

    def check(self) -> None:
        require(self.beta >= 0, "beta", ">= 0", self.beta)


@register("pa", takes_weights=False)
class PA(NamedTuple):
    """Passive-aggressive (Crammer et al. 2006, §3): τ = ℓ/‖x‖², the smallest change of w that brings ℓ to 0.

    It accepts no weights of examples: a scaled step would miss its target, and diverge if scaled by more than 2.
    """

    def tau(self, margin: float, sq_norm: float, weight: float) -> float:
        loss = 1.0 - margin  # ℓ = max(0, 1 − m)
        if loss <= 0.0 or sq_norm == 0.0:
            return 0.0
        return loss / sq_norm


@register("pa1", C="aggressiveness, the largest step")
class PA1(NamedTuple):
    """PA-I (Crammer et al. 2006, §3): τ = min(C, ℓ/‖x‖²). A weight scales C."""

    C: float = 1.0

    def tau(self, margin: float, sq_norm: float, weight: float) -> float:
        loss = 1.0 - margin  # ℓ = max(0, 1 − m)
        if loss <= 0.0 or sq_norm == 0.0:
            return 0.0
        return min(self.C * weight, loss / sq_norm)

    def check(self) -> None:
        require(self.C > 0, "C", "> 0", self.C)


@register("pa2", C="aggressiveness, how soft the limit of a step is")
class PA2(NamedTuple):
    """PA-II (Crammer et al. 2006, §3): τ = ℓ/(‖x‖² + 1/(2C)). A weight scales C."""

    C: float = 1.0

    def tau(self, margin: float, sq_norm: float, weight: float) -> float:
        loss = 1.0 - margin  # ℓ = max(0, 1 − m)
        if loss <= 0.0 or sq_norm == 0.0 or weight == 0.0:
            return 0.0
        return loss / (sq_norm + 0.5 / (self.C * weight))

    def check(self) -> None:
        require(self.C > 0, "C", "> 0", self.C)


def require(holds: bool, name: str, expected: str, got: object) -> None:
    """Raise an error if a parameter is out of range (NaN always is)."""
    if not holds:
        raise ValueError(f"{name} must be {expected}, got {got}")


def resolve(rule: Any) -> Any:
    """Get the rule for a name or an object, with checked parameters, as floats.

    >>> resolve("pa1")
    PA1(C=1.0)
    >>> resolve(PA1(C=-1))
    Traceback (most recent call last):
    ValueError: C must be > 0, got -1.0
    """
    if isinstance(rule, str):
        if rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(map(repr, RULES))} or a rule object, got {rule!r}")
        rule = RULES[rule]()
    if isinstance(rule, type) or not (hasattr(rule, "_fields") and hasattr(rule, "tau")):
        raise TypeError(f"rule must be a name or a NamedTuple with a method tau, such as PA1(C=0.1), got {rule!r}")
    resolved: Any = type(rule)(*map(float, rule))
    if hasattr(resolved, "check"):
        resolved.check()
    return resolved


def takes_weights(rule: object) -> bool:
    """Whether this rule accepts weights of examples."""
    return bool(getattr(rule, "takes_weights", True))


def demands(rule: object) -> float:
    """The margin that a rule requires: its `target`, or 1. For structures, per unit of loss.

    >>> demands(Plain()), demands(Margin(beta=0.5)), demands(PA())
    (0.0, 0.5, 1.0)
    """
    return float(getattr(rule, "target", 1.0))
