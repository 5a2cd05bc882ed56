"""Rows that are parsed once, and read in every further pass: from memory if they are few, otherwise from a copy.

The copy is one file, in a folder that only this user can write; `cache_file` describes its bytes. It gets its name when
it is complete. It belongs to one state of the source's files, and can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import warnings
from collections.abc import Generator, Iterator, Sequence
from itertools import accumulate, chain, islice
from typing import Any, BinaryIO

from perceptrons import __version__
from perceptrons.core.jit.private import is_own
from perceptrons.data import files
from perceptrons.data.atomic import LONGEST, POSIX
from perceptrons.data.batches import Batch, Source, in_order, pool
from perceptrons.data.cache_copy import Copy
from perceptrons.data.cache_file import Doubt, Entry
from perceptrons.data.cache_folder import open_folder
from perceptrons.data.cache_limit import limit_given, most_bytes, remove_needless
from perceptrons.data.cache_writer import AHEAD, Writer

MEMORY = 1 << 26  # bytes of rows that are kept in memory; more rows are written to a copy


class Cached(Source):
    """A source that is parsed once, and then read from memory or from a copy of its rows.

    Once it is `ready`, batches can be read in any order.

    Parameters
    ----------
    source : Source
    folder : str, optional
        Where to keep the copy; see `open_folder`. Without it, few rows stay in memory, and there is no copy. If the
        folder cannot be used, or if the rows come from standard input or a data frame, the copy is a temporary file,
        which ends with this object. Without space for that either, every pass parses the files.
    """

    def __init__(self, source: Source, folder: str | None = None) -> None:
        self.source, self.name, self.n_bytes = source, source.name, source.n_bytes
        self.encoding, self.scale = source.encoding, source.scale
        self.folder, self.paths = folder, source.paths
        self._unnamed = self.is_stream or not self.paths  # nothing would find its copy again
        self.memory = MEMORY if folder is None or self._unnamed else 0  # whoever names a folder wants the copy there
        self._signature = {"version": __version__, **source.signature()}
        what = {**self._signature, "files": [path for path, *_ in self._signature["files"]]}
        digest = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()
        self._name = f"{os.path.basename(self.paths[0] if self.paths else '')[: LONGEST - 23]}.{digest[:16]}.cache"
        self.path = ""  # of the copy, for messages
        self._held: list[Batch] = []  # all batches, if they stay in memory
        self._copy: Copy | None = None  # once it exists
        self._no_room = False  # whether there is no place for a copy
        self._limit = limit_given()
        self._find()

    def signature(self) -> dict[str, Any]:
        return self.source.signature()

    def again(self, often: bool = True) -> Source:
        return self

    def shards(self, n: int | None = None) -> list[Source]:
        return self.source.shards(n)

    @property
    def numbers_as_read(self) -> bool:
        return self.source.numbers_as_read

    @property
    def table(self) -> list[Entry] | None:
        """The table of contents of the copy, once it exists."""
        return None if self._copy is None else self._copy.table

    @property
    def ready(self) -> bool:
        """Whether all batches are in memory or in a copy, so that they can be read in any order."""
        return bool(self._held) or self._copy is not None

    @property
    def starts(self) -> list[int]:
        """The number of each batch's first row, and the number of all rows; only once this source is ready."""
        return [0, *accumulate(self._sizes())]

    def _sizes(self) -> list[int]:
        """The number of rows in each batch."""
        return [len(batch.rows) for batch in self._held] or [entry.rows for entry in self.table or []]

    def batches(self, order: Sequence[int] | None = None) -> Iterator[Batch]:
        """Read all batches.

        Parameters
        ----------
        order : sequence of int, optional
            Numbers of the batches; only once this source is ready.

        Yields
        ------
        Batch
        """
        if self._copy is not None:
            return self._read(self._copy, order)
        if self._held:
            numbers = range(len(self._held)) if order is None else order
            return self._told(numbers, (self._held[number] for number in numbers))
        return self._parsed() if self._no_room else self._made()

    def piece(self, number: int, begin: int, end: int, *, narrow: bool = False) -> Batch:
        """Read some rows of a batch, once this source is ready.

        Parameters
        ----------
        number : int
            Number of the batch.
        begin, end : int
            The first row, and the row after the last.
        narrow : bool, default=False
            Whether values may stay float32 if they are so in the copy.

        Returns
        -------
        Batch
        """
        if self._held:
            rows, y = self._held[number]
            return Batch(rows.part(begin, end), None if y is None else y[begin:end])
        assert self._copy is not None
        found = self._copy.piece(number, begin, end, narrow)
        if isinstance(found, Doubt):
            raise files.DataError(f"{self.path} is damaged: {found}. Run this again, and it will be made anew")
        return found

    # -- reading ----------------------------------------------------------------------------------------------

    def _find(self) -> None:
        """Open the existing copy if it is complete and the files have not changed since."""
        with contextlib.suppress(OSError, Doubt), contextlib.ExitStack() as stack:
            if self._unnamed:
                return
            folder = stack.enter_context(open_folder(self.folder, make=False))
            file = stack.enter_context(folder.read(self._name))
            if not is_own(file.fileno()):
                return
            self._use(file)
            self.path = os.path.join(folder.path, self._name)
            if os.utime in os.supports_fd:
                os.utime(file.fileno())  # it is not stale

    def _use(self, file: BinaryIO) -> None:
        """Read from this copy from now on, if it is sound."""
        file.seek(0)
        self._copy = Copy(file, self._signature)
        self.encoding = self.encoding if self._copy.encoding is None else self._copy.encoding

    def _read(self, copy: Copy, order: Sequence[int] | None) -> Iterator[Batch]:
        """Read batches of the copy. If it turns out to be damaged, go on with the source, and make a new copy."""
        numbers, done, damage = range(len(copy.table)) if order is None else order, 0, None
        workers, ahead = pool(2, AHEAD)
        with workers:
            tasks = (workers.submit(copy.batch, number) for number in numbers)
            for batch in self._told(numbers, in_order(tasks, ahead)):
                if isinstance(batch, Doubt):
                    damage = batch
                    break
                yield batch
                done += 1
        if damage is None:
            return
        if order is not None or self.is_stream or not self._unchanged():
            raise files.DataError(f"{self.path} is damaged: {damage}. Run this again, and it will be made anew")
        self._copy, self.memory = None, 0
        with contextlib.closing(self._made()) as anew:
            yield from islice(anew, done, None)  # the batches of a source are always the same

    def _told(self, numbers: Sequence[int], batches: Iterator[Any]) -> Iterator[Any]:
        """The same batches; `bytes_done` tells how far they have come."""
        sizes = self._sizes()
        total, done = sum(sizes), 0
        size = self.n_bytes or (0 if self._copy is None else os.fstat(self._copy.file).st_size)
        for number, batch in zip(numbers, batches, strict=True):
            done += sizes[number]
            self.bytes_done = int(done / total * size)
            yield batch

    def _parsed(self, batches: Iterator[Batch] | None = None) -> Iterator[Batch]:
        """Parse the files."""
        for batch in self.source.batches() if batches is None else batches:
            self.bytes_done, self.encoding = self.source.bytes_done, self.source.encoding
            yield batch

    def _unchanged(self) -> bool:
        """Whether the files are still those that the copy is made of."""
        return self.is_stream or bool(self.source.signature()["files"] == self._signature["files"])

    # -- writing ----------------------------------------------------------------------------------------------

    def _made(self) -> Generator[Batch, None, None]:
        """Parse the files and keep the batches: in memory, or, if they are too large, in a copy."""
        batches, held, size = self._parsed(), list[Batch](), 0
        for batch in batches:
            held.append(batch)
            size += batch.n_bytes
            if size > self.memory:
                yield from self._copied(held, batches)
                return
            yield batch
        if self._unchanged():
            self._held = held

    def _copied(self, held: list[Batch], batches: Iterator[Batch]) -> Generator[Batch, None, None]:
        """Write a copy: first the batches held so far, of which only the last is new; then the others."""
        known, writer = len(held) - 1, self._writer()
        try:
            for number, batch in enumerate(chain(_taken(held), batches)):
                if writer is not None:
                    with self._if_room():
                        writer.add(batch)
                if writer is not None and self._no_room:  # give back the disk space
                    writer.close()
                    writer = None
                if number >= known:
                    yield batch
            if writer is not None and self._unchanged():
                with self._if_room():
                    self._finish(writer)
        finally:
            if writer is not None:
                writer.close()
        if writer is not None and self._copy is None and not self._no_room:
            self._find()
        if writer is not None and self._copy is not None and self._copy.table == writer.table:
            self._copy.verified = set(range(len(writer.table)))

    def _writer(self) -> Writer | None:
        """Begin a copy: in the folder, or in a temporary file; None if neither is possible."""
        if not self._unnamed:
            try:
                folder = open_folder(self.folder, make=True)
                self.path = os.path.join(folder.path, self._name)
                return Writer(self._signature, folder, self._name)
            except OSError as error:
                if self.folder is not None:
                    what = f"{self.folder} cannot hold a copy of the rows: {error.strerror or error}"
                    then = "A temporary file holds it for now; name another folder to keep it"
                    warnings.warn(f"{what}. {then}", stacklevel=2)
        self.path = "a temporary file"
        with self._if_room():
            self.path = f"a temporary file in {tempfile.gettempdir()}"
            return Writer(self._signature)
        return None

    def _finish(self, writer: Writer) -> None:
        """Complete the copy, and keep it if it is not larger than all copies may be."""
        writer.finish(self.encoding)
        if writer.folder is not None and writer.size <= most_bytes(writer.folder, self._limit):
            writer.keep()
            remove_needless(writer.folder, self._name, self._limit)
        elif writer.folder is None or POSIX:  # it ends with this object
            with contextlib.suppress(Doubt):
                self._use(writer.file)

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


def _taken(held: list[Batch]) -> Iterator[Batch]:
    """Take batches out of a list, so that they do not stay in memory."""
    held.reverse()
    while held:
        yield held.pop()
