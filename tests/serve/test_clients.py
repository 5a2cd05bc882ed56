"""What programs see: the description at /openapi.json, `perceptrons.client`, the open inference protocol, Prometheus,
events, and the page."""

import json
import re
import signal
import threading
import time
from unittest.mock import ANY

import numpy as np
import pytest

pytest.importorskip("msgspec", reason="the server needs the extra 'serve'")
pytest.importorskip("uvicorn", reason="the server needs the extra 'serve'")
pytest.importorskip("prometheus_client", reason="the server needs the extra 'serve'")

from prometheus_client.parser import text_string_to_metric_families

from perceptrons import Perceptron, load, save
from perceptrons.client import Client, NoAnswer, ServerError
from perceptrons.rules import PA1
from perceptrons.serve.web.routes import PAGES, POLICY, ROUTES

ROWS = [([1.0, 0.0], "a"), ([0.0, 1.0], "b")] * 3


# -- the description --------------------------------------------------------------------------------------------------


def test_the_description_is_complete(web):
    document = web.ok("GET", "/openapi.json")
    assert re.fullmatch(r"3\.1\.\d+", document["openapi"]) and {"title", "version"} <= document["info"].keys()
    described = {(method.upper(), path) for path, operations in document["paths"].items() for method in operations}
    assert described == {(route.method, route.path) for route in ROUTES}
    ids = [each["operationId"] for operations in document["paths"].values() for each in operations.values()]
    assert len(set(ids)) == len(ids)
    for path, operations in document["paths"].items():
        for operation in operations.values():
            named = [each["name"] for each in operation["parameters"] if each["in"] == "path"]
            assert named == re.findall(r"{(\w+)}", path)
            assert all(each["description"] for each in operation["responses"].values())
            assert operation["summary"].endswith(".")


def test_every_reference_leads_somewhere(web):
    document = web.ok("GET", "/openapi.json")
    refs = set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(document)))
    assert len(refs) > 10
    for ref in refs:
        found = document
        for part in ref.removeprefix("#/").split("/"):
            found = found[part]
        assert found["type"] == "object"


def test_every_described_route_exists(server, web):
    """A route that did not exist would answer in the words of `_no_route`."""
    for path, operations in web.ok("GET", "/openapi.json")["paths"].items():
        if path == "/v1/events":
            continue
        for method in operations:
            answer = server.web().call(
                method.upper(), path.replace("{name}", "none"), b"{}" if method == "post" else None
            )
            assert b"is no route" not in answer.body and answer.status not in (405, 500), (method, path)


# -- perceptrons.client -----------------------------------------------------------------------------------------------


@pytest.fixture
def client(server):
    with Client(server.url) as client:
        yield client


def test_the_client(client, tmp_path, learned):
    model = client.create("client", "Perceptron", rule=PA1(C=0.5), classes=["a", "b"], settings={"window": 9})
    direct = Perceptron(rule=PA1(C=0.5))
    assert model.predict([1.0, 0.0]) is None
    direct.learn_one([1.0, 0.0], "a", classes=["a", "b"])
    answer = model.learn(np.array([1.0, 0.0]), "a")
    assert answer == {"position": 1, "learned": 1, "mistakes": direct.n_mistakes_}
    assert model.predict_learn([0.0, 1.0], "b") == direct.predict_one([0.0, 1.0])
    direct.learn_one([0.0, 1.0], "b")
    X, y = np.array([x for x, _ in ROWS]), [y for _, y in ROWS]
    assert model.learn_many(X, y)["learned"] == 6
    direct = learned(direct, ROWS)
    assert model.predict_many(X) == direct.predict(X).tolist()
    label, asks = model.predict([1.0, 0.0], ask=True)
    assert label == direct.predict_one([1.0, 0.0]) and asks in (True, False)
    assert model.predict([0.5, 0.0], id="x") == "a"
    assert model.label("x", "b") == {"prediction": "a", "mistake": True, "position": 4}
    direct.learn_one([0.5, 0.0], "b")
    assert model.explain([1.0, 0.0])["score"] == pytest.approx(direct.score_one([1.0, 0.0]))
    assert model.state()["n_seen"] == 9 and model.state()["window"]["size"] == 9
    model.save(tmp_path / "file")
    assert (load(tmp_path / "file").coef_ == direct.coef_).all()
    assert [record["position"] for record in model.log(after=1)] == [2, 3, 4]
    assert model.snapshot() == {"position": 4}
    assert model.replay(2, [[1.0, 0.0]])["n_seen"] == 2
    assert model.rollback(2)["position"] == 2
    model.save(tmp_path / "second", position=1)
    assert load(tmp_path / "second").n_seen_ == 1
    assert "client" in [each["name"] for each in client.models()]
    assert 'model="client"' in client.metrics()
    model.delete()
    with pytest.raises(ServerError, match="no model") as caught:
        model.state()
    assert caught.value.status == 404


def test_the_client_asks_in_parts_if_a_question_is_too_large(serve, tmp_path):
    server = serve(tmp_path, "--max-question", "20k")
    model = Client(server.url).create("m")
    model.learn_many([{"a": 1.0}, {"b": 1.0}] * 3, ["a", "b"] * 3)
    rows = [{"a": 1.0}, {"b": 1.0}, {"a": 2.0}] * 3000
    assert model.predict_many(rows) == ["a", "b", "a"] * 3000
    with pytest.raises(ServerError) as caught:
        model.predict({"a": 1.0, "long": "x" * 30_000})
    assert caught.value.status == 413


def test_a_refused_body_is_no_commit_that_failed(web):
    remote = web.create()
    remote.refused(422, "learn", b"1 nonsense\n", kind="text/x-svmlight")
    remote.refused(422, "learn", {"x": {"a": 1}, "y": None})
    found = [line for line in web.ok("GET", "/metrics").decode().splitlines() if "commits_failed" in line]
    found = [line for line in found if f'"{remote.name}"' in line]
    assert found and all(line.endswith(" 0.0") for line in found)


def test_the_client_sends_files(client, tmp_path, learned):
    save(learned(Perceptron(), [([[0, 2], [1.0, 1.0]], 1.0), ([[1], [1.0]], 0.0)]), tmp_path / "model")
    model = client.upload("sent", tmp_path / "model")
    (tmp_path / "rows.svm").write_bytes(b"1 1:1\n0 2:3\n")
    with open(tmp_path / "rows.svm", "rb") as file:
        assert model.learn_text(file)["learned"] == 2
    assert model.learn_text("1 1:1\n", zero_based=False)["learned"] == 1
    assert model.state()["n_seen"] == 5
    assert model.predict(([1], [1.0])) in (0.0, 1.0)
    with pytest.raises(ServerError, match="already"):
        client.create("sent")


def test_the_client_follows_events(client):
    model = client.create("followed")
    model.learn([1.0], 1)
    events = client.events()
    name, facts = next(events)
    events.close()
    assert name == "state" and {"models", "uptime", "requests"} == facts.keys()
    assert model.state() in facts["models"]


def test_the_client_survives_a_restart_in_the_middle(serve, tmp_path):
    server = serve(tmp_path)
    stopped = threading.Event()

    def restart():
        for how in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
            time.sleep(0.15)
            nonlocal server
            server.stop(how)
            time.sleep(0.05)
            server = server.again(port=server.port)
        stopped.set()

    with Client(server.url, retries=8) as client:
        model = client.create("m")
        thread = threading.Thread(target=restart)
        thread.start()
        n = 0
        try:
            while not stopped.is_set() or n < 50:
                n += 1
                model.learn([float(n), 1.0], n % 2)
        finally:
            thread.join()
        log = list(model.log())
    assert [record["x"][0] for record in log] == list(range(1, n + 1))  # each once, in order


def test_the_client_says_that_there_is_no_server(tmp_path):
    with Client("http://127.0.0.1:9", retries=0) as client, pytest.raises(NoAnswer, match="perceptrons serve"):
        client.models()


# -- the open inference protocol --------------------------------------------------------------------------------------


def tensor(data, shape, datatype="FP64"):
    return {"inputs": [{"name": "X", "shape": shape, "datatype": datatype, "data": data}]}


def test_inference(web, learned):
    assert web.ok("GET", "/v2")["name"] == "perceptrons"
    assert web.ok("GET", "/v2/health/live") == {"live": True}
    remote, model = web.create(), learned(Perceptron(), ROWS)
    path = f"/v2/models/{remote.name}"
    assert web.refused(503, "GET", f"{path}/ready")
    assert web.refused(409, "POST", f"{path}/infer", tensor([1.0, 2.0], [1, 2]))
    remote.learn_all(ROWS)
    assert web.ok("GET", f"{path}/ready")["ready"] is True
    facts = web.ok("GET", path)
    assert facts["inputs"] == [{"name": "X", "datatype": "FP64", "shape": [-1, 2]}]
    assert facts["outputs"][0] == {"name": "label", "datatype": "BYTES", "shape": [-1]}
    rows = [[1.0, 0.5], [-1.0, 3.0], [0.0, 0.0]]
    flat = web.ok("POST", f"{path}/infer", {**tensor(np.ravel(rows).tolist(), [3, 2]), "id": "mine"})
    nested = web.ok("POST", f"{path}/infer", {**tensor(rows, [3, 2], "FP32"), "id": "mine"})
    assert flat == nested and flat["id"] == "mine" and flat["model_name"] == remote.name
    label, scores = flat["outputs"]
    assert label["data"] == model.predict(np.array(rows)).tolist() and label["shape"] == [3]
    assert scores["data"] == pytest.approx(model.decision_function(np.array(rows)).tolist())
    assert np.prod(scores["shape"]) == 3
    only = web.ok("POST", f"{path}/infer", {**tensor(rows, [3, 2]), "outputs": [{"name": "label"}]})
    assert only["outputs"] == [label]
    for status, wrong in (
        (400, tensor([1.0], [1, 2])),
        (400, tensor([1.0, 2.0], [2])),
        (400, tensor(["a", "b"], [1, 2], "BYTES")),
        (400, {"inputs": []}),
        (400, {**tensor(rows, [3, 2]), "outputs": [{"name": "colour"}]}),
        (422, tensor([1.0, 2.0, 3.0], [1, 3])),
        (422, {"inputs": 5}),
    ):
        assert web.refused(status, "POST", f"{path}/infer", wrong)
    assert web.refused(404, "POST", "/v2/models/none/infer", tensor(rows, [3, 2]))
    assert remote.state()["n_seen"] == 6


@pytest.mark.parametrize(
    ("estimator", "labels", "kind"),
    [
        ("Perceptron", [3, 1, 2], "INT64"),
        ("PassiveAggressiveRegressor", [0.5, 1.5, 2.5], "FP64"),
        ("Perceptron", [True, False], "BOOL"),
    ],
)
def test_inference_of_numbers(web, estimator, labels, kind):
    remote = web.create(estimator)
    for i in range(12):
        remote.learn([float(i % 3), 1.0], labels[i % len(labels)])
    label = web.ok("POST", f"/v2/models/{remote.name}/infer", tensor([[1, 1], [2, 1]], [2, 2], "INT32"))["outputs"][0]
    assert label["datatype"] == kind
    assert label["data"] == [remote.predict([1.0, 1.0]), remote.predict([2.0, 1.0])]


# -- watching ---------------------------------------------------------------------------------------------------------


def samples(web):
    """Values of metrics by name and labels."""
    families = text_string_to_metric_families(web.ok("GET", "/metrics").decode())
    return {(s.name, *sorted(s.labels.values())): s.value for family in families for s in family.samples}


def test_metrics_count_what_was_sent(web):
    remote = web.create()
    before = samples(web)
    remote.learn_all(ROWS)
    remote.do("learn", {"examples": [{"x": x, "y": y} for x, y in ROWS]}, key="k")
    for _ in range(3):
        remote.predict([1.0, 0.0])
    remote.refused(422, "learn", {"x": [1.0], "y": "a"})
    remote.predict([1.0, 0.0], id="waits")
    after, state = samples(web), remote.state()

    def grown(*name):
        return after.get(name, 0.0) - before.get(name, 0.0)

    learn, predict = "POST /v1/models/{name}/learn", "POST /v1/models/{name}/predict"
    assert grown("perceptrons_requests_total", "200", learn) == 7
    assert grown("perceptrons_requests_total", "422", learn) == 1
    assert grown("perceptrons_requests_total", "200", predict) == 4
    assert grown("perceptrons_request_seconds_count", learn) == 8
    for metric, value in {
        "examples_learned_total": 12,
        "mistakes_total": state["n_mistakes"],
        "updates_total": state["n_updates"],
        "features": 2,
        "classes": 2,
        "log_position": 7,
        "log_lag": 0,
        "pending_labels": 1,
        "broken": 0,
        "window_mistake_rate": state["window"]["rate"],
    }.items():
        assert after[f"perceptrons_model_{metric}", remote.name] == value, metric
    assert after["perceptrons_models",] == len(web.ok("GET", "/v1/models")["models"])


def read_events(connection, wanted):
    """The first event with this name from a stream of server-sent events."""
    connection.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    file, name = connection.makefile("rb"), None
    with file:
        for line in file:
            if line.startswith(b"event: "):
                name = line[7:].strip().decode()
            elif line.startswith(b"data: ") and name == wanted:
                return json.loads(line[6:])


def test_drift_is_an_event(server, web):
    remote = web.create(window=100)
    rows = np.random.default_rng(0).normal(size=(1200, 2)).round(3)
    examples = [{"x": x, "y": "a" if x[0] > 0 else "b"} for x in rows.tolist()]
    for each in examples[600:]:
        each["y"] = "ab"[each["y"] == "a"]  # an abrupt change
    remote.do("learn", {"examples": examples[:600]})
    assert remote.state()["drift"]["found"] == 0
    found = []
    thread = threading.Thread(target=lambda: found.append(read_events(server.socket(), "drift")))
    thread.start()
    time.sleep(0.2)
    for begin in range(600, 1200, 50):
        remote.do("learn", {"examples": examples[begin : begin + 50]})
        if remote.state()["drift"]["found"]:
            break
    thread.join(5)
    state = remote.state()
    assert state["drift"]["found"] == 1 and found[0]["name"] == remote.name
    assert found[0]["position"] == state["drift"]["position"] == state["position"]


def listen(server):
    """Begin to listen; returns the connection and the first line of the answer."""
    connection = server.socket()
    connection.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return connection, connection.recv(12)


def test_only_so_many_may_listen_and_those_that_leave_make_room(serve, tmp_path):
    server = serve(tmp_path)
    listeners = [listen(server) for _ in range(100)]
    assert {status for _, status in listeners} == {b"HTTP/1.1 200"}
    answer = server.web().call("GET", "/v1/events")
    assert answer.status == 429 and int(answer.headers["Retry-After"]) > 0
    for connection, _ in listeners:
        connection.close()
    time.sleep(1.5)
    assert read_events(server.socket(), "state") == {"models": [], "uptime": ANY, "requests": ANY}


@pytest.mark.parametrize("path", PAGES)
def test_the_page_runs_no_scripts_of_others(web, path):
    answer = web.call("GET", path)
    assert answer.status == 200 and answer.kind == PAGES[path][1].decode() and len(answer.body) > 500
    assert answer.headers["Content-Security-Policy"].encode() == POLICY
    assert "'unsafe" not in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert not re.search(rb"(src|href)=\"(https?:)?//", answer.body)
