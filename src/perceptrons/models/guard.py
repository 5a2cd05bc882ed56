"""Locks of a model: one thread learns at a time, and predictions see a whole hypothesis.

Several threads may predict side by side. A prediction waits while the model changes, and a change waits until the
predictions under way have ended. So a prediction sees the model before or after a call that learns, never in between.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from heapq import heappop, heappush
from threading import get_ident
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar
from weakref import WeakSet

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
STRIPES = 8  # the most threads that predict side by side
PATIENCE = 100  # calls in a row by one thread, after which it owns a model that other threads have used
MOMENT = 1e-3  # seconds that a prediction waits for another thread that learns
# Whether one thread runs at a time, so that what a thread writes is seen by all others at once.
IN_TURN: bool = getattr(sys, "_is_gil_enabled", lambda: True)()

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


class _Owner:
    """A thread that uses the lane of a model without locks, because no other thread uses the model."""

    def __init__(self, thread: int) -> None:
        self.thread = thread
        self.busy = False  # whether it does so now
        self.lost = False  # whether another thread has taken the model away


class _HalfChanged:
    """What a model has for locks if another thread was changing it when the process was forked."""

    def __enter__(self, *_: Any, **__: Any) -> NoReturn:
        raise RuntimeError(
            "this process was forked while another thread changed the model, so the model may be half changed here: "
            "fork while no thread learns, or load the model from a file in this process"
        )

    __exit__ = acquire = _is_owned = __enter__


class Guard:
    """The locks of one model. Deep copies and pickles of a model do not have them: they get locks of their own.

    A reader takes one of several locks, which depends on its thread; whoever changes the model takes all of them. While
    a change waits for readers, the gate keeps out new ones. ``with`` is used on plain locks: Ctrl-C cannot come between
    taking a lock and the block that releases it.

    Ten locks take longer than learning from one example. So a thread that has the model for itself owns it: `quickly`
    takes no lock then. The owner says that it is busy before it looks whether it is still the owner. Another thread
    says that the ownership is lost before it looks whether the owner is busy. So one of them always sees the other.
    Ownership is given only by a thread that has all locks.

    A thread that uses the lane may call the model again, in a signal handler for example. That call takes the long way.
    If the thread is the owner, it needs no lock to read: no other thread comes in while the owner is busy.

    After a fork, only the thread that forked lives on in the child. Nobody there would release the locks of the others,
    so the child gets new ones.
    """

    def __init__(self) -> None:
        self.learning: Any = threading.RLock()  # for a whole call that learns
        self.gate: Any = threading.RLock()
        self.stripes: tuple[Any, ...] = tuple(threading.RLock() for _ in range(STRIPES))
        self.lane: Any = None  # the short way for single examples; None after a change
        self.names: Any = None  # names of features that did not come with dicts: the array, and what `Names` made of it
        self.owner: _Owner | None = None
        self.thread = np.zeros(1, dtype=np.intp)  # that of the owner, if he has not lost the model; else 0
        self._used = False  # whether a thread that has all locks uses the lane
        self._shared = False  # whether a second thread has used the model
        self._changing = False  # whether a thread that has all locks may change the model
        self._last, self._streak = 0, 0  # the last thread that called `quickly` with locks, and how often in a row
        _guards.add(self)

    def mine(self) -> Any:
        """The lock that lets this thread read; to be used with ``with``, and `settle` in its block."""
        owner = self.owner
        if owner is not None and owner.busy and owner.thread == get_ident():
            return nullcontext()
        own: Any = self.stripes[_thread.number.value % STRIPES]
        if not own._is_owned():
            with self.gate:
                pass
        return own

    def settle(self) -> None:
        """Take the model away from another thread that owns it; called by a thread that has its lock."""
        owner = self.owner
        if owner is not None and owner.thread != get_ident():
            owner.lost = self._shared = True
            self.thread[0] = 0
            while owner.busy:  # for microseconds
                time.sleep(0.0)
            if self.owner is owner:
                self.owner = None

    def change(self, act: Callable[[], R]) -> R:
        """Call `act`, which changes the model, while no other thread reads or learns."""
        self.lane = None
        return self.alone(lambda: self._noted(act))

    def _noted(self, act: Callable[..., R], *args: Any) -> R:
        """Call `act`, and note that it may change the model; called by a thread that has all locks."""
        before = self._changing
        try:
            self._changing = True
            return act(*args)
        finally:
            self._changing = before

    def alone(self, act: Callable[[], R]) -> R:
        """Call `act` while no other thread reads or learns."""
        a, b, c, d, e, f, g, h = self.stripes
        with self.learning, self.gate, a, b, c, d, e, f, g, h:
            self.settle()
            return act()

    def quickly(self, act: Callable[..., R], *args: Any) -> R | None:
        """Call `act`, a method of the lane, while no other thread reads or learns; None if the lane has changed."""
        owner = self.owner
        if owner is not None and owner.thread == get_ident():
            if owner.busy or self._used:
                return None
            try:
                owner.busy = True
                if not owner.lost:
                    return act(*args)
            except KeyboardInterrupt:  # it may have come anywhere
                self.lane = None
                raise
            finally:
                owner.busy = False
        return self.alone(lambda: self._noted(self._with_locks, act, *args))

    def glance(self, act: Callable[..., R], *args: Any) -> R | None:
        """Call `act` as `quickly` does, to predict; None also if another thread learns for more than a moment."""
        if self.owner is not None and self.owner.thread == get_ident():
            return self.quickly(act, *args)
        return self.soon(lambda: self._with_locks(act, *args))

    def soon(self, act: Callable[[], R]) -> R | None:
        """Call `act` as `alone` does; None if another thread learns for more than a moment."""
        had, taken = self.learning._is_owned(), False
        try:
            taken = had or self.learning.acquire(timeout=MOMENT)
            return self.alone(act) if taken else None
        finally:
            if taken and not had:
                self.learning.release()

    def _with_locks(self, act: Callable[..., R], *args: Any) -> R | None:
        """Call `act`. A thread that has the model for itself becomes its owner, or does so again after a while."""
        me = get_ident()
        self._last, self._streak = me, self._streak + 1 if me == self._last else 0
        if IN_TURN and (self._streak >= PATIENCE or not self._shared):
            self.owner, self._streak = _Owner(me), 0
            self.thread[0] = me
        if self._used or act.__self__ is not self.lane:  # type: ignore[attr-defined]
            return None
        try:
            self._used = True
            return act(*args)
        finally:
            self._used = False

    def forget_threads(self) -> None:
        """In the child of a fork: keep the locks of this thread, and renew those of threads that do not exist here."""
        if isinstance(self.learning, _HalfChanged):  # since an earlier fork
            return
        owner, mine = self.owner, self.learning._is_owned()
        left = owner is not None and owner.thread != get_ident()
        if (self._changing and not mine) or (left and owner is not None and owner.busy):
            self.learning = self.gate = _HalfChanged()
            self.stripes = (self.learning,) * STRIPES
        else:
            self.learning, self.gate, *stripes = map(_renewed, (self.learning, self.gate, *self.stripes))
            self.stripes = tuple(stripes)
        if left:
            self.owner, self.thread[0] = None, 0
        if not mine:
            self._used = self._changing = False
            if owner is None or left:  # another thread may have been using it
                self.lane = None


_guards: WeakSet[Guard] = WeakSet()


def _renewed(lock: Any) -> Any:
    """A new lock, unless this thread holds the old one."""
    return lock if lock._is_owned() else threading.RLock()


def _after_fork() -> None:
    for guard in list(_guards):
        guard.forget_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def reading(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Let a method of an estimator see one hypothesis from beginning to end."""

    @wraps(method)
    def whole(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        guard = self.__dict__.get("_locks") or self._guard
        with guard.mine():
            guard.settle()
            return method(self, *args, **kwargs)

    return whole
