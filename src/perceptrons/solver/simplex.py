"""The simplex method in exact arithmetic, which decides where floats cannot."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from perceptrons.solver.constraints import Chosen, Constraints, Hypothesis
from perceptrons.solver.exact import independent, moderate, violators
from perceptrons.solver.patience import step
from perceptrons.solver.rationals import Whole, power, primitive

REACH = 1_500_000_000  # give up after this number of operations on machine words: about ten seconds
HASTY = 4  # pivots for each unknown by the steepest gain; after these Bland's rule, which cannot cycle


def decide(constraints: Constraints, chosen: Chosen) -> tuple[Chosen, list[Fraction]] | Hypothesis | None:
    """Decide all constraints, starting with those chosen: return multipliers that combine to 0, or a separator.

    Constraints that are likely to contradict each other should come first. Returns None if that takes too long.
    """
    left = REACH
    while True:
        lines, rows, columns = primitive(np.column_stack([chosen.A, chosen.B]))
        answer = phase_one(lines, left)
        if answer is None:
            return None
        basis, numbers, left, separates = answer
        if not separates:
            if any(np.array(numbers, dtype=object) @ lines[basis]):  # all primes were unlucky
                return None
            exact = [number * power(rows[i]) for i, number in zip(basis, numbers, strict=True)]
            total = sum(exact)
            return chosen.keep(np.array(basis)), [number / total for number in exact]
        v = np.array([number * power(e) for number, e in zip(numbers, columns, strict=True)], dtype=object)
        hypothesis = moderate(constraints.hypothesis(chosen, v[: chosen.A.shape[1]], v[chosen.A.shape[1] :]))
        worse = violators(constraints, hypothesis, most=2 * len(v))
        if not worse:
            return hypothesis
        at, rivals = np.array(worse, dtype=np.intp).T
        first = [*basis, *np.setdiff1d(np.arange(len(chosen.at)), basis).tolist()]
        chosen = constraints.choose(np.append(chosen.at[first], at), np.append(chosen.rivals[first], rivals))


def phase_one(lines: Whole, left: int) -> tuple[list[int], list[Fraction], int, bool] | None:
    """Decide whether 0 is in the hull of some lines: return (basis, λ, left, False) if so, else (basis, v, left, True).

    This is phase one of the revised simplex method for Σ λ_i z_i = 0, Σλ = 1, λ ≥ 0. It starts from the first lines
    that are independent. If their λ are not all ≥ 0, an artificial line with a multiplier t makes them so, and t falls
    with every pivot: to 0, or until prices v prove that it cannot, with z·v > 0 for all lines. A basic solution is the
    only one with its support, so none of its lines can be dropped. `left` is the work that may be done, and what
    remains of it. Returns None if it does not suffice.
    """
    from flint import fmpz_mat

    features = independent(lines)
    size = len(features) + 1
    Z = np.column_stack([lines[:, features], np.ones(len(lines), dtype=np.int64).astype(object)])
    basis = independent(Z.T)
    words = 1 + max(entry.bit_length() for entry in Z.ravel().tolist()) // 64
    cost = (size**3 + len(lines) * size * size // 16) * words * words
    left -= cost
    if left < 0:
        return None
    if len(basis) < size:  # then some v has z·v = 1 for all lines
        v, _ = _solved(Z[basis][:, :-1], [[1] * len(basis)])
        return basis, _spread(v[0], features, lines.shape[1]), left, True
    end = [0] * (size - 1) + [1]
    B = Z[basis]
    x = _solved(B.T, [end])[0][0]
    leaving = x.index(min(x))
    if x[leaving] < 0:
        basis[leaving], B[leaving] = -1, -B.sum(axis=0)  # the artificial line: x + t·1 ≥ 0
    table, sizes = fmpz_mat(Z.tolist()), [max(map(int.bit_length, line)) for line in Z.tolist()]
    pivots = 0
    while -1 in basis:
        step(f"exact arithmetic: pivot {pivots:,}, {len(lines):,} constraints")
        left -= cost
        if left < 0:
            return None
        artificial = basis.index(-1)
        (y,), scale = _solved(B, [[int(i == artificial) for i in range(size)]])
        gains = [int(line[0]) for line in (table * fmpz_mat([[int(entry * scale)] for entry in y])).tolist()]
        better = [i for i, gain in enumerate(gains) if gain > 0]
        if not better:
            basis.remove(-1)
            return basis, _spread([-entry for entry in y[:-1]], features, lines.shape[1]), left, True
        hasty = pivots < HASTY * size
        entering = max(better, key=lambda i: Fraction(gains[i], 1 << sizes[i])) if hasty else better[0]
        (x, slope), _ = _solved(B.T, [end, Z[entering].tolist()])
        _, _, leaving = min((x[r] / slope[r], basis[r], r) for r in range(size) if slope[r] > 0)
        basis[leaving], B[leaving] = entering, Z[entering]
        pivots += 1
    x = _solved(B.T, [end])[0][0]
    ends = [r for r in range(size) if x[r] > 0]
    return [basis[r] for r in ends], [x[r] for r in ends], left, False


def _solved(table: Whole, sides: list[list[int]]) -> tuple[list[list[Fraction]], int]:
    """Solve linear equations for each of the right sides; the second item is the common denominator."""
    from flint import fmpz_mat

    solution: Any = fmpz_mat(table.tolist()).solve(fmpz_mat(sides).transpose())
    above, below = solution.numer_denom()
    scale = int(below)
    return [[Fraction(int(entry), scale) for entry in line] for line in above.transpose().tolist()], scale


def _spread(numbers: list[Fraction], features: list[int], width: int) -> list[Fraction]:
    """Numbers for some features, and 0 for the others."""
    full = [Fraction(0)] * width
    for j, number in zip(features, numbers, strict=True):
        full[j] = number
    return full
