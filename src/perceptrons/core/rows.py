"""Operations on one row, dense or CSR: the verbs of the passes.

Rows are three flat arguments `values, indices, indptr`; for dense rows `values` has two axes and the other two
are None. Each verb picks its code by these types when it is compiled. Row numbers and indices are unsigned:
signed ones make Numba emit wrap-around checks. `w` is one weight vector `(d + 1,)` or has one column per class
`(d + 1, classes)`; its last row belongs to the bias. For dense rows, which read all weights of a class, `w` is in
Fortran order; for CSR rows, which read a few weights of every class, it is in C order.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from perceptrons.core.jit.compiled import FASTMATH, Filling, is_finite
from perceptrons.core.jit.deferred import forms, overload

U = np.uint64
ONE, FOUR = np.uint64(1), np.uint64(4)
LINE = 64  # bytes of a cache line
JIT: Any = {"fastmath": FASTMATH, "error_model": "numpy", "forceinline": True}


def prefetch(array, position):
    """Prefetch the cache line that holds array.flat[position]; changes nothing."""


@overload(prefetch, jit_options=JIT)
def _prefetch(array, position):
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def ask(typingctx, array, position):
        def codegen(context, builder, signature, args):
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
            function = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(ir.VoidType(), [byte, word, word, word]), "llvm.prefetch.p0"
            )
            read, keep, data_cache = (ir.Constant(word, number) for number in (0, 3, 1))
            builder.call(function, [builder.bitcast(builder.gep(data, [args[1]]), byte), read, keep, data_cache])
            return context.get_dummy_value()

        return types.void(array, position), codegen

    return lambda array, position: ask(array, position)


def is_none(kind):
    from numba import types

    return isinstance(kind, types.NoneType)


def by_layout(types):
    return "dense" if is_none(types["indices"]) else "csr"


def n_rows(values: Any, indices: Any, indptr: Any) -> Any:
    """The number of rows."""
    return values.shape[0] if indices is None else indptr.size - 1


@overload(n_rows)
def _n_rows(values, indices, indptr):
    if is_none(indices):
        return lambda values, indices, indptr: U(values.shape[0])
    return lambda values, indices, indptr: U(indptr.size) - ONE


def point_ahead(values, indices, indptr, i):
    """Prefetch the pointers to row i."""


@overload(point_ahead)
def _point_ahead(values, indices, indptr, i):
    if is_none(indices):
        return lambda values, indices, indptr, i: None
    return lambda values, indices, indptr, i: prefetch(indptr, i)


def ahead(values, indices, indptr, i):
    """Prefetch row i."""


@overload(ahead)
def _ahead(values, indices, indptr, i):
    per_line = U(LINE // (values.dtype.bitwidth // 8))

    if is_none(indices):

        def dense(values, indices, indptr, i):
            start = i * U(values.shape[1])
            for position in range(start, start + U(values.shape[1]), per_line):
                prefetch(values, position)

        return dense

    per_line_index = U(LINE // (indices.dtype.bitwidth // 8))

    def csr(values, indices, indptr, i):
        start, end = indptr[i], indptr[i + ONE]
        for position in range(start, end, per_line):
            prefetch(values, position)
        for position in range(start, end, per_line_index):
            prefetch(indices, position)

    return csr


@forms("dense csr", by_layout, **JIT)
def dot(values, indices, indptr, i, w):
    """x_i · w, for one weight vector."""
    total = 0.0
    for j in range(U(values.shape[1])):
        total += values[i, j] * w[j]
    return total


@dot.csr
def _dot(values, indices, indptr, i, w):
    total = 0.0
    for position in range(indptr[i], indptr[i + ONE]):
        total += values[position] * w[indices[position]]
    return total


@forms("dense csr", by_layout, **JIT)
def abs_dot(values, indices, indptr, i, w):
    """Σ_j |x_ij|·w_j."""
    total = 0.0
    for j in range(U(values.shape[1])):
        total += abs(values[i, j]) * w[j]
    return total


@abs_dot.csr
def _abs_dot(values, indices, indptr, i, w):
    total = 0.0
    for position in range(indptr[i], indptr[i + ONE]):
        total += abs(values[position]) * w[indices[position]]
    return total


# Two classes at a time: each value is loaded and widened once for both. Written for Fortran order.
@forms("dense csr", by_layout, **JIT)
def dots(values, indices, indptr, i, w, scores):
    """scores += x_i · w, for one weight vector per class; updates scores in place."""
    width, classes = U(values.shape[1]), U(scores.size)
    pairs = classes - classes % U(2)
    for c in range(U(0), pairs, U(2)):
        one, two = 0.0, 0.0
        for j in range(width):
            one += values[i, j] * w[j, c]
            two += values[i, j] * w[j, c + ONE]
        scores[c] += one
        scores[c + ONE] += two
    for c in range(pairs, classes):
        one = 0.0
        for j in range(width):
            one += values[i, j] * w[j, c]
        scores[c] += one


# Four features at a time: scores are loaded and stored a quarter as often. Written for C order.
@dots.csr
def _dots(values, indices, indptr, i, w, scores):
    start, end = indptr[i], indptr[i + ONE]
    whole = end - (end - start) % FOUR
    for p in range(start, whole, FOUR):
        x0, x1, x2, x3 = values[p], values[p + U(1)], values[p + U(2)], values[p + U(3)]
        j0, j1, j2, j3 = indices[p], indices[p + U(1)], indices[p + U(2)], indices[p + U(3)]
        for c in range(U(scores.size)):
            scores[c] += x0 * w[j0, c] + x1 * w[j1, c] + x2 * w[j2, c] + x3 * w[j3, c]
    for p in range(whole, end):
        for c in range(U(scores.size)):
            scores[c] += values[p] * w[indices[p], c]


@forms("dense csr", by_layout, **JIT)
def axpy(values, indices, indptr, i, a, w):
    """w += a·x_i, for one weight vector; updates w in place."""
    for j in range(U(values.shape[1])):
        w[j] += a * values[i, j]


@axpy.csr
def _axpy(values, indices, indptr, i, a, w):
    for position in range(indptr[i], indptr[i + ONE]):
        w[indices[position]] += a * values[position]


@forms("dense csr", by_layout, **JIT)
def axpy_pair(values, indices, indptr, i, a, w, up, down):
    """w_up += a·x_i and w_down −= a·x_i, for two of the weight vectors; updates w in place."""
    for j in range(U(values.shape[1])):
        step = a * values[i, j]
        w[j, up] += step
        w[j, down] -= step


@axpy_pair.csr
def _axpy_pair(values, indices, indptr, i, a, w, up, down):
    for position in range(indptr[i], indptr[i + ONE]):
        step = a * values[position]
        w[indices[position], up] += step
        w[indices[position], down] -= step


@forms("dense csr", by_layout, **JIT)
def sq_dot(values, indices, indptr, i, sigma):
    """Σ_j σ_j·x_ij²."""
    total = 0.0
    for j in range(U(values.shape[1])):
        total += sigma[j] * values[i, j] * values[i, j]
    return total


@sq_dot.csr
def _sq_dot(values, indices, indptr, i, sigma):
    total = 0.0
    for position in range(indptr[i], indptr[i + ONE]):
        total += sigma[indices[position]] * values[position] * values[position]
    return total


@forms("dense csr", by_layout, **JIT)
def axpy_by(values, indices, indptr, i, a, sigma, w):
    """w_j += a·σ_j·x_ij; updates w in place."""
    for j in range(U(values.shape[1])):
        w[j] += a * sigma[j] * values[i, j]


@axpy_by.csr
def _axpy_by(values, indices, indptr, i, a, sigma, w):
    for position in range(indptr[i], indptr[i + ONE]):
        j = indices[position]
        w[j] += a * sigma[j] * values[position]


@forms("dense csr", by_layout, **JIT)
def step_by(values, indices, indptr, i, a, c, sigma, w):
    """w_j += a·σ_j·x_ij, then 1/σ_j += c·x_ij²; updates w and σ in place."""
    for j in range(U(values.shape[1])):
        x = values[i, j]
        moved = sigma[j] * x
        w[j] += a * moved
        sigma[j] /= 1.0 + c * moved * x


# Four features at a time: their divisions are one instruction.
@step_by.csr
def _step_by(values, indices, indptr, i, a, c, sigma, w):
    start, end = indptr[i], indptr[i + ONE]
    whole = end - (end - start) % FOUR
    for p in range(start, whole, FOUR):
        x0, x1, x2, x3 = values[p], values[p + U(1)], values[p + U(2)], values[p + U(3)]
        j0, j1, j2, j3 = indices[p], indices[p + U(1)], indices[p + U(2)], indices[p + U(3)]
        s0, s1, s2, s3 = sigma[j0], sigma[j1], sigma[j2], sigma[j3]
        m0, m1, m2, m3 = s0 * x0, s1 * x1, s2 * x2, s3 * x3
        d0, d1, d2, d3 = 1.0 + c * m0 * x0, 1.0 + c * m1 * x1, 1.0 + c * m2 * x2, 1.0 + c * m3 * x3
        n0, n1, n2, n3 = s0 / d0, s1 / d1, s2 / d2, s3 / d3
        w[j0] += a * m0
        w[j1] += a * m1
        w[j2] += a * m2
        w[j3] += a * m3
        sigma[j0], sigma[j1], sigma[j2], sigma[j3] = n0, n1, n2, n3
    for p in range(whole, end):
        j, x = indices[p], values[p]
        moved = sigma[j] * x
        w[j] += a * moved
        sigma[j] /= 1.0 + c * moved * x


@forms("dense csr", by_layout, **JIT)
def add_rows(values, indices, indptr, i, root, out):
    """out_k += Σ_j x_ij·S_jk; updates out in place."""
    for j in range(U(values.shape[1])):
        x = values[i, j]
        if x != 0.0:
            for k in range(U(out.size)):
                out[k] += x * root[j, k]


@add_rows.csr
def _add_rows(values, indices, indptr, i, root, out):
    for position in range(indptr[i], indptr[i + ONE]):
        j, x = indices[position], values[position]
        for k in range(U(out.size)):
            out[k] += x * root[j, k]


@forms("dense csr", by_layout, **JIT)
def survey_row(values, indices, indptr, i, width):
    """‖x_i‖², and whether its indices rise and stay below `width`."""
    total = 0.0
    for j in range(U(values.shape[1])):
        x = np.float64(values[i, j])
        total += x * x
    return total, True


@survey_row.csr
def _survey_row(values, indices, indptr, i, width):
    start, end = indptr[i], indptr[i + ONE]
    total, falls = 0.0, np.uint32(0)
    for position in range(start, end):
        x = np.float64(values[position])
        total += x * x
    for position in range(start + ONE, end):
        falls += np.uint32(indices[position] <= indices[position - ONE])
    return total, start == end or (falls == 0 and indices[end - ONE] < width)


GOOD, NOT_FINITE, NOT_CANONICAL = range(3)


@partial(Filling, lambda values, indices, indptr, width: n_rows(values, indices, indptr))
def survey(values, indices, indptr, width, sq_norm):
    """Check in one sweep whether passes can read rows; fills ‖x_i‖², returns the verdict and the first bad row."""
    for i in range(U(sq_norm.size)):
        sq_norm[i], canonical = survey_row(values, indices, indptr, i, width)
        if not canonical:
            return NOT_CANONICAL, i
        if not is_finite(sq_norm[i]):
            return NOT_FINITE, i
    return GOOD, U(0)
