"""Training for `perceptrons train`, from a source. Linear models need no scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from perceptrons import rules
from perceptrons.cli import output, reading
from perceptrons.cli.telling.confusion import Baseline, Confusion, baseline
from perceptrons.cli.telling.passes import Telling
from perceptrons.cli.telling.report import how_text
from perceptrons.cli.telling.tuning import TellingTuning
from perceptrons.cli.telling.values import Dull, Off, TellingValues
from perceptrons.cli.training import cluster, shared
from perceptrons.data import Rows, Source
from perceptrons.data.cache import Cached
from perceptrons.data.table.encoding import Encoding
from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.fit import InMemory, Passes, Run
from perceptrons.learn.labels import Array
from perceptrons.learn.linear.defaults import KERNEL, for_columns, for_values, with_stops
from perceptrons.learn.linear.heaviest import with_heaviest_words
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.linear.values import ValueLearner
from perceptrons.learn.readouts import READOUTS
from perceptrons.learn.scale.scaling import with_means
from perceptrons.learn.shards.material import Shards
from perceptrons.learn.shards.material import Watched as WatchedShards
from perceptrons.learn.stream import Stream, Watched
from perceptrons.learn.targets import Classes, Targets, Values
from perceptrons.learn.task import Beside, Request, Task, from_whole_source, train_on_source
from perceptrons.learn.tuning import Tuned, tune
from perceptrons.store.saved import Saved
from perceptrons.store.tables import TABLES, facts

ESTIMATORS = {
    "perceptron": "Perceptron",
    "passive-aggressive": "PassiveAggressiveClassifier",
    "kernel": "KernelPerceptron",
}
REGRESSION = "regression"  # takes the place of --estimator with --regression
NAMES = {**ESTIMATORS, REGRESSION: "PassiveAggressiveRegressor"}
BY_LOSS = ("passive-aggressive", REGRESSION)  # training ends when the loss stops falling
LOADED = 1 << 29  # bytes of weights that any file may ask for when it is loaded
OF_KERNELS = ("kernel", "gamma", "degree", "coef0", "budget")  # options of the kernel estimator only
SMALL = 1 << 24  # bytes of files that are parsed once more after training, to show how good the model is


@dataclass
class Result:
    """A model and facts about its training."""

    saved: Saved
    run: Run
    n_rows: int  # rows learned from in each pass
    training: float | None  # error of the final model on those rows, if it is cheap to compute
    confusion: Confusion | Off | None  # of the final model on held-out rows, else on those it has learned from
    compared_on: str  # which rows these are
    baseline: Baseline | Dull | None  # on the same rows, or on those learned from; None if no pass has ended
    online: float | None = None  # error in the last pass; None if it is not comparable with that of the baseline
    tuning: Tuned | None = None  # how the options were chosen, with --tune


def settled(given: dict[str, Any], encoding: Any) -> dict[str, Any]:
    """The options with defaults for a table with these columns, where the user chose nothing."""
    usual = for_columns(encoding) if given["estimator"] == "perceptron" else {}
    usual = for_values(encoding) if given["estimator"] == REGRESSION else usual
    usual = KERNEL if given["estimator"] == "kernel" and given["budget"] is None else usual
    if chosen("rule"):  # what else is known of rules belongs to the default one
        usual = {name: value for name, value in usual.items() if name not in shared.parameters()}
    return {**given, **{name: value for name, value in usual.items() if not chosen(name)}}


def chosen(name: str) -> bool:
    """Whether the user gave an option."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source(name) is not ParameterSource.DEFAULT


def columns_of(source: Source | None, given: dict[str, Any]) -> Any:
    """What is known about the columns of a source before it is read; without a source, about those of --text."""
    look = getattr(source, "look", None)
    if look is not None:
        look()
    encoding = None if source is None else source.encoding
    if given["text"] and (encoding is None or not encoding.columns):
        return Encoding(None, "str", [], [], [], given["text"])
    return encoding


def train(source: Source, given: dict[str, Any], bar: output.Bar, quiet: bool) -> Result:
    """Train the model that the options describe."""
    request, beside = request_of(given, bar), beside_of(given)
    tell = TellingValues if given["estimator"] == REGRESSION else Telling
    telling = tell(how_text(NAMES[given["estimator"]], params(given, None)), given, bar, quiet)
    with ExitStack() as stack:
        if cluster.is_wanted(given):
            task = on_cluster(stack.enter_context(cluster.connected(given)), request(), source, given, bar)
            run = task.told(telling)
        elif given["estimator"] == "kernel" or READOUTS[given["readout"]].weighs_all_rows:
            task = from_whole_source(request(), source, beside)
            run = task.told(telling)
        else:
            task, run = train_on_source(request, source, beside, telling)
        if not run.learned:  # keep an older model file
            run.resume_interrupt()
        telling.end(task, run)
        learned, held_out = run.afterwards(lambda: confusions(task)) or (None, None)
    found = learned if held_out is None else held_out
    labels = given["estimator"] != REGRESSION
    return Result(
        saved(task, run, given, source),
        run,
        task.material.n_rows,
        None if learned is None else learned.error,
        found,
        "training rows" if held_out is None else "held-out rows",
        baseline_of(task) if found is None else found.baseline,
        run.mistakes[-1] / task.material.n_rows if labels and run.mistakes and task.material.n_rows else None,
    )


def on_cluster(client: Any, request: Request, source: Source, given: dict[str, Any], bar: output.Bar) -> Task:
    """Set up training on a cluster."""
    from perceptrons.dask.linear import crew_of_files
    from perceptrons.learn.shards.task import Beside, from_shards, refuse

    def shards_beside(encoding: Any) -> Beside:
        held_out = reading.opened([given["validation"]], given, like=encoding)
        return Beside(crew_of_files(client, held_out, given["shards"]), held_out.name)

    refuse(request)
    bar.begin("reading …")
    crew = crew_of_files(client, source, given["shards"], bar.shards)
    beside = None if beside_of(given) is None else shards_beside
    task = from_shards(request, crew, given["mixing"], source=source, beside=beside)
    bar.begin("pass 1")
    return task


def baseline_of(task: Task) -> Baseline | Dull | None:
    """The baseline on the rows learned from, as far as the first pass tells."""
    targets, material = task.targets, task.material
    if not isinstance(material, Stream) or material.counts is None:
        return None
    if isinstance(targets, Values):
        return None if targets.unit is None or targets.deviation is None else Dull(targets.unit.mean, targets.deviation)
    return baseline([output.label(label) for label in targets.classes.tolist()], material.counts.tolist())


def tuned(source: Source, given: dict[str, Any], bar: output.Bar, quiet: bool) -> Tuned:
    """Let candidates learn side by side. Rule, parameters and class weights that were given stay."""
    telling = TellingTuning(given, bar, quiet)
    found = tune(
        request_of(given, bar),
        source,
        shared.candidates(given),
        lambda candidate: new_learner({**given, **shared.options_of(candidate.rule)}),
        beside_of(given),
        telling,
    )
    found.run.resume_interrupt()
    telling.end(found)
    return found


def request_of(given: dict[str, Any], bar: output.Bar) -> Callable[[], Request]:
    """A function that makes the request for a training."""

    def request() -> Request:
        return Request(
            new_learner(given),
            _passes(given),
            np.random.RandomState(given["seed"]),
            shuffle=not given["no_shuffle"],
            share=reading.share_of(given["validation"]),
            targets=Values() if given["estimator"] == REGRESSION else Classes(),
            class_weight=lambda classes: by_label(given["class_weight"], classes),
            reads_all=given["class_weight"] is not None,
            centred=not given["no_intercept"],
            watch=watch,
        )

    def watch(read: Source, rows: int, mistakes: int) -> None:
        bar.source = read
        bar(rows, None if given["estimator"] == REGRESSION else mistakes)

    return request


def beside_of(given: dict[str, Any]) -> Beside | None:
    """The source of held-out rows, if --validation names a file."""
    if given["validation"] is None or reading.share_of(given["validation"]) is not None:
        return None
    return lambda read: reading.opened([given["validation"]], given, like=read.encoding)


def _passes(given: dict[str, Any]) -> Passes:
    """How passes are made: as the estimator with the same `params` makes them."""
    least = given["patience"] or 5
    stall = None if given["budget"] is None else least
    best = shared.keeps_best(given)
    passes = Passes(given["passes"], given["tol"] or None, None, given["patience"], best, stall, least=least)
    if given["estimator"] == "perceptron":
        return with_stops(passes, rule_of(given), given["readout"])
    return passes.by_loss() if given["estimator"] in BY_LOSS else passes


def new_learner(given: dict[str, Any]) -> Callable[[Rows, int], ClassLearner]:
    """Return a function that makes a learner for rows and a number of classes."""
    if given["estimator"] == "kernel":
        from perceptrons.models import KernelPerceptron

        model = KernelPerceptron(**params(given, None))
        return lambda rows, n_classes: model._new_learner(model._settings(), rows, n_classes)

    values = given["estimator"] == REGRESSION
    make, own = (ValueLearner, {"epsilon": given["epsilon"]}) if values else (LinearLearner, {})

    def linear(rows: Rows, n_classes: int) -> LinearLearner:
        return make(
            rule_of(given),
            given["readout"],
            n_features=rows.n_features,
            n_classes=n_classes,
            fit_intercept=not given["no_intercept"],
            intercept_scaling=given["intercept_scaling"] or 1.0,
            dense=rows.indices is None,
            **own,
        )

    return linear


def rule_of(given: dict[str, Any]) -> Any:
    """The chosen rule; the passive-aggressive estimator always uses PA-I."""
    passive = given["estimator"] == "passive-aggressive"
    return shared.rule_of({**given, "rule": "pa1"} if passive else given)


def params(given: dict[str, Any], class_weight: Any) -> dict[str, Any]:
    """The parameters of the estimator that would learn the same."""
    found: dict[str, Any] = {
        **shared.params(given, reading.share_of(given["validation"])),
        "fit_intercept": not given["no_intercept"],
        "tol": given["tol"] or None,
    }
    rule = rule_of(given)
    if given["estimator"] == REGRESSION:
        return found | {"rule": rule, "epsilon": given["epsilon"], "average": READOUTS[given["readout"]].sums}
    found["class_weight"] = class_weight
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


def comparison(targets: Targets) -> Any:
    """Nothing compared yet, and a function that adds codes and predictions to it."""
    if isinstance(targets, Values):
        off = Off(0.0 if targets.unit is None else targets.unit.mean)
        return off, lambda codes, guesses: off.add(targets.decode(codes), guesses)
    confusion = Confusion(targets.classes.tolist())
    return confusion, confusion.count


def confusions(task: Task) -> tuple[Any, Any]:
    """Compare predictions with labels: of the rows learned from, if they are quickly read; and of held-out rows."""
    learner, material = task.learner, task.material
    (learned, count), (held_out, count_held_out) = comparison(task.targets), comparison(task.targets)
    if isinstance(material, Shards):
        pairs, held_out_pairs = material.compared(learner)
        learned.add(pairs)
        held_out.add(task.held_out.compared() if isinstance(task.held_out, WatchedShards) else held_out_pairs)
    elif isinstance(material, Stream):
        assert isinstance(learner, LinearLearner)
        again = material.share or is_quick(material.source)
        for codes, guesses, held in material.predictions(learner) if again else ():
            count(codes if held is None else codes[~held], guesses if held is None else guesses[~held])
            if held is not None:
                count_held_out(codes[held], guesses[held])
        if isinstance(task.held_out, Watched):
            for codes, guesses in task.held_out.predictions():
                count_held_out(codes, guesses)
    else:
        assert isinstance(material, InMemory)
        examples = material.examples
        learned_from = examples if examples.weight is None else examples.take(examples.weight > 0)
        count(learned_from.codes, learner.predict(learner.decide(learned_from.rows)))
        if task.kept is not None:
            count_held_out(task.kept.codes, learner.predict(learner.decide(task.kept.rows)))
    return learned if learned.n_rows else None, held_out if held_out.n_rows else None


def is_quick(source: Source) -> bool:
    """Whether a source can be read once more in little time: its rows are kept, or it is small."""
    if isinstance(source, Cached):
        return source.ready
    return not source.is_stream and source.n_bytes is not None and source.n_bytes <= SMALL


def has_many_zeros(model: Saved) -> bool:
    """Whether most weights are 0, as those of hashed words are, so that the file is better written without them."""
    if model.encoding is None or not model.encoding.texts or not isinstance(model.learner, LinearLearner):
        return False
    state = model.learner.state
    return sum(state[name].nbytes for name in state) <= LOADED


def saved(task: Task, run: Run, given: dict[str, Any], source: Source) -> Saved:
    """The model in the form that is saved; `source` has looked at the columns."""
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
    settings = params(given, by_label(given["class_weight"], task.targets.classes))
    model = task.learner, task.targets.classes, width, named, report, encoding
    return Saved(NAMES[given["estimator"]], settings, *model, table=table_of(source, given, settings))


def table_of(source: Source, given: dict[str, Any], params: dict[str, Any]) -> dict[str, Any] | None:
    """The estimator for tables that learns the same, if there is one. params: those of the model inside it."""
    describe: Any = getattr(getattr(source, "source", source), "describe", None)  # of a copy, that of its source
    estimator = {name: table for table, name in TABLES.items()}.get(NAMES[given["estimator"]])
    if describe is None or estimator is None:
        return None
    found, own = describe(), {name: value for name, value in params.items() if name != "average"}
    own["readout"] = given["readout"]
    free = not given["tune"]  # whether the columns have chosen what the user did not choose
    if free and not any(map(chosen, ["rule", *shared.parameters()])):
        own["rule"] = None
    for option, name in (("passes", "max_iter"), ("intercept_scaling", "intercept_scaling")):
        if free and name in own and not chosen(option):
            own[name] = None
    lists = {name: list(given[name]) for name in ("numeric", "categorical", "text", "na") if given[name]}
    plain = {name: given[name] for name in ("hash_bits", "ngrams", "text_bits", "weighting", "scale")}
    ignored = [each.column for each in found.guesses if each.kind == "ignored"]
    own |= lists | plain | {"missing": given["missing"] or "mean", "drop": ignored or None}
    columns = [each.column for each in found.guesses if each.kind not in ("label", "value")]
    return facts(estimator, own, columns, True, found)
