"""The theorems that bound mistakes: their statements and formulas, and the rules that they hold for."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import inf
from typing import Any

from perceptrons import rules
from perceptrons.rules import ALMA, AROW, PA, PA1, PA2, ROMMA, SOP, Margin, Plain, Uneven
from perceptrons.solver.rounding import root_up
from perceptrons.theory import passive_aggressive, scaled, second_order
from perceptrons.theory.facts import Facts

# {R} stands for R, or for √2·R with several classes, and {R2} for its square. {root} is R or √(R² + 2β), {grown} is
# ({root}·‖w‖)², and {ratio} is that divided by γ². y·w·x is the margin of a row.
THEOREMS = {
    "novikoff": "Novikoff 1962: {ratio} updates, in any order and any number of passes",
    "freund-schapire": "Freund & Schapire 1999: (({root} + D)/γ)² {counted} in one pass, D² = Σ max(0, γ − y·u·x)²",
    "gentile": "Gentile 2003: a + L + √(2aL + a²) {counted} in one pass, a = {grown}/2, L = Σ max(0, 1 − y·w·x)",
    "pa-separable": "Crammer et al. 2006: ‖w‖²/(γ²·τ·(2 − τ·{R2})) mistakes, τ the step for m = 0 on the longest row, "
    "in any order and any number of passes",
    "pa": "Crammer et al. 2006, Lemma 1: the most rows with Σ τ·(2ℓ − τ·‖x‖² − 2ℓ*) ≤ ‖w‖² in one pass, ℓ ≥ 1 for "
    "mistakes, ℓ* = max(0, 1 − y·w·x)",
    "romma-separable": "Li & Long 2002: ({R}·‖w‖/γ)² mistakes, in any order and any number of passes",
    "alma-separable": "Gentile 2001: H/2 + √(H²/4 + A·H) updates, H = (A + 1)²·‖w‖²/(8γ²), A = 8/α − 6, for rows at "
    "length 1, in any order and any number of passes",
    "alma": "Gentile 2001: L + Q/2 + √(Q²/4 + Q·L + Q) updates in one pass, Q = (8/α − 6)²·‖w‖²/2, "
    "L = Σ max(0, 1 − y·w·x/‖x‖)",
    "arow": "Crammer et al. 2009: r·‖w‖² + Σ (1 − y·w·x)² + ln det(I + Σ xxᵀ/r) mistakes in one pass, or fewer",
    "sop-separable": "Cesa-Bianchi et al. 2005: the largest k with k·min(1 − (1 − y·w·x)²) ≤ a·‖w‖² + "
    "d·ln(1 + k·R²/(a·d)), or fewer mistakes, in any order and any number of passes",
    "sop": "Cesa-Bianchi et al. 2005: the most rows with Σ (1 − (1 − y·w·x)²) ≤ a·‖w‖² + ln det(I + Σ xxᵀ/a) in one "
    "pass, or fewer",
    "n": "a pass makes no more {counted} than there are rows",
}
BOUNDS: dict[str, Callable[[Any, Facts], Any]] = {
    "pa-separable": passive_aggressive.separable,
    "pa": passive_aggressive.one_pass,
    "romma-separable": scaled.romma_separable,
    "alma-separable": scaled.alma_separable,
    "alma": scaled.alma,
    "arow": second_order.arow,
    "sop-separable": second_order.sop_separable,
    "sop": second_order.sop,
}
NOVIKOFF = ("novikoff", "freund-schapire", "gentile")
HOLDS = {
    **dict.fromkeys((Plain, Margin, Uneven), NOVIKOFF),
    **dict.fromkeys((PA, PA1, PA2), ("pa-separable", "pa")),
    ROMMA: ("romma-separable",),
    ALMA: ("alma-separable", "alma"),
    AROW: ("arow",),
    SOP: ("sop-separable", "sop"),
}


def any_passes(theorem: str) -> bool:
    """Whether a theorem holds for any number of passes over separable rows, not for one pass only."""
    return theorem == "novikoff" or theorem.endswith("-separable")


def counts_updates(rule: Any) -> bool:
    """Whether the bound counts updates of rows that are right, too: those with too small a margin."""
    return isinstance(rule, Margin | Uneven | ALMA)


def refuse(rule: Any, n_classes: int, kernel: bool, K_error: float) -> None:
    """Raise an error if no theorem bounds the mistakes of this rule on such data."""
    name = type(rule).__name__
    if type(rule) not in HOLDS:
        why = "no theorem is known for it"
    elif rules.kind_of(rule) == "metric" and rule.covariance != "full":
        why = f"the proof needs the full covariance. Pass {name}(covariance='full') for a model with that"
    elif rules.kind_of(rule) == "metric" and n_classes > 2:
        why = f"the proof is for two classes, and these rows have {n_classes}: each class has a covariance of its own"
    elif rules.takes_label(rule) and n_classes > 2:
        why = f"it has a margin for each of two classes, and these rows have {n_classes}"
    elif kernel and rules.kind_of(rule) != "tau":
        why = "it does not combine with kernels. Pass rows X"
    elif K_error and isinstance(rule, PA | PA1 | PA2):
        why = "the proof needs the lengths of all points, and with K_error they are not exact. Pass K_error=0"
    else:
        return
    found = {key: rules.kind_of(each) == "metric" for key, each in rules.RULES.items() if each in HOLDS}
    plain, full = (", ".join(repr(key) for key, metric in found.items() if metric == which) for which in (False, True))
    raise ValueError(
        f"there is no bound on the mistakes of the rule {name}: {why}. Rules with a bound: {plain}; with "
        f"covariance='full' and two classes: {full}"
    )


def sq_step(longest: Fraction, fit_intercept: bool, blocks: int) -> Fraction:
    """max ‖z‖²: R² with the constant, and twice that for several classes; `longest` is R² without the constant."""
    return (longest + bool(fit_intercept)) * (1 if blocks == 1 else 2)


def demanded(rule: Any) -> float:
    """β: the largest margin with which the rules along Novikoff's proof still make an update; 0 for the plain one."""
    return float(max(rule, default=0.0)) if isinstance(rule, Margin | Uneven) else 0.0


def growth(rule: Any, R2: Fraction) -> Fraction | None:
    """The most that an update adds to ‖w‖²: ‖w + z‖² = ‖w‖² + 2m + ‖z‖² ≤ ‖w‖² + 2β + R²; None if β is infinite.

    With it in place of R², Novikoff's, Freund & Schapire's and Gentile's proofs bound the updates: their other half,
    u·w ≥ Σ u·z over the updates, supposes nothing of when they happen.
    """
    beta = demanded(rule)
    return R2 + 2 * Fraction(beta) if beta < inf else None


def formula(theorem: str, linear: Fraction, square: Fraction, squares: Fraction, G: Fraction) -> Fraction:
    """The bound for w with ‖w‖² = `squares` and γ = 1/‖w‖; `linear` is Σs, `square` is Σs², s = max(0, 1 − z·w).

    G is the most that an update adds to ‖w‖².
    """
    if theorem == "freund-schapire":
        return (Fraction(root_up(G * squares)) + Fraction(root_up(square))) ** 2
    half = G * squares / 2
    return half + linear + Fraction(root_up(2 * half * linear + half**2))


def statement(theorem: str, rule: Any, n_classes: int) -> str:
    """The theorem in words, for this rule and number of classes."""
    R, R2 = ("R", "R²") if n_classes == 2 else ("√2·R", "2R²")
    G, root, grown = R2, R, f"({R}·‖w‖)²"
    if demanded(rule):
        G = f"({R2} + 2{'β' if isinstance(rule, Margin) else 'max(β₊, β₋)'})"
        root, grown = f"√{G}", f"{G}·‖w‖²"
    ratio = f"({R}·‖w‖/γ)²" if G == R2 else f"{grown}/γ²"
    counted = "updates" if counts_updates(rule) else "mistakes"
    return THEOREMS[theorem].format(R=R, R2=R2, root=root, grown=grown, ratio=ratio, counted=counted)
