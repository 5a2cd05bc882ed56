"""Find and open files: globs, lists of files, standard input, and compression."""

from __future__ import annotations

import glob
import io
import os
import sys
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from perceptrons.shown import shown

STDIN = "-"
# The first bytes of compressed files, and the endings of their names.
MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
ENDINGS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".zstd": "zstd"}

LONGEST = 1 << 26  # the most bytes of one row or line: more would be a damaged file, or one made to fill the memory
LONGEST_LABEL = 256  # characters of a label: an array of labels takes four times the longest for each row

Data = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class DataError(ValueError):
    """Data cannot be read. The message names the file and the place.

    Parameters
    ----------
    message : str
        What is wrong. Control characters in it are escaped, because it may quote a file.

    Examples
    --------
    >>> from perceptrons.data import DataError, source
    >>> try:
    ...     source("nowhere.svm")
    ... except DataError as error:
    ...     print(error)
    nowhere.svm: no such file
    """

    def __init__(self, message: str) -> None:
        super().__init__(shown(message))  # it may quote the file


def expand(data: Data) -> list[str]:
    """List the files that paths and globs stand for.

    Parameters
    ----------
    data : str, path, or list of them
        Files or globs; "-" is standard input.

    Returns
    -------
    list of str
        The files of a glob are sorted by name.

    Examples
    --------
    >>> expand("nowhere/*.svm")
    Traceback (most recent call last):
    perceptrons.data.files.DataError: nowhere/*.svm: no file matches
    """
    given = [data] if isinstance(data, (str, os.PathLike)) else list(data)
    if not given:
        raise DataError("no files were given: name at least one")
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
        raise DataError("standard input can be read only once: name it only once")
    return found


def extension(path: str) -> str:
    """The ending that shows the format, in lower case, without the ending of a compression.

    >>> extension("data/Train.CSV.gz")
    '.csv'
    """
    base = Path(path)
    if base.suffix.lower() in ENDINGS:
        base = base.with_suffix("")
    return base.suffix.lower()


def display(paths: Sequence[str]) -> str:
    """Describe files in a message."""
    first = "standard input" if paths[0] == STDIN else paths[0]
    return first if len(paths) == 1 else f"{first} and {len(paths) - 1} more"


class Stream(io.BufferedReader):
    """The uncompressed bytes of a file."""

    def __init__(self, file: Any, raw: BinaryIO) -> None:
        super().__init__(file, 1 << 20)
        self.compressed = raw
        self.unpacked = file if isinstance(file, Unpacked) else None

    def position(self) -> int:
        """The number of bytes of the file on the disk that have been read."""
        return self.compressed.tell() if self.compressed.seekable() else 0

    def close(self) -> None:
        super().close()
        self.compressed.close()


class Counted:
    """A file that counts the bytes read; pipes do not."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.n_bytes, self.closed = file, 0, False

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes."""
        content = self.file.read(size)
        self.n_bytes += len(content)
        return content

    def close(self) -> None:
        """Leave the file to its `Stream`, which closes it."""
        self.closed = True


class Unpacked(io.RawIOBase):
    """A decompressed file. Errors name the file, and `packed` counts its compressed bytes."""

    def __init__(self, file: BinaryIO, codec: str, path: str) -> None:
        self.path, self.packed = path, Counted(file)
        self.content = _unpacking(self.packed, codec)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return int(self.content.readinto(buffer))
        except (OSError, EOFError, zlib.error) as error:
            what = f"starts like a compressed file but cannot be decompressed: {error}"
            raise DataError(f"{display([self.path])} {what}") from error


def open_binary(path: str) -> Stream:
    """Open a file, and decompress it if it begins like a compressed file."""
    if path == STDIN and sys.stdin is None:
        raise DataError("standard input is closed: name a file, or pipe the data in")
    raw: Any = sys.stdin.buffer if path == STDIN else open(path, "rb")
    begin = raw.peek(4)[:4]
    codecs = [codec for magic, codec in MAGIC.items() if begin.startswith(magic)]
    return Stream(Unpacked(raw, codecs[0], path) if codecs else raw, raw)


def peek() -> bytes:
    """The first bytes of standard input, which stay there; nothing if it is closed, compressed, or cannot be peeked."""
    look = getattr(getattr(sys.stdin, "buffer", None), "peek", None)
    begin: bytes = b"" if look is None else look(1 << 16)
    return b"" if any(begin.startswith(magic) for magic in MAGIC) else begin


def _unpacking(file: Any, codec: str) -> Any:
    if codec == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=file)
    if codec == "bz2":
        import bz2

        return bz2.BZ2File(file)
    import pyarrow  # slow to import

    return pyarrow.CompressedInputStream(file, "zstd")


def too_long(what: str = "row") -> str:
    """Describe a row or a line that takes more than LONGEST bytes."""
    return f"the {what} that begins here is longer than {LONGEST >> 20} MB"


def is_stream(path: str) -> bool:
    """Whether a path can be read only once: standard input, or a named pipe such as <(command) in the shell."""
    return path == STDIN or not os.path.isfile(path)


def is_compressed(path: str) -> bool:
    """Whether a file begins like a compressed file."""
    with open(path, "rb") as file:
        begin = file.read(4)
    return any(begin.startswith(magic) for magic in MAGIC)


def signature(paths: Sequence[str]) -> list[list[Any]]:
    """Identify one state of files: their paths, sizes and times."""
    found = []
    for path in paths:
        if path == STDIN:
            found.append([path, os.getpid(), time.time_ns()])
            continue
        state = os.stat(path)
        found.append([os.path.abspath(path), state.st_size, state.st_mtime_ns])
    return found


def n_bytes(paths: Sequence[str]) -> int | None:
    """The size of all files on the disk; None if one of them is standard input."""
    return None if STDIN in paths else sum(map(size, paths))


def size(path: str) -> int:
    """The size of a file on the disk; 0 for standard input."""
    return 0 if path == STDIN else os.path.getsize(path)
