"""Compiled code on disk: one file for each compiled function and types of its arguments.

A file begins with a digest of its key and its content. A file that is damaged, or belongs to another key, is ignored
and replaced. So is every file that another user could have written: see `private`. Where no file can be written, the
process goes on with what it has compiled.
"""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import re
import stat
import time
from typing import Any, NamedTuple

from perceptrons.core.jit.private import is_own, is_private

SIZE = 32  # bytes of the digest
PART = re.compile(r".+-[0-9a-f]{32}\.native\.[0-9a-f]{16}")  # the name of a file that is being written
ABANDONED = 86_400  # seconds after which nobody is writing it any more
BINARY = getattr(os, "O_BINARY", 0)  # Windows needs it
# Follow no link, and do not wait for a writer if it is a pipe.
CAREFULLY = os.O_RDONLY | BINARY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_warned = False


class Machine(NamedTuple):
    """The machine code of a function."""

    code: bytes  # an object file; empty if only Numba can call the function
    symbol: str = ""  # the name of the function in it
    returns: str = ""  # the result as a format of `struct`; a tuple begins with "("; empty for None
    needs: tuple[str, ...] = ()  # functions that the process must provide


class Key(NamedTuple):
    """What a file is for. A file with the same name and place, but of another version, is out of date: replace it."""

    name: str
    place: str
    version: str


def folders() -> list[str]:
    """List the folders that may hold compiled code: beside this file, in the user's cache, in the temporary folder.

    The last one is for users without a home, as in containers.
    """
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return [os.path.abspath(os.path.join(chosen, "perceptrons"))]
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__pycache__")
    home = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):  # its standard says that a relative path must be ignored
        home = os.path.expanduser(os.path.join("~", ".cache"))  # still relative if this user has no home
    found = [beside, os.path.join(home, "perceptrons")]
    if os.name == "posix":  # elsewhere, every user has a home
        found.append(os.path.join(os.environ.get("TMPDIR") or "/tmp", f"perceptrons-{os.geteuid()}"))
    return [folder for folder in found if os.path.isabs(folder)]


def read(key: Key) -> tuple[Any, ...] | None:
    """Return what `write` kept under this key, or None."""
    for path in _paths(key):
        kept = _content(path)
        if kept[:SIZE] == _digest(key, kept[SIZE:]):
            # Malformed data can crash marshal. This is what `write` wrote: the digest excludes accidents, and somebody
            # who means harm would have to be this user or root. The key holds the version of Python.
            values: tuple[Any, ...] = marshal.loads(kept[SIZE:])
            return values
    return None


def write(key: Key, values: tuple[Any, ...]) -> bool:
    """Keep the values in the first folder that is private and can be written. Return False if there is none."""
    content = marshal.dumps(tuple(values))
    reasons = []
    for path in _paths(key):
        folder = os.path.dirname(path)
        try:
            make(folder)
            if is_private(folder):
                _replace(path, _digest(key, content) + content)
                return True
            reasons.append(f"other users can write to {folder} or to a folder above it")
        except OSError as error:
            reasons.append(f"{folder}: {error.strerror}")
    _warn("; ".join(reasons))
    return False


def _replace(path: str, content: bytes) -> None:
    """Write a file such that readers see the whole file or none, whatever happens."""
    _sweep(os.path.dirname(path))
    part = f"{path}.{os.urandom(8).hex()}"
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, 0o644)
    try:
        with open(file, "wb") as opened:
            opened.write(content)
        os.replace(part, path)
    except BaseException:  # a full disk; or Ctrl-C
        with contextlib.suppress(OSError):
            os.remove(part)
        raise


def _sweep(folder: str) -> None:
    """Remove what processes left behind that were killed while they wrote."""
    with os.scandir(folder) as entries:
        parts = [entry for entry in entries if PART.fullmatch(entry.name)]
    for part in parts:
        with contextlib.suppress(OSError):  # another process was faster
            if part.stat(follow_symlinks=False).st_mtime < time.time() - ABANDONED:
                os.remove(part)


def _content(path: str) -> bytes:
    """Read a file that no other user can write; of any other, return nothing."""
    try:
        file = os.open(path, CAREFULLY)
        with open(file, "rb") as opened:
            regular = stat.S_ISREG(os.fstat(file).st_mode)
            return opened.read() if regular and is_own(file) and is_private(os.path.dirname(path)) else b""
    except OSError:
        return b""


def make(folder: str) -> None:
    """Make the folder, and those above it. Others may read it, as in an image that root made; only this user writes."""
    if not os.path.isdir(folder):
        make(os.path.dirname(folder))
        with contextlib.suppress(FileExistsError):  # another process was faster
            os.mkdir(folder, 0o755)


def _warn(reasons: str) -> None:
    """Tell the user why programs start slowly: once, not for every function."""
    global _warned
    if _warned:
        return
    _warned = True
    import logging

    logging.getLogger("perceptrons").warning(
        "perceptrons compiles anew in every process, because compiled code cannot be kept on disk (%s). "
        "Make room or change the permissions there, or set NUMBA_CACHE_DIR to a private folder.",
        reasons,
    )


def _paths(key: Key) -> list[str]:
    file = f"{key.name}-{hashlib.sha256(key.place.encode()).hexdigest()[:32]}.native"
    return [os.path.join(folder, file) for folder in folders()]


def _digest(key: Key, content: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(repr(key).encode()).digest() + content).digest()
