"""A served model: its learner, its monitor, snapshots and rollback. How requests get into its log is in `commits`."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import convert
from sklearn.base import ClassifierMixin

from perceptrons.serve.errors import Damaged, Refused
from perceptrons.serve.limits import Limits
from perceptrons.serve.messages import Create, Drift, State, Window
from perceptrons.serve.model.bulk import Bits
from perceptrons.serve.model.commits import Batch, Commits, Key, could_not_write
from perceptrons.serve.model.log import Log
from perceptrons.serve.model.monitor import Monitor
from perceptrons.serve.model.pending import Pending
from perceptrons.serve.model.rebuild import Built, copied, rebuild
from perceptrons.serve.model.records import Group
from perceptrons.serve.model.room import Room


class Served(Commits):
    """A model with its learner, its log and its waiting requests.

    Parameters
    ----------
    name : str
        Of the model.
    folder : Path
        Its folder.
    log : Log
        Its log.
    limits : Limits
        Of the server.
    pool, readers : Executor
        Run what would block the event loop: commits and learning, and what only reads.
    tell : callable
        Called with the name of an event and its facts.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        log: Log,
        limits: Limits,
        pool: Executor,
        readers: Executor,
        tell: Callable[[str, dict[str, Any]], None],
    ) -> None:
        super().__init__(name, log, limits, pool, readers)
        self.folder, self.tell = folder, tell
        self.create = convert(log.meta("settings"), Create)
        self.model: Any = None
        self.monitor = Monitor(self.create.window, self.create.delta)
        self.pending = Pending(limits)
        self.room = Room(limits)
        self.snapshot_at = self.oldest = 0  # positions: of the newest snapshot, and the first that can be restored
        self.since = 0  # examples since the newest snapshot
        self.logged = 0  # examples in the log
        self.rollbacks = 0
        self.restored = 0  # how often a failed commit made it necessary to rebuild the model

    # -- loading ----------------------------------------------------------------------------------------------

    def load(self, tell: Callable[[int], None] | None = None) -> None:
        """Rebuild the model from its folder; if that fails, `broken` says why."""
        try:
            self.pending.restore(self.log.pending())
            self.clean()
            self.become(rebuild(self.folder, self.log, self.create, tell=tell))
        except (Damaged, OSError, sqlite3.Error) as error:
            self.broken = str(error)

    def become(self, built: Built) -> None:
        """Take over a rebuilt model."""
        self.generation += 1
        self.model, self.monitor = built.model, built.monitor
        self.position = self.durable = built.position
        self.snapshot_at, self.since = built.snapshot, built.examples
        self.oldest = max(0, self.log.begin - 1)
        self.logged = self.log.examples
        self.room = Room(self.limits)
        self.room.note(self.model)
        rule = getattr(self.model, "rule", None)
        full = getattr(rule, "covariance", None) == "full"
        self.slow = type(self.model).__name__ == "KernelPerceptron" or full
        self.broken = None

    def clean(self) -> None:
        """Delete snapshots that the log does not know: the server was stopped before it noted them."""
        known = {file for _, file, _ in self.log.snapshots()}
        for path in self.folder.glob("snapshot-*"):
            if path.name not in known:
                path.unlink(missing_ok=True)

    # -- after a commit ----------------------------------------------------------------------------------------

    def committed(self, group: Group, bits: bytearray | Bits) -> None:
        """Count what is in the log now."""
        if not len(bits):
            return
        self.durable = group.last
        self.logged += len(bits)
        self.since += len(bits)
        before = self.monitor.n_drifts
        self.monitor.add(bits, self.durable)
        if self.monitor.n_drifts > before:
            self.tell("drift", {"name": self.name, "position": self.durable, "rate": self.monitor.adapted_rate})
        if self.since >= self.create.snapshot_every:
            self.since = 0
            self.spawn(self._snapshot())

    async def restore(self, batches: list[Batch], error: Exception) -> None:
        """After a commit that failed: rebuild the model from the log, and refuse all requests that are not in it."""
        self.broken = "its log could not be written, and the model is being restored. Try again"
        self.restored += 1
        self.generation += 1
        self.failed = True
        if self.open is not None:
            batches, self.open = [*batches, self.open], None
        self.in_flight = {}
        refused = could_not_write(error)
        try:
            await self.run(self.log.checkpoint)  # on a full disk, this lets the write-ahead file begin again
            built = await self.run(rebuild, self.folder, self.log, self.create)
            if built.position < self.durable:
                raise Damaged(f"its log ends at position {built.position}, but {self.durable} was acknowledged")
            waiting = await self.run(self.log.pending)
            self.become(built)
            self.pending = Pending(self.limits)
            self.pending.restore(waiting)
        except Exception as trouble:
            self.broken = f"its log could not be written, and then not be read: {trouble}"
        for batch in batches:
            batch.settle(refused)

    # -- what it tells ----------------------------------------------------------------------------------------

    @property
    def counts(self) -> tuple[int, int, int]:
        """Examples, mistakes and steps of the model."""
        return counts(self.model)

    @property
    def n_features(self) -> int:
        """Number of features of the model."""
        return 0 if self.model is None else int(self.model.__dict__.get("n_features_in_", 0))

    def state(self) -> State:
        """The model as it is."""
        seen, mistakes, updates = self.counts
        monitor = self.monitor
        return State(
            name=self.name,
            estimator=self.create.estimator,
            params=self.create.params,
            n_seen=seen,
            n_mistakes=mistakes,
            n_updates=updates,
            n_features=self.n_features,
            classes=classes_of(self.model),
            position=self.position,
            durable=self.durable,
            snapshot=self.snapshot_at,
            oldest=self.oldest,
            examples_logged=self.logged,
            window=Window(self.create.window, monitor.recent_seen, monitor.recent, monitor.rate),
            drift=Drift(monitor.n_drifts, monitor.drift_at, monitor.adapted_rate, monitor.adapted_seen),
            pending=len(self.pending),
            queue=self.queue,
            snapshot_every=self.create.snapshot_every,
            keep=self.create.keep,
            broken=self.broken,
        )

    # -- snapshots, rollback, the end -------------------------------------------------------------------------

    async def snapshot(self) -> int:
        """Write a snapshot of the model as it is in the log; returns its position. Requests wait only for a copy."""
        from perceptrons.store import save

        async with self.alone():
            self.check_open()
            position, facts, rollbacks = self.durable, {"monitor": self.monitor.state()}, self.rollbacks
            if position == self.snapshot_at or "_learner" not in self.model.__dict__:
                return self.snapshot_at
            model = await self.run(copied, self.model)
        file = f"snapshot-{position:012d}-{secrets.token_hex(4)}.perceptron"
        try:
            await self.run(save, model, self.folder / file)
            async with self.alone():
                if rollbacks == self.rollbacks:  # otherwise it is a snapshot of what was undone
                    await self.run(self.log.note_snapshot, position, file, facts)
                    self.snapshot_at = position
                    await self._trim()
                    file = ""
        except (OSError, sqlite3.Error, ValueError) as error:
            raise could_not_write(error, "no snapshot was written") from None
        finally:
            if file:
                with suppress(OSError):
                    (self.folder / file).unlink()
        return self.snapshot_at

    async def _snapshot(self) -> None:
        """Write a snapshot that nobody asked for; trouble is told, and the next one will be tried."""
        try:
            await self.snapshot()
        except Refused as refused:
            self.tell("trouble", {"name": self.name, "what": refused.message})

    async def _trim(self) -> None:
        """Delete old parts of the log, as the owner of the model has chosen."""
        if self.create.keep is None:
            return
        enough = [at for at, _, _ in self.log.snapshots(self.durable - self.create.keep)]
        if enough:
            for file in await self.run(self.log.trim, enough[0]):
                (self.folder / file).unlink(missing_ok=True)
            self.oldest = enough[0]
            self.logged = self.log.examples

    async def rollback(self, position: int, key: Key | None) -> None:
        """Go back to a position. What came after it stays in the log, marked as undone.

        With the key of an earlier rollback, nothing changes: a late repetition must not undo what came after it.
        """
        async with self.alone():
            if key is not None and await self.first_answer(key) is not None:
                return
            self.check_position(position)
            kept = None if key is None else (key.text, key.digest, position, 200, b"")
            try:
                built = await self.run(rebuild, self.folder, self.log, self.create, position)
                files = await self.run(self.log.undo, position, kept)
            except Damaged as error:
                raise Refused(409, str(error)) from None
            except (sqlite3.Error, OSError) as error:
                raise could_not_write(error) from None
            self.rollbacks += 1
            self.become(built)
            for file in files:
                (self.folder / file).unlink(missing_ok=True)

    def check_position(self, position: int) -> None:
        """Refuse a position that cannot be restored."""
        last = max(self.durable, self.log.last)
        if not self.oldest <= position <= last:
            raise Refused(422, f"position must lie between {self.oldest} and {last}, got {position}")

    async def at(self, position: int) -> Any:
        """The model as it was at a position; this one stays as it is."""
        self.check_position(position)
        try:
            return (await self.read(rebuild, self.folder, self.log, self.create, position)).model
        except Damaged as error:
            raise Refused(409, str(error)) from None

    async def close(self, *, snapshot: bool = True) -> None:
        """Finish what was accepted, and close the log."""
        while self.tasks:
            await asyncio.gather(*self.tasks, return_exceptions=True)
        if snapshot and self.broken is None and self.since:
            await self._snapshot()
        async with self.alone():
            self.broken = "the server is stopping"
            await self.run(self.log.close)


def classes_of(model: Any) -> list[Any] | None:
    """The classes that a model knows; None in regression."""
    if not isinstance(model, ClassifierMixin):
        return None
    found: list[Any] = model.classes_.tolist() if hasattr(model, "classes_") else []
    return found


def counts(model: Any) -> tuple[int, int, int]:
    """Examples, mistakes and steps of a model."""
    learner = None if model is None else model.__dict__.get("_learner")
    if learner is None:
        return 0, 0, 0
    return int(learner.totals.seen), int(learner.totals.mistakes), int(learner.totals.updates)
