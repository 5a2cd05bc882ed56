"""Whether rows can be separated by a hyperplane: a verdict that comes with its certificate."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from perceptrons.data import Rows
from perceptrons.learn.labels import encode
from perceptrons.models import validation
from perceptrons.theory import wording
from perceptrons.theory.certificate import Certificate, CertificateError, check
from perceptrons.theory.inputs import only_one, read, sq_radius
from perceptrons.theory.kernel_separability import KernelSeparability, kernel_separability
from perceptrons.theory.rounding import root_up
from perceptrons.theory.solver.constraints import Constraints, Hypothesis, Ints
from perceptrons.theory.solver.irreducible import irreducible
from perceptrons.theory.solver.proof import Contradiction, Separator, Undecided, best, decide, margin, unit

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Separability:
    """The verdict of `separability`, with its certificate. `print` gives a short report.

    Attributes
    ----------
    separable : bool or None
        The verdict of exact arithmetic. None: exact arithmetic would take too long, `reason` says why.
    fit_intercept : bool
        Whether hypotheses have a bias.
    other : bool or None
        The verdict with the other setting of `fit_intercept`.
    classes : ndarray
        Sorted; of two, the second is +1.
    n_rows, n_features : int
    radius : float
        R, the length of the longest row, rounded up.
    reason : str
        How the verdict came about, in a sentence.
    coef, intercept : ndarray and float, or of shapes (n_classes, n_features) and (n_classes,)
        If separable: the best separator, ‖coef‖ = 1 up to rounding.
    margin, margin_bounds : float and (low, high)
        The largest margin is enclosed by the bounds: `low` is that of the separator, `high` the length of a point of
        the hull. `margin` is `low`. With one class all of them are infinite.
    augmented_margin, augmented_separator : float and ndarray
        The largest margin through the origin, and the unit vector that attains it, when the constant 1 is appended to
        the rows (with a bias, its weight is the last): what Novikoff's bound is about.
    support : ndarray of int
        The rows that define the margin; or those that already cannot be separated.
    rivals : ndarray
        The class that each of these rows is set against.
    weights : list of Fraction
        Their multipliers λ, exact: Σ λ_i z_i is the point of the hull nearest to 0; if not separable, it is 0. (Two
        classes: z_i = y_i·x_i, and Σ λ_i y_i = 0 with a bias.)
    point : ndarray or None
        If two classes are not separable: a point that both hulls have in common (without a bias: both cones).
    irreducible : ndarray of int or None
        If not separable: rows that cannot be separated, but without any one of them can. None if, with several
        classes, they would take too long to find.
    certificate : Certificate or None
        If separable: the separators that `check` verifies. They are `coef` and `augmented_separator` themselves, or
        rationals where floats would not separate (as well).
    pairs : dict
        With ``pairwise=True``: one result for each pair of classes.
    """

    separable: bool | None
    fit_intercept: bool
    other: bool | None
    classes: Array
    n_rows: int
    n_features: int
    radius: float
    reason: str
    coef: Array | None = None
    intercept: Any = None
    margin: float | None = None
    margin_bounds: tuple[float, float] | None = None
    augmented_margin: float | None = None
    augmented_separator: Array | None = None
    support: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    rivals: Array = field(default_factory=lambda: np.empty(0))
    weights: list[Fraction] = field(default_factory=list)
    point: Array | None = None
    irreducible: Ints | None = None
    certificate: Certificate | None = None
    pairs: dict[tuple[Any, Any], Separability] = field(default_factory=dict)

    def check(self, X: Any, y: Any) -> bool:
        """Verify the certificate for these rows in exact rational arithmetic: True, or an error that says what fails.

        Verified are the verdict, the bounds of the margin, the augmented margin, the radius, support and weights, that
        `coef`, `intercept` and `augmented_separator` are those of the certificate, and of two classes the point and
        that rows are irreducible. Not verified are the verdict `other`, and irreducible rows of several classes. It is
        plain code that shares nothing with the solver, and reads every number of X: some seconds for ten million.

        Raises
        ------
        CertificateError
            If the certificate does not hold for these rows.
        """
        rows, labels = read(X, y, "check", any_length=True)
        try:
            codes = encode(labels, self.classes)
        except ValueError as error:
            raise CertificateError(f"the certificate is about other labels: {error}") from error
        check(self, rows, codes.tolist())
        for (a, b), result in zip(_pairs(len(self.classes)), self.pairs.values(), strict=False):
            both = np.flatnonzero((codes == a) | (codes == b))
            check(result, rows.take(both), (codes[both] == b).tolist())
        return True

    def __repr__(self) -> str:
        return wording.brief(self)

    def __str__(self) -> str:
        sizes = (
            wording.count(self.n_rows, "row"),
            wording.count(self.n_features, "feature"),
            wording.count(len(self.classes), "class", "classes"),
        )
        meeting = []
        if self.point is not None and self.fit_intercept:
            point = np.array2string(self.point, precision=6, threshold=8, edgeitems=3)
            meeting.append(f"  both hulls meet   at {point}")
        return wording.report(self, f" ({', '.join(sizes)})", "row", meeting)


@overload
def separability(X: Any, y: Any, *, fit_intercept: bool = True, pairwise: bool = False) -> Separability: ...


@overload
def separability(
    X: None = None, y: Any = None, *, K: Any, K_error: float = 0.0, fit_intercept: bool = True, pairwise: bool = False
) -> KernelSeparability: ...


def separability(
    X: Any = None,
    y: Any = None,
    *,
    K: Any = None,
    K_error: float = 0.0,
    fit_intercept: bool = True,
    pairwise: bool = False,
) -> Separability | KernelSeparability:
    """Whether a hyperplane separates the classes, proved: with the largest margin, or why none does.

    The verdict is that of exact arithmetic on the floats given, for any finite input: touching hulls (margin 0) are not
    separable, a margin of 1e-300 is. Floats find the answer on a small working set of rows, and rational arithmetic
    proves it; should that take too long, the verdict is None.

    With a kernel matrix K in place of X, all of it is about the points of the kernel's feature space.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Read in place where possible.
    y : array-like of shape (n_samples,)
        Labels of two or more classes. Several are one problem: each row must score highest for its own class.
    K : array-like of shape (n_samples, n_samples), optional
        Inner products of all pairs of points, in place of X: symmetric and positive semi-definite up to rounding (of
        entries that differ, those above the diagonal count).
        Copies of a row must have the same inner products to the last bit to be seen as such. 1,000 points with a
        Gaussian kernel take some seconds, 2,000 half a minute; several classes a multiple of that.
    K_error : float, default=0.0
        A bound on the error of each entry of K. With 0 the verdict is exact for the floats of K, also where their
        rounding decides it. Else it is about the true kernel matrix, which is within that distance of K and
        positive semi-definite; it is then True where that is proved, and None elsewhere.
    fit_intercept : bool, default=True
        Whether the hyperplane may miss the origin.
    pairwise : bool, default=False
        Also each pair of classes by itself, as `result.pairs[a, b]`.

    Returns
    -------
    Separability, or KernelSeparability with K

    Examples
    --------
    >>> result = separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> result.separable, round(result.margin, 4), result.other
    (True, 0.3536, False)
    >>> exclusive_or = separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> print(exclusive_or)
    not separable with a bias, not separable without one (4 rows, 2 features, 2 classes)
      irreducible       4 rows: 0, 1, 2, 3 cannot be separated; without any one of them they can
      both hulls meet   at [0.5 0.5]
      proof             multipliers of 4 rows, exact rationals, combine them to 0
    >>> exclusive_or.weights
    [Fraction(1, 4), Fraction(1, 4), Fraction(1, 4), Fraction(1, 4)]
    >>> exclusive_or.check([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    True
    """
    only_one(X, K, "separability")
    if K is not None:
        return kernel_separability(K, y, error=K_error, fit_intercept=bool(fit_intercept), pairwise=pairwise)
    if K_error:
        raise ValueError(f"K_error={K_error} is about the entries of K, but X is given")
    rows, labels = read(X, y, "separability", any_length=True)
    classes = validation.distinct(labels)
    codes = encode(labels, classes)
    result = _result(rows, codes, classes, bool(fit_intercept))
    if pairwise:
        names: list[Any] = list(classes) if classes.dtype.kind in "mM" else classes.tolist()
        pairs = {}
        for a, b in _pairs(len(classes)):
            both = np.flatnonzero((codes == a) | (codes == b))
            two = (codes[both] == b).astype(np.uint8)
            pairs[names[a], names[b]] = _result(rows.take(both), two, classes[[a, b]], bool(fit_intercept))
        result = replace(result, pairs=pairs)
    return result


def _pairs(n_classes: int) -> list[tuple[int, int]]:
    """All pairs of classes, by their numbers, in the order of `Separability.pairs`."""
    return list(itertools.combinations(range(n_classes), 2))


def _result(rows: Rows, codes: Array, classes: Array, fit_intercept: bool) -> Separability:
    """The result for rows, the numbers of their classes, and the classes."""
    facts: dict[str, Any] = {
        "fit_intercept": fit_intercept,
        "classes": classes,
        "n_rows": len(rows),
        "n_features": rows.n_features,
        "radius": root_up(sq_radius(rows)),
    }
    if len(classes) == 1:
        none = "one class only: there is nothing to separate"
        inf = math.inf
        return Separability(
            True, other=True, reason=none, margin=inf, margin_bounds=(inf, inf), augmented_margin=inf, **facts
        )
    constraints = Constraints(rows, codes, len(classes), fit_intercept)
    proof = best(constraints)
    facts["other"] = _other(constraints, proof)
    if isinstance(proof, Undecided):
        unknowns = wording.count(constraints.dimension, "unknown")
        reason = f"floats cannot tell, the margin is 0 or nearly so; exact arithmetic with {unknowns} takes too long"
        return Separability(None, reason=reason, **facts)
    order = [i for i in np.argsort(proof.chosen.at, kind="stable") if proof.weights[i] > 0]
    at, rivals = proof.chosen.at[order], proof.chosen.rivals[order]
    weights = [proof.weights[i] for i in order]
    facts |= {"support": at, "rivals": classes[rivals], "weights": weights}
    number = wording.constraints(len(at), len(classes))
    if isinstance(proof, Contradiction):
        return Separability(
            False,
            reason=f"multipliers of {number}, exact rationals, combine them to 0",
            point=_meeting(rows, codes, at, weights) if len(classes) == 2 else None,
            irreducible=irreducible(constraints, proof),
            **facts,
        )
    augmented, augmented_margin = _augmented(constraints, proof)
    shown, both = _floats(proof.hypothesis, free=True), _floats(augmented, free=False)
    w, b = shown.w, shown.b
    separator = np.column_stack([both.w, both.b]) if fit_intercept else both.w
    kind = "floats" if proof.hypothesis.w.dtype == np.float64 else "exact rationals"
    return Separability(
        True,
        reason=f"a separator in {kind}, and a point of the hull with exact multipliers of {number}",
        coef=w[0] if constraints.blocks == 1 else w,
        intercept=float(b[0]) if constraints.blocks == 1 else b,
        margin=proof.low,
        margin_bounds=(proof.low, proof.high),
        augmented_margin=augmented_margin,
        augmented_separator=separator[0] if constraints.blocks == 1 else separator,
        certificate=Certificate(_whole(proof.hypothesis), _whole(augmented)),
        **facts,
    )


def _augmented(constraints: Constraints, proof: Separator) -> tuple[Hypothesis, float]:
    """The separator that is best when the bias counts as a weight, and its margin then."""
    if not constraints.bias:
        return proof.hypothesis, proof.low
    other = best(constraints, free=False, first=proof.chosen)
    same = proof.hypothesis if proof.hypothesis.w.dtype == object else unit(proof.hypothesis, free=False)
    low, _ = margin(constraints, same, free=False)
    if isinstance(other, Separator) and other.low > low:
        return other.hypothesis, other.low
    return same, low


def _other(constraints: Constraints, proof: Separator | Contradiction | Undecided) -> bool | None:
    """The verdict with the other setting of the bias.

    A separator without a bias is one with it, and multipliers that exclude one with a bias exclude one without.
    """
    if isinstance(proof, Separator if not constraints.bias else Contradiction):
        return not constraints.bias
    changed = replace(constraints, bias=not constraints.bias)
    near = isinstance(proof, Separator)  # a contradiction may be a single row, which is no place to begin
    other = decide(changed, first=changed.choose(proof.chosen.at, proof.chosen.rivals) if near else None)
    return {Hypothesis: True, Contradiction: False, Undecided: None}[type(other)]


def _floats(hypothesis: Hypothesis, *, free: bool) -> Hypothesis:
    """The hypothesis as floats: itself, or rationals rounded at unit length."""
    return unit(hypothesis, free) if hypothesis.w.dtype == object else hypothesis


def _whole(hypothesis: Hypothesis) -> list[list[Any]]:
    """Weights and bias of each block in one line."""
    lines: list[list[Any]] = np.column_stack([hypothesis.w, hypothesis.b]).tolist()
    return lines


def _meeting(rows: Rows, codes: Array, at: Ints, weights: list[Fraction]) -> Array:
    """Σ λ_i x_i/Σ λ_i over the rows of one class, a point in the hull (without a bias: cone) of the other, too."""
    mine = codes[at] == int(any(codes[at] == 1))
    total = sum(weight for weight, chosen in zip(weights, mine, strict=True) if chosen)
    shares = np.array([float(weight / total) for weight, chosen in zip(weights, mine, strict=True) if chosen])
    return np.asarray(shares @ rows.take(at[mine]).matrix().astype(np.float64))
