"""Base class of the classifiers: classes and their weights, scores, predictions."""

from __future__ import annotations

from abc import ABCMeta
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from perceptrons.data.arrays import Rows
from perceptrons.data.batches import Source
from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.fit import Run
from perceptrons.learn.labels import encode, union, weights_of_rows
from perceptrons.learn.stream import labelled
from perceptrons.learn.targets import Classes, Targets
from perceptrons.learn.task import Request
from perceptrons.models import sources, validation
from perceptrons.models.guard import reading
from perceptrons.models.supervised import Array, Start, Supervised, learns_from_streams
from perceptrons.solver.decision import decision


@dataclass(kw_only=True, eq=False, repr=False)
class Classifier(ClassifierMixin, Supervised, metaclass=ABCMeta):
    """A classifier that learns from its mistakes. Subclasses add parameters and choose the learner."""

    class_weight: Any = None

    classes_: Array = field(init=False)  # set by fitting

    # -- fit --------------------------------------------------------------------------------------------------

    def _known(self, *, fresh: bool = False) -> Targets:
        return Classes() if fresh or not hasattr(self, "_learner") else Classes(self.classes_)

    def _labels(self, y: Any, rows: Rows, input_name: str = "y") -> Array:
        return validation.labels(self, y, rows, input_name)

    def _all_labels(self, y: Any, rows: Rows) -> Array:
        labels = self._labels(y, rows)
        if labels.dtype.kind not in "biuf":  # whether numbers are classes shows when they are counted
            validation.distinct(labels)
        return labels

    def _request(self, start: Start | None = None, *, reads_all: bool = False) -> Request:
        return replace(
            super()._request(start, reads_all=reads_all or self.class_weight is not None),
            class_weight=lambda classes: self.class_weight,
            decide=lambda learner, examples: decision(learner, examples, self.n_iter_no_change),
        )

    def _become(
        self,
        fresh: Any,
        learner: ClassLearner,
        targets: Targets,
        run: Run,
        n_rows: int,
        settings: dict[str, Any] | None = None,
    ) -> None:
        self.__dict__["classes_"] = targets.classes
        super()._become(fresh, learner, targets, run, n_rows, settings)

    def _commit(self, learner: Any, run: Run, n_rows: int) -> None:
        super()._commit(learner, run, n_rows)
        self.__dict__["contradiction_"] = run.verdict.rows

    # -- streams ----------------------------------------------------------------------------------------------

    @available_if(learns_from_streams)
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from these rows once, in their order. How a stream is cut into calls does not change the result.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source
            A source (`perceptrons.data.source`) is read once, batch by batch; it has its own labels.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like, optional
            Classes that exist from now on. Other classes exist from their first example on. Rows teach nothing while
            only one class is known: pass all classes in the first call, to learn from the first row on.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of rows. A weight scales the step, or C for PA-I and PA-II.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X has another number of features than before, X or y has missing or infinite values, or a parameter
            needs all rows in advance (``early_stopping``, ``class_weight="balanced"``).
        AttributeError
            If the model has no `partial_fit`: with the pocket readout or a precomputed kernel.
        """
        self._learn_once(X, y, classes, sample_weight, predict=False)
        return self

    @available_if(learns_from_streams)
    def predict_then_learn(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Array:
        """Learn like `partial_fit`, and return the label predicted for each row before learning from it.

        The current hypothesis makes these predictions, whatever the readout. `n_mistakes_` counts its mistakes, and
        with ``tie="mistake"`` also scores of 0 whose prediction happens to be right. A class that was not passed in
        `classes` is not predicted before its first example. The very first row of a stream without `classes` gets its
        own label, because no class is known yet. With ``scale="online"``, a row is put on the scale of the rows so far,
        itself included, before its label is predicted.

        Parameters
        ----------
        X, y, classes, sample_weight
            As for `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            The predicted labels.

        Raises
        ------
        ValueError, AttributeError
            As for `partial_fit`.
        """
        predictions = self._learn_once(X, y, classes, sample_weight, predict=True)
        assert predictions is not None
        return predictions

    def _check_learning_once(self, first: bool) -> dict[str, Any]:
        settings = super()._check_learning_once(first)
        if isinstance(self.class_weight, str):
            raise ValueError(
                "class_weight='balanced' needs all labels in advance: use fit, or set class_weight to a dict"
            )
        return settings

    def _weights_once(
        self, rule: Any, y: Array, sample_weight: Array | None, known: Targets, new: list[int]
    ) -> Array | None:
        if sample_weight is None and self.class_weight is None:
            return None
        final = union(known.classes, y[new]) if new else known.classes
        by_class = self.class_weight and {c: self.class_weight.get(c, 1.0) for c in final.tolist()}
        return weights_of_rows(rule, sample_weight, by_class, final, y, encode(y, final))

    # -- prediction -------------------------------------------------------------------------------------------

    @reading
    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Compute the score of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, one number per row, positive for `classes_[1]`; otherwise one column per class. The voted
            readout returns shares of votes; for two classes, the share for `classes_[1]` minus the share against it.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted.
        ValueError
            If X has another number of features than the model, missing or infinite values, or no rows.
        """
        scores = self._scores(X)
        return np.asarray(scores[:, 0] if scores.shape[1] == 1 else scores)

    @reading
    def predict(self, X: Any) -> Array:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels, with the type of `classes_`.

        Raises
        ------
        sklearn.exceptions.NotFittedError, ValueError
            As for `decision_function`.
        """
        scores = self._scores(X)
        return np.asarray(self.classes_[self._learner.predict(scores)])

    @reading
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute the accuracy: the share of rows that are predicted correctly.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source
            The rows.
        y : array-like of shape (n_samples,)
            Their true labels. A source has its own: leave `y` out.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; 1 by default.

        Returns
        -------
        float
            From 0 to 1.

        Raises
        ------
        sklearn.exceptions.NotFittedError, ValueError
            As for `decision_function`. Also ValueError if `y` or `sample_weight` is given with a source.
        """
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
        return float(super().score(X, y, sample_weight))
