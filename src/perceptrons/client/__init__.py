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

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPResponse
from typing import Any, BinaryIO
from urllib.parse import quote
from uuid import uuid4

from perceptrons.client.arguments import (
    to_examples,
    to_id,
    to_label,
    to_list,
    to_parameter,
    to_position,
    to_query,
    to_row,
)
from perceptrons.client.transport import JSON, Answer, NoAnswer, Path, Request, ServerError, Transport

MODEL_FILE = "application/octet-stream"
__all__ = ["Client", "Model", "NoAnswer", "ServerError"]


class Client(Transport):
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
        body |= {"estimator": estimator, "params": {key: to_parameter(key, value) for key, value in params.items()}}
        if classes is not None:
            body["classes"] = [to_label(label) for label in to_list(classes, "classes")]
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
        route = "/predict" + to_query(ask=ask or None)
        answer = (
            self._read(route, {"x": to_row(x)})
            if id is None
            else self._change(route, {"x": to_row(x), "id": to_id(id)})
        )
        return (answer["prediction"], answer["ask"]) if ask else answer["prediction"]

    def predict_many(self, X: Iterable[Any]) -> list[Any]:
        """Predict the labels of several examples, in one request."""
        labels: list[Any] = self._read("/predict", {"examples": to_examples(X)})["predictions"]
        return labels

    def learn(self, x: Any, y: Any, *, key: str | None = None) -> Answer:
        """Learn one example; return the position, and how many examples were learned and predicted wrong."""
        return self._change("/learn", {"x": to_row(x), "y": to_label(y)}, key)

    def learn_many(self, X: Iterable[Any], y: Iterable[Any], *, key: str | None = None) -> Answer:
        """Learn several examples in one request, all or none; return the same as `learn`."""
        return self._change("/learn", {"examples": to_examples(X, y)}, key)

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
        return self._change("/learn" + to_query(**query), sent, key, content_type)

    def predict_learn(self, x: Any, y: Any, *, key: str | None = None) -> Any:
        """Learn one example; return the label that was predicted before."""
        return self._change("/predict-learn", {"x": to_row(x), "y": to_label(y)}, key)["prediction"]

    def label(self, id: str, y: Any, *, key: str | None = None) -> Answer:
        """Learn the label of an earlier prediction; return that prediction, and whether it was wrong."""
        return self._change("/label", {"id": to_id(id), "y": to_label(y)}, key)

    def explain(self, x: Any, label: Any = None) -> Answer:
        """Get what each feature contributes to the score of a label (by default, of the predicted one)."""
        return self._read("/explain", {"x": to_row(x)} | ({} if label is None else {"label": to_label(label)}))

    def rollback(self, position: int, *, key: str | None = None) -> Answer:
        """Go back to a position of the log, and forget what was learned after it."""
        return self._change("/rollback", {"position": to_position(position)}, key)

    def replay(self, position: int, X: Iterable[Any] = ()) -> Answer:
        """Get the state of the model as it was at a position, and its predictions for `X`."""
        return self._read("/replay", {"position": to_position(position), "examples": to_examples(X)})

    def snapshot(self) -> Answer:
        """Write a snapshot now."""
        return self._change("/snapshot", {})

    def log(self, after: int | None = None, to: int | None = None) -> Iterator[Answer]:
        """Read the log: yield the records after position `after`, up to position `to`, as they arrive.

        By default, from the first record that the log still has.
        """
        for line in self.client._lines(self._path + "/log" + to_query(after=to_position(after), to=to_position(to))):
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
        request: Request = ("GET", self._path + "/file" + to_query(position=to_position(position)), None, {})
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
