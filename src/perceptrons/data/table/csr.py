"""Sparse rows from columns: values, indices and row pointers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.parse.columns import fill_ones, fill_values, join, renumber

Csr = tuple[npt.NDArray[np.float64], npt.NDArray[np.uint32], npt.NDArray[np.uint64]]
Whole = npt.NDArray[np.int64]


def nonzeros(X: npt.NDArray[np.float64]) -> Csr:
    """Convert a dense matrix to CSR arrays, without zeros."""
    return _filled(X.size, len(X), fill_values, X, False)


def present(X: npt.NDArray[np.float64]) -> Csr:
    """Convert a dense matrix to CSR arrays. Zeros are kept; NaN stands for no value."""
    return _filled(X.size, len(X), fill_values, X, True)


def ones(features: npt.NDArray[np.uint32]) -> Csr:
    """Make CSR arrays that count the features which each row of the matrix names; NONE names no feature."""
    return _filled(features.size, len(features), fill_ones, features)


def _filled(size: int, n_rows: int, fill: Any, *args: Any) -> Csr:
    """CSR arrays of at most `size` values."""
    values, indices = np.empty(size), np.empty(size, dtype=np.uint32)
    indptr = np.empty(n_rows + 1, dtype=np.uint64)
    fill(*args, values, indices, indptr)
    end = int(indptr[-1])
    return (values, indices, indptr) if end == size else (values[:end].copy(), indices[:end].copy(), indptr)


def beside(one: Csr, two: Csr) -> Csr:
    """Join two matrices with the same rows; features of the second come after those of the first."""
    size = one[0].size + two[0].size
    values, indices = np.empty(size), np.empty(size, dtype=np.uint32)
    join(*one, *two, values, indices)
    return values, indices, one[2] + two[2]


def compact(codes: Whole, size: int) -> tuple[Whole, Whole]:
    """Renumber codes below `size` in the order in which they occur; returns the new codes, and the old code of each."""
    new, old, found = np.full(size, -1, dtype=np.int64), np.empty(size, dtype=np.int64), np.empty_like(codes)
    count = int(renumber(codes, new, old, found))
    return found, old[:count].copy()
