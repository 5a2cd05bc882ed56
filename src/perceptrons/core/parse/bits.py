"""Words of bits: what processors do with them in one instruction, and Python has no name for."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons.core.jit.deferred import overload

U = np.uint64
PLAIN: Any = {"error_model": "numpy", "forceinline": True}  # no fast math: what is computed here is exact


def one_instruction(stub, result, emit):
    """Let kernels call, in place of the stub, what `emit` makes with llvmlite's `ir`, a builder and a word."""

    @overload(stub, jit_options=PLAIN)
    def choose(word):
        from llvmlite import ir
        from numba import types
        from numba.extending import intrinsic

        @intrinsic
        def instruction(typingctx, word):
            def codegen(context, builder, signature, args):
                return emit(ir, builder, args[0])

            return getattr(types, result)(types.uint64), codegen

        return lambda word: instruction(word)


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


def high_zeros(word):
    """How many of the highest bits are 0."""


def as_double(bits):
    """The float64 with these bits."""


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


one_instruction(low_zeros, "uint64", lambda ir, builder, word: builder.cttz(word, ir.Constant(ir.IntType(1), 0)))
one_instruction(high_zeros, "uint64", lambda ir, builder, word: builder.ctlz(word, ir.Constant(ir.IntType(1), 0)))
one_instruction(n_ones, "uint64", lambda ir, builder, word: builder.ctpop(word))
one_instruction(as_double, "float64", lambda ir, builder, word: builder.bitcast(word, ir.DoubleType()))
