"""What is proved about the rows of a scene: verdicts, the bound on mistakes, and the lines of the convergence proof."""

from __future__ import annotations

from math import floor, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.lab.recording import Recording
from perceptrons.lab.scene import Rows
from perceptrons.theory import mistake_bound, separability
from perceptrons.theory.novikoff import best_separator, growth_of
from perceptrons.theory.theorems import any_passes, counts_updates

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
EPSILON = float(np.finfo(np.float64).eps)
PATIENCE = 2.0  # seconds for a verdict
KERNEL_ROWS = 120  # more points take too long to decide in a kernel's feature space


class Star(NamedTuple):
    """The best separator in a kernel's feature space, where the bias is the weight of a constant."""

    margin: float
    coef: Any
    intercept: Any

    def images(self, K: Floats, bias: float) -> Floats:
        """w*·(φ(x), 1) of every row, one line for each weight vector."""
        coef = np.atleast_2d(np.array(self.coef, dtype=np.float64))
        return np.asarray(coef @ K + bias * np.atleast_1d(np.array(self.intercept, dtype=np.float64))[:, np.newaxis])


def verdict(rows: Rows, fit_intercept: bool) -> dict[str, Any]:
    """Decide whether a line, through the origin or not, separates the rows; numbers of rows are those of the scene."""
    found = separability(rows.X, rows.y, fit_intercept=fit_intercept, time_limit=PATIENCE)
    irreducible = None if found.irreducible is None else rows.at[found.irreducible]
    return {
        "separable": found.separable,
        "fit_intercept": fit_intercept,
        "coef": found.coef,
        "intercept": found.intercept,
        "margin": found.margin,
        "augmented_margin": found.augmented_margin,
        "radius": found.radius,
        "support": rows.at[found.support],
        "irreducible": irreducible,
        "point": found.point,
        "reason": found.reason,
    }


def kernel_verdict(recording: Recording) -> tuple[dict[str, Any], Star | None]:
    """The same in the feature space of a model's kernel, with the setting of its bias; and the best separator."""
    model, rows = recording.model, recording.rows
    if not recording.learner.space.definite:
        return {"separable": None, "reason": "This kernel has no feature space, so that nothing is proved."}, None
    if len(rows.X) > KERNEL_ROWS:
        why = f"The lab decides this for at most {KERNEL_ROWS} points; perceptrons.theory.separability decides more."
        return {"separable": None, "reason": why}, None
    K, error = model.kernel_matrix(rows.X), model.kernel_error(rows.X)
    found = separability(K=K, y=rows.y, K_error=error, fit_intercept=bool(model.fit_intercept), time_limit=PATIENCE)
    star = None
    if found.separable and found.augmented_margin:
        star = Star(found.augmented_margin, found.augmented_dual_coef, found.augmented_intercept)
    return {
        "separable": found.separable,
        "fit_intercept": bool(model.fit_intercept),
        "margin": found.margin,
        "augmented_margin": found.augmented_margin,
        "radius": found.radius,
        "support": rows.at[found.support],
        "reason": found.reason,
    }, star


def _unknown(verdict: dict[str, Any]) -> str:
    """Why there is no separator in a kernel's feature space."""
    if verdict.get("separable"):
        return "The rows are separable, but by less than floating-point numbers can prove."
    return f"The separator is not known: {str(verdict.get('reason', 'nobody has looked for it')).rstrip('.')}."


def bound(recording: Recording) -> dict[str, Any]:
    """The number of mistakes or updates that a theorem allows, and the number made; or the reason for no bound."""
    model, rule = recording.model, recording.learner.rule
    if model.eta0 != 1.0:
        return {"reason": f"The theorems are about steps of length 1, and eta0 is {model.eta0:g}."}
    if getattr(model, "init", "zeros") != "zeros":
        return {"reason": "The theorems are about a start from zeros."}
    if getattr(model, "budget", None) is not None:
        return {"reason": "With a budget, rows are forgotten, and the theorems do not apply."}
    about: dict[str, Any] = {"X": recording.rows.X}
    if recording.kernel:
        if not recording.learner.space.definite or len(recording.rows.X) > KERNEL_ROWS:
            return {"reason": "No bound is computed for this kernel, or for this many points."}
        about = {"K": model.kernel_matrix(recording.rows.X), "K_error": model.kernel_error(recording.rows.X)}
    try:
        found = mistake_bound(y=recording.rows.y, fit_intercept=bool(model.fit_intercept), rule=rule, **about)
    except ValueError as error:
        return {"reason": str(error)}
    any_number, updates = any_passes(found.theorem), counts_updates(rule)
    if any_number:
        made = model.n_updates_ if updates else model.n_mistakes_
    elif updates:  # those of the first pass
        made = recording.columns["update"][recording.columns["seen"] <= len(recording.rows.X)].max(initial=0)
    else:
        made = model.mistakes_[0]
    return {
        "bound": found.bound,
        "made": int(made),
        "counted": "updates" if updates else "mistakes",
        "any_passes": any_number,
        "theorem": found.theorem,
        "text": str(found),
        "radius": found.radius,
        "margin": found.margin,
    }


def lines(recording: Recording, verdict: dict[str, Any] | None = None, star: Star | None = None) -> dict[str, Any]:
    """The numbers of the convergence proof: γ and the most that an update adds to ‖w‖², or why they do not apply.

    Also adds a column: w*·w, the progress along the best separator. verdict, star: those of `kernel_verdict`.
    """
    if recording.trace is not None:
        run = recording.trace
        return {
            "gamma": run.margin,
            "growth": run.growth,
            "radius": run.radius,
            "reason": run.reason,
            "separator": run.separator,
            "max_updates": run.max_updates,
        }
    assert recording.examples is not None  # there are no lines without updates
    model, learner, path = recording.model, recording.learner, recording.path
    sq_radius = float(model._learner.radius) ** 2 * (1 + 8 * EPSILON)  # rounded outward
    growth, obstacle = growth_of(learner, recording.examples, sq_radius)
    found: dict[str, Any] = {"gamma": None, "growth": growth, "radius": sqrt(sq_radius), "reason": obstacle}
    found["max_updates"] = None
    if getattr(model, "budget", None) is not None:
        return {**found, "growth": None, "reason": "With a budget, w is not the sum of its steps."}
    if recording.kernel:
        images = None if star is None else star.images(model.kernel_matrix(recording.rows.X), learner.bias)
        gamma, unknown = (None, _unknown(verdict or {})) if star is None else (star.margin, None)
    else:
        best = best_separator(learner, recording.examples)
        gamma, unknown, images = best.margin, best.obstacle, None
        if best.w is not None:
            of_features = best.w.T if best.w.ndim == 2 else best.w[np.newaxis]
            images = np.zeros(path.shape[1:])
            images[:, : of_features.shape[1]] = of_features
            found["separator"] = of_features
    found["reason"] = " ".join(filter(None, (unknown, obstacle))) or None
    if images is None or gamma is None:
        return found
    recording.columns["progress"] = (path[1:] * images).sum(axis=(1, 2))
    most = None if growth is None else floor(growth / gamma / gamma * (1 + 4 * EPSILON))
    return {**found, "gamma": gamma, "max_updates": most}
