"""Words of bits: what processors do with them in one instruction, and Python has no name for."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons.core.deferred import overload

U = np.uint64
PLAIN: Any = {"error_model": "numpy", "forceinline": True}  # no fast math: what is computed here is exact


def eight(text, position):
    """The eight bytes text[position:position + 8] as one number, the first byte lowest."""


@overload(eight, jit_options=PLAIN)
def _eight(text, position):
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def load(typingctx, text, position):
        def codegen(context, builder, signature, args):
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            place = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(64).as_pointer())
            word = builder.load(place)
            word.align = 1
            return word

        return types.uint64(text, position), codegen

    return lambda text, position: load(text, position)


def low_zeros(word):
    """How many of the lowest bits are 0; 64 for the number 0."""


@overload(low_zeros, jit_options=PLAIN)
def _low_zeros(word):
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def count(typingctx, word):
        def codegen(context, builder, signature, args):
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

        return types.uint64(types.uint64), codegen

    return lambda word: count(word)


def high_zeros(word):
    """How many of the highest bits are 0."""


@overload(high_zeros, jit_options=PLAIN)
def _high_zeros(word):
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def count(typingctx, word):
        def codegen(context, builder, signature, args):
            return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

        return types.uint64(types.uint64), codegen

    return lambda word: count(word)


def as_double(bits):
    """The float64 with these bits."""


@overload(as_double, jit_options=PLAIN)
def _as_double(bits):
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def cast(typingctx, bits):
        def codegen(context, builder, signature, args):
            return builder.bitcast(args[0], ir.DoubleType())

        return types.float64(types.uint64), codegen

    return lambda bits: cast(bits)


def product(a, b):
    """a·b in 128 bits: the high word and the low."""


@overload(product, jit_options=PLAIN)
def _product(a, b):
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def multiply(typingctx, a, b):
        def codegen(context, builder, signature, args):
            wide, word = ir.IntType(128), ir.IntType(64)
            full = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
            high = builder.trunc(builder.lshr(full, ir.Constant(wide, 64)), word)
            return context.make_tuple(builder, signature.return_type, [high, builder.trunc(full, word)])

        return types.UniTuple(types.uint64, 2)(types.uint64, types.uint64), codegen

    return lambda a, b: multiply(a, b)


def within(text, position, low, high):
    """Which of the 32 bytes from text[position] on lie between two bytes: a bit for each, the first lowest."""


@overload(within, jit_options=PLAIN)
def _within(text, position, low, high):
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def compare(typingctx, text, position, low, high):
        window = ir.VectorType(ir.IntType(8), 32)

        def codegen(context, builder, signature, args):
            def everywhere(number):
                one = builder.trunc(number, ir.IntType(8))
                first = builder.insert_element(ir.Constant(window, ir.Undefined), one, ir.Constant(ir.IntType(32), 0))
                return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), 32), [0] * 32))

            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            found = builder.load(builder.bitcast(builder.gep(data, [args[1]]), window.as_pointer()))
            found.align = 1
            above = builder.sub(found, everywhere(args[2]))
            mask = builder.icmp_unsigned("<=", above, everywhere(builder.sub(args[3], args[2])))
            return builder.zext(builder.bitcast(mask, ir.IntType(32)), ir.IntType(64))

        return types.uint64(text, position, low, high), codegen

    return lambda text, position, low, high: compare(text, position, low, high)


def n_ones(word):
    """How many bits are 1."""


@overload(n_ones, jit_options=PLAIN)
def _n_ones(word):
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def count_ones(typingctx, word):
        def codegen(context, builder, signature, args):
            return builder.ctpop(args[0])

        return types.uint64(types.uint64), codegen

    return lambda word: count_ones(word)
