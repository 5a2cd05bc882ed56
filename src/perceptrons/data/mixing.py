"""Read the rows of a file in an order that mixes its parts.

Files are often sorted, by date or by class, and a perceptron forgets what it has not seen for long. Each batch is cut
into pieces; a mixed batch consists of random pieces of the whole file. Within it, learning shuffles the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from perceptrons.core.random import shuffle
from perceptrons.data.arrays import Rows
from perceptrons.data.batches import Batch, in_order
from perceptrons.data.cache import Cached
from perceptrons.data.cache_writer import AHEAD

T = TypeVar("T")
PIECES = 64  # in a batch


class Piece(NamedTuple):
    """Consecutive rows of a batch."""

    batch: int
    begin: int
    end: int


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


def mixed_batches(
    source: Cached,
    seed: int,
    number: int,
    prepare: Callable[[Batch, npt.NDArray[np.int64]], T],
    *,
    narrow: bool = False,
) -> Iterator[T]:
    """Read all rows in mixed batches, while earlier ones are in use.

    Parameters
    ----------
    source : Cached
        Ready to be read in any order.
    seed, number : int
        The seed, and the number of the pass.
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
        batch = Batch(
            Rows.joined([part.rows.wide(width) for part in parts]), np.concatenate(labels) if labels else None
        )
        return prepare(batch, numbers), len(numbers)

    done = 0
    with ThreadPoolExecutor(2, thread_name_prefix="mixing") as pool:
        tasks = (pool.submit(work, group) for group in mixed_pieces(starts, seed, number))
        for made, size in in_order(tasks, AHEAD):
            done += size
            source.bytes_done = int(done / starts[-1] * (source.n_bytes or 0))
            yield made
