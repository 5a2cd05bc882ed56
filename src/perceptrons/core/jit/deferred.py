"""Numba's decorators, put off until something is compiled: importing this package does not import Numba.

Both decorators return the plain function, so it does not matter when they are applied.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

_waiting: list[Callable[[], object]] = []
_lock = threading.Lock()


def overload(stub: Callable[..., Any], **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Defer `numba.extending.overload`."""

    def defer(choose: Callable[..., Any]) -> Callable[..., Any]:
        def apply() -> None:
            from numba.extending import overload

            overload(stub, **options)(choose)

        _waiting.append(apply)
        return choose

    return defer


def register_jitable(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Defer `numba.extending.register_jitable`: compiled functions may call the decorated function."""

    def defer(function: Callable[..., Any]) -> Callable[..., Any]:
        overload(function, jit_options=options, strict=False)(lambda *args, **named: function)  # Numba does the same
        return function

    return defer


def apply_all() -> None:
    """Apply all decorators that are waiting. Call this before anything is compiled."""
    with _lock:  # no thread may compile before another has finished this
        while _waiting:
            _waiting[0]()
            del _waiting[0]  # only when it is done: Ctrl-C may come in between
