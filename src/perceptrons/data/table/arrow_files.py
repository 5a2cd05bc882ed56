"""Read Parquet files and Arrow files (IPC, Feather) one batch at a time."""

from __future__ import annotations

import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from perceptrons.data import files
from perceptrons.data.batches import rows_at_once
from perceptrons.data.files import DataError


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

    def table(self, types: dict[str, Any]) -> Any:
        """The columns named, with the types that the file has."""
        return self.content.select(list(types))


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

    try:
        with seekable(path) as file:
            size = files.size(path)
            row = 0
            for table, done in (_parquet if format == "parquet" else _ipc)(file, choose):
                yield ArrowBlock(path, table, row, int(size * done))
                row += len(table)
    except (pa.ArrowInvalid, OSError, EOFError, zlib.error) as error:
        what = "Parquet" if format == "parquet" else "Arrow (Feather)"
        raise DataError(f"{files.display([path])} cannot be read as {what}: {error}") from error


def seekable(path: str) -> BinaryIO:
    """Open a file that allows seeking; a stream or a compressed file is copied to a temporary file first."""
    if not files.is_stream(path) and not files.is_compressed(path):
        return open(path, "rb")
    copy = tempfile.TemporaryFile()
    try:
        with files.open_binary(path) as stream:
            shutil.copyfileobj(stream, copy, 1 << 20)
    except BaseException:
        copy.close()
        raise
    copy.seek(0)
    return cast(BinaryIO, copy)


def _parquet(file: BinaryIO, choose: Callable[[Any], list[str]]) -> Iterator[tuple[Any, float]]:
    """Read tables, each with the share of the file that is done."""
    import pyarrow as pa
    from pyarrow import parquet

    content = parquet.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20)  # a row group may be the whole file
    done = 0
    names = choose(content.schema_arrow)
    for batch in content.iter_batches(rows_at_once(len(names)), columns=names):
        done += len(batch)
        yield pa.Table.from_batches([batch]), done / content.metadata.num_rows


def _ipc(file: BinaryIO, choose: Callable[[Any], list[str]]) -> Iterator[tuple[Any, float]]:
    """Read tables, each with the share of the file that is done."""
    import pyarrow as pa

    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    begin = file.read(6)
    file.seek(0)
    if begin.startswith(b"FEA1"):
        raise pa.ArrowInvalid("it is a Feather file of version 1: write it again as version 2")
    if begin == b"ARROW1":
        content = pa.ipc.open_file(file)
        batches = (content.get_batch(i) for i in range(content.num_record_batches))
    else:
        content = pa.ipc.open_stream(file)
        batches = iter(content)
    names = choose(content.schema)
    rows = rows_at_once(len(names))
    for batch in batches:
        table = pa.Table.from_batches([batch]).select(names)
        for at in range(0, len(table), rows):
            yield table.slice(at, rows), file.tell() / size
