"""How a function is compiled: Numba's options, and a cache on disk that is never stale.

The cache identifies a function by a digest of all sources that may be compiled into it (`DIGEST`). Numba's own looks at
the bytecode of the function itself, so it misses an edit in a function that it calls.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from perceptrons.core.jit import native
from perceptrons.core.jit.deferred import apply_all, register_jitable

# Sums may be reassociated and contracted, so that they can be vectorised. NaN and infinity keep their meaning: they
# show that a sum overflowed.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}
OPTIONS: Any = {"nogil": True, "error_model": "numpy", "fastmath": FASTMATH}
# For functions that allocate no memory: references to arrays are not counted, which takes up to half of a pass over
# short rows. Callers keep the arrays alive.
UNCOUNTED: dict[str, Any] = {"_nrt": False}


def _digest() -> str:
    package = Path(__file__).parents[2]
    found = [*package.glob("core/*.py"), *package.glob("core/*/*.py")]  # rglob takes a millisecond longer
    sources = [package / "rules.py", *sorted(found)]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


DIGEST = _digest()


class Compiled:
    """A compiled function. `cached` is kept on disk, `fresh` is compiled anew in every process.

    With a rule that a user wrote, only `fresh` will do: the cache would miss an edit of the rule's formula.
    """

    def __init__(self, function: Callable[..., Any], **others: Any) -> None:
        """Make a compiled function; `others` are options of Numba that differ from `OPTIONS`."""
        self.__doc__ = function.__doc__
        self.function, self.options = function, {**OPTIONS, **others}
        self.machine: dict[Any, Any] = {}  # calls without Numba, by the kinds of arguments
        self.allocate: set[type] = set()  # users' rules whose formulas allocate memory

    @property
    def identity(self) -> tuple[Any, ...]:
        """Everything in the package that its machine code depends on; `DIGEST` comes last."""
        plain = {name: sorted(value) if isinstance(value, set) else value for name, value in self.options.items()}
        file, name = self.function.__code__.co_filename, self.function.__qualname__
        return self.function.__module__, file, name, sorted(plain.items()), DIGEST

    @cached_property  # programs start faster if they make only what they call
    def fresh(self) -> Any:
        """Numba's dispatcher without a cache."""
        return self._dispatcher()

    @cached_property
    def allocating(self) -> Any:
        """Numba's dispatcher without a cache, for users' formulas that allocate memory."""
        return self._dispatcher(counted=True)

    def _for_own(self, rule: type, *args: Any) -> Any:
        """Call it with a user's rule."""
        from numba.core.errors import NumbaError

        if rule not in self.allocate:
            try:
                return self.fresh(*args)
            except NumbaError:  # raised before the call: the formula allocates memory, or has a fault that is told now
                self.allocate.add(rule)
        return self.allocating(*args)

    def dispatcher_for(self, rule: object, *args: Any) -> Any:
        """Numba's dispatcher for calls with this rule (None: without one) and arguments of these types."""
        from numba import typeof
        from numba.core.errors import NumbaError

        if rule is None or type(rule).__module__ == "perceptrons.rules":
            return self.cached
        if type(rule) not in self.allocate:
            try:
                self.fresh.compile(tuple(map(typeof, args)))
                return self.fresh
            except NumbaError:
                self.allocate.add(type(rule))
        return self.allocating

    @cached_property
    def cached(self) -> Any:
        """Numba's dispatcher with a cache."""
        dispatcher = self._dispatcher()
        with suppress(ImportError, AttributeError):  # another version of Numba
            from perceptrons.core.jit.cache import Cache

            dispatcher._cache = Cache(self)
        return dispatcher

    def _dispatcher(self, *, counted: bool = False) -> Any:
        from numba import njit

        apply_all()
        private = set() if _knows_nrt() and not counted else set(UNCOUNTED)
        return njit(**{name: value for name, value in self.options.items() if name not in private})(self.function)

    def __call__(self, *args: Any) -> Any:
        return native.call(self, *args) if native.on else self.cached(*args)

    def for_rule(self, rule: object) -> Callable[..., Any]:
        """Return what to call with this rule as an argument."""
        chosen: Callable[..., Any]
        if type(rule).__module__ != "perceptrons.rules":
            chosen = partial(self._for_own, type(rule))
        else:
            chosen = partial(native.call, self) if native.on else self.cached
        return chosen


def _knows_nrt() -> bool:
    """Whether this version of Numba has the option that `UNCOUNTED` sets."""
    try:
        from numba.core.options import DefaultOptions
    except ImportError:
        return False
    return hasattr(DefaultOptions, "_nrt")


class Filling(Compiled):
    """A compiled function that fills an array, its last parameter. Callers leave it out and get it as a result.

    The array is made outside: only Numba can call a compiled function that allocates memory.
    """

    def __init__(self, shape: Callable[..., Any], function: Callable[..., Any]) -> None:
        """Make a compiled function; `shape` computes the shape of the array from the arguments of a call."""
        super().__init__(function, **UNCOUNTED)
        self.shape = shape

    def __call__(self, *args: Any) -> Any:
        out = np.empty(self.shape(*args))
        rest = super().__call__(*args, out)
        return out if rest is None else (out, *rest)


def exact(function: Callable[..., Any]) -> Compiled:
    """Compile a function such that every operation rounds as written."""
    return Compiled(function, fastmath=False)


def exact_uncounted(function: Callable[..., Any]) -> Compiled:
    """Compile a function that allocates no memory, such that every operation rounds as written."""
    return Compiled(function, fastmath=False, **UNCOUNTED)


@register_jitable()
def is_finite(x: float) -> bool:
    """Tell whether x is a number. (NumPy's isfinite subtracts x from itself, which reassociation turns into 0.)"""
    return abs(x) <= 1.7976931348623157e308
