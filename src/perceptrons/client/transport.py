"""Requests to a server: connections that are kept open, tries after a failure, and errors."""

from __future__ import annotations

import io
import json
import operator
import os
import ssl
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, BinaryIO, Self, TypeVar
from urllib.parse import quote, urlsplit

T = TypeVar("T")
Answer = dict[str, Any]
Path = str | os.PathLike[str]
Request = tuple[str, str, BinaryIO | None, dict[str, str]]  # method, path, body and headers
JSON = "application/json"
BUSY = (429, 503)  # statuses after which a call is tried again
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds
BLOCK = 1 << 16  # bytes that are sent or received at a time


class ServerError(Exception):
    """The server refused a call. The message says what is wrong, and what to do.

    Parameters
    ----------
    status : int
        The HTTP status.
    message : str
        What the server answered.
    retry_after : float, default=0.0
        Seconds after which the server asks to try again.

    Attributes
    ----------
    status : int
        The HTTP status: 404 if something does not exist, 409 if it exists already, 422 if the content of the call is
        wrong, 401 and 403 without the right token, 429 and 503 if the server is busy.
    retry_after : float
        Seconds after which the server asks to try again; 0.0 if it does not say.
    after_loss : bool
        Whether an earlier try of the same call lost its connection. That try may have been carried out.

    Examples
    --------
    >>> from perceptrons.client import ServerError
    >>> try:
    ...     raise ServerError(404, "there is no model 'spam'")  # as Client().model("spam").state() does
    ... except ServerError as error:
    ...     print(error.status, error)
    404 there is no model 'spam'
    """

    def __init__(self, status: int, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.status, self.retry_after = status, retry_after
        self.after_loss = False  # whether an earlier try lost its connection; it may have been carried out


class NoAnswer(ConnectionError):
    """The connection failed before the answer was complete. The message names the address, and says what to do.

    Examples
    --------
    Nothing listens at this address:

    >>> from perceptrons.client import Client, NoAnswer
    >>> try:
    ...     Client("http://127.0.0.1:1", retries=0).models()
    ... except NoAnswer as error:
    ...     print(error)
    no complete answer from http://127.0.0.1:1: ... Check the address, and that `perceptrons serve` is running there
    """


class Transport:
    """Sends requests to one server. The parameters are those of `Client`."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        token: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 3,
        cafile: Path | None = None,
    ) -> None:
        parts = urlsplit(url)
        if "@" in parts.netloc:
            raise ValueError("url must not contain a user or a password: pass a token instead")
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"url must be an address such as 'http://127.0.0.1:8000', got {url!r}")
        if cafile is not None and parts.scheme != "https":
            raise ValueError(f"cafile needs an address that begins with https, got {url!r}")
        if not timeout > 0 or operator.index(retries) < 0:
            raise ValueError(f"timeout must be > 0 and retries >= 0, got timeout={timeout}, retries={retries}")
        token = os.environ.get("PERCEPTRONS_TOKEN") if token is None else token
        if token and not (token.isascii() and token.isprintable() and " " not in token):
            raise ValueError("token must not contain spaces, line breaks or characters outside of ASCII")
        self.url, self.timeout, self.retries = url.rstrip("/"), timeout, retries
        self._host, self._port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
        self._prefix = quote(parts.path.rstrip("/"), safe="/%")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._context = ssl.create_default_context(cafile=cafile) if parts.scheme == "https" else None
        self._idle: list[tuple[int, HTTPConnection]] = []  # open connections, each with the process that opened it
        weakref.finalize(self, _close, self._idle)

    def close(self) -> None:
        """Close the connections. A later call opens a new one."""
        _close(self._idle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, method: str, path: str, body: Any = None, kind: str = JSON, key: str | None = None) -> Answer:
        """Send a dict as JSON, or bytes or a file as they are; return the answer."""
        headers = {} if body is None else {"Content-Type": kind}
        if key is not None:
            headers["Idempotency-Key"] = key
        body = _to_json(body) if isinstance(body, dict) else body
        return self._send((method, path, io.BytesIO(body) if isinstance(body, bytes) else body, headers), self._answer)

    def _send(self, request: Request, read: Callable[[HTTPResponse], T], *, stream: bool = False) -> T:
        """Try a request until it is answered, and `read` the answer; of a stream, only its beginning."""
        method, path, body, headers = request
        headers, start, tries, lost = headers | self._headers, None, 0, False
        if body is not None and body.seekable():
            start = body.tell()
            headers["Content-Length"] = str(body.seek(0, os.SEEK_END) - start)
        repeatable = body is None or start is not None
        while True:
            if body is not None and start is not None:
                body.seek(start)
            connection = self._connection(fresh=stream or not repeatable)
            kept = connection.sock is not None
            try:
                return self._try(connection, (method, self._prefix + path, body, headers), read, stream)
            except NoAnswer as error:
                cause, wait, lost = error.__cause__, 0.0, True
                if kept and not isinstance(cause, TimeoutError):
                    continue  # the server has closed an idle connection, which does not count as a failure
                if tries == self.retries or not repeatable or isinstance(cause, ssl.SSLCertVerificationError):
                    raise
            except ServerError as error:
                error.after_loss = lost
                if tries == self.retries or not repeatable or error.status not in BUSY:
                    raise
                wait = error.retry_after
            time.sleep(min(LONGEST_PAUSE, FIRST_PAUSE * 2**tries + wait))
            tries += 1

    def _try(self, connection: HTTPConnection, request: Request, read: Callable[[HTTPResponse], T], stream: bool) -> T:
        sent = complete = False
        try:
            with self._network():
                if connection.sock is None:
                    connection.connect()
                with suppress(BrokenPipeError, ConnectionResetError):  # the server may refuse a body before its end
                    connection.request(*request)
                    sent = True
                response = connection.getresponse()
            result = self._refusal(response) if response.status >= 300 else read(response)
            complete = sent
        finally:
            if not complete:
                connection.close()
            elif connection.sock is not None and stream:
                connection.sock.close()  # this takes effect when the answer is closed
            elif connection.sock is not None:
                self._idle.append((os.getpid(), connection))
        if isinstance(result, ServerError):
            raise result
        return result

    def _connection(self, fresh: bool) -> HTTPConnection:
        """An idle connection or a new one. After a fork, idle connections still belong to the parent."""
        with suppress(IndexError):
            while not fresh:
                process, connection = self._idle.pop()
                if process == os.getpid():
                    return connection
                connection.close()
        if self._context is None:
            return HTTPConnection(self._host, self._port, timeout=self.timeout, blocksize=BLOCK)
        return HTTPSConnection(self._host, self._port, timeout=self.timeout, blocksize=BLOCK, context=self._context)

    @contextmanager
    def _network(self) -> Iterator[None]:
        """Turn errors of the network into `NoAnswer`, with advice."""
        try:
            yield
        except (OSError, HTTPException) as error:
            what = f"no complete answer from {self.url}: {str(error) or type(error).__name__}"
            if isinstance(error, ssl.SSLCertVerificationError):
                raise NoAnswer(f"{what}. If you made the server's certificate, pass its file as cafile") from error
            raise NoAnswer(f"{what}. Check the address, and that `perceptrons serve` is running there") from error

    def _parts(self, response: HTTPResponse, *, stream: bool = False) -> Iterator[bytes]:
        """The content of an answer, in blocks or as it arrives."""
        while True:
            with self._network():
                part = response.read1(BLOCK) if stream else response.read(BLOCK)
                if not part and response.length:
                    raise HTTPException(f"{response.length} bytes are missing")  # `read` does not report this
            if not part:
                return
            yield part

    def _lines(self, path: str) -> Iterator[str]:
        """The lines of an answer, as they arrive. `readline` would not notice that the end is missing."""
        line = bytearray()
        with self._send(("GET", path, None, {}), lambda response: response, stream=True) as response:
            for part in self._parts(response, stream=True):
                *ends, rest = part.split(b"\n")
                for end in ends:
                    yield (line + end).decode().rstrip("\r")
                    line.clear()
                line += rest
        if line:
            yield line.decode()

    def _content(self, response: HTTPResponse) -> bytes:
        return b"".join(self._parts(response))

    def _answer(self, response: HTTPResponse) -> Answer:
        try:
            answer: Answer = json.loads(self._content(response) or b"{}")
        except ValueError:
            raise ServerError(response.status, f"{self.url} does not answer in JSON: check the address") from None
        return answer

    def _refusal(self, response: HTTPResponse) -> ServerError:
        content, wait = self._content(response), response.getheader("Retry-After", "")
        message = f"{self.url} answers {response.status} {response.reason}: check the address"
        with suppress(ValueError, LookupError, TypeError):
            message = str(json.loads(content)["error"])
        if place := response.getheader("Location"):
            message = f"{self.url} redirects to {place}: use that address if you trust it"
        return ServerError(response.status, message, float(wait) if wait.isdecimal() else 0.0)


def _to_json(body: Answer) -> bytes:
    def convert(value: Any) -> Any:
        if hasattr(value, "tolist"):
            return value.tolist()
        raise TypeError(f"{value!r} cannot be sent: use numbers, text, None, and lists and dicts of them")

    try:
        return json.dumps(body, allow_nan=False, default=convert, separators=(",", ":")).encode()
    except ValueError:
        raise ValueError("NaN and infinity cannot be sent: leave them out, or replace them by numbers") from None


def _close(idle: list[tuple[int, HTTPConnection]]) -> None:
    with suppress(IndexError):
        while True:
            idle.pop()[1].close()
