"""A server that learns, beside a FastAPI app around River's model and the daemon of Vowpal Wabbit, on loopback.

    python benchmarks/serve.py [folder]

Ours writes every example to the disk before it answers; theirs write nothing. The folder keeps the rows that are made
for the bulk. Needs: pip install fastapi river vowpalwabbit, and wrk to send requests (apt-get install wrk); what is
missing is left out. benchmarks/serve_faults.py kills the server, fills its disk, and runs it for ten minutes.
"""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from files import make_rows
from side_by_side import head, ratio, row

COMMAND = str(Path(sys.executable).with_name("perceptrons"))
CONNECTIONS, SECONDS, REPEATS = 64, 4, 7
FASTAPI = """
from fastapi import FastAPI
from pydantic import BaseModel
from river import linear_model

app, model = FastAPI(), linear_model.Perceptron()

class Example(BaseModel):
    x: dict[str, float]
    y: bool | None = None

@app.post("/predict")
async def predict(example: Example):
    return {"prediction": model.predict_one(example.x)}

@app.post("/learn")
async def learn(example: Example):
    model.learn_one(example.x, example.y)
    return {"learned": 1}
"""
VW = """
import sys, vowpalwabbit
options = ["--daemon", "--foreground", "--num_children", "1", "--quiet", "--loss_function", "hinge", "--port"]
vowpalwabbit.Workspace(arg_list=[*options, sys.argv[1]]).run_parser()
"""
LUA = """
local bodies, i = {}, 0
for line in io.lines("BODIES") do bodies[#bodies + 1] = line end
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function() i = i % #bodies + 1; return wrk.format(nil, nil, nil, bodies[i]) end
"""


def main(rows: Path) -> None:
    """Print a table."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        ours = started([COMMAND, "serve", f"{folder}/served", "--port", str(port)], port)
        try:
            single_examples(Path(folder), port)
            bulk(rows, port)
        finally:
            ours.terminate()
            ours.wait(60)


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def started(command: list[str], port: int, **others: Any) -> subprocess.Popen[bytes]:
    """Start a server and wait until it listens."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, **others)
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"{command} does not listen")


def post(port: int, path: str, body: bytes, kind: str = "application/json") -> Any:
    """Send a request and return its answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("POST", path, body, {"Content-Type": kind})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    if answer.status >= 300:
        raise SystemExit(f"{path}: {answer.status} {content[:300]!r}")
    return json.loads(content)


# -- single examples ------------------------------------------------------------------------------------------


def single_examples(folder: Path, port: int) -> None:
    """64 connections, one example a request, against the same with FastAPI and River."""
    head(f"{CONNECTIONS} connections, one example of 30 features a request: microseconds a request", "ours", "theirs")
    if importlib.util.find_spec("fastapi") is None or importlib.util.find_spec("river") is None:
        print("fastapi or river is not installed: pip install fastapi river")
        return
    if shutil.which("wrk") is None:
        print("wrk is not installed: apt-get install wrk")
        return
    (folder / "app.py").write_text(FASTAPI)
    post(port, "/v1/models/single", b"{}")
    other = free_port()
    options = ["--port", str(other), "--no-access-log", "--log-level", "warning"]
    theirs = started([sys.executable, "-m", "uvicorn", "app:app", *options], other, cwd=folder)
    script = load_script(folder)
    try:
        for verb in ("learn", "predict"):
            mine = f"http://127.0.0.1:{port}/v1/models/single/{verb}"
            works = alternating(
                lambda m=mine: rate(m, script), lambda v=verb: rate(f"http://127.0.0.1:{other}/{v}", script)
            )
            durable = ", ours durable" if verb == "learn" else ""
            row(f"{verb}{durable}, against FastAPI + River, which writes nothing", *works, ">= 3", unit=1e6)
    finally:
        theirs.terminate()


def load_script(folder: Path) -> Path:
    """Requests for wrk: dicts of 30 floats, and whether their sum is positive."""
    generator = random.Random(0)
    with open(folder / "bodies", "w") as file:
        for _ in range(1000):
            x = {f"feature_{j}": round(generator.gauss(0.0, 1.0), 4) for j in range(30)}
            file.write(json.dumps({"x": x, "y": sum(x.values()) > 0}) + "\n")
    script = folder / "load.lua"
    script.write_text(LUA.replace("BODIES", str(folder / "bodies")))
    return script


def rate(url: str, script: Path) -> float:
    """Requests a second under load."""
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", str(script), url]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in text or "Socket errors" in text:
        raise SystemExit(text)
    found = re.search(r"Requests/sec:\s*([\d.]+)", text)
    assert found is not None, text
    return float(found[1])


def alternating(ours: Callable[[], float], theirs: Callable[[], float]) -> tuple[float, float, float]:
    """Medians of seconds a request, and their ratio; both are called once before."""
    ours(), theirs()
    rates = [(ours(), theirs()) for _ in range(REPEATS)]
    mine, other = (1.0 / statistics.median(column) for column in zip(*rates, strict=True))
    return mine, other, other / mine


# -- bulk -----------------------------------------------------------------------------------------------------


def bulk(rows: Path, port: int) -> None:
    """100,000 rows in one request, against Vowpal Wabbit's daemon with the same rows over one connection."""
    head("One request with 100,000 rows of 75 entries, svmlight: seconds", "ours", "theirs")
    if importlib.util.find_spec("vowpalwabbit") is None:
        print("vowpalwabbit is not installed: pip install vowpalwabbit")
        return
    rows.mkdir(parents=True, exist_ok=True)
    make_rows(rows / "small", 1)
    body, lines = (rows / "small.svm").read_bytes(), (rows / "small.vw").read_bytes()
    post(port, "/v1/models/bulk", b"{}")
    other = free_port()
    theirs = subprocess.Popen([sys.executable, "-c", VW, str(other)], start_new_session=True)  # it has children
    time.sleep(5)

    def learn() -> None:
        answer = post(port, "/v1/models/bulk/learn", body, "text/x-svmlight")
        assert answer["learned"] == 100_000

    try:
        works = ratio(learn, lambda: feed(other, lines), 5)
        row(f"learn {len(body) / 1e6:.0f} MB, ours durable, against vw --daemon", *works, ">= 1", unit=1)
    finally:
        os.killpg(theirs.pid, signal.SIGKILL)


def feed(port: int, lines: bytes) -> None:
    """Send rows to the daemon, and read its predictions meanwhile."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setblocking(False)
        view, sent, answered = memoryview(lines), 0, 0
        expected = lines.count(b"\n")
        while answered < expected:
            if sent < len(view):
                try:
                    sent += connection.send(view[sent : sent + (1 << 20)])
                    if sent == len(view):
                        connection.shutdown(socket.SHUT_WR)
                except BlockingIOError:
                    pass
            try:
                part = connection.recv(1 << 20)
                if not part and answered < expected:
                    raise SystemExit(f"vw answered {answered:,} of {expected:,} rows")
                answered += part.count(b"\n")
            except BlockingIOError:
                time.sleep(0.0005)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.gettempdir()) / "perceptrons-benchmark")
