"""Replace a file atomically: at every moment either the old file or the new one is complete.

The new file is written beside the old one, flushed to the disk, and renamed. A process that is killed leaves its
temporary file behind; the next one that saves there removes it. A lock, which ends with the process, shows whether a
temporary file is still being written.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows does not remove open files, so they need no lock
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replaced(path: str | os.PathLike[str], *, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a file that replaces the one at `path` when the block ends without an error.

    After an error the old file is unchanged.

    Parameters
    ----------
    path : str or path
    durable : bool, default=True
        Wait until the new file is on the disk. Without this, a power failure may leave a damaged file.

    Yields
    ------
    binary file
    """
    target = os.path.realpath(path)  # replace the target of a link, not the link
    mode = _mode(target)
    _remove_left_behind(target)
    with _temporary(target) as file:
        try:
            yield file
            file.flush()
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)
            if durable:
                os.fsync(file.fileno())
            if fcntl is not None:  # rename while the lock is held, so that nobody removes it
                os.replace(file.name, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(file.name)
            raise
    if fcntl is None:  # Windows does not rename open files
        os.replace(file.name, target)
    if durable:
        _sync_folder(os.path.dirname(target))


def _mode(target: str) -> int | None:
    """The permissions of the existing file, if any; refuse devices and pipes."""
    try:
        found = os.stat(target)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{target} is not a regular file: save under another name")
    return stat.S_IMODE(found.st_mode)


@contextmanager
def _temporary(target: str) -> Iterator[BinaryIO]:
    """A new, locked file beside the target."""
    folder, name = os.path.split(target)
    while True:
        path = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.tmp")
        try:
            file = open(path, "x+b")
        except OSError as error:  # report the name that the caller gave
            raise type(error)(error.errno, error.strerror, target) from None
        with file:
            if fcntl is not None:
                with suppress(OSError):  # some network drives have no locks
                    fcntl.flock(file, fcntl.LOCK_EX)
            if os.path.exists(path):  # another process may have removed it before it was locked
                yield file
                return


def _remove_left_behind(target: str) -> None:
    """Remove temporary files of this target whose writers have ended."""
    if fcntl is None:
        return
    folder, name = os.path.split(target)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(f".{name}.") and entry.name.endswith(".tmp"):
                with suppress(OSError), open(entry.path, "rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(entry.path)


def _sync_folder(folder: str) -> None:
    """Flush the new name to the disk, too."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
