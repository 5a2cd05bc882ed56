"""Bounds for rules with a full covariance: AROW (Crammer et al. 2009), the second-order perceptron (2005).

x stands for y·x. Both rules keep the solution of a ridge regression of the target 1 on the rows x that made a step:
with Σ⁻¹ = a·I + Σxxᵀ, w minimises P(u) = a‖u‖² + Σ (1 − u·x)². Proof: by the formula of Sherman and Morrison, Σ⁻¹w
grows by exactly x in a step. (AROW has a = r after multiplying Σ⁻¹ by r.) A step with margin m and variance v = xᵀΣx
raises the minimum of P by (1 − m)²/(1 + v). So for every u, over all steps of a run::

    Σ (1 − m)²/(1 + v) ≤ a‖u‖² + Σ (1 − u·x)²

A mistake has (1 − m)² ≥ 1. v never grows, so 1/(1 + v) is at least ρ = a/(a + ‖x‖²). It is also at least 1 − ln(1 + v),
and Σ ln(1 + v) is ln det(I + Σxxᵀ/a), which only grows with more rows. So the sum of ρ over the mistakes, and also
their number minus the logarithm, is at most the right-hand side.

A diagonal covariance, or one for each of several classes, makes another algorithm: its w solves no regression, and no
bound is known.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from perceptrons.rules import AROW, SOP
from perceptrons.theory.facts import Array, Facts, most, number_up, total


def arow(rule: AROW, facts: Facts) -> float:
    """Bound the mistakes in one pass by r‖u‖² + Σ(1 − u·x)² + ln det(I + Σxxᵀ/r), sums over all rows, for any u.

    Rows that are right with a margin below 1 make steps, too. Each may add its (1 − u·x)², so all are added. The other
    form, if it is smaller: the most rows whose sum of ρ is at most r‖u‖² + Σ(1 − u·x)².

    With the hinge loss g of u, Theorem 2 of Crammer et al. gives r‖u‖²/4 + Σ(u·x)²/4 + Σg + ln det for the worst number
    of such steps. The bound for u/2 is never larger, because (1 − u·x/2)² ≤ g + (u·x)²/4.
    """
    budget = Fraction(rule.r) * facts.squares + total(facts.off, facts.slack)
    by_rho, logarithm = most(_rho(rule.r, facts), budget, facts.slack), facts.log_det(rule.r)
    return min(by_rho, number_up(budget + Fraction(logarithm))) if math.isfinite(logarithm) else by_rho


def sop(rule: SOP, facts: Facts) -> float:
    """Bound the mistakes in one pass: the most rows S with Σ_S (1 − (1 − u·x)²) ≤ a‖u‖² + ln det(I + Σxxᵀ/a); any u.

    Only mistakes make steps, so a row costs 1 and gives (1 − u·x)² back. The other form, if it is smaller:
    Σ_S (ρ − (1 − u·x)²) ≤ a‖u‖². With the best factor of u for S, the first says that
    Σ_S u·x ≤ √((a‖u‖² + Σ_S (u·x)²)·ln det), which is the theorem of Cesa-Bianchi et al.
    """
    budget, off = Fraction(rule.a) * facts.squares, facts.off
    by_rho = most(_rho(rule.a, facts) - off - 8 * facts.slack * off, budget, facts.slack)
    logarithm = facts.log_det(rule.a)
    if not math.isfinite(logarithm):
        return by_rho
    return min(by_rho, most(1 - off - 8 * facts.slack * (1 + off), budget + Fraction(logarithm), facts.slack))


def sop_separable(rule: SOP, facts: Facts) -> float | None:
    """Bound the mistakes in any number of passes, for u with 0 < u·x < 2 on every row.

    Let e be the smallest 1 − (1 − u·x)². A run with k mistakes has k·e ≤ a‖u‖² + ln det. The trace of its Σxxᵀ is at
    most k·R², and at most d of its eigenvalues are not 0, so ln det ≤ d·ln(1 + kR²/(ad)). The bound is the largest k.
    The other form, if it is smaller: k·min(ρ − (1 − u·x)²) ≤ a‖u‖², which approaches Novikoff's bound for large a.
    """
    off = facts.off * (1 + 8 * facts.slack)
    start, least = Fraction(rule.a) * facts.squares, Fraction((1 - off).min()) - Fraction(8 * facts.slack)
    by_rho = Fraction((_rho(rule.a, facts) - off).min()) - Fraction(8 * facts.slack)
    found = []
    if by_rho > 0:
        found.append(number_up(start / by_rho))
    if least > 0:
        d = facts.unknowns
        share = number_up(facts.longest / (Fraction(rule.a) * d))
        found.append(_last(number_up(start), float(least), d, share))
    return min(found, default=None)


def _last(start: float, slope: float, d: int, share: float) -> float:
    """The k where slope·k = start + d·ln(1 + share·k), rounded up.

    The line is below the logarithm before k and above it after k, because ln is concave.
    """

    def above(k: float) -> bool:
        """Whether the line is above by more than rounding."""
        return slope * k * (1 - 1e-12) >= (start + d * math.log1p(share * k)) * (1 + 1e-12)

    low, high = 0.0, 1.0
    while not above(high):
        if high > 1e300:
            return math.inf
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if above(middle) else (middle, high)
    return high


def _rho(a: float, facts: Facts) -> Array:
    """ρ = a/(a + ‖x‖²), or less."""
    number = facts.number(a)
    return np.asarray(number / (number + facts.sq_steps) * (1 - 4 * facts.slack))
