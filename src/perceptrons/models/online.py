"""What all estimators share: learning in passes and streams, around a learner."""

from __future__ import annotations

import copy
import warnings
from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from perceptrons.data import Rows, Source
from perceptrons.learn.examples import Examples
from perceptrons.learn.fit import HeldOut, InMemory, Run, train
from perceptrons.learn.labels import announced, encode, new_classes, union
from perceptrons.learn.report import Progress, unconverged
from perceptrons.models import preparation, sources, validation
from perceptrons.models.fitted import Fitted
from perceptrons.models.preparation import Task

Array = npt.NDArray[Any]


class OnlineClassifier(Fitted, ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """A classifier that learns by mistakes. Estimators give parameters and say what learner they mean."""

    # Read from every estimator's parameters.
    fit_intercept: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    random_state: Any
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    class_weight: Any
    warm_start: bool
    verbose: int

    def _rows(self, fresh: Any, X: Any, *, reset: bool) -> Rows:
        """Rows to learn from; `fresh` gets to know the features."""
        return validation.features(fresh, X, reset=reset)

    _grows = False  # whether a learner can make room for features that turn up later

    def _stall(self) -> int | None:
        """Passes without fewer mistakes after which `fit` stops, if it can prove nothing."""
        return None

    def _check_stream(self) -> None:
        """Refuse what cannot be done in a stream."""

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """What a learner takes: rule, readout, eta, fit_intercept, tie and what its space asks for."""

    @abstractmethod
    def _new_learner(self, settings: dict[str, Any], rows: Rows, n_classes: int) -> Any:
        """A learner for rows like these that has seen nothing."""

    def _start(self, learner: Any, random: np.random.RandomState, start: tuple[Any, ...], goes_on: bool) -> None:
        """Set the first hypothesis of a fit, where it is not that of zeros."""

    # -- learning ---------------------------------------------------------------------------------------------

    def _prepare(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any, *start: Any) -> Task:
        """Validate what `fit` was given, and where to `start`, and set up its run. Changes nothing in this model."""
        fresh = copy.copy(self)
        given = any(part is not None for part in start)
        goes_on = bool(self.warm_start) and hasattr(self, "_learner") and not given
        rows = self._rows(fresh, X, reset=not goes_on)
        fresh.__dict__.pop("encoding_", None)  # of a table that an earlier fit was about
        y = validation.labels(self, y, rows)
        classes = validation.distinct(y)
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got 1 class: {classes.tolist()[0]!r}")
        settings = self._settings()
        if goes_on:
            functions = {id(value): value for value in self.get_params(deep=False).values() if callable(value)}
            known, learner = self.classes_, copy.deepcopy(self._learner, functions)  # a kernel stays what it is
            classes = union(known, classes)
            preparation.make_room(learner, known, classes)
            learner.adopt(**settings)
            learner.set_origin()
        else:
            learner = self._new_learner(settings, rows, len(classes))
        weight = validation.weights(settings["rule"], sample_weight, self.class_weight, y, classes, rows)
        if weight is not None and not weight.any():
            raise ValueError("Sample weights must contain at least one non-zero number.")
        examples = Examples(rows, encode(y, classes), weight)
        random = check_random_state(self.random_state)
        self._start(learner, random, start, goes_on)
        held_out = None
        if X_val is not None or y_val is not None:
            held_out = preparation.held_out(fresh, X_val, y_val, classes)
        elif self.early_stopping:
            examples, held_out = preparation.split(examples, self.validation_fraction, random)
        seed = random.randint(2**31) if self.shuffle else None
        watched = None if held_out is None else HeldOut(learner, held_out)
        return Task(fresh, learner, InMemory(examples), watched, classes, seed)

    def _train(self, task: Task, stacklevel: int) -> Run:
        """Run what was prepared, and become the fitted model."""
        run, learner, material = Run(), task.learner, task.material
        name, verbose = type(self).__name__, self.verbose
        try:
            train(
                learner,
                material,
                run,
                seed=task.seed,
                max_iter=self.max_iter,
                tol=self.tol,
                held_out=task.held_out,
                patience=self.n_iter_no_change if self.early_stopping else None,
                stall=self._stall(),
                report=Progress(name, material, verbose > 1) if verbose else None,
                one_by_one=verbose > 1,
            )
            learner.check_finite()
        except KeyboardInterrupt:
            task.finish()
            self._commit(task.fresh, learner, task.classes, run, material.n_rows)
            raise
        task.finish()
        self._commit(task.fresh, learner, task.classes, run, material.n_rows)
        if run.stop in ("margin", "stuck", "stalled", "max_iter"):
            text = unconverged(type(self).__name__, learner, run, self.tol, self.max_iter)
            warnings.warn(text, ConvergenceWarning, stacklevel=stacklevel)
        return run

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from these rows, once, in their order. Cutting a stream into other chunks changes nothing.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source
            A source (`perceptrons.data.source`) is read once, batch by batch; it has its labels with it.
        y : array-like of shape (n_samples,)
        classes : array-like, optional
            Announces classes. One that was not announced exists from its first example on.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._learn_once(X, y, classes, sample_weight, predict=False)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def predict_then_learn(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Array:
        """Learn like `partial_fit`, and return what was predicted for each row before learning from it.

        Predictions are those of the hypothesis in force, whose mistakes `n_mistakes_` counts, whatever the readout. A
        class that has not been announced is not predicted before its first example; the very first row of a stream
        without announced classes, for which there is nothing to predict, gets its own label.
        """
        predictions = self._learn_once(X, y, classes, sample_weight, predict=True)
        assert predictions is not None
        return predictions

    def _learn_once(self, X: Any, y: Any, classes: Any, sample_weight: Any, predict: bool) -> Array | None:
        if isinstance(X, Source):
            sources.refuse_labels(y, sample_weight)
            return sources.learn_once(self, X, classes, predict)
        first = not hasattr(self, "_learner")
        fresh = copy.copy(self) if first else self
        self._check_learning_once(first)
        rows = self._rows(fresh, X, reset=first)
        return self._learn_rows(fresh, rows, y, classes, sample_weight, predict)

    def _check_learning_once(self, first: bool) -> None:
        """Refuse parameters that cannot be meant for a stream."""
        settings = self._settings()
        if not first and settings != self._learned_with:
            self._validate_params()  # scikit-learn looks at them in the first call only
        self._check_stream()
        if settings["readout"] == "pocket":
            raise ValueError("readout='pocket' weighs hypotheses on all training rows: use fit, or another readout")
        if isinstance(self.class_weight, str):
            raise ValueError(
                "class_weight='balanced' needs all labels beforehand: use fit, or pass a dict of weights to partial_fit"
            )

    def _learn_rows(
        self, fresh: Any, rows: Rows, y: Any, classes: Any, sample_weight: Any, predict: bool
    ) -> Array | None:
        """Learn from rows once; `fresh` is a copy of this model, or itself, that knows their features."""
        first, settings = not hasattr(self, "_learner"), self._settings()
        y = validation.labels(self, y, rows)
        current = np.empty(0) if first else self.classes_
        known = current
        if classes is not None:
            known = union(known, announced(classes))
        new = new_classes(y, known)
        final = union(known, y[new]) if new else known
        class_weight = self.class_weight and {c: self.class_weight.get(c, 1.0) for c in final.tolist()}
        weight = validation.weights(settings["rule"], sample_weight, class_weight, y, final, rows)
        learner = self._new_learner(settings, rows, len(current)) if first else self._learner
        columns = rows.columns()
        before = learner.snapshot(columns)
        predicted = np.zeros(len(rows), dtype=np.int32) if predict else None
        guesses = np.empty(len(rows), dtype=final.dtype)
        run = Run(mistakes=[0], stop="stream")
        try:
            learner.adopt(**settings)
            preparation.make_room(learner, current, known)
            current = known
            # A class exists from its announcement or first example on: learn up to there, make room, go on.
            for begin, end in zip([0, *new], [*new, len(rows)], strict=True):
                if begin == end:
                    continue
                first_guess = y[begin]
                if begin in new:
                    if predict and len(current):  # the label comes after the prediction, and so does its class
                        first_guess = current[learner.in_force(rows.take(np.array([begin])))[0]]
                    known = union(current, y[begin : begin + 1])
                    preparation.make_room(learner, current, known)
                    current = known
                part = encode(y[begin:end], current)
                codes = np.zeros(len(rows), dtype=part.dtype)
                codes[begin:end] = part
                order = np.arange(begin, end, dtype=np.uint32)
                run.mistakes[0] += int(learner.once(Examples(rows, codes, weight), order, predicted))
                if predicted is not None:
                    guesses[begin:end] = current[predicted[begin:end]]
                    if begin in new:
                        guesses[begin] = first_guess
            learner.check_finite(columns)
        except KeyboardInterrupt:
            if len(current) != learner.n_classes:  # heard while room was made for a class
                learner.restore(before)
            elif len(current):
                self._commit(fresh, learner, current, run, len(rows))
            raise
        except Exception:
            learner.restore(before)
            raise
        self._commit(fresh, learner, current, run, len(rows))
        return guesses if predict else None

    def _commit(self, fresh: Any, learner: Any, classes: Array, run: Run, n_rows: int) -> None:
        """Become the fitted model; `n_rows` is the number of rows in each pass."""
        learner.seal()
        for name in ("n_features_in_", "feature_names_in_", "encoding_"):
            if hasattr(fresh, name):
                setattr(self, name, getattr(fresh, name))
            elif hasattr(self, name):
                delattr(self, name)
        self._learner = learner
        self._learned_with = self._settings()
        self.classes_ = classes
        self.n_iter_ = run.n_iter
        self.converged_ = run.converged
        self.mistakes_ = np.array(run.mistakes, dtype=np.int64)
        self._n_rows = n_rows  # what the counts of mistakes are a share of
        self.validation_errors_ = np.array(run.validation_errors)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
