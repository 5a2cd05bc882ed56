"""Guess how a CSV file is written, from its beginning: delimiter, quotes, header, decimal point."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from perceptrons.core.parse.records import quoting, same_width
from perceptrons.data.table.dialects.dialect import CsvDialect
from perceptrons.data.table.dialects.numerals import parsed, pattern

SAMPLE = 1 << 16  # bytes that decide, except about quotes
MARKS = ",\t;|"
MANY = 50  # line breaks in a cell that is not closed: its quote is not a quote
CONSISTENT = 0.9  # share of rows that have the usual number of cells
Cells = list[list[str]]


def guessed(text: memoryview, ended: bool, known: dict[str, Any], usual: str, named: Sequence[str]) -> CsvDialect:
    """Guess the dialect of a file.

    Parameters
    ----------
    text : memoryview
        The beginning of the file, in an encoding that contains ASCII.
    ended : bool
        Whether it is the whole file.
    known : dict
        Parts of the dialect that are known.
    usual : str
        The delimiter that the format suggests.
    named : sequence of str
        Columns that the user names.

    Returns
    -------
    CsvDialect
    """
    begin = _whole_lines(bytes(text[:SAMPLE]), ended and len(text) <= SAMPLE)
    found = dict(known)
    if "delimiter" not in found:
        found["delimiter"] = _delimiter(begin, usual, found.get("quotes"))
    if "quotes" not in found:
        found["quotes"] = has_quotes(text, found["delimiter"], ended)
    if "header" in found and "decimal" in found:
        return CsvDialect(**found)
    rows = cells(begin, found["delimiter"], found["quotes"])
    marks = set(CsvDialect(na=found.get("na", ())).missing_numbers)
    if "header" not in found:
        found["header"] = _has_header(rows, named, marks)
    if "decimal" not in found:
        found["decimal"] = _decimal(rows[1:] if found["header"] else rows, found["delimiter"], marks)
    return CsvDialect(**found)


def separates(text: memoryview, known: dict[str, Any], named: Sequence[str]) -> bool:
    """Tell whether the delimiter of a known dialect gives the columns that are needed."""
    rows = cells(_whole_lines(bytes(text[:SAMPLE]), False), known["delimiter"], known["quotes"])
    first = rows[0] if rows else []
    return not first or set(named) <= (set(first) if known["header"] else {str(j) for j in range(len(first))})


def _whole_lines(text: bytes, ended: bool) -> bytes:
    """Leave out the last line if it may be incomplete, unless it is the only one."""
    end = len(text) if ended else text.rfind(b"\n") + 1 or text.rfind(b"\r") + 1
    return text[: end or len(text)]


def cells(text: bytes, delimiter: str, quotes: bool) -> Cells:
    """The cells of records, without blanks around them; blank lines are left out."""
    content = text.decode("utf-8", "replace")
    if not quotes or '"' not in content:
        rows = [line.split(delimiter) for line in re.split(r"\r\n|\n|\r", content)]
    else:
        try:
            rows = list(csv.reader(io.StringIO(content, newline=""), delimiter=delimiter))
        except csv.Error:  # for instance a cell that is too long
            return cells(text, delimiter, quotes=False)
    return [[cell.strip() for cell in row] for row in rows if row not in ([], [""])]


def has_quotes(text: Any, delimiter: str, ended: bool) -> bool:
    """Tell whether " is a quote: not if it joins lines, or cells, that are complete without it."""
    letters = np.frombuffer(text, dtype=np.uint8)
    if b'"' not in bytes(text):
        return delimiter != "\t"
    if ended:
        letters = np.append(letters, np.uint8(10))
    opened, odd, breaks, left_open = (int(n) for n in quoting(letters, ord(delimiter), ord('"')))
    if not opened:
        return delimiter != "\t"
    if left_open >= 0:
        odd += ended or left_open > MANY
    return not ((odd or breaks) and bool(same_width(letters, ord(delimiter))))


def _delimiter(text: bytes, usual: str, quotes: bool | None) -> str:
    """The mark that cuts most lines into the same number of cells, and leaves no other mark inside of cells."""
    found = []
    for mark in sorted(MARKS, key=lambda mark: mark != usual):
        if mark.encode() not in text:
            continue
        rows = cells(text, mark, has_quotes(text, mark, True) if quotes is None else quotes)
        widths = Counter(map(len, rows))
        width = max(widths, key=lambda width: (widths[width], width))
        if width > 1 and widths[width] >= CONSISTENT * len(rows) and len(rows[0]) == width:
            every = [cell for row in rows[:200] for cell in row]
            clean = sum(not any(other in cell for other in MARKS) or _is_number(cell) for cell in every)
            found.append((clean / len(every), mark))
    return max(found, key=lambda each: each[0])[1] if found else usual


def _is_number(cell: str) -> bool:
    return bool(pattern(".").fullmatch(cell) or pattern(",").fullmatch(cell))


def _has_header(rows: Cells, named: Sequence[str], marks: set[str]) -> bool:
    """Tell whether the first record holds names: above numbers it is words, or it counts 0, 1, 2, …"""
    first, rest = (rows[0], rows[1:]) if rows else ([], [])
    if not first or any(name in first and not name.isdecimal() for name in named):
        return True
    if len(first) > 2 and any(first[-n:] == [str(j) for j in range(n)] for n in (len(first), len(first) - 1)):
        return True
    evidence = recurring = filled = 0
    for j, cell in enumerate(first):
        others = [row[j] for row in rest if j < len(row) and row[j] not in marks]
        numeric = sum(map(_is_number, others)) > 0.5 * len(others) if others else False
        if cell in marks:
            continue
        filled += 1
        recurring += cell in others
        if numeric or not rest:
            evidence += -1 if _is_number(cell) else 1
    if evidence:
        return evidence > 0
    if named and all(name.isdecimal() and int(name) < len(first) and name not in first for name in named):
        return False
    return not (len(rest) >= 5 and recurring > 0.5 * filled)


def _decimal(rows: Cells, delimiter: str, marks: set[str]) -> str:
    """The decimal point: a comma if most columns of numbers with a comma or a point can be read only so."""
    points = Counter[str]()
    for column in zip(*(row for row in rows if len(row) == len(rows[0])), strict=True):
        filled = [cell for cell in column if cell not in marks]
        if not any("," in cell or "." in cell for cell in filled):
            continue
        point, comma = (all(parsed(cell, decimal) is not None for cell in filled) for decimal in ".,")
        if comma and (not point or (delimiter == ";" and any("," in cell for cell in filled))):
            points[","] += 1
        elif point:
            points["."] += 1
    return "," if points[","] > points["."] else "."
