"""`perceptrons train`: from files to a model, in one command."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from perceptrons import __version__, rules
from perceptrons.cli import output, reading
from perceptrons.cli.report import describe, show
from perceptrons.core.keeping import SEEN
from perceptrons.data import Source
from perceptrons.data.cache import Cached
from perceptrons.learn.labels import UnknownLabel, weights_of_classes
from perceptrons.learn.learner import Learner
from perceptrons.learn.streaming import Stream, Watched
from perceptrons.learn.training import Run, train
from perceptrons.store.saved import Saved, write

ESTIMATORS = {
    "perceptron": "Perceptron",
    "passive-aggressive": "PassiveAggressiveClassifier",
    "kernel": "KernelPerceptron",
}
READOUTS = ["averaged", "last", "voted", "pocket"]
KERNELS = ["rbf", "poly", "linear", "sigmoid", "cosine", "laplacian"]


@dataclass
class Result:
    """A model, and what is said about its training."""

    saved: Saved
    n_rows: int  # learned from in each pass
    held_out: float | None = None  # error after the last pass
    training: float | None = None  # error of the final model on the rows learned from, where that is cheap
    margin_bound: float = np.inf
    interrupted: bool = False


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
@click.option("--rule", type=click.Choice(list(rules.RULES)), default="perceptron", help="How far a step goes.")
@click.option("--C", "C", type=float, default=1.0, show_default=True, help="Largest step of the rules pa1 and pa2.")
@click.option("--beta", type=float, default=1.0, show_default=True, help="Margin that the rule margin asks for.")
@click.option("--readout", type=click.Choice(READOUTS), help="What predicts.  [default: averaged; last with a budget]")
@click.option("--passes", type=click.IntRange(1), default=10, show_default=True, help="At most so many.")
@click.option(
    "--tol",
    type=click.FloatRange(0),
    default=0.0,
    help="Stop when the margin is proved to be below TOL times the longest row.  [default: never]",
)
@click.option("--validation", metavar="SHARE|FILE", help="Take the error on a share of the rows, or on a file.")
@click.option("--patience", type=click.IntRange(1), help="Stop after so many passes without a smaller held-out error.")
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


# -- learning -------------------------------------------------------------------------------------------------------


def rule_of(given: dict[str, Any]) -> Any:
    """The rule with its parameters."""
    make = rules.RULES[given["rule"]]
    return rules.resolve(make(**{name: given[name] for name in ("C", "beta") if name in make._fields}))


def held_out_source(given: dict[str, Any], like: Any) -> Source | None:
    """The file to take the held-out error on, if one was given."""
    if given["validation"] is None or share_of(given) is not None:
        return None
    return reading.opened([given["validation"]], given, like=like)


def share_of(given: dict[str, Any]) -> float | None:
    """The share of the rows to hold out, if one was given."""
    try:
        share = float(given["validation"] or "")
    except ValueError:
        return None
    if not 0 < share < 1:
        raise click.BadParameter(f"a share must lie between 0 and 1, got {share:g}", param_hint="--validation")
    return share


def linear(source: Source, given: dict[str, Any], bar: output.Bar, everything: bool = False) -> Result:
    """Train a linear model on a source, directly: no scikit-learn is imported."""
    if given["readout"] == "pocket":
        return other(source, given, bar)
    rule, share, run = rule_of(given), share_of(given), Run()
    often = given["passes"] > 1 or share is not None
    stream = Stream(source.again(often), watch=bar)
    bar.source = stream.source
    rows, known = stream.settle(everything or given["class_weight"] is not None)
    learner = Learner(
        rule,
        given["readout"],
        n_features=rows.n_features,
        n_classes=len(stream.classes),
        fit_intercept=not given["no_intercept"],
        dense=rows.indices is None,
    )
    weight = by_label(given["class_weight"], stream.classes)
    stream.class_weight = weights_of_classes(weight, stream.classes, known and known.counts, rule)
    random = np.random.RandomState(given["seed"])
    held_out: Any = None
    if share is not None:
        stream.share, stream.seed = share, int(random.randint(2**31))
        held_out = partial(stream.error, learner, held_out=True)
    elif given["validation"] is not None:
        other_source = held_out_source(given, stream.source.encoding)
        assert other_source is not None
        held_out = Watched(learner, other_source, stream.classes, stream.source, often=often)
    interrupted = False
    bar.begin("pass 1")
    try:
        train(
            learner,
            stream,
            run,
            seed=None if given["no_shuffle"] else int(random.randint(2**31)),
            max_iter=given["passes"],
            tol=given["tol"] or None,
            held_out=held_out,
            patience=given["patience"],
            report=lambda learner, run: bar.begin(f"pass {run.n_iter + 1}"),
        )
        learner.check_finite()
    except UnknownLabel:
        if everything:
            raise
        return linear(source, given, bar, everything=True)  # the first batch does not have all classes
    except KeyboardInterrupt:
        if learner.counts[SEEN] == 0:  # nothing has been learned: a model that is there is better
            raise
        interrupted = True
    learner.seal()
    cached = isinstance(stream.source, Cached) and stream.source.table is not None
    training = None
    try:
        training = stream.error(learner, held_out=False) if cached and not interrupted else None
    except KeyboardInterrupt:  # the model is finished
        interrupted = True
    encoding = stream.source.encoding
    params = {
        "rule": rule,
        "readout": given["readout"],
        "fit_intercept": not given["no_intercept"],
        "max_iter": given["passes"],
        "tol": given["tol"] or None,
        "shuffle": not given["no_shuffle"],
        "random_state": given["seed"],
        "class_weight": weight,
        "early_stopping": given["patience"] is not None,
        "n_iter_no_change": given["patience"] or 5,
        "validation_fraction": share or 0.1,
    }
    report = {
        "n_iter": run.n_iter,
        "converged": run.converged,
        "mistakes": run.mistakes,
        "validation_errors": run.validation_errors,
        "n_rows": stream.n_rows,
        "stop": run.stop,
    }
    n_features = learner.n_features
    named = encoding.feature_names[:n_features] if encoding is not None and encoding.named else None
    saved = Saved("Perceptron", params, learner, stream.classes, n_features, named, report, encoding)
    last = run.validation_errors[-1] if run.validation_errors else None
    return Result(saved, stream.n_rows, last, training, learner.margin_bound, interrupted)


def by_label(class_weight: Any, classes: Any) -> Any:
    """Weights by labels of the type that the data has; on the command line all of them are text."""
    if not isinstance(class_weight, dict) or classes.dtype.kind == "U":
        return class_weight
    spelled = {str(form): label for label in classes.tolist() for form in (label, output.label(label), f"+{label:g}")}
    return {spelled.get(name, name): weight for name, weight in class_weight.items()}


def other(source: Source, given: dict[str, Any], bar: output.Bar) -> Result:
    """Train one of the other estimators, as a program would."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    from perceptrons import models
    from perceptrons.store.estimators import to_saved

    name = ESTIMATORS[given["estimator"]]
    common = {
        "fit_intercept": not given["no_intercept"],
        "max_iter": given["passes"],
        "tol": given["tol"] or None,
        "shuffle": not given["no_shuffle"],
        "random_state": given["seed"],
        "early_stopping": given["patience"] is not None,
        "n_iter_no_change": given["patience"] or 5,
        "class_weight": given["class_weight"],
    }
    if name == "PassiveAggressiveClassifier":
        common |= {"C": given["C"], "average": given["readout"] == "averaged"}
    else:
        common |= {"rule": rule_of(given), "readout": given["readout"]}
    if name == "KernelPerceptron":
        common |= {name: given[name] for name in ("kernel", "gamma", "degree", "coef0", "budget")}
    model = getattr(models, name)(**common)
    X, y = source.arrays()
    if isinstance(given["class_weight"], dict):
        model.set_params(class_weight=by_label(given["class_weight"], np.unique(np.asarray(y))))
    X_val = y_val = None
    share = share_of(given)
    if share is not None:
        from sklearn.model_selection import train_test_split

        X, X_val, y, y_val = train_test_split(X, y, test_size=share, random_state=given["seed"])
    elif given["validation"] is not None:
        held = held_out_source(given, source.encoding)
        assert held is not None
        X_val, y_val = held.arrays()
    interrupted = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(X, y, X_val=X_val, y_val=y_val)
        except KeyboardInterrupt:
            if not hasattr(model, "classes_"):  # nothing has been learned yet
                raise
            interrupted = True
    model.encoding_ = source.encoding
    errors, saved = model.validation_errors_, to_saved(model)
    if interrupted:
        saved.report["stop"] = "interrupted"
    elif model.converged_ or model.n_iter_ == given["passes"]:
        saved.report["stop"] = "converged" if model.converged_ else "max_iter"
    return Result(
        saved,
        len(y) if y is not None else 0,
        float(errors[-1]) if len(errors) else None,
        None if interrupted else 1 - model.score(X, y),
        model.margin_bound_,
        interrupted,
    )
