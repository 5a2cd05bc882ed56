"""Bounds on the mistakes of a perceptron: theorems, with the hypothesis that proves the number."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.solver import exact
from perceptrons.solver.constraints import Constraints, Hypothesis
from perceptrons.solver.gram import Gram
from perceptrons.solver.patience import OutOfTime
from perceptrons.solver.proof import Separator, best
from perceptrons.solver.rounding import down, float_up, root_down, root_up, up
from perceptrons.theory.certificate.mistakes import check_bound
from perceptrons.theory.certificate.points import CertificateError, KernelPoints, RowPoints, codes_of
from perceptrons.theory.inputs import read_either, read_problem
from perceptrons.theory.margins import as_hypothesis, of_model
from perceptrons.theory.one_pass import Proved, Root, one_pass, optimised
from perceptrons.theory.theorems import THEOREMS, sq_step

FAINT = 1e-8  # the search for a hypothesis ignores directions with relatively smaller eigenvalues


@dataclass(frozen=True, eq=False, repr=False)
class MistakeBound:
    """A bound on the mistakes of the plain perceptron that starts from zeros. Print it to see what proves it.

    Attributes
    ----------
    bound : float
        The largest possible number of mistakes, rounded up: in any number of passes if `theorem` is "novikoff",
        otherwise in one pass.
    theorem : {"novikoff", "freund-schapire", "gentile", "n"}
        The theorem that gives the bound; "n" stands for the number of rows.
    radius : float
        R, the length of the longest row, rounded up. With a bias, the constant 1 is appended to the rows.
    margin : float or None
        γ. For "novikoff" it is the margin of the hypothesis, rounded down. Otherwise it is the margin that the
        shortfall is measured from; for "gentile" that is 1/‖w‖. With a bias, the constant 1 is appended to the rows.
    coef, intercept : ndarray and float, or of shapes (n_classes, n_features) and (n_classes,)
        The hypothesis that proves the bound. Exact rationals where floats would not do. None if `theorem` is "n".
    shortfall : float
        D for "freund-schapire", L for "gentile", rounded up; 0 for "novikoff".
    fit_intercept : bool
        Whether the perceptron has a bias.
    classes : ndarray
        The sorted class labels.
    n_rows : int
        The number of rows.
    dual_coef : ndarray or None
        With a kernel matrix, α of the hypothesis w = Σ_j α_j·φ(x_j) instead of `coef`, of shape (n_rows,) or
        (n_classes, n_rows). The bound supposes that the matrix is positive semi-definite.
    K_error : float
        The bound on errors of the kernel matrix that the proof allows for.
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
        """Verify the bound for these rows: substitute the hypothesis into the theorem, in exact rational arithmetic.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows that the bound is about.
        y : array-like of shape (n_samples,)
            Their labels.
        K : array-like of shape (n_samples, n_samples), optional
            The kernel matrix of the rows, instead of X.

        Returns
        -------
        bool
            Always True.

        Raises
        ------
        CertificateError
            If the bound is not proved for these rows. The message says what fails.
        """
        rows, labels, _ = read_either(X, K, y, "check", self.K_error)
        if (self.coef if K is not None else self.dual_coef) is not None:
            about, passed = ("K", "rows X") if K is None else ("rows X", "K")
            raise CertificateError(f"the bound is about {about}, not {passed}")
        codes = codes_of(labels, self.classes, "bound").tolist()
        blocks = 1 if len(self.classes) == 2 else len(self.classes)
        if K is None:
            check_bound(self, RowPoints(rows, codes, blocks), self.coef)
        else:
            check_bound(self, KernelPoints(rows, codes, blocks, Fraction(self.K_error)), self.dual_coef)
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
            constant = " (including the constant 1 of the bias)" if self.fit_intercept else ""
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
    """Bound the mistakes of the plain perceptron on these rows, with the hypothesis that proves the bound.

    For separable rows, this is Novikoff's bound for the separator with the largest margin, or for the given one. For
    other rows, or if the given hypothesis does not separate them, it is the smaller of Freund & Schapire's and
    Gentile's bounds, which hold for one pass. They use the best hypothesis that a short optimisation finds, or the
    given one at its best scale. With several classes, a step changes two weight vectors at once, which doubles R².

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Labels of at least two classes.
    K : array-like of shape (n_samples, n_samples), optional
        The kernel matrix of the rows, instead of X, for a bound on the mistakes of the kernel perceptron. The bound
        supposes that K, or with K_error the true kernel matrix, is positive semi-definite.
    K_error : float, default=0.0
        A bound on the error of each entry of K, which the proof allows for.
    fit_intercept : bool, default=True
        Whether the perceptron has a bias. If so, the constant 1 is appended to the rows.
    coef, intercept : array-like, optional
        The hypothesis to use; the default intercept is 0. `coef` can be a fitted linear model.

    Returns
    -------
    MistakeBound
        The bound, its theorem and the hypothesis.

    Examples
    --------
    >>> print(mistake_bound([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]))
    at most 51 mistakes in any number of passes (4 rows)
      Novikoff 1962: (R·‖w‖/γ)² updates, in any order and any number of passes
      R = 1.73206, γ = 0.242535 (including the constant 1 of the bias)
    """
    if coef is None and intercept is not None:
        raise ValueError(f"intercept={intercept!r} needs the coef that it belongs to: pass both or neither")
    if coef is not None and K is not None:
        raise ValueError("coef is a hypothesis about rows X, but K is given: pass X with coef, or K alone")
    space, classes = read_problem(X, K, y, "mistake_bound", error=K_error, fit_intercept=fit_intercept)
    if len(classes) == 1:
        raise ValueError(f"mistake_bound needs rows of two classes or more, got only {classes.tolist()[0]!r}")
    given = None if coef is None else _given(space, coef, intercept)
    return _bound(space, classes, given)


def _bound(space: Constraints, classes: npt.NDArray[Any], given: Hypothesis | None) -> MistakeBound:
    """The bound for rows or for points of a feature space."""
    longest, kernel = space.sq_radius(), isinstance(space, Gram)
    R2 = sq_step(longest, space.bias, space.blocks)

    def find(root: Root) -> Hypothesis:
        R = root_up(R2)
        return _in_span(space, root, R) if isinstance(space, Gram) else optimised(space, root, R, given)

    found = _novikoff(space, R2, given) or one_pass(space, R2, find)
    w = b = None
    if found.hypothesis is not None:
        w, b = found.hypothesis.w, found.hypothesis.b
        w, b = (w[0], b[0]) if len(w) == 1 else (w, b)
    return MistakeBound(
        bound=found.bound,
        theorem=found.theorem,
        radius=root_up(longest + space.bias),
        margin=found.margin,
        coef=None if kernel else w,
        intercept=b,
        shortfall=found.shortfall,
        fit_intercept=space.bias,
        classes=classes,
        n_rows=len(space.rows),
        dual_coef=w if kernel else None,
        K_error=space.K_error if isinstance(space, Gram) else 0.0,
    )


def _given(constraints: Constraints, coef: Any, intercept: Any) -> Hypothesis:
    """The hypothesis of the user, from arrays or from a fitted model."""
    if hasattr(coef, "fit"):
        if intercept is not None:
            raise ValueError("a model passed as coef has its own intercept: do not pass another")
        coef, intercept, _ = of_model(coef, constraints.rows)
    hypothesis = as_hypothesis(constraints, coef, 0.0 if intercept is None else intercept)
    if not constraints.bias and hypothesis.b.any():
        raise ValueError("intercept must be 0 with fit_intercept=False")
    return hypothesis


def _novikoff(space: Constraints, R2: Fraction, given: Hypothesis | None) -> Proved | None:
    """Novikoff's bound for the given hypothesis, or for the best one; None if it does not separate."""
    if given is None:
        try:
            proof = best(space, free=not space.bias)
        except OutOfTime:
            return None
        if not isinstance(proof, Separator):
            return None
        if isinstance(space, Gram):
            return Proved("novikoff", float_up(R2 / Fraction(proof.low) ** 2), proof.low, proof.hypothesis)
        given = proof.hypothesis
    least, _, _ = exact.smallest_margin(space, given)
    if least <= 0:
        return None
    squares = space.sq_length(given, free=False)
    return Proved("novikoff", float_up(R2 * squares / least**2), root_down(least**2 / squares), given)


def _in_span(gram: Gram, root: Root, R: float) -> Hypothesis:
    """Find a hypothesis with a small bound in the rows of L, as coefficients of the points.

    The columns of L are eigenvectors, so w = Lᵀα for α = L·(w/‖column‖²).
    """
    sizes = (gram.L * gram.L).sum(axis=0)
    clear = sizes > FAINT * sizes.max()
    if not clear.any():  # all points are 0
        return Hypothesis(np.zeros((gram.blocks, len(gram.K))), np.zeros(gram.blocks))
    L, sizes = np.ascontiguousarray(gram.L[:, clear]), sizes[clear]
    found = optimised(replace(gram, L=L).searched, root, R, None)
    return Hypothesis((found.w / sizes) @ L.T, found.b)
