"""Check bounds on mistakes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from perceptrons import rules
from perceptrons.theory.certificate.points import CertificateError, KernelPoints, RowPoints, exact_lines
from perceptrons.theory.facts import Facts, log_det, number_up
from perceptrons.theory.theorems import BOUNDS, HOLDS, any_passes, formula, growth, refuse, sq_step


def check_bound(result: Any, points: RowPoints, hypothesis: Any) -> None:
    """Raise CertificateError unless the hypothesis proves the bound `result` for these points."""
    n, width, w = len(points.rows), points.rows.n_features, np.atleast_2d(hypothesis)
    if n != result.n_rows or (hypothesis is not None and width != w.shape[1]):
        raise CertificateError(
            f"X has {n} rows of {width} features, the bound is about {result.n_rows} rows"
            + ("" if hypothesis is None else f" of {w.shape[1]}")
        )
    _refuse(result, points)
    longest = points.sq_radius()
    if Fraction(result.radius) ** 2 < longest + result.fit_intercept:
        raise CertificateError(f"a row is longer than R = {result.radius}")
    if math.isinf(result.bound):
        return
    proved = Fraction(n) if result.theorem == "n" else _proved(result, points, w, longest)
    if proved is None or Fraction(result.bound) < proved:
        number = "no bound on the" if proved is None else number_up(proved)
        raise CertificateError(f"the hypothesis proves {number} mistakes for these rows, not {result.bound}")


def _refuse(result: Any, points: RowPoints) -> None:
    """Raise CertificateError unless the theorem holds for the rule."""
    rule = rules.resolve(result.rule)
    try:
        refuse(rule, len(result.classes), isinstance(points, KernelPoints), float(points.error))
    except ValueError as error:
        raise CertificateError(str(error)) from error
    if result.theorem not in (*HOLDS[type(rule)], "n"):
        raise CertificateError(f"there is no theorem {result.theorem!r} for the rule {rule!r}")


def _proved(result: Any, points: RowPoints, w: Any, longest: Fraction) -> Any:
    """The bound that the theorem gives for the hypothesis; None if it gives none."""
    if w.dtype == object and None in w:
        raise CertificateError(f"the theorem {result.theorem!r} needs a hypothesis, but there is none")
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
    R2 = sq_step(longest, result.fit_intercept, len(w))
    facts = _facts(result, points, margins, squares, R2)
    least = Fraction(1)
    if any_passes(result.theorem):
        least = min(facts.unit_margins() if result.theorem == "alma-separable" else margins)
    if least <= 0 or Fraction(result.margin or 0.0) ** 2 * squares > least**2:
        raise CertificateError(f"the hypothesis does not have the margin {result.margin} for these rows")
    if result.theorem in BOUNDS:
        return BOUNDS[result.theorem](result.rule, facts)
    G = growth(result.rule, R2)
    if G is None:
        return None
    if result.theorem == "novikoff":
        return G * squares / least**2
    short = [max(Fraction(0), 1 - margin) for margin in margins]
    return formula(result.theorem, sum(short, Fraction(0)), sum((loss**2 for loss in short), Fraction(0)), squares, G)


def _facts(result: Any, points: RowPoints, margins: list[Fraction], squares: Fraction, R2: Fraction) -> Facts:
    """What theorems need to know about the hypothesis, exactly."""
    bias, double = int(result.fit_intercept), 1 if points.blocks == 1 else 2
    return Facts(
        margins=np.array(margins, dtype=object),
        errors=np.zeros(len(margins), dtype=int),
        sq_steps=np.array([(square + bias) * double for square in points.sq_lengths()], dtype=object),
        slack=0,
        squares=squares,
        longest=R2,
        unknowns=min(len(margins), points.rows.n_features + bias),
        log_det=lambda a: log_det(points.rows, bool(bias), a),
    )
