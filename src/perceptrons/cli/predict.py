"""`perceptrons predict`: print labels, scores or probabilities of rows, batch by batch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import click

from perceptrons.cli import output, reading
from perceptrons.cli.telling import guesses
from perceptrons.cli.telling.belief import refuse_without_belief
from perceptrons.data import Source
from perceptrons.learn.linear.belief import probabilities
from perceptrons.learn.linear.values import ValueLearner
from perceptrons.learn.stream import fitting
from perceptrons.store.saved import Saved

Codes = Callable[[], list[Any]]  # predictions: numbers of classes, or values


@click.command(
    "predict", epilog="Rows are read in the same way as the training data; tables may lack the column of labels."
)
@click.argument("model", metavar="MODEL")
@reading.ARGUMENT
@click.option(
    "--scores", is_flag=True, help="Print scores instead of labels; one column per class if there are three or more."
)
@click.option(
    "--proba",
    is_flag=True,
    help="Print probabilities instead of labels, one column per class. For rules with a covariance, such as arow.",
)
@click.option(
    *("-o", "--output", "path"),
    type=click.Path(dir_okay=False),
    callback=output.target,
    help="Write to this file; it appears only when complete.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON object per row: label and scores, and probabilities with --proba.",
)
@reading.options(reading.LIKE_MODEL)
def command(
    model: str, data: tuple[str, ...], scores: bool, proba: bool, path: str | None, as_json: bool, **given: Any
) -> None:
    """Print the prediction of MODEL for each row of DATA, one per line: its label, or its value in regression.

    With two classes, a score above 0 means the second of the sorted labels. With three or more, the highest score wins,
    and the first line of scores has the names of the classes. Scores of voted models are shares of votes.

    Probabilities (--proba) are the model's own belief, not frequencies: perceptrons evaluate --proba measures them.
    Their first line has the names of the classes, also with two.

    Labels that contain a line break, or in scores and probabilities a tab, need --json. On a terminal, control
    characters in labels are shown as \\x1b.

    \b
      perceptrons predict spam.perceptron new.csv
      zcat new.svm.gz | perceptrons predict m.perceptron - --scores -o scores.txt
    """
    saved = reading.classifier_in(model, "use perceptrons tag predict")
    values = isinstance(saved.learner, ValueLearner)
    if (scores or proba) and values:
        raise click.UsageError(
            f"--{'scores' if scores else 'proba'} needs a model of classes: this one predicts values"
        )
    if proba and scores:
        raise click.UsageError("--scores and --proba exclude each other: --proba --json prints both")
    if proba:
        refuse_without_belief(saved, model)
    source = reading.for_model(data, given, saved, labels=False)
    output.spare(path, model, *source.paths)
    bar = output.Bar(source, quiet=path is None)
    done = 0
    try:
        with output.written(path) as file:
            for text, n_rows in lines(saved, source, scores, as_json, proba):
                file.write(text.encode("utf-8", "surrogateescape"))
                file.flush()
                done += n_rows
                bar(done)
    finally:
        bar.clear()
    guesses.lacked(source)
    if path is not None and not as_json:
        what = "scores" if scores else "probabilities" if proba else "values" if values else "labels"
        output.say(f"{what} of {output.count(done, 'row')} written to {path}", err=True)


def lines(saved: Saved, source: Source, scores: bool, as_json: bool, proba: bool = False) -> Iterator[tuple[str, int]]:
    """Yield lines of text and how many rows they cover, batch by batch."""
    classes = [output.label(label) for label in saved.classes.tolist()]
    columns = proba or (scores and len(classes) > 2)  # under the names of the classes
    write: Callable[[list[Any], Any, Codes, Any], str]
    write = _objects if as_json else _columns if scores or proba else _labels
    if isinstance(saved.learner, ValueLearner):
        write = _value_objects if as_json else _values
    n_rows = 0
    if not as_json and (columns or not scores):
        output.on_one_line(classes, tabs=not columns)
    if columns and not as_json:
        yield "\t".join(map(str, classes)) + "\n", 0
    for rows, _ in source.batches():
        rows = saved.learner.scaled(fitting(rows, saved.n_features), source.encoding)
        n_rows += len(rows)
        believed = probabilities(saved.learner, rows) if proba else None
        if proba and not as_json:
            yield write(classes, believed, list, None), len(rows)
            continue
        found = saved.learner.decide(rows)
        yield write(classes, found, saved.learner.predict(found).tolist, believed), len(rows)
    if n_rows == 0:
        raise ValueError(f"{source.name} has no rows")


def _labels(classes: list[Any], scores: Any, codes: Codes, believed: Any) -> str:
    names = [f"{label}\n" for label in classes]
    return "".join([names[code] for code in codes()])


def _columns(classes: list[Any], numbers: Any, codes: Codes, believed: Any) -> str:
    if numbers.shape[1] == 1:
        return "".join([f"{number!r}\n" for number in numbers[:, 0].tolist()])
    return "".join(["\t".join(map(repr, line)) + "\n" for line in numbers.tolist()])


def _values(classes: list[Any], scores: Any, values: Codes, believed: Any) -> str:
    return "".join([f"{value!r}\n" for value in values()])


def _value_objects(classes: list[Any], scores: Any, values: Codes, believed: Any) -> str:
    return "".join([json.dumps({"value": value}) + "\n" for value in values()])


def _objects(classes: list[Any], scores: Any, codes: Codes, believed: Any) -> str:
    names = [str(label) for label in classes]
    parts = []
    for number, (code, line) in enumerate(zip(codes(), scores.tolist(), strict=True)):
        told: dict[str, Any] = {"label": classes[code]}
        told |= {"score": line[0]} if len(line) == 1 else {"scores": dict(zip(names, line, strict=True))}
        if believed is not None:
            told["probabilities"] = dict(zip(names, believed[number].tolist(), strict=True))
        parts.append(json.dumps(told, default=output.plain) + "\n")
    return "".join(parts)
