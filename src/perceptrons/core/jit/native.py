"""Call compiled functions without Numba: llvmlite loads machine code that an earlier process kept, ctypes calls it.

Importing Numba and calling a first function from its cache takes 0.8 s. This takes 0.05 s, and 0.1 ms more a call. It
is for commands, which are over in a second: they `enable` it. If no machine code for the types of a call is on disk,
Numba compiles it. Functions that only Numba can call are left to Numba.

The environment variable PERCEPTRONS_NATIVE=0 turns this off, and Numba makes all calls.

This relies on private parts of Numba, so nothing here may do harm. An unexpected error leaves the call to Numba, with
no more than a debug message of the logger "perceptrons". A version of Numba that is not in `TESTED` must first pass a
self-test in a process of its own, since calling a function wrongly can crash the process.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import threading
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from perceptrons.core.jit import objects
from perceptrons.core.jit.objects import Key, Machine

on = False
_announce: Callable[[], None] | None = None  # called before a function is compiled
_lock = threading.Lock()
_loaded: list[Any] = []  # the owners of the machine code in use

TESTED = {("0.68.1", "x86_64")}  # Numba and processor
SELF_TEST = "from perceptrons.core.jit import self_test; self_test.run()"  # exits with 0 if all is well
PATIENCE = 120  # seconds that the self-test may take

# How arguments are passed, by kind: P is a pointer, a digit the number of bytes of an integer, f and d are floats.
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
CACHE = "NUMBA_CACHE_DIR"  # the only setting of Numba that does not change code
FINE = (0, -2)  # what compiled code returns if it did not fail: with a result, with None


class Foreign(Exception):
    """Raised for an argument that only Numba can pass."""


def enable(announce: Callable[[], None] | None = None) -> None:
    """Call compiled functions without Numba from now on.

    announce: called before a function is compiled, which takes a second or more, once on each machine.

    This has no effect if the environment has PERCEPTRONS_NATIVE=0, if Numba has been imported already, or outside of
    Linux. Only for the object files of Linux is it known here which functions they need, and LLVM aborts the process
    if one of them is missing.
    """
    global on, _announce
    _announce = announce
    on = sys.platform == "linux" and os.environ.get("PERCEPTRONS_NATIVE") != "0" and "numba" not in sys.modules


def disable() -> None:
    """Let Numba make all calls from now on: for many short calls, that is worth its import."""
    global on
    on = False


def call(compiled: Any, *args: Any) -> Any:
    """Call a compiled function and return its result."""
    kinds: list[Any] = []
    flat: list[Any] = []
    try:
        for value in args:
            unpack(value, kinds, flat)
    except Foreign:
        return compiled.cached(*args)
    key = tuple(kinds)
    if key not in compiled.machine:
        with _lock:
            if key not in compiled.machine:
                compiled.machine[key] = find(compiled, key, args)
    run = compiled.machine[key]
    return compiled.cached(*args) if run is None else run(flat)


def unpack(value: Any, kinds: list[Any], flat: list[Any]) -> None:
    """Append everything that determines Numba's type of the value to `kinds`, and what is passed for it to `flat`."""
    if isinstance(value, np.ndarray):
        flags, kind = value.flags, KINDS.get(value.dtype)
        if kind is None or not flags.aligned or type(value) not in (np.ndarray, np.memmap):
            raise Foreign
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        kinds.append((kind, value.ndim, layout, flags.writeable))
        # Neither meminfo nor parent: the caller keeps the array alive.
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
        # Its type may select code. The digest of sources covers these modules; edits of others would go unnoticed.
        kinds.append((type(value).__module__, type(value).__qualname__, len(value)))
        for member in value:
            unpack(member, kinds, flat)
    else:
        raise Foreign


def passed_as(kinds: tuple[Any, ...]) -> str:
    """Tell how arguments of these kinds are passed: one letter for each number or pointer."""
    letters = ""
    for kind in kinds:
        if isinstance(kind, str):
            letters += PASSED_AS[kind]
        elif kind[0] in PASSED_AS:
            letters += "PP88P" + "8" * (2 * kind[1])
    return letters


def find(compiled: Any, kinds: tuple[Any, ...], args: tuple[Any, ...]) -> Callable[[list[Any]], Any] | None:
    """Return what calls the function with arguments of these kinds; None if Numba must call it."""
    name = compiled.function.__name__
    try:
        machine = on_disk(compiled, kinds) or compile_and_keep(compiled, kinds, args)
        return attach(name, machine, kinds)
    except Exception:  # another version of Numba or llvmlite may raise anything
        import logging

        logging.getLogger("perceptrons").debug("Numba must call %s", name, exc_info=True)
        return None


def on_disk(compiled: Any, kinds: tuple[Any, ...]) -> Machine | None:
    """Return the machine code that an earlier process kept."""
    kept = objects.read(key_of(compiled, kinds))
    return None if kept is None else Machine(*kept)


def compile_and_keep(compiled: Any, kinds: tuple[Any, ...], args: tuple[Any, ...]) -> Machine:
    """Compile machine code and keep it for later processes."""
    from perceptrons.core.jit.bare import NEEDS_NUMBA, compile_bare

    if _announce is not None:
        _announce()
    machine = compile_bare(compiled, args, passed_as(kinds)) if is_sound(compiled.identity[-1]) else NEEDS_NUMBA
    objects.write(key_of(compiled, kinds), machine)
    return machine


def key_of(compiled: Any, kinds: tuple[Any, ...]) -> Key:
    """Return the key of the code of a function for arguments of these kinds."""
    *identity, sources = compiled.identity
    place, versions = host()
    return Key(compiled.function.__name__, repr((identity, kinds, place)), repr((sources, versions)))


def attach(name: str, machine: Machine, kinds: tuple[Any, ...]) -> Callable[[list[Any]], Any] | None:
    """Return what calls the machine code; None if there is none, or if the process lacks a function that it needs."""
    process = ctypes.CDLL(None)
    if not machine.code or not all(hasattr(process, symbol) for symbol in machine.needs):
        return None
    return bound(name, load(machine), passed_as(kinds), machine.returns)


def is_sound(sources: str) -> bool:
    """Tell whether this works with the installed Numba: the version is `TESTED`, or has passed the self-test.

    `sources` is the digest of sources. The result of the self-test is kept, so that it runs once.
    """
    import subprocess

    import numba

    if (numba.__version__, os.uname().machine) in TESTED:
        return True
    place, versions = host()
    test = Key("self-test", repr(place), repr((sources, versions)))
    passed = objects.read(test)
    if not passed:
        if not objects.write(test, ()):  # the test would run in every process, and gain nothing
            return False
        # -P keeps the current folder out of sys.path, and with it modules that happen to lie there.
        command = [sys.executable, "-P", "-c", f"import sys; sys.path[:] = {sys.path!r}; {SELF_TEST}"]
        nothing = subprocess.DEVNULL
        try:
            status = subprocess.call(command, stdin=nothing, stdout=nothing, stderr=nothing, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            status = None
        passed = (status == 0,)
        objects.write(test, passed)
    return bool(passed[0])


def host() -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Everything besides the sources that machine code depends on, in two parts: a place, and versions.

    One folder may serve several places: environments, settings of Numba and processors. An update changes a version.
    """
    import llvmlite

    numba = find_spec("numba")
    if numba is None or numba.origin is None:
        raise ModuleNotFoundError("No module named 'numba'", name="numba")
    settings = sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_") and item[0] != CACHE)
    place = numba.origin, sys.implementation.cache_tag, settings, processor()
    return place, (os.stat(numba.origin).st_mtime_ns, llvmlite.__version__, np.__version__)


@cache  # it takes half a millisecond
def processor() -> tuple[str, str]:
    """Name the processor and its features."""
    from llvmlite import binding as llvm

    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def load(machine: Machine) -> int:
    """Make machine code ready to run and return its address."""
    from llvmlite import binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine()
    # Each has an engine of its own: object files of different processes may give different functions the same name.
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
    engine.add_object_file(llvm.ObjectFileRef.from_data(machine.code))
    engine.finalize_object()
    _loaded.append(engine)
    address: int = engine.get_function_address(machine.symbol)
    if not address:
        raise LookupError(f"{machine.symbol} is not in the object file")
    return address


def bound(name: str, address: int, letters: str, returns: str) -> Callable[[list[Any]], Any]:
    """Make a function of the flat arguments. Compiled code first takes room for its result and for an error.

    ctypes lets other threads run during the call.
    """
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *(C_TYPES[letter] for letter in "PP" + letters))(address)
    layout = struct.Struct(returns.removeprefix("("))  # aligned as in C
    room = ctypes.c_char * max(8, layout.size)

    def run(flat: list[Any]) -> Any:
        out, error = room(), ctypes.c_void_p()
        status = function(out, ctypes.byref(error), *flat)
        if status not in FINE:  # Numba cannot repeat the call: arrays may have been changed
            raise RuntimeError(f"the compiled function {name} failed with status {status}")
        if not returns:
            return None
        values = layout.unpack_from(out)
        return values if returns[0] == "(" else values[0]

    return run
