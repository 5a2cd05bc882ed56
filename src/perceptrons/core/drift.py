"""The watch over mistakes: how many of the latest examples were mistakes, and ADWIN, which finds changes of their rate.

ADWIN (Bifet & Gavaldà 2007, "Learning from Time-Changing Data with Adaptive Windowing") keeps a window of the latest
bits. When an older part W₀ and the rest W₁ have clearly different means, it drops the oldest bits.

The window is an exponential histogram (§4): level k holds at most 5 buckets of 2ᵏ bits each, and of each bucket only
its number of ones. So n bits take O(log n) buckets. The window can be cut only between buckets.
"""

from __future__ import annotations

import numpy as np

from perceptrons.core.jit.compiled import exact_uncounted
from perceptrons.core.jit.deferred import register_jitable
from perceptrons.core.scaling import EXACT

LEVELS = 64  # more than anyone fills: 2⁶³ bits
MOST = 5  # buckets of one level
CLOCK = 32  # bits from one check to the next
SHORTEST = 5  # bits of W₀ and of W₁, at least

# A line of `histogram` is a level: the number of its buckets, then the ones in each bucket, the oldest first. It has
# room for one bucket more than MOST, whose arrival makes the two oldest merge.
USED, WIDTH = 0, MOST + 2

# Entries of `totals`.
(
    SEEN,  # bits so far
    MISTAKES,  # ones among them
    RECENT,  # ones in the ring
    LENGTH,  # bits in ADWIN's window
    ONES,  # ones in ADWIN's window
    RISES,  # checks that found a rising rate
    FALLS,  # checks that found a falling rate
    ROSE,  # SEEN at the last rise
    DRIFTS,  # rises that are new; the others find a change again that was found before
    DRIFTED,  # SEEN at the last new rise
) = range(10)
TOTALS = 10


@exact_uncounted
def watch(bits, ring, histogram, totals, delta):
    """Watch bits, where 0 is a right answer and anything else a mistake; updates the last three arrays in place.

    ring holds the latest bits, bit i at place i modulo its size. The result does not depend on how the bits are cut
    into calls.
    """
    place = totals[SEEN] % ring.size
    for i in range(bits.size):
        bit = np.int64(bits[i] != 0)
        totals[RECENT] += bit - np.int64(ring[place])
        ring[place] = bit
        place = place + 1 if place + 1 < ring.size else 0
        totals[SEEN] += 1
        totals[MISTAKES] += bit
        totals[LENGTH] += 1
        totals[ONES] += bit
        append(bit, histogram)
        if totals[SEEN] % CLOCK == 0:
            check(histogram, totals, delta)


@register_jitable(**EXACT)
def append(bit, histogram):
    """Append a bucket with one bit; updates histogram in place.

    The two oldest buckets of a level with more than MOST buckets become one bucket of the next level.
    """
    level, ones = 0, bit
    while True:
        used = histogram[level, USED]
        histogram[level, 1 + used] = ones
        if used < MOST:
            histogram[level, USED] = used + 1
            return
        ones = histogram[level, 1] + histogram[level, 2]
        for place in range(1, MOST):
            histogram[level, place] = histogram[level, place + 2]
        histogram[level, USED] = MOST - 1
        level += 1


@register_jitable(**EXACT)
def check(histogram, totals, delta):
    """Drop the oldest bucket while some cut differs; updates histogram and totals in place.

    The strongest cut of the whole window tells whether the rate rises or falls. ADWIN finds a change several times: it
    drops only as many old bits as it must, and the rest differ again when more new bits are known. So a rise is a drift
    only if its cut lies after the last rise.
    """
    top = 0
    while histogram[top + 1, USED] > 0:  # no level below the top is empty
        top += 1
    cut = strongest_cut(histogram, top, totals, delta)
    if cut > 0:
        if totals[SEEN] - cut >= totals[ROSE]:
            totals[DRIFTS] += 1
            totals[DRIFTED] = totals[SEEN]
        totals[RISES] += 1
        totals[ROSE] = totals[SEEN]
    elif cut < 0:
        totals[FALLS] += 1
    while cut != 0:
        totals[LENGTH] -= np.int64(1) << top
        totals[ONES] -= histogram[top, 1]
        histogram[top, USED] -= 1
        for place in range(1, 1 + histogram[top, USED]):
            histogram[top, place] = histogram[top, place + 1]
        if histogram[top, USED] == 0:
            top -= 1
        cut = strongest_cut(histogram, top, totals, delta)


@register_jitable(**EXACT)
def strongest_cut(histogram, top, totals, delta):
    """Return n₁ of the cut with the largest |μ₀ − μ₁|/ε_cut: −n₁ if the rate falls there, 0 if no cut differs.

    A cut of the window into n₀ older and n₁ newer bits differs if |μ₀ − μ₁| > ε_cut. In practice (§3)

        ε_cut = √((2/m)·σ²·L) + (2/(3m))·L,   m = 1/(1/n₀ + 1/n₁) = n₀·n₁/n,   L = ln(2/δ′),   δ′ = δ/ln n,

    where σ² = μ(1 − μ) is the variance of all n bits. With s₀ ones in W₀, m·(μ₀ − μ₁) = s₀ − μ·n₀. So both sides times
    m are

        |s₀ − μ·n₀| > √(2·m·σ²·L) + (2/3)·L.
    """
    n, best, strongest = totals[LENGTH], 0, 1.0
    mean = totals[ONES] / n  # μ
    L = np.log(2.0 * np.log(n) / delta)
    constant = 2.0 / 3.0 * L
    factor = 2.0 * mean * (1.0 - mean) * L / n  # 2·σ²·L/n
    n0 = s0 = 0
    for level in range(top, -1, -1):
        for place in range(1, 1 + histogram[level, USED]):
            n0 += np.int64(1) << level
            s0 += histogram[level, place]
            n1 = n - n0
            gap = s0 - mean * n0  # m·(μ₀ − μ₁)
            limit = np.sqrt(factor * n0 * n1) + constant  # m·ε_cut
            if abs(gap) > strongest * limit and n0 >= SHORTEST and n1 >= SHORTEST:
                strongest, best = abs(gap) / limit, n1 if gap < 0.0 else -n1
    return best
