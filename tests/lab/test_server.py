"""The real server, in a process of its own: who gets in, what it answers, and how pages talk with it."""

import json
import re
import threading
from pathlib import Path

import pytest
from lab_cases import choice, kernel_choice
from lab_server import asked, show, started, welcomed
from websockets.exceptions import ConnectionClosed, InvalidStatus

import perceptrons
from perceptrons.lab.web.app import LARGEST, PAGES, REFUSED

PACKAGE = str(Path(perceptrons.__file__).parent)
HEADERS = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


@pytest.fixture(scope="module")
def lab():
    with started() as found:
        yield found
        code, _, said = found.stop()
        assert code == 130 and said.endswith("\ninterrupted\n")
        assert PACKAGE not in said and "Warning" not in said  # no traceback of ours, whatever was sent


def assert_answers(lab):
    with lab.talk() as talk:
        assert asked(welcomed(talk), {"do": "set", "id": 3, "name": "and"})["labels"] == [0, 0, 0, 1]


# -- who gets in ------------------------------------------------------------------------------------------------------


def test_the_index_needs_the_token(lab):
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{20,}", lab.address)
    status, _, body = lab.get(f"/?{lab.parts.query}")
    assert status == 200 and b"<html" in body
    for query in (
        "",
        "?token=",
        "?token=wrong",
        "?token=%ff%00",
        f"?Token={lab.parts.query[6:]}",
        "?token=%E2%98%83",
    ):
        status, headers, body = lab.get(f"/{query}")
        assert status == 403 and headers["content-type"].startswith("text/html")
        assert b"perceptrons lab" in body and b"Open the address" in body


def test_only_this_machine_is_asked_for(lab):
    others = ["evil.example", f"evil.example:{lab.port}", "127.0.0.1", "localhost", f"127.0.0.1:{lab.port + 1}"]
    others += [f"127.0.0.1.evil.example:{lab.port}", f"0.0.0.0:{lab.port}", f"[::1]:{lab.port}"]
    for host in others:
        assert lab.get(f"/?{lab.parts.query}", host=host)[0] == 403 and lab.get("/main.js", host=host)[0] == 403
        with pytest.raises(InvalidStatus, match="403"), lab.talk(host=host):
            pass
    assert lab.get(f"/?{lab.parts.query}", host=f"localhost:{lab.port}")[0] == 200
    with lab.talk(host=f"localhost:{lab.port}", origin=f"http://localhost:{lab.port}") as talk:
        welcomed(talk)


def test_pages_of_other_sites_are_refused(lab):
    others = ["http://evil.example", "null", f"https://{lab.host}", f"http://localhost:{lab.port}", "http://127.0.0.1"]
    for origin in others:
        assert lab.get(f"/?{lab.parts.query}", Origin=origin)[0] == 403 and lab.get("/main.js", Origin=origin)[0] == 403
        with pytest.raises(InvalidStatus, match="403"), lab.talk(origin=origin):
            pass
    with pytest.raises(InvalidStatus, match="403"), lab.talk(origin=None):  # a browser always tells
        pass
    assert lab.get("/main.js", Origin=f"http://{lab.host}")[0] == 200


def test_a_talk_needs_the_token(lab):
    for query in ("", "token=wrong"):
        with lab.talk(query) as talk:
            with pytest.raises(ConnectionClosed) as closed:
                talk.recv(timeout=60)
            assert closed.value.rcvd.code == REFUSED and "earlier start" in closed.value.rcvd.reason


def test_the_port_is_open_on_this_machine_only(lab):
    found = set()
    for table, size in (("/proc/net/tcp", 8), ("/proc/net/tcp6", 32)):
        with open(table) as lines:
            for line in list(lines)[1:]:
                address, state = line.split()[1], line.split()[3]
                if state == "0A" and address.endswith(f":{lab.port:04X}"):  # it listens
                    found.add(address[:size])
    assert found == {"0100007F"}  # 127.0.0.1


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/..%2f..%2fanswers.py",
        "/..%2fanswers.py",
        "/%2e%2e/answers.py",
        "/../answers.py",
        "/..\\answers.py",
        "/..%5c..%5canswers.py",
        "/%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "//etc/passwd",
        "/%2fetc%2fpasswd",
        "/./index.html/../../answers.py",
        "/main.js%00.css",
        "/main.js/",
        "/.",
        "/%2e",
        "/page",
        "/answers.py",
        "/nothing.js",
        "/index.html.bak",
        "/" + "a" * 5000 + ".js",
    ],
)
def test_no_other_files_are_served(lab, path):
    status, _, body = lab.get(path)
    assert status in (400, 404) and b"import" not in body and b"root:" not in body


def test_answers_have_headers_that_keep_the_page_to_itself(lab):
    answers = [lab.get(path) for path in (f"/?{lab.parts.query}", "/", "/main.js", "/style.css", "/nothing.js")]
    answers += [lab.get("/main.js", host="evil.example"), lab.get("/", method="POST")]
    assert [status for status, _, _ in answers] == [200, 403, 200, 200, 404, 403, 405]
    for _, headers, body in answers:
        assert HEADERS.items() <= headers.items() and "server" not in headers
        policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == "'self'" and "unsafe" not in str(policy)
        assert policy["connect-src"].split() == [f"ws://127.0.0.1:{lab.port}", f"ws://localhost:{lab.port}"]
        assert b"style=" not in body or headers["content-type"].startswith(
            "text/javascript"
        )  # which the policy forbids
    assert answers[2][1]["content-type"].startswith("text/javascript") and b"Traceback" not in answers[-1][2]


# -- talks ------------------------------------------------------------------------------------------------------------


def test_two_pages_at_once(lab):
    """Each has its own scene, and both are answered while the other computes."""
    heads = {}

    def use(name, made):
        with lab.talk() as talk:
            welcomed(talk)
            heads[name] = [asked(talk, show(made, n=100)) for _ in range(3)]

    models = {"linear": choice(max_iter=300, tol=None), "kernel": kernel_choice(max_iter=20, tol=None)}
    threads = [threading.Thread(target=use, args=item) for item in models.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [head["models"][0]["kernel"] for name in models for head in heads[name]] == [False] * 3 + [True] * 3


@pytest.mark.parametrize(
    "sent",
    [b"\xff\x00\xfe garbage", b"", json.dumps(show()).encode(), "", "{", "[]", '{"do": 1}', '{"x": ' + "[" * 5000],
    ids=range(8),
)
def test_garbage_is_answered(lab, sent):
    with lab.talk() as talk:
        head = asked(welcomed(talk), sent)
        assert head["id"] == -1 and head["error"].startswith("not a request: ") and len(head["error"]) > 25
        assert asked(talk, show())["id"] == 4


def test_text_that_is_not_unicode_ends_the_talk(lab):
    with lab.talk() as talk:
        welcomed(talk)
        talk.send(b"\xff\xff", text=True)
        with pytest.raises(ConnectionClosed):
            talk.recv(timeout=60)
    assert_answers(lab)


def test_huge_messages_are_refused(lab):
    with lab.talk() as talk:
        welcomed(talk)
        with pytest.raises(ConnectionClosed):
            talk.send(" " * (LARGEST + 1))
            talk.recv(timeout=60)
    with lab.talk() as talk:  # many small pieces count together
        welcomed(talk)
        with pytest.raises(ConnectionClosed):
            talk.send(" " * (1 << 20) for _ in range(LARGEST // (1 << 20) + 1))
            talk.recv(timeout=60)
    with lab.talk() as talk:
        assert asked(welcomed(talk), json.dumps(show()) + " " * (LARGEST - 10_000))["id"] == 4
    assert_answers(lab)


def test_pages_have_a_limit(lab):
    talks = [lab.talk() for _ in range(PAGES)]
    opened = [welcomed(talk.__enter__()) for talk in talks]
    with lab.talk() as more:
        with pytest.raises(ConnectionClosed) as closed:
            more.recv(timeout=60)
        assert closed.value.rcvd.code == REFUSED and "close one" in closed.value.rcvd.reason
    for talk in opened:
        talk.close()
    assert_answers(lab)
