"""`perceptrons train`: learn a model from files."""

from __future__ import annotations

import time
from typing import Any

import click

from perceptrons.cli import output, reading
from perceptrons.cli.telling import guesses, report, values
from perceptrons.cli.telling.groups import Grouped
from perceptrons.cli.telling.passes import Reader
from perceptrons.cli.training import cluster, shared
from perceptrons.cli.training.fitting import (
    ESTIMATORS,
    OF_KERNELS,
    REGRESSION,
    columns_of,
    has_many_zeros,
    settled,
    train,
    tuned,
)
from perceptrons.learn.linear.defaults import EPSILON, READOUT
from perceptrons.learn.linear.values import RULES_OF_VALUES
from perceptrons.learn.readouts import READOUTS
from perceptrons.learn.tuning import Tuned
from perceptrons.store.saved import write

KERNELS = ["rbf", "poly", "linear", "sigmoid", "cosine", "laplacian"]


def weights(context: Any, parameter: Any, text: str | None) -> Any:
    """Parse class weights: balanced, or label=weight,…"""
    if text is None or text == "balanced":
        return text
    try:
        pairs = [part.rsplit("=", 1) for part in text.split(",")]
        return {name.strip(): float(weight) for name, weight in pairs}
    except ValueError:
        raise click.BadParameter(f'expected "balanced" or label=weight,…, got {text!r}') from None


def width(context: Any, parameter: Any, text: str) -> str | float:
    """Parse the gamma of a kernel."""
    try:
        return text if text in ("scale", "auto") else float(text)
    except ValueError:
        raise click.BadParameter(f"expected a number, scale or auto, got {text!r}") from None


GROUPS = {
    "Common options": (
        *("path", "target", "regression", "text", "validation", "tune", "passes", "dry_run", "quiet", "as_json"),
    ),
    "Learning": (
        *("scale", "estimator", "rule", *shared.parameters(), "epsilon", "readout", "class_weight"),
        *("no_intercept", "intercept_scaling", "keep", "patience", "tol", "seed", "no_shuffle"),
    ),
    "Kernel (--estimator kernel)": OF_KERNELS,
    "Reading files": (
        *("format", "delimiter", "header", "quotes", "decimal", "encoding", "na", "one_based", "cache", "no_cache"),
    ),
    "Columns of tables": ("features", "drop", "numeric", "categorical", "hash_bits", "missing"),
    "Text": ("weighting", "ngrams", "text_bits"),
    "Model file": ("drop_zeros",),
    **cluster.GROUP,
}


@click.command(
    "train",
    cls=Grouped,
    groups=GROUPS,
    epilog="DATA: svmlight, CSV, TSV, Parquet, Arrow or NumPy files, plain or compressed (gzip, bzip2, zstd); "
    "patterns such as '*.csv'; - for standard input.",
)
@reading.ARGUMENT
@click.option(
    "--estimator",
    type=click.Choice(list(ESTIMATORS)),
    default="perceptron",
    help="Linear with any rule; linear as in scikit-learn's PassiveAggressiveClassifier; or with a kernel.",
)
@click.option(
    "--readout",
    type=click.Choice(list(READOUTS)),
    help="Which weight vector makes predictions.  [default: averaged; last with --budget]",
)
@reading.options(shared.options("rows"))
@click.option(
    "--regression",
    is_flag=True,
    help="Predict the numbers of --target, not classes: a PassiveAggressiveRegressor with rule pa1, pa2, pa or arow. "
    "Reports the mean absolute error and R².",
)
@click.option(
    "--epsilon",
    type=click.FloatRange(0),
    metavar="X",
    default=EPSILON,
    help="Regression: errors up to X are no loss. X is in standard deviations of the target, as C and r are, because "
    "the target is brought to one scale for learning; with --scale none, all are in the unit of the target.",
)
@click.option(
    "--tune",
    is_flag=True,
    help="Choose rule, its parameters, class weights and the number of passes (at most --passes): by the held-out "
    "error, by cross-validation without --validation, or by the online error with --passes 1. Then train on all rows "
    "that are not held out.",
)
@click.option(
    "--tol",
    type=click.FloatRange(0),
    metavar="X",
    help="Stop when the margin is proved to be below X times the length of the longest row; passive-aggressive: when "
    "the mean loss has not fallen by X for 5 passes (or --patience).  [default: never]",
)
@click.option("--class-weight", callback=weights, metavar="W", help='Class weights: "balanced", or label=weight,…')
@click.option("--no-intercept", is_flag=True, help="Learn without a bias.")
@click.option(
    "--intercept-scaling",
    type=click.FloatRange(0, min_open=True),
    metavar="X",
    help="Value of the constant feature whose weight is the bias.  [default: 1; 0.1 for tables of text]",
)
@click.option("--kernel", type=click.Choice(KERNELS), default="rbf", help="Kernel function.")
@click.option(
    "--gamma", metavar="X", default="scale", callback=width, help="Kernel parameter: a number, scale or auto."
)
@click.option("--degree", metavar="N", type=click.IntRange(0), default=3, help="Degree of the poly kernel.")
@click.option("--coef0", metavar="X", type=float, default=0.0, help="Constant of the poly and sigmoid kernels.")
@click.option(
    "--budget", metavar="N", type=click.IntRange(1), help="Maximum number of support rows.  [default: no limit]"
)
@reading.options(reading.SCALING, reading.READING, reading.ENCODING, reading.CACHING, cluster.OPTIONS)
@click.option("--dry-run", is_flag=True, help="Show how the columns would be treated, and stop.")
def command(data: tuple[str, ...], path: str | None, as_json: bool, quiet: bool, dry_run: bool, **given: Any) -> None:
    """Learn a model from DATA and save it.

    \b
      perceptrons train adult.csv --target income -m m.perceptron --validation 0.1
      perceptrons train mail.csv --target label --text subject,body -m spam.perceptron
      perceptrons train houses.csv --target price --regression -m houses.perceptron --validation 0.1
      perceptrons train train.svm -m m.perceptron --passes 1
      perceptrons train 'part-*.svm' -m m.perceptron --workers 4

    Columns of numbers in tables are centred and divided by their standard deviation, so that a column in the thousands
    does not drown the others; the model remembers this and takes raw rows. Features of svmlight and NumPy files are
    scaled only if their sizes are far apart (see --scale).

    Linear models read rows in batches: memory holds a few batches and the weights, however large the files are. For
    several passes, files are parsed once: parsed rows stay in memory, or in a binary copy if they take more than 64 MB
    (see --cache).

    With --workers or --scheduler, the files are cut into shards that learn side by side, and their weights are mixed
    after each pass. The result does not depend on the number of workers.
    """
    begun = time.perf_counter()
    reading.share_of(given["validation"])  # refuse a wrong share before any work
    if given["regression"]:
        check_regression(given)
        given["estimator"] = REGRESSION
    check(settled(given, columns_of(None, given)))
    check_cluster(given)
    given["readout"] = given["readout"] or (READOUT if given["budget"] is None else "last")
    source = reading.opened(data, given)
    if dry_run:
        guesses.show(source, only=True)
        return
    if path is None:
        raise click.UsageError("Missing option '-m' / '--model': name the file to save the model to, or use --dry-run")
    told: set[str] = set()
    if not (as_json or quiet):
        with Reader().unless_unread():
            told = guesses.show(source, only=False)
    output.spare(path, *source.paths, given["validation"] or "")
    given = settled(given, columns_of(source, given))
    if given["tune"] and source.is_stream:  # it is read once more to learn from all rows
        source = source.again()
    bar = output.Bar(source, quiet or as_json)
    try:
        found = tuned(source, given, bar, quiet or as_json) if given["tune"] else None
        if found is not None:
            given |= chosen(found, given)
        result = train(source, given, bar, quiet or as_json)
        result.tuning = found
    finally:
        bar.clear()
    learning = time.perf_counter() - begun
    known = reading.known_of(source, given)
    result.saved.trained = shared.noted(source.paths, learning, source=known, rows=result.n_rows)
    with output.naming(path):
        write(result.saved, path, drop_zeros=given["drop_zeros"] or has_many_zeros(result.saved))
    telling = values if given["regression"] else report
    summary = telling.describe(result, source, path, learning, time.perf_counter() - begun)
    if as_json:
        output.as_json(summary)
    elif not quiet:
        telling.show(result, summary)
        guesses.lacked(source, told)
    result.run.resume_interrupt()


def chosen(found: Tuned, given: dict[str, Any]) -> dict[str, Any]:
    """The options of the best candidate."""
    rule, weight = found.best.candidate
    passes = {"passes": found.contest.passes, "class_weight": given["class_weight"] or weight}
    return {**shared.options_of(rule), **passes}


def check_cluster(given: dict[str, Any]) -> None:
    """Refuse options that do not combine with a cluster."""
    cluster.check(given)
    if not cluster.is_wanted(given):
        return
    here = "training in this process: leave out --workers and --scheduler"
    for name, is_given in (
        ("--regression", given["regression"]),
        ("--tune", given["tune"]),
        ("--estimator kernel", given["estimator"] == "kernel"),
    ):
        if is_given:
            raise click.UsageError(f"{name} needs {here}")


def check_regression(given: dict[str, Any]) -> None:
    """Refuse options that do not combine with --regression."""
    context = click.get_current_context()
    classes = "a model of classes: leave out --regression"
    shared.refuse_given({"estimator": classes, "class_weight": classes})
    if given["tune"]:
        raise click.UsageError(
            "--tune compares error rates of classes: it does not combine with --regression. Compare --C 0.01, 0.1 and "
            "1 with --validation 0.1"
        )
    if context.get_parameter_source("rule") is shared.COMMANDLINE and given["rule"] not in RULES_OF_VALUES:
        names = ", ".join(RULES_OF_VALUES)
        raise click.UsageError(f"--regression needs --rule {names}: steps of {given['rule']} ignore the size of errors")
    if given["readout"] in READOUTS and not READOUTS[given["readout"]].over_structures:
        raise click.UsageError(f"--readout {given['readout']} needs a model of classes: use last or averaged")


def check(given: dict[str, Any]) -> None:
    """Refuse options that have no effect, and combinations that do not work."""
    idle = {} if given["estimator"] == "kernel" else dict.fromkeys(OF_KERNELS, "--estimator kernel")
    idle |= {} if given["regression"] else {"epsilon": "--regression"}
    passive = given["estimator"] == "passive-aggressive"
    if given["estimator"] != "perceptron":
        idle["intercept_scaling"] = "--estimator perceptron"
    elif given["no_intercept"]:
        idle["intercept_scaling"] = "a bias: leave out --no-intercept"
    if passive:
        idle["rule"] = "--estimator perceptron or kernel: passive-aggressive always uses the rule pa1"
    if given["tune"] and given["estimator"] != "perceptron":
        raise click.UsageError(
            f"--tune needs --estimator perceptron, which has all rules: it chooses among linear models, "
            f"not {given['estimator']}"
        )
    if given["tune"] and READOUTS[given["readout"] or "averaged"].weighs_all_rows:
        raise click.UsageError(f"--tune reads rows batch by batch, but --readout {given['readout']} needs all at once")
    if given["tune"]:
        idle["patience"] = "a training without --tune, which tries all numbers of passes"
    shared.check_idle({**given, "rule": "pa1"} if passive else given, idle, "rows")
    if passive and given["readout"] in READOUTS and not READOUTS[given["readout"]].over_structures:
        raise click.UsageError(f"--readout {given['readout']} needs --estimator perceptron or kernel")
