"""`perceptrons export`: a model in another format."""

from __future__ import annotations

import os

import click

from perceptrons.cli import output, reading
from perceptrons.cli.report import size


@click.command("export")
@click.argument("model", metavar="MODEL")
@click.option(
    *("--onnx", "path"),
    required=True,
    type=click.Path(dir_okay=False),
    callback=output.target,
    help="The ONNX file to write.",
)
def command(model: str, path: str) -> None:
    """Write MODEL for programs without Python.

    The ONNX graph takes X, float32 of shape (rows, features), and gives label and scores, as predict does. Voted
    models and taggers cannot be exported.

    \b
      perceptrons export spam.perceptron --onnx spam.onnx
    """
    from perceptrons.store import export_onnx

    output.spare(path, model)
    saved = reading.classifier_in(model, "taggers cannot be exported to ONNX")
    with output.naming(path):
        export_onnx(saved, path)
    click.echo(f"onnx: {path} ({size(os.path.getsize(path))})")
    click.echo(f"takes X of {saved.n_features:,} features" + _names(saved.encoding is not None))


def _names(encoded: bool) -> str:
    """What is to be known about columns of tables: the graph does not read them."""
    return ": what columns of tables become, as `perceptrons inspect` names them" if encoded else ""
