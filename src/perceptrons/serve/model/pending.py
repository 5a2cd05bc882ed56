"""Predictions that wait for their labels."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from perceptrons.serve.errors import Refused
from perceptrons.serve.limits import Limits
from perceptrons.serve.messages import encode
from perceptrons.serve.model.records import Waits


class Waiting(NamedTuple):
    """What was seen, as JSON, and what was predicted; `until`: when it expires, by the monotonic clock."""

    x: bytes
    given: Any
    until: float


class Pending:
    """Predictions by id, the oldest first.

    Ages are measured by the monotonic clock, which never jumps. Only the age at a restart comes from the wall clock; it
    counts as 0 if that clock went back, and no prediction waits longer than the limit after a restart.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.waiting: dict[str, Waiting] = {}

    def __len__(self) -> int:
        return len(self.waiting)

    def restore(self, rows: list[tuple[str, bytes, Any, float]]) -> None:
        """Take over predictions from the log."""
        now, today, longest = time.monotonic(), time.time(), self.limits.pending_seconds
        for id, x, given, made in rows:
            age = min(max(0.0, today - made), longest)
            self.waiting[id] = Waiting(x, given, now + longest - age)

    def add(self, id: str, x: bytes, given: Any) -> Waits:
        """Keep a prediction; returns what the log keeps of it."""
        if id in self.waiting and self.waiting[id].until > time.monotonic():
            raise Refused(409, f"a prediction with the id {id!r:.80} is waiting for its label already: use another id")
        if len(self.waiting) >= self.limits.pending:
            raise Refused(
                429,
                f"{len(self.waiting):,} predictions wait for their labels, which is the limit: send labels, or predict "
                "without an id",
                60,
            )
        self.waiting[id] = Waiting(x, given, time.monotonic() + self.limits.pending_seconds)
        return Waits(id, x, encode(given).decode(), time.time())

    def find(self, id: str) -> Waiting:
        """The prediction with this id."""
        found = self.waiting.get(id)
        if found is None or found.until <= time.monotonic():
            raise Refused(
                404,
                f"no prediction with the id {id!r:.80} waits for its label: it has one, has expired, or was never made",
            )
        return found

    def expired(self) -> list[str]:
        """Remove what has waited too long; returns the ids. All wait equally long, so the oldest expire first."""
        now, found = time.monotonic(), []
        for id, waiting in self.waiting.items():
            if waiting.until > now:
                break
            found.append(id)
        for id in found:
            del self.waiting[id]
        return found
