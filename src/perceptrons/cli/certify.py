"""`perceptrons certify`: prove whether classes can be separated, and check such proofs."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import click
import numpy as np
from click.core import ParameterSource

from perceptrons.cli import output, reading
from perceptrons.cli.main import NO, UNDECIDED
from perceptrons.data.table.settings import WEIGHTINGS

COLOURS = {True: "green", False: "red", None: "yellow"}


@click.command(
    "certify",
    epilog="Exit codes: 0 separable, or the certificate holds; 1 not separable, or it does not hold; 2 error; "
    "3 undecided.",
)
@reading.ARGUMENT
@click.option("--no-intercept", is_flag=True, help="Consider only hyperplanes through the origin.")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop after about this time; what is not proved by then stays undecided.",
)
@click.option(
    *("--save", "path"), type=click.Path(dir_okay=False), callback=output.target, help="Save the proof to this file."
)
@click.option("--check", type=click.Path(dir_okay=False), help="Check this saved proof against DATA.")
@output.JSON
@reading.options(reading.READING, reading.ENCODING)
@click.pass_context
def command(
    context: click.Context,
    /,
    data: tuple[str, ...],
    no_intercept: bool,
    time_limit: float | None,
    path: str | None,
    check: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Prove that a hyperplane separates the classes of DATA, or that none does.

    The verdict is exact. If the classes are separable, it comes with the largest margin and a bound on the mistakes of
    the rule perceptron; if not, with a few rows (counted from 0) that already cannot be separated. All rows are read
    into memory. A saved proof is checked in rational arithmetic, by code that shares nothing with the solver.

    \b
      perceptrons certify train.svm --save proof.json
      perceptrons certify --check proof.json train.svm
    """
    if check is None:
        context.exit(certified(data, given, not no_intercept, time_limit, path, as_json))
    if path is not None or no_intercept or time_limit is not None:
        raise click.UsageError(
            "--check cannot be combined with --save, --no-intercept or --time-limit: the certificate has all settings"
        )
    from perceptrons.cli.telling.certificates import read

    verdict, about = read(check)
    for name, value in about["options"].items():  # read tables as then, unless options say otherwise
        if name in given and context.get_parameter_source(name) is ParameterSource.DEFAULT:
            given[name] = value
    context.exit(checked(verdict, about, check, data, given, as_json))


class Examples(NamedTuple):
    """All rows of a source in memory, and the columns that occur in them."""

    name: str
    X: Any
    y: Any
    columns: list[int] | None  # None: all
    width: int  # with all columns

    @classmethod
    def of(cls, source: Any) -> Examples:
        """Read a source; sparse rows lose columns of zeros, which may be many and have no weight in any proof."""
        X, y = source.arrays()
        if y is None:
            raise ValueError(f"{source.name} has no labels: name their column with --target")
        columns = None if isinstance(X, np.ndarray) else (np.unique(X.indices).tolist() or [0])
        if columns is None or len(columns) == X.shape[1]:
            return cls(source.name, X, y, None, X.shape[1])
        return cls(source.name, X[:, columns], y, columns, X.shape[1])


# -- proving --------------------------------------------------------------------------------------------------------


def certified(
    data: tuple[str, ...],
    given: dict[str, Any],
    fit_intercept: bool,
    time_limit: float | None,
    path: str | None,
    as_json: bool,
) -> int:
    """Decide, print the verdict and return the exit code."""
    from perceptrons.cli.telling.certificates import write
    from perceptrons.solver.patience import limited
    from perceptrons.theory import mistake_bound, separability

    name, X, y, columns, width = Examples.of(reading.opened(data, given))
    bound: Any = None
    with output.doing() as tell, limited(time_limit, tell):
        verdict = separability(X, y, fit_intercept=fit_intercept)
        why = "there is one class only" if len(verdict.classes) == 1 else ""
        try:
            bound = mistake_bound(X, y, fit_intercept=fit_intercept) if not why else None
        except ValueError as error:  # for instance, rows too long for floats
            why = str(error)
    saved = path if verdict.separable is not None else None
    if saved is not None:
        with output.naming(saved):
            write(verdict, saved, {"data": name, "options": told(given), "columns": columns})
    if as_json:
        about = {"data": name, **described(verdict), "features": width}
        output.as_json({**about, "mistakes": _bound(bound), "certificate": saved})
    else:
        output.heading(name + ("" if columns is None else f": {len(columns):,} of {width:,} features occur"))
        show(str(verdict), verdict.separable)
        output.say()
        for line in (f"no bound on mistakes: {why}" if bound is None else str(bound)).splitlines():
            output.say(line)
        if saved is not None:
            output.say()
            output.say(f"certificate: {saved}")
    if path is not None and saved is None:
        output.say("nothing was proved: no certificate was saved", err=True)
    return {True: 0, False: NO, None: UNDECIDED}[verdict.separable]


def told(given: dict[str, Any]) -> dict[str, Any]:
    """The reading options that were given and have an effect."""
    usual = {"one_based": False, "ngrams": 1, "text_bits": 18, "weighting": WEIGHTINGS[0]}
    return {name: value for name, value in given.items() if value is not None and value != usual.get(name)}


def spelt(name: str, value: Any) -> str:
    """Spell an option as on the command line.

    >>> spelt("one_based", True), spelt("header", False), spelt("text", ["a", "b"]), spelt("missing", {"age": 40.0})
    ('--one-based', '--no-header', '--text a,b', '--missing age=40')
    """
    option = ("--no-" if value is False else "--") + name.replace("_", "-")
    if isinstance(value, bool):
        return option
    if isinstance(value, dict):
        value = [f"{column}={number:g}" for column, number in value.items()]
    if isinstance(value, float):
        value = f"{value:g}"
    return f"{option} {','.join(value) if isinstance(value, list) else value}"


def show(text: str, verdict: bool | None) -> None:
    """Print a report whose first line is the verdict."""
    first, *others = text.splitlines()
    head, _, rest = first.partition(" with")
    output.say(output.style(head, fg=COLOURS[verdict], bold=True), f" with{rest}" if rest else "")
    for line in others:
        output.say(line)


def described(verdict: Any) -> dict[str, Any]:
    """A verdict for --json."""
    bounds = verdict.margin_bounds if verdict.separable else None
    return {
        "rows": verdict.n_rows,
        "features": verdict.n_features,
        "classes": verdict.classes,
        "intercept": verdict.fit_intercept,
        "separable": verdict.separable,
        "separable_otherwise": verdict.other,
        "margin": None if bounds is None else [_finite(bound) for bound in bounds],
        "augmented_margin": _finite(verdict.augmented_margin),
        "radius": _finite(verdict.radius),
        "support": sorted(set(verdict.support.tolist())),
        "irreducible": verdict.irreducible,
        "reason": verdict.reason,
    }


def _bound(bound: Any) -> dict[str, Any] | None:
    if bound is None or math.isinf(bound.bound):
        return None
    from perceptrons.theory.theorems import any_passes

    often = "any number" if any_passes(bound.theorem) else 1
    return {"at_most": math.floor(bound.bound), "passes": often, "theorem": bound.theorem}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


# -- checking -------------------------------------------------------------------------------------------------------


def checked(
    verdict: Any, about: dict[str, Any], path: str, data: tuple[str, ...], given: dict[str, Any], as_json: bool
) -> int:
    """Check a certificate against these rows, print the result and return the exit code."""
    from perceptrons.theory import CertificateError

    name, X, y, columns, _ = Examples.of(reading.opened(data, given))
    reason = None
    try:
        if columns != about["columns"]:
            raise CertificateError("these rows have other features than the rows of the certificate")
        if (y.dtype.kind == "U") != (verdict.classes.dtype.kind == "U"):
            raise CertificateError(
                "the rows and the certificate have different labels: numbers in one, text in the other"
            )
        verdict.check(X, y)
    except CertificateError as error:
        reason = str(error)
    except (ValueError, TypeError, ArithmeticError, LookupError) as error:  # the certificate contradicts itself
        raise ValueError(f"{path} cannot be checked: {error or type(error).__name__}") from error
    if as_json:
        content = {"separable": verdict.separable, "intercept": verdict.fit_intercept}
        output.as_json({"certificate": path, "data": name, "holds": reason is None, "reason": reason, **content})
    elif reason is None:
        output.say(output.style("the certificate holds", fg="green", bold=True), f" for {name}: {claim(verdict)}")
    else:
        output.say(output.style("the certificate does not hold", fg="red", bold=True), f" for {name}: {reason}")
    if told(given) and not as_json:
        output.say(f"read with {' '.join(spelt(name, value) for name, value in told(given).items())}")
    return 0 if reason is None else NO


def claim(verdict: Any) -> str:
    """Say in a sentence what a certificate proves."""
    from perceptrons.solver.rounding import down, up

    how = "with a bias" if verdict.fit_intercept else "without a bias"
    if len(verdict.classes) == 1:
        return "there is one class only"
    if not verdict.separable:
        rows = len(set(verdict.support.tolist()))
        return f"the classes are not separable {how}: {rows:,} rows already cannot be separated"
    low, high = verdict.margin_bounds
    return f"the classes are separable {how}; the largest margin is between {down(low, 10)} and {up(high, 10)}"
