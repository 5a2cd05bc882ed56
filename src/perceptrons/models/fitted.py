"""What a fitted model does and says: scores, predictions, counts and bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from perceptrons.core.linear.readouts import MISTAKES, SEEN, UPDATES
from perceptrons.data import Source
from perceptrons.learn.stream import labelled
from perceptrons.models import sources, validation

Array = npt.NDArray[Any]


class Counted:
    """What a learner has counted."""

    _learner: Any  # there once it is fitted

    def _count(self, entry: int) -> int:
        check_is_fitted(self)
        return int(self._learner.counts[entry])

    @property
    def n_seen_(self) -> int:
        """Examples processed, over all passes and calls."""
        return self._count(SEEN)

    @property
    def n_mistakes_(self) -> int:
        """Of these, the ones that were wrong at the time: a margin of 0 or less, or another structure."""
        return self._count(MISTAKES)

    @property
    def n_updates_(self) -> int:
        """Steps made."""
        return self._count(UPDATES)


class Fitted(Counted):
    """A classifier that has learned: everything that does not change it."""

    classes_: Array

    # -- prediction -------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores: of shape (n_samples,) for two classes, positive for `classes_[1]`; else one column a class.

        A voted readout gives the share of votes: for less against for two classes, else one share a class.
        """
        check_is_fitted(self)
        if isinstance(X, Source):
            parts = [self._learner.decide(rows) for rows, _ in sources.rows_for(self, X)]
            if not parts:
                raise ValueError(f"{X.name} has no rows")
            scores = np.concatenate(parts)
        else:
            scores = self._learner.decide(validation.features(self, X, reset=False))
        return np.asarray(scores[:, 0] if scores.shape[1] == 1 else scores)

    def predict(self, X: Any) -> Array:
        """The class of each row."""
        scores = self.decision_function(X)
        codes = self._learner.predict(scores.reshape(len(scores), -1))
        return np.asarray(self.classes_[codes])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows that are predicted right; a source of rows has its labels with it."""
        if isinstance(X, Source):
            sources.refuse_labels(y, sample_weight)
            right, total = 0, 0
            for rows, labels in sources.rows_for(self, X):
                codes = self._learner.predict(self._learner.decide(rows))
                right += int(np.count_nonzero(self.classes_[codes] == labelled(X, labels)))
                total += len(codes)
            if total == 0:
                raise ValueError(f"{X.name} has no rows")
            return right / total
        return float(super().score(X, y, sample_weight))  # type: ignore[misc]

    # -- reports ----------------------------------------------------------------------------------------------

    @property
    def margin_bound_(self) -> float:
        """Proved: no hypothesis has a larger margin on the rows seen (bias included as a constant feature)."""
        check_is_fitted(self)
        return float(self._learner.margin_bound)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")
