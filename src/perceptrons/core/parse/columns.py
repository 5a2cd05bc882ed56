"""Turn columns into rows: a matrix of numbers, or sparse rows of numbers, categories and hashed features.

The functions fill arrays of their callers (`perceptrons.data.table.csr`), so that commands can call them without Numba.
"""

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
def fill_values(X, zeros, values, indices, indptr):
    """Convert a dense matrix to CSR arrays; fills the last three. NaN is no value; `zeros`: whether 0 is kept."""
    at = U(0)
    for i in range(U(X.shape[0])):
        indptr[i] = at
        for j in range(U(X.shape[1])):
            if X[i, j] == X[i, j] and (zeros or X[i, j] != 0.0):
                values[at], indices[at] = X[i, j], j
                at += ONE
    indptr[U(X.shape[0])] = at


@Compiled
def renumber(codes, new, old, found):
    """Renumber codes in the order in which they occur; returns how many there are.

    Fills the last three: the new number of each code (−1 on entry), the old one of each, and the codes renumbered.
    """
    count = 0
    for i in range(U(codes.size)):
        code = U(codes[i])
        if new[code] < 0:
            new[code], old[count] = count, codes[i]
            count += 1
        found[i] = new[code]
    return count


@Compiled
def fill_ones(features, values, indices, indptr):
    """Make CSR arrays that count the features which each row of the matrix names; fills the last three."""
    n, width = U(features.shape[0]), U(features.shape[1])
    end = U(0)
    for i in range(n):
        indptr[i] = begin = end
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
    indptr[n] = end


@Compiled
def join(values, indices, indptr, more_values, more_indices, more_indptr, joined_values, joined_indices):
    """Join the CSR arrays of two matrices side by side; fills the last two. Features of the second come after."""
    at = U(0)
    for i in range(U(indptr.size) - ONE):
        for k in range(indptr[i], indptr[i + ONE]):
            joined_values[at], joined_indices[at] = values[k], indices[k]
            at += ONE
        for k in range(more_indptr[i], more_indptr[i + ONE]):
            joined_values[at], joined_indices[at] = more_values[k], more_indices[k]
            at += ONE
