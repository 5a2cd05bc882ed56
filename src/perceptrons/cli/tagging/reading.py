"""Reading sentences: options that the verbs of `tag` share, and the tokens that they describe."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import click
import numpy as np

from perceptrons.data import files
from perceptrons.data.files import DataError
from perceptrons.data.token.conll import CONLLU, read_conll
from perceptrons.data.token.conll_source import ConllSource, conll_source
from perceptrons.data.token.template_sets import SETS, columns_of, resolve, suited
from perceptrons.data.token.templates import Template, parse
from perceptrons.data.token.tokens import Tokens
from perceptrons.data.token.vocabulary import NameVocabulary
from perceptrons.learn.sequence.labels import Labels, labels_in
from perceptrons.store.taggers import Reading, SavedTagger


def pairs(context: Any, parameter: Any, text: str | None) -> list[tuple[str, str]] | None:
    """Parse names of columns separated by commas: for each, its name in the file and its name in templates."""
    if text is None:
        return None
    found = [each.strip().partition("=")[::2] for each in text.split(",")]
    if not all(column for column, _ in found):
        raise click.BadParameter(f"expected names separated by commas, such as word,pos,chunk, got {text!r}")
    return [(column, name or column) for column, name in found]


ARGUMENT = click.argument("data", nargs=-1, required=True, metavar="FILE...")
COLUMNS = click.option(
    "--columns",
    callback=pairs,
    metavar="A,B,…",
    help="Names of the columns, in order. CoNLL-U: form=word,… renames columns.",
)
FORMAT = click.option(
    "--format",
    type=click.Choice(["conll", "conllu"]),
    help="File format.  [default: conllu for names in .conllu, else conll]",
)
TABS = click.option("--tabs", is_flag=True, help="Columns are separated by tabs, and may contain spaces.")
OPTIONS = [COLUMNS, FORMAT, TABS]


Features = str | list[Template]  # the name of a set, or templates


class Text(NamedTuple):
    """Sentences of files, and the column with their labels."""

    tokens: Tokens
    reading: Reading
    paths: list[str]
    name: str  # for people

    @property
    def labels(self) -> Callable[[Any], Labels]:
        """A function that returns the labels, given where sentences begin."""
        found = labels_in(self.tokens, labels_of(self.reading))
        return lambda bounds: found


def templates(given: str) -> Features:
    """The name of a built-in set of templates, or the templates of a file, one per line."""
    if given in SETS:
        return given
    if not os.path.isfile(given):
        raise click.BadParameter(
            f"no built-in set and no file is called {given!r}; sets: {', '.join(SETS)}", param_hint="--features"
        )
    with open(given, encoding="utf-8") as file:
        lines = [line.partition("#")[0].strip() for line in file]
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            found += [parse(line)] if line else []
            resolve(found or ["word[0]"])  # each once
        except DataError as error:
            raise DataError(f"{given}:{number}: {error}") from None
    if not found:
        raise DataError(f"{given} has no templates: expected one per line, such as word[0] or word[-1] & word[0]")
    return found


def for_training(data: tuple[str, ...], given: dict[str, Any], features: Features) -> tuple[Text, Features]:
    """Read the training sentences, with the columns that templates need; also the templates, see `suited`."""
    paths, whole = files.expand(data), list[Tokens]()

    def columns() -> list[str]:  # as many as there are
        whole.append(read_conll(paths, separator="\t" if given["tabs"] else None, conllu=False))
        if whole[0].n_tokens == 0:
            raise DataError(f"{files.display(paths)} has no tokens")
        return list(whole[0].columns)

    reading, features = _settled(data, given, features, columns)
    if whole:
        return Text(whole[0], reading, paths, files.display(paths)), features
    return like_training(paths, reading, columns_of(features)), features


def source_for_training(
    data: tuple[str, ...], given: dict[str, Any], features: Features
) -> tuple[ConllSource, Reading, Features]:
    """Describe the training sentences, which other processes read; as `for_training` otherwise."""
    paths, separator = files.expand(data), "\t" if given["tabs"] else None
    reading, features = _settled(
        data, given, features, lambda: conll_source(paths, separator=separator, conllu=False).columns
    )
    columns = None if reading.conllu else reading.columns
    found = conll_source(paths, columns, separator=separator, conllu=reading.conllu, rename=reading.names)
    return found, reading, features


def _settled(
    data: tuple[str, ...], given: dict[str, Any], features: Features, columns_there: Callable[[], list[str]]
) -> tuple[Reading, Features]:
    """How to read the training sentences, and the templates. columns_there: looks for the columns of the files."""
    asked, target = given["columns"], given["target"]
    if is_conllu(data, given):
        if asked is not None and not all(column in CONLLU for column, _ in asked):
            raise click.UsageError(
                f"the columns of CoNLL-U have fixed names, {', '.join(CONLLU)}: rename them with --columns form=word,…"
            )
        reading = _of_conllu(target or "upos", dict(asked or ()), columns_of(features))
    else:
        columns = columns_there() if asked is None else [column for column, _ in asked]
        names = {column: name for column, name in asked or () if name != column}
        reading = Reading(columns, target or columns[-1], names, False, given["tabs"])
        features = suited(features, [names.get(column, column) for column in columns if column != reading.target])
        if reading.target not in columns:
            raise DataError(
                f"the column of labels {reading.target!r} does not exist: the columns are {', '.join(columns)}"
            )
    needed = columns_of(features)
    _check_columns([reading.names.get(column, column) for column in reading.columns], needed)
    if labels_of(reading) in needed:
        raise DataError(
            f"the features use the column {labels_of(reading)!r}, which has the labels: "
            "choose another --target, or other --features"
        )
    return reading, features


def labels_of(reading: Reading) -> str:
    """The column with the labels, by its name in templates."""
    return reading.names.get(reading.target, reading.target)


def like_training(paths: list[str], reading: Reading, needed: list[str]) -> Text:
    """Read files of sentences with labels."""
    return _read(paths, reading, needed, labels=True, more=False)


def for_model(data: tuple[str, ...], given: dict[str, Any], saved: SavedTagger, labels: bool) -> Text:
    """Read sentences for a model; with labels=False they need no labels."""
    vocabulary, known = saved.tagger.vocabulary, saved.reading
    if isinstance(vocabulary, NameVocabulary):
        raise ValueError(
            "the features of this model come from the program that trained it, not from templates, so it cannot label "
            "files: use perceptrons.load in that program"
        )
    needed, asked = list(vocabulary.columns), given["columns"]
    if is_conllu(data, given, known is not None and known.conllu):
        target = given.get("target") or (known.target if known is not None else "")
        if target not in CONLLU:
            what = "has the labels" if labels else "labels are written to"
            raise click.UsageError(f"choose with --target which CoNLL-U column {what}: {', '.join(CONLLU)}")
        same = known is not None and known.conllu and asked is None
        names = dict(known.names) if known is not None and same else dict(asked or ())
        return _read(files.expand(data), _of_conllu(target, names, needed), needed, labels=labels, more=True)
    return _columns_for_model(files.expand(data), given, saved, needed, labels)


def _columns_for_model(
    paths: list[str], given: dict[str, Any], saved: SavedTagger, needed: list[str], labels: bool
) -> Text:
    """Read columns: named on the command line, as in training, or by the usual names for their number."""
    known, asked, tokens = saved.reading, given["columns"], None
    tabs = given["tabs"] or (known is not None and known.tabs)
    if asked is not None:
        columns = [column for column, _ in asked]
        names = {column: name for column, name in asked if name != column}
    elif known is not None and not known.conllu:
        columns, names = list(known.columns), dict(known.names)
    elif saved.params.get("columns"):
        columns, names = list(saved.params["columns"]), {}
    else:
        tokens = read_conll(paths, separator="\t" if tabs else None, conllu=False)
        columns = list(tokens.columns)
        names = {columns[0]: needed[0]} if len(needed) == 1 and needed[0] not in columns else {}
        if columns == ["word", "tag"] and set(needed) == {"word", "pos"}:
            names = {"tag": "pos"}
    target = given.get("target") or (known.target if known is not None else columns[-1] if asked else "")
    if labels and (target not in columns or names.get(target, target) in needed):
        trained = f", the model was trained on {known.target!r}" if known is not None else ""
        raise click.UsageError(
            f"cannot tell which column has the labels: the columns are {', '.join(columns)}{trained}. "
            "Name all columns with --columns, and the one with the labels with --target"
        )
    reading = Reading(columns, target, names, False, tabs)
    if tokens is None:
        return _read(paths, reading, needed, labels=labels, more=True)
    _check_columns([names.get(column, column) for column in columns], needed)
    return Text(tokens.renamed(names), reading, paths, files.display(paths))


def _check_columns(there: Iterable[str], needed: list[str]) -> None:
    """Refuse files that lack a column that is needed."""
    names = list(there)
    for name in needed:
        if name not in names:
            words = "" if name in ("word", "form") else "; the sets pos and ner need only word"
            raise DataError(
                f"templates need a column {name!r}: the columns are {', '.join(names)}; name them with --columns{words}"
            )


def _of_conllu(target: str, asked: dict[str, str], needed: list[str]) -> Reading:
    """Match names in templates with columns of CoNLL-U: word is form, pos is upos or xpos."""
    usual = {"word": "form", "pos": "xpos" if target == "upos" else "upos"}
    known = {name: column for column, name in asked.items()}
    names = {}
    for name in needed:
        column = known.get(name) or (name if name in CONLLU else usual.get(name, ""))
        if column not in CONLLU:
            raise DataError(
                f"templates need a column {name!r}, but CoNLL-U has {', '.join(CONLLU)}: "
                f"choose one, for instance with --columns feats={name}"
            )
        names[column] = name
    if target not in CONLLU:
        raise DataError(f"the column of labels {target!r} does not exist: CoNLL-U has {', '.join(CONLLU)}")
    return Reading([*names, target], target, {c: name for c, name in names.items() if c != name}, True, False)


def _read(paths: list[str], reading: Reading, needed: list[str], *, labels: bool, more: bool) -> Text:
    """Read the columns that are needed, under their names in templates; `more`: other columns may follow."""
    names = {column: reading.names.get(column, column) for column in reading.columns}
    _check_columns(names.values(), needed)
    only = [column for column, name in names.items() if name in needed or (labels and column == reading.target)]
    columns = reading.columns
    if more and not reading.conllu:
        columns = columns[: 1 + max(columns.index(column) for column in only)]
    separator = "\t" if reading.tabs else None
    tokens = read_conll(
        paths, None if reading.conllu else columns, only=only, separator=separator, conllu=reading.conllu, more=more
    )
    renamed = tokens.renamed({column: names[column] for column in only})
    return Text(renamed, reading, paths, files.display(paths))


def is_conllu(data: tuple[str, ...], given: dict[str, Any], default: bool = False) -> bool:
    """Tell whether files are CoNLL-U, by --format or by their names."""
    if given["format"] is not None:
        return bool(given["format"] == "conllu")
    paths = files.expand(data)
    kinds = {files.extension(path) == ".conllu" for path in paths}
    if len(kinds) > 1:
        raise DataError("some names end in .conllu and some do not: choose the format with --format")
    return kinds == {True} or (default and paths == [files.STDIN])


def line_of(text: Text, sentence: int, token: int = 0) -> str:
    """Where a token of a sentence is, for messages."""
    lines = text.tokens.lines
    if len(text.paths) > 1 or lines is None:
        return f"sentence {sentence + 1}" + (f", token {token + 1}" if token else "")
    before = lines.text.count(b"\n", 0, int(lines.begins[int(text.tokens.bounds[sentence]) + token]))
    return f"{text.name}:{before + 1}"


def unknown(text: Text, saved: SavedTagger) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """Which tokens are words that were not in the training files; None if the model cannot tell."""
    vocabulary = saved.tagger.vocabulary
    column = "word" if "word" in vocabulary.columns else vocabulary.columns[0]
    words = vocabulary.state()[1].get(column)
    if words is None or saved.tagger.fitted.state["rows"].all():  # words whose features have no weight were dropped
        return None
    codes, types = text.tokens.column(column)
    known = set(words)
    return np.array([word not in known for word in types], dtype=bool)[codes]
