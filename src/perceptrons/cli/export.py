"""`perceptrons export`: write a model in another format."""

from __future__ import annotations

import os

import click

from perceptrons.cli import output, reading
from perceptrons.cli.telling.report import size
from perceptrons.store.saved import Saved


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

    The graph takes X, float32 of shape (rows, features), and returns label and scores, or value in regression. For a
    model of tables, it takes each column as an input of shape (rows, 1): numbers are double, categories text. If words
    or categories were hashed, it takes the encoded features, because ONNX cannot hash. Voted models and taggers cannot
    be exported.

    \b
      perceptrons export spam.perceptron --onnx spam.onnx
    """
    from perceptrons.store import export_onnx

    output.spare(path, model)
    saved = reading.classifier_in(model, "taggers cannot be exported to ONNX")
    with output.naming(path):
        export_onnx(saved, path)
    output.say(f"onnx: {path} ({size(os.path.getsize(path))})")
    output.say(_inputs(saved))


def _inputs(saved: Saved) -> str:
    """What the graph takes."""
    from perceptrons.store.onnx import takes_columns

    if not takes_columns(saved):
        named = ": encoded columns of tables, named as in `perceptrons inspect`" if saved.encoding is not None else ""
        return f"takes X of {saved.n_features:,} features{named}"
    encoding = saved.encoding
    kinds = [(encoding.numbers, "double"), ([c for c in encoding.categories if c not in encoding.flags], "text")]
    parts = [f"{output.listed(names, 8)} ({kind})" for names, kind in [*kinds, (encoding.flags, "bool")] if names]
    return f"takes one input per column: {'; '.join(parts)}"
