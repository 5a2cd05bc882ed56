"""Where tables can be cut: Parquet files at row groups, Arrow files at record batches, CSV files at records."""

from __future__ import annotations

import codecs
import struct
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from perceptrons.data import files
from perceptrons.data.shards.cutting import Place, nearest_end
from perceptrons.data.shards.lines import CHUNK, line_after
from perceptrons.data.table.dialects.decoding import BOM, WIDE
from perceptrons.data.table.dialects.dialect import ALL, CsvDialect

if TYPE_CHECKING:
    from perceptrons.data.table.tables import TableSource

SAMPLE = 1 << 22  # bytes of a CSV file that show whether it is UTF-8


class Cuts:
    """Find the places at which the files of a table can be cut.

    Parameters
    ----------
    source : TableSource
        It has settled how its files are written.
    """

    def __init__(self, source: TableSource) -> None:
        self.source = source
        self._found: dict[int, Callable[[int], Place]] = {}  # what finds places, for each file that may be cut

    def snap(self, file: int, offset: int, usual: int) -> Place:
        """The place to cut a file at, near an offset. Offsets must ascend; see `cut`."""
        if file not in self._found:
            self._found[file] = self._finder(self.source.paths[file])
        return self._found[file](offset)

    def _finder(self, path: str) -> Callable[[int], Place]:
        size, dialect = files.size(path), self.source.dialect
        if not files.is_compressed(path):
            if self.source.format in ("parquet", "arrow"):
                edges = _edges(path, self.source.format, size)
                return lambda offset: _nearest(edges, offset)
            if dialect is not None and _is_utf8(path, dialect):
                return Records(path, dialect, size).place
        return lambda offset: nearest_end(size, offset)


def _nearest(edges: Sequence[int], offset: int) -> Place:
    """The number of the edge that is nearest to an offset."""
    k = min(max(1, bisect_left(edges, offset)), len(edges) - 1)
    k -= offset - edges[k - 1] < edges[k] - offset
    return Place(k, edges[k])


def _edges(path: str, format: str, size: int) -> list[int]:
    """Where the row groups or record batches of a file begin and end, if they filled the file; only its ends if not."""
    import pyarrow as pa

    try:
        sizes = _group_sizes(path) if format == "parquet" else _batch_sizes(path)
    except (pa.ArrowException, ValueError, OSError, MemoryError, struct.error):  # reading it will tell
        sizes = []
    total = sum(sizes)
    if not total or min(sizes) < 0:
        return [0, size]
    return [size * end // total for end in (0, *accumulate(sizes))]


def _group_sizes(path: str) -> list[int]:
    from pyarrow import parquet

    with open(path, "rb") as file:
        metadata = parquet.ParquetFile(file).metadata
        return [metadata.row_group(g).total_byte_size for g in range(metadata.num_row_groups)]


def _batch_sizes(path: str) -> list[int]:
    from perceptrons.data.table.arrow.sizes import record_batches

    with open(path, "rb") as file:
        return [size for size, _ in record_batches(file)]


def _is_utf8(path: str, dialect: CsvDialect) -> bool:
    """Whether the bytes of a CSV file can be read as they are, from any record on."""
    if dialect.encoding is not None:
        return codecs.lookup(dialect.encoding).name == "utf-8"
    with open(path, "rb") as file:
        begin = file.read(SAMPLE)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(begin)
    except UnicodeDecodeError:
        return False
    return begin[:2] not in WIDE


class Records:
    """Finds where records of a CSV file begin. It reads the file once, but only if quotes have a meaning in it.

    Parameters
    ----------
    path : str
    dialect : CsvDialect
    size : int
        Bytes of the file.
    """

    def __init__(self, path: str, dialect: CsvDialect, size: int) -> None:
        self.path, self.dialect, self.size = path, dialect, size
        self._at = 0  # bytes of the file before `_text`
        self._text = bytearray()
        self._record = 0  # where a record begins in `_text`: that of the offset before
        self._read(CHUNK)
        if self._text.startswith(BOM):
            self._record = len(BOM)
        header = 1 if dialect.header else 0
        found, row, _ = dialect.walk(memoryview(self._text)[self._record :], header)
        self.first = self._record + row if found == header else size  # where the first row begins

    def place(self, offset: int) -> Place:
        """The beginning of the record at an offset, or of the next; 0 if no row is before it. Offsets must ascend."""
        at = self._record_at(offset) if self.dialect.quotes else line_after(self.path, offset, self.size)
        return Place(at, at) if at > self.first else Place(0, 0)

    def _record_at(self, offset: int) -> int:
        while offset > self._at + len(self._text) and len(self._text) - self._record <= files.LONGEST:
            end = self.dialect.cut(self._text[self._record :]) + self._record
            self._at += end
            del self._text[:end]
            self._record = 0
            if not self._read(CHUNK):
                break
        within = memoryview(self._text)[self._record : max(self._record, offset - self._at)]
        self._record += self.dialect.walk(within, ALL)[1]
        within.release()
        return self._at + self._record

    def _read(self, size: int) -> int:
        """Read more of the file; returns how many bytes there were."""
        with open(self.path, "rb", buffering=0) as file:
            file.seek(self._at + len(self._text))
            more = file.read(size)
        self._text += more
        return len(more)
