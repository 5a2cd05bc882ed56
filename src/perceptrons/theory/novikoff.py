"""The two lines of the convergence proof (Novikoff 1962): when they are theorems for a run, and their slopes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.learn.examples import Examples
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.rules import Margin, Plain
from perceptrons.theory.separability import separability

Floats = npt.NDArray[np.float64]
TINY = 1e-290  # squares below this are not to be relied on


class Best(NamedTuple):
    """The best separator, of the shape of w but for the bias that there is none of; or what is in its way."""

    separable: bool | None
    w: Floats | None = None
    margin: float | None = None
    obstacle: str | None = None


def best_separator(learner: LinearLearner, examples: Examples) -> Best:
    """The best separator of the rows that are learned from."""
    order = examples.order()
    rows = examples.rows if len(order) == len(examples.rows) else examples.rows.take(order)
    codes = examples.codes[order]
    if len(np.unique(codes)) < learner.n_classes:
        return Best(None, obstacle="No separator is looked for: some class has no rows to learn from.")
    found = separability(rows.matrix(), codes, fit_intercept=learner.bias > 0)
    if found.separable is None:
        return Best(None, obstacle=f"No separator is known: {found.reason}")
    if not found.separable:
        where = "" if learner.bias else " through the origin"
        return Best(False, obstacle=f"There is no separator: these rows are not linearly separable{where}.")
    w, gamma = found.augmented_separator, found.augmented_margin
    if w is None or gamma is None or not (gamma > 0 and np.isfinite(w).all()):
        return Best(True, obstacle="The rows are separable, but by less than floating-point numbers can prove.")
    return Best(True, w.T, gamma)


def growth_of(learner: LinearLearner, examples: Examples, sq_radius: float) -> tuple[float | None, str | None]:
    """The most that an update adds to ‖w‖², where the lines of the proof hold; else why they do not.

    ‖w + δ‖² = ‖w‖² + 2m + ‖δ‖² with m ≤ 0 for the plain rule and m ≤ β for the rule with a margin.
    """
    if not isinstance(learner.rule, Plain | Margin):
        name = type(learner.rule).__name__
        return None, f"k·γ and k·R² are bounds for the rules 'perceptron' and 'margin', not for {name}."
    if learner.eta != 1.0:
        return None, f"k·γ and k·R² are bounds for steps of length 1; eta0 is {learner.eta:g}."
    if "start" in learner.state:
        return None, "k·γ and k·R² are bounds for a start from zeros."
    if examples.weight is not None and not np.isin(examples.weight, (0.0, 1.0)).all():
        return None, "k·γ and k·R² are bounds for rows without weights."
    if not TINY < sq_radius < np.inf:
        return None, "k·R² leaves the range of floats."
    beta = learner.rule.beta if isinstance(learner.rule, Margin) else 0.0
    return (sq_radius if learner.n_classes == 2 else 2 * sq_radius) + 2 * beta, None
