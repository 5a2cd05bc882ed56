"""Whether points of a kernel's feature space can be separated: a verdict that comes with its certificate."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.data import as_rows
from perceptrons.learn.labels import encode
from perceptrons.models import validation
from perceptrons.theory import wording
from perceptrons.theory.certificate import CertificateError
from perceptrons.theory.inputs import read_kernel
from perceptrons.theory.kernel_certificate import check_kernel
from perceptrons.theory.rounding import root_up, up
from perceptrons.theory.solver.constraints import Hypothesis, Ints
from perceptrons.theory.solver.gram import Gram, Open, factor, prove, unit
from perceptrons.theory.solver.irreducible import irreducible
from perceptrons.theory.solver.proof import Contradiction, Separator

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class KernelSeparability:
    """The verdict of `separability` on a kernel matrix, with its certificate. `print` gives a short report.

    Points are φ(x_i) with K_ij = φ(x_i)·φ(x_j), hypotheses w = Σ_j α_j·φ(x_j) with a bias b: their scores are K·α + b,
    and ‖w‖² = αᵀKα. (Several classes: one w a class, and ‖W‖² is the sum.)

    What is proved, with K_error=0: the verdict, for the floats of K; and the margins and R, if K is positive
    semi-definite. No floats of a computed kernel are so to the last bit. With K_error > 0, all of it is proved for the
    true kernel matrix, if that is semi-definite and nowhere farther from K.

    Attributes
    ----------
    separable : bool or None
        The verdict. None: not proved either way, `reason` says why.
    fit_intercept : bool
        Whether hypotheses have a bias.
    other : bool or None
        The verdict with the other setting of `fit_intercept`.
    classes : ndarray
        Sorted; of two, the second is +1.
    n_rows : int
    radius : float
        R, the length of the longest point, rounded up.
    K_error : float
        The bound on errors of K that all of this is about.
    reason : str
        How the verdict came about, in a sentence.
    dual_coef, intercept : ndarray of shape (n_rows,) and float, or of shapes (n_classes, n_rows) and (n_classes,)
        If separable: α and b of the best separator found, at ‖w‖ = 1 as far as floats can tell. Exact rationals of
        another length where floats would not do.
    margin, margin_bounds : float and (low, high)
        The largest margin is enclosed by the bounds: `low` is that of the separator, `high` the length of a point of
        the hull. `margin` is `low`. With one class all of them are infinite.
    augmented_margin, augmented_dual_coef, augmented_intercept
        The same when the constant 1 is appended to the points, whose inner products are then K + 1, and
        ‖w‖² + b² = 1: what Novikoff's bound is about.
    support : ndarray of int
        The rows that define the margin; or those that already cannot be separated.
    rivals : ndarray
        The class that each of these rows is set against.
    weights : list of Fraction
        Their multipliers λ, exact: the point of the hull is Σ λ_i z_i; if not separable, it is 0.
    irreducible : ndarray of int or None
        If not separable: rows that cannot be separated, but without any one of them can. None if, with several
        classes, they would take too long to find.
    pairs : dict
        With ``pairwise=True``: one result for each pair of classes.
    """

    separable: bool | None
    fit_intercept: bool
    other: bool | None
    classes: Array
    n_rows: int
    radius: float
    K_error: float
    reason: str
    dual_coef: Array | None = None
    intercept: Any = None
    margin: float | None = None
    margin_bounds: tuple[float, float] | None = None
    augmented_margin: float | None = None
    augmented_dual_coef: Array | None = None
    augmented_intercept: Any = None
    support: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    rivals: Array = field(default_factory=lambda: np.empty(0))
    weights: list[Fraction] = field(default_factory=list)
    irreducible: Ints | None = None
    pairs: dict[tuple[Any, Any], KernelSeparability] = field(default_factory=dict)

    def check(self, K: Any, y: Any) -> bool:
        """Verify the certificate for this K in exact rational arithmetic: True, or an error that says what fails.

        Verified are the verdict, the bounds of the margin, the augmented margin, the radius, both separators, support
        and weights, and of two classes that rows are irreducible. Not verified are the verdict `other`, irreducible
        rows of several classes, and that K is positive semi-definite.

        Raises
        ------
        CertificateError
            If the certificate does not hold for this K.
        """
        table, labels, _ = read_kernel(K, y, "check", self.K_error)
        try:
            codes = encode(labels, self.classes)
        except ValueError as error:
            raise CertificateError(f"the certificate is about other labels: {error}") from error
        check_kernel(self, as_rows(table, any_length=True), codes.tolist())
        for (a, b), result in zip(_pairs(len(self.classes)), self.pairs.values(), strict=False):
            both = np.flatnonzero((codes == a) | (codes == b))
            part = np.ascontiguousarray(table[np.ix_(both, both)])
            check_kernel(result, as_rows(part, any_length=True), (codes[both] == b).astype(int).tolist())
        return True

    def __repr__(self) -> str:
        return wording.brief(self)

    def __str__(self) -> str:
        sizes = wording.count(self.n_rows, "row"), wording.count(len(self.classes), "class", "classes")
        about = [] if self.separable is None else [f"  which is about    {self._subject()}"]
        return wording.report(self, f", in the kernel's feature space ({', '.join(sizes)})", "point", about=about)

    def _subject(self) -> str:
        """What the proof is about."""
        if self.K_error:
            return f"the true kernel matrix, if it is semi-definite and within {self.K_error:g} of K"
        margins = "; its margins suppose that K is positive semi-definite" if self.separable else ""
        return f"the floats of K{margins}"


def kernel_separability(K: Any, y: Any, *, error: float, fit_intercept: bool, pairwise: bool) -> KernelSeparability:
    """`separability` of points that are given by their kernel matrix.

    >>> import numpy as np
    >>> X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    >>> print(kernel_separability((1 + X @ X.T) ** 2, y, error=0.0, fit_intercept=True, pairwise=False))
    separable with a bias, separable without one, in the kernel's feature space (4 rows, 2 classes)
      largest margin    proved to be between 0.3061862178 and 0.3061862179
      relative to R     0.102, R = 3 is the longest point
      augmented margin  0.299252, the one of Novikoff's bound
      defined by        4 rows: 0, 1, 2, 3
      proof             a separator in floats, and a point of the hull with exact multipliers of 4 rows
      which is about    the floats of K; its margins suppose that K is positive semi-definite
    """
    table, labels, slack = read_kernel(K, y, "separability", error)
    classes = validation.distinct(labels)
    codes = encode(labels, classes)
    gram = Gram(table, factor(table, slack), codes, len(classes), fit_intercept, float(error))
    result = _result(gram, classes)
    if pairwise:
        names: list[Any] = list(classes) if classes.dtype.kind in "mM" else classes.tolist()
        pairs = {}
        for a, b in _pairs(len(classes)):
            both = np.flatnonzero((codes == a) | (codes == b))
            two = gram.take(both, (codes[both] == b).astype(np.uint8), 2)
            pairs[names[a], names[b]] = _result(two, classes[[a, b]])
        result = replace(result, pairs=pairs)
    return result


def _pairs(n_classes: int) -> list[tuple[int, int]]:
    """All pairs of classes, by their numbers, in the order of `KernelSeparability.pairs`."""
    return list(itertools.combinations(range(n_classes), 2))


def _result(gram: Gram, classes: Array) -> KernelSeparability:
    """The result for points and their classes."""
    facts: dict[str, Any] = {
        "fit_intercept": gram.bias,
        "classes": classes,
        "n_rows": len(gram.K),
        "radius": root_up(gram.sq_radius()),
        "K_error": gram.error,
    }
    if len(classes) == 1:
        none = "one class only: there is nothing to separate"
        inf = math.inf
        return KernelSeparability(
            True, other=True, reason=none, margin=inf, margin_bounds=(inf, inf), augmented_margin=inf, **facts
        )
    proof = prove(gram)
    facts["other"] = _other(gram, proof)
    if isinstance(proof, Open):
        return KernelSeparability(None, reason=proof.reason, **facts)
    order = [i for i in np.argsort(proof.chosen.at, kind="stable") if proof.weights[i] > 0]
    at, rivals = proof.chosen.at[order], proof.chosen.rivals[order]
    weights = [proof.weights[i] for i in order]
    facts |= {"support": at, "rivals": classes[rivals], "weights": weights}
    number = wording.constraints(len(at), len(classes))
    if isinstance(proof, Contradiction):
        return KernelSeparability(
            False,
            reason=f"multipliers of {number}, exact rationals, combine them to 0",
            irreducible=irreducible(gram.constraints, proof),
            **facts,
        )
    augmented, augmented_margin = _augmented(gram, proof)
    kind = "floats" if proof.hypothesis.w.dtype == np.float64 else "exact rationals"
    reason = f"a separator in {kind}, and a point of the hull with exact multipliers of {number}"
    rounding = float(np.finfo(np.float64).eps * gram.K.diagonal().max())
    if not gram.error and replace(gram, error=rounding).margin(proof.hypothesis, free=True)[0] == 0:
        reason += f"; errors of {up(rounding, 2)} in K, which are those of rounding, could undo it"
    single = len(classes) == 2
    return KernelSeparability(
        True,
        reason=reason,
        dual_coef=proof.hypothesis.w[0] if single else proof.hypothesis.w,
        intercept=proof.hypothesis.b.tolist()[0] if single else proof.hypothesis.b,
        margin=proof.low,
        margin_bounds=(proof.low, proof.high),
        augmented_margin=augmented_margin,
        augmented_dual_coef=augmented.w[0] if single else augmented.w,
        augmented_intercept=augmented.b.tolist()[0] if single else augmented.b,
        **facts,
    )


def _augmented(gram: Gram, proof: Separator) -> tuple[Hypothesis, float]:
    """The separator that is best when the bias counts as a weight, and its margin then."""
    if not gram.bias:
        return proof.hypothesis, proof.low
    other = prove(gram, free=False, first=proof.chosen)
    same = proof.hypothesis
    if same.w.dtype == np.float64:
        same = unit(gram, same, free=False) or same
    low, _ = gram.margin(same, free=False)
    if isinstance(other, Separator) and other.low > low:
        return other.hypothesis, other.low
    return same, low


def _other(gram: Gram, proof: Separator | Contradiction | Open) -> bool | None:
    """The verdict with the other setting of the bias.

    A separator without a bias is one with it, and multipliers that exclude one with a bias exclude one without.
    """
    if isinstance(proof, Separator if not gram.bias else Contradiction):
        return not gram.bias
    changed = replace(gram, bias=not gram.bias)
    first = None  # a contradiction may be a single row, which is no place to begin
    if isinstance(proof, Separator):
        first = changed.factored.choose(proof.chosen.at, proof.chosen.rivals)
    other = prove(changed, first=first)
    return {Separator: True, Contradiction: False, Open: None}[type(other)]
