"""Compiled code on disk that is damaged, of another function, or open to others: it is not loaded, and made anew."""

import logging
import os
import shutil
from unittest.mock import patch

import numpy as np
from numba import typeof

from perceptrons.core.jit import native, self_test
from perceptrons.core.jit.cache import Cache
from perceptrons.core.jit.compiled import Compiled

COMPILE = 0.01  # share of cases that call the function if its code cannot be loaded, which takes 0.1 s
# Numba loads only code of functions that can be imported by name: these are in the package.
CALLS = [(self_test.last, np.array([3, 42]), 42), (self_test.some, np.array([False, True]), True)]
logging.getLogger("perceptrons").addHandler(logging.NullHandler())  # it warns of files that cannot be replaced
_sound = {}  # the files as they should be, by name


def case(random, folder):
    """Damage one of four files, two of Numba's and two of machine code, and call the function whose code it holds."""
    with patch.dict(os.environ, NUMBA_CACHE_DIR=str(folder)):
        if not _sound:
            _sound.update(compile_all(folder))
        inside = folder / "perceptrons"
        inside.mkdir(mode=0o700)
        for name, content in _sound.items():
            (inside / name).write_bytes(content)
            (inside / name).chmod(0o600)
        number, without_numba = random.integers(2, size=2)
        function, argument, expected = CALLS[number]
        compiled = Compiled(function)
        file = inside / list(_sound)[2 * number + without_numba]
        intact, lasting = damage(random, file, list(_sound.values()))
        load = load_machine if without_numba else load_cached
        code = load(compiled, argument)
        assert code() == expected if intact else code is None
        if not intact and random.random() < COMPILE:
            assert (native.call if without_numba else call_cached)(compiled, argument) == expected
            code = load(compiled, argument)
            assert code is None if lasting else code() == expected
        inside.chmod(0o700)


def compile_all(folder):
    """Compile both functions in both ways; return the files by name, each function's two together."""
    inside, kept = folder / "perceptrons", {}
    for function, argument, expected in CALLS:
        for call in (call_cached, native.call):
            assert call(Compiled(function), argument) == expected
            (name,) = {path.name for path in inside.iterdir()} - set(kept)
            kept[name] = (inside / name).read_bytes()
    shutil.rmtree(inside)
    return kept


def call_cached(compiled, argument):
    return compiled.cached(argument)


def load_cached(compiled, argument):
    """Return a call of what Numba's dispatcher would load, or None."""
    found = Cache(compiled).load_overload((typeof(argument),), compiled.cached.targetctx)
    return None if found is None else lambda: found.entry_point(argument)


def load_machine(compiled, argument):
    """Return a call of what would be called without Numba, or None."""
    kinds, flat = [], []
    native.unpack(argument, kinds, flat)
    found = native.on_disk(compiled, tuple(kinds))
    return None if found is None else lambda: native.attach("function", found, tuple(kinds))(flat)


def damage(random, file, contents):
    """Change a file in one of many ways. Return whether its code is intact, and whether it cannot be replaced."""
    content = file.read_bytes()
    begin, end = sorted(random.integers(len(content) + 1, size=2))
    some = random.bytes(end - begin)
    flipped = bytearray(content)
    for place in random.integers(len(content), size=random.integers(1, 9)):
        flipped[place] ^= 1 << random.integers(8)
    ways = [
        content,
        b"",
        content[:begin],
        content[begin:],
        content[:begin] + content[end:],
        content[:begin] + bytes(end - begin) + content[end:],
        content[:begin] + some + content[end:],
        content[:begin] + some + content[begin:],
        content[:32] + some,
        bytes(flipped),
        contents[random.integers(len(contents))],
        "missing",
        "link",
        "folder",
        "pipe",
        "open file",
        "open folder",
    ]
    way = ways[random.integers(len(ways))]
    if isinstance(way, bytes):
        file.write_bytes(way)
        return way == content, False
    if way.startswith("open"):
        (file if way == "open file" else file.parent).chmod(0o666 if way == "open file" else 0o777)
        return False, way == "open folder"
    elsewhere = file.rename(file.parent / "elsewhere")
    if way == "link":
        file.symlink_to(elsewhere)
    elif way == "folder":
        file.mkdir()
    elif way == "pipe":
        os.mkfifo(file, 0o600)
    return False, way == "folder"
