"""How long a decision may take, and news of what it does. Without a limit, no result depends on the clock."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


class OutOfTime(Exception):
    """The time limit is over; the message says so, and what to try."""


@dataclass(frozen=True)
class Patience:
    """When to stop, the limit in seconds that leads to it, and whom to tell."""

    end: float = math.inf
    seconds: float = math.inf
    tell: Callable[[str], None] | None = None


_endless = Patience()
_current: ContextVar[Patience] = ContextVar("patience", default=_endless)


@contextmanager
def limited(seconds: float | None = None, tell: Callable[[str], None] | None = None) -> Iterator[None]:
    """Limit the time of decisions within this block, and pass on what they do to `tell`. An outer limit holds, too."""
    outer = _current.get()
    end = math.inf if seconds is None else time.monotonic() + seconds
    if end < outer.end and seconds is not None:
        inner = Patience(end, seconds, tell or outer.tell)
    else:
        inner = Patience(outer.end, outer.seconds, tell or outer.tell)
    token = _current.set(inner)
    try:
        yield
    finally:
        _current.reset(token)


def step(doing: str) -> None:
    """Say what happens next. Raises OutOfTime if the time is over."""
    now = _current.get()
    if now.tell is not None:
        now.tell(doing)
    if time.monotonic() > now.end:
        raise OutOfTime(
            f"the time limit of {now.seconds:g} s is over: allow more time, or try fewer rows or fewer features"
        )
