"""Kill processes at random moments while they write, and look at what they leave.

    python benchmarks/kills.py [number of kills, by default 300]

Each process is a fork of this one, which is warmed up, and is killed by SIGKILL: while it saves models, while it learns
from a copy of the rows, and while it makes such a copy. No half file may load, and no file of the user may change. What
a killed process leaves behind, the next one removes. The exit code is 1 if anything is wrong.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from perceptrons import Perceptron, load, save
from perceptrons.data.cache import Cached
from perceptrons.data.svmlight import SvmlightSource

KILLS = 300
ROWS, FEATURES = 20_000, 50_000
# Files of the user, with names that resemble those of this program.
PRECIOUS = [".model.perceptron.0123.tmp", ".rows.svm.0123456789abcdef.tmp", "rows.svm.0123456789abcdef.cache", "notes"]


class Job(NamedTuple):
    """Something to be killed."""

    name: str
    prepare: Callable[[], object]  # before each process
    work: Callable[[], object]  # in the process
    half: Callable[[], bool]  # whether what it left can be used, but is not whole; an error if it cannot be used
    made: Path  # the only file that may be new afterwards


def killed(work: Callable[[], object], after: float) -> None:
    """Run a process and kill it."""
    process = os.fork()
    if process == 0:
        try:
            work()
        finally:
            os._exit(0)
    time.sleep(after)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def run(job: Job, kills: int) -> bool:
    """Kill processes, print what they left, and tell whether all is well."""
    folder = job.made.parent
    random = np.random.default_rng(0)
    job.prepare()
    job.work()
    known = {each: digest(each) for each in folder.iterdir() if each != job.made}
    job.prepare()
    begun = time.perf_counter()
    job.work()
    whole = time.perf_counter() - begun
    half = changed = amid = 0
    for _ in range(kills):
        job.prepare()
        before = set(folder.iterdir())
        killed(job.work, random.uniform(0.0, 1.2 * whole))
        amid += bool(set(folder.iterdir()) - before - {job.made})
        try:
            half += job.half()
        except (ValueError, OSError):  # the model that was there before is lost
            changed += 1
        changed += sum(not each.exists() or digest(each) != content for each, content in known.items())
    job.work()
    left = len(set(folder.iterdir()) - set(known) - {job.made})
    print(
        f"{job.name}: {kills} kills, {amid} of them in the middle of a file; {half} half files that load, "
        f"{changed} files of the user that changed, {left} left behind after the next run",
        flush=True,
    )
    return not (half or changed or left)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def saving(folder: Path) -> Job:
    """Save models, one after the other, under the same name."""
    random = np.random.default_rng(1)
    X, path = random.normal(size=(100, FEATURES)), folder / "model.perceptron"
    models = [Perceptron(max_iter=k).fit(X, X[:, k] > 0) for k in (1, 2, 3)]
    save(models[0], path)

    def work() -> None:
        for model in models:
            save(model, path)

    def half() -> bool:
        coef = load(path).coef_
        return not any(np.array_equal(coef, model.coef_) for model in models)

    return Job("saving a model", lambda: None, work, half, path)


def rows_in(folder: Path) -> SvmlightSource:
    """A source of rows whose copy is kept in the folder."""
    path = folder / "rows.svm"
    if not path.exists():
        lines = (f"{i % 2} {i % 97}:{i % 13}.5 {100 + i % 89}:0.{i % 7}\n" for i in range(ROWS))
        path.write_text("".join(lines))
    made = SvmlightSource([str(path)], block=1 << 14)
    made.caching = str(folder)
    return made


def learning(folder: Path) -> Job:
    """Learn from a copy that exists, and save the model."""
    path, settings = folder / "model.perceptron", {"max_iter": 3, "tol": None}
    expected = Perceptron(**settings).fit(rows_in(folder)).coef_  # makes the copy

    def half() -> bool:
        return path.exists() and not np.array_equal(load(path).coef_, expected)

    def work() -> None:
        save(Perceptron(**settings).fit(rows_in(folder)), path)

    return Job("learning from a copy", lambda: path.unlink(missing_ok=True), work, half, path)


def building(folder: Path) -> Job:
    """Parse a file and make the copy of its rows."""
    expected = content(rows_in(folder))
    copy = Cached(rows_in(folder), str(folder))
    list(copy.batches())
    path = Path(copy.path)

    def half() -> bool:
        found = Cached(rows_in(folder), str(folder))
        return found.table is not None and content(found) != expected

    def work() -> None:
        list(Cached(rows_in(folder), str(folder)).batches())

    return Job("making a copy", lambda: path.unlink(missing_ok=True), work, half, path)


def content(source: SvmlightSource | Cached) -> list[bytes]:
    """All rows of a source."""
    return [
        array.tobytes()
        for rows, y in source.batches()
        for array in (*rows.arrays, rows.sq_norm, y)
        if array is not None
    ]


def main(kills: int) -> int:
    """Kill processes of each kind, in a folder of their own."""
    warnings.simplefilter("ignore")  # nothing converges
    well = True
    for make in (saving, learning, building):
        with tempfile.TemporaryDirectory() as name:
            for each in PRECIOUS:
                Path(name, each).write_text(f"{each} is precious")
            well &= run(make(Path(name)), kills)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else KILLS))
