"""Settings that are the same for all examples of a pass, and the call of the rule's formula."""

from __future__ import annotations

from typing import Any, NamedTuple

from perceptrons.core.jit.deferred import overload
from perceptrons.core.rows import JIT


class How(NamedTuple):
    """Settings of a pass: scalars, and two types that pick code."""

    rule: Any  # formula and parameters of the step
    readout: Any  # which hypothesis is kept: one of `linear.readouts`
    eta: float  # scales every step
    bias: float  # value of the constant feature: c, or 0 without a bias
    tie_positive: bool
    give_up: float  # stop when ‖w‖ < give_up·Στ; 0 for never


def tau(rule, margin, sq_norm, weight):
    """Length of the step by the rule's own formula."""


@overload(tau, strict=False, jit_options=JIT)
def _tau(rule, margin, sq_norm, weight):
    return rule.instance_class.tau
