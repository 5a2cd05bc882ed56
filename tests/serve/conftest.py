"""Real servers in processes of their own, on loopback, and requests to them.

A process that has imported everything forks the servers, so that each starts at once. Every answer in JSON is checked
against the description at /openapi.json.
"""

import hashlib
import http.client
import itertools
import json
import os
import re
import signal
import socket
import time
from pathlib import Path

import pytest
from forks import Parent

JSON = "application/json"
numbers = itertools.count(1)
described = []  # the description, which is the same for all servers
opened = []  # connections, which the end of a test closes


def until(found, seconds=20.0):
    """Call `found` until it returns something true, and return that."""
    end = time.monotonic() + seconds
    while not (result := found()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)
    return result


class Command:
    """`perceptrons ARGS` as a process."""

    def __init__(self, parent, *args, **environment):
        self.parent, name = parent, f"{next(numbers)}"
        self.out, self.err = parent.folder / f"{name}.out", parent.folder / f"{name}.err"
        for path in (self.out, self.err):
            path.write_text("")
        words = [str(arg) for arg in args]
        self.pid = parent.order(args=words, out=str(self.out), err=str(self.err), environment=environment)
        self.code = None

    @property
    def has_ended(self):
        if self.code is None:
            self.code = self.parent.order(poll=self.pid)
        return self.code is not None

    def wait(self):
        """Wait until it ends; return the exit code, or minus the signal that ended it."""
        until(lambda: self.has_ended, 40.0)
        return self.code

    def stop(self, how=signal.SIGTERM):
        os.kill(self.pid, how)
        return self.wait()


class Server(Command):
    """`perceptrons serve DIR`, listening."""

    def __init__(self, parent, folder, *args, port=0, **environment):
        self.folder, self.args = Path(folder), args
        super().__init__(parent, "serve", folder, "--port", port, *args, **environment)
        until(lambda: "\n" in self.out.read_text() or self.has_ended)
        assert self.code is None, self.err.read_text()
        self.url = self.out.read_text().split()[0]
        self.port = int(self.url.rsplit(":", 1)[1])

    def again(self, *args, port=0):
        """A new server on the same directory, after this one has ended."""
        assert self.has_ended
        return Server(self.parent, self.folder, *(args or self.args), port=port)

    def web(self, **settings):
        return Web(self.port, **settings)

    def socket(self):
        """A bare connection."""
        opened.append(socket.create_connection(("127.0.0.1", self.port), timeout=10))
        return opened[-1]


class Answer:
    """An answer of a server."""

    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()
        self.kind = (response.getheader("content-type") or "").split(";")[0]

    @property
    def json(self):
        return json.loads(self.body)


class Web:
    """Requests over one connection that is kept open."""

    def __init__(self, port, token=None, timeout=20, context=None):
        if context is None:
            self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        else:
            self.http = http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=context)
        self.headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        opened.append(self.http)

    def call(self, method, path, body=None, kind=None, key=None, headers=()):
        """Send a request: a body that is no bytes is sent as JSON."""
        sent = {**self.headers, **dict(headers)}
        if kind is not None:
            sent["Content-Type"] = kind
        if key is not None:
            sent["Idempotency-Key"] = key
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.http.request(method, path, body, sent)
        answer = Answer(self.http.getresponse())
        if path.startswith(("/v1", "/v2")):
            self.check(method, path, answer)
        return answer

    def check(self, method, path, answer):
        """Check an answer against the description."""
        if not described:
            self.http.request("GET", "/openapi.json")
            described.append(Description(Answer(self.http.getresponse()).json))
        described[0].check(method, path, answer)

    def ok(self, *args, **settings):
        """Send a request that must succeed; return its JSON."""
        answer = self.call(*args, **settings)
        assert 200 <= answer.status < 300, (answer.status, answer.body)
        return answer.json if answer.kind == JSON and answer.body else answer.body

    def refused(self, status, *args, **settings):
        """Send a request that must be refused; return the sentence that says why."""
        answer = self.call(*args, **settings)
        assert answer.status == status, (answer.status, answer.body)
        assert list(answer.json) == ["error"]
        return answer.json["error"]

    def create(self, estimator="Perceptron", params=None, name=None, **settings):
        """Create a model under a fresh name, and return it."""
        name = name or f"m{next(numbers)}"
        body = {"estimator": estimator, "params": params or {}, **settings}
        self.ok("POST", f"/v1/models/{name}", body)
        return self.model(name)

    def model(self, name):
        return Remote(self, name)


class Remote:
    """A model on a server."""

    def __init__(self, web, name):
        self.web, self.name, self.path = web, name, f"/v1/models/{name}"

    def on(self, server):
        """The same model, on another server of the directory."""
        return Remote(server.web(), self.name)

    def state(self):
        return self.web.ok("GET", self.path)

    @property
    def counts(self):
        state = self.state()
        return state["n_seen"], state["n_mistakes"], state["n_updates"]

    def do(self, verb, body, **settings):
        return self.web.ok("POST", f"{self.path}/{verb}", body, **settings)

    def refused(self, status, verb, body, **settings):
        return self.web.refused(status, "POST", f"{self.path}/{verb}", body, **settings)

    def learn(self, x, y, **settings):
        return self.do("learn", {"x": x, "y": y}, **settings)

    def learn_all(self, examples):
        for x, y in examples:
            self.learn(x, y)

    def predict(self, x, **more):
        return self.do("predict", {"x": x, **more})["prediction"]

    def file(self, position=None):
        """The model file."""
        return self.web.ok("GET", f"{self.path}/file" + ("" if position is None else f"?position={position}"))

    def content(self, position=None):
        """What the model file holds, see `content_of`."""
        return content_of(self.file(position))

    def log(self, query=""):
        return [json.loads(line) for line in self.web.ok("GET", f"{self.path}/log{query}").splitlines()]


def content_of(file):
    """What a model file holds: settings, counts, and a digest of each array. Two are equal if they agree in each bit.

    The report of the last call is left out: it tells how many rows that call had.
    """
    end = 8 + int.from_bytes(file[:8], "little")
    header = json.loads(file[8:end])
    model = json.loads(header.pop("__metadata__")["model"])
    del model["report"]
    for name, facts in header.items():
        if not name.startswith("report."):
            begin, stop = facts["data_offsets"]
            model[name] = facts["dtype"], facts["shape"], hashlib.sha1(file[end + begin : end + stop]).hexdigest()
    return model


class Description:
    """The description at /openapi.json, and a check of answers against it."""

    def __init__(self, document):
        self.document = document
        self.patterns = {
            path: re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)) + "$") for path in document["paths"]
        }

    def operation(self, method, path):
        """The operation of a request; None if no route fits."""
        plain = path.split("?")[0]
        for template, pattern in self.patterns.items():
            if pattern.match(plain):
                return self.document["paths"][template].get(method.lower())
        return None

    def check(self, method, path, answer):
        operation = self.operation(method, path)
        if operation is None:
            assert answer.status in (404, 405)
            return
        assert str(answer.status) in operation["responses"], (method, path, answer.status, answer.body[:200])
        described = operation["responses"][str(answer.status)]
        if "content" not in described:
            assert not answer.body
            return
        assert answer.kind in described["content"], (method, path, answer.status, answer.kind, answer.body[:200])
        schema = described["content"][answer.kind]["schema"]
        if answer.kind == JSON:
            faults = list(self.faults(answer.json, schema))
            assert not faults, (method, path, answer.status, faults)

    def resolved(self, ref):
        """What a reference points to."""
        found = self.document
        for part in ref.removeprefix("#/").split("/"):
            found = found[part]
        return found

    def faults(self, value, schema, where="$"):
        """Where a value does not fit a schema. Knows the words of JSON Schema that msgspec uses, and no others."""
        unknown = schema.keys() - KNOWN
        assert not unknown, f"the check of schemas does not know {unknown}"
        if "$ref" in schema:
            yield from self.faults(value, self.resolved(schema["$ref"]), where)
        if "anyOf" in schema and all(any(self.faults(value, each, where)) for each in schema["anyOf"]):
            yield f"{where}: {value!r} fits none of {schema['anyOf']}"
        if "type" in schema and not IS[schema["type"]](value):
            yield f"{where}: {value!r} is no {schema['type']}"
        elif isinstance(value, dict):
            properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
            yield from (f"{where}: {name} is missing" for name in schema.get("required", []) if name not in value)
            for name, each in value.items():
                inner = properties.get(name, others)
                if inner is False:
                    yield f"{where}: {name} is not described"
                elif inner is not True:
                    yield from self.faults(each, inner, f"{where}.{name}")
        elif isinstance(value, list) and "items" in schema:
            for i, each in enumerate(value):
                yield from self.faults(each, schema["items"], f"{where}[{i}]")


KNOWN = {"$ref", "anyOf", "type", "properties", "required", "additionalProperties", "items", "title", "description"}
KNOWN |= {"default"}
IS = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


@pytest.fixture(autouse=True)
def closing():
    """Close all connections of a test."""
    yield
    while opened:
        opened.pop().close()


@pytest.fixture(scope="session")
def parent(tmp_path_factory):
    """The process that forks servers; it ends those that still run."""
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork, so servers cannot be started fast enough")
    parent = Parent(tmp_path_factory.mktemp("servers"))
    yield parent
    parent.close()


@pytest.fixture(scope="session")
def command(parent):
    """Run `perceptrons ARGS`, and wait until it ends."""

    def run(*args, **environment):
        done = Command(parent, *args, **environment)
        done.wait()
        return done

    return run


@pytest.fixture(scope="session")
def serve(parent):
    """Start a server on a folder."""
    started = []

    def start(folder, *args, **settings):
        started.append(Server(parent, folder, *args, **settings))
        return started[-1]

    yield start
    for server in started:
        if not server.has_ended:
            server.stop(signal.SIGKILL)


@pytest.fixture(scope="session")
def server(serve, tmp_path_factory):
    """A server that tests share; each makes models of its own."""
    return serve(tmp_path_factory.mktemp("shared") / "served", "--max-models", 1000)


@pytest.fixture
def web(server):
    """A connection to the shared server."""
    return server.web()


@pytest.fixture
def saved(tmp_path):
    """The model file that `perceptrons.save` writes of a model, as bytes."""

    def saved(model):
        from perceptrons import save

        save(model, tmp_path / "saved")
        return (tmp_path / "saved").read_bytes()

    return saved


@pytest.fixture
def content(saved):
    """What the model file of a model would hold, see `content_of`."""
    return lambda model: content_of(saved(model))


@pytest.fixture
def learned():
    """A model that has learned examples one by one, by the library itself."""

    def learned(model, examples):
        for x, y in examples:
            model.learn_one(tuple(x) if isinstance(x, list) and isinstance(x[0], list) else x, y)
        return model

    return learned
