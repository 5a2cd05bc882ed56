"""From files to models, whole commands: Vowpal Wabbit, scikit-learn's reader and pyarrow beside `perceptrons train`.

    python benchmarks/files.py [folder]

The files are made in the folder (by default one in the temporary folder) and stay there for the next run: 5 GB. Each
command is run once before it counts, so that everything is compiled and in the page cache.
Vowpal Wabbit: pip install vowpalwabbit.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from side_by_side import head, ratio, row, seconds

ROWS, FEATURES, NONZEROS = 100_000, 50_000, 75
COMMAND = [str(Path(sys.executable).with_name("perceptrons"))]
# Programs as users have them: their modules compiled to bytecode once.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
VW = [sys.executable, "-m", "vowpalwabbit", "--loss_function", "hinge", "--quiet"]
SCRIPT = """
import sys, numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Perceptron
X, y = load_svmlight_file(sys.argv[1])
X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
Perceptron(max_iter=1, tol=None).fit(X, y)
"""
ARROW = "import sys; from pyarrow import csv; csv.read_csv(sys.argv[1])"
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def main(folder: Path) -> None:
    """Make the files and print a table."""
    folder.mkdir(parents=True, exist_ok=True)
    small, large, table = folder / "small", folder / "large", folder / "table.csv"
    make_rows(small, 1)
    make_rows(large, 10)
    make_table(table)
    size = {path: path.with_suffix(".svm").stat().st_size / 1e6 for path in (small, large)}
    print(f"{folder}: {size[small]:.0f} MB and {size[large]:.0f} MB svmlight, {table.stat().st_size / 1e6:.0f} MB CSV")
    head("Whole commands, seconds", "ours", "theirs")
    if importlib.util.find_spec("vowpalwabbit") is None:
        print("vowpalwabbit is not installed: its rows are left out")
    else:
        against_vw(small, large, size, folder)
    script = [sys.executable, "-c", SCRIPT, f"{small}.svm"]
    works = ratio(lambda: run(train(small, 1)), lambda: run(script), 3)
    row(f"{size[small]:.0f} MB, one pass, against load_svmlight_file + Perceptron", *works, ">= 6", unit=1)
    arrow = [sys.executable, "-c", ARROW, str(table)]
    csv = [*COMMAND, "train", str(table), "--target", "y", "--passes", "1", "--model", str(folder / "m"), "-q"]
    ours, theirs, factor = ratio(lambda: run(csv), lambda: run(arrow), 7)
    row("CSV 1,000,000 x 20, one pass, against pyarrow.csv.read_csv", ours, theirs, factor, ">= 0.67", unit=1)
    in_process(table)
    parsing(large)
    memory(large, folder)
    runs = sorted(seconds(lambda: run([*COMMAND, "--help"])) for _ in range(9))
    print(f"perceptrons --help: {runs[4]:.3f} s (bar < 0.3)")


def against_vw(small: Path, large: Path, size: dict[Path, float], folder: Path) -> None:
    """One pass over both files, five over the large one."""
    for path, bar, repeats in ((small, ">= 1", 9), (large, ">= 2", 5)):
        theirs = [*VW, "-d", f"{path}.vw", "-f", str(folder / "vw.model")]
        works = ratio(lambda path=path: run(train(path, 1)), lambda theirs=theirs: run(theirs), repeats)
        row(f"{size[path]:.0f} MB, one pass, against vw", *works, bar, unit=1)
    five = [*VW, "-d", f"{large}.vw", "-f", str(folder / "vw.model"), "-c", "-k", "--passes", "5", "--holdout_off"]

    def ours() -> None:
        for cache in folder.glob("*.cache"):
            cache.unlink()  # vw -k makes its own anew, too
        run(train(large, 5))

    row(f"{size[large]:.0f} MB, five passes, against vw", *ratio(ours, lambda: run(five), 3), ">= 2", unit=1)


def train(path: Path, passes: int) -> list[str]:
    """The command that trains a perceptron on an svmlight file."""
    where = ["--model", f"{path}.perceptron", "--cache", str(path.parent)]
    return [*COMMAND, "train", f"{path}.svm", "--passes", str(passes), *where, "-q"]


def run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)


def in_process(table: Path) -> None:
    """The same table without the start of two programs."""
    from pyarrow import csv

    from perceptrons import PassiveAggressiveClassifier
    from perceptrons.data import source

    def ours() -> None:
        PassiveAggressiveClassifier(average=True).partial_fit(source(table, target="y"))

    row("  the same within one process", *ratio(ours, lambda: csv.read_csv(table), 7), ">= 0.67", unit=1)


def parsing(path: Path) -> None:
    """Reading alone, on the cores that there are."""
    from perceptrons.data import source

    megabytes = path.with_suffix(".svm").stat().st_size / 1e6
    svm = source(f"{path}.svm")
    runs = sorted(seconds(lambda: [len(rows) for rows, _ in svm.batches()]) for _ in range(5))
    print(f"parsing alone: {megabytes / runs[2]:,.0f} MB/s on {os.cpu_count()} cores (bar >= 600)")


def memory(large: Path, folder: Path) -> None:
    """Peak memory of training on 2 GB, above that of training on nothing much."""
    huge, tiny = folder / "huge", folder / "tiny"
    lines = large.with_suffix(".svm").read_bytes()
    with open(f"{huge}.svm", "wb") as file:
        while file.tell() < 2e9:
            file.write(lines)
    tiny.with_suffix(".svm").write_bytes(b"\n".join(lines.split(b"\n", 20)[:20]))
    peaks = []
    for path in (tiny, huge):
        found = subprocess.run(
            [sys.executable, "-c", PEAK, *train(path, 1)], check=True, capture_output=True, text=True
        )
        peaks.append(int(found.stdout) / 1e3)
    total = os.path.getsize(f"{huge}.svm") / 1e9
    os.unlink(f"{huge}.svm")
    print(f"{total:.1f} GB, one pass: peak {peaks[1]:.0f} MB, {peaks[1] - peaks[0]:.0f} MB above 20 rows (bar < 400)")


def make_rows(path: Path, times: int) -> None:
    """Rows with labels of a random hyperplane, in both formats."""
    svm, vw = path.with_suffix(".svm"), path.with_suffix(".vw")
    if svm.exists() and vw.exists():
        return
    print(f"making {svm} …", flush=True)
    random = np.random.default_rng(times)
    plane = random.standard_normal(FEATURES)
    names, values = [f"{j + 1}:" for j in range(FEATURES)], [f"{k / 1000:.3f}" for k in range(1000)]
    with open(f"{svm}.tmp", "w") as one, open(f"{vw}.tmp", "w") as other:
        for _ in range(ROWS * times // 1000):
            index = np.sort(random.integers(0, FEATURES - NONZEROS, (1000, NONZEROS)), axis=1) + np.arange(NONZEROS)
            value = random.integers(1, 1000, (1000, NONZEROS))
            labels = np.where((plane[index] * value).sum(axis=1) > 0, "+1", "-1").tolist()
            for label, js, ks in zip(labels, index.tolist(), value.tolist(), strict=True):
                text = " ".join([names[j] + values[k] for j, k in zip(js, ks, strict=True)])
                one.write(f"{label} {text}\n")
                other.write(f"{label} | {text}\n")
    os.replace(f"{svm}.tmp", svm)
    os.replace(f"{vw}.tmp", vw)


def make_table(path: Path) -> None:
    """A million rows of twenty numbers, and a label."""
    if path.exists():
        return
    print(f"making {path} …", flush=True)
    import pyarrow
    from pyarrow import csv

    random = np.random.default_rng(0)
    columns = {f"x{j}": np.round(random.standard_normal(1_000_000), 4) for j in range(20)}
    y = np.where(sum(columns.values()) + random.standard_normal(1_000_000) > 0, 1, 0)
    csv.write_csv(pyarrow.table({**columns, "y": y}), f"{path}.tmp")
    os.replace(f"{path}.tmp", path)


if __name__ == "__main__":
    begun = time.perf_counter()
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.gettempdir()) / "perceptrons-benchmark")
    print(f"{time.perf_counter() - begun:.0f} s in all")
