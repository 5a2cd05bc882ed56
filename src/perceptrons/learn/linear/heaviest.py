"""The features with the largest weights, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.state import Floats

WORDS = 4096  # words that a model file keeps


def heaviest(weights: Floats, top: int | None = None) -> list[int]:
    """The numbers of the features with the largest |weight|, the largest first; weights of 0 are left out.

    >>> heaviest(np.array([0.5, 0.0, -3.0, 0.5]), top=2)
    [2, 0]
    """
    there = np.flatnonzero(weights)
    sizes = np.abs(weights[there])
    first = np.arange(len(sizes))
    if top is not None and top < len(sizes):  # everything from the size of the last one on, so that ties go by number
        first = np.flatnonzero(sizes >= np.partition(sizes, -top)[-top]) if top else first[:0]
    numbers: list[int] = there[first[np.lexsort((there[first], -sizes[first]))]].tolist()
    return numbers[:top]


def with_heaviest_words(encoding: Any, learner: Any) -> Any:
    """An encoding for a model: of the words behind hashes, it knows those with the largest |weight| of any class."""
    if encoding is None or not encoding.texts:
        return encoding
    begin, end = encoding.begin_text, encoding.begin_onehot
    largest = np.zeros(1)
    if isinstance(learner, LinearLearner):
        weights = learner.current if learner.readout.by_vote else learner.weights
        largest = np.abs(weights[begin:end]).reshape(end - begin, -1).max(axis=1)
    return encoding.with_words_of(np.array(heaviest(largest, WORDS), dtype=np.int64) + begin)


def name_of(j: int, names: Sequence[str] | None, encoding: Any) -> str | None:
    """The name of a feature, from a list or from the encoding of a table; None if it has none."""
    if names is not None:
        return str(names[j])
    return str(encoding.feature_name(j)) if encoding is not None and j < encoding.n_features else None
