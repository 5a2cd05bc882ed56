"""Statistics of the features of training rows, from which their scale follows.

Columns of tables become z = (x − mean)/(standard deviation). Numbered features, as in svmlight files, are scaled only
if their sizes are far apart, and sparse ones keep their zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.scaling import gather, observe
from perceptrons.data.arrays import Rows
from perceptrons.data.batches import Source
from perceptrons.learn.scale.rarity import Rarity, rarity_of
from perceptrons.learn.scale.scaling import Scaling

Floats = npt.NDArray[np.float64]
EPSILON = float(np.finfo(np.float64).eps)
APART = 100.0  # numbered features are scaled if the largest has this many times the size of the smallest
NAMED = 3  # the most features that advice names on either side
# Advice about scales looks at a sample: this many values, or this many rows if they are long, and at most this many.
ENOUGH, SOME_ROWS, MOST = 1 << 13, 16, 1 << 18
OFTEN = 0.1  # the sizes of features that occur in this share of the rows are compared; rare words differ by nature
FARTHEST = 5.0  # |z| of columns of tables is cut off here: one wild cell must not undo what many rows have taught
WILD = 20.0  # a column with a larger |z| is measured again, without the values that are far away
ALONE = 0.9  # and so is a column in which one value has most of the variance: its |z| is over this times √n
ROUNDS = 60
TINY = 1e-290  # a smaller deviation counts as 0: its inverse would overflow
KEPT, ROOM = 1 << 14, 1 << 24  # rows, spread evenly, from which such columns are measured, and the most bytes of them


class Statistics:
    """Number, mean and squared deviations of the values of each feature, row by row, and a sample of rows."""

    def __init__(
        self, n_features: int = 0, *, zeros: bool = True, rarity: Rarity | None = None, once: bool = False
    ) -> None:
        """`n_features`: the first features are observed. `zeros`: whether values that are 0 count.

        once: whether words are counted only when they are weighed.
        """
        self.zeros, self.n_rows, self.rarity, self.once = zeros, 0, rarity, once
        self.count, self.mean, self.squares = np.zeros((3, n_features))
        self.low, self.high = np.full(n_features, np.inf), np.full(n_features, -np.inf)
        self.parts = [np.empty((0, n_features))]  # of a sample of rows
        self.every = 1  # it has the rows whose number is a multiple of this

    def add(self, rows: Rows, left_out: npt.NDArray[np.bool_] | None = None) -> None:
        """Add rows, except those that are left out."""
        observe(*rows.arrays, left_out, self.zeros, self.count, self.mean, self.squares, self.low, self.high)
        if self.rarity is not None and not self.once:
            self.rarity.add(rows, left_out)
        learned = np.arange(len(rows)) if left_out is None else np.flatnonzero(~left_out)
        self._keep(rows, learned)
        self.n_rows += len(learned)

    def _keep(self, rows: Rows, learned: npt.NDArray[Any]) -> None:
        """Add rows to the sample; if it grows too large, keep every second one."""
        chosen = learned[(np.arange(len(learned)) + self.n_rows) % self.every == 0]
        width = len(self.mean)
        more = np.full((len(chosen), width), np.nan)
        gather(*rows.arrays, chosen.astype(np.uint64), more)
        self.parts.append(more)
        self._thin()

    def _thin(self) -> None:
        """Keep every second row of the sample until it is not too large."""
        width = len(self.mean)
        while sum(map(len, self.parts)) > min(KEPT, max(1, ROOM // (8 * max(1, width)))):
            self.parts, self.every = [self.sample[::2].copy()], 2 * self.every

    def join(self, other: Statistics) -> None:
        """Add the rows of other statistics, which follow those of these."""
        self._widen(len(other.mean))
        other._widen(len(self.mean))
        count = self.count + other.count
        share = other.count / np.maximum(count, 1)
        apart = other.mean - self.mean
        self.squares += other.squares + apart**2 * self.count * share
        self.mean, self.count = self.mean + apart * share, count
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        if self.rarity is not None and other.rarity is not None:
            self.rarity.counts[:] += other.rarity.counts
            self.rarity.rows[:] += other.rarity.rows
        every = max(self.every, other.every)
        self.parts = [each.sample[:: every // each.every] for each in (self, other)]
        self.every, self.n_rows = every, self.n_rows + other.n_rows
        self._thin()

    def _widen(self, n_features: int) -> None:
        """Make room for more features, if these grow with their number."""

    @property
    def sample(self) -> Floats:
        """Some rows, spread evenly."""
        return np.concatenate(self.parts)

    @property
    def size(self) -> Floats:
        """√(mean of x²) of each feature, over the values that count; 0 if it is always 0."""
        return np.asarray(np.hypot(self.mean, np.sqrt(self.squares / np.maximum(self.count, 1))))

    def scaling(self, centred: bool, limit: float = FARTHEST) -> Scaling | None:
        """The map to one scale; None if features are not to be scaled. Without a bias, features are not centred.

        limit: the largest |z|.
        """
        centre, spread = self.mean.copy(), deviation(self.count, self.mean, self.squares)
        with np.errstate(invalid="ignore"):
            farthest = np.maximum(self.high - self.mean, self.mean - self.low)
        # A single value among n is at most √n deviations away.
        wild = np.minimum(WILD, ALONE * np.sqrt(self.count))
        found = np.flatnonzero((self.count > 0) & (farthest > wild * spread) & (spread > 0))
        sample = self.sample if len(found) else None
        for j in found:
            assert sample is not None
            centre[j], spread[j] = without_far_values(sample[:, j], centre[j], spread[j])
        if not centred:
            centre, spread = np.zeros_like(centre), np.where(spread > 0, np.hypot(centre, spread), 0.0)
        return self._checked(centre, spread, limit)

    def _checked(self, centre: Floats, spread: Floats, limit: float = np.inf) -> Scaling | None:
        fine = np.isfinite(spread) & np.isfinite(centre)
        if not fine.all():
            raise ValueError(f"feature {int(np.argmin(fine))} is too large to be scaled: divide it by a constant")
        rarity = self.rarity if self.rarity is None or self.once else self.rarity.frozen()
        return Scaling(centre, spread, limit, rarity) if len(spread) or rarity is not None else None


def joined(parts: Sequence[Statistics]) -> Statistics:
    """The statistics of the rows of all parts, one after the other (Chan, Golub & LeVeque 1979); changes the first."""
    total = parts[0]
    for part in parts[1:]:
        total.join(part)
    return total


def without_far_values(values: Floats, mean: float, spread: float) -> tuple[float, float]:
    """Mean and deviation of values cut off at mean ± 5 deviations, again and again until they are stable.

    A single typing error in a column makes all other values look equal. If the values do not settle, as those of a
    column that is almost always 0, the `mean` and `spread` given are right.
    """
    known = values[~np.isnan(values)]
    if not known.size or ((known == known.min()) | (known == known.max())).all():  # two values never settle
        return mean, spread
    centre, width = float(known.mean()), float(known.std())
    for _ in range(ROUNDS):
        cut = np.clip(known, centre - FARTHEST * width, centre + FARTHEST * width)
        before, centre, width = width, float(cut.mean()), float(cut.std())
        if width <= 8 * EPSILON * abs(centre):
            break
        if width > 0.99 * before:
            return centre, width
    return mean, spread


class Sizes(Statistics):
    """Statistics of numbered features, whose zeros mean that there is nothing. They grow with the number of features.

    Sparse features are divided by their size √(mean of x²), over the values that are not 0, so that zeros stay zeros.
    Dense features that are mostly not 0 are centred and divided by their standard deviation.
    """

    def __init__(self, *, dense: bool) -> None:
        super().__init__(zeros=False)
        self.dense = dense

    def add(self, rows: Rows, left_out: npt.NDArray[np.bool_] | None = None) -> None:
        self._widen(rows.n_features)
        super().add(rows, left_out)

    def _widen(self, n_features: int) -> None:
        more = np.zeros(max(0, n_features - len(self.mean)))
        if more.size:
            self.count, self.mean, self.squares, self.low, self.high = (
                np.concatenate([old, more]) for old in (self.count, self.mean, self.squares, self.low, self.high)
            )
            self.parts = [np.empty((0, n_features))]

    def _keep(self, rows: Rows, learned: npt.NDArray[Any]) -> None:
        """Numbered features need no sample."""

    @property
    def far_apart(self) -> bool:
        """Whether the sizes of features are too different for learning without scaling."""
        often = self.size[(self.count >= OFTEN * self.n_rows) & (self.size > 0)]
        return bool(often.size) and bool(often.max() > APART * often.min())

    def scaling(self, centred: bool, limit: float = np.inf) -> Scaling | None:
        size = self.size
        centre, spread = np.zeros_like(size), np.where(size > 0, size, 1.0)
        if self.dense and centred:
            share = self.count / max(1, self.n_rows)  # of values that are not 0
            mean = share * self.mean  # of all values; those that are 0 add (share·n)·(1 − share)·mean² to the squares
            squares = self.squares + self.count * (1 - share) * self.mean**2
            mostly = share > 0.5
            centre[mostly], spread[mostly] = mean[mostly], deviation(self.n_rows, mean, squares)[mostly]
        return self._checked(centre, spread)


def off_scale(rows: Rows, names: Sequence[str] | None) -> str:
    """Name the features whose scale is off, as advice to a user; an empty text if all scales are similar.

    names: of all features, if they have names.
    """
    often, size = sizes_of_some(rows)
    if not often.size or size.max() <= APART * size.min():
        return ""
    order = np.argsort(-size, kind="stable")

    def told(which: npt.NDArray[Any]) -> str:
        return ", ".join(f"{names[j]!r}" if names is not None else f"column {j}" for j in often[which]) + (
            f" (about {size[which[0]]:.2g})"
        )

    middle = float(np.median(size))
    large = [j for j in order if size[j] > 10 * middle][:NAMED] or order[:1]
    small = [j for j in order[::-1] if size[j] < middle / 10][:NAMED] or order[-1:]
    return (
        f" The scale of features differs: values of {told(np.array(large))} are large beside those of "
        f"{told(np.array(small))}. Scale them first, for instance with StandardScaler."
    )


def sizes_of_some(rows: Rows) -> tuple[npt.NDArray[np.intp], Floats]:
    """The features that are often not 0, and √(mean of x²) of each, over the values that are not 0.

    They are those of a sample of rows, spread evenly, so that the work does not grow with the number of rows.
    """
    size = rows.values.size
    every = max(1, -(-size // min(max(ENOUGH, SOME_ROWS * size // len(rows)), MOST)))
    n = len(range(0, len(rows), every))
    with np.errstate(over="ignore"):  # rows of kernels may be of any length
        if rows.indices is None or rows.indptr is None:
            x = rows.values[::every].astype(np.float64)
            count, squares = np.count_nonzero(x, axis=0), (x * x / n).sum(axis=0)
        else:
            begin, end = (ends.astype(np.intp) for ends in (rows.indptr[:-1:every], rows.indptr[1::every]))
            place = np.cumsum(end - begin)
            at = np.repeat(end - place, end - begin) + np.arange(place[-1])
            x, features = rows.values[at].astype(np.float64, copy=False), rows.indices[at].astype(np.intp)
            count, squares = np.bincount(features, x != 0), np.bincount(features, x * x / n)
    often = np.flatnonzero((count >= OFTEN * n) & (squares > 0))
    return often, np.sqrt(squares[often]) * np.sqrt(n / count[often])


def deviation(count: Any, mean: Floats, squares: Floats) -> Floats:
    """The standard deviation of each feature; 0 if its values differ only by rounding."""
    found = np.sqrt(squares / np.maximum(count, 1))
    return np.where(found <= np.maximum(8 * EPSILON * np.abs(mean), TINY), 0.0, found)


def statistics_of(
    source: Source,
    rows: Rows,
    left_out: npt.NDArray[np.bool_] | None = None,
    *,
    once: bool = False,
    always: bool = False,
) -> Statistics | None:
    """Empty statistics for a source that begins with these rows; None if its features are to stay as they are.

    once: whether rows are read only once, so that words are counted while they are weighed. always: whether numbered
    features are scaled although their sizes are similar, unless the source says that they are not.
    """
    if source.encoding is not None:
        numbers = len(source.encoding.numbers) if source.scale != "none" else 0
        rarity = rarity_of(source.encoding)
        return Statistics(numbers, rarity=rarity, once=once) if numbers or rarity is not None else None
    if source.scale == "none":
        return None
    found, dense = Sizes(dense=False), rows.indices is None
    found.add(rows, left_out)
    return Sizes(dense=dense) if always or source.scale == "standard" or found.far_apart else None


def to_one_scale(
    source: Source | None, rows: Rows, left_out: Any, centred: bool, limit: float = FARTHEST
) -> Scaling | None:
    """The scaling of a source whose rows are all in memory."""
    found = None if source is None else statistics_of(source, rows, left_out)
    if found is None:
        return None
    found.add(rows, left_out)
    return found.scaling(centred, limit)
