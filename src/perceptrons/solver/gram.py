"""Points of a kernel's feature space, known by their inner products K.

A hypothesis w = Σ_j α_j·φ(x_j) has the scores K·α + b, as if the rows of K were ordinary features. So the rows of K
decide whether anything separates the points. Lengths differ: ‖w‖² = αᵀKα. The search uses the rows of a factor L with
L·Lᵀ ≈ K; what it finds is then evaluated on K itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.linalg import lapack

from perceptrons.data import as_rows
from perceptrons.solver import exact
from perceptrons.solver import proof as proofs
from perceptrons.solver.constraints import Chosen, Constraints, Floats, Hypothesis, signs
from perceptrons.solver.coordinates import View
from perceptrons.solver.kernel_matrix import quadratic
from perceptrons.solver.rounding import root_down, up
from perceptrons.solver.threads import one_thread
from perceptrons.solver.working_set import ZERO, Found, search

SMALL = 64  # up to this number of unknowns, exact arithmetic decides even if only the rounding of K matters
REFINEMENTS = 2  # of the solution for the multipliers, with residuals in long floats
INDEFINITE = proofs.Undecided(
    "rounding has made K indefinite, and the verdict depends on it: pass a bound on the errors of its entries as "
    "K_error, or the rows X themselves if the kernel is linear"
)


@dataclass(frozen=True)
class Gram(Constraints):
    """Points of a feature space; `rows` are those of K, and a hypothesis has coefficients α as its weights.

    With an error ε > 0 of the entries of K, everything proved holds for every positive semi-definite K* with
    |K* − K| ≤ ε, because |aᵀ(K* − K)c| ≤ ε‖a‖₁‖c‖₁.
    """

    L: Floats  # L·Lᵀ ≈ K
    K_error: float

    @property
    def K(self) -> Floats:
        """The kernel matrix."""
        return self.rows.values

    @property
    def searched(self) -> Constraints:
        """The rows of L as features: margins and lengths are nearly those of the points."""
        return Constraints(as_rows(self.L, any_length=True), self.codes, self.n_classes, self.bias)

    def take(self, at: Any, codes: Any, n_classes: int) -> Gram:
        """Return some of the points, with new classes."""
        K, L = np.ascontiguousarray(self.K[np.ix_(at, at)]), np.ascontiguousarray(self.L[at])
        return replace(self, rows=as_rows(K, any_length=True), L=L, codes=codes, n_classes=n_classes)

    def sq_radius(self) -> Fraction:
        """max ‖φ(x)‖², or an upper bound on it."""
        return Fraction(float(self.K.diagonal().max())) + Fraction(self.K_error)

    def sq_length(self, hypothesis: Hypothesis, *, free: bool) -> Fraction:
        """Σ_c α_cᵀKα_c, plus ε‖α_c‖₁² for errors of K. It is negative only if K is not semi-definite."""
        squares = sum((quadratic(self.K, line) for line in hypothesis.w), Fraction(0))
        if self.K_error:
            squares += Fraction(self.K_error) * sum(_one_norm(line) ** 2 for line in hypothesis.w)
        return squares + (Fraction(0) if free else sum(Fraction(number) ** 2 for number in hypothesis.b.tolist()))

    def loss(self, hypothesis: Hypothesis) -> Fraction:
        """ε‖α‖₁; with several classes ε‖α_y − α_r‖₁ for the worst pair."""
        if not self.K_error:
            return Fraction(0)
        lines = [[Fraction(number) for number in line] for line in hypothesis.w.tolist()]
        pairs = zip(*np.triu_indices(len(lines), 1), strict=True) if len(lines) > 1 else ()
        apart = [[a - b for a, b in zip(lines[c], lines[r], strict=True)] for c, r in pairs] or lines
        return Fraction(self.K_error) * max(map(_one_norm, apart))

    def sq_hull(self, chosen: Chosen, weights: Sequence[Fraction], *, free: bool) -> Fraction:
        """‖Σ λ_i z_i‖² for multipliers λ, or an upper bound on it."""
        A = self.coefficients(chosen, np.array(weights, dtype=object))
        return self.sq_length(Hypothesis(A, A.sum(axis=1)), free=free)

    def coefficients(self, chosen: Chosen, weights: Any) -> Any:
        """α of the point Σ λz, of shape (blocks, points)."""
        A = np.zeros((len(self.K), self.blocks), dtype=weights.dtype)
        factors = signs(chosen.own, chosen.rivals, self.blocks)
        np.add.at(A, chosen.at, weights[:, np.newaxis] * (factors.astype(int) if A.dtype == object else factors))
        return A.T

    def unit(self, hypothesis: Hypothesis, *, free: bool) -> Hypothesis:
        """Return the same hypothesis in floats with ‖w‖ about 1; it is not finite where floats do not reach."""
        with np.errstate(all="ignore"):
            largest = np.abs(hypothesis.w).max()
            scaled = Hypothesis(hypothesis.w / largest, hypothesis.b / largest).floats()
            squares = replace(self, K_error=0.0).sq_length(scaled, free=free) if scaled.finite else Fraction(0)
            length = root_down(max(squares, Fraction(0)))
            return Hypothesis(scaled.w / length, scaled.b / length)


def _one_norm(line: Iterable[Any]) -> Fraction:
    return sum((abs(Fraction(number)) for number in line if number), Fraction(0))


# -- search and proof ---------------------------------------------------------------------------------------------


@proofs.best.register
def _best_of_points(
    gram: Gram,
    *,
    free: bool = True,
    first: Chosen | None = None,
    known: tuple[Hypothesis, View | None] | None = None,
) -> proofs.Proof:
    """Find the separator with the largest margin, or a contradiction."""
    top, last = search(gram.searched, free=free, first=first)
    found = _enclosure(gram, top, free)
    if found.low > found.high:
        return INDEFINITE
    if found.low > 0:
        return found
    if gram.K_error:
        return proofs.Undecided(
            f"with errors up to {up(gram.K_error, 3)} in K nothing is proved to separate; "
            f"no margin exceeds {up(found.high, 4)}"
        )
    return _exactly(gram, last, found, free)


def _enclosure(gram: Gram, found: Found, free: bool) -> proofs.Separator:
    """The best bounds on the margin that the result of the search proves."""
    chosen, weights = exact.without_noise(found.chosen, found.weights)
    nothing = Hypothesis(np.zeros((gram.blocks, len(gram.K))), np.zeros(gram.blocks))
    points, separators = [], [(0.0, (0, 0), nothing)]
    for multipliers, b in _candidates(gram, chosen, weights, found, free):
        hypothesis = gram.unit(Hypothesis(gram.coefficients(chosen, multipliers), b), free=free)
        if hypothesis.finite:
            separators.append((*proofs.margin(gram, hypothesis, free=free), hypothesis))
        point = proofs.hull_point(gram, chosen, multipliers.clip(0.0), free=free)
        if point is not None:
            points.append((chosen, *point))
        if points and len(separators) > 1 and points[-1][2] <= (1 + proofs.WIDE) * separators[-1][0]:
            break
    low, closest, hypothesis = max(separators, key=lambda one: one[0])
    support, multiples, high = min(points or [proofs.any_hull_point(gram, free=free)], key=lambda one: one[2])
    return proofs.Separator(hypothesis, low, high, support, multiples, closest)


def _candidates(
    gram: Gram, chosen: Chosen, weights: Floats, found: Found, free: bool
) -> Iterator[tuple[Floats, Floats]]:
    """Multipliers and biases: first those that make all margins on K equal, then those found in the rows of L.

    The equations are those of `exact.nearest_point`: Q·λ + B·b = 1 and Bᵀ·λ = s·b, where Q are inner products of z.
    """
    factors = signs(chosen.own, chosen.rivals, gram.blocks)
    Q = gram.K[np.ix_(chosen.at, chosen.at)] * (factors @ factors.T)
    fixed = int(free and gram.blocks > 1)  # only differences between free biases matter
    B = factors[:, fixed:] if gram.bias else factors[:, :0]
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
        yield solution[:n], np.append(np.zeros(gram.blocks - q), solution[n:])
    length = math.sqrt(max(float(weights @ Q @ weights), 0.0))
    yield weights, found.hypothesis.b * length if free else factors.T @ weights * gram.bias


def _exactly(gram: Gram, last: Found, found: proofs.Separator, free: bool) -> proofs.Proof:
    """Decide the rows of K in exact arithmetic, because floats found no separator."""
    chosen = gram.choose(last.chosen.at, last.chosen.rivals)
    rounding = len(gram.K) * np.finfo(np.float64).eps * float(gram.K.diagonal().max())
    if last.distance < ZERO or found.high**2 <= rounding:
        meeting = exact.contradiction(chosen, last.weights)
        if meeting is not None:
            return proofs.Contradiction(*meeting)
        if gram.dimension > SMALL and not exact.dependent(chosen):
            return proofs.Undecided(
                f"the hulls meet up to the rounding of K: no margin exceeds {up(found.high, 3)}, and whether there is "
                "any depends on the last bits. Pass the rows X themselves if the kernel is linear"
            )
    answer = proofs.decide(gram, first=chosen)
    if not isinstance(answer, Hypothesis):
        return answer
    rational = exact.moderate(answer.rationals())
    if gram.sq_length(rational, free=True) <= 0:
        return INDEFINITE
    for hypothesis in proofs.forms(gram, rational, free=free):
        low, closest = proofs.margin(gram, hypothesis, free=free)
        if low > 0:
            break
    if low > found.high:
        return INDEFINITE
    return replace(found, hypothesis=hypothesis, low=low, closest=closest)
