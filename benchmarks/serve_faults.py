"""What a server that learns survives: kills, flipped bits, bad disks, a clock that jumps, malformed requests.

    python benchmarks/serve_faults.py [PART[=N] ...]

Parts, with their usual N: kills=200 stops=500 flips=2000 requests=5000 strangers=64 full_disk read_only_disk clock
malformed=10000 minutes=10. Without parts, all of them run.

The server is killed under load at random moments, and restarted; each time, its models are compared with sequential
learning of what it acknowledged. It is also stopped at each of its writes in turn (`stops`), by a kill or by Ctrl-C
twice; it starts on folders with flipped bits; and it gets random requests, of which those that are answered with an
error must not change anything. Strangers send the largest requests that the server takes without a token or with the
scope `read`, on as many connections, while its memory and the time of a health check are measured. For a full disk and
a read-only one, it runs on small disks of its own, which only root can mount. At the end it runs under mixed load for
some minutes: 8 models, 32 connections.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "serve"))
from flips import Flips
from forks import Forks
from injected import Faults, spread
from killing import Connection, Rounds, assert_equal, learn_line
from malformed import malformed
from serve import COMMAND, free_port, started
from strangers import Strangers
from unchanged import Run

from perceptrons import Perceptron, load

MODELS, CONNECTIONS = 8, 32
JUMPS = """
import random, sys, time
real, pick = time.time, random.Random(0)
time.time = lambda: real() + pick.choice([0.0, -1e6, 1e6, -1e9, 1e9])
from perceptrons.cli.main import main
main(["serve", *sys.argv[1:]])
"""


def main(chosen: dict[str, float]) -> None:
    """Print a line or more for each part."""
    for name, (part, usual) in PARTS.items():
        if not chosen or name in chosen:
            with tempfile.TemporaryDirectory() as folder:
                part(Path(folder), chosen.get(name) or usual)


def kills(folder: Path, n: float) -> None:
    """Kill -9 under load."""
    forks = Forks(folder)
    rounds = Rounds(forks, seed=int(time.time()))
    for k in range(int(n)):
        rounds.round()
        if sys.stderr.isatty():
            print(f"\r{k + 1} kills", end="", file=sys.stderr)
    forks.kill()
    forks.close()
    print(
        f"kill -9 under load: {n:g} kills, {rounds.n_acknowledged:,} requests acknowledged, 0 lost, 0 learned twice, "
        "models equal to sequential learning bit for bit"
    )


def writes(folder: Path, n: float) -> None:
    """Stop at one of the writes of a request, and compare what comes back with what was acknowledged."""
    faults = Faults(folder)
    cases = faults.cases()
    for case in spread(cases, int(n)):
        faults.run(*case)
    faults.close()
    print(
        f"kill -9 before and after a write, and Ctrl-C twice: {n:g} of {len(cases):,} cases, {faults.open} requests "
        "without an answer, 0 acknowledged lost, 0 learned twice, models equal to sequential learning bit for bit"
    )


def bits(folder: Path, n: float) -> None:
    """Flip bits in the folders of models."""
    flips = Flips(folder)
    print(flips.run(int(n)))
    flips.close()
    assert not flips.found, flips.found


def errors(folder: Path, n: float) -> None:
    """Random requests to all estimators, about half of them wrong."""
    forks = Forks(folder)
    run = Run(forks)
    print(run.all(int(n)))
    forks.close()
    assert not run.found, run.found


def questions(folder: Path, n: float) -> None:
    """What clients without a token, or with one that may only read, cost the server."""
    strangers = Strangers(folder)
    try:
        costs = list(strangers.run(int(n)))
    finally:
        strangers.close()
    memory, time = max(costs, key=lambda each: each.memory), max(costs, key=lambda each: each.seconds)
    print(
        f"{len(costs)} kinds of requests by strangers, {n:g} connections: at most {memory.memory / 1e6:.0f} MB above "
        f"idle ({memory.kind}), a health check answered within {1e3 * time.seconds:.0f} ms ({time.kind})"
    )


def equals_log(connection: Connection, name: str, acknowledged: int, folder: Path) -> None:
    """Compare a model with sequential learning of its log, which has all acknowledged requests."""
    status, text = connection.call("GET", f"/v1/models/{name}/log")
    lines = [json.loads(line) for line in text.splitlines()]
    assert status == 200 and len(lines) >= acknowledged, (len(lines), acknowledged)
    expected = Perceptron()
    ids = [learn_line(expected, line) for line in lines]
    assert len(set(ids)) == len(ids)
    status, content = connection.call("GET", f"/v1/models/{name}/file")
    assert status == 200, content
    (folder / "downloaded").write_bytes(content)
    assert_equal(load(folder / "downloaded"), expected)


def mounted(place: Path, *options: str) -> bool:
    """Mount a disk; only root can."""
    place.mkdir(exist_ok=True)
    return subprocess.run(["mount", *options, str(place)], capture_output=True).returncode == 0


def learn(connection: Connection, k: int) -> int:
    """Learn from an example, and return the status."""
    pick = random.Random(k)
    x = {f"f{j}": pick.gauss(0.0, 1.0) for j in range(20)}
    return int(connection.call("POST", "/v1/models/m/learn", {"x": x, "y": x["f0"] > 0, "id": f"r{k}"})[0])


def predicts(connection: Connection) -> bool:
    """Whether predictions go on."""
    return bool(connection.call("POST", "/v1/models/m/predict", {"x": {"f0": 1.0}})[0] == 200)


def full_disk(folder: Path, _: float) -> None:
    """Fill the disk and make room again, four times."""
    place = folder / "disk"
    if not mounted(place, "-t", "tmpfs", "-o", "size=12m", "tmpfs"):
        print("full disk: left out, because only root can mount a small disk")
        return
    port, ballast, good, bad = free_port(), place / "ballast", 0, 0
    server = started([COMMAND, "serve", str(place / "served"), "--port", str(port)], port)
    try:
        connection = Connection(port)
        assert connection.call("POST", "/v1/models/m", {})[0] == 201
        for k in range(4000):
            if k % 1000 == 500:
                with open(ballast, "wb", buffering=0) as file, suppress(OSError):
                    while True:
                        file.write(bytes(1 << 14))
            if k % 1000 == 900:
                ballast.unlink()
            status = learn(connection, k)
            good, bad = good + (status == 200), bad + (status != 200)
            assert status in (200, 503, 507), status
            assert status == 200 or predicts(connection)
        equals_log(connection, "m", good, folder)
        connection.close()
        print(
            f"full disk: {good:,} acknowledged, {bad:,} refused with 507 or 503, predictions go on, the model is right"
        )
    finally:
        server.terminate()
        server.wait(60)
        subprocess.run(["umount", place], check=True)


def read_only_disk(folder: Path, _: float) -> None:
    """Let a disk fail, so that the system makes it read-only, in the middle of learning."""
    place, image = folder / "disk", folder / "image"
    image.write_bytes(bytes(40 << 20))
    made = subprocess.run(["mkfs.ext4", "-q", str(image)], capture_output=True).returncode == 0
    if not made or not mounted(place, "-o", "loop,errors=remount-ro", str(image)):
        print("read-only disk: left out, because only root can mount an image of a disk")
        return
    port = free_port()
    command = [COMMAND, "serve", str(place / "served"), "--port", str(port)]
    server = started(command, port)
    try:
        connection = Connection(port)
        assert connection.call("POST", "/v1/models/m", {})[0] == 201
        assert [learn(connection, k) for k in range(200)] == [200] * 200
        device = subprocess.run(["losetup", "-j", str(image)], capture_output=True, text=True, check=True).stdout
        Path(f"/sys/fs/ext4/{Path(device.split(':')[0]).name}/trigger_fs_error").write_text("1")
        refused = [learn(connection, 1000 + k) for k in range(100)]
        assert 200 not in refused and predicts(connection), refused
        connection.close()
        server.kill()
        server.wait(60)
        subprocess.run(["umount", place], check=True)
        subprocess.run(["fsck.ext4", "-p", str(image)], capture_output=True)
        assert mounted(place, "-o", "loop", str(image))
        server = started(command, port)
        connection = Connection(port)
        assert learn(connection, 2000) == 200
        equals_log(connection, "m", 201, folder)
        connection.close()
        statuses = ", ".join(map(str, sorted(set(refused))))
        print(f"read-only disk: 100 refused with {statuses}, predictions go on; after the repair, the model is right")
    finally:
        server.kill()
        server.wait(60)
        subprocess.run(["umount", place], check=True)


def clock(folder: Path, _: float) -> None:
    """A wall clock that jumps by up to 30 years at every look."""
    port = free_port()
    server = started([sys.executable, "-c", JUMPS, str(folder / "served"), "--port", str(port)], port)
    try:
        connection = Connection(port)
        assert connection.call("POST", "/v1/models/m", {})[0] == 201
        for k in range(500):
            x = {"a": random.gauss(0.0, 1.0), "b": 1.0}
            assert connection.call("POST", "/v1/models/m/predict", {"x": x, "id": f"r{k}"})[0] == 200
            assert connection.call("POST", "/v1/models/m/label", {"id": f"r{k}", "y": x["a"] > 0})[0] == 200
        equals_log(connection, "m", 500, folder)
        connection.close()
        print("clock that jumps: 500 predictions with delayed labels, each learned once")
    finally:
        server.terminate()
        server.wait(60)


def rubbish(folder: Path, n: float) -> None:
    """Malformed requests."""
    port = free_port()
    server = started([COMMAND, "serve", str(folder / "served"), "--port", str(port)], port)
    try:
        connection = Connection(port)
        assert connection.call("POST", "/v1/models/m", {})[0] == 201
        statuses: dict[int, int] = {}
        for seed in range(int(n)):
            method, path, body, kind = malformed("m", seed)
            try:
                status, _ = connection.call(method, path, body, Content_Type=kind)
            except (http.client.HTTPException, OSError):  # a request that is not HTTP ends the connection
                connection.close()
                connection = Connection(port)
                status = 0
            statuses[status] = statuses.get(status, 0) + 1
            assert status < 500 or status == 503, (status, method, path, body)
        assert server.poll() is None
        state = connection.call("GET", "/v1/models/m")[1]
        again = connection.call("POST", "/v1/models/m/replay", {"position": state["position"]})[1]
        assert again["n_seen"] == state["n_seen"] and again["n_mistakes"] == state["n_mistakes"], (state, again)
        connection.close()
        told = ", ".join(f"{count:,} × {status}" for status, count in sorted(statuses.items()))
        print(f"{n:,g} malformed requests: no crash, no 500; {told} (200: those that were valid after all)")
    finally:
        server.terminate()
        server.wait(60)


class Worker(threading.Thread):
    """Mixed requests to all models, for some time."""

    def __init__(self, port: int, number: int, until: float) -> None:
        super().__init__()
        self.connection, self.number, self.until = Connection(port), number, until
        self.times: list[float] = []
        self.fault: Any = None

    def run(self) -> None:
        pick, k = random.Random(self.number), 0
        try:
            while time.monotonic() < self.until:
                k += 1
                begun = time.perf_counter()
                status = self.send(pick, f"/v1/models/m{pick.randrange(MODELS)}", f"{self.number}-{k}")
                self.times.append(time.perf_counter() - begun)
                assert status == 200, status
        except Exception as fault:
            self.fault = fault
        self.connection.close()

    def send(self, pick: random.Random, model: str, id: str) -> int:
        """One request, or a prediction with its label."""
        x = {f"f{j}": pick.gauss(0.0, 1.0) for j in range(30)}
        y, what = x["f0"] > 0, pick.random()
        if what < 0.4:
            return int(self.connection.call("POST", f"{model}/predict", {"x": x})[0])
        if what < 0.8:
            return int(self.connection.call("POST", f"{model}/learn", {"x": x, "y": y})[0])
        if what < 0.9:
            assert self.connection.call("POST", f"{model}/predict", {"x": x, "id": id})[0] == 200
            return int(self.connection.call("POST", f"{model}/label", {"id": id, "y": y}, Idempotency_Key=id)[0])
        if what < 0.98:
            many = [{"x": x, "y": y}] * 20
            return int(self.connection.call("POST", f"{model}/learn", {"examples": many})[0])
        return int(self.connection.call("GET", "/metrics" if pick.random() < 0.5 else "/v1/models")[0])


def soak(folder: Path, minutes: float) -> None:
    """Mixed load: memory must not grow."""
    port = free_port()
    server = started([COMMAND, "serve", str(folder / "served"), "--port", str(port)], port)
    try:
        connection = Connection(port)
        for k in range(MODELS):
            body = {"params": {"readout": "averaged"}, "keep": 10_000, "snapshot_every": 20_000}
            assert connection.call("POST", f"/v1/models/m{k}", body)[0] == 201
        until = time.monotonic() + 60.0 * minutes
        workers = [Worker(port, k, until) for k in range(CONNECTIONS)]
        for worker in workers:
            worker.start()
        memory = []
        while time.monotonic() < until:
            time.sleep(min(5.0, max(0.1, until - time.monotonic())))
            memory.append(resident(server.pid))
        for worker in workers:
            worker.join()
        faults = [worker.fault for worker in workers if worker.fault is not None]
        assert not faults, faults
        times = sorted(seconds for worker in workers for seconds in worker.times)
        third = max(1, len(memory) // 3)
        before, after = statistics.median(memory[third : 2 * third]), statistics.median(memory[-third:])
        middle, late = times[len(times) // 2], times[int(0.99 * len(times))]
        print(
            f"{minutes:g} minutes of mixed load, {MODELS} models, {CONNECTIONS} connections: {len(times):,} requests, "
            f"0 errors, median {1e3 * middle:.1f} ms, p99 {1e3 * late:.1f} ms; memory {before:.0f} MB in the second "
            f"third, {after:.0f} MB in the last"
        )
        connection.close()
    finally:
        server.terminate()
        server.wait(60)


def resident(process: int) -> float:
    """Memory of a process, in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


PARTS = {
    "kills": (kills, 200),
    "stops": (writes, 500),
    "flips": (bits, 2000),
    "requests": (errors, 5000),
    "strangers": (questions, 64),
    "full_disk": (full_disk, 0),
    "read_only_disk": (read_only_disk, 0),
    "clock": (clock, 0),
    "malformed": (rubbish, 10_000),
    "minutes": (soak, 10),
}

if __name__ == "__main__":
    words = [each.partition("=") for each in sys.argv[1:]]
    if unknown := [name for name, _, _ in words if name not in PARTS]:
        raise SystemExit(f"there is no part {unknown[0]!r}: choose among {', '.join(PARTS)}")
    main({name: float(n or 0) for name, _, n in words})
