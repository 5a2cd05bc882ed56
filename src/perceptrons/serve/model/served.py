"""A served model: its learner, its monitor, snapshots and rollback. How requests get into its log is in `commits`."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import convert
from sklearn.base import ClassifierMixin

from perceptrons.serve.errors import Damaged, Refused
from perceptrons.serve.limits import Limits
from perceptrons.serve.messages import Create, Drift, State, Window
from perceptrons.serve.model.bulk import Bits
from perceptrons.serve.model.commits import Commits, Key, could_not_write
from perceptrons.serve.model.log import Log
from perceptrons.serve.model.monitor import Monitor
from perceptrons.serve.model.pending import Pending
from perceptrons.serve.model.rebuild import Built, copied, rebuild, save_snapshot
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
        self.room = Room(limits, self.create.classes)
        self.snapshot_at = self.oldest = 0  # positions: of the newest snapshot, and the first that can be restored
        self.since = 0  # examples since the newest snapshot
        self.logged = 0  # examples in the log
        self.rollbacks = 0
        self.one_snapshot = asyncio.Lock()  # one is written at a time

    # -- loading ----------------------------------------------------------------------------------------------

    def load(self, tell: Callable[[int], None] | None = None) -> None:
        """Rebuild the model from its folder; if that fails, `broken` says why."""
        try:
            if self.log.lost is not None:
                raise Damaged(self.log.lost)
            self.become(rebuild(self.folder, self.log, self.create, tell=tell), self.log.pending())
            self.sweep()
            for path in self.folder.glob(".snapshot-*.tmp"):  # the server was stopped while it wrote this
                path.unlink()
        except Damaged as error:
            self.broken = str(error)
        except Exception as error:  # one model that cannot be loaded is no trouble of the others
            self.broken = f"{self.folder} cannot be read: {type(error).__name__}: {error}"

    def become(self, built: Built, waiting: list[tuple[str, bytes, Any, float]]) -> None:
        """Take over a rebuilt model, and the predictions that wait for labels. Reads no file, so it cannot fail."""
        self.generation += 1
        self.model, self.monitor = built.model, built.monitor
        self.position = self.durable = built.position
        self.snapshot_at, self.since = built.snapshot, built.examples
        self.oldest, self.logged = built.oldest, built.logged
        self.pending = Pending(self.limits)
        self.pending.restore(waiting)
        self.room = Room(self.limits, self.create.classes)
        self.room.note(self.model)
        rule = getattr(self.model, "rule", None)
        full = getattr(rule, "covariance", None) == "full"
        self.slow = type(self.model).__name__ == "KernelPerceptron" or full
        self.broken = None

    def sweep(self) -> None:
        """Delete snapshots that the log does not name. Nothing else deletes a snapshot."""
        with suppress(OSError, sqlite3.Error):
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

    async def rebuilt(self, durable: int) -> None:
        """Rebuild the model from its log: the one way back from anything that went wrong while it learned."""
        self.generation += 1
        self.in_flight = {}
        try:
            built = await self.run(rebuild, self.folder, self.log, self.create)
            if built.position < durable:
                raise Damaged(f"its log ends at position {built.position}, but {durable} was acknowledged")
            self.become(built, await self.run(self.log.pending))
        except Exception as trouble:
            self.broken = f"it could not be restored from its log: {trouble}"

    # -- what it tells ----------------------------------------------------------------------------------------

    @property
    def counts(self) -> tuple[int, int, int]:
        """Examples, mistakes and steps of the model."""
        return counts(self.model)

    @property
    def n_features(self) -> int:
        """Number of features of the model."""
        return 0 if self.model is None else int(self.model.__dict__.get("n_features_in_", 0))

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Refuse a request whose example the model does not take. An error after it has learned is not a refusal."""
        before = self.counts
        try:
            yield
        except (ValueError, TypeError, OverflowError) as error:
            if self.counts != before:
                raise
            raise Refused(422, str(error)) from None

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
        async with self.one_snapshot:
            async with self.alone():
                self.check_open()
                position, facts, rollbacks = self.durable, {"monitor": self.monitor.state()}, self.rollbacks
                if "_learner" not in self.model.__dict__ or (
                    position == self.snapshot_at and await self.run(self._has_snapshot, position)
                ):
                    return self.snapshot_at
                model = await self.run(copied, self.model)
            file = f"snapshot-{position:012d}-{secrets.token_hex(4)}.perceptron"
            try:
                await self.run(save_snapshot, model, self.folder / file)
                async with self.alone():
                    if rollbacks == self.rollbacks:  # otherwise it is a snapshot of what was undone
                        self.oldest, self.logged = await self.run(self._note, position, file, facts)
                        self.snapshot_at = position
            except (OSError, sqlite3.Error, ValueError, Damaged) as error:
                await self.run(self.sweep)  # not if it was cancelled: a thread may be noting the file just now
                raise could_not_write(error, "no snapshot was written") from None
            await self.run(self.sweep)
            return self.snapshot_at

    def _has_snapshot(self, position: int) -> bool:
        """Whether the snapshot of a position is there; position 0 needs none."""
        return position == 0 or any((self.folder / file).exists() for at, file, _ in self.log.snapshots(position)[:1])

    def _note(self, position: int, file: str, facts: dict[str, Any]) -> tuple[int, int]:
        """Note a snapshot that has been read back, and trim the log as the owner of the model has chosen.

        The log is trimmed only up to a snapshot that can be read now. Returns the first position that can be restored,
        and the examples in the log.
        """
        from perceptrons.store.estimators import load_rows as load

        self.log.note_snapshot(position, file, facts)
        if self.create.keep is not None:
            for at, found, _ in self.log.snapshots(self.durable - self.create.keep):
                if at < self.log.begin:  # it was trimmed up to there before
                    break
                with suppress(OSError, ValueError):
                    if at != position:
                        load(self.folder / found)
                    self.log.trim(at)
                    break
        return max(0, self.log.begin - 1), self.log.examples

    async def _snapshot(self) -> None:
        """Write a snapshot that nobody asked for; trouble is told, and the next one will be tried."""
        try:
            await self.snapshot()
        except Refused as refused:
            self.tell("trouble", {"name": self.name, "what": refused.message})

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
                waiting = await self.run(self.log.pending)
                await self.run(self.log.undo, position, kept)
            except Damaged as error:
                raise Refused(409, str(error)) from None
            except (sqlite3.Error, OSError) as error:
                raise could_not_write(error, "nothing was rolled back") from None
            self.rollbacks += 1
            self.become(built, waiting)
            with suppress(sqlite3.Error):
                self.logged = await self.run(lambda: self.log.examples)
            await self.run(self.sweep)

    def check_position(self, position: int) -> None:
        """Refuse a position that cannot be restored."""
        last = max(self.durable, self.log.last)
        if not self.oldest <= position <= last:
            raise Refused(422, f"position must lie between {self.oldest} and {last}, got {position}")

    def at(self, position: int) -> Any:
        """The model as it was at a position; this one stays as it is. Takes long: call it in a thread."""
        try:
            return rebuild(self.folder, self.log, self.create, position).model
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
