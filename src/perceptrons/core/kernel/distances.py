"""Distances between rows that matrix products alone do not give."""

from __future__ import annotations

from perceptrons.core.jit.compiled import Compiled
from perceptrons.core.rows import U


@Compiled
def gaussian_exponents(block, a, b, gamma):
    """−γ‖x − x′‖² = γ(2x·x′ − ‖x‖² − ‖x′‖²), never positive, from a block of x·x′; updates it in place.

    One sweep over memory; NumPy would make five.
    """
    for i in range(U(block.shape[0])):
        for j in range(U(block.shape[1])):
            block[i, j] = min(0.0, gamma * (2.0 * block[i, j] - a[i] - b[j]))


@Compiled
def manhattan(values, others, out):
    """‖x − x′‖₁ of all pairs of dense rows; updates out in place, one column per x′."""
    for i in range(U(out.shape[0])):
        for r in range(U(out.shape[1])):
            total = 0.0
            for j in range(U(values.shape[1])):
                total += abs(values[i, j] - others[r, j])
            out[i, r] = total


@Compiled
def sparse_manhattan(values, indices, indptr, others, other_indices, other_indptr, line, out):
    """‖x − x′‖₁ = ‖x‖₁ + Σ (|x_j − x′_j| − |x_j|) over the features j of x′, of all pairs of CSR rows.

    Updates out in place. `line` is room for one row; it is all zeros before and after.
    """
    for i in range(U(out.shape[0])):
        length = 0.0
        for k in range(indptr[i], indptr[i + U(1)]):
            line[indices[k]] = values[k]
            length += abs(values[k])
        for r in range(U(out.shape[1])):
            total = length
            for k in range(other_indptr[r], other_indptr[r + U(1)]):
                x = line[other_indices[k]]
                total += abs(x - others[k]) - abs(x)
            out[i, r] = max(0.0, total)
        for k in range(indptr[i], indptr[i + U(1)]):
            line[indices[k]] = 0.0
