"""`perceptrons inspect`: show what a model file holds."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import click
import numpy as np

from perceptrons.cli import output
from perceptrons.cli.telling.report import WHY, chosen, finite, proved, settings, size
from perceptrons.cli.telling.tuning import rule_text
from perceptrons.cli.telling.values import amount
from perceptrons.learn.fit import AnyLearner
from perceptrons.learn.linear.heaviest import heaviest
from perceptrons.learn.linear.heaviest import name_of as known_name
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.linear.values import ValueLearner
from perceptrons.shown import aligned
from perceptrons.store.saved import Saved, read
from perceptrons.store.values import rule_from, to_json

SHOWN = 10  # maximum number of classes that are printed
# Parameters that are shown on lines of their own, or do not affect what is learned.
ELSEWHERE = {"rule", "readout", "kernel", "gamma", "degree", "coef0", "budget", "max_memory", "verbose", "n_jobs"}
EARLY = {"n_iter_no_change", "validation_fraction"}  # with early stopping only
BUDGET = {"policy", "threshold"}  # with a budget only
LONGEST = 48  # characters of a feature's name in a table


@click.command("inspect")
@click.argument("model", metavar="MODEL")
@click.option(
    "--top", type=click.IntRange(0), metavar="N", default=10, help="Number of features to show for each class."
)
@output.JSON
def command(model: str, top: int, as_json: bool) -> None:
    """Show what MODEL is, how it was trained, and which features have the largest weights.

    With two classes, a positive weight speaks for the second; with three or more, each class has its own weights. If
    training scaled the features, weights are listed per unit of a column and per spread, its standard deviation; the
    latter can be compared with each other. In regression, a weight is what one unit, or one spread, of the feature adds
    to the value.
    Kernel models have support rows instead of weights. Taggers have weights for each label and for each pair of
    consecutive labels.

    \b
      perceptrons inspect spam.perceptron --top 20
    """
    saved = read(model)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused, or proves nothing
        if isinstance(saved, Saved):
            summary, tell = describe(saved, model, top), partial(show, saved)
        else:
            from perceptrons.cli.tagging import inspect as taggers

            summary, tell = taggers.describe(saved, model, top), partial(taggers.show, saved)
    if as_json:
        output.as_json(summary)
    else:
        tell(summary)


def describe(saved: Saved, path: str, top: int) -> dict[str, Any]:
    """All facts about a model, for --json."""
    learner, report = saved.learner, saved.report
    summary: dict[str, Any] = {
        **facts_of(saved, learner, path),
        "rule": to_json(learner.rule, "rule"),
        "readout": learner.readout.name,
        "classes": [output.label(label) for label in saved.classes.tolist()],
        "features": saved.n_features,
        "columns": None if saved.encoding is None else _columns(saved.encoding),
        "rows_of_passes": report.get("n_rows"),
    }
    if isinstance(learner, ValueLearner):
        summary |= {"unit": learner.unit._asdict(), "epsilon": learner.epsilon * learner.unit.spread}
    if isinstance(learner, LinearLearner):
        return summary | _linear(saved, learner, top)
    from perceptrons.learn.kernel.expansion import Expansion  # takes long to import

    assert isinstance(learner, Expansion)
    space = learner.space
    return summary | {
        "kernel": {"name": space.kernel, "gamma": space.gamma, "degree": space.degree, "coef0": space.coef0},
        "support": learner.size,
        "support_of_classes": np.bincount(learner.state["codes"], minlength=learner.n_classes).tolist(),
        "budget": learner.fixed.get("budget"),
    }


def facts_of(saved: Any, learner: AnyLearner, path: str) -> dict[str, Any]:
    """The facts that every model has."""
    report, totals = saved.report, learner.totals
    return {
        "model": path,
        "bytes": os.path.getsize(path),
        "estimator": saved.estimator,
        "params": settings(saved.params),
        "seen": int(totals.seen),
        "mistakes": int(totals.mistakes),
        "updates": int(totals.updates),
        "margin_bound": finite(learner.margin_bound),
        "radius": learner.radius,
        "passes": len(report["mistakes"]),
        "converged": report.get("converged") is True,
        "stopped": report.get("stop"),
        "mistakes_of_passes": report["mistakes"],
        "held_out_errors": report["validation_errors"],
        "trained": settings(saved.trained),
    }


def _columns(encoding: Any) -> dict[str, Any]:
    """The columns of tables, by type."""
    kinds = {"target": encoding.target, "numbers": encoding.numbers, "categories": encoding.categories}
    return {**kinds, "texts": encoding.texts, "hash_bits": encoding.hash_bits if encoding.categories else None}


def _linear(saved: Saved, learner: LinearLearner, top: int) -> dict[str, Any]:
    """The number of weights, and the largest ones of each class."""
    weights = learner.current if learner.readout.by_vote else learner.weights
    if not np.isfinite(weights).all():
        raise ValueError("the weights of the readout exceed the range of floats")
    raw, bias = learner.per_unit(weights)
    table = learner.per_spread(weights).reshape(saved.n_features, -1)
    largest = [
        [_feature(saved, j, float(one[j]), float(scaled[j])) for j in heaviest(scaled, top)]
        for scaled, one in zip(table.T, raw.reshape(saved.n_features, -1).T, strict=True)
    ]
    two = len(saved.classes) == 2
    labels = [output.label(label) for label in saved.classes.tolist()][-len(largest) :] or [None]  # values have none
    found = [
        {"class": label, "intercept": float(b), "features": features}
        for label, b, features in zip(labels, bias, largest, strict=True)
    ]
    return {
        "weights": int(table.size),
        "weights_not_0": int(np.count_nonzero(table)),
        "weights_of": "the last hypothesis" if learner.readout.by_vote else "the readout",
        "heaviest": found,
        "other_class": output.label(saved.classes.tolist()[0]) if two else None,
    }


def _feature(saved: Saved, j: int, weight: float, scaled: float) -> dict[str, Any]:
    """The weight of a feature: per unit, and per spread if features were scaled."""
    told = {"feature": j, "name": name_of(saved, j), "weight": weight}
    return told if saved.learner.scaling is None else {**told, "per_spread": scaled}


def name_of(saved: Saved, j: int) -> str:
    """The name of a feature, or its number."""
    return known_name(j, saved.feature_names, saved.encoding) or f"feature {j}"


def show(saved: Saved, summary: dict[str, Any]) -> None:
    """Print the same facts for people."""
    classes = summary["classes"]
    output.heading(f"{summary['model']}: {summary['estimator']}, {size(summary['bytes'])}")
    rule = rule_text(rule_from(summary["rule"]))
    facts: list[tuple[str, Any]] = [
        _predicts(summary) if "unit" in summary else ("classes", f"{len(classes):,} ({output.listed(classes, SHOWN)})"),
        ("features", f"{summary['features']:,}" + _told(summary["columns"], "unit" not in summary)),
        ("rule", rule),
        ("readout", summary["readout"]),
    ]
    params = summary["params"]
    idle = ELSEWHERE | (set() if params.get("early_stopping") else EARLY) | (set() if params.get("budget") else BUDGET)
    others = [f"{k}={_text(v)}" for k, v in params.items() if k not in idle and v is not None and v is not False]
    if "kernel" in summary:
        kernel = summary["kernel"]
        parameters = {"rbf": ["gamma"], "laplacian": ["gamma"], "poly": ["gamma", "degree", "coef0"]}
        parameters["sigmoid"] = ["gamma", "coef0"]
        told = ", ".join(f"{name}={kernel[name]:g}" for name in parameters.get(kernel["name"], []))
        facts.append(("kernel", kernel["name"] + (f" ({told})" if told else "")))
        per_class = ", ".join(
            f"{count:,} of {label}"
            for count, label in zip(summary["support_of_classes"], classes[:SHOWN], strict=False)
        )
        budget = f", of at most {summary['budget']:,}" if summary["budget"] else ""
        facts.append(("support rows", f"{summary['support']:,}{budget} ({per_class})"))
    facts.append(("parameters", ", ".join(others)))
    shown, scaled = amount if "unit" in summary else output.percent, saved.learner.scaling is not None
    output.facts(facts + facts_of_training(summary, "rows", shown, scaled=scaled))
    if "heaviest" in summary:
        _features(summary)


def _predicts(summary: dict[str, Any]) -> tuple[str, str]:
    """What a model of values predicts."""
    columns, unit = summary["columns"], summary["unit"]
    target = f"{columns['target']!r}" if columns is not None and columns["target"] else "values"
    return "predicts", f"{target}, mean {amount(unit['mean'])}; errors up to {amount(summary['epsilon'])} are no loss"


def _told(columns: dict[str, Any] | None, labelled: bool = True) -> str:
    """Describe the columns of tables in a few words."""
    if columns is None:
        return ""
    kinds = {"numbers": "numbers", "categories": "categories", "texts": "text"}
    parts = [f"{len(columns[kind]):,} of {name}" for kind, name in kinds.items() if columns[kind]]
    return f" from columns: {', '.join(parts)}" + (f"; labels in {columns['target']!r}" if labelled else "")


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def facts_of_training(
    summary: dict[str, Any], what: str, shown: Callable[[float], str] = output.percent, *, scaled: bool = False
) -> list[tuple[str, Any]]:
    """How the model was trained, with the results. what: what its examples are called. shown: formats errors.

    scaled: whether the bound on the margin is about scaled examples.
    """
    trained, mistakes, rows = summary["trained"], summary["mistakes_of_passes"], summary.get("rows_of_passes")
    facts: list[tuple[str, Any]] = []
    if trained.get("files"):
        more = f" and {len(trained['files']) - 1} more" if len(trained["files"]) > 1 else ""
        first = "standard input" if trained["files"][0] == "-" else trained["files"][0]
        facts.append(("trained on", f"{first}{more}" + (f", {rows:,} {what}" if rows else "")))
    when = [str(trained["date"])] if "date" in trained else []
    when += [f"in {output.seconds(trained['seconds'])}"] if "seconds" in trained else []
    when += [f"with perceptrons {trained['version']}"] if "version" in trained else []
    if when:
        facts.append(("when", ", ".join(when)))
    if mistakes:
        state = "converged" if summary["converged"] else "not converged"
        reason = WHY.get(summary["stopped"] or "")
        state = f"{summary['passes']:,}" if "unit" in summary else f"{summary['passes']:,}, {state}"
        facts.append(("passes", state + (f": {reason}" if reason else "")))
        title = "mistakes" if what == "rows" else f"{what.removesuffix('s')} mistakes"
        title = "off by > epsilon" if "unit" in summary else title
        facts.append((title, _listed([f"{count:,}" for count in mistakes])))
    if summary.get("token_mistakes_of_passes"):
        wrong = [f"{count:,}" for count in summary["token_mistakes_of_passes"]]
        facts.append(("token mistakes", _listed(wrong)))
    if not mistakes and summary["stopped"] == "interrupted":
        facts.append(("passes", "interrupted in pass 1"))
    errors = summary["held_out_errors"]
    if errors:
        facts.append(("held-out MAE" if "unit" in summary else "held-out error", _listed([shown(e) for e in errors])))
    counts = [
        (summary["seen"], what.removesuffix("s")),
        (summary["mistakes"], "mistake"),
        (summary["updates"], "update"),
    ]
    seen, wrong_ones, updates = (output.count(*each) for each in counts)
    facts.append(("total", f"{seen} seen, {updates}" if "unit" in summary else f"{seen} seen, {wrong_ones}, {updates}"))
    if summary["margin_bound"] is not None:
        bias = summary["params"].get("fit_intercept", False)  # taggers and structures have none
        unit = f"scaled {what}" if scaled else what
        facts.append(("proved", proved(summary["margin_bound"], summary["radius"], unit, bias=bias)))
    return facts


def _listed(texts: list[str]) -> str:
    """One entry per pass, or the first and last ones."""
    numbers = chosen(len(texts))
    parts = [
        texts[number] + (", …" if number + 1 < len(texts) and number + 1 not in numbers else "") for number in numbers
    ]
    return ", ".join(parts) + (" (by pass)" if len(texts) > 1 else "")


def _features(summary: dict[str, Any]) -> None:
    """Print the features with the largest weights of each class."""
    found, other = summary["heaviest"], summary["other_class"]
    kept = f"{summary['weights_not_0']:,} of {summary['weights']:,} weights are not 0"
    output.say()
    output.say(f"largest weights of {summary['weights_of']}; {kept}")
    for entry in found[:SHOWN]:
        if other is None and entry["class"] is not None:
            output.say()
            output.heading(f"class {entry['class']}")
        weights = [each["weight"] for each in entry["features"]] + [entry["intercept"]]
        names = [*(short(each["name"]) for each in entry["features"]), "(intercept)"]
        scaled = [each["per_spread"] for each in entry["features"] if "per_spread" in each]
        columns, head = [aligned(weights)], ["per unit" if scaled else "weight"]
        if scaled:
            columns, head = [*columns, [*aligned(scaled), ""]], [*head, "per spread"]
        if other is not None:
            columns.append([_speaks(w, other, entry["class"]) for w in weights])
            head.append("speaks for")
        output.table(["feature", *head], [list(line) for line in zip(names, *columns, strict=True)])
    if len(found) > SHOWN:
        output.say()
        output.say(f"… and {len(found) - SHOWN:,} more classes; --json has all")


def _speaks(weight: float, negative: Any, positive: Any) -> Any:
    return "–" if weight == 0 else positive if weight > 0 else negative


def short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
