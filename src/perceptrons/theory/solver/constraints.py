"""Labelled rows as constraints: a hypothesis v separates them if z·v > 0 for every z.

Two classes: z_i = y_i·x_i. Several (Kesler's construction): z_ir has x_i in the block of its class, −x_i in that of a
rival r. With a bias, z has a second part that belongs to the constant: y_i, or +1 for the class and −1 for the rival.
Only a few constraints are ever written down; all of them are looked at by compiled passes over the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.linear import passes
from perceptrons.data import Rows

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Hypothesis:
    """Weights `w` of shape (blocks, features) and biases `b` of shape (blocks,); one block for two classes.

    Entries are floats or exact rationals.
    """

    w: npt.NDArray[Any]
    b: npt.NDArray[Any]

    def floats(self) -> Hypothesis:
        """The same in float64, rationals beyond its range as infinity."""
        convert = np.vectorize(_float, otypes=[np.float64])
        return Hypothesis(convert(self.w), convert(self.b)) if self.w.dtype == object else self


def _float(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


@dataclass(frozen=True)
class Chosen:
    """Some constraints written down: `A` and `B` are the two parts of z, a line each; others' columns of A are zero."""

    at: Ints
    own: Ints  # the class of each row
    rivals: Ints
    features: Ints  # the features that A has columns for, in each block
    A: Floats  # of shape (constraints, blocks × features)
    B: Floats  # of shape (constraints, blocks), or (constraints, 0) without a bias

    def keep(self, which: npt.NDArray[Any]) -> Chosen:
        """Those of them that `which` says."""
        return Chosen(self.at[which], self.own[which], self.rivals[which], self.features, self.A[which], self.B[which])


@dataclass(frozen=True)
class Constraints:
    """All constraints that rows and their classes make."""

    rows: Rows
    codes: npt.NDArray[Any]
    n_classes: int
    bias: bool

    @property
    def blocks(self) -> int:
        """How many weight vectors a hypothesis has."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def dimension(self) -> int:
        """How many numbers a hypothesis has that can be told apart by its predictions."""
        return (self.n_classes - 1) * (self.rows.n_features + self.bias)

    def choose(self, at: Ints, rivals: Ints) -> Chosen:
        """The constraints that set rows `at` against `rivals`, written down."""
        features, lines = self.lines(at)
        own, every = self.codes[at].astype(np.intp), np.arange(len(at))
        if self.blocks == 1:
            sign = np.where(own == 1, 1.0, -1.0)
            A, B = np.asarray(lines * sign[:, np.newaxis]), sign[:, np.newaxis]
        else:
            spread, B = np.zeros((len(at), self.blocks, len(features))), np.zeros((len(at), self.blocks))
            spread[every, own], B[every, own] = lines, 1.0
            spread[every, rivals], B[every, rivals] = -lines, -1.0
            A = spread.reshape(len(at), -1)
        return Chosen(at, own, rivals, features, A, B if self.bias else B[:, :0])

    def hypothesis(self, chosen: Chosen, w: npt.NDArray[Any], b: npt.NDArray[Any]) -> Hypothesis:
        """The hypothesis that has weights `w` on the columns of `chosen.A` and none elsewhere."""
        full = np.zeros((self.blocks, self.rows.n_features), dtype=w.dtype)
        full[:, chosen.features] = w.reshape(self.blocks, -1)
        return Hypothesis(full, b if self.bias else np.zeros(self.blocks, dtype=w.dtype))

    def margins(self, hypothesis: Hypothesis) -> tuple[Floats, npt.NDArray[Any]]:
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
        """An upper bound on the error of each of these margins, rounding of the hypothesis to floats included.

        A sum of n products has an error of at most (n + 1)·u·Σ|x_j·w_j| in any order of summation, u = ε/2 (Higham
        2002, §3.1); a margin is a difference of two. The rest covers underflow, also where it is flushed to zero.
        """
        most = np.abs(np.column_stack([hypothesis.w, hypothesis.b])).max(axis=0) + 1e-290
        sizes = passes.sizes(*self.rows.arrays, float(self.bias), most)
        terms = self.rows.n_features + 8
        return np.asarray(2 * terms * (np.finfo(np.float64).eps * sizes + (1.0 + most.max()) * 1e-307))

    def lines(self, at: Ints) -> tuple[Ints, Floats]:
        """The rows at `at`, dense, and the features that they have: all, or those that occur in sparse ones."""
        lines = self.rows.matrix()[at]
        if self.rows.indices is None:
            return np.arange(self.rows.n_features), np.asarray(lines, dtype=np.float64)
        features = np.unique(lines.indices)
        return features, np.asarray(lines[:, features].toarray(), dtype=np.float64)
