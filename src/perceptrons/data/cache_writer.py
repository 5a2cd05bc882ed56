"""A copy of rows while it is written. Where the system allows it, the file has no name until it is complete.

So a process that is killed leaves nothing behind. Elsewhere it leaves a temporary file, which the next one removes.
"""

from __future__ import annotations

import errno
import os
import secrets
import tempfile
from collections import deque
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from typing import Any, BinaryIO

from perceptrons.data import cache_file
from perceptrons.data.atomic import LONGEST, Folder, replaced_in
from perceptrons.data.batches import Batch, pool
from perceptrons.data.cache_file import Entry
from perceptrons.data.whole import SHARE, free_space

AHEAD = 3  # batches that are read or written while another one is in use
OPEN = "/proc/self/fd"  # the open files of this process, in Linux


class Discarded(Exception):
    """The file is not kept."""


class Writer:
    """Writes a copy, batch by batch, if possible in a thread of its own. An OSError tells that it cannot be written.

    Parameters
    ----------
    signature : dict
        What the source depends on.
    folder : Folder, optional
        Where to keep the copy; closed with this object. Without it, the copy is a temporary file.
    name : str
        Of the copy.
    """

    def __init__(self, signature: dict[str, Any], folder: Folder | None = None, name: str = "") -> None:
        self.folder, self.name, self.table = folder, name, list[Entry]()
        self.file: BinaryIO
        self._head = cache_file.header(signature)
        self._under_way: deque[Future[Entry]] = deque()
        self._around, self._stack = ExitStack(), ExitStack()
        if folder is not None:
            self._around.enter_context(folder)
        try:
            self._unnamed = folder is not None and self._begin_unnamed(folder)
            if folder is None:
                self.file = self._stack.enter_context(tempfile.TemporaryFile())
            elif not self._unnamed:
                self.file = self._stack.enter_context(replaced_in(folder, name, private=True, durable=False))
            self._pool, self._ahead = pool(1, AHEAD)
            self._stack.callback(self._pool.shutdown, cancel_futures=True)
            self._room = free_space(self.file.fileno()) // SHARE
            cache_file.put(self.file, self._head)
        except BaseException:
            self.close()
            raise

    def _begin_unnamed(self, folder: Folder) -> bool:
        """Open a file without a name; return whether the system can do that."""
        if not hasattr(os, "O_TMPFILE") or folder.handle is None or not os.path.isdir(OPEN):
            return False
        with suppress(OSError):  # some file systems cannot
            handle = os.open(os.curdir, os.O_TMPFILE | os.O_RDWR, 0o600, dir_fd=folder.handle)
            self.file = self._stack.enter_context(open(handle, "w+b"))
            return True
        return False

    @property
    def size(self) -> int:
        """The number of bytes written so far."""
        return os.fstat(self.file.fileno()).st_size

    def add(self, batch: Batch) -> None:
        """Write a batch."""
        if self.table and self.table[-1].at > self._room:
            raise OSError(errno.ENOSPC, "it would take more than half of the free space")
        self._under_way.append(self._pool.submit(cache_file.write_batch, self.file, batch))
        if len(self._under_way) > self._ahead:
            self.table.append(self._under_way.popleft().result())

    def finish(self, encoding: Any) -> None:
        """Write what is left: batches, and the table of contents with the encoding of a table's columns."""
        while self._under_way:
            self.table.append(self._under_way.popleft().result())
        cache_file.put(self.file, cache_file.footer(self._head, encoding, self.table))
        self.file.flush()

    def keep(self) -> None:
        """Give the file its name, and close it. It replaces a file of this name."""
        if self._unnamed:
            assert self.folder is not None
            _link(self.file, self.folder, self.name)
        self._stack.close()

    def close(self) -> None:
        """Close the file; if it was not kept, it is gone."""
        error = Discarded()
        self._stack.__exit__(Discarded, error, None)
        self._around.close()


def _link(file: BinaryIO, folder: Folder, name: str) -> None:
    """Give a name to a file without one. Under the lock, no other process takes it for one left behind."""
    import fcntl  # not on every system, but on those with files without a name

    with suppress(OSError):  # some network drives have no locks
        fcntl.flock(file, fcntl.LOCK_EX)
    part = f".{name[:LONGEST]}.{secrets.token_hex(8)}.tmp"
    os.link(f"{OPEN}/{file.fileno()}", part, dst_dir_fd=folder.handle)
    try:
        folder.rename(part, name)  # a link alone cannot replace a file
    except BaseException:
        with suppress(OSError):
            folder.remove(part)
        raise
