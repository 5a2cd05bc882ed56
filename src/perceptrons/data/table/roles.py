"""Guess what the columns of a table hold, from its first rows: numbers, categories, text, or nothing to learn from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from perceptrons.data.table.dialects.dialect import CsvDialect
from perceptrons.data.table.dialects.numerals import parsed
from perceptrons.data.table.values import floats_of, is_view, values_of

ROWS = 20_000  # that are looked at
LEAST = 30  # rows that show that values do not repeat
NUMERALS = "numbers with signs or groups of digits"
DROPPED = ("id", "date", "empty")
ID = re.compile(
    r"(?i:(?:^|[_\W])(?:id|uuid|guid|key)$|^id(?:[_\W]|$)|^index$|row.?(?:id|num))|[a-z]I[dD]$|^unnamed_\d+$"
)
CODE = re.compile(r"(?:^|[_\W])(?:zip|zip.?code|post.?code|postal.?code|plz|code)$", re.ASCII | re.IGNORECASE)
DAY = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|\d{1,2}[- ]?[A-Za-z]{3,9}[- ,]*\d{4}"
TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?(?:Z| ?[-+]\d{2}:?\d{2})?"
DATE = re.compile(rf"(?:{DAY})(?:[T ]+{TIME})?|{TIME}", re.ASCII)


class Guess(NamedTuple):
    """How a column is treated, and why."""

    column: str
    kind: str  # "label", "value" (to predict), "number", "flag", "category", "text"; or one of DROPPED, or "ignored"
    why: str
    missing: int = 0  # cells of the sample
    examples: Sequence[str] = ()


class Stray(Exception):
    """A cell that does not fit to most others of its column."""

    def __init__(self, cell: str) -> None:
        super().__init__(cell)
        self.cell = cell


def role(name: str, column: Any, dialect: CsvDialect | None, raw: Sequence[str] = ()) -> Guess:
    """Guess what a column holds.

    Parameters
    ----------
    name : str
    column : pyarrow.ChunkedArray
        The first rows.
    dialect : CsvDialect or None
        How missing cells and numbers are written; None if the types of columns are known.
    raw : sequence of str
        Some cells as they stand in the file.

    Returns
    -------
    Guess

    Raises
    ------
    Stray
        If the column holds numbers, with a few exceptions.
    """
    from pyarrow import types

    column = column.slice(0, ROWS)
    type = column.type
    if types.is_null(type) or column.null_count == len(column):
        return Guess(name, "empty" if len(column) else "number", "no values", len(column))
    if types.is_boolean(type):
        return Guess(name, "flag", "true or false", column.null_count)
    if types.is_temporal(type):
        return Guess(name, "date", "dates or times", column.null_count, _some(column))
    if types.is_integer(type) or types.is_floating(type) or types.is_decimal(type):
        return _of_numbers(name, column, raw)
    if types.is_dictionary(type) and dialect is not None:  # of a data frame, whose owner says what it is
        found = _of_words(name, column, None)
        return found if found.kind == "empty" else found._replace(kind="category", why="its type is categorical")
    return _of_words(name, column, dialect)


def _some(column: Any, dialect: CsvDialect | None = None) -> list[str]:
    """The first few different values."""
    gaps = {None, *_gaps(dialect)}
    values = [value for value in column.slice(0, 50).to_pylist() if value not in gaps]
    texts = (f"{value:.6g}" if isinstance(value, float) else str(value) for value in values)
    return list(dict.fromkeys(text.removesuffix(" 00:00:00") for text in texts))[:3]


def labels(name: str, column: Any, dialect: CsvDialect | None) -> Guess:
    """Describe the column of labels."""
    from pyarrow import types

    column = column.slice(0, ROWS)
    missing = column.null_count
    if types.is_integer(column.type) or types.is_floating(column.type):  # Arrow would import much to find them
        values = floats_of(column)
        missing = int(np.isnan(values).sum())
        found = len(np.unique(values[~np.isnan(values)]))
    elif is_view(column.type) or not types.is_string(column.type):
        found = 0 if is_view(column.type) else len(column.unique()) - bool(missing)
    else:
        words, counts = _counted(column)
        gaps = _gaps(dialect)
        missing += sum(count for word, count in zip(words, counts, strict=True) if word in gaps)
        found = len(set(words) - gaps)
    return Guess(name, "label", _different(found, "value"), missing, _some(column, dialect))


def _different(n: int, what: str) -> str:
    return f"{n:,} different {what}{'' if n == 1 else 's'}"


def _gaps(dialect: CsvDialect | None) -> set[str]:
    """The words that are missing categories or labels."""
    return {"", *(dialect.missing_words if dialect is not None else [])}


def _counted(column: Any) -> tuple[list[str], list[int]]:
    """The words of a column without the blanks around them, and how often each occurs."""
    import pyarrow as pa

    column = column.combine_chunks()
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    words = [str(word).strip() for word in coded.dictionary.to_pylist()]
    codes = values_of(coded.indices.cast("int64").fill_null(-1), np.int64)
    return words, np.bincount(codes[codes >= 0], minlength=len(words)).tolist()


def _of_numbers(name: str, column: Any, raw: Sequence[str]) -> Guess:
    from pyarrow import types

    values = floats_of(column)
    missing = np.isnan(values)
    n_missing, values = int(missing.sum()), values[~missing]
    told = n_missing, _some(column)
    # Without a type for whole numbers with gaps, data frames have floats in their place.
    whole = types.is_integer(column.type) or bool(n_missing and len(values) and (np.rint(values) == values).all())
    if whole and any(re.fullmatch(r"0\d+", cell) for cell in raw):
        return Guess(name, "category", "codes with leading zeros", n_missing, list(dict.fromkeys(raw))[:3])
    if whole and len(values) >= LEAST and len(np.unique(values[:1000])) == len(values[:1000]):
        distinct = len(np.unique(values)) == len(values)
        span = float(values.max() - values.min()) + 1
        if distinct and (span <= 2 * len(values) or ID.search(name)):
            why = "row numbers" if (np.diff(values) == 1).all() else "each number once"
            return Guess(name, "id", why, *told)
    if whole and CODE.search(name) and len(np.unique(values)) < 0.5 * len(values):
        return Guess(name, "category", "codes, by its name", *told)
    return Guess(name, "number", "whole numbers" if whole else "numbers", *told)


def _of_words(name: str, column: Any, dialect: CsvDialect | None) -> Guess:
    """The role of a column of strings: decorated numbers, dates, ids, text, or categories."""
    if is_view(column.type):  # its values may share memory, and would take much if they were written out
        return Guess(name, "category", "words", column.null_count)
    words, counts = _counted(column)
    gaps, n = _gaps(dialect), len(column)
    missing = n - sum(count for word, count in zip(words, counts, strict=True) if word not in gaps)
    kept = [(word, count) for word, count in zip(words, counts, strict=True) if count and word not in gaps]
    filled, examples = n - missing, [word if len(word) <= 20 else f"{word[:19]}…" for word, _ in kept[:3]]
    if not filled:
        return Guess(name, "empty", "no values", n)
    if dialect is not None:
        marks = set(dialect.missing_numbers)
        numbers = sum(count for word, count in kept if parsed(word, dialect.decimal) is not None)
        gone = sum(count for word, count in kept if word in marks)
        others = filled - numbers - gone
        if numbers and not others:
            return Guess(name, "number", NUMERALS, missing + gone, examples)
        if numbers > others:
            raise Stray(next(w for w, _ in kept if w not in marks and parsed(w, dialect.decimal) is None))
    if all(DATE.fullmatch(word) for word, _ in kept):
        return Guess(name, "date", "dates or times", missing, examples)
    if filled >= LEAST:
        distinct, length = len(kept) / filled, sum(word.count(" ") * count for word, count in kept) / filled + 1
        if distinct > 0.2 and length >= 3 and len(kept) >= LEAST:
            return Guess(name, "text", f"{length:.0f} words on average, mostly different", missing, examples)
        if distinct > 0.9:
            return Guess(name, "id", "almost every value once", missing, examples)
    return Guess(name, "category", _different(len(kept), "word"), missing, examples)
