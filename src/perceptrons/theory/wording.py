"""Numbers of things, in words."""

from __future__ import annotations

from perceptrons.theory.constraints import Ints


def count(number: int, what: str, many: str | None = None) -> str:
    """So many of what it is.

    >>> count(1, "class", "classes"), count(2000, "row")
    ('1 class', '2,000 rows')
    """
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def some(rows: Ints) -> str:
    """A few row numbers, and how many there are."""
    shown = ", ".join(map(str, rows[:8].tolist())) + (", …" if len(rows) > 8 else "")
    return f"{len(rows)} rows: {shown}" if len(rows) > 1 else f"row {shown}"


def constraints(number: int, n_classes: int) -> str:
    """So many rows; of several classes, so many constraints, since a row makes one for each rival."""
    return count(number, "row" if n_classes == 2 else "constraint")
