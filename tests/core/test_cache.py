"""Compiled code on disk that is damaged or cannot be written: functions give the right result in any case."""

import errno
import logging
import os
import pickle
import shutil
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

import pytest

from perceptrons.core.jit import native, objects
from perceptrons.core.jit.compiled import Compiled
from perceptrons.core.jit.objects import Key

KEY = Key("name", "place", "version")
posix = pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")


def double(x):
    return 2 * x


def triple(x):
    return 3 * x


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where compiled code is kept during a test."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(objects, "_warned", False)
    return tmp_path / "perceptrons"


def compiles(function, expected):
    """Call a function as a new process would. Return whether it was compiled."""
    compiled = Compiled(function)
    assert compiled(2) == expected
    return sum(compiled.cached.stats.cache_misses.values()) > 0


def key_of_double():
    """The key of what Numba calls for `double(2)`."""
    from numba import typeof

    return native.key_of(Compiled(double), ("numba", repr((typeof(2),))))


def warnings(caplog):
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


def flip(content, place):
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


# -- damage ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:10],
        lambda content: content[:-1],
        lambda content: flip(content, 3),
        lambda content: flip(content, len(content) // 2),
        lambda content: content + b"\0",
        lambda content: bytes(len(content)),
    ],
    ids=["empty", "cut in the digest", "cut", "digest", "content", "longer", "zeros"],
)
def test_a_damaged_file_is_replaced(folder, damage):
    assert compiles(double, 4) and not compiles(double, 4)
    (file,) = folder.iterdir()
    sound = file.read_bytes()
    file.write_bytes(damage(sound))
    assert compiles(double, 4) and not compiles(double, 4)
    assert [file] == list(folder.iterdir())


def test_a_file_of_another_function_is_replaced(folder):
    assert compiles(double, 4)
    (file,) = folder.iterdir()
    content = file.read_bytes()
    assert compiles(triple, 6)
    (other,) = set(folder.iterdir()) - {file}
    other.write_bytes(content)
    assert compiles(triple, 6) and not compiles(triple, 6) and not compiles(double, 4)


def test_what_is_no_file_is_no_failure(folder, caplog):
    assert compiles(double, 4)
    (file,) = folder.iterdir()
    file.unlink()
    file.mkdir()
    assert compiles(double, 4) and len(warnings(caplog)) == 1


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@posix
@pytest.mark.parametrize("level", range(3), ids=["file", "folder", "above"])
def test_pickles_that_others_can_write_are_not_read(folder, tmp_path, caplog, level):
    key = key_of_double()
    assert objects.write(key, (pickle.dumps(Evil(tmp_path / "ran")),))
    (file,) = folder.iterdir()
    spoiled = (file, folder, tmp_path)[level]
    before = spoiled.stat().st_mode
    spoiled.chmod(0o777)
    assert compiles(double, 4) and not (tmp_path / "ran").exists()
    assert len(warnings(caplog)) == (level > 0) and all("other users can write to" in text for text in warnings(caplog))
    spoiled.chmod(before)
    assert objects.write(key, (pickle.dumps(Evil(tmp_path / "ran")),))
    assert compiles(double, 4) and (tmp_path / "ran").exists()  # so reading it would have been noticed


def test_types_of_the_same_name_are_told_apart(folder):
    one, other = namedtuple("Pair", "x y"), namedtuple("Pair", "y x")
    assert Compiled(first).cached(one(1.0, 2.0)) == 1.0
    assert Compiled(first).cached(other(1.0, 2.0)) == 2.0


def first(pair):
    return pair.x


@posix
@pytest.mark.skipif(getattr(os, "geteuid", int)() != 0, reason="only root can become another user")
def test_code_that_root_compiled_serves_others(folder, open_to_others):
    """As in an image of a container, where root installs and compiles."""
    umask = os.umask(0o022)
    try:
        assert compiles(double, 4)
    finally:
        os.umask(umask)
    key = key_of_double()
    kept = objects.read(key)
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(65534)
    os.seteuid(65534)
    try:  # nothing else is read, since the environment may lie in a folder of root's that is closed to others
        found = objects.read(key)
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)
    assert found == kept is not None


# -- no room ----------------------------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("without_numba", [False, True])
def test_a_full_disk_is_no_failure(folder, caplog, monkeypatch, without_numba):
    import resource

    monkeypatch.setattr(native, "on", without_numba and sys.platform == "linux")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        assert Compiled(double)(2) == 4 and Compiled(triple)(2) == 6
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(folder.iterdir()) == []  # nothing half written
    (text,) = warnings(caplog)
    assert "compiles anew in every process" in text and os.strerror(errno.EFBIG) in text and str(folder) in text
    assert Compiled(double)(2) == 4 and len(list(folder.glob("double-*"))) == 1  # there is room again


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO])
def test_whatever_fails_while_a_file_is_written(folder, caplog, monkeypatch, code):
    def fail(*args):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "replace", fail)
    assert compiles(double, 4) and list(folder.iterdir()) == []
    (text,) = warnings(caplog)
    assert os.strerror(code) in text


def test_ctrl_c_while_a_file_is_written(folder, monkeypatch):
    def fail(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        objects.write(KEY, (1,))
    assert list(folder.iterdir()) == []


def test_the_next_folder_serves_if_the_first_is_full(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").touch()
    monkeypatch.setattr(objects, "folders", lambda: [str(tmp_path / "file" / "a"), str(tmp_path / "b")])
    assert compiles(double, 4) and not compiles(double, 4)
    assert len(list((tmp_path / "b").iterdir())) == 1 and not warnings(caplog)


def test_a_folder_that_vanishes_is_made_anew(folder):
    assert compiles(double, 4)
    shutil.rmtree(folder.parent)
    assert compiles(double, 4) and not compiles(double, 4)


@posix
@pytest.mark.parametrize(
    ("environment", "others"),
    [
        ({"HOME": "/a"}, ["/a/.cache/perceptrons", "/tmp/perceptrons-{me}"]),
        ({"HOME": "/a", "XDG_CACHE_HOME": "/b"}, ["/b/perceptrons", "/tmp/perceptrons-{me}"]),
        ({"HOME": "/a", "XDG_CACHE_HOME": "b"}, ["/a/.cache/perceptrons", "/tmp/perceptrons-{me}"]),
        ({"HOME": "a"}, ["/tmp/perceptrons-{me}"]),
        ({"HOME": "~", "TMPDIR": "/c"}, ["/c/perceptrons-{me}"]),  # as it stays if the user is unknown
        ({"HOME": "~", "TMPDIR": "c"}, []),
    ],
)
def test_no_folder_depends_on_the_current_one(monkeypatch, environment, others):
    for name in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "TMPDIR"):
        monkeypatch.delenv(name, raising=False)
    for item in environment.items():
        monkeypatch.setenv(*item)
    beside = str(Path(objects.__file__).parent / "__pycache__")
    assert objects.folders() == [beside, *(other.format(me=os.geteuid()) for other in others)]


# -- other processes and versions -------------------------------------------------------------------------------------

CALL = """
import sys
from perceptrons.core.jit.compiled import Compiled
from perceptrons.core.jit.self_test import last, total
import numpy as np
for function, types in (("last", "if"), ("total", "fi")):
    compiled = Compiled(globals()[function])
    for kind in types if len(sys.argv) == 1 else sys.argv[1]:
        args = (np.arange(3, dtype={"i": np.int64, "f": np.float64}[kind]),) + (0.5,) * (function == "total")
        assert compiled(*args) == {"last": 2, "total": 1.5}[function]
    print(sum(compiled.cached.stats.cache_misses.values()))
"""


def test_processes_that_compile_at_once(folder):
    def start(*args):
        return subprocess.Popen([sys.executable, "-c", CALL, *args], stdout=subprocess.PIPE, text=True)

    at_once = [start("if"), start("fi")]
    assert [process.communicate()[0].split() for process in at_once]
    assert start().communicate()[0].split() == ["0", "0"]
    assert len(list(folder.iterdir())) == 4


def test_what_killed_processes_left_is_removed(folder):
    assert objects.write(KEY, (1,))
    (file,) = folder.iterdir()
    left = [f"{file.name}.0123456789abcdef", f"other-{'0' * 32}.native.fedcba9876543210"]
    others = [
        f"{file.name}.tmp.0123456789abcdef",
        f"{file.name}.0123456789abcde",
        "module.cpython-311.pyc.1234",
        "notes",
    ]
    long_ago = time.time() - 2 * objects.ABANDONED
    for name in left + others:
        (folder / name).touch()
        os.utime(folder / name, (long_ago, long_ago))
    being_written = folder / f"{file.name}.00000000000000ff"
    being_written.touch()
    assert objects.write(KEY, (2,)) and objects.read(KEY) == (2,)
    assert {path.name for path in folder.iterdir()} == {file.name, being_written.name, *others}


def test_another_version_replaces_a_file(folder):
    new = KEY._replace(version="new")
    assert objects.write(KEY, (1,)) and objects.read(new) is None
    assert objects.write(new, (2,)) and objects.read(new) == (2,) and objects.read(KEY) is None
    assert len(list(folder.iterdir())) == 1
    assert objects.write(KEY._replace(place="another"), (3,)) and objects.read(new) == (2,)


def fail(*args, **named):
    raise AttributeError("another version of Numba")


@pytest.mark.parametrize("part", ["_reduce", "_rebuild", "host", "dumps"])
def test_another_version_of_numba_goes_without_a_cache(folder, monkeypatch, caplog, part):
    from numba.core.compiler import CompileResult

    from perceptrons.core.jit import cache

    owner = CompileResult if part.startswith("_") else native if part == "host" else cache
    monkeypatch.setattr(owner, part, fail)
    caplog.set_level(logging.DEBUG, logger="perceptrons")
    assert compiles(double, 4) and compiles(double, 4)
    assert "another version of Numba" in caplog.text and not warnings(caplog)


def test_a_numba_without_these_parts_goes_without_a_cache(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "perceptrons.core.jit.cache", None)
    assert compiles(double, 4) and not folder.exists()
