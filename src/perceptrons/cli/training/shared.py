"""What `train` and `tag train` share: options and their checks, the rule, the record of a training."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any

import click
from click.core import ParameterSource

from perceptrons import __version__, rules
from perceptrons.cli import output
from perceptrons.data.files import STDIN
from perceptrons.learn.linear.defaults import PASSES
from perceptrons.learn.tuning import CANDIDATES, Candidate, variants

COMMANDLINE = ParameterSource.COMMANDLINE


def _dashed(name: str) -> str:
    return "--" + name.replace("_", "-")


def rules_for(unit: str) -> dict[str, Any]:
    """The rules for examples, which are called `unit`: all for rows, those along Δφ for others."""
    names = rules.RULES if unit == "rows" else rules.along_rows(even=True)
    return {name: rules.RULES[name] for name in names}


def _users(parameter: str, unit: str = "rows") -> dict[str, Any]:
    """The rules that have this parameter."""
    return {name: rule for name, rule in rules_for(unit).items() if parameter in rule._fields}


def parameters(unit: str = "rows") -> list[str]:
    """The names of all parameters of rules."""
    return list(dict.fromkeys(name for rule in rules_for(unit).values() for name in rule._fields))


def _parameter(name: str, unit: str, default: float | None = None) -> Any:
    """The option for a parameter of rules; without a default, the rule supplies it."""
    by_text: dict[str, list[str]] = {}  # the rules for which a parameter means the same
    users = _users(name, unit)
    for rule, kind in users.items():
        by_text.setdefault(kind.parameters[name], []).append(rule)
    told = "; ".join(f"{', '.join(names)}: {text}" for text, names in by_text.items())
    by_default: dict[Any, list[str]] = {}
    for rule, kind in users.items():
        by_default.setdefault(kind._field_defaults.get(name) if default is None else default, []).append(rule)
    known = next(iter(by_default))
    help = f"For rule {told}."
    if isinstance(known, bool):
        return click.option(_dashed(name), name, is_flag=True, default=None, show_default=False, help=help)
    kind = click.Choice(rules.CHOICES[name]) if name in rules.CHOICES else click.FLOAT
    if known is not None:
        written = [(value if isinstance(value, str) else f"{value:g}", names) for value, names in by_default.items()]
        others = [f"{value} for {', '.join(names)}" for value, names in written[1:]]
        help += f"  [default: {'; '.join([written[0][0], *others])}]"
    metavar = None if name in rules.CHOICES else "X"
    return click.option(_dashed(name), name, type=kind, metavar=metavar, default=default, show_default=False, help=help)


def options(unit: str, rule: str = "perceptron", **defaults: float) -> list[Any]:
    """Options for training on examples, which are called `unit`; the default rule and parameters of rules."""
    return [
        click.option(
            *("-m", "--model", "path"),
            required=unit != "rows",
            type=click.Path(dir_okay=False),
            callback=output.target,
            help="File to save the model to." + ("  [required, but for --dry-run]" if unit == "rows" else ""),
        ),
        click.option(
            "--rule",
            type=click.Choice(list(rules_for(unit))),
            default=rule,
            help="Rule that decides how far each step goes."
            + (
                "  [default: margin with beta=20 for tables; pa1 with C=2 for tables with text; pa1 with C=0.1 for "
                "regression, C=0.3 with text; margin with beta=2 for kernels; else perceptron]"
                if unit == "rows"
                else ""
            ),
            show_default=unit != "rows",
        ),
        *(_parameter(name, unit, defaults.get(name)) for name in parameters(unit)),
        click.option(
            "--passes",
            type=click.IntRange(1),
            metavar="N",
            default=PASSES,
            help="Maximum number of passes over the data."
            + (
                "  [default: 10; 5 for tables with text, unless --regression; 100 for kernels]"
                if unit == "rows"
                else ""
            ),
            show_default=unit != "rows",
        ),
        click.option(
            "--validation",
            metavar="SHARE|FILE",
            help=f"Measure the held-out error: on a share of the {unit}, such as 0.1, or on a file.",
        ),
        click.option(
            "--patience",
            type=click.IntRange(1),
            metavar="N",
            help="Stop after this many passes without a smaller held-out error.  [default: make all passes]",
        ),
        click.option(
            "--keep",
            type=click.Choice(["best", "last"]),
            default="best",
            help="With --validation: keep the pass with the smallest held-out error, or the last one.",
        ),
        click.option("--seed", type=click.IntRange(0, 2**32 - 1), metavar="N", default=0, help="Seed for shuffling."),
        click.option("--no-shuffle", is_flag=True, help=f"Keep the order of the {unit}."),
        click.option("--drop-zeros", is_flag=True, help="Do not save zero weights: a smaller file, same predictions."),
        click.option("-q", "--quiet", is_flag=True, help="Print only errors."),
        output.JSON,
    ]


def rule_of(given: dict[str, Any]) -> Any:
    """The rule with the parameters given; the others keep their defaults."""
    make = rules.RULES[given["rule"]]
    return rules.resolve(make(**{name: given[name] for name in make._fields if given.get(name) is not None}))


def candidates(given: dict[str, Any]) -> list[Candidate]:
    """The candidates of --tune; a rule, its parameters and class weights that were given stay."""
    context = click.get_current_context()
    fixed = {name for name in ("rule", *parameters()) if context.get_parameter_source(name) is COMMANDLINE}
    if "rule" in fixed:
        rules_left = dict.fromkeys(each.rule for each in CANDIDATES if type(each.rule) is rules.RULES[given["rule"]])
        chosen = [Candidate(rule) for rule in (rules_left or variants(rule_of(given)))]
        if rules.takes_weights(rule_of(given)):
            chosen += [Candidate(each.rule, "balanced") for each in chosen]
    else:
        chosen = [Candidate(rule_of(given)), *CANDIDATES]  # the default of these rows is the first
    found = []
    for rule, weight in chosen:
        known = {name: given[name] for name in fixed if name in rule._fields}
        found.append(Candidate(rule._replace(**known), None if given["class_weight"] is not None else weight))
    return list(dict.fromkeys(found))


def options_of(rule: Any) -> dict[str, Any]:
    """The options that choose a rule and its parameters."""
    name = next(name for name, kind in rules.RULES.items() if type(rule) is kind)
    return {**dict.fromkeys(parameters()), "rule": name, **rule._asdict()}


def keeps_best(given: dict[str, Any]) -> bool:
    """Whether the pass with the smallest held-out error is kept."""
    return given["validation"] is not None and given["keep"] == "best"


def params(given: dict[str, Any], share: float | None) -> dict[str, Any]:
    """Parameters that every estimator has, for one that would learn the same."""
    return {
        "max_iter": given["passes"],
        "shuffle": not given["no_shuffle"],
        "random_state": given["seed"],
        "early_stopping": keeps_best(given),  # an estimator that stops early keeps the best pass
        "n_iter_no_change": given["patience"] or (given["passes"] if keeps_best(given) else 5),
        "validation_fraction": share or 0.1,
    }


def check_idle(given: dict[str, Any], idle: dict[str, str], unit: str) -> None:
    """Refuse options that have no effect. `idle`: more of them, with what each needs."""
    needed = {
        name: f"--rule {' or '.join(_users(name, unit))}"
        for name in parameters(unit)
        if given["rule"] not in _users(name, unit)
    }
    if given["validation"] is None:
        needed |= dict.fromkeys(("patience", "keep"), f"--validation, a share of the {unit} or a file")
    elif given["patience"] is not None and given["keep"] == "last":
        needed["keep"] = "best, or no --patience: early stopping keeps the best pass"
    refuse_given({**needed, **idle})


def refuse_given(idle: dict[str, str]) -> None:
    """Refuse options that were given without what they need."""
    context = click.get_current_context()
    for name, needed in idle.items():
        if context.get_parameter_source(name) is COMMANDLINE:
            raise click.UsageError(f"{_dashed(name)} needs {needed}")


def noted(paths: Iterable[str], seconds: float, **facts: Any) -> dict[str, Any]:
    """The record of a training in a model file."""
    return {
        "files": [os.path.abspath(name) if name != STDIN else name for name in paths],
        **facts,
        "seconds": round(seconds, 3),
        "date": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "version": __version__,
    }
