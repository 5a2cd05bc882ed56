"""Points of a kernel's feature space, known by their inner products: exact lengths and margins, and a search in floats.

A hypothesis w = Σ_j α_j·φ(x_j) has the scores K·α + b: those of the rows of K as if these were ordinary features. So
whether anything separates is a question about these rows, and answered as for any other; lengths are another matter,
‖w‖² = αᵀKα. The search goes on in the rows of a factor L with L·Lᵀ ≈ K; what it finds is evaluated on K itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.linalg import eigh, lapack

from perceptrons.data import as_rows
from perceptrons.theory.rounding import root_down, root_up, up
from perceptrons.theory.solver import exact
from perceptrons.theory.solver.constraints import Chosen, Constraints, Floats, Hypothesis
from perceptrons.theory.solver.proof import WIDE, Contradiction, Separator, decide
from perceptrons.theory.solver.threads import one_thread
from perceptrons.theory.solver.working_set import ZERO, Found, rounds

SMALL = 64  # unknowns for which exact arithmetic is asked also where K is nothing but rounding
REFINEMENTS = 2  # of the equations for multipliers, with residuals in long floats


@dataclass(frozen=True)
class Open:
    """No verdict, and why."""

    reason: str


@dataclass(frozen=True)
class Gram:
    """Labelled points of a feature space. A hypothesis has `w` of shape (blocks, points): the coefficients α.

    With an error ε > 0 of the entries of K, all that is proved holds for every positive semi-definite K* with
    |K* − K| ≤ ε: |aᵀ(K* − K)c| ≤ ε‖a‖₁‖c‖₁.
    """

    K: Floats  # symmetric
    L: Floats  # L·Lᵀ ≈ K
    codes: Any
    n_classes: int
    bias: bool
    error: float

    @property
    def constraints(self) -> Constraints:
        """The rows of K as features: their margins are those of the points, their lengths are not."""
        return Constraints(as_rows(self.K, any_length=True), self.codes, self.n_classes, self.bias)

    @property
    def factored(self) -> Constraints:
        """The rows of L as features: margins and lengths are nearly those of the points."""
        return Constraints(as_rows(self.L, any_length=True), self.codes, self.n_classes, self.bias)

    def take(self, at: Any, codes: Any, n_classes: int) -> Gram:
        """Some of the points, of other classes."""
        K, L = np.ascontiguousarray(self.K[np.ix_(at, at)]), np.ascontiguousarray(self.L[at])
        return replace(self, K=K, L=L, codes=codes, n_classes=n_classes)

    def sq_radius(self) -> Fraction:
        """max ‖φ(x)‖², at most."""
        return Fraction(float(self.K.diagonal().max())) + Fraction(self.error)

    def sq_length(self, w: Any) -> Fraction:
        """‖w‖² = Σ_c α_cᵀKα_c, at most: errors add up to ε‖α_c‖₁². Negative only if K is not semi-definite."""
        squares = sum((quadratic(self.K, line) for line in w), Fraction(0))
        return squares + Fraction(self.error) * sum(_one_norm(line) ** 2 for line in w) if self.error else squares

    def loss(self, w: Any) -> Fraction:
        """By how much errors of K can lower a margin: ε‖α‖₁; of several classes ε‖α_y − α_r‖₁ for the worst pair."""
        if not self.error:
            return Fraction(0)
        lines = [[Fraction(number) for number in line] for line in w.tolist()]
        pairs = zip(*np.triu_indices(len(lines), 1), strict=True) if len(lines) > 1 else ()
        apart = [[a - b for a, b in zip(lines[c], lines[r], strict=True)] for c, r in pairs] or lines
        return Fraction(self.error) * max(map(_one_norm, apart))

    def margin(self, hypothesis: Hypothesis, *, free: bool) -> tuple[float, tuple[int, int]]:
        """The margin of a hypothesis, rounded down, or 0 if it is not proved to separate; and the row that has it."""
        squares = self.sq_length(hypothesis.w)
        squares += Fraction(0) if free else sum(Fraction(number) ** 2 for number in hypothesis.b.tolist())
        least, row, rival = exact.smallest_margin(self.constraints, hypothesis)
        least -= self.loss(hypothesis.w)
        return root_down(least**2 / squares) if least > 0 and squares > 0 else 0.0, (row, rival)

    def hull(self, chosen: Chosen, weights: Iterable[float], *, free: bool) -> tuple[list[Fraction], float] | None:
        """Multipliers λ near the weights, and the length of Σ λz, rounded up, which no margin exceeds."""
        found = exact.multipliers(chosen, weights, free)
        if found is None:
            return None
        A = self.coefficients(chosen, np.array(found, dtype=object))
        squares = self.sq_length(A)
        if not free:
            squares += sum(Fraction(sum(line)) ** 2 for line in A.tolist())
        return found, root_up(max(squares, Fraction(0)))

    def coefficients(self, chosen: Chosen, weights: Any) -> Any:
        """α of the point Σ λz, of shape (blocks, points)."""
        A = np.zeros((len(self.K), self.factored.blocks), dtype=weights.dtype)
        signs = _signs(chosen, A.shape[1])
        np.add.at(A, chosen.at, weights[:, np.newaxis] * (signs.astype(int) if A.dtype == object else signs))
        return A.T


def quadratic(K: Floats, a: Any) -> Fraction:
    """aᵀKa, exactly, for floats or rationals a."""
    (at,) = np.nonzero(a)
    if a.dtype == object:
        scale = math.lcm(*(number.denominator for number in a[at]))
        counts, unit = np.array([int(number * scale) for number in a[at]], dtype=object), Fraction(1, scale)
    else:
        counts, exponent = exact.integers(a[at], axis=None)
        unit = exact.power(int(exponent)) if len(at) else Fraction(0)
    total, size = Fraction(0), max(1, exact.PIECE // max(1, len(at)))
    for begin in range(0, len(at), size):
        part = slice(begin, begin + size)
        table, exponent = exact.integers(K[np.ix_(at[part], at)], axis=None)
        count = int(counts[part] @ (table @ counts))
        total += count * exact.power(int(exponent)) if count else 0
    return total * unit**2


def _one_norm(line: Iterable[Any]) -> Fraction:
    return sum((abs(Fraction(number)) for number in line if number), Fraction(0))


def _signs(chosen: Chosen, blocks: int) -> Floats:
    """What a constraint's point is multiplied with in each block: y, or +1 for its class and −1 for the rival."""
    if blocks == 1:
        return np.where(chosen.own == 1, 1.0, -1.0)[:, np.newaxis]
    unit = np.eye(blocks)
    return np.asarray(unit[chosen.own] - unit[chosen.rivals])


# -- search and proof ---------------------------------------------------------------------------------------------


def factor(K: Floats, slack: float) -> Floats:
    """L with L·Lᵀ ≈ K from the eigenvectors of K, without directions of the size of rounding errors.

    slack: how far below 0 rounding of the entries of K, and their error, can bring an eigenvalue.
    """
    largest = float(K.diagonal().max())
    root = math.ldexp(1.0, math.frexp(largest)[1] // 2) if largest > 0 else 1.0
    scaled = K / root / root
    if not np.isfinite(scaled).all():
        raise ValueError("K has entries far larger than its diagonal, so it is no kernel matrix: |K_ij|² ≤ K_ii·K_jj")
    with one_thread():
        values, vectors = eigh(scaled, check_finite=False)
    if values[0] < -slack / root / root:
        raise ValueError(
            f"K is not positive semi-definite: it has the eigenvalue {values[0] * root * root:.6g}, so its entries are "
            "no inner products of points, and there are no margins. Use another kernel (sigmoid, and poly with "
            "coef0 < 0, are not semi-definite), or K_error if entries of K are that inaccurate."
        )
    kept = values > len(K) * np.finfo(np.float64).eps * max(float(values[-1]), 0.0)
    kept[-1] = True  # one feature, also of points that are all 0
    return np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept].clip(0.0)) * root)


def prove(gram: Gram, *, free: bool = True, first: Chosen | None = None) -> Separator | Contradiction | Open:
    """The separator with the largest margin, as far as floats find it; or a contradiction; or what is in the way."""
    top = last = None
    for last in rounds(gram.factored, free=free, first=first):
        top = last if top is None or last.margin > top.margin else top
    assert top is not None and last is not None  # there is always a first round
    found = _enclosure(gram, top, free)
    if found.low > found.high:
        return _indefinite()
    if found.low > 0:
        return found
    if gram.error:
        return Open(
            f"with errors up to {up(gram.error, 3)} in K nothing is proved to separate; "
            f"no margin exceeds {up(found.high, 4)}"
        )
    return _exactly(gram, last, found, free)


def _indefinite() -> Open:
    return Open(
        "rounding has made K indefinite, and the verdict hangs on that: pass a bound on the errors of its entries as "
        "K_error, or the rows X themselves if the kernel is linear"
    )


def _enclosure(gram: Gram, found: Found, free: bool) -> Separator:
    """The best bounds of the margin that what was found proves."""
    chosen, weights = exact.without_noise(found.chosen, found.weights)
    points, separators = [], []
    for multipliers, b in _candidates(gram, chosen, weights, found, free):
        hypothesis = unit(gram, Hypothesis(gram.coefficients(chosen, multipliers), b), free=free)
        if hypothesis is not None:
            separators.append((*gram.margin(hypothesis, free=free), hypothesis))
        point = gram.hull(chosen, multipliers.clip(0.0), free=free)
        if point is not None:
            points.append((point[1], point[0], chosen))
        if points and separators and points[-1][0] <= (1 + WIDE) * separators[-1][0]:
            break
    if not points:  # one row of each of two classes is a point of the hull as well
        rows = np.array([np.flatnonzero(gram.codes == code)[0] for code in (0, 1)])
        pair = gram.factored.choose(rows, np.array([1, 0]))
        point = gram.hull(pair, [1.0, 1.0], free=free)
        assert point is not None
        points.append((point[1], point[0], pair))
    nothing = Hypothesis(np.zeros((gram.factored.blocks, len(gram.K))), np.zeros(gram.factored.blocks))
    low, closest, hypothesis = max([*separators, (0.0, (0, 0), nothing)], key=lambda one: one[0])
    high, multiples, support = min(points, key=lambda one: one[0])
    return Separator(hypothesis, low, high, support, multiples, closest)


def _candidates(
    gram: Gram, chosen: Chosen, weights: Floats, found: Found, free: bool
) -> Iterator[tuple[Floats, Floats]]:
    """Multipliers and biases: those for which all margins of K itself are equal, and those found in the rows of L.

    The equations are those of `exact.nearest_point`: Q·λ + B·b = 1 and Bᵀ·λ = s·b, where Q are inner products of z.
    """
    signs = _signs(chosen, gram.factored.blocks)
    Q = gram.K[np.ix_(chosen.at, chosen.at)] * (signs @ signs.T)
    fixed = int(free and signs.shape[1] > 1)  # free biases count by their differences only
    B = signs[:, fixed:] if gram.bias else signs[:, :0]
    n, q = B.shape
    table = np.block([[Q, B], [B.T, np.eye(q) * (0.0 if free else -1.0)]])
    right = np.append(np.ones(n), np.zeros(q))
    with one_thread(), np.errstate(all="ignore"):
        lu, pivots, singular = lapack.dgetrf(table)
        solution = lapack.dgetrs(lu, pivots, right)[0] if not singular else np.full(n + q, np.nan)
        long = table.astype(np.longdouble)
        for _ in range(REFINEMENTS):
            residual = (right - long @ solution).astype(np.float64)
            solution = solution + lapack.dgetrs(lu, pivots, residual)[0]
    if np.isfinite(solution).all():
        b = np.zeros(signs.shape[1])
        b[len(b) - q :] = solution[n:]
        yield solution[:n], b
    length = math.sqrt(max(float(weights @ Q @ weights), 0.0))
    yield weights, found.hypothesis.b * length if free else signs.T @ weights * gram.bias


def unit(gram: Gram, hypothesis: Hypothesis, *, free: bool) -> Hypothesis | None:
    """The same in floats with ‖w‖ about 1, the bias counting for the length unless it is free; None if that fails."""
    largest = np.abs(hypothesis.w).max()
    if not 0 < largest < np.inf:
        return None
    floats = Hypothesis(hypothesis.w / largest, hypothesis.b / largest).floats()
    if not np.isfinite(floats.b).all():
        return None
    squares = sum((quadratic(gram.K, line) for line in floats.w), Fraction(0))
    squares += Fraction(0) if free else sum(Fraction(number) ** 2 for number in floats.b.tolist())
    length = root_down(max(squares, Fraction(0)))
    with np.errstate(all="ignore"):
        one = Hypothesis(floats.w / length, floats.b / length) if 0 < length < np.inf else floats
    return one if one is not floats and np.isfinite(one.w).all() and np.isfinite(one.b).all() else None


def _exactly(gram: Gram, last: Found, found: Separator, free: bool) -> Separator | Contradiction | Open:
    """What exact arithmetic says of the rows of K, where floats found no separator."""
    constraints = gram.constraints
    chosen = constraints.choose(last.chosen.at, last.chosen.rivals)
    rounding = len(gram.K) * np.finfo(np.float64).eps * float(gram.K.diagonal().max())
    if last.distance < ZERO or found.high**2 <= rounding:
        meeting = exact.contradiction(chosen, last.weights)
        if meeting is not None:
            return Contradiction(*meeting)
        if constraints.dimension > SMALL and not exact.dependent(chosen):
            return Open(
                f"hulls meet but for the rounding of K: no margin exceeds {up(found.high, 3)}, and whether there is "
                "any hangs on the last bits. Pass the rows X themselves if the kernel is linear"
            )
    answer = decide(constraints, first=chosen)
    if isinstance(answer, Contradiction):
        return answer
    if not isinstance(answer, Hypothesis):
        return Open(
            "floats cannot tell, the margin is 0 or nearly so; exact arithmetic with "
            f"{constraints.dimension:,} unknowns takes too long"
        )
    rational = exact.moderate(exact.rationals(answer))
    if gram.sq_length(rational.w) <= 0:
        return _indefinite()
    forms: Sequence[Hypothesis | None] = (unit(gram, rational, free=free), rational)
    for hypothesis in forms:  # as floats, if they separate
        low, closest = (0.0, (0, 0)) if hypothesis is None else gram.margin(hypothesis, free=free)
        if hypothesis is not None and low > 0:
            break
    if low > found.high or hypothesis is None:
        return _indefinite()
    return replace(found, hypothesis=hypothesis, low=low, closest=closest)
