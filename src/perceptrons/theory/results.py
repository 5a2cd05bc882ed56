"""The results of `separability`: verdicts with their certificates."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.data import Rows, as_rows
from perceptrons.shown import count
from perceptrons.solver.constraints import Ints
from perceptrons.theory import wording
from perceptrons.theory.certificate.checks import Certificate, check_kernel, check_rows
from perceptrons.theory.certificate.points import codes_of
from perceptrons.theory.inputs import read, read_kernel

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """What verdicts on rows X and on a kernel matrix K have in common."""

    separable: bool | None
    fit_intercept: bool
    other: bool | None
    classes: Array
    n_rows: int
    _: KW_ONLY
    intercept: Any = None
    margin: float | None = None
    margin_bounds: tuple[float, float] | None = None
    augmented_margin: float | None = None
    support: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    rivals: Array = field(default_factory=lambda: np.empty(0))
    weights: list[Fraction] = field(default_factory=list)
    irreducible: Ints | None = None
    pairs: dict[tuple[Any, Any], Any] = field(default_factory=dict)

    def _verify(
        self, labels: Array, check: Callable[[Any, Rows, Sequence[int]], None], rows: Callable[[Any], Rows]
    ) -> bool:
        """Check the verdict, and those on pairs; `rows` returns the rows with given numbers."""
        codes = codes_of(labels, self.classes, "certificate")
        check(self, rows(slice(None)), codes.tolist())
        for (_, both, two), result in zip(each_pair(codes, len(self.classes)), self.pairs.values(), strict=False):
            check(result, rows(both), two.tolist())
        return True

    def __repr__(self) -> str:
        return wording.brief(self)


def each_pair(codes: Array, n_classes: int) -> Iterator[tuple[tuple[int, int], Ints, Array]]:
    """For each pair of classes: their numbers, their rows, and 0 or 1 for the class of each of these rows."""
    for a, b in itertools.combinations(range(n_classes), 2):
        both = np.flatnonzero((codes == a) | (codes == b))
        yield (a, b), both, (codes[both] == b).astype(np.uint8)


@dataclass(frozen=True, eq=False, repr=False)
class Separability(Verdict):
    """The verdict of `separability` on rows, with its certificate. Print it for a short report.

    Attributes
    ----------
    separable : bool or None
        The verdict of exact arithmetic. None if that would take too long, or if a time limit is over; `reason` says
        which.
    fit_intercept : bool
        Whether hypotheses have a bias.
    other : bool or None
        The verdict with the other setting of `fit_intercept`.
    classes : ndarray
        The sorted class labels. Of two classes, the second is +1.
    n_rows, n_features : int
        The shape of X.
    radius : float
        R, the length of the longest row, rounded up.
    reason : str
        A sentence that says how the verdict is proved.
    coef, intercept : ndarray and float, or arrays of shapes (n_classes, n_features) and (n_classes,)
        If separable, the separator with the largest margin; ‖coef‖ is 1 up to rounding.
    margin, margin_bounds : float and (low, high)
        The largest margin lies between the bounds: `low` is the margin of the separator, and `high` is the length of a
        point of the hull. `margin` is `low`. All are infinite if there is only one class.
    augmented_margin, augmented_separator : float and ndarray
        The largest margin through the origin after appending the constant 1 to the rows, and the unit vector that
        attains it. With a bias, the weight of the constant is the last. Novikoff's bound uses this margin.
    support : ndarray of int
        The rows that determine the margin; if not separable, rows that cannot be separated.
    rivals : ndarray
        For each of these rows, the class that it is compared with.
    weights : list of Fraction
        Their exact multipliers λ. Σ λ_i z_i is the point of the hull nearest to 0; if not separable, it is 0. With two
        classes z_i = y_i·x_i, and with a bias Σ λ_i y_i = 0.
    point : ndarray or None
        If two classes are not separable, a point in both hulls (without a bias: in both cones).
    irreducible : ndarray of int or None
        If not separable, rows that cannot be separated, but can without any one of them. None if, with several classes,
        finding them would take too long.
    certificate : Certificate or None
        If separable, the separators that `check` verifies. They are `coef` and `augmented_separator`, or rationals
        where floats would not separate (as well).
    pairs : dict
        With ``pairwise=True``, one result for each pair of classes.

    Examples
    --------
    >>> from perceptrons.theory import separability
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> result = separability(X, y)
    >>> result.separable, round(result.margin, 4), result.support.tolist()
    (True, 0.3536, [1, 2, 3])
    >>> result.other  # without a bias
    False
    >>> result.check(X, y)
    True
    """

    n_features: int
    radius: float
    reason: str
    _: KW_ONLY
    coef: Array | None = None
    augmented_separator: Array | None = None
    point: Array | None = None
    certificate: Certificate | None = None

    def check(self, X: Any, y: Any) -> bool:
        """Verify the certificate for these rows in exact rational arithmetic.

        The check covers the verdict, the bounds on the margin, the augmented margin, the radius, support and weights,
        and whether `coef`, `intercept` and `augmented_separator` are those of the certificate. With two classes it also
        covers the point and the irreducible rows. It does not cover the verdict `other`, nor irreducible rows of
        several classes. The code shares nothing with the solver. It reads every number of X, which takes some seconds
        for ten million.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows that the verdict is about.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        bool
            Always True.

        Raises
        ------
        CertificateError
            If the certificate does not hold for these rows. The message says what fails.
        ValueError
            If X or y cannot be read, for instance because X has NaN.
        """
        rows, labels = read(X, y, "check", any_length=True)
        return self._verify(labels, check_rows, lambda at: rows if isinstance(at, slice) else rows.take(at))

    def __str__(self) -> str:
        sizes = (
            count(self.n_rows, "row"),
            count(self.n_features, "feature"),
            count(len(self.classes), "class", "classes"),
        )
        meeting = []
        if self.point is not None and self.fit_intercept:
            point = np.array2string(self.point, precision=6, threshold=8, edgeitems=3)
            meeting.append(f"  both hulls meet   at {point}")
        return wording.report(self, f" ({', '.join(sizes)})", "row", meeting)


@dataclass(frozen=True, eq=False, repr=False)
class KernelSeparability(Verdict):
    """The verdict of `separability` on a kernel matrix, with its certificate. Print it for a short report.

    Points are φ(x_i) with K_ij = φ(x_i)·φ(x_j). A hypothesis w = Σ_j α_j·φ(x_j) with a bias b has the scores K·α + b
    and the length ‖w‖² = αᵀKα. With several classes, there is one w for each, and ‖W‖² is the sum.

    With K_error=0, the verdict is proved for the floats of K. The margins and R are proved if K is positive
    semi-definite, which rounding usually spoils in the last bits. With K_error > 0, everything is proved for the true
    kernel matrix, if that is semi-definite and its entries differ from those of K by at most K_error.

    Attributes
    ----------
    separable : bool or None
        The verdict. None if nothing is proved; `reason` says why.
    fit_intercept : bool
        Whether hypotheses have a bias.
    other : bool or None
        The verdict with the other setting of `fit_intercept`.
    classes : ndarray
        The sorted class labels. Of two classes, the second is +1.
    n_rows : int
        The number of points.
    radius : float
        R, the length of the longest point, rounded up.
    K_error : float
        The bound on errors of K that the proof allows for.
    reason : str
        A sentence that says how the verdict is proved.
    dual_coef, intercept : ndarray of shape (n_rows,) and float, or of shapes (n_classes, n_rows) and (n_classes,)
        If separable, α and b of the best separator found; ‖w‖ is 1 up to rounding. Exact rationals of another length
        where floats would not separate.
    margin, margin_bounds : float and (low, high)
        The largest margin lies between the bounds: `low` is the margin of the separator, and `high` is the length of a
        point of the hull. `margin` is `low`. All are infinite if there is only one class.
    augmented_margin, augmented_dual_coef, augmented_intercept
        The same after appending the constant 1 to the points. Their inner products are then K + 1, and ‖w‖² + b² = 1.
        Novikoff's bound uses this margin.
    support : ndarray of int
        The rows that determine the margin; if not separable, rows that cannot be separated.
    rivals : ndarray
        For each of these rows, the class that it is compared with.
    weights : list of Fraction
        Their exact multipliers λ. The point of the hull is Σ λ_i z_i; if not separable, it is 0.
    irreducible : ndarray of int or None
        If not separable, rows that cannot be separated, but can without any one of them. None if, with several classes,
        finding them would take too long.
    pairs : dict
        With ``pairwise=True``, one result for each pair of classes.

    Examples
    --------
    No line separates XOR, but the quadratic kernel ``(1 + x·x′)²`` does:

    >>> import numpy as np
    >>> from perceptrons.theory import separability
    >>> X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    >>> K = (1.0 + X @ X.T) ** 2
    >>> result = separability(K=K, y=y)
    >>> result.separable, round(result.margin, 4)
    (True, 0.3062)
    >>> result.check(K, y)
    True
    """

    radius: float
    K_error: float
    reason: str
    _: KW_ONLY
    dual_coef: Array | None = None
    augmented_dual_coef: Array | None = None
    augmented_intercept: Any = None

    def check(self, K: Any, y: Any) -> bool:
        """Verify the certificate for this kernel matrix in exact rational arithmetic.

        The check covers the verdict, the bounds on the margin, the augmented margin, the radius, both separators,
        support and weights, and with two classes the irreducible rows. It does not cover the verdict `other`,
        irreducible rows of several classes, nor whether K is positive semi-definite.

        Parameters
        ----------
        K : array-like of shape (n_samples, n_samples)
            The kernel matrix that the verdict is about.
        y : array-like of shape (n_samples,)
            The labels.

        Returns
        -------
        bool
            Always True.

        Raises
        ------
        CertificateError
            If the certificate does not hold for this K. The message says what fails.
        ValueError
            If K or y cannot be read, for instance because K is not symmetric.
        """
        table, labels, _ = read_kernel(K, y, "check", self.K_error)

        def rows(at: Any) -> Rows:
            return as_rows(np.ascontiguousarray(table[at][:, at]), any_length=True)

        return self._verify(labels, check_kernel, rows)

    def __str__(self) -> str:
        sizes = count(self.n_rows, "row"), count(len(self.classes), "class", "classes")
        about = [] if self.separable is None else [f"  applies to        {self._subject()}"]
        return wording.report(self, f", in the kernel's feature space ({', '.join(sizes)})", "point", about=about)

    def _subject(self) -> str:
        """What the proof applies to."""
        if self.K_error:
            return f"the true kernel matrix, if it is semi-definite and within {self.K_error:g} of K"
        margins = "; margins suppose that K is positive semi-definite" if self.separable else ""
        return f"the floats of K{margins}"
