"""The command `perceptrons`: it imports each verb when it is called, and prints errors as one line."""

from __future__ import annotations

import importlib
import io
import os
import re
import sys
import warnings
from difflib import get_close_matches
from functools import cache
from typing import Any, NoReturn

import click

from perceptrons import __version__
from perceptrons.cli.telling.streams import NamedStream, abandon, guard
from perceptrons.shown import WITHIN_LINE, shown

# Verbs and their one-line help, which `perceptrons --help` prints without importing them.
VERBS = {
    "train": "Learn a model from files.",
    "predict": "Predict labels or scores for rows.",
    "evaluate": "Compare predictions with labels.",
    "certify": "Prove that the classes can be separated, or that they cannot.",
    "explain": "Show what each feature contributes to the score of a row.",
    "plot": "Draw a model: boundary, mistakes, margins, proof.",
    "inspect": "Show what a model file holds.",
    "export": "Write a model as an ONNX file.",
    "tag": "Train and use taggers, which label the tokens of sentences.",
    "serve": "Serve models over HTTP that learn from every example.",
    "lab": "Open a page that shows a perceptron learning, update by update.",
    "demo": "Run an example on built-in data.",
}
NO, TROUBLE, UNDECIDED, INTERRUPTED, UNREAD = 1, 2, 3, 130, 141  # exit codes beside 0
OPTIONS = {  # command-line spelling of settings of sources
    r"\bwith target\b": "with --target",
    r"\bmissing='mean'": "--missing mean",
    r"\bcategorical=\['([^']*)'\]": r"--categorical '\1'",
    r"\bna=\['([^']*)'\]": r"--na '\1'",
    r"\bencoding='([^']*)'": r"--encoding \1",
    r"\bregression=True\b": "--regression",
    r"\bheader=True\b": "--header",
    r"\bquotes=False\b": "--no-quotes",
    r"\bzero_based=False\b": "--one-based",
}


class Verbs(click.Group):
    """A group that imports a command when it is called: `command` in the module of the same name in `folder`."""

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

            native.enable(announce)  # call code that earlier runs compiled, without importing Numba
        return command

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(context, args)
        except click.UsageError as error:
            close = get_close_matches(args[0], self.verbs, 1)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            if args[0] in VERBS and args[0] not in self.verbs:  # a verb of the main command
                meant = f" Use `perceptrons {args[0]}`."
            raise click.UsageError(error.message + meant, context) from None

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except BrokenPipeError:  # the reader has gone, as with `head`; click would exit with 1, which means no
            abandon()
            sys.exit(UNREAD)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.verbs.items()))


@click.group(
    cls=Verbs,
    verbs=VERBS,
    folder="perceptrons.cli",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
    epilog="Exit codes: 0 success, or yes; 1 no (certify); 2 error; 3 undecided (certify); "
    "130 interrupted (what was learned is saved); 141 the reader of the output has gone.",
)
@click.version_option(__version__, "-V", "--version", package_name="perceptrons")
def group() -> None:
    """Every kind of perceptron: train on files of any size, predict, and prove.

    \b
      perceptrons train train.svm --model spam.perceptron
      perceptrons evaluate spam.perceptron test.svm
      perceptrons certify train.svm

    Run a command with --help to see its options.
    """


@cache
def announce() -> None:
    """Say once why the first run on a machine takes longer."""
    if sys.stderr.isatty():
        click.echo(click.style("compiling for this machine (first run only) …", dim=True), err=True)


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command; print errors that a user can fix as one line, without a traceback."""
    colours = False if os.environ.get("NO_COLOR") else None  # None: on terminals
    guard()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = tell_warning
            sys.exit(group.main(args, prog_name="perceptrons", standalone_mode=False, color=colours))
    except click.ClickException as error:
        said = io.StringIO()
        error.show(said)
        click.echo(shown(said.getvalue(), WITHIN_LINE), nl=False, err=True)
        sys.exit(TROUBLE)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        sys.exit(INTERRUPTED)
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        if os.environ.get("PERCEPTRONS_TRACEBACK"):
            raise
        if isinstance(error, OSError) and error.filename == NamedStream.told:
            abandon()
        click.echo(f"{click.style('error', fg='red', bold=True)}: {shown(_line(error))}", err=True, color=colours)
        sys.exit(TROUBLE)


def tell_warning(message: Warning | str, *where: Any, **others: Any) -> None:
    """Print a warning as one line, without the place in the code."""
    click.echo(f"{click.style('warning', fg='yellow', bold=True)}: {shown(' '.join(str(message).split()))}", err=True)


def _line(error: Exception) -> str:
    """The text of an error; errors of the system look as in other commands."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    text = " ".join(str(error).split()) or type(error).__name__
    from perceptrons.data import DataError

    if isinstance(error, DataError):  # it names settings of `perceptrons.data.source`
        for setting, option in OPTIONS.items():
            text = re.sub(setting, option, text)
    return text
