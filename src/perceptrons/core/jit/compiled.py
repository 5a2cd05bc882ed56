"""How a function is compiled: Numba's options, and a cache on disk that is never stale.

Numba's cache identifies a function by its own bytecode, so Numba misses an edit in a function that it calls. The
contents of the closure are part of the identity as well. Every compiled function therefore closes over a digest of all
sources that may be compiled into it.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property, partial
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

import numpy as np

from perceptrons.core.jit import native, objects
from perceptrons.core.jit.deferred import apply_all, register_jitable
from perceptrons.core.jit.private import is_private

# Sums may be reassociated and contracted, so that they can be vectorised. NaN and infinity keep their meaning: they
# show that a sum overflowed.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}
_lock = threading.Lock()
OPTIONS: Any = {"nogil": True, "error_model": "numpy", "fastmath": FASTMATH}


def _digest() -> str:
    package = Path(__file__).parents[2]
    found = [*package.glob("core/*.py"), *package.glob("core/*/*.py")]  # rglob takes a millisecond longer
    sources = [package / "rules.py", *sorted(found)]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


DIGEST = _digest()


def _close_over(function: Callable[..., Any], content: str) -> FunctionType:
    """Return the same function with one more, unused, free variable."""
    code = function.__code__.replace(co_freevars=("sources",))
    return FunctionType(code, function.__globals__, function.__name__, function.__defaults__, (CellType(content),))


class Compiled:
    """A compiled function. `cached` is kept on disk, `fresh` is compiled anew in every process.

    With a rule that a user wrote, only `fresh` will do. The cache would miss an edit of the rule's formula, and a
    process that cannot import the rule's module could not read the cache's index.
    """

    def __init__(self, function: Callable[..., Any], **others: Any) -> None:
        """Make a compiled function; `others` are options of Numba that differ from `OPTIONS`."""
        self.__doc__ = function.__doc__
        self.function, self.options = function, {**OPTIONS, **others}
        self.machine: dict[Any, Any] = {}  # calls without Numba, by the kinds of arguments

    @property
    def identity(self) -> tuple[Any, ...]:
        """Everything in the package that its machine code depends on."""
        plain = {name: sorted(value) if isinstance(value, set) else value for name, value in self.options.items()}
        return self.function.__module__, self.function.__qualname__, sorted(plain.items()), DIGEST

    @cached_property  # programs start faster if they make only what they call
    def fresh(self) -> Any:
        """Numba's dispatcher without a cache."""
        return self._dispatcher(self.function)

    @cached_property
    def cached(self) -> Any:
        """Numba's dispatcher with a cache; without one if there is no folder that only this user can write."""
        function = _close_over(self.function, DIGEST)
        try:
            dispatcher = self._dispatcher(function, cache=True)
            if not is_private(dispatcher.stats.cache_path):  # nothing has been read from it yet
                with _cache_in(objects.folders()[-1]):
                    dispatcher = self._dispatcher(function, cache=True)
        except RuntimeError:  # no folder can be written
            return self.fresh
        if is_private(dispatcher.stats.cache_path):
            return dispatcher
        _warn(dispatcher.stats.cache_path)
        return self.fresh

    def _dispatcher(self, function: Callable[..., Any], **others: Any) -> Any:
        from numba import njit

        apply_all()
        return njit(**self.options, **others)(function)

    def __call__(self, *args: Any) -> Any:
        return native.call(self, *args) if native.on else self.cached(*args)

    def for_rule(self, rule: object) -> Callable[..., Any]:
        """Return what to call with this rule as an argument."""
        chosen: Callable[..., Any]
        if type(rule).__module__ != "perceptrons.rules":
            chosen = self.fresh
        else:
            chosen = partial(native.call, self) if native.on else self.cached
        return chosen


@contextmanager
def _cache_in(folder: str) -> Iterator[None]:
    """Let Numba choose this folder for the cache of the functions that are declared meanwhile."""
    import numba

    config: Any = numba.config
    with _lock:
        before, config.CACHE_DIR = config.CACHE_DIR, folder
        try:
            with suppress(OSError):  # Numba goes on to its other folders
                objects.make(folder)
            yield
        finally:
            config.CACHE_DIR = before


@cache  # once for each folder
def _warn(folder: str) -> None:
    import logging

    logging.getLogger("perceptrons").warning(
        "perceptrons compiles anew in every process: other users can write to %s or to a folder above it. "
        "Take their permission away, or set NUMBA_CACHE_DIR to a private folder.",
        folder,
    )


class Filling(Compiled):
    """A compiled function that fills an array, its last parameter. Callers leave it out and get it as a result.

    The array is made outside: only Numba can call a compiled function that allocates memory.
    """

    def __init__(self, shape: Callable[..., Any], function: Callable[..., Any]) -> None:
        """Make a compiled function; `shape` computes the shape of the array from the arguments of a call."""
        super().__init__(function)
        self.shape = shape

    def __call__(self, *args: Any) -> Any:
        out = np.empty(self.shape(*args))
        rest = super().__call__(*args, out)
        return out if rest is None else (out, *rest)


def exact(function: Callable[..., Any]) -> Compiled:
    """Compile a function such that every operation rounds as written."""
    return Compiled(function, fastmath=False)


@register_jitable()
def is_finite(x: float) -> bool:
    """Tell whether x is a number. (NumPy's isfinite subtracts x from itself, which reassociation turns into 0.)"""
    return abs(x) <= 1.7976931348623157e308
