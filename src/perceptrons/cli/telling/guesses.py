"""What was guessed about a table, before training; and what its rows lacked, at the end."""

from __future__ import annotations

from typing import Any

from perceptrons.cli import output
from perceptrons.data import Source

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
NOTHING: frozenset[str] = frozenset()
MARKS = {"\t": "tab", ";": "semicolon", ",": "comma", "|": "bar"}


def show(source: Source, only: bool) -> set[str]:
    """Print how a table is read and how its columns are treated; returns the notes that were printed.

    only: whether nothing else will be printed.
    """
    look: Any = getattr(source, "look", None)
    if look is None:
        if only:
            output.say(f"{source.name}: all features are numbers; nothing is guessed")
        return set()
    guesses, dialect = look(), getattr(source, "dialect", None)
    how = "" if dialect is None else f": {_written(dialect)}"
    output.heading(f"{source.name}{how}")
    rows = _one_by_one(guesses) if len(guesses) <= MOST else _groups(guesses)
    missing = f"missing of {getattr(source, 'sampled', 0):,}"
    output.table(["column", "treated as", "because", "examples", missing], rows, left=4)
    for numeric in (True, False):  # dates are not numbers
        dropped = [each.column for each in guesses if each.kind == ("id" if numeric else "date")]
        if dropped:
            ways = ["--numeric, "] * numeric + ["--categorical or --text"]
            output.say(f"to learn from {output.listed(dropped, 3)} nevertheless: {''.join(ways)}")
    told = notes(source)
    output.say()
    return told


def _written(dialect: Any) -> str:
    """Describe how a CSV file is written."""
    mark = MARKS.get(dialect.delimiter, repr(dialect.delimiter))
    parts = [f"delimiter {mark}", "with a header" if dialect.header else "without a header"]
    parts += ["decimal comma"] if dialect.decimal == "," else []
    parts += [] if dialect.quotes else ["without quotes"]
    return ", ".join([*parts, *([dialect.encoding] if dialect.encoding else [])])


def _one_by_one(guesses: list[Any]) -> list[list[str]]:
    """One line for each column."""
    return [
        [each.column, TREATED[each.kind], each.why, "; ".join(each.examples), f"{each.missing:,}"] for each in guesses
    ]


def _groups(guesses: list[Any]) -> list[list[str]]:
    """One line for all columns that are treated alike."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for each in guesses:
        why = "" if each.kind in ("category", "text") else each.why
        groups.setdefault((each.kind, why), []).append(each)
    lines = []
    for (kind, why), them in groups.items():
        names = output.listed([each.column for each in them], NAMES)
        names = names if len(them) == 1 else f"{len(them):,} columns: {names}"
        shown = [each.examples[0] for each in them if each.examples]
        lines.append([names, TREATED[kind], why, "; ".join(shown[:3]), f"{sum(each.missing for each in them):,}"])
    return lines


def notes(source: Source, told: set[str] | frozenset[str] = NOTHING, err: bool = False) -> set[str]:
    """Print what the user should know about the files, except what was `told`; returns all of it."""
    found: set[str] = set(getattr(source, "notes", ()))
    for note in sorted(found - told):
        output.say(output.style(f"note: {note.replace('with encoding', 'with --encoding')}", fg="yellow"), err=err)
    return found


def lacked(source: Source, told: set[str] | frozenset[str] = NOTHING) -> None:
    """Say on standard error what the rows lacked: missing cells, and categories that training has not seen.

    told: notes that were printed before.
    """
    notes(source, told, err=True)
    counts: Any = getattr(source, "counts", None)
    if counts is None:
        return
    if counts.missing:
        parts = [f"{column}: {n:,}" for column, n in counts.missing.most_common()]
        output.say(f"missing cells: {output.listed(parts, 6)}", err=True)
    if counts.unseen_rows:
        parts = [f"{name}: {output.listed([repr(w) for w in counts.examples[name]], 3)}" for name in counts.unseen]
        what = f"{output.count(counts.unseen_rows, 'row')} with categories that training has not seen"
        output.say(f"{what} ({output.listed(parts, 3)})", err=True)
