"""What each feature of a row contributes to its score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from perceptrons.data.arrays import Rows
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.state import Floats


class Contribution(NamedTuple):
    """One term of the score w·x + b."""

    feature: int
    value: float  # x_j
    weight: float  # w_j
    amount: float  # w_j·x_j


class Explained(NamedTuple):
    """The terms of a score. The score is the sum of all amounts and the intercept."""

    terms: list[Contribution]  # the largest |amount| first; amounts of 0 are left out
    intercept: float

    @property
    def total(self) -> float:
        return float(np.sum([term.amount for term in self.terms])) + self.intercept


def direction(learner: LinearLearner, of: int, against: int | None = None) -> Floats:
    """The weights, with the bias as the last, of a score.

    For two classes, the score of the second (`of` is 1) or its negative. For more, the score of class `of`, minus that
    of class `against` unless it is None.
    """
    if learner.n_classes <= 2:
        return learner.weights if of else -learner.weights
    weights = learner.weights[:, of]
    return np.asarray(weights if against is None else weights - learner.weights[:, against])


def explained(row: Rows, weights: Floats) -> Explained:
    """The terms of the score of one row, for weights with the bias as the last: w·x + b = Σ w_j·x_j + b."""
    numbers = np.arange(row.n_features) if row.indices is None else row.indices.astype(np.intp)
    found = row.values.ravel()
    kept = weights[:-1][numbers]
    amounts = kept * found  # in float64, whatever the type of the values
    order = np.lexsort((numbers, -np.abs(amounts)))
    terms = [
        Contribution(int(numbers[i]), float(found[i]), float(kept[i]), float(amounts[i])) for i in order if amounts[i]
    ]
    return Explained(terms, float(weights[-1]))
