"""Cut CSV files into blocks of whole records, which are parsed in parallel.

Arrow's streaming reader parses one block at a time, and takes half again as long as its reader of whole files.
"""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from perceptrons.core.parse.records import NO_QUOTE, line_feeds, records
from perceptrons.data import files
from perceptrons.data.files import DataError

BLOCK = 1 << 22  # bytes
LONGEST = 1 << 26  # bytes of the longest record
BOM, OTHER_BOMS = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
ALL = np.iinfo(np.int64).max
CONVERSION = re.compile(r"In CSV column #(\d+): Row #(\d+): CSV conversion error to (\w+): (.*)", re.DOTALL)
NUMBER = r"^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$"
EXPECTED = {"double": "a number", "int64": "an integer, as in the rows before", "bool": "true or false"}


class Flaw(Exception):
    """Something is wrong with a row of a block.

    Parameters
    ----------
    row : int
        Number of the row in the block.
    column : str or None
        The column, if the flaw concerns only one.
    what : str
        What is wrong.
    """

    def __init__(self, row: int, column: str | None, what: str) -> None:
        super().__init__(what)
        self.row, self.column, self.what = row, column, what


@dataclass(frozen=True)
class CsvDialect:
    """How the records of a CSV file are written."""

    delimiter: str = ","
    header: bool = True
    quotes: bool = True

    def walk(self, text: Any, stop: int) -> tuple[int, int, int]:
        """Skip up to `stop` records: how many were complete, where the next begins, and the line feeds before it."""
        quote = ord('"') if self.quotes else NO_QUOTE
        found, begin, lines = records(np.frombuffer(text, dtype=np.uint8), ord(self.delimiter), quote, stop)
        return int(found), int(begin), int(lines)

    def cut(self, text: bytearray) -> int:
        """The position where the last, incomplete record begins."""
        if self.quotes and b'"' in text:  # a line feed may be part of a value
            return self.walk(text, ALL)[1]
        return text.rfind(b"\n") + 1 or text.rfind(b"\r") + 1


@dataclass(frozen=True)
class CsvBlock:
    """Whole records of a file."""

    path: str
    text: memoryview
    line: int  # number of the first line in the file
    position: int  # number of bytes on the disk up to the end of the block
    names: list[str]
    dialect: CsvDialect
    quotes: bool  # whether the text contains any

    def place(self, row: int) -> str:
        """The file and the line of a row."""
        lines = self.dialect.walk(self.text, row)[2]
        return f"{files.display([self.path])}:{self.line + lines}"

    @property
    def empty(self) -> bool:
        """Whether there are no records."""
        return self.dialect.walk(self.text, 0)[1] == len(self.text)

    def schema(self) -> Any:
        """The names and types of the columns, as this block suggests them."""
        import pyarrow as pa

        found = self._read(None).schema
        binary = [field.name for field in found if field.type == pa.binary()]
        if binary:  # some text is not UTF-8: read it as text, so that the error says where
            self._read({name: pa.string() for name in binary})
        return found

    def check_categories(self, names: list[str]) -> None:
        """Refuse a column of text in which most cells are numbers: the others are probably typing errors."""
        if not names:
            return
        import pyarrow as pa
        from pyarrow import compute
        from pyarrow.csv import ConvertOptions

        for name in names:
            cells = self._read({name: pa.string()}).column(name).combine_chunks()
            numbers = compute.match_substring_regex(cells, NUMBER)
            missing = compute.is_in(compute.utf8_trim_whitespace(cells), pa.array(ConvertOptions().null_values))
            others = compute.invert(compute.or_(numbers, missing))
            if compute.sum(numbers).as_py() > compute.sum(others).as_py():
                row = compute.index(others, True).as_py()
                what = f"expected a number as in most rows, got {cells[row].as_py()!r:.60}"
                remedy = f"correct it, or treat all values as categories with categorical=[{name!r}]"
                raise Flaw(row, name, f"{what}: {remedy}")

    def table(self, types: dict[str, Any]) -> Any:
        """Read the columns named, with the types given. Blanks around categories are removed.

        Arrow does the same with numbers: ``39, Private, 7`` is a common way to write.
        """
        import pyarrow as pa

        table = self._read(types)
        for j, name in enumerate(table.column_names):
            if pa.types.is_dictionary(types[name]):
                from pyarrow import compute  # slow to import, and tables of numbers do not need it

                coded = table.column(j).combine_chunks()
                words = compute.utf8_trim(coded.dictionary, " \t")
                table = table.set_column(j, name, pa.DictionaryArray.from_arrays(coded.indices, words))
        return table

    def _read(self, types: dict[str, Any] | None) -> Any:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        invalid: list[Any] = []

        def refuse(row: Any) -> str:
            invalid.append(row)
            return "skip"

        reading = arrow_csv.ReadOptions(use_threads=False, block_size=len(self.text) + 1, column_names=self.names)
        parsing = arrow_csv.ParseOptions(
            delimiter=self.dialect.delimiter,
            quote_char='"' if self.dialect.quotes else False,
            newlines_in_values=self.quotes,
            invalid_row_handler=refuse,
        )
        chosen = {} if types is None else {"column_types": types, "include_columns": list(types)}
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(pa.py_buffer(self.text)), reading, parsing, arrow_csv.ConvertOptions(**chosen)
            )
        except pa.ArrowInvalid as error:
            raise self._flaw(str(error)) from None
        if invalid:
            row = invalid[0]
            raise Flaw(
                row.number - 1,
                None,
                f"the row has {row.actual_columns} columns, expected {row.expected_columns}: {row.text:.60}",
            )
        return table

    def _flaw(self, message: str) -> Flaw:
        found = CONVERSION.fullmatch(message)
        if found is None:
            return Flaw(0, None, f"cannot be read from here on: {message}")
        column, row, type, what = found.groups()
        got = what.removeprefix("invalid value ")
        if "UTF8" in what:
            what = "the text is not UTF-8: convert the file, for instance with iconv"
        else:
            what = f"expected {EXPECTED.get(type, type)}, got {got:.60}"
        return Flaw(int(row) - 1, self.names[int(column)], what)


def read_csv(path: str, dialect: CsvDialect) -> Iterator[CsvBlock]:
    """Read the blocks of a file; the first may be empty."""
    with files.open_binary(path) as stream:
        try:
            yield from _blocks(stream, path, dialect)
        except (OSError, EOFError, zlib.error) as error:
            raise files.damaged(path, error) from error


def _blocks(stream: files.Stream, path: str, dialect: CsvDialect) -> Iterator[CsvBlock]:
    names: list[str] = []
    line, rest, ended = 1, memoryview(b""), False
    while not ended:
        text = bytearray(len(rest) + max(BLOCK, len(rest)))
        view = memoryview(text)
        view[: len(rest)] = rest
        size = _fill(stream, view, len(rest))
        ended = size < len(text)
        end = size if ended else dialect.cut(text)
        quoted = dialect.quotes and b'"' in text
        if (ended and quoted) or (end == 0 and len(text) > LONGEST):
            if ended:
                text[size] = ord("\n")  # the text is longer than `size`
            _, begin, lines = dialect.walk(view[: size + 1], ALL)
            if begin < size:
                what = "ends inside a quoted cell" if ended else f"is longer than {LONGEST >> 20} MB"
                remedy = "close the quote, or pass quotes=False if quotes have no special meaning"
                what = f"the row that begins here {what}: {remedy if quoted else 'end rows by line feeds'}"
                raise DataError(f"{files.display([path])}:{line + lines}: {what}")
        block, rest = view[:end], view[end:size]
        if not names and end:
            names, skipped, lines = _begin(block, files.display([path]), dialect)
            block, line = block[skipped:], line + lines
        if end:
            yield CsvBlock(path, block, line, stream.position(), names, dialect, quoted)
            line += line_feeds(np.frombuffer(block, dtype=np.uint8))
    if not names:
        raise DataError(f"{files.display([path])} is empty")


def _fill(stream: files.Stream, view: memoryview, size: int) -> int:
    """Fill the view from `size` on; returns where the data end."""
    while size < len(view) and (got := stream.readinto(view[size:])):
        size += got
    return size


def _begin(block: memoryview, where: str, dialect: CsvDialect) -> tuple[list[str], int, int]:
    """The names of the columns, where the rows begin, and the number of line feeds before."""
    begin = bytes(block[:3])
    if begin.startswith(OTHER_BOMS):
        raise DataError(f"{where} is UTF-16, expected UTF-8: convert it, for instance with iconv")
    bom = len(BOM) if begin == BOM else 0
    found, at, lines = dialect.walk(block[bom:], 1)
    record = bytes(block[bom : bom + at] if found else block[bom:])
    try:
        text = record.decode().strip("\r\n")
    except UnicodeDecodeError:
        raise DataError(f"{where}:1: the header is not UTF-8: convert the file, for instance with iconv") from None
    if not text:
        raise DataError(f"{where} is empty: expected {'a line with column names' if dialect.header else 'rows'}")
    fields = text.split(dialect.delimiter)
    if dialect.quotes:
        fields = next(csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter))
    if not dialect.header:
        return [str(j) for j in range(len(fields))], bom, 0
    return [name.strip() for name in fields], bom + len(record), lines if found else 0
