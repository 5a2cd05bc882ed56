"""Cut CSV files into blocks of whole records, which are parsed in parallel.

Arrow's streaming reader parses one block at a time, and takes half again as long as its reader of whole files.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from perceptrons.core.parse.records import line_feeds
from perceptrons.data import files
from perceptrons.data.files import DataError
from perceptrons.data.table.dialect import ALL, CsvDialect

BLOCK = 1 << 22  # bytes
MOST_COLUMNS = 30_000  # Arrow takes 18 kB for each
BEGINNING = 1 << 22  # bytes of the first block, which decides what the columns hold
BOM, OTHER_BOMS = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
COLUMNS = re.compile(r"CSV parse error: (?:Row #\d+: )?Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)
CONVERSION = re.compile(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to (\w+): (.*)", re.DOTALL)
NUMBER = r"^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$"
T = TypeVar("T")
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

    def sample(self) -> Any:
        """All columns as an Arrow table, with the types that this block suggests."""
        import pyarrow as pa

        found = self.judged(lambda block: block._read(None))
        binary = [field.name for field in found.schema if field.type == pa.binary()]
        if binary:  # some text is not UTF-8: read it as text, so that the error says where
            self.judged(lambda block: block._read({name: pa.string() for name in binary}))
        return found

    def judged(self, judge: Callable[[CsvBlock], T]) -> T:
        """What `judge` returns for this block; or the flaw of the first record that has one.

        Arrow reports the flaws of one column before those of the next, so that its choice depends on where blocks end.
        """
        try:
            return judge(self)
        except Flaw as found:
            flaw = found
            complete, end, _ = self.dialect.walk(self.text, ALL)
            fine, flawed = 0, complete + (end < len(self.text))  # numbers of records without a flaw, and with one
            while flawed - fine > 1:
                middle = (fine + flawed) // 2
                try:
                    judge(self._part(fine, middle))
                    fine = middle
                except Flaw:
                    flawed = middle
            try:
                judge(self._part(fine, flawed))
            except Flaw as first:
                flaw = first
            raise Flaw(fine, flaw.column, flaw.what) from None

    def _part(self, begin: int, end: int) -> CsvBlock:
        """Some of the records."""
        first, last = (self.dialect.walk(self.text, stop)[1] for stop in (begin, end))
        complete, _, _ = self.dialect.walk(self.text, end)
        return replace(self, text=self.text[first : last if complete == end else len(self.text)])

    def check_categories(self, names: list[str]) -> None:
        """Refuse a column of text in which most cells are numbers: the others are probably typing errors."""
        if not names:
            return
        import pyarrow as pa
        from pyarrow import compute

        for name in names:
            cells = self._read({name: pa.string()}).column(name).combine_chunks()
            numbers = compute.match_substring_regex(cells, NUMBER)
            missing = compute.is_in(compute.utf8_trim_whitespace(cells), pa.array(self.dialect.missing_numbers))
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

        # Arrow would drop a byte order mark, but here it is a part of the first cell.
        text = b"\n" + bytes(self.text) if bytes(self.text[:3]) == BOM else self.text
        reading = arrow_csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=self.names)
        parsing = arrow_csv.ParseOptions(
            delimiter=self.dialect.delimiter,
            quote_char='"' if self.dialect.quotes else False,
            newlines_in_values=self.quotes,
        )
        chosen: dict[str, Any] = {"null_values": self.dialect.missing_numbers, "decimal_point": self.dialect.decimal}
        if types is not None:
            chosen |= {"column_types": types, "include_columns": list(types)}
        try:
            return arrow_csv.read_csv(
                pa.BufferReader(pa.py_buffer(text)), reading, parsing, arrow_csv.ConvertOptions(**chosen)
            )
        except pa.ArrowException as error:
            raise self._flaw(str(error)) from None

    def _flaw(self, message: str) -> Flaw:
        """The flaw that an error of Arrow describes; `judged` finds its row."""
        count, found = COLUMNS.fullmatch(message), CONVERSION.fullmatch(message)
        if count is not None:
            expected, got, text = count.groups()
            return Flaw(0, None, f"the row has {got} columns, expected {expected}: {' '.join(text.split()):.60}")
        if found is None:
            return Flaw(0, None, f"cannot be read from here on: {message}")
        column, type, what = found.groups()
        got = what.removeprefix("invalid value ")
        if "UTF8" in what:
            what = "the text is not UTF-8: convert the file, for instance with iconv"
        else:
            what = f"expected {EXPECTED.get(type, type)}, got {got:.60}"
        return Flaw(0, self.names[int(column)], what)


def read_csv(path: str, dialect: CsvDialect) -> Iterator[CsvBlock]:
    """Read the blocks of a file; the first may be empty."""
    names: list[str] | None = None
    line, ended, begun = 1, False, False
    where = files.display([path])
    with files.open_binary(path) as stream:
        begin = stream.read(len(BOM))
        rest = memoryview(b"" if begin == BOM else begin)
        while not ended:
            block = max(BLOCK if begun else BEGINNING, len(rest))
            text = bytearray(min(len(rest) + block, files.LONGEST + 1))
            view = memoryview(text)
            view[: len(rest)] = rest
            size = _fill(stream, view, len(rest))
            ended = size < len(text)
            end = size if ended else dialect.cut(text)
            quoted = dialect.quotes and b'"' in text
            fault = None
            if (ended and quoted) or (end == 0 and size > files.LONGEST):
                if ended:
                    text[size] = ord("\n")  # the text is longer than `size`
                _, last, lines = dialect.walk(view[: size + 1], ALL)
                if last < size:
                    what = "the row that begins here ends inside a quoted cell" if ended else files.too_long()
                    remedy = "close the quote, or pass quotes=False if quotes have no special meaning"
                    what = f"{what}: {remedy if quoted else 'end rows by line feeds'}"
                    fault, end = f"{where}:{line + lines}: {what}", last
            whole, rest = view[:end], view[end:size]
            if names is None and dialect.walk(whole, 0)[1] < end:
                names, skipped = _header(whole, where, dialect)
                line += line_feeds(np.frombuffer(whole[:skipped], dtype=np.uint8))
                whole = whole[skipped:]
            if names is not None and (len(whole) or not begun):
                found = CsvBlock(path, whole, line, stream.position(), names, dialect, quoted)
                begun = begun or not found.empty
                yield found
            if fault is not None:
                raise DataError(fault)
            line += line_feeds(np.frombuffer(whole, dtype=np.uint8))
    if names is None:
        raise DataError(f"{where} is empty: expected {'a line with column names' if dialect.header else 'rows'}")


def _fill(stream: files.Stream, view: memoryview, size: int) -> int:
    """Fill the view from `size` on; returns where the data end."""
    while size < len(view) and (got := stream.readinto(view[size:])):
        size += got
    return size


def _header(block: memoryview, where: str, dialect: CsvDialect) -> tuple[list[str], int]:
    """The names of the columns, and where the rows begin."""
    if bytes(block[:2]) in OTHER_BOMS:
        raise DataError(f"{where} is UTF-16, expected UTF-8: convert it, for instance with iconv")
    found, at, _ = dialect.walk(block, 1)
    record = bytes(block[:at] if found else block)
    try:
        text = record.decode().strip("\r\n")
    except UnicodeDecodeError:
        raise DataError(f"{where}:1: the header is not UTF-8: convert the file, for instance with iconv") from None
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
    return [name.strip() for name in fields], len(record)
