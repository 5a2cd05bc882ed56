"""A compact copy of the rows of a source: parsed once, read again in every further pass.

One file: the arrays of each batch after each other, then a table of what is where, in JSON. It is made under another
name and renamed when it is whole, belongs to one state of the source's files, and can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import mmap
import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import accumulate
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from perceptrons import __version__
from perceptrons.core.rows import GOOD, survey
from perceptrons.data import files
from perceptrons.data.arrays import Rows, readonly
from perceptrons.data.atomic import replaced
from perceptrons.data.batches import Batch, Source, in_order

MAGIC = b"perceptrons cache 1\n"
FOOT = 8 + 32 + len(MAGIC)  # at the very end: length and digest of the table
AHEAD = 3  # batches that are read or written while another is learned from
ALIGNED = 8
SAMPLE = 1000  # values that tell most often that float32 does not hold all of them

Array = npt.NDArray[Any]


class NotKept(Exception):
    """A copy that is not to be taken for the rows: it is not whole, or the files have changed meanwhile."""


class Cached(Source):
    """A source that is read once, and then from its copy. Batches can be visited in any order once the copy is there.

    folder: where the copy lies; beside the first file by default, or in a temporary folder where that cannot be written
    or the rows come from standard input.
    """

    def __init__(self, source: Source, folder: str | None = None) -> None:
        paths = source.paths
        self.source, self.name, self.n_bytes = source, source.name, source.n_bytes
        self.encoding = source.encoding
        self._signature = {"version": __version__, **source.signature()}
        self.paths = paths
        beside = os.path.dirname(os.path.abspath(paths[0]))
        if self.fleeting or (folder is None and not os.access(beside, os.W_OK)):
            folder = tempfile.mkdtemp(prefix="perceptrons-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        what = {**self._signature, "files": [path for path, *_ in self._signature["files"]]}
        name = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:8]
        first = "stdin" if paths[0] == files.STDIN else os.path.basename(paths[0])
        self.path = os.path.join(folder or beside, f"{first}.{name}.cache")
        self.table: list[dict[str, Any]] | None = None  # what is where, once the copy is there
        self._known: set[int] = set()  # batches that have been found whole
        self._file = -1  # the copy, open: whatever becomes of its name, these rows stay
        self._full = False  # whether there was no room for a copy
        self._find()

    def signature(self) -> dict[str, Any]:
        return self.source.signature()

    def again(self, often: bool = True) -> Source:
        return self

    @property
    def starts(self) -> list[int]:
        """The number of each batch's first row."""
        assert self.table is not None
        return [0, *accumulate(entry["rows"] for entry in self.table)]

    def batches(self, order: Sequence[int] | None = None) -> Iterator[Batch]:
        """All batches; in another order only once the copy is there."""
        if self.table is None:
            return self._made()
        return self._read(self.table, range(len(self.table)) if order is None else order)

    # -- reading ----------------------------------------------------------------------------------------------

    def _find(self) -> None:
        """Take the copy that is there, if it is whole and of these files as they are now."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError), open(self.path, "rb") as file:
            file.seek(-FOOT, os.SEEK_END)
            end = file.tell()
            size, digest, magic = int.from_bytes(file.read(8), "little"), file.read(32), file.read()
            if magic != MAGIC or size > end:
                return
            file.seek(end - size)
            content = file.read(size)
            foot = json.loads(content)
            if hashlib.sha256(content).digest() != digest or foot["signature"] != self._signature:
                return
            if foot["encoding"] is not None:
                self.encoding = type(self.encoding).from_state(*foot["encoding"])
            self._file = os.dup(file.fileno())
            weakref.finalize(self, os.close, self._file)
            self.table = foot["batches"]

    def _read(self, table: list[dict[str, Any]], order: Sequence[int]) -> Iterator[Batch]:
        size = os.fstat(self._file).st_size
        total = sum(entry["rows"] for entry in table)
        done = 0
        with ThreadPoolExecutor(2) as pool:
            tasks = (pool.submit(read_batch, self._file, table[number], number in self._known) for number in order)
            for number, batch in zip(order, in_order(tasks, AHEAD), strict=True):
                if batch is None:
                    raise files.DataError(f"{self.path} is damaged: delete it, it will be made again")
                self._known.add(number)
                done += table[number]["rows"]
                self.bytes_done = int(done / max(1, total) * (self.n_bytes or size))
                yield batch

    # -- writing ----------------------------------------------------------------------------------------------

    def _made(self) -> Iterator[Batch]:
        """The batches of the source, while the copy is written; it is there when the last one has been taken."""
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        table: list[dict[str, Any]] = []
        with contextlib.suppress(NotKept), replaced(self.path, durable=False) as file, ThreadPoolExecutor(1) as pool:
            under_way: list[Future[dict[str, Any]]] = []
            for batch in self.source.batches():
                if not self._full:
                    under_way.append(pool.submit(write_batch, file, batch))
                if len(under_way) > AHEAD:
                    with self._if_room():
                        table.append(under_way.pop(0).result())
                if self._full and under_way:  # let go of the room that was taken
                    under_way.clear()
                    pool.submit(file.truncate, 0)
                self.bytes_done, self.encoding = self.source.bytes_done, self.source.encoding
                yield batch
            if not self._full:
                with self._if_room():
                    table += [task.result() for task in under_way]
                    put(file, self._foot(table))
                    file.flush()
            if self._full or not (self.fleeting or self.source.signature()["files"] == self._signature["files"]):
                raise NotKept
        if not self._full:
            self._find()
            self._known = set(range(len(table))) if self.table == table else set()

    def _foot(self, table: list[dict[str, Any]]) -> bytes:
        """What comes after the batches."""
        encoding = None if self.encoding is None else self.encoding.state()
        content = json.dumps({"signature": self._signature, "encoding": encoding, "batches": table}).encode()
        return content + len(content).to_bytes(8, "little") + hashlib.sha256(content).digest() + MAGIC

    @contextlib.contextmanager
    def _if_room(self) -> Iterator[None]:
        """Go on without a copy where it cannot be written."""
        try:
            yield
        except OSError as error:
            what = f"{self.path}: no copy of the rows for further passes can be kept: {error.strerror or error}"
            if self.fleeting:
                raise files.DataError(f"{what}. Make room there, or set TMPDIR to a folder that has some") from error
            self._full = True
            warnings.warn(
                f"{what}. All files are parsed in every pass; make room there, or name another folder for it",
                stacklevel=2,
            )


def write_batch(file: Any, batch: Batch) -> dict[str, Any]:
    """Append a batch; returns what is needed to read it. Values that float32 holds exactly are kept as such."""
    values, indices, indptr = batch.rows.arrays
    if fits(values.ravel()[:SAMPLE]) and fits(values):
        values = values.astype(np.float32)
    parts = {"values": values, "indices": indices, "indptr": indptr, "y": batch.y, "sq_norm": batch.rows.sq_norm}
    arrays = {name: np.ascontiguousarray(array) for name, array in parts.items() if array is not None}
    begin = file.seek(0, os.SEEK_END)
    entry = {"at": begin, "rows": len(batch.rows), "features": batch.rows.n_features}
    total = 0
    for array in arrays.values():
        content = raw(array)
        put(file, content)
        put(file, bytes(-array.nbytes % ALIGNED))
        total += checksum(content)
    size = file.tell() - begin
    put(file, bytes(-size % mmap.ALLOCATIONGRANULARITY))  # where a batch begins, memory can be mapped
    described = {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()}
    kind = batch.rows.values.dtype.str
    return {**entry, "size": size, "wide": kind, "sum": total % 2**64, "arrays": described}


def raw(array: Array) -> memoryview:
    """The bytes of an array."""
    return memoryview(cast(Any, array.reshape(-1).view(np.uint8)))


def put(file: Any, content: bytes | memoryview) -> None:
    """Write all of it."""
    while len(content):
        content = content[file.write(content) :]


def fits(values: Array) -> bool:
    """Whether float32 holds these values exactly."""
    with np.errstate(over="ignore"):
        return bool((values.astype(np.float32) == values).all())


def checksum(content: memoryview) -> int:
    """The sum of all words, and of what is left: blocks that the disk lost or mixed up show."""
    even = len(content) - len(content) % ALIGNED
    return int(np.add.reduce(np.frombuffer(content[:even], dtype=np.uint64))) + int.from_bytes(content[even:], "little")


def read_batch(file: int, entry: dict[str, Any], known: bool) -> Batch | None:
    """The batch that `write_batch` wrote, read where it lies; `known` to be whole, or None if it is not."""
    try:
        content = mmap.mmap(file, entry["size"], access=mmap.ACCESS_READ, offset=entry["at"])
    except (OSError, ValueError):
        return None
    arrays, at, total = {}, 0, 0
    for name, (kind, shape) in entry["arrays"].items():
        array = np.frombuffer(content, dtype=np.dtype(kind), count=math.prod(shape), offset=at).reshape(shape)
        arrays[name], at = readonly(array), at + array.nbytes + -array.nbytes % ALIGNED
        total += 0 if known else checksum(raw(array))
    values = readonly(arrays["values"].astype(np.dtype(entry["wide"]), copy=False))
    parts = values, arrays.get("indices"), arrays.get("indptr")
    if not known and (total % 2**64 != entry["sum"] or survey(*parts, np.uint64(entry["features"]))[1] != GOOD):
        return None
    return Batch(Rows(*parts, entry["features"], arrays["sq_norm"]), arrays.get("y"))
