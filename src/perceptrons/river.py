"""The estimators as models of River, for its pipelines, metrics and ensembles.

Each class has the name of an estimator of this package and hands everything on to one: `learn_one` and `predict_one`
are those of the estimator, and the results are the same. Only the parameters that matter in a stream are here; those
about passes over the data are not. Scores are the more useful the more alike the ranges of features are: put a
``StandardScaler`` before the model, as for River's own linear models.

>>> from river import datasets, evaluate, metrics, preprocessing
>>> from perceptrons.river import Perceptron
>>> model = preprocessing.StandardScaler() | Perceptron(rule="arow")
>>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
Accuracy: 8...%
>>> model["Perceptron"].estimator.n_seen_
1250
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

from perceptrons import models
from perceptrons.models.parameters import entries, with_entries

try:
    from river import base
    from river.utils import dataframe
except ImportError as error:
    raise ImportError('perceptrons.river needs River 0.26 or later: pip install "perceptrons[river]"') from error

__all__ = ["KernelPerceptron", "PassiveAggressiveClassifier", "PassiveAggressiveRegressor", "Perceptron"]

T = TypeVar("T", bound=type)
# What may change while a model learns. The rest determines what a model has stored.
MUTABLE = {"rule", "C", "eta0", "tie", "loss", "epsilon", "class_weight"}


def like(estimator: type) -> Callable[[T], T]:
    """Let a class hand on to this estimator, with the entries of its docstring that ``{shared: ...}`` names."""

    def enter(cls: T) -> T:
        cls.__doc__ = with_entries(cls.__doc__, entries(estimator.__doc__) | entries(Model.__doc__))
        cls._estimator = estimator  # type: ignore[attr-defined]
        return dataclass(kw_only=True, eq=False, repr=False)(cls)

    return enter


class Model:
    """What all models have in common. Subclasses are dataclasses, whose fields are the parameters.

    Attributes
    ----------
    estimator : estimator of `perceptrons`
        It learns and predicts, and has all that was learned: ``model.estimator.n_mistakes_``. It can be saved
        (`perceptrons.save`) and exported. Change parameters of the model, not of the estimator.

    Parameters
    ----------
    class_weight : dict or None, default=None
        Weights of classes, multiplied by `w`. A class that it does not name has the weight 1. A weight scales the step,
        or C for PA-I and PA-II; each rule in `perceptrons.rules` says what it does. Some rules do not accept weights.
    """

    estimator: Any
    _estimator: ClassVar[type]

    def __post_init__(self) -> None:
        self.estimator = self._estimator(**{each.name: getattr(self, each.name) for each in fields(self)})  # type: ignore[arg-type]
        self._y_name: Any = None  # of the last series of labels, as River's models have it

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in self._mutable_attributes and "estimator" in vars(self):
            setattr(self.estimator, name, value)

    @property
    def _mutable_attributes(self) -> set[str]:
        return MUTABLE & {each.name for each in fields(self)}  # type: ignore[arg-type]

    @property
    def _raw_memory_usage(self) -> int:
        """Bytes of a pickle: what the model has stored, without compiled code, which all models share."""
        return len(pickle.dumps(self))

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn from one example.

        Parameters
        ----------
        x
            Named features. Text is a category: ``{"job": "cook"}`` is the feature "job=cook" with the value 1.
        y
            Its label, or in regression its value.
        w
            The weight of the example. It scales the step, or C for PA-I and PA-II. Some rules do not accept weights.
        """
        self.estimator.learn_one(x, y, None if w == 1.0 else w)

    def score_one(self, x: dict[Any, Any]) -> Any:
        """Compute the score of one example, as `estimator.score_one` does.

        Parameters
        ----------
        x
            Named features.

        Returns
        -------
        For two classes a number, positive for the second; for more, the score of each class by its label. In regression
        the predicted value. 0.0 if nothing has been learned yet.
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
        self.estimator.learn_many(rows, labels.to_list(), weights)
        self._y_name = labels.name

    def predict_many(self, X: Any) -> Any:
        """Predict the labels, or values, of the rows of a data frame.

        Parameters
        ----------
        X
            A data frame of features.

        Returns
        -------
        A series of the same library, with the index of X.
        """
        frame = dataframe.into_frame(X)
        found = [self.predict_one(x) for x in frame.iter_rows(named=True)]  # type: ignore[attr-defined]
        return dataframe.to_native_series(found, name=self._y_name, like=frame)


class Classifier(Model, base.MiniBatchClassifier):
    """What all classifiers have in common."""

    @property
    def _multiclass(self) -> bool:
        return True

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """Predict the label of one example.

        Parameters
        ----------
        x
            Named features. Those that the model does not know are ignored.

        Returns
        -------
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
        A data frame of the same library, with one column per label and the index of X.
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


@like(models.Perceptron)
class Perceptron(Classifier):
    """Linear classifier that learns from its mistakes, for River. See `perceptrons.Perceptron`.

    Parameters
    ----------
    {shared: rule readout fit_intercept intercept_scaling eta0 tie class_weight}

    Attributes
    ----------
    {shared: estimator}

    Examples
    --------
    >>> from perceptrons.river import Perceptron
    >>> model = Perceptron()
    >>> model.learn_one({"free": 2, "from": "bank"}, "spam")
    >>> model.learn_one({"lunch": 1, "from": "Eva"}, "ham")
    >>> model.predict_one({"lunch": 1, "from": "Adam"})
    'ham'
    """

    rule: Any = "perceptron"
    readout: str = "last"
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    eta0: float = 1.0
    tie: str = "mistake"
    class_weight: Any = None


@like(models.PassiveAggressiveClassifier)
class PassiveAggressiveClassifier(Classifier):
    """Passive-aggressive classifier, PA-I or PA-II, for River. See `perceptrons.PassiveAggressiveClassifier`.

    Parameters
    ----------
    {shared: C fit_intercept loss class_weight average}

    Attributes
    ----------
    {shared: estimator}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from perceptrons.river import PassiveAggressiveClassifier
    >>> model = preprocessing.StandardScaler() | PassiveAggressiveClassifier(C=0.01, average=True)
    >>> evaluate.progressive_val_score(datasets.ImageSegments(), model, metrics.Accuracy())
    Accuracy: 8...%
    """

    C: float = 1.0
    fit_intercept: bool = True
    loss: str = "hinge"
    class_weight: Any = None
    average: bool | int = False


@like(models.PassiveAggressiveRegressor)
class PassiveAggressiveRegressor(Regressor):
    """Passive-aggressive regression, for River. See `perceptrons.PassiveAggressiveRegressor`.

    C is the largest step in the unit of the target, and `epsilon` an error in it: scale targets that are large, with
    ``preprocessing.TargetStandardScaler``, or choose C accordingly.

    Parameters
    ----------
    {shared: C fit_intercept loss epsilon average rule}

    Attributes
    ----------
    {shared: estimator}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from perceptrons.river import PassiveAggressiveRegressor
    >>> model = preprocessing.StandardScaler() | PassiveAggressiveRegressor(rule="arow")
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: ...
    """

    C: float = 1.0
    fit_intercept: bool = True
    loss: str = "epsilon_insensitive"
    epsilon: float = 0.1
    average: bool | int = False
    rule: Any = None


@like(models.KernelPerceptron)
class KernelPerceptron(Classifier):
    """The perceptron in a kernel's feature space, on a budget, for River. See `perceptrons.KernelPerceptron`.

    Two defaults differ from those of the estimator. Without a `budget`, memory and the time for an example grow with
    the stream. And `gamma` is a number, because a stream does not tell at its beginning how its features will vary.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "cosine", "laplacian"} or callable, default="rbf"
        Values as in `sklearn.metrics.pairwise`. A callable takes two matrices of rows and returns the matrix of their
        kernel values.
    gamma : float, default=0.1
        γ of "rbf", "laplacian", "poly" and "sigmoid". For n features that are scaled to variance 1, 1/n is a good start.
    {shared: degree coef0 rule}
    readout : {"last", "averaged", "voted"}, default="last"
        Which hypothesis makes predictions. With a budget, only "last".
    {shared: fit_intercept eta0 tie class_weight}
    budget : int or None, default=200
        Maximum number of support rows, B. It bounds the memory, and the time for an example. None keeps every row that
        makes a step: for short streams.
    {shared: policy threshold}
    random_state : int, RandomState or None, default=0
        Seed of the policy "random".

    Attributes
    ----------
    {shared: estimator}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from perceptrons.river import KernelPerceptron
    >>> model = preprocessing.StandardScaler() | KernelPerceptron(gamma=1.0)
    >>> evaluate.progressive_val_score(datasets.Bananas().take(1000), model, metrics.Accuracy())
    Accuracy: 8...%
    """

    kernel: Any = "rbf"
    gamma: Any = 0.1
    degree: int = 3
    coef0: float = 0.0
    rule: Any = "perceptron"
    readout: str = "last"
    fit_intercept: bool = True
    eta0: float = 1.0
    tie: str = "mistake"
    class_weight: Any = None
    budget: int | None = 200
    policy: str = "projectron++"
    threshold: float = 0.1
    random_state: Any = 0
