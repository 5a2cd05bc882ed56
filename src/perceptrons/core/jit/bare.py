"""Compile a function with Numba for callers that do without it: no wrapper for Python, no memory management.

Much of this is private to Numba. Callers must expect any error: see `native.find`.
"""

from __future__ import annotations

import struct
from typing import Any

from perceptrons.core.jit.deferred import apply_all
from perceptrons.core.jit.objects import Machine

NEEDS_NUMBA = Machine(b"")
SCALARS = {
    **{f"int{8 << k}": code for k, code in enumerate("bhiq")},
    **{f"uint{8 << k}": code for k, code in enumerate("BHIQ")},
    **{"bool": "?", "float32": "f", "float64": "d"},
}


def compile_bare(compiled: Any, args: tuple[Any, ...], letters: str) -> Machine:
    """Return machine code for arguments of the types of `args`; `letters` tell how they are passed (see `native`).

    Return `NEEDS_NUMBA` if the function allocates memory or returns an array, or if Numba passes arguments otherwise.
    """
    from numba import njit, typeof
    from numba.core.errors import NumbaError

    apply_all()
    options = {**compiled.options, "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiler = njit(**options)(compiled.function)._compiler
    try:
        result = compiler.compile(tuple(map(typeof, args)), None)
    except NumbaError:  # it allocates memory; or it has a fault, which Numba will report
        return NEEDS_NUMBA
    library, described = result.library, result.fndesc
    convention = result.target_context.call_conv.get_function_type(described.restype, described.argtypes)
    returns = returned(described.restype)
    if library.has_dynamic_globals or returns is None or "PP" + letters != "".join(map(letter, convention.args)):
        return NEEDS_NUMBA  # a dynamic global is an address in this process
    code = library._get_compiled_object()
    needs = undefined(code)
    return NEEDS_NUMBA if needs is None else Machine(code, described.llvm_func_name, returns, needs)


def letter(kind: Any) -> str:
    """Return the letter for how a value of one of LLVM's types is passed."""
    from llvmlite import ir

    if isinstance(kind, ir.PointerType):
        return "P"
    if isinstance(kind, ir.IntType):
        return str(kind.width // 8)
    return {"double": "d", "float": "f"}.get(str(kind), "?")


def returned(kind: Any) -> str | None:
    """Return `Machine.returns` for one of Numba's types; None unless it is None, a scalar or a tuple of scalars."""
    from numba import types

    if isinstance(kind, types.NoneType):
        return ""
    if isinstance(kind, types.UniTuple | types.Tuple):
        parts = [SCALARS.get(str(member)) for member in kind]
        return None if None in parts else "(" + "".join(map(str, parts))
    return SCALARS.get(str(kind))


def undefined(code: bytes) -> tuple[str, ...] | None:
    """List the symbols that an object file takes from elsewhere; None if it is not 64-bit ELF, the format of Linux."""
    if code[:6] != b"\x7fELF\x02\x01":
        return None
    begin, size, count = *struct.unpack_from("<Q", code, 40), *struct.unpack_from("<HH", code, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, begin + k * size) for k in range(count)]
    names = set()
    for _, kind, _, _, at, length, link, _, _, entry in sections:
        if kind != 2:  # the table of symbols
            continue
        strings = sections[link][4]
        for k in range(at + entry, at + length, entry):  # the first entry is empty
            name, _, _, section = struct.unpack_from("<IBBH", code, k)
            if section == 0:
                names.add(code[strings + name : code.index(b"\0", strings + name)].decode())
    return tuple(sorted(names))
