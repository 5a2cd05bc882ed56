"""A table for people: how the columns of a source are treated, and why."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from perceptrons.data.table.roles import Guess
from perceptrons.shown import shown

MOST = 20  # columns that are listed one by one
NAMES = 6  # shown of a group of columns
TREATED = {
    "label": "label",
    "value": "value to predict",
    "number": "number",
    "flag": "category (flag)",
    "category": "category",
    "text": "text, words hashed",
    "id": "dropped: id",
    "date": "dropped: date",
    "empty": "dropped: empty",
    "ignored": "ignored",
}
LEFT = 4  # columns that are aligned left
MARKS = {"\t": "tab", ";": "semicolon", ",": "comma", "|": "bar"}


class Description:
    """How the columns of a table are treated, and why. Print it, or show it in a notebook.

    Parameters
    ----------
    name : str
        The files, or the data frame.
    guesses : list of Guess
        One for each column.
    sampled : int
        Number of rows that were looked at.
    dialect : CsvDialect, optional
        How CSV files are written.

    Attributes
    ----------
    title : str
        The name, and how files are written.
    head : list of str
        The names of the columns of this description.
    lines : list of list of str
        One line for each column of the table; for each group of columns that are treated alike, if there are many.

    Examples
    --------
    >>> print(Description("pets.csv", [Guess("age", "number", "whole numbers", 1, ["3", "12"])], 40))
    pets.csv
    column  treated as  because        examples  missing of 40
    age     number      whole numbers  3; 12                 1
    """

    def __init__(self, name: str, guesses: Sequence[Guess], sampled: int, dialect: Any = None) -> None:
        self.name, self.guesses, self.sampled = name, list(guesses), sampled
        self.title = name if dialect is None else f"{name}: {_written(dialect)}"
        self.head = ["column", "treated as", "because", "examples", f"missing of {sampled:,}"]
        self.lines = _one_by_one(self.guesses) if len(self.guesses) <= MOST else _groups(self.guesses)

    def dropped(self, kind: str) -> list[str]:
        """List the columns that are dropped.

        Parameters
        ----------
        kind : {"id", "date", "empty"}

        Returns
        -------
        list of str
        """
        return [each.column for each in self.guesses if each.kind == kind]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        cells = [[shown(cell) for cell in line] for line in [self.head, *self.lines]]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        texts = [
            "  ".join(
                cell.ljust(width) if j < LEFT else cell.rjust(width)
                for j, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in cells
        ]
        return "\n".join([shown(self.title), *texts])

    def _repr_html_(self) -> str:
        lines = ["".join(f"<td>{html.escape(shown(cell))}</td>" for cell in line) for line in self.lines]
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in self.head)
        rows = "".join(f"<tr>{line}</tr>" for line in lines)
        title = html.escape(shown(self.title))
        return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _written(dialect: Any) -> str:
    """Describe how a CSV file is written."""
    mark = MARKS.get(dialect.delimiter, repr(dialect.delimiter))
    parts = [f"delimiter {mark}", "with a header" if dialect.header else "without a header"]
    parts += ["decimal comma"] if dialect.decimal == "," else []
    parts += [] if dialect.quotes else ["without quotes"]
    return ", ".join([*parts, *([dialect.encoding] if dialect.encoding else [])])


def _one_by_one(guesses: list[Guess]) -> list[list[str]]:
    """One line for each column."""
    return [
        [each.column, TREATED[each.kind], each.why, "; ".join(each.examples), f"{each.missing:,}"] for each in guesses
    ]


def _groups(guesses: list[Guess]) -> list[list[str]]:
    """One line for all columns that are treated alike."""
    groups: dict[tuple[str, str], list[Guess]] = {}
    for each in guesses:
        why = "" if each.kind in ("category", "text") else each.why
        groups.setdefault((each.kind, why), []).append(each)
    lines = []
    for (kind, why), them in groups.items():
        names = ", ".join(each.column for each in them[:NAMES]) + (", …" if len(them) > NAMES else "")
        names = names if len(them) == 1 else f"{len(them):,} columns: {names}"
        examples = [each.examples[0] for each in them if each.examples]
        lines.append([names, TREATED[kind], why, "; ".join(examples[:3]), f"{sum(each.missing for each in them):,}"])
    return lines
