"""Decide which columns of a table are labels, numbers, categories and text; explain what does not fit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from perceptrons.data.files import DataError
from perceptrons.data.table.csv_blocks import Flaw
from perceptrons.data.table.dialects.dialect import CsvDialect
from perceptrons.data.table.dialects.numerals import parsed
from perceptrons.data.table.encoding import Encoding
from perceptrons.data.table.roles import DROPPED, Guess, Stray, labels, role
from perceptrons.data.table.settings import MEAN, Settings
from perceptrons.data.table.values import floats_of

SHOWN = 20  # the most column names in a message
LONGEST = 100  # the most characters of each
CLASSES, SHARE = 100, 0.05  # the most classes that are whole numbers; with more rows, this share of the rows


def listed(names: Sequence[str]) -> str:
    """List column names in a message.

    >>> listed(["age", "job"])
    "'age', 'job'"
    """
    more = f" and {len(names) - SHOWN} more, the last of them {_short(names[-1])}" if len(names) > SHOWN else ""
    return ", ".join(map(_short, names[:SHOWN])) + more


def _short(name: str) -> str:
    """Quote a name; one that is very long, and probably not a name, is cut."""
    return repr(name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…")


def check_names(wanted: Iterable[str], names: list[str], where: str, advice: str = "") -> None:
    """Refuse the first column that does not exist, and suggest a similar name; `advice` may be the reason."""
    for name in wanted:
        if name not in names:
            close = get_close_matches(name, names, 1)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            hint = f" {advice}" if advice else ""
            if len(names) == 1:
                other = [mark for mark in ";\t|," if mark in names[0]]
                hint = f" Perhaps its delimiter is {other[0]!r}?" if other else hint
            elif names == [str(j) for j in range(len(names))]:
                hint = " If its first line has the names of the columns, pass header=True."
            raise DataError(f"{where} has no column {name!r}.{meant} Its columns are {listed(names)}.{hint}")


def find_target(target: str | None, names: list[str], where: str) -> str:
    """Check that the column of labels exists."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{where} has more than one column {twice!r}: rename one of them")
    if target is None:
        raise DataError(f"{where}: name the column of labels with target. Its columns are {listed(names)}")
    check_names([target], names, where)
    return target


def kind_of(type: Any) -> str | None:
    """What a column of an Arrow type holds: a "number", "flag" or "category"; None if it cannot be a feature."""
    from pyarrow import types

    if types.is_integer(type) or types.is_floating(type) or types.is_decimal(type) or types.is_null(type):
        return "number"
    if types.is_boolean(type):
        return "flag"
    if types.is_dictionary(type):
        return None if kind_of(type.value_type) is None else "category"
    view = getattr(types, "is_string_view", None)  # not in older versions
    text = types.is_string(type) or types.is_large_string(type) or (view is not None and view(type))
    return "category" if text else None


def is_date(type: Any) -> bool:
    """Whether an Arrow type holds dates or times."""
    from pyarrow import types

    return bool(types.is_temporal(type))


def label_of(type: Any, name: str, where: str) -> str:
    """The type of labels that a column of an Arrow type gives."""
    from pyarrow import types

    kind = kind_of(type)
    if kind is None:
        raise DataError(f"{where}: the labels in column {name!r} are {type}, expected numbers, text or booleans")
    if kind == "number":
        return "int64" if types.is_integer(type) else "float64"
    return "bool" if kind == "flag" else "str"


class First(NamedTuple):
    """The beginning of the first file."""

    names: list[str]  # of all columns
    table: Any  # the first rows, an Arrow table
    where: str
    dialect: CsvDialect | None = None  # of CSV files
    cells: Callable[[str], Sequence[str]] = lambda name: ()  # some cells of a column, as they stand in the file


def build(settings: Settings, first: First) -> tuple[Encoding, list[Guess]]:
    """Make the encoding for a table that begins like this, and say how its columns are treated."""
    names, where, marked = first.names, first.where, settings.marked
    target = find_target(settings.target, names, where)
    fills = list(settings.missing) if isinstance(settings.missing, dict) else []
    wanted = [*(settings.features or ()), *settings.drop, *marked, *settings.text, *settings.numeric, *fills]
    check_names(wanted, names, where)
    lists = {"categorical": marked, "text": settings.text, "numeric": settings.numeric}
    for name in dict.fromkeys([*marked, *settings.text, *settings.numeric]):
        both = [which for which, them in lists.items() if name in them]
        if len(both) > 1:
            raise DataError(f"column {name!r} is both in {both[0]} and in {both[1]}: keep it in one of them")
    chosen = names if settings.features is None else dict.fromkeys([*settings.features, *settings.text])
    features = [name for name in chosen if name != target and name not in settings.drop]
    guesses = {name: _guess(name, settings, first) for name in features}
    if all(guess.kind in DROPPED for guess in guesses.values()):  # better an odd column than none
        guesses = {name: _kept(guess, first) for name, guess in guesses.items()}
    if all(guess.kind in DROPPED for guess in guesses.values()):
        what = f"{where} has no columns of features besides the labels {target!r}"
        day = next((guess.column for guess in guesses.values() if guess.kind == "date"), None)
        if day is not None:
            what += f". Column {day!r} holds dates: treat its values as categories with categorical=[{day!r}]"
        raise DataError(what)
    kinds = {kind: [name for name in features if guesses[name].kind == kind] for kind in ("number", "flag", "text")}
    encoding = Encoding(
        target,
        _label(target, settings, first),
        kinds["number"],
        [name for name in features if guesses[name].kind in ("flag", "category")],
        kinds["flag"],
        kinds["text"],
        settings.hash_bits,
        settings.ngrams,
        settings.text_bits,
        settings.missing,
        scale=settings.scale,
        dialect=first.dialect,
        weighting=settings.weighting,
    )
    return encoding, [guesses.get(name) or _unused(name, target, settings, first) for name in names]


def candidates(settings: Settings, names: list[str], where: str) -> list[str]:
    """The columns of a file that may be features, and the target."""
    target = find_target(settings.target, names, where)
    check_names(settings.named, names, where)
    chosen = names if settings.features is None else [*settings.features, *settings.text]
    return list(dict.fromkeys([*(name for name in chosen if name not in settings.drop), target]))


def _guess(name: str, settings: Settings, first: First) -> Guess:
    """How to treat a column of features."""
    column = first.table.column(name)
    kind = kind_of(column.type)
    plain = column.type.num_fields == 0
    told = int(column.null_count), ()
    if plain and name in settings.text:
        return Guess(name, "text", "as you say", *told)
    if plain and name in settings.marked and kind != "flag":
        return Guess(name, "category", "as you say", *told)  # also dates
    if kind is None and (not plain or not is_date(column.type)):
        remedy = "" if not plain else f", or treat its values as categories with categorical=[{name!r}]"
        what = f"column {name!r} holds {column.type}, which cannot be a feature: drop it{remedy}"
        raise DataError(f"{first.where}: {what}")
    if name in settings.numeric:
        if kind == "category" and first.dialect is None:
            raise DataError(f"{first.where}: column {name!r} holds {column.type}, expected numbers")
        return Guess(name, "number", "as you say", *told)
    try:
        guess = role(name, column, first.dialect, first.cells(name))
    except Stray as stray:
        raise _astray(name, column, stray.cell) from None
    if guess.kind == "empty" and settings.missing != MEAN:
        return guess._replace(kind="number")
    return _kept(guess, first) if guess.kind in DROPPED and name in (settings.features or ()) else guess


def _kept(guess: Guess, first: First) -> Guess:
    """A guess that does not drop its column, if that is possible."""
    number = kind_of(first.table.column(guess.column).type) == "number"
    if guess.kind == "date" or (guess.kind == "empty" and not number):
        return guess
    return guess._replace(kind="number" if number else "category")


def _astray(name: str, column: Any, cell: str) -> Flaw:
    """A column of numbers has a cell that is not a number."""
    row = next(i for i, each in enumerate(column.to_pylist()) if each is not None and each.strip() == cell)
    what = f"expected a number as in most rows, got {column[row].as_py()!r:.60}"
    remedy = f"correct it, count it as missing with na=[{cell!r:.40}], or treat all values as categories with "
    return Flaw(row, name, f"{what}: {remedy}categorical=[{name!r}]", "other")


def _unused(name: str, target: str, settings: Settings, first: First) -> Guess:
    """How to describe a column that is not a feature."""
    if name == target:
        found = labels(name, first.table.column(name), first.dialect)
        return found._replace(kind="value") if settings.regression else found
    return Guess(name, "ignored", "as you say")


def _label(target: str, settings: Settings, first: First) -> str:
    """The type of the labels; refuse numbers that are hardly classes."""
    column = first.table.column(target)
    if settings.regression:
        return _value(target, column, first)
    label = label_of(column.type, target, first.where)
    if label in ("int64", "float64") and target in settings.marked:
        return "int64" if label == "int64" else "str"
    if label == "str" and target not in settings.marked and first.dialect is not None:
        _refuse_amounts(target, column, first, first.dialect.decimal)
    if label in ("int64", "float64"):
        values, n = floats_of(column), len(column)
        found, what = len(np.unique(values[~np.isnan(values)])), ""
        fractions = values[np.isfinite(values) & (np.rint(values) != values)]
        if found > CLASSES and found > SHARE * n:
            what = f"has {found:,} different numbers in the first {n:,} rows, too many for classes"
        elif fractions.size:
            what = f"has numbers such as {fractions[0]:g}, which are not classes"
        if what:
            raise _no_classes(target, what, first)
    return label


def _no_classes(target: str, what: str, first: First) -> DataError:
    """The error for numbers that are hardly classes."""
    remedy = "to predict numbers, pass regression=True; otherwise name another column with target, or group the"
    classes = f"numbers; if each number is a class, pass categorical=[{target!r}]"
    return DataError(f"{first.where}: column {target!r} {what}: {remedy} {classes}")


def _refuse_amounts(target: str, column: Any, first: First, decimal: str) -> None:
    """Refuse a target of many different amounts, such as $1,200."""
    cells = [cell for cell in column.to_pylist() if cell is not None]
    found, n = len(set(cells)), len(column)
    if found > CLASSES and found > SHARE * n and all(parsed(cell, decimal) is not None for cell in cells):
        what = f"has {found:,} different amounts such as {cells[0]!r} in the first {n:,} rows, too many for classes"
        raise _no_classes(target, what, first)


def _value(target: str, column: Any, first: First) -> str:
    """The type of values to predict; refuse what is not a number."""
    if kind_of(column.type) == "number":
        return "float64"
    some = next((cell for cell in column.to_pylist() if cell is not None), None)
    if first.dialect is not None and isinstance(some, str) and parsed(some, first.dialect.decimal) is not None:
        return "float64"  # numbers as people write them; a cell that is none has a line to be named
    got = f"{column.type}" if first.dialect is None else f"{str(some)!r:.60}"
    raise DataError(f"{first.where}: column {target!r} holds {got}, expected numbers to predict")


def survey_numbers(encoding: Encoding, table: Any) -> dict[str, float]:
    """Look at the numbers in the first rows: make rows sparse if cells are missing; return the means of the others."""
    found = {}
    for name in encoding.numbers:
        values = floats_of(table.column(name))
        encoding.sparse = encoding.sparse or (encoding.missing == MEAN and bool(np.isnan(values).any()))
        values = values[np.isfinite(values)]
        with np.errstate(over="ignore"):
            mean = float(values.mean()) if values.size else 0.0
        found[name] = mean if np.isfinite(mean) else 0.0
    return found


def csv_types(encoding: Encoding, target: str | None, numerals: Collection[str] = ()) -> dict[str, Any]:
    """The Arrow types with which to read the columns of a CSV file; other columns are not read.

    numerals: columns of numbers that Arrow cannot read as such.
    """
    import pyarrow as pa

    words = pa.dictionary(pa.int32(), pa.string())
    types = {name: pa.string() if name in numerals else pa.float64() for name in encoding.numbers}
    types |= {name: pa.bool_() if name in encoding.flags else words for name in encoding.categories}
    types |= {name: pa.large_string() for name in encoding.texts}
    if target is not None:
        types[target] = words if encoding.label == "str" else pa.type_for_alias(encoding.label)
    return types


def check_types(encoding: Encoding, target: str | None, schema: Any, where: str) -> None:
    """Refuse an Arrow schema in which a column changed its type."""
    wanted = dict.fromkeys(encoding.numbers, "number") | dict.fromkeys(encoding.flags, "flag")
    if target is not None:
        wanted[target] = {"str": "category", "bool": "flag"}.get(encoding.label, "number")
    for name, kind in wanted.items():
        type = schema.field(name).type
        if kind_of(type) != kind and str(type) != "null":
            expected = {"number": "numbers", "flag": "booleans", "category": "text"}[kind]
            raise DataError(f"{where}: column {name!r} holds {type}, expected {expected} as before")
