"""The columns of a table: which hold numbers, and which could be the target.

Tables (CSV, Parquet, Arrow) are read by the blocks of `perceptrons.data`: a `TableSource` refuses rows without a label,
and must know the target before it tells which columns there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.data import DataError
from perceptrons.data.table.arrow.files import ArrowBlock, read_arrow
from perceptrons.data.table.columns import encode
from perceptrons.data.table.csv_blocks import CsvBlock, Flaw, read_csv
from perceptrons.data.table.dialects.dialect import CsvDialect
from perceptrons.data.table.dialects.guessing import MARKS, SAMPLE, guessed
from perceptrons.data.table.encoding import Encoding
from perceptrons.data.table.roles import Stray, role
from perceptrons.data.table.schema import csv_types, find_target, kind_of, listed
from perceptrons.data.table.settings import MEAN
from perceptrons.data.table.tables import DELIMITERS, TableSource
from perceptrons.lab.limits import CLASSES

CAP = 200_000  # rows of a large file that are read
NAMED = 6  # columns in a message
LIKELY = ("label", "class", "target", "species", "category", "outcome", "labels", "variety", "diagnosis", "y")

Floats = npt.NDArray[np.float64]
Label = str | int | float
Block = CsvBlock | ArrowBlock
Part = tuple[Floats, list[npt.NDArray[Any]]]  # rows, NaN where a number is missing; columns of labels, or None


class Columns:
    """The columns of a table: which hold numbers or words, and which could be the target."""

    def __init__(self, table: TableSource, target: str | None) -> None:
        self.table, self.where, self.target = table, table.name, target
        self.names: list[str] = []
        self.numbers: list[str] = []
        self.words: list[str] = []
        self.strays: dict[str, DataError] = {}  # columns of numbers but for a cell; they are among the words
        self.notes: set[str] = set()  # what the reader guesses
        self._dialect: CsvDialect | None = None
        self._values: dict[str, set[Label | None]] = {}  # different ones of each column, not all if there are many
        self._look()
        if len(self.names) == 1:
            what = f"has only one column, {self.names[0]!r:.60}: expected numbers and a class in each row"
            raise DataError(f"{self.where} {what}; separate them by commas, semicolons or tabs")
        if target is not None and target not in (*self.numbers, *self.words):
            what = "has no values that can be classes" if target in self.names else "does not exist"
            raise DataError(f"{self.where}: column {target!r} {what}. The columns are {listed(self.names)}")
        for X, words in capped(self._pieces(self.numbers, self.words)):
            for name, column in zip([*self.numbers, *self.words], [*X.T, *words], strict=True):
                found = self._values.setdefault(name, set())
                if len(found) <= CLASSES:
                    some = set(column) if column.dtype == object else np.unique(column)[: CLASSES + 1].tolist()
                    found |= {_plain(value) for value in some} - {None}

    @property
    def fitting(self) -> list[str]:
        """The columns that could be the target."""
        return [name for name in self.names if 2 <= len(self._values.get(name, ())) <= CLASSES]

    def default(self) -> str:
        """The column that most likely holds the labels."""
        likely = [name for word in LIKELY for name in self.names if name.lower() == word and name in self._values]
        if any(name.lower() == "x" for name in self.names):
            likely = [name for name in likely if name.lower() != "y"]  # x and y are coordinates
        if likely:
            return next((name for name in likely if name in self.fitting), likely[0])
        if len(self.names) == len(self.numbers) == 2:
            what = "has two columns of numbers, and none with the class of each row"
            raise DataError(f"{self.where} {what}: add a third column, as in 1.5,2,a")
        if not self.fitting:
            sizes = {name: len(found) for name, found in list(self._values.items())[:NAMED]}
            found = [f"{name!r:.60} has {f'more than {CLASSES}' if n > CLASSES else n}" for name, n in sizes.items()]
            what = f"no column has 2 to {CLASSES} different values, so none can be the class ({', '.join(found)})"
            raise DataError(f"{self.where}: {what}: add a column with the class of each row")
        certain = set(self.words) - set(self.strays)
        words = [name for name in self.fitting if name in certain]
        if not words and self.names[-1] in certain and len(self._values[self.names[-1]]) == 1:
            return self.names[-1]  # it looks like the class, and the error will say that there is only one
        whole = [name for name in self.fitting if all(isinstance(value, int) for value in self._values[name])]
        return (words or whole or self.fitting)[-1]

    def parts(self, features: list[str], target: str) -> Iterator[Part]:
        """Read rows with their labels."""
        if target in self.words:
            yield from self._pieces(features, [target])
            return
        for X, _ in self._pieces([*features, target], []):
            yield X[:, :-1], [plain_labels(X[:, -1])]

    def _look(self) -> None:
        """Decide by the first rows what the columns hold."""
        block = next(self._blocks(None), None)
        if block is None:
            raise DataError(f"{self.where} has no rows: expected rows such as 1.5,2,a with numbers and a class")
        if isinstance(block, CsvBlock):
            self.names = block.names
            first = _or_located(block, lambda each: each.sample(each.names))
        else:
            first = _or_located(block, lambda each: each.table(dict.fromkeys(each.content.column_names)))
        for name, column in zip(first.column_names, first.columns, strict=True):
            try:
                kind = role(name, column, self._dialect).kind
            except Stray as stray:
                cells, kind = column.to_pylist(), "category"
                row = next(i for i, cell in enumerate(cells) if cell is not None and cell.strip() == stray.cell)
                what = f"expected a number as in most rows, got {stray.cell!r:.60}"
                self.strays[name] = _located(block, Flaw(row, name, what, "numeral"))
            number = kind == "number" or kind_of(column.type) == "number"  # ids and codes, too
            (self.numbers if number and kind != "empty" else self.words).append(name)

    def _blocks(self, columns: list[str] | None) -> Iterator[Block]:
        """Read the blocks that have rows; by default with all columns of numbers and words."""

        def choose(schema: Any) -> list[str]:
            if columns is not None:
                return columns
            self.names = schema.names
            usable = [field.name for field in schema if kind_of(field.type) is not None]
            if not usable:
                raise DataError(f"{self.where} has no columns of numbers or words")
            find_target(usable[0], self.names, self.where)  # refuses a name that occurs twice
            return usable

        for path, span in self.table.parts():
            if self.table.format in DELIMITERS:
                texts = read_csv(path, self._settle, None, self.notes, span)
                yield from (block for block in texts if not block.empty)
            else:
                yield from (block for block in read_arrow(path, self.table.format, choose, span) if len(block.content))

    def _settle(self, text: memoryview, ended: bool) -> CsvDialect:
        """Guess how a CSV file is written. If lines differ in length, the first decides what separates cells."""
        if self._dialect is None:
            first = bytes(text[:SAMPLE]).split(b"\n")[0].decode("latin-1")
            named = [] if self.target is None else [self.target]
            self._dialect = guessed(text, ended, {}, max(MARKS, key=first.count), named)
        return self._dialect

    def _pieces(self, numbers: list[str], words: list[str]) -> Iterator[Part]:
        """Read columns of numbers, and columns of words."""
        encoding = Encoding(None, "str", numbers, words, [], [], missing=MEAN, scale="standard", sparse=True)
        types = csv_types(encoding, None)

        def encoded(block: Any) -> Any:
            return encode(block.table(types), encoding, None)

        for block in self._blocks([*numbers, *words]):
            for piece in _or_located(block, lambda each: each.judged(encoded)):
                texts = [np.array([text or None for text in each], dtype=object) for each in piece.categories]
                columns = [text[codes] for text, codes in zip(texts, piece.codes, strict=True)]
                yield piece.X, columns[: len(words)]  # the others mark missing numbers


def _or_located(block: Block, read: Callable[[Any], Any]) -> Any:
    """Read a block; an error names the place of the flaw."""
    import pyarrow as pa

    try:
        return read(block)
    except Flaw as flaw:
        raise _located(block, flaw) from None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise _located(block, Flaw(0, None, str(error))) from None


def _located(block: Block, flaw: Flaw) -> DataError:
    column = "" if flaw.column is None else f"column {flaw.column!r}: "
    remedy = ": correct the cell, or leave it empty" if flaw.kind in ("numeral", "number") else ""
    return DataError(f"{block.place(flaw.row)}: {column}{flaw.what}{remedy}")


def plain_labels(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Labels as plain values; None where one is missing."""
    found, codes = np.unique(values, return_inverse=True)
    return np.array([_plain(value) for value in found.tolist()], dtype=object)[codes]


def _plain(value: Any) -> Label | None:
    """A label as a plain value; None if it is missing.

    >>> [_plain(value) for value in ("a", "", 1.0, 0.5, float("nan"), True)]
    ['a', None, 1, 0.5, None, 'true']
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return None if value != value else int(value) if value.is_integer() and abs(value) < 1 << 53 else value
    return value if isinstance(value, int) else None if value is None else str(value) or None


def capped(parts: Iterator[Part]) -> Iterator[Part]:
    """Stop after CAP rows."""
    left = CAP
    for X, columns in parts:
        yield X[:left], [column[:left] for column in columns]
        left -= len(X)
        if left <= 0:
            return
