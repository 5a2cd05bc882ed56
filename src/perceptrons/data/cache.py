"""A compact copy of the rows of a source: parsed once, read again in every further pass.

One file: the arrays of each batch after each other, then a table of what is where, in JSON. It is made under another
name and renamed when it is whole, belongs to one state of the source's files, and can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.rows import GOOD, survey
from perceptrons.data import files
from perceptrons.data.arrays import Rows, readonly
from perceptrons.data.batches import Batch, Source, in_order

MAGIC = b"perceptrons cache 1\n"
FOOT = 8 + 32 + len(MAGIC)  # at the very end: length and digest of the table
AHEAD = 3  # batches that are read or written while another is learned from
ALIGNED = 8

Array = npt.NDArray[Any]


class Cached(Source):
    """A source that is read once, and then from its copy. Batches can be visited in any order once the copy is there.

    folder: where the copy lies; beside the first file by default, or in a temporary folder where that cannot be written
    or the rows come from standard input.
    """

    def __init__(self, source: Source, folder: str | None = None) -> None:
        paths = source.paths
        self.source, self.name, self.n_bytes = source, source.name, source.n_bytes
        self.encoding = source.encoding
        self._signature = json.loads(json.dumps(source.signature()))
        beside = os.path.dirname(os.path.abspath(paths[0]))
        if files.STDIN in paths or (folder is None and not os.access(beside, os.W_OK)):
            folder = tempfile.mkdtemp(prefix="perceptrons-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        what = {**self._signature, "files": [path for path, *_ in self._signature["files"]]}
        name = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:8]
        first = "stdin" if paths[0] == files.STDIN else os.path.basename(paths[0])
        self.path = os.path.join(folder or beside, f"{first}.{name}.cache")
        self.table: list[dict[str, Any]] | None = None  # what is where, once the copy is there
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
            self.table = foot["batches"]

    def _read(self, table: list[dict[str, Any]], order: Sequence[int]) -> Iterator[Batch]:
        size = os.path.getsize(self.path)
        total = sum(entry["rows"] for entry in table)
        done = 0
        with ThreadPoolExecutor(2) as pool:
            tasks = (pool.submit(read_batch, self.path, table[number]) for number in order)
            for number, batch in zip(order, in_order(tasks, AHEAD), strict=True):
                done += table[number]["rows"]
                self.bytes_done = int(done / max(1, total) * (self.n_bytes or size))
                yield batch

    # -- writing ----------------------------------------------------------------------------------------------

    def _made(self) -> Iterator[Batch]:
        """The batches of the source, while the copy is written; it is there when the last one has been taken."""
        folder, name = os.path.split(self.path)
        os.makedirs(folder, exist_ok=True)
        handle, path = tempfile.mkstemp(prefix=f".{name}.", suffix=".tmp", dir=folder)
        table: list[dict[str, Any]] = []
        try:
            with os.fdopen(handle, "wb", buffering=0) as file, ThreadPoolExecutor(1) as pool:
                under_way: list[Future[dict[str, Any]]] = []
                for batch in self.source.batches():
                    under_way.append(pool.submit(write_batch, file, batch))
                    if len(under_way) > AHEAD:
                        table.append(under_way.pop(0).result())
                    self.bytes_done = self.source.bytes_done
                    yield batch
                table += [task.result() for task in under_way]
                self.encoding = self.source.encoding
                encoding = None if self.encoding is None else self.encoding.state()
                foot = {"signature": self._signature, "encoding": encoding, "batches": table}
                content = json.dumps(foot).encode()
                digest = hashlib.sha256(content).digest()
                file.write(content + len(content).to_bytes(8, "little") + digest + MAGIC)
            if json.loads(json.dumps(self.source.signature()))["files"] == self._signature["files"]:
                os.replace(path, self.path)
                self.table = table
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def write_batch(file: Any, batch: Batch) -> dict[str, Any]:
    """Append a batch; returns what is needed to read it. Values that float32 holds exactly are kept as such."""
    values, indices, indptr = batch.rows.arrays
    narrow = values.astype(np.float32)
    lossless = bool((narrow == values).all())
    parts = {"values": narrow if lossless else values, "indices": indices, "indptr": indptr, "y": batch.y}
    arrays = {name: np.ascontiguousarray(array) for name, array in parts.items() if array is not None}
    entry = {"at": file.tell(), "rows": len(batch.rows), "features": batch.rows.n_features, "wide": values.dtype.str}
    content = b"".join(padded(array) for array in arrays.values())
    file.write(content)
    described = {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()}
    return {**entry, "size": len(content), "sum": checksum(content), "arrays": described}


def padded(array: Array) -> bytes:
    return array.tobytes() + bytes(-array.nbytes % ALIGNED)


def checksum(content: bytes | bytearray) -> int:
    """The sum of all words: blocks that the disk lost or mixed up show."""
    return int(np.add.reduce(np.frombuffer(content, dtype=np.uint64)))


def read_batch(path: str, entry: dict[str, Any]) -> Batch:
    """The batch that `write_batch` wrote."""
    content = bytearray(entry["size"])
    with open(path, "rb", buffering=0) as file:
        file.seek(entry["at"])
        done, view = 0, memoryview(content)
        while done < len(content) and (got := file.readinto(view[done:])):
            done += got
    damaged = files.DataError(f"{path} is damaged: delete it, it will be made again")
    if done < len(content) or checksum(content) != entry["sum"]:
        raise damaged
    arrays, at = {}, 0
    for name, (kind, shape) in entry["arrays"].items():
        array = np.frombuffer(content, dtype=np.dtype(kind), count=int(np.prod(shape)), offset=at).reshape(shape)
        arrays[name], at = readonly(array), at + array.nbytes + -array.nbytes % ALIGNED
    values = readonly(arrays["values"].astype(np.dtype(entry["wide"]), copy=False))
    parts = values, arrays.get("indices"), arrays.get("indptr")
    sq_norm, verdict, _ = survey(*parts, np.uint64(entry["features"]))
    if verdict != GOOD:
        raise damaged
    return Batch(Rows(*parts, entry["features"], sq_norm), arrays.get("y"))
