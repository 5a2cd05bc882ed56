"""Exact twins of the theory: verdicts, largest margins and bounds on mistakes in rational arithmetic.

Floats are rationals, so nothing here is rounded except square roots, which have 60 digits. Every problem becomes its
signed rows z: a separator has z·w > 0 for all of them. Verdicts and margins come from trying all subsets of rows, not
from a solver.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from itertools import combinations
from math import gcd, lcm
from typing import NamedTuple

import numpy as np

DIGITS = Context(prec=60, Emax=10**6, Emin=-(10**6))


class Pair(NamedTuple):
    """One demand on a hypothesis: that row i scores higher for its class than for its rival."""

    row: int
    rival: object
    z: tuple[Fraction, ...]  # its step in the space of weights, without the constant
    bias: tuple[int, ...]  # its step in the space of intercepts


def exact(X):
    """Rows as lists of fractions, from arrays dense or sparse."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return [[Fraction(v) for v in row] for row in X.tolist()]


def dot(u, v):
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def demands(X, y, classes=None):
    """z = y·x for two classes, the larger being +1; e_y⊗x − e_r⊗x for each row and wrong class r of several."""
    labels = np.asarray(y).tolist()
    classes = sorted(set(labels)) if classes is None else list(classes)
    found = []
    for i, (x, label) in enumerate(zip(exact(X), labels, strict=True)):
        if len(classes) <= 2:
            sign = 1 if label == classes[-1] else -1
            other = classes[0] if sign == 1 else classes[-1]
            found.append(Pair(i, other, tuple(sign * v for v in x), (sign,)))
            continue
        for rival in classes:
            if rival != label:
                steps = [(c == label) - (c == rival) for c in classes]
                found.append(Pair(i, rival, tuple(s * v for s in steps for v in x), tuple(steps)))
    return found


def signed(X, y, fit_intercept=True, classes=None):
    """The z that a separator has to be in an acute angle with; with a bias the constant belongs to them."""
    return [pair.z + tuple(map(Fraction, pair.bias)) * fit_intercept for pair in demands(X, y, classes)]


# -- the verdict --------------------------------------------------------------------------------------------------


def whole(z):
    """The shortest vector of integers in the direction of z."""
    z = [Fraction(v) for v in z]
    scale = lcm(*(v.denominator for v in z))
    z = [int(v * scale) for v in z]
    common = gcd(*z)
    return tuple(v // common for v in z) if common else tuple(z)


def separator(Z, updates=300):
    """Train a perceptron on rows of integers: return w with z·w > 0 for all rows, or None after `updates` updates."""
    w = [0] * len(Z[0])
    done = False
    while not done:
        done = True
        for z in Z:
            if sum(a * b for a, b in zip(w, z, strict=True)) <= 0:
                w = [a + b for a, b in zip(w, z, strict=True)]
                updates -= 1
                done = False
                if updates == 0:
                    return None
    return w


def balance(Z):
    """Find λ ≥ 0, not all 0, with Σ λ z = 0, as a dict from position to positive integer; None if there is no such λ.

    If there is one, there is one whose z have no other linear relation (Carathéodory). So the search tries subsets,
    small ones first, and keeps each with its echelon form as long as it is independent. A vector that depends on a
    subset gives the only linear relation, and that is a solution if all its signs agree.
    """
    level = [((), ())]  # independent subsets: positions, and the echelon form (pivot, vector, how it is made)
    while level:
        grown = []
        for chosen, basis in level:
            for i in range(chosen[-1] + 1 if chosen else 0, len(Z)):
                v, made = list(Z[i]), {i: 1}
                for pivot, b, parts in basis:
                    if v[pivot]:
                        p, q = b[pivot], v[pivot]
                        v = [p * s - q * t for s, t in zip(v, b, strict=True)]
                        made = {j: p * made.get(j, 0) - q * parts.get(j, 0) for j in made | parts}
                common = gcd(*v, *made.values())
                v, made = [s // common for s in v], {j: s // common for j, s in made.items() if s}
                pivot = next((j for j, s in enumerate(v) if s), None)
                if pivot is not None:
                    grown.append(((*chosen, i), (*basis, (pivot, v, made))))
                elif all(s > 0 for s in made.values()) or all(s < 0 for s in made.values()):
                    return {j: abs(s) for j, s in made.items()}
        level = grown
    return None


def separable(Z):
    """Gordan: whether some w has z·w > 0 for all z. Either answer is proved."""
    Z = sorted(set(map(whole, Z)))
    w = separator(Z)
    if w is not None:
        assert all(sum(a * b for a, b in zip(w, z, strict=True)) > 0 for z in Z)
        return True
    found = balance(Z)
    if found is None:
        return True
    assert not any(sum(s * Z[i][j] for i, s in found.items()) for j in range(len(Z[0])))
    return False


def separable_by_simplex(Z):
    """The same for more rows than subsets can be tried of: phase one of the simplex method on a table of fractions.

    It minimises Σs for Σ λ z + s = 0, Σλ + s' = 1, λ, s, s' ≥ 0. The rows cannot be separated if the minimum is 0.
    Bland's rule keeps it from cycling.
    """
    n, m = len(Z), len(Z[0]) + 1
    lines = [[Fraction(z[r]) if r < m - 1 else Fraction(1) for z in Z] for r in range(m)]
    T = [[*line, *(Fraction(int(k == r)) for k in range(m)), Fraction(int(r == m - 1))] for r, line in enumerate(lines)]
    basis = list(range(n, n + m))
    while True:
        gain = [sum(T[r][c] for r in range(m) if basis[r] >= n) for c in range(n)]
        c = next((c for c in range(n) if gain[c] > 0 and c not in basis), None)
        if c is None:
            return any(T[r][-1] > 0 for r in range(m) if basis[r] >= n)
        _, _, r = min((T[r][-1] / T[r][c], basis[r], r) for r in range(m) if T[r][c] > 0)
        T[r] = [v / T[r][c] for v in T[r]]
        for other in range(m):
            if other != r and T[other][c]:
                T[other] = [v - T[other][c] * u for v, u in zip(T[other], T[r], strict=True)]
        basis[r] = c


def verdict(X, y, fit_intercept=True, classes=None):
    return separable(signed(X, y, fit_intercept, classes))


# -- the largest margin -------------------------------------------------------------------------------------------


def solve(A, b):
    """One solution of a linear system, with free unknowns at 0; None if it has no solution."""
    A = [[*row, right] for row, right in zip(A, b, strict=True)]
    pivots = []
    for column in range(len(A[0]) - 1):
        row = len(pivots)
        k = next((r for r in range(row, len(A)) if A[r][column]), None)
        if k is None:
            continue
        A[row], A[k] = A[k], A[row]
        A[row] = [v / A[row][column] for v in A[row]]
        for r in range(len(A)):
            if r != row and A[r][column]:
                A[r] = [v - A[r][column] * p for v, p in zip(A[r], A[row], strict=True)]
        pivots.append(column)
    if any(row[-1] for row in A[len(pivots) :]):
        return None
    x = [Fraction(0)] * (len(A[0]) - 1)
    for row, column in zip(A, pivots, strict=False):
        x[column] = row[-1]
    return x


def sq_distance(points):
    """Squared distance from 0 to the convex hull of some points, which 0 must not be in.

    The nearest point p lies in the hull of independent ones and is the nearest of their affine hull; and p is the
    nearest of all iff x·p ≥ p·p for every point x (Wolfe 1976).
    """
    points = sorted(set(map(tuple, points)))
    for size in range(1, len(points[0]) + 1):
        for chosen in combinations(points, size):
            gram = [[dot(a, b) for b in chosen] + [Fraction(1)] for a in chosen]
            found = solve([*gram, [Fraction(1)] * size + [Fraction(0)]], [Fraction(0)] * size + [Fraction(1)])
            if found is None or min(found[:size]) < 0:
                continue
            p = [dot(found[:size], column) for column in zip(*chosen, strict=True)]
            least = dot(p, p)
            if least > 0 and all(dot(x, p) >= least for x in points):
                return least
    raise ValueError("0 is in the hull")


def sq_margin(X, y, fit_intercept=True):
    """γ² of the best separator of separable rows: through the origin, or half the distance between two hulls."""
    pairs = demands(X, y)
    if not fit_intercept:
        return sq_distance([pair.z for pair in pairs])
    if len(pairs[0].bias) > 1:
        return sq_margin_of_several(pairs)
    ahead, behind = ([pair.z for pair in pairs if pair.bias == (sign,)] for sign in (1, -1))
    return sq_distance([tuple((a + b) / 2 for a, b in zip(u, v, strict=True)) for u in ahead for v in behind])


def sq_margin_of_several(pairs):
    """With intercepts of several classes: the least ‖Σ λ z‖² over λ ≥ 0, Σλ = 1 where each intercept balances out.

    Some best λ is the only one on its rows that balances to the same point. So it is the best of all λ on these rows,
    even with negative ones allowed, and the search over all subsets finds it.
    """
    best = None
    for size in range(2, len(pairs[0].z) + len(pairs[0].bias) + 1):
        for chosen in combinations(pairs, size):
            steps = zip(*(pair.bias for pair in chosen), strict=True)
            limits = [[Fraction(1)] * size, *([Fraction(v) for v in row] for row in steps)]
            fixed = [Fraction(1)] + [Fraction(0)] * (len(limits) - 1)
            if solve(limits, fixed) is None:
                continue
            system = [[dot(a.z, b.z) for b in chosen] + [row[i] for row in limits] for i, a in enumerate(chosen)]
            system += [row + [Fraction(0)] * len(limits) for row in limits]
            found = solve(system, [Fraction(0)] * size + fixed)
            if found is None or min(found[:size]) < 0:
                continue
            p = [dot(found[:size], column) for column in zip(*(pair.z for pair in chosen), strict=True)]
            best = dot(p, p) if best is None else min(best, dot(p, p))
    return best


def hull_point(X, y, support, weights, rivals=None):
    """Σ λ z over the rows of the support, and Σ λ of what they do to the intercepts."""
    pairs = demands(X, y)
    by_key = {(pair.row, pair.rival): pair for pair in pairs}
    if rivals is None or len(pairs[0].bias) == 1:
        chosen = [pairs[i] for i in support]
    else:
        chosen = [by_key[key] for key in zip(support, rivals, strict=True)]
    point = [dot(weights, column) for column in zip(*(pair.z for pair in chosen), strict=True)]
    return point, [dot(weights, column) for column in zip(*(pair.bias for pair in chosen), strict=True)]


# -- bounds on mistakes -------------------------------------------------------------------------------------------


def decimal(value):
    value = Fraction(value)
    return DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


def root(value):
    return DIGITS.sqrt(decimal(value))


def scores(X, y, coef, intercept, classes=None):
    """By how much each row scores higher for its class than for the strongest other one; not divided by any norm."""
    W = [v for line in exact(np.atleast_2d(coef)) for v in line]
    b = [Fraction(v) for v in np.atleast_1d(intercept).tolist()]
    least = {}
    for pair in demands(X, y, classes):
        score = dot(W, pair.z) + dot(b, pair.bias)
        least[pair.row] = min(score, least.get(pair.row, score))
    return [least[i] for i in sorted(least)]


def sq_length(coef, intercept=0.0):
    """‖w‖², or ‖w‖² + b² where the bias is one of the weights."""
    return sum(Fraction(v) ** 2 for v in (*np.ravel(coef).tolist(), *np.ravel(intercept).tolist()))


def sq_reach(X, y, fit_intercept=True):
    """R² with the constant included; 2R², which a step of two weight vectors can be long, for several classes."""
    R2 = max(dot(x, x) for x in exact(X)) + fit_intercept
    return R2 if len(set(np.asarray(y).tolist())) <= 2 else 2 * R2


def novikoff(X, y, coef, intercept, fit_intercept=True):
    """R²‖w‖²/γ² for any w with y·w·x ≥ γ > 0: updates in any order and any number of passes."""
    gamma = min(scores(X, y, coef, intercept))
    assert gamma > 0
    return sq_reach(X, y, fit_intercept) * sq_length(coef, intercept) / gamma**2


def freund_schapire(X, y, coef, intercept, gamma, fit_intercept=True):
    """((R + D)/γ)² for u = w/‖w‖ and any γ > 0, with D² = Σ max(0, γ − y u·x)²: mistakes of one pass."""
    length, gamma = root(sq_length(coef, intercept)), decimal(Fraction(gamma))
    D2 = Decimal(0)
    for score in scores(X, y, coef, intercept):
        short = DIGITS.subtract(gamma, DIGITS.divide(decimal(score), length))
        if short > 0:
            D2 = DIGITS.add(D2, DIGITS.multiply(short, short))
    ratio = DIGITS.divide(DIGITS.add(root(sq_reach(X, y, fit_intercept)), DIGITS.sqrt(D2)), gamma)
    return DIGITS.multiply(ratio, ratio)


def gentile(X, y, coef, intercept, fit_intercept=True):
    """R²‖w‖²/2 + L + √(R²‖w‖²L + (R²‖w‖²/2)²) for any w, with L = Σ max(0, 1 − y w·x): mistakes of one pass."""
    half = sq_reach(X, y, fit_intercept) * sq_length(coef, intercept) / 2
    L = sum((max(Fraction(0), 1 - score) for score in scores(X, y, coef, intercept)), Fraction(0))
    return DIGITS.add(decimal(half + L), root(2 * half * L + half**2))
