"""Cut CSV files into blocks of whole records, which are parsed in parallel.

Arrow's streaming reader parses one block at a time, and takes half again as long as its reader of whole files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from perceptrons.core.parse.records import line_feeds
from perceptrons.data import files
from perceptrons.data.files import DataError
from perceptrons.data.shards.cutting import Span
from perceptrons.data.shards.lines import Limited, feeds_before
from perceptrons.data.table.dialects.decoding import BOM, decoded, to_text
from perceptrons.data.table.dialects.dialect import ALL, CsvDialect
from perceptrons.data.table.dialects.header import header
from perceptrons.data.table.dialects.numerals import parsed
from perceptrons.data.table.values import array_of, text_array

BLOCK = 1 << 22  # bytes
BEGINNING = 1 << 22  # bytes of the first block, which decides what the columns hold
HEADER = 1 << 16  # bytes that mostly hold the names of the columns
COLUMNS = re.compile(r"CSV parse error: (?:Row #\d+: )?Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)
CONVERSION = re.compile(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to (\w+): (.*)", re.DOTALL)
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
    kind : {"", "number", "numeral", "text", "other"}
        Whether a cell is not a number as Arrow reads numbers, is not a number at all, is not UTF-8, or
        does not fit to its column in another way.
    """

    def __init__(self, row: int, column: str | None, what: str, kind: str = "") -> None:
        super().__init__(what)
        self.row, self.column, self.what, self.kind = row, column, what, kind


@dataclass(frozen=True)
class CsvBlock:
    """Whole records of a file."""

    path: str
    text: memoryview
    line: int  # number of the first line, counted from `begin`
    position: int  # number of bytes on the disk up to the end of the block, counted from `begin`
    names: list[str]
    dialect: CsvDialect
    quotes: bool  # whether the text contains any
    notes: set[str] = field(default_factory=set)  # what the user should know about the file
    begin: int = 0  # where the part of the file begins that is read

    def place(self, row: int) -> str:
        """The file and the line of a row."""
        lines = self.dialect.walk(self.text, row)[2]
        return f"{files.display([self.path])}:{self.line + lines + feeds_before(self.path, self.begin)}"

    @property
    def empty(self) -> bool:
        """Whether there are no records."""
        return self.dialect.walk(self.text, 0)[1] == len(self.text)

    def sample(self, names: list[str]) -> Any:
        """Some columns as an Arrow table, with the types that this block suggests."""
        import pyarrow as pa

        found = self.judged(lambda block: block._read({}, names))
        if not any(each.type == pa.binary() for each in found.schema):
            return found
        if self.dialect.encoding is None:
            return self._recoded().sample(names)
        types = {each.name: pa.string() if each.type == pa.binary() else each.type for each in found.schema}
        self.judged(lambda block: block._read(types))  # the error says where the text is not UTF-8
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
            raise Flaw(fine, flaw.column, flaw.what, flaw.kind) from None

    def cell(self, row: int, name: str) -> str:
        """A cell as it stands in the file, without the blanks around it; empty if it cannot be read."""
        import pyarrow as pa

        try:
            return str(self._part(row, row + 1)._read({name: pa.string()}).column(0)[0].as_py()).strip()
        except (Flaw, IndexError):
            return ""

    def _part(self, begin: int, end: int) -> CsvBlock:
        """Some of the records."""
        first, last = (self.dialect.walk(self.text, stop)[1] for stop in (begin, end))
        complete, _, _ = self.dialect.walk(self.text, end)
        return replace(self, text=self.text[first : last if complete == end else len(self.text)])

    def table(self, types: dict[str, Any]) -> Any:
        """Read the columns named, with the types given; numbers that are strings are read as `numerals` does.

        Blanks around categories are removed. Arrow does the same with numbers: ``39, Private, 7`` is a common way to
        write.
        """
        import pyarrow as pa

        numerals = [name for name, type in types.items() if type == pa.string()]
        while True:
            try:
                table = self._read(types)
                break
            except Flaw as flaw:
                if flaw.kind == "text" and self.dialect.encoding is None:
                    return self._recoded().table(types)
                if flaw.kind != "number" or flaw.column is None:
                    raise
                numerals.append(flaw.column)
                types = {**types, flaw.column: pa.string()}
        for j, name in enumerate(table.column_names):
            if pa.types.is_dictionary(types[name]):
                table = table.set_column(j, name, self._words(table.column(j)))
            elif name in numerals:
                table = table.set_column(j, name, self._numbers(table.column(j), name))
        return table

    def numbers(self, names: list[str]) -> Any:
        """Read columns of numbers, however they are written."""
        import pyarrow as pa

        return self.judged(lambda block: block.table(dict.fromkeys(names, pa.float64())))

    def _words(self, column: Any) -> Any:
        """Categories without the blanks around them; an empty one is missing."""
        import pyarrow as pa

        coded = column.combine_chunks()
        return pa.DictionaryArray.from_arrays(coded.indices, trimmed(coded.dictionary, self.dialect))

    def _numbers(self, column: Any, name: str) -> Any:
        """Numbers with signs of money, groups of digits, and the like."""
        coded = column.combine_chunks().dictionary_encode()
        texts = coded.dictionary.to_pylist()
        numbers, bad = amounts(texts, self.dialect)
        if bad:
            raise Flaw(0, name, f"expected a number, got {texts[bad[0]]!r:.60}", "numeral")
        return array_of(numbers, ~np.isnan(numbers)).take(coded.indices)

    def _recoded(self) -> CsvBlock:
        """The same block in UTF-8. Its text is Windows-1252, or mostly UTF-8 with some bytes that are wrong."""
        text = to_text(bytes(self.text), self.notes)
        return replace(self, text=memoryview(text.encode()), dialect=replace(self.dialect, encoding="utf-8"))

    def _read(self, types: dict[str, Any], names: list[str] | None = None) -> Any:
        """Read the columns named, by default those with types; other types are inferred."""
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
        chosen |= {"column_types": types, "include_columns": names or list(types)}
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
            has = f"the row has {got} column{'' if got == '1' else 's'}"
            return Flaw(0, None, f"{has}, expected {expected}: {' '.join(text.split()):.60}")
        if found is None:
            return Flaw(0, None, f"cannot be read from here on: {message}")
        column, type, what = found.groups()
        got, name = what.removeprefix("invalid value "), self.names[int(column)]
        if "UTF8" in what:
            what = "the text is not UTF-8: name its encoding with encoding='latin-1', for instance"
            return Flaw(0, name, what, "text")
        return Flaw(
            0, name, f"expected {EXPECTED.get(type, type)}, got {got:.60}", "number" if type == "double" else "other"
        )


def trimmed(words: Any, dialect: CsvDialect) -> Any:
    """Categories, an Arrow array, without the blanks around them; marks for missing ones become empty."""
    from pyarrow import compute  # slow to import, and tables of numbers do not need it

    words = compute.utf8_trim(words, " \t")
    marks = text_array(list(dialect.missing_words)).cast(words.type)
    return compute.if_else(compute.is_in(words, marks), "", words)


def amounts(texts: list[str], dialect: CsvDialect) -> tuple[npt.NDArray[np.float64], list[int]]:
    """Read numbers as people write them, NaN for missing ones; and which of the texts are not numbers."""
    marks = set(dialect.missing_numbers)
    found = [np.nan if text.strip() in marks else parsed(text, dialect.decimal) for text in texts]
    return np.array(found, dtype=np.float64), [k for k, value in enumerate(found) if value is None]


Settle = Callable[[memoryview, bool], CsvDialect]  # from the beginning of a file, and whether it is the whole file


def read_csv(path: str, settle: Settle, encoding: str | None, notes: set[str], span: Span) -> Iterator[CsvBlock]:
    """Read the blocks of a file; the first may be empty.

    Parameters
    ----------
    path : str
    settle : callable
        Decides how the file is written.
    encoding : str, optional
        The encoding of the text, if it is known.
    notes : set of str
        What the user should know about the file is added to it.
    span : Span
        The bytes to read. They begin and end between records.

    Yields
    ------
    CsvBlock
    """
    names: list[str] | None = None
    dialect: CsvDialect | None = None
    line, ended, begun = 1, False, False
    where = files.display([path])
    with files.open_binary(path) as stream:
        content, rest = decoded(stream, encoding, where, notes)
        if span.begin:
            names = _names(content, rest, where, settle, notes)
            stream.seek(span.begin)
            rest = memoryview(b"")
        if span.end is not None:
            content = Limited(stream, span.end - stream.tell())
        while not ended:
            block = max(BLOCK if begun else BEGINNING, len(rest))
            text = bytearray(min(len(rest) + block, files.LONGEST + 1))
            view = memoryview(text)
            view[: len(rest)] = rest
            size = _fill(content, view, len(rest))
            ended = size < len(text)
            dialect = dialect or settle(view[:size], ended)
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
                    fault, end = f"{where}:{line + lines + feeds_before(path, span.begin)}: {what}", last
            whole, rest = view[:end], view[end:size]
            if names is None and dialect.walk(whole, 0)[1] < end:
                names, skipped = header(whole, where, dialect, notes)
                line += line_feeds(np.frombuffer(whole[:skipped], dtype=np.uint8))
                whole = whole[skipped:]
            if names is not None and (len(whole) or not begun):
                position = stream.position() if span.end is None else min(stream.position(), span.end)
                read = path, whole, line, position - span.begin
                found = CsvBlock(*read, names, dialect, quoted, notes, span.begin)
                begun = begun or not found.empty
                yield found
            if fault is not None:
                raise DataError(fault)
            line += line_feeds(np.frombuffer(whole, dtype=np.uint8))
    if names is None:
        bare = dialect is not None and not dialect.header
        raise DataError(f"{where} is empty: expected {'rows' if bare else 'a line with column names'}")


def _names(content: Any, rest: memoryview, where: str, settle: Settle, notes: set[str]) -> list[str]:
    """The names of the columns, from the beginning of a file of which a later part is read."""
    text, more = bytes(rest), b" "
    while more and len(text) <= files.LONGEST:
        more = content.read(HEADER)
        text += more
        dialect = settle(memoryview(text), not more)
        if dialect.walk(text, 1)[0]:
            break
    return header(memoryview(text), where, dialect, notes)[0]


def _fill(stream: Any, view: memoryview, size: int) -> int:
    """Fill the view from `size` on; returns where the data end."""
    while size < len(view) and (got := stream.readinto(view[size:])):
        size += got
    return size
