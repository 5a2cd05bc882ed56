"""Rows that cannot be separated, but could without any one of them."""

from __future__ import annotations

import numpy as np

from perceptrons.theory.solver.constraints import Constraints, Hypothesis, Ints
from perceptrons.theory.solver.proof import Contradiction, Undecided, decide

# Of several classes that cannot be separated, irreducible rows are looked for in so many pairs of classes, in
# so many rows of each, and in contradictions of so many rows.
MOST_PAIRS, SAMPLE, MOST_ROWS = 10, 10_000, 100


def irreducible(constraints: Constraints, proof: Contradiction) -> Ints | None:
    """Rows that cannot be separated, but could without any one of them; None if they would take too long to find.

    Two classes: those of the contradiction. Several: mostly two of them cannot be separated from each other, which
    leaves few rows. Else the rows of the contradiction, less those that turn out to be superfluous: a row brings a
    constraint for each rival, so that it can be, although no constraint is.
    """
    at = np.unique(proof.chosen.at)
    if constraints.n_classes == 2:
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
    """At most SAMPLE of these rows, evenly spread."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, SAMPLE).astype(np.intp))]


def _decide_among(constraints: Constraints, rows: Ints) -> Hypothesis | Contradiction | Undecided | None:
    """The verdict on some rows alone; None if they are all of one class."""
    classes, codes = np.unique(constraints.codes[rows], return_inverse=True)
    if len(classes) < 2:
        return None
    codes = codes.astype(constraints.codes.dtype)
    return decide(Constraints(constraints.rows.take(rows), codes, len(classes), constraints.bias))
