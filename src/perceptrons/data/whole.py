"""Data that are read as a whole: into memory, or into a temporary file. Their size is limited.

A compressed file may be made to fill the memory or the disk: 10 MB can hold 10 GB. Text compresses 3 to 20-fold.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any, BinaryIO, NamedTuple, cast

from perceptrons.data import files
from perceptrons.data.files import DataError

CHUNK = 1 << 20
GROWTH = 100  # how many times its size on the disk a compressed file may take
ALWAYS = 1 << 28  # bytes that it may take in any case
SHARE = 2  # a copy may take 1/SHARE of the free space on the disk


def check_growth(size: int, packed: int, where: str, remedy: str = "decompress it first, if you trust it") -> None:
    """Refuse data that take more than GROWTH times their compressed size.

    Parameters
    ----------
    size, packed : int
        Bytes of the data, and of their compressed form.
    where : str
        The file.
    remedy : str
        What to do.
    """
    if size > max(ALWAYS, GROWTH * packed):
        grown = f"it takes over {size >> 20:,} MB, more than {GROWTH} times its size on the disk"
        raise DataError(f"{where} expands like a file that is made to fill the memory: {grown}: {remedy}")


def check_stream(stream: files.Stream, size: int, where: str) -> None:
    """Refuse a file of which `size` bytes were read if it expands too much."""
    if stream.unpacked is not None:
        check_growth(size, stream.unpacked.packed.n_bytes, where)


def check_memory(size: int, where: str) -> None:
    """Refuse data that need more memory than the machine has."""
    if size > memory():
        there = f"the {memory() / 1e9:.3g} GB of memory of this machine"
        raise DataError(f"{where} needs over {size / 1e9:.3g} GB of memory, more than {there}: split it into files")


def memory() -> int:
    """The bytes of memory that this machine has; practically no limit where the system does not tell."""
    if not hasattr(os, "sysconf"):
        return 1 << 62
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def free_space(file: int) -> int:
    """The bytes that are free on the disk of an open file; practically no limit where the system does not tell."""
    if not hasattr(os, "fstatvfs"):
        return 1 << 62
    found = os.fstatvfs(file)
    return found.f_bavail * found.f_frsize


class Span(NamedTuple):
    """Whole lines of a file. Only a plain file can have a span that is less than the file."""

    path: str
    name: str  # of the file, for messages
    begin: int = 0
    end: int | None = None  # None is the end of the file
    size: int | None = None  # bytes that the file must have; None for any number

    @classmethod
    def of(cls, path: str) -> Span:
        """All lines of a file."""
        return cls(path, files.display([path]))


def read_lines(span: Span) -> bytes:
    """Read lines of a file, plain or compressed, into memory."""
    if span.size is not None and files.size(span.path) != span.size:
        was = f"it has {files.size(span.path):,} bytes and had {span.size:,}"
        raise DataError(f"{span.name} has changed since it was cut into parts: {was}: begin again")
    chunks: list[bytes] = []
    size = line = 0  # the last line begins at `line`
    with files.open_binary(span.path) as stream:
        if span.begin:
            stream.seek(span.begin)
        while chunk := stream.read(CHUNK if span.end is None else min(CHUNK, span.end - span.begin - size)):
            feed = chunk.find(b"\n")
            if size + (len(chunk) if feed < 0 else feed) - line > files.LONGEST:
                number = lines_before(span) + sum(each.count(b"\n") for each in chunks) + 1
                raise DataError(f"{span.name}:{number}: {files.too_long('line')}: end lines by line feeds")
            line = line if feed < 0 else size + chunk.rfind(b"\n") + 1
            size += len(chunk)
            check_stream(stream, size, span.name)
            check_memory(2 * size, span.name)
            chunks.append(chunk)
    return b"".join(chunks)


def lines_before(span: Span) -> int:
    """Count the lines of a file before a span; this reads them, so it is for messages."""
    if not span.begin:  # it may be standard input
        return 0
    count, left = 0, span.begin
    with open(span.path, "rb") as file:
        while chunk := file.read(min(CHUNK, left)):
            count, left = count + chunk.count(b"\n"), left - len(chunk)
    return count


def seekable(path: str) -> BinaryIO:
    """Open a file that allows seeking; a stream or a compressed file is copied to a temporary file first."""
    if not files.is_stream(path) and not files.is_compressed(path):
        return open(path, "rb")
    with files.open_binary(path) as stream:
        return copied(stream, files.display([path]))


def copied(stream: Any, where: str) -> BinaryIO:
    """Copy a stream to a temporary file."""
    copy = tempfile.TemporaryFile()
    room = free_space(copy.fileno()) // SHARE
    try:
        while chunk := stream.read(CHUNK):
            if copy.tell() + len(chunk) > room:
                what = f"{where} takes over {room >> 20:,} MB, more than 1/{SHARE} of the free space"
                raise DataError(f"{what} in {tempfile.gettempdir()}: set TMPDIR to a folder that has more space")
            copy.write(chunk)
            if isinstance(stream, files.Stream):
                check_stream(stream, copy.tell(), where)
    except BaseException:
        copy.close()
        raise
    copy.seek(0)
    return cast(BinaryIO, copy)
