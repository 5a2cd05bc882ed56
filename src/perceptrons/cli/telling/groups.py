"""Help in groups, the most common options first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

OTHERS = "Other options"
COLUMN = 24  # width of the column of names; longer names have a line of their own


class Grouped(click.Command):
    """A command whose help shows its options in groups.

    groups: titles with the names of options, in the order of the help. --help is in the first group.
    """

    def __init__(self, *args: Any, groups: Mapping[str, Sequence[str]], **others: Any) -> None:
        super().__init__(*args, **others)
        self.groups = groups

    def in_groups(self, context: click.Context) -> dict[str, list[click.Option]]:
        """The options of this command by title, without those that are hidden."""
        options = [each for each in self.get_params(context) if isinstance(each, click.Option)]
        rest = {each.name: each for each in options if each.get_help_record(context) is not None}
        found = {title: [rest.pop(name) for name in names if name in rest] for title, names in self.groups.items()}
        for each in options:
            if "--help" in each.opts and rest.pop(each.name, None) is not None:
                next(iter(found.values())).append(each)
        return {**found, OTHERS: list(rest.values())}

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        for title, options in self.in_groups(context).items():
            records = [option.get_help_record(context) for option in options]
            lines = [(record[0].ljust(COLUMN), record[1]) for record in records if record is not None]
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines, col_max=COLUMN)
