"""Base class of the classifiers: learning in passes and from streams, scores, predictions."""

from __future__ import annotations

import copy
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from perceptrons.data.arrays import Rows
from perceptrons.data.batches import Source
from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.fit import InMemory, Run
from perceptrons.learn.labels import announced, encode, new_classes, union, weights_of_rows
from perceptrons.learn.once import Once
from perceptrons.learn.readouts import READOUTS
from perceptrons.learn.scale.statistics import off_scale
from perceptrons.learn.stream import check_features, labelled
from perceptrons.learn.task import Request, Task, from_rows, train_on_source
from perceptrons.models import onnx, sources, validation
from perceptrons.models.base import Online
from perceptrons.models.guard import reading
from perceptrons.solver.decision import decision

Array = npt.NDArray[Any]
Start = Callable[[Any, np.random.RandomState], None]  # sets the initial hypothesis of a learner


def _learns_from_streams(model: Classifier) -> bool:
    """Whether a model has `partial_fit`; otherwise an error says why not."""
    obstacle = model._stream_obstacle()
    if obstacle is not None:
        raise AttributeError(f"{type(model).__name__} cannot learn from a stream, because {obstacle}: use fit")
    return True


@dataclass(kw_only=True, eq=False, repr=False)
class Classifier(ClassifierMixin, Online, metaclass=ABCMeta):
    """A classifier that learns from its mistakes. Subclasses add parameters and choose the learner."""

    fit_intercept: bool = True
    max_iter: int = 10_000_000
    tol: float | None = 1e-3
    shuffle: bool = True
    random_state: Any = 0
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    class_weight: Any = None
    warm_start: bool = False
    verbose: int = 0

    classes_: Array = field(init=False)  # set by fitting, like everything below
    n_features_in_: int = field(init=False)
    _learned_with: dict[str, Any] = field(init=False)

    _streams: ClassVar[bool] = True  # whether `fit` can read a source batch by batch, growing with its features

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """Arguments of the learner: rule, readout, eta, fit_intercept, tie and those of its space."""

    @abstractmethod
    def _new_learner(self, settings: dict[str, Any], rows: Rows, n_classes: int) -> ClassLearner:
        """An untrained learner for rows like these."""

    @property
    def _scales(self) -> bool:
        """Whether features of sources may be scaled."""
        return True

    def _rows(self, fresh: Any, X: Any, *, reset: bool) -> Rows:
        """Rows to learn from; sets or compares the features of `fresh`."""
        rows = validation.features(fresh, X, reset=reset)
        return rows if reset else self._learner.scaled(rows)

    def _stream_obstacle(self) -> str | None:
        """Why this model cannot learn from a stream; None if it can."""
        readout = getattr(self, "readout", None)
        if readout not in READOUTS or not READOUTS[readout].weighs_all_rows:
            return None
        return f"readout={readout!r} compares hypotheses on all training rows, which a stream does not have"

    # -- fit --------------------------------------------------------------------------------------------------

    def _goes_on(self, start: Start | None) -> bool:
        """Whether `fit` continues from the previous fit."""
        return bool(self.warm_start) and hasattr(self, "_learner") and start is None

    def _request(self, start: Start | None = None, *, reads_all: bool = False) -> Request:
        """All that `fit` needs besides the data."""
        settings, learned = self._settings(), None
        if self._goes_on(start):
            learned = self._copied_learner(), self.classes_
            learned[0].adopt(**settings)
        return Request(
            lambda rows, n_classes: self._new_learner(settings, rows, n_classes),
            self._passes(),
            check_random_state(self.random_state),
            shuffle=self.shuffle,
            share=self.validation_fraction if self.early_stopping else None,
            class_weight=lambda classes: self.class_weight,
            learned=learned,
            start=start,
            reads_all=reads_all or self.class_weight is not None,
            centred=bool(self.fit_intercept),
            agrees=lambda encoding: learned is None or sources.agree(self, encoding),
            decide=lambda learner, examples: decision(learner, examples, self.n_iter_no_change),
        )

    def _copied_learner(self) -> ClassLearner:
        """A copy to continue with, so that an error leaves this model unchanged. Functions are shared, not copied."""
        functions = {id(value): value for value in self.get_params(deep=False).values() if callable(value)}
        learner: ClassLearner = copy.deepcopy(self._learner, functions)
        return learner

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        X_val: Any,
        y_val: Any,
        start: Start | None = None,
        stacklevel: int = 3,
    ) -> Self:
        """Learn from arrays or a source. `start` sets the initial hypothesis; None means zeros."""
        with self._guard.learning:
            if isinstance(X, Source):
                sources.refuse_labels(y, sample_weight)
                self._fit_source(X, X_val, y_val, start, stacklevel + 1)
            else:
                task, fresh = self._prepare(X, y, sample_weight, X_val, y_val, start)
                self._train(task, fresh, stacklevel + 1)
        return self

    def _train(self, task: Task, fresh: Any, stacklevel: int) -> Run:
        """Run a prepared task and become the fitted model, with the features of `fresh`."""
        run = task.run(self._report(task.material))
        self._finish(task, run, fresh, stacklevel + 1)
        return run

    def _finish(self, task: Task, run: Run, fresh: Any, stacklevel: int) -> None:
        self._guard.change(lambda: self._become(fresh, task.learner, task.classes, run, task.material.n_rows))
        self._conclude(task.learner, run, stacklevel + 1, partial(self._advice, task))

    def _advice(self, task: Task) -> str:
        """What to do about the features, if training did not converge; only for arrays, which are not scaled."""
        material = task.material
        if not isinstance(material, InMemory) or task.learner.scaling is not None or not self._scales:
            return ""
        return off_scale(material.examples.rows, getattr(self, "feature_names_in_", None))

    def _prepare(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        X_val: Any,
        y_val: Any,
        start: Start | None = None,
        source: Source | None = None,
    ) -> tuple[Task, Any]:
        """Validate arrays and set up training; returns the task, and a copy of this model that has their features.

        source: where the arrays come from.
        """
        fresh = copy.copy(self)
        rows = self._rows(fresh, X, reset=not self._goes_on(start))
        if not self._goes_on(start):
            fresh.__dict__.pop("encoding_", None)  # of the table of an earlier fit
        y = validation.labels(self, y, rows)
        validation.distinct(y)
        weight = validation.sample_weights(sample_weight, rows)
        given = X_val is not None or y_val is not None
        held_out = partial(validation.held_out, fresh, X_val, y_val) if given else None
        return from_rows(self._request(start), rows, y, weight, held_out, source), fresh

    def _fit_source(self, source: Source, X_val: Any, y_val: Any, start: Start | None, stacklevel: int) -> None:
        """Learn from a source: batch by batch, unless the learner needs all rows in memory."""
        if X_val is not None and (not isinstance(X_val, Source) or y_val is not None):
            raise ValueError("when X is a source, X_val must be a source too, without y_val")
        goes_on = self._goes_on(start)
        if self._streams and not READOUTS[self._settings()["readout"]].weighs_all_rows:
            reads_all, fresh = start is not None, copy.copy(self)
            beside = None if X_val is None else lambda read: X_val
            task, run = train_on_source(lambda: self._request(start, reads_all=reads_all), source, beside)
            assert task.source is not None
            read = task.source
        else:
            X, y = source.arrays()
            check_features(source, not goes_on or sources.agree(self, source.encoding))
            task, fresh = self._prepare(X, y, None, X_val, y_val, start, source if self._scales else None)
            run = task.run(self._report(task.material))
            read = source
        if not goes_on:
            sources.note_features(fresh, read, task.n_features, task.learner)
        self._finish(task, run, fresh, stacklevel + 1)

    def _become(self, fresh: Any, learner: ClassLearner, classes: Array, run: Run, n_rows: int) -> None:
        """Become the fitted model, with the features of `fresh`, while no thread reads."""
        learner.seal()
        for name in ("n_features_in_", "feature_names_in_", "encoding_"):
            if hasattr(fresh, name):
                setattr(self, name, getattr(fresh, name))
            elif hasattr(self, name):
                delattr(self, name)
        self._learned_with = self._settings()
        self.classes_ = classes
        self._commit(learner, run, n_rows)

    def _commit(self, learner: Any, run: Run, n_rows: int) -> None:
        super()._commit(learner, run, n_rows)
        self.contradiction_ = run.verdict.rows

    # -- streams ----------------------------------------------------------------------------------------------

    @available_if(_learns_from_streams)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from these rows once, in their order. How a stream is cut into calls does not change the result.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source
            A source (`perceptrons.data.source`) is read once, batch by batch; it has its own labels.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like, optional
            Classes that exist from now on. Other classes exist from their first example on.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of rows. A weight scales the step, or C for PA-I and PA-II.

        Returns
        -------
        self
        """
        self._learn_once(X, y, classes, sample_weight, predict=False)
        return self

    @available_if(_learns_from_streams)
    def predict_then_learn(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Array:
        """Learn like `partial_fit`, and return the label predicted for each row before learning from it.

        The current hypothesis makes these predictions, whatever the readout; `n_mistakes_` counts its mistakes. A class
        that was not passed in `classes` is not predicted before its first example. The very first row of a stream
        without `classes` gets its own label, because no class is known yet.

        Parameters
        ----------
        X, y, classes, sample_weight
            As for `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            The predicted labels.
        """
        predictions = self._learn_once(X, y, classes, sample_weight, predict=True)
        assert predictions is not None
        return predictions

    def _learn_once(self, X: Any, y: Any, classes: Any, sample_weight: Any, predict: bool) -> Array | None:
        with self._guard.learning:
            if isinstance(X, Source):
                sources.refuse_labels(y, sample_weight)
                return sources.learn_once(self, X, classes, predict)
            first = not hasattr(self, "_learner")
            fresh = copy.copy(self) if first else self
            settings = self._check_learning_once(first)
            rows = self._rows(fresh, X, reset=first)
            return self._learn_rows(settings, fresh, rows, y, classes, sample_weight, predict)

    def _check_learning_once(self, first: bool) -> dict[str, Any]:
        """Return `_settings`; raise an error for parameters that are wrong, or that a stream does not allow."""
        if first and not get_config()["skip_parameter_validation"]:  # `partial_fit` has validated them already
            self._validate_params()
        settings = self._settings()
        if not first and settings != self._learned_with:
            self._validate_params()  # otherwise, once is enough
        self._refuse_early_stopping()
        if isinstance(self.class_weight, str):
            raise ValueError(
                "class_weight='balanced' needs all labels in advance: use fit, or set class_weight to a dict"
            )
        return settings

    def _learn_rows(
        self,
        settings: dict[str, Any],
        fresh: Any,
        rows: Rows,
        y: Any,
        classes: Any,
        sample_weight: Any,
        predict: bool,
    ) -> Array | None:
        """Learn from rows once; `fresh`, a copy of this model or the model itself, has their features."""
        first = not hasattr(self, "_learner")
        y = validation.labels(self, y, rows)
        current = np.empty(0) if first else self.classes_
        known = current
        if classes is not None:
            known = union(known, announced(classes))
        new = new_classes(y, known)
        final = union(known, y[new]) if new else known
        weight = validation.sample_weights(sample_weight, rows)
        if weight is not None or self.class_weight is not None:
            by_class = self.class_weight and {c: self.class_weight.get(c, 1.0) for c in final.tolist()}
            weight = weights_of_rows(settings["rule"], weight, by_class, final, y, encode(y, final))
        learner = self._new_learner(settings, rows, len(current)) if first else self._learner
        once = Once(learner, rows, y, weight, current, predict)

        def learn() -> Run:
            run = once.learn(settings, known, new)
            if len(once.classes):
                self._become(fresh, learner, once.classes, run, len(rows))
            return run

        self._guard.change(learn).resume_interrupt()
        return once.guesses

    # -- prediction -------------------------------------------------------------------------------------------

    @reading
    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Compute the score of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, one number per row, positive for `classes_[1]`; otherwise one column per class. The voted
            readout returns shares of votes; for two classes, the share for `classes_[1]` minus the share against it.
        """
        check_is_fitted(self)
        if isinstance(X, Source):
            parts = [self._learner.decide(rows) for rows, _ in sources.rows_for(self, X)]
            if not parts:
                raise ValueError(f"{X.name} has no rows")
            scores = np.concatenate(parts)
        else:
            scores = self._learner.decide(self._learner.scaled(validation.features(self, X, reset=False)))
        return np.asarray(scores[:, 0] if scores.shape[1] == 1 else scores)

    @reading
    def predict(self, X: Any) -> Array:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels, with the type of `classes_`.
        """
        scores = self.decision_function(X)
        codes = self._learner.predict(scores.reshape(len(scores), -1))
        return np.asarray(self.classes_[codes])

    @reading
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute the accuracy: the share of rows that are predicted correctly.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source
        y : array-like of shape (n_samples,)
            Labels; not needed for a source, which has its own.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
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

    onnx_parser, onnx_shape_calculator = onnx.onnx_parser, onnx.onnx_shape_calculator
    onnx_converter = onnx.onnx_converter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
