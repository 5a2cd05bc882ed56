"""Probabilities of classes, for models whose rule keeps a covariance of the weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from perceptrons import rules
from perceptrons.data.batches import Source
from perceptrons.learn.linear.belief import probabilities, with_belief
from perceptrons.models import sources, validation
from perceptrons.models.classifier import Classifier
from perceptrons.models.guard import reading

Floats = npt.NDArray[np.float64]


def _believes(model: Classifier) -> bool:
    """Whether a model has probabilities; otherwise an error says why not, and what to do."""
    rule = model._learner.rule if hasattr(model, "_learner") else rules.resolve(model.rule)
    if rules.kind_of(rule) != "metric":
        names = ", ".join(map(repr, with_belief()))
        raise AttributeError(
            f"{type(model).__name__} has no probabilities with the rule {type(rule).__name__}, which keeps no "
            f"covariance of the weights. Calibrate the scores, with CalibratedClassifierCV(model), or use one of the "
            f"rules {names}"
        )
    return True


@available_if(_believes)
@reading
def predict_proba(model: Classifier, X: Any) -> Floats:
    """Compute the model's own belief in each class.

    Only for rules with a covariance, such as "arow" and "scw1".

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or Source

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Probabilities, in the order of `classes_`. Each row sums to 1.
    """
    check_is_fitted(model)
    if not isinstance(X, Source):
        return probabilities(model._learner, model._learner.scaled(validation.features(model, X, reset=False)))
    parts = [probabilities(model._learner, rows) for rows, _ in sources.rows_for(model, X)]
    if not parts:
        raise ValueError(f"{X.name} has no rows")
    return np.concatenate(parts)


@available_if(_believes)
@reading
def predict_log_proba(model: Classifier, X: Any) -> Floats:
    """Compute the logarithms of `predict_proba`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or Source

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Logarithms of probabilities, in the order of `classes_`.
    """
    with np.errstate(divide="ignore"):  # log 0 is −∞
        return np.asarray(np.log(predict_proba.fn(model, X)))
