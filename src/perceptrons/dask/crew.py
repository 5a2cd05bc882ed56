"""The workers of a Dask cluster as a crew.

Every call is a graph of tasks that change nothing: one for each shard, and a tree of sums. If a worker is lost, the
scheduler runs its tasks again elsewhere; nothing waits for a particular worker.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import nullcontext
from typing import Any
from uuid import uuid4

from dask import annotate, config, delayed
from distributed import Client, Future, wait
from distributed.scheduler import KilledWorker

from perceptrons.data.batches import threads
from perceptrons.learn.shards.crew import Become, Decide, Say, tree
from perceptrons.learn.shards.part import Part, Sent, added

PATIENCE = 60.0  # seconds to wait for workers when there is none
MOMENT = 2.0  # seconds after which a wait looks whether there are workers

Done = Callable[[int, int], None]  # called with the number of shards done, and of all shards


class DaskCrew:
    """Workers that hold shards, which are futures. done: told how many shards are done, in each call."""

    def __init__(
        self, client: Client, shards: Sequence[Future], done: Done | None = None, planned: Sequence[str | None] = ()
    ) -> None:
        self.client, self.shards, self.n_shards, self.done = client, list(shards), len(shards), done
        self.planned = list(planned) or [None] * len(shards)  # workers for shards that nobody has yet
        self.held: list[Future] = []  # what shards are made of, in case that one is lost

    def keep(self, plan: Any) -> Any:
        # In the graph itself, so that it cannot be lost with a worker. Scattered data can, and a worker that dies while
        # data is broadcast to it makes Dask wait forever.
        with config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            return self.client.submit(_given, plan, pure=False)

    def each(self, function: Callable[..., Any], *given: Any, sent: Any = None) -> list[Any]:
        def graph(*first: Any) -> list[Any]:
            return self._tasks(function, *first, *given)

        return self._computed(graph, sent)

    def summed(self, function: Callable[..., Part], *given: Any, sent: Sent) -> Part:
        def graph(first: Any) -> list[Any]:
            tasks = self._tasks(function, first, *given)
            watched = [] if self.done is None else [delayed(_finished, pure=False)(task) for task in tasks]
            for level in tree(len(tasks)):
                tasks = [delayed(_added, pure=False)([tasks[k] for k in group]) for group in level]
            return [*tasks, *watched]

        found: Part = self._computed(graph, sent)[0]
        return found

    def agree(self, say: Say, decide: Decide, become: Become) -> tuple[Any, DaskCrew]:
        # A worker decides. What concerns one shard goes to it from there, and not through this process.
        decided = delayed(_decided, pure=False, traverse=False)(decide, self._tasks(say))
        own = [decided[1][number] for number in range(self.n_shards)]
        become_of = delayed(_worked, pure=False, traverse=False)
        new = [become_of(become, shard, number, own[number]) for number, shard in enumerate(self.shards)]
        futures = self.client.compute([decided[0], *own, *new])
        try:
            self._wait(futures)
            common = self.client.gather(futures[0])
        except BaseException:
            self.client.cancel(futures, force=True)
            raise
        crew = DaskCrew(self.client, futures[1 + self.n_shards :], self.done)
        crew.held = futures[1 : 1 + self.n_shards]
        return common, crew

    def _tasks(self, function: Callable[..., Any], *given: Any) -> list[Any]:
        """The function with each shard."""
        task, name = delayed(_worked, pure=False, traverse=False), f"{function.__name__}-{uuid4().hex}"
        made = []
        for number, (shard, home) in enumerate(zip(self.shards, self._homes(), strict=True)):
            with at(home):
                made.append(task(function, shard, number, *given, dask_key_name=f"{name}-{number}"))
        return made

    def _homes(self) -> list[str | None]:
        """The worker that should work on each shard: one that has it, unless others have much less to do."""
        held = self.client.who_has(self.shards)
        return homes([list(held[shard.key]) for shard in self.shards], self.client.nthreads(), self.planned)

    def _computed(self, graph: Callable[..., list[Any]], sent: Any) -> list[Any]:
        """The results of a graph that is made for what is sent."""
        first = [] if sent is None else [self.keep(sent)]
        futures = self.client.compute(graph(*first))
        try:
            self._wait(futures, self.done)
            results: list[Any] = self.client.gather(futures)
            return results
        except BaseException:
            self.client.cancel(futures, force=True)
            raise

    def _wait_for_workers(self) -> None:
        begun = time.monotonic()
        while not self.client.ncores():
            if time.monotonic() - begun > PATIENCE:
                raise TimeoutError(
                    f"the cluster has had no workers for {PATIENCE:.0f} seconds: start some, and call fit again"
                )
            time.sleep(0.1)

    def _wait(self, futures: list[Future], done: Done | None = None) -> None:
        """Wait until all futures are finished; raise the first error."""
        left, told = list(futures), 0
        while left:
            try:
                with self.client.as_current():
                    finished, unfinished = wait(left, timeout=MOMENT, return_when="FIRST_COMPLETED")
            except TimeoutError:
                self._wait_for_workers()
                continue
            for future in finished:
                if future.status == "error":
                    self._raise(future)
                if future.status == "cancelled":
                    raise CancelledError("the cluster, or another client, has cancelled a task of this fit")
            left = list(unfinished)
            count = min(self.n_shards, len(futures) - len(left))
            if done is not None and count > told:
                told = count
                done(count, self.n_shards)

    def _raise(self, future: Future) -> None:
        """Raise the error of a task."""
        try:
            future.result()
        except KilledWorker as error:
            raise RuntimeError(
                f"a task on one shard was running on {error.allowed_failures + 1} workers when they died: perhaps it "
                "needs more memory than they have. Use more shards, or workers with more memory"
            ) from error


def at(worker: str | None) -> Any:
    """Let tasks that are made in this context run on a worker, unless it is lost."""
    return nullcontext() if worker is None else annotate(workers=[worker], allow_other_workers=True)


def spread(n: int, workers: Sequence[str]) -> list[str | None]:
    """Workers for n new shards. Neighbours go to the same worker, so that their sums need not travel."""
    ordered = sorted(workers)
    return [ordered[number * len(ordered) // n] if ordered else None for number in range(n)]


def homes(
    holders: Sequence[Sequence[str]], threads: Mapping[str, int], planned: Sequence[str | None]
) -> list[str | None]:
    """The worker for each shard, so that all threads have about the same number of shards; None: any worker.

    holders: the workers that have each shard; if there are none, it is to be made by the worker that is `planned`. A
    shard is moved only if that makes the longest queue shorter.

    >>> homes([["a"], ["a"], ["a", "b"], ["a"]], {"a": 1, "b": 1}, [None] * 4)
    ['a', 'a', 'b', 'b']
    """
    load = dict.fromkeys(threads, 0)

    def fullness(worker: str) -> float:
        return (load[worker] + 1) / threads[worker]

    found: list[str | None] = []
    for each, plan in zip(holders, planned, strict=True):
        known = [worker for worker in each if worker in load]
        home = min(known, key=fullness) if known else plan if plan in load else None
        if home is not None:
            load[home] += 1
        found.append(home)
    if None in found:  # not all shards are made
        return found
    for number in reversed(range(len(found))):
        home, least = str(found[number]), min(sorted(load), key=fullness)
        if load[home] / threads[home] > fullness(least):
            load[home], load[least], found[number] = load[home] - 1, load[least] + 1, least
    return found


def _worked(function: Callable[..., Any], *given: Any) -> Any:
    """Call a function, in a task. It uses one thread: the cluster decides how many tasks a worker runs at a time."""
    with threads(1):
        return function(*given)


def _decided(decide: Decide, said: list[Any]) -> tuple[Any, Sequence[Any]]:
    """Decide what shards become, in a task."""
    return decide(said)


def _given(plan: Any) -> Any:
    return plan


def _added(parts: list[Part]) -> Part:
    """Add parts, in a task."""
    return added(parts)


def _finished(part: Part) -> None:
    """Tell that a task has ended."""
