"""On a cluster of processes on this machine: DaskPerceptron and DaskSequenceTagger beside one worker, dask-ml and one
process.

    python benchmarks/cluster.py [data folder, by default ../shared/data] [folder for files]

The files are those of benchmarks/files.py: 886 MB of svmlight rows, in 8 shards. They are made in the folder (by
default one in the temporary folder) and stay there for the next run. Workers are processes of one thread each. Nothing
else should run meanwhile. dask-ml: pip install dask-ml.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask
import numpy as np
from distributed import Client, LocalCluster
from files import FEATURES, NONZEROS, make_rows
from side_by_side import head, row, seconds

from perceptrons import Perceptron
from perceptrons.dask import DaskPerceptron, DaskSequenceTagger
from perceptrons.data import source

SHARDS, EPOCHS, KILLS, CASES = 8, 10, 30, 200
SETTINGS: dict[str, Any] = {"readout": "averaged", "max_iter": EPOCHS, "tol": None, "random_state": 0}


@contextmanager
def workers(n: int) -> Iterator[Client]:
    """A client of n processes of one thread each, which have everything compiled."""
    with (
        LocalCluster(
            n_workers=n, threads_per_worker=1, dashboard_address=":0", memory_limit=0, silence_logs=logging.CRITICAL
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def main(data: Path, folder: Path) -> None:
    """Print a table."""
    warnings.simplefilter("ignore")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})  # a worker may die again before it is back
    folder.mkdir(parents=True, exist_ok=True)
    large, held = folder / "large.svm", folder / "large-held-out.svm"
    make_rows(large.with_suffix(""), 10)
    make_held_out(held)
    with workers(1) as one, workers(2) as two:
        head(f"{large.stat().st_size / 1e6:.0f} MB of svmlight rows in {SHARDS} shards, seconds", "ours", "theirs")
        files(large, held, one, two)
        in_memory(large, two)
        kills(two, large)
    theorems()
    memory(large)
    chunks(data / "conll2000")
    real_sets(data)


# -- files -----------------------------------------------------------------------------------------------------------


def files(large: Path, held: Path, one: Client, two: Client) -> None:
    """Ten epochs, reading included: with two workers, with one, and ten passes in this process."""
    copies = large.parent / "copies"

    def on(client: Client) -> Callable[[], Any]:
        return lambda: DaskPerceptron(**SETTINGS, n_shards=SHARDS, client=client).fit(source(large, cache=copies))

    works = {"two": on(two), "one": on(one), "local": lambda: Perceptron(**SETTINGS).fit(source(large, cache=copies))}
    times: dict[str, list[float]] = {name: [] for name in works}
    models: dict[str, Any] = {}
    for number in range(4):
        for name, work in works.items():
            shutil.rmtree(copies, ignore_errors=True)
            copies.mkdir()
            begun = time.perf_counter()
            models[name] = work()
            if number > 0:  # the first compiles and fills the page cache
                times[name].append(time.perf_counter() - begun)
    once = {"two": _one_epoch(large, copies, two), "one": _one_epoch(large, copies, one)}
    longer = DaskPerceptron(**{**SETTINGS, "max_iter": 4 * EPOCHS}, n_shards=SHARDS, client=two)
    longer.fit(source(large, cache=copies), X_val=source(held))
    shutil.rmtree(copies)
    median = {name: statistics.median(each) for name, each in times.items()}
    for name, label, bar in (
        ("one", f"{EPOCHS} epochs, reading included: 2 workers against 1", ">= 1.6"),
        ("local", f"  the same against {EPOCHS} passes of Perceptron in one process", ">= 1"),
    ):
        row(label, median["two"], median[name], median[name] / median["two"], bar, unit=1)
    for name, n in (("two", 2), ("one", 1)):
        epoch = (median[name] - once[name]) / (EPOCHS - 1)
        print(f"  {n} worker(s): {once[name] - epoch:.2f} s to read and copy, {epoch:.3f} s an epoch", flush=True)
    errors = {name: 100 * (1 - models[name].score(source(held))) for name in ("two", "local")}
    print(
        f"held-out error, averaged: {errors['two']:.2f} % in {SHARDS} shards, {errors['local']:.2f} % in one process: "
        f"{errors['two'] - errors['local']:+.2f} points (bar: within 0.3)",
        flush=True,
    )
    near = np.flatnonzero(100 * longer.validation_errors_ <= errors["local"] + 0.3)
    when = f"after {near[0] + 1} epochs" if len(near) else f"not in {4 * EPOCHS} epochs"
    print(f"  {SHARDS} shards come within 0.3 points of {EPOCHS} passes in one process {when}", flush=True)


def _one_epoch(large: Path, copies: Path, client: Client) -> float:
    """Seconds of a fit with one epoch, reading included; the median of three."""
    times = []
    for _ in range(3):
        shutil.rmtree(copies, ignore_errors=True)
        copies.mkdir()
        model = DaskPerceptron(**{**SETTINGS, "max_iter": 1}, n_shards=SHARDS, client=client)
        times.append(seconds(lambda model=model: model.fit(source(large, cache=copies))))
    return statistics.median(times)


def make_held_out(path: Path) -> None:
    """100,000 more rows with labels of the same hyperplane."""
    if path.exists():
        return
    plane, random = np.random.default_rng(10).standard_normal(FEATURES), np.random.default_rng(11)
    with open(f"{path}.tmp", "w") as file:
        for _ in range(100):
            index = np.sort(random.integers(0, FEATURES - NONZEROS, (1000, NONZEROS)), axis=1) + np.arange(NONZEROS)
            value = random.integers(1, 1000, (1000, NONZEROS))
            labels = np.where((plane[index] * value).sum(axis=1) > 0, 1, -1)
            for label, js, ks in zip(labels.tolist(), index.tolist(), value.tolist(), strict=True):
                file.write(f"{label} " + " ".join(f"{j + 1}:{k / 1000}" for j, k in zip(js, ks, strict=True)) + "\n")
    os.replace(f"{path}.tmp", path)


# -- rows in memory --------------------------------------------------------------------------------------------------


def in_memory(large: Path, client: Client) -> None:
    """One epoch over rows that the workers have in memory, as Dask arrays of CSR blocks, against dask-ml."""
    if importlib.util.find_spec("dask_ml") is None:
        print("dask-ml is not installed: its row is left out")
        return
    import dask.array as da
    import scipy.sparse as sp
    from dask import delayed
    from dask_ml.wrappers import Incremental
    from distributed import wait
    from sklearn.linear_model import Perceptron as Theirs

    with client.as_current():
        read = [delayed(_block)(part) for part in source(large).shards(SHARDS)]
        blocks = client.persist(read)
        wait(blocks)
        sizes = client.gather(client.compute([delayed(lambda block: block[0].shape)(block) for block in blocks]))
        X = da.concatenate(
            [
                da.from_delayed(delayed(lambda b: b[0])(b), (n, FEATURES + 1), meta=sp.csr_matrix((0, 0)))
                for b, (n, _) in zip(blocks, sizes, strict=True)
            ]
        )
        y = da.concatenate(
            [
                da.from_delayed(delayed(lambda b: b[1])(b), (n,), dtype=float)
                for b, (n, _) in zip(blocks, sizes, strict=True)
            ]
        )
        X, y = client.persist([X, y])
        wait([X, y])
        ours = DaskPerceptron(max_iter=1, tol=None, client=client)
        theirs = Incremental(Theirs(), shuffle_blocks=True, random_state=0)

        def run_ours() -> None:
            ours.fit(X, y)

        def run_theirs() -> None:
            theirs.fit(X, y, classes=[-1.0, 1.0])

        run_ours(), run_theirs()
        times = [(seconds(run_ours), seconds(run_theirs)) for _ in range(5)]
    mine, other = (statistics.median(column) for column in zip(*times, strict=True))
    label = "one epoch, rows in memory, against dask_ml's Incremental(Perceptron)"
    row(label, mine, other, other / mine, ">= 5", unit=1)


def _block(part: Any) -> Any:
    """A shard as a CSR matrix with 32-bit indices, which scikit-learn needs, and its labels."""
    X, y = part.arrays()
    from scipy.sparse import csr_matrix

    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return csr_matrix((X.data, indices, indptr), shape=(X.shape[0], FEATURES + 1)), y


# -- workers that die ------------------------------------------------------------------------------------------------


def kills(client: Client, large: Path) -> None:
    """Kill a worker at a random moment of a fit, again and again, and compare the weights."""
    import dask.array as da
    from dask import delayed

    rows = [da.from_delayed(delayed(_normal)(k), (5000, 2000), dtype=float) for k in range(SHARDS)]
    X = da.concatenate(rows)
    y = X[:, :5].sum(axis=1) > 0

    copies = large.parent / "copies"
    copies.mkdir(exist_ok=True)
    of_files = partial(DaskPerceptron(**SETTINGS, n_shards=SHARDS, client=client).fit, source(large, cache=copies))
    killed(client, "rows in memory", lambda: DaskPerceptron(**SETTINGS, client=client).fit(X, y))
    killed(client, "files", of_files)
    shutil.rmtree(copies)


def killed(client: Client, what: str, fit: Callable[[], Any]) -> None:
    """Kill a worker in each of many fits."""
    fit()
    begun = time.perf_counter()
    expected = fit().coef_.copy()
    usual, random, same = time.perf_counter() - begun, np.random.default_rng(), 0
    longest = 0.0
    for _ in range(KILLS):
        pids = _pids(client)
        killer = threading.Timer(random.uniform(0.0, usual), os.kill, [random.choice(pids), signal.SIGKILL])
        killer.start()
        begun = time.perf_counter()
        same += np.array_equal(fit().coef_, expected)
        longest = max(longest, time.perf_counter() - begun)
        killer.join()
    print(
        f"a worker killed at a random moment, {what}: the same weights bit for bit in {same} of {KILLS} fits (bar: "
        f"all); {usual:.1f} s undisturbed, at most {longest:.1f} s",
        flush=True,
    )


def _normal(seed: int) -> Any:
    return np.random.default_rng(seed).standard_normal((5000, 2000))


def _pids(client: Client) -> list[int]:
    """The processes of both workers, once they answer: Dask does not replace a worker that dies while it starts."""
    while True:
        client.wait_for_workers(2)
        with suppress(OSError):
            found = client.run(os.getpid)
            if len(found) == 2:
                return list(found.values())
        time.sleep(0.1)


# -- theorems --------------------------------------------------------------------------------------------------------


def theorems() -> None:
    """Mistakes on rows that can be separated, as shares of what the theorem allows; γ is the largest margin."""
    from perceptrons.data.arrays import as_rows
    from perceptrons.learn.shards.crew import Here
    from perceptrons.learn.shards.rows import ArrayShard
    from perceptrons.learn.shards.task import from_shards
    from perceptrons.theory import separability

    random = np.random.default_rng(0)
    for mixing in ("mistakes", "uniform"):
        most, epochs, exceeded = 0.0, 0.0, 0
        for case in range(CASES):
            n, d, S = int(random.integers(5, 60)), int(random.integers(2, 6)), int(random.integers(2, 9))
            y = np.arange(n) % 2
            across = random.standard_normal((n, d - 1))
            across /= np.linalg.norm(across, axis=1, keepdims=True)
            X = np.column_stack([random.uniform(0.01, 0.3) * (2 * y - 1), across])
            gamma = separability(X, y, fit_intercept=False).margin
            assert gamma is not None
            ratio = float(np.linalg.norm(X, axis=1).max() ** 2 / gamma**2)
            edges = np.sort(np.concatenate([[0, n], random.integers(0, n + 1, S - 1)]))
            shards = [ArrayShard(as_rows(X[a:b].copy()), y[a:b]) for a, b in pairwise(edges)]
            model = Perceptron(tol=None, fit_intercept=False, random_state=case)
            run = from_shards(model._request(), Here(shards), mixing).run()
            total, with_mistakes = sum(run.mistakes), int(np.count_nonzero(run.mistakes))
            most, epochs = max(most, total / (S * ratio)), max(epochs, with_mistakes / ratio)
            exceeded += total > S * ratio or (mixing == "mistakes" and with_mistakes > ratio) or not run.converged
        print(
            f"{CASES} sets of separable rows, mixing={mixing!r}: mistakes at most {most:.2f} of S·R²/γ², epochs with "
            f"mistakes at most {epochs:.2f} of R²/γ²; exceeded {exceeded} times (bar: never)",
            flush=True,
        )


# -- real rows -------------------------------------------------------------------------------------------------------


def real_sets(data: Path) -> None:
    """Held-out errors of real sets in 8 shards, against one process; ten epochs, averaged."""
    from perceptrons.data.arrays import as_rows
    from perceptrons.learn.shards.crew import Here
    from perceptrons.learn.shards.rows import ArrayShard
    from perceptrons.learn.shards.task import from_shards

    if not data.exists():
        print(f"{data} is missing: the rows about real sets are left out")
        return
    sets = {
        "a9a": ("a9a/a9a", "a9a/a9a.t", 124),
        "ijcnn1": ("ijcnn1/ijcnn1.trn.bz2", "ijcnn1/ijcnn1.tst.bz2", 23),
        "letter": ("letter_scale/letter.scale", "letter_scale/letter.scale.t", 17),
    }
    print(f"\n{'held-out error, %':<20} {'one process':>12} {f'{SHARDS} shards':>12}")
    for name, (train, test, width) in sets.items():
        X, y = source(data / train, format="svmlight", n_features=width).arrays()
        X_test, y_test = source(data / test, format="svmlight", n_features=width).arrays()
        order = np.random.default_rng(0).permutation(len(y))
        for rule in ("perceptron", "pa1", "arow"):
            model = Perceptron(rule=rule, **SETTINGS)
            alone = 1 - model.fit(X, y).score(X_test, y_test)
            parts = [ArrayShard(as_rows(X[part]), y[part]) for part in np.array_split(order, SHARDS)]
            task = from_shards(model._request(), Here(parts), "mistakes")
            task.run()
            guesses = task.targets.decode(task.learner.predict(task.learner.decide(as_rows(X_test))))
            print(f"{name + ', ' + rule:<20} {100 * alone:12.2f} {100 * np.mean(guesses != y_test):12.2f}", flush=True)


# -- memory ----------------------------------------------------------------------------------------------------------

CLIENT = """
import resource, sys, warnings
warnings.simplefilter("ignore")
from distributed import Client
from perceptrons.dask import DaskPerceptron
from perceptrons.data import source

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3

if __name__ == "__main__":
    with Client(sys.argv[1]) as client:
        DaskPerceptron(max_iter=2, tol=None, readout="averaged").fit(source(sys.argv[2]))
        before = peak()
        model = DaskPerceptron(max_iter=3, tol=None, readout="averaged").fit(source(sys.argv[3]))
        print(before, peak(), 2 * model.coef_.nbytes / 1e6)
"""


def memory(large: Path) -> None:
    """Peak memory of a client in a process of its own: of a fit on 886 MB, above one on a few rows."""
    import subprocess

    small = large.with_name("few.svm")
    with open(large, "rb") as file:
        small.write_bytes(b"".join(file.readline() for _ in range(1000)))
    with workers(2) as client:
        address = client.scheduler.address
        command = [sys.executable, "-c", CLIENT, address, str(small), str(large)]
        found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    few, all_rows, model = map(float, found)
    size = large.stat().st_size / 1e6
    print(
        f"memory of the client: {few:.0f} MB after a fit on 1,000 rows, {all_rows:.0f} MB after one on {size:.0f} "
        f"MB: {all_rows - few:.0f} MB more, of which the model is {model:.1f} MB (bar: < 100 above the model)",
        flush=True,
    )


# -- sentences -------------------------------------------------------------------------------------------------------


def chunks(folder: Path) -> None:
    """F1 of chunks on CoNLL-2000 in 4 shards, against one process."""
    if not folder.exists():
        print(f"{folder} is missing: the row about CoNLL-2000 is left out")
        return
    from perceptrons import SequenceTagger
    from perceptrons.data import conll_source, read_conll

    train, test = conll_source(folder / "train.txt"), read_conll(folder / "test.txt")
    settings: dict[str, Any] = {"features": "crf++", "rule": "perceptron", "max_iter": 15}
    with workers(2) as client:
        model = DaskSequenceTagger(**settings, n_shards=4, client=client).fit(train, "chunk")
        begun = time.perf_counter()
        DaskSequenceTagger(**settings, n_shards=4, client=client).fit(train, "chunk")
        ours = time.perf_counter() - begun
    begun = time.perf_counter()
    local = SequenceTagger(**settings).fit(read_conll(folder / "train.txt"), "chunk")
    alone = time.perf_counter() - begun
    f1 = [each.report(test, "chunk").micro.f1 for each in (model, local)]
    print(
        f"CoNLL-2000, averaged, 15 epochs: F1 {f1[0]:.4f} in 4 shards (bar >= 0.934), {f1[1]:.4f} in one process; "
        f"{ours:.1f} s on 2 workers, {alone:.1f} s in one process",
        flush=True,
    )


if __name__ == "__main__":
    given = [Path(each) for each in sys.argv[1:]]
    temporary = Path(tempfile.gettempdir()) / "perceptrons-benchmark"
    main(given[0] if given else Path("../shared/data"), given[1] if len(given) > 1 else temporary)
