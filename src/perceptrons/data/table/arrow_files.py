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
from perceptrons.data.table.arrow_sizes import check_ipc, check_parquet
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


def read_arrow(path: str, format: str, choose: Callable[[Any], list[str]]) -> Iterator[ArrowBlock]:
    """Read the blocks of a file.

    Parameters
    ----------
    path : str
    format : {"parquet", "arrow"}
    choose : callable
        Picks the columns to read from the schema.

    Yields
    ------
    ArrowBlock
    """
    import pyarrow as pa

    where = files.display([path])
    try:
        with seekable(path) as file:
            size = files.size(path)
            row = 0
            for table, done in (_parquet if format == "parquet" else _ipc)(file, choose, where):
                yield ArrowBlock(path, table, row, int(size * done))
                row += len(table)
    except DataError:
        raise
    except (pa.ArrowException, ValueError, OSError, MemoryError, struct.error) as error:
        what = "Parquet" if format == "parquet" else "Arrow (Feather)"
        why = str(error) or "it asks for more memory than there is"
        raise DataError(f"{where} cannot be read as {what}: {why}") from error


def _parquet(file: BinaryIO, choose: Callable[[Any], list[str]], where: str) -> Iterator[tuple[Any, float]]:
    """Read tables, each with the share of the file that is done."""
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
    done = 0
    for batch in content.iter_batches(rows_at_once(len(names)), columns=names, use_threads=not alone()):
        done += len(batch)
        yield pa.Table.from_batches([batch]), done / max(1, content.metadata.num_rows)


def _ipc(file: BinaryIO, choose: Callable[[Any], list[str]], where: str) -> Iterator[tuple[Any, float]]:
    """Read tables, each with the share of the file that is done."""
    import pyarrow as pa

    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    begin = file.read(6)
    file.seek(0)
    if begin.startswith(b"FEA1"):
        raise pa.ArrowInvalid("it is a Feather file of version 1: write it again as version 2")
    check_ipc(file, where)
    options = pa.ipc.IpcReadOptions(use_threads=not alone())
    if begin == b"ARROW1":
        content = pa.ipc.open_file(file, options=options)
        batches = (content.get_batch(i) for i in range(content.num_record_batches))
    else:
        content = pa.ipc.open_stream(file, options=options)
        batches = iter(content)
    names = choose(content.schema)
    rows = rows_at_once(len(names))
    for batch in batches:
        table = pa.Table.from_batches([batch]).select(names)
        table.validate()
        for at in range(0, len(table), rows):
            yield table.slice(at, rows), file.tell() / size
