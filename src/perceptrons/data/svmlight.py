"""Examples from svmlight files, parsed in parallel by one worker a core."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.core.parse import svmlight
from perceptrons.core.rows import NOT_FINITE, survey
from perceptrons.data import files
from perceptrons.data.arrays import Rows, readonly
from perceptrons.data.batches import Batch, Source, in_order, n_workers, pool
from perceptrons.data.files import DataError
from perceptrons.data.shards.cutting import Place, Span, nearest_end, shards_of
from perceptrons.data.shards.lines import feeds_before, line_after

Bytes = npt.NDArray[np.uint8]

BLOCK = 1 << 22  # bytes of text in a batch: the parsed rows stay in the cache of a core until they are used
BLOCKS = 8  # a shard of this many blocks or more has only whole blocks, so that its batches are those of the whole file
WIDEST = 1 << 28  # the most columns unless n_features is given: weights of 2 GB

FIELD = re.compile(rb"[^ \t#]+")
EXPECTED = {
    svmlight.NOT_A_LABEL: "is not a label: expected one number, such as 1, -1 or 3.0; write 0 if there is no label",
    svmlight.NOT_A_FEATURE: "is not index:value",
    svmlight.NOT_A_VALUE: "is not index:value: expected a finite decimal number after the colon",
    svmlight.TOO_LARGE: "is too large for float64",
    svmlight.NOT_RISING: "is out of order: indices must increase from left to right in a line, each at most once",
    svmlight.BELOW_ONE: "has index 0, but with zero_based=False indices begin at 1",
    svmlight.BEYOND: f"has an index above {WIDEST - 1:,}: renumber the features, or pass n_features",
}


class Block(NamedTuple):
    """The rows of a part of a file, or its first fault."""

    rows: Rows | None
    y: npt.NDArray[np.float64] | None
    n_lines: int
    n_bytes: int
    fault: tuple[int, int, str] | None = None  # line and column within the part, counted from 0, and what is wrong


class Text(NamedTuple):
    """Whole lines of a file, followed by padding."""

    bytes: Bytes
    size: int  # without the padding
    long: bool = False  # whether the line after them is too long to be read


class SvmlightSource(Source):
    """Rows of svmlight (libsvm) files: ``label [qid:n] index:value … [# comment]``.

    Parameters
    ----------
    paths : list of str
        Files, plain or compressed; "-" is standard input.
    zero_based : bool, default=True
        Whether index 0 is the first column. If False, index 1 is the first column, and index 0 is an error.
    n_features : int, optional
        The number of columns; features beyond it are left out. By default it is the largest that occurs.
    """

    def __init__(
        self, paths: list[str], *, zero_based: bool = True, n_features: int | None = None, block: int = BLOCK
    ) -> None:
        if n_features is not None and not 1 <= n_features < 1 << 32:  # indices have 32 bits
            raise DataError(f"n_features must lie between 1 and {(1 << 32) - 1:,}, got {n_features}")
        self.paths, self.name = paths, files.display(paths)
        self.zero_based, self.n_features, self.block = zero_based, n_features, block
        self.n_bytes = files.n_bytes(paths)

    def signature(self) -> dict[str, Any]:
        settings = {"zero_based": self.zero_based, "n_features": self.n_features, "block": self.block}
        found = {"format": "svmlight", "files": files.signature(self.paths), **settings}
        return found if self.spans is None else {**found, "spans": [[*span] for span in self.spans]}

    def shards(self, n: int | None = None) -> list[Source]:
        return list(shards_of(self, n, self._snap))

    def _snap(self, file: int, offset: int, usual: int) -> Place:
        """The nearest block, or the next line if shards have only few blocks; compressed files are not cut."""
        path = self.paths[file]
        size = files.size(path)
        if files.is_compressed(path):
            return nearest_end(size, offset)
        block = (2 * offset // self.block + 1) // 2 * self.block
        at = min(size, block) if usual >= BLOCKS * self.block else line_after(path, offset, size)
        return Place(at, at)

    def batches(self) -> Iterator[Batch]:
        workers, ahead = pool(n_workers(), n_workers() + 2, "svmlight")
        width, before = self.n_features or 0, 0
        self.begin()
        with workers:
            for path, (begin, end, size) in self.parts():
                line = 1
                for block in in_order(self._blocks(path, begin, end, workers), ahead):
                    if block.fault is not None:
                        below, right, what = block.fault
                        line += (
                            feeds_before(path, begin - 1) + 1 if begin else 0
                        )  # and the one that ends the line before
                        raise DataError(f"{files.display([path])}:{line + below}:{right + 1}: {what}")
                    line += block.n_lines
                    self.bytes_done = before + block.n_bytes - begin
                    if block.rows is not None:
                        width = max(width, block.rows.n_features)
                        yield Batch(replace(block.rows, n_features=width), block.y)
                before += size
                self.bytes_done = before

    def _blocks(self, path: str, begin: int, end: int | None, workers: Executor) -> Iterator[Future[Block]]:
        """Submit the blocks of a file, or of its bytes [begin, end).

        Block k holds the lines that begin in bytes [begin + k·block, begin + (k + 1)·block).
        """
        if not files.is_stream(path) and not files.is_compressed(path):
            buffers, end = threading.local(), os.path.getsize(path) if end is None else end
            for at in range(begin, end, self.block):
                yield workers.submit(self._read_and_parse, path, at, min(at + self.block, end), buffers)
            return
        with files.open_binary(path) as stream:
            end, limit, long = 0, self.block, False
            while not long and (chunk := stream.read(limit - end)):
                last = chunk.rfind(b"\n") + 1  # where the last line begins
                if last < len(chunk):
                    chunk += stream.readline(max(0, files.LONGEST + 1 - len(chunk) + last))
                long = len(chunk) - last > files.LONGEST
                chunk = chunk[:last] if long else chunk
                end += len(chunk)
                limit = (end // self.block + 1) * self.block
                padded = np.frombuffer(chunk + b"\n" * svmlight.PADDING, dtype=np.uint8)
                yield workers.submit(self._parse, Text(padded, len(chunk), long), stream.position())

    def _read_and_parse(self, path: str, begin: int, end: int, buffers: threading.local) -> Block:
        if not hasattr(buffers, "own"):  # one buffer a worker, which is reused
            buffers.own = bytearray(self.block + (1 << 16))
        text = read_lines(path, begin, end, buffers.own)
        return self._parse(text, end) if text else Block(None, None, 0, end)

    def _parse(self, text: Text, n_bytes: int) -> Block:
        n_lines, n_values = svmlight.count(readonly(text.bytes))
        room = 64
        while True:
            y, indptr = np.empty(n_lines), np.zeros(n_lines + 1, dtype=np.uint64)
            values, indices = np.empty(n_values), np.empty(n_values, dtype=np.uint32)
            hard, counts = np.empty((room, 3), dtype=np.int64), np.zeros(5, dtype=np.int64)
            first = 0 if self.zero_based else 1
            keep, limit = (WIDEST, WIDEST - 1) if self.n_features is None else (self.n_features, (1 << 63) - 1)
            why, token = svmlight.parse(
                readonly(text.bytes), text.size, first, limit, keep, y, values, indices, indptr, hard, counts
            )
            if why != svmlight.FULL:
                break
            room *= 16
        n_rows, _, n_hard, lines, width = counts.tolist()
        faults = [] if why == svmlight.FINE else [(int(token), EXPECTED[why])]
        for begin, end, which in hard[:n_hard].tolist():
            x = float(text.bytes[begin:end].tobytes())
            if abs(x) == np.inf:
                faults.append((begin, EXPECTED[svmlight.TOO_LARGE]))
                x = 0.0
            if which < 0:
                y[-1 - which] = x
            elif which != svmlight.LEFT_OUT:
                values[which] = x
        n_values = int(indptr[n_rows])
        arrays = readonly(values[:n_values]), readonly(indices[:n_values]), readonly(indptr[: n_rows + 1])
        width = max(1, width if self.n_features is None else self.n_features)
        sq_norm, verdict, row = survey(*arrays, np.uint64(width))
        if verdict == NOT_FINITE:
            what = "begins a row whose squared length overflows: rescale the features"
            faults.append((row_begin(text, int(row)), what))
        if faults:
            return Block(None, None, 0, 0, fault_at(text, *min(faults)))
        if text.long:
            return Block(None, None, 0, 0, (lines, 0, f"{files.too_long('line')}: end rows by line feeds"))
        return Block(Rows(*arrays, width, sq_norm) if n_rows else None, y[:n_rows], lines, n_bytes)


class SvmlightText(SvmlightSource):
    """Rows of svmlight text in memory, such as the body of a request; `name` is what errors call it."""

    def __init__(self, text: bytes | bytearray, name: str, *, zero_based: bool = True, block: int = BLOCK) -> None:
        self.text, self.name, self.paths, self.n_bytes = text, name, [name], len(text)
        self.zero_based, self.n_features, self.block = zero_based, None, block

    def parts(self) -> Iterator[tuple[str, Span]]:
        yield self.name, Span(0, None, len(self.text))

    def _blocks(self, path: str, begin: int, end: int | None, workers: Executor) -> Iterator[Future[Block]]:
        at, size, long = 0, len(self.text), False
        while at < size and not long:
            last = min(at + self.block, size)
            stop = self.text.find(b"\n", last - 1, last + files.LONGEST) + 1 or size
            long = stop - last > files.LONGEST
            stop = max(at, self.text.rfind(b"\n", at, last) + 1) if long else stop
            yield workers.submit(self._copy_and_parse, at, stop, long)
            at = stop

    def _copy_and_parse(self, begin: int, end: int, long: bool) -> Block:
        padded = np.full(end - begin + svmlight.PADDING, svmlight.FEED, dtype=np.uint8)
        padded[: end - begin] = np.frombuffer(self.text, dtype=np.uint8, count=end - begin, offset=begin)
        return self._parse(Text(padded, end - begin, long), end)


def read_lines(path: str, begin: int, end: int, buffer: bytearray) -> Text | None:
    """Read the lines that begin in bytes [begin, end) of a file into `buffer`, which may grow; None if none do."""
    at = max(begin - 1, 0)  # the line feed before `begin` shows that a line begins there
    with open(path, "rb", buffering=0) as file:
        file.seek(at)
        size = fill(file, buffer, 0, end - at)
        start = buffer.find(b"\n", 0, min(size, end - 1 - at)) + 1 if begin else 0
        if start == size or (begin and start == 0):
            return None
        stop = buffer.find(b"\n", end - 1 - at, size)
        last = max(start, buffer.rfind(b"\n", 0, min(size, end - 1 - at)) + 1)  # where the last line begins
        while stop < 0 and size - last <= files.LONGEST:
            got = fill(file, buffer, size, 1 << 16)
            stop = buffer.find(b"\n", size, size + got) if got else size - 1
            size += got
    long = (stop + 1 if stop >= 0 else size) - last > files.LONGEST
    view = np.frombuffer(buffer, dtype=np.uint8)[start : (last if long else stop + 1) + svmlight.PADDING]
    view[-svmlight.PADDING :] = svmlight.FEED
    return Text(view, view.size - svmlight.PADDING, long)


def fill(file: Any, buffer: bytearray, begin: int, size: int) -> int:
    """Read up to `size` bytes into the buffer at `begin`, which may grow; returns how many bytes were read."""
    lacking = begin + size + svmlight.PADDING - len(buffer)
    if lacking > 0:
        buffer.extend(bytes(max(lacking, len(buffer))))
    done = 0
    with memoryview(buffer) as view:
        while done < size and (got := file.readinto(view[begin + done : begin + size])):
            done += got
    return done


def fault_at(text: Text, at: int, what: str) -> tuple[int, int, str]:
    """The line and column of the field at byte `at`, and what is wrong with it."""
    plain = text.bytes[: text.size].tobytes()
    begin = plain.rfind(b"\n", 0, at) + 1
    line = plain[begin:].split(b"\n", 1)[0].removesuffix(b"\r")
    for field in FIELD.finditer(line):
        if field.end() > at - begin:
            token = field.group().decode("utf-8", "replace")
            if "," in token and what == EXPECTED[svmlight.NOT_A_LABEL]:
                what = "has several labels: only one label a line is supported"
            index = token.split(":")[0].lstrip("0")
            if what == EXPECTED[svmlight.NOT_RISING] and (len(index) > 19 or int(index or 0) >= 1 << 63):
                what = "has an index of 2^63 or more: renumber the features"
            return plain.count(b"\n", 0, begin), field.start(), f"{token[:60]!r} {what}"
    raise AssertionError("a fault lies in a field")


def row_begin(text: Text, row: int) -> int:
    """The position where a row begins."""
    at = 0
    for line in text.bytes[: text.size].tobytes().split(b"\n"):
        field = FIELD.search(line.removesuffix(b"\r").split(b"#")[0])
        if field is not None and row == 0:
            return at + field.start()
        row -= field is not None
        at += len(line) + 1
    raise AssertionError("the row is in this text")
