"""Who gets in: tokens and their scopes, hosts and origins, names of models, TLS; and the command itself."""

import http.client
import json
import shlex
import shutil
import signal
import ssl
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("msgspec", reason="the server needs the extra 'serve'")
pytest.importorskip("uvicorn", reason="the server needs the extra 'serve'")

from perceptrons import Perceptron, save
from perceptrons.client import Client
from perceptrons.serve.web.routes import ROUTES
from perceptrons.serve.web.tokens import SCOPES, Tokens


@pytest.fixture(scope="module")
def guarded(serve, tmp_path_factory):
    """A server with a token for each scope."""
    folder = tmp_path_factory.mktemp("guarded")
    tokens = {scope: Tokens(folder).make(scope, scope) for scope in SCOPES}
    server = serve(folder)
    server.tokens = tokens
    return server


def visit(web, route):
    """The status of a route for the model 'm', with a body that changes nothing."""
    path = route.path.replace("{name}", "m")
    if path == "/v1/events":  # it never ends
        web.http.request("GET", path, headers=web.headers)
        response = web.http.getresponse()
        web.http.close()
        return response.status
    return web.call(route.method, path, b"" if route.method == "POST" else None).status


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_each_route_needs_its_scope(guarded, route):
    nobody = guarded.web()
    wrong = guarded.web(token="perceptron_" + "x" * 43)
    if route.scope is None:
        assert visit(nobody, route) == visit(wrong, route) == 200
        return
    for web in (nobody, wrong):
        assert visit(web, route) == 401
    for scope, token in guarded.tokens.items():
        status = visit(guarded.web(token=token), route)
        assert (status == 403) == (SCOPES.index(scope) < route.scope), (scope, status)
        assert status not in (401, 500)


def test_the_short_way_asks_for_tokens_too(guarded):
    admin, learn, read = (guarded.web(token=guarded.tokens[scope]) for scope in ("admin", "learn", "read"))
    admin.create(name="short")
    example = {"x": [1.0], "y": 1}
    answer = guarded.web().call("POST", "/v1/models/short/learn", example)
    assert answer.status == 401 and answer.headers["WWW-Authenticate"] == "Bearer"
    assert "scope 'learn'" in read.refused(403, "POST", "/v1/models/short/learn", example)
    learn.ok("POST", "/v1/models/short/learn", example)
    assert read.ok("POST", "/v1/models/short/predict", {"x": [1.0]}) == {"prediction": 1}
    assert guarded.web().call("POST", "/v1/models/short/predict", {"x": [1.0]}).status == 401
    assert read.ok("GET", "/v1/models/short")["n_seen"] == 1


def test_only_who_may_learn_leaves_predictions_waiting(serve, tmp_path):
    """They are written to the log, and take room."""
    made = {scope: Tokens(tmp_path).make(scope, scope) for scope in SCOPES}
    server = serve(tmp_path)
    remote = server.web(token=made["admin"]).create()
    body = {"x": {"a": 1.0}, "id": "waits"}
    reader = server.web(token=made["read"])
    assert reader.ok("POST", f"{remote.path}/predict", {"x": {"a": 1.0}}) == {"prediction": None}
    assert "learn" in reader.refused(403, "POST", f"{remote.path}/predict", body)
    assert remote.state()["pending"] == 0
    server.web(token=made["learn"]).ok("POST", f"{remote.path}/predict", body)
    assert remote.state()["pending"] == 1


def test_tokens_are_not_stored(guarded):
    path = guarded.folder / "tokens.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for file in guarded.folder.rglob("*"):
        if file.is_file():
            assert not any(token.encode() in file.read_bytes() for token in guarded.tokens.values())
    for file in (guarded.folder / "models").rglob("*.sqlite*"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE((guarded.folder / "models").stat().st_mode) == 0o700


def test_tokens_are_made_and_revoked_while_the_server_runs(guarded, command):
    made = command("serve", "token", guarded.folder, "--scope", "read", "--name", "brief")
    token = made.out.read_text().strip()
    assert made.code == 0 and token.startswith("perceptron_") and "shown only now" in made.err.read_text()
    again = command("serve", "token", guarded.folder, "--name", "brief")
    assert again.code == 2 and "already" in again.err.read_text()
    time.sleep(1.1)
    web = guarded.web(token=token)
    web.ok("GET", "/v1/models")
    assert command("serve", "token", guarded.folder, "--revoke", "brief").code == 0
    time.sleep(1.1)
    web.refused(401, "GET", "/v1/models")
    assert command("serve", "token", guarded.folder, "--revoke", "brief").code == 2


def test_tokens_are_listed(command, tmp_path):
    for scope in ("read", "admin"):
        command("serve", "token", tmp_path, "--scope", scope)
    assert command("serve", "token", tmp_path, "--list").out.read_text() == "read   1\nadmin  2\n"


def test_the_last_token_that_is_revoked_does_not_open_the_door(serve, tmp_path):
    token = Tokens(tmp_path).make("only", "admin")
    server = serve(tmp_path)
    web = server.web(token=token)
    web.ok("GET", "/v1/models")
    Tokens(tmp_path).revoke("only")
    time.sleep(1.1)
    web.refused(401, "GET", "/v1/models")
    (tmp_path / "tokens.json").unlink()
    time.sleep(1.1)
    server.web().refused(401, "GET", "/v1/models")


def at_once(works):
    """Run functions in threads of their own, all at the same time; return their results."""
    begin = threading.Barrier(len(works))

    def run(work):
        begin.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return [done.result() for done in [pool.submit(run, work) for work in works]]


def test_tokens_that_are_made_at_the_same_time_all_survive(tmp_path):
    def make():
        return [Tokens(tmp_path).make_numbered("read") for _ in range(5)]

    made = [each for some in at_once([make] * 8) for each in some]
    names = [str(k) for k in range(1, 41)]
    assert sorted((name for name, _ in made), key=int) == [each.name for each in Tokens(tmp_path).all()] == names
    assert all(Tokens(tmp_path).scope_of(text.encode()) == 0 for _, text in made)


def test_commands_at_the_same_time_make_different_tokens(tmp_path):
    words = [sys.executable, "-m", "perceptrons", "serve", "token", tmp_path]
    started = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(4)]
    texts = {process.communicate(timeout=60)[0].strip() for process in started}
    assert [process.returncode for process in started] == [0] * 4 and len(texts) == 4
    assert all(Tokens(tmp_path).scope_of(text) == 1 for text in texts)


def test_a_token_that_is_revoked_while_others_are_made_stays_revoked(tmp_path):
    for k in range(8):
        Tokens(tmp_path).make(f"old{k}", "admin")

    def make(k):
        for j in range(4):
            Tokens(tmp_path).make(f"new{k}{j}", "read")

    at_once([partial(make, k) for k in range(4)] + [partial(Tokens(tmp_path).revoke, f"old{k}") for k in range(8)])
    found = sorted(each.name for each in Tokens(tmp_path).all())
    assert found == [f"new{k}{j}" for k in range(4) for j in range(4)]


def test_revoking_a_token_that_does_not_exist_makes_no_files(tmp_path):
    with pytest.raises(ValueError, match="there is no token 'none'"):
        Tokens(tmp_path / "new").revoke("none")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "old, new", [("admin", "admio"), ("scope", "scopd"), ('"digest":"', '"digest":"x'), ("[", "{")]
)
def test_a_damaged_file_lets_nobody_in(tmp_path, old, new):
    token = Tokens(tmp_path).make("only", "admin").encode()
    running = Tokens(tmp_path)
    path = tmp_path / "tokens.json"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ValueError, match="is damaged"):
        Tokens(tmp_path)
    running.refresh()
    assert running.required and running.scope_of(token) == SCOPES.index("admin")


# -- browsers ---------------------------------------------------------------------------------------------------------


def test_pages_of_other_sites_are_kept_out(server, guarded):
    port = server.port
    for host, origin, status in (
        (f"127.0.0.1:{port}", None, 200),
        (f"localhost:{port}", f"http://localhost:{port}", 200),
        ("[::1]", None, 200),
        (f"evil.example:{port}", None, 403),  # DNS that points to this machine
        (f"127.0.0.1.evil.example:{port}", None, 403),
        (f"127.0.0.1:{port}", "https://evil.example", 403),
        (f"127.0.0.1:{port}", "null", 403),
        (f"127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}", 403),
    ):
        for method, path in (("GET", "/v1/models"), ("POST", "/v1/models/none/learn"), ("GET", "/")):
            headers = {"Host": host} | ({} if origin is None else {"Origin": origin})
            found = server.web().call(method, path, headers=headers).status
            assert (found == 403) == (status == 403), (host, origin, method, path, found)
    web = guarded.web(token=guarded.tokens["read"])
    assert web.call("GET", "/v1/models", headers={"Host": "models.example"}).status == 200  # the token is enough
    assert web.call("GET", "/v1/models", headers={"Origin": "https://evil.example"}).status == 403


def test_origins_are_checked_on_the_short_way(server, web):
    remote = web.create()
    for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}):
        assert server.web().call("POST", f"{remote.path}/learn", {"x": [1.0], "y": 1}, headers=headers).status == 403
    assert remote.state()["n_seen"] == 0


NAMES = [
    "..",
    "%2e%2e",
    "../x",
    "..%2fx",
    "%2e%2e%2fx",
    "a/b",
    "a%2fb",
    "a%00b",
    "a%0ab",
    "",
    "a" * 65,
    ".hidden",
    "-a",
    "ä",
]


@pytest.mark.parametrize("name", NAMES)
def test_no_name_leaves_the_directory(server, web, name):
    before = sorted(path.name for path in server.folder.parent.rglob("*") if ".new-" not in path.name)
    path = f"/v1/models/{name.replace('ä', '%C3%A4')}"
    for method, place in (
        ("POST", path),
        ("GET", path),
        ("DELETE", path),
        ("GET", f"{path}/file"),
        ("POST", f"{path}/learn"),
    ):
        web.http.request(method, place, b"{}" if method == "POST" else None)
        response = web.http.getresponse()
        response.read()
        assert response.status in (307, 404, 405, 422), (method, place, response.status)
    assert sorted(path.name for path in server.folder.parent.rglob("*") if ".new-" not in path.name) == before


def test_names_of_64_characters_are_good(server, web):
    remote = web.create(name="A" + "b._-9" * 12 + "xyz")
    assert len(remote.name) == 64 and (server.folder / "models" / remote.name).is_dir()


# -- TLS --------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_tls(serve, tmp_path, command):
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    extra = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
    subprocess.run(["openssl", *words.split(), *extra], check=True, capture_output=True)
    server = serve(tmp_path / "served", "--tls-cert", certificate, "--tls-key", key)
    assert server.url == f"https://127.0.0.1:{server.port}"
    with Client(server.url, cafile=certificate) as client:
        model = client.create("m")
        model.learn([1.0], "a")
        assert model.predict([1.0]) == "a"
    with pytest.raises(ssl.SSLCertVerificationError):
        server.web(context=ssl.create_default_context()).call("GET", "/v1/models")
    with pytest.raises((http.client.HTTPException, OSError)):
        server.web().call("GET", "/v2")
    assert command("serve", tmp_path, "--tls-cert", certificate).code == 2


# -- the command ------------------------------------------------------------------------------------------------------


def test_other_machines_need_tokens(command, tmp_path):
    done = command("serve", tmp_path, "--host", "0.0.0.0", "--port", 0)
    assert done.code == 2 and "make a token" in done.err.read_text() and "Traceback" not in done.err.read_text()


def test_one_directory_has_one_server(server, command):
    done = command("serve", server.folder, "--port", 0)
    assert done.code == 2 and "is used by another server" in done.err.read_text()
    assert "Traceback" not in done.err.read_text()


def test_a_port_that_is_taken_is_an_error(server, command, tmp_path):
    done = command("serve", tmp_path, "--port", server.port)
    assert done.code == 2 and "in use" in done.err.read_text()


def test_help_and_a_start_as_anyone_would(tmp_path):
    words = [sys.executable, "-m", "perceptrons", "serve"]
    process = subprocess.Popen([*words, tmp_path / "new", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        assert line.startswith("http://127.0.0.1:") and "/openapi.json" in line
        assert "no tokens" in process.stdout.readline()
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) in (0, -signal.SIGTERM)
        process.stdout.close()


def test_model_files_in_the_directory_are_told(serve, tmp_path):
    save(Perceptron().fit([[0.0], [1.0]], ["no", "yes"]), tmp_path / "spam filter.perceptron")
    server = serve(tmp_path)
    assert server.web().ok("GET", "/v1/models") == {"models": []}  # it answers when it has said everything
    said = server.out.read_text()
    assert "spam filter.perceptron is not served" in said
    words = shlex.split(next(line for line in said.splitlines() if "curl" in line))
    header, file, address = words[2], words[4], words[5]
    assert words[:2] == ["curl", "-H"] and words[3] == "--data-binary" and file[:1] == "@"
    path = address.removeprefix(server.url)
    server.web().ok("POST", path, Path(file[1:]).read_bytes(), kind=header.split(": ")[1])
    server.stop()
    again = server.again()
    assert "is not served" not in again.out.read_text()
    assert again.web().model("spam-filter").predict([1.0]) == "yes"


def test_help(command):
    text = command("serve", "--help").out.read_text()
    assert all(option in text for option in ("--host", "--port", "--max-body", "--timeout", "serve token"))
    assert "--revoke" in command("serve", "token", "--help").out.read_text()


def test_a_server_that_stops_finishes_what_it_accepted(serve, tmp_path):
    server = serve(tmp_path)
    remote = server.web().create()
    lines = "\n".join(json.dumps({"x": [float(i % 7), 1.0], "y": i % 2}) for i in range(60_000)).encode()
    other = server.web()
    other.ok("GET", remote.path)
    other.http.request("POST", f"{remote.path}/learn", lines, {"Content-Type": "application/x-ndjson"})
    time.sleep(0.1)
    events = server.socket()
    events.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    events.recv(1000)
    begun = time.monotonic()
    code = server.stop()
    answer = other.http.getresponse()
    assert answer.status == 200 and json.loads(answer.read())["learned"] == 60_000
    assert code in (0, -signal.SIGTERM) and time.monotonic() - begun < 10
    assert "Traceback" not in server.err.read_text()
    state = remote.on(server.again()).state()
    assert state["n_seen"] == 60_000 and state["snapshot"] == state["position"] == 1
