"""How predictions differ from labels: counts of confusions, precision and recall, the baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from perceptrons.cli import output

WIDEST = 12  # maximum number of classes in a full table
MOST = 15  # lines shown of longer lists
OTHERS = "(not seen in training)"  # stands for labels of held-out rows


class Baseline(NamedTuple):
    """The error of a model that gives every row the most frequent label."""

    label: Any
    error: float

    def __str__(self) -> str:
        return f"baseline (always {self.label!r})"

    @property
    def how(self) -> str:
        return f"which gives every row the label {self.label!r}"


def baseline(labels: Sequence[Any], counts: Sequence[int]) -> Baseline:
    """The baseline for labels with their numbers of rows.

    >>> baseline(["ham", "spam"], [3, 1])
    Baseline(label='ham', error=0.25)
    """
    most = max(range(len(counts)), key=lambda number: counts[number])
    return Baseline(labels[most], 1 - counts[most] / max(1, sum(counts)))


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

    def numbers_of(self, y: Any) -> Any:
        """The numbers of a batch of labels; labels that are new get the next ones."""
        labels, where = np.unique(y, return_inverse=True)
        for label in labels.tolist():
            if label not in self.numbers:
                self.numbers[label] = self.known + len(self.strangers)
                self.strangers.append(label)
        return np.array([self.numbers[label] for label in labels.tolist()], dtype=np.int64)[where]

    def count(self, truth: Any, codes: Any) -> None:
        """Count a batch of class numbers with the predicted ones."""
        truth = truth.astype(np.int64, copy=False)
        if not self.strangers and truth.max(initial=0) >= self.known:  # see `encode_held_out`
            self.strangers.append(OTHERS)
        both, counts = np.unique(truth * self.known + codes, return_counts=True)
        for pair, count in zip(both.tolist(), counts.tolist(), strict=True):
            self.pairs[divmod(pair, self.known)] += count
        self.n_rows += len(codes)

    def add(self, pairs: Mapping[tuple[int, int], int]) -> None:
        """Add counts of pairs of class numbers with the predicted ones."""
        if not self.strangers and any(truth >= self.known for truth, _ in pairs):
            self.strangers.append(OTHERS)
        self.pairs.update(pairs)
        self.n_rows += sum(pairs.values())

    @property
    def labels(self) -> list[Any]:
        """All labels, as they stand in the files."""
        return [output.label(label) for label in [*self.classes, *self.strangers]]

    @property
    def baseline(self) -> Baseline:
        """The baseline on these rows."""
        rows: Counter[int] = Counter()
        for (truth, _), count in self.pairs.items():
            rows[truth] += count
        labels = self.labels
        return baseline(labels, [rows[number] for number in range(len(labels))])

    @property
    def n_known(self) -> int:
        """The number of rows with labels that the model knows."""
        return sum(count for (truth, _), count in self.pairs.items() if truth < self.known)

    @property
    def error(self) -> float:
        return self.wrong / self.n_rows

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
            "most_frequent_class": self.baseline.label,
            "error_of_most_frequent_class": self.baseline.error,
            "unknown_labels": [output.label(label) for label in self.strangers],
            "classes": per_class,
            "confusion": confusion,
        }


def tables(confusion: Confusion, summary: dict[str, Any]) -> None:
    """Print the confusions, and precision, recall and F1 of each class."""
    labels, known = confusion.labels, confusion.known
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
