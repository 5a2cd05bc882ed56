"""How a function becomes a kernel: Numba's options, and a cache on disk that is never stale.

Numba keys a cached function by its own bytecode only, so an edit in a function that it calls goes unnoticed.
Contents of the closure enter the key as well; every kernel therefore closes over a digest of all sources
that are compiled into kernels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

import numpy as np

from perceptrons.core.jit import native
from perceptrons.core.jit.deferred import apply_all, register_jitable

# Sums may be reassociated and contracted, which vectorises them; NaN and infinity keep their meaning, because
# overflow is detected by them.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}
OPTIONS: Any = {"nogil": True, "error_model": "numpy", "fastmath": FASTMATH}


def _digest() -> str:
    package = Path(__file__).parents[2]
    sources = [package / "rules.py", *sorted((package / "core").rglob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


DIGEST = _digest()


def _close_over(function: Callable[..., Any], content: str) -> FunctionType:
    """The same function with one more, unused, free variable."""
    code = function.__code__.replace(co_freevars=("sources",))
    return FunctionType(code, function.__globals__, function.__name__, function.__defaults__, (CellType(content),))


class Compiled:
    """A compiled function. Called with a rule of this package it is kept on disk; `fresh` never is.

    A kernel that holds a rule of the user's must stay out of the cache: the cache would not notice an edit of
    the rule's formula, and its index could not be read where the rule's module cannot be imported.
    """

    def __init__(self, function: Callable[..., Any], **others: Any) -> None:
        """`others` are options of Numba's that differ from `OPTIONS`."""
        self.__doc__ = function.__doc__
        self.function, self.options = function, {**OPTIONS, **others}
        self.machine: dict[Any, Any] = {}  # what calls it without Numba, by the kinds of arguments

    @property
    def identity(self) -> tuple[Any, ...]:
        """All that its machine code depends on, as far as the package goes."""
        plain = {name: sorted(value) if isinstance(value, set) else value for name, value in self.options.items()}
        return self.function.__module__, self.function.__qualname__, sorted(plain.items()), DIGEST

    @cached_property  # a program that starts fast makes what it calls, and nothing else
    def fresh(self) -> Any:
        return self._dispatcher(self.function)

    @cached_property
    def cached(self) -> Any:
        try:
            return self._dispatcher(_close_over(self.function, DIGEST), cache=True)
        except RuntimeError:  # no folder can be written: compile anew in every process
            return self.fresh

    def _dispatcher(self, function: Callable[..., Any], **others: Any) -> Any:
        from numba import njit

        apply_all()
        return njit(**self.options, **others)(function)

    def __call__(self, *args: Any) -> Any:
        return native.call(self, *args) if native.on else self.cached(*args)

    def for_rule(self, rule: object) -> Callable[..., Any]:
        """What may call the kernel with this rule compiled in."""
        chosen: Callable[..., Any]
        if type(rule).__module__ != "perceptrons.rules":
            chosen = self.fresh
        else:
            chosen = partial(native.call, self) if native.on else self.cached
        return chosen


class Filling(Compiled):
    """A kernel that fills an array, its last parameter. Calls leave it out, and get it with what else is returned.

    The array is made outside: a kernel that allocates cannot do without Numba's memory management.
    """

    def __init__(self, shape: Callable[..., Any], function: Callable[..., Any]) -> None:
        """`shape` tells of the arguments of a call how large the array is."""
        super().__init__(function)
        self.shape = shape

    def __call__(self, *args: Any) -> Any:
        out = np.empty(self.shape(*args))
        rest = super().__call__(*args, out)
        return out if rest is None else (out, *rest)


def exact(function: Callable[..., Any]) -> Compiled:
    """A kernel whose every operation rounds as written."""
    return Compiled(function, fastmath=False)


@register_jitable()
def is_finite(x: float) -> bool:
    """Whether x is a number. (NumPy's isfinite subtracts x from itself, which reassociation turns into 0.)"""
    return abs(x) <= 1.7976931348623157e308
