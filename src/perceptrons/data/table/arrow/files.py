"""Read Parquet files and Arrow files (IPC, Feather) one batch at a time."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar

from perceptrons.data import files
from perceptrons.data.batches import alone, rows_at_once
from perceptrons.data.files import DataError
from perceptrons.data.shards.cutting import Span
from perceptrons.data.table.arrow.sizes import check_ipc, check_parquet, record_batches
from perceptrons.data.table.csv_blocks import Flaw
from perceptrons.data.whole import seekable

T = TypeVar("T")


@dataclass(frozen=True)
class ArrowBlock:
    """Consecutive rows of a file."""

    path: str
    content: Any  # an Arrow table
    row: int  # number of the first row in the file
    position: int  # approximate number of bytes on the disk up to the end of the block

    def place(self, row: int) -> str:
        """The file and the number of a row, counted from 1."""
        return f"{files.display([self.path])}: row {self.row + row + 1}"

    def judged(self, judge: Callable[[ArrowBlock], T]) -> T:
        """What `judge` returns for this block; it finds the first flaw itself."""
        return judge(self)

    def table(self, types: dict[str, Any]) -> Any:
        """The columns named, with the types that the file has. Arrow does not check them when it reads them."""
        import pyarrow as pa

        try:
            table = self.content.select(list(types))
            table.validate(full=True)
        except (pa.ArrowException, KeyError) as error:
            raise Flaw(0, None, f"the file is damaged here or in the rows that follow: {error}") from None
        return table


def read_arrow(path: str, format: str, choose: Callable[[Any], list[str]], span: Span) -> Iterator[ArrowBlock]:
    """Read the blocks of a file.

    Parameters
    ----------
    path : str
    format : {"parquet", "arrow"}
    choose : callable
        Picks the columns to read from the schema.
    span : Span
        The row groups of a Parquet file, or the record batches of an Arrow file.

    Yields
    ------
    ArrowBlock
    """
    import pyarrow as pa

    where = files.display([path])
    try:
        with seekable(path) as file:
            for table, row, done in (_parquet if format == "parquet" else _ipc)(file, choose, where, span):
                yield ArrowBlock(path, table, row, int(span.n_bytes * done))
    except DataError:
        raise
    except (pa.ArrowException, ValueError, OSError, MemoryError, struct.error) as error:
        what = "Parquet" if format == "parquet" else "Arrow (Feather)"
        why = str(error) or "it asks for more memory than there is"
        raise DataError(f"{where} cannot be read as {what}: {why}") from error


def _parquet(
    file: BinaryIO, choose: Callable[[Any], list[str]], where: str, span: Span
) -> Iterator[tuple[Any, int, float]]:
    """Read tables, each with the number of its first row, and the share of the row groups that is done."""
    import pyarrow as pa
    from pyarrow import parquet

    found = parquet.ParquetFile(file)
    names = choose(found.schema_arrow)
    size = file.seek(0, os.SEEK_END)
    check_parquet(found.metadata, size, where)
    # Strings that a file stores once and repeats by number stay so: written out, they may fill the memory.
    strings = [name for name in names if pa.types.is_string(found.schema_arrow.field(name).type)]
    content = parquet.ParquetFile(
        file,
        metadata=found.metadata,
        read_dictionary=strings,
        pre_buffer=False,
        # A row group may be the whole file. But a buffer grows to what a damaged page asks for, up to 4 GB.
        buffer_size=1 << 20 if size > files.LONGEST else 0,
        page_checksum_verification=True,
    )
    sizes = [found.metadata.row_group(g).num_rows for g in range(found.metadata.num_row_groups)]
    groups = range(len(sizes))[span.begin : span.end]
    row, done, total = sum(sizes[: span.begin]), 0, sum(sizes[g] for g in groups)
    for batch in content.iter_batches(rows_at_once(len(names)), groups, names, use_threads=not alone()):
        done += len(batch)
        yield pa.Table.from_batches([batch]), row + done - len(batch), done / max(1, total)


def _ipc(
    file: BinaryIO, choose: Callable[[Any], list[str]], where: str, span: Span
) -> Iterator[tuple[Any, int, float]]:
    """Read tables, each with the number of its first row, and the share of the record batches that is done."""
    import pyarrow as pa

    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    first = file.read(6)
    file.seek(0)
    if first.startswith(b"FEA1"):
        raise pa.ArrowInvalid("it is a Feather file of version 1: write it again as version 2")
    check_ipc(file, where)
    options, row = pa.ipc.IpcReadOptions(use_threads=not alone()), 0
    if first == b"ARROW1":
        row = sum(rows for _, rows in record_batches(file)[: span.begin]) if span.begin else 0
        content = pa.ipc.open_file(file, options=options)
        numbers = range(content.num_record_batches)[span.begin : span.end]
        batches = ((content.get_batch(i), (k + 1) / len(numbers)) for k, i in enumerate(numbers))
    else:
        content = pa.ipc.open_stream(file, options=options)
        batches = ((batch, file.tell() / size) for batch in content)
    names = choose(content.schema)
    rows = rows_at_once(len(names))
    for batch, done in batches:
        table = pa.Table.from_batches([batch]).select(names)
        table.validate()
        for at in range(0, len(table), rows):
            yield table.slice(at, rows), row + at, done
        row += len(table)
