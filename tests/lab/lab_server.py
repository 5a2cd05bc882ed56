"""`perceptrons lab` as a process, and requests to it."""

import http.client
import json
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import msgspec
from lab_cases import decoded, points, scene
from websockets.sync.client import connect

COMMAND = [sys.executable, "-m", "perceptrons", "lab", "--no-browser"]
QUIET = "Ctrl-C stops the lab\n\ninterrupted\n"  # all that a lab says of itself


def hear_ctrl_c():
    """In the new process: a shell may have told this one to ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Lab:
    """A server, and requests to it."""

    def __init__(self, *arguments, command=COMMAND, env=None):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([*command, *arguments], preexec_fn=hear_ctrl_c, env=env, **streams)
        self.address = self.process.stdout.readline().strip()
        self.parts = urlsplit(self.address)
        self.port, self.host = self.parts.port, self.parts.netloc

    def get(self, path, method="GET", host=None, **headers):
        """The status, headers and body of an answer; the path is sent as it is."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as made:
            lines = [f"{method} {path} HTTP/1.1", f"Host: {host or self.host}", "Connection: close"]
            lines += [f"{name}: {value}" for name, value in headers.items()]
            made.sendall("\r\n".join([*lines, "", ""]).encode())
            answer = http.client.HTTPResponse(made, method=method)
            answer.begin()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

    def talk(self, query=None, host=None, **settings):
        """A WebSocket, as the page opens it."""
        settings = {"origin": f"http://{self.host}", "proxy": None, "max_size": None, **settings}
        address = f"ws://{host or self.host}/talk?{self.parts.query if query is None else query}"
        made = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        return connect(address, sock=made, open_timeout=60, ping_interval=None, **settings)

    def stop(self):
        """Press Ctrl-C. Return the exit code, the seconds that it took, and what was said."""
        begun = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, time.monotonic() - begun, said


@contextmanager
def started(*arguments, **settings):
    """A server that does not outlive the test."""
    lab = Lab(*arguments, **settings)
    try:
        yield lab
    finally:
        if lab.process.poll() is None:
            lab.process.kill()
        lab.process.communicate()


def welcomed(talk, file=None):
    """The talk, after the first message of the server."""
    head, _ = decoded(talk.recv(timeout=60))
    assert head["id"] == 0 and head["version"] and head["file"] == file
    return talk


def asked(talk, request):
    """The head of the answer."""
    talk.send(request if isinstance(request, str | bytes) else json.dumps(request))
    return decoded(talk.recv(timeout=60))[0]


def show(made=None, n=10, n_classes=2, text=False):
    """A request."""
    shown = msgspec.to_builtins(scene(*points(n, 2, n_classes, 0), *([made] if made else [])))
    request = {"do": "show", "id": 4, "scene": shown}
    return json.dumps(request) if text else request
