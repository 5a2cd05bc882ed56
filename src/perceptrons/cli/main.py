"""The command `perceptrons`: its verbs, imported when they are called, and what becomes of errors."""

from __future__ import annotations

import importlib
import os
import re
import sys
from difflib import get_close_matches
from functools import cache
from typing import Any, NoReturn

import click

from perceptrons import __version__
from perceptrons.cli.streams import NamedStream, abandon, guard

# Verbs and what `perceptrons --help` says of them: that must not import them.
VERBS = {
    "train": "Learn a model from files.",
    "predict": "Label rows, or score them.",
    "evaluate": "Compare predictions with labels.",
    "certify": "Prove that classes can be separated, or that they cannot.",
    "plot": "Draw a model: boundary, mistakes, margins, proof.",
    "inspect": "Show what a model file holds.",
    "export": "Write a model in another format.",
    "tag": "Learn to label the tokens of sentences, and do it.",
    "demo": "See it work, on data that is built in.",
}
NO, TROUBLE, UNDECIDED, INTERRUPTED, UNREAD = 1, 2, 3, 130, 141  # exit codes beside 0
OPTIONS = {  # that settings of sources are on the command line
    r"\bwith target\b": "with --target",
    r"\bmissing=0\b": "--missing 0",
    r"\bcategorical=\['([^']*)'\]": r"--categorical '\1'",
    r"\bquotes=False\b": "--no-quotes",
    r"\bzero_based=False\b": "--one-based",
}


class Verbs(click.Group):
    """A group whose commands are imported when they are called: `command` of the module of that name in `folder`."""

    def __init__(self, *args: Any, verbs: dict[str, str], folder: str, **others: Any) -> None:
        super().__init__(*args, **others)
        self.verbs, self.folder = verbs, folder

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.verbs)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.verbs:
            return None
        command: click.Command = importlib.import_module(f"{self.folder}.{name}").command
        if not isinstance(command, click.Group):
            from perceptrons.core.jit import native

            native.enable(announce)  # kernels that have been compiled before are called without importing Numba
        return command

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(context, args)
        except click.UsageError as error:
            close = get_close_matches(args[0], self.verbs, 1)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            if args[0] in VERBS and args[0] not in self.verbs:  # of the group above
                meant = f" Use `perceptrons {args[0]}`."
            raise click.UsageError(error.message + meant, context) from None

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except BrokenPipeError:  # the reader of our output has gone, as `head` does; click would say 1, which is no
            abandon()
            sys.exit(UNREAD)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.verbs.items()))


@click.group(
    cls=Verbs,
    verbs=VERBS,
    folder="perceptrons.cli",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, or yes; 1 no (certify); 2 trouble, with a message; 3 undecided (certify); "
    "130 interrupted, with what was finished kept; 141 nobody reads the output any more.",
)
@click.version_option(__version__, "-V", "--version", package_name="perceptrons")
def group() -> None:
    """Every perceptron: train from files of any size, predict, and prove.

    \b
      perceptrons train train.svm --model spam.perceptron
      perceptrons evaluate spam.perceptron test.svm
      perceptrons certify train.svm

    Each command tells more with --help.
    """


@cache
def announce() -> None:
    """Tell, once, why the first run on a machine takes seconds longer."""
    if sys.stderr.isatty():
        click.echo(click.style("compiling for this machine; later runs will not …", dim=True), err=True)


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command; errors that a user can do something about are one line, without a traceback."""
    colours = False if os.environ.get("NO_COLOR") else None  # None: on terminals
    guard()
    try:
        sys.exit(group.main(args, prog_name="perceptrons", standalone_mode=False, color=colours))
    except click.ClickException as error:
        error.show()
        sys.exit(TROUBLE)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        sys.exit(INTERRUPTED)
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        if os.environ.get("PERCEPTRONS_TRACEBACK"):
            raise
        if isinstance(error, OSError) and error.filename == NamedStream.told:
            abandon()
        click.echo(f"{click.style('error', fg='red', bold=True)}: {_line(error)}", err=True, color=colours)
        sys.exit(TROUBLE)


def _line(error: Exception) -> str:
    """What an error says, as the system's errors are told by other commands."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    text = " ".join(str(error).split()) or type(error).__name__
    from perceptrons.data import DataError

    if isinstance(error, DataError):  # which tells what to do by settings of `perceptrons.data.source`
        for setting, option in OPTIONS.items():
            text = re.sub(setting, option, text)
    return text
