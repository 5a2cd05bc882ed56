"""Compare calls without Numba with plain Python. A process of its own runs this, because it may crash."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from perceptrons.core.jit import native
from perceptrons.core.jit.bare import compile_bare
from perceptrons.core.jit.compiled import Compiled


class Inner(NamedTuple):
    """A member of `Outer`."""

    C: float


class Outer(NamedTuple):
    """A tuple as rules and options are."""

    inner: Inner
    tie: bool
    bias: float


def scalars(flag, small, short, narrow, wide, whole, x, nothing, outer):
    """Return arguments of all types in a tuple."""
    return flag, small, short, narrow, wide, whole, x, nothing is None, outer.inner.C, outer.tie, outer.bias


def arrays(rows, columns, part, flags, ids, nothing, out):
    """Read arrays of several layouts and fill `out`; returns None."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            out[i, j] = rows[i, j] + 10.0 * columns[i, j] + (100.0 * part[i] if flags[j] else 0.0)
    if nothing is None:
        out[0, 0] += ids[ids.size - 1]


def total(values, scale):
    """Return a float."""
    result = 0.0
    for value in values:
        result += scale * value
    return result


def last(values):
    """Return an integer."""
    return values[values.size - 1]


def some(flags):
    """Return a truth value."""
    return flags[0] or flags[1]


def cases() -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Functions and new arguments for them. All sums are exact."""
    numbers = True, np.uint8(200), np.int16(-3), np.float32(0.5), np.uint64(2**64 - 1), -(2**63), 0.1
    grid = np.arange(6, dtype=np.float32).reshape(2, 3)
    rows, flags = grid.copy(), np.array([True, False, True])
    rows.flags.writeable = False
    ids = np.array([7, 2**32 - 1], dtype=np.uint32)
    part = np.arange(9, dtype=np.int64)[::-3]
    return [
        (scalars, (*numbers, None, Outer(Inner(0.25), True, 2.0))),
        (scalars, (*numbers, 1.0, Outer(Inner(0.25), False, 2.0))),
        (arrays, (rows, np.asfortranarray(grid + 0.5), part, flags, ids, None, np.zeros((2, 3)))),
        (arrays, (rows, np.asfortranarray(grid), part, flags, ids, 0, np.zeros((2, 3), order="F"))),
        (total, (part, 0.5)),
        (total, (np.arange(4, dtype=np.uint8), 0.5)),
        (last, (ids,)),
        (last, (part,)),
        (some, (flags[1:],)),
    ]


def run() -> None:
    """Exit with 0 if every call without Numba does what plain Python does, else with 1."""
    sys.exit(0 if all(map(agree, cases(), cases())) else 1)


def agree(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> bool:
    """Tell whether the call of a function without Numba has the result of plain Python, on arguments as well."""
    (function, args), (_, expected) = ours, theirs
    kinds: list[Any] = []
    flat: list[Any] = []
    for value in args:
        native.unpack(value, kinds, flat)
    machine = compile_bare(Compiled(function), args, native.passed_as(tuple(kinds)))
    call = native.attach(function.__name__, machine, tuple(kinds))
    if call is None or call(flat) != function(*expected):
        return False
    return all(np.array_equal(*pair) for pair in zip(args, expected, strict=True) if isinstance(pair[0], np.ndarray))
