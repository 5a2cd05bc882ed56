"""The simplex method in exact arithmetic, which decides where floats cannot."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from perceptrons.solver.constraints import Chosen, Constraints, Hypothesis
from perceptrons.solver.exact import moderate, violators
from perceptrons.solver.rationals import Whole, integers, power

REACH = 200_000_000  # give up after this number of operations on machine words: about ten seconds


def decide(constraints: Constraints, chosen: Chosen) -> tuple[Chosen, list[Fraction]] | Hypothesis | None:
    """Decide all constraints, starting with those chosen: return multipliers that combine to 0, or a separator.

    Returns None if that takes too long.
    """
    left = REACH
    while True:
        table, exponents = integers(np.column_stack([chosen.A, chosen.B]), axis=0)
        answer = phase_one(table, left)
        if answer is None:
            return None
        basis, numbers, left = answer
        if basis is not None:
            return chosen.keep(np.array(basis)), numbers
        scaled = [
            number / power(int(e)) if number else Fraction(0) for number, e in zip(numbers, exponents, strict=True)
        ]
        v = np.array(scaled, dtype=object)
        hypothesis = moderate(constraints.hypothesis(chosen, v[: chosen.A.shape[1]], v[chosen.A.shape[1] :]))
        worse = violators(constraints, hypothesis, most=2 * len(v))
        if not worse:
            return hypothesis
        chosen = _joined(constraints, chosen, worse)


def _joined(constraints: Constraints, chosen: Chosen, more: list[tuple[int, int]]) -> Chosen:
    """Add constraints, given by row and rival."""
    at, rivals = np.array(more, dtype=np.intp).T
    return constraints.choose(np.append(chosen.at, at), np.append(chosen.rivals, rivals))


def phase_one(table: Whole, left: int) -> tuple[list[int] | None, list[Fraction], int] | None:
    """Decide whether 0 is in the hull of the lines of `table`: (basis, λ) if so, else (None, v) with z·v > 0 for all.

    This is phase one of the simplex method for Σ λ_i z_i = 0, Σλ = 1, λ ≥ 0. It needs no fractions: every entry is a
    determinant, and `scale` is the common denominator. Bland's rule, used after many pivots, cannot cycle. A basic
    solution is the only one with its support, so none of its lines can be dropped. `left` is the work that may be done;
    the third item returned is what remains of it. Returns None if the work does not suffice.
    """
    n, width = table.shape
    m = width + 1
    T = np.zeros((m, n + m + 1), dtype=object)  # columns: the lines, artificial variables, the right side
    T[:width, :n], T[width, :n] = table.T, 1
    T[np.arange(m), n + np.arange(m)] = 1
    T[width, -1] = 1
    basis = list(range(n, n + m))
    scale = 1

    def pivot(r: int, c: int) -> None:
        nonlocal T, scale, left
        entry, line = T[r, c], T[r].copy()
        words = max(number.bit_length() for number in line) // 32
        left -= T.size * (4 + words + words * words // 64)  # division takes quadratic time
        T = (T * entry - np.outer(T[:, c], line)) // scale
        T[r] = line
        if entry < 0:
            T = -T
        scale, basis[r] = abs(entry), c

    for c in range(n):  # any line can replace an artificial variable that is 0
        for r in range(width):
            if basis[r] >= n and T[r, c] != 0 and T[r, -1] == 0:
                pivot(r, c)
                break
        if left < 0:
            return None
    pivots = 0
    while left >= 0:
        artificial = [r for r in range(m) if basis[r] >= n]
        if all(T[r, -1] == 0 for r in artificial):
            ends = [r for r in range(m) if basis[r] < n and T[r, -1] > 0]
            return [basis[r] for r in ends], [Fraction(int(T[r, -1]), int(scale)) for r in ends], left
        gain = T[artificial].sum(axis=0)
        better = np.flatnonzero(gain[:n] > 0)
        if better.size == 0:
            return None, [Fraction(-int(entry)) for entry in gain[n : n + width]], left
        c = int(better[0] if pivots > 4 * m else better[np.argmax(gain[better])])
        _, _, r = min((Fraction(int(T[r, -1]), int(T[r, c])), basis[r], r) for r in range(m) if T[r, c] > 0)
        pivot(r, c)
        pivots += 1
    return None
