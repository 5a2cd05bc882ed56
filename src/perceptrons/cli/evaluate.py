"""`perceptrons evaluate`: compare predictions with labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from perceptrons.cli import output, reading
from perceptrons.cli.telling import belief, guesses
from perceptrons.cli.telling.confusion import Confusion, tables
from perceptrons.cli.telling.report import no_better
from perceptrons.cli.telling.values import Off, amount, show_errors
from perceptrons.data import Source
from perceptrons.learn.linear.belief import probabilities
from perceptrons.learn.linear.values import ValueLearner
from perceptrons.learn.stream import fitting
from perceptrons.learn.targets import numbers
from perceptrons.store.saved import Saved


@click.command("evaluate", epilog="Rows are read in the same way as the training data.")
@click.argument("model", metavar="MODEL")
@reading.ARGUMENT
@click.option(
    "--proba",
    is_flag=True,
    help="Also measure probabilities: Brier score and log loss. For rules with a covariance, such as arow.",
)
@output.JSON
@reading.options(reading.LIKE_MODEL)
def command(model: str, data: tuple[str, ...], proba: bool, as_json: bool, **given: Any) -> None:
    """Compare the predictions of MODEL with the labels of the rows of DATA.

    Prints the error, the confusions, and for each class: precision, the share of its predictions that are right;
    recall, the share of its rows that are found; F1, the harmonic mean of both. Rows with labels that the model does
    not know count as wrong; the Brier score and the log loss leave them out.

    For a model of values (train --regression): R², the mean absolute error and the root mean squared error.

    \b
      perceptrons evaluate spam.perceptron test.csv
    """
    saved = reading.classifier_in(model, "use perceptrons tag evaluate")
    if proba:
        belief.refuse_without_belief(saved, model)
    quality = belief.Quality(len(saved.classes)) if proba else None
    source = reading.for_model(data, given, saved)
    bar = output.Bar(source, as_json)
    try:
        if isinstance(saved.learner, ValueLearner):
            found: Confusion | Off = off(saved, source, bar)
        else:
            found = compared(saved, source, bar, quality)
    finally:
        bar.clear()
    guesses.lacked(source)
    summary: dict[str, Any] = {"model": model, "data": source.name, **found.summary()}
    summary |= quality.summary() if quality else {}
    summary["warning"] = warning(found, summary, saved, source)
    if as_json:
        output.as_json(summary)
    elif isinstance(found, Off):
        show_off(found, summary)
    else:
        show(found, summary)


def warning(confusion: Confusion | Off, summary: dict[str, Any], saved: Saved, source: Source) -> str | None:
    """What a user should know before trusting the model."""
    if isinstance(confusion, Confusion) and not confusion.n_known:
        theirs, ours = (
            [repr(output.label(each)) for each in them] for them in (confusion.strangers, confusion.classes)
        )
        what = f"no label of {source.name} is known to the model: {output.listed(theirs, 6)}"
        return f"{what}. The model knows {output.listed(ours, 6)}: write labels as the training rows do"
    return no_better(confusion.baseline, saved) if summary["error"] >= confusion.baseline.error else None


def predicted(saved: Saved, source: Source) -> Iterator[tuple[Any, Any, Any]]:
    """Labels, predictions and rows on the model's scale, batch by batch."""
    for rows, y in source.batches():
        if y is None:
            raise ValueError(f"{source.name} has no labels to compare with: name their column with --target")
        rows = saved.learner.scaled(fitting(rows, saved.n_features), source.encoding)
        yield y, saved.learner.predict(saved.learner.decide(rows)), rows


def off(saved: Saved, source: Source, bar: output.Bar) -> Off:
    """Compare values with predictions, batch by batch."""
    assert isinstance(saved.learner, ValueLearner)
    found = Off(saved.learner.unit.mean)
    for y, guesses_here, _ in predicted(saved, source):
        found.add(numbers(y, source.name), guesses_here)
        bar(found.n_rows)
    if found.n_rows == 0:
        raise ValueError(f"{source.name} has no rows")
    return found


def compared(saved: Saved, source: Source, bar: output.Bar, quality: belief.Quality | None = None) -> Confusion:
    """Count predictions, batch by batch."""
    confusion = Confusion(saved.classes.tolist())
    wrong = 0
    for y, codes, rows in predicted(saved, source):
        truth = confusion.numbers_of(y)
        confusion.count(truth, codes)
        if quality is not None:
            quality.add(truth, probabilities(saved.learner, rows))
        wrong = confusion.wrong if bar.shown else 0
        bar(confusion.n_rows, wrong)
    if confusion.n_rows == 0:
        raise ValueError(f"{source.name} has no rows")
    return confusion


def show_off(found: Off, summary: dict[str, Any]) -> None:
    """Print the same facts about values for people."""
    output.heading(f"{summary['data']}: {output.count(summary['rows'], 'row')}, mean {amount(summary['mean'])}")
    show_errors(summary)
    output.say(f"{found.baseline}: mean absolute error {amount(found.baseline.error)}")
    if summary["warning"]:
        output.warn(summary["warning"])


def show(confusion: Confusion, summary: dict[str, Any]) -> None:
    """Print the same facts for people."""
    labels, known = confusion.labels, confusion.known
    output.heading(f"{summary['data']}: {output.count(summary['rows'], 'row')}, {output.count(known, 'class')}")
    error = output.style(output.percent(summary["error"]), bold=True)
    output.say("error ", error, f": {summary['wrong']:,} of {summary['rows']:,} rows wrong")
    output.say(f"{confusion.baseline}: {output.percent(confusion.baseline.error)}")
    if "brier_score" in summary:
        belief.show(summary)
    if summary["warning"]:
        output.warn(summary["warning"])
    if confusion.strangers and confusion.n_known:
        listed = output.listed(labels[known:], 6)
        output.say(output.style(f"labels that the model does not know: {listed}", fg="yellow"))
    output.say()
    tables(confusion, summary)
