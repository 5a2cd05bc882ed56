"""Compute which class is predicted where in the plane of a boundary picture."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length, column_or_1d

from perceptrons.learn import labels as class_labels
from perceptrons.plots.plane import Plane

Floats = npt.NDArray[np.float64]
Limits = tuple[float, float, float, float]  # left, right, bottom, top
GRID = 150  # points on each side of the grid on which regions are computed
SLIM = 0.45  # the smallest ratio of the sides of a picture
UNEQUAL = 5.0  # if the spreads of two features differ by a larger factor, the axes have different scales
PADDING = (20, 0.65, 0.56)  # half the side of a picture, in spreads: of up to this number of rows, and of more
FEW = 100  # rows for which weights are compared with scores
MOST_VALUES = 2**20  # values of the points of the plane that are scored at a time, because features may be many


def encode(estimator: Any, X: Any, y: Any) -> npt.NDArray[np.intp]:
    """The number of each row's class; refuse labels that the model does not know, and a wrong number of labels."""
    labels = column_or_1d(y)
    check_consistent_length(X, labels)
    return class_labels.encode(labels, np.asarray(estimator.classes_)).astype(np.intp)


def weights(estimator: Any, X: Any) -> tuple[Floats | None, Floats | None]:
    """`coef_` and `intercept_` as arrays with one row a score; None if they do not give the scores of rows.

    Shapes are not enough: SVC(kernel="linear") for three classes also has three weight vectors, one a pair of classes.
    """
    coef, n_classes = getattr(estimator, "coef_", None), len(estimator.classes_)
    if coef is None:
        return None, None
    coef = np.atleast_2d(np.asarray(coef.toarray() if sp.issparse(coef) else coef, dtype=np.float64))
    if coef.shape != (1 if n_classes == 2 else n_classes, X.shape[1]):
        return None, None
    intercept = np.broadcast_to(np.asarray(estimator.intercept_, dtype=np.float64).ravel(), len(coef))
    return (coef, intercept) if n_classes == 2 or _explain(coef, intercept, estimator, X) else (None, None)


def feature_length(estimator: Any) -> float | None:
    """‖w‖ in the feature space of a kernel; None for linear models, votes and models of other libraries."""
    norm = getattr(estimator, "feature_space_norm", None)
    if norm is None:
        return None
    try:
        return float(norm())
    except (AttributeError, ValueError):  # many hypotheses vote, or the kernel has no feature space
        return None


def _explain(coef: Floats, intercept: Floats, estimator: Any, X: Any) -> bool:
    """Whether the weights give the scores of some rows, and the class with the highest score is predicted."""
    some = np.unique(np.linspace(0, X.shape[0] - 1, FEW).astype(np.intp))
    rows = X.iloc[some] if hasattr(X, "iloc") else X[some]
    values = rows if sp.issparse(rows) else np.asarray(rows, dtype=np.float64)
    scores, expected = np.asarray(estimator.decision_function(rows)), np.asarray(values @ coef.T + intercept)
    error = 1e-5 * (abs(values) @ abs(coef).T + abs(intercept))  # single precision, and cancellation in sums
    if scores.shape != expected.shape or (abs(scores - expected) > error).any():
        return False
    predicted = np.searchsorted(estimator.classes_, estimator.predict(rows))
    behind = expected.max(axis=1) - expected[np.arange(len(some)), predicted]
    return bool((behind <= 2 * error.max(axis=1)).all())


def limits_of(points: Floats, normal: Floats | None, offset: float) -> tuple[Limits, bool]:
    """Choose the part of the plane to show: all points, and the boundary if it is not too far away.

    Also says whether both axes have the same scale, so that right angles are seen as such. Points that are spread much
    more along one axis would be a strip: then each axis has its own scale.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    spread = high - low
    equal = bool(spread.max() <= UNEQUAL * spread.min() or spread.min() == 0)
    unit = np.ones(2) if equal else spread  # distances are as they are seen
    size = float((spread / unit).max()) or np.inf  # with a single row, nothing is too far away
    if normal is not None:
        centre, across = (low + high) / 2, normal * unit
        distance = (normal @ centre + offset) / np.linalg.norm(across)
        if abs(distance) < 2 * size:
            foot = centre - distance * unit * across / np.linalg.norm(across)
            low, high = np.minimum(low, foot), np.maximum(high, foot)
    spread = high - low
    if equal:
        spread = np.maximum(spread, SLIM * (spread.max() or 1.0))
    few, wide, narrow = PADDING
    centre, half = (low + high) / 2, (wide if len(points) <= few else narrow) * spread
    (left, bottom), (right, top) = (centre - half).tolist(), (centre + half).tolist()
    return (left, right, bottom, top), equal


def grid(limits: Limits) -> tuple[Floats, Floats]:
    """The coordinates of a grid over the part of the plane that is shown."""
    left, right, bottom, top = limits
    x, y = np.meshgrid(np.linspace(left, right, GRID), np.linspace(bottom, top, GRID))
    return x, y


def fields(
    estimator: Any, plane: Plane, x: Floats, y: Floats, coef: Floats | None, intercept: Floats | None, X: Any
) -> list[Floats]:
    """For each class, a field that is positive where the class is predicted, and smooth if the scores are."""
    points = np.column_stack([x.ravel(), y.ravel()])
    if coef is not None and intercept is not None:
        scores = points @ (coef @ plane.directions.T).T + (coef @ plane.origin + intercept)
        scores = scores[:, 0] if len(coef) == 1 else scores
    else:
        scores = _lifted_scores(estimator, plane, points, X)
    if not scores.any():  # nothing but ties, which the model breaks in the same way everywhere
        winner = estimator.predict(_lifted(plane, points[:1], X))[0]
        return [np.full(x.shape, 1.0 if name == winner else -1.0) for name in estimator.classes_]
    if scores.ndim == 1:
        return [-scores.reshape(x.shape), scores.reshape(x.shape)]
    best = np.sort(scores, axis=1)
    rival = np.where(scores == best[:, -1:], best[:, -2:-1], best[:, -1:])
    return [field.reshape(x.shape) for field in (scores - rival).T]


def _lifted(plane: Plane, points: Floats, X: Any) -> Any:
    """Rows at these points of the plane, of the kind of X."""
    rows = plane.lift(points)
    return type(X)(rows, columns=X.columns) if hasattr(X, "iloc") else rows  # else a model would miss the names


def _lifted_scores(estimator: Any, plane: Plane, points: Floats, X: Any) -> Floats:
    """Score points of the plane; if the highest score does not win, the winner has the score 1, and others 0."""
    n_classes, step = len(estimator.classes_), max(1, MOST_VALUES // len(plane.origin))
    parts: list[Floats] = []
    winners: list[Any] = []
    for start in range(0, len(points), step):
        rows = _lifted(plane, points[start : start + step], X)
        parts.append(np.asarray(estimator.decision_function(rows)))
        if parts[0].ndim > 1:
            winners.append(np.searchsorted(estimator.classes_, estimator.predict(rows)))
    scores = np.concatenate(parts)
    if scores.ndim == 1:
        return scores
    codes = np.concatenate(winners)
    if scores.shape[1] != n_classes or (scores.argmax(axis=1) != codes).mean() > 0.001:
        scores = np.eye(n_classes)[codes]  # scores of pairs of classes: only the winner is known
    return scores
