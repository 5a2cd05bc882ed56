"""What the linear estimators share: weights to start from, and weights to read."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.utils.validation import check_is_fitted

from perceptrons.data import Rows, Source
from perceptrons.learn.labels import UnknownLabel
from perceptrons.learn.linear.learner import Learner
from perceptrons.models import preparation, sources
from perceptrons.models.online import OnlineClassifier


class LinearModel(OnlineClassifier):
    """A classifier that has one weight for each feature, or one for each feature and class."""

    _grows = True
    init: str = "zeros"  # unless an estimator has the parameter
    _learner: Learner

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        coef_init: Any = None,
        intercept_init: Any = None,
    ) -> Self:
        """Learn from all rows, pass after pass.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source
            C-ordered float32 and float64 arrays and CSR matrices are read in place. A source
            (`perceptrons.data.source`) is read batch by batch and may be larger than memory; it has its labels with it.
            Its batches are shuffled, and the rows within each; without `shuffle` the result is that of arrays. Only the
            pocket readout, which weighs hypotheses on all rows, reads all of it into memory.
        y : array-like of shape (n_samples,)
            Labels: numbers, booleans, text or dates.
        sample_weight : array-like of shape (n_samples,), optional
            Scales the step, or C for PA-I and PA-II. Rows of weight 0 are left out.
        X_val, y_val : optional
            Held-out rows, or a source of them; their error is taken after each pass (`validation_errors_`), and
            `early_stopping` uses them in place of a fraction of X.
        coef_init, intercept_init : array-like, optional
            Weights to start from, of the shapes of `coef_` and `intercept_`.

        Returns
        -------
        self
        """
        # Point at the caller: above this are scikit-learn's wrapper and, where there is one, an overriding fit.
        stacklevel = 4 if type(self).fit is LinearModel.fit else 5
        start = coef_init, intercept_init
        source = X if isinstance(X, Source) else None
        if isinstance(X, Source):
            sources.refuse_labels(y, sample_weight)
            if self._settings()["readout"] != "pocket":
                try:
                    self._train(sources.prepare(self, X, X_val, y_val, start, everything=False), stacklevel)
                except UnknownLabel:  # a class that the first batch does not have: begin anew, knowing all
                    self._train(sources.prepare(self, X, X_val, y_val, start, everything=True), stacklevel)
                return self
            X, y = sources.whole(self, X)
        self._train(sources.noting(self._prepare(X, y, sample_weight, X_val, y_val, *start), source), stacklevel)
        return self

    def _new_learner(self, settings: dict[str, Any], rows: Rows, n_classes: int) -> Learner:
        """A learner for rows like these that has seen nothing."""
        return Learner(**settings, n_features=rows.n_features, n_classes=n_classes, dense=rows.indices is None)

    def _start(self, learner: Learner, random: np.random.RandomState, start: tuple[Any, ...], goes_on: bool) -> None:
        """Set the weights to start from: `start` is coef_init and intercept_init."""
        if any(part is not None for part in start):
            learner.set_start(preparation.given_weights(learner, *start))
        elif self.init == "random" and not goes_on:
            learner.set_start(preparation.random_weights(learner, random))

    # -- what has been learned --------------------------------------------------------------------------------

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
