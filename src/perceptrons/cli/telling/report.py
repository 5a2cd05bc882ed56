"""The report of `perceptrons train`."""

from __future__ import annotations

import math
import os
from typing import Any

from perceptrons.cli import output
from perceptrons.cli.telling.confusion import tables
from perceptrons.cli.telling.tuning import describe_tuning, rule_text
from perceptrons.learn.fit import AnyLearner, Run
from perceptrons.learn.learner import at_most
from perceptrons.store.values import to_json

SHOWN = 12  # maximum number of passes that are listed
WHY = {
    "converged": "the last pass made no mistake",
    "margin": "the margin is proved to be below tol",
    "inseparable": "the rows are proved not to be separable",
    "stuck": "no step can correct the rows that are still wrong",
    "validation": "the held-out error stopped falling",
    "max_iter": "all passes were made",
    "settled": "more passes no longer changed the predictions",
    "stalled": "the mistakes of a pass stopped falling",
    "loss": "the loss stopped falling",
    "interrupted": "it was interrupted",
}


def describe(result: Any, source: Any, path: str, learning: float, total: float) -> dict[str, Any]:
    """All facts about a training, for --json."""
    saved, mistakes = result.saved, result.run.mistakes
    visits = max(1, len(mistakes)) * result.n_rows
    return {
        "data": source.name,
        "rows": result.n_rows,
        "features": saved.n_features,
        "classes": [output.label(label) for label in saved.classes.tolist()],
        "constant_columns": constant_columns(saved),
        "estimator": saved.estimator,
        "mistakes": mistakes,
        "online_error": [count / max(1, result.n_rows) for count in mistakes],
        "rows_per_second": visits / learning,
        **outcome(result, saved.learner, path, total),
        **judged(result),
        "tuning": None if result.tuning is None else describe_tuning(result.tuning),
    }


def judged(result: Any) -> dict[str, Any]:
    """How good the model is: beside the baseline, and class by class."""
    found = result.confusion
    evaluation = None if found is None else {"of": result.compared_on, **found.summary()}
    warning, tuned = None, result.tuning is not None
    baseline, online = result.baseline, result.online
    error = None if evaluation is None else evaluation["error"]
    if tuned and result.compared_on == "training rows":  # the candidates were compared on other rows
        error = result.tuning.error
    if baseline is not None and error is not None and error >= baseline.error:
        warning = no_better(baseline, result.saved, tuned)
    elif baseline is not None and error is None and online is not None and online >= baseline.error:
        warning = (
            f"the online error is not below that of the baseline, {baseline.how}: "
            "measure the error of the model with --validation 0.1"
        )
    return {
        "baseline": None if baseline is None else baseline._asdict(),
        "evaluation": evaluation,
        "warning": warning,
    }


def outcome(result: Any, learner: AnyLearner, path: str, seconds: float) -> dict[str, Any]:
    """How training ended, for every kind of model."""
    run: Run = result.run
    return {
        "params": settings(result.saved.params),
        "passes": run.n_iter,
        "training_error": result.training,
        "held_out_error": run.held_out_error,
        "held_out_errors": run.validation_errors,
        "kept_pass": run.kept,
        "converged": run.converged,
        "stopped": run.stop,
        "updates": int(learner.totals.updates),
        "margin_bound": finite(learner.margin_bound),
        "seconds": seconds,
        "model": path,
        "bytes": os.path.getsize(path),
    }


def finite(bound: float) -> float | None:
    """A bound, or None if it is infinite: JSON has no infinity."""
    return bound if math.isfinite(bound) else None


def how_text(estimator: str, params: dict[str, Any]) -> str:
    """Describe how a model learns in a few words."""
    chosen = [f"{name} {rule_text(params[name])}" for name in ("kernel", "rule", "readout") if name in params]
    return ", ".join([estimator, *chosen])


def show(result: Any, summary: dict[str, Any]) -> None:
    """Print the same facts for people, after the table of passes."""
    errors = [("training error", summary["training_error"]), ("held-out error", summary["held_out_error"])]
    told = [[f"{name} ", error] for name, error in errors if error is not None]
    if result.tuning is not None and summary["held_out_error"] is None:
        told.append([f"error judged by {result.tuning.by} ", result.tuning.error])
    if result.baseline is not None:
        compared = [f"{result.baseline} ", result.baseline.error]
        if told:
            final([*told, compared])
        elif summary["online_error"]:
            final([["online error ", summary["online_error"][-1]], compared], "last pass: ")
    output.say(*ending(summary), kept_text(summary))
    if summary["warning"]:
        output.warn(summary["warning"])
    if summary["margin_bound"] is not None:
        learner = result.saved.learner
        unit = "rows" if learner.scaling is None else "scaled rows"
        output.say("proved: " + proved(summary["margin_bound"], learner.radius, unit, bias=learner.bias > 0))
    if summary["constant_columns"]:
        output.say(f"constant, so left out: {output.listed(summary['constant_columns'], 6)}")
    if result.confusion is not None:
        output.say()
        output.heading(f"{result.confusion.n_rows:,} {result.compared_on}")
        tables(result.confusion, summary["evaluation"])
    output.say()
    output.say(f"{summary['rows_per_second']:,.0f} rows/s, {output.seconds(summary['seconds'])} in total")
    output.say(f"model: {summary['model']} ({size(summary['bytes'])})")


def constant_columns(saved: Any) -> list[str]:
    """The columns of numbers that never change in training; nothing can be learned from them."""
    if saved.encoding is None or saved.learner.scaling is None:
        return []
    numbers = saved.encoding.numbers  # they come first
    return [numbers[j] for j in saved.learner.scaling.constant if j < len(numbers)]


def no_better(baseline: Any, saved: Any, tuned: bool = False) -> str:
    """The warning for a model that is no better than the baseline, with what to try."""
    options = [] if saved.learner.scaling is not None else ["--scale standard"]
    if not len(saved.classes):
        options += ["--passes 50", "another --C or --rule"]
    elif saved.estimator == "KernelPerceptron":
        options += ["another --gamma or --kernel"]
    else:
        options += ["--estimator kernel"] if tuned else ["--tune", "--estimator kernel"]
    return (
        f"the model is no better than the baseline, {baseline.how}: "
        f"train with {', '.join(options)}, or with other features"
    )


def proved(bound: float, radius: float, unit: str, *, bias: bool) -> str:
    """Say what a bound on the margin means. With a bias, it is about w and b together, the augmented margin.

    >>> proved(0.04261, 21.3, "rows", bias=False)
    'the rows cannot be separated by a margin above 0.0427 (0.201 % of the longest row)'
    >>> proved(0.04261, 21.3, "rows", bias=True)
    'the rows cannot be separated by a margin above 0.0427 (0.201 % of the longest row), with the bias as a weight'
    """
    longest = {"rows": "the longest row", "scaled rows": "the longest of them"}.get(unit, "the longest step")
    share = f" ({at_most(100 * bound / radius)} % of {longest})" if radius > 0 else ""
    space = ", with the bias as a weight" if bias else ""
    return f"the {unit} cannot be separated by a margin above {at_most(bound)}{share}{space}"


def final(parts: list[list[Any]], of: str = "final model: ") -> None:
    """Print the errors of the final model: parts of text, with errors as numbers."""
    told: list[Any] = []
    for part in parts:
        told += [", " if told else of]
        told += [output.style(output.percent(each), bold=True) if isinstance(each, float) else each for each in part]
    if told:
        output.say(*told)


def ending(summary: dict[str, Any]) -> list[str]:
    """Say how training ended, in parts of a line."""
    if summary["stopped"] == "interrupted":
        return [f"interrupted in pass {summary['passes'] + 1}"]
    separated = summary["stopped"] == "converged" or summary["converged"]
    word = output.style("converged", fg="green") if separated else "not converged"
    reason = f": {WHY[summary['stopped']]}" if summary["stopped"] in WHY else ""
    return [word, f" after {output.count(summary['passes'], 'pass')}{reason}"]


def kept_text(summary: dict[str, Any]) -> str:
    return f"; kept: pass {summary['kept_pass']} of {summary['passes']}" if summary["kept_pass"] else ""


def settings(params: dict[str, Any]) -> dict[str, Any]:
    """An estimator's parameters for JSON, with class weights by label.

    >>> settings({"tol": None, "class_weight": {1.0: 2, -1.0: 1}})
    {'tol': None, 'class_weight': {'1': 2, '-1': 1}}
    """
    told = {name: to_json(value, name) for name, value in params.items()}
    weight = params.get("class_weight")
    return told | (
        {"class_weight": {str(output.label(k)): w for k, w in weight.items()}} if isinstance(weight, dict) else {}
    )


def chosen(n: int) -> list[int]:
    """Which passes to show: all, or the first and last ones."""
    return list(range(n)) if n <= SHOWN else [*range(SHOWN // 2), *range(n - SHOWN // 2, n)]


def size(n_bytes: int) -> str:
    """Format a number of bytes.

    >>> size(1234), size(5_000_000)
    ('1.2 kB', '5.0 MB')
    """
    for unit, worth in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= worth:
            return f"{n_bytes / worth:.1f} {unit}"
    return f"{n_bytes} bytes"
