"""The high-water mark of a log: how many commits it must have, and the last position that they led to.

SQLite ends its write-ahead file silently at the first bit that is wrong. The number of commits is therefore kept
outside of it, in a small file of two slots that are written in turn. One of them is valid whenever the process dies.

The mark is written after a commit and before its answers, so it never promises more than the disk has. It is written
to the disk with each checkpoint: after a power failure, it may be as old as the last one.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from struct import Struct
from typing import NamedTuple
from zlib import crc32

MARK = "mark"
_SLOT = Struct("<QQ")
_SIZE = _SLOT.size + 4  # with a checksum


class Reached(NamedTuple):
    """What a log has reached: its number of commits, and its last position."""

    commits: int
    position: int


class Mark:
    """The file with the mark of one log."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.handle = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))

    @staticmethod
    def create(path: Path) -> None:
        """Make a file that says: nothing has been reached."""
        with open(path, "xb") as file:
            os.chmod(path, 0o600)
            file.write(_slot(Reached(0, 0)) * 2)
            file.flush()
            os.fsync(file.fileno())

    def read(self) -> Reached | None:
        """The newest slot that is valid; None if there is none."""
        os.lseek(self.handle, 0, os.SEEK_SET)
        content = os.read(self.handle, 2 * _SIZE)
        slots = [content[at : at + _SIZE] for at in (0, _SIZE)]
        found = [Reached(*_SLOT.unpack(slot[:-4])) for slot in slots if len(slot) == _SIZE and _is_valid(slot)]
        return max(found, default=None)

    def write(self, reached: Reached) -> None:
        """Note what has been reached. Failing is no loss: an older mark promises less."""
        with suppress(OSError):
            os.lseek(self.handle, reached.commits % 2 * _SIZE, os.SEEK_SET)
            os.write(self.handle, _slot(reached))

    def sync(self) -> None:
        """Write the mark to the disk."""
        with suppress(OSError):
            os.fsync(self.handle)

    def close(self) -> None:
        """Write the mark to the disk, and close the file."""
        self.sync()
        os.close(self.handle)


def _slot(reached: Reached) -> bytes:
    content = _SLOT.pack(*reached)
    return content + crc32(content).to_bytes(4, "little")


def _is_valid(slot: bytes) -> bool:
    return crc32(slot[:-4]) == int.from_bytes(slot[-4:], "little")
