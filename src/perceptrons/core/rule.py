"""Settings that are the same for all examples of a pass, and the calls of the rule's formula."""

from __future__ import annotations

from typing import Any, NamedTuple

from perceptrons import rules
from perceptrons.core.jit.deferred import overload, register_jitable
from perceptrons.core.rows import JIT


class How(NamedTuple):
    """Settings of a pass: scalars, and two types that pick code."""

    rule: Any  # formula and parameters of the step
    readout: Any  # which hypothesis is kept: one of `linear.readouts`
    eta: float  # scales every step
    bias: float  # value of the constant feature: c, or 0 without a bias
    tie_positive: bool
    give_up: float  # stop when ‖w‖ < give_up·Στ; 0 for never
    epsilon: float = 0.0  # in regression, the error that is no loss


def tau(rule, margin, sq_norm, weight, y):
    """Length of the step by the rule's own formula; y = ±1 is the class, for rules that ask for it."""


@overload(tau, strict=False, jit_options=JIT)
def _tau(rule, margin, sq_norm, weight, y):
    if rules.takes_label(rule.instance_class):
        return rule.instance_class.tau
    return lambda rule, margin, sq_norm, weight, y: even_tau(rule, margin, sq_norm, weight)


def even_tau(rule, margin, sq_norm, weight):
    """τ of a rule for which all classes are alike."""


@overload(even_tau, strict=False, jit_options=JIT)
def _even_tau(rule, margin, sq_norm, weight):
    return rule.instance_class.tau


def metric(rule, margin, variance, weight):
    """α and c of a rule with a metric."""


@overload(metric, strict=False, jit_options=JIT)
def _metric(rule, margin, variance, weight):
    return rule.instance_class.metric


def scale(rule, margin, sq_norm, sq_length, k, weight):
    """s and τ of a rule with a scale."""


@overload(scale, strict=False, jit_options=JIT)
def _scale(rule, margin, sq_norm, sq_length, k, weight):
    return rule.instance_class.scale


def target(rule):
    """The margin above which a rule with a metric makes no step."""


@overload(target, strict=False, jit_options=JIT)
def _target(rule):
    given = getattr(rule.instance_class, "target", None)
    margin = float(given) if isinstance(given, int | float) else float("inf")  # a property depends on parameters
    return lambda rule: margin


for helper in (rules.quantile, rules.confident, rules.precision):  # which formulas call
    register_jitable(**JIT)(helper)
