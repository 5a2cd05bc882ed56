"""Twins: two equal rows of different classes. No hypothesis can be right about both."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from perceptrons.core.linear import passes
from perceptrons.core.random import GOLDEN
from perceptrons.data import Rows
from perceptrons.solver.constraints import Constraints, Ints
from perceptrons.solver.proof import Contradiction

TRIES = 64  # pairs of rows with equal scores that are compared


def twins(rows: Rows, codes: npt.NDArray[np.generic]) -> Ints | None:
    """Find two equal rows of different classes; None if none are found.

    Equal rows have equal scores for random weights, so rows with equal scores are compared.
    """
    weights = np.append(np.random.default_rng(0).uniform(0.5, 1.0, rows.n_features), 0.0)
    with np.errstate(all="ignore"):
        scores = passes.decide(*rows.arrays, 0.0, weights)[:, 0]
    shared = np.flatnonzero(_shares_its_slot(scores))
    order = shared[np.argsort(scores[shared])]
    before, after = order[:-1], order[1:]
    alike = np.flatnonzero((scores[before] == scores[after]) & (codes[before] != codes[after]))
    for k in alike[:TRIES]:
        pair = np.sort(order[k : k + 2])
        table = rows.take(pair).matrix()
        lines = table if rows.indices is None else table.toarray()
        if np.array_equal(lines[0], lines[1]):
            return pair
    return None


def _shares_its_slot(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Whether the slot of a score in a hash table has another one, too: always for equal scores, else rarely."""
    bits = len(scores).bit_length() + 2
    slots = ((scores + 0.0).view(np.uint64) * GOLDEN >> np.uint64(64 - bits)).astype(np.intp)  # + 0.0: not −0.0
    return np.asarray(np.bincount(slots, minlength=1 << bits)[slots] > 1)


def simplest(constraints: Constraints, found: Contradiction) -> Contradiction:
    """Replace a contradiction of three or more rows by that of twins, if there are some: λ = ½ for each of the two."""
    pair = twins(constraints.rows, constraints.codes) if len(found.chosen.at) > 2 else None
    if pair is None:
        return found
    chosen = constraints.choose(pair, constraints.codes[pair[::-1]].astype(np.intp))
    if not chosen.A.any() and not chosen.B.any():  # without a bias, one row of zeros is enough
        return Contradiction(chosen.keep(np.array([True, False])), [Fraction(1)])
    return Contradiction(chosen, [Fraction(1, 2)] * 2)
