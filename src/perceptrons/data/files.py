"""Finding and opening files: globs, several at once, standard input, and compression."""

from __future__ import annotations

import glob
import io
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

STDIN = "-"
# What a compressed file begins with, and what such files are called.
MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
ENDINGS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".zstd": "zstd"}

Data = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class DataError(ValueError):
    """Data that cannot be read. The text says in which file and where."""


def expand(data: Data) -> list[str]:
    """The files that a path, a glob or a list of them stands for; globs in the order of names.

    >>> expand("nowhere/*.svm")
    Traceback (most recent call last):
    perceptrons.data.files.DataError: nowhere/*.svm: no file matches
    """
    given = [data] if isinstance(data, (str, os.PathLike)) else list(data)
    if not given:
        raise DataError("no files were given")
    found: list[str] = []
    for path in [os.fspath(each) for each in given]:
        if path == STDIN or os.path.exists(path):
            found.append(path)
        elif glob.has_magic(path):
            matches = sorted(glob.glob(path, recursive=True))
            if not matches:
                raise DataError(f"{path}: no file matches")
            found += matches
        else:
            raise DataError(f"{path}: no such file")
    for path in found:
        if path != STDIN and os.path.isdir(path):
            raise DataError(f"{path} is a folder: name its files, for instance {os.path.join(path, '*.svm')}")
    if found.count(STDIN) > 1:
        raise DataError("standard input can be read once only")
    return found


def kind(path: str) -> str:
    """The ending that tells the format, without that of compression, in small letters.

    >>> kind("data/Train.CSV.gz")
    '.csv'
    """
    base = Path(path)
    if base.suffix.lower() in ENDINGS:
        base = base.with_suffix("")
    return base.suffix.lower()


def display(paths: Sequence[str]) -> str:
    """Names of files for people."""
    first = "standard input" if paths[0] == STDIN else paths[0]
    return first if len(paths) == 1 else f"{first} and {len(paths) - 1} more"


class Stream(io.BufferedReader):
    """The bytes of a file as they were before it was compressed."""

    def __init__(self, file: Any, raw: BinaryIO) -> None:
        super().__init__(file, 1 << 20)
        self.compressed = raw

    def position(self) -> int:
        """How much of the file as it lies on the disk has been read."""
        return self.compressed.tell() if self.compressed.seekable() else 0

    def close(self) -> None:
        super().close()
        self.compressed.close()


def open_binary(path: str) -> Stream:
    """The file's bytes, uncompressed if it begins as a compressed one does."""
    raw: Any = sys.stdin.buffer if path == STDIN else open(path, "rb")
    begin = raw.peek(4)[:4]
    codecs = [codec for magic, codec in MAGIC.items() if begin.startswith(magic)]
    return Stream(_uncompressed(raw, codecs[0], path) if codecs else raw, raw)


def _uncompressed(file: BinaryIO, codec: str, path: str) -> Any:
    if codec == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=file)
    if codec == "bz2":
        import bz2

        return bz2.BZ2File(file)
    try:
        import pyarrow
    except ImportError:
        raise DataError(f'{path} is compressed by zstd. To read it: pip install "perceptrons[tables]"') from None
    return pyarrow.CompressedInputStream(file, "zstd")


def is_stream(path: str) -> bool:
    """Whether what is read is gone: standard input, or a pipe under a name, as the shell makes for <(command)."""
    return path == STDIN or not os.path.isfile(path)


def is_compressed(path: str) -> bool:
    """Whether a file begins as a compressed one does."""
    with open(path, "rb") as file:
        begin = file.read(4)
    return any(begin.startswith(magic) for magic in MAGIC)


def signature(paths: Sequence[str]) -> list[list[Any]]:
    """What tells one state of files from another: where they are, their sizes and times."""
    found = []
    for path in paths:
        if path == STDIN:
            found.append([path, os.getpid(), time.time_ns()])
            continue
        state = os.stat(path)
        found.append([os.path.abspath(path), state.st_size, state.st_mtime_ns])
    return found


def n_bytes(paths: Sequence[str]) -> int | None:
    """The size of all files as they lie on the disk; None where standard input is one of them."""
    return None if STDIN in paths else sum(os.path.getsize(path) for path in paths)
