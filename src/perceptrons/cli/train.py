"""`perceptrons train`: from files to a model, in one command."""

from __future__ import annotations

import os
import time
from typing import Any

import click
from click.core import ParameterSource

from perceptrons import __version__, rules
from perceptrons.cli import output, reading
from perceptrons.cli.fitting import ESTIMATORS, linear, other
from perceptrons.cli.report import describe, show
from perceptrons.store.saved import write

READOUTS = ["averaged", "last", "voted", "pocket"]
KERNELS = ["rbf", "poly", "linear", "sigmoid", "cosine", "laplacian"]


def weights(context: Any, parameter: Any, text: str | None) -> Any:
    """Weights of classes as they are given: balanced, or label=weight,…"""
    if text is None or text == "balanced":
        return text
    try:
        pairs = [part.rsplit("=", 1) for part in text.split(",")]
        return {name.strip(): float(weight) for name, weight in pairs}
    except ValueError:
        raise click.BadParameter(f'expected "balanced" or label=weight,…, got {text!r}') from None


def width(context: Any, parameter: Any, text: str) -> str | float:
    """The gamma of a kernel."""
    try:
        return text if text in ("scale", "auto") else float(text)
    except ValueError:
        raise click.BadParameter(f"expected a number, scale or auto, got {text!r}") from None


@click.command(
    "train", epilog="Files: svmlight, CSV, TSV, Parquet, Arrow, NumPy; plain, gzip, bzip2 or zstd; globs; - is stdin."
)
@reading.ARGUMENT
@click.option(
    *("-m", "--model", "path"),
    required=True,
    type=click.Path(dir_okay=False),
    callback=output.target,
    help="Where to save the model.",
)
@click.option("--estimator", type=click.Choice(list(ESTIMATORS)), default="perceptron", show_default=True)
@click.option(
    "--rule", type=click.Choice(list(rules.RULES)), default="perceptron", show_default=True, help="How far a step goes."
)
@click.option(
    "--C", "C", type=float, default=1.0, show_default=True, help="How far steps go: the most in pa1, softly in pa2."
)
@click.option("--beta", type=float, default=1.0, show_default=True, help="Margin that the rule margin asks for.")
@click.option("--readout", type=click.Choice(READOUTS), help="What predicts.  [default: averaged; last with a budget]")
@click.option("--passes", type=click.IntRange(1), default=10, show_default=True, help="At most so many.")
@click.option(
    "--tol",
    type=click.FloatRange(0),
    default=0.0,
    help="Stop when the margin is proved to be below TOL times the longest row.  [default: never]",
)
@click.option("--validation", metavar="SHARE|FILE", help="Take the error on a share (0.1) of the rows, or on a file.")
@click.option(
    "--patience",
    type=click.IntRange(1),
    help="Stop after so many passes without a smaller held-out error, keep the best.  [default: keep the last]",
)
@click.option("--class-weight", callback=weights, metavar="W", help='"balanced", or label=weight,…')
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Of the random order.")
@click.option("--no-shuffle", is_flag=True, help="Keep the order of the rows.")
@click.option("--no-intercept", is_flag=True, help="Learn no bias.")
@click.option("--kernel", type=click.Choice(KERNELS), default="rbf", show_default=True)
@click.option(
    "--gamma", default="scale", show_default=True, callback=width, help="Of the kernel: a number, scale or auto."
)
@click.option("--degree", type=click.IntRange(0), default=3, show_default=True, help="Of the kernel poly.")
@click.option("--coef0", type=float, default=0.0, show_default=True, help="Of the kernels poly and sigmoid.")
@click.option("--budget", type=click.IntRange(1), help="Kernel: at most so many support rows.")
@click.option("--drop-zeros", is_flag=True, help="Save only weights that are not 0.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@output.JSON
@reading.options(reading.READING, reading.ENCODING, reading.CACHING)
def command(data: tuple[str, ...], path: str, as_json: bool, quiet: bool, **given: Any) -> None:
    """Learn a model from DATA and save it.

    Rows are read in batches: memory is bounded by the batches and the weights, whatever the size of the files. With
    several passes, rows are parsed once and a binary copy is kept beside the first file.

    \b
      perceptrons train train.svm --model m.perceptron --passes 1
      perceptrons train mail.csv --target label --text subject,body --model spam.perceptron --validation 0.1
    """
    begun = time.perf_counter()
    check_idle(given)
    given["readout"] = given["readout"] or ("averaged" if given["budget"] is None else "last")
    source = reading.opened(data, given)
    output.spare(path, *source.paths, given["validation"] or "")
    bar = output.Bar(source, quiet or as_json)
    fit = linear if given["estimator"] == "perceptron" else other
    try:
        result = fit(source, given, bar)
    finally:
        bar.clear()
    learning = time.perf_counter() - begun
    saved = result.saved
    saved.trained = {
        "files": [os.path.abspath(name) if name != "-" else name for name in source.paths],
        "source": reading.known_of(source, given),
        "rows": result.n_rows,
        "seconds": round(learning, 3),
        "date": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "version": __version__,
    }
    with output.naming(path):
        write(saved, path, drop_zeros=given["drop_zeros"])
    summary = describe(result, source, path, learning, time.perf_counter() - begun)
    if as_json:
        output.as_json(summary)
    elif not quiet:
        show(result, summary)
    if result.interrupted:
        raise KeyboardInterrupt


def check_idle(given: dict[str, Any]) -> None:
    """Refuse options that would change nothing, as the others are."""
    context, estimator, rule = click.get_current_context(), given["estimator"], given["rule"]
    passive = estimator == "passive-aggressive"
    idle = {name: "--estimator kernel" for name in ("kernel", "gamma", "degree", "coef0", "budget")}
    idle = {} if estimator == "kernel" else idle
    if passive:
        idle["rule"] = "--estimator perceptron or kernel: passive-aggressive is the rule pa1"
    elif rule not in ("pa1", "pa2"):
        idle["C"] = "--rule pa1 or pa2"
    if passive or rule != "margin":
        idle["beta"] = "--rule margin"
    if given["validation"] is None:
        idle["patience"] = "--validation, a share of the rows or a file"
    for name, needed in idle.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name} goes with {needed}")
    if passive and given["readout"] in ("voted", "pocket"):
        raise click.UsageError(f"--readout {given['readout']} goes with --estimator perceptron or kernel")
