"""Check the verdicts of `separability`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from perceptrons.data import Rows
from perceptrons.solver.rounding import root_down
from perceptrons.theory.certificate.points import (
    CertificateError,
    KernelPoints,
    Lines,
    Multipliers,
    RowPoints,
    exact_lines,
    stored,
)


@dataclass(frozen=True, eq=False)
class Certificate:
    """Exact separators, one line of weights for two classes and one for each of several classes.

    The last weight of each line belongs to the bias.

    Attributes
    ----------
    separator : list of lists of float or Fraction
        The separator with the largest margin of the rows. Rationals where floats would not separate (as well).
    augmented : list of lists of float or Fraction
        The separator with the largest margin of the rows with the constant 1 appended.
    """

    separator: Sequence[Sequence[float | Fraction]]
    augmented: Sequence[Sequence[float | Fraction]]


def check_rows(result: Any, rows: Rows, codes: Sequence[int]) -> None:
    """Raise CertificateError unless the verdict `result` is proved for these rows, with classes numbered by `codes`."""
    if (len(rows), rows.n_features) != (result.n_rows, result.n_features):
        raise CertificateError(
            f"X has {len(rows)} rows of {rows.n_features} features, the certificate is about "
            f"{result.n_rows} rows of {result.n_features}"
        )
    _within(rows, result.radius)
    certificate, width = result.certificate, rows.n_features + 1
    parts = [] if certificate is None else [certificate.separator, certificate.augmented]
    multipliers = _check(result, RowPoints(rows, codes, _blocks(result)), [(part, width, None) for part in parts])
    if len(result.classes) == 2 and not result.separable:
        _meets(result, rows, codes, multipliers)
    if len(result.classes) > 1 and result.separable:
        shown = np.column_stack([np.atleast_2d(result.coef), np.atleast_1d(result.intercept)])
        _resembles(shown, exact_lines(parts[0], width), "coef and intercept", with_bias=False)
        augmented = np.atleast_2d(result.augmented_separator)
        if not result.fit_intercept:
            augmented = np.column_stack([augmented, np.zeros(len(augmented))])
        _resembles(augmented, exact_lines(parts[1], width), "augmented_separator", with_bias=True)


def check_kernel(result: Any, rows: Rows, codes: Sequence[int]) -> None:
    """Raise CertificateError unless the verdict `result` is proved for the kernel matrix with these rows."""
    if len(rows) != result.n_rows:
        raise CertificateError(f"K has {len(rows)} rows, the certificate is about {result.n_rows}")
    points = KernelPoints(rows, codes, _blocks(result), Fraction(result.K_error))
    if points.error < 0 or Fraction(result.radius) ** 2 < points.sq_radius():
        raise CertificateError(f"K_error = {result.K_error} is below 0, or a point is longer than R = {result.radius}")
    parts = (result.dual_coef, result.intercept), (result.augmented_dual_coef, result.augmented_intercept)
    _check(result, points, [(w, len(rows), b) for w, b in parts if w is not None])


def _blocks(result: Any) -> int:
    return 1 if len(result.classes) == 2 else len(result.classes)


def _check(result: Any, points: RowPoints, separators: Sequence[tuple[Any, int, Any]]) -> Multipliers:
    """Raise unless the multipliers and the separators prove the verdict and its margins; return the multipliers.

    separators: the best and the augmented one: weights, the length of a line, and biases (None: last in the lines).
    """
    if result.separable is None:
        raise CertificateError(f"there is no verdict to check: {result.reason}")
    if len(result.classes) == 1:
        return []  # all rows have the one label of the certificate: there is nothing to separate
    multipliers = _multipliers(result, points.codes)
    if result.fit_intercept and any(points.balance(multipliers)):
        raise CertificateError("the multipliers of the classes do not balance: Σ λ·y is not 0")
    if not result.separable:
        if points.error or any(points.combination(multipliers)):
            raise CertificateError("the multipliers do not prove the verdict: Σ λ·y·x is not 0, or K is not exact")
        if points.blocks == 1:
            _refuse_reducible(result, points, multipliers)
        return multipliers
    if len(separators) != 2 or result.margin_bounds is None or result.augmented_margin is None:
        raise CertificateError("there is no separator, or no bounds on its margin")
    low, high = result.margin_bounds
    if not (0 <= low <= high and result.margin == low and result.augmented_margin >= 0):
        raise CertificateError(f"the margin {result.margin} and its bounds {low}, {high} contradict each other")
    if not math.isinf(high) and points.sq_point(multipliers) > Fraction(high) ** 2:
        raise CertificateError(f"the multipliers do not prove that no margin exceeds {high}")
    for (w, width, b), bound, name in zip(
        separators, (low, result.augmented_margin), ("margin", "augmented margin"), strict=True
    ):
        lines = exact_lines(w, width)
        biases = [line[-1:] for line in lines] if b is None else exact_lines(b, 1)
        lines = [line[:-1] for line in lines] if b is None else lines
        if len(lines) != points.blocks or len(biases) != points.blocks:
            raise CertificateError(f"the separator has {len(lines)} lines for {len(result.classes)} classes")
        if not result.fit_intercept and any(map(any, biases)):
            raise CertificateError("the separator has a bias, but fit_intercept is False")
        least, where = min((margin, i) for i, margin in enumerate(points.margins(lines, biases)))
        squares = points.sq_length(lines) + (sum(bias**2 for (bias,) in biases) if name != "margin" else 0)
        if least <= 0 or squares <= 0:
            raise CertificateError(f"row {where} is not on its side of the separator: {points.OTHERWISE}")
        if least**2 < Fraction(bound) ** 2 * squares:
            raise CertificateError(f"the {name} of row {where} is below {float(bound)}")
    return multipliers


def _multipliers(result: Any, codes: Sequence[int]) -> Multipliers:
    """Row, rival class and λ of each constraint; λ ≥ 0 with sum 1."""
    names = {label: code for code, label in enumerate(result.classes.tolist())}
    rivals = [names.get(label, -1) for label in result.rivals.tolist()]
    rows, weights = result.support.tolist(), list(result.weights)
    if not (len(rows) == len(rivals) == len(weights) > 0):
        raise CertificateError("support, rivals and weights differ in length")
    if min(weights) < 0 or sum(weights) != 1:
        raise CertificateError("the multipliers are not ≥ 0 with sum 1")
    for row, rival in zip(rows, rivals, strict=True):
        if not 0 <= row < len(codes) or rival in (-1, codes[row]):
            raise CertificateError(
                f"row {row} does not exist, or is paired with its own class: the certificate is of other rows or labels"
            )
    return list(zip(rows, rivals, weights, strict=True))


def _within(rows: Rows, radius: float) -> None:
    """Raise if a row is longer than R. Only rows whose length in floats is near R are computed exactly."""
    for i, (_, values) in enumerate(stored(rows)):
        near = any(values) if radius == 0 else sum((value / radius) ** 2 for value in values) > 1 - 1e-9
        if near and not math.isinf(radius) and sum(Fraction(value) ** 2 for value in values) > Fraction(radius) ** 2:
            raise CertificateError(f"row {i} is longer than R = {radius}")


def _refuse_reducible(result: Any, points: RowPoints, multipliers: Multipliers) -> None:
    """Raise if one of the irreducible rows of two classes can be left out.

    None can if the multipliers are the only ones, that is, if the rank of the z is one less than their number. A rank
    modulo a prime is never above the true rank, so one prime with a large enough rank proves that.
    """
    at = [row for row, _, _ in multipliers]
    if sorted(result.irreducible) != sorted(at):
        raise CertificateError("the irreducible rows are not those of the multipliers")
    table = points.rows.take(np.array(at, dtype=np.intp))
    lines = [dict(zip(features, values, strict=True)) for features, values in stored(table)]
    used = sorted({j for line in lines for j in line})
    signs = np.array([1 if points.codes[row] else -1 for row in at], dtype=np.int64)
    for prime in (2**31 - 1, 2**31 - 19, 2**31 - 61):
        numbers = [[_modulo(line.get(j, 0.0), prime) for j in used] + [int(result.fit_intercept)] for line in lines]
        if _rank(np.array(numbers, dtype=np.int64) * signs[:, np.newaxis] % prime, prime) == len(at) - 1:
            return
    raise CertificateError("some of the irreducible rows can be left out")


def _meets(result: Any, rows: Rows, codes: Sequence[int], multipliers: Multipliers) -> None:
    """Raise unless the point is where the hulls of two classes meet, by the multipliers."""
    at = [row for row, _, _ in multipliers]
    lines = [dict(zip(*line, strict=True)) for line in stored(rows.take(np.array(at, dtype=np.intp)))]
    side = int(any(codes[row] for row in at))
    scale = math.lcm(*(weight.denominator for _, _, weight in multipliers))
    mine = [
        (line, int(weight * scale))
        for line, (row, _, weight) in zip(lines, multipliers, strict=True)
        if codes[row] == side
    ]
    for j, shown in enumerate(result.point.tolist()):
        ratios = [line.get(j, 0.0).as_integer_ratio() for line, _ in mine]
        common = max(below for _, below in ratios)  # denominators are powers of two
        terms = [above * (common // below) * count for (above, below), (_, count) in zip(ratios, mine, strict=True)]
        unit = common * sum(count for _, count in mine)
        if abs(Fraction(shown) * unit - sum(terms)) > Fraction(sum(map(abs, terms)), 10**9) + Fraction(unit, 10**300):
            raise CertificateError("the hulls do not meet at the point given, by the multipliers")


def _modulo(value: float, prime: int) -> int:
    above, below = value.as_integer_ratio()
    return above * pow(below, -1, prime) % prime


def _rank(table: Any, prime: int) -> int:
    """The rank of a table of integers modulo a prime below 2^31, by elimination."""
    rank = 0
    for c in range(table.shape[1]):
        (below,) = np.nonzero(table[rank:, c])
        if len(below) == 0:
            continue
        table[[rank, rank + below[0]]] = table[[rank + below[0], rank]]
        table[rank] = table[rank] * pow(int(table[rank, c]), -1, prime) % prime
        others = rank + 1 + np.flatnonzero(table[rank + 1 :, c])
        table[others] = (table[others] - table[others, c, np.newaxis] * table[rank]) % prime
        rank += 1
        if rank == len(table):
            break
    return rank


def _resembles(shown: Any, exact: Lines, name: str, *, with_bias: bool) -> None:
    """Raise unless the floats shown are those of the certificate, or its rationals at unit length, rounded."""
    if np.isnan(shown).any():
        raise CertificateError(f"{name}: NaN is not a number")
    squares = sum((weight**2 for line in exact for weight in (line if with_bias else line[:-1])), Fraction(0))
    length = Fraction(root_down(squares))
    for mine, line in zip(shown.tolist(), exact, strict=True):
        for one, other in zip(mine, line, strict=True):
            if math.isinf(one):  # right if the number is out of the range of floats
                wrong = abs(other) <= Fraction(np.finfo(np.float64).max) * length or (one > 0) != (other > 0)
            else:
                wrong = abs(Fraction(one) * length - other) > max(length, abs(other)) / 10**9
            if wrong:
                raise CertificateError(f"{name} differ from the certificate")
