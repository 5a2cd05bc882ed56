"""`perceptrons plot`: draw a model."""

from __future__ import annotations

import os
import warnings
from typing import Any

import click
import numpy as np

from perceptrons.cli import output, reading
from perceptrons.data import Source
from perceptrons.learn.linear.values import ValueLearner
from perceptrons.learn.stream import fitting
from perceptrons.store.estimators import restored
from perceptrons.store.format import ModelFileError
from perceptrons.store.saved import read

KINDS = ["boundary", "mistakes", "margins", "proof"]
ENDINGS = ["png", "svg", "pdf"]


def ending(context: Any, parameter: Any, path: str) -> str:
    """Check that a file can be written and that its name gives the format."""
    output.target(context, parameter, path)
    if os.path.splitext(path)[1].lower().lstrip(".") not in ENDINGS:
        raise click.BadParameter(f"expected a name that ends in .{', .'.join(ENDINGS)}, got {path!r}")
    return path


@click.command("plot", epilog='This command needs matplotlib: pip install "perceptrons[plots]"')
@click.argument("model", metavar="MODEL")
@click.argument("data", nargs=-1, metavar="[DATA...]")
@click.option("--kind", type=click.Choice(KINDS), default="boundary", help="What to draw.")
@click.option(
    *("-o", "--output", "path"),
    required=True,
    metavar="FILE",
    callback=ending,
    help="Picture to write: a .png, .svg or .pdf file.",
)
@reading.options(reading.LIKE_MODEL)
def command(model: str, data: tuple[str, ...], kind: str, path: str, **given: Any) -> None:
    """Draw MODEL with the rows of DATA, which are all read into memory.

    \b
      boundary   where predictions change, in the plane of the weights, with the rows
      mistakes   mistakes in each pass of training; needs no DATA; the only kind for taggers
      margins    how far rows are on the right side
      proof      why training must stop: trains again on DATA and records every update

    \b
      perceptrons plot m.perceptron test.svm -o boundary.png
    """
    saved = read(model) if kind == "mistakes" else reading.classifier_in(model, "taggers have --kind mistakes only")
    if isinstance(getattr(saved, "learner", None), ValueLearner):
        raise ModelFileError(f"{model} holds a {saved.estimator}: pictures show classes, and it predicts values")
    if kind != "mistakes" and not data:
        raise click.UsageError(f"--kind {kind} needs rows: name the files as DATA")
    try:
        import matplotlib
    except ImportError:
        raise ImportError(
            'pictures need matplotlib, which is not installed: pip install "perceptrons[plots]"'
        ) from None
    matplotlib.use("Agg")
    source = reading.for_model(data, given, saved) if kind != "mistakes" else None
    figure = drawn(kind, restored(saved, model), source)
    with output.written(path) as file:
        figure.savefig(file, format=os.path.splitext(path)[1].lower().lstrip("."), dpi=130, bbox_inches="tight")
    output.say(f"{kind}: {path}")


def drawn(kind: str, model: Any, source: Source | None) -> Any:
    """Draw an estimator."""
    from perceptrons.plots import BoundaryDisplay, MarginsDisplay, MistakesDisplay, ProofDisplay, style

    if source is None:
        if len(model.mistakes_) == 0:
            raise ValueError("the model has no mistakes by pass to draw: train it with fit or `perceptrons train`")
        return MistakesDisplay.from_estimator(model).figure_
    rows, y = source.joined()
    if y is None:
        raise ValueError(f"{source.name} has no labels to draw: name their column with --target")
    if model.classes_.dtype.kind == "f" and y.dtype.kind == "f" and not (y % 1).any():  # legends say 1, not 1.0
        model.classes_, y = model.classes_.astype(np.int64), y.astype(np.int64)
    X = fitting(rows, model.n_features_in_).matrix()
    # These rows have no column names; scikit-learn would warn about that.
    names = vars(model).pop("feature_names_in_", None)
    if kind == "boundary":
        display: Any = BoundaryDisplay.from_estimator(model, X, y)
        if names is not None and len(names) <= 2:
            display.ax_.set_xlabel(style.name(names[0], 40))
            display.ax_.set_ylabel(style.name(names[1], 40) if len(names) == 2 else "")
    elif kind == "margins":
        display = MarginsDisplay.from_estimator(model, X, y)
    else:
        from sklearn.exceptions import ConvergenceWarning

        from perceptrons.theory import trace

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the picture shows it
            display = ProofDisplay.from_trace(trace(model, X, y))
    return display.figure_
