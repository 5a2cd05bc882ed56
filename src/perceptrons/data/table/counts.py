"""Count what rows of a table lack: missing cells, and categories without a feature."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from perceptrons.data.table.columns import Piece
from perceptrons.data.table.encoding import MISSING, Encoding

SHOWN = 5  # examples of each column


@dataclass
class Counts:
    """What the rows read so far lack.

    Parameters
    ----------
    rows : int
        Number of rows.
    missing : Counter of str
        Number of missing cells of each column.
    unseen : Counter of str
        For each column, number of rows with a category that has no feature.
    examples : dict of str to list of str
        Some of these categories.
    unseen_rows : int
        Number of rows with at least one such category.
    """

    rows: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    unseen: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    unseen_rows: int = 0

    def add(self, piece: Piece, encoding: Encoding | None) -> None:
        """Count the rows of a piece.

        Parameters
        ----------
        piece : Piece
        encoding : Encoding or None
            The features that the rows may have; None if new categories get new features.
        """
        self.rows += len(piece.X)
        self.missing.update(piece.missing)
        if encoding is None:
            return
        rows = np.zeros(len(piece.X), dtype=np.bool_)
        for column, codes, words in zip(piece.columns, piece.codes, piece.categories, strict=True):
            new = [i for i, word in enumerate(words) if word != MISSING and not encoding.knows(column, word)]
            if new:
                here = np.isin(codes, new)
                rows |= here
                self.unseen[column] += int(here.sum())
                shown = self.examples.setdefault(column, [])
                shown += [words[i] for i in new if words[i] not in shown][: SHOWN - len(shown)]
        self.unseen_rows += int(rows.sum())
