"""A short way for single examples: from the bytes of a connection to the model, and back.

An application of ASGI takes a task, two messages and a dozen calls for a request; predicting or learning takes a
microsecond. So the protocol itself answers requests with one example. What is unusual (a key, an id, a large body, a
model that is busy) goes the usual way, as if nothing had happened; both ways call the same functions.
"""

from __future__ import annotations

import asyncio
import time
from http import HTTPStatus
from typing import Any

import httptools
from msgspec import UNSET
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from perceptrons.serve.errors import Refused
from perceptrons.serve.web import verbs
from perceptrons.serve.web.app import Server, logger
from perceptrons.serve.web.http import JSON, Reply, failure

SLOWEST = 1 << 14  # bytes a second, on average, after the first seconds
LARGEST = 1 << 16  # bytes of a body that is answered here
HEAD, HEADERS = 1 << 16, 100  # the most bytes and lines of a head
PIECE = 1 << 12  # bytes that are parsed at once; requests behind them wait as bytes until those are answered
LARGE_HEAD = Refused(431, f"the head of a request may have {HEAD:,} bytes and {HEADERS} headers")
PREFIX = b"/v1/models/"
ROUTES = {"predict": "POST /v1/models/{name}/predict", "learn": "POST /v1/models/{name}/learn"}
GOOD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
BAD = b"HTTP/1.1 %d %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n%b\r\n%b"
KINDS = {JSON, b"application/x-www-form-urlencoded"}  # the second is what curl says
USUAL = {b"host", b"content-type", b"content-length", b"accept", b"user-agent", b"accept-encoding", b"authorization"}


class Turn:
    """Stands for a request that is answered here, where the usual way looks whether one is under way."""

    message_event = asyncio.Event()  # nobody waits for it

    def __init__(self) -> None:
        self.response_complete, self.disconnected, self.keep_alive, self.more_body = False, False, True, False


class Short(HttpToolsProtocol):
    """HTTP for the server. Closes connections that send nothing for a while, in the middle of a head, too."""

    patience = 30.0
    application: Server

    def connection_made(self, transport: Any) -> None:
        """Start the clock."""
        super().connection_made(transport)
        self.app = self._run
        self.is_refused = False
        self.ahead, self.running = bytearray(), None  # what is not parsed yet, and the request that is answered
        self.progress, self.silent = False, 0  # whether something was understood, and bytes since then
        self.held: bytearray | None = None  # the body of a request that may be answered here
        self.heard, self.listening = self.loop.time(), True
        self.begun, self.received = 0.0, 0  # when a request began to come, and how much of it has come
        self.unsent, self.stuck = 0, 0.0  # bytes that the client has not taken, and since when they are as many
        self.clock = self.loop.call_later(min(1.0, self.patience), self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock, and forget the requests that wait."""
        self.clock.cancel()
        if self.running is not None:
            self.running.disconnected = True
        self.pipeline.clear()
        self.ahead.clear()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Cut off a client that is silent, sends slower than `SLOWEST`, or does not take its answer."""
        now, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        if unsent == 0 or unsent != self.unsent:
            self.unsent, self.stuck = unsent, now
        if (now - self.stuck > self.patience and unsent) or (
            self.begun and now - self.begun > self.patience + self.received / SLOWEST
        ):
            self.transport.abort()
        elif self.listening and not self.begun and now - self.heard > self.patience:
            self.transport.close()
        self.clock = self.loop.call_later(min(1.0, self.patience), self._look)

    def data_received(self, data: bytes) -> None:
        """Read what came."""
        self.heard = self.loop.time()
        self.ahead += data
        self._go_on()

    def _go_on(self) -> None:
        """Parse what has come, up to the end of a request that is not answered yet."""
        while self.ahead and not self.is_refused and not self.transport.is_closing():
            if self.pipeline or (self.cycle and not self.cycle.response_complete and not self.cycle.more_body):
                self.flow.pause_reading()
                return
            part = bytes(self.ahead[:PIECE])
            del self.ahead[:PIECE]
            self._feed(part)

    def _feed(self, part: bytes) -> None:
        """Parse a part of a request. A head or a trailer that does not end is refused before it takes memory."""
        self.progress = False
        self.received += len(part)
        self.begun = self.begun or self.heard
        try:
            self.parser.feed_data(part)
        except httptools.HttpParserUpgrade as upgrade:
            self._without_upgrade(part[upgrade.args[0] :])
        except httptools.HttpParserError:
            self._refuse_connection(Refused(400, "this is not HTTP/1.1"))
        self.silent = len(part) if self.progress else self.silent + len(part)
        if self.silent > 2 * HEAD or len(self.headers) > HEADERS:
            self._refuse_connection(LARGE_HEAD)

    def _without_upgrade(self, rest: bytes) -> None:
        """Go on as if the client had not offered another protocol, as clients of HTTP/2 do: it may be ignored.

        The parser takes the body of such a request for the other protocol, so it gets the head once more without it.
        """
        if self.parser.get_method() == b"CONNECT":
            self._refuse_connection(Refused(405, "this server is not a proxy"))
            return
        lines = [self.parser.get_method() + b" " + self.url + b" HTTP/1.1"]
        lines += [b"%b: %b" % each for each in self.headers if each[0] not in (b"upgrade", b"connection")]
        if not self.parser.should_keep_alive():
            lines.append(b"connection: close")
        self.parser = httptools.HttpRequestParser(self)
        self._feed(b"\r\n".join([*lines, b"", b""]))
        if rest:
            self._feed(rest)

    def _refuse_connection(self, refused: Refused) -> None:
        """Answer something that is not a request, and close the connection."""
        if not self.is_refused:
            self.is_refused = True
            if self.cycle is None or self.cycle.response_complete:  # otherwise an earlier request would get this answer
                self.transport.write(_bad(failure(refused), b"connection: close\r\n"))
            self.transport.close()

    def on_message_begin(self) -> None:
        """Begin a request."""
        self.progress = True
        super().on_message_begin()

    # -- requests ---------------------------------------------------------------------------------------------

    def on_headers_complete(self) -> None:
        """Decide whether the request may be answered here."""
        self.progress = True
        if self.is_refused or self.parser.should_upgrade():
            return
        size = len(self.url) + sum(len(key) + len(value) for key, value in self.headers)
        if len(self.headers) > HEADERS or size > HEAD:
            self._refuse_connection(LARGE_HEAD)
            return
        self.held = bytearray() if self._looks_usual() else None
        if self.held is None:
            self.listening = False
            super().on_headers_complete()

    def _looks_usual(self) -> bool:
        if not self.url.startswith(PREFIX) or (self.cycle is not None and not self.cycle.response_complete):
            return False
        if self.pipeline or not self.parser.should_keep_alive() or self.parser.get_method() != b"POST":
            return False
        if self.flow.write_paused:  # the client does not take its answers: the usual way waits until it does
            return False
        length = -1
        for name, value in self.headers:
            if name not in USUAL or (name == b"content-type" and value not in KINDS):
                return False
            if name == b"content-length":
                length = int(value)
        limits = self.application.limits
        most = min(LARGEST, limits.body, limits.question)
        return 0 < length <= most and self.parser.get_http_version() == "1.1"

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self.progress = True
        if self.is_refused:
            return
        if self.held is None:
            super().on_body(body)
        else:
            self.held += body

    def on_message_complete(self) -> None:
        """Answer the request, or hand it to the usual way."""
        self.progress = True
        if self.is_refused or self.parser.should_upgrade():
            return
        self.begun, self.received = 0.0, 0
        if self.held is None:
            super().on_message_complete()
            return
        body, self.held = bytes(self.held), None
        if not self._answer(body):
            self.listening = False
            super().on_headers_complete()
            super().on_body(body)
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on with the next request, which may have come already. `_look` closes idle connections."""
        self.heard, self.listening = self.loop.time(), not self.pipeline
        self.server_state.total_requests += 1
        if not self.transport.is_closing():
            self.flow.resume_reading()
            if self.pipeline:
                self._start_asgi_task(*self.pipeline.pop())
            self._go_on()

    async def _run(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request the usual way. If the server stops before it knows the answer, there is none."""
        try:
            await self.application(scope, receive, send)
        except asyncio.CancelledError:
            if self.running is not None:
                self.running.disconnected = True
            self.transport.close()

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self.running = cycle
        super()._start_asgi_task(cycle, app)

    # -- answers ----------------------------------------------------------------------------------------------

    def _answer(self, body: bytes) -> bool:
        """Answer a request with one example; False if it is unusual, and nothing has been done."""
        begun, application = time.perf_counter(), self.application
        name, _, verb = self.url[len(PREFIX) :].partition(b"/")
        route = ROUTES.get(verb.decode("ascii", "replace"))
        served = application.directory.models.get(name.decode("ascii", "replace"))
        if (
            route is None
            or served is None
            or served.broken is not None
            or served.slow
            or served.exclusive
            or served.failed
        ):
            return False
        if served.queue >= served.limits.queue:
            return False
        try:
            application.gate.admit(self.scope, verb == b"learn")
            found: Any = verbs.read_json(body)
            if type(found) is list or found.id is not UNSET:
                return False
            if verb == b"predict":
                self._send(route, begun, verbs.predicted(served, found))
                return True
            if found.y is UNSET:
                return False
            batch, answer = served.learn_now(lambda: verbs.learned(served, found, body), None)
        except Refused as refused:
            self._refuse(route, begun, refused)
            return True
        except Exception:
            logger.exception("%s failed", route)
            self._refuse(route, begun, Refused(500, "a fault of the server; its log says more"))
            return True
        turn: Any = Turn()
        self.cycle = turn  # requests that follow on this connection wait
        served.queue += 1
        self.listening = False

        def done(error: Refused | None) -> None:
            served.queue -= 1
            turn.response_complete = True
            if error is None:
                self._send(route, begun, answer)
            else:
                self._refuse(route, begun, error)
            if turn.keep_alive:
                self.on_response_complete()
            else:  # the server stops
                self.transport.close()

        batch.waiters.append(done)
        return True

    def _send(self, route: str, begun: float, answer: bytes) -> None:
        if not self.transport.is_closing():  # as it is when the client has gone
            self.transport.write(GOOD % (len(answer), answer))
        self.application.metrics.count(route, 200, time.perf_counter() - begun)

    def _refuse(self, route: str, begun: float, refused: Refused) -> None:
        reply = failure(refused)
        if not self.transport.is_closing():
            self.transport.write(_bad(reply))
        self.application.metrics.count(route, reply.status, time.perf_counter() - begun)


def _bad(reply: Reply, more: bytes = b"") -> bytes:
    """An error on the wire; more: a header."""
    assert isinstance(reply.body, bytes)
    headers = b"".join(b"%b: %b\r\n" % each for each in reply.headers) + more
    return BAD % (reply.status, HTTPStatus(reply.status).phrase.encode(), len(reply.body), headers, reply.body)
