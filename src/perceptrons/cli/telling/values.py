"""What commands print about models of values: R² and mean absolute errors in place of error rates."""

from __future__ import annotations

from typing import Any, NamedTuple

from perceptrons.cli import output
from perceptrons.cli.telling.passes import Telling
from perceptrons.cli.telling.report import WHY, constant_columns, judged, kept_text, outcome, size
from perceptrons.learn.fit import Run
from perceptrons.learn.targets import Values
from perceptrons.learn.task import Task
from perceptrons.metrics.deviations import Deviations

WITHIN = "in the last one, no value was off by more than epsilon"


def amount(value: float) -> str:
    """Format a value or an error.

    >>> amount(123456.78), amount(0.0123456), amount(-3.0)
    ('123,457', '0.01235', '-3')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"


class Dull(NamedTuple):
    """The mean absolute error of a model that always predicts the mean of the values in training."""

    mean: float
    error: float

    def __str__(self) -> str:
        return f"baseline (always the mean, {amount(self.mean)})"

    @property
    def how(self) -> str:
        return "which always predicts the mean"


class Off(Deviations):
    """How far predictions are off. The constant to compare with is the mean of the values in training."""

    @property
    def error(self) -> float:
        return self.mae

    @property
    def baseline(self) -> Dull:
        return Dull(self.dull, self.dull_mae)

    def summary(self) -> dict[str, Any]:
        """All facts, for --json."""
        return {
            "rows": self.n_rows,
            "r2": self.r2,
            "mean_absolute_error": self.mae,
            "root_mean_squared_error": self.rmse,
            "mean": self.mean,
            "mean_in_training": self.dull,
            "mean_absolute_error_of_mean": self.dull_mae,
            "error": self.mae,
        }


def show_errors(found: dict[str, Any]) -> None:
    """Print R² and errors of predictions."""
    output.say("R² ", output.style(f"{found['r2']:.4f}", bold=True), ", of 1 for perfect predictions")
    mae, rmse = amount(found["mean_absolute_error"]), amount(found["root_mean_squared_error"])
    output.say("mean absolute error ", output.style(mae, bold=True), f", root mean squared error {rmse}")


class TellingValues(Telling):
    """What `train --regression` prints while it runs."""

    def _sizes(self, task: Task) -> str:
        assert isinstance(task.targets, Values) and task.targets.unit is not None
        unit, encoding = task.targets.unit, None if task.source is None else task.source.encoding
        parts = [output.count(task.material.n_rows, "row"), output.count(task.n_features, "feature")]
        about = f"{encoding.target!r}, " if encoding is not None and encoding.target else ""
        return f"{', '.join(parts)}; predicts {about or 'values, '}mean {amount(unit.mean)}"

    def _columns(self) -> list[str]:
        return ["off by > epsilon", "mean loss", *(["held-out MAE"] if self.held_out else [])]

    def _line(self, task: Task, run: Run, number: int) -> list[str]:
        count, errors, n_rows = run.mistakes[number - 1], run.validation_errors, max(1, task.material.n_rows)
        held = [amount(errors[number - 1]) if number <= len(errors) else ""] if self.held_out else []
        return [f"{count:,}", amount(mean_losses(task.learner, run, n_rows)[number - 1]), *held]


def mean_losses(learner: Any, run: Run, n_rows: int) -> list[float]:
    """The mean of ℓ in each pass, in the unit of the values."""
    return [loss * learner.unit.spread / max(1, n_rows) for loss in run.losses]


def describe(result: Any, source: Any, path: str, learning: float, total: float) -> dict[str, Any]:
    """All facts about a training, for --json."""
    saved, run = result.saved, result.run
    unit, visits = saved.learner.unit, max(1, run.n_iter) * result.n_rows
    return {
        "data": source.name,
        "rows": result.n_rows,
        "features": saved.n_features,
        "target": None if saved.encoding is None else saved.encoding.target,
        "unit": unit._asdict(),
        "epsilon": saved.learner.epsilon * unit.spread,
        "constant_columns": constant_columns(saved),
        "estimator": saved.estimator,
        "mistakes": run.mistakes,
        "mean_loss": mean_losses(saved.learner, run, result.n_rows),
        "rows_per_second": visits / learning,
        **outcome(result, saved.learner, path, total),
        **judged(result),
    }


def show(result: Any, summary: dict[str, Any]) -> None:
    """Print the same facts for people, after the table of passes."""
    errors = [("training", summary["training_error"]), ("held-out", summary["held_out_error"])]
    told = [f"{name} MAE {amount(error)}" for name, error in errors if error is not None]
    if result.baseline is not None:
        told.append(f"{result.baseline} MAE {amount(result.baseline.error)}")
    if told:
        output.say(f"final model: {', '.join(told)}")
    passes = output.count(summary["passes"], "pass")
    reason = f"{passes}: {WHY[summary['stopped']]}" if summary["stopped"] in WHY else passes
    endings = {"interrupted": f"interrupted in pass {summary['passes'] + 1}", "converged": f"{passes}: {WITHIN}"}
    output.say(endings.get(summary["stopped"], reason), kept_text(summary))
    if summary["warning"]:
        output.warn(summary["warning"])
    if summary["constant_columns"]:
        output.say(f"constant, so left out: {output.listed(summary['constant_columns'], 6)}")
    if summary["evaluation"] is not None:
        output.say()
        output.heading(f"{summary['evaluation']['rows']:,} {result.compared_on}")
        show_errors(summary["evaluation"])
    output.say()
    output.say(f"{summary['rows_per_second']:,.0f} rows/s, {output.seconds(summary['seconds'])} in total")
    output.say(f"model: {summary['model']} ({size(summary['bytes'])})")
