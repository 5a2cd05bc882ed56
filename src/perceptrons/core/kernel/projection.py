"""Project a row in feature space onto the span of other rows, with a Cholesky factor that grows row by row.

K, the kernel values among the spanning rows, is in the first n rows and columns of `table`; K = LLᵀ, with L in those of
`factor`. Only the lower triangle of L, with its diagonal, is read.
"""

from __future__ import annotations

import numpy as np

from perceptrons.core.jit.compiled import OPTIONS
from perceptrons.core.jit.deferred import register_jitable
from perceptrons.core.rows import ONE

EPS = 2.220446049250313e-16
# A row is kept only while λ, the smallest eigenvalue of K at unit diagonal, stays above about this. Leaving a row out
# costs an error of √λ, keeping it an error of ε/λ in later projections, both in feature space: equal at ε^(2/3).
LEAST = EPS ** (2 / 3)


@register_jitable(**OPTIONS)
def forward(factor, n, x):
    """x ← L⁻¹x; updates x in place."""
    for i in range(n):
        total = x[i]
        for j in range(i):
            total -= factor[i, j] * x[j]
        x[i] = total / factor[i, i]


@register_jitable(**OPTIONS)
def backward(factor, n, x):
    """x ← L⁻ᵀx; updates x in place. Reads L by rows, which are contiguous."""
    for back in range(n):
        i = n - ONE - back
        found = x[i] / factor[i, i]
        for j in range(i):
            x[j] -= factor[i, j] * found
        x[i] = found


@register_jitable(**OPTIONS)
def subtract(table, n, d, k, rest):
    """rest = k − K·d; updates rest in place."""
    for s in range(n):
        total = 0.0
        for t in range(n):
            total += table[s, t] * d[t]
        rest[s] = k[s] - total


@register_jitable(**OPTIONS)
def decompose(k, n, sq_norm, table, factor, work):
    """Split φ(x) into Σ_s d_s·φ(x_s) and what is orthogonal to all φ(x_s); updates work (d, L⁻¹k, k − K·d) in place.

    Returns Δ, the squared length of the orthogonal part; the least Δ at which x may be kept; and ‖k − K·d‖/‖k‖, the
    error of d after one step of iterative refinement.
    """
    d, half, rest = work[0], work[1], work[2]
    for s in range(n):
        half[s] = k[s]
    forward(factor, n, half)
    delta = sq_norm  # Δ = k̃(x, x) − k·K⁻¹k = k̃(x, x) − ‖L⁻¹k‖², the square of the next diagonal entry of L
    for s in range(n):
        delta -= half[s] * half[s]
        d[s] = half[s]
    backward(factor, n, d)  # d = K⁻¹k
    subtract(table, n, d, k, rest)
    forward(factor, n, rest)
    backward(factor, n, rest)
    for s in range(n):
        d[s] += rest[s]
    subtract(table, n, d, k, rest)
    sq_values, sq_rest, lengths, sq_lengths = 0.0, 0.0, np.sqrt(sq_norm), sq_norm
    for s in range(n):
        sq_values += k[s] * k[s]
        sq_rest += rest[s] * rest[s]
        lengths += abs(d[s]) * np.sqrt(table[s, s])
        sq_lengths += d[s] * d[s] * table[s, s]
    # Rounding of the kernel values alone may shift Δ = ‖φ(x) − Σ d_s·φ(x_s)‖² by ε·(‖φ(x)‖ + Σ |d_s|·‖φ(x_s)‖)².
    if sq_norm <= 0.0 or delta <= EPS * lengths * lengths:
        delta = 0.0  # if the kernel is not positive semi-definite, ‖φ(x)‖² may be < 0; such rows are never kept
    residual = np.sqrt(sq_rest / sq_values) if sq_rest > 0.0 else 0.0
    return delta, LEAST * sq_lengths, residual  # λ ≤ Δ/(‖φ(x)‖² + Σ d_s²·‖φ(x_s)‖²), by the vector (d, −1)
