"""`perceptrons explain`: show what each feature contributes to the score of a row."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import click
import numpy as np

from perceptrons.cli import output, reading
from perceptrons.cli.inspect import name_of, short
from perceptrons.cli.telling.values import amount
from perceptrons.data import Rows, Source
from perceptrons.learn.linear.contributions import Explained, direction, explained, in_values, runner_up
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.linear.values import ValueLearner
from perceptrons.learn.stream import fitting
from perceptrons.shown import aligned
from perceptrons.store.format import ModelFileError
from perceptrons.store.saved import Saved


@click.command("explain", epilog="Rows are read in the same way as the training data.")
@click.argument("model", metavar="MODEL")
@reading.ARGUMENT
@click.option("--row", type=click.IntRange(0), metavar="N", required=True, help="Number of the row, counted from 0.")
@click.option("--top", type=click.IntRange(0), metavar="K", default=10, help="Number of features to show.")
@click.option(
    "--class",
    "label",
    metavar="LABEL",
    help="Three or more classes: explain the score of this class.  "
    "[default: the predicted class against the runner-up]",
)
@output.JSON
@reading.options(reading.LIKE_MODEL)
def command(
    model: str, data: tuple[str, ...], row: int, top: int, label: str | None, as_json: bool, **given: Any
) -> None:
    """Show what the columns and words of a row of DATA contribute to its score by MODEL.

    \b
      perceptrons explain spam.perceptron new.csv --row 17
      perceptrons explain digits.perceptron new.svm --row 0 --class 8 --top 20

    A linear model adds up value times weight of each feature, and its bias: the sum is the score that `perceptrons
    predict --scores` prints. If training scaled the columns, weights multiply scaled values: 1 is one standard
    deviation above the mean. With two classes, positive contributions speak for the second. With three or more, values
    are multiplied by the difference of two classes' weights, unless --class names one class. For a model of values
    (train --regression), the sum is the predicted value.
    """
    saved = reading.classifier_in(model, "taggers score whole sentences; use perceptrons tag predict")
    learner = linear(saved, model)
    if label is not None and isinstance(learner, ValueLearner):
        raise click.UsageError("--class needs a model of classes: this one predicts values")
    source = reading.for_model(data, given, saved, labels=False)
    found = row_of(source, row, saved.n_features)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = learner.decide(learner.scaled(found))
        if isinstance(learner, ValueLearner):
            predicted = float(learner.predict(scores)[0])
            told = {"model": model, "data": source.name, "row": row, "predicted": predicted}
            return tell(told | facts(saved, learner, in_values(learner, found), top), as_json, show_value)
        code = int(learner.predict(scores)[0])
        of, against = compared(saved, scores[0], code, label)
        terms = explained(learner, found, direction(learner, of, against))
    classes = [output.label(each) for each in saved.classes.tolist()]
    summary: dict[str, Any] = {
        "model": model,
        "data": source.name,
        "row": row,
        "label": classes[code],
        **(
            {"score": float(scores[0, 0])}
            if len(classes) == 2
            else {"scores": dict(zip(map(str, classes), scores[0].tolist(), strict=True))}
        ),
        "class": classes[of],
        "against": None if against is None else classes[against],
        **facts(saved, learner, terms, top),
    }
    tell(summary, as_json, partial(show, two=len(classes) == 2))


def tell(summary: dict[str, Any], as_json: bool, show: Callable[[dict[str, Any]], None]) -> None:
    """Print the facts."""
    if as_json:
        output.as_json(summary)
    else:
        show(summary)


def facts(saved: Saved, learner: LinearLearner, terms: Explained, top: int) -> dict[str, Any]:
    """The terms of a score, the `top` largest one by one."""
    return {
        "total": terms.total,
        "intercept": terms.intercept,
        "features": len(terms.terms),
        "contributions": [
            {"feature": term.feature, "name": name_of(saved, term.feature), "value": term.value}
            | ({} if learner.scaling is None else {"scaled": term.scaled})
            | {"weight": term.weight, "contribution": term.amount}
            for term in terms.terms[:top]
        ],
        "others": float(np.sum([term.amount for term in terms.terms[top:]])),
    }


def linear(saved: Saved, path: str) -> LinearLearner:
    """The learner of a model whose scores are sums over features; others are refused."""
    learner = saved.learner
    if not isinstance(learner, LinearLearner):
        raise ModelFileError(
            f"{path} holds a {saved.estimator}: its scores are sums over support rows, not over features. "
            "Train a linear model, with --estimator perceptron, to explain its scores"
        )
    if learner.readout.by_vote:
        raise ModelFileError(
            f"{path} has a {learner.readout.name} readout: many weight vectors vote, so its scores are not sums over "
            "features. Train with --readout averaged to explain scores"
        )
    return learner


def row_of(source: Source, number: int, n_features: int) -> Rows:
    """The row with this number."""
    first = 0
    for rows, _ in source.batches():
        if number < first + len(rows):
            found: Rows = fitting(rows.take(np.array([number - first])), n_features)
            return found
        first += len(rows)
    raise ValueError(f"{source.name} has {output.count(first, 'row')}, counted from 0: there is no row {number}")


def compared(saved: Saved, scores: Any, code: int, label: str | None) -> tuple[int, int | None]:
    """The class whose score is explained, and the one whose score is subtracted."""
    classes = [str(output.label(each)) for each in saved.classes.tolist()]
    if label is not None and len(classes) <= 2:
        raise click.UsageError("--class needs a model of three or more classes; two classes share one score")
    if len(classes) <= 2:
        return 1, None
    if label is None:
        return code, runner_up(scores, code)
    if label not in classes:
        raise click.UsageError(f"--class {label} is not one of the classes: {output.listed(classes, 20)}")
    return classes.index(label), None


def show(summary: dict[str, Any], two: bool) -> None:
    """Print the same facts for people."""
    output.heading(f"{summary['data']}, row {summary['row']}: {summary['label']}")
    if two:
        output.say(f"score {summary['total']:.6g}: above 0 means {summary['class']}")
    elif summary["against"] is not None:
        output.say(
            f"score of {summary['class']} minus score of {summary['against']}, the runner-up: {summary['total']:.6g}"
        )
    else:
        output.say(f"score of {summary['class']}: {summary['total']:.6g}")
    output.say()
    show_terms(summary)


def show_value(summary: dict[str, Any]) -> None:
    """Print the facts about a predicted value for people."""
    output.heading(f"{summary['data']}, row {summary['row']}: {amount(summary['predicted'])}")
    output.say()
    show_terms(summary)


def show_terms(summary: dict[str, Any]) -> None:
    """Print the table of contributions."""
    shown = summary["contributions"]
    names = [short(each["name"]) for each in shown]
    keys = [key for key in ("value", "scaled") if shown and key in shown[0]]
    columns = [[f"{each[key]:.6g}" for each in shown] for key in keys] + [aligned([each["weight"] for each in shown])]
    amounts = [each["contribution"] for each in shown]
    more = summary["features"] - len(shown)
    if more:
        names.append(f"({output.count(more, 'other feature')})")
        amounts.append(summary["others"])
    names += ["(bias)", "sum"]
    amounts += [summary["intercept"], summary["total"]]
    blank = [""] * (len(names) - len(shown))
    lines = zip(names, *([*column, *blank] for column in columns), aligned(amounts), strict=True)
    output.table(["feature", *keys, "weight", "contribution"], [list(line) for line in lines])
