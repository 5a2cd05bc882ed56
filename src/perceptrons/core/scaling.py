"""Statistics of features, and rows on their scale: z = (x − centre)·factor, clipped.

Features of streams have running statistics: `standardize` updates them and scales each row as it arrives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons.core.jit.compiled import Compiled, exact_uncounted
from perceptrons.core.jit.deferred import forms, register_jitable
from perceptrons.core.rows import JIT, ONE, U, by_layout

MOST = np.uint32(0xFFFFFFFF)  # counts go no further
NEARLY = 8 * 2.0**-52  # a deviation of at most this times |mean| is rounding
TINY = 1e-290  # a smaller deviation or size counts as 0: its inverse would overflow
LARGEST = 1.7976931348623157e308
EXACT: Any = {"error_model": "numpy", "forceinline": True}  # every operation rounds as written


@Compiled
def observe(values, indices, indptr, left_out, zeros, count, mean, squares, low, high):
    """Add rows to the statistics of their first features; updates the last five arrays in place.

    squares is Σ(x − mean)² (Welford 1962). Rows with `left_out` (unless None) do not count, and values that are 0 only
    with `zeros`. The result does not depend on how rows are cut into calls.
    """
    n = U(values.shape[0]) if indices is None else U(indptr.size) - ONE
    for i in range(n):
        if left_out is not None and left_out[i]:
            continue
        observe_row(values, indices, indptr, i, zeros, count, mean, squares, low, high)


@forms("dense csr", by_layout, **JIT)
def observe_row(values, indices, indptr, i, zeros, count, mean, squares, low, high):
    """Add one row to the statistics; updates the last five arrays in place."""
    share = 1.0 / (count[0] + 1.0) if zeros and mean.size > 0 else 0.0  # all counts are equal: divide once
    for j in range(U(mean.size)):
        x = np.float64(values[i, j])
        if zeros:
            note(x, share, j, count, mean, squares, low, high)
        elif x != 0.0:
            note(x, 1.0 / (count[j] + 1.0), j, count, mean, squares, low, high)


@observe_row.csr
def _observe_row(values, indices, indptr, i, zeros, count, mean, squares, low, high):
    for position in range(indptr[i], indptr[i + ONE]):
        j = U(indices[position])
        if j >= U(mean.size):
            break  # indices rise
        x = np.float64(values[position])
        if zeros or x != 0.0:
            note(x, 1.0 / (count[j] + 1.0), j, count, mean, squares, low, high)


@register_jitable(**JIT)
def note(x, share, j, count, mean, squares, low, high):
    """Add a value to the statistics of feature j; updates the last five arrays in place. share: 1/(count + 1)."""
    count[j] += 1.0
    apart = x - mean[j]
    mean[j] += apart * share
    squares[j] += apart * (x - mean[j])
    low[j] = min(low[j], x)
    high[j] = max(high[j], x)


@Compiled
def count_words(indices, indptr, first, left_out, counts, rows):
    """Count in how many rows each feature from `first` on occurs, and the rows; updates counts and rows in place.

    Rows with `left_out` (unless None) do not count, nor do features after the last of `counts`.
    """
    for i in range(U(indptr.size) - ONE):
        if left_out is None or not left_out[i]:
            count_row(indices, indptr[i], indptr[i + ONE], first, counts, rows)


@register_jitable(**JIT)
def count_row(indices, begin, end, first, counts, rows):
    """Count a row and its words; updates counts and rows in place."""
    rows[0] += ONE
    for position in range(begin, end):
        word = U(indices[position]) - first  # wraps around for features before the first word
        if word < U(counts.size) and counts[word] < MOST:
            counts[word] += np.uint32(1)


@Compiled
def weigh_words(values, indices, indptr, first, bits, weights):
    """Multiply words, the features from `first` on, by their weights, and divide each text by its length, in place.

    A column of text has 2^bits features. Features after the last of `weights` are no words.
    """
    for i in range(U(indptr.size) - ONE):
        for position in range(indptr[i], indptr[i + ONE]):
            word = U(indices[position]) - first
            if word < U(weights.size):
                values[position] *= weights[word]
        to_length_1(values, indices, indptr[i], indptr[i + ONE], first, bits, U(weights.size))


@Compiled
def count_and_weigh(values, indices, indptr, first, bits, counts, rows):
    """Count the words of each row, then weigh them by log((n + 1)/(d + ½)); updates values, counts, rows in place."""
    for i in range(U(indptr.size) - ONE):
        count_row(indices, indptr[i], indptr[i + ONE], first, counts, rows)
        log_n = np.log(rows[0] + 1.0)
        for position in range(indptr[i], indptr[i + ONE]):
            word = U(indices[position]) - first
            if word < U(counts.size):
                values[position] *= log_n - np.log(counts[word] + 0.5)
        to_length_1(values, indices, indptr[i], indptr[i + ONE], first, bits, U(counts.size))


@register_jitable(**JIT)
def to_length_1(values, indices, begin, end, first, bits, n_words):
    """Divide the words of each column of text by their length, unless that is 0; updates values in place."""
    at = begin
    while at < end:
        word = U(indices[at]) - first
        if word >= n_words:
            at += ONE
            continue
        column, start, length = word >> bits, at, 0.0
        while at < end and (U(indices[at]) - first) >> bits == column:
            length += values[at] * values[at]
            at += ONE
        if length > 0.0:
            share = 1.0 / np.sqrt(length)
            for k in range(start, at):
                values[k] *= share


@Compiled
def gather(values, indices, indptr, chosen, out):
    """Copy the first features of chosen rows to the rows of `out`; absent entries of sparse rows are not written."""
    for k in range(U(chosen.size)):
        gather_row(values, indices, indptr, U(chosen[k]), k, out)


@forms("dense csr", by_layout, **JIT)
def gather_row(values, indices, indptr, i, k, out):
    """Copy the first features of row i to row k of `out`."""
    for j in range(U(out.shape[1])):
        out[k, j] = values[i, j]


@gather_row.csr
def _gather_row(values, indices, indptr, i, k, out):
    for position in range(indptr[i], indptr[i + ONE]):
        j = U(indices[position])
        if j >= U(out.shape[1]):
            break
        out[k, j] = values[position]


@Compiled
def rescale(values, indices, indptr, centre, factor, limit, out, sq_norm):
    """Scale the first features of all rows, and copy the others; fills out, in the layout of values, and sq_norm."""
    for i in range(U(sq_norm.size)):
        sq_norm[i] = rescale_row(values, indices, indptr, i, centre, factor, limit, out)


@forms("dense csr", by_layout, **JIT)
def rescale_row(values, indices, indptr, i, centre, factor, limit, out):
    """Write one row on its scale to `out`; returns its squared length."""
    total = 0.0
    for j in range(U(centre.size)):
        z = min(max((values[i, j] - centre[j]) * factor[j], -limit), limit)
        out[i, j] = z
        total += z * z
    for j in range(U(centre.size), U(values.shape[1])):
        z = np.float64(values[i, j])
        out[i, j] = z
        total += z * z
    return total


@rescale_row.csr
def _rescale_row(values, indices, indptr, i, centre, factor, limit, out):
    total, position, end = 0.0, indptr[i], indptr[i + ONE]
    while position < end and U(indices[position]) < U(centre.size):
        j = U(indices[position])
        z = min(max((values[position] - centre[j]) * factor[j], -limit), limit)
        out[position] = z
        total += z * z
        position += ONE
    while position < end:
        z = np.float64(values[position])
        out[position] = z
        total += z * z
        position += ONE
    return total


# -- streams --------------------------------------------------------------------------------------------------


@exact_uncounted
def standardize(values, indices, indptr, left_out, centred, rows, count, mean, squares, centre, factor, out, sq_norm):
    """Add each row to running statistics, then write it on their scale to `out`; returns the first row that overflows.

    That is the number of rows if none does. Updates rows (its only entry is their number n), count, mean, squares,
    centre and factor in place, which have an entry for each feature, and fills out, in the layout of values, and
    sq_norm. `learn.scale.running` has the definition. Rows with `left_out` (unless None) are not observed: they are
    written on the scale as it is. The result does not depend on how rows are cut into calls.
    """
    n = U(sq_norm.size)
    for i in range(n):
        if left_out is not None and left_out[i]:
            sq_norm[i] = write_row(values, indices, indptr, i, centre, factor, out)
        else:
            rows[0] += 1.0
            sq_norm[i] = follow_row(
                values, indices, indptr, i, centred, rows[0], count, mean, squares, centre, factor, out
            )
            if sq_norm[i] > LARGEST:
                return i
    return n


@forms("dense csr", by_layout, **EXACT)
def follow_row(values, indices, indptr, i, centred, n, count, mean, squares, centre, factor, out):
    """Observe row i, the n-th one, and write it to `out`; returns its squared length, infinity after an overflow."""
    total = 0.0
    for j in range(U(values.shape[1])):
        x = np.float64(values[i, j])
        follow(x, centred, n, j, count, mean, squares, centre, factor)
        z = (x - centre[j]) * factor[j]
        out[i, j] = z
        total += z * z if squares[j] <= LARGEST else np.inf
    return total


@follow_row.csr
def _follow_row(values, indices, indptr, i, centred, n, count, mean, squares, centre, factor, out):
    total = 0.0
    for position in range(indptr[i], indptr[i + ONE]):
        j, x = U(indices[position]), np.float64(values[position])
        follow(x, centred, n, j, count, mean, squares, centre, factor)
        z = (x - centre[j]) * factor[j]
        out[position] = z
        total += z * z if squares[j] <= LARGEST else np.inf
    return total


@register_jitable(**EXACT)
def follow(x, centred, n, j, count, mean, squares, centre, factor):
    """Add x, a value of feature j in the n-th row, to the statistics (Welford 1962), and find the feature's scale."""
    count[j] += 1.0
    share = 1.0 / count[j]
    apart = x - mean[j]
    mean[j] += apart * share
    squares[j] += apart * (x - mean[j])
    size, deviation = abs(mean[j]), np.sqrt(squares[j] * share)
    if centred and count[j] == n:  # it was in every row
        centre[j] = mean[j]
        spread = deviation if deviation > NEARLY * size else 0.0
    else:
        centre[j] = 0.0
        large, small = max(size, deviation), min(size, deviation)
        ratio = small / large if large > 0.0 else 0.0
        spread = large * np.sqrt(1.0 + ratio * ratio)  # √(mean² + deviation²) = √(mean of x²), without an overflow
    factor[j] = 1.0 / spread if spread > TINY else 0.0


@forms("dense csr", by_layout, **EXACT)
def write_row(values, indices, indptr, i, centre, factor, out):
    """Write row i on its scale to `out`; returns its squared length."""
    total = 0.0
    for j in range(U(values.shape[1])):
        z = (values[i, j] - centre[j]) * factor[j]
        out[i, j] = z
        total += z * z
    return total


@write_row.csr
def _write_row(values, indices, indptr, i, centre, factor, out):
    total = 0.0
    for position in range(indptr[i], indptr[i + ONE]):
        j = U(indices[position])
        z = (values[position] - centre[j]) * factor[j]
        out[position] = z
        total += z * z
    return total
