"""Sequences of tokens as sparse rows, the input of sequence learners."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.data.arrays import readonly

Numbers = npt.NDArray[np.uint32]
Ends = npt.NDArray[np.uint64]


class Sequences(NamedTuple):
    """Sequences of tokens, each token a sparse row of features. Arrays are read-only.

    Examples
    --------
    >>> indptr, bounds = np.array([0, 2, 3], np.uint64), np.array([0, 2], np.uint64)
    >>> rows = Sequences(np.array([0, 1, 0], np.uint32), None, indptr, bounds)
    >>> rows.n_tokens, rows.n_sequences
    (2, 1)
    """

    indices: Numbers  # feature numbers, token after token
    values: npt.NDArray[np.float64] | None  # their values; None if all are 1
    indptr: Ends  # features of token i: indptr[i] .. indptr[i + 1]
    bounds: Ends  # tokens of sequence i: bounds[i] .. bounds[i + 1]

    @property
    def n_tokens(self) -> int:
        """The number of tokens."""
        return len(self.indptr) - 1

    @property
    def n_sequences(self) -> int:
        """The number of sequences."""
        return len(self.bounds) - 1

    def take(self, order: npt.ArrayLike) -> Sequences:
        """Copy some sequences.

        Parameters
        ----------
        order : array-like
            Numbers of the sequences, or a mask.

        Returns
        -------
        Sequences
        """
        tokens, bounds = spans(self.bounds, order)
        features, indptr = spans(self.indptr, tokens)
        values = None if self.values is None else readonly(self.values[features])
        return Sequences(readonly(self.indices[features]), values, indptr, bounds)


def spans(ends: Ends, order: npt.ArrayLike) -> tuple[npt.NDArray[np.intp], Ends]:
    """Find the positions of all elements of some groups.

    Parameters
    ----------
    ends : ndarray
        Group i has the positions ends[i] .. ends[i + 1].
    order : array-like
        Numbers of the groups, or a mask.

    Returns
    -------
    positions : ndarray
        Group after group.
    ends : ndarray
        Where the groups begin and end in `positions`.

    Examples
    --------
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
