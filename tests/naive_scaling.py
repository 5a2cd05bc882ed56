"""Running statistics of features and rows on their scale, in plain Python, from the definition."""

from __future__ import annotations

import math

EPSILON, TINY = 2.0**-52, 1e-290


class NaiveScaling:
    """Statistics of the features of a stream. A row is a dict: the value of each feature that occurs in it."""

    def __init__(self, *, centred=True):
        self.centred, self.n = centred, 0
        self.count, self.mean, self.squares, self.centre, self.factor = {}, {}, {}, {}, {}

    def observe(self, row):
        """Add a row, and return it on its scale."""
        self.n += 1
        for j, x in row.items():
            n = self.count[j] = self.count.get(j, 0) + 1
            before = self.mean.get(j, 0.0)
            mean = self.mean[j] = before + (x - before) * (1.0 / n)
            squares = self.squares[j] = self.squares.get(j, 0.0) + (x - before) * (x - mean)
            deviation = math.sqrt(squares * (1.0 / n))
            if self.centred and n == self.n:  # it has occurred in every row
                self.centre[j] = mean
                spread = deviation if deviation > 8 * EPSILON * abs(mean) else 0.0
            else:
                self.centre[j] = 0.0
                large, small = max(abs(mean), deviation), min(abs(mean), deviation)
                spread = large * math.sqrt(1.0 + (small / large) ** 2) if large > 0.0 else 0.0
            self.factor[j] = 1.0 / spread if spread > TINY else 0.0
        return self.scaled(row)

    def scaled(self, row):
        """A row on the scale of the rows so far; features that have never occurred become 0."""
        return {j: (x - self.centre.get(j, 0.0)) * self.factor.get(j, 0.0) for j, x in row.items()}


class TwoPasses:
    """The same from all values at once: they are kept, and summed without rounding errors."""

    def __init__(self, *, centred=True):
        self.centred, self.n, self.values = centred, 0, {}

    def observe(self, row):
        self.n += 1
        return {j: self._scaled(j, x) for j, x in row.items()}

    def _scaled(self, j, x):
        values = self.values.setdefault(j, [])
        values.append(x)
        if self.centred and len(values) == self.n:
            mean = math.fsum(values) / self.n
            deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / self.n)
            return (x - mean) / deviation if deviation > 1e-12 * abs(mean) else 0.0
        size = math.sqrt(math.fsum(value**2 for value in values) / len(values))
        return x / size if size > 0.0 else 0.0
