"""The table of passes, printed line by line while training runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from perceptrons.cli import output
from perceptrons.learn.fit import Run
from perceptrons.learn.task import Task

ALL = 20  # passes up to this number are all shown
EVERY = 1.0  # seconds after which a pass is shown in any case


class PassTable:
    """A table with one line for each pass, printed when the pass ends, also into a pipe.

    Of very many quick passes, it shows the first ones, round numbers (30, 40, …, 100, 200, …) and the last.

    head: names of the columns after the number of the pass. room: the longest text of each of these columns. line: from
    the number of a pass, counted from 1, to its cells.
    """

    def __init__(self, head: Sequence[str], room: Sequence[str], line: Callable[[int], Sequence[str]]) -> None:
        self.head, self.line = ["pass", *head], line
        self.widths = [len("pass"), *(max(len(name), len(text)) for name, text in zip(head, room, strict=True))]
        self.shown, self.at = 0, 0.0  # the last pass that was shown, and when

    def update(self, n: int) -> None:
        """Show the passes up to number n, except some of very many."""
        for number in range(self.shown + 1, n + 1):
            if is_round(number) or (number == n and time.perf_counter() > self.at + EVERY):
                self._show(number)

    def end(self, n: int) -> None:
        """Show what is missing of n passes, and the last one in any case."""
        self.update(n)
        if n > self.shown:
            self._show(n)
        if n > 0:
            output.say()

    def _show(self, number: int) -> None:
        if self.shown == 0:
            output.say(output.style(output.in_columns(self.head, self.widths), dim=True))
        output.say(output.in_columns([str(number), *self.line(number)], self.widths))
        self.shown, self.at = number, time.perf_counter()


def is_round(number: int) -> bool:
    """Whether a pass is shown among very many.

    >>> [number for number in range(18, 400) if is_round(number)]
    [18, 19, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 300]
    """
    return number <= ALL or number % 10 ** (len(str(number)) - 1) == 0


class Reader:
    """Whoever reads the table. If nobody does any more, as with `| head`, training goes on in silence."""

    quiet = False

    @contextmanager
    def unless_unread(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            self.quiet = True


class Telling(Reader):
    """What `train` prints while it runs: a heading, and a line for each pass; and the bar on a terminal."""

    def __init__(self, how: str, given: dict[str, Any], bar: output.Bar, quiet: bool) -> None:
        self.how, self.bar, self.quiet = how, bar, quiet
        self.passes, self.held_out = given["passes"], given["validation"] is not None
        self.table: PassTable | None = None
        self.begun, self.pace = time.perf_counter(), 0.0
        bar.begin("pass 1", more=self.passes - 1)

    def __call__(self, task: Task, run: Run) -> None:
        """Show the passes that have ended."""
        self.bar.clear()
        if not self.quiet:
            with self.unless_unread():
                self._table(task, run).update(run.n_iter)
        now = time.perf_counter()
        if run.n_iter > 1:  # the first pass parses the files
            self.pace = now - self.begun
        self.begun = now
        number = run.n_iter + 1
        self.bar.begin(f"pass {number}", more=max(0, self.passes - number), pace=self.pace)

    def end(self, task: Task, run: Run) -> None:
        """Show what is missing."""
        self.bar.clear()
        if not self.quiet:
            with self.unless_unread():
                self._table(task, run).end(run.n_iter)

    def _table(self, task: Task, run: Run) -> PassTable:
        """The table of passes, with the heading before the first one."""
        if self.table is None:
            assert task.source is not None
            output.heading(f"{task.source.name}: {self._sizes(task)}")
            output.say(self.how)
            output.say()
            head = self._columns()
            room = [f"{task.material.n_rows:,}", *[""] * (len(head) - 1)]
            self.table = PassTable(head, room, lambda number: self._line(task, run, number))
        return self.table

    def _sizes(self, task: Task) -> str:
        """How much is learned, and what."""
        labels = [output.label(label) for label in task.targets.classes.tolist()]
        rows, features = output.count(task.material.n_rows, "row"), output.count(task.n_features, "feature")
        return f"{rows}, {features}, {output.count(len(labels), 'class')} ({output.listed(labels, 6)})"

    def _columns(self) -> list[str]:
        """The names of the columns after the number of the pass."""
        return ["mistakes", "online error", *(["held-out error"] if self.held_out else [])]

    def _line(self, task: Task, run: Run, number: int) -> list[str]:
        """The cells of a pass."""
        count, errors, n_rows = run.mistakes[number - 1], run.validation_errors, max(1, task.material.n_rows)
        held = [output.percent(errors[number - 1]) if number <= len(errors) else ""] if self.held_out else []
        return [f"{count:,}", output.percent(count / n_rows), *held]
