"""How the weights of a sequence learner lie in memory: in whole rows or, with many labels, in pages.

`perceptrons.core.sequence.passes` describes both. `pages` is None for whole rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.sequence.lanes import LANES
from perceptrons.learn.state import Floats

WIDEST = 64  # rows with more labels are paged: with fewer, whole rows are faster
CHUNK = 1 << 16  # rows that `entries` copies at a time

Pages = npt.NDArray[np.uint32] | None
Positions = npt.NDArray[np.intp]


def zeros(height: int, width: int, sums: bool) -> dict[str, Any]:
    """Arrays for weights, for their sums and for pages. They are used from the start on; the rest takes no memory."""
    paged = width > WIDEST
    n = width // LANES if paged else 1
    lines = 1 + height * n if paged else height
    w, kept = (np.zeros((size, width // n)) for size in (lines, lines if sums else 0))
    return {"w": w, "kept": kept, "pages": np.zeros((height, n), dtype=np.uint32) if paged else None}


def whole(array: Floats, pages: Pages, rows: slice) -> Floats:
    """Copy some rows, each with all its labels."""
    return array[rows].copy() if pages is None else array[pages[rows]].reshape(-1, pages.shape[1] * LANES)


def entries(arrays: Sequence[Floats], pages: Pages, rows: npt.NDArray[Any]) -> tuple[Positions, Positions, Floats]:
    """Find what is not 0 in some rows of arrays of one shape, row after row.

    Returns positions in `rows`, labels, and one line of values per array, which are 0 where only another array has one.
    """
    found = []
    for begin in range(0, len(rows), CHUNK):
        lines = rows[begin : begin + CHUNK, None] if pages is None else pages[rows[begin : begin + CHUNK]]
        at, page = np.nonzero(lines)
        blocks = np.stack([array[lines[at, page]] for array in arrays])
        k, column = np.nonzero(blocks.any(axis=0))
        found.append((begin + at[k], page[k] * LANES + column, blocks[:, k, column]))
    if not found:
        return np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros((len(arrays), 0))
    positions, labels, values = zip(*found, strict=True)
    return np.concatenate(positions), np.concatenate(labels), np.concatenate(values, axis=1)


def places(pages: Pages, used: int, rows: Positions, labels: Positions) -> tuple[npt.NDArray[Any], Positions, int]:
    """Find the line and column of each entry, and the number of lines that are then in use; before, it is `used`.

    Entries of pages that have no line get one. Whole rows are lines.
    """
    if pages is None:
        return rows, labels, used
    flat = pages.reshape(-1)
    keys = rows * pages.shape[1] + labels // LANES
    new = np.unique(keys[flat[keys] == 0])
    flat[new] = used + np.arange(len(new))
    return flat[keys], labels % LANES, used + len(new)


def fill(arrays: Sequence[Floats], pages: Pages, rows: Positions, labels: Positions, values: Floats) -> int:
    """Put values into arrays that are 0; returns the number of lines in use if rows are paged, else 1."""
    lines, columns, used = places(pages, 1, rows, labels)
    for array, given in zip(arrays, values, strict=True):
        array[lines, columns] = given
    return used
