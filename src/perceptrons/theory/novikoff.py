"""The two lines of the convergence proof (Novikoff 1962): whether they are theorems for a run, and their slopes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.learn.examples import Examples
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.rules import Margin, Plain, Uneven
from perceptrons.theory.margins import augment
from perceptrons.theory.separability import separability
from perceptrons.theory.theorems import demanded

Floats = npt.NDArray[np.float64]
TINY = 1e-290  # smaller squares are not reliable


class Best(NamedTuple):
    """The best separator, in the shape of w but without an unused bias; or why there is none."""

    separable: bool | None
    w: Floats | None = None
    margin: float | None = None
    obstacle: str | None = None


def best_separator(learner: LinearLearner, examples: Examples) -> Best:
    """Find the best separator of the rows that the learner uses."""
    order = examples.order()
    rows = examples.rows if len(order) == len(examples.rows) else examples.rows.take(order)
    codes = examples.codes[order]
    if len(np.unique(codes)) < learner.n_classes:
        return Best(None, obstacle="The separator is not computed: some class has no rows to learn from.")
    own = learner.bias not in (0.0, 1.0)  # a constant of its own size is one more feature
    matrix = augment(rows.matrix().astype(np.float64), learner.bias) if own else rows.matrix()
    found = separability(matrix, codes, fit_intercept=learner.bias == 1.0)
    if found.separable is None:
        return Best(None, obstacle=f"The separator is not known: {found.reason}")
    if not found.separable:
        where = "" if learner.bias else " through the origin"
        return Best(False, obstacle=f"There is no separator: these rows are not linearly separable{where}.")
    w, gamma = found.augmented_separator, found.augmented_margin
    if w is None or gamma is None or not (gamma > 0 and np.isfinite(w).all()):
        return Best(True, obstacle="The rows are separable, but by less than floating-point numbers can prove.")
    return Best(True, w.T, gamma)


def growth_of(learner: LinearLearner, examples: Examples, sq_radius: float) -> tuple[float | None, str | None]:
    """Return the most that an update adds to ‖w‖² and None; or None and why the lines of the proof do not apply.

    ‖w + δ‖² = ‖w‖² + 2m + ‖δ‖² with m ≤ 0 for the plain rule and m ≤ β for the margin rule,
    where uneven margins have the larger β.
    """
    if not isinstance(learner.rule, Plain | Margin | Uneven):
        name = type(learner.rule).__name__
        return None, f"k·γ and k·R² are bounds for the rules 'perceptron', 'margin' and 'uneven', not for {name}."
    if learner.eta != 1.0:
        return None, f"k·γ and k·R² are bounds for steps of length 1; eta0 is {learner.eta:g}."
    if "start" in learner.state:
        return None, "k·γ and k·R² are bounds for a start from zeros."
    if examples.weight is not None and not np.isin(examples.weight, (0.0, 1.0)).all():
        return None, "k·γ and k·R² are bounds for examples without weights."
    if not TINY < sq_radius < np.inf:
        return None, "k·R² is out of the range of floats."
    return (sq_radius if learner.n_classes == 2 else 2 * sq_radius) + 2 * demanded(learner.rule), None
