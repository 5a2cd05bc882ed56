"""How many mistakes a perceptron can make, at most: theorems with the hypothesis that proves the number."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.data import as_rows
from perceptrons.learn.labels import encode
from perceptrons.models import validation
from perceptrons.theory.certificate import CertificateError, exact_margins
from perceptrons.theory.inputs import only_one, read, read_kernel, sq_radius
from perceptrons.theory.kernel_certificate import exact_lines, kernel_margins, kernel_squares
from perceptrons.theory.margins import of_model
from perceptrons.theory.one_pass import Proved, Root, formula, one_pass, optimised
from perceptrons.theory.rounding import down, float_up, root_down, root_up, up
from perceptrons.theory.solver import exact
from perceptrons.theory.solver.constraints import Constraints, Hypothesis
from perceptrons.theory.solver.gram import Gram, factor, prove
from perceptrons.theory.solver.proof import Separator, best

FAINT = 1e-8  # directions with eigenvalues smaller than this, relatively, are left out of the search for a hypothesis

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
    dual_coef : ndarray or None
        With a kernel matrix, in place of `coef`: α of the hypothesis w = Σ_j α_j·φ(x_j), of shape (n_rows,) or
        (n_classes, n_rows). The bound supposes that the matrix is positive semi-definite.
    K_error : float
        The bound on errors of the entries of the kernel matrix that is allowed for.
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
    dual_coef: Any = None
    K_error: float = 0.0

    def check(self, X: Any = None, y: Any = None, *, K: Any = None) -> bool:
        """Substitute the hypothesis into the formula in exact rational arithmetic: True, or CertificateError."""
        only_one(X, K, "check")
        error = Fraction(self.K_error)
        if K is None:
            rows, labels = read(X, y, "check")
            longest = sq_radius(rows)
        else:
            table, labels, _ = read_kernel(K, y, "check", self.K_error)
            rows, longest = as_rows(table, any_length=True), Fraction(float(table.diagonal().max())) + error
        if (self.coef if K is not None else self.dual_coef) is not None:
            raise CertificateError("the bound is about rows X, not K" if K is not None else "it is about K, not rows X")
        try:
            codes = encode(labels, self.classes).tolist()
        except ValueError as other:
            raise CertificateError(f"the bound is about other labels: {other}") from other
        hypothesis = self.coef if K is None else self.dual_coef
        w = np.atleast_2d(hypothesis)
        if len(rows) != self.n_rows or (hypothesis is not None and rows.n_features != w.shape[1]):
            raise CertificateError(
                f"X has {len(rows)} rows of {rows.n_features} features, the bound is about {self.n_rows} rows"
                + ("" if hypothesis is None else f" of {w.shape[1]}")
            )
        if self.theorem not in THEOREMS or Fraction(self.radius) ** 2 < longest + self.fit_intercept:
            raise CertificateError(f"{self.theorem!r} is no theorem, or R = {self.radius} shorter than a row")
        if math.isinf(self.bound):
            return True
        if self.theorem == "n":
            proved = Fraction(len(rows))
        else:
            if len(w) != (1 if len(self.classes) == 2 else len(self.classes)):
                raise CertificateError(f"the hypothesis has {len(w)} lines for {len(self.classes)} classes")
            lines = exact_lines(w, w.shape[1])
            biases = exact_lines(np.broadcast_to(self.intercept, (len(w),)), 1)
            if not self.fit_intercept and any(bias for (bias,) in biases):
                raise CertificateError("the hypothesis has a bias, but fit_intercept is False")
            if K is None:
                margins = list(exact_margins(rows, codes, [[*line, *b] for line, b in zip(lines, biases, strict=True)]))
                squares = sum((weight**2 for line in lines for weight in line), Fraction(0))
            else:
                margins = kernel_margins(rows, codes, lines, biases, error)
                squares = kernel_squares(rows, lines, error)
                if squares <= 0:
                    raise CertificateError("K is not positive semi-definite, or the hypothesis is 0")
            squares += sum(bias**2 for (bias,) in biases)
            R2 = _sq_step(longest, self.fit_intercept, len(w))
            least = min(margins) if self.theorem == "novikoff" else Fraction(1)
            if least <= 0 or Fraction(self.margin or 0.0) ** 2 * squares > least**2:
                raise CertificateError(f"the hypothesis does not have the margin {self.margin} for these rows")
            short = [max(Fraction(0), 1 - margin) for margin in margins]
            linear, square = sum(short, Fraction(0)), sum((loss**2 for loss in short), Fraction(0))
            novikoff = self.theorem == "novikoff"
            proved = R2 * squares / least**2 if novikoff else formula(self.theorem, linear, square, squares, R2)
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
    X: Any = None,
    y: Any = None,
    *,
    K: Any = None,
    K_error: float = 0.0,
    fit_intercept: bool = True,
    coef: Any = None,
    intercept: Any = None,
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
    K : array-like of shape (n_samples, n_samples), optional
        The kernel matrix of the rows, in place of X: the bound is then one for the kernel perceptron. It supposes that
        K is positive semi-definite, or with K_error the true kernel matrix.
    K_error : float, default=0.0
        A bound on the error of each entry of K, which the bound then allows for.
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
    only_one(X, K, "mistake_bound")
    if coef is None and intercept is not None:
        raise ValueError(f"intercept={intercept!r} needs the coef that it belongs to: pass both or neither")
    if K is not None:
        if coef is not None:
            raise ValueError("coef is a hypothesis about rows X: pass X, or K alone")
        return _of_kernel(K, y, K_error, bool(fit_intercept))
    if K_error:
        raise ValueError(f"K_error={K_error} is about the entries of K, but X is given")
    rows, labels = read(X, y, "mistake_bound")
    classes = _several(labels)
    constraints = Constraints(rows, encode(labels, classes), len(classes), bool(fit_intercept))
    longest = sq_radius(rows)
    R2 = _sq_step(longest, constraints.bias, constraints.blocks)
    given = None if coef is None else _given(constraints, coef, intercept)
    found = _novikoff(constraints, R2, given) or one_pass(
        len(rows),
        R2,
        find=lambda root: optimised(constraints, root, root_up(R2), given),
        margins=lambda hypothesis: constraints.margins(hypothesis)[0] - constraints.error(hypothesis),
        sq_length=lambda hypothesis: exact.sq_length(hypothesis, free=False),
    )
    w, b = _shown(found)
    return MistakeBound(
        bound=found.bound,
        theorem=found.theorem,
        radius=root_up(longest + constraints.bias),
        margin=found.margin,
        coef=w,
        intercept=b,
        shortfall=found.shortfall,
        fit_intercept=constraints.bias,
        classes=classes,
        n_rows=len(rows),
    )


def _several(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The classes among labels, of which there must be two at least."""
    classes = validation.distinct(labels)
    if len(classes) == 1:
        raise ValueError(f"mistake_bound needs rows of two classes or more, got only {classes.tolist()[0]!r}")
    return classes


def _shown(found: Proved) -> tuple[Any, Any]:
    """Weights and biases of the hypothesis, without the axis of blocks where there is one."""
    if found.hypothesis is None:
        return None, None
    w, b = found.hypothesis.w, found.hypothesis.b
    return (w[0], b[0]) if len(w) == 1 else (w, b)


def _sq_step(longest: Fraction, fit_intercept: bool, blocks: int) -> Fraction:
    """max ‖z‖²: R² with the constant, twice that for several classes; `longest` is R² without it."""
    return (longest + bool(fit_intercept)) * (1 if blocks == 1 else 2)


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


def _of_kernel(K: Any, y: Any, error: float, fit_intercept: bool) -> MistakeBound:
    """The bound for the kernel perceptron, by the kernel matrix of its rows."""
    table, labels, slack = read_kernel(K, y, "mistake_bound", error)
    classes = _several(labels)
    codes = encode(labels, classes)
    gram = Gram(table, factor(table, slack), codes, len(classes), fit_intercept, float(error))
    longest, constraints = gram.sq_radius(), gram.constraints
    R2 = _sq_step(longest, fit_intercept, constraints.blocks)
    proof = prove(gram, free=not fit_intercept)
    if isinstance(proof, Separator):
        found = Proved("novikoff", float_up(R2 / Fraction(proof.low) ** 2), proof.low, proof.hypothesis)
    else:
        found = one_pass(
            len(table),
            R2,
            find=lambda root: _in_span(gram, root, root_up(R2)),
            margins=lambda h: constraints.margins(h)[0] - constraints.error(h) - float_up(gram.loss(h.w)),
            sq_length=lambda h: gram.sq_length(h.w) + sum(Fraction(b) ** 2 for b in h.b.tolist()),
        )
    w, b = _shown(found)
    return MistakeBound(
        bound=found.bound,
        theorem=found.theorem,
        radius=root_up(longest + fit_intercept),
        margin=found.margin,
        coef=None,
        intercept=b,
        shortfall=found.shortfall,
        fit_intercept=fit_intercept,
        classes=classes,
        n_rows=len(table),
        dual_coef=w,
        K_error=gram.error,
    )


def _in_span(gram: Gram, root: Root, R: float) -> Hypothesis:
    """A hypothesis with a small bound, found in the rows of L, as coefficients of the points.

    The columns of L are eigenvectors, so w = Lᵀα for α = L·(w/‖column‖²).
    """
    sizes = (gram.L * gram.L).sum(axis=0)
    clear = sizes > FAINT * sizes.max()
    if not clear.any():  # all points are 0
        return Hypothesis(np.zeros((gram.constraints.blocks, len(gram.K))), np.zeros(gram.constraints.blocks))
    L, sizes = np.ascontiguousarray(gram.L[:, clear]), sizes[clear]
    found = optimised(replace(gram, L=L).factored, root, R, None)
    return Hypothesis((found.w / sizes) @ L.T, found.b)
