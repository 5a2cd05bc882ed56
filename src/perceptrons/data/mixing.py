"""Read the rows of a file in another order than they stand there.

Files are often sorted, by date or by class, and a perceptron forgets what it has not seen for long. If the classes of a
file are not spread evenly over it, each batch is cut into pieces; a mixed batch consists of random pieces of the whole
file. Otherwise it is enough to read whole batches in random order, which copies nothing. Learning shuffles the rows of
each batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from perceptrons.core.random import shuffle
from perceptrons.data.arrays import Rows
from perceptrons.data.batches import Batch, in_order, pool
from perceptrons.data.cache import Cached
from perceptrons.data.cache_writer import AHEAD

T = TypeVar("T")
PIECES = 64  # in a batch


class Piece(NamedTuple):
    """Consecutive rows of a batch."""

    batch: int
    begin: int
    end: int


def is_spread(counts: npt.NDArray[Any]) -> bool:
    """Whether classes are spread evenly over batches, up to chance.

    counts: the number of rows of each class (columns) in each batch. For evenly spread classes, χ² = Σ (n − e)²/e, with
    the expected numbers e, is about (batches − 1)·(classes − 1).

    >>> is_spread(np.array([[50, 50], [45, 55], [52, 48]])), is_spread(np.array([[100, 0], [50, 50], [0, 100]]))
    (True, False)
    """
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0].astype(np.float64)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / max(1.0, counts.sum())
    freedom = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    return bool(((counts - expected) ** 2 / expected).sum() <= 2 * freedom + 20)


def whole_batches(starts: list[int], seed: int, number: int) -> list[list[Piece]]:
    """All batches in random order, each as one piece; parameters as of `mixed_pieces`."""
    order = np.arange(len(starts) - 1, dtype=np.uint32)
    shuffle(order[np.newaxis], np.uint64(seed), np.uint64(number))
    return [[Piece(batch, 0, starts[batch + 1] - starts[batch])] for batch in order.tolist()]


def mixed_pieces(starts: list[int], seed: int, number: int) -> list[list[Piece]]:
    """Cut all batches into pieces and deal these out to as many mixed batches.

    Parameters
    ----------
    starts : list of int
        The number of each batch's first row, and the number of all rows.
    seed, number : int
        The seed, and the number of the pass.

    Returns
    -------
    list of list of Piece

    Examples
    --------
    >>> groups = mixed_pieces([0, 100, 200], seed=1, number=0)
    >>> len(groups), sum(piece.end - piece.begin for group in groups for piece in group)
    (2, 200)
    """
    sizes = np.diff(starts).tolist()
    pieces = [
        Piece(batch, int(begin), int(end))
        for batch, size in enumerate(sizes)
        for edges in [np.linspace(0, size, min(PIECES, size) + 1).astype(int)]
        for begin, end in pairwise(edges)
    ]
    order = np.arange(len(pieces), dtype=np.uint32)
    shuffle(order[np.newaxis], np.uint64(seed), np.uint64(number))
    edges = np.linspace(0, len(pieces), len(sizes) + 1).astype(int)
    return [[pieces[k] for k in order[begin:end].tolist()] for begin, end in pairwise(edges)]


def read_groups(
    source: Cached,
    groups: list[list[Piece]],
    prepare: Callable[[Batch, npt.NDArray[np.int64]], T],
    *,
    narrow: bool = False,
) -> Iterator[T]:
    """Read groups of pieces, each as one batch, while earlier ones are in use.

    Parameters
    ----------
    source : Cached
        Ready to be read in any order.
    groups : list of list of Piece
    prepare : callable
        What workers make of a batch and the numbers of its rows in the file.
    narrow : bool, default=False
        Whether values may stay float32 where that is exact, because `prepare` computes others from them.

    Yields
    ------
    result of `prepare`
    """
    starts = source.starts

    def work(group: list[Piece]) -> tuple[T, int]:
        parts = [source.piece(*piece, narrow=narrow) for piece in group]
        width = max(part.rows.n_features for part in parts)
        labels = [part.y for part in parts if part.y is not None]
        numbers = np.concatenate([starts[batch] + np.arange(begin, end) for batch, begin, end in group])
        rows = parts[0].rows if len(parts) == 1 else Rows.joined([part.rows.wide(width) for part in parts])
        batch = Batch(rows, np.concatenate(labels) if labels else None)
        return prepare(batch, numbers), len(numbers)

    done = 0
    workers, ahead = pool(2, AHEAD, "mixing")
    with workers:
        tasks = (workers.submit(work, group) for group in groups)
        for made, size in in_order(tasks, ahead):
            done += size
            source.bytes_done = int(done / starts[-1] * (source.n_bytes or 0))
            yield made
