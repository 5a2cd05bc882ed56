"""What a fitted tagger does and says: labels, scores, counts and weights."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from perceptrons.learn.sequence.labels import Labels
from perceptrons.learn.sequence.tagger import Tagger
from perceptrons.metrics.entities import EntityReport, entity_report
from perceptrons.models.fitted import Counted

Bounds = npt.NDArray[np.uint64]


class Tagged(Counted, metaclass=ABCMeta):
    """A tagger that has learned: everything that does not change it."""

    _tagger: Tagger  # there once it is fitted

    @abstractmethod
    def _given(self, tagger: Tagger, X: Any) -> Any:
        """X as the vocabulary takes it."""

    @abstractmethod
    def _labels(self, X: Any, y: Any, name: str = "y") -> Callable[[Bounds], Labels]:
        """What makes labels of y, once the lengths of sequences are known."""

    # -- prediction ---------------------------------------------------------------------------------------------------

    def _ready(self) -> Tagger:
        check_is_fitted(self)
        return self._tagger

    def predict(self, X: Any) -> list[list[Any]]:
        """The labels of each sequence."""
        tagger = self._ready()
        codes, bounds = tagger.predict(self._given(tagger, X))
        return _cut(tagger.labels, codes, bounds)

    def predict_single(self, xseq: Any) -> list[Any]:
        """The labels of one sequence."""
        return self.predict([xseq])[0]

    def predict_k_best(self, X: Any, k: int = 5) -> list[list[tuple[list[Any], float]]]:
        """The `k` best labellings of each sequence with their scores, the best first; fewer where there are no more.

        They are searched for exactly, also where `beam` is set.
        """
        if not isinstance(k, Integral) or k < 1:
            raise ValueError(f"k must be a whole number >= 1, got {k!r}")
        tagger = self._ready()
        examples = tagger.vocabulary.sequences(self._given(tagger, X), grow=False)
        codes, scores = tagger.learner.k_best(examples, int(k))
        lists = [_cut(tagger.labels, line, examples.bounds) for line in codes]
        return [
            [(lists[j][i], float(score)) for j, score in enumerate(scores[i]) if score > -np.inf]
            for i in range(examples.n_sequences)
        ]

    def score(self, X: Any, y: Any) -> float:
        """The share of tokens whose label is right."""
        tagger = self._ready()
        codes, bounds = tagger.predict(self._given(tagger, X))
        right = self._labels(X, y)(bounds).among(tagger.labels)
        if not len(codes):
            raise ValueError("X has no tokens: there is nothing to score")
        return float(np.mean(right == codes))

    def report(self, X: Any, y: Any) -> EntityReport:
        """Precision, recall and F1 by entity, as conlleval and seqeval count them; print it, or see its members."""
        tagger = self._ready()
        codes, bounds = tagger.predict(self._given(tagger, X))
        labels = self._labels(X, y)(bounds)
        return entity_report(labels.codes, labels.names, codes, tagger.labels, bounds)

    # -- reports ------------------------------------------------------------------------------------------------------

    @property
    def _learner(self) -> Any:
        return self._tagger.learner

    @property
    def classes_(self) -> list[Any]:
        return list(self._ready().labels)

    @property
    def scheme_(self) -> str | None:
        scheme: str | None = self._ready().learner.scheme
        return scheme

    @property
    def n_features_(self) -> int:
        return int(self._ready().vocabulary.n_features)

    @property
    def margin_bound_(self) -> float:
        return float(self._ready().learner.margin_bound)

    @property
    def state_features_(self) -> dict[tuple[str, Any], float]:
        """The weight of each feature with each label, where it is not 0: ``{("word:the", "DET"): 1.5, …}``."""
        tagger = self._ready()
        features, labels, weights = tagger.learner.state_weights()
        names = tagger.vocabulary.names(features.tolist())
        return {
            (name, tagger.labels[label]): weight
            for name, label, weight in zip(names, labels.tolist(), weights.tolist(), strict=True)
        }

    @property
    def transition_features_(self) -> dict[tuple[Any, Any], float]:
        """The weight of each label after another, where it is not 0; None stands for the start, and for the end."""
        tagger = self._ready()
        weights, names = tagger.learner.transition_weights(), [*tagger.labels, None]
        return {
            (names[i], names[j]): float(weights[i, j])
            for i, j in zip(*(each.tolist() for each in np.nonzero(weights)), strict=True)
        }

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_tagger") and bool(self._tagger.labels)


def _cut(labels: Sequence[Any], codes: Any, bounds: Bounds) -> list[list[Any]]:
    """Labels, sequence by sequence."""
    flat = [labels[code] for code in codes.tolist()]
    ends = bounds.tolist()
    return [flat[begin:end] for begin, end in pairwise(ends)]
