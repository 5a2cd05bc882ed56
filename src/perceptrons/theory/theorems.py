"""The theorems that bound mistakes: their statements and formulas."""

from __future__ import annotations

from fractions import Fraction

from perceptrons.solver.rounding import root_up

# {R} stands for R, or for √2·R with several classes, and y·w·x for the margin of a row.
THEOREMS = {
    "novikoff": "Novikoff 1962: ({R}·‖w‖/γ)² updates, in any order and any number of passes",
    "freund-schapire": "Freund & Schapire 1999: (({R} + D)/γ)² mistakes in one pass, D² = Σ max(0, γ − y·u·x)²",
    "gentile": "Gentile 2003: a + L + √(2aL + a²) mistakes in one pass, a = ({R}·‖w‖)²/2, L = Σ max(0, 1 − y·w·x)",
    "n": "a pass makes no more mistakes than there are rows",
}


def sq_step(longest: Fraction, fit_intercept: bool, blocks: int) -> Fraction:
    """max ‖z‖²: R² with the constant, and twice that for several classes; `longest` is R² without the constant."""
    return (longest + bool(fit_intercept)) * (1 if blocks == 1 else 2)


def formula(theorem: str, linear: Fraction, square: Fraction, squares: Fraction, R2: Fraction) -> Fraction:
    """The bound for w with ‖w‖² = `squares` and γ = 1/‖w‖; `linear` is Σs, `square` is Σs², s = max(0, 1 − z·w)."""
    if theorem == "freund-schapire":
        return (Fraction(root_up(R2 * squares)) + Fraction(root_up(square))) ** 2
    half = R2 * squares / 2
    return half + linear + Fraction(root_up(2 * half * linear + half**2))
