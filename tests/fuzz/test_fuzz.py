"""A few cases of each fuzzer, always the same. `make fuzz` runs more."""

import shutil
import subprocess
import sys

import pytest

pytest.importorskip("resource", reason="the fuzzers measure memory, and watch child processes, as POSIX does")

from fuzz import harness

CASES = 60


def run(path, cases):
    return subprocess.run([sys.executable, str(path), "--cases", str(cases)], capture_output=True, text=True)


def test_malformed_input_is_refused_clearly():
    """In one process, because importing everything takes longer than the cases."""
    done = run(harness.__file__, CASES)
    assert done.returncode == 0, done.stdout + done.stderr
    for kind in harness.KINDS:
        assert f"{kind}: {CASES} cases" in done.stdout


def test_the_harness_sees_what_is_wrong(tmp_path):
    """Crashes, unclear errors and stray text are failures; the cases after a crash run all the same."""
    folder = tmp_path / "fuzz"
    folder.mkdir()
    shutil.copy(harness.__file__, folder)
    (folder / "wrong.py").write_text(
        "import ctypes, os\n"
        "def case(random, folder):\n"
        "    number = random.integers(5)\n"
        "    if number == 0: ctypes.string_at(1)\n"
        "    if number == 1: raise KeyError('x')\n"
        "    if number == 2: os.write(2, b'stray')\n"
        "    if number == 3: raise ValueError('clear')\n"
    )
    done = run(folder / "harness.py", 40)
    assert done.returncode == 1
    assert "exit code -11" in done.stdout
    for what in ("8 refused", "13 accepted", "8 x crash", "4 x unclear error", "7 x text on standard error"):
        assert what in done.stdout
