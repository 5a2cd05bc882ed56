"""Machine code on disk: one file for each compiled function and types of its arguments.

A file begins with a digest of its key and its content. A file that is damaged, or belongs to another key, is ignored.
So is every file that another user could have written: see `private`.
"""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import stat
import threading
from typing import Any, NamedTuple

from perceptrons.core.jit.private import is_own, is_private

SIZE = 32  # bytes of the digest


class Machine(NamedTuple):
    """The machine code of a function."""

    code: bytes  # an object file; empty if only Numba can call the function
    symbol: str = ""  # the name of the function in it
    returns: str = ""  # the result as a format of `struct`; a tuple begins with "("; empty for None
    needs: tuple[str, ...] = ()  # functions that the process must provide


def folders() -> list[str]:
    """List the folders that may hold machine code, in the order in which Numba looks for its own cache."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return [os.path.abspath(os.path.join(chosen, "perceptrons"))]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(os.path.join("~", ".cache"))
    beside = os.path.join(os.path.dirname(__file__), "__pycache__")
    return [os.path.abspath(beside), os.path.abspath(os.path.join(home, "perceptrons"))]


def read(name: str, key: str) -> tuple[Any, ...] | None:
    """Return what `write` kept under this key, or None."""
    for path in _paths(name, key):
        kept = _content(path)
        if kept[:SIZE] == _digest(key, kept[SIZE:]):
            # Malformed data can crash marshal. This is what `write` wrote: the digest excludes accidents, and somebody
            # who means harm would have to be this user or root. The key holds the version of Python.
            values: tuple[Any, ...] = marshal.loads(kept[SIZE:])
            return values
    return None


def write(name: str, key: str, values: tuple[Any, ...]) -> bool:
    """Keep the values in the first folder that is private and can be written. Return False if there is none."""
    content = marshal.dumps(tuple(values))
    for path in _paths(name, key):
        part = f"{path}.{os.getpid()}-{threading.get_ident()}"
        try:
            make(os.path.dirname(path))
            if not is_private(os.path.dirname(path)):
                continue
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(_digest(key, content) + content)
            os.replace(part, path)  # readers see the whole file or none
            return True
        except OSError:
            with contextlib.suppress(OSError):
                os.remove(part)
    return False


def _content(path: str) -> bytes:
    """Read a file that no other user can write; of any other, return nothing."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # opening a pipe would wait for a writer
    except OSError:
        return b""
    with open(file, "rb") as opened:
        status = os.fstat(file)
        safe = stat.S_ISREG(status.st_mode) and is_own(status) and is_private(os.path.dirname(path))
        return opened.read() if safe else b""


def make(folder: str) -> None:
    """Make the folder, and those above it, for this user only."""
    if not os.path.isdir(folder):
        make(os.path.dirname(folder))
        with contextlib.suppress(FileExistsError):  # another process was faster
            os.mkdir(folder, 0o700)


def _paths(name: str, key: str) -> list[str]:
    file = f"{name}-{_digest(key, b'').hex()[:32]}.native"
    return [os.path.join(folder, file) for folder in folders()]


def _digest(key: str, content: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(key.encode()).digest() + content).digest()
