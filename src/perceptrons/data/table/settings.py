"""The user's choices about the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from perceptrons.data.files import DataError

MEAN = "mean"
SCALES = ("none", "standard")
WEIGHTINGS = ("tfidf", "binary", "counts")
Fill = float | dict[str, float] | str | None  # None: missing values are refused


class Settings(NamedTuple):
    """The user's choices about the columns of a table; see `TableSource`."""

    target: str | None = None
    features: list[str] | None = None
    drop: Sequence[str] = ()
    categorical: str | Sequence[str] = "auto"
    hash_bits: int | None = None
    text: Sequence[str] = ()
    ngrams: int = 1
    text_bits: int = 18
    missing: Fill = MEAN
    scale: str = "standard"
    numeric: Sequence[str] = ()
    weighting: str = "tfidf"
    regression: bool = False

    @property
    def marked(self) -> list[str]:
        """The columns that the user marked as categories."""
        return [] if self.categorical == "auto" else list(self.categorical)

    @property
    def named(self) -> list[str]:
        """All columns that the user names."""
        fills = self.missing if isinstance(self.missing, dict) else ()
        found = [*(self.features or ()), *self.drop, *self.marked, *self.text, *self.numeric, *fills]
        return found if self.target is None else [self.target, *found]

    def check(self) -> None:
        """Refuse settings that are wrong for every table."""
        for name, bits in {"hash_bits": self.hash_bits, "text_bits": self.text_bits}.items():
            if bits is not None and not 1 <= bits <= 28:
                raise DataError(f"{name} must lie between 1 and 28, got {bits}")
        if not 1 <= self.ngrams <= 8:
            raise DataError(f"ngrams must lie between 1 and 8, got {self.ngrams}")
        fills = self.missing.values() if isinstance(self.missing, dict) else [self.missing]
        for fill in fills:
            if isinstance(fill, str):
                if fill != MEAN or isinstance(self.missing, dict):
                    raise DataError(f"missing must be 'mean', 'error' or a number, got {fill!r}")
            elif fill is not None and not isfinite(fill):
                raise DataError(f"missing must be a finite number, got {fill}")
        if self.weighting not in WEIGHTINGS:
            raise DataError(f"weighting must be one of {', '.join(WEIGHTINGS)}, got {self.weighting!r}")
        if self.scale not in SCALES:
            raise DataError(f"scale must be one of {', '.join(SCALES)}, got {self.scale!r}")
