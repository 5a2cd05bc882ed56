"""`perceptrons evaluate`: compare predictions with labels."""

from __future__ import annotations

from typing import Any

import click

from perceptrons.cli import output, reading
from perceptrons.cli.telling import belief, guesses
from perceptrons.cli.telling.confusion import Confusion, tables
from perceptrons.cli.telling.report import no_better
from perceptrons.data import Source
from perceptrons.learn.linear.belief import probabilities
from perceptrons.learn.stream import fitting
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
        confusion = compared(saved, source, bar, quality)
    finally:
        bar.clear()
    guesses.lacked(source)
    summary: dict[str, Any] = {"model": model, "data": source.name, **confusion.summary()}
    summary |= quality.summary() if quality else {}
    summary["warning"] = None
    if not confusion.n_known:
        theirs, ours = (
            [repr(output.label(each)) for each in them] for them in (confusion.strangers, confusion.classes)
        )
        what = f"no label of {source.name} is known to the model: {output.listed(theirs, 6)}"
        summary["warning"] = f"{what}. The model knows {output.listed(ours, 6)}: write labels as the training rows do"
    elif summary["error"] >= summary["error_of_most_frequent_class"]:
        summary["warning"] = no_better(confusion.baseline, saved)
    if as_json:
        output.as_json(summary)
    else:
        show(confusion, summary)


def compared(saved: Saved, source: Source, bar: output.Bar, quality: belief.Quality | None = None) -> Confusion:
    """Count predictions, batch by batch."""
    confusion = Confusion(saved.classes.tolist())
    wrong = 0
    for rows, y in source.batches():
        if y is None:
            raise ValueError(f"{source.name} has no labels to compare with: name their column with --target")
        rows = saved.learner.scaled(fitting(rows, saved.n_features), source.encoding)
        truth = confusion.numbers_of(y)
        confusion.count(truth, saved.learner.predict(saved.learner.decide(rows)))
        if quality is not None:
            quality.add(truth, probabilities(saved.learner, rows))
        wrong = confusion.wrong if bar.shown else 0
        bar(confusion.n_rows, wrong)
    if confusion.n_rows == 0:
        raise ValueError(f"{source.name} has no rows")
    return confusion


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
