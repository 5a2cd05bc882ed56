"""Python's objects in compiled code that holds Python's lock: entries of dicts, numbers, arrays at an address.

It calls functions of Python's C interface, none of which runs Python code for the objects that callers pass, and reads
the fields that every object begins with; `usable` tells whether they lie where they are expected.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

import numpy as np

from perceptrons.core.jit.deferred import overload
from perceptrons.core.rows import JIT

TYPE, CONTENT = 8, 16  # where an object has the address of its type; where a float has its number
# The first entries of a desk, an array for what these functions return: a place in a dict, its key and value, a flag.
POSITION, KEY, VALUE, OVERFLOW = range(4)


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


def word(address):
    """The 8 bytes at an address, as an integer."""


def real(address):
    """The 8 bytes at an address, as a float."""


def floats(address, size):
    """The array of floats at an address."""


def words(address, size, kind):
    """The array of integers at an address; kind: np.uint32, np.uint64 or np.int64."""


def next_entry(address, desk):
    """Find the next entry of a dict; updates the desk in place, and returns 0 after the last one."""


def item(numbers, key):
    """The address of the value for a key of a dict, or 0 if the dict does not have the key."""


def this_thread():
    """The number of the thread that calls, as `threading.get_ident` gives it."""


def whole(address, desk):
    """An int as a 64-bit integer; updates the desk in place."""


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


def _array_of(kind):
    """A compiled function that makes an array of Numba's type `kind` from an address and a size."""
    from numba import carray, types
    from numba.extending import intrinsic, register_jitable

    @intrinsic
    def pointer(typingctx, address):
        def codegen(context, builder, signature, args):
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.int64), codegen

    @register_jitable(**JIT)
    def made(address, size):
        return carray(pointer(address), size)

    return made


@overload(floats, jit_options=JIT)
def _floats(address, size):
    from numba import types

    made = _array_of(types.float64)
    return lambda address, size: made(address, size)


@overload(words, jit_options=JIT)
def _words(address, size, kind):
    made = _array_of(kind.dtype)
    return lambda address, size, kind: made(address, size)


def _c_function(name, returns, parameters):
    """Make an overload that calls a function of Python's C interface.

    parameters: "P" for an address, or the entries of the desk to whose addresses pointers are passed.
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
                    desk = context.make_array(signature.args[-1])(context, builder, args[-1]).data
                    at = builder.gep(desk, [ir.Constant(ir.IntType(64), parameter)])
                    passed.append(builder.bitcast(at, byte))
            kind = byte if returns == "P" else low[returns]
            function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [byte] * len(passed)), name)
            found = builder.call(function, passed)
            return builder.ptrtoint(found, ir.IntType(64)) if returns == "P" else found

        result = types.int32 if returns == "int32" else types.int64
        return result(*kinds), codegen

    return call


@overload(next_entry, jit_options=JIT)
def _next_entry(address, desk):
    from numba.extending import intrinsic

    make = _c_function("PyDict_Next", "int32", ["P", POSITION, KEY, VALUE])

    @intrinsic
    def call(typingctx, address, desk):
        return make(typingctx, address, desk)

    return lambda address, desk: call(address, desk)


@overload(item, jit_options=JIT)
def _item(numbers, key):
    from numba.extending import intrinsic

    make = _c_function("PyDict_GetItemWithError", "P", ["P", "P"])

    @intrinsic
    def call(typingctx, numbers, key):
        return make(typingctx, numbers, key)

    return lambda numbers, key: call(numbers, key)


@overload(this_thread, jit_options=JIT)
def _this_thread():
    from numba.extending import intrinsic

    make = _c_function("PyThread_get_thread_ident", "int64", [])

    @intrinsic
    def call(typingctx):
        return make(typingctx)

    return lambda: call()


@overload(whole, jit_options=JIT)
def _whole(address, desk):
    from numba.extending import intrinsic

    make = _c_function("PyLong_AsLongLongAndOverflow", "int64", ["P", OVERFLOW])

    @intrinsic
    def call(typingctx, address, desk):
        return make(typingctx, address, desk)

    return lambda address, desk: call(address, desk)
