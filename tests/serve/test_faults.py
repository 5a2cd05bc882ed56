"""What a server survives: a full disk, a clock that jumps, and requests that make no sense."""

import asyncio
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("msgspec", reason="the server needs the extra 'serve'")
pytest.importorskip("uvicorn", reason="the server needs the extra 'serve'")

from killing import Connection
from malformed import malformed

from perceptrons import Perceptron
from perceptrons.serve.errors import Refused
from perceptrons.serve.limits import Limits
from perceptrons.serve.messages import Create, Example, encode
from perceptrons.serve.model.directory import Directory
from perceptrons.serve.web import verbs

JUMPS = """
import random, sys, time
real, pick = time.time, random.Random(0)
time.time = lambda: real() + pick.choice([0.0, -1e6, 1e6, -1e9, 1e9])
from perceptrons.cli.main import main
main(["serve", *sys.argv[1:]])
"""


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 12 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", place], capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_full_disk_loses_nothing_that_was_acknowledged(serve, small_disk, content, learned):
    server = serve(small_disk / "served")
    remote, acknowledged, statuses = server.web().create(), [], []
    ballast = small_disk / "ballast"
    for i in range(300):
        if i == 100:
            with open(ballast, "wb", buffering=0) as file, suppress(OSError):
                while True:
                    file.write(bytes(1 << 12))
        if i == 200:
            ballast.unlink()
        x, y = {"a": float(i % 7), f"n{i % 50}": 1.0, "long": "x" * 2000}, i % 3 > 0
        answer = remote.web.call("POST", f"{remote.path}/learn", {"x": x, "y": y})
        statuses.append(answer.status)
        if answer.status == 200:
            acknowledged.append((x, y))
        else:
            assert remote.predict({"a": 1.0}) in (True, False)
    assert set(statuses) == {200, 507} and statuses[-50:] == [200] * 50
    assert len(remote.log()) == len(acknowledged)
    expected = content(learned(Perceptron(), acknowledged))
    assert remote.content() == expected
    server.stop(9)
    again = remote.on(server.again())
    assert again.content() == expected
    again.learn({"a": 1.0}, True)


def test_a_clock_that_jumps_neither_loses_nor_repeats(tmp_path):
    command = [sys.executable, "-c", JUMPS, str(tmp_path), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        connection = Connection(int(process.stdout.readline().split()[0].rsplit(":", 1)[1]))
        assert connection.call("POST", "/v1/models/m", {})[0] == 201
        for i in range(50):
            x = [float(i % 5), 1.0]
            assert connection.call("POST", "/v1/models/m/predict", {"x": x, "id": f"id{i}"})[0] == 200
        for i in range(50):
            assert connection.call("POST", "/v1/models/m/label", {"id": f"id{i}", "y": i % 2})[0] == 200
        state = connection.call("GET", "/v1/models/m")[1]
        assert (state["n_seen"], state["pending"]) == (50, 0)
        lines = connection.call("GET", "/v1/models/m/log")[1].splitlines()
        assert [json.loads(line)["id"] for line in lines] == [f"id{i}" for i in range(50)]
        connection.close()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_malformed_requests_are_refused_and_change_nothing(serve, tmp_path):
    server = serve(tmp_path)
    remote = server.web().create()
    remote.learn({"a": 1.0}, "yes")
    statuses = set()
    for seed in range(1000):
        method, path, body, kind = malformed(remote.name, seed)
        answer = server.web().call(method, path, body, kind=kind) if seed % 50 == 0 else None
        answer = answer or remote.web.call(method, path, body, kind=kind)
        assert answer.status < 500, (method, path, body, answer.body)
        assert answer.status < 300 or list(answer.json) == ["error"]
        statuses.add(answer.status)
    assert {400, 404, 405, 415, 422} <= statuses
    state = remote.state()
    again = remote.do("replay", {"position": state["position"]})
    assert [again[name] for name in ("n_seen", "n_mistakes", "n_updates")] == [*remote.counts]
    server.stop(9)
    assert remote.on(server.again()).counts == (again["n_seen"], again["n_mistakes"], again["n_updates"])


@pytest.mark.parametrize("estimator", ["Perceptron", "KernelPerceptron"])  # the second learns in a thread
def test_an_error_in_the_middle_of_learning_is_undone(tmp_path, content, estimator):
    """No request is known that ends so: the check of its labels and its limits finds what is wrong before."""

    async def run(pool):
        directory = Directory(tmp_path, Limits(), pool, pool, lambda event, facts: None)
        served, _ = await directory.create("m", Create(estimator), None, None)

        def learned(x, y):
            return verbs.learned(served, Example(x, y), encode({"x": x, "y": y}))

        def fails():
            learned([9.0, 9.0], "a")
            raise RuntimeError("it fails after it has learned")

        for x, y in ([0.0, 1.0], "a"), ([1.0, 0.0], "b"), ([1.0, 2.0], "a"):
            await served.accept(None, lambda x=x, y=y: learned(x, y))
        before, state = content(served.model), served.state()
        with pytest.raises(Refused) as refused:
            await served.accept(None, fails)
        assert refused.value.status == 500
        with pytest.raises(Refused) as refused:  # until the model is restored
            served.check_open()
        assert refused.value.status == 503
        await asyncio.gather(*served.tasks)
        assert (content(served.model), served.state()) == (before, state)
        await served.accept(None, lambda: learned([2.0, 1.0], "b"))
        assert served.state().durable == 4
        await directory.close()

    with ThreadPoolExecutor(2) as pool:
        asyncio.run(run(pool))


def test_too_few_file_descriptors_are_named_and_leave_nothing_behind(serve, tmp_path):
    resource = pytest.importorskip("resource", reason="this system has no limits on files")
    if not hasattr(resource, "prlimit"):
        pytest.skip("this system cannot change the limits of another process")
    server = serve(tmp_path)
    web = server.web()
    web.create().learn({"a": 1.0}, "yes")
    limits, opened = resource.prlimit(server.pid, resource.RLIMIT_NOFILE), open_files(server)
    statuses = {}
    for more in range(0, 40, 3):
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (opened + more, limits[1]))
        answer = web.call("POST", f"/v1/models/more{more}", {})
        statuses[f"more{more}"] = answer.status
        if answer.status != 201:
            assert "too many open files" in answer.json["error"] and "disk" not in answer.json["error"]
            assert open_files(server) == opened
            continue
        assert web.call("DELETE", f"/v1/models/more{more}").status == 204
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, limits)
    assert set(statuses.values()) == {201, 503}
    assert len(list((tmp_path / "models").iterdir())) == 1
    for name in statuses:
        web.create(name=name)


def open_files(server):
    return len(list(Path(f"/proc/{server.pid}/fd").iterdir()))
