"""The largest margin of rows that only their last bits separate.

In a `View`, floats see all features but not the length of w = T·v. With T = Q·R, u = R·v has that length, and the rows
M = F·R⁻¹ are those given, rotated: a few large features, and many of the size of rounding errors, all of them accurate.
Weights of the large ones hardly add to the length. So they are scaled down to what least squares in floats can bear,
where they still cost almost nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.linalg import qr, solve_triangular

from perceptrons.data import as_rows
from perceptrons.solver.constraints import Chosen, Constraints, Floats, Hypothesis, Ints, signs
from perceptrons.solver.coordinates import View, floats, product
from perceptrons.solver.exact import moderate
from perceptrons.solver.rationals import power
from perceptrons.solver.threads import one_thread
from perceptrons.solver.working_set import Found, search

BEAR = 2.0**20  # the largest ratio of the sizes of features
APART = 200  # the largest ratio of the sizes of rows, in bits
FREE = 2.0**-40  # what a free bias costs
CORRECTIONS = 2  # of the multipliers, with exact residuals


@dataclass(frozen=True)
class Rotation:
    """The map from a view to features whose weights have the length of w, apart from `scale`."""

    view: View
    R: Floats
    order: Ints  # of the view's features: the largest columns of T first, so that the numbers of R fall
    scale: Floats  # by which each feature is multiplied

    def rows(self, lines: Floats) -> Floats:
        """Rows of the view in these coordinates."""
        solved = solve_triangular(self.R, lines[:, self.order].T, trans="T", check_finite=False)
        return np.asarray(solved.T * self.scale)

    def hypothesis(self, found: Hypothesis) -> Hypothesis:
        """Return the hypothesis about the rows themselves."""
        v = np.empty_like(found.w)
        v[:, self.order] = solve_triangular(self.R, (found.w * self.scale).T, check_finite=False).T
        return moderate(self.view.hypothesis(Hypothesis(v, found.b)))

    def point(self, chosen: Chosen, weights: list[Fraction]) -> Floats:
        """Σ λ·z of rows in the sizes that they were given in, computed exactly, in these coordinates, rounded."""
        view = self.view
        least = min(view.shifts)
        counts = [weight / power(view.shifts[i] - least) for weight, i in zip(weights, chosen.at.tolist(), strict=True)]
        unit = math.lcm(*(number.denominator for number in counts))
        factors = signs(chosen.own, chosen.rivals, view.of.blocks).astype(np.int64).astype(object)
        signed = factors.T * np.array([int(number * unit) for number in counts], dtype=object)
        exact = product(product(signed, view.table[chosen.at]), view.back)
        return self.rows(np.array([[float(Fraction(entry, unit << view.bits)) for entry in line] for line in exact]))


def widest(view: View, *, free: bool) -> tuple[Hypothesis, Chosen, list[Fraction]] | None:
    """Find a separator with nearly the largest margin, and multipliers that nearly prove it; None if floats cannot."""
    shifts = np.array(view.shifts) - min(view.shifts)
    if shifts.max() > APART:
        return None
    with one_thread(), np.errstate(all="ignore"):
        T, _ = floats(view.back)
        if view.of.bias and free:
            T[-1] *= FREE
        order = np.argsort(-np.linalg.norm(T, axis=0), kind="stable")
        R = np.asarray(qr(T[:, order], mode="economic", check_finite=False)[1])
        if not np.diag(R).all():  # numbers left the range of floats
            return None
        rows = Rotation(view, R, order, np.ones(len(order))).rows(view.seen.rows.values)
        rows = np.ldexp(rows, -shifts[:, np.newaxis])
        sizes = np.abs(rows).max(axis=0)
        least = sizes[sizes > 0].min(initial=np.inf)
        scale = np.where(sizes > 0, np.minimum(1.0, BEAR * least / sizes), 1.0) / least
        rows *= scale
    if not np.isfinite(rows).all():
        return None
    turned = Constraints(as_rows(rows), view.seen.codes, view.seen.n_classes, bias=False)
    top, _ = search(turned, free=True, first=None)
    if top.margin <= 0:
        return None
    rotation = Rotation(view, R, order, scale)
    weights = _corrected(rotation, top)
    return rotation.hypothesis(top.hypothesis), view.of.choose(view.at[top.chosen.at], top.chosen.rivals), weights


def _corrected(rotation: Rotation, found: Found) -> list[Fraction]:
    """Correct multipliers so that Σ λ·z is the nearest point of the hull, also where large features cancel.

    That is a multiple of w: with features that are multiplied by k, the point has k times and the weights 1/k times
    what they would have otherwise. So the aim has k² times the part of a feature that is not scaled down.
    """
    weights = [Fraction(weight) for weight in found.weights.tolist()]
    aim = (found.margin * found.hypothesis.w * (rotation.scale / rotation.scale.max()) ** 2).ravel()
    for _ in range(CORRECTIONS):
        error = rotation.point(found.chosen, weights).ravel() - aim
        if not np.isfinite(error).all():
            break
        with one_thread():
            steps = np.linalg.lstsq(found.chosen.A.T, -error, rcond=None)[0]
        weights = [weight + Fraction(step) for weight, step in zip(weights, steps.tolist(), strict=True)]
    return weights
