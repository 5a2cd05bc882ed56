"""What all models for River share: they hand on to an estimator of this package."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import fields
from typing import Any, ClassVar, TypeVar

import numpy as np

from perceptrons import rules
from perceptrons.models import one
from perceptrons.models.parameters import entries, with_entries

try:
    from river import base
    from river.utils import dataframe
except ImportError as error:
    raise ImportError('perceptrons.river needs River 0.26 or later: pip install "perceptrons[river]"') from error

T = TypeVar("T", bound=type)
# What may change while a model learns. The rest determines what a model has stored.
MUTABLE = {"rule", "C", "eta0", "tie", "loss", "epsilon", "class_weight"}


def like(estimator: type) -> Callable[[T], T]:
    """Let a class hand on to this estimator, with the entries of its docstring that ``{shared: ...}`` names."""

    def enter(cls: T) -> T:
        cls.__doc__ = with_entries(cls.__doc__, entries(estimator.__doc__) | entries(Model.__doc__))
        cls._estimator = estimator  # type: ignore[attr-defined]
        return cls

    return enter


def _named(rule: Any) -> str:
    """The name of a rule without parameters. River's `clone` fails for an empty tuple, which such a rule is."""
    for name, cls in rules.RULES.items():
        if type(rule) is cls:
            return name
    raise ValueError(
        f"River cannot clone {rule!r}, a rule without parameters: register it (`perceptrons.rules.register`), and pass "
        "its name"
    )


class Model:
    """What all models have in common. Subclasses are dataclasses, whose fields are the parameters.

    Attributes
    ----------
    estimator : estimator of `perceptrons`
        It learns and predicts, and has all that was learned: ``model.estimator.n_mistakes_``. It can be saved
        (`perceptrons.save`) and exported. Change parameters of the model, not of the estimator.

    Parameters
    ----------
    readout : {"last", "averaged", "voted"}, default="last"
        Which weight vector makes predictions: the current one; the mean over all examples learned; or all of them by
        vote, each weighted by the number of examples that it lasted, which needs memory for each of them. "averaged"
        usually predicts better on a stream that does not change; after a change, old weights still count in the mean.
    class_weight : dict or None, default=None
        Weights of classes, multiplied by `w`. A class that it does not name has the weight 1. A weight scales the step,
        or C for PA-I and PA-II; each rule in `perceptrons.rules` says what it does. Some rules do not accept weights.
    """

    estimator: Any
    _estimator: ClassVar[type]

    def __post_init__(self) -> None:
        self.estimator = self._new_estimator()
        self._y_name: Any = None  # of the last series of labels: predictions get the same name

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a parameter, also of the estimator; or another attribute."""
        if isinstance(value, tuple) and not value:
            value = _named(value)
        if "estimator" in vars(self) and name in self._parameters():
            self._new_estimator(**{name: value})  # or an error
            setattr(self.estimator, name, value)
        super().__setattr__(name, value)

    def _new_estimator(self, **changed: Any) -> Any:
        """An estimator with the parameters of this model; an error if it could not learn from a stream."""
        estimator: Any = self._estimator(**{name: getattr(self, name) for name in self._parameters()} | changed)
        obstacle = estimator._stream_obstacle()
        if obstacle is not None:
            raise ValueError(f"{type(self).__name__} cannot learn from a stream, because {obstacle}")
        return estimator

    @classmethod
    def _parameters(cls) -> set[str]:
        return {each.name for each in fields(cls)}  # type: ignore[arg-type]

    @property
    def _mutable_attributes(self) -> set[str]:
        return MUTABLE & self._parameters()

    @property
    def _raw_memory_usage(self) -> int:
        """Bytes of a pickle: what the model has stored, without compiled code, which all models share."""
        return len(pickle.dumps(self))

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn from one example.

        If the first label is True or False, both classes exist from then on, and the model learns from the first
        example. Otherwise, it learns from the example on that brings the second class.

        Parameters
        ----------
        x
            Named features. Text is a category: ``{"job": "cook"}`` is the feature "job=cook" with the value 1.
        y
            Its label, or in regression its value.
        w
            The weight of the example. It scales the step, or C for PA-I and PA-II. Some rules do not accept weights.
        """
        # The estimator's own method would look at each call whether it can learn from a stream, for 0.7 µs.
        estimator = self.estimator
        classes = None if "_learner" in estimator.__dict__ else self._announced(y)
        one.learn_one(estimator, x, y, None if w == 1.0 else w, classes)

    def _announced(self, y: Any) -> Any:
        """The classes that exist before the first example, which has the label y; None if y does not tell."""
        return None

    def score_one(self, x: dict[Any, Any]) -> Any:
        """Compute the score of one example, as `estimator.score_one` does.

        Parameters
        ----------
        x
            Named features.

        Returns
        -------
        float or dict
            For two classes a number, positive for the second; for more, the score of each class by its label. In
            regression the predicted value. 0.0 if nothing has been learned yet.
        """
        return self.estimator.score_one(x)

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn from the rows of a data frame, in their order: the same as `learn_one` of each.

        Parameters
        ----------
        X
            A data frame of features: of pandas, Polars or another library that River reads.
        y
            A series of labels, or in regression of values.
        w
            A weight for all rows, or a series of weights.
        """
        labels, rows = dataframe.into_series(y), dataframe.into_frame(X).rows(named=True)
        if isinstance(w, int | float):
            weights = None if w == 1.0 else [w] * len(rows)
        else:
            weights = dataframe.into_series(w).to_list()
        y = labels.to_list()
        classes = None if hasattr(self.estimator, "_learner") or not y else self._announced(y[0])
        self.estimator.learn_many(rows, y, weights, classes)
        self._y_name = labels.name

    def predict_many(self, X: Any) -> Any:
        """Predict the labels, or values, of the rows of a data frame.

        Parameters
        ----------
        X
            A data frame of features.

        Returns
        -------
        series
            Of the same library, with the index of X.
        """
        frame = dataframe.into_frame(X)
        found = [self.predict_one(x) for x in frame.iter_rows(named=True)]  # type: ignore[attr-defined]
        return dataframe.to_native_series(found, name=self._y_name, like=frame)


class Classifier(Model, base.MiniBatchClassifier):
    """What all classifiers have in common."""

    @property
    def _multiclass(self) -> bool:
        return True

    def _announced(self, y: Any) -> Any:
        """If the first label is True or False, both classes exist: so the first example is learned, as River does."""
        return [False, True] if isinstance(y, bool | np.bool_) else None

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """Predict the label of one example.

        Parameters
        ----------
        x
            Named features. Those that the model does not know are ignored.

        Returns
        -------
        label
            The label, or None if nothing has been learned yet.
        """
        return self.estimator.predict_one(x)

    def predict_proba_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """Compute a number between 0 and 1 for each label. They add up to 1.

        Rules that keep a covariance, such as "arow" and "scw1", give their own belief, as `predict_proba` of the
        estimator does. For other rules, it is a function of the score, 1/(1 + exp(−score)), or exp(score) as a share of
        the sum over several classes. River's own perceptron does the same, and its ensembles and metrics need it. **It
        is not a frequency**: a perceptron's score has no unit.

        Parameters
        ----------
        x
            Named features.

        Returns
        -------
        dict
            The number of each label; empty if nothing has been learned yet.
        """
        estimator = self.estimator
        if hasattr(estimator, "predict_proba_one"):
            found: dict[Any, float] = estimator.predict_proba_one(x)
            return found
        scores, labels = estimator.score_one(x), estimator.classes_.tolist() if hasattr(estimator, "classes_") else []
        if len(labels) < 2:
            return dict.fromkeys(labels, 1.0)
        return shares(scores if isinstance(scores, dict) else {labels[0]: 0.0, labels[1]: scores})

    def predict_proba_many(self, X: Any) -> Any:
        """Compute `predict_proba_one` of the rows of a data frame.

        Parameters
        ----------
        X
            A data frame of features.

        Returns
        -------
        data frame
            Of the same library, with one column per label and the index of X.
        """
        frame = dataframe.into_frame(X)
        found = [self.predict_proba_one(x) for x in frame.iter_rows(named=True)]
        columns = {label: [row[label] for row in found] for label in (found[0] if found else ())}
        return dataframe.to_native_frame(columns, like=frame) if columns else frame.select([]).to_native()


class Regressor(Model, base.MiniBatchRegressor):
    """What all regressors have in common."""

    def predict_one(self, x: dict[Any, Any]) -> float:
        """Predict the value of one example.

        Parameters
        ----------
        x
            Named features. Those that the model does not know are ignored.

        Returns
        -------
        float
            The value; 0.0 if nothing has been learned yet.
        """
        found: float = self.estimator.score_one(x)
        return found


def shares(scores: dict[Any, float]) -> dict[Any, float]:
    """exp(score) of each label, as a share of their sum.

    >>> shares({"no": 0.0, "yes": 0.0})
    {'no': 0.5, 'yes': 0.5}
    """
    most = max(scores.values())
    found = {label: math.exp(score - most) for label, score in scores.items()}
    total = sum(found.values())
    return {label: each / total for label, each in found.items()}
