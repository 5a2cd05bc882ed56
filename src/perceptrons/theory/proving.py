"""Find the hypothesis that proves a small bound on mistakes, for each rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from scipy.sparse.linalg import lsqr

from perceptrons.data import as_rows
from perceptrons.rules import ALMA, AROW, PA, PA1, PA2, SOP
from perceptrons.solver import exact
from perceptrons.solver.constraints import Constraints, Floats, Hypothesis
from perceptrons.solver.gram import Gram
from perceptrons.solver.patience import OutOfTime
from perceptrons.solver.proof import Separator, best
from perceptrons.solver.rounding import float_up, root_down, root_up
from perceptrons.theory import passive_aggressive
from perceptrons.theory.facts import EPS, Facts, log_det, number_up, total
from perceptrons.theory.margins import augment
from perceptrons.theory.one_pass import ROOTS, Proved, Root, one_pass, optimised
from perceptrons.theory.theorems import BOUNDS, HOLDS, any_passes, growth, sq_step

FAINT = 1e-8  # the search for a hypothesis ignores directions with relatively smaller eigenvalues
FAINTEST = 1e-280  # the squared length of a row that floats can be trusted with
FACTORS = np.exp(np.linspace(-5.0, 5.0, 31))  # that a hypothesis is multiplied by in search of its best length
Find = Callable[[Root], Hypothesis]


def prove(space: Constraints, rule: Any, given: Hypothesis | None) -> Proved:
    """The best bound found for a rule that has one, by the given hypothesis or by others."""
    R2 = sq_step(space.sq_radius(), space.bias, space.blocks)
    reach = root_up(R2)

    def find(root: Root) -> Hypothesis:
        return _in_span(space, root, reach) if isinstance(space, Gram) else optimised(space, root, reach, given)

    if HOLDS[type(rule)][0] != "novikoff":
        found = _separable(space, rule, R2, given) or _one_pass(space, rule, R2, given, find)
    else:
        G = growth(rule, R2)
        found = None if G is None else _novikoff(space, G, given) or one_pass(space, G, find)
    return found or Proved("n", float(len(space.rows)), None, None)


def _novikoff(space: Constraints, G: Fraction, given: Hypothesis | None) -> Proved | None:
    """Novikoff's bound for the given hypothesis, or for the best one; None if it does not separate."""
    separator = given or _separator(space)
    if isinstance(separator, Separator):
        if isinstance(space, Gram):
            bound = float_up(G / Fraction(separator.low) ** 2)
            return Proved("novikoff", bound, separator.low, separator.hypothesis)
        separator = separator.hypothesis
    least, squares = _least(space, separator)
    if separator is None or least <= 0:
        return None
    return Proved("novikoff", float_up(G * squares / least**2), root_down(least**2 / squares), separator)


def _separator(space: Constraints) -> Separator | None:
    """The separator with the largest margin; the bias counts as a weight."""
    try:
        proof = best(space, free=not space.bias)
    except OutOfTime:
        return None
    return proof if isinstance(proof, Separator) else None


def _least(space: Constraints, hypothesis: Hypothesis | None) -> tuple[Fraction, Fraction]:
    """The smallest margin of a hypothesis and its ‖w‖²."""
    if hypothesis is None:
        return Fraction(0), Fraction(0)
    least, _, _ = exact.smallest_margin(space, hypothesis)
    return least - space.loss(hypothesis), space.sq_length(hypothesis, free=False)


# -- rules with theorems of their own -----------------------------------------------------------------------------


def _separable(space: Constraints, rule: Any, R2: Fraction, given: Hypothesis | None) -> Proved | None:
    """The bound for any number of passes; None if there is no theorem or no separator for it."""
    theorem = HOLDS[type(rule)][0]
    hypothesis = (given or _best_for(space, rule)) if any_passes(theorem) else None
    least, squares = _least(space, hypothesis)
    if hypothesis is None or least <= 0 or squares <= 0:
        return None
    facts = _facts(space, hypothesis, R2)
    if theorem in ("pa-separable", "romma-separable"):
        facts = None if facts is None else replace(facts, least=least, squares=squares)
    else:  # these need all margins, so the proof is about floats
        hypothesis = hypothesis.floats()
        if theorem == "sop-separable" and facts is not None:
            limit = 1.99 / float(facts.margins.max())
            hypothesis = _times(hypothesis, _best_factor(theorem, rule, facts, limit))
            facts = _facts(space, hypothesis, R2)
    bound = math.inf if facts is None else _bound(theorem, rule, facts)
    if facts is None or math.isinf(bound):
        return None
    if isinstance(rule, ALMA):
        margin = float(facts.unit_margins().min()) / root_up(facts.squares) * (1 - 4 * EPS)
    else:
        margin = root_down(facts.sq_margin() or Fraction(0))
    return Proved(theorem, bound, margin, hypothesis)


def _best_for(space: Constraints, rule: Any) -> Hypothesis | None:
    """The separator with the largest margin; for ALMA, of the rows at length 1."""
    separator = _separator(_unit_rows(space) if isinstance(rule, ALMA) else space)
    if separator is None:
        return None
    return _split(separator.hypothesis.w, space) if isinstance(rule, ALMA) else separator.hypothesis


def _one_pass(space: Constraints, rule: Any, R2: Fraction, given: Hypothesis | None, find: Find) -> Proved | None:
    """The best bound for one pass; None if there is no theorem or if it says less than the number of rows."""
    theorem = HOLDS[type(rule)][-1]
    found = []
    with np.errstate(all="ignore"):  # numbers out of the range of floats prove nothing
        for candidate in () if any_passes(theorem) else _candidates(space, rule, given, find):
            facts = _facts(space, candidate, R2)
            if facts is None:
                continue
            hypothesis = _times(candidate, _best_factor(theorem, rule, facts))
            facts = _facts(space, hypothesis, R2)
            bound = math.inf if facts is None or facts.squares <= 0 else _bound(theorem, rule, facts)
            if facts is not None and bound < len(space.rows):
                margin = root_down(1 / facts.squares)
                logarithm = facts.log_det(_start(rule)) if isinstance(rule, AROW | SOP) else None
                found.append(Proved(theorem, bound, margin, hypothesis, _shortfall(theorem, facts), logarithm))
    return min(found, key=lambda proved: proved.bound, default=None)


def _bound(theorem: str, rule: Any, facts: Facts) -> float:
    """The bound of a theorem; infinite if there is none, or if floats do not reach."""
    try:
        bound = BOUNDS[theorem](rule, facts)
    except OverflowError:
        return math.inf
    return math.inf if bound is None else number_up(bound)


def _shortfall(theorem: str, facts: Facts) -> float:
    """What the hypothesis falls short by, in the measure of the theorem."""
    if theorem in ("arow", "sop"):
        return number_up(total(facts.off, facts.slack))
    short = np.maximum(1 - facts.unit_margins(), 0) if theorem == "alma" else facts.short
    return number_up(total(short, facts.slack))


def _facts(space: Constraints, hypothesis: Hypothesis, R2: Fraction) -> Facts | None:
    """What the theorems need to know about a hypothesis, in floats; None if they do not reach."""
    hypothesis = hypothesis.floats()
    if not hypothesis.finite:
        return None
    with np.errstate(all="ignore"):
        margins = space.margins(hypothesis)[0]
        errors = space.error(hypothesis) + float_up(space.loss(hypothesis))
        squares = space.K.diagonal() if isinstance(space, Gram) else space.rows.sq_norm
        sq_steps = (squares + float(space.bias)) * (1 if space.blocks == 1 else 2)
        if not (np.isfinite(margins * margins) & np.isfinite(errors * errors) & np.isfinite(sq_steps)).all():
            return None
    faint = np.flatnonzero(sq_steps < FAINTEST)
    if len(faint) and space.rows.take(faint).values.any():  # squares that underflow are not accurate
        return None
    return Facts(
        margins=margins,
        errors=errors,
        sq_steps=sq_steps,
        slack=2 * (space.rows.n_features + 16) * EPS,
        squares=space.sq_length(hypothesis, free=False),
        longest=R2,
        unknowns=min(len(space.rows), space.rows.n_features + space.bias),
        log_det=_Remembered(space),
    )


class _Remembered:
    """ln det(I + Σxxᵀ/a) of some rows, computed once."""

    def __init__(self, space: Constraints) -> None:
        self.space, self.value = space, math.nan

    def __call__(self, a: float) -> float:
        if math.isnan(self.value):
            self.value = log_det(self.space.rows, self.space.bias, a)
        return self.value


# -- the search ---------------------------------------------------------------------------------------------------


def _candidates(space: Constraints, rule: Any, given: Hypothesis | None, find: Find) -> Iterable[Hypothesis]:
    """Hypotheses that may have small bounds, at any length."""
    if given is not None:
        yield given.floats()
        return
    if isinstance(rule, AROW | SOP):
        yield _ridge(space, _start(rule))
    if isinstance(rule, ALMA):
        unit = _unit_rows(space)
        for root in ROOTS.values():
            yield _split(optimised(unit, root, (8 / rule.alpha - 6) / math.sqrt(2), None).w, space)
    elif not isinstance(rule, AROW):
        for root in ROOTS.values():
            yield find(root)
    if isinstance(rule, PA | PA1 | PA2):
        diagonal = space.K.diagonal() if isinstance(space, Gram) else space.rows.sq_norm
        sq_steps = (diagonal + float(space.bias)) * (1 if space.blocks == 1 else 2)

        def noise(R: float, length: float, short: Floats) -> tuple[float, float, Floats]:
            """‖w‖² + Σ −min g and its derivatives by ‖w‖ and s."""
            loss, slopes = passive_aggressive.loss(rule, short, sq_steps)
            return length * length + loss, 2 * length, slopes

        yield find(noise)


def _best_factor(theorem: str, rule: Any, facts: Facts, limit: float = math.inf) -> float:
    """The factor of a hypothesis, at most `limit`, that makes its bound small."""
    size = float(np.abs(facts.margins).mean())
    if size == 0 or not math.isfinite(size):
        return 1.0
    factors = FACTORS / size if math.isinf(limit) else limit * np.exp(np.linspace(-20.0, 0.0, 61))

    def value(log: float) -> float:
        return _bound(theorem, rule, facts.scaled(math.exp(log)))

    logs = np.log(factors)
    values = [value(log) for log in logs]
    i = int(np.argmin(values))
    low, high = logs[max(i - 1, 0)], logs[min(i + 1, len(logs) - 1)]
    found = minimize_scalar(value, bounds=(low, high), method="bounded", options={"maxiter": 20})
    return math.exp(found.x if found.fun < values[i] else logs[i])


def _times(hypothesis: Hypothesis, factor: float) -> Hypothesis:
    floats = hypothesis.floats()
    return Hypothesis(floats.w * factor, floats.b * factor)


def _start(rule: AROW | SOP) -> float:
    """a of the regression that the rule solves."""
    return rule.r if isinstance(rule, AROW) else rule.a


def _ridge(space: Constraints, a: float) -> Hypothesis:
    """u with the least a‖u‖² + Σ (1 − u·x)²."""
    sign = np.where(space.codes == 1, 1.0, -1.0)
    u = lsqr(_with_constant(space), sign, damp=math.sqrt(a), iter_lim=1000)[0]
    return _split(u[np.newaxis], space)


def _unit_rows(space: Constraints) -> Constraints:
    """The rows with their constant, divided by their length, without a bias. Floats: to search in."""
    X = _with_constant(space)
    scale = 1.0 / np.sqrt(np.maximum(space.rows.sq_norm + float(space.bias), np.finfo(np.float64).tiny))
    X = X * scale[:, np.newaxis] if isinstance(X, np.ndarray) else sp.csr_matrix(X.multiply(scale[:, np.newaxis]))
    return Constraints(as_rows(X), space.codes, space.n_classes, False)


def _with_constant(space: Constraints) -> Any:
    """The rows in float64, dense or sparse, with the constant 1 if there is a bias."""
    X = space.rows.matrix().astype(np.float64)
    return augment(X) if space.bias else X


def _split(w: Any, space: Constraints) -> Hypothesis:
    """A hypothesis about rows with their constant as one about the rows and a bias."""
    return Hypothesis(w[:, :-1], w[:, -1]) if space.bias else Hypothesis(w, np.zeros(len(w), dtype=w.dtype))


def _in_span(gram: Gram, root: Root, R: float) -> Hypothesis:
    """Find a hypothesis with a small bound in the rows of L, as coefficients of the points.

    The columns of L are eigenvectors, so w = Lᵀα for α = L·(w/‖column‖²).
    """
    sizes = (gram.L * gram.L).sum(axis=0)
    clear = sizes > FAINT * sizes.max()
    if not clear.any():  # all points are 0
        return Hypothesis(np.zeros((gram.blocks, len(gram.K))), np.zeros(gram.blocks))
    L, sizes = np.ascontiguousarray(gram.L[:, clear]), sizes[clear]
    found = optimised(replace(gram, L=L).searched, root, R, None)
    return Hypothesis((found.w / sizes) @ L.T, found.b)
