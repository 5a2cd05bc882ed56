"""Base class of classifiers and regressors: learning in passes and from streams."""

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
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from perceptrons.data.arrays import Rows
from perceptrons.data.batches import Source
from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.fit import InMemory, Run
from perceptrons.learn.once import Once
from perceptrons.learn.readouts import READOUTS
from perceptrons.learn.report import Progress
from perceptrons.learn.scale.statistics import off_scale
from perceptrons.learn.stream import check_features
from perceptrons.learn.targets import Targets
from perceptrons.learn.task import Request, Task, from_rows, train_on_source
from perceptrons.models import one, onnx, sources, validation
from perceptrons.models.base import Online

Array = npt.NDArray[Any]
Start = Callable[[Any, np.random.RandomState], None]  # sets the initial hypothesis of a learner


def learns_from_streams(model: Supervised) -> bool:
    """Whether a model has `partial_fit`; otherwise an error says why not."""
    obstacle = model._stream_obstacle()
    if obstacle is not None:
        raise AttributeError(f"{type(model).__name__} cannot learn from a stream, because {obstacle}: use fit")
    return True


@dataclass(kw_only=True, eq=False, repr=False)
class Supervised(Online, metaclass=ABCMeta):
    """A model that learns labels. Subclasses say what labels are, add parameters and choose the learner."""

    fit_intercept: bool = True
    max_iter: int = 1000
    tol: float | None = 1e-3
    shuffle: bool = True
    random_state: Any = 0
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    warm_start: bool = False
    verbose: int = 0

    n_features_in_: int = field(init=False)  # set by fitting, like everything below
    _learned_with: dict[str, Any] = field(init=False)

    feature_names_in_, mistakes_ = one.FeatureNames(), one.Mistakes()
    _streams: ClassVar[bool] = True  # whether `fit` can read a source batch by batch, growing with its features

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """Arguments of the learner: rule, readout, eta, fit_intercept, tie and those of its space."""

    @abstractmethod
    def _new_learner(self, settings: dict[str, Any], rows: Rows, n_classes: int) -> ClassLearner:
        """An untrained learner for rows like these."""

    @abstractmethod
    def _known(self, *, fresh: bool = False) -> Targets:
        """What this model has learned; if it is not fitted, or with `fresh`, nothing of the right kind."""

    @abstractmethod
    def _labels(self, y: Any, rows: Rows, input_name: str = "y") -> Array:
        """Validated labels, one for each row."""

    def _all_labels(self, y: Any, rows: Rows) -> Array:
        """Validated labels for `fit`."""
        return self._labels(y, rows)

    @abstractmethod
    def _weights_once(
        self, rule: Any, y: Array, sample_weight: Array | None, known: Targets, new: list[int]
    ) -> Array | None:
        """Weights of rows that are learned once; known, new: as for `Once.learn`."""

    @property
    def _scales(self) -> bool:
        """Whether features of sources may be scaled."""
        return True

    def _rows(self, fresh: Any, X: Any, *, reset: bool) -> Rows:
        """Rows to learn from; sets or compares the features of `fresh`."""
        rows = validation.features(fresh, X, reset=reset)
        return rows if reset else self._learner.to_learn(rows)

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
        if settings.get("scale") == "online":
            raise ValueError(
                "scale='online' is for streams, and fit makes several passes: use partial_fit, or "
                "make_pipeline(StandardScaler(), ...) around a model with scale='none'"
            )
        if self._goes_on(start):
            learned = self._copied_learner()
            learned.adopt(**settings)
        return Request(
            lambda rows, n_classes: self._new_learner(settings, rows, n_classes),
            self._passes(),
            check_random_state(self.random_state),
            shuffle=self.shuffle,
            share=self.validation_fraction if self.early_stopping else None,
            targets=self._known(fresh=learned is None),
            learned=learned,
            start=start,
            reads_all=reads_all,
            centred=bool(self.fit_intercept),
            agrees=lambda encoding: learned is None or sources.agree(self, encoding),
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
            self._guard.settle()
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
        self._guard.change(lambda: self._become(fresh, task.learner, task.targets, run, task.material.n_rows))
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
            for name in ("encoding_", "_names"):  # of an earlier fit
                fresh.__dict__.pop(name, None)
        y = self._all_labels(y, rows)
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
            reports: list[Progress] = []

            def tell(task: Task, run: Run) -> None:
                made = None if reports else self._report(task.material)
                reports.extend([] if made is None else [made])
                reports[0](task.learner, run)

            request = partial(self._request, start, reads_all=reads_all)
            task, run = train_on_source(request, source, beside, tell if self.verbose else None)
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

    def _become(
        self,
        fresh: Any,
        learner: ClassLearner,
        targets: Targets,
        run: Run,
        n_rows: int,
        settings: dict[str, Any] | None = None,
    ) -> None:
        """Become the fitted model, with the features of `fresh`, while no thread reads. settings: `_settings`."""
        learner.seal()
        given = vars(fresh)
        for name in ("n_features_in_", "feature_names_in_", "_names", "encoding_"):
            if name in given:
                self.__dict__[name] = given[name]
            else:
                self.__dict__.pop(name, None)
        self._learned_with = settings or self._settings()
        self._commit(learner, run, n_rows)

    # -- streams ----------------------------------------------------------------------------------------------

    def _learn_once(self, X: Any, y: Any, classes: Any, sample_weight: Any, predict: bool) -> Array | None:
        if classes is None and sample_weight is None and one.is_single(X, y):
            learned: Array | None = one.learn_row(self, X, y, predict)
            if learned is not None:
                return learned
        with self._guard.learning:
            self._guard.settle()
            if isinstance(X, Source):
                sources.refuse_labels(y, sample_weight)
                return sources.learn_once(self, X, classes, predict)
            first = not hasattr(self, "_learner")
            fresh = copy.copy(self) if first else self
            settings = self._check_learning_once(first)
            rows = self._rows(fresh, X, reset=first)
            guesses = self._learn_rows(settings, fresh, rows, y, classes, sample_weight, predict)
            if len(rows) == 1:
                one.shorten(self, settings)
            return guesses

    def _check_learning_once(self, first: bool) -> dict[str, Any]:
        """Return `_settings`; raise an error for parameters that are wrong, or that a stream does not allow."""
        if first and not get_config()["skip_parameter_validation"]:  # `partial_fit` has validated them already
            self._validate_params()
        learns_from_streams(self)
        settings = self._settings()
        if not first and settings != self._learned_with:
            self._validate_params()  # otherwise, once is enough
        self._refuse_early_stopping()
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
        before: Targets | None = None,
        like: Rows | None = None,
    ) -> Array | None:
        """Learn from rows once; `fresh`, a copy of this model or the model itself, has their features.

        before: what the model has learned, if it cannot know that itself. like: rows to set up a new learner with.
        """
        first = not hasattr(self, "_learner")
        y = self._labels(y, rows)
        before = before or self._known()
        known, new = before.announced(classes, y)
        weight = self._weights_once(settings["rule"], y, validation.sample_weights(sample_weight, rows), known, new)
        learner = self._new_learner(settings, like or rows, before.n_classes) if first else self._learner
        once = Once(learner, rows, y, weight, before, predict)

        def learn() -> Run:
            run = once.learn(settings, known, new)
            if once.targets.n_classes:
                self._become(fresh, learner, once.targets, run, len(rows), settings)
            return run

        self._guard.change(learn).resume_interrupt()
        return once.guesses

    learn_one, learn_many, predict_one, score_one = one.learn_one, one.learn_many, one.predict_one, one.score_one
    predict_many = one.predict_many

    # -- prediction -------------------------------------------------------------------------------------------

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores of rows or of a source, one column per weight vector."""
        check_is_fitted(self)
        if not isinstance(X, Source):
            scores: Array = self._learner.decide(self._learner.scaled(validation.features(self, X, reset=False)))
            return scores
        parts = [self._learner.decide(rows) for rows, _ in sources.rows_for(self, X)]
        if not parts:
            raise ValueError(f"{X.name} has no rows")
        return np.concatenate(parts)

    onnx_parser, onnx_shape_calculator = onnx.onnx_parser, onnx.onnx_shape_calculator
    onnx_converter = onnx.onnx_converter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
