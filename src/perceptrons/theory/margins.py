"""Margins of rows, and rows with a constant appended."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from perceptrons.data import Rows
from perceptrons.learn.labels import encode
from perceptrons.models import validation
from perceptrons.theory.inputs import read
from perceptrons.theory.solver.constraints import Constraints, Hypothesis

Floats = npt.NDArray[np.float64]


def margins(X: Any, y: Any, coef: Any, intercept: Any = 0.0) -> Floats:
    """The signed geometric margin of each row: its distance from the boundary, negative on the wrong side.

    Two classes: ``y·(w·x + b)/‖w‖``, the second of the sorted labels being +1. Several: ``(score_y − max_{r≠y}
    score_r)/‖W‖`` with the Frobenius norm, in the joint space of all weight vectors.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    coef : array-like of shape (n_features,), (1, n_features) or (n_classes, n_features), or a fitted model
        A model, linear or of a kernel's feature space, brings its own intercept and its own classes.
    intercept : float or array-like of shape (n_classes,), default=0.0

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
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
    codes = encode(labels, classes)
    w = np.asarray(coef, dtype=np.float64)
    w = w[np.newaxis] if w.ndim == 1 else w
    blocks = 1 if len(classes) <= 2 else len(classes)
    if w.shape != (blocks, rows.n_features):
        raise ValueError(
            f"coef must be of shape ({blocks}, {rows.n_features}) for {len(classes)} classes and {rows.n_features} "
            f"features, got {np.shape(coef)}"
        )
    b = np.asarray(intercept, dtype=np.float64).ravel()
    if b.shape not in ((1,), (blocks,)):
        raise ValueError(f"intercept must be a number or of shape ({blocks},), got {np.shape(intercept)}")
    b = np.broadcast_to(b, (blocks,))
    largest = float(np.abs(w).max())
    if not np.isfinite(w).all() or not np.isfinite(b).all() or largest == 0.0:
        raise ValueError("coef must be finite and not all zero, and intercept finite: else there is no boundary")
    length = largest * float(np.linalg.norm(w / largest))
    values, _ = Constraints(rows, codes, max(2, len(classes)), bias=True).margins(Hypothesis(w / length, b / length))
    return values


def _in_feature_space(model: Any, X: Any, labels: npt.NDArray[Any]) -> Floats:
    """Margins by a fitted model of a kernel's feature space: scores over ‖w‖, its feature_space_norm()."""
    check_is_fitted(model)
    name = type(model).__name__
    if not hasattr(model, "dual_coef_"):
        raise ValueError(
            f"{name} has no single hypothesis in dual_coef_: votes are those of many, and have no margin. "
            "Another readout has one."
        )
    length = float(model.feature_space_norm())
    if not 0 < length < np.inf:
        raise ValueError(f"the weights of {name} must be finite and not all zero, got ‖w‖ = {length}: no boundary")
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
    """Weights, biases and classes of a fitted linear model; `rows` are some that it can score."""
    check_is_fitted(model)
    name = type(model).__name__
    if not hasattr(model, "coef_") or not hasattr(model, "classes_"):
        raise ValueError(
            f"{name} is not a classifier with one hypothesis in coef_ (nor are votes, kernels, pipelines, searches). "
            "Of a pipeline, transform X and pass its last step."
        )
    coef = model.coef_.toarray() if sp.issparse(model.coef_) else np.asarray(model.coef_)
    if len(model.classes_) > 2:
        some = rows.take(np.arange(min(5, len(rows)))).matrix()
        scores = model.decision_function(some)
        if coef.shape[0] != len(model.classes_) or not np.allclose(scores, some @ coef.T + model.intercept_):
            raise ValueError(f"coef_ of {name} does not have one line a class: it compares classes in another way")
    return coef, model.intercept_, model.classes_


def augment(X: Any, value: float = 1.0) -> Any:
    """The rows with the same constant appended to each, as one more feature; a copy, dense or CSR as X is.

    Separable with an offset becomes separable through the origin, whatever the constant, unless it is 0.

    Examples
    --------
    >>> augment([[2.0, 3.0]])
    array([[2., 3., 1.]])
    """
    rows = validation.readable(X, "augment")
    with np.errstate(over="ignore"):
        column = np.full((rows.shape[0], 1), value, dtype=rows.dtype)
    if not np.isfinite(column).all() or not column.all():
        raise ValueError(f"value must be finite and not 0, as {rows.dtype} too, got {value}")
    if sp.issparse(rows):
        kind = sp.csr_array if isinstance(rows, sp.sparray) else sp.csr_matrix
        return kind(sp.hstack([rows, column], format="csr"))
    return np.hstack([rows, column])
