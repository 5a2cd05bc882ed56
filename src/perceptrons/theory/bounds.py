"""Bounds on the mistakes of a perceptron: theorems, with the hypothesis that proves the number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy.typing as npt

from perceptrons import rules
from perceptrons.rules import Plain
from perceptrons.solver.constraints import Constraints, Hypothesis
from perceptrons.solver.gram import Gram
from perceptrons.solver.rounding import down, root_up, up
from perceptrons.theory.certificate.mistakes import check_bound
from perceptrons.theory.certificate.points import CertificateError, KernelPoints, RowPoints, codes_of
from perceptrons.theory.inputs import read_either, read_problem
from perceptrons.theory.margins import as_hypothesis, of_model
from perceptrons.theory.proving import prove
from perceptrons.theory.theorems import any_passes, counts_updates, refuse, statement

PLAIN = rules.resolve("perceptron")
SQUARED = "Σ(1 − y·w·x)²"
SHORT = {"freund-schapire": "D", "gentile": "L", "pa": "Σℓ*", "alma": "L", "arow": SQUARED, "sop": SQUARED}


@dataclass(frozen=True, eq=False, repr=False)
class MistakeBound:
    """A bound on the mistakes of a perceptron that starts from zeros. Print it to see what proves it.

    Attributes
    ----------
    bound : float
        The largest possible number of mistakes, rounded up: in any number of passes if `theorem` is "novikoff" or ends
        with "-separable", otherwise in one pass. For rules that also update rows that are right (margin, uneven,
        ALMA), it holds for the number of updates; the other rules may make more updates than mistakes.
    theorem : str
        The theorem that gives the bound: "novikoff", "freund-schapire" or "gentile" for the rules perceptron, margin
        and uneven; "pa-separable" or "pa" for the passive-aggressive rules; "romma-separable"; "alma-separable" or
        "alma"; "arow"; "sop-separable" or "sop". "n" stands for the number of rows.
    radius : float
        R, the length of the longest row, rounded up. With a bias, the constant 1 is appended to the rows.
    margin : float or None
        γ. For any number of passes it is the margin of the hypothesis, rounded down; for ALMA, of the rows at length 1.
        Otherwise it is 1/‖w‖, the margin that the shortfall is measured from. With a bias, the constant 1 is appended
        to the rows.
    coef, intercept : ndarray and float, or of shapes (n_classes, n_features) and (n_classes,)
        The hypothesis that proves the bound. Exact rationals where floats would not do. None if `theorem` is "n".
    shortfall : float
        D for "freund-schapire", L for "gentile" and "alma", Σ max(0, 1 − y·w·x) for "pa", Σ (1 − y·w·x)² for "arow" and
        "sop", rounded up; 0 for any number of passes.
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
    rule : NamedTuple
        The rule that the bound is about, with its parameters.
    log_det : float or None
        ln det(I + Σxxᵀ/r) for "arow" and ln det(I + Σxxᵀ/a) for "sop", rounded up.

    Examples
    --------
    >>> from perceptrons.theory import mistake_bound
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> result = mistake_bound(X, y)
    >>> result.theorem, round(result.bound, 6)
    ('novikoff', 51.0)
    >>> result.check(X, y)
    True
    >>> mistake_bound(X, y, rule="pa1")
    <MistakeBound: 51 of PA1(C=1.0) by pa-separable, 4 rows>
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
    rule: Any = PLAIN
    log_det: float | None = None

    def check(self, X: Any = None, y: Any = None, *, K: Any = None) -> bool:
        """Verify the bound for these rows: substitute the hypothesis into the theorem, in exact rational arithmetic.

        Roots and logarithms are rounded outward; the error of ln det in floats is bounded.

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
        ValueError
            If the rows or labels cannot be read, for instance because X has NaN.
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
        about = "" if isinstance(self.rule, Plain) else f" of {self.rule!r}"
        return f"<MistakeBound: {self.bound:.6g}{about} by {self.theorem}, {self.n_rows} rows>"

    def __str__(self) -> str:
        passes = "in any number of passes" if any_passes(self.theorem) else "in one pass"
        most = "any number of" if math.isinf(self.bound) else f"at most {math.floor(self.bound):,}"
        counted = "updates" if counts_updates(self.rule) else "mistakes"
        about = "" if isinstance(self.rule, Plain) else f" of {self.rule!r}"
        formula = statement(self.theorem, self.rule, len(self.classes))
        lines = [f"{most} {counted}{about} {passes} ({self.n_rows:,} rows)", f"  {formula}"]
        if math.isinf(self.bound):
            lines[0] += ": the bound is beyond all floats"
        if self.margin is not None:
            short = f", {SHORT[self.theorem]} = {up(self.shortfall, 6)}" if self.theorem in SHORT else ""
            short += "" if self.log_det is None else f", ln det = {up(self.log_det, 6)}"
            constant = " (including the constant 1 of the bias)" if self.fit_intercept else ""
            lines.append(f"  R = {up(self.radius, 6)}, γ = {down(self.margin, 6)}{short}{constant}")
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
    rule: Any = "perceptron",
) -> MistakeBound:
    """Bound the mistakes of a perceptron on these rows, with the hypothesis that proves the bound.

    For separable rows, this is Novikoff's bound for the separator with the largest margin, or for the given one. For
    other rows, or if the given hypothesis does not separate them, it is the smaller of Freund & Schapire's and
    Gentile's bounds, which hold for one pass. They use the best hypothesis that a short optimisation finds, or the
    given one at its best scale. With several classes, a step changes two weight vectors at once, which doubles R².

    Other rules have theorems of their own, or none. Separable rows have a bound for any number of passes with margin,
    uneven, pa, pa1, pa2, romma, alma and sop. One pass over any rows has a bound with margin, uneven, pa, pa1, pa2,
    alma, arow and sop; with romma it is the number of rows. For arow and sop, you need two classes and the full
    covariance. For cw, scw1, scw2, nherd, shifting and rules of your own no bound is known.

    All bounds suppose exact arithmetic, eta0=1, zeros at the start and no weights. They hold for any order and `tie`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Labels of at least two classes.
    K : array-like of shape (n_samples, n_samples), optional
        The kernel matrix of the rows, instead of X, for the kernel perceptron. The true matrix must be semi-definite.
    K_error : float, default=0.0
        A bound on the error of each entry of K, which the proof allows for.
    fit_intercept : bool, default=True
        Whether the perceptron has a bias. If so, the constant 1 is appended to the rows.
    coef, intercept : array-like, optional
        The hypothesis to use; the default intercept is 0. `coef` can be a fitted linear model.
    rule : str or rule object, default="perceptron"
        The rule of the model, with its parameters: ``"pa"``, ``PA1(C=0.5)`` or ``AROW(covariance="full")``.

    Returns
    -------
    MistakeBound
        The bound, its theorem and the hypothesis that proves it.

    Raises
    ------
    ValueError
        If no bound is known for the rule, there is only one class, `coef` does not fit, or both X and K are given.

    Examples
    --------
    >>> print(mistake_bound([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]))
    at most 51 mistakes in any number of passes (4 rows)
      Novikoff 1962: (R·‖w‖/γ)² updates, in any order and any number of passes
      R = 1.73206, γ = 0.242535 (including the constant 1 of the bias)
    """
    rule = rules.resolve(rule)
    if coef is None and intercept is not None:
        raise ValueError(f"intercept={intercept!r} needs the coef that it belongs to: pass both or neither")
    if coef is not None and K is not None:
        raise ValueError("coef is a hypothesis about rows X, but K is given: pass X with coef, or K alone")
    space, classes = read_problem(X, K, y, "mistake_bound", error=K_error, fit_intercept=fit_intercept)
    if len(classes) == 1:
        raise ValueError(f"mistake_bound needs rows of two classes or more, got only {classes.tolist()[0]!r}")
    refuse(rule, len(classes), K is not None, K_error)
    given = None if coef is None else _given(space, coef, intercept)
    return _bound(space, classes, rule, given)


def _bound(space: Constraints, classes: npt.NDArray[Any], rule: Any, given: Hypothesis | None) -> MistakeBound:
    """The bound for rows or for points of a feature space."""
    kernel, found = isinstance(space, Gram), prove(space, rule, given)
    w = b = None
    if found.hypothesis is not None:
        w, b = found.hypothesis.w, found.hypothesis.b
        w, b = (w[0], b[0]) if len(w) == 1 else (w, b)
    return MistakeBound(
        bound=found.bound,
        theorem=found.theorem,
        radius=root_up(space.sq_radius() + space.bias),
        margin=found.margin,
        coef=None if kernel else w,
        intercept=b,
        shortfall=found.shortfall,
        fit_intercept=space.bias,
        classes=classes,
        n_rows=len(space.rows),
        dual_coef=w if kernel else None,
        K_error=space.K_error if isinstance(space, Gram) else 0.0,
        rule=rule,
        log_det=found.log_det,
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
