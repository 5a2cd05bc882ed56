"""A client of ``perceptrons serve`` that needs only the standard library.

For example, with a server on this machine::

    from perceptrons.client import Client

    with Client("http://127.0.0.1:8000") as client:
        spam = client.create("spam", "Perceptron", rule="arow", classes=["ham", "spam"])
        spam.learn({"links": 3, "from": "bank"}, "spam")
        spam.learn({"links": 0, "from": "Eva"}, "ham")
        spam.predict({"links": 2})  # 'spam'

A call is tried again if the connection fails or the server is busy. A call that changes something carries a key, by
which the server recognises a call that it has already carried out, so that nothing is learned twice. To repeat a call
yourself, pass the same text as ``key`` each time.
"""

from __future__ import annotations

import io
import json
import operator
import os
import ssl
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, BinaryIO, TypeVar
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

T = TypeVar("T")
Answer = dict[str, Any]
Path = str | os.PathLike[str]
Request = tuple[str, str, BinaryIO | None, dict[str, str]]  # method, path, body and headers
JSON, MODEL_FILE = "application/json", "application/octet-stream"
BUSY = (429, 503)  # statuses after which a call is tried again
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds
BLOCK = 1 << 16  # bytes that are sent or received at a time


class ServerError(Exception):
    """The server refused a call. `status` is the HTTP status; the message says what is wrong, and what to do."""

    def __init__(self, status: int, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.status, self.retry_after = status, retry_after
        self.after_loss = False  # whether an earlier try lost its connection; it may have been carried out


class NoAnswer(ConnectionError):
    """The connection failed before the answer was complete; the message names the address, and says what to do."""


class Client:
    """A client of one server. Threads may share it: calls at the same time use connections of their own.

    Parameters
    ----------
    url : str, default="http://127.0.0.1:8000"
        The address of the server.
    token : str, optional
        By default, the environment variable ``PERCEPTRONS_TOKEN``. Redirects are not followed, so that no other server
        receives the token.
    timeout : float, default=30
        Seconds to wait for a connection, and for each part of an answer. Use more for large bodies: the server answers
        when it has learned them.
    retries : int, default=3
        How often to try again if the connection fails or the server is busy.
    cafile : str or path, optional
        Trust the certificates in this PEM file instead of those of the system.
    """

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

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def models(self) -> list[Answer]:
        """Get the states of all models."""
        found: list[Answer] = self._call("GET", "/v1/models")["models"]
        return found

    def model(self, name: str) -> Model:
        """Get a model by name. This sends no request."""
        return Model(self, name)

    def create(
        self,
        name: str,
        estimator: str = "Perceptron",
        *,
        classes: Iterable[Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        key: str | None = None,
        **params: Any,
    ) -> Model:
        """Create a model that has learned nothing yet, and return it.

        Parameters
        ----------
        name, estimator : str
        classes : iterable, optional
            Classes that exist before their first example.
        settings : dict, optional
            Settings of the server for this model, such as ``{"snapshot_every": 1000, "keep": 5000}``.
        key : str, optional
        **params
            Parameters of the estimator. A rule is a name, or an object such as ``PA1(C=0.1)``.
        """
        model, body = Model(self, name), dict(settings or {})
        if strange := sorted(body.keys() & {"estimator", "params", "classes"}):
            raise ValueError(f"settings must not contain {', '.join(strange)}: use the arguments of create")
        body |= {"estimator": estimator, "params": {key: _parameter(key, value) for key, value in params.items()}}
        if classes is not None:
            body["classes"] = [_label(label) for label in _listed(classes, "classes")]
        model._change("", body, key)
        return model

    def upload(self, name: str, path: Path, *, key: str | None = None) -> Model:
        """Create a model from a model file, such as one written by `perceptrons.save`, and return it."""
        model = Model(self, name)
        with open(path, "rb") as file:
            model._change("", file, key, MODEL_FILE)
        return model

    def events(self) -> Iterator[tuple[str, Answer]]:
        """Follow the server: yield the name and the content of each event, until the server stops."""
        event, data = "message", ""
        for line in self._lines("/v1/events"):
            field, _, value = line.partition(":")
            if field == "event":
                event = value.strip()
            elif field == "data":
                data += value + "\n"
            elif not line:  # the end of an event
                if data:
                    yield event, json.loads(data)
                event, data = "message", ""

    def metrics(self) -> str:
        """Get the metrics, in the text format of Prometheus."""
        return self._send(("GET", "/metrics", None, {}), self._content).decode()

    # -- requests -----------------------------------------------------------------------------------------------------

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


@dataclass(frozen=True)
class Model:
    """A model on a server. `Client.create`, `Client.upload` and `Client.model` return it.

    An example `x` is a dict of named features, a row of numbers (a list, a tuple or a NumPy array), or a tuple
    ``(indices, values)`` of the numbers that are not zero. Its label `y` is text or a number. Several examples `X` are
    a list of them, or an array with a row for each. For `key`, see the top of this module.
    """

    client: Client
    name: str

    def __post_init__(self) -> None:
        if self.name in ("", ".", "..") or not isinstance(self.name, str):
            raise ValueError(f"the name of a model must be text, such as 'spam', got {self.name!r}")

    def state(self) -> Answer:
        """Get the state: counts, classes, recent mistakes, drift, and the position of the log."""
        return self.client._call("GET", self._path)

    def predict(self, x: Any, id: str | None = None, ask: bool = False) -> Any:
        """Predict the label of one example.

        Parameters
        ----------
        x : example
        id : str, optional
            Keep the example under this name, so that its label can be learned later (see `label`).
        ask : bool, default=False
            Also let the model decide whether to ask for the true label.

        Returns
        -------
        label, or tuple of label and bool
            The label is None if nothing has been learned yet. With `ask`, the second part tells whether to ask.
        """
        route = "/predict" + _query(ask=ask or None)
        answer = self._read(route, {"x": _row(x)}) if id is None else self._change(route, {"x": _row(x), "id": _id(id)})
        return (answer["prediction"], answer["ask"]) if ask else answer["prediction"]

    def predict_many(self, X: Iterable[Any]) -> list[Any]:
        """Predict the labels of several examples, in one request."""
        labels: list[Any] = self._read("/predict", {"examples": _examples(X)})["predictions"]
        return labels

    def learn(self, x: Any, y: Any, *, key: str | None = None) -> Answer:
        """Learn one example; return the position, and how many examples were learned and predicted wrong."""
        return self._change("/learn", {"x": _row(x), "y": _label(y)}, key)

    def learn_many(self, X: Iterable[Any], y: Iterable[Any], *, key: str | None = None) -> Answer:
        """Learn several examples in one request, all or none; return the same as `learn`."""
        return self._change("/learn", {"examples": _examples(X, y)}, key)

    def learn_text(
        self,
        body: bytes | str | BinaryIO,
        content_type: str = "text/x-svmlight",
        *,
        key: str | None = None,
        **query: Any,
    ) -> Answer:
        """Learn examples from text; return the same as `learn`.

        Parameters
        ----------
        body : bytes, str or file
            A file must be open in binary mode. It is sent from its current position on, in blocks.
        content_type : str, default="text/x-svmlight"
            Or ``"text/csv"``, or ``"application/x-ndjson"`` for lines such as ``{"x": [1, 0], "y": "ham"}``.
        key : str, optional
        **query
            Options of the format, such as ``target="label"`` for the column of labels in CSV.
        """
        if not isinstance(body, bytes | str) and (not hasattr(body, "read") or body.read(0) != b""):
            raise TypeError(f"body must be bytes, text or a file that is open in binary mode, got {body!r}")
        sent = body.encode() if isinstance(body, str) else body
        return self._change("/learn" + _query(**query), sent, key, content_type)

    def predict_learn(self, x: Any, y: Any, *, key: str | None = None) -> Any:
        """Learn one example; return the label that was predicted before."""
        return self._change("/predict-learn", {"x": _row(x), "y": _label(y)}, key)["prediction"]

    def label(self, id: str, y: Any, *, key: str | None = None) -> Answer:
        """Learn the label of an earlier prediction; return that prediction, and whether it was wrong."""
        return self._change("/label", {"id": _id(id), "y": _label(y)}, key)

    def explain(self, x: Any, label: Any = None) -> Answer:
        """Get what each feature contributes to the score of a label (by default, of the predicted one)."""
        return self._read("/explain", {"x": _row(x)} | ({} if label is None else {"label": _label(label)}))

    def rollback(self, position: int, *, key: str | None = None) -> Answer:
        """Go back to a position of the log, and forget what was learned after it."""
        return self._change("/rollback", {"position": _position(position)}, key)

    def replay(self, position: int, X: Iterable[Any] = ()) -> Answer:
        """Get the state of the model as it was at a position, and its predictions for `X`."""
        return self._read("/replay", {"position": _position(position), "examples": _examples(X)})

    def snapshot(self) -> Answer:
        """Write a snapshot now."""
        return self._change("/snapshot", {})

    def log(self, after: int = 0, to: int | None = None) -> Iterator[Answer]:
        """Read the log: yield the records after position `after`, up to position `to`, as they arrive."""
        for line in self.client._lines(self._path + "/log" + _query(after=_position(after), to=_position(to))):
            record = json.loads(line)
            if "error" in record:  # the log is damaged here
                raise ServerError(500, record["error"])
            yield record

    def save(self, path: Path, position: int | None = None) -> None:
        """Download the model file, which `perceptrons.load` reads. It replaces `path` when it is complete.

        Parameters
        ----------
        path : str or path
        position : int, optional
            Get the model as it was at this position of the log.
        """
        part = f"{os.fspath(path)}.{uuid4().hex}.tmp"
        request: Request = ("GET", self._path + "/file" + _query(position=_position(position)), None, {})
        try:
            with open(part, "xb") as file:

                def receive(response: HTTPResponse) -> None:
                    file.truncate(file.seek(0))  # an earlier try may have left something
                    file.writelines(self.client._parts(response))

                self.client._send(request, receive)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(part)

    def delete(self) -> None:
        """Delete the model, its log and its snapshots."""
        try:
            self.client._call("DELETE", self._path, key=uuid4().hex)
        except ServerError as error:
            if not (error.status == 404 and error.after_loss):  # else an earlier try has deleted it
                raise

    @property
    def _path(self) -> str:
        return f"/v1/models/{quote(self.name, safe='')}"

    def _read(self, route: str, body: Answer) -> Answer:
        return self.client._call("POST", self._path + route, body)

    def _change(self, route: str, body: Any, key: str | None = None, kind: str = JSON) -> Answer:
        """A call that the server carries out once, however often it arrives."""
        return self.client._call("POST", self._path + route, body, kind, uuid4().hex if key is None else key)


# -- arguments, in the form in which they are sent --------------------------------------------------------------------


def _row(x: Any) -> Any:
    """An example.

    >>> _row((range(2), (0.5, 1))), _row((0.5, 1)), _row({7: 0.5, "from": "Eva"})
    ([[0, 1], [0.5, 1]], [0.5, 1], {'7': 0.5, 'from': 'Eva'})
    """
    if isinstance(x, Mapping):
        if strange := [name for name in x if not isinstance(name, str | int)]:
            raise TypeError(f"names of features must be text, got {strange[0]!r}")
        return {str(name): value for name, value in x.items()}
    if isinstance(x, tuple) and len(x) == 2 and all(isinstance(part, Iterable) for part in x):
        indices, values = (_row(_listed(part, "x")) for part in x)
        if len(indices) != len(values):
            raise ValueError(f"x has {len(indices)} indices, but {len(values)} values")
        return [indices, values]
    row = [_plain(value) for value in _listed(x, "x")]
    if strange := [value for value in row if not isinstance(value, int | float)]:
        raise TypeError(f"x must be a dict, a row of numbers or a tuple (indices, values), but contains {strange[0]!r}")
    return row


def _examples(X: Iterable[Any], y: Iterable[Any] | None = None) -> list[Answer]:
    examples = [{"x": _row(x)} for x in _listed(X, "X")]
    if y is None:
        return examples
    labels = [_label(label) for label in _listed(y, "y")]
    if len(examples) != len(labels):
        raise ValueError(f"X has {len(examples)} examples, but y has {len(labels)} labels")
    return [example | {"y": label} for example, label in zip(examples, labels, strict=True)]


def _label(y: Any) -> Any:
    if not isinstance(_plain(y), str | int | float):
        raise TypeError(f"a label must be text or a number, got {y!r}")
    return _plain(y)


def _id(id: str) -> str:
    if not isinstance(id, str):
        raise TypeError(f"id must be text, got {id!r}")
    return id


def _position(position: int | None) -> int | None:
    if position is not None and operator.index(position) < 0:
        raise ValueError(f"a position must be >= 0, got {position}")
    return position if position is None else operator.index(position)


def _listed(values: Any, name: str) -> list[Any]:
    listed = _plain(values)
    if isinstance(listed, str | bytes | Mapping) or not isinstance(listed, Iterable):
        raise TypeError(f"{name} must be a list or an array, got {values!r}")
    return list(listed)


def _plain(value: Any) -> Any:
    """Convert a NumPy array or number; return anything else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value


def _parameter(name: str, value: Any) -> Any:
    """A parameter of an estimator.

    >>> from perceptrons.rules import PA1
    >>> _parameter("rule", PA1(C=0.1))
    {'rule': 'pa1', 'C': 0.1}
    """
    if isinstance(value, Mapping) and not all(isinstance(key, str) for key in value):
        raise TypeError(f"keys of {name} must be text, got {value!r}: upload a saved model with this parameter instead")
    if not (isinstance(value, tuple) and hasattr(value, "_asdict")):
        return value
    from perceptrons.rules import RULES

    for rule, kind in RULES.items():
        if type(value) is kind:
            return {"rule": rule, **value._asdict()}
    raise ValueError(f"{name} must be one of the rules {', '.join(RULES)}, got {value!r}")


def _to_json(body: Answer) -> bytes:
    def convert(value: Any) -> Any:
        if hasattr(value, "tolist"):
            return value.tolist()
        raise TypeError(f"{value!r} cannot be sent: use numbers, text, None, and lists and dicts of them")

    try:
        return json.dumps(body, allow_nan=False, default=convert, separators=(",", ":")).encode()
    except ValueError:
        raise ValueError("NaN and infinity cannot be sent: leave them out, or replace them by numbers") from None


def _query(**options: Any) -> str:
    given = {name: str(value).lower() if value is True or value is False else value for name, value in options.items()}
    text = urlencode({name: value for name, value in given.items() if value is not None})
    return "?" + text if text else ""


def _close(idle: list[tuple[int, HTTPConnection]]) -> None:
    with suppress(IndexError):
        while True:
            idle.pop()[1].close()
