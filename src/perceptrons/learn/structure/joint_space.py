"""The spaces of features φ(x, y) of structures, by name or by number, and the weights in them.

A space keeps w and, for the averaged readout, u = Σ t·δ_t, where δ_t is the step made at example t. The cost of a step
is proportional to its non-zero entries. Steps since `mark` can be undone exactly: old values are saved before they
change.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from perceptrons.data.sparse import check_sparse, csr_parts

Floats = npt.NDArray[np.float64]
EVERYWHERE = slice(None)


class Unfit(Exception):
    """Not a vector of features: the message says what was returned, and what to return."""


class Weights(dict[Any, float]):
    """Weights by feature name; unknown names weigh 0.

    >>> weights = Weights({"the/DET": 2.0})
    >>> weights["the/DET"], weights["the/NOUN"], weights.get("the/NOUN"), len(weights)
    (2.0, 0.0, 0.0, 1)
    """

    def __missing__(self, name: Any) -> float:
        return 0.0

    def get(self, name: Any, default: Any = 0.0) -> Any:
        return super().get(name, default)


class ByName:
    """Features are a dict of names and values."""

    def __init__(self) -> None:
        self.w = Weights()
        self.u: dict[Any, float] = {}
        self.old: dict[Any, tuple[float | None, float | None]] = {}

    @property
    def weights(self) -> Weights:
        """The weights for a search: w itself."""
        return self.w

    def read(self, features: Any) -> dict[Any, float]:
        """The features as floats."""
        if not isinstance(features, dict):
            raise Unfit(f"{described(features)}, but a dict before: return one kind for all structures")
        for name, value in features.items():
            if not isinstance(value, Real | np.bool_):
                raise Unfit(f"a {type(value).__name__} for {name!r}: values must be numbers")
            if not math.isfinite(value):
                raise Unfit(f"{value} for {name!r}: values must be finite")
        return {name: float(value) for name, value in features.items()}

    def difference(self, gold: dict[Any, float], predicted: dict[Any, float]) -> tuple[Any, float]:
        """The non-zero entries of Δφ, and ‖Δφ‖²."""
        delta = dict(gold)
        for name, value in predicted.items():
            delta[name] = delta.get(name, 0.0) - value
        delta = {name: value for name, value in delta.items() if value}
        return delta, sum(value * value for value in delta.values())

    def dot(self, delta: dict[Any, float]) -> float:
        """w·Δφ."""
        w = self.w
        return sum(w[name] * value for name, value in delta.items())

    def size(self, features: dict[Any, float]) -> float:
        """Σ|w_j·φ_j|; the rounding error of a score is proportional to it."""
        w = self.w
        return sum(abs(w[name] * value) for name, value in features.items())

    def move(self, delta: dict[Any, float], step: float, at: float) -> bool:
        """w += step·Δφ, u += at·step·Δφ; returns whether all changed entries are finite."""
        w, u, old, total = self.w, self.u, self.old, 0.0
        for name, value in delta.items():
            if name not in old:
                old[name] = dict.get(w, name), u.get(name)
            w[name] += step * value
            u[name] = u.get(name, 0.0) + at * step * value
            total += abs(w[name]) + abs(u[name])
        return math.isfinite(total)

    def averaged(self, total: float) -> Weights:
        """The mean of w over all examples: ((T + 1)·w − u)/T."""
        return Weights({name: ((total + 1) * value - self.u[name]) / total for name, value in self.w.items()})

    def last(self) -> Weights:
        return Weights(self.w)

    def norm(self) -> float:
        """‖w‖."""
        return math.hypot(*self.w.values())

    def mark(self) -> None:
        """Mark the current weights, for `back`."""
        self.old.clear()

    def back(self) -> None:
        """Undo all steps since the mark."""
        for name, values in self.old.items():
            for table, value in zip((self.w, self.u), values, strict=True):
                if value is None:
                    table.pop(name, None)
                else:
                    table[name] = value
        self.old.clear()


class Vector(NamedTuple):
    """Features by number: values at some places, or everywhere. In a difference, places are distinct."""

    where: Any  # an array of numbers of features, or EVERYWHERE
    values: Floats


class ByNumber:
    """Features are a 1-D array, or a sparse row, of one length for all structures."""

    def __init__(self, n_features: int) -> None:
        self.w: Floats = np.zeros(n_features)
        self.u: Floats = np.zeros(n_features)
        self.old: list[tuple[Any, Floats, Floats]] = []

    @classmethod
    def like(cls, features: Any) -> Self:
        """The space of these features."""
        if not hasattr(features, "shape"):
            raise Unfit(described(features))
        return cls(_width(features))

    @property
    def weights(self) -> Floats:
        """The weights for a search: a read-only view of w."""
        return read_only(self.w.view())

    def read(self, features: Any) -> Vector:
        """The features as floats; of a sparse row, with their places."""
        if isinstance(features, dict) or not hasattr(features, "shape"):
            raise Unfit(f"{described(features)}, but an array before: return one kind for all structures")
        n_features = _width(features)
        if n_features != len(self.w):
            raise Unfit(f"{n_features} features, but {len(self.w)} before: return the same number for all structures")
        vector = _sparse_row(features) if hasattr(features, "tocsr") else Vector(EVERYWHERE, _floats(features))
        if not np.isfinite(vector.values).all():
            at = int(np.flatnonzero(~np.isfinite(vector.values))[0])
            number = at if vector.where is EVERYWHERE else int(vector.where[at])
            raise Unfit(f"{vector.values[at]} for feature {number}: values must be finite")
        return vector

    @np.errstate(over="ignore", invalid="ignore")  # the learner checks for overflow
    def difference(self, gold: Vector, predicted: Vector) -> tuple[Any, float]:
        """Δφ and ‖Δφ‖²."""
        if gold.where is EVERYWHERE or predicted.where is EVERYWHERE:
            delta = Vector(EVERYWHERE, self._dense(gold) - self._dense(predicted))
        else:
            places, back = np.unique(np.concatenate([gold.where, predicted.where]), return_inverse=True)
            values: Any = np.bincount(back, np.concatenate([gold.values, -predicted.values]), len(places))
            kept = values != 0
            delta = Vector(places[kept], values[kept])
        return delta, float(delta.values @ delta.values)

    def _dense(self, vector: Vector) -> Floats:
        if vector.where is EVERYWHERE:
            return vector.values
        dense: Any = np.bincount(vector.where, vector.values, len(self.w))
        return np.asarray(dense, dtype=np.float64)

    @np.errstate(over="ignore", invalid="ignore")  # the learner checks for overflow
    def dot(self, delta: Vector) -> float:
        """w·Δφ."""
        return float(self.w[delta.where] @ delta.values)

    def size(self, features: Vector) -> float:
        """Σ|w_j·φ_j|; the rounding error of a score is proportional to it."""
        return float(np.abs(self.w[features.where]) @ np.abs(features.values))

    @np.errstate(over="ignore", invalid="ignore")  # the learner checks for overflow
    def move(self, delta: Vector, step: float, at: float) -> bool:
        """w += step·Δφ, u += at·step·Δφ; returns whether all changed entries are finite."""
        where = delta.where
        w, u = self.w[where], self.u[where]
        if not self.old or self.old[-1][0] is not EVERYWHERE:  # otherwise everything is saved already
            self.old.append((where, w.copy(), u.copy()) if where is EVERYWHERE else (where, w, u))
        w, u = w + step * delta.values, u + at * step * delta.values
        self.w[where], self.u[where] = w, u
        return bool(np.isfinite(w).all() and np.isfinite(u).all())

    def averaged(self, total: float) -> Floats:
        """The mean of w over all examples: ((T + 1)·w − u)/T."""
        return read_only(((total + 1) * self.w - self.u) / total)

    def last(self) -> Floats:
        return read_only(self.w.copy())

    def norm(self) -> float:
        """‖w‖."""
        return float(np.linalg.norm(self.w))

    def mark(self) -> None:
        """Mark the current weights, for `back`."""
        self.old.clear()

    def back(self) -> None:
        """Undo all steps since the mark."""
        for where, w, u in reversed(self.old):
            self.w[where], self.u[where] = w, u
        self.old.clear()


def described(features: Any) -> str:
    """A short description of a value, for error messages."""
    return f"a {type(features).__name__}" if features is not None else "None"


def read_only(array: Floats) -> Floats:
    array.flags.writeable = False
    return array


def _width(features: Any) -> int:
    """The length of a 1-D array, or of a sparse row."""
    shape = features.shape
    if len(shape) == 1 or (len(shape) == 2 and shape[0] == 1 and hasattr(features, "tocsr")):
        return int(shape[-1])
    raise Unfit(f"a {type(features).__name__} of shape {shape}: return one vector, for instance array.ravel()")


def _sparse_row(features: Any) -> Vector:
    """The values of a sparse row, and their places."""
    try:
        check_sparse(features, "the sparse row")
        values, indices, _ = csr_parts(features.tocsr())
    except ValueError as error:
        raise Unfit(str(error)) from None
    return Vector(indices.astype(np.intp), _floats(values))


def _floats(values: Any) -> Floats:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise Unfit(f"an array of {array.dtype}: values must be numbers")
    return array.astype(np.float64, copy=False)
