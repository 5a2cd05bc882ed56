"""What was guessed about a table, before training; and what its rows lacked, at the end."""

from __future__ import annotations

from typing import Any

from perceptrons.cli import output
from perceptrons.data import Source
from perceptrons.data.table.description import LEFT

NOTHING: frozenset[str] = frozenset()


def show(source: Source, only: bool) -> set[str]:
    """Print how a table is read and how its columns are treated; returns the notes that were printed.

    only: whether nothing else will be printed.
    """
    describe: Any = getattr(source, "describe", None)
    if describe is None:
        if only:
            output.say(f"{source.name}: all features are numbers; nothing is guessed")
        return set()
    found = describe()
    output.heading(found.title)
    output.table(found.head, found.lines, left=LEFT)
    for kind in ("id", "date"):
        dropped = found.dropped(kind)
        if dropped:
            ways = ["--numeric, "] * (kind == "id") + ["--categorical or --text"]  # dates are not numbers
            output.say(f"to learn from {output.listed(dropped, 3)} nevertheless: {''.join(ways)}")
    told = notes(source)
    output.say()
    return told


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
