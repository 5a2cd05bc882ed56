"""A slow twin of ADWIN (Bifet & Gavaldà 2007): one list of buckets, and the cut test as the paper has it."""

from __future__ import annotations

from math import log, sqrt


class Adwin:
    """A window of bits. A bucket is a pair (number of bits, number of ones); the oldest bucket comes first."""

    def __init__(self, delta=0.002, most=5, clock=32, shortest=5):
        self.delta, self.most, self.clock, self.shortest = delta, most, clock, shortest
        self.buckets = []
        self.seen = self.rises = self.falls = self.rose = self.drifts = self.drifted = 0

    @property
    def length(self):
        return sum(size for size, _ in self.buckets)

    @property
    def ones(self):
        return sum(ones for _, ones in self.buckets)

    def add(self, bit):
        self.seen += 1
        self.buckets.append((1, bit))
        size = 1
        while sum(other == size for other, _ in self.buckets) > self.most:
            first = next(i for i, (other, _) in enumerate(self.buckets) if other == size)
            merged = (2 * size, self.buckets[first][1] + self.buckets[first + 1][1])
            self.buckets[first : first + 2] = [merged]
            size *= 2
        if self.seen % self.clock == 0:
            self.check()

    def check(self):
        """Drop the oldest bucket while some cut differs. A rise at a cut before the last rise is no new drift."""
        cuts = self.differing_cuts()
        if cuts:
            _, change, start = max(cuts)
            if change < 0:
                self.falls += 1
            else:
                self.drifts += start >= self.rose
                self.drifted = self.seen if start >= self.rose else self.drifted
                self.rises += 1
                self.rose = self.seen
        while self.differing_cuts():
            del self.buckets[0]

    def differing_cuts(self):
        """For each cut W = W₀W₁ with |μ₀ − μ₁| > ε_cut: the ratio of both sides, μ₁ − μ₀, and the bits before W₁."""
        cuts, n0, ones0 = [], 0, 0
        for size, ones in self.buckets:
            n0, ones0 = n0 + size, ones0 + ones
            n1, ones1 = self.length - n0, self.ones - ones0
            if min(n0, n1) >= self.shortest:
                change, threshold = ones1 / n1 - ones0 / n0, self.threshold(n0, n1)
                if abs(change) > threshold:
                    cuts.append((abs(change) / threshold, change, self.seen - n1))
        return cuts

    def threshold(self, n0, n1):
        """ε_cut of §3, in the form for practice."""
        n = n0 + n1
        mean = self.ones / n
        variance = mean * (1 - mean)
        m = 1 / (1 / n0 + 1 / n1)
        confidence = self.delta / log(n)  # δ′
        return sqrt(2 / m * variance * log(2 / confidence)) + 2 / (3 * m) * log(2 / confidence)
