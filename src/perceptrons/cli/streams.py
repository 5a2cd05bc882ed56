"""Standard output that is written whole, or not without an error."""

from __future__ import annotations

import io
import os
import sys
from typing import Any


class NamedStream(io.FileIO):
    """A file of the system whose errors say which it is."""

    told = "standard output"

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            error.filename = self.told
            raise


def guard() -> None:
    """Buffer standard output, whatever PYTHONUNBUFFERED says, unless it is a terminal.

    The system may write a part only, where a disk is full or a reader has gone. Buffers go on with the rest, and so
    come to the error; without them the rest would be lost, and nobody told. What is printed is flushed by who prints.
    """
    out = sys.stdout
    try:
        number = out.fileno() if out is not None and not out.isatty() else -1
    except (OSError, ValueError):  # none of the system: that of a test, for instance
        return
    if number >= 0 and not isinstance(getattr(out.buffer, "raw", None), NamedStream):
        out.flush()
        buffer = io.BufferedWriter(NamedStream(number, "wb", closefd=False))
        sys.stdout = io.TextIOWrapper(buffer, encoding=out.encoding, errors=out.errors)


def abandon() -> None:
    """Have nothing more come of standard output: what could not be written is not tried again when Python ends."""
    try:
        number = sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), number)
