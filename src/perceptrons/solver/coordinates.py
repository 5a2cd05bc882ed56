"""Coordinates in which floats see the last bits of the rows.

Rows of low rank up to rounding, such as products of thin factors, can depend on their rounding errors for a verdict.
Those are invisible beside the rest. But no invertible change of the features changes the verdict, nor does a positive
factor of a row. So rows are scaled to one size, and a feature that others nearly determine is replaced by the
difference x_j − Σ c_k·x_k, in exact arithmetic, and scaled up.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular

from perceptrons.data import as_rows
from perceptrons.solver.constraints import Chosen, Constraints, Floats, Hypothesis, Ints, signs
from perceptrons.solver.exact import combination, independent, moderate, violators
from perceptrons.solver.patience import step
from perceptrons.solver.rationals import Whole, integers, power
from perceptrons.solver.threads import one_thread
from perceptrons.solver.working_set import ZERO, rounds

CLEAR = 2.0**-8  # a feature is replaced if others determine it up to this share of its length
LEVELS = 16  # of replacing features
FINE = 53  # bits of the factors c
RANGE = 1000  # bits of an integer that a float can hold
SIZE = 1 << 20  # numbers in a view
VIEWS = 10  # one after the other, each with more rows


@dataclass(frozen=True)
class View:
    """Some rows in such coordinates."""

    of: Constraints
    at: Ints  # their numbers
    features: Ints  # the features of the table
    table: Whole  # the rows, and the constant if there is a bias, each row times a power of two, as integers
    shifts: list[int]  # the exponents of these powers
    back: Whole  # v = back·v' are the weights for the table
    bits: int
    seen: Constraints  # table·back/2^bits in floats; without a bias

    def hypothesis(self, found: Hypothesis) -> Hypothesis:
        """Return the hypothesis about the rows themselves, in rationals."""
        whole, _ = integers(found.w, axis=None)
        lines = product(whole, self.back.T)
        w = np.zeros((self.of.blocks, self.of.rows.n_features), dtype=object) + Fraction(0)
        w[:, self.features] = np.vectorize(Fraction, otypes=[object])(lines[:, : len(self.features)])
        b = [Fraction(int(line[-1])) if self.of.bias else Fraction(0) for line in lines]
        return Hypothesis(w, np.array(b, dtype=object))

    def contradiction(self, chosen: Chosen, weights: Floats) -> tuple[Chosen, list[Fraction]] | None:
        """Find multipliers near the given ones that combine some of the rows to 0, if there are any."""
        factors = signs(chosen.own, chosen.rivals, self.of.blocks).astype(np.int64).astype(object)
        lines = (factors[:, :, np.newaxis] * self.table[chosen.at][:, np.newaxis]).reshape(len(factors), -1)
        found = combination(lines, weights)
        if found is None:
            return None
        kept, whole = found
        exact = [entry * power(self.shifts[i]) for entry, i in zip(whole, chosen.at[kept].tolist(), strict=True)]
        total = sum(exact)
        return self.of.choose(self.at[chosen.at[kept]], chosen.rivals[kept]), [entry / total for entry in exact]


def decide(constraints: Constraints, chosen: Chosen) -> tuple[Chosen, list[Fraction]] | tuple[Hypothesis, View] | None:
    """Decide all constraints: return multipliers that combine to 0, or a separator and the view that showed it.

    Of many rows, the view has those chosen and others spread evenly. What separates them may not separate all; then the
    worst violators join. Returns None if neither is found.
    """
    n, most = len(constraints.rows), max(2, SIZE // (constraints.rows.n_features + 1))
    at = np.union1d(chosen.at, np.linspace(0, n - 1, min(n, most)).astype(np.intp))
    for _ in range(VIEWS):
        current = view(constraints, at)
        worse: list[tuple[int, int]] = []
        for last in rounds(current.seen, free=True, even=True):
            if last.margin > 0:
                hypothesis = moderate(current.hypothesis(last.hypothesis))
                worse = violators(constraints, hypothesis, most)
                if not worse:
                    return hypothesis, current
                if not np.isin([row for row, _ in worse], at).all():
                    break
        else:
            return current.contradiction(last.chosen, last.weights) if last.distance < ZERO else None
        at = np.union1d(at, [row for row, _ in worse])
    return None


def view(constraints: Constraints, at: Ints) -> View:
    """Look at the rows at `at` in coordinates that floats can search in."""
    features, lines = constraints.lines(at)
    lines = np.column_stack([lines, np.ones((len(at), int(constraints.bias)))])
    table, shifts = _of_one_size(lines)
    lines, bits, back = _replaced(table)
    seen = Constraints(as_rows(lines), constraints.codes[at], constraints.n_classes, bias=False)
    return View(constraints, at, features, table, shifts, back, bits, seen)


def _of_one_size(lines: Floats) -> tuple[Whole, list[int]]:
    """Multiply each row by a power of two, so that all become integers of one size; return the exponents, too."""
    whole, lowest = integers(lines.T, axis=0)
    top = np.frexp(np.abs(lines).max(axis=1))[1].astype(np.int64) - lowest  # bits of the largest number of a row
    top = np.maximum(top, 0)  # a row of zeros
    more = top.max() - top
    return np.left_shift(whole.T, more[:, np.newaxis].astype(object)), (more - lowest).tolist()


def _replaced(table: Whole) -> tuple[Floats, int, Whole]:
    """Replace features until none is nearly determined by others: return table·back/2^bits in floats, bits and back.

    Features that others determine exactly remain; they become 0, or combinations of the size of the others.
    """
    rank = len(independent(table))
    rows, back = _even(table, np.eye(table.shape[1], dtype=np.int64).astype(object))
    for _ in range(LEVELS):
        step("looking at the last bits")
        seen, bits = floats(rows)
        length = np.linalg.norm(seen, axis=0)
        order = np.flatnonzero(length)
        with one_thread():
            R, pivots = qr(seen[:, order] / length[order], mode="r", pivoting=True, check_finite=False)
            clear = int((np.abs(np.diag(R)) > CLEAR).sum())
            if clear >= rank:
                break
            C = solve_triangular(R[:clear, :clear], R[:clear, clear:], check_finite=False)
        first, rest = order[pivots[:clear]], order[pivots[clear:]]
        C = np.rint(np.ldexp(C * length[rest] / length[first, np.newaxis], FINE))
        whole = np.vectorize(int, otypes=[object])(C)
        for one in (rows, back):
            one[:, rest] = (one[:, rest] << FINE) - product(one[:, first], whole)
        rows, back = _even(rows, back)
    else:
        seen, bits = floats(rows)
    return seen, bits, back


def _even(rows: Whole, back: Whole) -> tuple[Whole, Whole]:
    """Multiply each feature that is not 0 by a power of two, so that all have the same size."""
    bits = [max(map(int.bit_length, column)) for column in rows.T.tolist()]
    more = np.array([max(bits) - own if own else 0 for own in bits], dtype=object)
    return np.left_shift(rows, more), np.left_shift(back, more)


def floats(rows: Whole) -> tuple[Floats, int]:
    """Divide integers by 2^bits, which makes them at most 1; return the bits, too."""
    bits = max(map(int.bit_length, rows.ravel().tolist()))
    within = rows >> bits - RANGE if bits > RANGE else rows
    return np.asarray(np.ldexp(within.astype(np.float64), -min(bits, RANGE))), bits


def product(one: Whole, other: Whole) -> Whole:
    """The product of two matrices of integers."""
    from flint import fmpz_mat

    product: Any = (fmpz_mat(one.tolist()) * fmpz_mat(other.tolist())).tolist()
    return np.array([[int(entry) for entry in line] for line in product], dtype=object).reshape(len(one), -1)
