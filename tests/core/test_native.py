"""Calls without Numba: the same results bit for bit, code kept for the next process, and everything that may fail."""

import logging
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import perceptrons
from perceptrons import rules
from perceptrons.core.jit import native, objects
from perceptrons.core.jit.compiled import Compiled
from perceptrons.core.jit.private import is_private
from perceptrons.core.linear import readouts
from perceptrons.core.rule import How

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Numba makes all calls")

# The code prints a digest of everything that the compiled functions return.
START = """
import hashlib, sys
import numpy as np
from perceptrons import rules
from perceptrons.core import random, rows
from perceptrons.core.jit import native
from perceptrons.core.linear import passes, readouts
from perceptrons.core.parse import svmlight
from perceptrons.core.rule import How
from perceptrons.learn.state import Course, Totals

def digest(*results):
    plain = [x.tobytes() if isinstance(x, np.ndarray) else repr(x).encode() for x in results]
    return hashlib.sha256(b"|".join(plain)).hexdigest()[:12]

def readonly(array):
    array.flags.writeable = False
    return array
"""
SMALL = """
orders = np.tile(np.arange(50, dtype=np.uint32), (2, 1))
random.shuffle(orders, np.uint64(2**64 - 1), np.uint64(3))
padding = b"\\n" * svmlight.PADDING
text = np.frombuffer(b"1 1:2\\n-1 7:3\\n" * 9 + padding, dtype=np.uint8)
assert svmlight.count(text) == (19, 18)
results = [digest(orders), digest(svmlight.count(text))]
"""
LARGE = """
data = b"1 0:1.5 3:-2e-3 4:1.2345678901234567890123\\n-1.25 qid:3 1:.5 # no\\n0 2:7e400\\n" + padding
labels, values, indices, indptr = np.zeros(9), np.zeros(9), np.zeros(9, np.uint32), np.zeros(9, np.uint64)
hard, counts = np.zeros((8, 3), np.int64), np.zeros(5, np.int64)
text = np.frombuffer(data, dtype=np.uint8)
why = svmlight.parse(text, len(data) - len(padding), 0, 99, 99, labels, values, indices, indptr, hard, counts)
results.append(digest(why, labels, values, indices, indptr, hard[: counts[2]], counts))

rng = np.random.default_rng(0)
X = np.round(rng.normal(size=(60, 23)), 3) * (rng.random((60, 23)) < 0.6)
dense_and_csr = (X, None, None), (X[X != 0], np.nonzero(X)[1].astype(np.uint32), np.cumsum([0, *(X != 0).sum(1)]))
arow, pa1 = rules.compiled(rules.AROW(0.5)), rules.PA1(0.1)
for classes, sparse, kind, readout, rule in [(2, 0, np.float32, "last", arow), (4, 1, np.float64, "averaged", pa1)]:
    values, indices, indptr = dense_and_csr[sparse]
    data = readonly(values.astype(kind)), indices, None if indptr is None else indptr.astype(np.uint64)
    sq_norm, verdict, row = rows.survey(*data, np.uint64(23))
    w = np.zeros(24 if classes == 2 else (24, classes), order="C" if sparse else "F")
    kept, codes = np.zeros_like(w), (X.sum(1) > 0).astype(np.uint8) + (X[:, 0] > 0.5) * np.uint8(classes // 4 * 2)
    how = How(rule, getattr(readouts, readout.title())(), 0.5, 1.0, True, 0.0)
    counts, mistakes = (Totals().array, Course().array), np.zeros(3)
    order = np.tile(np.arange(60, dtype=np.uint32), (3, 1))
    learn = passes.learn.for_rule(how.rule)
    mean, variance = None if readout == "last" else kept, np.ones_like(w) if rule is arow else None
    learn(*data, codes, None, sq_norm, order, how, w, mean, variance, None, *counts, mistakes, None)
    results.append(digest(sq_norm, verdict, row, w, kept, *counts, mistakes, passes.decide(*data, 1.0, w)))
"""
END = "print('numba' in sys.modules, *results)"


def process(code, folder, **environment):
    """Start a process that runs the code without Numba if it can; machine code is kept in `folder`."""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder), **environment}
    code = START + "native.enable()\n" + code + END
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )


def outcome(running):
    """Whether a process imported Numba, and what its compiled functions returned."""
    out, error = running.communicate()
    assert running.returncode == 0, error
    imported, *results = out.split()
    return imported == "True", results


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder with machine code for all of the above, and the results of the process that compiled it."""
    folder = tmp_path_factory.mktemp("native")
    imported, results = outcome(process(SMALL + LARGE, folder))
    assert imported
    return folder, results


def test_the_results_are_those_of_numba_bit_for_bit(kept, monkeypatch):
    monkeypatch.setattr(native, "on", False)
    names = {}
    exec(START + SMALL + LARGE, names)
    assert names["results"] == kept[1]


def test_a_second_process_does_without_numba(kept):
    folder, results = kept
    assert outcome(process(SMALL + LARGE, folder)) == (False, results)


def test_damaged_files_and_those_of_others_are_made_anew(kept, tmp_path):
    shutil.copytree(kept[0], tmp_path, dirs_exist_ok=True)
    counting, shuffling = (next((tmp_path / "perceptrons").glob(f"{name}-*")) for name in ("count", "shuffle"))
    counting.write_bytes(shuffling.read_bytes())  # sound, but of another function
    damaged = bytearray(shuffling.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    shuffling.write_bytes(damaged)
    assert outcome(process(SMALL, tmp_path)) == (True, kept[1][:2])
    counting.write_bytes(counting.read_bytes()[:-1])
    shuffling.write_bytes(b"")
    assert outcome(process(SMALL, tmp_path)) == (True, kept[1][:2])
    assert outcome(process(SMALL, tmp_path)) == (False, kept[1][:2])


def test_a_folder_that_can_only_be_read_is_read(kept, tmp_path):
    inside = shutil.copytree(kept[0] / "perceptrons", tmp_path / "perceptrons")
    inside.chmod(0o555)
    assert outcome(process(SMALL, tmp_path)) == (False, kept[1][:2])
    inside.chmod(0o755)


def test_no_folder_is_no_failure(kept, tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder would be needed")
    assert outcome(process(SMALL, blocked)) == (True, kept[1][:2])


def test_machine_code_that_others_can_write_is_not_loaded(kept, tmp_path):
    shutil.copytree(kept[0] / "perceptrons", tmp_path / "perceptrons")
    assert outcome(process(SMALL, tmp_path)) == (False, kept[1][:2])
    (tmp_path / "perceptrons").chmod(0o777)
    assert outcome(process(SMALL, tmp_path)) == (True, kept[1][:2])


def test_two_processes_at_once(kept, tmp_path):
    both = [process(SMALL, tmp_path) for _ in range(2)]
    assert [outcome(one)[1] for one in both] == [kept[1][:2]] * 2
    assert outcome(process(SMALL, tmp_path)) == (False, kept[1][:2])
    assert len(list((tmp_path / "perceptrons").iterdir())) == 2  # nothing half written is left


def test_an_edit_of_a_formula_is_noticed(kept, tmp_path):
    source = Path(perceptrons.__file__).parent
    shutil.copytree(source, tmp_path / "perceptrons", ignore=shutil.ignore_patterns("__pycache__"))
    changed = tmp_path / "perceptrons" / "core" / "random.py"
    changed.write_text(changed.read_text().replace("0x9E3779B97F4A7C15", "0x9E3779B97F4A7C17"))
    imported, results = outcome(process(SMALL, kept[0], PYTHONPATH=str(tmp_path)))
    assert imported and results[0] != kept[1][0] and results[1] == kept[1][1]


def test_importing_learners_and_readers_does_not_import_numba():
    code = "import perceptrons.learn.linear.learner, perceptrons.learn.fit, perceptrons.data.svmlight, sys\n"
    code += "print([name for name in ('numba', 'llvmlite', 'scipy') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize(
    ("before", "setting", "on"), [("", "1", True), ("", "0", False), ("import numba\n", "1", False)]
)
def test_when_it_is_on(before, setting, on):
    """Unless the environment turns it off, or the process has imported Numba already."""
    code = before + "from perceptrons.core.jit import native\nnative.enable()\nprint(native.on)"
    env = {**os.environ, "PERCEPTRONS_NATIVE": setting}
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env).stdout == f"{on}\n"


# -- versions of Numba that nobody has tested ---------------------------------------------------------------------

UNTESTED = "native.TESTED = set()\n"


def test_another_version_must_pass_a_self_test_once(kept, tmp_path):
    assert outcome(process(UNTESTED + SMALL, tmp_path)) == (True, kept[1][:2])
    assert len(list((tmp_path / "perceptrons").glob("self-test-*"))) == 1
    assert outcome(process(UNTESTED + SMALL, tmp_path)) == (False, kept[1][:2])


@pytest.mark.parametrize(
    "trouble",
    [
        "import ctypes; ctypes.string_at(0)",  # a crash
        "import time; time.sleep(600)",
        "native.C_TYPES['8'] = native.C_TYPES['d']; self_test.run()",  # an unexpected calling convention
    ],
)
def test_a_version_that_fails_the_self_test_is_not_used(kept, tmp_path, trouble):
    log = tmp_path / "log"
    test = f"open({str(log)!r}, 'a').write('x'); from perceptrons.core.jit import native, self_test; {trouble}"
    code = f"native.PATIENCE = {2 if 'sleep' in trouble else 60}\nnative.SELF_TEST = {test!r}\n"
    for _ in range(2):
        assert outcome(process(UNTESTED + code + SMALL, tmp_path)) == (True, kept[1][:2])
    assert log.read_text() == "x"  # the second process knows


def test_there_is_no_self_test_where_nothing_can_be_kept(kept, tmp_path):
    (tmp_path / "blocked").write_text("a file where a folder would be needed")
    test = f"open({str(tmp_path / 'log')!r}, 'a')"
    code = UNTESTED + f"native.SELF_TEST = {test!r}\n"
    assert outcome(process(code + SMALL, tmp_path / "blocked")) == (True, kept[1][:2])
    assert not (tmp_path / "log").exists()


@Compiled
def echo(flag, small, narrow, wide, whole, x, nothing, how, columns, part, out):
    out[0] = columns[1, 0] + columns[0, 1] + part[1]
    out[1] = how.bias + how.rule.C if nothing is None else 0.0
    return flag, small, narrow, wide, whole, x, how.tie_positive


def echo_arguments():
    how = How(rules.PA1(0.25), readouts.Last(), 1.0, 2.0, True, 0.0)
    columns, part = np.asfortranarray([[1.0, 2.0], [4.0, 8.0]]), np.arange(9, dtype=np.float32)[::-2]
    scalars = True, np.uint8(200), np.float32(0.1), np.uint64(2**64 - 1), -(2**63), 0.1, None
    return (*scalars, how, columns, part, np.zeros(2))


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path / "perceptrons"


def test_every_kind_of_argument_and_result(own_folder, monkeypatch):
    monkeypatch.setattr(echo, "machine", {})
    ours, theirs = echo_arguments(), echo_arguments()
    results, expected = native.call(echo, *ours), echo.fresh(*theirs)
    assert results == expected
    assert [type(result) for result in results] == [type(result) for result in expected]
    assert ours[-1].tolist() == theirs[-1].tolist() == [12.0, 2.25]
    assert objects.folders() == [str(own_folder)] and len(list(own_folder.iterdir())) == 1


def fail(*args):
    raise AttributeError("another version of Numba")


@pytest.mark.parametrize(
    "part", ["host", "load", "attach", "is_sound", "objects.read", "objects.write", "bare.compile_bare", "bare.letter"]
)
def test_whatever_fails_is_left_to_numba(own_folder, monkeypatch, caplog, part):
    monkeypatch.setattr("perceptrons.core.jit." + (part if "." in part else f"native.{part}"), fail)
    monkeypatch.setattr(echo, "machine", {})
    caplog.set_level(logging.DEBUG, logger="perceptrons")
    ours, theirs = echo_arguments(), echo_arguments()
    assert native.call(echo, *ours) == echo.fresh(*theirs)
    assert ours[-1].tolist() == theirs[-1].tolist()
    assert {record.levelname for record in caplog.records if record.name == "perceptrons"} == {"DEBUG"}


# -- folders and files that others can write ----------------------------------------------------------------------

NOBODY = 65534
KEY = objects.Key("name", "place", "version")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def a_link(file):
    file.symlink_to(file.rename(file.parent.parent / "elsewhere"))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.chmod(0o666),
        lambda file: file.parent.chmod(0o777),
        lambda file: file.parent.parent.chmod(0o777),
        a_link,
        pytest.param(lambda file: os.chown(file, NOBODY, NOBODY), marks=as_root),
        pytest.param(lambda file: os.chown(file.parent, NOBODY, NOBODY), marks=as_root),
    ],
    ids=["file", "folder", "above", "link", "owner", "owner of folder"],
)
def test_what_others_can_write_is_neither_read_nor_written(own_folder, spoil):
    assert objects.write(KEY, (1,)) and objects.read(KEY) == (1,)
    (file,) = own_folder.iterdir()
    spoil(file)
    assert objects.read(KEY) is None
    if not is_private(str(own_folder)):
        assert not objects.write(KEY, (2,))


def test_a_sticky_folder_above_may_be_open(own_folder):
    assert objects.write(KEY, (1,))
    own_folder.parent.chmod(0o1777)
    assert objects.read(KEY) == (1,)


def test_a_pipe_is_no_file(own_folder):
    objects.write(KEY, (1,))
    (file,) = own_folder.iterdir()
    file.unlink()
    os.mkfifo(file, 0o600)
    assert objects.read(KEY) is None  # and does not wait for somebody to write


def test_only_their_owner_can_write_folders_and_files(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "made" / "here"))
    mask = os.umask(0)
    try:
        assert objects.write(KEY, (1,))
    finally:
        os.umask(mask)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")]
    assert modes == [0o755, 0o755, 0o755, 0o644]


class Own(NamedTuple):
    bias: float


@Compiled
def read_bias(how):
    return how.bias


def test_types_of_others_are_left_to_numba(own_folder, monkeypatch):
    monkeypatch.setattr(native, "find", fail)  # it is not asked: their code might change without notice
    assert native.call(read_bias, Own(2.5)) == 2.5
    monkeypatch.setattr(native, "on", True)
    assert read_bias.for_rule(Own(2.5)).func == read_bias._for_own
    assert read_bias.for_rule(rules.PA1()) is not read_bias.cached


@Compiled
def doubled(x):
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = 2.0 * x[i]
    return out


def test_a_function_that_allocates_is_left_to_numba(own_folder):
    np.testing.assert_array_equal(native.call(doubled, np.arange(3.0)), [0.0, 2.0, 4.0])
    assert native.call(doubled, np.ones(4)).sum() == 8.0
    note, code = sorted(file.stat().st_size for file in own_folder.iterdir())
    assert note < 100 < code  # a note that there is no machine code, and what Numba calls


@Compiled
def refuse(x):
    if x > 0.0:
        raise ValueError("no")
    return x


def test_an_error_in_a_compiled_function(own_folder):
    assert native.call(refuse, -1.0) == -1.0
    with pytest.raises(RuntimeError, match="the compiled function refuse failed with status"):
        native.call(refuse, 1.0)
