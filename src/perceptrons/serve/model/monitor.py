"""The watch over mistakes of a model that learns from a stream: their rate, and alarms when it rises.

The alarms are those of ADWIN (`core.drift`). Page–Hinkley, the usual alternative, needs a threshold and a tolerance
that suit the level of the error rate, which nobody knows beforehand. ADWIN has one parameter, δ, which does not depend
on this level. Besides, the mean of its window is the error rate since the last change.

No bound on false alarms is claimed. The theorem about ADWIN is for independent bits, and mistakes of a learner are not
independent: each changes the model that makes the next one.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.drift import (
    DRIFTED,
    DRIFTS,
    FALLS,
    LENGTH,
    LEVELS,
    MISTAKES,
    MOST,
    ONES,
    RECENT,
    RISES,
    ROSE,
    SEEN,
    TOTALS,
    USED,
    WIDTH,
    watch,
)

LARGEST_WINDOW = 10_000_000
LARGEST = 2**62  # integers in a state: sums of two fit into 64 bits
# The totals that a state holds; the others follow from the window and the buckets.
KEPT = {
    "seen": SEEN,
    "mistakes": MISTAKES,
    "rises": RISES,
    "falls": FALLS,
    "rose": ROSE,
    "drifts": DRIFTS,
    "drifted": DRIFTED,
}


class Monitor:
    """Count mistakes, and notice when their rate rises: a drift.

    A falling rate is no drift. A change that ADWIN finds several times counts as one drift.

    Parameters
    ----------
    window : int
        Number of latest examples that `recent` and `rate` are about.
    delta : float
        Confidence of ADWIN, between 0 and 1. A smaller one makes fewer false alarms and finds changes later.

    Attributes
    ----------
    drift_at : int or None
        Position of the last drift in the log.
    """

    def __init__(self, window: int = 1000, delta: float = 0.002) -> None:
        if not 1 <= window <= LARGEST_WINDOW:
            raise ValueError(f"window must be between 1 and {LARGEST_WINDOW}, got {window}")
        if not 0 < delta < 1:
            raise ValueError(f"delta must be > 0 and < 1, got {delta}")
        self.window, self.delta = int(window), float(delta)
        self.drift_at: int | None = None
        self._ring = np.zeros(self.window, dtype=np.uint8)
        self._histogram = np.zeros((LEVELS, WIDTH), dtype=np.int64)
        self._totals = np.zeros(TOTALS, dtype=np.int64)

    def add(self, bits: bytes | bytearray | npt.NDArray[np.uint8], last: int) -> None:
        """Add examples that were learned.

        Parameters
        ----------
        bits : bytes, bytearray or array of uint8
            One byte for each example: 0 if the prediction was right, 1 if it was a mistake.
        last : int
            Position of the last of these examples in the log. If they show a drift, this is its position.
        """
        if isinstance(bits, np.ndarray) and bits.dtype != np.uint8:
            raise TypeError(f"bits must be bytes or an array of uint8, got an array of {bits.dtype}")
        before = self._totals[DRIFTS]
        # All kinds of bits become read-only arrays, so that the function is compiled for one type.
        watch(np.frombuffer(bytes(bits), dtype=np.uint8), self._ring, self._histogram, self._totals, self.delta)
        if self._totals[DRIFTS] != before:
            self.drift_at = int(last)

    @property
    def seen(self) -> int:
        """Number of examples."""
        return int(self._totals[SEEN])

    @property
    def mistakes(self) -> int:
        """Number of mistakes."""
        return int(self._totals[MISTAKES])

    @property
    def recent(self) -> int:
        """Number of mistakes among the last `window` examples."""
        return int(self._totals[RECENT])

    @property
    def recent_seen(self) -> int:
        """Number of examples that `recent` is about: `window`, or all while there are fewer."""
        return min(self.seen, self.window)

    @property
    def rate(self) -> float | None:
        """Error rate over the last `window` examples; None before the first example."""
        return self.recent / self.recent_seen if self.seen else None

    @property
    def n_drifts(self) -> int:
        """Number of drifts: changes that made the error rate rise."""
        return int(self._totals[DRIFTS])

    @property
    def adapted_seen(self) -> int:
        """Number of examples since the last change, as far as ADWIN can tell: the length of its window."""
        return int(self._totals[LENGTH])

    @property
    def adapted_rate(self) -> float | None:
        """Error rate since the last change, as far as ADWIN can tell; None before the first example."""
        return int(self._totals[ONES]) / self.adapted_seen if self.adapted_seen else None

    def state(self) -> dict[str, Any]:
        """Return everything that `restored` needs, as values of JSON."""
        levels = [line[1 : 1 + line[USED]].tolist() for line in self._histogram if line[USED]]
        return {
            "window": self.window,
            "delta": self.delta,
            **{name: int(self._totals[entry]) for name, entry in KEPT.items()},
            "drift_at": self.drift_at,
            "latest": base64.b64encode(np.packbits(self._ring[self._places()]).tobytes()).decode("ascii"),
            "buckets": levels,
        }

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Monitor:
        """Return the monitor that had this state.

        A state that no monitor could have had raises ValueError.
        """
        _check_keys(state)
        if type(state["delta"]) is not float:
            raise ValueError(f"state of a monitor: 'delta' must be a float, got {state['delta']!r}")
        monitor = cls(_integer(state, "window"), state["delta"])
        for name, entry in KEPT.items():
            monitor._totals[entry] = _integer(state, name)
        if state["drift_at"] is not None:
            monitor.drift_at = _integer(state, "drift_at")
        monitor._restore_ring(state["latest"])
        monitor._restore_histogram(state["buckets"])
        monitor._check()
        return monitor

    def _places(self) -> npt.NDArray[np.intp]:
        """Places of the latest bits in the ring, the oldest bit first."""
        places: npt.NDArray[np.intp] = np.arange(self.seen - self.recent_seen, self.seen) % self.window
        return places

    def _restore_ring(self, latest: Any) -> None:
        try:
            packed = np.frombuffer(base64.b64decode(latest, validate=True), dtype=np.uint8)
        except (TypeError, ValueError, binascii.Error):
            raise ValueError("state of a monitor: 'latest' is not base64") from None
        n, bits = self.recent_seen, np.unpackbits(packed)
        if packed.size != -(-n // 8) or bits[n:].any():
            raise ValueError(f"state of a monitor: 'latest' must hold {n} bits and no more")
        self._ring[self._places()] = bits[:n]
        self._totals[RECENT] = bits[:n].sum()

    def _restore_histogram(self, buckets: Any) -> None:
        if not isinstance(buckets, list) or len(buckets) > LEVELS - 2:
            raise ValueError(f"state of a monitor: 'buckets' must be a list of at most {LEVELS - 2} levels")
        for level, line in enumerate(buckets):
            if not isinstance(line, list) or not 1 <= len(line) <= MOST:
                raise ValueError(f"state of a monitor: level {level} of 'buckets' must be a list of 1 to {MOST} counts")
            if not all(type(ones) is int and 0 <= ones <= 1 << level for ones in line):
                raise ValueError(f"state of a monitor: counts of level {level} must be from 0 to {1 << level}")
            self._histogram[level, USED] = len(line)
            self._histogram[level, 1 : 1 + len(line)] = line
        length = sum(len(line) << level for level, line in enumerate(buckets))
        if length > self.seen or (length == 0) != (self.seen == 0):
            raise ValueError(f"state of a monitor: 'buckets' hold {length} examples, 'seen' is {self.seen}")
        self._totals[LENGTH], self._totals[ONES] = length, sum(map(sum, buckets))

    def _check(self) -> None:
        """Raise ValueError if totals contradict each other."""
        seen, mistakes, recent, _, ones, rises, falls, rose, drifts, drifted = self._totals.tolist()
        counted = max(recent, ones) <= mistakes <= seen and drifts <= rises and rises + falls <= seen
        if not counted or not drifted <= rose <= seen:
            raise ValueError("state of a monitor: its counts contradict each other")
        if (drifts == 0) != (self.drift_at is None):
            raise ValueError(f"state of a monitor: 'drifts' is {drifts}, but 'drift_at' is {self.drift_at}")


def _check_keys(state: Any) -> None:
    expected = {"window", "delta", *KEPT, "drift_at", "latest", "buckets"}
    if not isinstance(state, dict):
        raise ValueError(f"state of a monitor: expected a dict, got {type(state).__name__}")
    if state.keys() != expected:
        wrong = ", ".join(sorted(map(repr, state.keys() ^ expected)))
        raise ValueError(f"state of a monitor: missing or unknown entries: {wrong}")


def _integer(state: dict[str, Any], name: str) -> int:
    value = state[name]
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise ValueError(f"state of a monitor: {name!r} must be an integer from 0 to {LARGEST}, got {value!r}")
    return value
