"""Margins of rows, and rows with a constant appended."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from perceptrons.data import Rows
from perceptrons.data.sparse import check_sparse
from perceptrons.learn.labels import encode
from perceptrons.models import validation
from perceptrons.solver.constraints import Constraints, Hypothesis
from perceptrons.theory.inputs import read

Floats = npt.NDArray[np.float64]


def margins(X: Any, y: Any, coef: Any, intercept: Any = 0.0) -> Floats:
    """Compute the signed margin of each row: its distance from the boundary, negative on the wrong side.

    With two classes it is ``y·(w·x + b)/‖w‖``, where the second of the sorted labels is +1. With several classes it is
    ``(score_y − max_{r≠y} score_r)/‖W‖`` with the Frobenius norm, in the joint space of all weight vectors.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels.
    coef : array-like of shape (n_features,), (1, n_features) or (n_classes, n_features), or a fitted model
        The weights. A fitted linear or kernel model uses its own intercept and classes.
    intercept : float or array-like of shape (n_classes,), default=0.0
        The bias, or one for each class.

    Returns
    -------
    ndarray of shape (n_samples,)
        The margins.

    Raises
    ------
    ValueError
        If `coef` or `intercept` has the wrong shape, all weights are 0, numbers are NaN or infinite, or a model has no
        single hypothesis, as with the voted readout.

    Examples
    --------
    >>> from perceptrons.theory import margins
    >>> margins([[0, 0], [3, 4]], [0, 1], coef=[0.6, 0.8], intercept=-2.0)
    array([2., 3.])
    """
    rows, labels = read(X, y, "margins")
    if hasattr(coef, "feature_space_norm") and not hasattr(coef, "coef_"):
        return _in_feature_space(coef, X, labels)
    if hasattr(coef, "fit"):
        coef, intercept, classes = of_model(coef, rows)
    else:
        classes = validation.distinct(labels)
    constraints = Constraints(rows, encode(labels, classes), max(2, len(classes)), bias=True)
    hypothesis = as_hypothesis(constraints, coef, intercept)
    largest = float(np.abs(hypothesis.w).max())
    length = largest * float(np.linalg.norm(hypothesis.w / largest))
    return constraints.margins(Hypothesis(hypothesis.w / length, hypothesis.b / length))[0]


def as_hypothesis(constraints: Constraints, coef: Any, intercept: Any) -> Hypothesis:
    """Return weights and biases as a hypothesis; raise ValueError if their shapes or numbers do not fit."""
    w = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    blocks, width = constraints.blocks, constraints.rows.n_features
    if w.shape != (blocks, width):
        raise ValueError(
            f"coef must be of shape ({blocks}, {width}) for {constraints.n_classes} classes and {width} features, "
            f"got {np.shape(coef)}"
        )
    b = np.asarray(intercept, dtype=np.float64).ravel()
    if b.shape not in ((1,), (blocks,)):
        raise ValueError(f"intercept must be a number or of shape ({blocks},), got {np.shape(intercept)}")
    hypothesis = Hypothesis(w, np.broadcast_to(b, (blocks,)).copy())
    if not hypothesis.finite or not w.any():
        raise ValueError("coef and intercept must be finite, and coef not all zero: otherwise there is no boundary")
    return hypothesis


def _in_feature_space(model: Any, X: Any, labels: npt.NDArray[Any]) -> Floats:
    """Margins by a fitted kernel model: scores divided by ‖w‖, its feature_space_norm()."""
    check_is_fitted(model)
    name = type(model).__name__
    if not hasattr(model, "dual_coef_"):
        raise ValueError(
            f"{name} has no single hypothesis in dual_coef_: voted models combine many and have no margin. "
            "Use another readout."
        )
    length = float(model.feature_space_norm())
    if not 0 < length < np.inf:
        raise ValueError(f"the weights of {name} must be finite and not all zero, got ‖w‖ = {length}")
    codes = encode(labels, model.classes_).astype(np.intp)
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    if scores.ndim == 1:
        return np.asarray(np.where(codes == 1, scores, -scores) / length)
    every = np.arange(len(codes))
    mine = scores[every, codes]
    others = scores.copy()
    others[every, codes] = -np.inf
    return np.asarray((mine - others.max(axis=1)) / length)


def of_model(model: Any, rows: Rows) -> tuple[Any, Any, Any]:
    """Return weights, biases and classes of a fitted linear model; `rows` are examples that it can score."""
    check_is_fitted(model)
    name = type(model).__name__
    if not hasattr(model, "coef_") or not hasattr(model, "classes_"):
        raise ValueError(
            f"{name} has no single hypothesis in coef_ (voted and kernel models, pipelines and searches have none). "
            "For a pipeline, transform X and pass its last step."
        )
    coef = model.coef_.toarray() if sp.issparse(model.coef_) else np.asarray(model.coef_)
    learner: Any = getattr(model, "_learner", None)
    if getattr(learner, "scaling", None) is not None:
        scores = np.asarray(rows.matrix() @ coef.T + model.intercept_)
        if not np.allclose(learner.decide(learner.scaled(rows)), scores, rtol=1e-6, atol=1e-6):
            raise ValueError(
                f"this {name} cuts off numbers that are far from their mean, weighs words by their rarity, or counts "
                "absent entries of sparse rows as their mean, so its scores of these rows are not linear, and have no "
                "margins. Train it with scale='none'."
            )
    if len(model.classes_) > 2:
        some = rows.take(np.arange(min(5, len(rows)))).matrix()
        scores = model.decision_function(some)
        if coef.shape[0] != len(model.classes_) or not np.allclose(scores, some @ coef.T + model.intercept_):
            raise ValueError(
                f"coef_ of {name} does not have one line for each class, so it compares classes in another way"
            )
    return coef, model.intercept_, model.classes_


def augment(X: Any, value: float = 1.0) -> Any:
    """Append the same constant to every row, as one more feature.

    Rows that are separable with a bias become separable through the origin, for any constant except 0.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows. They are copied.
    value : float, default=1.0
        The constant; it must not be 0.

    Returns
    -------
    ndarray or CSR matrix of shape (n_samples, n_features + 1)
        Dense or sparse like X.

    Raises
    ------
    ValueError
        If `value` is 0, NaN or infinite, or rounds to one of them in the type of X.

    Examples
    --------
    >>> from perceptrons.theory import augment
    >>> augment([[2.0, 3.0]])
    array([[2., 3., 1.]])
    """
    rows = validation.readable(X, "augment")
    with np.errstate(over="ignore"):
        column = np.full((rows.shape[0], 1), value, dtype=rows.dtype)
    if not np.isfinite(column).all() or not column.all():
        raise ValueError(f"value must be finite and not 0, even when rounded to {rows.dtype}, got {value}")
    if sp.issparse(rows):
        check_sparse(rows)
        kind = sp.csr_array if isinstance(rows, sp.sparray) else sp.csr_matrix
        return kind(sp.hstack([rows, column], format="csr"))
    return np.hstack([rows, column])
