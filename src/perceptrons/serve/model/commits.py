"""Commits: requests that learn wait together for one fsync, and each key is answered once.

Everything here runs in the thread of the event loop, except what is handed to the pool. A request is learned in memory
at once; then it waits, with all others that came meanwhile, for one commit of the log. If the commit fails, the model
is rebuilt from the log, and all of them are refused.

Work that takes longer (large bodies, rollbacks, snapshots) has the model for itself: see `alone`.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from perceptrons.serve.errors import Refused
from perceptrons.serve.limits import Limits
from perceptrons.serve.messages import Learned, ManyPredictedLearned, PredictedLearned, encode
from perceptrons.serve.model.bulk import Bits
from perceptrons.serve.model.log import CHECKPOINT, Log
from perceptrons.serve.model.records import Group

logger = logging.getLogger("perceptrons.serve")
FILES = 16  # that a model which is made or changed may have open at the same time, and some
RESTORING = "it is being restored from its log. Try again"
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
        """Let all requests go on, or refuse them; trouble with one of them is no trouble of the others."""
        for waiter in self.waiters:
            try:
                waiter(error)
            except Exception:
                logger.exception("an answer could not be sent")


class Commits(ABC):
    """How requests get into the log of a model.

    Parameters
    ----------
    name : str
        Of the model.
    log : Log
        Its log.
    limits : Limits
        Of the server.
    pool, readers : Executor
        Run what would block the event loop: commits and learning, and what only reads.
    """

    def __init__(self, name: str, log: Log, limits: Limits, pool: Executor, readers: Executor) -> None:
        self.name, self.log, self.limits, self.pool, self.readers = name, log, limits, pool, readers
        self.position = self.durable = 0  # of the last request that was learned, and of the last in the log
        self.broken: str | None = "it has not been loaded"
        self.failed = False  # whether the last commit failed
        self.commits_failed = 0
        self.generation = 0  # how often another model has taken the place of the model
        self.slow = False  # whether one example takes so long that a thread must do it
        self.queue = 0
        self.open: Batch | None = None
        self.writing = False
        self.exclusive = False
        self.idle, self.free, self.turn = asyncio.Event(), asyncio.Event(), asyncio.Lock()
        self.in_flight: dict[str, tuple[bytes, Batch, bytes]] = {}
        self.tasks: set[asyncio.Task[Any]] = set()

    @abstractmethod
    def committed(self, group: Group, bits: bytearray | Bits) -> None:
        """Count what is in the log now."""

    @abstractmethod
    async def rebuilt(self, durable: int) -> None:
        """Rebuild the model from its log, which must reach a position."""

    def check_open(self) -> None:
        """Refuse a request to a model that cannot be used."""
        if self.broken is not None:
            raise Refused(503, f"the model {self.name!r} cannot be used: {self.broken}", 1)

    def check_queue(self) -> None:
        """Refuse a request if too many wait."""
        if self.queue >= self.limits.queue:
            raise Refused(429, f"{self.queue:,} requests to the model {self.name!r} wait already: try again soon", 1)

    # -- requests that learn ----------------------------------------------------------------------------------

    async def accept(self, key: Key | None, act: Callable[[], Accepted]) -> bytes:
        """Let `act` learn, and return its answer once it is in the log.

        `act` raises `Refused`, and has changed nothing, if the request is refused. Any other error is a fault in the
        middle of learning: the model is restored from its log.
        """
        self.check_open()
        self.check_queue()
        self.queue += 1
        try:
            await self.enter()
            if key is not None and (first := await self.first_answer(key)) is not None:
                return first
            if self.slow:
                async with self.turn:
                    self.check_open()
                    if key is not None and (first := await self.first_answer(key)) is not None:
                        return first
                    generation = self.generation
                    try:
                        accepted = await self.run(act)
                    except Refused:
                        raise
                    except Exception as error:
                        raise self.fault(error) from None
                    if generation != self.generation:  # a commit failed meanwhile: what was learned is gone
                        raise Refused(503, "it was not learned, because the log could not be written. Send it again", 1)
                    batch, answer = self.learn_now(lambda: accepted, key)
            else:
                batch, answer = self.learn_now(act, key)
            await self.durably(batch)
            return answer
        finally:
            self.queue -= 1

    def learn_now(self, act: Callable[[], Accepted], key: Key | None) -> tuple[Batch, bytes]:
        """Let `act` learn, as `accept` says, and put the request into the next group."""
        try:
            return self._enlist(act(), key)
        except Refused:
            raise
        except Exception as error:
            raise self.fault(error) from None

    def fault(self, error: Exception) -> Refused:
        """After an error in the middle of learning: keep requests out, and restore the model from its log."""
        logger.error("model %s: an error in the middle of learning", self.name, exc_info=error)
        self.broken = RESTORING
        self.spawn(self._restore())
        if isinstance(error, ValueError | TypeError):
            return Refused(422, str(error))
        return Refused(500, "a fault of the server, whose log says more. Nothing was learned")

    async def _restore(self) -> None:
        async with self.alone():
            await self.rebuilt(self.durable)

    async def not_written(self, batches: list[Batch], error: Exception) -> None:
        """After a commit that failed: restore the model from its log, and refuse all requests that are not in it."""
        self.broken = RESTORING
        self.commits_failed += 1
        self.failed = True
        if self.open is not None:
            batches, self.open = [*batches, self.open], None
        await self.run(self.log.checkpoint)  # on a full disk, this lets the write-ahead file begin again
        await self.rebuilt(self.durable)
        refused = could_not_write(error)
        for batch in batches:
            batch.settle(refused)

    def _enlist(self, accepted: Accepted, key: Key | None) -> tuple[Batch, bytes]:
        """Give a request that has been learned its position, and put it into the next group."""
        line, bits, answer, labelled = accepted
        answer.position = self.position + 1
        encoded = encode(answer)
        self.position += 1
        batch = self.batch()
        group = batch.group
        if not group.lines:
            group.first = self.position
        group.lines.append(line.replace(b"\n", b" ") if b"\n" in line else line)
        group.examples += len(bits)
        batch.bits += bits
        if labelled is not None:
            group.pending.append(labelled)
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
                    self.committed(batch.group, batch.bits)
                except Exception as error:
                    await self.not_written([batch], error)
                    continue
                for key in batch.keys:
                    self.in_flight.pop(key, None)
                batch.settle()
                if self.log.ahead >= CHECKPOINT:
                    await self.run(self.log.checkpoint)
        finally:
            self.writing = False
            self.idle.set()

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
                409,
                f"the Idempotency-Key {key.text!r:.80} came with another request before: use a new key for this one",
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

    async def enter(self) -> None:
        """Wait until the model is free; refuse if it cannot be used."""
        while self.exclusive:
            await self.free.wait()
        self.check_open()
        if self.failed:
            await self._try_again()
            await self.enter()

    async def _try_again(self) -> None:
        """After a commit that failed: look whether the disk takes something, before anything is learned in vain."""
        async with self.alone():
            if self.failed:
                try:
                    await self.run(self.log.probe)
                except Exception as error:
                    raise could_not_write(error) from None
                self.failed = False

    async def read(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function that only reads, in a thread that no commit waits for."""
        return await asyncio.get_running_loop().run_in_executor(self.readers, function, *args)

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, function, *args)

    def spawn(self, work: Any) -> None:
        """Start work that goes on by itself."""
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


def could_not_write(error: Exception, what: str = "it was not learned") -> Refused:
    """What a client is told if the disk could not be written."""
    if getattr(error, "errno", None) in (errno.EMFILE, errno.ENFILE) or not _can_open():
        return Refused(503, f"{what}, because the server has too many open files: raise its limit (ulimit -n)", 1)
    full = "full" in str(error) or getattr(error, "errno", None) == errno.ENOSPC
    return Refused(
        507 if full else 503,
        f"{what}, because the disk could not be written: {error}. "
        + ("Make room on the disk, then send the request again" if full else "Send the request again later"),
        None if full else 1,
    )


def _can_open() -> bool:
    """Whether this process may open as many files as a log needs: SQLite does not say why it could not."""
    opened: list[int] = []
    try:
        while len(opened) < FILES:
            opened.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return False
    finally:
        for handle in opened:
            os.close(handle)
    return True
