"""The linear models for River."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from perceptrons import models
from perceptrons.river.model import Classifier, Regressor, like


@like(models.Perceptron)
@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(Classifier):
    """Linear classifier that learns from its mistakes, for River. See `perceptrons.Perceptron`.

    Streams may change, so the default of `readout` differs from that of the estimator. For such streams,
    ``Perceptron(rule=perceptrons.rules.PA1(C=0.01))`` behind a scaler is a good choice.

    Parameters
    ----------
    {shared: rule readout fit_intercept intercept_scaling eta0 tie class_weight scale}

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
    scale: str = "none"


@like(models.PassiveAggressiveClassifier)
@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveClassifier(Classifier):
    """Passive-aggressive classifier, PA-I or PA-II, for River. See `perceptrons.PassiveAggressiveClassifier`.

    Parameters
    ----------
    {shared: C fit_intercept loss class_weight average scale}

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
    scale: str = "none"


@like(models.PassiveAggressiveRegressor)
@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveRegressor(Regressor):
    """Passive-aggressive regression, for River. See `perceptrons.PassiveAggressiveRegressor`.

    C is the largest step in the unit of the target, and `epsilon` an error in it: scale targets that are large, with
    ``preprocessing.TargetStandardScaler``, or choose C accordingly.

    Parameters
    ----------
    {shared: C fit_intercept loss epsilon average rule scale}

    Attributes
    ----------
    {shared: estimator}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from perceptrons.river import PassiveAggressiveRegressor
    >>> model = preprocessing.StandardScaler() | PassiveAggressiveRegressor(rule="pa")
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.2...
    """

    C: float = 1.0
    fit_intercept: bool = True
    loss: str = "epsilon_insensitive"
    epsilon: float = 0.1
    average: bool | int = False
    rule: Any = None
    scale: str = "none"
