"""Messages about a run: progress between passes, and a warning if it does not converge."""

from __future__ import annotations

import time
from typing import Any

from perceptrons.learn.fit import AnyLearner, Material, Passes, Run, Verdict
from perceptrons.learn.learner import at_most
from perceptrons.shown import some

EVERY = 0.5  # minimum seconds between two lines


class Progress:
    """Print a line for the first pass, the last pass, and at most twice a second; for every pass if `each`."""

    def __init__(self, name: str, material: Material[Any], each: bool) -> None:
        self.name, self.material, self.each = name, material, each
        self.begun = time.perf_counter()
        self.next = self.begun

    def __call__(self, learner: AnyLearner, run: Run) -> None:
        now = time.perf_counter()
        if run.n_iter == 1 and learner.plan:
            print(f"[{self.name}] {learner.plan}")
        if now < self.next and not self.each and run.going:
            return
        self.next = now + EVERY
        words = learner.words
        told, held = ("" if unit == "rows" else f" of {unit}" for unit in (words.unit, words.held_out_unit))
        held_out = f"no held-out {words.unit}"
        if run.validation_errors:
            held_out = words.held_out.format(run.validation_errors[-1]) + held
        share = run.mistakes[-1] / max(1, self.material.n_rows)
        print(
            f"[{self.name}] pass {run.n_iter}: {run.mistakes[-1]} {words.mistakes} ({share:.2%}{told}), {held_out}, "
            f"{learner.status + ', ' if learner.status else ''}{now - self.begun:.1f} s"
        )


def unconverged(name: str, learner: AnyLearner, run: Run, passes: Passes) -> str | None:
    """The warning for a run that did not converge: what is proved, and what to do next. None if no warning is needed.

    None is needed if the method is a few passes, as for taggers, or if the held-out error ended the run.
    """
    words, averages = learner.words, getattr(getattr(learner, "readout", None), "sums", False)
    other_space = words.other_space.removeprefix("an averaged readout, " if averages else "")
    if run.stop not in ("margin", "inseparable", "stuck", "stalled", "max_iter"):
        return None
    if run.stop == "max_iter" and not words.warns_at_max_iter:
        return None
    space = ", both with the constant feature" if getattr(learner, "bias", 0.0) else ""
    size = f"margin <= {at_most(learner.margin_bound)} with R = {learner.radius:.3g}{space}"
    done = f"{run.n_iter} pass{'' if run.n_iter == 1 else 'es'}"
    tells = f" ({words.who_tells})" if words.who_tells else ""
    if run.verdict.separable is False and run.stop in ("inseparable", "margin", "max_iter"):
        by = {"margin": f" by tol={passes.tol:g}", "max_iter": " by max_iter"}.get(run.stop, "")
        found = _contradiction(run.verdict)
        reason = f"stopped after {done}{by}: {found}, so the {words.unit} are not {words.separable}"
        advice = other_space.removeprefix("or ")
        if run.verdict.rows is not None and len(run.verdict.rows) == 1:
            advice = "a bias (fit_intercept=True), or leave this row out"
        elif run.verdict.twins:
            advice = "correcting or removing one of them" + ("" if averages else ", or an averaged readout")
    elif run.stop == "margin" and learner.definite:
        reason = (
            f"stopped after {done} by tol={passes.tol:g}: either the {words.unit} are not {words.separable}, or their "
            f"margin relative to R is below tol ({size})"
        )
        if run.verdict.separable:
            reason = f"stopped after {done} by tol={passes.tol:g}: the margin relative to R is below tol ({size})"
        advice = f"a smaller tol if the {words.unit} are separable{tells}, {other_space}"
    elif run.stop == "margin":
        reason = (
            f"stopped after {done} by tol={passes.tol:g}: w is short compared with the total length of its steps. "
            "For a positive semi-definite kernel this would prove a small margin; for this kernel nothing is proved"
        )
        advice = f"a smaller tol, {other_space}"
    elif run.stop == "stuck":
        reason = f"stopped after {done}: the last one made mistakes but no step, because {words.stuck}"
        advice = words.unstick
    elif run.stop == "stalled":
        reason = f"stopped after {done}: {words.stalled}"
        advice = f"{words.unstall}, {other_space}"
    else:
        proved = f" (so far {size})" if learner.definite else ""
        reason = f"stopped by max_iter={passes.max_iter} before converging{proved}"
        advice = words.enough or f"a larger max_iter if the {words.unit} are separable{tells}, {other_space}"
    mistakes = f"{words.mistakes.capitalize()}: {run.mistakes[-1]} in the last pass, {min(run.mistakes)} in the best"
    return f"{name} {reason}. {mistakes}. Try {advice}."


def _contradiction(verdict: Verdict) -> str:
    """Name the rows that contradict each other."""
    assert verdict.rows is not None
    if len(verdict.rows) == 1:  # without a bias
        return f"all values of row {verdict.rows[0]} are 0, and so is its score without a bias"
    if verdict.twins:
        return "rows {} and {} are equal but have different labels".format(*verdict.rows)
    return f"{some(verdict.rows)} cannot be separated from each other"
