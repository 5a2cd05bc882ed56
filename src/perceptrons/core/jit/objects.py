"""Machine code on disk, a file for each kernel and types of arguments.

A file begins with a digest of its key and its content: one that is damaged, or is another's, is as good as none.
Whoever may write here may run code as whoever reads, as with Python's own __pycache__.
"""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import threading
from typing import NamedTuple

SIZE = 32  # bytes of the digest


class Machine(NamedTuple):
    """A compiled kernel."""

    code: bytes  # an object file; empty when the kernel cannot do without Numba
    symbol: str = ""  # the function in it
    returns: str = ""  # as `struct` writes it, "(" in front of a tuple; empty for None
    needs: tuple[str, ...] = ()  # functions that the process must have


def folders() -> list[str]:
    """Where machine code may be, in the order of Numba's own cache."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return [os.path.join(chosen, "perceptrons")]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(os.path.join("~", ".cache"))
    return [os.path.join(os.path.dirname(__file__), "__pycache__"), os.path.join(home, "perceptrons")]


def read(name: str, key: str) -> Machine | None:
    """What has been kept under this key."""
    for path in _paths(name, key):
        try:
            with open(path, "rb") as file:
                kept = file.read()
        except OSError:
            continue
        if kept[:SIZE] == _digest(key, kept[SIZE:]):
            return Machine(*marshal.loads(kept[SIZE:]))
    return None


def write(name: str, key: str, machine: Machine) -> None:
    """Keep it in the first folder that can be written, at once or not at all; without a folder, do not."""
    content = marshal.dumps(tuple(machine))
    for path in _paths(name, key):
        part = f"{path}.{os.getpid()}-{threading.get_ident()}"
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(part, "wb") as file:
                file.write(_digest(key, content) + content)
            os.replace(part, path)
            return
        except OSError:
            with contextlib.suppress(OSError):
                os.remove(part)


def _paths(name: str, key: str) -> list[str]:
    file = f"{name}-{_digest(key, b'').hex()[:32]}.native"
    return [os.path.join(folder, file) for folder in folders()]


def _digest(key: str, content: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(key.encode()).digest() + content).digest()
