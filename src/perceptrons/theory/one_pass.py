"""Bounds on the mistakes of one pass over rows that may not be separable, and a short search for a good hypothesis."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from perceptrons.solver.constraints import Constraints, Floats, Hypothesis, Ints, signs
from perceptrons.solver.rounding import float_up, root_down, root_up
from perceptrons.theory.theorems import formula

BLOCK = 1 << 16  # rows that are converted to float64 at a time
STEPS = 200  # at most, of the optimisation

Root = Callable[[float, float, Floats], tuple[float, float, Floats]]


class Proved(NamedTuple):
    """A bound and what proves it."""

    theorem: str
    bound: float
    margin: float | None
    hypothesis: Hypothesis | None
    shortfall: float = 0.0
    log_det: float | None = None


def one_pass(constraints: Constraints, G: Fraction, find: Callable[[Root], Hypothesis]) -> Proved:
    """The best bound for one pass of updates that add at most G to ‖w‖²: R² for the plain rule.

    find: returns a hypothesis that makes the root of a bound small.
    """
    bounds = []
    for theorem, root in ROOTS.items():
        with np.errstate(all="ignore"):  # numbers out of the range of floats prove nothing
            hypothesis = find(root)
            if not np.isfinite(hypothesis.w).all():
                continue
            margins = constraints.margins(hypothesis)[0] - constraints.error(hypothesis)
            short = np.maximum(0.0, 1.0 - (margins - float_up(constraints.loss(hypothesis))))
            if not np.isfinite((short * short).sum()):
                continue
        inflated = 1 + Fraction(len(short) + 8) * Fraction(float(np.finfo(np.float64).eps))  # rounding of sums
        linear, square = (Fraction(float(total)) * inflated for total in (short.sum(), (short * short).sum()))
        squares = constraints.sq_length(hypothesis, free=False)
        if squares <= 0:  # w = 0 falls short by 1 on every row, so it proves n
            continue
        bound = formula(theorem, linear, square, squares, G)
        shortfall = float_up(linear) if theorem == "gentile" else root_up(square / squares)  # perhaps infinite
        bounds.append(Proved(theorem, float_up(bound), root_down(1 / squares), hypothesis, shortfall))
    bounds.append(Proved("n", float(len(constraints.rows)), None, None))
    return min(bounds, key=lambda candidate: candidate.bound)


# -- a short optimisation ----------------------------------------------------------------------------------------


def _root_freund_schapire(R: float, length: float, short: Floats) -> tuple[float, float, Floats]:
    """√bound = R‖w‖ + ‖s‖, s = max(0, 1 − z·w), and its derivatives by ‖w‖ and s; convex in w."""
    size = float(np.linalg.norm(short))
    return R * length + size, R, short / (size or 1.0)


def _root_gentile(R: float, length: float, short: Floats) -> tuple[float, float, Floats]:
    """√bound = (R‖w‖ + √(R²‖w‖² + 4L))/2, L = Σs, and its derivatives by ‖w‖ and s."""
    a, b = R * length, math.sqrt((R * length) ** 2 + 4 * float(short.sum())) or 1.0
    return (a + b) / 2, R * (1 + a / b) / 2, (short > 0) / b


ROOTS: dict[str, Root] = {"freund-schapire": _root_freund_schapire, "gentile": _root_gentile}


def optimised(constraints: Constraints, root: Root, R: float, given: Hypothesis | None) -> Hypothesis:
    """Find a hypothesis with a small bound: a multiple of the given one, or the best that some steps of L-BFGS find."""
    shape = (constraints.blocks, constraints.rows.n_features + 1)

    def made(v: Floats) -> Hypothesis:
        lines = v.reshape(shape)
        return Hypothesis(lines[:, :-1], lines[:, -1] * constraints.bias)

    def value(v: Floats) -> tuple[float, Floats]:
        margins, rivals = constraints.margins(made(v))
        short = np.maximum(0.0, 1.0 - margins)
        length = float(np.linalg.norm(v))
        total, by_length, by_short = root(R, length, short)
        slope = by_length * v / (length or 1.0) - _combined(constraints, by_short, rivals).ravel()
        return total, slope

    if given is None:
        mean = _combined(constraints, np.ones(len(constraints.rows)), 1 - constraints.codes.astype(np.intp))
        start = mean.ravel() / (float(np.linalg.norm(mean)) * R or 1.0)
        return made(minimize(value, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x)
    direction = np.column_stack([given.w, given.b]).ravel()
    direction = direction / np.abs(direction).max()
    direction = direction / (np.linalg.norm(direction) * R or 1.0)
    found = minimize_scalar(lambda log: value(np.exp(log) * direction)[0], bounds=(-20.0, 40.0), method="bounded")
    return made(np.exp(found.x) * direction)


def _combined(constraints: Constraints, weights: Floats, rivals: Ints) -> Floats:
    """Σ weight_i·z_i, with the bias as the last column; block by block, so that rows are not copied all at once."""
    own = constraints.codes.astype(np.intp)
    total = np.zeros((constraints.blocks, constraints.rows.n_features + 1))
    matrix = constraints.rows.matrix()
    for begin in range(0, len(weights), BLOCK):
        part = slice(begin, begin + BLOCK)
        signed = weights[part, np.newaxis] * signs(own[part], rivals[part], constraints.blocks)
        total[:, :-1] += (matrix[part].T @ signed).T
        total[:, -1] += constraints.bias * signed.sum(axis=0)
    return total
