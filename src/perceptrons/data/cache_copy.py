"""An open copy of rows, and its batches."""

from __future__ import annotations

import os
import weakref
from typing import Any, BinaryIO

from perceptrons.data import cache_file
from perceptrons.data.batches import Batch
from perceptrons.data.cache_file import Doubt


class Copy:
    """An open copy; its rows stay readable even if the file is deleted.

    Parameters
    ----------
    file : binary file
    signature : dict
        What the source depends on.
    """

    def __init__(self, file: BinaryIO, signature: dict[str, Any]) -> None:
        self.table, self.encoding = cache_file.read_contents(file, signature)
        self.verified: set[int] = set()  # batches that are known to be intact
        # The width of svmlight files without n_features is that of the widest row.
        self.narrowest = 1 if signature.get("n_features", 1) is None else self.table[0].features
        self.file = os.dup(file.fileno())
        weakref.finalize(self, os.close, self.file)

    def batch(self, number: int) -> Batch | Doubt:
        """Read a batch, in a worker."""
        before = self.table[number - 1].features if number else self.narrowest
        try:
            found = cache_file.read_batch(
                self.file, self.table[number], before=before, verified=number in self.verified
            )
        except Doubt as doubt:
            return doubt
        self.verified.add(number)
        return found

    def piece(self, number: int, begin: int, end: int, narrow: bool) -> Batch | Doubt:
        """Read some rows of a batch, in a worker."""
        if number not in self.verified and isinstance(whole := self.batch(number), Doubt):
            return whole
        return cache_file.read_piece(self.file, self.table[number], begin, end, narrow)
