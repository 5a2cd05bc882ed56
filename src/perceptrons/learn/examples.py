"""Rows with their labels and weights, ready for a pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.data.arrays import Rows


@dataclass(frozen=True)
class Examples:
    """Rows, the number of each row's class, and its weight (None: all 1)."""

    rows: Rows
    codes: npt.NDArray[Any]  # unsigned integers
    weight: npt.NDArray[np.float64] | None = None
    first: int = 0  # number of the first row, if these are a part of a larger set
    numbers: npt.NDArray[np.int64] | None = None  # of all rows, if they are not consecutive

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def flat(self) -> tuple[Any, ...]:
        """Arguments of a pass: rows, then classes, weights and squared lengths."""
        return (*self.rows.arrays, self.codes, self.weight, self.rows.sq_norm)

    @cached_property
    def sq_radius(self) -> float:
        """max ‖x‖² over the rows whose weight is not 0."""
        sq_norm = self.rows.sq_norm
        return float((sq_norm if self.weight is None else sq_norm[self.weight > 0]).max(initial=0.0))

    def count(self, order: npt.NDArray[Any]) -> int:
        """Number of these rows whose weight is not 0."""
        return order.size if self.weight is None else int(np.count_nonzero(self.weight[order]))

    @property
    def row_numbers(self) -> npt.NDArray[np.int64]:
        """The numbers of the rows in the larger set."""
        return np.arange(self.first, self.first + len(self)) if self.numbers is None else self.numbers

    def weight_of(self, i: int) -> float:
        """The weight of a row."""
        return 1.0 if self.weight is None else float(self.weight[i])

    def order(self) -> npt.NDArray[Any]:
        """The numbers of the rows whose weight is not 0."""
        kind = np.uint32 if len(self.rows) < 1 << 32 else np.uint64
        if self.weight is None:
            return np.arange(len(self.rows), dtype=kind)
        return np.flatnonzero(self.weight).astype(kind)

    def take(self, where: npt.NDArray[np.bool_]) -> Examples:
        """Copy some of the examples."""
        weight = None if self.weight is None else self.weight[where]
        return Examples(
            self.rows.take(np.flatnonzero(where)), self.codes[where], weight, numbers=self.row_numbers[where]
        )

    def split(self, held: npt.NDArray[np.bool_]) -> tuple[Examples, Examples]:
        """The examples to learn from, and those held out. The former are not copied: held-out rows get weight 0."""
        weight = np.ones(len(self)) if self.weight is None else self.weight.copy()
        weight[held] = 0.0
        if not weight.any():
            raise ValueError("all rows that are not held out have weight 0: there is nothing to learn from")
        return Examples(self.rows, self.codes, weight, self.first), Examples(
            self.rows.take(np.flatnonzero(held)), self.codes[held]
        )
