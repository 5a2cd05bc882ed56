"""Exact margins and lengths, for rows and for points of a kernel's feature space."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from perceptrons.data import Rows
from perceptrons.learn.labels import encode
from perceptrons.solver.rounding import sq_radius

DEEP = 1 << 1074  # every float is a multiple of 2^−1074
Lines = Sequence[Sequence[Fraction]]
Multipliers = Sequence[tuple[int, int, Fraction]]  # row, the class that it is compared with, and λ


class CertificateError(ValueError):
    """A certificate does not hold for the rows that it was checked with. The message says what fails.

    Examples
    --------
    >>> from perceptrons.theory import CertificateError, separability
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> result = separability(X, [0, 0, 0, 1])
    >>> try:
    ...     result.check(X, [0, 1, 1, 0])  # other labels
    ... except CertificateError as error:
    ...     print(error)
    row 1 does not exist, or is paired with its own class...
    """


def codes_of(labels: npt.NDArray[Any], classes: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    """Number the labels by the classes of a certificate or bound; raise CertificateError if they are others."""
    try:
        return encode(labels, classes)
    except ValueError as error:
        raise CertificateError(f"the {what} is about other labels: {error}") from error


def exact_lines(numbers: Any, width: int) -> list[list[Fraction]]:
    """Floats or rationals as exact rationals, in lines of `width` numbers."""
    table = np.asarray(numbers)
    if table.dtype == np.float64 and not np.isfinite(table).all():
        raise CertificateError("a coefficient or an intercept is not a finite number")
    if table.size % width:
        raise CertificateError(f"the hypothesis has {table.size} numbers, which do not fill lines of {width}")
    return [[Fraction(number) for number in line] for line in table.reshape(-1, width).tolist()]


def stored(rows: Rows) -> Iterator[tuple[Sequence[int], Sequence[float]]]:
    """Features and values of each row; features that are not stored are 0."""
    if rows.indices is None or rows.indptr is None:
        every = range(rows.n_features)
        for line in rows.values:
            yield every, line.tolist()
    else:
        for begin, end in zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True):
            yield rows.indices[begin:end].tolist(), rows.values[begin:end].tolist()


@dataclass(frozen=True)
class RowPoints:
    """Rows of X as points. A hypothesis has a line of weights for each block: one, or one for each of several classes.

    A constraint adds a point to the block of its class and subtracts it from that of its rival; with one block, it adds
    or subtracts the point.
    """

    OTHERWISE: ClassVar[str] = "the certificate is of other rows or labels"

    rows: Rows
    codes: Sequence[int]
    blocks: int
    error: Fraction = Fraction(0)  # of each entry of a kernel matrix

    def sq_radius(self) -> Fraction:
        """The squared length of the longest point, or slightly more."""
        return sq_radius(self.rows)

    def sq_lengths(self) -> list[Fraction]:
        """The squared length of each point."""
        found = []
        for _, values in stored(self.rows):
            ratios = [value.as_integer_ratio() for value in values]
            common = max((below for _, below in ratios), default=1)  # denominators are powers of two
            found.append(Fraction(sum((above * (common // below)) ** 2 for above, below in ratios), common**2))
        return found

    def signs(self, row: int, rival: int) -> list[tuple[int, int]]:
        """The blocks of a constraint, with the factor of the point in each."""
        own = self.codes[row]
        return [(0, 1 if own else -1)] if self.blocks == 1 else [(own, 1), (rival, -1)]

    def balance(self, multipliers: Multipliers) -> list[Fraction]:
        """The bias of Σ λ·z in each block."""
        total = [Fraction(0)] * self.blocks
        for row, rival, weight in multipliers:
            for block, sign in self.signs(row, rival):
                total[block] += sign * weight
        return total

    def combination(self, multipliers: Multipliers) -> list[Fraction]:
        """The entries of Σ λ·z that are not 0."""
        scale = math.lcm(*(weight.denominator for _, _, weight in multipliers))
        point = np.zeros((self.blocks, self.rows.n_features), dtype=object)
        table = self.rows.take(np.array([row for row, _, _ in multipliers], dtype=np.intp))
        for (row, rival, weight), (features, values) in zip(multipliers, stored(table), strict=True):
            for block, sign in self.signs(row, rival):
                count = sign * int(weight * scale)
                for j, value in zip(features, values, strict=True):
                    above, below = value.as_integer_ratio()
                    point[block, j] += count * above * (DEEP // below)
        return [Fraction(int(entry), scale * DEEP) for entry in point.ravel() if entry]

    def sq_point(self, multipliers: Multipliers) -> Fraction:
        """‖Σ λ·z‖², or an upper bound on it."""
        return sum((entry**2 for entry in self.combination(multipliers)), Fraction(0))

    def sq_length(self, lines: Lines) -> Fraction:
        """‖w‖², or an upper bound on it."""
        return sum((weight**2 for line in lines for weight in line), Fraction(0))

    def margins(self, lines: Lines, biases: Lines) -> list[Fraction]:
        """min_r z_ir·v of each point, or a lower bound on it."""
        scale = math.lcm(*(weight.denominator for line in (*lines, *biases) for weight in line))
        whole = [[int(weight * scale) for weight in line] for line in lines]
        offsets = [int(bias * scale) for (bias,) in biases]
        found = []
        for own, (features, values) in zip(self.codes, stored(self.rows), strict=True):
            ratios = [value.as_integer_ratio() for value in values]
            common = max((below for _, below in ratios), default=1)  # denominators are powers of two
            scores = [
                sum(above * (common // below) * line[j] for (above, below), j in zip(ratios, features, strict=True))
                + common * offset
                for line, offset in zip(whole, offsets, strict=True)
            ]
            if self.blocks == 1:
                value = scores[0] if own else -scores[0]
            else:
                value = scores[own] - max(score for rival, score in enumerate(scores) if rival != own)
            found.append(Fraction(value, common * scale))
        return found


class KernelPoints(RowPoints):
    """Points of a kernel's feature space; `rows` are those of K, and lines are coefficients α of w = Σ_j α_j·φ(x_j).

    Margins are those of the rows of K as features, and lengths come from αᵀKα. With an error ε of the entries of K,
    margins are less by ε‖α‖₁ (several classes: ε‖α_y − α_r‖₁), and squared lengths are more by ε‖α‖₁² for each class.
    """

    OTHERWISE = f"{RowPoints.OTHERWISE}, or K is not semi-definite"

    def sq_radius(self) -> Fraction:
        """The squared length of the longest point, or an upper bound on it."""
        return Fraction(float(self.rows.values.diagonal().max())) + self.error

    def sq_lengths(self) -> list[Fraction]:
        """The squared length of each point, if K is exact."""
        return [Fraction(square) for square in self.rows.values.diagonal().tolist()]

    def sq_point(self, multipliers: Multipliers) -> Fraction:
        """‖Σ λ·z‖², or an upper bound on it."""
        lines = [[Fraction(0)] * len(self.rows) for _ in range(self.blocks)]
        for row, rival, weight in multipliers:
            for block, sign in self.signs(row, rival):
                lines[block][row] += sign * weight
        return self.sq_length(lines)

    def sq_length(self, lines: Lines) -> Fraction:
        """Σ αᵀKα, or an upper bound on it."""
        total = Fraction(0)
        for line in lines:
            scale = math.lcm(*(number.denominator for number in line))
            counts = [(j, int(number * scale)) for j, number in enumerate(line) if number]
            square = 0
            for i, mine in counts:
                values = self.rows.values[i].tolist()
                ratios = ((values[j].as_integer_ratio(), count) for j, count in counts)
                square += mine * sum(above * (DEEP // below) * count for (above, below), count in ratios)
            norm = Fraction(sum(abs(count) for _, count in counts), scale)
            total += Fraction(square, DEEP * scale**2) + self.error * norm**2
        return total

    def margins(self, lines: Lines, biases: Lines) -> list[Fraction]:
        """min_r z_ir·v of each point, or a lower bound on it."""
        found = super().margins(lines, biases)
        if not self.error:
            return found
        apart = [[x - y for x, y in zip(a, b, strict=True)] for a in lines for b in lines if a is not b] or lines
        loss = self.error * max(sum(map(abs, line), Fraction(0)) for line in apart)
        return [margin - loss for margin in found]
