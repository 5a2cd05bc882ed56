"""`perceptrons export`: write a model in another format."""

from __future__ import annotations

import os

import click

from perceptrons.cli import output, reading
from perceptrons.cli.telling.report import size


@click.command("export")
@click.argument("model", metavar="MODEL")
@click.option(
    *("--onnx", "path"),
    required=True,
    type=click.Path(dir_okay=False),
    callback=output.target,
    help="ONNX file to write.",
)
def command(model: str, path: str) -> None:
    """Write MODEL as an ONNX file, for programs without Python.

    The graph takes X, float32 of shape (rows, features), and returns label and scores, like predict. Voted models and
    taggers cannot be exported.

    \b
      perceptrons export spam.perceptron --onnx spam.onnx
    """
    from perceptrons.store import export_onnx

    output.spare(path, model)
    saved = reading.classifier_in(model, "taggers cannot be exported to ONNX")
    with output.naming(path):
        export_onnx(saved, path)
    output.say(f"onnx: {path} ({size(os.path.getsize(path))})")
    output.say(f"takes X of {saved.n_features:,} features" + _names(saved.encoding is not None))


def _names(encoded: bool) -> str:
    """Explain the features of models of tables: the graph does not encode columns."""
    return ": encoded columns of tables, named as in `perceptrons inspect`" if encoded else ""
