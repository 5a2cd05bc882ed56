"""Server-sent events: the state of all models once a second, and what happens in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from perceptrons.serve.errors import Refused
from perceptrons.serve.messages import encode

EVERY = 1.0  # seconds
MOST = 100  # listeners
WAITING = 100  # events that a listener may be behind


class Events:
    """Hands events to all who listen. `state`: makes the facts that are sent every second."""

    def __init__(self, state: Callable[[], dict[str, Any]]) -> None:
        self.state = state
        self.listeners: set[asyncio.Queue[bytes]] = set()
        self.stopping = asyncio.Event()

    def tell(self, event: str, facts: dict[str, Any]) -> None:
        """Send an event to all listeners; those that are too slow miss it."""
        text = formatted(event, facts)
        for queue in self.listeners:
            if not queue.full():
                queue.put_nowait(text)

    def listen(self) -> AsyncGenerator[bytes]:
        """Events as they come, until the server stops."""
        if len(self.listeners) >= MOST:
            raise Refused(429, f"{MOST} clients listen to events already", 10)
        return self._stream()

    async def _stream(self) -> AsyncGenerator[bytes]:
        clock = asyncio.get_running_loop().time
        queue: asyncio.Queue[bytes] = asyncio.Queue(WAITING)
        self.listeners.add(queue)  # not before: a stream that never begins has no end, either
        try:
            while not self.stopping.is_set():
                yield formatted("state", self.state())
                until = clock() + EVERY
                while clock() < until and not self.stopping.is_set():
                    try:
                        async with asyncio.timeout(min(max(0.0, until - clock()), 0.2)):
                            event = await queue.get()
                    except TimeoutError:
                        continue
                    yield event
        finally:
            self.listeners.discard(queue)


def formatted(event: str, facts: dict[str, Any]) -> bytes:
    """An event on the wire."""
    return b"event: " + event.encode() + b"\ndata: " + encode(facts) + b"\n\n"
