"""Parquet files and files of Arrow's own format (IPC, Feather), a batch at a time."""

from __future__ import annotations

import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from perceptrons.data import files
from perceptrons.data.files import DataError
from perceptrons.data.table.columns import MOST_ROWS

MOST_BYTES = 1 << 25  # of a batch, as numbers


@dataclass(frozen=True)
class ArrowBlock:
    """Some rows of a file."""

    path: str
    content: Any  # an Arrow table
    row: int  # of the file, where the block begins
    position: int  # of the file as it lies on the disk, about where the block ends

    def place(self, row: int) -> str:
        """File and row, counted from 1 on."""
        return f"{files.display([self.path])}: row {self.row + row + 1}"

    def table(self, types: dict[str, Any]) -> Any:
        """The columns named, of whatever type they are."""
        return self.content.select(list(types))


def read_arrow(path: str, form: str, choose: Callable[[Any], list[str]]) -> Iterator[ArrowBlock]:
    """The blocks of a file, with those of its columns that are chosen once its schema is known."""
    import pyarrow as pa

    try:
        with seekable(path) as file:
            size = 0 if path == files.STDIN else os.path.getsize(path)
            row = 0
            for table, done in (_parquet if form == "parquet" else _ipc)(file, choose):
                yield ArrowBlock(path, table, row, int(size * done))
                row += len(table)
    except (pa.ArrowInvalid, OSError, EOFError, zlib.error) as error:
        what = "Parquet" if form == "parquet" else "Arrow (Feather)"
        raise DataError(f"{files.display([path])} cannot be read as {what}: {error}") from error


def seekable(path: str) -> BinaryIO:
    """The file, or what it holds uncompressed in a temporary one: these formats are not read from front to back."""
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


def _most_rows(names: list[str]) -> int:
    return max(1, min(MOST_ROWS, MOST_BYTES // (8 * len(names))))


def _parquet(file: BinaryIO, choose: Callable[[Any], list[str]]) -> Iterator[tuple[Any, float]]:
    """Tables, and how much of the file is done after each."""
    import pyarrow as pa
    from pyarrow import parquet

    content = parquet.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20)  # a group of rows may be the whole file
    done = 0
    names = choose(content.schema_arrow)
    for batch in content.iter_batches(_most_rows(names), columns=names):
        done += len(batch)
        yield pa.Table.from_batches([batch]), done / content.metadata.num_rows


def _ipc(file: BinaryIO, choose: Callable[[Any], list[str]]) -> Iterator[tuple[Any, float]]:
    """Tables, and how much of the file is done after each."""
    import pyarrow as pa

    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    begin = file.read(6)
    file.seek(0)
    if begin.startswith(b"FEA1"):
        raise pa.ArrowInvalid("it is Feather of version 1; write it anew as version 2")
    if begin == b"ARROW1":
        content = pa.ipc.open_file(file)
        batches = (content.get_batch(i) for i in range(content.num_record_batches))
    else:
        content = pa.ipc.open_stream(file)
        batches = iter(content)
    names = choose(content.schema)
    rows = _most_rows(names)
    for batch in batches:
        table = pa.Table.from_batches([batch]).select(names)
        for at in range(0, len(table), rows):
            yield table.slice(at, rows), file.tell() / size
