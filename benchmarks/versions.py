"""One version of the library beside another: every row of the README's table, both sides alternating.

    python benchmarks/versions.py OTHER [folder with the data, by default ../shared/data] [part of a row's name …]

OTHER is a checkout of another version. Each version runs in a process of its own, which waits while the other one
works; the ratio of medians is OTHER's time over ours. Files are those of `files.py`, made on the first run.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).resolve()
# Programs as users have them: their modules compiled to bytecode once.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
DATA = HERE.parents[2] / "shared" / "data"
FILES = Path(tempfile.gettempdir()) / "perceptrons-benchmark"
REPEATS = 15
CALLS = 1000  # of one row, in a round
Work = Callable[[], Any]
rng = np.random.default_rng(0)


# -- the rows: each gives the work to be timed ------------------------------------------------------------------------


def noisy(X: Any) -> np.ndarray:
    scores = X @ rng.normal(size=X.shape[1])
    return (scores + 0.3 * scores.std() * rng.normal(size=len(scores)) > 0).astype(np.int64)


def linear(X: Any, kind: type, passes: int = 10, **settings: Any) -> Work:
    from perceptrons import Perceptron

    y, rows = noisy(X), X.astype(kind)
    settings = {"readout": "last", **settings}
    return lambda: Perceptron(max_iter=passes, tol=None, **settings).fit(rows, y)


def dense() -> np.ndarray:
    return rng.normal(size=(100_000, 128))


def csr() -> sp.csr_array:
    from linear import words

    return words()


def classes() -> Work:
    from perceptrons import Perceptron

    X = rng.normal(size=(60_000, 784)).astype(np.float32)
    y = (X[:, :10] + rng.normal(size=(60_000, 10))).argmax(axis=1)
    return lambda: Perceptron(readout="last", max_iter=2, tol=None).fit(X, y)


def apart(n: int, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows on both sides of a plane, no closer to it than the margin."""
    X, w = rng.normal(size=(n, 20)), rng.normal(size=20)
    w /= np.linalg.norm(w)
    scores = X @ w
    y = np.where(scores > 0, 1, -1)
    return X + np.outer(y * np.maximum(0.0, margin - y * scores), w), y


def converge() -> Work:
    from perceptrons import Perceptron

    X, y = apart(16_000, 0.08)
    return lambda: Perceptron(readout="last", max_iter=10**7).fit(X, y)


def verdict(n: int, flipped: float, margin: float) -> Work:
    from perceptrons.theory import separability

    X, y = apart(n, margin)
    y[rng.random(n) < flipped] *= -1
    return lambda: separability(X, y)


def voted(data: Path) -> Work:
    from kernel import mnist, polynomial

    X, y, _, _ = mnist(data)
    X, y = X[:20_000], y[:20_000]
    return lambda: polynomial(4, max_iter=1, tol=None).fit(X, y)


def command(*args: Any) -> Work:
    """A whole command of the version that this process has."""
    line = [sys.executable, "-m", "perceptrons", *map(str, args)]
    return lambda: subprocess.run(line, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def svmlight(name: str, passes: int) -> Work:
    model = FILES / f"{os.getpid()}.perceptron"
    work = command("train", FILES / f"{name}.svm", "--passes", passes, "--model", model, "--cache", FILES, "-q")

    def fresh() -> None:
        for copy in FILES.glob(f"{name}.svm*.cache"):
            copy.unlink()
        work()

    return work if passes == 1 else fresh


def chunks(data: Path) -> Work:
    from perceptrons import SequenceTagger
    from perceptrons.data import read_conll

    train = read_conll(data / "conll2000" / "train.txt", ["word", "pos", "chunk"])
    return lambda: SequenceTagger("crf++", rule="perceptron", random_state=0).fit(train, "chunk")


def chunk_commands(data: Path) -> Work:
    model, out, texts = FILES / f"{os.getpid()}.tagger", FILES / f"{os.getpid()}.txt", data / "conll2000"
    columns = ["--columns", "word,pos,chunk"]
    learn = command("tag", "train", texts / "train.txt", *columns, "--features", "crf++", "--model", model, "-q")
    tag = command("tag", "predict", model, texts / "test.txt", "-o", out)
    return lambda: (learn(), tag())


def tags(data: Path) -> Work:
    from perceptrons import SequenceTagger
    from perceptrons.data import read_conll

    tokens = read_conll(data / "ud_english_ewt" / "en_ewt-ud-train.conllu", only=["form", "upos"])
    (words, names), (labels, kinds) = tokens.column("form"), tokens.column("upos")
    ends = tokens.bounds.tolist()
    X, Y = (
        [[texts[code] for code in codes[begin:end].tolist()] for begin, end in pairwise(ends)]
        for codes, texts in ((words, list(names)), (labels, list(kinds)))
    )
    return lambda: SequenceTagger("pos", rule="perceptron", max_iter=5, random_state=0).fit(X, Y)


def one_row(method: str) -> Work:
    """Calls of one row of 30 features each. One label in ten is wrong, so that the model keeps making mistakes."""
    from perceptrons import Perceptron

    X, wrong = rng.normal(size=(CALLS, 30)), rng.random(CALLS) < 0.1
    y = (X @ rng.normal(size=30) > 0) ^ wrong
    calls = [(X[i : i + 1], y[i : i + 1]) for i in range(CALLS)]
    model = Perceptron(readout="last").partial_fit(X, y)

    def work() -> None:
        gc.disable()
        learn = getattr(model, method)
        for x, label in calls:
            learn(x, label)
        gc.enable()

    return work


def rows(data: Path) -> dict[str, Callable[[], Work]]:
    """Every row by its name."""
    made: dict[str, Callable[[], Work]] = {}
    for name, make in (("dense 100,000 x 128", dense), ("CSR 100,000 x 75 of 50,000", csr)):
        for shuffle, order in ((False, "in order"), (True, "shuffled")):
            for kind in (np.float64, np.float32):
                made[f"{name}, {order}, {kind.__name__}"] = lambda make=make, kind=kind, shuffle=shuffle: linear(
                    make(), kind, shuffle=shuffle
                )
    for kind in (np.float64, np.float32):
        for name, rule in (("PA-I", "pa1"), ("margin", "margin")):
            made[f"{name}, CSR, shuffled, {kind.__name__}"] = lambda k=kind, rule=rule: linear(csr(), k, rule=rule)
    return made | {
        "10 classes, dense 60,000 x 784 float32": classes,
        "until converged, 16,000 x 20, margin 0.08": converge,
        "separable 100,000 x 20: verdict and margin": lambda: verdict(100_000, 0.0, 0.02),
        "1 % flipped: verdict and certificate": lambda: verdict(100_000, 0.01, 0.02),
        "20,000 x 20: largest margin": lambda: verdict(20_000, 0.0, 0.02),
        "MNIST 20,000, degree 4, one voted pass": lambda: voted(data),
        "train, 89 MB svmlight, one pass, whole command": lambda: svmlight("small", 1),
        "train, 886 MB svmlight, one pass, whole command": lambda: svmlight("large", 1),
        "train, 886 MB svmlight, five passes, whole command": lambda: svmlight("large", 5),
        "train, CSV 1,000,000 x 20, one pass, whole command": lambda: command(
            *("train", FILES / "table.csv", "--target", "y", "--passes", 1, "--model", FILES / f"{os.getpid()}.m", "-q")
        ),
        "CoNLL-2000, 19 templates, ten passes": lambda: chunks(data),
        "CoNLL-2000, text to tagged file, whole commands": lambda: chunk_commands(data),
        "UD English-EWT from lists of words, five passes": lambda: tags(data),
        "partial_fit of one NumPy row of 30": lambda: one_row("partial_fit"),
        "predict_then_learn of one NumPy row of 30": lambda: one_row("predict_then_learn"),
    }


# -- two processes that take turns ------------------------------------------------------------------------------------


def serve(data: Path) -> None:
    """Do what standard input asks for: the name of a row prepares it, an empty line times it once."""
    warnings.simplefilter("ignore")
    work: Work = lambda: None  # noqa: E731
    for line in sys.stdin:
        if line.strip():
            work = rows(data)[line.strip()]()
            work()
            print("ready", flush=True)
        else:
            begun = time.perf_counter()
            work()
            print(time.perf_counter() - begun, flush=True)


class Version:
    """A process with one version of the library."""

    def __init__(self, source: Path, data: Path) -> None:
        paths = os.pathsep.join([str(source), str(HERE.parent)])
        self.process = subprocess.Popen(
            [sys.executable, str(HERE), "--serve", str(data)],
            env={**ENVIRONMENT, "PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, line: str) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


def medians(name: str, other: Path, data: Path = DATA, repeats: int = REPEATS) -> tuple[float, float] | None:
    """Median seconds of a row in this version and in the other checkout; None if its data is missing."""
    ours, theirs = versions = [Version(root / "src", data) for root in (HERE.parents[1], other)]
    try:
        if "" in (ours.ask(name), theirs.ask(name)):
            return None
        times = []
        for turn in range(repeats):
            pair = (ours, theirs) if turn % 2 else (theirs, ours)  # whoever comes second finds a warm cache
            spent = {version: float(version.ask("")) for version in pair}
            times.append((spent[ours], spent[theirs]))
    finally:
        for version in versions:
            version.process.kill()
    mine, his = (statistics.median(column) for column in zip(*times, strict=True))
    return mine, his


def checkout(folder: str) -> Path:
    """A folder with another version of this project."""
    found = Path(folder).resolve()
    if not (found / "src" / "perceptrons").is_dir():
        sys.exit(f"{found} is no checkout of this project: there is no {found / 'src' / 'perceptrons'}")
    return found


def main(other: Path, data: Path, parts: list[str]) -> None:
    print(f"{'':<62} {'ours':>9} {'other':>9} {'ratio':>8}   bar")
    for name in rows(data):
        if parts and not any(part in name for part in parts):
            continue
        found = medians(name, other, data)
        if found is None:
            print(f"{name:<62} left out: its data is missing")
            continue
        mine, his = found
        print(f"{name:<62} {mine * 1e3:9.1f} {his * 1e3:9.1f} {his / mine:8.2f}   >= 0.97", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--serve":
        serve(Path(sys.argv[2]))
    else:
        folder = Path(sys.argv[2]) if len(sys.argv) > 2 and Path(sys.argv[2]).is_dir() else DATA
        main(checkout(sys.argv[1]), folder, [each for each in sys.argv[2:] if not Path(each).is_dir()])
