"""`perceptrons tag train` and `perceptrons train` on a cluster learn, print and save the same as without one."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from mixing_cases import noisy
from tagger_cases import data, state

from perceptrons import Perceptron, load
from perceptrons.cli.main import main
from perceptrons.data import source
from perceptrons.learn.shards.crew import Here
from perceptrons.learn.shards.rows import SourceShard
from perceptrons.learn.shards.task import from_shards

OPTIONS = ("--features", "pos", "--rule", "perceptron", "--seed", "3")


@pytest.fixture
def run(capsys):
    """Run the command in this process; returns its exit code and what it printed."""

    def run(*args):
        capsys.readouterr()
        with pytest.raises(SystemExit) as leave:
            main([str(arg) for arg in args])
        return leave.value.code or 0, *capsys.readouterr()

    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("command")
    for name, seed in (("train", 0), ("test", 1)):
        X, Y = data(seed, n=80)
        sentences = [
            [f"{''.join(t)} {label}" for t, label in zip(x, y, strict=True)] for x, y in zip(X, Y, strict=True)
        ]
        (folder / f"{name}.txt").write_text("\n\n".join("\n".join(each) for each in sentences if each) + "\n")
    return folder


def words(folder, name, *options):
    return ["tag", "train", folder / "train.txt", "-m", folder / name, *OPTIONS, *options]


def command(folder, *args, **settings):
    """The command as a process."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    started = [sys.executable, "-m", "perceptrons", *map(str, words(folder, *args))]
    return subprocess.Popen(
        started, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **settings
    )


@pytest.mark.parametrize("validation", [(), ("--validation", "0.2"), ("--validation", "test.txt")])
def test_one_shard_is_learned_as_without_a_cluster(folder, run, processes, validation):
    validation = [folder / each if each.endswith(".txt") else each for each in validation]
    found = {}
    for name, options in {"one": (), "two": ("--scheduler", processes.scheduler.address, "--shards", "1")}.items():
        code, out, err = run(*words(folder, name, "--json", "--passes", "4", *validation, *options))
        assert code == 0, err
        told = json.loads(out)
        found[name] = {key: value for key, value in told.items() if "second" not in key and key != "model"}
    assert found["one"] == found["two"]
    assert state(load(folder / "one")) == state(load(folder / "two"))


@pytest.mark.usefixtures("semaphores")
def test_processes_that_are_started_learn_the_same(folder, run, processes):
    process = command(folder, "three", "--workers", "2", "--shards", "3", "--passes", "3")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and err == ""
    code, again, _ = run(
        *words(folder, "four", "--scheduler", processes.scheduler.address, "--shards", "3", "--passes", "3")
    )
    assert code == 0 and state(load(folder / "three")) == state(load(folder / "four"))
    table = out.split("\n\n")[1]
    assert table in again and table.count("\n") == 3
    assert run(*words(folder, "five", "--quiet", "--scheduler", processes.scheduler.address))[1:] == ("", "")


@pytest.mark.usefixtures("semaphores")
def test_finished_passes_are_kept_after_ctrl_c(folder):
    """Ctrl-C goes to all processes of a terminal; the workers leave it to the command."""
    process = command(folder, "kept", "--workers", "2", "--shards", "2", "--passes", "100000", start_new_session=True)
    line = ""
    while not line.startswith("   3 "):  # the third pass
        line = process.stdout.readline()
        assert line, process.stderr.read()
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and err.strip() == "interrupted"
    assert "interrupted in pass" in out and load(folder / "kept").n_iter_ >= 3


def test_processes_that_cannot_be_started(folder):
    """As without /dev/shm, where processes share locks."""
    done = command(folder, "never", "--workers", "2", "--quiet", preexec_fn=without_locks)
    _, err = done.communicate(timeout=120)
    assert done.returncode == 2 and "Traceback" not in err, err
    assert "--workers: processes cannot be started here (" in err


def without_locks():
    """In the new process: a lock that processes share is a file of 32 bytes."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))


def test_what_needs_something_else_is_refused(folder, run, processes, monkeypatch):
    scheduler = ("--scheduler", processes.scheduler.address)
    for options, message in [
        (("--shards", "2"), "--shards needs --workers or --scheduler"),
        (("--mixing", "uniform"), "--mixing needs --workers or --scheduler"),
        (("--workers", "2", *scheduler), "choose one of them"),
        ((*scheduler, "--scheme", "BIO"), "sentence 1: the labels of this sentence are not BIO"),
        ((*scheduler, "--features", "chunking"), "templates need a column 'pos'"),
    ]:
        code, _, err = run(*words(folder, "never", *options))
        assert code and message in err
    code, _, err = run("tag", "train", "-", "-m", folder / "never", *OPTIONS, *scheduler)
    assert code and "standard input can be read only once" in err and "write it to a file first" in err
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = run(*words(folder, "never", "--workers", "2"))
    assert code and 'pip install "perceptrons[dask]"' in err and not (folder / "never").exists()


def test_dask_is_imported_only_for_a_cluster(folder):
    code = (
        "import sys; from perceptrons.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: print([name for name in ('dask', 'distributed') if name in sys.modules])"
    )
    args = list(map(str, words(folder, "light", "--quiet", "--passes", "1")))
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# -- rows -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    X, y = noisy(0, 300, 4, 3)
    lines = [
        f"{label} " + " ".join(f"{j}:{x:.17g}" for j, x in enumerate(row)) for row, label in zip(X, y, strict=True)
    ]
    for k in range(3):
        (folder / f"part-{k}.svm").write_text("\n".join(lines[100 * k : 100 * (k + 1)]) + "\n")
    (folder / "held.svm").write_text("\n".join(lines[:50]) + "\n")
    return folder


@pytest.mark.parametrize("validation", [(), ("--validation", "0.2"), ("--validation", "held.svm")])
def test_train_reports_and_saves_what_the_cluster_has_learned(rows, run, processes, validation):
    validation = [rows / each if each.endswith(".svm") else each for each in validation]
    cluster = ("--scheduler", processes.scheduler.address, "--shards", "3", "--passes", "4", "--seed", "1", "--json")
    code, out, _ = run("train", rows / "part-*.svm", "-m", rows / "m", *cluster, *validation)
    assert code == 0
    summary, model = json.loads(out), load(rows / "m")
    assert type(model) is Perceptron and model.n_iter_ == 4 and model.n_seen_ == 4 * summary["rows"]
    assert summary["rows"] == (240 if "0.2" in validation else 300)
    settings = {"readout": "averaged", "max_iter": 4, "tol": None, "random_state": 1}
    if not validation:
        parts = source(str(rows / "part-*.svm")).shards(3)
        task = from_shards(Perceptron(**settings)._request(), Here([SourceShard(part) for part in parts]), "mistakes")
        task.run()
        assert np.array_equal(model.coef_, task.learner.weights[:-1].T)
        assert summary["training_error"] == pytest.approx(1 - model.score(source(str(rows / "part-*.svm"))))
    elif "0.2" not in validation:
        assert summary["held_out_error"] == pytest.approx(1 - model.score(source(rows / "held.svm")))


@pytest.mark.usefixtures("semaphores")
def test_train_in_processes_of_its_own(rows, run):
    code, out, _ = run(
        "train", rows / "part-*.svm", "-m", rows / "m", "--workers", "2", "--shards", "2", "--passes", "2"
    )
    assert code == 0 and "300 rows, 4 features, 3 classes" in out and "final model: training error" in out


@pytest.mark.parametrize(
    "options, words",
    [
        (("--workers", "2", "--tune"), "--tune needs training in this process"),
        (("--workers", "2", "--estimator", "kernel"), "--estimator kernel needs training in this process"),
        (("--workers", "2", "--regression"), "--regression needs training in this process"),
        (("--workers", "2", "--scheduler", "tcp://x:1"), "choose one of them"),
        (("--shards", "2"), "--shards needs --workers or --scheduler"),
    ],
)
def test_train_refuses_what_does_not_combine(rows, run, options, words):
    code, _, err = run("train", rows / "part-0.svm", "-m", rows / "n", *options)
    assert code == 2 and words in err and not (rows / "n").exists()
