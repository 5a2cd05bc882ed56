"""Turn columns into rows: a matrix of numbers, or sparse rows of numbers, categories and hashed features."""

from __future__ import annotations

from functools import partial

import numpy as np

from perceptrons.core.jit.compiled import Compiled, Filling
from perceptrons.core.parse.bits import U, double_at

ONE = U(1)
NONE = np.uint32(0xFFFFFFFF)  # in place of a feature's number: there is none
STRIP = U(64)  # rows that are written at a time, few enough to stay in the processor's cache


@partial(Filling, lambda addresses, n: (int(n), addresses.size))
def matrix(addresses, n, X):
    """Copy columns of n float64 each into a C-ordered matrix; `addresses` tell where each column begins in memory."""
    for begin in range(U(0), n, STRIP):
        end = min(begin + STRIP, n)
        for j in range(U(addresses.size)):
            for i in range(begin, end):
                X[i, j] = double_at(addresses[j] + i * U(8))


@Compiled
def nonzeros(X):
    """Convert a dense matrix to CSR arrays: values, indices, indptr."""
    indptr = np.zeros(X.shape[0] + 1, dtype=np.uint64)
    for i in range(U(X.shape[0])):
        count = U(0)
        for j in range(U(X.shape[1])):
            count += U(X[i, j] != 0.0)
        indptr[i + ONE] = indptr[i] + count
    values, indices = np.empty(indptr[-1]), np.empty(indptr[-1], dtype=np.uint32)
    at = U(0)
    for i in range(U(X.shape[0])):
        for j in range(U(X.shape[1])):
            if X[i, j] != 0.0:
                values[at], indices[at] = X[i, j], j
                at += ONE
    return values, indices, indptr


@Compiled
def present(X):
    """Convert a dense matrix to CSR arrays: values, indices, indptr. Zeros are kept; NaN stands for no value."""
    indptr = np.zeros(X.shape[0] + 1, dtype=np.uint64)
    for i in range(U(X.shape[0])):
        count = U(0)
        for j in range(U(X.shape[1])):
            count += U(X[i, j] == X[i, j])
        indptr[i + ONE] = indptr[i] + count
    values, indices = np.empty(indptr[-1]), np.empty(indptr[-1], dtype=np.uint32)
    at = U(0)
    for i in range(U(X.shape[0])):
        for j in range(U(X.shape[1])):
            if X[i, j] == X[i, j]:
                values[at], indices[at] = X[i, j], j
                at += ONE
    return values, indices, indptr


@Compiled
def compact(codes, size):
    """Renumber codes below `size` in the order in which they occur; returns the new codes, and the old code of each."""
    new, old, found = np.full(size, -1, dtype=np.int64), np.empty(size, dtype=np.int64), np.empty_like(codes)
    count = 0
    for i in range(U(codes.size)):
        code = U(codes[i])
        if new[code] < 0:
            new[code], old[count] = count, codes[i]
            count += 1
        found[i] = new[code]
    return found, old[:count].copy()


@Compiled
def ones(features):
    """Make CSR arrays that count the features which each row of the matrix names."""
    n, width = U(features.shape[0]), U(features.shape[1])
    values, indices = np.empty(n * width), np.empty(n * width, dtype=np.uint32)
    indptr = np.zeros(n + ONE, dtype=np.uint64)
    end = U(0)
    for i in range(n):
        begin = end
        for c in range(width):
            feature = features[i, c]
            if feature == NONE:
                continue
            at = end  # insertion sort: there are few columns
            while at > begin and indices[at - ONE] > feature:
                at -= ONE
            if at > begin and indices[at - ONE] == feature:
                values[at - ONE] += 1.0
                continue
            for k in range(end - at):
                indices[end - k], values[end - k] = indices[end - k - ONE], values[end - k - ONE]
            indices[at], values[at] = feature, 1.0
            end += ONE
        indptr[i + ONE] = end
    return values[:end].copy(), indices[:end].copy(), indptr


@Compiled
def beside(values, indices, indptr, more_values, more_indices, more_indptr):
    """Join the CSR arrays of two matrices side by side; features of the second come after those of the first."""
    joined_values = np.empty(values.size + more_values.size)
    joined_indices = np.empty(values.size + more_values.size, dtype=np.uint32)
    at = U(0)
    for i in range(U(indptr.size) - ONE):
        for k in range(indptr[i], indptr[i + ONE]):
            joined_values[at], joined_indices[at] = values[k], indices[k]
            at += ONE
        for k in range(more_indptr[i], more_indptr[i + ONE]):
            joined_values[at], joined_indices[at] = more_values[k], more_indices[k]
            at += ONE
    return joined_values, joined_indices, indptr + more_indptr
