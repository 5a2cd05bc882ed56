"""The rows that a hypothesis in a kernel's feature space consists of."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.data import Rows
from perceptrons.learn.kernel.feature_space import FeatureSpace

Floats = npt.NDArray[np.float64]
SQUARE = 512  # number of rows whose products with all earlier ones are computed at a time
BLOCK = 1 << 19  # number of kernel values computed at a time


class Support:
    """Copies of rows, in the order in which they were added. Adding rows costs little, however many there are.

    Rows are stored in a few pieces. A new piece is joined to the last one unless it is much smaller, so each of n rows
    is copied about log n times. Dense and sparse rows stay in separate pieces.
    """

    def __init__(self, space: FeatureSpace) -> None:
        self.space = space
        self.pieces: list[Rows] = []

    def __len__(self) -> int:
        return sum(map(len, self.pieces))

    def add(self, rows: Rows) -> None:
        """Append copies of rows, as `space.members` gives them."""
        pieces = [*self.pieces, rows]
        while len(pieces) > 1 and 2 * len(pieces[-1]) > len(pieces[-2]) and _alike(*pieces[-2:]):
            pieces[-2:] = [Rows.joined(pieces[-2:])]
        self.pieces = pieces

    def copy(self) -> Support:
        """A copy with the same rows; rows added to one do not appear in the other."""
        other = Support(self.space)
        other.pieces = self.pieces
        return other

    def wide(self, n_features: int) -> Support:
        """The same rows with more features, which are 0."""
        if all(piece.n_features >= n_features for piece in self.pieces):
            return self
        other = Support(self.space)
        other.pieces = [piece.padded(n_features) for piece in self.pieces]
        return other

    def take(self, which: npt.NDArray[np.intp]) -> Support:
        """The members with these numbers, which must increase."""
        some, first = Support(self.space), 0
        for piece in self.pieces:
            mine = which[(which >= first) & (which < first + len(piece))] - first
            first += len(piece)
            if len(mine):
                some.add(piece.take(mine) if len(mine) < len(piece) else piece)
        return some

    def products(self, rows: Rows) -> npt.NDArray[Any]:
        """k(x, x_j) of all rows x with all members x_j."""
        blocks = [self.space.products(rows, piece) for piece in self.pieces]
        return blocks[0] if len(blocks) == 1 else np.hstack(blocks)

    def combine(self, rows: Rows, coef: Floats) -> Floats:
        """Σ_j coef_j·k(x, x_j) of all rows x: one number, or one for each column of `coef`."""
        out = np.zeros((len(rows), *coef.shape[1:]), order="F")
        first = 0
        for piece in self.pieces:
            part = coef[first : first + len(piece)]
            first += len(piece)
            height = max(1, BLOCK // len(piece))
            for top in range(0, len(rows), height):
                block = self.space.products(rows.part(top, top + height), piece)
                with np.errstate(over="ignore", invalid="ignore"):
                    out[top : top + height] += block.astype(np.float64, copy=False) @ part
        if not np.isfinite(out).all():
            row = int(np.flatnonzero(~np.isfinite(out).reshape(len(out), -1).all(axis=1))[0])
            raise ValueError(
                f"the scores of row {row} overflow float64. Rescale the features, for instance with StandardScaler, or "
                "choose a smaller gamma or degree."
            )
        return out

    def sq_length(self, coef: Floats) -> tuple[float, float]:
        """‖Σ_j coef_j φ(x_j)‖² in float64, over all columns of coef, and a bound on its error.

        Each kernel value has an error of at most `space.error`, and a sum of n terms has n roundings.
        """
        wide = [piece.widened() for piece in self.pieces]
        largest = max((float(piece.sq_norm.max(initial=0.0)) for piece in wide), default=0.0)
        total, size = 0.0, np.abs(coef).sum(axis=0)
        most = 0.0  # |k(x, x′)| is at most the largest k(x, x)
        end = len(self)
        for rows in reversed(wide):  # each pair of members once: with those in its own block, and those before it
            begin = end - len(rows)
            for stop in range(len(rows), 0, -SQUARE):
                start = max(0, stop - SQUARE)
                part, left = rows.part(start, stop), coef[begin + start : begin + stop]
                done = 0
                for others in wide:
                    count = min(len(others), begin + stop - done)
                    if count <= 0:
                        break
                    block = self.space.products(part, others.part(0, count))
                    most = max(most, float(np.abs(block).max()))
                    right = coef[done : done + count].copy()
                    right[: max(0, begin + start - done)] *= 2.0
                    total += float((left * (block @ right)).sum())
                    done += count
            end = begin
        roundings = (2 * len(coef) + 16) * np.finfo(np.float64).eps
        features = self.pieces[0].n_features if self.pieces else 0
        error = (self.space.error(features, largest) + roundings * most) * float((size * size).sum())
        return total, error


def _alike(one: Rows, other: Rows) -> bool:
    """Whether rows have one layout and one type, so that joining them converts nothing."""
    return (one.indices is None) == (other.indices is None) and one.values.dtype == other.values.dtype
