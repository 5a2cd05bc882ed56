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
from perceptrons.models.examples import example_of
from perceptrons.models.guard import reading

Floats = npt.NDArray[np.float64]


def believes(model: Classifier) -> bool:
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


@available_if(believes)
@reading
def predict_proba(model: Classifier, X: Any) -> Floats:
    """Compute the model's own belief in each class. Only for rules with a covariance, such as "arow" and "scw1".

    These rules learn a normal distribution of the weights, with the covariance Σ. So the score of a row is normal: its
    mean s is what `decision_function` returns, and its variance is v = xᵀΣx, with the constant feature of the bias in
    x. Two classes: Φ(s/√v) is the probability that the score is positive. Several classes: the probability that the
    score of the class is the largest, for independent scores. Whatever the readout, Σ is that after the last step.

    **This is not a frequency.** Σ says how well the weights are known, not how noisy the labels are, and it shrinks
    with each step. On the test files of a9a and ijcnn1 (`benchmarks/calibration.py`), "arow" and "nherd" are
    overconfident: the mean probability of the predicted class is 0.08 to 0.15 above the share of rows that are right;
    with "arow", more passes make it worse. "sop" is underconfident by 0.16 to 0.39, and "scw2" by 0.15 to 0.33.
    "cw" is either, depending on the settings. "scw1" with averaged weights comes nearest to a frequency, with expected
    calibration errors of 0.02 to 0.06. No setting reaches those of `LogisticRegression` or of calibrated scores on both
    files (0.01 and 0.03). If you need frequencies, use ``CalibratedClassifierCV(model)``, which calibrates the scores.

    Of two classes, the predicted one is the more probable. Of several, `predict` chooses the largest score, and a class
    with a smaller score but a larger variance may be more probable: for 26 letters, on 0.1 % to 2 % of rows with
    "arow" and "nherd", but on 6 % to nearly all rows with the other rules, most often with full covariance.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or Source
        The rows.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Probabilities, in the order of `classes_`. Each row sums to 1.

    Raises
    ------
    AttributeError
        If the rule keeps no covariance.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    ValueError
        If X has another number of features than the model, missing or infinite values, or no rows.
    """
    check_is_fitted(model)
    if not isinstance(X, Source):
        return probabilities(model._learner, model._learner.scaled(validation.features(model, X, reset=False)))
    parts = [probabilities(model._learner, rows) for rows, _ in sources.rows_for(model, X)]
    if not parts:
        raise ValueError(f"{X.name} has no rows")
    return np.concatenate(parts)


@available_if(believes)
@reading
def predict_log_proba(model: Classifier, X: Any) -> Floats:
    """Compute the logarithms of `predict_proba`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or Source
        The rows.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Natural logarithms of probabilities, in the order of `classes_`; −∞ for the probability 0.

    Raises
    ------
    AttributeError, sklearn.exceptions.NotFittedError, ValueError
        As for `predict_proba`.
    """
    with np.errstate(divide="ignore"):  # log 0 is −∞
        return np.asarray(np.log(predict_proba.fn(model, X)))


@available_if(believes)
@reading
def predict_proba_one(model: Classifier, x: Any) -> dict[Any, float]:
    """Compute `predict_proba` of one example.

    Parameters
    ----------
    x : dict, sequence or pair
        As for `predict_one`.

    Returns
    -------
    dict
        The probability of each class by its label. Empty if nothing has been learned yet.

    Raises
    ------
    AttributeError
        If the rule keeps no covariance.
    """
    if not hasattr(model, "_learner"):
        return {}
    (rows, _), names = example_of(model, x, grows=False)
    scaled = model._learner.scaled(rows, None if names is None else getattr(model, "encoding_", None))
    found = probabilities(model._learner, scaled)[0]
    return dict(zip(model.classes_.tolist(), found.tolist(), strict=True))
