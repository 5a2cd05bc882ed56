"""Irreducible rows: they cannot be separated, but without any one of them they can."""

from __future__ import annotations

import numpy as np

from perceptrons.solver.constraints import Constraints, Hypothesis, Ints
from perceptrons.solver.proof import Contradiction, Undecided, decide

# Limits of the search among several classes: pairs of classes, rows of each class, rows of a contradiction.
MOST_PAIRS, SAMPLE, MOST_ROWS = 10, 10_000, 100


def irreducible(constraints: Constraints, proof: Contradiction) -> Ints | None:
    """Find rows that cannot be separated, but can without any one of them; None if that takes too long.

    With two classes, these are the rows of the contradiction. With several, two classes often cannot be separated from
    each other, which leaves few rows. Otherwise the search drops superfluous rows of the contradiction. There can be
    some although no constraint is superfluous, because a row has one constraint for each rival.
    """
    at = np.unique(proof.chosen.at)
    if constraints.n_classes == 2 or len(at) <= 2:
        return at
    pairs = np.sort(np.column_stack([proof.chosen.own, proof.chosen.rivals]), axis=1)
    distinct, counts = np.unique(pairs, axis=0, return_counts=True)
    for pair in distinct[np.argsort(-counts)][:MOST_PAIRS]:
        rows = np.concatenate([_some_of(np.flatnonzero(constraints.codes == code)) for code in pair])
        found = _decide_among(constraints, rows)
        if isinstance(found, Contradiction):
            return np.sort(rows[found.chosen.at])
    if len(at) > MOST_ROWS:
        return None
    needed: list[int] = []
    rest = at.tolist()
    while rest:
        row = rest.pop()
        fewer = np.array([*needed, *rest], dtype=np.intp)
        found = _decide_among(constraints, fewer)
        if isinstance(found, Undecided):
            return None
        if isinstance(found, Contradiction):
            still = set(fewer[found.chosen.at].tolist())
            needed, rest = [i for i in needed if i in still], [i for i in rest if i in still]
        else:
            needed.append(row)
    return np.array(sorted(needed), dtype=np.intp)


def _some_of(rows: Ints) -> Ints:
    """Take at most SAMPLE of these rows, evenly spread."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, SAMPLE).astype(np.intp))]


def _decide_among(constraints: Constraints, rows: Ints) -> Hypothesis | Contradiction | Undecided | None:
    """Decide some rows alone; None if they all belong to one class."""
    classes, codes = np.unique(constraints.codes[rows], return_inverse=True)
    if len(classes) < 2:
        return None
    codes = codes.astype(constraints.codes.dtype)
    return decide(Constraints(constraints.rows.take(rows), codes, len(classes), constraints.bias))
