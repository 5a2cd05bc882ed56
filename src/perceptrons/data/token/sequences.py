"""Sequences of tokens as sparse rows: what a learner of sequences reads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.data.arrays import readonly

Numbers = npt.NDArray[np.uint32]
Ends = npt.NDArray[np.uint64]


class Sequences(NamedTuple):
    """Sequences of tokens, each token a sparse row of features. Arrays cannot be written.

    >>> indptr, bounds = np.array([0, 2, 3], np.uint64), np.array([0, 2], np.uint64)
    >>> rows = Sequences(np.array([0, 1, 0], np.uint32), None, indptr, bounds)
    >>> rows.n_tokens, rows.n_sequences
    (2, 1)
    """

    indices: Numbers  # numbers of features, token after token
    values: npt.NDArray[np.float64] | None  # their values; None: all are 1
    indptr: Ends  # features of token i: indptr[i] .. indptr[i + 1]
    bounds: Ends  # tokens of sequence i: bounds[i] .. bounds[i + 1]

    @property
    def n_tokens(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_sequences(self) -> int:
        return len(self.bounds) - 1

    def take(self, order: npt.ArrayLike) -> Sequences:
        """The sequences of these numbers, or those that a mask marks, copied."""
        tokens, bounds = spans(self.bounds, order)
        features, indptr = spans(self.indptr, tokens)
        values = None if self.values is None else readonly(self.values[features])
        return Sequences(readonly(self.indices[features]), values, indptr, bounds)


def spans(ends: Ends, order: npt.ArrayLike) -> tuple[npt.NDArray[np.intp], Ends]:
    """Positions of all things in some groups, one group after the other, and where the groups then begin and end.

    >>> spans(np.array([0, 2, 2, 5], np.uint64), [2, 0])
    (array([2, 3, 4, 0, 1]), array([0, 3, 5], dtype=uint64))
    """
    given: npt.NDArray[Any] = np.asarray(order)
    chosen = np.flatnonzero(given) if given.dtype == bool else given.astype(np.intp)
    signed = ends.astype(np.intp)
    begins, sizes = signed[:-1][chosen], np.diff(signed)[chosen]
    found = np.zeros(len(chosen) + 1, dtype=np.intp)
    np.cumsum(sizes, out=found[1:])
    positions = np.arange(found[-1]) + np.repeat(begins - found[:-1], sizes)
    return positions, readonly(found.astype(np.uint64))
