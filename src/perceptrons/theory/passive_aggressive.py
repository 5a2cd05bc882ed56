"""Bounds for the passive-aggressive rules (Crammer et al. 2006).

Lemma 1: ‖w_t − u‖² changes by τ²q − 2τ(u·x − m) with q = ‖x‖², and the run starts at ‖u‖². With the losses ℓ = 1 − m of
the run and ℓ* ≥ 1 − u·x of u, the sum over all steps, in any order, is::

    Σ g ≤ ‖u‖²,    g = τ·(2ℓ − τq − 2ℓ*)

x stands for y·x. With several classes it is e_y⊗x − e_r⊗x, for which u·x is not below the margin of u. τ is a function
of ℓ and q, so g is one, too: ℓ(ℓ − 2ℓ*)/q for PA; the same up to ℓ = Cq and C(2ℓ − Cq − 2ℓ*) beyond for PA-I;
ℓ²(q + 1/C)/Q² − 2ℓℓ*/Q with Q = q + 1/(2C) for PA-II. It falls in ℓ up to some ℓ° and grows after it. A row is a
mistake if and only if ℓ ≥ 1. So a mistake adds at least a = g(max(1, ℓ°)) to the sum, and any other row at least
b = g(min(1, ℓ°)) ≤ 0.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, isinf
from typing import Any

import numpy as np

from perceptrons.rules import PA, PA1, PA2
from perceptrons.theory.facts import Array, Facts, most, total

Rule = PA | PA1 | PA2


def separable(rule: Rule, facts: Facts) -> Fraction | None:
    """Bound the mistakes in any number of passes by ‖u‖²/a, for u with u·x ≥ 1 on every row.

    All ℓ* are 0, so ℓ° = 0 and b = 0. A mistake adds at least a = g(1) = τ(2 − τq), where τ is the step at m = 0. The
    longest row has the smallest a, because a falls in q. For PA the bound is R²‖u‖² (Theorem 2).
    """
    sq_margin = facts.sq_margin()
    if sq_margin is None:
        return None
    q = facts.longest
    tau = 1 / q
    if not isinstance(rule, PA) and not isinf(rule.C):
        C = Fraction(rule.C)
        tau = min(C, 1 / q) if isinstance(rule, PA1) else 1 / (q + 1 / (2 * C))
    return 1 / (sq_margin * tau * (2 - tau * q))


def one_pass(rule: Rule, facts: Facts) -> float:
    """Bound the mistakes in one pass: the most rows S with Σ_S a + Σ_others b ≤ ‖u‖², for any u.

    Theorems 4 and 5 of Crammer et al. follow from the same lemma with more slack, and Theorem 4 needs rows of length 1.
    """
    a, b = costs(rule, facts)
    extra: Any = 0
    if facts.slack:  # g has three terms with τ ≤ max(1, ℓ*)/q, each off by a few times the slack
        largest = np.maximum(facts.short, 1.0)
        extra = 64 * facts.slack * largest * largest / np.where(facts.sq_steps > 0, facts.sq_steps, inf)
    budget = facts.squares + total(extra - b, facts.slack)
    return most(a - b - 2 * extra, budget, facts.slack)


def costs(rule: Rule, facts: Facts) -> tuple[Array, Array]:
    """The arrays a and b. They are 0 for rows of zeros, which move nothing."""
    short, moves, C = facts.short, facts.sq_steps > 0, getattr(rule, "C", inf)
    q, soft, hard = np.where(moves, facts.sq_steps, 1), 0, None  # Q − q, and the largest τ
    if not isinf(C):
        soft, hard = (1 / (2 * facts.number(C)), None) if isinstance(rule, PA2) else (0, facts.number(C))
    lowest = short * (q + soft) / (q + 2 * soft) if hard is None else np.minimum(short, hard * q)  # ℓ°

    def g(loss: Array) -> Array:
        tau = loss / (q + soft) if hard is None else np.minimum(loss / q, hard)
        return np.where(moves, tau * (2 * loss - tau * q - 2 * short), 0)

    return g(np.maximum(lowest, 1)), g(np.minimum(lowest, 1))


def loss(rule: Rule, short: Array, sq_steps: Array) -> tuple[float, Array]:
    """Σ −min g, what noise adds to ‖u‖² at most, and its derivatives by ℓ*: 2τ(ℓ°). A convex loss to search with."""
    q = np.where(sq_steps > 0, sq_steps, inf)
    if isinstance(rule, PA2):
        curve = short / (q + 1.0 / rule.C)
        return float((short * curve).sum()), 2 * curve
    tau = np.minimum(short / q, getattr(rule, "C", inf))
    return float(np.where(sq_steps > 0, tau * (2 * short - tau * sq_steps), 0.0).sum()), 2 * tau
