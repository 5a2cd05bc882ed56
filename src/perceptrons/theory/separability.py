"""Decide whether a hyperplane separates classes: a verdict that comes with its certificate."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from numbers import Real
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from perceptrons.shown import count
from perceptrons.solver import proof as proofs
from perceptrons.solver.constraints import Constraints, Hypothesis, Ints
from perceptrons.solver.gram import Gram
from perceptrons.solver.irreducible import irreducible
from perceptrons.solver.patience import OutOfTime, limited
from perceptrons.solver.rationals import integers, power
from perceptrons.solver.rounding import root_up, up
from perceptrons.solver.twins import simplest
from perceptrons.theory.certificate import Certificate
from perceptrons.theory.inputs import read_problem
from perceptrons.theory.results import KernelSeparability, Separability, each_pair

Array = npt.NDArray[Any]


@overload
def separability(
    X: Any, y: Any, *, fit_intercept: bool = True, pairwise: bool = False, time_limit: float | None = None
) -> Separability: ...


@overload
def separability(
    X: None = None,
    y: Any = None,
    *,
    K: Any,
    K_error: float = 0.0,
    fit_intercept: bool = True,
    pairwise: bool = False,
    time_limit: float | None = None,
) -> KernelSeparability: ...


def separability(
    X: Any = None,
    y: Any = None,
    *,
    K: Any = None,
    K_error: float = 0.0,
    fit_intercept: bool = True,
    pairwise: bool = False,
    time_limit: float | None = None,
) -> Separability | KernelSeparability:
    """Decide and prove whether a hyperplane separates the classes, and find the largest margin.

    The verdict is that of exact arithmetic on the given floats, for any finite input: touching hulls (margin 0) are not
    separable, a margin of 1e-300 is. Floats find the answer on a small working set of rows, and rational arithmetic
    proves it. With a kernel matrix K instead of X, everything is about the points of the kernel's feature space.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows; read in place where possible.
    y : array-like of shape (n_samples,)
        Labels. Several classes are one problem: each row must score highest for its own class.
    K : array-like of shape (n_samples, n_samples), optional
        Inner products of all pairs of points, instead of X: symmetric and positive semi-definite up to rounding, where
        entries above the diagonal count. Copies of a row are recognised only if their inner products are equal to the
        last bit. 1,000 points with a Gaussian kernel take some seconds, 2,000 half a minute, several classes longer.
    K_error : float, default=0.0
        A bound on the error of each entry of K. With 0, the verdict is exact for the floats of K, even if only their
        rounding decides it. Otherwise it is about the true kernel matrix, which is positive semi-definite and within
        this distance of K; the verdict is then True if that is proved, and None otherwise.
    fit_intercept : bool, default=True
        Whether the hyperplane may miss the origin.
    pairwise : bool, default=False
        Whether to decide each pair of classes as well, as `result.pairs[a, b]`.
    time_limit : float, optional
        Stop after about this many seconds. What is not proved by then stays open: the verdict is None, or bounds are
        wide. Without a limit, no result depends on the clock.

    Returns
    -------
    Separability or, with K, KernelSeparability
        The verdict with its certificate. The verdict is None if the proof would take too long.

    Raises
    ------
    ValueError
        If numbers are NaN or infinite, K is not symmetric, `time_limit` is not positive, or both X and K are given.

    Examples
    --------
    >>> from perceptrons.theory import separability
    >>> print(separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]))
    not separable with a bias, not separable without one (4 rows, 2 features, 2 classes)
      irreducible       4 rows: 0, 1, 2, 3 cannot be separated; without any one of them they can
      both hulls meet   at [0.5 0.5]
      proof             exact multipliers of 4 rows combine them to 0
    """
    if time_limit is not None and not (isinstance(time_limit, Real) and time_limit > 0):
        raise ValueError(f"time_limit must be a number of seconds > 0 or None, got {time_limit!r}")
    space, classes = read_problem(X, K, y, "separability", error=K_error, fit_intercept=fit_intercept, any_length=True)
    with limited(time_limit):
        result = _result(space, classes)
        if not pairwise:
            return result
        names: list[Any] = list(classes) if classes.dtype.kind in "mM" else classes.tolist()
        pairs = {
            (names[a], names[b]): _result(space.take(both, two, 2), classes[[a, b]])
            for (a, b), both, two in each_pair(space.codes, len(classes))
        }
    return replace(result, pairs=pairs)


def _result(space: Constraints, classes: Array) -> Separability | KernelSeparability:
    """The result for rows or for points of a feature space, with these classes."""
    kind: type[Separability | KernelSeparability] = KernelSeparability if isinstance(space, Gram) else Separability
    facts: dict[str, Any] = {
        **({"K_error": space.K_error} if isinstance(space, Gram) else {"n_features": space.rows.n_features}),
        "fit_intercept": space.bias,
        "classes": classes,
        "n_rows": len(space.rows),
        "radius": root_up(space.sq_radius()),
    }
    if len(classes) == 1:
        facts |= {"margin": math.inf, "margin_bounds": (math.inf, math.inf), "augmented_margin": math.inf}
        return kind(separable=True, other=True, reason="there is only one class, so nothing to separate", **facts)
    try:
        proof = proofs.best(space)
    except OutOfTime as error:
        proof = proofs.Undecided(str(error))
    facts["other"] = _other(space, proof)
    if isinstance(proof, proofs.Contradiction) and kind is Separability:
        proof = simplest(space, proof)
    if isinstance(proof, proofs.Undecided):
        return kind(separable=None, reason=proof.reason, **facts)
    order = [i for i in np.argsort(proof.chosen.at, kind="stable") if proof.weights[i] > 0]
    at, weights = proof.chosen.at[order], [proof.weights[i] for i in order]
    facts |= {"support": at, "rivals": classes[proof.chosen.rivals[order]], "weights": weights}
    number = count(len(at), "row" if len(classes) == 2 else "constraint")
    if isinstance(proof, proofs.Contradiction):
        if kind is Separability and len(classes) == 2:
            facts["point"] = _meeting(space, at, weights)
        reason = f"exact multipliers of {number} combine them to 0"
        few = None
        with suppress(OutOfTime):
            few = irreducible(space, proof)
        return kind(separable=False, reason=reason, irreducible=few, **facts)
    augmented, augmented_margin = _augmented(space, proof)
    of_kind = "rational" if proof.hypothesis.rational else "float"
    facts |= {
        "reason": f"a separator with {of_kind} weights, and a point of the hull with exact multipliers of {number}",
        "margin": proof.low,
        "margin_bounds": (proof.low, proof.high),
        "augmented_margin": augmented_margin,
    }
    if isinstance(space, Gram):
        facts["reason"] += _fragile(space, proof)
        return kind(separable=True, **facts, **_dual_separators(proof.hypothesis, augmented))
    return kind(separable=True, **facts, **_separators(space, proof.hypothesis, augmented))


def _augmented(space: Constraints, proof: proofs.Separator) -> tuple[Hypothesis, float]:
    """The best separator if the bias counts as a weight, and its margin."""
    if not space.bias:
        return proof.hypothesis, proof.low
    known = (proof.hypothesis, proof.view)
    other: proofs.Proof | None = None
    with suppress(OutOfTime):
        other = proofs.best(space, free=False, first=proof.chosen, known=known)
    same = proof.hypothesis if proof.hypothesis.rational else proofs.forms(space, proof.hypothesis, free=False)[0]
    low, _ = proofs.margin(space, same, free=False)
    if isinstance(other, proofs.Separator) and other.low > low:
        return other.hypothesis, other.low
    return same, low


def _other(space: Constraints, proof: proofs.Proof) -> bool | None:
    """The verdict with the other setting of the bias.

    A separator without a bias is one with a bias, and multipliers that exclude separators with a bias exclude those
    without.
    """
    if isinstance(proof, proofs.Separator if not space.bias else proofs.Contradiction):
        return not space.bias
    changed = replace(space, bias=not space.bias)
    first = None  # a contradiction may be a single row, which is no good start
    if isinstance(proof, proofs.Separator):
        first = changed.searched.choose(proof.chosen.at, proof.chosen.rivals)
    try:
        other = proofs.best(changed, first=first) if isinstance(changed, Gram) else proofs.decide(changed, first=first)
    except OutOfTime:
        return None
    return None if isinstance(other, proofs.Undecided) else not isinstance(other, proofs.Contradiction)


def _meeting(space: Constraints, at: Ints, weights: list[Fraction]) -> Array:
    """Σ λ_i x_i/Σ λ_i over the rows of one class; it is also in the hull (without a bias: cone) of the other."""
    mine = space.codes[at] == int(any(space.codes[at] == 1))
    scale = math.lcm(*(weight.denominator for weight in weights))
    counts = np.array([int(weight * scale) for weight, own in zip(weights, mine, strict=True) if own], dtype=object)
    features, lines = space.lines(at[mine])
    table, exponents = integers(lines, axis=0)
    point = np.zeros(space.rows.n_features)
    for j, entry, e in zip(features, counts @ table, exponents, strict=True):
        point[j] = float(Fraction(int(entry), int(counts.sum())) * power(int(e))) if entry else 0.0
    return point


def _separators(space: Constraints, separator: Hypothesis, augmented: Hypothesis) -> dict[str, Any]:
    """The separators of rows: as floats to show, and in the certificate as they are."""
    shown = space.unit(separator, free=True) if separator.rational else separator
    both = space.unit(augmented, free=False) if augmented.rational else augmented
    lines = np.column_stack([both.w, both.b]) if space.bias else both.w
    single = space.blocks == 1
    return {
        "coef": shown.w[0] if single else shown.w,
        "intercept": float(shown.b[0]) if single else shown.b,
        "augmented_separator": lines[0] if single else lines,
        "certificate": Certificate(*(np.column_stack([one.w, one.b]).tolist() for one in (separator, augmented))),
    }


def _dual_separators(separator: Hypothesis, augmented: Hypothesis) -> dict[str, Any]:
    """The separators of points of a feature space."""
    single = len(separator.w) == 1
    return {
        "dual_coef": separator.w[0] if single else separator.w,
        "intercept": separator.b.tolist()[0] if single else separator.b,
        "augmented_dual_coef": augmented.w[0] if single else augmented.w,
        "augmented_intercept": augmented.b.tolist()[0] if single else augmented.b,
    }


def _fragile(gram: Gram, proof: proofs.Separator) -> str:
    """A warning if rounding errors of K could undo the proof."""
    rounding = float(np.finfo(np.float64).eps * gram.K.diagonal().max())
    if gram.K_error or proofs.margin(replace(gram, K_error=rounding), proof.hypothesis, free=True)[0] > 0:
        return ""
    return f"; errors of {up(rounding, 2)} in K, the size of rounding errors, could undo it"
