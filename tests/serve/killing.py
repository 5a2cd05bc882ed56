"""Kill a server under load at random moments, and compare what comes back with sequential learning.

Clients note what was acknowledged. After each kill and restart, every acknowledged request must be in the log exactly
once and at its position, others at most once; and the model must be what an estimator of the library learns from the
exported log, example by example.
"""

import http.client
import json
import threading
import time

import numpy as np

from perceptrons import Perceptron, load
from perceptrons.rules import AROW

MODELS = {
    "names": ({"rule": "arow"}, lambda: Perceptron(rule=AROW())),
    "numbers": ({"readout": "averaged"}, lambda: Perceptron(readout="averaged")),
}
CLIENTS = 6


class Connection:
    """Requests to a server. Raises OSError or HTTPException if it has gone."""

    def __init__(self, port):
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=20)

    def call(self, method, path, body=None, **headers):
        """Send a request; returns its status and its answer, as JSON if it is JSON."""
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        self.http.request(method, path, sent, {name.replace("_", "-"): text for name, text in headers.items()})
        answer = self.http.getresponse()
        content = answer.read()
        is_json = answer.getheader("content-type", "").startswith("application/json")
        return answer.status, json.loads(content) if is_json and content else content

    def close(self):
        """Close the connection."""
        self.http.close()


class Client(threading.Thread):
    """Sends requests until the server dies. `acknowledged`: (model, id, position); `open`: the last that was not."""

    def __init__(self, port, number, seed):
        super().__init__()
        self.connection, self.number, self.random = Connection(port), number, np.random.default_rng(seed)
        self.acknowledged, self.open, self.count, self.fault = [], None, 0, None

    def run(self):
        while True:
            try:
                self.step()
            except (OSError, http.client.HTTPException):
                break
            except Exception as fault:
                self.fault = fault
                break
        self.connection.close()

    def step(self):
        """One request, or a prediction and its label."""
        self.count += 1
        id = f"{self.number}-{self.count}-{self.random.integers(1 << 40)}"
        kind = self.random.integers(6)
        if kind == 4:
            self.send("names", id, "learn", {"examples": [self.named(f"{id}/{i}") for i in range(5)]})
        elif kind == 5:
            rows = [self.numbered() for _ in range(40)]
            lines = [f"{y} " + " ".join(f"{i}:{v}" for i, v in zip(*x, strict=True)) for x, y in rows]
            body = ("\n".join([*lines, f"# {id}"]) + "\n").encode()
            self.send("numbers", id, "learn", body, Content_Type="text/x-svmlight")
        elif kind == 3:
            x, y = self.numbered()
            self.send("numbers", id, "learn", {"x": x, "y": y, "id": id})
        elif kind == 2:
            example = self.named(id)
            status, _ = self.connection.call("POST", "/v1/models/names/predict", {"x": example["x"], "id": id})
            assert status == 200
            self.send("names", id, "label", {"id": id, "y": example["y"]})
        else:
            self.send("names", id, "predict-learn" if kind else "learn", self.named(id))

    def send(self, model, id, verb, body, **headers):
        """Send a request with a key, and note that it was acknowledged."""
        self.open = model, id, verb, body, headers
        status, answer = self.connection.call("POST", f"/v1/models/{model}/{verb}", body, Idempotency_Key=id, **headers)
        assert status == 200, answer
        self.acknowledged.append((model, id, answer["position"]))
        self.open = None

    def named(self, id):
        """An example with names, some of them new."""
        x = {f"f{j}": float(v) for j, v in zip(self.random.integers(0, 30, 5), self.random.normal(size=5), strict=True)}
        x["kind"] = f"k{self.random.integers(200)}"
        return {"x": x, "y": "yes" if sum(v for v in x.values() if v.__class__ is float) > 0 else "no", "id": id}

    def numbered(self):
        """A pair, and a number as its label."""
        indices = np.unique(self.random.integers(0, 2000, 8)).tolist()
        values = self.random.normal(size=len(indices)).tolist()
        return [indices, values], float(self.random.choice([-1.0, 1.0]))


def learn_line(model, line):
    """Learn from a line of the exported log, example by example; returns its ids."""
    if "format" in line:
        for text in line["body"].splitlines():
            if not text.startswith("#"):
                y, *entries = text.split()
                pairs = [entry.split(":") for entry in entries]
                model.learn_one(([int(i) for i, _ in pairs], [float(v) for _, v in pairs]), float(y))
        return line["body"].split("# ")[1].strip()
    for each in line.get("examples", [line]):
        x = each["x"] if isinstance(each["x"], dict) else tuple(each["x"])
        model.learn_one(x, each["y"])
    return line["examples"][0]["id"].split("/")[0] if "examples" in line else line["id"]


class Rounds:
    """Rounds of load, kill and restart on one directory."""

    def __init__(self, forks, seed):
        self.forks, self.random = forks, np.random.default_rng(seed)
        self.expected = {name: make() for name, (_, make) in MODELS.items()}
        self.where = {name: {} for name in MODELS}  # the position of each id in the log
        self.last = dict.fromkeys(MODELS, 0)
        self.n_acknowledged = 0
        self.port = forks.start()
        connection = Connection(self.port)
        for name, (params, _) in MODELS.items():
            body = {"estimator": "Perceptron", "params": params, "snapshot_every": 500}
            status, answer = connection.call("POST", f"/v1/models/{name}", body)
            assert status == 201, answer
        connection.close()

    def round(self):
        """Load, kill, restart, compare."""
        clients = [Client(self.port, k, int(self.random.integers(1 << 60))) for k in range(CLIENTS)]
        for client in clients:
            client.start()
        time.sleep(float(self.random.uniform(0.02, 0.4)))
        self.forks.kill()
        for client in clients:
            client.join()
            assert client.fault is None, repr(client.fault)
        self.port = self.forks.start()
        connection = Connection(self.port)
        for client in clients:
            if client.open is not None:  # perhaps it was accepted: the key makes it safe to repeat it
                self.again(connection, client)
        for name in MODELS:
            self.compare(connection, name, [each for client in clients for each in client.acknowledged])
        connection.close()

    def again(self, connection, client):
        """Repeat a request that was not answered."""
        model, id, verb, body, headers = client.open
        path = f"/v1/models/{model}/{verb}"
        answers = [connection.call("POST", path, body, Idempotency_Key=id, **headers) for _ in range(2)]
        assert answers[0] == answers[1], answers
        assert answers[0][0] == 200, answers
        client.acknowledged.append((model, id, answers[0][1]["position"]))

    def compare(self, connection, name, acknowledged):
        """Compare a model with sequential learning of its log."""
        status, text = connection.call("GET", f"/v1/models/{name}/log?after={self.last[name]}")
        assert status == 200, text
        model, where = self.expected[name], self.where[name]
        for line in map(json.loads, text.splitlines()):
            self.last[name] += 1
            assert line["position"] == self.last[name]
            id = learn_line(model, line)
            assert id not in where, f"{id} was learned twice"
            where[id] = line["position"]
        for own, id, position in acknowledged:
            if own == name:
                assert where.get(id) == position, f"{id} was acknowledged at {position}, and is at {where.get(id)}"
                self.n_acknowledged += 1
        if not self.last[name]:
            return
        status, content = connection.call("GET", f"/v1/models/{name}/file")
        assert status == 200, content
        path = self.forks.folder / "downloaded"
        path.write_bytes(content)
        assert_equal(load(path), model)


def assert_equal(found, expected):
    """Two models are equal bit for bit, in what they learned and in what they counted."""
    for attribute in ("coef_", "intercept_", "classes_"):
        a, b = getattr(found, attribute), getattr(expected, attribute)
        assert a.shape == b.shape and a.dtype == b.dtype and (a == b).all(), attribute
    for attribute in ("n_seen_", "n_mistakes_", "n_updates_", "n_features_in_", "margin_bound_"):
        assert getattr(found, attribute) == getattr(expected, attribute), attribute
    a, b = found._learner.state, expected._learner.state
    assert all((a[key] == b[key]).all() for key in a.arrays) if hasattr(a, "arrays") else True
