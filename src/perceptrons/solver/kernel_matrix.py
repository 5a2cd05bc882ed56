"""Computing with a kernel matrix K: its factor in floats, and exact quadratic forms."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.linalg import eigh

from perceptrons.solver.constraints import Floats
from perceptrons.solver.exact import PIECE
from perceptrons.solver.rationals import integers, power
from perceptrons.solver.threads import one_thread


def factor(K: Floats, slack: float) -> Floats:
    """Find L with L·Lᵀ ≈ K from the eigenvectors of K, without directions of the size of rounding errors.

    slack: how far below 0 the rounding and the errors of K can bring an eigenvalue.
    """
    largest = float(K.diagonal().max())
    root = math.ldexp(1.0, math.frexp(largest)[1] // 2) if largest > 0 else 1.0
    scaled = K / root / root
    if not np.isfinite(scaled).all():
        raise ValueError(
            "K has entries far larger than its diagonal, so it is not a kernel matrix: |K_ij|² must be ≤ K_ii·K_jj"
        )
    with one_thread():
        values, vectors = eigh(scaled, check_finite=False)
    if values[0] < -slack / root / root:
        raise ValueError(
            f"K is not positive semi-definite: it has the eigenvalue {values[0] * root * root:.6g}. So its entries "
            "cannot be inner products of points, and there are no margins. Use another kernel (sigmoid, and poly with "
            "coef0 < 0, are not semi-definite), or set K_error if entries of K are that inaccurate."
        )
    kept = values > len(K) * np.finfo(np.float64).eps * max(float(values[-1]), 0.0)
    kept[-1] = True  # keep one feature, even if all points are 0
    return np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept].clip(0.0)) * root)


def quadratic(K: Floats, a: Any) -> Fraction:
    """aᵀKa, exactly, for floats or rationals a."""
    (at,) = np.nonzero(a)
    if a.dtype == object:
        scale = math.lcm(*(number.denominator for number in a[at]))
        counts, unit = np.array([int(number * scale) for number in a[at]], dtype=object), Fraction(1, scale)
    else:
        counts, exponent = integers(a[at], axis=None)
        unit = power(int(exponent)) if len(at) else Fraction(0)
    total, size = Fraction(0), max(1, PIECE // max(1, len(at)))
    for begin in range(0, len(at), size):
        part = slice(begin, begin + size)
        table, exponent = integers(K[np.ix_(at[part], at)], axis=None)
        count = int(counts[part] @ (table @ counts))
        total += count * power(int(exponent)) if count else 0
    return total * unit**2
