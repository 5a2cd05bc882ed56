"""Two ways of doing the same work, alternating in one process; the ratio of their medians is what counts."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def seconds(work: Callable[[], Any]) -> float:
    """Wall-clock time of one call."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def ratio(ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int = 7) -> tuple[float, float, float]:
    """Medians of both, in seconds, and theirs over ours. Each is called once before, to compile and warm up."""
    ours(), theirs()
    times = [(seconds(ours), seconds(theirs)) for _ in range(repeats)]
    mine, other = (statistics.median(column) for column in zip(*times, strict=True))
    return mine, other, other / mine


def row(work: str, mine: float, other: float, factor: float, bar: str, unit: float = 1e3) -> None:
    """Print one line of the table."""
    print(f"{work:<66} {mine * unit:9.2f} {other * unit:9.2f} {factor:8.2f}   {bar}", flush=True)


def head(title: str, ours: str, theirs: str) -> None:
    """Print the head of the table."""
    print(f"\n{title}\n{'':<66} {ours:>9} {theirs:>9} {'ratio':>8}   bar", flush=True)
