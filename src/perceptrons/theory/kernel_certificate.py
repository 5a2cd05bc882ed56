"""Certificates for points of a feature space, checked in exact rational arithmetic on their kernel matrix K.

Margins of points are those of the rows of K as features; lengths come from αᵀKα. With an error ε of the entries of K,
margins are less by ε‖α‖₁ (several classes: ε‖α_y − α_r‖₁), and squared lengths more by ε‖α‖₁² for each class.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from perceptrons.data import Rows
from perceptrons.theory.certificate import (
    CertificateError,
    bounds_of,
    combination,
    exact_margins,
    multipliers_of,
    refuse_reducible,
)


def check_kernel(result: Any, rows: Rows, codes: Sequence[int]) -> None:
    """Raise CertificateError unless what `result` says is proved; `rows` are those of K."""
    if result.separable is None:
        raise CertificateError(f"there is no verdict to check: {result.reason}")
    if len(rows) != result.n_rows:
        raise CertificateError(f"K has {len(rows)} rows, the certificate is about {result.n_rows}")
    error = Fraction(result.K_error)
    if error < 0 or Fraction(result.radius) ** 2 < Fraction(float(rows.values.diagonal().max())) + error:
        raise CertificateError(f"K_error = {result.K_error} is below 0, or a point longer than R = {result.radius}")
    if len(result.classes) == 1:
        return
    multipliers = multipliers_of(result, codes)
    blocks = 1 if len(result.classes) == 2 else len(result.classes)
    lines = [[Fraction(0)] * len(rows) for _ in range(blocks)]
    for row, rival, weight in multipliers:
        lines[0 if blocks == 1 else codes[row]][row] += weight if blocks > 1 or codes[row] else -weight
        if blocks > 1:
            lines[rival][row] -= weight
    if result.fit_intercept and any(map(sum, lines)):
        raise CertificateError("the multipliers of the classes do not balance: Σ λ·y is not 0")
    if not result.separable:
        if error or any(combination(rows, codes, multipliers, blocks)[0]):
            raise CertificateError("the multipliers do not prove it: Σ λ·y·K is not 0, or K is not exact")
        if blocks == 1:
            refuse_reducible(result, rows, codes, multipliers)
        return
    if result.dual_coef is None or result.margin_bounds is None or result.augmented_margin is None:
        raise CertificateError("there is no separator, or no bounds of its margin")
    low, high = bounds_of(result)
    if not math.isinf(high) and kernel_squares(rows, lines, error) > Fraction(high) ** 2:
        raise CertificateError(f"the multipliers do not prove that no margin exceeds {high}")
    for dual_coef, intercept, bound, name, with_bias in (
        (result.dual_coef, result.intercept, low, "margin", False),
        (result.augmented_dual_coef, result.augmented_intercept, result.augmented_margin, "augmented margin", True),
    ):
        lines, biases = exact_lines(dual_coef, len(rows)), exact_lines(intercept, 1)
        if len(lines) != blocks or len(biases) != blocks or (not result.fit_intercept and any(map(any, biases))):
            raise CertificateError("the separator is of another shape, or has a bias, but fit_intercept is False")
        least = min(kernel_margins(rows, codes, lines, biases, error))
        squares = kernel_squares(rows, lines, error) + (sum(bias**2 for (bias,) in biases) if with_bias else 0)
        if least <= 0 or squares <= 0:
            raise CertificateError(f"the separator of the {name} does not separate, or K is not semi-definite")
        if least**2 < Fraction(bound) ** 2 * squares:
            raise CertificateError(f"the {name} is below {float(bound)}")


def exact_lines(numbers: Any, width: int) -> list[list[Fraction]]:
    """Floats or rationals in lines of a width, exactly."""
    table = np.asarray(numbers)
    if table.dtype == np.float64 and not np.isfinite(table).all():
        raise CertificateError("a coefficient or an intercept is no number")
    if table.size % width:
        raise CertificateError(f"there are {table.size} coefficients for {width} rows")
    return [[Fraction(number) for number in line] for line in table.reshape(-1, width).tolist()]


def kernel_margins(
    rows: Rows,
    codes: Sequence[int],
    lines: Sequence[Sequence[Fraction]],
    biases: Sequence[Sequence[Fraction]],
    error: Fraction,
) -> list[Fraction]:
    """The margin of each point, times ‖w‖, at least; `lines` are coefficients, `rows` those of K."""
    apart = [[x - y for x, y in zip(a, b, strict=True)] for a in lines for b in lines if a is not b] or lines
    loss = error * max(sum(map(abs, line), Fraction(0)) for line in apart) if error else Fraction(0)
    whole = [[*line, *bias] for line, bias in zip(lines, biases, strict=True)]
    return [margin - loss for margin in exact_margins(rows, codes, whole)]


def kernel_squares(rows: Rows, lines: Sequence[Sequence[Fraction]], error: Fraction) -> Fraction:
    """Σ αᵀKα, at most; `rows` are those of K."""
    deep = 1 << 1074  # every float is a multiple of 2^−1074
    total = Fraction(0)
    for line in lines:
        scale = math.lcm(*(number.denominator for number in line))
        counts = [(j, int(number * scale)) for j, number in enumerate(line) if number]
        square = 0
        for i, mine in counts:
            values = rows.values[i].tolist()
            ratios = ((values[j].as_integer_ratio(), count) for j, count in counts)
            square += mine * sum(above * (deep // below) * count for (above, below), count in ratios)
        total += Fraction(square, deep * scale**2) + error * Fraction(sum(abs(n) for _, n in counts), scale) ** 2
    return total
