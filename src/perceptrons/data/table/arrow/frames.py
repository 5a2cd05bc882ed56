"""Data frames of pandas, Polars and Arrow as sources: the same rows as those of a CSV file with the same cells.

The types of columns decide what they hold. Strings are read like the cells of a CSV file, which may be numbers, dates,
or marks for missing values. So the model does not depend on whether a table comes from a file or from a data frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from perceptrons.data.batches import Source, rows_at_once
from perceptrons.data.table import schema
from perceptrons.data.table.columns import coded
from perceptrons.data.table.csv_blocks import CsvBlock, Flaw, amounts, trimmed
from perceptrons.data.table.dialects.dialect import CsvDialect
from perceptrons.data.table.roles import ROWS
from perceptrons.data.table.tables import FRAME, Job, TableSource
from perceptrons.data.table.values import array_of, is_view

T = TypeVar("T")
FLAGS = {"true": True, "false": False, "1": True, "0": False}


def names_of(frame: Any) -> list[str]:
    """The names of the columns of a data frame."""
    return [str(name) for name in getattr(frame, "column_names", frame.columns)]


def table_of(frame: Any) -> Any:
    """Convert a data frame to an Arrow table.

    Parameters
    ----------
    frame : DataFrame, pyarrow.Table, or another object with ``__arrow_c_stream__``

    Returns
    -------
    pyarrow.Table
        Without the index of pandas. Columns of mixed objects become strings.

    Examples
    --------
    >>> import pandas as pd
    >>> table_of(pd.DataFrame({"age": [31, None], "job": ["nurse", 7]})).to_pydict()
    {'age': [31.0, None], 'job': ['nurse', '7']}
    """
    import pyarrow as pa

    names = names_of(frame)
    if hasattr(frame, "iloc"):
        columns = [column_of(frame.iloc[:, j]) for j in range(len(names))]
    else:
        columns = list(pa.table(frame).columns)
    return pa.Table.from_arrays([_plain(column) for column in columns], names=names)


def column_of(values: Any) -> Any:
    """Convert a series or an array to a column of Arrow.

    Parameters
    ----------
    values : Series, ndarray or sequence

    Returns
    -------
    pyarrow.ChunkedArray
    """
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        return _plain(values)
    if hasattr(values, "to_arrow"):  # of Polars
        values = values.to_arrow()
    values = values.sparse.to_dense() if hasattr(values, "sparse") else values
    try:
        found = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, OverflowError):  # objects of several types
        found = None
    if found is None or isinstance(getattr(found.type, "value_type", found.type), pa.BaseExtensionType):
        gaps = values.isna() if hasattr(values, "isna") else [_is_gap(value) for value in values]
        found = pa.array([None if gap else str(value) for value, gap in zip(values, gaps, strict=True)], pa.string())
    return _plain(found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found]))


def _is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _plain(column: Any) -> Any:
    """A column without views, which may share memory."""
    import pyarrow as pa

    if is_view(column.type):
        return column.cast(pa.large_string())
    if pa.types.is_dictionary(column.type) and is_view(column.type.value_type):
        parts = [pa.DictionaryArray.from_arrays(c.indices, c.dictionary.cast("large_string")) for c in column.chunks]
        return pa.chunked_array(parts, pa.dictionary(column.type.index_type, pa.large_string()))
    return column


def _dates(column: Any) -> Any:
    """Dates and times as text, as files have them: without fractions that are 0, and days without a time."""
    import pyarrow as pa
    from pyarrow import compute

    texts = compute.replace_substring_regex(column.cast(pa.string()), r"\.0+$", "")
    return compute.replace_substring_regex(texts, " 00:00:00$", "")


def is_text(type: Any) -> bool:
    """Whether an Arrow type holds strings."""
    import pyarrow as pa

    return bool(pa.types.is_string(type) or pa.types.is_large_string(type))


@dataclass(frozen=True)
class FrameBlock:
    """Consecutive rows of a data frame."""

    content: Any  # an Arrow table
    row: int  # number of the first row in the frame
    dialect: CsvDialect  # how strings are read
    target: str | None = None  # the column of labels, whose words stay as they are

    def place(self, row: int) -> str:
        """The number of a row, counted from 0, as positions in a frame are."""
        return f"{FRAME}: row {self.row + row} (counted from 0)"

    def judged(self, judge: Callable[[FrameBlock], T]) -> T:
        """What `judge` returns for this block; it finds the first flaw itself."""
        return judge(self)

    def table(self, types: dict[str, Any]) -> Any:
        """The columns named, with strings read as these types."""
        import pyarrow as pa

        return pa.table({name: self._read(name, type) for name, type in types.items()})

    def _read(self, name: str, type: Any) -> Any:
        import pyarrow as pa

        column = self.content.column(name)
        texts = getattr(column.type, "value_type", column.type)
        if pa.types.is_floating(type) and is_text(texts):
            return self._numbers(name, column)
        if pa.types.is_boolean(type) and is_text(texts):
            return self._flags(name, column)
        if pa.types.is_dictionary(type) and is_text(texts) and name != self.target:
            codes, words = coded(column)
            return pa.DictionaryArray.from_arrays(array_of(codes, codes >= 0), trimmed(words, self.dialect))
        if not pa.types.is_floating(type) and pa.types.is_temporal(column.type):
            return _dates(column)
        return column

    def _numbers(self, name: str, column: Any) -> Any:
        codes, words = coded(column)
        values, bad = amounts(words.to_pylist(), self.dialect)
        self._refuse(name, codes, bad, words, "a number")
        return array_of(np.append(values, np.nan)[codes], codes >= 0)

    def _flags(self, name: str, column: Any) -> Any:
        import pyarrow as pa

        codes, words = coded(column)
        marks = {"", *self.dialect.missing_words}
        found = [None if word.strip() in marks else FLAGS.get(word.strip().lower(), word) for word in words.to_pylist()]
        self._refuse(name, codes, [k for k, flag in enumerate(found) if isinstance(flag, str)], words, "true or false")
        return pa.array([*found, None], pa.bool_()).take(pa.array(np.where(codes < 0, len(found), codes)))

    def _refuse(self, name: str, codes: Any, bad: Sequence[int], words: Any, expected: str) -> None:
        """Raise an error for the first row that has one of these words."""
        row = next(iter(np.flatnonzero(np.isin(codes, list(bad))).tolist()), None) if bad else None
        if row is not None:
            got = words[int(codes[row])].as_py()
            raise Flaw(row, name, f"expected {expected}, got {got!r:.60}", "other")


class FrameSource(TableSource):
    """Rows of a data frame. `perceptrons.data.source` makes it.

    Parameters
    ----------
    frame : DataFrame, pyarrow.Table, or another object with ``__arrow_c_stream__``
    **settings
        As for `TableSource`, but those of CSV files; `na` is for columns of strings.
    """

    def __init__(self, frame: Any, **settings: Any) -> None:
        import pyarrow as pa

        super().__init__([], **settings)
        self.table = table_of(frame)
        target, names = self.settings.target or self.encoding.target, self.table.column_names
        if target is not None and names.count(target) == 1:  # labels are what they are, even if they are categories
            column, j = self.table.column(target), names.index(target)
            if pa.types.is_dictionary(column.type):
                self.table = self.table.set_column(j, target, column.cast(column.type.value_type))
        self.n_bytes = self.table.nbytes

    @property
    def _wording(self) -> CsvDialect:
        """How strings are read."""
        known = self.encoding.dialect if self.frozen else None
        return replace(known or CsvDialect(), **self.given)

    def shards(self, n: int | None = None) -> list[Source]:
        return [self]

    def _jobs(self) -> Iterator[Job]:
        names = self.table.column_names
        first = self.table.slice(0, ROWS)
        block = FrameBlock(first, 0, self._wording)
        try:
            target = self._open(FRAME, names, partial(self._sample, first), partial(self._numbers, block))
        except Flaw as flaw:
            raise self._located(block, flaw) from None
        self._numerals = []  # the type of a column says whether it has strings
        if not self.frozen:
            self.encoding.dialect = self._wording if self.given else None
        wanted = [*self.encoding.columns, *([] if target is None else [target])]
        table, rows = self.table.select(wanted), rows_at_once(len(names))
        for row in range(0, len(table), rows):
            part = FrameBlock(table.slice(row, rows), row, self._wording, target)
            yield Job(part, target, self.table.nbytes * min(row + rows, len(table)) // max(1, len(table)))

    def _sample(self, first: Any) -> Any:
        """The first rows of all columns that may be used, where strings have the types that they have in CSV files."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        first = first.select(schema.candidates(self.settings, first.column_names, FRAME))
        places = [
            j
            for j, field in enumerate(first.schema)
            if is_text(field.type) and field.name not in (self.settings.target, *self.settings.text)
        ]
        names = [str(j) for j in places]
        numbers = pa.array(np.arange(len(first)))  # so that no line is empty
        strings = pa.table([numbers, *(first.column(j) for j in places)], names=["", *names])
        sink = pa.BufferOutputStream()
        arrow_csv.write_csv(strings, sink, arrow_csv.WriteOptions(include_header=False))
        dialect = CsvDialect(header=False, decimal=self._wording.decimal, na=self._wording.na)
        written = CsvBlock(FRAME, memoryview(sink.getvalue()), 1, 0, strings.column_names, dialect, True)
        inferred = written.sample(names) if places and len(first) else first.select([])
        for name, column in zip(inferred.column_names, inferred.columns, strict=True):
            first = first.set_column(int(name), first.column_names[int(name)], column)
        return first

    def _numbers(self, block: FrameBlock, names: list[str]) -> Any:
        """The first rows of columns of numbers that are strings."""
        import pyarrow as pa

        return block.table(dict.fromkeys(names, pa.float64()))

    def _raw(self, name: str) -> list[str]:
        column = self.table.column(name).slice(0, ROWS)
        return [text for text in column.to_pylist() if text is not None] if is_text(column.type) else []
