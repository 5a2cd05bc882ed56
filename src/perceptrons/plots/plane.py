"""Choose the plane in which to draw rows with any number of features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Floats = npt.NDArray[np.float64]
MOST_ROWS = 100_000  # the directions of spread are computed from a sample of at most this size


class Plane(NamedTuple):
    """A plane through `origin`, spanned by two directions of length 1 at right angles."""

    origin: Floats  # (d,)
    directions: Floats  # (2, d)
    names: tuple[str, str]  # labels of the axes

    def project(self, X: Any) -> Floats:
        """Project rows onto the plane: their coordinates in it."""
        return np.asarray(X @ self.directions.T - self.directions @ self.origin)

    def lift(self, points: Floats) -> Floats:
        """Rows at these coordinates of the plane."""
        return self.origin + points @ self.directions


def choose(X: Any, names: list[str], coef: Floats | None, intercept: Floats | None, n_classes: int) -> Plane:
    """Choose the plane to show.

    With two features it is their plane. With more features it depends on the model. Two classes: the main direction of
    spread across w, and w itself, so that the second coordinate is the distance from the boundary. Several classes: the
    two main directions in which their weights differ. Without weights: the two main directions of spread.
    """
    d = X.shape[1]
    if d <= 2:
        return Plane(np.zeros(d), np.eye(2, d), (names[0], names[1] if d == 2 else ""))
    X = X[:: -(-X.shape[0] // MOST_ROWS)]
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    if coef is not None and intercept is not None and n_classes == 2:
        length = np.linalg.norm(coef[0])
        along = coef[0] / length
        directions = np.array([_main_direction(X, mean, along[np.newaxis]), along])
        origin = mean - (mean @ along + intercept[0] / length) * along
        titles = ("along the boundary", "distance from the boundary")
    elif coef is not None and n_classes > 2:
        directions = np.linalg.svd(coef - coef.mean(axis=0), full_matrices=False)[2][:2]
        origin = mean
        titles = ("1st direction between classes", "2nd direction between classes")
    else:
        first = _main_direction(X, mean, np.empty((0, d)))
        directions = np.array([first, _main_direction(X, mean, first[np.newaxis])])
        origin = mean
        titles = ("1st principal component", "2nd principal component")
    one, two = (
        f"{title}, {_percent(share)} of variance"
        for title, share in zip(titles, _shares(X, mean, directions), strict=True)
    )
    return Plane(origin, directions, (one, two))


def _percent(share: float) -> str:
    """Format a share: 35 %, 0.2 %, < 0.01 %.

    >>> _percent(0.351), _percent(0.002), _percent(1e-9), _percent(0.0)
    ('35 %', '0.2 %', '< 0.01 %', '0 %')
    """
    if 0 < share < 0.0001:
        return "< 0.01 %"
    return f"{100 * share:.0f} %" if share >= 0.01 else f"{100 * share:.1g} %"


def _main_direction(X: Any, mean: Floats, across: Floats, turns: int = 100) -> Floats:
    """Find the direction of most variance at right angles to the rows of `across`, by the power method.

    If it has not converged after `turns` iterations, other directions have as much variance.
    """

    def straight(v: Floats) -> Floats:
        for _ in range(2):  # the second time removes rounding errors
            v = v - across.T @ (across @ v)
        length = np.linalg.norm(v)
        return v / length if length > 0 else v

    start = v = straight(np.random.default_rng(0).normal(size=X.shape[1]))
    for _ in range(turns):
        scores = X @ v - mean @ v
        v = straight(np.asarray(X.T @ scores, dtype=np.float64) - mean * scores.sum())
        if not v.any():  # there is no spread
            return start
    return v


def _shares(X: Any, mean: Floats, directions: Floats) -> Floats:
    """The share of the variance along each direction."""
    if sp.issparse(X):
        total = float(X.multiply(X).sum() / X.shape[0] - mean @ mean)
    else:
        total = float(np.var(X, axis=0, dtype=np.float64).sum())
    along = np.var(np.asarray(X @ directions.T), axis=0)
    return along / total if total > 0 else np.ones(2)
