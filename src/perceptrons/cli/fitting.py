"""How `perceptrons train` learns: linear models directly, without scikit-learn; others as a program would."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from perceptrons import rules
from perceptrons.cli import output, reading
from perceptrons.core.linear.readouts import SEEN
from perceptrons.data import Source
from perceptrons.data.cache import Cached
from perceptrons.learn.fit import Run, train
from perceptrons.learn.labels import UnknownLabel, weights_of_classes
from perceptrons.learn.linear.learner import Learner
from perceptrons.learn.stream import Stream, Watched
from perceptrons.store.saved import Saved

ESTIMATORS = {
    "perceptron": "Perceptron",
    "passive-aggressive": "PassiveAggressiveClassifier",
    "kernel": "KernelPerceptron",
}


@dataclass
class Result:
    """A model, and what is said about its training."""

    saved: Saved
    n_rows: int  # learned from in each pass
    held_out: float | None = None  # error after the last pass
    training: float | None = None  # error of the final model on the rows learned from, where that is cheap
    margin_bound: float = np.inf
    interrupted: bool = False


def rule_of(given: dict[str, Any]) -> Any:
    """The rule with its parameters."""
    make = rules.RULES[given["rule"]]
    return rules.resolve(make(**{name: given[name] for name in ("C", "beta") if name in make._fields}))


def common(given: dict[str, Any]) -> dict[str, Any]:
    """Parameters that all estimators have."""
    return {
        "fit_intercept": not given["no_intercept"],
        "max_iter": given["passes"],
        "tol": given["tol"] or None,
        "shuffle": not given["no_shuffle"],
        "random_state": given["seed"],
        "early_stopping": given["patience"] is not None,
        "n_iter_no_change": given["patience"] or 5,
        "class_weight": given["class_weight"],
    }


def held_out_source(given: dict[str, Any], like: Any) -> Source | None:
    """The file to take the held-out error on, if one was given."""
    if given["validation"] is None or reading.share_of(given["validation"]) is not None:
        return None
    return reading.opened([given["validation"]], given, like=like)


def linear(source: Source, given: dict[str, Any], bar: output.Bar, everything: bool = False) -> Result:
    """Train a linear model on a source, directly: no scikit-learn is imported."""
    if given["readout"] == "pocket":
        return other(source, given, bar)
    rule, share, run = rule_of(given), reading.share_of(given["validation"]), Run()
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
    params = {**common(given), "rule": rule, "readout": given["readout"]}
    params |= {"class_weight": weight, "validation_fraction": share or 0.1}
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
    params = common(given)
    if name == "PassiveAggressiveClassifier":
        params |= {"C": given["C"], "average": given["readout"] == "averaged"}
    else:
        params |= {"rule": rule_of(given), "readout": given["readout"]}
    if name == "KernelPerceptron":
        params |= {name: given[name] for name in ("kernel", "gamma", "degree", "coef0", "budget")}
    model = getattr(models, name)(**params)
    X, y = source.arrays()
    if isinstance(given["class_weight"], dict):
        model.set_params(class_weight=by_label(given["class_weight"], np.unique(np.asarray(y))))
    X_val = y_val = None
    share = reading.share_of(given["validation"])
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
    assert isinstance(saved, Saved)
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
