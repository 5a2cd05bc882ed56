"""What each feature of a row contributes to its score."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from perceptrons.data.arrays import Rows
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.linear.values import ValueLearner
from perceptrons.learn.state import Floats


class Contribution(NamedTuple):
    """One term of the score w·z + b, where z is the row on the scale of training."""

    feature: int
    value: float  # x_j, as users have it
    scaled: float  # z_j; equal to x_j if training scaled nothing
    weight: float  # w_j
    amount: float  # w_j·z_j


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


def runner_up(scores: Floats, code: int) -> int:
    """The class with the largest score besides class `code`; the first of equals."""
    return int(np.where(np.arange(len(scores)) == code, -np.inf, scores).argmax())


def explained(learner: LinearLearner, row: Rows, weights: Floats, encoding: Any = None) -> Explained:
    """The terms of the score of one row, for weights with the bias as the last: w·z + b = Σ w_j·z_j + b.

    encoding: as for `learner.scaled`.
    """
    seen, raw = learner.scaled(row, encoding), np.zeros(row.n_features)  # scaled rows may have more entries, for zeros
    raw[slice(None) if row.indices is None else row.indices.astype(np.intp)] = row.values.ravel()
    numbers = np.arange(row.n_features) if seen.indices is None else seen.indices.astype(np.intp)
    values, scaled = raw[numbers], seen.values.ravel().astype(np.float64)
    kept = weights[:-1][numbers]
    amounts = kept * scaled
    order = np.lexsort((numbers, -np.abs(amounts)))
    table = np.column_stack([values, scaled, kept, amounts])[order].tolist()
    terms = [Contribution(int(j), *line) for j, line in zip(numbers[order], table, strict=True) if line[-1]]
    return Explained(terms, float(weights[-1] * learner.bias))


def in_values(learner: ValueLearner, row: Rows, encoding: Any = None) -> Explained:
    """The terms of a predicted value, in its unit: centre + spread·(w·z + b)."""
    terms = explained(learner, row, learner.weights * learner.unit.spread, encoding)
    return terms._replace(intercept=terms.intercept + learner.unit.centre)
