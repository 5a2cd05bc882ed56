"""A kernel compiled by Numba for callers that do without it: no wrapper for Python, no memory management."""

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


def compile_bare(kernel: Any, args: tuple[Any, ...], letters: str) -> Machine:
    """Machine code for arguments of the types of `args`, which are passed as `letters` tell (see `native`).

    `NEEDS_NUMBA` if there can be none: the kernel allocates or returns an array, or the convention is another.
    """
    from numba import njit, typeof
    from numba.core.errors import NumbaError

    apply_all()
    options = {**kernel.options, "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiler = njit(**options)(kernel.function)._compiler
    try:
        compiled = compiler.compile(tuple(map(typeof, args)), None)
    except NumbaError:  # it allocates; or it has a fault, which Numba will tell
        return NEEDS_NUMBA
    library, described = compiled.library, compiled.fndesc
    convention = compiled.target_context.call_conv.get_function_type(described.restype, described.argtypes)
    returns = returned(described.restype)
    if library.has_dynamic_globals or returns is None or "PP" + letters != "".join(map(letter, convention.args)):
        return NEEDS_NUMBA  # a dynamic global is an address in this process
    code = library._get_compiled_object()
    needs = undefined(code)
    return NEEDS_NUMBA if needs is None else Machine(code, described.llvm_func_name, returns, needs)


def letter(kind: Any) -> str:
    """How a value of one of LLVM's types is passed."""
    from llvmlite import ir

    if isinstance(kind, ir.PointerType):
        return "P"
    if isinstance(kind, ir.IntType):
        return str(kind.width // 8)
    return {"double": "d", "float": "f"}.get(str(kind), "?")


def returned(kind: Any) -> str | None:
    """What a kernel returns, as `Machine` has it; None if that is no scalar and no tuple of scalars."""
    from numba import types

    if isinstance(kind, types.NoneType):
        return ""
    if isinstance(kind, types.UniTuple | types.Tuple):
        parts = [SCALARS.get(str(member)) for member in kind]
        return None if None in parts else "(" + "".join(map(str, parts))
    return SCALARS.get(str(kind))


def undefined(code: bytes) -> tuple[str, ...] | None:
    """The symbols that an object file leaves to others; None if it is not in the format of Linux, 64-bit ELF."""
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
