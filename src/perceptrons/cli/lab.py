"""`perceptrons lab`: a page that shows a perceptron learning."""

from __future__ import annotations

import os
import sys
import webbrowser

import click

from perceptrons.cli import output

INTERRUPTED = 130  # exit code
EXTRA = 'the lab needs some packages: pip install "perceptrons[lab]"'


@click.command("lab")
@click.argument("file", metavar="[FILE]", required=False)
@click.option(
    "--port", default=0, type=click.IntRange(0, 65535), metavar="N", help="Port to listen on; 0 takes a free one."
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def command(file: str | None, port: int, no_browser: bool) -> None:
    """Open a page on which you draw points and watch a perceptron learn them, update by update.

    FILE is a table to begin with: CSV, Parquet, svmlight, NumPy, or another format that `train` reads. It may also be
    the address of an earlier lab, whose scene is opened again.

    \b
      perceptrons lab
      perceptrons lab iris.csv
      perceptrons lab --port 8888 --no-browser

    The page shows what `fit` does with these points: the boundary after each update, the convergence proof with its
    numbers, and whether a line separates the points at all. It needs no network, and only the browser of this machine
    can reach it. Stop it with Ctrl-C.
    """
    fragment = ""
    if file is not None and file.startswith(("http://127.0.0.1", "http://localhost")):
        fragment, file = file.partition("#")[2], None
    if file is not None:
        with open(file, "rb"):  # now, not when the page asks for it
            pass
    try:
        from perceptrons.lab.web.app import Lab
        from perceptrons.lab.web.server import run
    except ImportError as error:
        if (error.name or "").startswith("perceptrons"):
            raise
        raise ImportError(EXTRA) from error

    def ready(address: str) -> None:
        output.say(address)
        output.say("Ctrl-C stops the lab", err=True)
        sys.stdout.flush()
        if not no_browser and not webbrowser.open(address):
            output.say("no browser was found: open the address yourself", err=True)

    lab = Lab(file, fragment)
    try:
        run(lab, port, ready)
    except KeyboardInterrupt:
        if not lab.busy:
            raise
        output.say(err=True)  # as after every Ctrl-C
        output.say("interrupted", err=True)
        os._exit(INTERRUPTED)  # otherwise Python waits until the threads have computed what nobody waits for
