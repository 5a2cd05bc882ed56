"""The names of the columns of a CSV file."""

from __future__ import annotations

import csv
import io

from perceptrons.data.files import DataError
from perceptrons.data.table.dialects.decoding import to_text
from perceptrons.data.table.dialects.dialect import CsvDialect

MOST_COLUMNS = 30_000  # Arrow takes 18 kB for each


def header(block: memoryview, where: str, dialect: CsvDialect, notes: set[str]) -> tuple[list[str], int]:
    """The names of the columns, and where the rows begin."""
    found, at, _ = dialect.walk(block, 1)
    record = bytes(block[:at] if found else block)
    try:
        text = record.decode() if dialect.encoding is not None else to_text(record, notes)
    except UnicodeDecodeError:
        what = "the header is not UTF-8: name its encoding with encoding='latin-1', for instance"
        raise DataError(f"{where}:1: {what}") from None
    text = text.strip("\r\n")
    fields = text.split(dialect.delimiter)
    if dialect.quotes and '"' in text:
        try:
            fields = next(csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter))
        except csv.Error as error:
            raise DataError(f"{where}:1: the names of the columns cannot be read: {error}") from None
    if len(fields) > MOST_COLUMNS:
        what = f"has {len(fields):,} columns, expected at most {MOST_COLUMNS:,}"
        raise DataError(f"{where}:1: the first row {what}: save wide tables as .npy or svmlight files")
    if not dialect.header:
        return [str(j) for j in range(len(fields))], 0
    given = [name.strip() for name in fields]
    names = distinct(given)
    if names != given:
        renamed = [new for new, old in zip(names, given, strict=True) if new != old]
        notes.add(f"columns without a name of their own are called {', '.join(map(repr, renamed[:5]))}")
    return names, len(record)


def distinct(names: list[str]) -> list[str]:
    """Give each column a name of its own.

    >>> distinct(["a", "", "b", "a"])
    ['a', 'unnamed_1', 'b', 'a.1']
    """
    if "" not in names and len(set(names)) == len(names):
        return names
    taken, found, times = set(names), [], dict.fromkeys(names, 0)
    for j, name in enumerate(names):
        new = name or f"unnamed_{j}"
        while (times[name] or not name) and new in taken:
            new, times[name] = f"{name or 'unnamed'}.{times[name]}", times[name] + 1
        times[name] = times[name] or 1
        taken.add(new)
        found.append(new)
    return found
