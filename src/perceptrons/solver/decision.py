"""Decide for `fit` whether its rows can be separated, once its passes have taken more work than that."""

from __future__ import annotations

from functools import partial
from itertools import islice

import numpy as np

from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.examples import Examples
from perceptrons.learn.fit import Decision, Verdict
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.solver import exact
from perceptrons.solver.constraints import Constraints
from perceptrons.solver.proof import Contradiction, contradiction_of
from perceptrons.solver.twins import twins
from perceptrons.solver.working_set import rounds

# The work of a decision: passes over all rows, and values that a pass could read in the time of the rest. A search
# among m constraints takes a time that grows with m³. Measured for 4 to 1,000 unknowns, 150 to 500,000 rows.
PASSES, VALUES, VALUES_BY_CUBE = 8, 4_000_000, 150
LEAST = 2_000  # a pass takes at least the time of this many values
ROUNDS = 100  # of the search


def decision(learner: ClassLearner, examples: Examples, least: int) -> Decision:
    """When to ask, and how; `least` is the smallest number of passes before it.

    The number of passes depends only on the sizes of the data, so that results repeat.
    """
    rows, blocks = examples.rows, learner.n_classes if learner.n_classes > 2 else 1
    per_pass = LEAST + (rows.values.size + len(rows)) * blocks
    cost = 0
    if isinstance(learner, LinearLearner):
        unknowns = (learner.n_classes - 1) * (rows.n_features + int(learner.bias > 0)) + 1
        cost = VALUES_BY_CUBE * min(unknowns, len(rows) * (learner.n_classes - 1)) ** 3
    after = PASSES + -(-(VALUES + cost) // per_pass)
    return Decision(max(least, after), partial(_verdict, learner, examples))


def _verdict(learner: ClassLearner, examples: Examples) -> Verdict:
    """What can be proved about the rows that have a weight, in a limited time."""
    at = examples.order().astype(np.intp)
    rows = examples.rows if len(at) == len(examples) else examples.rows.take(at)
    codes = examples.codes[at]
    pair = twins(rows, codes)
    if pair is not None:
        return Verdict(False, at[pair], twins=True)
    if not isinstance(learner, LinearLearner):
        return Verdict(None)
    found = _search(Constraints(rows, codes, learner.n_classes, learner.bias > 0))
    if isinstance(found, Contradiction):
        # With tie="positive", ties are right for one of two classes, so only the others exclude each other strictly.
        strict = (found.chosen.own > found.chosen.rivals) ^ (learner.n_classes == 2)
        proved = bool(strict.any()) or not learner.tie_positive
        return Verdict(False, at[np.unique(found.chosen.at)]) if proved else Verdict(None)
    return Verdict(found)


def _search(constraints: Constraints) -> Contradiction | bool | None:
    """A contradiction; or True for rows that are proved to be separable, None if floats cannot tell."""
    last = None
    for last in islice(rounds(constraints, free=True, even=True), ROUNDS):
        if last.margin > 0 and exact.smallest_margin(constraints, last.hypothesis)[0] > 0:
            return True
    assert last is not None  # there is always a first round
    return contradiction_of(last)
