"""Twins: two equal rows of different classes. No hypothesis can be right about both."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from perceptrons.core.linear import passes
from perceptrons.data import Rows
from perceptrons.solver.constraints import Constraints, Ints
from perceptrons.solver.proof import Contradiction

TRIES = 64  # pairs of rows with equal scores that are compared


def twins(rows: Rows, codes: npt.NDArray[np.generic]) -> Ints | None:
    """Find two equal rows of different classes; None if none are found.

    Equal rows have equal scores for random weights, so the rows are sorted by these scores and neighbours are compared.
    """
    weights = np.append(np.random.default_rng(0).uniform(0.5, 1.0, rows.n_features), 0.0)
    with np.errstate(all="ignore"):
        scores = passes.decide(*rows.arrays, 0.0, weights)[:, 0]
    order = np.argsort(scores)
    before, after = order[:-1], order[1:]
    alike = np.flatnonzero((scores[before] == scores[after]) & (codes[before] != codes[after]))
    for k in alike[:TRIES]:
        pair = np.sort(order[k : k + 2])
        table = rows.take(pair).matrix()
        lines = table if rows.indices is None else table.toarray()
        if np.array_equal(lines[0], lines[1]):
            return pair
    return None


def simplest(constraints: Constraints, found: Contradiction) -> Contradiction:
    """Replace a contradiction of three or more rows by that of twins, if there are some: λ = ½ for each of the two."""
    pair = twins(constraints.rows, constraints.codes) if len(found.chosen.at) > 2 else None
    if pair is None:
        return found
    chosen = constraints.choose(pair, constraints.codes[pair[::-1]].astype(np.intp))
    if not chosen.A.any() and not chosen.B.any():  # without a bias, one row of zeros is enough
        return Contradiction(chosen.keep(np.array([True, False])), [Fraction(1)])
    return Contradiction(chosen, [Fraction(1, 2)] * 2)
