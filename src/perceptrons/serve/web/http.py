"""Requests and answers on the wire."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from msgspec import DecodeError, ValidationError, json

from perceptrons.serve.errors import Refused
from perceptrons.serve.limits import Limits
from perceptrons.serve.messages import Failure, encode
from perceptrons.serve.model.commits import Key
from perceptrons.serve.web.gate import header

JSON = b"application/json"
NOTHING: dict[str, str] = {}
LARGE_QUESTIONS = 16  # requests with a body of more than a part that only read, at a time
CLOSE = (b"connection", b"close")
KEY = 255  # the most characters of a key


class Reply(NamedTuple):
    """An answer: a body, or parts of a body that are made while they are sent."""

    body: bytes | AsyncGenerator[bytes] = b""
    status: int = 200
    kind: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Questions:
    """Requests that only read, and whose bodies are large: only some are held at a time, whoever sends them."""

    def __init__(self) -> None:
        self.held: set[Call] = set()

    def hold(self, call: Call) -> None:
        """Let a request send a large body; refuse it if there are too many."""
        if len(self.held) >= LARGE_QUESTIONS and call not in self.held:
            raise Refused(503, f"{LARGE_QUESTIONS} requests with large bodies are being answered: try again", 1)
        self.held.add(call)


class Call:
    """A request. `name`: that of the model in its path, if any. `questions`: for requests that only read."""

    __slots__ = ("allowed", "is_endless", "limits", "most", "name", "questions", "receive", "scope")

    def __init__(self, scope: Any, receive: Any, name: str, limits: Limits, questions: Questions | None = None) -> None:
        self.scope, self.receive, self.name, self.limits, self.questions = scope, receive, name, limits, questions
        self.allowed = 0  # what its token allows, a place in `SCOPES`
        self.is_endless = False  # whether nobody knows when its body ends
        self.most = limits.body if questions is None else min(limits.question, limits.body)

    @property
    def query(self) -> dict[str, str]:
        """The parameters after the question mark."""
        text: bytes = self.scope["query_string"]
        try:
            return dict(parse_qsl(text.decode(), keep_blank_values=True, strict_parsing=True)) if text else NOTHING
        except ValueError:
            raise Refused(400, "the part of the address after '?' cannot be read") from None

    def options(self, **kinds: type) -> dict[str, Any]:
        """The parameters after the question mark, converted; those that are not among `kinds` are refused."""
        found: dict[str, Any] = {}
        for name, text in self.query.items():
            if name not in kinds:
                known = f"it knows {', '.join(kinds)}" if kinds else "it takes none"
                raise Refused(400, f"there is no parameter {name!r:.80} here: {known}")
            if kinds[name] is bool and text not in ("true", "false"):
                raise Refused(400, f"{name} must be true or false, got {text!r:.80}")
            try:
                found[name] = text == "true" if kinds[name] is bool else kinds[name](text)
                if kinds[name] is int and abs(found[name]) >= 2**53:
                    raise ValueError
            except ValueError:
                raise Refused(400, f"{name} must be a number, got {text!r:.80}") from None
        return found

    @property
    def content_type(self) -> bytes:
        """The type of the body, without parameters; curl's default counts as none."""
        found = (header(self.scope, b"content-type") or JSON).split(b";")[0].strip().lower()
        return JSON if found == b"application/x-www-form-urlencoded" else found

    async def body(self) -> bytes:
        """The whole body. A client that is too slow, or sends too much, is refused."""
        length = header(self.scope, b"content-length")
        if length is not None and int(length) > self.most:
            self.is_endless = int(length) > self.limits.body
            raise self._too_large()
        message = await self._part()
        content: bytes = message.get("body", b"")
        if not message.get("more_body"):
            return content
        if self.questions is not None:
            self.questions.hold(self)
        parts = bytearray(content)
        while message.get("more_body"):
            message = await self._part()
            parts += message.get("body", b"")
            if len(parts) > self.most:
                self.is_endless = True
                raise self._too_large()
        return bytes(parts)

    async def _part(self) -> Any:
        try:
            async with asyncio.timeout(self.limits.timeout):
                message = await self.receive()
        except TimeoutError:
            raise Refused(408, f"no more of the request came for {self.limits.timeout:g} seconds") from None
        if message["type"] == "http.disconnect":
            raise Refused(400, "the client has gone")
        return message

    def _too_large(self) -> Refused:
        return Refused(413, f"the body is larger than {self.most:,} bytes: send it in several requests")

    def key(self, body: bytes) -> Key | None:
        """The `Idempotency-Key` of this request."""
        given = header(self.scope, b"idempotency-key")
        if given is None:
            return None
        if not 0 < len(given) <= KEY:
            raise Refused(400, f"an Idempotency-Key must have 1 to {KEY} characters")
        digest = hashlib.blake2b(digest_size=16)
        for part in (self.scope["path"].encode(), self.scope["query_string"], self.content_type):
            digest.update(len(part).to_bytes(8, "little") + part)
        digest.update(body)
        return Key(given.decode("latin-1"), digest.digest())

    async def read(self, kind: Any, body: bytes | None = None) -> Any:
        """The body as JSON of a type."""
        if self.content_type != JSON:
            raise Refused(415, "this route takes application/json")
        return decoded(kind, await self.body() if body is None else body)


def decoded(kind: Any, body: bytes) -> Any:
    """JSON as a type; the error says where it does not fit."""
    try:
        return json.decode(body, type=kind)
    except ValidationError as error:
        raise Refused(422, f"{error}") from None
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(400, f"the body is not JSON: {error}") from None


def failure(refused: Refused) -> Reply:
    """The answer to a request that is refused."""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    if refused.retry_after is not None:
        headers = ((b"retry-after", str(refused.retry_after).encode()),)
    if refused.status == 401:
        headers = ((b"www-authenticate", b"Bearer"),)
    if refused.status == 408:
        headers = (CLOSE,)  # the rest of the request is not awaited
    return Reply(encode(Failure(refused.message)), refused.status, JSON, headers)


async def send_reply(reply: Reply, call: Call, send: Any) -> None:
    """Send an answer. A client that does not take it in time is given up."""
    body, receive, timeout = reply.body, call.receive, call.limits.timeout
    headers = [(b"content-type", reply.kind), *reply.headers]
    if call.is_endless:  # otherwise the rest of a body is dropped as it comes, so that its client sees the answer
        headers.append(CLOSE)
    if call.scope["method"] == "HEAD" and not isinstance(body, bytes):  # the answer without what would be made for it
        await body.aclose()
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    if isinstance(body, bytes):
        headers.append((b"content-length", str(len(body)).encode()))
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        return
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    gone = asyncio.ensure_future(_disconnected(receive))
    try:
        async for part in body:
            if gone.done():
                return
            async with asyncio.timeout(timeout):
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        gone.cancel()
        await body.aclose()


async def _disconnected(receive: Any) -> None:
    """Wait until the client has gone; what is left of its request is not read."""
    while (await receive())["type"] != "http.disconnect":
        pass
