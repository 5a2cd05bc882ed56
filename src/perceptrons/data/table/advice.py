"""Say where a table has a flaw, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from perceptrons.data.files import DataError
from perceptrons.data.table.columns import MISSING_LABEL
from perceptrons.data.table.csv_blocks import CsvBlock, Flaw
from perceptrons.data.table.encoding import Encoding
from perceptrons.data.table.schema import listed

T = TypeVar("T")
NAMES = "Perhaps the first line has the names of the columns"
BY_NAME = "The model knows its columns by name: if the file has no line with names, add it."


class AnyBlock(Protocol):
    """Consecutive rows of a table, wherever they come from."""

    def place(self, row: int) -> str:
        """Where a row is, for messages."""

    def judged(self, judge: Callable[[Any], T]) -> T:
        """What `judge` returns for this block, or the flaw of the first row that has one."""

    def table(self, types: dict[str, Any]) -> Any:
        """The columns named, as an Arrow table with these types."""


def located(block: AnyBlock, flaw: Flaw, frozen: bool, numeric: Sequence[str] = ()) -> DataError:
    """The error for a flaw of a block.

    Parameters
    ----------
    block : block of rows
    flaw : Flaw
    frozen : bool
        Whether a model determines how the file is read.
    numeric : sequence of str
        The columns that the user calls numbers.

    Returns
    -------
    DataError
    """
    place, column, what = block.place(flaw.row), flaw.column, flaw.what
    if isinstance(block, CsvBlock) and column is not None:
        what = _advised(block, flaw, column, frozen, column in numeric)
    return DataError(f"{place}: {what}" if column is None else f"{place}: column {column!r}: {what}")


def no_column(where: str, name: str, encoding: Encoding) -> DataError:
    """The error for a file without a header that lacks a column of a model."""
    places = "without a header, columns are identified by position, and the labels count as a column"
    hint = "" if all(each.isdecimal() for each in encoding.columns) else f". {BY_NAME}"
    return DataError(f"{where} has no column {name!r} (counted from 0): {places}{hint}")


def other_columns(where: str, first: str, gone: Sequence[str], new: Sequence[str]) -> DataError:
    """The error for a file whose columns differ from those of the first."""
    differences = {"it lacks": gone, "it adds": new}
    parts = [f"{verb} {listed(which)}" for verb, which in differences.items() if which]
    return DataError(f"{where}: its columns differ from those of {first}: {', and '.join(parts)}")


def _advised(block: CsvBlock, flaw: Flaw, column: str, frozen: bool, told: bool) -> str:
    """What is wrong with a cell, and what to do. told: whether the user says that the column holds numbers."""
    what, cell = flaw.what, block.cell(flaw.row, column)
    if what == MISSING_LABEL and cell in block.dialect.words:
        return f"the label {cell!r} counts as missing: remove the row; if it is a class, pass na=['?']"
    begins = block.begin == 0 and block.line == 1 and flaw.row == 0 and not block.dialect.header
    if begins and flaw.kind in ("numeral", "other") and any(map(str.isalpha, cell)):
        remedy = "remove it, because the model was trained on a file without names" if frozen else "pass header=True"
        return f"{what}. {NAMES}: {remedy}"
    if flaw.kind == "numeral" and cell:
        marked = f"count it as missing with na=[{cell!r:.40}]"
        if frozen or told:
            return f"{what}: correct it, or {marked}"
        return f"{what}: correct it, {marked}, or treat all values as categories with categorical=[{column!r}]"
    return what
