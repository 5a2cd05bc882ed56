"""Measure what strangers cost a server: clients without a token, or with one that may only read.

    python tests/serve/strangers.py [connections=64] [seconds=3]

Many connections at the same time send the largest requests that the server takes, as often as they can. Meanwhile the
peak of its memory is compared with its memory before, and a health check is timed again and again.
"""

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from killing import Connection

from perceptrons.serve.web.tokens import Tokens

MOST = (1 << 20) - 2000  # bytes of a question, about
CLASSES = 500  # of a model
SENDER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import strangers
strangers.send_all(Path(sys.argv[2]), *map(int, sys.argv[3:5]), float(sys.argv[5]), sys.argv[6] == "True")
"""


class Cost(NamedTuple):
    """What one kind of request cost: bytes of memory above those before, and the slowest health check in seconds."""

    kind: str
    memory: int
    seconds: float
    statuses: str


def http(method, path, body=b"", *headers):
    """A request on the wire."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def filled(begin, part, end, most=MOST):
    """JSON of as many parts as fit: `part` may contain a %d."""
    parts, size = [], len(begin) + len(end)
    while size < most:
        parts.append(part % len(parts) if "%d" in part else part)
        size += len(parts[-1]) + 1
    return (begin + ",".join(parts[:-1]) + end).encode()


def requests(token):
    """Requests by kind, and whether their answers are read."""
    allowed = f"Authorization: Bearer {token}"

    def ask(verb, body, kind="application/json", model="names"):
        return http("POST", f"/v1/models/{model}/{verb}", body, allowed, f"Content-Type: {kind}"), True

    def infer(data, width, model):
        shape = f'{{"inputs":[{{"name":"X","datatype":"FP64","shape":[ROWS,{width}],"data":['
        body = filled(shape, data, "]}]}").decode()
        rows = body.count(",", body.index("data")) + 1
        return http(
            "POST", f"/v2/models/{model}/infer", body.replace("ROWS", str(rows // width)).encode(), allowed
        ), True

    examples = '{"examples":['
    chunk = b"10000\r\n" + bytes(1 << 16) + b"\r\n"
    return {
        "no token: heads": (http("GET", "/v1/models", b"", *(f"X-{k}: {'v' * 600}" for k in range(95))), True),
        "no token: heads without an end": (b"GET / HTTP/1.1\r\nX: " + b"v" * (1 << 17), False),
        "no token: small headers": (b"GET / HTTP/1.1\r\n" + b"a:\r\n" * (1 << 15), False),
        "no token: bodies": (http("POST", "/v1/models/names/predict", bytes(8 << 20)), True),
        "no token: chunks": (
            http("POST", "/v1/models/names/learn", b"", "Transfer-Encoding: chunked") + chunk * 128 + b"0\r\n\r\n",
            True,
        ),
        "no token: pages that are not read": (http("GET", "/page.js") * 1000, False),
        "no token: descriptions that are not read": (http("GET", "/openapi.json") * 1000, False),
        "rows": ask("predict", filled(examples, '{"x":[1]}', "]}"), model="rows"),
        "rows, scores": ask("predict?scores=true", filled(examples, '{"x":[1]}', "]}"), model="rows"),
        "pairs": ask("predict", filled(examples, '{"x":[[%d],[1]]}', "]}"), model="rows"),
        "one pair": ask("predict", filled('{"x":[[', "%d", "],[1]]}")),
        "dicts": ask("predict", filled(examples, '{"x":{"a":1}}', "]}")),
        "new names": ask("predict", filled(examples, '{"x":{"n%d":1}}', "]}")),
        "one dict": ask("predict", filled('{"x":{', '"n%d":1', "}}")),
        "categories": ask("predict", filled('{"x":{', '"n%d":"c"', "}}")),
        "a long name": ask("predict", b'{"x":{"' + b"n" * MOST + b'":1}}'),
        "a long text among short ones": ask("predict", filled('{"x":["' + "l" * (MOST // 2) + '",', '"s"', "]}")),
        "a long number": ask("predict", b'{"x":[' + b"1" * MOST + b"]}"),
        "empty lists": ask("predict", filled('{"x":[', "[]", "]}")),
        "deep lists": ask("predict", b'{"x":' + b"[" * MOST),
        "explain": ask("explain", filled('{"x":{', '"n%d":1', "}}")),
        "explain rows": ask("explain", filled('{"x":[', "1", "]}"), model="rows"),
        "ndjson": ask("predict", b'{"x":[1]}\n' * (MOST // 10), "application/x-ndjson", "rows"),
        "svmlight": ask("predict", b"1 1:1\n" * (MOST // 6), "text/x-svmlight", "rows"),
        "svmlight, short": ask("predict", b"1\n" * (MOST // 2), "text/x-svmlight", "rows"),
        "svmlight, wide": ask("predict", b"1 1048570:1\n" * (MOST // 12), "text/x-svmlight", "rows"),
        "csv": ask("predict", b"a\n" + b"1\n" * (MOST // 2), "text/csv"),
        "csv, wide": ask("predict", filled("", "n%d", "\n" + "1," * 100_000), "text/csv"),
        "replay": ask("replay", filled('{"position":1,' + examples[1:], '{"x":[1]}', "]}"), model="rows"),
        "infer": infer("1", 1, "rows"),
        "infer, texts": infer('"s"', 1, "rows"),
        "infer, wide": (infer("1", 100_000, "rows")),
        "files that are not read": (http("GET", "/v1/models/rows/file", b"", allowed) * 100, False),
        "states that are not read": (http("GET", "/v1/models", b"", allowed) * 1000, False),
        "events": (http("GET", "/v1/events", b"", allowed), False),
    }


def send_all(content, port, connections, seconds, reads):
    """Send what a file holds on many connections, again and again; print how often each status came."""
    os.nice(19)  # strangers have machines of their own
    data, until, statuses = content.read_bytes(), time.monotonic() + seconds, {}

    def send():
        while time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
                connection.sendall(data)
                status = connection.recv(65536)[9:12].decode() if reads else ""
                statuses[status] = statuses.get(status, 0) + 1
                if not reads:
                    time.sleep(max(0.0, until - time.monotonic()))

    threads = [threading.Thread(target=send) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(", ".join(f"{count} x {status or 'not read'}" for status, count in sorted(statuses.items())))


class Strangers:
    """A server, and clients that it must bear."""

    def __init__(self, folder):
        self.folder = Path(folder)
        served = self.folder / "served"
        self.token, admin = (Tokens(served).make(scope, scope) for scope in ("read", "admin"))
        words = [sys.executable, "-m", "perceptrons", "serve", str(served), "--port", "0"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split()[0].rsplit(":", 1)[1])
        connection = Connection(self.port)
        self.fill(connection, f"Bearer {admin}")
        connection.close()

    def fill(self, connection, token):
        """Make a model with names, and one with many classes."""
        rows = [{"x": [float(np.sin(k))], "y": f"class {k}"} for k in range(CLASSES)]
        for path, body in (
            ("names", {}),
            ("names/learn", {"examples": [{"x": {"a": 1.0}, "y": "yes"}, {"x": {"b": 1.0}, "y": "no"}]}),
            ("rows", {"classes": [f"class {k}" for k in range(CLASSES)]}),
            ("rows/learn", {"examples": rows}),
        ):
            status, answer = connection.call("POST", f"/v1/models/{path}", body, Authorization=token)
            assert status in (200, 201), answer

    def alone(self, sent):
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1.0) as connection:
            connection.sendall(sent)
            connection.recv(65536)

    def status(self, name):
        """A line of /proc/PID/status, in bytes."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith(name))

    def run(self, connections=64, seconds=3.0, kinds=None):
        """What each kind of request costs."""
        chosen = {kind: each for kind, each in requests(self.token).items() if kinds is None or kind in kinds}
        for sent, _ in chosen.values():  # once, so that all is imported that they need
            self.alone(sent)
        time.sleep(1.0)
        idle = self.status("VmRSS")
        for kind, (sent, reads) in chosen.items():
            yield self.cost(kind, sent, reads, idle, connections, seconds)

    def cost(self, kind, sent, reads, idle, connections, seconds):
        path, slowest = self.folder / "sent", 0.0
        path.write_bytes(sent)
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")  # begin a new peak
        words = [sys.executable, "-c", SENDER, str(Path(__file__).parent), str(path), self.port, connections, seconds]
        sender = subprocess.Popen([*map(str, words), str(reads)], stdout=subprocess.PIPE, text=True)
        while sender.poll() is None:
            begun = time.monotonic()
            with suppress(OSError):
                connection = Connection(self.port)
                assert connection.call("GET", "/v2/health/live")[0] == 200
                connection.close()
            slowest = max(slowest, time.monotonic() - begun)
            time.sleep(0.02)
        statuses = sender.stdout.read().strip()
        sender.stdout.close()
        return Cost(kind, self.status("VmHWM") - idle, slowest, statuses)

    def close(self):
        self.process.terminate()
        self.process.wait(60)
        self.process.stdout.close()


if __name__ == "__main__":
    given = [float(word) for word in sys.argv[1:3]]
    with tempfile.TemporaryDirectory() as folder:
        strangers = Strangers(folder)
        try:
            for cost in strangers.run(int(given[0]) if given else 64, *given[1:]):
                print(f"{cost.kind}: {cost.memory >> 20} MB, {1e3 * cost.seconds:.0f} ms ({cost.statuses})", flush=True)
        finally:
            strangers.close()
