"""How many mistakes a perceptron can make, at most: theorems with the hypothesis that proves the number."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize, minimize_scalar

from perceptrons.data import Rows
from perceptrons.models import validation
from perceptrons.theory import exact
from perceptrons.theory.certificate import CertificateError, exact_margins
from perceptrons.theory.constraints import Constraints, Floats, Hypothesis, Ints
from perceptrons.theory.inputs import read, sq_radius
from perceptrons.theory.margins import of_model
from perceptrons.theory.proof import Separator, best
from perceptrons.theory.rounding import down, float_up, root_down, root_up, up

BLOCK = 1 << 16  # rows that are widened to float64 at a time
STEPS = 200  # of the optimisation

# With {R} for R, or √2·R with several classes, and y·w·x for the margin of a row.
THEOREMS = {
    "novikoff": "Novikoff 1962: ({R}·‖w‖/γ)² updates, in any order and any number of passes",
    "freund-schapire": "Freund & Schapire 1999: (({R} + D)/γ)² mistakes in one pass, D² = Σ max(0, γ − y·u·x)²",
    "gentile": "Gentile 2003: a + L + √(2aL + a²) mistakes in one pass, a = ({R}·‖w‖)²/2, L = Σ max(0, 1 − y·w·x)",
    "n": "a pass makes no more mistakes than there are rows",
}


@dataclass(frozen=True, eq=False, repr=False)
class MistakeBound:
    """A bound on the mistakes of the plain perceptron that starts from zeros. `print` says what proves it.

    Attributes
    ----------
    bound : float
        At most so many mistakes, rounded up: in any number of passes if `theorem` is "novikoff", else in one.
    theorem : {"novikoff", "freund-schapire", "gentile", "n"}
    radius : float
        R, the length of the longest row, with the constant 1 appended if there is a bias; rounded up.
    margin : float or None
        γ: of the hypothesis, rounded down ("novikoff"); or the one that rows fall short of: for Gentile's bound it is
        1/‖w‖. It is that of the rows with the constant appended.
    coef, intercept : the hypothesis that proves the bound, of the shapes of `Separability.coef` and `intercept`
        Exact rationals where floats would not do. None if there is nothing but the number of rows.
    shortfall : float
        D or L, rounded up; 0 for Novikoff's bound.
    fit_intercept : bool
    classes : ndarray
    n_rows : int
    """

    bound: float
    theorem: str
    radius: float
    margin: float | None
    coef: Any
    intercept: Any
    shortfall: float
    fit_intercept: bool
    classes: npt.NDArray[Any]
    n_rows: int

    def check(self, X: Any, y: Any) -> bool:
        """Substitute the hypothesis into the formula in exact rational arithmetic: True, or CertificateError."""
        rows, labels = read(X, y, "check")
        try:
            codes = validation.encode(labels, self.classes).tolist()
        except ValueError as error:
            raise CertificateError(f"the bound is about other labels: {error}") from error
        w = np.atleast_2d(self.coef)
        if len(rows) != self.n_rows or (self.coef is not None and rows.n_features != w.shape[1]):
            raise CertificateError(
                f"X has {len(rows)} rows of {rows.n_features} features, the bound is about {self.n_rows} rows"
                + ("" if self.coef is None else f" of {w.shape[1]}")
            )
        if self.theorem not in THEOREMS or Fraction(self.radius) ** 2 < sq_radius(rows) + self.fit_intercept:
            raise CertificateError(f"{self.theorem!r} is no theorem, or R = {self.radius} shorter than a row")
        if math.isinf(self.bound):
            return True
        if self.theorem == "n":
            proved = Fraction(len(rows))
        else:
            lines = np.column_stack([w, np.broadcast_to(self.intercept, (len(w),))]).tolist()
            margins = list(exact_margins(rows, codes, lines))
            squares = sum((Fraction(weight) ** 2 for line in lines for weight in line), Fraction(0))
            R2 = _sq_radius(rows, self.fit_intercept, len(w))
            least = min(margins) if self.theorem == "novikoff" else Fraction(1)
            if least <= 0 or Fraction(self.margin or 0.0) ** 2 * squares > least**2:
                raise CertificateError(f"the hypothesis does not have the margin {self.margin} for these rows")
            short = [max(Fraction(0), 1 - margin) for margin in margins]
            linear, square = sum(short, Fraction(0)), sum((loss**2 for loss in short), Fraction(0))
            novikoff = self.theorem == "novikoff"
            proved = R2 * squares / least**2 if novikoff else _formula(self.theorem, linear, square, squares, R2)
        if Fraction(self.bound) < proved:
            raise CertificateError(f"the hypothesis proves {float(proved)} mistakes for these rows, not {self.bound}")
        return True

    def __repr__(self) -> str:
        return f"<MistakeBound: {self.bound:.6g} by {self.theorem}, {self.n_rows} rows>"

    def __str__(self) -> str:
        passes = "in any number of passes" if self.theorem == "novikoff" else "in one pass"
        most = "any number of" if math.isinf(self.bound) else f"at most {math.floor(self.bound):,}"
        formula = THEOREMS[self.theorem].format(R="R" if len(self.classes) == 2 else "√2·R")
        lines = [f"{most} mistakes {passes} ({self.n_rows:,} rows)", f"  {formula}"]
        if math.isinf(self.bound):
            lines[0] += ": the bound is beyond all floats"
        if self.margin is not None:
            short = {"novikoff": "", "freund-schapire": ", D = ", "gentile": ", L = "}[self.theorem]
            shortfall = f"{short}{up(self.shortfall, 6)}" if short else ""
            constant = " (the constant 1 of the bias included)" if self.fit_intercept else ""
            lines.append(f"  R = {up(self.radius, 6)}, γ = {down(self.margin, 6)}{shortfall}{constant}")
        return "\n".join(lines)


def mistake_bound(
    X: Any, y: Any, *, fit_intercept: bool = True, coef: Any = None, intercept: Any = None
) -> MistakeBound:
    """How many mistakes the plain perceptron makes on these rows at most, and the hypothesis that proves it.

    Separable rows: Novikoff's bound for the separator with the largest margin, or for the one given. Rows that are
    not, or a given hypothesis that does not separate them: the smaller of Freund & Schapire's and Gentile's bounds,
    for the best hypothesis that a short optimisation finds, or for the one given, at its best scale. These hold for one
    pass. Several classes step along two weight vectors at once, which doubles R².

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    fit_intercept : bool, default=True
        Whether the perceptron has a bias; then the rows get the constant 1 as one more feature.
    coef, intercept : array-like, optional
        The hypothesis to use; an intercept that is not given is 0. A fitted linear model can stand in place of coef.

    Returns
    -------
    MistakeBound

    Examples
    --------
    >>> print(mistake_bound([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]))
    at most 51 mistakes in any number of passes (4 rows)
      Novikoff 1962: (R·‖w‖/γ)² updates, in any order and any number of passes
      R = 1.73206, γ = 0.242535 (the constant 1 of the bias included)
    """
    rows, labels = read(X, y, "mistake_bound")
    classes = validation.distinct(labels)
    if len(classes) == 1:
        raise ValueError(f"mistake_bound needs rows of two classes or more, got only {classes.tolist()[0]!r}")
    constraints = Constraints(rows, validation.encode(labels, classes), len(classes), bool(fit_intercept))
    R2 = _sq_radius(rows, fit_intercept, constraints.blocks)
    if coef is None and intercept is not None:
        raise ValueError(f"intercept={intercept!r} needs the coef that it belongs to: pass both or neither")
    given = None if coef is None else _given(constraints, coef, intercept)
    found = _novikoff(constraints, R2, given) or _one_pass(constraints, R2, given)
    w: Any = None if found.hypothesis is None else found.hypothesis.w
    b: Any = None if found.hypothesis is None else found.hypothesis.b
    single = constraints.blocks == 1 and w is not None
    return MistakeBound(
        bound=found.bound,
        theorem=found.theorem,
        radius=root_up(sq_radius(rows) + bool(fit_intercept)),
        margin=found.margin,
        coef=w[0] if single else w,
        intercept=b[0] if single else b,
        shortfall=found.shortfall,
        fit_intercept=bool(fit_intercept),
        classes=classes,
        n_rows=len(rows),
    )


class Proved(NamedTuple):
    """A bound and what proves it."""

    theorem: str
    bound: float
    margin: float | None
    hypothesis: Hypothesis | None
    shortfall: float = 0.0


def _sq_radius(rows: Rows, fit_intercept: bool, blocks: int) -> Fraction:
    """max ‖z‖²: R² with the constant, twice that for several classes."""
    return (sq_radius(rows) + bool(fit_intercept)) * (1 if blocks == 1 else 2)


def _given(constraints: Constraints, coef: Any, intercept: Any) -> Hypothesis:
    """The hypothesis that a user gives, as arrays or as a fitted model."""
    if hasattr(coef, "fit"):
        if intercept is not None:
            raise ValueError("a model in place of coef brings its own intercept: pass no other")
        coef, intercept, _ = of_model(coef, constraints.rows)
    w = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    shape = (constraints.blocks, constraints.rows.n_features)
    if w.shape != shape:
        raise ValueError(f"coef must be of shape {shape}, got {np.shape(coef)}")
    b = np.asarray(0.0 if intercept is None else intercept, dtype=np.float64).ravel()
    if b.shape not in ((1,), (constraints.blocks,)):
        raise ValueError(f"intercept must be a number or of shape ({constraints.blocks},), got {np.shape(intercept)}")
    if not (np.isfinite(w).all() and np.isfinite(b).all() and w.any()):
        raise ValueError("coef and intercept must be finite, and coef not all zero")
    if not constraints.bias and b.any():
        raise ValueError("intercept must be 0 with fit_intercept=False")
    return Hypothesis(w, np.broadcast_to(b, (constraints.blocks,)).copy())


def _novikoff(constraints: Constraints, R2: Fraction, given: Hypothesis | None) -> Proved | None:
    """Novikoff's bound for the hypothesis given, or for the best one; None if it does not separate."""
    if given is None:
        proof = best(constraints, free=not constraints.bias)
        if not isinstance(proof, Separator):
            return None
        given = proof.hypothesis
    least, _, _ = exact.smallest_margin(constraints, given)
    if least <= 0:
        return None
    squares = exact.sq_length(given, free=False)
    return Proved("novikoff", float_up(R2 * squares / least**2), root_down(least**2 / squares), given)


def _one_pass(constraints: Constraints, R2: Fraction, given: Hypothesis | None) -> Proved:
    """The best bound for one pass, by the hypothesis given or by one that makes the bound small."""
    bounds = []
    for theorem, root in (("freund-schapire", _root_freund_schapire), ("gentile", _root_gentile)):
        with np.errstate(all="ignore"):  # what leaves the range of floats proves nothing
            hypothesis = _optimised(constraints, root, root_up(R2), given)
            values, _ = constraints.margins(hypothesis)
            short = np.maximum(0.0, 1.0 - (values - constraints.error(hypothesis)))
            if not np.isfinite((short * short).sum()) or not np.isfinite(hypothesis.w).all():
                continue
        inflated = 1 + Fraction(len(short) + 8) * Fraction(float(np.finfo(np.float64).eps))  # rounding of sums
        linear, square = (Fraction(float(total)) * inflated for total in (short.sum(), (short * short).sum()))
        squares = exact.sq_length(hypothesis, free=False)
        if squares == 0:  # w = 0 falls short by 1 on every row: it proves n
            continue
        bound = _formula(theorem, linear, square, squares, R2)
        shortfall = linear if theorem == "gentile" else Fraction(root_up(square / squares))
        bounds.append(Proved(theorem, float_up(bound), root_down(1 / squares), hypothesis, float_up(shortfall)))
    bounds.append(Proved("n", float(len(constraints.rows)), None, None))
    return min(bounds, key=lambda candidate: candidate.bound)


def _formula(theorem: str, linear: Fraction, square: Fraction, squares: Fraction, R2: Fraction) -> Fraction:
    """The bound for w with ‖w‖² = `squares` and γ = 1/‖w‖: `linear` is Σ max(0, 1 − z·w), `square` that of squares."""
    if theorem == "freund-schapire":
        return (Fraction(root_up(R2 * squares)) + Fraction(root_up(square))) ** 2
    half = R2 * squares / 2
    return half + linear + Fraction(root_up(2 * half * linear + half**2))


# -- a short optimisation ----------------------------------------------------------------------------------------

Root = Callable[[float, float, Floats], tuple[float, float, Floats]]


def _root_freund_schapire(R: float, length: float, short: Floats) -> tuple[float, float, Floats]:
    """√bound = R‖w‖ + ‖s‖, s = max(0, 1 − z·w), and its derivatives by ‖w‖ and s; convex in w."""
    size = float(np.linalg.norm(short))
    return R * length + size, R, short / (size or 1.0)


def _root_gentile(R: float, length: float, short: Floats) -> tuple[float, float, Floats]:
    """√bound = (R‖w‖ + √(R²‖w‖² + 4L))/2, L = Σs, and its derivatives by ‖w‖ and s."""
    a, b = R * length, math.sqrt((R * length) ** 2 + 4 * float(short.sum())) or 1.0
    return (a + b) / 2, R * (1 + a / b) / 2, (short > 0) / b


def _optimised(constraints: Constraints, root: Root, R: float, given: Hypothesis | None) -> Hypothesis:
    """A hypothesis with a small bound: a multiple of the one given, or the best that a few steps of L-BFGS find."""
    shape = (constraints.blocks, constraints.rows.n_features + 1)

    def made(v: Floats) -> Hypothesis:
        lines = v.reshape(shape)
        return Hypothesis(lines[:, :-1], lines[:, -1] * constraints.bias)

    def value(v: Floats) -> tuple[float, Floats]:
        margins, rivals = constraints.margins(made(v))
        short = np.maximum(0.0, 1.0 - margins)
        length = float(np.linalg.norm(v))
        total, by_length, by_short = root(R, length, short)
        slope = by_length * v / (length or 1.0) - _combined(constraints, by_short, rivals).ravel()
        return total, slope

    if given is None:
        mean = _combined(constraints, np.ones(len(constraints.rows)), 1 - constraints.codes.astype(np.intp))
        start = mean.ravel() / (float(np.linalg.norm(mean)) * R or 1.0)
        return made(minimize(value, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x)
    direction = np.column_stack([given.w, given.b]).ravel()
    direction = direction / np.abs(direction).max()
    direction = direction / (np.linalg.norm(direction) * R or 1.0)
    found = minimize_scalar(lambda log: value(np.exp(log) * direction)[0], bounds=(-20.0, 40.0), method="bounded")
    return made(np.exp(found.x) * direction)


def _combined(constraints: Constraints, weights: Floats, rivals: Ints) -> Floats:
    """Σ weight_i·z_i with the part of the bias as the last column; in blocks, so that rows are not copied."""
    n, blocks = len(weights), constraints.blocks
    own = constraints.codes.astype(np.intp)
    total = np.zeros((blocks, constraints.rows.n_features + 1))
    matrix = constraints.rows.matrix()
    for begin in range(0, n, BLOCK):
        part = slice(begin, begin + BLOCK)
        if blocks == 1:
            signed = (weights[part] * np.where(own[part] == 1, 1.0, -1.0))[:, np.newaxis]
        else:
            every = np.arange(len(own[part]))
            signed = np.zeros((len(every), blocks))
            signed[every, own[part]] += weights[part]
            signed[every, rivals[part]] -= weights[part]
        total[:, :-1] += (matrix[part].T @ signed).T
        total[:, -1] += constraints.bias * signed.sum(axis=0)
    return total
