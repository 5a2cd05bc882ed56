"""A verdict with its proof: floats find it, exact arithmetic makes it sure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from perceptrons.theory.rounding import root_down, root_up
from perceptrons.theory.solver import exact, simplex
from perceptrons.theory.solver.constraints import Chosen, Constraints, Hypothesis
from perceptrons.theory.solver.working_set import ZERO, Found, rounds

WIDE = 1e-8  # relative width of an enclosure above which exact arithmetic makes it narrower
POLISH = 50  # rounds of that


@dataclass(frozen=True)
class Separator:
    """Proved: `hypothesis` has margin `low` at least, and no hypothesis has a margin above `high`."""

    hypothesis: Hypothesis  # floats of unit length, or rationals where floats would not separate as well
    low: float
    high: float
    chosen: Chosen
    weights: list[Fraction]  # multipliers of a point of the hull whose length is `high`
    closest: tuple[int, int]  # the row that has margin `low`, and its rival


@dataclass(frozen=True)
class Contradiction:
    """Proved: Σ λ_i z_i = 0 with λ = `weights` > 0, Σλ = 1, so nothing separates; no constraint can be left out."""

    chosen: Chosen
    weights: list[Fraction]


@dataclass(frozen=True)
class Undecided:
    """Floats could not tell, and exact arithmetic would take too long."""

    chosen: Chosen


Proof = Separator | Contradiction | Undecided


def decide(constraints: Constraints, first: Chosen | None = None) -> Hypothesis | Contradiction | Undecided:
    """Whether anything separates: some separator, or a contradiction."""
    last = None
    for last in rounds(constraints, free=True, first=first, even=True):
        if last.margin > 0 and exact.smallest_margin(constraints, last.hypothesis)[0] > 0:
            return last.hypothesis
    assert last is not None  # there is always a first round
    contradiction = _contradiction(last)
    if contradiction is not None:
        return contradiction
    answer = simplex.decide(constraints, last.chosen)
    if answer is None:
        return Undecided(last.chosen)
    return answer if isinstance(answer, Hypothesis) else Contradiction(*answer)


def best(constraints: Constraints, *, free: bool = True, first: Chosen | None = None) -> Proof:
    """The separator with the largest margin, or a contradiction.

    free: margins are those of the rows; else the bias counts as the weight of a constant feature 1.
    """
    top = last = None
    for last in rounds(constraints, free=free, first=first):
        top = last if top is None or last.margin > top.margin else top
    assert top is not None and last is not None  # there is always a first round
    proof = None
    if top.margin > 0:
        proof = separator(constraints, top.hypothesis, *exact.without_noise(top.chosen, top.weights), free=free)
    if proof is None or proof.low == 0:
        answer = _contradiction(last) or decide(constraints, first=last.chosen)
        if not isinstance(answer, Hypothesis):
            return answer
        rational = exact.moderate(exact.rationals(answer))
        for hypothesis in _forms(rational, free):  # as floats, if they separate
            proof = separator(constraints, hypothesis, *exact.without_noise(last.chosen, last.weights), free=free)
            if proof.low > 0:
                break
    assert proof is not None
    return _narrower(constraints, proof, free) if proof.high > (1 + WIDE) * proof.low else proof


def _contradiction(last: Found) -> Contradiction | None:
    """The contradiction that the multipliers of the last round prove, if they do."""
    found = exact.contradiction(last.chosen, last.weights) if last.distance < ZERO else None
    return None if found is None else Contradiction(*found)


def margin(constraints: Constraints, hypothesis: Hypothesis, *, free: bool) -> tuple[float, tuple[int, int]]:
    """The margin of the hypothesis, rounded down, or 0 if it does not separate; with the row and rival that have it."""
    least, row, rival = exact.smallest_margin(constraints, hypothesis)
    return root_down(max(least, Fraction(0)) ** 2 / exact.sq_length(hypothesis, free)), (row, rival)


def separator(
    constraints: Constraints,
    hypothesis: Hypothesis,
    chosen: Chosen,
    weights: Iterable[float | Fraction],
    *,
    free: bool,
) -> Separator:
    """The enclosure that this hypothesis and these multipliers prove."""
    low, closest = margin(constraints, hypothesis, free=free)
    point = exact.hull_point(chosen, weights, free)
    if point is None:  # one row of each of two classes is a point of the hull as well
        rows = np.array([np.flatnonzero(constraints.codes == code)[0] for code in (0, 1)])
        chosen = constraints.choose(rows, np.array([1, 0]))
        point = exact.hull_point(chosen, [1, 1], free)
        assert point is not None
    return Separator(hypothesis, low, root_up(point[1]), chosen, point[0], closest)


def _narrower(constraints: Constraints, wide: Separator, free: bool) -> Separator:
    """The enclosure made narrower by Wolfe's method (1976) in exact arithmetic, for as long as it is worth it.

    The point of the hull moves towards the nearest one of the plane that its constraints span, leaving out those whose
    multipliers would fall below 0 on the way; then the worst violator joins.
    """
    chosen, weights = wide.chosen, wide.weights
    lower = upper = wide
    n, width = chosen.A.shape
    for _ in range(min(POLISH, 10**8 // (n * n * (n + width)))):
        solution = exact.nearest_point(chosen, free)
        if solution is None:
            break
        w, b, ahead = solution
        share = min([Fraction(1), *(old / (old - new) for old, new in zip(weights, ahead, strict=True) if new < 0)])
        weights = [old + share * (new - old) for old, new in zip(weights, ahead, strict=True)]
        positive = [weight > 0 for weight in weights]
        chosen, weights = chosen.keep(np.array(positive)), [weight for weight in weights if weight > 0]
        if share < 1:
            continue
        rational = exact.moderate(constraints.hypothesis(chosen, w, b))
        for hypothesis in _forms(rational, free):  # as floats, if these are good enough
            narrow = separator(constraints, hypothesis, chosen, weights, free=free)
            lower = narrow if narrow.low > lower.low else lower
            upper = narrow if narrow.high < upper.high else upper
            if narrow.high <= (1 + 10 * WIDE) * narrow.low:
                return narrow
        at, rivals = np.append(chosen.at, narrow.closest[0]), np.append(chosen.rivals, narrow.closest[1])
        chosen, weights = constraints.choose(at, rivals), [*weights, Fraction(0)]
    return replace(upper, hypothesis=lower.hypothesis, low=lower.low)


def _forms(rational: Hypothesis, free: bool) -> list[Hypothesis]:
    """The hypothesis in floats, if their range suffices, and as it is."""
    floats = unit(rational, free)
    finite = np.isfinite(floats.w).all() and np.isfinite(floats.b).all()
    return [floats, rational] if finite else [rational]


def unit(hypothesis: Hypothesis, free: bool) -> Hypothesis:
    """The same in floats with ‖w‖ = 1, the bias counting for the length unless it is free."""
    w, b = hypothesis.w, hypothesis.b
    largest = max(np.abs(w).max(), 0 if free else np.abs(b).max())
    scaled = Hypothesis(w / largest, b / largest).floats()
    length = np.linalg.norm(scaled.w if free else np.column_stack([scaled.w, scaled.b]))
    return Hypothesis(scaled.w / length, scaled.b / length)
