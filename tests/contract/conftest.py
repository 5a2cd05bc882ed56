"""All estimators that the contract tests run over. A new estimator is one more line of `CASES`."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from structured_cases import Classes, tastes

from perceptrons import (
    KernelPerceptron,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    SequenceTagger,
    StructuredPerceptron,
    TableClassifier,
    TableRegressor,
)
from perceptrons.learn.readouts import READOUTS
from perceptrons.structures import Ranking

N = 30  # examples in each set of data


def vectors(labels):
    """Three clusters of whole numbers, which a linear classifier can separate; `labels` names the clusters."""
    random = np.random.default_rng(0)
    codes = random.integers(3, size=N)
    X = np.array([[6, 0, 0], [0, 6, 0], [0, 0, 6]])[codes] + random.integers(-2, 3, size=(N, 3))
    return X.astype(float), np.array(labels)[codes]


def values():
    """Values that are exactly linear in the features."""
    X, _ = vectors(["a", "b", "c"])
    return X, X @ np.array([1.0, -2.0, 0.5]) + 3.0


def sentences():
    """Words that a tagger can label by their first letter and the word before."""
    random = np.random.default_rng(0)
    X = [random.choice(["da", "no", "ve", "nu", "du"], random.integers(1, 5)).tolist() for _ in range(N)]
    return X, [["A" if x[:i][-1:] == ["da"] else word[0].upper() for i, word in enumerate(x)] for x in X]


def named():
    """The same, with features that have names."""
    X, Y = sentences()
    return [[{"w": word, "before": x[i - 1] if i else ""} for i, word in enumerate(x)] for x in X], Y


def rankings():
    """Candidates in an order that a linear score explains."""
    return tastes(N)[:2]


class Case(NamedTuple):
    """An estimator, examples that it can learn without a mistake, and examples that it must refuse."""

    model: Any
    data: Callable[[], tuple[Any, Any]]
    bad: tuple[tuple[Any, Any], ...]


# Where there is a good example, it comes first and could have been learned from.
BAD_ROWS = (
    (np.zeros((0, 3)), np.array([])),
    (np.ones((3, 3)), np.array(["a", "b"])),
    (np.array([[1.0, 2.0, 3.0], [1.0, 2.0, np.nan]]), np.array(["b", "a"])),
)
BAD_VALUES = (
    *((X, np.arange(float(len(y)))) for X, y in BAD_ROWS),
    (np.ones((2, 3)), np.array([1.0, np.inf])),
    (np.ones((2, 3)), np.array(["1", "two"])),
)
BAD_WORDS = (
    ([["da"], ["no"]], [["D"]]),
    ([["da"], ["no", "ve"]], [["X"], ["X"]]),
    ([["da"], [None]], [["X"], ["X"]]),
)
BAD_NAMED = (
    ([[{"w": "da"}]], []),
    ([[{"w": "da"}], [{"w": "no"}]], [["X"], ["X", "X"]]),
    ([[{"w": "da"}], [{"w": np.nan}]], [["X"], ["X"]]),
)
BAD_CLASSES = (([], []), (np.ones((2, 3)), [0]), ([np.ones(3), np.ones(4)], [1, 2]))
BAD_RANKINGS = (([], []), ([np.ones((2, 4))], []), ([np.ones((2, 4)), np.ones((2, 4))], [[0, 1], [1, 1]]))

words, numbers = partial(vectors, ["a", "b", "c"]), partial(vectors, [0, 1, 2])
CASES = [
    Case(Perceptron(), words, BAD_ROWS),
    *(Case(Perceptron(readout=readout), words, BAD_ROWS) for readout in READOUTS if readout not in ("last", "pocket")),
    Case(PassiveAggressiveClassifier(), words, BAD_ROWS),
    # One for all rules with parameters: the contract does not depend on the formula.
    Case(PassiveAggressiveClassifier(average=True, loss="squared_hinge"), words, BAD_ROWS),
    Case(PassiveAggressiveRegressor(), values, BAD_VALUES),
    Case(PassiveAggressiveRegressor(rule="arow", average=True), values, BAD_VALUES),
    # Scaled columns would be on the scale of the first call. Tables may have missing cells.
    Case(TableClassifier(scale="none"), words, BAD_ROWS[:2]),
    Case(TableRegressor(scale="none"), values, (*BAD_VALUES[:2], *BAD_VALUES[3:])),
    Case(KernelPerceptron(), words, BAD_ROWS),
    Case(KernelPerceptron(readout="voted", kernel="poly"), words, BAD_ROWS),
    Case(KernelPerceptron(budget=20), words, BAD_ROWS),
    Case(SequenceTagger(), named, BAD_NAMED),
    Case(SequenceTagger(["word[0]", "word[-1]"], rule="pa1", readout="last"), sentences, BAD_WORDS),
    Case(StructuredPerceptron(Classes()), numbers, BAD_CLASSES),
    Case(StructuredPerceptron(Classes(form="dict"), readout="last"), numbers, BAD_CLASSES[:2]),
    Case(StructuredPerceptron(Ranking(), rule="margin"), rankings, BAD_RANKINGS),
]
CLASSIFIERS = [case.model for case in CASES if hasattr(case.model, "decision_function")]


def name(model):
    """The representation of a model on one line, without addresses: the same in every process."""
    return re.sub(r"<[\w.]*?(\w+) object at \w+>", r"\1", " ".join(repr(model).split()))


@pytest.fixture(params=CASES, ids=lambda case: name(case.model))
def case(request):
    return request.param


@pytest.fixture(params=CLASSIFIERS, ids=name)
def classifier(request):
    return request.param
