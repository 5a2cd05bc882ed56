"""Bounds for rules that scale w: ROMMA (Li & Long 2002) and ALMA (Gentile 2001). x stands for y·x, as in a step."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from perceptrons.rules import ALMA, PARALLEL, ROMMA
from perceptrons.solver.rounding import root_up
from perceptrons.theory.facts import Facts, number_up, total

FLOATS = 2**900  # floats hold ‖w‖² and its products below this
LARGEST = (1 - Fraction(1, 10**6)) / Fraction(PARALLEL)  # larger bounds are not proved: see `romma_separable`


def romma_separable(rule: ROMMA, facts: Facts) -> Fraction | None:
    """Bound the mistakes in any number of passes by R²‖u‖², for u with u·x ≥ 1 on every row; aggressive or not.

    A step goes to the shortest w′ with w′·x ≥ 1 and w′·w ≥ ‖w‖². By induction u satisfies both, so u·w′ ≥ ‖w′‖² and
    ‖w′‖ ≤ ‖u‖. Moreover ‖w′‖² ≥ ‖w‖² + ‖w′ − w‖² and ‖w′ − w‖ ≥ (1 − m)/‖x‖. So ‖w‖² never falls, and a mistake adds at
    least 1/R² to it.

    The rule starts anew if x and w are opposite but for sin² ≤ 10⁻¹². Then u·(x/‖x‖ + w/‖w‖) ≥ 1/R, and the length of
    this sum is about 10⁻⁶ or less, so R‖u‖ is about 10⁶ or more. With a smaller bound this cannot happen. Nor do
    scores get so large that passes make w shorter: that takes ‖w‖²‖x‖² > 2⁴⁰⁰. Rows so short that ‖u‖² is near the
    largest float prove nothing.
    """
    sq_margin = facts.sq_margin()
    if sq_margin is None or 1 / sq_margin > FLOATS:
        return None
    bound = facts.longest / sq_margin
    return bound if bound < LARGEST else None


def alma_separable(rule: ALMA, facts: Facts) -> Fraction | None:
    """Bound the updates in any number of passes by H/2 + √(H²/4 + AH), A = 8/α − 6, H = (A + 1)²/(8γ²).

    γ is the margin of the unit vector u for the rows at length 1. Step k adds √(2/k)·x to w. Before it, ‖w‖ ≤ 1 and
    w·x ≤ (1 − α)√8/(α√k), so that ‖w‖² is at most 1 + A/k when w is divided by its length. After it, u·w is therefore
    at least γ·f_k with f_0 = 0 and f_k = (f_{k−1} + √(2/k))/√(1 + A/k).

    By induction f_k ≥ κk/√(k + A) with κ = √8/(A + 1). This needs κ(k − (k − 1)√(k/(k − 1 + A))) ≤ √2, and the root,
    √(1 − t) ≥ 1 − t/2 − t²/2 at t = (A − 1)/(k − 1 + A), shows that the bracket is at most (A + 1)/2. Now
    γκk/√(k + A) ≤ u·w ≤ 1, that is, k² ≤ H(k + A). (Theorem 3 of Gentile has A + 2 in place of A + 1.)
    """
    units = facts.unit_margins()
    least = units.min()
    if not least > 0 or not (facts.sq_steps > 0).all():
        return None
    A = 8 / Fraction(rule.alpha) - 6
    H = (A + 1) ** 2 * facts.squares / (8 * Fraction(least) ** 2)
    return H / 2 + Fraction(root_up(H * H / 4 + A * H))


def alma(rule: ALMA, facts: Facts) -> float:
    """Bound the updates in one pass, and the mistakes, by L + Q/2 + √(Q²/4 + QL + Q), Q = (A‖u‖)²/2, A = 8/α − 6.

    L = Σ max(0, 1 − u·x) for the rows at length 1. Let p_k = u·w/‖u‖ after step k, and N_k ≤ √(1 + A/k) the length that
    w is divided by. Then √(2/k)·u·x/‖u‖ = N_k·p_k − p_{k−1}. Multiply this by √k and sum all steps up to step k::

        √2·Σ u·x/‖u‖ = √k·N_k·p_k + Σ_{j<k} (√j·N_j − √(j+1))·p_j
                     ≤ √(k + A) + Σ_{j<k} (A − 1)/(2√j) ≤ √(k + A) + (A − 1)√k ≤ A√(k + 1)

    because |p| ≤ 1, A ≥ 2 and the root is concave. The left-hand side is at least √2·(k − L)/‖u‖. So
    (k − L)² ≤ Q(k + 1) (Gentile, Theorem 3). A row of zeros is a mistake without a step, and L counts it.
    """
    A, L = 8 / Fraction(rule.alpha) - 6, total(np.maximum(1 - facts.unit_margins(), 0), facts.slack)
    Q = A * A * facts.squares / 2
    bound = L + Q / 2 + Fraction(root_up(Q * Q / 4 + Q * L + Q))
    return number_up(bound * (1 + Fraction(4 * facts.slack)))
