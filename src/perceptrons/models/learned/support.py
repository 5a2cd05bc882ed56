"""Learned attributes of a kernel perceptron: support rows, coefficients, lengths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptrons.data.arrays import Rows
from perceptrons.learn.kernel.expansion import Expansion

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


def order(learner: Expansion) -> Array:
    """The order of support rows: by class, then by number."""
    return np.lexsort((learner.state["numbers"], learner.state["codes"]))


def vectors(learner: Expansion, n_features: int) -> Any:
    """The support rows in that order, dense or CSR; empty for a precomputed kernel."""
    if learner.space.kernel == "precomputed":
        return np.empty((0, 0))
    pieces = [piece.matrix() for piece in learner.support.pieces]
    if not pieces:
        return np.empty((0, n_features))
    if any(map(sp.issparse, pieces)):
        return sp.vstack(pieces, format="csr")[order(learner)]
    return np.vstack(pieces)[order(learner)]


def lines(learner: Expansion) -> Floats:
    """Coefficients of the readout, one line per weight vector."""
    if learner.readout.by_vote:
        name = learner.readout.name
        raise AttributeError(f"readout={name!r} has no dual_coef_ and no intercept_: many hypotheses vote")
    coef = learner.weights
    return np.asarray(coef[np.newaxis] if coef.ndim == 1 else coef.T)


def refuse_precomputed(learner: Expansion) -> None:
    if learner.space.kernel == "precomputed":
        raise ValueError("kernel='precomputed' has no kernel function: use the matrix that you passed to fit")


def kernel_matrix(learner: Expansion, rows: Rows, others: Rows | None) -> Floats:
    """k(x, x′) of all rows with the others, or with each other, in float64, without the 1 that the bias adds."""
    space = replace(learner.space, bias=0.0)
    rows = rows.widened()
    if others is not None:
        return np.asarray(space.products(rows, others.widened()), dtype=np.float64)
    first = rows.first_of_equals()
    K = np.triu(space.products(rows, rows)[np.ix_(first, first)])
    return np.asarray(K + np.triu(K, 1).T)


def length(learner: Expansion, kernel: Any) -> float:
    """‖w‖ in the kernel's feature space, over all classes and without the bias."""
    coef = lines(learner)
    square, error = learner.sq_length(coef.T if len(coef) > 1 else coef[0])
    if not learner.space.definite or square + error < 0.0:
        raise ValueError(
            f"kernel={kernel!r} is not positive semi-definite with these parameters: there is no feature space in "
            "which w has a length"
        )
    intercept = coef.sum(axis=1) * learner.bias
    return float(np.sqrt(max(0.0, square - float((intercept**2).sum()))))


def check_matrix(rows: Rows) -> None:
    """Raise an error unless this is a kernel matrix of all training rows: dense, square, symmetric up to rounding."""
    if rows.indices is not None:
        raise ValueError("kernel='precomputed' needs a dense kernel matrix, got a sparse one")
    K = rows.values
    if len(rows) != rows.n_features:
        raise ValueError(f"kernel='precomputed' needs the square matrix of all training rows, got {K.shape}")
    slack = 1000.0 * float(np.finfo(K.dtype).eps) * float(np.abs(np.diagonal(K)).max())
    for top in range(0, len(K), 256):
        apart = np.abs(K[top : top + 256] - K[:, top : top + 256].T)
        if apart.max() > slack:
            i, j = np.unravel_index(int(apart.argmax()), apart.shape)
            row = top + int(i)
            raise ValueError(
                f"a kernel matrix must be symmetric, got {K[row, j]} at row {row}, column {j} and {K[j, row]} at "
                f"row {j}, column {row}. For rows other than the training rows, use predict."
            )
    negative = np.flatnonzero(np.diagonal(K) < 0)
    if negative.size:
        row = int(negative[0])
        raise ValueError(f"the diagonal of a kernel matrix must be >= 0, got {K[row, row]} at row {row}")
