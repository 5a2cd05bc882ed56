"""Shared by the linear models: initial weights, and access to learned weights."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from perceptrons.data.arrays import Rows
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.models.guard import reading
from perceptrons.models.supervised import Start, Supervised

Floats = npt.NDArray[np.float64]
L = TypeVar("L", bound=Supervised)


def new_learner(model: Supervised, settings: dict[str, Any], rows: Rows, n_classes: int) -> LinearLearner:
    """An untrained learner for rows like these."""
    return LinearLearner(**settings, n_features=rows.n_features, n_classes=n_classes, dense=rows.indices is None)


# -- initial weights ------------------------------------------------------------------------------------------


def start(coef: Any, intercept: Any, *, random: bool = False) -> Start | None:
    """A function that sets the initial weights: given, in the shapes of `coef_` and `intercept_`, or random."""
    given = coef is not None or intercept is not None

    def set_start(learner: LinearLearner, generator: np.random.RandomState) -> None:
        if given:
            learner.set_start(_given(learner, coef, intercept))
        else:
            w: Floats = generator.standard_normal(learner.current.shape)
            w[-1] *= learner.bias > 0.0
            learner.set_start(w)

    return set_start if given or random else None


def _given(learner: LinearLearner, coef: Any, intercept: Any) -> Floats:
    """Weights in the layout of the learner: those given, else the learner's own."""
    w = np.copy(learner.current)
    lines = 1 if w.ndim == 1 else w.shape[1]
    for name, given, part in (("coef_init", coef, slice(-1)), ("intercept_init", intercept, slice(-1, None))):
        if given is None:
            continue
        given, target = np.asarray(given, dtype=np.float64), w[part]
        right = (lines, target.size // lines) if name == "coef_init" else (lines,)
        if given.shape != right and not (lines == 1 and given.shape in (right[1:], (1,))):
            expected = f"({lines}, {len(w) - 1})" if name == "coef_init" else f"({lines},)"
            raise ValueError(f"{name} must be of shape {expected}, got {given.shape}")
        if not np.isfinite(given).all():
            raise ValueError(f"{name} must be finite, got NaN or infinity")
        if name == "intercept_init" and learner.bias == 0.0 and given.any():
            raise ValueError("intercept_init must be 0 with fit_intercept=False")
        scale = learner.bias or 1.0 if name == "intercept_init" else 1.0  # b = c·(the last weight)
        target[:] = given.reshape(lines, -1).T.reshape(target.shape) / scale
    if not learner.on_raw_scale:  # what is given is for rows, and values, as users have them
        w[:-1], offset = learner.of_units(w[:-1], w[-1:].ravel() * learner.bias)
        w[-1:] = (offset / (learner.bias or 1.0)).reshape(w[-1:].shape)
    return w


# -- learned weights ------------------------------------------------------------------------------------------


def per_unit(model: Supervised) -> tuple[Floats, Floats]:
    """Weights and offsets of the readout, one line per weight vector."""
    check_is_fitted(model)
    learner: LinearLearner = model._learner
    if learner.readout.by_vote:
        raise AttributeError(f"readout={learner.readout.name!r} has no coef_ and no intercept_: many hypotheses vote")
    w, offset = learner.per_unit(learner.weights)
    return np.asarray(w[np.newaxis] if w.ndim == 1 else w.T), offset


coef_ = property(
    reading(lambda model: per_unit(model)[0].copy()),
    doc="Weights of the features, of shape (1, n_features) or (n_classes, n_features).",
)
intercept_ = property(
    reading(lambda model: per_unit(model)[1].copy()),
    doc="Bias, of shape (1,) or (n_classes,): the weight of the constant feature, times its value.",
)


@reading
def normalized(model: L) -> L:
    """Scale the model to ‖w‖ = 1: decision values are then signed distances from the boundary.

    Returns
    -------
    estimator
        A copy that predicts the same.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    ValueError
        If all weights are 0, so that there is no boundary.
    AttributeError
        With the voted readout: many hypotheses vote.
    """
    check_is_fitted(model)
    coef, _ = per_unit(model)
    largest = float(np.abs(coef).max())
    if largest == 0.0:
        raise ValueError("all weights are 0: there is no boundary, and nothing to normalize")
    model = copy.deepcopy(model)
    model._learner.scale(1.0 / largest)  # first, so that no square overflows
    model._learner.scale(1.0 / float(np.linalg.norm(coef / largest)))
    return model
