"""What a theorem needs to know about a hypothesis and the rows, in floats with their errors or in exact rationals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.data import Rows
from perceptrons.solver.rounding import float_up, root_down, root_up
from perceptrons.solver.threads import one_thread

Array = npt.NDArray[Any]
EPS = float(np.finfo(np.float64).eps)
LARGE = 3000  # unknowns beyond which ln det is bounded by the trace alone
DEEP = 1 << 240  # terms of exact sums are rounded outward to multiples of the largest, divided by this


@dataclass(frozen=True)
class Facts:
    """A hypothesis w and its rows. With several classes, x is the step z = e_y⊗x − e_r⊗x against the strongest rival.

    Arrays have one entry for each row. They are floats with errors, or exact rationals with ``slack=0``.
    """

    margins: Array  # y·w·x
    errors: Array  # of the margins, at most
    sq_steps: Array  # ‖x‖² with the constant, and twice that for several classes
    slack: float  # the relative error of sq_steps and of an operation with it, at most; the integer 0: all is exact
    squares: Fraction  # ‖w‖², or more
    longest: Fraction  # max ‖x‖² with the constant, and twice that for several classes, or more
    unknowns: int  # the number of weights, or of rows if there are fewer
    log_det: Callable[[float], float]  # a ↦ ln det(I + Σxxᵀ/a), or more
    least: Fraction | None = None  # the smallest margin, or less, where floats would not do

    @property
    def low(self) -> Array:
        """The margins, or less."""
        return np.asarray(self.margins - self.errors)

    @property
    def short(self) -> Array:
        """ℓ* = max(0, 1 − y·w·x), or more."""
        return np.asarray(np.maximum(1 - self.low, 0))

    @property
    def off(self) -> Array:
        """(1 − y·w·x)², or more."""
        return np.asarray((abs(1 - self.margins) + self.errors) ** 2 * (1 + 8 * self.slack))

    def sq_margin(self) -> Fraction | None:
        """γ² = min (y·w·x)²/‖w‖², or less; None if w does not separate the rows."""
        least = self.low.min() if self.least is None else self.least
        return Fraction(least) ** 2 / self.squares if least > 0 and self.squares > 0 else None

    def unit_margins(self) -> Array:
        """y·w·x/‖x‖, or less; 0 for x = 0."""
        low = self.low
        if self.slack:
            values = low / np.sqrt(np.where(self.sq_steps > 0, self.sq_steps, 1.0))
            return np.asarray(values - 4 * self.slack * abs(values))
        lengths = (root_up(q) if m > 0 else root_down(q) for m, q in zip(low, self.sq_steps, strict=True))
        return np.array([m / Fraction(length or 1.0) for m, length in zip(low, lengths, strict=True)], dtype=object)

    def number(self, parameter: float) -> Any:
        """A parameter of the rule in the arithmetic of the arrays."""
        return float(parameter) if self.slack else Fraction(parameter)

    def scaled(self, factor: float) -> Facts:
        """The facts of factor·w, to search for a good factor."""
        squares = self.squares * Fraction(factor) ** 2
        return replace(self, margins=self.margins * factor, errors=self.errors * factor, squares=squares)


def most(costs: Array, budget: Any, slack: float) -> float:
    """The largest number of rows whose costs sum to at most `budget`, plus the share of the next that is left.

    Every row has one mistake at most, so the cheapest rows are the worst case. Sums are rounded outward.
    """
    if slack == 0:
        unit = max([abs(budget), *map(abs, costs), Fraction(1, DEEP)]) / DEEP
        sums = np.cumsum(np.array(sorted(math.floor(cost / unit) for cost in costs), dtype=object))
        fits = np.flatnonzero(sums <= math.ceil(budget / unit))
        return float(fits[-1] + 1) if len(fits) else 0.0
    costs, budget = np.sort(costs), number_up(budget)
    sums = np.cumsum(costs)
    budget += (len(costs) + 8) * EPS * (float(abs(costs).sum()) + abs(budget))
    if not math.isfinite(budget):
        return float(len(costs))
    fits = np.flatnonzero(sums <= budget)
    if not len(fits) or fits[-1] + 1 == len(costs):
        return float(len(fits) and len(costs))
    k = int(fits[-1]) + 1
    return k + min(0.999, float((budget - sums[k - 1]) / costs[k])) if costs[k] > 0 else float(k)


def total(values: Array, slack: float) -> Fraction:
    """Σ values for values ≥ 0, rounded up."""
    if slack == 0:  # an exact sum would have as many digits as all denominators together
        unit = Fraction(max([*values, Fraction(1, DEEP)])) / DEEP
        return Fraction(sum(math.ceil(value / unit) for value in values)) * unit
    return Fraction(float(values.sum())) * (1 + Fraction((len(values) + 8) * EPS))


def log_det(rows: Rows, bias: bool, a: float) -> float:
    """ln det(I + Σxxᵀ/a), rounded up; x is a row with the constant 1 if there is a bias.

    A is the matrix, or I + XXᵀ/a with the same determinant if that is smaller. Cholesky's computed factor satisfies
    LLᵀ = A + E with ‖E‖ ≤ ε (Higham 2002, Theorem 10.3, and §3.5 for the error of A itself). A is at least I, so
    ln det A ≤ ln det LLᵀ + Σ ε/(1 − ε). ε is at most 4(n + d)·2⁻⁵²·trace A. Where that says too little, or the matrix
    is large: the eigenvalues λ of Σxxᵀ, at most k of which are not 0, have Σ ln(1 + λ/a) ≤ k·ln(1 + trace/(ka)).
    """
    n, d = len(rows), rows.n_features + bias
    size = min(n, d)
    trace = float(rows.sq_norm.sum() + n * bias) / a * (1 + (n + d + 8) * EPS)
    if not math.isfinite(trace):
        return math.inf
    simple = size * math.log1p(trace / size) * (1 + 1e-12)
    error = 4 * (n + d + 16) * EPS * (size + trace)
    if size > LARGE or error > 0.25:
        return simple
    X = rows.matrix()
    X = np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)
    X = np.column_stack([X, np.ones(n)]) if bias else X
    with one_thread():
        A = np.eye(size) + (X.T @ X if d <= n else X @ X.T) / a
        logs = np.log(np.linalg.cholesky(A).diagonal())
    return min(simple, float(2 * logs.sum() + size * error / (1 - error) + 1e-12 * (size + abs(logs).sum())))


def number_up(number: Any) -> float:
    """A rational or float as a float that is not below it."""
    return float_up(number) if isinstance(number, Fraction) else float(number)
