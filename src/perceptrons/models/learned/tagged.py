"""What a tagger gives back: the labels of sequences, and its weights by name."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from perceptrons.models.guard import reading

if TYPE_CHECKING:
    from perceptrons.models.tagger import SequenceTagger


class Labellings(list[list[Any]]):
    """A list of lists of labels, of which NumPy makes an array with one list per sequence, whatever their lengths."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if dtype is not None and np.dtype(dtype) != object:
            return np.array(list(self), dtype=dtype)
        found = np.empty(len(self), dtype=object)
        for i, labels in enumerate(self):
            found[i] = labels
        return found


def cut(labels: Sequence[Any], codes: Any, bounds: npt.NDArray[np.uint64]) -> list[list[Any]]:
    """Cut labels into sequences."""
    flat = [labels[code] for code in codes.tolist()]
    ends = bounds.tolist()
    return [flat[begin:end] for begin, end in pairwise(ends)]


# -- weights ----------------------------------------------------------------------------------------------------------


@reading
def attributes_(model: SequenceTagger) -> list[str]:
    """Names of all features seen, such as "word:the", in the order of their first occurrence."""
    vocabulary = model._ready().vocabulary
    return list(vocabulary.names(range(vocabulary.n_features)))


def num_attributes_(model: SequenceTagger) -> int:
    """Number of distinct features seen, as in `n_features_`."""
    return model.n_features_


@reading
def state_features_(model: SequenceTagger) -> dict[tuple[str, Any], float]:
    """Non-zero weights of features with labels: ``{("word:the", "DET"): 1.5, …}``."""
    tagger = model._ready()
    features, labels, weights = tagger.fitted.state_weights()
    names = tagger.vocabulary.names(features.tolist())
    return {
        (name, tagger.labels[label]): weight
        for name, label, weight in zip(names, labels.tolist(), weights.tolist(), strict=True)
    }


@reading
def transition_features_(model: SequenceTagger) -> dict[tuple[Any, Any], float]:
    """Non-zero weights of pairs of a label and the next one: ``{("DET", "NOUN"): 2.5, …}``."""
    tagger = model._ready()
    weights, names = tagger.fitted.transition_weights()[:-1, :-1], tagger.labels
    return {
        (names[i], names[j]): float(weights[i, j])
        for i, j in zip(*(each.tolist() for each in np.nonzero(weights)), strict=True)
    }


@reading
def start_features_(model: SequenceTagger) -> dict[Any, float]:
    """Non-zero weights of first labels of sequences: ``{"DET": 1.5, …}``."""
    tagger = model._ready()
    return _non_zero(tagger.labels, tagger.fitted.transition_weights()[-1, :-1])


@reading
def end_features_(model: SequenceTagger) -> dict[Any, float]:
    """Non-zero weights of last labels of sequences."""
    tagger = model._ready()
    return _non_zero(tagger.labels, tagger.fitted.transition_weights()[:-1, -1])


def _non_zero(labels: Sequence[Any], weights: npt.NDArray[np.float64]) -> dict[Any, float]:
    """The weights that are not 0, by label."""
    return {label: weight for label, weight in zip(labels, weights.tolist(), strict=True) if weight}
