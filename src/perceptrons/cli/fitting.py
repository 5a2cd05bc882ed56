"""Training for `perceptrons train`, from a source. Linear models need no scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from perceptrons import rules
from perceptrons.cli import output, reading, training
from perceptrons.data import Rows, Source
from perceptrons.data.cache import Cached
from perceptrons.data.table.encoding import Encoding
from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.fit import AnyLearner, InMemory, Passes, Run
from perceptrons.learn.labels import Array
from perceptrons.learn.linear.defaults import for_columns
from perceptrons.learn.linear.heaviest import with_heaviest_words
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.readouts import READOUTS
from perceptrons.learn.scaling import with_means
from perceptrons.learn.stream import Stream
from perceptrons.learn.task import Request, Task, from_whole_source, train_on_source
from perceptrons.store.saved import Saved

ESTIMATORS = {
    "perceptron": "Perceptron",
    "passive-aggressive": "PassiveAggressiveClassifier",
    "kernel": "KernelPerceptron",
}
OF_KERNELS = ("kernel", "gamma", "degree", "coef0", "budget")  # options of the kernel estimator only


@dataclass
class Result:
    """A model and facts about its training."""

    saved: Saved
    run: Run
    n_rows: int  # rows learned from in each pass
    training: float | None  # error of the final model on those rows, if it is cheap to compute


def settled(given: dict[str, Any], encoding: Any) -> dict[str, Any]:
    """The options with defaults for a table with these columns, where the user chose nothing."""
    context, usual = click.get_current_context(silent=True), for_columns(encoding)
    if given["estimator"] != "perceptron" or not usual:
        return given
    own = context is not None and context.get_parameter_source("rule") is not ParameterSource.DEFAULT
    if not own and given["C"] is not None:
        usual["C"] = given["C"]
    if given["intercept_scaling"] is not None:
        usual["intercept_scaling"] = given["intercept_scaling"]
    return {**given, **({"intercept_scaling": usual["intercept_scaling"]} if own else usual)}


def columns_of(source: Source | None, given: dict[str, Any]) -> Any:
    """What is known about the columns of a source before it is read; without a source, about those of --text."""
    look = getattr(source, "look", None)
    if look is not None:
        look()
    encoding = None if source is None else source.encoding
    if given["text"] and (encoding is None or not encoding.columns):
        return Encoding(None, "str", [], [], [], given["text"])
    return encoding


def train(source: Source, given: dict[str, Any], bar: output.Bar) -> Result:
    """Train the model that the options describe."""
    given = settled(given, columns_of(source, given))
    share = reading.share_of(given["validation"])
    beside = None
    if given["validation"] is not None and share is None:

        def beside(read: Source) -> Source:
            return reading.opened([given["validation"]], given, like=read.encoding)

    def request() -> Request:
        return Request(
            new_learner(given),
            _passes(given),
            np.random.RandomState(given["seed"]),
            shuffle=not given["no_shuffle"],
            share=share,
            class_weight=lambda classes: by_label(given["class_weight"], classes),
            reads_all=given["class_weight"] is not None,
            centred=not given["no_intercept"],
            watch=watch,
        )

    def watch(read: Source, rows: int, mistakes: int) -> None:
        bar.source = read
        bar(rows, mistakes)

    def report(learner: AnyLearner, run: Run) -> None:
        bar.begin(f"pass {run.n_iter + 1}")

    bar.begin("pass 1")
    if given["estimator"] == "kernel" or READOUTS[given["readout"]].weighs_all_rows:
        task = from_whole_source(request(), source, beside)
        run = task.run(report)
    else:
        task, run = train_on_source(request, source, beside, report)
    if not run.learned:  # keep an older model file
        run.resume_interrupt()
    error = run.afterwards(lambda: training_error(task))
    return Result(saved(task, run, given), run, task.material.n_rows, error)


def _passes(given: dict[str, Any]) -> Passes:
    """How passes are made: as the estimator with the same `params` makes them."""
    least = given["patience"] or 5
    stall = None if given["budget"] is None else least
    passes = Passes(given["passes"], given["tol"] or None, patience=given["patience"], stall=stall, least=least)
    return passes.by_loss() if given["estimator"] == "passive-aggressive" else passes


def new_learner(given: dict[str, Any]) -> Callable[[Rows, int], ClassLearner]:
    """Return a function that makes a learner for rows and a number of classes."""
    if given["estimator"] == "kernel":
        from perceptrons.models import KernelPerceptron

        model = KernelPerceptron(**params(given, None))
        return lambda rows, n_classes: model._new_learner(model._settings(), rows, n_classes)

    def linear(rows: Rows, n_classes: int) -> LinearLearner:
        return LinearLearner(
            rule_of(given),
            given["readout"],
            n_features=rows.n_features,
            n_classes=n_classes,
            fit_intercept=not given["no_intercept"],
            intercept_scaling=given["intercept_scaling"] or 1.0,
            dense=rows.indices is None,
        )

    return linear


def rule_of(given: dict[str, Any]) -> Any:
    """The chosen rule; the passive-aggressive estimator always uses PA-I."""
    passive = given["estimator"] == "passive-aggressive"
    return training.rule_of({**given, "rule": "pa1"} if passive else given)


def params(given: dict[str, Any], class_weight: Any) -> dict[str, Any]:
    """The parameters of the estimator that would learn the same."""
    found: dict[str, Any] = {
        **training.params(given, reading.share_of(given["validation"])),
        "fit_intercept": not given["no_intercept"],
        "tol": given["tol"] or None,
        "class_weight": class_weight,
    }
    rule = rule_of(given)
    if given["estimator"] == "passive-aggressive":
        assert isinstance(rule, rules.PA1)
        return found | {"C": rule.C, "average": READOUTS[given["readout"]].sums}
    found |= {"rule": rule, "readout": given["readout"]}
    if given["estimator"] == "kernel":
        return found | {name: given[name] for name in OF_KERNELS}
    return found | {"intercept_scaling": given["intercept_scaling"] or 1.0}


def by_label(class_weight: Any, classes: Array) -> Any:
    """Class weights with labels of the data's type; on the command line, all labels are text."""
    if not isinstance(class_weight, dict) or classes.dtype.kind == "U":
        return class_weight
    spelled = {str(form): label for label in classes.tolist() for form in (label, output.label(label), f"+{label:g}")}
    return {spelled.get(name, name): weight for name, weight in class_weight.items()}


def training_error(task: Task) -> float | None:
    """The readout's error on the rows learned from; None if the file would have to be parsed again."""
    learner, material = task.learner, task.material
    if isinstance(material, Stream):
        assert isinstance(learner, LinearLearner)
        cached = isinstance(material.source, Cached) and material.source.table is not None
        return material.error(learner, held_out=False) if cached else None
    assert isinstance(material, InMemory)
    examples = material.examples
    learned = examples if examples.weight is None else examples.take(examples.weight > 0)
    return float(learner.wrong(learned)) / len(learned)


def saved(task: Task, run: Run, given: dict[str, Any]) -> Saved:
    """The model in the form that is saved."""
    assert task.source is not None
    encoding = with_heaviest_words(with_means(task.source.encoding, task.learner.scaling), task.learner)
    width = task.n_features
    named = encoding.feature_names[:width] if encoding is not None and encoding.named else None
    report = {
        "n_iter": run.n_iter,
        "converged": run.converged,
        "mistakes": run.mistakes,
        "validation_errors": run.validation_errors,
        "n_rows": task.material.n_rows,
        "stop": run.stop,
    }
    settings = params(given, by_label(given["class_weight"], task.classes))
    return Saved(ESTIMATORS[given["estimator"]], settings, task.learner, task.classes, width, named, report, encoding)
