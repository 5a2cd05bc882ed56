"""Features on one scale: the map that a learner applies to all its rows; `statistics` finds it.

A step of the perceptron moves each weight by the value of its feature, so that a column in the thousands drowns one
between 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.rows import survey
from perceptrons.core.scaling import rescale
from perceptrons.data.arrays import Rows, readonly
from perceptrons.data.table.csr import beside, nonzeros, present
from perceptrons.learn.scale.rarity import Rarity

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scaling:
    """The map z = (x − centre)/spread of the first features, cut off at ±limit; other features stay as they are.

    Parameters
    ----------
    centre, spread : ndarray of shape (k,)
        A feature whose spread is 0 is constant, and z = 0.
    limit : float
        The largest |z|.
    rarity : Rarity, optional
        How words of texts are weighed.
    """

    centre: Floats
    spread: Floats
    limit: float = np.inf
    rarity: Rarity | None = None

    @property
    def factor(self) -> Floats:
        """1/spread, and 0 for constant features."""
        return np.divide(1.0, self.spread, out=np.zeros_like(self.spread), where=self.spread > 0)

    @property
    def constant(self) -> list[int]:
        """The features that are constant."""
        return [int(j) for j in np.flatnonzero(self.spread == 0)]

    def apply(self, rows: Rows, *, zeros: bool = False) -> Rows:
        """Scale rows; they are copied.

        Parameters
        ----------
        rows : Rows
        zeros : bool, default=False
            Whether an absent entry of sparse rows is 0. Otherwise it is a missing number, and counts as the centre.

        Returns
        -------
        Rows
        """
        if zeros and rows.indices is not None and self.centre.any():
            rows = with_zeros(rows, min(len(self.centre), rows.n_features))
        if self.rarity is not None and rows.indices is None:
            rows = with_zeros(rows, 0)
        out, sq_norm = np.empty(rows.values.shape), np.empty(len(rows))
        used = min(len(self.centre), rows.n_features)
        rescale(*rows.arrays, readonly(self.centre[:used]), readonly(self.factor[:used]), self.limit, out, sq_norm)
        if self.rarity is not None:
            self.rarity.weigh(out, rows)
            sq_norm, _, _ = survey(readonly(out), rows.indices, rows.indptr, np.uint64(rows.n_features))
        return Rows(readonly(out), rows.indices, rows.indptr, rows.n_features, sq_norm)

    def fold(self, w: Floats, offset: Floats) -> tuple[Floats, Floats]:
        """The weights and offsets that give unscaled rows the same scores, for |z| below the limit.

        w·(x − c)/s + b = (w/s)·x + (b − w·c/s).

        Parameters
        ----------
        w : ndarray of shape (d,) or (d, classes)
        offset : ndarray of shape (1,) or (classes,)

        Returns
        -------
        w, offset : ndarray
        """
        folded, k = np.copy(w, order="K"), min(len(self.centre), len(w))
        folded[:k] = (w[:k].T * self.factor[:k]).T
        return folded, offset - self.centre[:k] @ folded[:k]

    def unfold(self, w: Floats, offset: Floats) -> tuple[Floats, Floats]:
        """The inverse of `fold`: weights and offsets for scaled rows, from those for unscaled ones."""
        unfolded, k = np.copy(w, order="K"), min(len(self.centre), len(w))
        unfolded[:k] = (w[:k].T * self.spread[:k]).T
        return unfolded, offset + self.centre[:k] @ w[:k]


def with_zeros(rows: Rows, n_first: int) -> Rows:
    """The same rows, sparse, with entries for all of the first features, also where they are 0."""
    X = rows.matrix()
    first = np.ascontiguousarray(X[:, :n_first].toarray() if rows.indices is not None else X[:, :n_first])
    rest = X[:, n_first:]
    if rows.indices is None:
        parts = nonzeros(np.ascontiguousarray(rest, dtype=np.float64))
    else:
        rest = rest.tocsr()
        parts = rest.data.astype(np.float64), rest.indices.astype(np.uint32), rest.indptr.astype(np.uint64)
    values, indices, indptr = parts[0], parts[1] + np.uint32(n_first), parts[2]
    if n_first:
        values, indices, indptr = beside(present(first.astype(np.float64, copy=False)), (values, indices, indptr))
    return Rows(readonly(values), readonly(indices), readonly(indptr), rows.n_features, rows.sq_norm)


def fill_with_means(encoding: Any, scaling: Scaling | None) -> None:
    """Let a table's missing numbers count as in training, as the centres of their columns."""
    if encoding is not None and scaling is not None:
        encoding.means = dict(zip(encoding.numbers, scaling.centre.tolist(), strict=False))


def with_means(encoding: Any, scaling: Scaling | None) -> Any:
    """The encoding of a model of tables, which knows what missing numbers count as."""
    if encoding is None or scaling is None:
        return encoding
    encoding = replace(encoding)  # of the source, which others may read
    fill_with_means(encoding, scaling)
    return encoding
