"""How far predicted values are off, added up batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass
class Deviations:
    """Sums over rows with value y and prediction ŷ. `dull` is a constant prediction to compare with.

    >>> found = Deviations(dull=2.0)
    >>> found.add(np.array([1.0, 2.0, 6.0]), np.array([1.0, 3.0, 5.0]))
    >>> round(found.mae, 3), round(found.r2, 3), round(found.dull_mae, 3)
    (0.667, 0.857, 1.667)
    """

    dull: float = 0.0
    n_rows: int = 0
    off: float = 0.0  # Σ|y − ŷ|
    squares: float = 0.0  # Σ(y − ŷ)²
    mean: float = 0.0  # of y
    around: float = 0.0  # Σ(y − mean)²
    dull_off: float = 0.0  # Σ|y − dull|

    def add(self, y: npt.NDArray[Any], guesses: npt.NDArray[Any]) -> None:
        """Add a batch."""
        if not len(y):
            return
        y = y.astype(np.float64, copy=False)
        with np.errstate(over="ignore"):
            apart, n = y - guesses, self.n_rows + len(y)
            here, share = float(y.mean()), len(y) / n
            # Sums around the mean of both parts (Chan et al. 1979).
            self.around += float(((y - here) ** 2).sum()) + (here - self.mean) ** 2 * self.n_rows * share
            self.mean += (here - self.mean) * share
            self.off += float(np.abs(apart).sum())
            self.squares += float((apart**2).sum())
            self.dull_off += float(np.abs(y - self.dull).sum())
        self.n_rows = n

    @property
    def mae(self) -> float:
        """The mean absolute error."""
        return self.off / max(1, self.n_rows)

    @property
    def dull_mae(self) -> float:
        """The mean absolute error of the constant."""
        return self.dull_off / max(1, self.n_rows)

    @property
    def rmse(self) -> float:
        """The root of the mean squared error."""
        return float(np.sqrt(self.squares / max(1, self.n_rows)))

    @property
    def r2(self) -> float:
        """R² as in scikit-learn: if all y are equal, 1 for perfect predictions and else 0."""
        if self.around == 0.0:
            return 1.0 if self.squares == 0.0 else 0.0
        return 1.0 - self.squares / self.around
