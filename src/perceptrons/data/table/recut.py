"""Cut the rows of a table into batches whose ends depend on the rows only, not on the file that they come from.

Training shuffles the rows of a batch and the batches of a table. So a CSV file, a Parquet file and a data frame of the
same rows give the same model.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from perceptrons.data import batches
from perceptrons.data.arrays import Rows
from perceptrons.data.batches import Batch, rows_at_once

ENTRY = 12  # bytes of an entry of a sparse row: its value and its index


def recut(given: Iterator[Batch]) -> Iterator[Batch]:
    """Make each batch as large as it may be.

    Parameters
    ----------
    given : iterator of Batch
        Batches of any sizes. Later ones may have more features.

    Yields
    ------
    Batch
        The same rows in the same order, in batches of at most MOST_ROWS rows and MOST_BYTES bytes, or of one row.
    """
    held: list[Batch] = []
    n_rows = n_bytes = 0
    for rows, y in given:
        begin = 0
        while begin < len(rows):
            end = _end(rows, begin, n_rows, n_bytes)
            if end > begin:
                part = rows if end - begin == len(rows) else rows.part(begin, end)
                held.append(Batch(part, None if y is None else y[begin:end]))
                n_rows, n_bytes = n_rows + end - begin, n_bytes + _bytes(rows, begin, end)
            if end < len(rows):
                yield _joined(held)
                held, n_rows, n_bytes = [], 0, 0
            begin = end
    if held:
        yield _joined(held)


def _end(rows: Rows, begin: int, n_rows: int, n_bytes: int) -> int:
    """Where a batch ends that has this many rows and bytes already."""
    if rows.indptr is None:
        return min(len(rows), begin + rows_at_once(rows.n_features) - n_rows)
    most = min(len(rows), begin + batches.MOST_ROWS - n_rows)
    entries = int(rows.indptr[begin]) + (batches.MOST_BYTES - n_bytes) // ENTRY
    end = int(np.searchsorted(rows.indptr[begin + 1 : most + 1], np.uint64(max(0, entries)), side="right")) + begin
    return max(end, begin + 1) if n_rows == 0 else end


def _bytes(rows: Rows, begin: int, end: int) -> int:
    return 0 if rows.indptr is None else ENTRY * int(rows.indptr[end] - rows.indptr[begin])


def _joined(held: list[Batch]) -> Batch:
    """One batch of the rows of several, with the features of the last."""
    if len(held) == 1:
        return held[0]
    width = held[-1].rows.n_features
    labels = [batch.y for batch in held if batch.y is not None]
    return Batch(Rows.joined([batch.rows.wide(width) for batch in held]), np.concatenate(labels) if labels else None)
