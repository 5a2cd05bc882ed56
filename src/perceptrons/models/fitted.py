"""What a fitted linear model does and says: scores, predictions, weights, counts and bounds."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from perceptrons.core.keeping import MISTAKES, SEEN, UPDATES
from perceptrons.learn import Learner
from perceptrons.models import validation

Array = npt.NDArray[Any]


class LinearModel(ClassifierMixin, BaseEstimator):
    """A linear classifier that has learned: everything that does not change it."""

    _learner: Learner  # there once it is fitted
    classes_: Array

    # -- prediction -------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores: of shape (n_samples,) for two classes, positive for `classes_[1]`; else one column a class.

        A voted readout gives the share of votes: for less against for two classes, else one share a class.
        """
        check_is_fitted(self)
        scores = self._learner.decide(validation.features(self, X, reset=False))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> Array:
        """The class of each row."""
        scores = self.decision_function(X)
        codes = self._learner.predict(scores.reshape(len(scores), -1))
        return self.classes_[codes]

    def normalized(self) -> Self:
        """The same model with ‖w‖ = 1: decision values are then signed distances from the boundary."""
        check_is_fitted(self)
        coef = self.coef_
        largest = float(np.abs(coef).max())
        if largest == 0.0:
            raise ValueError("all weights are 0: there is no boundary, and nothing to normalize")
        model = copy.deepcopy(self)
        model._learner.scale(1.0 / largest)  # first, so that no square leaves the range of floats
        model._learner.scale(1.0 / float(np.linalg.norm(coef / largest)))
        return model

    # -- reports ----------------------------------------------------------------------------------------------

    @property
    def coef_(self) -> npt.NDArray[np.float64]:
        """Weights of the features, of shape (1, n_features) or (n_classes, n_features); made when asked for."""
        return self._lines(slice(-1)).copy()

    @property
    def intercept_(self) -> npt.NDArray[np.float64]:
        """Bias, of shape (1,) or (n_classes,)."""
        return self._lines(slice(-1, None))[:, 0].copy()

    def _lines(self, part: slice) -> npt.NDArray[np.float64]:
        check_is_fitted(self)
        if self._learner.by_vote:
            raise AttributeError("readout='voted' has no coef_ and no intercept_: many hypotheses vote")
        w = self._learner.weights[part]
        return w[np.newaxis] if w.ndim == 1 else w.T

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
        return self._learner.margin_bound

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
