"""BLAS held to one thread: tables here are small, and threads that wait for a busy core take 100 times as long."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_limits: list[Any] = []  # the limit in force
_inside = 0  # callers that want it


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this, BLAS uses one thread. The first of several callers at once sets that, the last one undoes it."""
    global _inside
    with _lock:
        if _inside == 0:
            _limits.append(_libraries().limit(limits=1, user_api="blas"))
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limits.pop().restore_original_limits()
