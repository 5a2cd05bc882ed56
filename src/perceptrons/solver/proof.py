"""A verdict with its proof: floats find it, exact arithmetic proves it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce, singledispatch

import numpy as np

from perceptrons.shown import count
from perceptrons.solver import coordinates, exact, simplex
from perceptrons.solver.constraints import Chosen, Constraints, Hypothesis
from perceptrons.solver.coordinates import View
from perceptrons.solver.faint import widest
from perceptrons.solver.patience import OutOfTime, step
from perceptrons.solver.rounding import root_down, root_up
from perceptrons.solver.working_set import ZERO, Found, rounds, search

WIDE = 1e-8  # exact arithmetic narrows an enclosure of a larger relative width
POLISH = 50  # rounds of that


@dataclass(frozen=True)
class Separator:
    """Proved: `hypothesis` has at least the margin `low`, and no hypothesis has a margin above `high`."""

    hypothesis: Hypothesis  # floats of unit length, or rationals if floats would not separate as well
    low: float
    high: float
    chosen: Chosen
    weights: list[Fraction]  # multipliers of a point of the hull whose length is `high`
    closest: tuple[int, int]  # the row with margin `low`, and its rival
    view: View | None = None  # coordinates that showed the separator, if floats did not see it otherwise


@dataclass(frozen=True)
class Contradiction:
    """Proved: Σ λ_i z_i = 0 with λ = `weights` > 0, Σλ = 1, so nothing separates; no constraint can be dropped."""

    chosen: Chosen
    weights: list[Fraction]


@dataclass(frozen=True)
class Undecided:
    """Nothing is proved, and why."""

    reason: str


Proof = Separator | Contradiction | Undecided


def decide(constraints: Constraints, first: Chosen | None = None) -> Hypothesis | Contradiction | Undecided:
    """Find some separator, or a contradiction."""
    return _decided(constraints, first)[0]


def _decided(
    constraints: Constraints, first: Chosen | None
) -> tuple[Hypothesis | Contradiction | Undecided, View | None]:
    """The same, with the view that showed a separator which floats cannot see otherwise."""
    last = None
    for last in rounds(constraints, free=True, first=first, even=True):
        if last.margin > 0 and exact.smallest_margin(constraints, last.hypothesis)[0] > 0:
            return last.hypothesis, None
    assert last is not None  # there is always a first round
    contradiction = contradiction_of(last)
    if contradiction is not None:
        return contradiction, None
    likely = last.chosen.keep(np.argsort(-last.weights))
    answer = coordinates.decide(constraints, likely) or simplex.decide(constraints, likely)
    if answer is None:
        unknowns = count(constraints.dimension, "unknown")
        return Undecided(
            f"the margin is too near to 0 for floats; exact arithmetic with {unknowns} takes too long"
        ), None
    if isinstance(answer, Hypothesis):
        return answer, None
    return (answer[0], answer[1]) if isinstance(answer[1], View) else (Contradiction(*answer), None)


@singledispatch
def best(
    constraints: Constraints,
    *,
    free: bool = True,
    first: Chosen | None = None,
    known: tuple[Hypothesis, View | None] | None = None,
) -> Proof:
    """Find the separator with the largest margin, or a contradiction.

    free: margins are those of the rows; otherwise the bias counts as the weight of a constant feature 1.
    known: some separator, and the view that showed it.
    """
    top, last = search(constraints, free=free, first=first)
    proof = None
    if top.margin > 0:
        proof = _separator(constraints, top.hypothesis, *exact.without_noise(top.chosen, top.weights), free=free)
    if proof is None or proof.low == 0:
        contradiction = None if known else contradiction_of(last)
        if contradiction is not None:
            return contradiction
        answer, view = known or _decided(constraints, last.chosen)
        if not isinstance(answer, Hypothesis):
            return answer
        proof = _faint(constraints, answer, view, last, free)
    return _narrower(constraints, proof, free) if proof.high > (1 + WIDE) * proof.low else proof


def _faint(constraints: Constraints, answer: Hypothesis, view: View | None, last: Found, free: bool) -> Separator:
    """The enclosure for a separator that floats cannot see, with the widest margin that the view shows, if any."""
    chosen, weights = exact.without_noise(last.chosen, last.weights)
    found = None
    with suppress(OutOfTime):
        found = None if view is None else widest(view, free=free)
    proofs = [] if found is None else [_separator(constraints, *found, free=free)]
    if not proofs or proofs[0].low == 0 or proofs[0].high > 2 * proofs[0].low:
        for hypothesis in forms(constraints, exact.moderate(answer.rationals()), free=free):
            proofs.append(_separator(constraints, hypothesis, chosen, weights, free=free))
            if proofs[-1].low > 0:
                break
    return replace(reduce(_both, proofs), view=view)  # the last one separates, even if its margin is rounded to 0


def _both(one: Separator, other: Separator) -> Separator:
    """The larger lower bound and the smaller upper bound, each with its proof; the other's if they are equal."""
    lower, upper = (one if one.low > other.low else other), (one if one.high < other.high else other)
    return replace(upper, hypothesis=lower.hypothesis, low=lower.low, closest=lower.closest)


def contradiction_of(last: Found) -> Contradiction | None:
    """The contradiction that the multipliers of the last round prove, if they do."""
    found = exact.contradiction(last.chosen, last.weights) if last.distance < ZERO else None
    return None if found is None else Contradiction(*found)


def margin(constraints: Constraints, hypothesis: Hypothesis, *, free: bool) -> tuple[float, tuple[int, int]]:
    """The margin of a hypothesis, rounded down, or 0 if it is not proved to separate; and the closest row and rival."""
    least, row, rival = exact.smallest_margin(constraints, hypothesis)
    least -= constraints.loss(hypothesis)
    squares = constraints.sq_length(hypothesis, free=free)
    return root_down(least**2 / squares) if least > 0 and squares > 0 else 0.0, (row, rival)


def hull_point(
    constraints: Constraints, chosen: Chosen, weights: Iterable[float | Fraction], *, free: bool
) -> tuple[list[Fraction], float] | None:
    """Find multipliers λ near the weights, and the length of Σ λz, rounded up, which no margin exceeds."""
    found = exact.multipliers(chosen, weights, free)
    if found is None:
        return None
    return found, root_up(max(constraints.sq_hull(chosen, found, free=free), Fraction(0)))


def any_hull_point(constraints: Constraints, *, free: bool) -> tuple[Chosen, list[Fraction], float]:
    """A point of the hull made of one row of each of two classes, with its constraints, multipliers and length."""
    rows = np.array([np.flatnonzero(constraints.codes == code)[0] for code in (0, 1)])
    pair = constraints.searched.choose(rows, np.array([1, 0]))
    point = hull_point(constraints, pair, [1, 1], free=free)
    assert point is not None
    return pair, *point


def _separator(
    constraints: Constraints, hypothesis: Hypothesis, chosen: Chosen, weights: Iterable[float | Fraction], *, free: bool
) -> Separator:
    """The enclosure that this hypothesis and these multipliers prove."""
    low, closest = margin(constraints, hypothesis, free=free)
    point = hull_point(constraints, chosen, weights, free=free)
    chosen, multipliers, high = any_hull_point(constraints, free=free) if point is None else (chosen, *point)
    return Separator(hypothesis, low, high, chosen, multipliers, closest)


def _narrower(constraints: Constraints, wide: Separator, free: bool) -> Separator:
    """Narrow the enclosure by Wolfe's method (1976) in exact arithmetic, within a limit of work.

    The point of the hull moves towards the nearest point of the plane that its constraints span. Constraints whose
    multipliers would fall below 0 on the way are dropped; then the worst violator joins.
    """
    chosen, weights = wide.chosen, wide.weights
    lower = upper = wide
    n, width = chosen.A.shape
    for _ in range(min(POLISH, 10**8 // (n * n * (n + width)))):
        try:
            step("narrowing the bounds on the margin")
        except OutOfTime:
            break
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
        for hypothesis in forms(constraints, exact.moderate(constraints.hypothesis(chosen, w, b)), free=free):
            narrow = _separator(constraints, hypothesis, chosen, weights, free=free)
            lower = narrow if narrow.low > lower.low else lower
            upper = narrow if narrow.high < upper.high else upper
            if narrow.high <= (1 + 10 * WIDE) * narrow.low:
                return narrow
        at, rivals = np.append(chosen.at, narrow.closest[0]), np.append(chosen.rivals, narrow.closest[1])
        chosen, weights = constraints.choose(at, rivals), [*weights, Fraction(0)]
    return _both(upper, lower)


def forms(constraints: Constraints, hypothesis: Hypothesis, *, free: bool) -> Sequence[Hypothesis]:
    """The hypothesis in floats of unit length, unless they are out of range, and as it is."""
    floats = constraints.unit(hypothesis, free=free)
    return [floats, hypothesis] if floats.finite else [hypothesis]
