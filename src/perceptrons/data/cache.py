"""A compact copy of the rows of a source: parsed once, and read in every further pass.

The copy is one file: the arrays of all batches, then a table of contents in JSON. It is written under another name and
renamed when complete. It belongs to one state of the source's files, and can be deleted at any time.
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
FOOT = 8 + 32 + len(MAGIC)  # bytes at the end: length and digest of the table of contents, and MAGIC
AHEAD = 3  # batches that are read or written while another one is in use
ALIGNED = 8
SAMPLE = 1000  # values to try first: they mostly show when float32 is not exact

Array = npt.NDArray[Any]


class NoCopy(Exception):
    """The copy cannot be used: it is incomplete, or the files have changed in the meantime."""


class Cached(Source):
    """A source that is parsed once, and then read from a copy of its rows.

    Once the copy exists, batches can be read in any order.

    Parameters
    ----------
    source : Source
    folder : str, optional
        Where to keep the copy. By default it is kept beside the first file; in a temporary folder if that folder cannot
        be written, or if the rows come from standard input.
    """

    def __init__(self, source: Source, folder: str | None = None) -> None:
        paths = source.paths
        self.source, self.name, self.n_bytes = source, source.name, source.n_bytes
        self.encoding = source.encoding
        self._signature = {"version": __version__, **source.signature()}
        self.paths = paths
        beside = os.path.dirname(os.path.abspath(paths[0]))
        if self.is_stream or (folder is None and not os.access(beside, os.W_OK)):
            folder = tempfile.mkdtemp(prefix="perceptrons-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        what = {**self._signature, "files": [path for path, *_ in self._signature["files"]]}
        name = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:8]
        first = "stdin" if paths[0] == files.STDIN else os.path.basename(paths[0])
        self.path = os.path.join(folder or beside, f"{first}.{name}.cache")
        self.table: list[dict[str, Any]] | None = None  # the table of contents, once the copy exists
        self._verified: set[int] = set()  # batches that are known to be intact
        self._file = -1  # the open copy: its rows stay readable even if the file is deleted
        self._no_room = False  # whether the disk was full
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
        """Read all batches.

        Parameters
        ----------
        order : sequence of int, optional
            Numbers of the batches; only once the copy exists.

        Yields
        ------
        Batch
        """
        if self.table is None:
            return self._made()
        return self._read(self.table, range(len(self.table)) if order is None else order)

    # -- reading ----------------------------------------------------------------------------------------------

    def _find(self) -> None:
        """Open the existing copy if it is complete and the files have not changed since."""
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
            tasks = (pool.submit(read_batch, self._file, table[number], number in self._verified) for number in order)
            for number, batch in zip(order, in_order(tasks, AHEAD), strict=True):
                if batch is None:
                    raise files.DataError(f"{self.path} is damaged: delete it, and it will be made again")
                self._verified.add(number)
                done += table[number]["rows"]
                self.bytes_done = int(done / max(1, total) * (self.n_bytes or size))
                yield batch

    # -- writing ----------------------------------------------------------------------------------------------

    def _made(self) -> Iterator[Batch]:
        """Read the batches of the source and write the copy meanwhile; it is complete after the last batch."""
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        table: list[dict[str, Any]] = []
        with contextlib.suppress(NoCopy), replaced(self.path, durable=False) as file, ThreadPoolExecutor(1) as pool:
            under_way: list[Future[dict[str, Any]]] = []
            for batch in self.source.batches():
                if not self._no_room:
                    under_way.append(pool.submit(write_batch, file, batch))
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
                    put(file, self._foot(table))
                    file.flush()
            if self._no_room or not (self.is_stream or self.source.signature()["files"] == self._signature["files"]):
                raise NoCopy
        if not self._no_room:
            self._find()
            self._verified = set(range(len(table))) if self.table == table else set()

    def _foot(self, table: list[dict[str, Any]]) -> bytes:
        """The bytes that follow the batches: the table of contents, its length and its digest."""
        encoding = None if self.encoding is None else self.encoding.state()
        content = json.dumps({"signature": self._signature, "encoding": encoding, "batches": table}).encode()
        return content + len(content).to_bytes(8, "little") + hashlib.sha256(content).digest() + MAGIC

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


def write_batch(file: Any, batch: Batch) -> dict[str, Any]:
    """Append a batch to the copy. Values that are exact in float32 are stored as float32.

    Parameters
    ----------
    file : binary file
    batch : Batch

    Returns
    -------
    dict
        The entry of the table of contents that `read_batch` takes.
    """
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
    put(file, bytes(-size % mmap.ALLOCATIONGRANULARITY))  # the next batch begins where memory can be mapped
    described = {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()}
    dtype = batch.rows.values.dtype.str
    return {**entry, "size": size, "wide": dtype, "sum": total % 2**64, "arrays": described}


def raw(array: Array) -> memoryview:
    """View the bytes of an array."""
    return memoryview(cast(Any, array.reshape(-1).view(np.uint8)))


def put(file: Any, content: bytes | memoryview) -> None:
    """Write all bytes, in several calls if necessary."""
    while len(content):
        content = content[file.write(content) :]


def fits(values: Array) -> bool:
    """Whether all values are exact in float32."""
    with np.errstate(over="ignore"):
        return bool((values.astype(np.float32) == values).all())


def checksum(content: memoryview) -> int:
    """Sum all 64-bit words and the remaining bytes, which shows blocks that the disk lost or mixed up."""
    even = len(content) - len(content) % ALIGNED
    return int(np.add.reduce(np.frombuffer(content[:even], dtype=np.uint64))) + int.from_bytes(content[even:], "little")


def read_batch(file: int, entry: dict[str, Any], verified: bool) -> Batch | None:
    """Map a batch that `write_batch` wrote into memory.

    Parameters
    ----------
    file : int
        File descriptor of the copy.
    entry : dict
        The batch's entry in the table of contents.
    verified : bool
        Whether the batch is known to be intact; otherwise it is checked.

    Returns
    -------
    Batch or None
        None if the batch is damaged.
    """
    try:
        content = mmap.mmap(file, entry["size"], access=mmap.ACCESS_READ, offset=entry["at"])
    except (OSError, ValueError):
        return None
    arrays, at, total = {}, 0, 0
    for name, (dtype, shape) in entry["arrays"].items():
        array = np.frombuffer(content, dtype=np.dtype(dtype), count=math.prod(shape), offset=at).reshape(shape)
        arrays[name], at = readonly(array), at + array.nbytes + -array.nbytes % ALIGNED
        total += 0 if verified else checksum(raw(array))
    values = readonly(arrays["values"].astype(np.dtype(entry["wide"]), copy=False))
    parts = values, arrays.get("indices"), arrays.get("indptr")
    if not verified and (total % 2**64 != entry["sum"] or survey(*parts, np.uint64(entry["features"]))[1] != GOOD):
        return None
    return Batch(Rows(*parts, entry["features"], arrays["sq_norm"]), arrays.get("y"))
