"""The command as a process: pipes, terminals, Ctrl-C, being killed, and how little it imports."""

import os
import pty
import random
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import perceptrons

PIPE = subprocess.PIPE


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    """Rows that no training ends on."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(3000, 4)).round(2), random.choice([-1, 1], 3000)
    path = tmp_path_factory.mktemp("noisy") / "noisy.svm"
    rows = zip(X.tolist(), y, strict=True)
    path.write_text(
        "".join(f"{label} " + " ".join(f"{j}:{v}" for j, v in enumerate(row)) + "\n" for row, label in rows)
    )
    return path


def hear_ctrl_c():
    """In the new process: a shell may have told this one to ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def on_a_terminal(command, *args, until=None):
    """What the command prints on a terminal and its exit code; it is interrupted once it has printed `until`."""
    ours, theirs = pty.openpty()
    process = command(*args, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    seen, deadline = b"", time.monotonic() + 300  # it may have to compile, on a busy machine
    while time.monotonic() < deadline:
        if select.select([ours], [], [], 0.1)[0]:
            try:
                seen += os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
        if until is not None and until in seen:
            process.send_signal(signal.SIGINT)
            until = None
    os.close(ours)
    return seen.decode(), process.wait(timeout=10)


def test_ctrl_c_leaves_a_usable_model(command, noisy, tmp_path):
    model = tmp_path / "m.perceptron"
    args = ["train", noisy, "-m", model, "--passes", 10_000_000, "--tol", 0]
    seen, code = on_a_terminal(command, *args, until=b"mistakes (")
    assert code == 130 and seen.rstrip().endswith("interrupted") and "interrupted in pass " in seen
    assert "pass " in seen and "\x1b[2K" in seen  # the bar, and that it was wiped away
    assert perceptrons.load(model).n_seen_ >= 3000


def test_an_early_ctrl_c_is_quiet(command, models, files):
    """Whenever it comes: while Python starts, while the command is imported, or while it works."""
    chance = random.Random(0)
    for _ in range(20):
        settings = {"stdout": PIPE, "stderr": PIPE, "preexec_fn": hear_ctrl_c}
        with command("evaluate", models["two"], files / "two.svm", **settings) as process:
            time.sleep(chance.uniform(0.0, 0.15))
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=60)[1].decode()
        ours = "Traceback" in said and str(Path(perceptrons.__file__).parent) in said
        assert not ours and process.returncode in (0, 1, 130, -signal.SIGINT), said


def test_ctrl_c_while_the_command_is_imported_is_quiet(tmp_path):
    """A module that the command imports sends the signal itself."""
    (tmp_path / "click.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n")
    done = subprocess.run(
        [sys.executable, "-m", "perceptrons", "--help"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        preexec_fn=hear_ctrl_c,
        capture_output=True,
        timeout=50,
        check=False,
    )
    assert done.returncode in (130, -signal.SIGINT) and done.stdout == done.stderr == b""


def test_colours_are_for_terminals(command, shell, models, files):
    seen, code = on_a_terminal(command, "evaluate", models["two"], files / "two.svm")
    assert code == 0 and "\x1b[1m" in seen
    for args in (["evaluate", models["two"], files / "two.svm"], ["inspect", models["two"]]):
        done = shell(*args)
        assert done.code == 0 and "\x1b" not in done.out + done.err


def test_no_color_is_heeded(command, models, files):
    code = "import os, sys; os.environ['NO_COLOR'] = '1'; from perceptrons.cli.main import main; main(sys.argv[1:])"
    ours, theirs = pty.openpty()
    args = [sys.executable, "-c", code, "evaluate", str(models["two"]), str(files / "none.svm")]
    subprocess.run(args, stdin=theirs, stdout=theirs, stderr=theirs, check=False)
    seen = os.read(ours, 1 << 16)
    os.close(ours), os.close(theirs)
    assert b"no such file" in seen and b"\x1b" not in seen


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_is_no_trouble(unbuffered, command, models, noisy, monkeypatch):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with command("predict", models["two"], *[noisy] * 30, stdout=PIPE, stderr=PIPE) as process:
        assert process.stdout.readline().strip() in (b"1", b"-1")
        process.stdout.close()
        assert process.stderr.read() == b"" and process.wait(timeout=60) == 141


def test_output_is_whole_or_an_error(command, models, noisy, tmp_path):
    """Even without buffers of Python's own, where the system may write a part of what it is given."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    run = f"import os, sys; {limit}; os.execv(sys.argv[1], sys.argv[1:])"
    words = [sys.executable, "-c", run, sys.executable, "-m", "perceptrons", "predict", models["two"], noisy]
    for unbuffered in ("", "1"):
        with open(tmp_path / "out", "wb") as out:
            environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
            done = subprocess.run(list(map(str, words)), stdout=out, stderr=PIPE, env=environment, check=False)
        assert (done.returncode, done.stderr.strip()) == (2, b"error: standard output: File too large")
    done = subprocess.run(list(map(str, [*words, "-o", tmp_path / "new"])), stderr=PIPE, check=False)
    assert (done.returncode, done.stderr.strip()) == (2, f"error: {tmp_path}/new: File too large".encode())
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_pipes(shell, models, files):
    done = shell("predict", models["two"], "-", stdin=(files / "two.svm").read_bytes())
    assert done.code == 0 and done.err == "" and len(done.out.splitlines()) == 80
    assert shell("predict", models["two"], "-").code == 2


def test_linear_models_need_no_scikit_learn(models, files):
    code = (
        "import sys\nfrom perceptrons.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as leave: assert not leave.code\n"
        "print([name for name in ('sklearn', 'scipy', 'pandas', 'matplotlib') if name in sys.modules], file=sys.stderr)"
    )
    for args in (
        ["predict", models["two"], files / "two.svm"],
        ["evaluate", models["three"], files / "three.svm"],
        ["inspect", models["mail"]],
    ):
        words = [sys.executable, "-c", code, *map(str, args)]
        for _ in range(2):  # the first may compile, which Numba takes SciPy for
            told = subprocess.run(words, capture_output=True, text=True, check=True).stderr.strip()
            if told == "[]":
                break
        assert told == "[]", args


def test_a_killed_training_leaves_nothing_wrong(command, noisy, tmp_path):
    """Whatever the moment: no model or a whole one, and a copy of the rows that is right or not used."""
    args = ["train", noisy, "--passes", 3, "--quiet", "--cache", tmp_path]
    right, model = tmp_path / "right.perceptron", tmp_path / "m.perceptron"
    begun = time.monotonic()
    assert command(*args, "--no-cache", "-m", right).wait(timeout=60) == 0
    whole = time.monotonic() - begun
    expected = perceptrons.load(right).coef_
    moments = random.Random(1)
    for _ in range(6):
        process = command(*args, "-m", model)
        time.sleep(moments.uniform(0.3, 1.0) * whole)
        process.kill()
        process.wait()
        if model.exists():
            assert (perceptrons.load(model).coef_ == expected).all()
            model.unlink()
    assert command(*args, "-m", model).wait(timeout=60) == 0
    assert (perceptrons.load(model).coef_ == expected).all()
    left = {each.name for each in tmp_path.iterdir()} - {"right.perceptron", "m.perceptron"}
    assert sum(name.startswith(".m.perceptron") for name in left) == 0  # what a killed one left, the next one removed
