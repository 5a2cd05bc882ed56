"""Where the time of an epoch on a cluster goes: passes, sums, weights that travel; and what follows for large clusters.

    python benchmarks/scale.py [--quick]

Two processes of one thread each on this machine. Rows have 50 non-zeros, and all shards together 200,000 rows, so that
only the number of weights and of shards changes. Each phase is waited for, so that it can be timed; in a real epoch
phases of different shards overlap. The last part puts the measured speeds into the model of docs/guides/clusters.md.
"""

from __future__ import annotations

import logging
import math
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from dask import delayed
from distributed import Client, LocalCluster, wait
from scipy.sparse import csr_matrix

from perceptrons import Perceptron
from perceptrons.dask.crew import DaskCrew, _added
from perceptrons.data.arrays import as_rows
from perceptrons.learn.shards.crew import tree
from perceptrons.learn.shards.part import Part, Sent
from perceptrons.learn.shards.rows import ArrayShard
from perceptrons.learn.shards.task import from_shards

ROWS, NONZEROS, EPOCHS = 200_000, 50, 5
PHASES = ("prepare", "broadcast", "passes", "sums", "fetch", "mix")


class Timed(DaskCrew):
    """A crew that waits for each phase of an epoch, and notes how long it takes."""

    def __init__(self, client: Client, shards: Any) -> None:
        super().__init__(client, shards)
        self.phases: list[dict[str, float]] = []
        self.n_bytes: list[tuple[int, int, int]] = []  # of the weights sent, of the largest part, of all parts

    def summed(self, function: Callable[..., Part], *given: Any, sent: Sent) -> Part:
        took, at = dict[str, float](), time.perf_counter()

        def note(phase: str) -> None:
            nonlocal at
            now = time.perf_counter()
            took[phase], at = now - at, now

        first = self.keep(sent)
        wait([self.client.submit(_seen, first, workers=[worker], pure=False) for worker in self.client.nthreads()])
        note("broadcast")
        futures = self.client.compute(self._tasks(function, first, *given))
        wait(futures)
        note("passes")
        sizes = self.client.gather(self.client.map(lambda part: part.n_bytes, futures))
        self.n_bytes.append((sent.__sizeof__(), max(sizes), sum(sizes)))
        at = time.perf_counter()
        for level in tree(len(futures)):
            futures = self.client.compute([delayed(_added)([futures[k] for k in group]) for group in level])
            wait(futures)
        note("sums")
        found: Part = futures[0].result()
        note("fetch")
        self.phases.append(took)
        return found


def _seen(sent: Sent) -> None:
    """Make a worker fetch the weights."""


def shard(seed: int, n: int, d: int) -> ArrayShard:
    """Random sparse rows, with features as frequent as words."""
    random = np.random.default_rng(seed)
    rank = np.minimum(d * random.random((n, NONZEROS)) ** 3, d - 1).astype(np.int64)
    X = csr_matrix((random.random(n * NONZEROS), rank.ravel(), np.arange(0, n * NONZEROS + 1, NONZEROS)), shape=(n, d))
    X.sum_duplicates()
    plane = np.random.default_rng(99).standard_normal(min(d, 10_000))
    y = X[:, : len(plane)] @ plane > 0
    return ArrayShard(as_rows(X), y)


class Epoch(NamedTuple):
    """Medians of one setting, in seconds and bytes."""

    d: int
    n_shards: int
    phases: dict[str, float]
    sent: int
    part: int
    whole: float  # an epoch without waiting for phases


def measured(client: Client, d: int, n_shards: int, n_rows: int = ROWS) -> Epoch:
    """Train, and time the phases of an epoch."""
    futures = [client.submit(shard, k, n_rows // n_shards, d, pure=False) for k in range(n_shards)]
    wait(futures)
    model = Perceptron(readout="averaged", tol=None, max_iter=EPOCHS)
    crew = Timed(client, futures)
    task = from_shards(model._request(), crew, "mistakes")
    prepared, mixed, phases = [], [], []
    for epoch in range(EPOCHS):
        begun = time.perf_counter()
        sent = task.learner.send()
        prepared.append(time.perf_counter() - begun)
        from perceptrons.learn.shards import work

        part = crew.summed(work.learned, task.material.plan, epoch, task.passes, "mistakes", sent=sent)  # type: ignore[attr-defined]
        begun = time.perf_counter()
        task.learner.mix(part)  # type: ignore[attr-defined]
        mixed.append(time.perf_counter() - begun)
        phases.append({"prepare": prepared[-1], **crew.phases[-1], "mix": mixed[-1]})
    plain = from_shards(model._request(), DaskCrew(client, futures), "mistakes")
    times = []
    for epoch in range(EPOCHS):
        begun = time.perf_counter()
        plain.material.learn(plain.learner, epoch, 1, plain.passes)
        times.append(time.perf_counter() - begun)
    median = {name: statistics.median(each[name] for each in phases[1:]) for name in PHASES}
    sent_bytes, part_bytes = (int(statistics.median(column)) for column in list(zip(*crew.n_bytes, strict=True))[:2])
    return Epoch(d, n_shards, median, sent_bytes, part_bytes, statistics.median(times[1:]))


def main(quick: bool) -> None:
    """Print a table, and what follows from it."""
    warnings.simplefilter("ignore")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    found = []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        measured(client, 1000, 2)  # compiles
        print(f"an epoch of 8 shards with hardly any work: {1e3 * measured(client, 100, 8, 800).whole:.0f} ms")
        print(f"one epoch over {ROWS:,} rows of {NONZEROS} non-zeros, averaged, 2 workers; milliseconds, and megabytes")
        heads = [*PHASES, "sum", "an epoch", "MB sent", "MB a part"]
        print(f"{'weights':>11} {'shards':>6} " + " ".join(f"{name:>9}" for name in heads))
        for d in (10_000, 1_000_000, 10_000_000):
            for n_shards in (2, 16) if quick else (2, 4, 8, 16):
                each = measured(client, d, n_shards)
                found.append(each)
                cells = [1e3 * each.phases[name] for name in PHASES]
                cells += [sum(cells), 1e3 * each.whole, each.sent / 1e6, each.part / 1e6]
                print(f"{d:11,} {n_shards:6} " + " ".join(f"{cell:9.1f}" for cell in cells), flush=True)
    follow(found)


class Cluster(NamedTuple):
    """Assumptions about a cluster."""

    bandwidth: float  # bytes a second, of the network card of each machine
    latency: float  # seconds for a task, from the scheduler and back
    submit: float  # seconds of the scheduler for each task
    row: float  # seconds for a row in a pass, by one thread
    add: float  # bytes a second that one thread adds


def epoch_of(cluster: Cluster, workers: int, n_rows: float, sent: float, part: float) -> dict[str, float]:
    """The seconds of each phase of an epoch, with one shard for each worker."""
    levels = max(1, math.ceil(math.log(workers, 4))) if workers > 1 else 0
    hops = math.ceil(math.log2(workers)) if workers > 1 else 0
    return {
        "passes": n_rows / workers * cluster.row + cluster.latency + workers * cluster.submit,
        "broadcast": (hops + 1) * sent / cluster.bandwidth,
        "sums": levels * (4 * part / cluster.bandwidth + 4 * part / cluster.add + cluster.latency),
        "fetch": part / cluster.bandwidth,
    }


def follow(found: list[Epoch]) -> None:
    """Extrapolate to a large cluster."""
    largest = [each for each in found if each.d == 10_000_000]
    send = largest[-1].sent / largest[-1].phases["broadcast"]
    small = min(found, key=lambda each: each.d * each.n_shards)
    row = 2 * small.phases["passes"] / ROWS
    least = [each for each in found if each.d == 10_000]
    submit = (least[-1].whole - least[0].whole) / (least[-1].n_shards - least[0].n_shards)
    print(
        f"\nmeasured here: {1e6 * row:.2f} µs for a row of {NONZEROS} non-zeros, weights sent at {send / 1e6:,.0f} "
        f"MB/s, {1e3 * max(submit, 0.0):.1f} ms for one more shard"
    )
    cluster = Cluster(1.25e9, 0.01, 0.0005, row, 2e9)
    n_rows = 1e12 / (NONZEROS * 12)
    print(
        f"a terabyte of rows ({n_rows:.1e} of them, 12 bytes for a non-zero), 10 Gbit/s, 10 ms and 0.5 ms for a task:"
    )
    print(
        f"{'weights':>11} {'workers':>8} {'passes':>9} {'broadcast':>9} {'sums':>9} {'fetch':>9} {'epoch':>9}  seconds"
    )
    for d in (10_000, 1_000_000, 10_000_000):
        for workers in (10, 100, 1000):
            phases = epoch_of(cluster, workers, n_rows, 8.0 * d, 16.0 * d)
            cells = " ".join(f"{phases[name]:9.2f}" for name in ("passes", "broadcast", "sums", "fetch"))
            print(f"{d:11,} {workers:8,} {cells} {sum(phases.values()):9.2f}")


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
