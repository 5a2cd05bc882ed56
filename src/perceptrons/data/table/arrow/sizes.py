"""How much memory the parts of Arrow and Parquet files will take, found before Arrow reads them.

The buffers of an Arrow file may be compressed, each with its size in front. Where they are is written in flatbuffers:
https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

from perceptrons.data import files
from perceptrons.data.whole import check_growth, check_memory

MARK = 0xFFFFFFFF  # begins a message
DICTIONARY, RECORDS = 2, 3  # kinds of messages


class Table:
    """A table of a flatbuffer: numbered fields."""

    def __init__(self, buffer: bytes, at: int) -> None:
        self.buffer, self.at = buffer, at
        self.fields = at - self.number("<i", at)  # the table of fields
        self.n_fields = (self.number("<H", self.fields) - 4) // 2

    @classmethod
    def root(cls, buffer: bytes) -> Table:
        """The table in which all others are."""
        return cls(buffer, struct.unpack_from("<I", buffer)[0])

    def number(self, form: str, at: int) -> int:
        return int(struct.unpack_from(form, self.buffer, at)[0])

    def place(self, field: int) -> int | None:
        """Where a field is; None if it has its default value."""
        offset = self.number("<H", self.fields + 4 + 2 * field) if field < self.n_fields else 0
        return self.at + offset if offset else None

    def value(self, field: int, form: str) -> int:
        at = self.place(field)
        return 0 if at is None else self.number(form, at)

    def table(self, field: int) -> Table | None:
        at = self.place(field)
        return None if at is None else Table(self.buffer, at + self.number("<I", at))

    def structs(self, field: int, form: str) -> list[tuple[int, ...]]:
        """The elements of a vector of structs."""
        at = self.place(field)
        if at is None:
            return []
        at += self.number("<I", at)
        end = at + 4 + self.number("<I", at) * struct.calcsize(form)
        if end > len(self.buffer):
            raise struct.error("a vector is longer than its buffer")
        return list(struct.iter_unpack(form, self.buffer[at + 4 : end]))


def check_ipc(file: BinaryIO, where: str) -> None:
    """Refuse an Arrow file with a batch that takes far more memory than disk, or more than the machine has.

    Parameters
    ----------
    file : binary file
        It is read from its beginning, and left there.
    where : str
        The file, for messages.
    """
    for message, body in _messages(file):
        batch = message.table(2)
        if batch is not None and message.value(1, "<B") == DICTIONARY:
            batch = batch.table(1)
        if batch is None or message.value(1, "<B") not in (DICTIONARY, RECORDS):
            continue
        on_disk = in_memory = 0
        for offset, size in batch.structs(2, "<qq"):
            on_disk += size
            in_memory += size
            if batch.table(3) is not None and size >= 8:
                file.seek(body + offset)
                in_memory += max(0, struct.unpack("<q", file.read(8))[0])
        on_disk = min(on_disk, message.value(3, "<q"))  # buffers may share their bytes
        check_growth(in_memory, on_disk, where, "write it again without compression, if you trust it")
        check_memory(in_memory, where)
    file.seek(0)


def record_batches(file: BinaryIO) -> list[tuple[int, int]]:
    """List the bytes and rows of each batch of an Arrow file; nothing for the format of streams."""
    file.seek(0)
    if file.read(6) != b"ARROW1":
        return []
    found = []
    for message, _ in _messages(file):
        batch = message.table(2)
        if batch is not None and message.value(1, "<B") == RECORDS:
            found.append((message.value(3, "<q"), batch.value(0, "<q")))
    file.seek(0)
    return found


def _messages(file: BinaryIO) -> Iterator[tuple[Table, int]]:
    """The messages of a file or of a stream, each with the position of its body."""
    end = file.seek(0, os.SEEK_END)
    file.seek(0)
    if file.read(6) == b"ARROW1":
        file.seek(end - 10)
        size = struct.unpack("<i", file.read(4))[0]
        file.seek(end - 10 - size)
        footer = Table.root(file.read(min(size, end)))
        for field in (2, 3):  # dictionaries, records
            for at, _, _ in footer.structs(field, "<qi4xq"):
                file.seek(at)
                message = _message(file, end)
                if message is not None:
                    yield message, file.tell()
        return
    at = 0
    while at < end:
        file.seek(at)
        message = _message(file, end)
        if message is None:
            return
        body = file.tell()
        at = body + message.value(3, "<q")
        if at < body:
            raise struct.error("a message has a negative size")
        yield message, body


def _message(file: BinaryIO, end: int) -> Table | None:
    """Read the head of the message that begins here; None at the end of a stream."""
    (size,) = struct.unpack("<I", file.read(4))
    if size == MARK:
        (size,) = struct.unpack("<I", file.read(4))
    if size > min(end, files.LONGEST):
        raise struct.error("the head of a message is too long")
    return Table.root(file.read(size)) if size else None


def check_parquet(metadata: Any, size: int, where: str) -> None:
    """Refuse a Parquet file with a row group that takes far more memory than disk.

    The metadata of single columns are not used: Arrow aborts the process if they are damaged.

    Parameters
    ----------
    metadata : pyarrow.parquet.FileMetaData
    size : int
        Bytes of the file.
    where : str
        The file, for messages.
    """
    for g in range(metadata.num_row_groups):
        in_memory = metadata.row_group(g).total_byte_size
        check_growth(in_memory, size, where, "write it again without compression, if you trust it")
