"""Lines of plain files: where one begins after a place, and how many there are before it."""

from __future__ import annotations

import io
from typing import Any

from perceptrons.data import files

CHUNK = 1 << 20  # bytes
FIRST = 1 << 12  # bytes that mostly hold the end of a line


def line_after(path: str, offset: int, size: int) -> int:
    """Where the first line begins at or after an offset.

    Parameters
    ----------
    path : str
    offset : int
    size : int
        The size of the file, which is returned if no line begins there, or only after a line that is too long.

    Returns
    -------
    int
    """
    if offset == 0:
        return 0
    with open(path, "rb", buffering=0) as file:
        at = file.seek(offset - 1)
        chunk = file.read(FIRST)
        while chunk and at - offset <= files.LONGEST:
            feed = chunk.find(b"\n")
            if feed >= 0:
                return at + feed + 1
            at += len(chunk)
            chunk = file.read(CHUNK)
    return size


def feeds_before(path: str, end: int) -> int:
    """Count the line feeds in the first `end` bytes of a file, to number the lines of a shard for a message."""
    found, left = 0, end
    if left <= 0:
        return 0
    with open(path, "rb", buffering=0) as file:
        while left and (chunk := file.read(min(CHUNK, left))):
            found += chunk.count(b"\n")
            left -= len(chunk)
    return found


class Limited(io.RawIOBase):
    """The next bytes of a stream, up to a limit.

    Parameters
    ----------
    stream : binary stream
    size : int
        Number of bytes.
    """

    def __init__(self, stream: Any, size: int) -> None:
        self.stream, self.left = stream, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        got = int(self.stream.readinto(memoryview(buffer)[: self.left]))
        self.left -= got
        return got
