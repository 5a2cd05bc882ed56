"""Numba's decorators, put off until something is compiled: importing this package does not import Numba.

Both decorators return the plain function, so it does not matter when they are applied.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
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


def forms(names: str, choose: Callable[[dict[str, Any]], str], **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Declare a function in several forms, called `names`; `choose` picks one by the types of arguments, by name.

    The decorated function is the first form, which also serves where another one is named. It has an attribute with the
    name of each other, which declares that::

        @forms("dense csr", by_layout)
        def dot(values, indices, indptr, i, w): ...

        @dot.csr
        def _dot(values, indices, indptr, i, w): ...
    """
    first, *others = names.split()

    def declare(function: Callable[..., Any]) -> Any:
        known, parameters = {first: function}, function.__code__.co_varnames  # locals follow them
        pick = overload(function, jit_options=options, strict=False)
        pick(lambda *types: known.get(choose(dict(zip(parameters, types, strict=False))), function))
        for name in others:
            setattr(function, name, partial(known.setdefault, name))
        return function

    return declare


def by_class(argument: str) -> Callable[[dict[str, Any]], str]:
    """Pick a form by the class of an argument, a NamedTuple: ``Voted`` picks the form "voted"."""
    return lambda types: str(types[argument].instance_class.__name__.lower())


def apply_all() -> None:
    """Apply all decorators that are waiting. Call this before anything is compiled."""
    with _lock:  # no thread may compile before another has finished this
        while _waiting:
            _waiting[0]()
            del _waiting[0]  # only when it is done: Ctrl-C may come in between
