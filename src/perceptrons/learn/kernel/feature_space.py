"""A kernel's feature space: inner products φ(x)·φ(x′) = k(x, x′) of rows, in blocks by BLAS.

A kernel is one formula and one line in KERNELS. A formula changes a block of x·x′ in place (for the Laplacian, of
‖x − x′‖₁); a and b are the squared lengths of the rows, as a column, and of the others, as a line. The constant feature
of the bias adds 1 to every value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptrons.core.kernel.distances import gaussian_exponents, manhattan, sparse_manhattan
from perceptrons.data import Rows, as_rows

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
DENSE = 0.1  # share of non-zeros above which a product with a dense matrix is faster than one of sparse matrices
SHORT = 100.0  # largest γ‖x‖² for which squared distances in float32 are accurate enough for exp(−γ‖x − x′‖²)
VALUES = 1 << 20  # values that are widened to float64 at a time
LARGE = 80.0  # logarithm of the largest power that is computed in float32
DIAGONAL = 64  # rows per call of a user's function when only k(x, x) is needed


def linear(block: Array, a: Array, b: Array, space: FeatureSpace) -> None:
    """k = x·x′."""


def poly(block: Array, a: Array, b: Array, space: FeatureSpace) -> None:
    """k = (γ·x·x′ + c)^degree."""
    block *= space.gamma
    block += space.coef0
    power(block, space.degree)


def rbf(block: Array, a: Array, b: Array, space: FeatureSpace) -> None:
    """k = exp(−γ‖x − x′‖²)."""
    gaussian_exponents(block, a[:, 0], b, block.dtype.type(space.gamma))
    np.exp(block, out=block)


def sigmoid(block: Array, a: Array, b: Array, space: FeatureSpace) -> None:
    """k = tanh(γ·x·x′ + c). Not positive semi-definite: there is no feature space, and nothing is proved."""
    block *= space.gamma
    block += space.coef0
    np.tanh(block, out=block)


def cosine(block: Array, a: Array, b: Array, space: FeatureSpace) -> None:
    """k = x·x′/(‖x‖‖x′‖), 0 for a row of zeros."""
    for squares in (a, b):
        block /= np.sqrt(np.where(squares > 0, squares, 1.0))


def laplacian(block: Array, a: Array, b: Array, space: FeatureSpace) -> None:
    """k = exp(−γ‖x − x′‖₁)."""
    block *= -space.gamma
    np.exp(block, out=block)


KERNELS: dict[str, Callable[..., None]] = {
    "linear": linear,
    "poly": poly,
    "rbf": rbf,
    "sigmoid": sigmoid,
    "cosine": cosine,
    "laplacian": laplacian,
}


def power(block: Array, degree: int) -> None:
    """block^degree by squaring, in place: six times as fast as NumPy's power for degree 4."""
    if degree == 0:
        block[:] = 1.0
        return
    base = block.copy() if degree & (degree - 1) else block
    for bit in bin(degree)[3:]:
        np.multiply(block, block, out=block)
        if bit == "1":
            block *= base


@dataclass(frozen=True)
class FeatureSpace:
    """A kernel with its parameters, and the constant feature of the bias (1, or 0 for none).

    kernel: a name in KERNELS, "precomputed", or a function of two matrices. Precomputed rows are lines of the kernel
    matrix, and support rows are stored as numbers of columns.
    """

    kernel: Any = "rbf"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0
    bias: float = 1.0

    @property
    def definite(self) -> bool:
        """Whether there is a feature space, in which margins and bounds have a meaning.

        Users' own kernels are assumed to be positive semi-definite.
        """
        return self.kernel != "sigmoid" and (self.kernel != "poly" or self.coef0 >= 0)

    def members(self, rows: Rows, where: Array) -> Rows:
        """Copy some rows, to be the second argument of `products`."""
        if self.kernel == "precomputed":
            numbers = where.astype(np.float64)[:, np.newaxis]
            return Rows(numbers, None, None, 1, np.zeros(len(where)))
        return rows.take(where)

    def among(self, rows: Rows, where: Array) -> Rows:
        """These rows, which came from `where`, for products with each other."""
        if self.kernel == "precomputed":
            return Rows(rows.values[:, where], None, None, len(where), rows.sq_norm)
        return rows

    def products(self, rows: Rows, others: Rows) -> Array:
        """k(x, x′) + bias for all rows x and members x′; in float32 if both are float32 and that is accurate enough."""
        if self.kernel == "precomputed":
            if rows.indices is not None:
                raise ValueError("kernel='precomputed' needs a dense kernel matrix, got a sparse one")
            block = rows.values[:, others.values[:, 0].astype(np.intp)]
        elif callable(self.kernel):
            block = self._asked(rows, others)
        else:
            if self.kernel == "laplacian":
                block = _manhattan(rows, others)
            else:
                block = _dot(rows, others, wide=self._wide(rows, others))
            a, b = (part.sq_norm.astype(block.dtype) for part in (rows, others))
            with np.errstate(over="ignore"):
                KERNELS[self.kernel](block, a[:, np.newaxis], b, self)
        if self.bias:
            block += block.dtype.type(self.bias)
        return np.asarray(block)

    def _wide(self, rows: Rows, others: Rows) -> bool:
        """Whether float32 is not accurate enough: distances cancel, or powers overflow."""
        longest = max(float(part.sq_norm.max(initial=0.0)) for part in (rows, others))
        if self.kernel == "poly":
            return self.degree * math.log(abs(self.gamma) * longest + abs(self.coef0) + 1.0) > LARGE
        return self.kernel == "rbf" and self.gamma * longest > SHORT

    def value_type(self, rows: Rows) -> np.dtype[Any]:
        """The type that holds the kernel values of these rows with each other."""
        wide = callable(self.kernel) or (self.kernel == "poly" and self._wide(rows, rows))
        return np.dtype(np.float64) if wide else rows.values.dtype

    def columns(self, rows: Rows, members: Rows) -> Array:
        """The values of `products`, one line per member."""
        return self.products(rows, members).T if self.kernel == "precomputed" else self.products(members, rows)

    def _asked(self, rows: Rows, others: Rows) -> Array:
        """A copy of the values of a user's function."""
        expected = (len(rows), len(others))
        try:
            values = self.kernel(_plain(rows), _plain(others))
        except Exception as error:
            raise ValueError(
                f"kernel failed for two matrices, of {expected[0]} and {expected[1]} rows: it must accept matrices "
                f"of rows and return the matrix of their kernel values ({error})"
            ) from error
        block = np.array(values.toarray() if sp.issparse(values) else values, dtype=np.float64)
        if block.shape != expected:
            raise ValueError(f"kernel must return an array of shape {expected} for these rows, got {block.shape}")
        if not np.isfinite(block).all():
            raise ValueError("kernel must return finite numbers, got NaN or infinity")
        return block

    def sq_norm(self, rows: Rows) -> Floats:
        """‖φ(x)‖² = k(x, x), with the constant feature, of each row."""
        squares = rows.sq_norm
        with np.errstate(over="ignore"):
            if self.kernel == "precomputed":
                own = np.diagonal(rows.values).astype(np.float64)
            elif callable(self.kernel):
                parts = [rows.part(top, top + DIAGONAL) for top in range(0, len(rows), DIAGONAL)]
                own = np.concatenate([np.diagonal(self._asked(part, part)) for part in parts])
            elif self.kernel in ("rbf", "laplacian"):
                own = np.ones(len(rows))
            elif self.kernel == "cosine":
                own = (squares > 0).astype(np.float64)
            else:
                own = squares.copy()
                KERNELS[self.kernel](own, squares, squares, self)
        if not np.isfinite(own).all():
            row = int(np.flatnonzero(~np.isfinite(own))[0])
            raise ValueError(
                f"the kernel of row {row} with itself overflows float64. Rescale the features, for instance with "
                "StandardScaler, or choose a smaller gamma or degree."
            )
        return np.asarray(np.maximum(own + self.bias, 0.0))

    def error(self, n_features: int, sq_radius: float) -> float:
        """An upper bound on the rounding error of `products` in float64, for rows with ‖x‖² ≤ sq_radius.

        A sum of d products has an error of at most (d + 1)·u·‖x‖‖x′‖ (Higham 2002, §3.1). A formula multiplies it by
        its slope, and adds a few roundings of its own. Users' own kernels are taken as exact.
        """
        unit = (n_features + 8) * np.finfo(np.float64).eps
        if self.kernel == "precomputed" or callable(self.kernel):
            return 0.0
        if self.kernel in ("rbf", "cosine"):  # slope γ of the exponential, and four terms
            return unit * (4.0 * self.gamma * sq_radius + 8.0 if self.kernel == "rbf" else 8.0)
        if self.kernel == "laplacian":  # the sums of sparse rows cancel, with ‖x‖₁ ≤ √d·‖x‖
            return unit * (4.0 * self.gamma * float(np.sqrt(n_features * sq_radius)) + 8.0)
        if self.kernel == "linear":
            return unit * sq_radius
        size = abs(self.gamma) * sq_radius + abs(self.coef0)
        if self.kernel == "sigmoid":
            return 8.0 * unit * (1.0 + size)
        with np.errstate(over="ignore"):
            return float(unit * (8.0 + 2.0 * self.degree) * np.float64(size) ** self.degree)


def _dot(rows: Rows, others: Rows, wide: bool) -> Array:
    """x·x′ of all pairs, in a new array; in float64 if `wide`."""
    x, y = rows.matrix(), others.matrix()
    kind = np.float64 if wide else np.result_type(x.dtype, y.dtype)
    x, y = x.astype(kind, copy=False), y.astype(kind, copy=False)
    if sp.issparse(y) and (not sp.issparse(x) or others.touched > DENSE * len(others) * others.n_features):
        y = y.toarray()
    if sp.issparse(y):
        return np.asarray((x @ y.T).toarray())
    return np.asarray(x @ y.T)


def _plain(rows: Rows) -> Any:
    """The rows as SciPy needs them: indices and pointers of a sparse matrix have one type."""
    matrix = rows.matrix()
    if sp.issparse(matrix):
        matrix.indptr = matrix.indptr.astype(matrix.indices.dtype)
    return matrix


def _manhattan(rows: Rows, others: Rows) -> Array:
    """‖x − x′‖₁ of all pairs."""
    out = np.empty((len(rows), len(others)), dtype=np.result_type(rows.values.dtype, others.values.dtype))
    if rows.indices is not None and others.indices is not None:
        sparse_manhattan(*rows.arrays, *others.arrays, np.zeros(rows.n_features), out)
    else:
        lines = (_dense(part) for part in (rows, others))
        manhattan(*lines, out)
    return out


def _dense(rows: Rows) -> Array:
    return rows.values if rows.indices is None else as_rows(rows.matrix().toarray()).values


def resolved(kernel: Any, gamma: Any, degree: int, coef0: float, bias: float, rows: Rows) -> FeatureSpace:
    """The feature space for rows like these. As in SVC, "scale" is γ = 1/(n_features·variance of all values)."""
    if isinstance(gamma, str):
        variance = _variance(rows)
        scale = 1.0 / (rows.n_features * variance) if gamma == "scale" and variance > 0 else 1.0
        gamma = scale if gamma == "scale" else 1.0 / rows.n_features
    return FeatureSpace(kernel, float(gamma), int(degree), float(coef0), bias)


def _variance(rows: Rows) -> float:
    """The variance of all values, including the zeros of sparse rows."""
    n = len(rows) * rows.n_features
    values = rows.values.ravel()
    mean = float(values.sum(dtype=np.float64)) / n
    total = (n - values.size) * mean * mean
    for begin in range(0, values.size, VALUES):
        total += float(np.square(values[begin : begin + VALUES] - np.float64(mean)).sum())
    return total / n
