"""A compact copy of the rows of a source: parsed once, and read in every further pass.

The copy is one file, in a folder that only this user can write; `cache_file` describes its bytes. It is written under
another name and renamed when complete. It belongs to one state of the source's files, and can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import tempfile
import warnings
import weakref
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import accumulate, islice
from typing import Any, BinaryIO

from perceptrons import __version__
from perceptrons.core.jit.private import is_own
from perceptrons.data import cache_file, files
from perceptrons.data.atomic import LONGEST, Folder, remove_left_behind, replaced_in
from perceptrons.data.batches import Batch, Source, in_order
from perceptrons.data.cache_file import Doubt, Entry
from perceptrons.data.cache_folder import open_folder
from perceptrons.data.whole import SHARE, free_space

AHEAD = 3  # batches that are read or written while another one is in use
NAME = r"[^/]*\.[0-9a-f]{16}\.cache"  # of a copy


class NoCopy(Exception):
    """There will be no copy: the files have changed in the meantime, or the disk is full."""


class Copy:
    """An open copy; its rows stay readable even if the file is deleted.

    Parameters
    ----------
    file : binary file
    signature : dict
        What the source depends on.
    """

    def __init__(self, file: BinaryIO, signature: dict[str, Any]) -> None:
        self.table, self.encoding = cache_file.read_contents(file, signature)
        self.verified: set[int] = set()  # batches that are known to be intact
        # The width of svmlight files without n_features is that of the widest row.
        self.narrowest = 1 if signature.get("n_features", 1) is None else self.table[0].features
        self.file = os.dup(file.fileno())
        weakref.finalize(self, os.close, self.file)

    def batch(self, number: int) -> Batch | Doubt:
        """Read a batch, in a worker."""
        before = self.table[number - 1].features if number else self.narrowest
        try:
            found = cache_file.read_batch(
                self.file, self.table[number], before=before, verified=number in self.verified
            )
        except Doubt as doubt:
            return doubt
        self.verified.add(number)
        return found


class Cached(Source):
    """A source that is parsed once, and then read from a copy of its rows.

    Once the copy exists, batches can be read in any order.

    Parameters
    ----------
    source : Source
    folder : str, optional
        Where to keep the copy; see `open_folder`. If the user has no folder for caches, or if the rows come from
        standard input, the copy is a temporary file, which ends with this object.
    """

    def __init__(self, source: Source, folder: str | None = None) -> None:
        self.source, self.name, self.n_bytes = source, source.name, source.n_bytes
        self.encoding, self.scale = source.encoding, source.scale
        self.folder, self.paths = folder, source.paths
        self._signature = {"version": __version__, **source.signature()}
        what = {**self._signature, "files": [path for path, *_ in self._signature["files"]]}
        digest = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()
        self._name = f"{os.path.basename(self.paths[0])[: LONGEST - 23]}.{digest[:16]}.cache"
        self.path = ""  # of the copy, for messages
        self._copy: Copy | None = None  # once it exists
        self._no_room = False  # whether the disk was full
        self._find()

    def signature(self) -> dict[str, Any]:
        return self.source.signature()

    def again(self, often: bool = True) -> Source:
        return self

    @property
    def table(self) -> list[Entry] | None:
        """The table of contents of the copy, once it exists."""
        return None if self._copy is None else self._copy.table

    @property
    def starts(self) -> list[int]:
        """The number of each batch's first row."""
        assert self.table is not None
        return [0, *accumulate(entry.rows for entry in self.table)]

    def batches(self, order: Sequence[int] | None = None) -> Iterator[Batch]:
        """Read all batches.

        Parameters
        ----------
        order : sequence of int, optional
            Numbers of the batches; only once the copy exists.

        Yields
        ------
        Batch
        """
        return self._made() if self._copy is None else self._read(self._copy, order)

    # -- reading ----------------------------------------------------------------------------------------------

    def _find(self) -> None:
        """Open the existing copy if it is complete and the files have not changed since."""
        folder = None if self.is_stream else open_folder(self.folder, make=False)
        if folder is None:
            return
        with contextlib.suppress(OSError, Doubt), folder, folder.read(self._name) as file:
            if not is_own(file.fileno()):
                return
            self._use(file)
            self.path = os.path.join(folder.path, self._name)
            if os.utime in os.supports_fd:
                os.utime(file.fileno())  # it is not stale

    def _use(self, file: BinaryIO) -> None:
        """Read from this copy from now on, if it is sound."""
        self._copy = Copy(file, self._signature)
        self.encoding = self.encoding if self._copy.encoding is None else self._copy.encoding

    def _read(self, copy: Copy, order: Sequence[int] | None) -> Iterator[Batch]:
        """Read batches of the copy. If it turns out to be damaged, go on with the source, and make a new copy."""
        for number, batch in enumerate(self._until_damaged(copy, range(len(copy.table)) if order is None else order)):
            if not isinstance(batch, Doubt):
                yield batch
                continue
            changed = self.is_stream or self.source.signature()["files"] != self._signature["files"]
            if changed or order is not None:
                raise files.DataError(f"{self.path} is damaged: {batch}. Run this again, and it will be made anew")
            self._copy = None
            with contextlib.closing(self._made()) as anew:
                yield from islice(anew, number, None)  # the batches of a source are always the same
            return

    def _until_damaged(self, copy: Copy, order: Sequence[int]) -> Iterator[Batch | Doubt]:
        """Read batches of the copy, up to the first that is damaged."""
        total, done = sum(entry.rows for entry in copy.table), 0
        size = self.n_bytes or os.fstat(copy.file).st_size
        with ThreadPoolExecutor(2) as pool:
            tasks = (pool.submit(copy.batch, number) for number in order)
            for number, batch in zip(order, in_order(tasks, AHEAD), strict=True):
                done += copy.table[number].rows
                self.bytes_done = int(done / total * size)
                yield batch
                if isinstance(batch, Doubt):
                    return

    # -- writing ----------------------------------------------------------------------------------------------

    def _made(self) -> Generator[Batch, None, None]:
        """Read the batches of the source and write the copy meanwhile; it is complete after the last batch."""
        table: list[Entry] = []
        with contextlib.suppress(NoCopy), self._kept() as file, ThreadPoolExecutor(1) as pool:
            head = cache_file.header(self._signature)
            if not self._no_room:
                with self._if_room():
                    cache_file.put(file, head)
            under_way: list[Future[Entry]] = []
            room = free_space(file.fileno()) // SHARE
            for batch in self.source.batches():
                if not self._no_room and table and table[-1].at > room:
                    with self._if_room():
                        raise OSError(errno.ENOSPC, "it would take more than half of the free space")
                if not self._no_room:
                    under_way.append(pool.submit(cache_file.write_batch, file, batch))
                if len(under_way) > AHEAD:
                    with self._if_room():
                        table.append(under_way.pop(0).result())
                if self._no_room and under_way:  # give back the disk space
                    under_way.clear()
                    pool.submit(file.truncate, 0)
                self.bytes_done, self.encoding = self.source.bytes_done, self.source.encoding
                yield batch
            if not self._no_room:
                with self._if_room():
                    table += [task.result() for task in under_way]
                    cache_file.put(file, cache_file.footer(head, self.encoding, table))
                    file.flush()
            if self._no_room or not (self.is_stream or self.source.signature()["files"] == self._signature["files"]):
                raise NoCopy
        if self._copy is None and not self._no_room:
            self._find()
        if self._copy is not None and self._copy.table == table:
            self._copy.verified = set(range(len(table)))

    @contextlib.contextmanager
    def _kept(self) -> Iterator[BinaryIO]:
        """Open a file for the copy, which is kept if the block ends without an error."""
        with contextlib.ExitStack() as stack:
            folder = None if self.is_stream else open_folder(self.folder, make=True)
            if folder is not None:
                stack.enter_context(folder)
                self.path = os.path.join(folder.path, self._name)
                try:
                    file = stack.enter_context(replaced_in(folder, self._name, private=True, durable=False))
                except OSError as error:
                    if self.folder is not None:
                        what = f"{self.folder} cannot hold a copy of the rows: {error.strerror or error}"
                        raise files.DataError(f"{what}. Name another folder for it") from error
                else:
                    yield file
                    remove_stale(folder, self._name)
                    with self._if_room():
                        stack.close()
                    return
            self.path = f"a temporary file in {tempfile.gettempdir()}"
            file = stack.enter_context(tempfile.TemporaryFile())
            yield file
            with contextlib.suppress(Doubt):
                file.seek(0)
                self._use(file)

    @contextlib.contextmanager
    def _if_room(self) -> Iterator[None]:
        """Continue without a copy if it cannot be written."""
        try:
            yield
        except OSError as error:
            what = f"{self.path}: cannot keep a copy of the rows for further passes: {error.strerror or error}"
            if self.is_stream:
                raise files.DataError(f"{what}. Free some space, or set TMPDIR to a folder that has space") from error
            self._no_room = True
            warnings.warn(
                f"{what}. Every pass parses all files again; free some space, or name another folder for the copy",
                stacklevel=2,
            )


def remove_stale(folder: Folder, name: str) -> None:
    """Remove copies that nobody needs, and what killed processes left behind; `name` is the copy in use.

    A process that reads from a removed copy has opened it, so that its rows stay.
    """
    remove_left_behind(folder, NAME)
    with contextlib.suppress(OSError):
        for other in folder.names():
            if other != name and re.fullmatch(NAME, other):
                with contextlib.suppress(OSError), folder.read(other) as file:
                    if cache_file.is_stale(file):
                        folder.remove(other)
