"""`perceptrons evaluate`: compare predictions with labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import click
import numpy as np

from perceptrons.cli import guesses, output, reading
from perceptrons.data import Source
from perceptrons.learn.stream import fitting
from perceptrons.store.saved import Saved

WIDEST = 12  # maximum number of classes in a full table
MOST = 15  # lines shown of longer lists


@dataclass
class Confusion:
    """Counts of pairs of label and prediction; labels that the model does not know come after its classes."""

    classes: list[Any]
    strangers: list[Any] = field(default_factory=list)
    pairs: Counter[tuple[int, int]] = field(default_factory=Counter)  # by number of label and of prediction
    n_rows: int = 0

    def __post_init__(self) -> None:
        self.numbers = {label: number for number, label in enumerate(self.classes)}
        self.known = len(self.classes)

    def add(self, y: Any, codes: Any) -> None:
        """Count a batch of labels with the predicted class numbers."""
        labels, where = np.unique(y, return_inverse=True)
        for label in labels.tolist():
            if label not in self.numbers:
                self.numbers[label] = self.known + len(self.strangers)
                self.strangers.append(label)
        truth = np.array([self.numbers[label] for label in labels.tolist()], dtype=np.int64)[where]
        both, counts = np.unique(truth * self.known + codes, return_counts=True)
        for pair, count in zip(both.tolist(), counts.tolist(), strict=True):
            self.pairs[divmod(pair, self.known)] += count
        self.n_rows += len(codes)

    @property
    def labels(self) -> list[Any]:
        """All labels, as they stand in the files."""
        return [output.label(label) for label in [*self.classes, *self.strangers]]

    @property
    def wrong(self) -> int:
        return sum(count for (truth, guess), count in self.pairs.items() if truth != guess)

    def summary(self) -> dict[str, Any]:
        """All facts, for --json: precision and recall are null where they are 0/0."""
        labels = self.labels
        rows: Counter[int] = Counter()
        guessed: Counter[int] = Counter()
        for (truth, guess), count in self.pairs.items():
            rows[truth] += count
            guessed[guess] += count
        per_class = []
        for number, label in enumerate(labels):
            right = self.pairs[number, number]
            told = {"label": label, "rows": rows[number], "predicted": guessed[number]}
            told["precision"] = right / guessed[number] if guessed[number] else None
            told["recall"] = right / rows[number] if rows[number] else None
            told["f1"] = 2 * right / (rows[number] + guessed[number]) if rows[number] + guessed[number] else None
            per_class.append(told)
        confusion = [
            {"label": labels[truth], "predicted": labels[guess], "rows": count}
            for (truth, guess), count in sorted(self.pairs.items())
        ]
        return {
            "rows": self.n_rows,
            "wrong": self.wrong,
            "error": self.wrong / self.n_rows,
            "accuracy": 1 - self.wrong / self.n_rows,
            "error_of_most_frequent_class": 1 - max(rows.values()) / self.n_rows,
            "unknown_labels": [output.label(label) for label in self.strangers],
            "classes": per_class,
            "confusion": confusion,
        }


@click.command("evaluate", epilog="Rows are read in the same way as the training data.")
@click.argument("model", metavar="MODEL")
@reading.ARGUMENT
@output.JSON
@reading.options(reading.LIKE_MODEL)
def command(model: str, data: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Compare the predictions of MODEL with the labels of the rows of DATA.

    Prints the error, the confusions, and for each class: precision, the share of its predictions that are right;
    recall, the share of its rows that are found; F1, the harmonic mean of both. Rows with labels that the model does
    not know count as wrong.

    \b
      perceptrons evaluate spam.perceptron test.csv
    """
    saved = reading.classifier_in(model, "use perceptrons tag evaluate")
    source = reading.for_model(data, given, saved)
    bar = output.Bar(source, as_json)
    try:
        confusion = compared(saved, source, bar)
    finally:
        bar.clear()
    guesses.lacked(source)
    summary = {"model": model, "data": source.name, **confusion.summary()}
    if as_json:
        output.as_json(summary)
    else:
        show(confusion, summary)


def compared(saved: Saved, source: Source, bar: output.Bar) -> Confusion:
    """Count predictions, batch by batch."""
    confusion = Confusion(saved.classes.tolist())
    wrong = 0
    for rows, y in source.batches():
        if y is None:
            raise ValueError(f"{source.name} has no labels to compare with: name their column with --target")
        codes = saved.learner.predict(saved.learner.decide(fitting(rows, saved.n_features)))
        confusion.add(y, codes)
        wrong = confusion.wrong if bar.shown else 0
        bar(confusion.n_rows, wrong)
    if confusion.n_rows == 0:
        raise ValueError(f"{source.name} has no rows")
    return confusion


def show(confusion: Confusion, summary: dict[str, Any]) -> None:
    """Print the same facts for people."""
    labels, known = confusion.labels, confusion.known
    output.heading(f"{summary['data']}: {summary['rows']:,} rows, {known} classes")
    error = output.style(output.percent(summary["error"]), bold=True)
    output.say("error ", error, f": {summary['wrong']:,} of {summary['rows']:,} rows wrong")
    usual = max(summary["classes"], key=lambda each: each["rows"])["label"]
    output.say(f"baseline (always {usual!r}): {output.percent(summary['error_of_most_frequent_class'])}")
    if confusion.strangers:
        listed = output.listed(labels[known:], 6)
        output.say(output.style(f"labels that the model does not know: {listed}", fg="yellow"))
    output.say()
    if len(labels) <= WIDEST:
        head = ["label", *(f"as {label}" for label in labels[:known])]
        output.table(
            head, [[labels[t], *(f"{confusion.pairs[t, g]:,}" for g in range(known))] for t in range(len(labels))]
        )
    else:
        mixed = [(count, pair) for pair, count in confusion.pairs.items() if pair[0] != pair[1]]
        mixed.sort(key=lambda each: (-each[0], each[1]))
        output.say("largest confusions" if mixed else "no confusions")
        if mixed:
            lines = [[labels[t], labels[g], f"{count:,}"] for count, (t, g) in mixed[:MOST]]
            output.table(["label", "taken for", "rows"], lines, left=2)
            more(len(mixed) - MOST)
    output.say()
    per_class = summary["classes"]
    if len(per_class) > MOST:
        output.say("classes with the smallest F1")
        per_class = sorted(per_class, key=lambda each: 1.0 if each["f1"] is None else each["f1"])
    lines = [
        [each["label"], share(each["precision"]), share(each["recall"]), share(each["f1"]), f"{each['rows']:,}"]
        for each in per_class[:MOST]
    ]
    output.table(["class", "precision", "recall", "F1", "rows"], lines)
    more(len(per_class) - MOST)


def share(value: float | None) -> str:
    """Format a share, or a dash for 0/0."""
    return "–" if value is None else output.percent(value)


def more(number: int) -> None:
    """Say how many entries of a list are not shown."""
    if number > 0:
        output.say(f"… and {number:,} more; --json has all")
