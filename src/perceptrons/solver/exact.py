"""Exact margins and exact multipliers, in rational arithmetic.

FLINT (python-flint) does the linear algebra over the integers: its modular algorithms solve hundreds of equations in
53-bit integers within a second. Elimination with fractions would take hours.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from perceptrons.solver.constraints import Chosen, Constraints, Floats, Hypothesis, Ints
from perceptrons.solver.patience import step
from perceptrons.solver.rationals import FAR, Whole, integers, power

TIGHT = 1e-10  # float bounds closer than this, relatively, need no exact arithmetic
PIECE = 1 << 18  # numbers that are computed exactly at a time
PRIMES = 2**61 - 1, 2**63 - 25, 2**64 - 59
NOISE = 1e-13  # float multipliers smaller than this, relatively, are rounding errors


def margins(constraints: Constraints, hypothesis: Hypothesis, at: Ints) -> tuple[Whole, Ints, Fraction]:
    """min_r z_ir·v of the rows at `at` in integers, the rivals that attain it, and the unit of the integers.

    The hypothesis must be rational.
    """
    features, lines = constraints.lines(at)
    table, exponents = integers(lines, axis=0)
    units = [power(int(e)) if e < FAR else Fraction(0) for e in exponents]  # a column of zeros has no exponent
    weights = [[w * unit for w, unit in zip(line, units, strict=True)] for line in hypothesis.w[:, features]]
    biases = [b * int(constraints.bias) for b in hypothesis.b]
    scale = math.lcm(*(number.denominator for line in [*weights, biases] for number in line))
    whole = np.array([[int(weight * scale) for weight in line] for line in weights], dtype=object)
    scores = table @ whole.T + np.array([int(b * scale) for b in biases], dtype=object)
    own, every = constraints.codes[at].astype(np.intp), np.arange(len(at))
    if constraints.blocks == 1:
        return np.where(own == 1, scores[:, 0], -scores[:, 0]), 1 - own, Fraction(1, scale)
    mine = scores[every, own]
    scores[every, own] = scores.min() - 1  # out of the way
    rivals = scores.argmax(axis=1)
    return mine - scores[every, rivals], rivals, Fraction(1, scale)


def blocks_of(constraints: Constraints, at: Ints) -> list[Ints]:
    """Split row numbers into pieces that fit in memory as exact numbers."""
    size = max(1, PIECE // constraints.rows.n_features)
    return [at[begin : begin + size] for begin in range(0, len(at), size)]


def moderate(hypothesis: Hypothesis) -> Hypothesis:
    """Scale a rational hypothesis by a power of two, so that its largest entry is about 1."""
    largest = max(abs(entry) for entry in [*hypothesis.w.ravel(), *hypothesis.b])
    factor = power(largest.denominator.bit_length() - largest.numerator.bit_length())
    return Hypothesis(hypothesis.w * factor, hypothesis.b * factor)


def smallest_margin(constraints: Constraints, hypothesis: Hypothesis) -> tuple[Fraction, int, int]:
    """The smallest z·v of all constraints, with its row and rival; or a lower bound that is relatively within TIGHT.

    Float passes with an error bound leave a few rows that could have the smallest; these are computed exactly.
    """
    floats = hypothesis.floats()
    with np.errstate(all="ignore"):  # exact arithmetic handles what overflows
        values, rivals = constraints.margins(floats)
        error = constraints.error(floats)
        low = values - error
        high = float(np.add(values, error, out=values).min())
    i = int(low.argmin())
    if low[i] > 0 and low[i] >= (1 - TIGHT) * high:
        return Fraction(float(low[i])), i, int(rivals[i])
    exact = hypothesis.rationals()
    least: list[tuple[Fraction, int, int]] = []
    for at in blocks_of(constraints, np.flatnonzero(~(low > high))):
        found, opponents, unit = margins(constraints, exact, at)
        k = int(found.argmin())
        least.append((int(found[k]) * unit, int(at[k]), int(opponents[k])))
    return min(least)


def violators(constraints: Constraints, hypothesis: Hypothesis, most: int) -> list[tuple[int, int]]:
    """Up to `most` rows with z·v ≤ 0 in exact arithmetic, with their rivals; none only if v separates all rows."""
    floats = hypothesis.floats()
    with np.errstate(all="ignore"):
        values, _ = constraints.margins(floats)
        doubtful = np.flatnonzero(~(values > constraints.error(floats)))
    exact = hypothesis.rationals()
    found: list[tuple[int, int]] = []
    for at in blocks_of(constraints, doubtful[np.argsort(values[doubtful])]):
        margin, rivals, _ = margins(constraints, exact, at)
        found += [(int(at[k]), int(rivals[k])) for k in np.flatnonzero(margin <= 0)]
        if len(found) >= most:
            break
    return found[:most]


# -- multipliers of a few constraints -----------------------------------------------------------------------------


def without_noise(chosen: Chosen, weights: Floats) -> tuple[Chosen, Floats]:
    """Drop constraints whose float multipliers are only rounding errors."""
    loud = weights > NOISE * weights.max()
    return chosen.keep(loud), weights[loud]


def contradiction(chosen: Chosen, weights: Floats) -> tuple[Chosen, list[Fraction]] | None:
    """Find λ > 0 with Σ λ_i z_i = 0 and Σλ = 1 near the given floats, for as few constraints as possible."""
    found = combination(_whole(chosen), weights)
    if found is None:
        return None
    kept, whole = found
    total = sum(whole)
    return chosen.keep(kept), [Fraction(entry, total) for entry in whole]


def combination(lines: Whole, weights: Floats) -> tuple[Ints, list[int]] | None:
    """Find integers λ > 0 near a multiple of the weights that combine lines to 0; return their numbers and λ.

    Multipliers that are only rounding errors are dropped. If the rest allow a choice, they move along it until one of
    them is 0, as in the proof of Carathéodory's theorem. When no choice is left, no line can be dropped. Returns None
    if no such λ is found.
    """
    kept = np.flatnonzero(weights > NOISE * weights.max())
    step(f"exact multipliers of {len(kept):,} constraints")
    basis = _null_space(lines[kept])
    if not basis:
        return None
    shares = [1]
    if len(basis) > 1:
        sizes = [max(map(abs, vector)) for vector in basis]
        floats = np.array([[entry / size for entry in vector] for vector, size in zip(basis, sizes, strict=True)])
        found = np.linalg.lstsq(floats.T, weights[kept], rcond=None)[0]
        scale = math.prod(sizes)  # shares of the unscaled vectors, as integers
        shares = [int(share * 2.0**60) * (scale // size) for share, size in zip(found, sizes, strict=True)]
    whole = [sum(map(operator.mul, shares, entries)) for entries in zip(*basis, strict=True)]
    if sum(whole) < 0:
        whole = [-entry for entry in whole]
    while len(basis) > 1 and min(whole) > 0:
        step(f"exact multipliers of {len(kept):,} constraints")
        way = basis[0] if max(basis[0]) > 0 else [-entry for entry in basis[0]]
        first = min((i for i, entry in enumerate(way) if entry > 0), key=lambda i: Fraction(whole[i], way[i]))
        whole = [entry * way[first] - whole[first] * move for entry, move in zip(whole, way, strict=True)]
        kept, whole = kept[np.array(whole) > 0], [entry for entry in whole if entry > 0]
        basis = _null_space(lines[kept])
    return (kept, whole) if len(basis) == 1 and min(whole) > 0 else None


def dependent(chosen: Chosen) -> bool:
    """Whether some μ has Σ μ_i z_i = 0."""
    return bool(_null_space(_whole(chosen)))


def _whole(chosen: Chosen) -> Whole:
    """The constraints as lines of integers; each column is multiplied by a power of two."""
    return integers(np.column_stack([chosen.A, chosen.B]), axis=0)[0]


def _null_space(lines: Whole) -> list[list[int]]:
    """A basis of all μ with Σ μ_i z_i = 0, in integers."""
    from flint import fmpz_mat

    space, nullity = fmpz_mat(lines.T.tolist()).nullspace()
    table = space.tolist()
    return [[int(line[c]) for line in table] for c in range(nullity)]


def independent(table: Whole) -> list[int]:
    """The numbers of columns of which none is a combination of those before, as many as possible.

    Columns that are independent modulo a prime are independent. More may be, if all the primes are unlucky. So what
    rests on this needs another proof.
    """
    from flint import fmpz_mat, nmod_mat

    whole = fmpz_mat(table.tolist())
    best: list[int] = []
    for prime in PRIMES:
        echelon, rank = nmod_mat(whole, prime).rref()
        pivots: list[int] = []
        for r in range(rank):
            column = pivots[-1] + 1 if pivots else 0
            while int(echelon[r, column]) == 0:
                column += 1
            pivots.append(column)
        best = max(best, pivots, key=len)
        if rank == min(table.shape):
            break
    return best


def nearest_point(chosen: Chosen, free: bool) -> tuple[Whole, Whole, list[Fraction]] | None:
    """Of the plane through these constraints, the point w = Σ λ_i z_i nearest to 0, its bias b, and λ with Σλ = 1.

    Lagrange: A·Aᵀ·λ + B·b = μ for all constraints, Bᵀ·λ = s·b and Σλ = 1, with s = 0 if the bias is free and s = 1 if
    it counts as a weight. So all z·(w, b) are equal. Returns None if λ is not unique.
    """
    from flint import fmpq, fmpq_mat

    A = fmpq_mat([[fmpq(*value.as_integer_ratio()) for value in line] for line in chosen.A.tolist()])
    # Only differences between the biases of several classes matter: if they are free, the first is 0.
    fixed = 1 if free and chosen.B.shape[1] > 1 else 0
    B = chosen.B[:, fixed:].astype(int).tolist()
    n, q = len(B), len(B[0])
    table = [[*line, *biases, -1] for line, biases in zip((A * A.transpose()).tolist(), B, strict=True)]
    table += [[*(line[c] for line in B), *(0 if free or c != e else -1 for e in range(q)), 0] for c in range(q)]
    table += [[1] * n + [0] * (q + 1)]
    try:
        solution = fmpq_mat(table).solve(fmpq_mat([[0]] * (n + q) + [[1]]))
    except ZeroDivisionError:
        return None
    numbers = [line[0] for line in solution.tolist()]
    w = (fmpq_mat([numbers[:n]]) * A).tolist()[0]
    exact = [_fraction(number) for number in [*w, *([0] * fixed), *numbers[n : n + q], *numbers[:n]]]
    width = len(w)
    biases = fixed + q
    return (
        np.array(exact[:width], dtype=object),
        np.array(exact[width : width + biases], dtype=object),
        exact[width + biases :],
    )


def _fraction(number: Any) -> Fraction:
    return Fraction(int(number.p), int(number.q)) if number else Fraction(0)


def multipliers(chosen: Chosen, weights: Iterable[float | Fraction], free: bool) -> list[Fraction] | None:
    """Find multipliers λ ≥ 0 with Σλ = 1 near the given ones; with a free bias they also balance the classes.

    Returns None if the given weights are too far from such multipliers.
    """
    exact = [Fraction(weight) for weight in weights]
    if free:
        _balance(chosen, exact)
    total = sum(exact)
    if total == 0 or min(exact) < 0:
        return None
    return [weight / total for weight in exact]


def _balance(chosen: Chosen, weights: list[Fraction]) -> None:
    """For each class, make the weights for it equal to those against it; changes the weights in place.

    Constraints are edges from a class to a rival, and weights are a flow. What is left over at a class moves on along
    a tree of the heaviest edges, from the leaves inwards.
    """
    if chosen.B.shape[1] == 0:
        return
    ends = np.column_stack([chosen.own, chosen.rivals]).tolist()
    excess = {c: Fraction(0) for pair in ends for c in pair}
    group = {c: {c} for c in excess}  # the classes that the tree connects so far
    tree = []
    for edge in sorted(range(len(ends)), key=weights.__getitem__, reverse=True):
        a, b = ends[edge]
        excess[a] += weights[edge]
        excess[b] -= weights[edge]
        if b not in group[a]:
            tree.append(edge)
            both = group[a] | group[b]
            group.update(dict.fromkeys(both, both))
    while tree:
        degree = Counter(c for edge in tree for c in ends[edge])
        edge = next(edge for edge in tree if 1 in (degree[ends[edge][0]], degree[ends[edge][1]]))
        a, b = ends[edge]
        moved = -excess[a] if degree[a] == 1 else excess[b]
        weights[edge] += moved
        excess[a] += moved
        excess[b] -= moved
        tree.remove(edge)
