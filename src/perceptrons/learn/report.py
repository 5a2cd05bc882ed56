"""What is said about a run: between passes, now and then but never a flood, and when it ends unconverged."""

from __future__ import annotations

import time
from typing import Any

from perceptrons.learn.fit import Material, Run
from perceptrons.learn.hypotheses import at_most

EVERY = 0.5  # seconds between two lines


class Progress:
    """Prints a line for the first pass, then at most two a second, and one for the last; every pass if `each`."""

    def __init__(self, name: str, material: Material, each: bool) -> None:
        self.name, self.material, self.each = name, material, each
        self.begun = time.perf_counter()
        self.next = self.begun

    def __call__(self, learner: Any, run: Run) -> None:
        now = time.perf_counter()
        if run.n_iter == 1 and learner.plan:
            print(f"[{self.name}] {learner.plan}")
        if now < self.next and not self.each and run.stop == "interrupted":
            return
        self.next = now + EVERY
        unit = getattr(self.material, "unit", "rows")
        held = getattr(self.material, "held_out_unit", unit)
        told = "" if unit == "rows" else f" of {held}"
        held_out = (
            f"held-out error {run.validation_errors[-1]:.2%}{told}" if run.validation_errors else f"no held-out {unit}"
        )
        share = run.mistakes[-1] / max(1, self.material.n_rows)
        told = "" if unit == "rows" else f" of {unit}"
        print(
            f"[{self.name}] pass {run.n_iter}: {run.mistakes[-1]} mistakes ({share:.2%}{told}), {held_out}, "
            f"{learner.state}, {now - self.begun:.1f} s"
        )


def unconverged(name: str, learner: Any, run: Run, tol: float | None, max_iter: int) -> str:
    """What is proved about a run that ended without convergence, and what to do next."""
    how, other = learner.separable, learner.other_space
    size = f"margin <= {at_most(learner.margin_bound)} with R = {learner.radius:.3g}"
    passes = f"{run.n_iter} pass{'' if run.n_iter == 1 else 'es'}"
    if run.stop == "margin" and learner.definite:
        reason = (
            f"stopped after {passes} by tol={tol:g}: if these rows are {how} at all, their "
            f"margin relative to R is below tol ({size})"
        )
        advice = f"a smaller tol if they are ({learner.who_tells})"
    elif run.stop == "margin":
        reason = (
            f"stopped after {passes} by tol={tol:g}: w has become short beside the steps that it is the sum "
            "of. For a positive semi-definite kernel that would prove a small margin; this one is not, and nothing is "
            "proved"
        )
        advice = "a smaller tol"
    elif run.stop == "stuck":
        reason = (
            f"stopped after {passes}: the last one made mistakes but no step, because the rows that are "
            "wrong are zero, or too short to step along"
        )
        advice = "to leave these rows out or to rescale them"
    elif run.stop == "stalled":
        reason = f"stopped after {passes}: with this budget the mistakes of a pass have not become fewer lately"
        advice = "a larger budget, or a larger n_iter_no_change"
    else:
        proved = f" (so far {size})" if learner.definite else ""
        reason = f"stopped by max_iter={max_iter} before converging{proved}"
        advice = f"a larger max_iter if the rows are separable ({learner.who_tells})"
    return (
        f"{name} {reason}. Mistakes: {run.mistakes[-1]} in the last pass, {min(run.mistakes)} in the best. "
        f"Try {advice}, {other}."
    )


def stopped(name: str, unit: str, learner: Any, run: Run, tol: float | None) -> str:
    """Why training over structures ended before it converged, where it was not for the number of passes."""
    passes = f"{run.n_iter} pass{'' if run.n_iter == 1 else 'es'}"
    if run.stop == "margin":
        return (
            f"{name} stopped after {passes} by tol={tol:g}: if these {unit} are separable at all, their margin "
            f"relative to R is below tol (margin <= {at_most(learner.margin_bound)} with R = {learner.radius:.3g}). "
            f"Mistakes: {run.mistakes[-1]} in the last pass. Try a smaller tol, or features that tell more."
        )
    return (
        f"{name} stopped after {passes}: the last one made {run.mistakes[-1]} mistakes but no step, because the search "
        "misses what scores higher, or because what was found has the same features as what is right. Try a wider "
        f"search, or features that tell these {unit} apart."
    )
