"""Which class is predicted where: what a boundary picture computes before it draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptrons.plots.plane import Plane

Floats = npt.NDArray[np.float64]
GRID = 150  # points of a side of the grid that regions are computed on
SLIM = 0.45  # the shorter side of a picture is at least this part of the longer
UNEQUAL = 30.0  # where one feature spreads so many times as far as the other, axes of one scale would show a line


def weights(estimator: Any) -> tuple[Floats | None, Floats | None]:
    """`coef_` and `intercept_` as arrays with one row a score; None where there are none, or only zeros."""
    coef = getattr(estimator, "coef_", None)
    if coef is None:
        return None, None
    coef = coef.toarray() if sp.issparse(coef) else np.atleast_2d(np.asarray(coef, dtype=np.float64))
    intercept = np.broadcast_to(np.asarray(estimator.intercept_, dtype=np.float64), len(coef))
    return (coef, intercept) if coef.any() else (None, None)


def limits_of(points: Floats, normal: Floats | None, offset: float) -> tuple[float, float, float, float]:
    """The part of the plane to show: all points, and the boundary if it is not too far off."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = float((high - low).max()) or np.inf  # a single row says nothing about what is far
    if normal is not None:
        centre = (low + high) / 2
        distance = normal @ centre + offset
        if abs(distance) < 2 * size:
            foot = centre - distance * normal
            low, high = np.minimum(low, foot), np.maximum(high, foot)
    spread = high - low
    if spread.min() == 0 or spread.max() / spread.min() <= UNEQUAL:
        spread = np.maximum(spread, SLIM * (spread.max() or 1.0))
    centre, half = (low + high) / 2, 0.56 * spread
    (left, bottom), (right, top) = (centre - half).tolist(), (centre + half).tolist()
    return left, right, bottom, top


def grid(limits: tuple[float, float, float, float]) -> tuple[Floats, Floats]:
    """Coordinates of points all over the part of the plane that is shown."""
    left, right, bottom, top = limits
    x, y = np.meshgrid(np.linspace(left, right, GRID), np.linspace(bottom, top, GRID))
    return x, y


def fields(
    estimator: Any, plane: Plane, x: Floats, y: Floats, normal: Floats | None, offset: float, X: Any
) -> list[Floats]:
    """For each class what is positive where it is predicted, and smooth where the scores allow it."""
    points = np.column_stack([x.ravel(), y.ravel()])
    shape, classes = x.shape, np.asarray(estimator.classes_)
    if normal is not None:
        score = (points @ normal + offset).reshape(shape)
        return [-score, score]
    rows: Any = plane.lift(points)
    if hasattr(X, "iloc"):  # a pandas data frame: the model knows the features by name
        rows = type(X)(rows, columns=X.columns)
    scores = np.asarray(estimator.decision_function(rows))
    if scores.ndim == 1:
        return [-scores.reshape(shape), scores.reshape(shape)]
    codes = np.searchsorted(classes, estimator.predict(rows))
    if scores.shape[1] != len(classes) or (scores.argmax(axis=1) != codes).mean() > 0.001:
        scores = np.eye(len(classes))[codes]  # scores of pairs of classes: all that is known is who wins
    best = np.sort(scores, axis=1)
    rival = np.where(scores == best[:, -1:], best[:, -2:-1], best[:, -1:])
    return [field.reshape(shape) for field in (scores - rival).T]
