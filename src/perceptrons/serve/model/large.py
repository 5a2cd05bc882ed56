"""Large bodies: one request with many examples, learned in a thread, all or nothing."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

from perceptrons.serve.errors import Refused
from perceptrons.serve.messages import Learned, ManyPredictedLearned, encode
from perceptrons.serve.model.bulk import Bits, body_parts, learn_parts
from perceptrons.serve.model.commits import RESTORING, Answer, Key, could_not_write
from perceptrons.serve.model.records import Group, Row
from perceptrons.serve.model.served import Served, counts


class Unchanged(Exception):
    """A body was refused before any example was learned."""


async def learn_body(
    served: Served, kind: str, settings: dict[str, Any], body: bytes, key: Key | None, *, tells: bool
) -> bytes:
    """Learn from a body in one of `FORMATS`, all or nothing; tells: whether to answer what was predicted."""
    served.check_open()
    served.check_queue()
    served.queue += 1
    try:
        await served.enter()
        async with served.alone():
            served.check_open()
            if key is not None and (first := await served.first_answer(key)) is not None:
                return first
            return await _learn_body(served, kind, settings, body, key, tells)
    finally:
        served.queue -= 1


async def _learn_body(
    served: Served, kind: str, settings: dict[str, Any], body: bytes, key: Key | None, tells: bool
) -> bytes:
    """Learn from a body and write it into the log, side by side; commit if both are done."""
    text = encode(settings).decode()
    results: Any = await asyncio.gather(
        served.run(_learn, served, kind, settings, body),
        served.run(served.log.stage, kind, text, memoryview(body)),
        return_exceptions=True,
    )
    try:
        for found in results:
            if isinstance(found, BaseException):
                raise found
        (mistakes, bits, guesses), (entry, crc) = results
        position = served.position + 1
        answer: Answer = Learned(position, len(bits), mistakes)
        if tells:
            answer = ManyPredictedLearned(guesses, int(bits.sum()), position)
        encoded = encode(answer)
        group = Group(large=Row(position, position, len(bits), kind, text, b""), entry=entry, crc=crc)
        if key is not None:
            group.answers.append((key.text, key.digest, position, 200, encoded))
        await served.run(served.log.append, group)
    except Unchanged as error:
        await served.run(served.log.cancel)
        raise Refused(422, str(error)) from None
    except asyncio.CancelledError:  # the server stops, and a thread may still learn
        served.broken = "the server stopped in the middle of a large request"
        raise
    except Exception as error:
        await served.run(served.log.cancel)
        if isinstance(error, sqlite3.Error | OSError):
            await served.not_written([], error)
            raise could_not_write(error) from None
        served.broken = RESTORING
        await served.rebuilt(served.durable)
        if isinstance(error, ValueError | TypeError):
            raise Refused(422, str(error)) from None
        raise
    served.position = position
    served.committed(group, bits)
    served.spawn(_checkpoint(served))
    return encoded


def _learn(served: Served, kind: str, settings: dict[str, Any], body: bytes) -> tuple[int, Bits, list[Any]]:
    """Learn from a body, in a thread; returns mistakes as the model counts them, bits, and guesses."""
    model = served.model
    try:
        parts = body_parts(model, kind, body, settings)
        served.room.check_parts(model, parts)
    except (ValueError, TypeError) as error:
        raise Unchanged(str(error)) from None
    except Refused as refused:
        raise Unchanged(refused.message) from None
    seen, mistakes, _ = counts(model)
    try:
        bits, guesses = learn_parts(model, parts, served.create.classes)
    except (ValueError, TypeError) as error:
        if counts(model)[0] == seen:
            raise Unchanged(str(error)) from None
        raise
    served.room.note(model)
    return counts(model)[1] - mistakes, bits, guesses


async def _checkpoint(served: Served) -> None:
    async with served.alone():
        await served.run(served.log.checkpoint)
