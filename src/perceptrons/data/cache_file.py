"""The bytes of a copy of rows, and all checks before they are used.

A copy has a header with the signature of its source, the arrays of each batch, a table of contents in JSON, and a
footer with the digest of header and contents. The contents have a digest of each batch. Compiled code trusts what it
reads, so a digest is not enough: all lengths, row pointers and indices are checked as well.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from perceptrons.core.rows import GOOD, survey
from perceptrons.data.arrays import Rows, readonly
from perceptrons.data.batches import Batch
from perceptrons.data.sparse import are_pointers

if TYPE_CHECKING:
    from perceptrons.data.table.encoding import Encoding

MAGIC = b"perceptrons cache 2\n"
HEAD = len(MAGIC) + 8  # bytes before the signature: MAGIC, and the length of the signature
FOOT = 8 + 32 + len(MAGIC)  # bytes at the end: length and digest of the contents, and MAGIC
LONGEST_SIGNATURE = 1 << 24  # bytes
PAGE = mmap.ALLOCATIONGRANULARITY  # batches begin where memory can be mapped
ALIGNED = 8
SAMPLE = 1000  # values to try first: they mostly show when float32 is not exact
FLOATS = [np.dtype(np.float32).str, np.dtype(np.float64).str]
LABELS = [np.dtype(kind).str for kind in (np.bool_, np.int64, np.float64)]
TEXT = re.compile(re.escape(np.dtype("U1").str[:-1]) + "[1-9][0-9]{0,6}")
UNUSED = 30 * 24 * 3600  # seconds after which a copy that nobody read is stale
ROUNDING = 1e-9  # relative error of a squared length
LAST_CHARACTER = 0x10FFFF

Array = npt.NDArray[Any]


class Doubt(ValueError):
    """The copy is damaged, or not of this source."""


class Entry(NamedTuple):
    """Where a batch lies, and what it holds."""

    at: int  # the position of its first byte
    rows: int
    features: int
    values: int | None  # the number of values, if the rows are sparse
    stored: str  # the type of the values in the file
    wide: str  # the type of the values in memory
    labels: str | None  # the type of the labels, if there are labels
    digest: str

    def arrays(self) -> dict[str, tuple[np.dtype[Any], tuple[int, ...]]]:
        """The types and shapes of its arrays, in their order in the file."""
        sparse = self.values is not None
        shapes: dict[str, tuple[str | None, tuple[Any, ...]]] = {
            "values": (self.stored, (self.values,) if sparse else (self.rows, self.features)),
            "indices": ("u4" if sparse else None, (self.values,)),
            "indptr": ("u8" if sparse else None, (self.rows + 1,)),
            "y": (self.labels, (self.rows,)),
            "sq_norm": ("f8", (self.rows,)),
        }
        return {name: (np.dtype(kind), shape) for name, (kind, shape) in shapes.items() if kind is not None}

    @property
    def size(self) -> int:
        """The number of its bytes."""
        return sum(_up(kind.itemsize * _product(shape), ALIGNED) for kind, shape in self.arrays().values())


def _up(size: int, unit: int) -> int:
    """Round up to a multiple."""
    return size + -size % unit


def _product(shape: tuple[int, ...]) -> int:
    """The number of elements; Python's integers do not overflow."""
    return shape[0] if len(shape) == 1 else shape[0] * shape[1]


# -- writing --------------------------------------------------------------------------------------------------


def header(signature: dict[str, Any]) -> bytes:
    """The bytes before the first batch."""
    content = json.dumps(signature, sort_keys=True).encode()
    start = MAGIC + len(content).to_bytes(8, "little") + content
    return start + bytes(-len(start) % PAGE)


def footer(head: bytes, encoding: Any, table: list[Entry]) -> bytes:
    """The bytes after the last batch: the table of contents, its length, and its digest."""
    state = None if encoding is None else encoding.state()
    content = json.dumps({"encoding": state, "batches": [entry._asdict() for entry in table]}).encode()
    return content + len(content).to_bytes(8, "little") + hashlib.sha256(head + content).digest() + MAGIC


def write_batch(file: BinaryIO, batch: Batch) -> Entry:
    """Append a batch to the copy. Values that are exact in float32 are stored as float32.

    Parameters
    ----------
    file : binary file
    batch : Batch

    Returns
    -------
    Entry
        The entry of the table of contents that `read_batch` takes.
    """
    values, indices, indptr = batch.rows.arrays
    if _fits(values.ravel()[:SAMPLE]) and _fits(values):
        values = values.astype(np.float32)
    y = batch.y if batch.y is None else batch.y.astype(batch.y.dtype.newbyteorder("="), copy=False)
    entry = Entry(
        at=file.seek(0, os.SEEK_END),
        rows=len(batch.rows),
        features=batch.rows.n_features,
        values=None if indices is None else indices.size,
        stored=values.dtype.str,
        wide=batch.rows.values.dtype.str,
        labels=None if y is None else y.dtype.str,
        digest="",
    )
    arrays = {"values": values, "indices": indices, "indptr": indptr, "y": y, "sq_norm": batch.rows.sq_norm}
    digest = hashlib.sha256()
    for name, (kind, shape) in entry.arrays().items():
        array = np.ascontiguousarray(arrays[name])
        assert array.dtype == kind and array.shape == shape
        for content in (_raw(array), bytes(-array.nbytes % ALIGNED)):
            digest.update(content)
            put(file, content)
    put(file, bytes(-entry.size % PAGE))
    return entry._replace(digest=digest.hexdigest())


def put(file: BinaryIO, content: bytes | memoryview) -> None:
    """Write all bytes, in several calls if necessary."""
    while len(content):
        content = content[file.write(content) :]


def _raw(array: Array) -> memoryview:
    """View the bytes of an array."""
    return memoryview(cast(Any, array.reshape(-1).view(np.uint8)))


def _fits(values: Array) -> bool:
    """Whether all values are exact in float32."""
    with np.errstate(over="ignore"):
        return bool((values.astype(np.float32) == values).all())


# -- reading --------------------------------------------------------------------------------------------------


def read_contents(file: BinaryIO, signature: dict[str, Any]) -> tuple[list[Entry], Any]:
    """Read and check the table of contents of a copy, and the encoding of its columns.

    Parameters
    ----------
    file : binary file
    signature : dict
        What the source depends on.

    Returns
    -------
    table : list of Entry
    encoding : Encoding or None

    Raises
    ------
    Doubt
        If the copy is damaged, or of another source or another state of its files.
    """
    head = header(signature)
    end = os.fstat(file.fileno()).st_size - FOOT
    if end < len(head) or file.read(len(head)) != head:
        raise Doubt("it is a copy of other files")
    file.seek(end)
    size, digest, magic = int.from_bytes(file.read(8), "little"), file.read(32), file.read()
    if magic != MAGIC or size > end - len(head):
        raise Doubt("it has no footer")
    file.seek(end - size)
    content = file.read(size)
    if hashlib.sha256(head + content).digest() != digest:
        raise Doubt("its contents do not match their digest")
    try:
        found = json.loads(content)
        encoding = None if found["encoding"] is None else _restored(*found["encoding"])
        table = [Entry(**entry) for entry in found["batches"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Doubt("its contents cannot be read") from error
    _check_table(table, len(head), end - size)
    _check_features(table, encoding, signature)
    return table, encoding


def _restored(meta: Any, lists: Any) -> Encoding:
    """Restore how columns become features."""
    from perceptrons.data.table.encoding import Encoding  # seldom needed

    return Encoding.from_state(meta, lists)


def _check_table(table: list[Entry], begin: int, end: int) -> None:
    """Check that there are batches, and that they fill the file from `begin` to `end`, in order, without gaps."""
    if not table:
        raise Doubt("it has no rows")
    for entry in table:
        counts = (entry.at, entry.rows, entry.features, *([] if entry.values is None else [entry.values]))
        if not all(type(count) is int and 0 <= count < 1 << 63 for count in counts) or type(entry.digest) is not str:
            raise Doubt("its contents have a number that is out of range")
        labels = entry.labels is None or entry.labels in LABELS or bool(TEXT.fullmatch(str(entry.labels)))
        if entry.stored not in FLOATS or entry.wide not in (entry.stored, FLOATS[-1]) or not labels:
            raise Doubt("its contents have an unknown type")
        if entry.rows < 1 or not 1 <= entry.features < 1 << 32 or entry.at != begin:
            raise Doubt("its contents have a batch that does not follow the one before")
        begin += _up(entry.size, PAGE)
    if begin != end:
        raise Doubt("its batches do not fill it")


def _check_features(table: list[Entry], encoding: Encoding | None, signature: dict[str, Any]) -> None:
    """Check that the number of features never falls, and ends at the number that the source has, if that is known."""
    width = 0
    for entry in table:
        dense = entry.values is None
        if entry.features < width or (dense and width not in (0, entry.features)):
            raise Doubt("its batches have other features than those before")
        width = entry.features
    known = signature.get("n_features") if encoding is None else encoding.n_features
    if known is not None and width != known:
        raise Doubt(f"its batches have {width} features, but the source has {known}")


def read_batch(file: int, entry: Entry, *, before: int, verified: bool) -> Batch:
    """Map a batch that `write_batch` wrote into memory.

    Parameters
    ----------
    file : int
        File descriptor of the copy.
    entry : Entry
        The batch's entry in the table of contents.
    before : int
        The number of features before this batch; if it has more, the last of them must occur.
    verified : bool
        Whether the batch is known to be intact; otherwise it is checked.

    Returns
    -------
    Batch

    Raises
    ------
    Doubt
        If the batch is damaged.
    """
    content = _mapped(file, entry)
    if not verified and hashlib.sha256(content).hexdigest() != entry.digest:
        raise Doubt("a batch does not match its digest")
    rows, y = _arrays(content, entry)
    rows = _wide(rows, entry)
    if not verified:
        _check_rows(rows, before)
        _check_labels(y)
    return Batch(rows, y)


def read_piece(file: int, entry: Entry, begin: int, end: int, narrow: bool) -> Batch:
    """Map some rows of a batch that is known to be intact into memory.

    Parameters
    ----------
    file : int
        File descriptor of the copy.
    entry : Entry
        The batch's entry in the table of contents.
    begin, end : int
        The first row, and the row after the last.
    narrow : bool
        Whether values keep the type that they have in the file.

    Returns
    -------
    Batch
    """
    rows, y = _arrays(_mapped(file, entry), entry)
    rows = rows.part(begin, end)
    return Batch(rows if narrow else _wide(rows, entry), None if y is None else y[begin:end])


def _mapped(file: int, entry: Entry) -> mmap.mmap:
    try:
        return mmap.mmap(file, entry.size, access=mmap.ACCESS_READ, offset=entry.at)
    except (OSError, ValueError) as error:
        raise Doubt("it is too short") from error


def _arrays(content: mmap.mmap, entry: Entry) -> tuple[Rows, Array | None]:
    """The rows and labels of a batch; values have the type that they have in the file."""
    arrays, at = {}, 0
    for name, (kind, shape) in entry.arrays().items():
        array = np.frombuffer(content, dtype=kind, count=_product(shape), offset=at).reshape(shape)
        arrays[name], at = readonly(array), at + _up(array.nbytes, ALIGNED)
    flat = arrays["values"], arrays.get("indices"), arrays.get("indptr")
    return Rows(*flat, entry.features, arrays["sq_norm"]), arrays.get("y")


def _wide(rows: Rows, entry: Entry) -> Rows:
    """The same rows with values of the type that they have in memory."""
    return replace(rows, values=readonly(rows.values.astype(np.dtype(entry.wide), copy=False)))


def _check_rows(rows: Rows, before: int) -> None:
    """Check everything that passes rely on: row pointers, indices, values, and squared lengths."""
    if rows.indptr is not None and rows.indices is not None:
        if not are_pointers(rows.indptr, rows.indices.size):
            raise Doubt("a batch has wrong row pointers")
        if rows.n_features > before and rows.indices.max(initial=0) != rows.n_features - 1:
            raise Doubt("a batch has fewer features than its entry says")
    sq_norm, verdict, _ = survey(*rows.arrays, np.uint64(rows.n_features))
    if verdict != GOOD:
        raise Doubt("a batch has indices or values that are not valid")
    if not (np.abs(rows.sq_norm - sq_norm) <= ROUNDING * sq_norm + 1e-300).all():
        raise Doubt("a batch has wrong squared lengths")


def _check_labels(y: Array | None) -> None:
    """Check that labels are numbers or text; other bytes in their place are not."""
    if y is None:
        return
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise Doubt("a batch has labels that are not finite")
    if y.dtype.kind == "b" and (y.view(np.uint8) > 1).any():
        raise Doubt("a batch has labels that are neither true nor false")
    if y.dtype.kind == "U" and (y.view(np.uint32) > LAST_CHARACTER).any():
        raise Doubt("a batch has labels that are not text")


# -- copies that nobody needs any more --------------------------------------------------------------------------


def is_stale(file: BinaryIO) -> bool:
    """Tell whether a file is a copy that nobody has read for a month, or whose source has changed or is gone."""
    start = file.read(HEAD)
    if len(start) < HEAD or not start.startswith(MAGIC):
        return False
    if os.fstat(file.fileno()).st_mtime < time.time() - UNUSED:
        return True
    size = int.from_bytes(start[len(MAGIC) :], "little")
    try:
        if size > LONGEST_SIGNATURE:
            raise ValueError("too long")
        for path, n_bytes, changed in json.loads(file.read(size))["files"]:
            state = os.stat(path)
            if [state.st_size, state.st_mtime_ns] != [n_bytes, changed]:
                return True
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # nobody knows: the files may be there again later
        return False
    except (ValueError, KeyError, TypeError, RecursionError):  # a damaged copy is of no use
        return True
    return False
