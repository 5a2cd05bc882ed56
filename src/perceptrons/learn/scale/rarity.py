"""Words weighed by their rarity: x·log((n + 1)/(d + ½)), then each text is divided by its length.

n is the number of training rows, and d the number of those that have the word. Training in several passes counts all
rows first. Training in one pass counts row by row, so that each text is weighed by those before it and itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.scaling import count_and_weigh, count_words, weigh_words
from perceptrons.data.arrays import Rows


@dataclass(frozen=True, eq=False)
class Rarity:
    """How many rows have each word.

    Parameters
    ----------
    first : int
        Number of the first feature of a word.
    bits : int
        There are 2^bits features for each column of text.
    counts : ndarray of uint32
        d of each feature, for all columns of text.
    rows : ndarray of shape (1,)
        n.
    weights : ndarray of float64 or None
        log((n + 1)/(d + ½)) of each feature, and 0 if d is 0; None while rows are counted when they are weighed.
    """

    first: int
    bits: int
    counts: npt.NDArray[np.uint32]
    rows: npt.NDArray[np.uint64] = field(default_factory=lambda: np.zeros(1, dtype=np.uint64))
    weights: npt.NDArray[np.float64] | None = None

    def add(self, rows: Rows, left_out: npt.NDArray[np.bool_] | None) -> None:
        """Count the words of rows, except those that are left out."""
        count_words(rows.indices, rows.indptr, np.uint64(self.first), left_out, self.counts, self.rows)

    def weigh(self, values: npt.NDArray[Any], rows: Rows) -> None:
        """Weigh the words of rows, in place: `values` are those of the rows."""
        where = np.uint64(self.first), np.uint64(self.bits)
        if self.weights is not None:
            weigh_words(values, rows.indices, rows.indptr, *where, self.weights)
        else:
            count_and_weigh(values, rows.indices, rows.indptr, *where, self.counts, self.rows)

    def frozen(self) -> Rarity:
        """The same, for rows that are not counted."""
        known = self.counts > 0
        rarity = np.log((float(self.rows[0]) + 1.0) / (self.counts + 0.5), where=known, out=np.zeros(len(known)))
        return replace(self, weights=rarity)


def rarity_of(encoding: Any) -> Rarity | None:
    """Empty counts for the columns of text of a table; None if words are not weighed by their rarity."""
    if encoding is None or not encoding.weighs_words:
        return None
    counts = np.zeros(len(encoding.texts) << encoding.text_bits, dtype=np.uint32)
    return Rarity(encoding.begin_text, encoding.text_bits, counts)
