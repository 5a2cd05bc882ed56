"""Certificates checked in exact rational arithmetic: plain code that shares nothing with the solver that found them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from perceptrons.data import Rows
from perceptrons.theory.rounding import root_down


class CertificateError(ValueError):
    """A certificate does not hold for the rows that it was checked with."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """What proves that rows can be separated, one line a block of weights: two classes have one, several one a class.

    separator, augmented: the separator with the largest margin of the rows, and of the rows with the constant
        appended; the last weight of each line belongs to the bias. Floats, or rationals where floats would not do.
    """

    separator: Sequence[Sequence[float | Fraction]]
    augmented: Sequence[Sequence[float | Fraction]]


def check(result: Any, rows: Rows, codes: Sequence[int]) -> None:
    """Raise CertificateError unless what `result` says is proved; `codes` are the numbers of the rows' classes."""
    if result.separable is None:
        raise CertificateError(f"there is no verdict to check: {result.reason}")
    if (len(rows), rows.n_features) != (result.n_rows, result.n_features):
        raise CertificateError(
            f"X has {len(rows)} rows of {rows.n_features} features, the certificate is about "
            f"{result.n_rows} of {result.n_features}"
        )
    if len(result.classes) == 1:
        return  # all rows have the one label that the certificate names: nothing is to be separated
    _within(rows, result.radius)
    multipliers = multipliers_of(result, codes)
    blocks = 1 if len(result.classes) == 2 else len(result.classes)
    point, balance = combination(rows, codes, multipliers, blocks)
    if result.fit_intercept and any(balance):
        raise CertificateError("the multipliers of the classes do not balance: Σ λ·y is not 0")
    if not result.separable:
        if any(point):
            raise CertificateError("the multipliers do not prove it: Σ λ·y·x is not 0")
        if blocks == 1:
            refuse_reducible(result, rows, codes, multipliers)
            _meets(result, rows, codes, multipliers)
        return
    if result.certificate is None or result.margin_bounds is None or result.augmented_margin is None:
        raise CertificateError("there is no separator, or no bounds of its margin")
    low, high = bounds_of(result)
    if not math.isinf(high) and sum(entry**2 for entry in point) > Fraction(high) ** 2:
        raise CertificateError(f"the multipliers do not prove that no margin exceeds {high}")
    for lines, bound, name, with_bias in (
        (result.certificate.separator, low, "margin", False),
        (result.certificate.augmented, result.augmented_margin, "augmented margin", True),
    ):
        if not result.fit_intercept and any(line[-1] for line in lines):
            raise CertificateError("the separator has a bias, but fit_intercept is False")
        _separates(rows, codes, lines, Fraction(bound), name, with_bias)
    shown = np.column_stack([np.atleast_2d(result.coef), np.atleast_1d(result.intercept)])
    if np.isnan(shown).any():
        raise CertificateError("coef or intercept is no number")
    _resembles(shown, result.certificate.separator, "coef and intercept", with_bias=False)
    augmented = np.atleast_2d(result.augmented_separator)
    if not result.fit_intercept:
        augmented = np.column_stack([augmented, np.zeros(len(augmented))])
    _resembles(augmented, result.certificate.augmented, "augmented_separator", with_bias=True)


def bounds_of(result: Any) -> tuple[float, float]:
    """The bounds of the margin, which must not contradict each other."""
    low, high = result.margin_bounds
    if not (0 <= low <= high and result.margin == low and result.augmented_margin >= 0):
        raise CertificateError(f"the margin {result.margin} and its bounds {low}, {high} contradict each other")
    return low, high


def multipliers_of(result: Any, codes: Sequence[int]) -> list[tuple[int, int, Fraction]]:
    """Row, class against which it is set and λ; λ ≥ 0 with sum 1."""
    names = {label: code for code, label in enumerate(result.classes.tolist())}
    rivals = [names.get(label, -1) for label in result.rivals.tolist()]
    rows, weights = result.support.tolist(), list(result.weights)
    if not (len(rows) == len(rivals) == len(weights) > 0):
        raise CertificateError("support, rivals and weights are not of one length")
    if min(weights) < 0 or sum(weights) != 1:
        raise CertificateError("the multipliers are not ≥ 0 with sum 1")
    for row, rival in zip(rows, rivals, strict=True):
        if not 0 <= row < len(codes) or rival in (-1, codes[row]):
            raise CertificateError(f"row {row} is none of the rows, or set against its own class")
    return list(zip(rows, rivals, weights, strict=True))


def _within(rows: Rows, radius: float) -> None:
    """Raise unless no row is longer than R. Rows that come near, by floats, are worked out exactly."""
    for i, (_, values) in enumerate(_lines(rows)):
        near = any(values) if radius == 0 else sum((value / radius) ** 2 for value in values) > 1 - 1e-9
        if near and not math.isinf(radius) and sum(Fraction(value) ** 2 for value in values) > Fraction(radius) ** 2:
            raise CertificateError(f"row {i} is longer than R = {radius}")


def refuse_reducible(
    result: Any, rows: Rows, codes: Sequence[int], multipliers: Sequence[tuple[int, int, Fraction]]
) -> None:
    """Raise unless none of the rows of two classes can be left out.

    None can if the multipliers are the only ones, that is if the rank of the z is one less than their number. A rank
    modulo a prime is never above the true one, so one prime for which it is large enough proves that.
    """
    at = [row for row, _, _ in multipliers]
    if sorted(result.irreducible) != sorted(at):
        raise CertificateError("irreducible rows are others than those of the multipliers")
    table = rows.take(np.array(at, dtype=np.intp))
    lines = [dict(zip(features, values, strict=True)) for features, values in _lines(table)]
    used = sorted({j for line in lines for j in line})
    for prime in (2**31 - 1, 2**31 - 19, 2**31 - 61):
        numbers = [[_modulo(line.get(j, 0.0), prime) for j in used] + [int(result.fit_intercept)] for line in lines]
        signs = np.array([1 if codes[row] else -1 for row in at], dtype=np.int64)
        if _rank(np.array(numbers, dtype=np.int64) * signs[:, np.newaxis] % prime, prime) == len(at) - 1:
            break
    else:
        raise CertificateError("some of the irreducible rows can be left out")


def _meets(result: Any, rows: Rows, codes: Sequence[int], multipliers: Sequence[tuple[int, int, Fraction]]) -> None:
    """Raise unless the point is where the rows of two classes meet."""
    at = [row for row, _, _ in multipliers]
    lines = [dict(zip(*line, strict=True)) for line in _lines(rows.take(np.array(at, dtype=np.intp)))]
    side = int(any(codes[row] for row in at))
    mine = [(line, weight) for line, (row, _, weight) in zip(lines, multipliers, strict=True) if codes[row] == side]
    total = sum((weight for _, weight in mine), Fraction(0))
    for j, shown in enumerate(result.point.tolist()):
        terms = [Fraction(line.get(j, 0.0)) * weight / total for line, weight in mine]
        if abs(Fraction(shown) - sum(terms)) > sum(map(abs, terms)) / 10**9 + Fraction(1, 10**300):
            raise CertificateError("the point is not the one where the multipliers say that the hulls meet")


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


def _resembles(shown: Any, lines: Sequence[Sequence[float | Fraction]], name: str, *, with_bias: bool) -> None:
    """Raise unless the floats shown are the certificate's: themselves, or its rationals at unit length, rounded."""
    exact = [[Fraction(weight) for weight in line] for line in lines]
    squares = sum((weight**2 for line in exact for weight in (line if with_bias else line[:-1])), Fraction(0))
    length = Fraction(root_down(squares))
    for mine, line in zip(shown.tolist(), exact, strict=True):
        for one, other in zip(mine, line, strict=True):
            if math.isinf(one):  # right if floats do not reach so far
                wrong = abs(other) <= Fraction(np.finfo(np.float64).max) * length or (one > 0) != (other > 0)
            else:
                wrong = abs(Fraction(one) * length - other) > max(length, abs(other)) / 10**9
            if wrong:
                raise CertificateError(f"{name} are not those of the certificate")


def _lines(rows: Rows) -> Iterator[tuple[Sequence[int], Sequence[float]]]:
    """Features and values of each row, those that are not stored being 0."""
    if rows.indices is None or rows.indptr is None:
        every = range(rows.n_features)
        for line in rows.values:
            yield every, line.tolist()
    else:
        for begin, end in zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True):
            yield rows.indices[begin:end].tolist(), rows.values[begin:end].tolist()


def exact_margins(rows: Rows, codes: Sequence[int], lines: Sequence[Sequence[float | Fraction]]) -> Iterator[Fraction]:
    """min_r z_ir·v of each row for weights `lines`, one a block with the bias last."""
    exact = [[Fraction(weight) for weight in line] for line in lines]
    scale = math.lcm(*(weight.denominator for line in exact for weight in line))
    whole = [[int(weight * scale) for weight in line] for line in exact]
    for own, (features, values) in zip(codes, _lines(rows), strict=True):
        ratios = [value.as_integer_ratio() for value in values]
        common = max((below for _, below in ratios), default=1)  # denominators are powers of two
        scores = [
            sum(above * (common // below) * line[j] for (above, below), j in zip(ratios, features, strict=True))
            + common * line[-1]
            for line in whole
        ]
        if len(scores) == 1:
            value = scores[0] if own else -scores[0]
        else:
            value = scores[own] - max(score for rival, score in enumerate(scores) if rival != own)
        yield Fraction(value, common * scale)


def _separates(
    rows: Rows,
    codes: Sequence[int],
    lines: Sequence[Sequence[float | Fraction]],
    bound: Fraction,
    name: str,
    with_bias: bool,
) -> None:
    """Raise unless every row lies on its side, at a distance of at least `bound`."""
    least, where = min((margin, i) for i, margin in enumerate(exact_margins(rows, codes, lines)))
    squares = sum(Fraction(weight) ** 2 for line in lines for weight in (line if with_bias else line[:-1]))
    if least <= 0:
        raise CertificateError(f"row {where} is not on its side of the separator")
    if least**2 < bound**2 * squares:
        raise CertificateError(f"the {name} of row {where} is below {float(bound)}")


def combination(
    rows: Rows, codes: Sequence[int], multipliers: Sequence[tuple[int, int, Fraction]], blocks: int
) -> tuple[list[Fraction], list[Fraction]]:
    """Σ λ·z: the part of the features, entry by entry, and the part of the bias."""
    scale = math.lcm(*(weight.denominator for _, _, weight in multipliers))
    deep = 1 << 1074  # every float is a multiple of 2^−1074
    point = np.zeros((blocks, rows.n_features), dtype=object)
    balance = [0] * blocks
    table = rows.take(np.array([row for row, _, _ in multipliers], dtype=np.intp))
    for (row, rival, weight), (features, values) in zip(multipliers, _lines(table), strict=True):
        own, count = codes[row], int(weight * scale)
        signs = [(0, 2 * own - 1)] if blocks == 1 else [(own, 1), (rival, -1)]
        for block, sign in signs:
            balance[block] += sign * count
            for j, value in zip(features, values, strict=True):
                above, below = value.as_integer_ratio()
                point[block, j] += sign * count * above * (deep // below)
    return (
        [Fraction(int(entry), scale * deep) for entry in point.ravel() if entry],
        [Fraction(count, scale) for count in balance],
    )
