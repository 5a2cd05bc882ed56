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

    A call raises `ServerError` if the server refuses it, and `NoAnswer` if the server cannot be reached. Before that,
    a call that failed because the connection broke or the server was busy is tried again. A call that changes
    something carries a key, so that the server carries it out once, however often it arrives.

    Use it in a ``with`` statement, or call `close`, to close its connections.

    Parameters
    ----------
    url : str, default="http://127.0.0.1:8000"
        The address of the server.
    token : str, optional
        The token that ``perceptrons serve token`` printed. By default, the environment variable ``PERCEPTRONS_TOKEN``.
        Redirects are not followed, so that no other server receives the token.
    timeout : float, default=30
        Seconds to wait for a connection, and for each part of an answer. Use more for large bodies: the server answers
        when it has learned them.
    retries : int, default=3
        How often to try again if the connection fails or the server is busy.
    cafile : str or path, optional
        Trust the certificates in this PEM file instead of those of the system.

    Attributes
    ----------
    url : str
        The address, without a slash at its end.
    timeout : float
        Seconds to wait.
    retries : int
        How often to try again.

    Raises
    ------
    ValueError
        If the address or the token is malformed, `cafile` is given without https, or a number is out of range.

    Examples
    --------
    With ``perceptrons serve`` running on this machine::

        with Client("http://127.0.0.1:8000") as client:
            spam = client.create("spam", "Perceptron", rule="arow", classes=["ham", "spam"])
            spam.learn({"links": 3, "from": "bank"}, "spam")
            spam.learn({"links": 0, "from": "Eva"}, "ham")
            spam.predict({"links": 2})  # 'spam'

    A client sends nothing before its first call:

    >>> from perceptrons.client import Client, NoAnswer
    >>> client = Client("http://127.0.0.1:1/", retries=0)
    >>> client.url
    'http://127.0.0.1:1'
    >>> try:
    ...     client.models()
    ... except NoAnswer as error:
    ...     print(error)
    no complete answer from http://127.0.0.1:1: ... Check the address, and that `perceptrons serve` is running there
    """

    def models(self) -> list[Answer]:
        """Get the states of all models.

        Returns
        -------
        list of dict
            One state per model, as from `Model.state`.
        """
        found: list[Answer] = self._call("GET", "/v1/models")["models"]
        return found

    def model(self, name: str) -> Model:
        """Get a model by name. This sends no request, so the model need not exist.

        Parameters
        ----------
        name : str
            The name.

        Returns
        -------
        Model
            The model on this server.

        Raises
        ------
        ValueError
            If the name cannot be one, such as an empty text.
        """
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
        """Create a model that has learned nothing yet.

        Parameters
        ----------
        name : str
            The name of the new model.
        estimator : str, default="Perceptron"
            Or "PassiveAggressiveClassifier", "PassiveAggressiveRegressor" or "KernelPerceptron".
        classes : iterable, optional
            Classes that exist before their first example. Without them, a classifier learns nothing until it has seen
            two classes.
        settings : dict, optional
            Settings of the server for this model, for instance ``{"snapshot_every": 1000, "keep": 5000}``.
            ``snapshot_every`` (100,000): number of examples between snapshots. ``keep`` (None, which keeps all): the
            smallest number of positions of the log that remain when a snapshot is written. ``window`` (1000): number of
            latest examples whose mistakes are counted. ``delta`` (0.002): how readily drift is reported; a smaller
            number reports it later, and more rarely by chance.
        key : str, optional
            Text that identifies this call, if you repeat it yourself; a random one by default.
        **params
            Parameters of the estimator. A rule is a name, or an object such as ``PA1(C=0.1)``.

        Returns
        -------
        Model
            The new model.

        Raises
        ------
        ServerError
            If there is a model of this name, or the server refuses a parameter.
        ValueError
            If the name cannot be one, `settings` has a key that is an argument here, or the rule is your own.
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
        """Create a model from a model file, such as one written by `perceptrons.save`.

        Parameters
        ----------
        name : str
            The name of the new model.
        path : str or path
            The model file.
        key : str, optional
            Text that identifies this call, if you repeat it yourself; a random one by default.

        Returns
        -------
        Model
            The new model.

        Raises
        ------
        OSError
            If the file cannot be read.
        ServerError
            If there is a model of this name, or the file is not a model file that the server can learn with.
        """
        model = Model(self, name)
        with open(path, "rb") as file:
            model._change("", file, key, MODEL_FILE)
        return model

    def events(self) -> Iterator[tuple[str, Answer]]:
        """Follow the server until it stops.

        Yields
        ------
        name : str
            "state" once a second, "drift" when drift is found, and "trouble" when a snapshot fails.
        content : dict
            What the event is about.
        """
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
        """Get the metrics of the server, such as the number of requests and of mistakes.

        Returns
        -------
        str
            In the text format of Prometheus.
        """
        return self._send(("GET", "/metrics", None, {}), self._content).decode()


@dataclass(frozen=True)
class Model:
    """A model on a server. `Client.create`, `Client.upload` and `Client.model` return it.

    An example `x` is a dict of named features, a row of numbers (a list, a tuple or a NumPy array), or a tuple
    ``(indices, values)`` of the numbers that are not zero. Its label `y` is text, a number or a boolean. Several
    examples `X` are a list of them, or an array with a row for each.

    Every method raises `ServerError` if the server refuses the call, `NoAnswer` if it cannot be reached, and TypeError
    or ValueError if an argument cannot be sent, such as NaN.

    Parameters
    ----------
    client : Client
        The client of the server.
    name : str
        The name of the model.

    Raises
    ------
    ValueError
        If the name cannot be one, such as an empty text.

    Examples
    --------
    With ``perceptrons serve`` running on this machine::

        spam = Client("http://127.0.0.1:8000").model("spam")
        spam.predict({"links": 1, "from": "Adam"}, id="mail-17")  # 'spam'
        spam.label("mail-17", "ham")  # {'prediction': 'spam', 'mistake': True, 'position': 3}

    Making a `Model` sends nothing:

    >>> from perceptrons.client import Client, Model
    >>> client = Client()
    >>> Model(client, "spam") == client.model("spam")
    True
    >>> client.model("")
    Traceback (most recent call last):
    ValueError: the name of a model must be text, such as 'spam', got ''
    """

    client: Client
    name: str

    def __post_init__(self) -> None:
        if self.name in ("", ".", "..") or not isinstance(self.name, str):
            raise ValueError(f"the name of a model must be text, such as 'spam', got {self.name!r}")

    def state(self) -> Answer:
        """Get the state of the model.

        Returns
        -------
        dict
            Counts (``n_seen``, ``n_mistakes``, ``n_updates``, ``n_features``), ``classes``, recent mistakes
            (``window``), ``drift``, the ``position`` of the log, and the parameters.
        """
        return self.client._call("GET", self._path)

    def predict(self, x: Any, id: str | None = None, ask: bool = False) -> Any:
        """Predict the label of one example.

        Parameters
        ----------
        x : dict, list, array or tuple
            The example: named features, a row of numbers, or ``(indices, values)``.
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
        """Predict the labels of several examples, in as few requests as the server's limit on their size allows.

        Parameters
        ----------
        X : list or array
            The examples.

        Returns
        -------
        list
            Their labels; None for each if nothing has been learned yet.
        """
        return self._predict(to_examples(X))

    def _predict(self, examples: list[Any]) -> list[Any]:
        """Predict examples in one request, or in two halves if the server says that it is too large."""
        try:
            labels: list[Any] = self._read("/predict", {"examples": examples})["predictions"]
        except ServerError as error:
            if error.status != 413 or len(examples) < 2:
                raise
            half = len(examples) // 2
            labels = [*self._predict(examples[:half]), *self._predict(examples[half:])]
        return labels

    def learn(self, x: Any, y: Any, *, key: str | None = None) -> Answer:
        """Learn one example.

        Parameters
        ----------
        x : dict, list, array or tuple
            The example: named features, a row of numbers, or ``(indices, values)``.
        y : str, number or bool
            Its label.
        key : str, optional
            Text that identifies this call, if you repeat it yourself; a random one by default.

        Returns
        -------
        dict
            ``position`` of this call in the log, how many examples were ``learned``, and how many ``mistakes`` the
            model made on them before it learned.
        """
        return self._change("/learn", {"x": to_row(x), "y": to_label(y)}, key)

    def learn_many(self, X: Iterable[Any], y: Iterable[Any], *, key: str | None = None) -> Answer:
        """Learn several examples in one request, in their order, all or none.

        Parameters
        ----------
        X : list or array
            The examples.
        y : list or array
            Their labels.
        key : str, optional
            Text that identifies this call, if you repeat it yourself; a random one by default.

        Returns
        -------
        dict
            As from `learn`.
        """
        return self._change("/learn", {"examples": to_examples(X, y)}, key)

    def learn_text(
        self,
        body: bytes | str | BinaryIO,
        content_type: str = "text/x-svmlight",
        *,
        key: str | None = None,
        **query: Any,
    ) -> Answer:
        """Learn the examples in a text or a file, in their order, all or none.

        Parameters
        ----------
        body : bytes, str or file
            A file must be open in binary mode. It is sent from its current position on, in blocks.
        content_type : str, default="text/x-svmlight"
            Or ``"text/csv"``, or ``"application/x-ndjson"`` for lines such as ``{"x": [1, 0], "y": "ham"}``.
        key : str, optional
            Text that identifies this call, if you repeat it yourself; a random one by default.
        **query
            Options of the format: for CSV, ``target="label"`` is the column of labels, "y" by default; for svmlight,
            ``zero_based=False`` if indices begin at 1.

        Returns
        -------
        dict
            As from `learn`.

        Raises
        ------
        TypeError
            If `body` is something else, such as a file that is open in text mode.
        """
        if not isinstance(body, bytes | str) and (not hasattr(body, "read") or body.read(0) != b""):
            raise TypeError(f"body must be bytes, text or a file that is open in binary mode, got {body!r}")
        sent = body.encode() if isinstance(body, str) else body
        return self._change("/learn" + to_query(**query), sent, key, content_type)

    def predict_learn(self, x: Any, y: Any, *, key: str | None = None) -> Any:
        """Predict the label of one example, then learn its true label, in one request.

        Parameters
        ----------
        x : dict, list, array or tuple
            The example: named features, a row of numbers, or ``(indices, values)``.
        y : str, number or bool
            Its true label.
        key : str, optional
            Text that identifies this call, if you repeat it yourself; a random one by default.

        Returns
        -------
        label
            What the model predicted before it learned the example; None if it had learned nothing.
        """
        return self._change("/predict-learn", {"x": to_row(x), "y": to_label(y)}, key)["prediction"]

    def label(self, id: str, y: Any, *, key: str | None = None) -> Answer:
        """Learn the label of an earlier prediction.

        Parameters
        ----------
        id : str
            The name under which `predict` kept the example.
        y : str, number or bool
            Its true label.
        key : str, optional
            Text that identifies this call, if you repeat it yourself; a random one by default.

        Returns
        -------
        dict
            The earlier ``prediction``, whether it was a ``mistake``, and the ``position`` of this call in the log.

        Raises
        ------
        ServerError
            With the status 404 if no prediction of this name waits for its label.
        """
        return self._change("/label", {"id": to_id(id), "y": to_label(y)}, key)

    def explain(self, x: Any, label: Any = None) -> Answer:
        """Get what each feature contributes to the score of an example. Only for linear models.

        Parameters
        ----------
        x : dict, list, array or tuple
            The example: named features, a row of numbers, or ``(indices, values)``.
        label : str, number or bool, optional
            The class whose score is explained. By default, for two classes the second; for more, the predicted class
            against the runner-up.

        Returns
        -------
        dict
            ``contributions``, the largest first, and ``intercept``, which add up to ``score``; ``label``, ``against``
            and ``unknown``, as in `perceptrons.Perceptron.explain_one`.
        """
        return self._read("/explain", {"x": to_row(x)} | ({} if label is None else {"label": to_label(label)}))

    def rollback(self, position: int, *, key: str | None = None) -> Answer:
        """Go back to a position of the log, and forget what was learned after it.

        Parameters
        ----------
        position : int
            Number of calls that remain learned; 0 forgets everything.
        key : str, optional
            Text that identifies this call, if you repeat it yourself; a random one by default.

        Returns
        -------
        dict
            The state of the model, as from `state`.
        """
        return self._change("/rollback", {"position": to_position(position)}, key)

    def replay(self, position: int, X: Iterable[Any] = ()) -> Answer:
        """Look at the model as it was at a position of the log. Nothing changes.

        Parameters
        ----------
        position : int
            The position: how many calls had been learned.
        X : list or array, optional
            Examples to predict with the model as it was.

        Returns
        -------
        dict
            The counts and ``classes`` at this position, and ``predictions``, one label for each of `X`.
        """
        return self._read("/replay", {"position": to_position(position), "examples": to_examples(X)})

    def snapshot(self) -> Answer:
        """Write a snapshot now, so that a restart of the server takes less time.

        Returns
        -------
        dict
            Its ``position``.
        """
        return self._change("/snapshot", {})

    def log(self, after: int | None = None, to: int | None = None) -> Iterator[Answer]:
        """Read the log: what was learned, in order, as it arrives.

        Parameters
        ----------
        after : int, optional
            Begin after this position; by default, with the first record that the log still has.
        to : int, optional
            End with this position; by default, with the last record.

        Yields
        ------
        dict
            One record per call: its ``position``, and the examples as they were sent.

        Raises
        ------
        ServerError
            Also in the middle of the log, if it is damaged there.
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
            The file to write.
        position : int, optional
            Get the model as it was at this position of the log; by default, as it is now.

        Raises
        ------
        OSError
            If the file cannot be written. What was there before remains.
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
        """Delete the model, its log and its snapshots.

        Raises
        ------
        ServerError
            With the status 404 if there is no such model.
        """
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
