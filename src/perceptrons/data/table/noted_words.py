"""The words behind hashes: a table of hashed words with their text and their number, of limited size."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.parse.hashing import Table, join_words, merge_words

Array = npt.NDArray[Any]
LETTERS = 8  # room for the letters of a word, on average over all slots; half of the slots stay free
MOST = 1 << 20  # slots
IN_PIECE = 1 << 17  # slots of the table for one piece of a file


class NotedWords:
    """Words by their hashes, for one column of text.

    Parameters
    ----------
    slots : int
        A power of two, or 0 for a table that notes nothing. It holds half as many words.
    """

    def __init__(self, slots: int) -> None:
        self.hashes, self.counts = np.zeros((2, slots), dtype=np.uint32)
        self.begins, self.sizes = np.zeros(slots, dtype=np.uint64), np.zeros(slots, dtype=np.uint8)
        self.letters, self.used = np.empty(LETTERS * slots, dtype=np.uint8), np.zeros(2, dtype=np.uint64)

    @classmethod
    def for_piece(cls, n_bytes: int) -> NotedWords:
        """A table for the words of a text of this size."""
        return cls(min(IN_PIECE, 1 << max(6, (n_bytes // 4).bit_length())))

    @property
    def table(self) -> Table:
        """The arrays, as compiled code takes them."""
        return Table(self.hashes, self.counts, self.begins, self.sizes, self.letters, self.used)

    def add(self, other: NotedWords) -> None:
        """Add the words of another table. Once there are too many, new ones are left out."""
        slots = max(64, self.hashes.size)
        while slots < MOST and (
            2 * int(self.used[0] + other.used[0]) > slots or int(self.used[1] + other.used[1]) > LETTERS * slots
        ):
            slots *= 2
        if slots > self.hashes.size:
            larger = NotedWords(slots)
            merge_words(larger.table, self.table)
            vars(self).update(vars(larger))
        merge_words(self.table, other.table)

    def by_feature(self, bits: int) -> tuple[npt.NDArray[np.uint32], str]:
        """The features that have words, in order, and the most frequent word of each, with a line feed after it."""
        there = np.flatnonzero(self.counts)
        hashes, counts = self.hashes[there], self.counts[there].astype(np.int64)
        features = hashes & np.uint32((1 << bits) - 1)
        order = np.lexsort((hashes, -counts, features))
        order = order[np.flatnonzero(np.diff(features[order].astype(np.int64), prepend=-1))]
        begins, sizes = self.begins[there[order]], self.sizes[there[order]]
        text = np.empty(len(order) + int(sizes.sum(dtype=np.int64)), dtype=np.uint8)
        join_words(self.letters, begins, sizes, text)
        return features[order], text.tobytes().decode(errors="replace")
