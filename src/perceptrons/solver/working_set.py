"""The largest margin in floats: a working set of constraints grows by the worst violators that passes find.

Finding the shortest v with z·v ≥ h for all z of the set is a non-negative least squares problem (Lawson & Hanson 1974,
ch. 23, "least distance programming"). SciPy has their active-set method, which has four advantages over a general
solver of linear or quadratic programs. It ends at a vertex, so the active constraints are known. It keeps linearly
independent constraints, so multipliers that combine to 0 are already irreducible. Orthogonal transformations make it
accurate to the last bits. And it solves a few dozen constraints in a millisecond.

Nothing here is proved: `exact` proves the result, or rejects it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from perceptrons.learn.examples import Examples
from perceptrons.learn.fit import InMemory, Passes, fit
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.rules import PA
from perceptrons.solver.constraints import Chosen, Constraints, Floats, Hypothesis, Ints
from perceptrons.solver.patience import OutOfTime, step
from perceptrons.solver.threads import one_thread

ZERO = 1e-13  # a hull that comes this near to 0, relative to R, may contain it
CLOSE = 1e-11  # relative violation that is ignored
SMALL = 256  # up to this number of rows, the search needs no guess to start from
PATIENCE = 30  # rounds without progress before the search stops


@dataclass(frozen=True)
class Found:
    """The result of a round: constraints with positive multipliers, and the best hypothesis for them alone."""

    chosen: Chosen
    weights: Floats  # multipliers λ > 0 with Σλ = 1
    distance: float  # ‖Σ λ_i z_i‖ relative to R: about 0 if these constraints contradict each other
    hypothesis: Hypothesis  # of unit length; z·v is the same for all chosen constraints
    margin: float  # the smallest z·v of all constraints: > 0 for a separator


def rounds(constraints: Constraints, *, free: bool, first: Chosen | None = None, even: bool = False) -> Iterator[Found]:
    """Grow the working set until no constraint is violated, or until floats can do no more.

    free: the bias does not count in the length of v; otherwise it counts as the weight of a constant feature 1.
    even: scale each feature to its own size. This changes the margin but not the verdict, and features of very
        different size do not hide each other.
    A free bias is found in steps: each round penalises its distance from the bias of the round before (the proximal
    point method), in a unit as large as the rows, so that a few rounds suffice.
    """
    chosen = _start(constraints) if first is None else first
    radius = _power_of_two(max(float(np.abs(chosen.A).max(initial=0.0)), 0.0 if free else 1.0))
    sizes = _sizes(constraints, chosen) if even else np.full(constraints.rows.n_features, radius)
    unit = 16.0 if free else 1.0 / radius
    b = np.zeros(chosen.B.shape[1])
    balance, best, nearest, stale = 1.0, -np.inf, np.inf, 0
    while stale < PATIENCE:
        step(f"searching: {len(chosen.at):,} constraints")
        # Least distance: min ‖u‖ with G·u ≥ h, u = (w·sizes, (b − b₀)/unit).
        width = chosen.A.shape[1]
        size = np.tile(sizes[chosen.features], constraints.blocks)
        with np.errstate(all="ignore"):
            G, h = np.column_stack([chosen.A / size, unit * chosen.B]), 1.0 - chosen.B @ b
        if not np.isfinite(G).all() or not np.isfinite(h).all():  # never in the first round
            return
        with one_thread(), np.errstate(all="ignore"):
            weights = _multipliers(G, h * balance)
            kept = weights > 0
            chosen, G, h = chosen.keep(kept), G[kept], h[kept]
            weights = weights[kept] / weights[kept].sum()
            point = float(np.linalg.norm(weights @ G))
            u = _equal(G, h)
            length = _length(u[:width] if free else u) or np.inf
            target = (1.0 if even else radius) / length
            w = u[:width] / length / size if even else u[:width] / length
            hypothesis = constraints.hypothesis(chosen, w, (b + unit * u[width:]) * target)
            values, rivals = constraints.margins(hypothesis)
        margin = float(values.min())
        if not np.isfinite(margin) or not np.isfinite(u).all():  # the numbers are too far apart for floats
            yield Found(chosen, weights, np.inf, hypothesis, -np.inf)
            return
        yield Found(chosen, weights, point, hypothesis, margin)
        settled = True
        if free:
            moved = unit * u[width:]
            b = b + moved
            settled = bool(np.abs(moved).max(initial=0.0) <= CLOSE * length)
        if point < ZERO or (settled and 0 < (1.0 - CLOSE) * target <= margin):
            return
        stale = 0 if margin > best or point < nearest * (1.0 - CLOSE) else stale + 1
        best, nearest, balance = max(best, margin), min(nearest, point), point
        room = _room(constraints, len(values))
        worst = np.argpartition(values, room)[: room + 1]
        worst = worst[values[worst] < (1.0 - CLOSE / 2) * target] if target > 0 else worst
        chosen = _joined(constraints, chosen, worst, rivals[worst].astype(np.intp))


def search(constraints: Constraints, *, free: bool, first: Chosen | None) -> tuple[Found, Found]:
    """Run all rounds; return the one with the largest margin, and the last. If time runs out, a separator suffices."""
    top = last = None
    try:
        for last in rounds(constraints, free=free, first=first):
            top = last if top is None or last.margin > top.margin else top
    except OutOfTime:
        if top is None or top.margin <= 0:
            raise
    assert top is not None and last is not None  # there is always a first round
    return top, last


def _joined(constraints: Constraints, chosen: Chosen, at: Ints, rivals: Ints) -> Chosen:
    """Add constraints to those chosen, each once."""
    pairs = np.append(chosen.at, at) * constraints.n_classes + np.append(chosen.rivals, rivals)
    return constraints.choose(*np.divmod(np.unique(pairs), constraints.n_classes))


def _start(constraints: Constraints) -> Chosen:
    """The first constraints: some of each class and, if there are many rows, those nearest to a guessed boundary.

    The guess is an averaged passive-aggressive hypothesis after two passes. It saves most of the rounds.
    """
    spread = _spread(constraints)
    if len(constraints.rows) <= SMALL:
        return spread
    rows, k = constraints.rows, constraints.n_classes
    learner = LinearLearner(
        PA(),
        "averaged",
        n_features=rows.n_features,
        n_classes=k,
        fit_intercept=constraints.bias,
        dense=rows.indices is None,
    )
    examples = Examples(rows, constraints.codes)
    try:
        fit(learner, InMemory(examples), Passes(max_iter=2, seed=0))
    except ValueError:  # numbers too large for learning
        return spread
    lines = learner.weights.reshape(rows.n_features + 1, -1).T
    values, rivals = constraints.margins(Hypothesis(lines[:, :-1], lines[:, -1]))
    room = _room(constraints, len(values))
    worst = np.argpartition(values, room)[: room + 1]
    return _joined(constraints, spread, worst, rivals[worst].astype(np.intp))


def _room(constraints: Constraints, n: int) -> int:
    """The number of violators that join the working set in a round."""
    return min(n - 1, max(64, 8 * constraints.dimension), 1024)


def _spread(constraints: Constraints) -> Chosen:
    """Some rows of each class, evenly spread, each against one of the rivals in turn; all rows if there are few."""
    k = constraints.n_classes
    each = max(2, min(SMALL, 2 * constraints.dimension) // k)
    at, rivals = [], []
    for c in range(k):
        rows = np.flatnonzero(constraints.codes == c)
        some = rows[np.linspace(0, len(rows) - 1, min(each, len(rows))).astype(np.intp)]
        at.append(some)
        rivals.append((c + 1 + np.arange(len(some)) % (k - 1)) % k)
    return constraints.choose(np.concatenate(at), np.concatenate(rivals))


def _length(u: Floats) -> float:
    """‖u‖, even if squares leave the range of floats."""
    largest = float(np.abs(u).max(initial=0.0))
    return largest * float(np.linalg.norm(u / largest)) if largest > 0 else 0.0


def _power_of_two(number: Any) -> Any:
    """The power of two below a number, by which one can divide without rounding; 1 for 0."""
    return np.where(number > 0, np.ldexp(1.0, np.frexp(number)[1] - 1), 1.0)


def _sizes(constraints: Constraints, chosen: Chosen) -> Floats:
    """The approximate largest value of each feature."""
    sizes = np.ones(constraints.rows.n_features)
    tall = np.abs(chosen.A).reshape(len(chosen.at) * constraints.blocks, len(chosen.features))
    sizes[chosen.features] = _power_of_two(tall.max(axis=0, initial=0.0))
    return sizes


def _multipliers(G: Floats, h: Floats) -> Floats:
    """λ ≥ 0 that minimises ‖Gᵀλ‖² + (h·λ − 1)², up to a factor."""
    E = np.column_stack([np.vstack([G.T, h]), np.zeros(G.shape[1] + 1)])
    E[-1, -1] = np.abs(h).max()
    if len(E) > E.shape[1]:  # more features than constraints: only the angles between constraints count
        E = np.asarray(np.linalg.qr(E, mode="r"))
    if not np.isfinite(E).all():
        return np.ones(len(h))
    try:
        weights, _ = nnls(E[:, :-1], E[:, -1], maxiter=10 * E.shape[1] + 100)
    except RuntimeError:  # rounding keeps it from converging
        weights = np.ones(len(h))
    return np.asarray(weights if np.isfinite(weights.sum()) and weights.any() else np.ones(len(h)))


def _equal(G: Floats, h: Floats) -> Floats:
    """The shortest u with G·u = h, by orthogonal transformations, which keep every equation accurate."""
    Q, R = np.linalg.qr(G.T)
    diagonal = np.abs(np.diag(R))
    if len(R) == R.shape[1] and diagonal.min() > 1e-15 * diagonal.max():
        return np.asarray(Q @ solve_triangular(R.T, h, lower=True, check_finite=False))
    return np.asarray(np.linalg.lstsq(G, h, rcond=None)[0])
