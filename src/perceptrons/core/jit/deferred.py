"""Numba's decorators, put off until something is compiled: importing this package does not import Numba.

Both decorators give back the plain function, so that it makes no difference when they are applied.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

_waiting: list[Callable[[], object]] = []
_lock = threading.Lock()


def overload(stub: Callable[..., Any], **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`numba.extending.overload`."""

    def defer(choose: Callable[..., Any]) -> Callable[..., Any]:
        def apply() -> None:
            from numba.extending import overload

            overload(stub, **options)(choose)

        _waiting.append(apply)
        return choose

    return defer


def register_jitable(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`numba.extending.register_jitable`: a function that kernels may call."""

    def defer(function: Callable[..., Any]) -> Callable[..., Any]:
        overload(function, jit_options=options, strict=False)(lambda *args, **named: function)  # as Numba has it
        return function

    return defer


def apply_all() -> None:
    """Tell Numba what has been declared so far; to be called before anything is compiled."""
    with _lock:  # nobody may compile while another thread is at it
        while _waiting:
            _waiting[0]()
            del _waiting[0]  # not before it is done: Ctrl-C may come
