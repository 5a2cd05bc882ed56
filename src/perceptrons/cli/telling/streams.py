"""What is printed: standard output is written completely or fails with an error, and text from files is harmless."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

from perceptrons.shown import WITHIN_LINE, shown


class ForTerminal:
    """A binary file on a terminal: text that it gets is `shown`, line by line."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def write(self, data: bytes) -> None:
        self.file.write(shown(data.decode(errors="surrogateescape"), WITHIN_LINE).encode())

    def flush(self) -> None:
        self.file.flush()


class NamedStream(io.FileIO):
    """A file whose errors carry its name."""

    told = "standard output"

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            error.filename = self.told
            raise


def guard() -> None:
    """Buffer standard output, whatever PYTHONUNBUFFERED says, unless it is a terminal.

    The system may write only a part, because a disk is full or the reader has gone. A buffer then tries to write the
    rest and meets the error; without it, the rest would be lost silently. Code that prints must flush.
    """
    out = sys.stdout
    try:
        number = out.fileno() if out is not None and not out.isatty() else -1
    except (OSError, ValueError):  # not a file of the system, for instance in a test
        return
    if number >= 0 and not isinstance(getattr(out.buffer, "raw", None), NamedStream):
        out.flush()
        buffer = io.BufferedWriter(NamedStream(number, "wb", closefd=False))
        sys.stdout = io.TextIOWrapper(buffer, encoding=out.encoding, errors=out.errors)


def abandon() -> None:
    """Discard what is still to be written to standard output, so that Python does not try again when it exits."""
    try:
        number = sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), number)
