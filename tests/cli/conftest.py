"""Small files of every format, models trained on them by the command, and the command itself."""

import gzip
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from perceptrons.cli.main import main

JOBS, GOOD, BAD = ["teacher", "nurse", "smith"], ["fine", "good"], ["poor", "awful"]


@pytest.fixture
def run(capsys):
    """Run the command in this process; the result has its exit code and what it printed."""

    def run(*args):
        capsys.readouterr()
        with pytest.raises(SystemExit) as leave:
            main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return SimpleNamespace(code=leave.value.code or 0, out=out, err=err, lines=out.splitlines())

    return run


@pytest.fixture
def ask(run):
    """Run the command with --json; the object that it prints."""

    def ask(*args, code=0):
        done = run(*args, "--json")
        assert done.code == code, done.err
        return json.loads(done.out)

    return ask


@pytest.fixture(scope="session")
def command():
    """The command as a process: arguments of `subprocess`, and its environment."""

    def start(*args, **settings):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        environment.pop("NO_COLOR", None)
        words = [sys.executable, "-m", "perceptrons", *map(str, args)]
        return subprocess.Popen(words, env=environment, **settings)

    return start


@pytest.fixture
def shell(command):
    """Run the command as a process of its own, and wait for it."""

    def shell(*args, stdin=None):
        pipe = subprocess.PIPE
        process = command(*args, stdin=pipe, stdout=pipe, stderr=pipe)
        out, err = process.communicate(stdin or b"", timeout=120)
        return SimpleNamespace(code=process.returncode, out=out.decode(), err=err.decode())

    return shell


def svmlight(X, y):
    lines = [
        f"{label:+d} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(row) if v)
        for row, label in zip(X.tolist(), y, strict=True)
    ]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="session")
def numbers():
    """Rows of two and of three classes, with noise."""
    random = np.random.default_rng(3)
    X = np.round(random.normal(size=(80, 4)), 3)
    three = (X[:, :3] + 0.3 * random.normal(size=(80, 3))).argmax(axis=1)
    return X, np.where(three == 0, 1, -1), three


@pytest.fixture(scope="session")
def files(tmp_path_factory, numbers):
    """Data in many formats."""
    folder = tmp_path_factory.mktemp("data")
    X, two, three = numbers
    (folder / "two.svm").write_text(svmlight(X, two))
    (folder / "three.svm").write_text(svmlight(X, three))
    (folder / "two.svm.gz").write_bytes(gzip.compress(svmlight(X, two).encode()))
    np.save(folder / "two.npy", np.column_stack([X, two]))
    np.save(folder / "rows.npy", X)
    np.savez(folder / "two.npz", X=X, y=two)
    random = np.random.default_rng(4)
    table = ["age,job,note,kind"]
    for _ in range(80):
        bad = random.random() < 0.5
        note = " ".join(random.choice(BAD if bad else GOOD, 2))
        table.append(f"{random.integers(1, 5)},{random.choice(JOBS)},{note},{'spam' if bad else 'ham'}")
    (folder / "mail.csv").write_text("\n".join(table) + "\n")
    (folder / "unlabelled.csv").write_text("\n".join(line.rsplit(",", 1)[0] for line in table) + "\n")
    return folder


TABLE = ("--target", "kind", "--text", "note", "--text-bits", "6")


@pytest.fixture(scope="session")
def models(files):
    """Models that the command has trained, by the name of their data."""
    made = {}
    for name, data, options in [
        ("two", "two.svm", ["--passes", "2"]),
        ("three", "three.svm", ["--passes", "2"]),
        ("mail", "mail.csv", ["--passes", "2", *TABLE]),
        ("array", "two.npy", ["--passes", "2"]),
        ("voted", "two.npz", ["--passes", "2", "--readout", "voted"]),
    ]:
        made[name] = files / f"{name}.perceptron"
        with pytest.raises(SystemExit) as leave:
            main(["train", str(files / data), "--model", str(made[name]), "--quiet", *options])
        assert not leave.value.code
    return made
