"""Choose where files are cut, so that shards have similar sizes. Each format says at which places it can be cut."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from copy import copy
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from perceptrons.data import files
from perceptrons.data.files import DataError

if TYPE_CHECKING:
    from perceptrons.data.batches import Source

SMALLEST = 1 << 20  # bytes of a shard, unless more shards are asked for
USUAL = 8  # shards of files that are large enough
LARGEST = 1 << 28  # bytes of a shard, unless fewer shards are asked for


class Span(NamedTuple):
    """A part of a file.

    Places are counted as the format is cut: in bytes, rows, groups of rows, or batches of records.
    """

    begin: int
    end: int | None  # None: up to the end of the file
    n_bytes: int  # its size in the file, perhaps only about


class Place(NamedTuple):
    """Where a file can be cut."""

    at: int  # as in `Span`
    offset: int  # bytes of the file before it; those of the whole file stand for its end


Snap = Callable[[int, int, int], Place]  # from the number of a file, an offset in it, and the usual size of a shard
S = TypeVar("S", bound="Source")


def usual_number(n_bytes: int) -> int:
    """The number of shards for files of this size.

    >>> [usual_number(size << 20) for size in (0, 1, 5, 300, 10_000)]
    [1, 1, 5, 8, 40]
    """
    return max(1, min(USUAL, n_bytes // SMALLEST), -(-n_bytes // LARGEST))


def nearest_end(size: int, offset: int) -> Place:
    """The end of a file that is nearest to an offset, for files that are not cut."""
    return Place(0, 0) if 2 * offset < size else Place(0, size)


def cut(sizes: Sequence[int], n: int, snap: Snap) -> list[dict[int, Span]]:
    """Cut files into consecutive shards of similar size.

    Parameters
    ----------
    sizes : sequence of int
        The bytes of each file.
    n : int
        The number of shards. There are fewer if the files have too few places to cut.
    snap : callable
        Finds the place to cut a file, near an offset in it.

    Returns
    -------
    list of dict of int to Span
        For each shard, its files by their numbers, and what it has of each.

    Examples
    --------
    >>> cut([60, 0, 40], 2, lambda file, offset, size: Place(offset, offset))
    [{0: Span(begin=0, end=50, n_bytes=50)}, {0: Span(begin=50, end=None, n_bytes=10), 1: ..., 2: ...}]
    """
    starts = [0, *accumulate(sizes)]
    total = starts[-1]
    edges = {0: (0, Place(0, 0))}  # files and places, by the bytes before them
    n = max(1, min(n, total))
    for at in (total * k // n for k in range(1, n)):
        file = bisect_right(starts, at) - 1
        place = snap(file, at - starts[file], total // n)
        if starts[file] + place.offset < total:
            whole = place.offset >= sizes[file]
            edges.setdefault(starts[file] + place.offset, (file + 1, Place(0, 0)) if whole else (file, place))
    shards = []
    for (first, begin), (last, end) in pairwise([*sorted(edges.values()), (len(sizes), Place(0, 0))]):
        spans = {}
        for file in range(first, last + (end.at > 0)):
            low, high = begin if file == first else Place(0, 0), end if file == last else None
            size = (sizes[file] if high is None else high.offset) - low.offset
            spans[file] = Span(low.at, None if high is None else high.at, size)
        shards.append(spans)
    return shards


def check_cutting(source: Source, n: int | None) -> None:
    """Refuse to cut a stream, or to cut a source into no shards."""
    if source.is_stream:
        raise DataError(f"{source.name} can be read only once, and so not in shards: write it to a file")
    if n is not None and n < 1:
        raise ValueError(f"the number of shards must be at least 1, got {n}")


def shards_of(source: S, n: int | None, snap: Snap) -> list[S]:
    """Cut a source into shards.

    Parameters
    ----------
    source : Source
        It is not changed. A shard is not cut any further.
    n : int or None
        The number of shards, by default `usual_number`.
    snap : callable
        See `cut`.

    Returns
    -------
    list of Source
        Copies of the source, which read only what is in their `spans`.
    """
    check_cutting(source, n)
    if source.spans is not None:
        return [source]
    sizes = [files.size(path) for path in source.paths]
    found = cut(sizes, usual_number(sum(sizes)) if n is None else n, snap)
    shards = []
    for number, spans in enumerate(found, 1):
        shard = copy(source)
        shard.paths = [source.paths[file] for file in spans]
        shard.spans = list(spans.values())
        shard.name = f"{files.display(shard.paths)} (shard {number} of {len(found)})"
        shard.n_bytes, shard.bytes_done = sum(span.n_bytes for span in shard.spans), 0
        shards.append(shard)
    return shards
