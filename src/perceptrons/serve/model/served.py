"""A served model: what requests do to it, and how they get into its log.

Everything here runs in the thread of the event loop, except what is handed to the pool. A request is learned in memory
at once; then it waits, together with all others that came meanwhile, for one commit of the log. If the commit fails, the
model is rebuilt from the log, and all of them are refused.

Work that takes longer (large bodies, rollbacks, snapshots) has the model for itself: see `alone`.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.base import ClassifierMixin

from perceptrons.serve.model.bulk import Bits, Part, body_parts, learn_parts
from perceptrons.serve.errors import Damaged, Refused
from perceptrons.serve.limits import Limits
from perceptrons.serve.model.log import CHECKPOINT, Group, Log, Row
from perceptrons.serve.messages import (
    Create,
    Drift,
    Learned,
    ManyPredictedLearned,
    PredictedLearned,
    State,
    Window,
    encode,
    json,
)
from perceptrons.serve.model.monitor import Monitor
from perceptrons.serve.model.pending import Pending
from perceptrons.serve.model.rebuild import Built, copied, rebuild

Answer = Learned | PredictedLearned | ManyPredictedLearned


class Key(NamedTuple):
    """An `Idempotency-Key`, and a digest of the request that it came with."""

    text: str
    digest: bytes


class Accepted(NamedTuple):
    """What a request did: the line for the log, a bit for each example, and the answer, still without its position."""

    line: bytes
    bits: Any
    answer: Answer
    labelled: str | None = None


class Batch:
    """Requests that wait for the same commit."""

    def __init__(self) -> None:
        self.group = Group()
        self.bits = bytearray()
        self.waiters: list[Callable[[Refused | None], None]] = []  # called when it is committed, or with an error
        self.keys: list[str] = []

    def settle(self, error: Refused | None = None) -> None:
        """Let all requests go on, or refuse them."""
        for waiter in self.waiters:
            waiter(error)


class Served:
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
    pool : Executor
        Runs what would block the event loop.
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
        tell: Callable[[str, dict[str, Any]], None],
    ) -> None:
        self.name, self.folder, self.log, self.limits, self.pool, self.tell = name, folder, log, limits, pool, tell
        self.create: Create = json.decode(json.encode(log.meta("settings")), type=Create)
        self.model: Any = None
        self.monitor = Monitor(self.create.window, self.create.delta)
        self.pending = Pending(limits)
        self.labels: set[Any] = set()
        self.position = self.durable = 0  # of the last request that was learned, and of the last in the log
        self.snapshot_at = self.oldest = 0  # positions: of the newest snapshot, and the first that can be restored
        self.since = 0  # examples since the newest snapshot
        self.logged = 0  # examples in the log
        self.broken: str | None = "it has not been loaded"
        self.slow = False  # whether one example takes so long that a thread must do it
        self.queue = 0
        self.restored = 0  # how often a failed commit made it necessary to rebuild the model
        self.open: Batch | None = None
        self.writing = False
        self.exclusive = False
        self.idle, self.free, self.turn = asyncio.Event(), asyncio.Event(), asyncio.Lock()
        self.in_flight: dict[str, tuple[bytes, Batch, bytes]] = {}
        self.tasks: set[asyncio.Task[None]] = set()

    # -- loading ----------------------------------------------------------------------------------------------

    def load(self, tell: Callable[[int], None] | None = None) -> None:
        """Rebuild the model from its folder; if that fails, `broken` says why."""
        try:
            self.become(rebuild(self.folder, self.log, self.create, tell=tell))
            self.pending.restore(self.log.pending())
            self.clean()
        except (Damaged, OSError, sqlite3.Error) as error:
            self.broken = str(error)

    def become(self, built: Built) -> None:
        """Take over a rebuilt model."""
        self.model, self.monitor = built.model, built.monitor
        self.position = self.durable = built.position
        self.snapshot_at, self.since = built.snapshot, built.examples
        self.oldest = max(0, self.log.begin - 1)
        self.logged = self.log.examples
        self.labels = set(getattr(self.model, "classes_", ())) and set(self.model.classes_.tolist())
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

    # -- requests that learn ----------------------------------------------------------------------------------

    async def accept(self, key: Key | None, act: Callable[[], Accepted]) -> bytes:
        """Let `act` learn, and return its answer once it is in the log.

        `act` raises an error, and has changed nothing, if the request is refused.
        """
        self.check_queue()
        if key is not None and (first := await self.first_answer(key)) is not None:
            return first
        self.queue += 1
        try:
            if self.exclusive:
                await self._wait()
            self.check_open()
            if key is not None and key.text in self.in_flight:  # it came while this one waited
                return await self.again(key)
            if self.slow:
                async with self.turn:
                    accepted = await self.run(act)
                    batch, answer = self.enlist(accepted, key)
            else:
                batch, answer = self.enlist(act(), key)
            await self.durably(batch)
            return answer
        finally:
            self.queue -= 1

    def enlist(self, accepted: Accepted, key: Key | None) -> tuple[Batch, bytes]:
        """Give a request that has been learned its position, and put it into the next group."""
        line, bits, answer, labelled = accepted
        self.position += 1
        answer.position = self.position
        batch = self.batch()
        group = batch.group
        if not group.lines:
            group.first = self.position
        group.lines.append(line.replace(b"\n", b" ") if b"\n" in line else line)
        group.examples += len(bits)
        batch.bits += bits
        encoded = encode(answer)
        if labelled is not None:
            group.labelled.append((labelled,))
        if key is not None:
            group.answers.append((key.text, key.digest, self.position, 200, encoded))
            self.in_flight[key.text] = key.digest, batch, encoded
            batch.keys.append(key.text)
        return batch, encoded

    def batch(self) -> Batch:
        """The requests that the next commit serves."""
        if self.open is None:
            self.open = Batch()
            if not self.writing:
                self.writing = True
                self.spawn(self._write())
        return self.open

    async def durably(self, batch: Batch) -> None:
        """Wait until a batch is in the log."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def done(error: Refused | None) -> None:
            if waiter.done():  # its client has gone
                return
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(error)

        batch.waiters.append(done)
        await waiter

    async def _write(self) -> None:
        """Commit one batch after another as long as there are some."""
        try:
            while self.open is not None:
                batch, self.open = self.open, None
                try:
                    await self.run(self.log.append, batch.group)
                except Exception as error:
                    await self._restore([batch], error)
                    continue
                self._committed(batch.group, batch.bits)
                for key in batch.keys:
                    del self.in_flight[key]
                batch.settle()
                if self.log.ahead >= CHECKPOINT:
                    await self.run(self.log.checkpoint)
        finally:
            self.writing = False
            self.idle.set()

    def _committed(self, group: Group, bits: bytearray | Bits) -> None:
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
            self.spawn(self.snapshot())

    async def _restore(self, batches: list[Batch], error: Exception) -> None:
        """After a commit that failed: rebuild the model from the log, and refuse all requests that are not in it."""
        self.broken = "its log could not be written, and the model is being restored. Try again"
        self.restored += 1
        if self.open is not None:
            batches, self.open = [*batches, self.open], None
        self.in_flight = {}
        refused = could_not_write(error)
        try:
            self.become(await self.run(rebuild, self.folder, self.log, self.create))
            self.pending = Pending(self.limits)
            self.pending.restore(await self.run(self.log.pending))
        except (Damaged, OSError, sqlite3.Error) as trouble:
            self.broken = f"its log could not be written, and then not be read: {trouble}"
        for batch in batches:
            batch.settle(refused)

    # -- large bodies -----------------------------------------------------------------------------------------

    async def learn_body(
        self, kind: str, settings: dict[str, Any], body: bytes, key: Key | None, *, tells: bool
    ) -> bytes:
        """Learn from a body in one of `FORMATS`, all or nothing; tells: whether to answer what was predicted."""
        self.check_queue()
        if key is not None and (first := await self.first_answer(key)) is not None:
            return first
        self.queue += 1
        try:
            async with self.alone():
                self.check_open()
                if key is not None and (first := await self.first_answer(key)) is not None:
                    return first
                return await self._learn_body(kind, settings, body, key, tells)
        finally:
            self.queue -= 1

    async def _learn_body(
        self, kind: str, settings: dict[str, Any], body: bytes, key: Key | None, tells: bool
    ) -> bytes:
        text = encode(settings).decode()
        before = self.model
        staged, learned = await asyncio.gather(
            self.run(self.log.stage, kind, text, memoryview(body)),
            self.run(self._learn, kind, settings, body),
            return_exceptions=True,
        )
        try:
            for found in (learned, staged):
                if isinstance(found, BaseException):
                    raise found
            mistakes, bits, guesses = learned
            position = self.position + 1
            answer: Answer = Learned(position, len(bits), mistakes)
            if tells:
                answer = ManyPredictedLearned(guesses, int(bits.sum()), position)
            encoded = encode(answer)
            group = Group(large=Row(position, position, len(bits), kind, text, b""), entry=staged)
            if key is not None:
                group.answers.append((key.text, key.digest, position, 200, encoded))
            await self.run(self.log.append, group)
        except BaseException as error:
            await self.run(self.log.cancel)
            if isinstance(error, Unchanged):
                raise Refused(422, str(error)) from None
            await self._restore([], error if isinstance(error, Exception) else RuntimeError())
            if isinstance(error, ValueError | TypeError):
                raise Refused(422, str(error)) from None
            if isinstance(error, sqlite3.Error | OSError):
                raise could_not_write(error) from None
            raise
        assert self.model is before
        self.position = position
        self._committed(group, bits)
        self.spawn(self._checkpoint())
        return encoded

    def _learn(self, kind: str, settings: dict[str, Any], body: bytes) -> tuple[int, Bits, list[Any]]:
        """Learn from a body, in a thread; returns mistakes as the model counts them, bits, and guesses."""
        try:
            parts = body_parts(self.model, kind, body, settings)
            self.check_parts(parts)
        except (ValueError, TypeError) as error:
            raise Unchanged(str(error)) from None
        seen, mistakes = counts(self.model)
        try:
            bits, guesses = learn_parts(self.model, parts, self.create.classes)
        except (ValueError, TypeError) as error:
            raise Unchanged(str(error)) if counts(self.model)[0] == seen else error from None
        self.labels |= set(getattr(self.model, "classes_", ())) and set(self.model.classes_.tolist())
        return counts(self.model)[1] - mistakes, bits, guesses

    async def _checkpoint(self) -> None:
        async with self.alone():
            await self.run(self.log.checkpoint)

    # -- what it tells ----------------------------------------------------------------------------------------

    @property
    def counts(self) -> tuple[int, int, int]:
        """Examples, mistakes and steps of the model."""
        learner = None if self.model is None else self.model.__dict__.get("_learner")
        if learner is None:
            return 0, 0, 0
        return int(learner.totals.seen), int(learner.totals.mistakes), int(learner.totals.updates)

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

    # -- limits -----------------------------------------------------------------------------------------------

    def check_open(self) -> None:
        """Refuse a request to a model that cannot be used."""
        if self.broken is not None:
            raise Refused(503, f"the model {self.name!r} cannot be used: {self.broken}", 1)

    def check_queue(self) -> None:
        """Refuse a request if too many wait."""
        if self.queue >= self.limits.queue:
            raise Refused(429, f"{self.queue:,} requests to the model {self.name!r} wait already: try again soon", 1)

    def check_room(self, x: Any, y: Any) -> None:
        """Refuse an example that would make the model larger than the limits."""
        known, limits = self.model.__dict__, self.limits
        n_classes = len(self.labels)
        if y not in self.labels and isinstance(self.model, ClassifierMixin):
            n_classes += 1
            if n_classes > limits.classes:
                raise Refused(422, f"the label {y!r:.80} would be class {n_classes:,}: the limit is {limits.classes:,}")
        width = known.get("n_features_in_", 0)
        if type(x) is dict:
            if width + len(x) > limits.features:
                width += len(self._new_names(x))
        elif type(x) is tuple:
            width = max(width, int(x[0].max()) + 1 if x[0].size and x[0].dtype.kind in "iu" else 0)
        else:
            width = max(width, len(x))
        self.check_width(width, n_classes)

    def check_width(self, width: int, n_classes: int) -> None:
        """Refuse a number of features that is too large."""
        most = min(self.limits.features, self.limits.weights // max(1, n_classes))
        if width > most:
            classes = f" with {n_classes:,} classes" if most < self.limits.features else ""
            raise Refused(422, f"the model would have {width:,} features: the limit is {most:,}{classes}")

    def check_parts(self, parts: list[Part]) -> None:
        """Refuse examples that would make the model larger than the limits."""
        new, labels = set[str](), set(self.labels)
        width = self.model.__dict__.get("n_features_in_", 0)
        known = self._names()
        for part in parts:
            new |= part.new_names(known)
            width = max(width, part.width or 0)
            if isinstance(self.model, ClassifierMixin) and part.y is not None:
                labels |= set(part.y if isinstance(part.y, list) else part.y.tolist())
        if len(labels) > self.limits.classes:
            raise ValueError(f"the model would have {len(labels):,} classes: the limit is {self.limits.classes:,}")
        try:
            self.check_width(width + len(new), len(labels))
        except Refused as error:
            raise ValueError(error.message) from None

    def _names(self) -> dict[Any, int]:
        from perceptrons.models.examples import names_of

        try:
            return names_of(self.model).numbers
        except ValueError:  # the model has features without names
            return {}

    def _new_names(self, x: dict[str, Any]) -> set[str]:
        found = {f"{key}={value}" if type(value) is str else key for key, value in x.items()}
        return found - self._names().keys()

    # -- exactly once -----------------------------------------------------------------------------------------

    async def first_answer(self, key: Key) -> bytes | None:
        """The first answer to a request with this key, if there was one."""
        if key.text in self.in_flight:
            return await self.again(key)
        kept = self.log.answer(key.text)
        if kept is None:
            return None
        self._compare(key, kept.digest)
        return kept.answer

    async def again(self, key: Key) -> bytes:
        """The answer of a request with the same key that waits for its commit."""
        digest, batch, answer = self.in_flight[key.text]
        self._compare(key, digest)
        await self.durably(batch)
        return answer

    def _compare(self, key: Key, digest: bytes) -> None:
        if digest != key.digest:
            raise Refused(
                409, f"the Idempotency-Key {key.text!r:.80} came with another request before: use a new key for this one"
            )

    # -- the model for itself ---------------------------------------------------------------------------------

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Have the model for itself: what was learned is in the log, and requests that learn wait."""
        async with self.turn:
            self.exclusive = True
            self.free.clear()
            try:
                while self.writing:
                    self.idle.clear()
                    await self.idle.wait()
                yield
            finally:
                self.exclusive = False
                self.free.set()

    async def _wait(self) -> None:
        while self.exclusive:
            await self.free.wait()

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, function, *args)

    def spawn(self, work: Any) -> None:
        """Start work that goes on by itself."""
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def snapshot(self) -> int:
        """Write a snapshot of the model as it is in the log; returns its position. Requests wait only for a copy."""
        from perceptrons.store import save

        async with self.alone():
            self.check_open()
            position, facts = self.durable, {"monitor": self.monitor.state()}
            if position == self.snapshot_at or "_learner" not in self.model.__dict__:
                return self.snapshot_at
            model = await self.run(copied, self.model)
        file = f"snapshot-{position:012d}.perceptron"
        try:
            await self.run(save, model, self.folder / file)
            async with self.alone():
                if position > self.durable:  # it was rolled back meanwhile
                    raise OSError("the model was rolled back")
                await self.run(self.log.note_snapshot, position, file, facts)
                self.snapshot_at = position
                await self._trim()
        except (OSError, sqlite3.Error, ValueError) as error:
            with suppress(OSError):
                (self.folder / file).unlink()
            self.tell("trouble", {"name": self.name, "what": f"no snapshot was written: {error}"})
        return self.snapshot_at

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

    async def rollback(self, position: int) -> None:
        """Go back to a position. What came after it stays in the log, marked as undone."""
        async with self.alone():
            self.check_position(position)
            try:
                built = await self.run(rebuild, self.folder, self.log, self.create, position)
                files = await self.run(self.log.undo, position)
            except Damaged as error:
                raise Refused(409, str(error)) from None
            except (sqlite3.Error, OSError) as error:
                raise could_not_write(error) from None
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
            return (await self.run(rebuild, self.folder, self.log, self.create, position)).model
        except Damaged as error:
            raise Refused(409, str(error)) from None

    async def close(self, *, snapshot: bool = True) -> None:
        """Finish what was accepted, and close the log."""
        while self.tasks:
            await asyncio.gather(*self.tasks, return_exceptions=True)
        if snapshot and self.broken is None and self.since:
            await self.snapshot()
        async with self.alone():
            self.broken = "the server is stopping"
            await self.run(self.log.close)


def classes_of(model: Any) -> list[Any] | None:
    """The classes that a model knows; None in regression."""
    if not isinstance(model, ClassifierMixin):
        return None
    found: list[Any] = model.classes_.tolist() if hasattr(model, "classes_") else []
    return found


class Unchanged(Exception):
    """A body was refused before any example was learned."""


def counts(model: Any) -> tuple[int, int]:
    """Examples and mistakes of a model."""
    learner = model.__dict__.get("_learner")
    return (0, 0) if learner is None else (int(learner.totals.seen), int(learner.totals.mistakes))


def could_not_write(error: Exception) -> Refused:
    """What a client is told if the log could not be written."""
    full = "full" in str(error)
    return Refused(
        507 if full else 503,
        f"it was not learned, because the log could not be written: {error}. "
        + ("Make room on the disk, then send it again" if full else "Send it again later")
        + "; with the same Idempotency-Key, it is learned only once",
        None if full else 1,
    )
