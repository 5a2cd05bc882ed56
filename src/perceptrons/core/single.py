"""Read one example, a dict or a pair of arrays, into a sparse row.

A dict is read by compiled code that holds Python's lock, in a twentieth of the time of a loop in Python. It calls three
functions of Python's C interface, and reads the fields that every object begins with; `usable` tells whether they lie
where they are expected. Nothing is called that could run Python code. Whatever is unusual, such as keys that are not
text, values that are neither numbers nor text, or a new name, is left to the caller.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

import numpy as np

from perceptrons.core.jit.compiled import OPTIONS, UNCOUNTED, Compiled, is_finite
from perceptrons.core.jit.deferred import overload, register_jitable
from perceptrons.core.rows import JIT, ONE, U, survey_row
from perceptrons.core.spaces import score

UNUSUAL, CROWDED, UNSORTED = -1, -2, -3  # what `read_dict` returns instead of the number of entries
TYPE, CONTENT = 8, 16  # where an object has the address of its type; where a float has its number
FEW = 64  # entries that are sorted here
EXACT = 2**53  # integers up to this are floats
POSITION, KEY, VALUE, OVERFLOW, ROOM = range(5)  # entries of `room`
# Addresses in `known`.
TEXT, FLOAT, FLOAT64, INT, BOOL, TRUE, NAMES, CATEGORIES = range(8)


@cache
def usable() -> bool:
    """Whether objects of this Python look as `read_dict` expects, and one thread runs at a time."""
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    types_agree = all(
        ctypes.c_void_p.from_address(id(each) + TYPE).value == id(type(each))
        for each in (1.5, "a", 7, True, np.float64(1.5))
    )
    return (
        ctypes.sizeof(ctypes.c_void_p) == 8
        and types_agree
        and all(ctypes.c_double.from_address(id(x) + CONTENT).value == x for x in (1.5, -3e300, np.float64(2.5)))
    )


def addresses(numbers: dict[Any, int], categories: dict[Any, dict[str, int]]) -> Any:
    """The array `known`: addresses of types, of True, and of two dicts that the caller keeps alive.

    numbers: the feature of each name. categories: for each name, the feature of each text that was its value.
    """
    known = str, float, np.float64, int, bool, True, numbers, categories
    return np.array([id(each) for each in known], dtype=np.int64)


def word(address):
    """The 8 bytes at an address, as an integer."""


def real(address):
    """The 8 bytes at an address, as a float."""


def next_entry(address, room):
    """Find the next entry of a dict; updates room in place, and returns 0 after the last one."""


def item(numbers, key):
    """The address of the value for a key of a dict; 0 if there is none."""


def whole(address, room):
    """An int as a 64-bit integer; updates room in place."""


def _pointed(kind):
    """Make an overload that loads a value of LLVM's type `kind` from an address."""

    def choose(address):
        from llvmlite import ir
        from numba import types
        from numba.extending import intrinsic

        @intrinsic
        def load(typingctx, address):
            def codegen(context, builder, signature, args):
                low = ir.DoubleType() if kind == "float64" else ir.IntType(64)
                return builder.load(builder.inttoptr(args[0], low.as_pointer()))

            return getattr(types, kind)(types.int64), codegen

        return lambda address: load(address)

    return choose


overload(word, jit_options=JIT)(_pointed("int64"))
overload(real, jit_options=JIT)(_pointed("float64"))


def _c_function(name, returns, parameters):
    """Make an overload that calls a function of Python's C interface.

    parameters: "P" for an address, or the entries of the array `room` to whose addresses pointers are passed.
    """

    def call(typingctx, *kinds):
        from llvmlite import ir
        from numba import types
        from numba.core import cgutils

        def codegen(context, builder, signature, args):
            byte, low = ir.IntType(8).as_pointer(), {"int32": ir.IntType(32), "int64": ir.IntType(64), "P": None}
            given, passed = list(args), []
            for parameter in parameters:
                if parameter == "P":
                    passed.append(builder.inttoptr(given.pop(0), byte))
                else:
                    room = context.make_array(signature.args[-1])(context, builder, args[-1]).data
                    at = builder.gep(room, [ir.Constant(ir.IntType(64), parameter)])
                    passed.append(builder.bitcast(at, byte))
            kind = byte if returns == "P" else low[returns]
            function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [byte] * len(passed)), name)
            found = builder.call(function, passed)
            return builder.ptrtoint(found, ir.IntType(64)) if returns == "P" else found

        result = types.int32 if returns == "int32" else types.int64
        return result(*kinds), codegen

    return call


@overload(next_entry, jit_options=JIT)
def _next_entry(address, room):
    from numba.extending import intrinsic

    make = _c_function("PyDict_Next", "int32", ["P", POSITION, KEY, VALUE])

    @intrinsic
    def call(typingctx, address, room):
        return make(typingctx, address, room)

    return lambda address, room: call(address, room)


@overload(item, jit_options=JIT)
def _item(numbers, key):
    from numba.extending import intrinsic

    make = _c_function("PyDict_GetItemWithError", "P", ["P", "P"])

    @intrinsic
    def call(typingctx, numbers, key):
        return make(typingctx, numbers, key)

    return lambda numbers, key: call(numbers, key)


@overload(whole, jit_options=JIT)
def _whole(address, room):
    from numba.extending import intrinsic

    make = _c_function("PyLong_AsLongLongAndOverflow", "int64", ["P", OVERFLOW])

    @intrinsic
    def call(typingctx, address, room):
        return make(typingctx, address, room)

    return lambda address, room: call(address, room)


@register_jitable(**JIT)
def number_of(value, kind, known, room):
    """The number that a value of this type is, and whether it is one that is read here; updates room in place."""
    if kind == known[FLOAT] or kind == known[FLOAT64]:
        return real(value + CONTENT), True
    if kind == known[INT]:
        room[OVERFLOW] = 0
        found = whole(value, room)
        return float(found), room[OVERFLOW] == 0 and -EXACT <= found <= EXACT
    if kind == known[BOOL]:
        return 1.0 if value == known[TRUE] else 0.0, True
    return 1.0, kind == known[TEXT]


NEW, STRANGE = np.int64(-1), np.int64(-2)  # instead of a feature


@register_jitable(**JIT)
def feature_of(key, place, known, expected, numbers, texts, room):
    """The feature with this name, which is the key at this place of the dict; NEW or STRANGE if there is none.

    `expected` has the address of the key at each place of earlier dicts, and `numbers` its feature. Updates both, and
    room, in place. `texts` has the addresses of names that are kept alive: only these are expected again.
    """
    if place < U(expected.size) and expected[place] == key:
        return numbers[place]
    if word(key + TYPE) != known[TEXT]:
        return STRANGE
    found = item(known[NAMES], key)
    if found == 0:
        return NEW
    j = whole(found, room)
    if place < U(expected.size) and j < texts.size and texts[j] == key:
        expected[place], numbers[place] = key, j
    return j


@register_jitable(**JIT)
def category_of(key, text, known, room):
    """The feature of a name with a text as its value; STRANGE if it has not been noted. Updates room in place."""
    if word(key + TYPE) != known[TEXT]:
        return STRANGE
    texts = item(known[CATEGORIES], key)
    found = item(texts, text) if texts != 0 else 0
    return whole(found, room) if found != 0 else STRANGE


@register_jitable(**JIT)
def sort_few(indices, values, n):
    """Sort the first n entries of a row by their indices, in place; whether all indices differ."""
    for k in range(ONE, n):
        j, x, to = indices[k], values[k], k
        while to > U(0) and indices[to - ONE] > j:
            indices[to], values[to] = indices[to - ONE], values[to - ONE]
            to -= ONE
        indices[to], values[to] = j, x
        if to > U(0) and indices[to - ONE] == j:
            return False
    return True


@register_jitable(**OPTIONS)
def read(address, known, width, skips, expected, numbers, texts, room, values, indices, indptr):
    """Read the dict at an address; fills the row, updates expected, numbers and room in place, returns its length.

    skips: whether names that are not known are left out; otherwise they are unusual.
    """
    room[POSITION] = 0
    n, place, last, rises = U(0), U(0), np.int64(-1), True
    while next_entry(address, room) != 0:
        kind = word(room[VALUE] + TYPE)
        x, plain = number_of(room[VALUE], kind, known, room)
        if not plain:
            return UNUSUAL
        if kind == known[TEXT]:
            j = category_of(room[KEY], room[VALUE], known, room)
        else:
            j = feature_of(room[KEY], place, known, expected, numbers, texts, room)
        place += ONE
        if j == NEW and skips:
            continue
        if j < 0 or j >= width:
            return UNUSUAL
        if n == U(values.size):
            return CROWDED
        rises = rises and j > last
        last = j
        indices[n], values[n] = j, x
        n += ONE
    indptr[1] = n
    if not rises:
        if n > FEW:
            return UNSORTED
        if not sort_few(indices, values, n):
            return UNUSUAL
    return np.int64(n)


def _read_dict(
    address, known, width, skips, expected, numbers, texts, room, values, indices, indptr, sq_norm, mistakes
):
    """Read and measure a dict: see `read`. A row that is not finite is unusual. Fills sq_norm, sets mistakes to 0."""
    mistakes[0] = 0.0
    n = read(address, known, width, skips, expected, numbers, texts, room, values, indices, indptr)
    sq_norm[0], _ = survey_row(values, indices, indptr, U(0), U(width))
    return n if is_finite(sq_norm[0]) or n == UNSORTED else UNUSUAL


def _score_dict(
    address, known, width, skips, expected, numbers, texts, room, values, indices, indptr, bias, w, out, scores
):
    """The score of a dict by one weight vector; NaN if the dict is unusual. Arguments as for `read`."""
    n = read(address, known, width, skips, expected, numbers, texts, room, values, indices, indptr)
    if n < 0:
        return np.nan
    score(values, indices, indptr, U(0), bias, w, scores)
    return scores[0]


# They must hold Python's lock, which other compiled functions release.
read_dict, score_dict = (Compiled(each, nogil=False, **UNCOUNTED) for each in (_read_dict, _score_dict))


@Compiled
def read_pair(indices, values, width, skips, out, to, indptr):
    """Read a pair; fills the row `out`, `to`, `indptr` and returns its length, or UNUSUAL.

    skips: whether features from `width` on are left out; otherwise they are unusual, as are indices that do not rise.
    """
    n, last = U(0), np.int64(-1)
    for k in range(U(indices.size)):
        j = np.int64(indices[k])
        if j <= last or (j >= width and not skips):
            return UNUSUAL
        last = j
        if j < width:
            out[n], to[n] = values[k], j
            n += ONE
    indptr[1] = n
    return np.int64(n)
