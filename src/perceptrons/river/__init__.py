"""The estimators as models of River, for its pipelines, metrics and ensembles.

Each class has the name of an estimator of this package and hands everything on to one: `learn_one` and `predict_one`
are those of the estimator, and the results are the same. Only the parameters that matter in a stream are here; those
about passes over the data are not. If features have different ranges, put a ``StandardScaler`` before the model, as
before River's own linear models.

>>> from river import datasets, evaluate, metrics, preprocessing
>>> from perceptrons.river import Perceptron
>>> model = preprocessing.StandardScaler() | Perceptron(rule="arow")
>>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
Accuracy: 8...%
>>> model["Perceptron"].estimator.n_seen_
1250
"""

from __future__ import annotations

from perceptrons.river.kernel import KernelPerceptron
from perceptrons.river.linear import PassiveAggressiveClassifier, PassiveAggressiveRegressor, Perceptron

__all__ = ["KernelPerceptron", "PassiveAggressiveClassifier", "PassiveAggressiveRegressor", "Perceptron"]
