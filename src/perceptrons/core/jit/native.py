"""Kernels called without Numba: machine code that an earlier process kept is loaded by llvmlite, called by ctypes.

Importing Numba and calling a first kernel of its cache takes 0.8 s; this takes 0.05 s, and 0.1 ms more a call. That is
for commands, which are over in a second: they `enable` it. Where there is no machine code for the types of a call yet,
Numba compiles it; a kernel that cannot do without Numba is called by Numba.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from perceptrons.core.jit import objects
from perceptrons.core.jit.objects import Machine

on = False
_announce: Callable[[], None] | None = None  # called before a kernel is compiled
_lock = threading.Lock()
_loaded: list[Any] = []  # whoever owns the machine code in use

# What a kernel takes, by how it is passed: P a pointer, else the bytes of an integer, or f and d.
PASSED_AS = {
    **{f"{sign}{size}": str(size) for sign in ("<i", "<u") for size in (2, 4, 8)},
    **{"|i1": "1", "|u1": "1", "|b1": "1", "<f4": "f", "<f8": "d", "none": "P"},
}
KINDS = {np.dtype(kind): kind for kind in PASSED_AS if kind != "none"}
C_TYPES: dict[str, Any] = {
    "P": ctypes.c_void_p,
    "1": ctypes.c_uint8,
    "2": ctypes.c_uint16,
    "4": ctypes.c_uint32,
    "8": ctypes.c_uint64,
    "f": ctypes.c_float,
    "d": ctypes.c_double,
}
CACHE = "NUMBA_CACHE_DIR"  # the one of Numba's settings that changes no code
FINE = (0, -2)  # what compiled code returns when all is well: a value, None


class Foreign(Exception):
    """An argument that is left to Numba."""


def enable(announce: Callable[[], None] | None = None) -> None:
    """Call kernels without Numba from now on; no effect where it has been imported already, and on Linux only.

    announce: called before a kernel is compiled, which takes a second or more, once on each machine.

    Of other systems' object files it is not known here which functions they need, and LLVM aborts where one is missing.
    """
    global on, _announce
    _announce = announce
    on = sys.platform == "linux" and "numba" not in sys.modules


def call(kernel: Any, *args: Any) -> Any:
    """What the kernel returns."""
    kinds: list[Any] = []
    flat: list[Any] = []
    try:
        for value in args:
            unpack(value, kinds, flat)
    except Foreign:
        return kernel.cached(*args)
    key = tuple(kinds)
    if key not in kernel.machine:
        with _lock:
            if key not in kernel.machine:
                kernel.machine[key] = find(kernel, key, args)
    run = kernel.machine[key]
    return kernel.cached(*args) if run is None else run(flat)


def unpack(value: Any, kinds: list[Any], flat: list[Any]) -> None:
    """Append to `kinds` all that Numba's type of the value depends on, to `flat` what compiled code takes for it."""
    if isinstance(value, np.ndarray):
        flags, kind = value.flags, KINDS.get(value.dtype)
        if kind is None or not flags.aligned or type(value) not in (np.ndarray, np.memmap):
            raise Foreign
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        kinds.append((kind, value.ndim, layout, flags.writeable))
        # Neither meminfo nor parent: whoever calls keeps the array.
        flat += (None, None, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides)
    elif value is None:
        kinds.append("none")
        flat.append(None)
    elif isinstance(value, np.generic):
        if value.dtype not in KINDS:
            raise Foreign
        kinds.append(KINDS[value.dtype])
        flat.append(value.item())
    elif isinstance(value, bool):
        kinds.append("|b1")
        flat.append(value)
    elif isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
        kinds.append("<i8")
        flat.append(value)
    elif isinstance(value, float):
        kinds.append("<f8")
        flat.append(value)
    elif hasattr(value, "_fields") and type(value).__module__.startswith(("perceptrons.core.", "perceptrons.rules")):
        # Its type may pick code. That of these modules is in the digest of sources; that of others would go unnoticed.
        kinds.append((type(value).__module__, type(value).__qualname__, len(value)))
        for member in value:
            unpack(member, kinds, flat)
    else:
        raise Foreign


def passed_as(kinds: tuple[Any, ...]) -> str:
    """How arguments of these kinds are passed, a letter for each number or pointer."""
    letters = ""
    for kind in kinds:
        if isinstance(kind, str):
            letters += PASSED_AS[kind]
        elif kind[0] in PASSED_AS:
            letters += "PP88P" + "8" * (2 * kind[1])
    return letters


def find(kernel: Any, kinds: tuple[Any, ...], args: tuple[Any, ...]) -> Callable[[list[Any]], Any] | None:
    """What calls the kernel with arguments of these kinds, from the cache or compiled now; None: Numba must."""
    name = kernel.function.__name__
    key = repr((kernel.identity, kinds, *host()))
    machine = objects.read(name, key)
    if machine is None:
        from perceptrons.core.jit.bare import compile_bare

        if _announce is not None:
            _announce()
        machine = compile_bare(kernel, args, passed_as(kinds))
        objects.write(name, key, machine)
    process = ctypes.CDLL(None)
    if not machine.code or not all(hasattr(process, symbol) for symbol in machine.needs):
        return None
    return bound(name, load(machine), passed_as(kinds), machine.returns)


def host() -> tuple[Any, ...]:
    """What machine code depends on, besides the sources: the processor, Numba and its settings, Python, NumPy."""
    import llvmlite
    from llvmlite import binding as llvm

    numba = find_spec("numba")
    if numba is None or numba.origin is None:
        raise ModuleNotFoundError("perceptrons needs numba: pip install numba", name="numba")
    settings = sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_") and item[0] != CACHE)
    versions = llvmlite.__version__, np.__version__, sys.implementation.cache_tag
    cpu = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    return numba.origin, os.stat(numba.origin).st_mtime_ns, settings, versions, cpu


def load(machine: Machine) -> int:
    """Make the code ready to run; returns where it begins."""
    from llvmlite import binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine()
    # An engine for each: objects of different processes may give the same name to different functions.
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
    engine.add_object_file(llvm.ObjectFileRef.from_data(machine.code))
    engine.finalize_object()
    _loaded.append(engine)
    address: int = engine.get_function_address(machine.symbol)
    return address


def bound(name: str, address: int, letters: str, returns: str) -> Callable[[list[Any]], Any]:
    """A function of the flat arguments. Compiled code takes room for its result, and for an error, before them.

    ctypes lets other threads run meanwhile.
    """
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *(C_TYPES[letter] for letter in "PP" + letters))(address)
    layout = struct.Struct(returns.removeprefix("("))  # with C's alignment
    room = ctypes.c_char * max(8, layout.size)

    def run(flat: list[Any]) -> Any:
        out, error = room(), ctypes.c_void_p()
        status = function(out, ctypes.byref(error), *flat)
        if status not in FINE:
            raise RuntimeError(f"the kernel {name} failed with status {status}")
        if not returns:
            return None
        values = layout.unpack_from(out)
        return values if returns[0] == "(" else values[0]

    return run
