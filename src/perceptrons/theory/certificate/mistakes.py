"""Check bounds on mistakes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from perceptrons.theory.certificate.points import CertificateError, RowPoints, exact_lines
from perceptrons.theory.theorems import THEOREMS, formula, sq_step


def check_bound(result: Any, points: RowPoints, hypothesis: Any) -> None:
    """Raise CertificateError unless the hypothesis proves the bound `result` for these points."""
    n, width, w = len(points.rows), points.rows.n_features, np.atleast_2d(hypothesis)
    if n != result.n_rows or (hypothesis is not None and width != w.shape[1]):
        raise CertificateError(
            f"X has {n} rows of {width} features, the bound is about {result.n_rows} rows"
            + ("" if hypothesis is None else f" of {w.shape[1]}")
        )
    longest = points.sq_radius()
    if result.theorem not in THEOREMS or Fraction(result.radius) ** 2 < longest + result.fit_intercept:
        raise CertificateError(f"there is no theorem {result.theorem!r}, or a row is longer than R = {result.radius}")
    if math.isinf(result.bound):
        return
    proved = Fraction(n) if result.theorem == "n" else _proved(result, points, w, longest)
    if Fraction(result.bound) < proved:
        raise CertificateError(f"the hypothesis proves {float(proved)} mistakes for these rows, not {result.bound}")


def _proved(result: Any, points: RowPoints, w: Any, longest: Fraction) -> Fraction:
    """The bound that the theorem gives for the hypothesis."""
    if len(w) != points.blocks:
        raise CertificateError(f"the hypothesis has {len(w)} lines for {len(result.classes)} classes")
    lines = exact_lines(w, w.shape[1])
    biases = exact_lines(np.broadcast_to(result.intercept, (len(w),)), 1)
    if not result.fit_intercept and any(bias for (bias,) in biases):
        raise CertificateError("the hypothesis has a bias, but fit_intercept is False")
    margins, squares = points.margins(lines, biases), points.sq_length(lines)
    squares += sum(bias**2 for (bias,) in biases)
    if squares <= 0:
        raise CertificateError("the hypothesis is 0, or K is not positive semi-definite")
    novikoff = result.theorem == "novikoff"
    least = min(margins) if novikoff else Fraction(1)
    if least <= 0 or Fraction(result.margin or 0.0) ** 2 * squares > least**2:
        raise CertificateError(f"the hypothesis does not have the margin {result.margin} for these rows")
    R2 = sq_step(longest, result.fit_intercept, len(w))
    if novikoff:
        return R2 * squares / least**2
    short = [max(Fraction(0), 1 - margin) for margin in margins]
    return formula(result.theorem, sum(short, Fraction(0)), sum((loss**2 for loss in short), Fraction(0)), squares, R2)
