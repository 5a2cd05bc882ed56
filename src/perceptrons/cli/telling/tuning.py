"""What `train --tune` prints: progress, and the table of candidates."""

from __future__ import annotations

import time
from typing import Any

from perceptrons.cli import output
from perceptrons.cli.telling.passes import PassTable, Reader
from perceptrons.learn.fit import Run
from perceptrons.learn.task import Task
from perceptrons.learn.tuning import Contender, Contest, Tuned
from perceptrons.rules import RULES
from perceptrons.store.values import to_json


class TellingTuning(Reader):
    """What is printed while candidates learn: a line for each pass, then the table; and the bar on a terminal."""

    def __init__(self, given: dict[str, Any], bar: output.Bar, quiet: bool) -> None:
        self.bar, self.quiet, self.passes = bar, quiet, given["passes"]
        self.table: PassTable | None = None
        self.left: list[int] = []
        self.begun = time.perf_counter()
        bar.begin("tuning, pass 1", more=self.passes - 1)

    def __call__(self, task: Task, run: Run) -> None:
        """Show the pass that has ended."""
        self.bar.clear()
        contest = task.learner
        assert isinstance(contest, Contest)
        self.left.append(sum(not each.dropped for each in contest.contenders))
        if not self.quiet:
            with self.unless_unread():
                self._table(task, contest, run).update(run.n_iter)
        number, now = run.n_iter + 1, time.perf_counter()
        self.bar.begin(f"tuning, pass {number}", more=max(0, self.passes - number), pace=now - self.begun)
        self.begun = now

    def _table(self, task: Task, contest: Contest, run: Run) -> PassTable:
        if self.table is None:
            assert task.source is not None
            output.heading(f"{task.source.name}: tuning, {output.count(len(contest.contenders), 'candidate')}")
            output.say()
            head = ["candidates left", "smallest error"]
            self.table = PassTable(head, ["", ""], lambda number: self._line(run, number))
        return self.table

    def _line(self, run: Run, number: int) -> list[str]:
        return [f"{self.left[number - 1]:,}", output.percent(run.validation_errors[number - 1])]

    def end(self, found: Tuned) -> None:
        """Show the table of candidates."""
        self.bar.clear()
        if not self.quiet and self.table is not None:
            with self.unless_unread():
                self.table.end(found.run.n_iter)
                show(found)


def ranked(found: Tuned) -> list[Contender]:
    """The candidates, the chosen one first, the others by their errors."""
    return sorted(found.contest.contenders, key=lambda each: (each is not found.best, each.error))


def describe_tuning(found: Tuned) -> dict[str, Any]:
    """The table of candidates, for --json, the chosen one first."""
    return {
        "by": found.by,
        "rows": found.contest.n_measured,
        "passes": found.contest.passes,
        "error": found.error,
        "candidates": [
            {
                "rule": to_json(each.candidate.rule, "rule"),
                "class_weight": each.candidate.class_weight,
                "passes": each.passes,
                "error": each.error,
                "errors": each.errors,
                "dropped": each.dropped,
            }
            for each in ranked(found)
        ],
    }


def show(found: Tuned) -> None:
    """Print the table of candidates."""
    output.say(f"candidates, judged by {found.by}: {output.count(found.contest.n_measured, 'row')}")
    chosen = f"chosen, with {output.count(found.contest.passes, 'pass')}"
    lines = [
        [
            rule_text(each.candidate.rule),
            each.candidate.class_weight or "",
            str(each.passes),
            output.percent(each.error),
            chosen if place == 0 else f"dropped after pass {len(each.errors)}" if each.dropped else "",
        ]
        for place, each in enumerate(ranked(found))
    ]
    output.table(["rule", "class weights", "best pass", "error", ""], lines, left=2)
    if found.best is not found.contest.smallest:
        output.say("the default is kept: no other candidate is better by more than chance explains")
    output.say()


def rule_text(value: Any) -> str:
    """Format a rule with its parameters; other settings stay as they are.

    >>> from perceptrons.rules import PA1
    >>> rule_text(PA1(C=0.5)), rule_text("rbf")
    ('pa1 (C=0.5)', 'rbf')
    """
    if not hasattr(value, "_asdict"):
        return str(value)
    name = next((name for name, rule in RULES.items() if type(value) is rule), type(value).__name__)
    parts = value._asdict().items()
    settings = ", ".join(f"{key}={part:g}" if isinstance(part, float) else f"{key}={part}" for key, part in parts)
    return f"{name} ({settings})" if settings else name
