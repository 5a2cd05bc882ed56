"""Lines of plain files: where one begins after a place, and how many there are before it."""

from __future__ import annotations

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


def line_feeds(path: str, end: int) -> int:
    """Count the line feeds in the first `end` bytes of a file."""
    found, left = 0, end
    with open(path, "rb", buffering=0) as file:
        while left > 0 and (chunk := file.read(min(CHUNK, left))):
            found += chunk.count(b"\n")
            left -= len(chunk)
    return found
