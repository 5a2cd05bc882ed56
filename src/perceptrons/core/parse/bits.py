"""Operations on words of bits that Python lacks and processors do in one or a few instructions."""

from __future__ import annotations

from inspect import Signature, signature
from typing import Any

import numpy as np

from perceptrons.core.jit.deferred import overload, register_jitable

U = np.uint64
PLAIN: Any = {"error_model": "numpy", "forceinline": True}  # no fast math: results must be exact


def instruction(stub, result):
    """Compile calls of `stub` into the LLVM code that the decorated function emits.

    The function takes llvmlite's `ir`, a builder and the arguments as LLVM values, an array as the pointer to its
    first element. It returns one value, or a list of values for a tuple. `result` picks the return type from
    `numba.types`.
    """

    def decorate(emit):
        @overload(stub, jit_options=PLAIN, strict=False)
        def choose(*args):
            from llvmlite import ir
            from numba import types
            from numba.extending import intrinsic

            def define(typingctx, *args):
                def codegen(context, builder, typed, values):
                    plain = [
                        context.make_array(type)(context, builder, value).data
                        if isinstance(type, types.Array)
                        else value
                        for type, value in zip(typed.args, values, strict=True)
                    ]
                    emitted = emit(ir, builder, *plain)
                    if isinstance(emitted, list):
                        return context.make_tuple(builder, typed.return_type, emitted)
                    return emitted

                return result(types)(*args), codegen

            context, _ = signature(define).parameters.values()
            define.__signature__ = Signature([context, *signature(stub).parameters.values()])  # Numba reads it
            call = intrinsic(define)
            by_arity = {1: lambda a: call(a), 2: lambda a, b: call(a, b), 4: lambda a, b, c, d: call(a, b, c, d)}
            return by_arity[len(args)]

        return emit

    return decorate


def one_word(types):
    return types.uint64


def eight(text, position):
    """The eight bytes text[position:position + 8] as one number, the first byte lowest."""


@instruction(eight, one_word)
def _eight(ir, builder, text, position):
    word = builder.load(builder.bitcast(builder.gep(text, [position]), ir.IntType(64).as_pointer()))
    word.align = 1
    return word


def low_zeros(word):
    """The number of 0 bits below the lowest 1 bit; 64 for the number 0."""


@instruction(low_zeros, one_word)
def _low_zeros(ir, builder, word):
    return builder.cttz(word, ir.Constant(ir.IntType(1), 0))


def high_zeros(word):
    """The number of 0 bits above the highest 1 bit; 64 for the number 0."""


@instruction(high_zeros, one_word)
def _high_zeros(ir, builder, word):
    return builder.ctlz(word, ir.Constant(ir.IntType(1), 0))


def n_ones(word):
    """The number of bits that are 1."""


@instruction(n_ones, one_word)
def _n_ones(ir, builder, word):
    return builder.ctpop(word)


def as_double(bits):
    """The float64 with these bits."""


@instruction(as_double, lambda types: types.float64)
def _as_double(ir, builder, bits):
    return builder.bitcast(bits, ir.DoubleType())


def double_at(address):
    """The float64 stored at an address in memory."""


@instruction(double_at, lambda types: types.float64)
def _double_at(ir, builder, address):
    return builder.load(builder.inttoptr(address, ir.DoubleType().as_pointer()))


def product(a, b):
    """a·b in 128 bits: the high word and the low word."""


@instruction(product, lambda types: types.UniTuple(types.uint64, 2))
def _product(ir, builder, a, b):
    wide, word = ir.IntType(128), ir.IntType(64)
    full = builder.mul(builder.zext(a, wide), builder.zext(b, wide))
    return [builder.trunc(builder.lshr(full, ir.Constant(wide, 64)), word), builder.trunc(full, word)]


def within(text, position, low, high):
    """Mark the bytes of text[position:position + 32] between `low` and `high`: one bit a byte, the first lowest."""


@instruction(within, one_word)
def _within(ir, builder, text, position, low, high):
    window = ir.VectorType(ir.IntType(8), 32)

    def everywhere(number):
        one = builder.trunc(number, ir.IntType(8))
        first = builder.insert_element(ir.Constant(window, ir.Undefined), one, ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), 32), [0] * 32))

    found = builder.load(builder.bitcast(builder.gep(text, [position]), window.as_pointer()))
    found.align = 1
    above = builder.sub(found, everywhere(low))
    mask = builder.icmp_unsigned("<=", above, everywhere(builder.sub(high, low)))
    return builder.zext(builder.bitcast(mask, ir.IntType(32)), ir.IntType(64))


@register_jitable(**PLAIN)
def is_digit(byte):
    return byte >= 48 and byte <= 57
