"""Labelled rows as constraints: a hypothesis v separates them if z·v > 0 for every constraint z.

With two classes, z_i = y_i·x_i. With several (Kesler's construction), z_ir has x_i in the block of its own class and
−x_i in the block of a rival r. With a bias, z has a second part that belongs to the constant: y_i, or +1 for the class
and −1 for the rival. Only a few constraints are ever written down; compiled passes over the rows look at all of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.linear import passes
from perceptrons.data import Rows
from perceptrons.solver.rationals import integers, power
from perceptrons.solver.rounding import sq_radius

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Hypothesis:
    """Weights `w` of shape (blocks, features) and biases `b` of shape (blocks,); two classes have one block.

    Entries are floats or exact rationals.
    """

    w: Array
    b: Array

    @property
    def finite(self) -> bool:
        """Whether all floats are finite."""
        return bool(np.isfinite(self.w).all() and np.isfinite(self.b).all())

    @property
    def rational(self) -> bool:
        """Whether the entries are rationals."""
        return self.w.dtype == object

    def floats(self) -> Hypothesis:
        """Return the same hypothesis in float64, with rationals beyond its range as infinity."""
        convert = np.vectorize(_float, otypes=[np.float64])
        return Hypothesis(convert(self.w), convert(self.b)) if self.rational else self

    def rationals(self) -> Hypothesis:
        """Return the same hypothesis with its floats as the rationals that they are."""
        exact = np.vectorize(Fraction, otypes=[object])
        return Hypothesis(exact(self.w), exact(self.b))


def _float(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def signs(own: Ints, rivals: Ints, blocks: int) -> Floats:
    """The factor of each row in each block of its constraint: y, or +1 for its class and −1 for the rival."""
    if blocks == 1:
        return np.where(own == 1, 1.0, -1.0)[:, np.newaxis]
    unit = np.eye(blocks)
    return np.asarray(unit[own] - unit[rivals])


@dataclass(frozen=True)
class Chosen:
    """Some constraints, written down: `A` and `B` are the two parts of z, one line for each constraint."""

    at: Ints
    own: Ints  # the class of each row
    rivals: Ints
    features: Ints  # the features that A has columns for, in each block; elsewhere z is 0
    A: Floats  # of shape (constraints, blocks × features)
    B: Floats  # of shape (constraints, blocks), or (constraints, 0) without a bias

    def keep(self, which: Array) -> Chosen:
        """Return the constraints that the mask `which` selects."""
        return Chosen(self.at[which], self.own[which], self.rivals[which], self.features, self.A[which], self.B[which])


@dataclass(frozen=True)
class Constraints:
    """All constraints of some rows and their classes, and how to measure hypotheses about them."""

    rows: Rows
    codes: Array
    n_classes: int
    bias: bool

    @property
    def blocks(self) -> int:
        """The number of weight vectors in a hypothesis."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def dimension(self) -> int:
        """The number of unknowns of a hypothesis, not counting what changes no prediction."""
        return (self.n_classes - 1) * (self.rows.n_features + self.bias)

    @property
    def searched(self) -> Constraints:
        """The constraints that floats search in."""
        return self

    def take(self, at: Ints, codes: Array, n_classes: int) -> Constraints:
        """Return the constraints of some rows, with new classes."""
        return replace(self, rows=self.rows.take(at), codes=codes, n_classes=n_classes)

    def choose(self, at: Ints, rivals: Ints) -> Chosen:
        """Write down the constraints that set rows `at` against `rivals`."""
        features, lines = self.lines(at)
        own = self.codes[at].astype(np.intp)
        B = signs(own, rivals, self.blocks)
        A = B[:, :, np.newaxis] * lines[:, np.newaxis]
        A[B == 0] = 0.0  # not −0.0, which changes the signs of a QR decomposition
        return Chosen(at, own, rivals, features, A.reshape(len(at), -1), B if self.bias else B[:, :0])

    def hypothesis(self, chosen: Chosen, w: Array, b: Array) -> Hypothesis:
        """Return the hypothesis with weights `w` on the columns of `chosen.A` and zeros elsewhere."""
        full = np.zeros((self.blocks, self.rows.n_features), dtype=w.dtype)
        full[:, chosen.features] = w.reshape(self.blocks, -1)
        return Hypothesis(full, b if self.bias else np.zeros(self.blocks, dtype=w.dtype))

    def margins(self, hypothesis: Hypothesis) -> tuple[Floats, Array]:
        """min_r z_ir·v of each row in floats, and the rivals that attain it."""
        w = np.column_stack([hypothesis.w, hypothesis.b]).T
        if self.blocks == 1:
            values = passes.margins(
                *self.rows.arrays, self.codes, float(self.bias), np.ascontiguousarray(w[:, 0]), None
            )
            return values, 1 - self.codes
        order = np.asfortranarray if self.rows.indices is None else np.ascontiguousarray
        rivals = np.empty(len(self.rows), dtype=self.codes.dtype)
        return passes.margins(*self.rows.arrays, self.codes, float(self.bias), order(w), rivals), rivals

    def error(self, hypothesis: Hypothesis) -> Floats:
        """An upper bound on the error of each of these margins, including the rounding of the hypothesis to floats.

        A sum of n products has an error of at most (n + 1)·u·Σ|x_j·w_j| in any order of summation, u = ε/2 (Higham
        2002, §3.1); a margin is the difference of two sums. The last term covers underflow, also when flushed to zero.
        """
        most = np.abs(np.column_stack([hypothesis.w, hypothesis.b])).max(axis=0) + 1e-290
        sizes = passes.sizes(*self.rows.arrays, float(self.bias), most)
        terms = self.rows.n_features + 8
        return np.asarray(2 * terms * (np.finfo(np.float64).eps * sizes + (1.0 + most.max()) * 1e-307))

    def lines(self, at: Ints) -> tuple[Ints, Floats]:
        """The rows at `at` as a dense table, and its features: all, or those that occur in sparse rows."""
        lines = self.rows.matrix()[at]
        if self.rows.indices is None:
            return np.arange(self.rows.n_features), np.asarray(lines, dtype=np.float64)
        features = np.unique(lines.indices)
        return features, np.asarray(lines[:, features].toarray(), dtype=np.float64)

    # -- lengths, exactly: if the bias is free, it does not count as a weight -----------------------------------------

    def sq_radius(self) -> Fraction:
        """max ‖x‖², or slightly more."""
        return sq_radius(self.rows)

    def sq_length(self, hypothesis: Hypothesis, *, free: bool) -> Fraction:
        """‖w‖², or an upper bound on it."""
        numbers = hypothesis.w.ravel() if free else np.append(hypothesis.w, hypothesis.b)
        if hypothesis.rational:
            return sum((number**2 for number in numbers if number), Fraction(0))
        whole, exponent = integers(numbers, axis=None)
        return int((whole * whole).sum()) * power(2 * int(exponent))

    def loss(self, hypothesis: Hypothesis) -> Fraction:
        """The most that errors in the data can take from a margin."""
        return Fraction(0)

    def sq_hull(self, chosen: Chosen, weights: Sequence[Fraction], *, free: bool) -> Fraction:
        """‖Σ λ_i z_i‖² for multipliers λ, or an upper bound on it."""
        scale = math.lcm(*(weight.denominator for weight in weights))
        table, exponent = integers(chosen.A if free else np.column_stack([chosen.A, chosen.B]), axis=None)
        counts = np.array([weight.numerator * (scale // weight.denominator) for weight in weights], dtype=object)
        return sum(int(entry) ** 2 for entry in counts @ table) * power(2 * int(exponent)) / scale**2

    def unit(self, hypothesis: Hypothesis, *, free: bool) -> Hypothesis:
        """Return the same hypothesis in floats with ‖w‖ about 1; it is not finite where floats do not reach."""
        w, b = hypothesis.w, hypothesis.b
        largest = max(np.abs(w).max(), 0 if free else np.abs(b).max())
        scaled = Hypothesis(w / largest, b / largest).floats()
        length = np.linalg.norm(scaled.w if free else np.column_stack([scaled.w, scaled.b]))
        return Hypothesis(scaled.w / length, scaled.b / length)
