"""Reading data and models: options that verbs share, the source they describe, models of the right kind."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from perceptrons.data import Source, source
from perceptrons.data.source import FORMATS, SCALES
from perceptrons.data.table.settings import WEIGHTINGS
from perceptrons.store.format import ModelFileError
from perceptrons.store.saved import Saved, read

if TYPE_CHECKING:
    from perceptrons.store.taggers import SavedTagger

F = TypeVar("F", bound=Callable[..., Any])


def names(context: Any, parameter: Any, text: str | None) -> list[str] | None:
    """Parse names separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def fills(context: Any, parameter: Any, text: str | None) -> float | dict[str, float] | str | None:
    """Parse mean, error, a number, or numbers by column: 0, or age=40,income=0."""
    if text in (None, "mean", "error"):
        return text
    assert text is not None
    try:
        if "=" not in text:
            return float(text)
        return {name.strip(): float(number) for name, number in (part.rsplit("=", 1) for part in text.split(","))}
    except ValueError:
        what = "expected mean, error, a number, or column=number,…"
        raise click.BadParameter(f"{what}, got {text!r}") from None


IDLE = ("text", "categorical", "numeric", "features", "drop", "missing", "hash_bits")  # options about columns
MISSING = "What replaces missing numbers: mean, a number, or column=number,…; error refuses missing cells."
DIALECT = ("delimiter", "header", "quotes", "decimal", "encoding", "na")  # options about CSV files
ARGUMENT = click.argument("data", nargs=-1, required=True, metavar="DATA...")
FORMAT = click.option("--format", type=click.Choice(FORMATS), help="File format.  [default: detected]")


def details(usual: str | None = None) -> list[Any]:
    """Options about svmlight and CSV files. `usual`: their default, if it is not to guess."""
    default = f"[default: {usual or 'guessed'}]"
    return [
        click.option("--one-based", is_flag=True, help="svmlight: indices start at 1, not at 0."),
        click.option("--delimiter", metavar="CHAR", help=f"CSV: character between cells.  {default}"),
        click.option(
            "--header/--no-header",
            default=None,
            help=f"CSV: whether the first line has column names; otherwise they are 0, 1, …  {default}",
        ),
        click.option(
            "--quotes/--no-quotes",
            default=None,
            help=f'CSV: whether " at the start of a cell is a quote.  {default}',
        ),
        click.option("--decimal", type=click.Choice([".", ","]), help=f"CSV: decimal point.  {default}"),
        click.option("--encoding", metavar="NAME", help=f"CSV: encoding, such as latin-1.  {default}"),
        click.option(
            "--na",
            callback=names,
            metavar="A,B,…",
            help="CSV: cells that count as missing besides empty ones, such as 'unknown'.  "
            f"[default: {usual or 'NA, null, ?, …'}]",
        ),
    ]


READING = [
    FORMAT,
    click.option(
        "--target",
        metavar="COLUMN",
        help="Column with the labels, which tables need. NumPy files: its number, or the name of an array.  "
        "[default: .npy: the last; .npz: y]",
    ),
    *details(),
]
LIKE_MODEL = [  # the model knows everything else about columns
    FORMAT,
    click.option("--target", metavar="COLUMN", help="Column with the labels.  [default: as in training]"),
    *details("as in training"),
    click.option("--missing", callback=fills, metavar="HOW", help=f"{MISSING}  [default: as in training]"),
]
ENCODING = [
    click.option("--features", callback=names, metavar="A,B,…", help="Tables: columns to use.  [default: all]"),
    click.option("--drop", callback=names, metavar="A,B,…", help="Tables: columns to ignore."),
    click.option("--numeric", callback=names, metavar="A,B,…", help="Columns of numbers.  [default: guessed]"),
    click.option("--categorical", callback=names, metavar="A,B,…", help="Columns of categories.  [default: guessed]"),
    click.option(
        "--hash-bits", type=click.IntRange(1, 28), metavar="BITS", help="Hash categories into 2^BITS features."
    ),
    click.option(
        "--text",
        callback=names,
        metavar="A,B,…",
        help="Columns of text; each word is a feature.  [default: guessed]",
    ),
    click.option(
        "--ngrams",
        type=click.IntRange(1, 8),
        metavar="N",
        default=1,
        help="Text: maximum number of consecutive words in a feature.",
    ),
    click.option(
        "--text-bits",
        type=click.IntRange(1, 28),
        metavar="BITS",
        default=18,
        help="Text: hash words into 2^BITS features.",
    ),
    click.option(
        "--weighting",
        type=click.Choice(WEIGHTINGS),
        default=WEIGHTINGS[0],
        help="Text: how words count. tfidf: more if few texts have them; binary: all equally; counts: as often as they "
        "occur.",
    ),
    click.option("--missing", callback=fills, metavar="HOW", help=f"{MISSING}  [default: mean]"),
]
SCALING = [
    click.option(
        "--scale",
        type=click.Choice(SCALES),
        default="auto",
        help="Bring numbers to one scale. auto: columns of tables, and features of svmlight and NumPy files if their "
        "sizes are far apart, or with --regression; standard: always; none: never.",
    )
]
CACHING = [
    click.option(
        "--cache",
        metavar="FOLDER",
        help="Folder for a copy of the parsed rows.  [default: up to 64 MB stay in memory; ~/.cache/perceptrons/rows]",
    ),
    click.option("--no-cache", is_flag=True, help="Parse the files again in every pass."),
]


def options(*groups: list[Any]) -> Callable[[F], F]:
    """Decorate a command with these options."""

    def decorate(function: F) -> F:
        for option in reversed([each for group in groups for each in group]):
            function = option(function)
        return function

    return decorate


def opened(data: Any, given: dict[str, Any], like: Any = None, known: dict[str, Any] | None = None) -> Source:
    """Make the source that arguments and options describe.

    like: how a model's tables were encoded. known: format and settings of the files that a model was trained on, which
    are the defaults.
    """
    known = known or {}
    kind = given.get("format") or _kind(data, known)
    usual = known if known.get("format") == kind else {}
    cache: str | bool = not given.get("no_cache") and (given.get("cache") or True)
    settings: dict[str, Any] = {}
    if kind == "svmlight":
        settings["zero_based"] = not given["one_based"] and usual.get("zero_based", True)
        if known.get("n_features") is not None:
            settings["n_features"] = known["n_features"]
        _refuse(given, kind, "target", "delimiter", *IDLE)
    elif kind == "numpy":
        target = usual.get("target") if given.get("target") is None else given["target"]
        if target is not None:
            settings["target"] = target
        if known.get("n_features") is not None and _unlabelled(data, settings, known["n_features"]):
            settings["labels"] = False
    else:
        settings["target"] = given["target"]
        if kind in ("csv", "tsv"):
            told = {name: given[name] if given[name] is not None else usual.get(name) for name in DIALECT}
            settings |= {name: value for name, value in told.items() if value is not None}  # encodings know theirs
        names = (
            ("missing",)
            if like is not None
            else ("missing", "features", "hash_bits", "ngrams", "text_bits", "weighting")
        )
        settings |= {name: given[name] for name in names}
        if like is not None:
            settings["like"] = like
        else:
            settings["regression"] = bool(given.get("regression"))
            settings |= {name: given[name] or () for name in ("drop", "text", "numeric")}
            settings["categorical"] = "auto" if given["categorical"] is None else given["categorical"]
    made: Source = source(list(data), format=kind, cache=cache, scale=given.get("scale", "auto"), **settings)
    return made


def for_model(data: Any, given: dict[str, Any], saved: Any, labels: bool = True) -> Source:
    """Make the source of rows for a model, read like its training data; labels=False ignores labels in tables."""
    found = saved.trained.get("source")
    known = {**(found if isinstance(found, dict) else {}), "n_features": saved.n_features}
    like = saved.encoding
    if like is None and (given.get("format") or _kind(data, known)) not in ("svmlight", "numpy"):
        if saved.feature_names is None:
            raise click.UsageError(
                "the model cannot read tables: it was trained on numbered features, not on named columns"
            )
        from perceptrons.data.table.encoding import Encoding

        label = {"f": "float64", "i": "int64", "u": "int64", "b": "bool"}.get(saved.classes.dtype.kind, "str")
        like = Encoding(given["target"], label, list(saved.feature_names), [], [], [])
    if like is not None and not labels and given["target"] is None:
        like = replace(like, target=None)  # cells of labels may be empty or hold anything
    return opened(data, given, like, known)


def _kind(data: Any, known: dict[str, Any]) -> str:
    """The format of files by name or content, else the one that a model was trained on."""
    from perceptrons.data.files import STDIN, DataError, expand
    from perceptrons.data.source import detect_format

    first = expand(data)[0]
    if first == STDIN and known.get("format") in FORMATS:  # what has arrived of a stream may not show its format
        return str(known["format"])
    try:
        return detect_format(first)
    except DataError as error:
        if known.get("format") in FORMATS:
            return str(known["format"])
        raise DataError(f"{error}, with --format") from None


def _unlabelled(data: Any, settings: dict[str, Any], n_features: int) -> bool:
    """Tell whether the array in a file has a model's features but no column of labels."""
    from perceptrons.data.files import expand, is_stream

    first = expand(data)[0]
    if is_stream(first):  # a stream cannot be read twice
        return False
    batch = next(source(first, format="numpy", **settings).batches(), None)
    return batch is not None and batch.rows.indices is None and batch.rows.n_features == n_features - 1


def _refuse(given: dict[str, Any], kind: str, *others: str) -> None:
    """Refuse options for tables if the files are not tables."""
    for name in others:
        if given.get(name):
            raise click.UsageError(f"--{name.replace('_', '-')} is for tables, but these files have the format {kind}")


def share_of(validation: str | None) -> float | None:
    """The share to hold out, or None if --validation is not a number."""
    try:
        share = float(validation or "")
    except ValueError:
        if validation is not None and validation.endswith("%") and not os.path.exists(validation):
            raise click.BadParameter(
                f"expected a share between 0 and 1, such as 0.1, got {validation}", param_hint="--validation"
            ) from None
        return None
    if not 0 < share < 1:
        raise click.BadParameter(
            f"expected a share between 0 and 1, such as 0.1, got {share:g}", param_hint="--validation"
        )
    return share


def kind(made: Source) -> str:
    """The name of a source's format on the command line."""
    return str(made.signature()["format"])


def known_of(made: Source, given: dict[str, Any]) -> dict[str, Any]:
    """How a source was read, besides its encoding: `opened` takes this as `known`."""
    return {
        "format": kind(made),
        "zero_based": not given["one_based"],
        "target": given["target"],
    }


def classifier_in(path: str, instead: str) -> Saved:
    """Read a classifier from a file. `instead`: what to do if the file holds a tagger."""
    saved = read(path)
    if isinstance(saved, Saved):
        return saved
    raise ModelFileError(f"{path} holds a {saved.estimator}: {instead}")


def tagger_in(path: str, instead: str) -> SavedTagger:
    """Read a tagger from a file. `instead`: the verb for other models."""
    saved = read(path)
    if isinstance(saved, Saved):
        raise ModelFileError(f"{path} holds a {saved.estimator}: use perceptrons {instead}")
    return saved
