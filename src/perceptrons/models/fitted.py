"""What a fitted model does and says: scores, predictions, counts and bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from perceptrons.core.keeping import MISTAKES, SEEN, UPDATES
from perceptrons.models import validation

Array = npt.NDArray[Any]


class Fitted:
    """A classifier that has learned: everything that does not change it."""

    _learner: Any  # there once it is fitted
    classes_: Array

    # -- prediction -------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores: of shape (n_samples,) for two classes, positive for `classes_[1]`; else one column a class.

        A voted readout gives the share of votes: for less against for two classes, else one share a class.
        """
        check_is_fitted(self)
        scores = self._learner.decide(validation.features(self, X, reset=False))
        return np.asarray(scores[:, 0] if scores.shape[1] == 1 else scores)

    def predict(self, X: Any) -> Array:
        """The class of each row."""
        scores = self.decision_function(X)
        codes = self._learner.predict(scores.reshape(len(scores), -1))
        return np.asarray(self.classes_[codes])

    # -- reports ----------------------------------------------------------------------------------------------

    def _count(self, entry: int) -> int:
        check_is_fitted(self)
        return int(self._learner.counts[entry])

    @property
    def n_seen_(self) -> int:
        """Examples processed, over all passes and calls."""
        return self._count(SEEN)

    @property
    def n_mistakes_(self) -> int:
        """Of these, the ones with a margin of 0 or less at the time."""
        return self._count(MISTAKES)

    @property
    def n_updates_(self) -> int:
        """Steps made."""
        return self._count(UPDATES)

    @property
    def margin_bound_(self) -> float:
        """Proved: no hypothesis has a larger margin on the rows seen (bias included as a constant feature)."""
        check_is_fitted(self)
        return float(self._learner.margin_bound)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")
