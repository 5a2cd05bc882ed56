"""Sums of lines of eight weights as vectors.

LLVM does not turn such short loops over lines of one array into vectors by itself, because the result might overlap
with the lines.
"""

from __future__ import annotations

from perceptrons.core.jit.deferred import overload
from perceptrons.core.rows import JIT

LANES = 8  # the number of labels is padded to a multiple of this


def eight(context, builder, kind, array, position):
    """A pointer to eight numbers of an array, from array.flat[position] on."""
    from llvmlite import ir

    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [position]), ir.VectorType(ir.DoubleType(), LANES).as_pointer())


def add_lines(out, position, w, a, b, c, d, e, f, g, h):
    """out.flat[position + i] += (w[a, i] + w[b, i] + w[c, i] + w[d, i]) + (w[e, i] + … + w[h, i]), for i = 0 … 7."""


@overload(add_lines, jit_options=JIT)
def _add_lines(out, position, w, a, b, c, d, e, f, g, h):
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def add(typingctx, out, position, w, a, b, c, d, e, f, g, h):
        def codegen(context, builder, signature, args):
            into = eight(context, builder, signature.args[0], args[0], args[1])
            size = ir.Constant(ir.IntType(64), LANES)
            lines = [
                builder.load(eight(context, builder, signature.args[2], args[2], builder.mul(line, size)), align=8)
                for line in args[3:]
            ]
            halves = []
            for first, *others in (lines[:4], lines[4:]):
                for line in others:
                    first = builder.fadd(first, line)
                halves.append(first)
            total = builder.fadd(builder.load(into, align=8), builder.fadd(*halves))
            builder.store(total, into, align=8)
            return context.get_dummy_value()

        return types.void(out, position, w, a, b, c, d, e, f, g, h), codegen

    return lambda out, position, w, a, b, c, d, e, f, g, h: add(out, position, w, a, b, c, d, e, f, g, h)


def add_times(out, position, w, line, x):
    """out.flat[position + i] += x·w[line, i], for i = 0 … 7."""


@overload(add_times, jit_options=JIT)
def _add_times(out, position, w, line, x):
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def add(typingctx, out, position, w, line, x):
        def codegen(context, builder, signature, args):
            into = eight(context, builder, signature.args[0], args[0], args[1])
            size = ir.Constant(ir.IntType(64), LANES)
            weights = eight(context, builder, signature.args[2], args[2], builder.mul(args[3], size))
            factor = ir.Constant(ir.VectorType(ir.DoubleType(), LANES), ir.Undefined)
            for i in range(LANES):
                factor = builder.insert_element(factor, args[4], ir.Constant(ir.IntType(32), i))
            product = builder.fmul(factor, builder.load(weights, align=8))
            builder.store(builder.fadd(builder.load(into, align=8), product), into, align=8)
            return context.get_dummy_value()

        return types.void(out, position, w, line, x), codegen

    return lambda out, position, w, line, x: add(out, position, w, line, x)
