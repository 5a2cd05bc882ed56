"""What the server refuses because it is too much or too slow, and connections that do not behave as most do."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

pytest.importorskip("msgspec", reason="the server needs the extra 'serve'")
pytest.importorskip("uvicorn", reason="the server needs the extra 'serve'")

SMALL = ("--max-body", "20k", "--max-features", 20, "--max-classes", 4, "--max-weights", 40, "--max-models", 60)
SMALL = (*SMALL, "--max-queue", 1, "--timeout", 1)


@pytest.fixture(scope="module")
def small(serve, tmp_path_factory):
    """A server with small limits."""
    return serve(tmp_path_factory.mktemp("small"), *SMALL)


def post(path, body=b"", *headers, version="1.1"):
    """A request in bytes."""
    lines = [f"POST {path} HTTP/{version}", "Host: localhost", *headers]
    if not any(line.startswith(("Content-Length", "Transfer-Encoding")) for line in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def rest(connection):
    """Everything that comes until the server closes the connection."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


def answers(connection, n):
    """The next n answers: status and JSON."""
    file, found = connection.makefile("rb"), []
    for _ in range(n):
        status, length = int(file.readline().split()[1]), 0
        while line := file.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        body = file.read(length)
        if status != 100:
            found.append((status, json.loads(body)))
    file.close()
    return found


# -- sizes ------------------------------------------------------------------------------------------------------------


def single(label):
    return {"x": {"a": 1}, "y": label}


def several(label):
    return {"examples": [single(label)]}


@pytest.mark.parametrize("size", [21_000, 70_000])
@pytest.mark.parametrize("make", [single, several])
def test_a_large_body_is_refused(small, make, size):  # the short way takes up to 64 KB
    remote = small.web().create()
    answer = small.web().call("POST", f"{remote.path}/learn", make("l" * size))
    assert answer.status == 413 and "20,480" in answer.json["error"]
    assert remote.state()["n_seen"] == 0


def test_a_large_body_in_chunks_is_refused(small):
    remote = small.web().create()
    connection = small.socket()
    connection.sendall(post(f"{remote.path}/learn", b"", "Transfer-Encoding: chunked"))
    with suppress(ConnectionError):  # the server may close before it has read all
        for _ in range(30):
            connection.sendall(b"400\r\n" + b" " * 1024 + b"\r\n")
    ((status, body),) = answers(connection, 1)
    assert status == 413 and "larger" in body["error"]
    assert rest(connection) == b""  # closed


def test_too_many_features_are_refused(small):
    web = small.web()
    for few, many in (
        ({f"f{i}": 1 for i in range(20)}, {"one more": 1}),
        ({f"f{i}": 1 for i in range(20)}, {"f0": "text"}),
        ([1.0] * 20, [1.0] * 21),
        ([[19], [1.0]], [[20], [1.0]]),
    ):
        remote = web.create()
        remote.learn(few, 1)
        before = remote.state()
        assert "20" in remote.refused(422, "learn", {"x": many, "y": 0})
        assert "20" in remote.refused(422, "learn", {"examples": [{"x": many, "y": 0}]})
        assert remote.state() == before
        remote.learn(few, 0)
    remote = web.create()
    assert "limit is 20" in remote.refused(422, "learn", b"1 3:1 20:1\n", kind="text/x-svmlight")
    assert "limit is 20" in remote.refused(422, "learn", {"x": [[2**40], [1.0]], "y": 1})


def test_too_many_classes_are_refused(small):
    remote = small.web().create()
    remote.learn_all([([float(i)], i) for i in range(4)])
    assert "limit is 4" in remote.refused(422, "learn", {"x": [1.0], "y": 4})
    assert "limit is 4" in remote.refused(422, "learn", {"examples": [{"x": [1.0], "y": 4}]})
    remote.learn([1.0], 3)
    assert "limit is 4" in small.web().create().refused(
        422, "learn", {"examples": [{"x": [1.0], "y": y} for y in range(5)]}
    )


def test_too_many_weights_are_refused(small):
    remote = small.web().create()
    remote.learn_all([([float(i)] * 14, i % 2) for i in range(4)])
    assert "13 with 3 classes" in remote.refused(422, "learn", {"x": [1.0] * 14, "y": 2})
    assert remote.state()["classes"] == [0, 1]


def test_the_values_of_a_regression_are_not_classes(small):
    remote = small.web().create("PassiveAggressiveRegressor")
    for i in range(45):
        remote.learn([1.0], float(i))
    assert remote.state()["n_seen"] == 45


def test_too_large_model_files_are_refused(small, saved, learned):
    from perceptrons import Perceptron

    web = small.web()
    wide, many = [([1.0] * 21, 0), ([0.5] * 21, 1)], [([1.0], i) for i in range(5)]
    for examples in (wide, many):
        file = saved(learned(Perceptron(), examples))
        assert "limit" in web.refused(422, "POST", "/v1/models/large", file, kind="application/octet-stream")


def test_a_model_file_with_too_many_weights_is_refused(small, saved, learned):
    from perceptrons import Perceptron

    model = learned(Perceptron(), [([float(i)] * 20, i) for i in range(4)])
    web = small.web()
    assert "limit" in web.refused(422, "POST", "/v1/models/weights", saved(model), kind="application/octet-stream")


def test_too_many_models_are_refused(serve, tmp_path):
    web = serve(tmp_path, "--max-models", 2).web()
    first, _ = web.create(), web.create()
    assert "limit" in web.refused(409, "POST", "/v1/models/third", {})
    web.ok("DELETE", first.path)
    web.create(name="third")


def test_a_full_queue_is_refused(small):
    """One request may wait: of many at once, some are refused, and all others learned."""
    remote = small.web().create()

    def send(i):
        web = small.web()
        return [web.call("POST", f"{remote.path}/learn", {"x": [1.0, float(i)], "y": i % 2}) for _ in range(10)]

    with ThreadPoolExecutor(8) as pool:
        found = [answer for part in pool.map(send, range(8)) for answer in part]
    refused = [answer for answer in found if answer.status != 200]
    assert refused and {answer.status for answer in refused} == {429}
    assert all(int(answer.headers["Retry-After"]) >= 1 for answer in refused)
    assert remote.state()["n_seen"] == len(found) - len(refused) > 0
    assert remote.state()["queue"] == 0


# -- slow clients -----------------------------------------------------------------------------------------------------

HALVES = {
    "nothing": b"",
    "half a head": b"POST /v1/models/m/learn HTTP/1.1\r\nHost: loc",
    "half a body": post("/v1/models/m/learn", b'{"x"', "Content-Length: 50"),
    "half a body with a key": post("/v1/models/m/learn", b'{"x"', "Content-Length: 50", "Idempotency-Key: a"),
    "half a body in chunks": post("/v1/models/m/learn", b"4\r\n{", "Transfer-Encoding: chunked"),
    "half a large body": post("/v1/models/m/learn", b"1 2:1\n" * 99, "Content-Length: 9999", "Content-Type: text/csv"),
}


def test_slow_clients_are_cut_off(small):
    small.web().create(name="m")
    connections = {name: small.socket() for name in HALVES}
    begun = time.monotonic()
    for name, connection in connections.items():
        connection.sendall(HALVES[name])
    for name, connection in connections.items():
        answer = rest(connection)
        assert 0.8 < time.monotonic() - begun < 4.0, name
        assert answer == b"" or b" 408 " in answer.split(b"\r\n")[0], name
    assert small.web().model("m").state()["n_seen"] == 0


def test_clients_that_trickle_are_cut_off(small):
    connection = small.socket()
    end = time.monotonic() + 3.0
    with pytest.raises(OSError):
        for byte in post("/v1/models/m/learn", b"{}"):
            connection.sendall(bytes([byte]))
            time.sleep(0.3)
            if time.monotonic() > end:
                break


@pytest.mark.parametrize("what", ["many pages", "a large file"])
def test_clients_that_do_not_take_their_answers_are_cut_off_quietly(serve, tmp_path, what):
    server = serve(tmp_path, "--timeout", 1)
    remote = server.web().create()
    for y in range(4):
        remote.learn([[1_000_000], [1.0]], y)
    path, n = ("/openapi.json", 2000) if what == "many pages" else (f"{remote.path}/file", 1)
    connection = server.socket()
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * n)
    time.sleep(4.0)
    size = 0
    with suppress(ConnectionError):
        while part := connection.recv(1 << 20):
            size += len(part)
    assert 0 < size < 30 << 20  # of 32 MB or more
    assert "Traceback" not in server.err.read_text()
    assert remote.on(server).counts[0] == 4


# -- connections ------------------------------------------------------------------------------------------------------


def test_clients_that_leave_do_not_hurt_others(server, web):
    remote, faults = web.create(), server.err.read_text().count("Traceback")
    for i in range(30):
        connection = server.socket()
        headers = [f"Idempotency-Key: {i}"] if i % 2 else []
        connection.sendall(post(f"{remote.path}/learn", b'{"x": [1.0, 2.0], "y": %d}' % (i % 2), *headers))
        if i % 3 == 0:  # a reset, not only an end
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        connection.close()
    remote.learn([1.0, 1.0], 1)
    time.sleep(0.2)
    state = remote.state()
    assert state["queue"] == 0 and state["position"] == state["durable"] == state["n_seen"]
    assert len(remote.log()) == state["n_seen"] > 20
    assert server.err.read_text().count("Traceback") == faults


def test_requests_on_one_connection_are_answered_in_order(server, web):
    remote = web.create()
    remote.learn_all([([0.0, 1.0], 0), ([1.0, 0.0], 1)])
    connection, sent = server.socket(), []
    for i in range(20):
        learn = b'{"x": [1.0, %d], "y": %d}' % (i, i % 2)
        sent += [
            post(f"{remote.path}/learn", learn),
            f"GET {remote.path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(),
            post(f"{remote.path}/predict", b'{"x": [1.0, 2.0]}'),
            post(f"{remote.path}/predict-learn", learn, f"Idempotency-Key: {i}"),
            post(f"{remote.path}/learn", b"[", "Content-Type: application/json"),
        ]
    connection.sendall(b"".join(sent))
    found = answers(connection, len(sent))
    for i in range(20):
        learned, state, predicted, both, refused = found[5 * i : 5 * i + 5]
        assert learned == (200, {"position": 3 + 2 * i, "learned": 1, "mistakes": learned[1]["mistakes"]})
        assert state[1]["n_seen"] == 3 + 2 * i
        assert predicted[0] == 200 and list(predicted[1]) == ["prediction"]
        assert both[1]["position"] == 4 + 2 * i
        assert refused[0] in (400, 422)
    assert remote.state()["n_seen"] == 42


def test_old_and_unusual_requests(server, web):
    remote = web.create()
    path, body = f"{remote.path}/learn", b'{"x": [1.0], "y": 1}'
    connection = server.socket()  # HTTP/1.0 closes after the answer
    connection.sendall(post(path, body, version="1.0"))
    assert rest(connection).split(b"\r\n")[0].split()[1] == b"200"
    connection = server.socket()
    connection.sendall(post(path, body, "Connection: close"))
    assert rest(connection).endswith(b'{"position":2,"learned":1,"mistakes":0}')
    connection = server.socket()
    connection.sendall(post(path, b"", "Transfer-Encoding: chunked") + b"5\r\n" + body[:5] + b"\r\n")
    time.sleep(0.05)
    connection.sendall(b"%x\r\n" % len(body[5:]) + body[5:] + b"\r\n0\r\n\r\n")
    assert answers(connection, 1)[0][1]["position"] == 3
    connection.sendall(post(path, b"", f"Content-Length: {len(body)}", "Expect: 100-continue"))
    assert connection.recv(100).startswith(b"HTTP/1.1 100")
    connection.sendall(body)
    assert answers(connection, 1)[0][1]["position"] == 4
    for part in (post(path, body)[:40], post(path, body)[40:-8], post(path, body)[-8:]):  # in pieces, on the same one
        connection.sendall(part)
        time.sleep(0.02)
    assert answers(connection, 1)[0][1]["position"] == 5
    connection.sendall(b"nonsense\r\n\r\n")
    assert rest(connection).startswith(b"HTTP/1.1 400")
    assert remote.state()["n_seen"] == 5


@pytest.mark.parametrize("estimator", ["Perceptron", "KernelPerceptron"])
def test_two_threads_learn_everything(server, web, estimator):
    remote = web.create(estimator)

    def send(k):
        own = server.web().model(remote.name)
        return [own.learn([float(k), float(i)], (i + k) % 2, key=f"{k}-{i}")["position"] for i in range(50)]

    with ThreadPoolExecutor(2) as pool:
        positions = [position for part in pool.map(send, range(2)) for position in part]
    assert sorted(positions) == list(range(1, 101))
    assert remote.state()["n_seen"] == 100 and remote.state()["durable"] == 100


def test_unknown_routes_and_methods(web):
    assert "openapi.json" in web.refused(404, "GET", "/v1/nothing")
    assert "does not take PUT" in web.refused(405, "PUT", "/v1/models")
    assert web.refused(404, "POST", "/v1/models/none/learn", {"x": [1.0], "y": 1})


# -- heads ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "head",
    [
        "".join(f"X-{k}: 1\r\n" for k in range(101)),
        "".join(f"X-{k}: {'v' * 1000}\r\n" for k in range(70)),
        f"X: {'v' * 70_000}\r\n",
        f"{'X' * 70_000}: 1\r\n",
    ],
    ids=["101 headers", "70 kB", "a long value", "a long name"],
)
def test_large_heads_are_refused(server, web, head):
    connection = server.socket()
    connection.sendall(f"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n{head}\r\n".encode())
    said = rest(connection)
    assert said.startswith(b"HTTP/1.1 431 ") and b"connection: close" in said.lower()
    assert set(json.loads(said.split(b"\r\n\r\n")[1])) == {"error"}
    assert web.ok("GET", "/v1/models")


@pytest.mark.parametrize(
    "begin",
    [
        b"GET / HTTP/1.1\r\nX: ",
        b"GET /",
        b"POST /v1/models/none/learn HTTP/1.1\r\nHost: l\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
    ],
    ids=["header", "target", "trailer"],
)
def test_endless_heads_are_cut_off(server, web, begin):
    connection = server.socket()
    sent = 0
    with suppress(ConnectionError):  # a server that blocks is another matter
        connection.sendall(begin)
        while sent < 16 << 20:
            connection.sendall(b"v" * 65536)
            sent += 65536
    assert sent < 16 << 20
    assert web.ok("GET", "/v1/models")


@pytest.mark.parametrize("upgrade", ["h2c", "websocket", "TLS/1.0", "nothing"])
def test_an_offer_to_upgrade_is_ignored(server, web, upgrade):
    """The body is the body, and not a second request."""
    remote = web.create()
    inner = post(f"{remote.path}/learn", json.dumps(single("inner")).encode())
    outer = ("Connection: Upgrade, HTTP2-Settings", f"Upgrade: {upgrade}", "HTTP2-Settings: AAMAAABkAAQAAP__")
    good = json.dumps(single("good")).encode()
    connection = server.socket()
    connection.sendall(post(f"{remote.path}/learn", inner, *outer) + post(f"{remote.path}/learn", good, *outer))
    (first, _), (second, _) = answers(connection, 2)
    assert (first, second) == (400, 200)
    assert remote.state()["classes"] == ["good"]


@pytest.mark.parametrize("version, close", [("1.0", "Upgrade"), ("1.1", "close, Upgrade")])
def test_a_connection_that_is_to_be_closed_is_closed_after_an_offer_to_upgrade(server, web, version, close):
    remote, body = web.create(), json.dumps(single("good")).encode()
    connection = server.socket()
    headers = (f"Connection: {close}", "Upgrade: h2c")
    connection.sendall(post(f"{remote.path}/learn", body, *headers, version=version))
    assert rest(connection).split()[1] == b"200"
    assert remote.counts[0] == 1


def test_head_is_answered_without_a_body(server):
    for path in ("/v1/events", "/v1/models"):
        connection = server.socket()
        connection.sendall(f"HEAD {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        said = rest(connection)
        assert said.split()[1] in (b"200", b"405") and said.endswith(b"\r\n\r\n"), said


# -- questions --------------------------------------------------------------------------------------------------------


def test_a_question_has_a_small_body_and_learning_a_large_one(server, web):
    remote = web.create()
    rows = [{"x": {"a": 1.0}, "y": "yes"}] * 60_000
    large = json.dumps({"examples": rows}).encode()
    assert len(large) > 1 << 20
    remote.do("learn", large, kind="application/json")
    assert remote.counts[0] == 60_000
    assert "1,048,576 bytes" in remote.refused(
        413, "predict", json.dumps({"examples": [{"a": 1.0}] * 120_000}).encode()
    )
    assert remote.counts[0] == 60_000  # the rest of the body was read and dropped: the connection goes on


@pytest.mark.parametrize("datatype", ["FP64", "BYTES"])
def test_inference_does_not_multiply_memory(serve, tmp_path, datatype):
    """One long text among many short ones: an array of texts would have the room of the longest for each."""
    server = serve(tmp_path)
    remote = server.web().create()
    remote.learn([1.0], "a")
    before = peak(server.pid)
    data = ["s"] * 20_000 + ["l" * 60_000]
    tensor = {"name": "x", "shape": [20_001, 1], "datatype": datatype, "data": data}
    answer = server.web().call("POST", f"/v2/models/{remote.name}/infer", {"inputs": [tensor]})
    assert 400 <= answer.status < 500
    assert peak(server.pid) - before < 64 << 20


def peak(process):
    """The most memory that a process has had, in bytes."""
    with open(f"/proc/{process}/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))


@pytest.mark.parametrize("verb", ["predict", "infer"])
def test_an_answer_has_a_limit_on_its_scores(web, verb):
    remote = web.create(classes=[f"class {k}" for k in range(500)])
    remote.learn([1.0], "class 0")
    for n, status in ((131, 200), (132, 413)):
        if verb == "predict":
            body, path = {"examples": [{"x": [1.0]}] * n}, f"{remote.path}/predict"
            answer = web.call("POST", f"{path}?scores=true", body)
        else:
            tensor = {"name": "x", "shape": [n, 1], "datatype": "FP64", "data": [1.0] * n}
            body, path = {"inputs": [tensor]}, f"/v2/models/{remote.name}/infer"
            answer = web.call("POST", path, body)
            body["outputs"] = [{"name": "label"}]
        assert answer.status == status
        assert web.call("POST", path, body).status == 200  # without scores


def test_requests_that_do_not_wait_for_answers_are_answered_in_order(server, web):
    remote = web.create()
    connection, n = server.socket(), 3000
    sent = [f"GET {remote.path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(), post(f"{remote.path}/learn", b"no")]
    sent.append(post(f"{remote.path}/learn", json.dumps(single("yes")).encode()))
    sender = threading.Thread(target=connection.sendall, args=(b"".join(sent[k % 3] for k in range(n)),))
    sender.start()
    found = answers(connection, n)
    sender.join()
    assert [status for status, _ in found] == [200, 400, 200] * (n // 3)
    assert [body["position"] for _, body in found[2::3]] == list(range(1, n // 3 + 1))
