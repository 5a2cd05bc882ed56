"""Printing: tables for people, JSON for programs, and a progress bar."""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import click
import numpy as np

from perceptrons.cli.telling.streams import ForTerminal
from perceptrons.data.atomic import check_target, replaced
from perceptrons.shown import shown

JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
EVERY = 0.1  # seconds between updates of the bar
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)  # errors of writing for which the system names no file


def target(context: Any, parameter: Any, path: str | None) -> str | None:
    """Check that a file can be written, before any work is done."""
    folder = os.path.dirname(os.path.realpath(path)) if path is not None else ""
    if folder and not os.path.isdir(folder):
        raise click.BadParameter(f"the folder {folder} does not exist")
    if folder and not os.access(folder, os.W_OK):
        raise click.BadParameter(f"the folder {folder} cannot be written to")
    if path is not None:
        try:
            check_target(path)
        except OSError as error:
            raise click.BadParameter(shown(error)) from error
    return path


def spare(path: str | None, *inputs: str) -> None:
    """Refuse to overwrite an input file."""
    if path is None or not os.path.exists(path):
        return
    for each in inputs:
        if os.path.exists(each) and os.path.samefile(path, each):
            raise click.UsageError(f"{path} is an input file and would be overwritten: write to another file")


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Name the file in errors such as a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL and error.filename is None:
            error.filename = path
        raise


@contextmanager
def written(path: str | None) -> Iterator[BinaryIO]:
    """Open the file for results, which appears only when complete; without a path, standard output."""
    if path is not None:
        with naming(path), replaced(path) as file:
            yield file
    elif sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")
    else:
        terminal: Any = ForTerminal(sys.stdout.buffer) if sys.stdout.isatty() else sys.stdout.buffer
        yield terminal
        terminal.flush()


def as_json(content: dict[str, Any]) -> None:
    """Print one JSON object."""
    click.echo(json.dumps(content, default=plain, allow_nan=False, indent=2))


def plain(value: Any) -> Any:
    """Convert NumPy's numbers and arrays to Python's."""
    if isinstance(value, np.ndarray):
        return [label(each) for each in value.tolist()]
    return value.item() if isinstance(value, np.generic) else str(value)


def label(value: Any) -> Any:
    """A label as it stood in the file: whole numbers without a decimal point."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


class Styled(str):
    """Text with the codes of colours; the text itself is `shown` already."""


def style(value: Any, **how: Any) -> Styled:
    """Format a value in a colour, or bold."""
    return Styled(click.style(shown(value), **how))


def joined(*parts: Any) -> Styled:
    """Join parts of a line; those without a style are `shown`."""
    return Styled("".join(part if isinstance(part, Styled) else shown(part) for part in parts))


def say(*parts: Any, err: bool = False) -> None:
    """Print a line. Everything that people read is printed here, so that no text from a file controls a terminal."""
    click.echo(joined(*parts), err=err)


def warn(text: str) -> None:
    """Print a warning as a part of a report."""
    say(style(f"Warning: {text}", fg="yellow"))


def redraw(line: str) -> None:
    """Write over the last line on standard error."""
    click.echo("\r\x1b[2K" + shown(line), nl=False, err=True)


def on_one_line(labels: Sequence[Any], tabs: bool) -> None:
    """Refuse labels that cannot be told apart in a file with one label a line; `tabs`: whether they may have tabs."""
    for text in map(str, labels):
        if text and (text.splitlines() != [text] or (not tabs and "\t" in text)):
            raise ValueError(f"the label {text!r:.80} contains a line break or a tab: use --json, which keeps it exact")


def heading(text: str) -> None:
    say(style(text, bold=True))


def facts(pairs: Sequence[tuple[str, Any]]) -> None:
    """Print names and values, one pair per line."""
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        say(style(name.ljust(width), dim=True), "  ", value)


def listed(values: Sequence[Any], most: int) -> str:
    """List the first values.

    >>> listed(["a", 2, 3], most=2)
    'a, 2, …'
    """
    return ", ".join(map(str, values[:most])) + (", …" if len(values) > most else "")


def table(head: Sequence[str], lines: Sequence[Sequence[Any]], left: int = 1) -> None:
    """Print columns, the first `left` of them aligned left, the others right."""
    cells = [[shown(cell) for cell in line] for line in [head, *lines]]
    widths = [max(len(line[column]) for line in cells) for column in range(len(head))]
    for number, line in enumerate(cells):
        text = in_columns(line, widths, left)
        say(style(text, dim=True) if number == 0 else text)


def in_columns(cells: Sequence[str], widths: Sequence[int], left: int = 0) -> str:
    """Format a line of a table.

    >>> in_columns(["a", "5"], [3, 4], left=1)
    'a       5'
    """
    return "  ".join(
        cell.ljust(width) if column < left else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ).rstrip()


def count(n: int, what: str) -> str:
    """Format a count with its noun.

    >>> count(1, "sentence"), count(1500, "pass")
    ('1 sentence', '1,500 passes')
    """
    return f"{n:,} {what}" + ("" if n == 1 else "es" if what.endswith("s") else "s")


def percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def seconds(duration: float) -> str:
    """Format a duration.

    >>> seconds(3.14159), seconds(200)
    ('3.14 s', '3 min 20 s')
    """
    return f"{duration:.3g} s" if duration < 100 else f"{int(duration // 60)} min {int(duration % 60)} s"


@contextmanager
def doing() -> Iterator[Callable[[str], None]]:
    """Give a function that shows what long work does, in one line on standard error, if that is a terminal."""
    begun, drawn = time.perf_counter(), 0.0

    def tell(what: str) -> None:
        nonlocal drawn
        spent = time.perf_counter() - begun
        if sys.stderr is not None and sys.stderr.isatty() and spent > 1 and spent > drawn + EVERY:
            redraw(f"{what}  {seconds(spent)}")
            drawn = spent

    try:
        yield tell
    finally:
        if drawn:
            redraw("")


class Bar:
    """A line of progress on standard error, if that is a terminal: position, speed, mistakes, time left."""

    more, pace = 0, 0.0  # number of passes after this one, and how long one takes, if known

    def __init__(self, source: Any, quiet: bool = False) -> None:
        self.source, self.shown = source, not quiet and sys.stderr.isatty()
        self.drawn, self.next = False, time.perf_counter() + 3 * EVERY  # short work needs no bar
        self.begin("")

    def begin(self, title: str, more: int = 0, pace: float = 0.0) -> None:
        """Start a new bar. With `more` of the same length to follow, the time left is that of all."""
        self.title, self.begun, self.more, self.pace = title, time.perf_counter(), more, pace

    def __call__(self, rows: int, mistakes: float | None = None) -> None:
        """Show the state after this many rows."""
        now = time.perf_counter()
        if not self.shown or now < self.next:
            return
        self.next = now + EVERY
        spent = max(now - self.begun, 1e-6)
        parts = [self.title] if self.title else []
        if self.source.n_bytes:
            share = min(1.0, self.source.bytes_done / self.source.n_bytes)
            parts.append(f"[{'#' * int(24 * share):<24}] {share:4.0%}")
        parts.append(f"{rows:,} rows, {rows / spent:,.0f}/s")
        if mistakes is not None and rows:
            parts.append(f"{int(mistakes):,} mistakes ({percent(mistakes / rows)})")
        if self.source.n_bytes and share > 0:
            whole = spent / share
            left = max(0.0, max(whole, self.pace) - spent) + self.more * (self.pace or whole)
            parts.append(f"{seconds(left)} left" + (" for all passes" if self.more else ""))
        redraw("  ".join(parts))
        self.drawn = True

    def shards(self, done: int, n: int) -> None:
        """Show how many shards of a cluster are done in this pass."""
        if self.shown:
            left = f", {seconds(self.pace * (1 + self.more))} left for all passes" if self.pace and self.more else ""
            redraw(f"{self.title}  [{'#' * int(24 * done / n):<24}]  {done:,} of {count(n, 'shard')} done{left}")
            self.drawn = True

    def clear(self) -> None:
        """Erase the bar."""
        if self.drawn:
            redraw("")
            self.drawn = False
