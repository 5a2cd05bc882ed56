"""Writing a file so that at every moment the old one or the new one is there, whole.

The new one is written beside the old one, brought to the disk, and renamed. A process that is killed leaves its
temporary file behind; the next one that saves there removes it. That nobody is writing to it any more is known by its
lock, which ends with the process.
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
except ImportError:  # on Windows files that are being written cannot be removed, and need no lock
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replaced(path: str | os.PathLike[str], *, durable: bool = True) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of the one at `path` if all goes well; else nothing has happened.

    durable: wait until the new one is on the disk. Else a machine that loses power may leave a damaged one.
    """
    target = os.path.realpath(path)  # what a link points to is replaced, not the link
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
            if fcntl is not None:  # renamed while it is locked: nobody takes it for one left behind
                os.replace(file.name, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(file.name)
            raise
    if fcntl is None:  # Windows renames no open files
        os.replace(file.name, target)
    if durable:
        _sync_folder(os.path.dirname(target))


def _mode(target: str) -> int | None:
    """The permissions of the file that is there, if any. Devices and pipes are not to be replaced."""
    try:
        found = os.stat(target)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{target} is no regular file: save under another name")
    return stat.S_IMODE(found.st_mode)


@contextmanager
def _temporary(target: str) -> Iterator[BinaryIO]:
    """A new, locked file beside the target."""
    folder, name = os.path.split(target)
    while True:
        path = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.tmp")
        try:
            file = open(path, "x+b")
        except OSError as error:  # told of the name that was asked for
            raise type(error)(error.errno, error.strerror, target) from None
        with file:
            if fcntl is not None:
                with suppress(OSError):  # some network drives know no locks
                    fcntl.flock(file, fcntl.LOCK_EX)
            if os.path.exists(path):  # it might have been taken for one left behind before it was locked
                yield file
                return


def _remove_left_behind(target: str) -> None:
    """Remove temporary files of this target whose writers are gone."""
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
    """Bring the new name to the disk, too."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
