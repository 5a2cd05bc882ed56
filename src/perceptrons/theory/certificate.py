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
    multipliers = _multipliers(result, codes)
    blocks = 1 if len(result.classes) == 2 else len(result.classes)
    point, balance = _combination(rows, codes, multipliers, blocks)
    if result.fit_intercept and any(balance):
        raise CertificateError("the multipliers of the classes do not balance: Σ λ·y is not 0")
    if not result.separable:
        if any(point):
            raise CertificateError("the multipliers do not prove it: Σ λ·y·x is not 0")
        if blocks == 1 and sorted(result.irreducible) != sorted(row for row, _, _ in multipliers):
            raise CertificateError("irreducible rows are others than those of the multipliers")
        return
    if result.certificate is None or result.margin_bounds is None or result.augmented_margin is None:
        raise CertificateError("there is no separator, or no bounds of its margin")
    low, high = result.margin_bounds
    if not (0 <= low <= high and result.margin == low and result.augmented_margin >= 0):
        raise CertificateError(f"the margin {result.margin} and its bounds {low}, {high} contradict each other")
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
    if not np.isfinite(shown).all():
        raise CertificateError("coef and intercept are not finite")
    _resembles(shown, result.certificate.separator, "coef and intercept", with_bias=False)
    augmented = np.atleast_2d(result.augmented_separator)
    if not result.fit_intercept:
        augmented = np.column_stack([augmented, np.zeros(len(augmented))])
    _resembles(augmented, result.certificate.augmented, "augmented_separator", with_bias=True)


def _multipliers(result: Any, codes: Sequence[int]) -> list[tuple[int, int, Fraction]]:
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


def _resembles(shown: Any, lines: Sequence[Sequence[float | Fraction]], name: str, *, with_bias: bool) -> None:
    """Raise unless the floats shown are the certificate's: themselves, or its rationals at unit length, rounded."""
    exact = [[Fraction(weight) for weight in line] for line in lines]
    squares = sum((weight**2 for line in exact for weight in (line if with_bias else line[:-1])), Fraction(0))
    length = Fraction(root_down(squares))
    for mine, line in zip(shown.tolist(), exact, strict=True):
        for one, other in zip(mine, line, strict=True):
            if abs(Fraction(one) * length - other) > max(length, abs(other)) / 10**9:
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


def _combination(
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
