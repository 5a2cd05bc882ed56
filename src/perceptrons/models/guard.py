"""Locks of a model: one thread learns at a time, and predictions see a whole hypothesis.

Several threads may predict side by side. A prediction waits while the model changes, and a change waits until the
predictions under way have ended. So a prediction sees the model before or after a call that learns, never in between.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from functools import wraps
from heapq import heappop, heappush
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
STRIPES = 8  # the most threads that predict side by side

_numbers = itertools.count()
_free: list[int] = []  # numbers of threads that have ended, a heap


class _Number:
    """The smallest number that no living thread has."""

    def __init__(self) -> None:
        try:
            self.value = heappop(_free)
        except IndexError:
            self.value = next(_numbers)

    def __del__(self, push: Any = heappush, free: list[int] = _free) -> None:  # names may be gone when Python ends
        push(free, self.value)


class _Thread(threading.local):
    """The number of a thread that has used a model; given back when the thread ends."""

    def __init__(self) -> None:
        self.number = _Number()


_thread = _Thread()


class Guard:
    """The locks of one model. Deep copies and pickles of a model do not have them: they get locks of their own.

    A reader takes one of several locks, which depends on its thread; whoever changes the model takes all of them. While
    a change waits for readers, the gate keeps out new ones. Only ``with`` on plain locks is used: Ctrl-C cannot come
    between taking a lock and the block that releases it.
    """

    def __init__(self) -> None:
        self.learning = threading.RLock()  # for a whole call that learns
        self.gate = threading.RLock()
        self.stripes = tuple(threading.RLock() for _ in range(STRIPES))

    def mine(self) -> Any:
        """The lock that lets this thread read; to be used with ``with``."""
        own: Any = self.stripes[_thread.number.value % STRIPES]
        if not own._is_owned():
            with self.gate:
                pass
        return own

    def change(self, act: Callable[[], R]) -> R:
        """Call `act` while no other thread reads or learns."""
        a, b, c, d, e, f, g, h = self.stripes
        with self.learning, self.gate, a, b, c, d, e, f, g, h:
            return act()


def reading(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Let a method of an estimator see one hypothesis from beginning to end."""

    @wraps(method)
    def whole(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._guard.mine():
            return method(self, *args, **kwargs)

    return whole
