"""Stop a server at each of its writes in turn, and compare what comes back with what it acknowledged.

The server counts its writes once a file `armed` is there: statements of the log, marks, and changes of files. At the
n-th one it is killed, before or after it, or gets SIGINT twice while the write waits. After a restart, every
acknowledged request must be there exactly once, others at most once, and repeating them must change nothing.
"""

import functools
import http.client
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np
from forks import PARENT, Parent
from killing import Connection

from perceptrons import Perceptron, save
from perceptrons.store import read, write

KINDS = ("killed before", "killed after", "interrupted twice")
KEEPS = (0, 3)  # how many positions before the newest a model keeps
STATEMENTS = re.compile(
    r"BEGIN IMMEDIATE|INSERT|UPDATE|DELETE|COMMIT|ROLLBACK|CREATE|PRAGMA (wal_checkpoint|journal_mode)"
)
FILES = re.compile(r"log\.sqlite(-wal|-shm)?|mark|base\.perceptron|snapshot-\d{12}-[0-9a-f]{8}\.perceptron")
FORKING = PARENT.replace('print("ready"', 'import injected\nprint("ready"').replace(
    "main.main(", "injected.inject(); main.main("
)
SVMLIGHT = "text/x-svmlight"


# -- in the server --------------------------------------------------------------------------------------------


class Injector:
    """Counts writes, and lets the n-th one go wrong."""

    def __init__(self, folder, n, kind):
        self.folder, self.n, self.kind, self.count, self.lock = Path(folder), n, kind, 0, threading.Lock()

    def around(self, write, what):
        """Call `write`, with the fault if it is its turn."""
        if not (self.folder / "armed").exists():
            return write()
        with self.lock:
            self.count += 1
            turn = self.count == self.n
        with open(self.folder / "writes", "a") as file:
            file.write(f"{what}\n")
        if not turn:
            return write()
        (self.folder / "fired").touch()
        if self.kind == "interrupted twice":
            threading.Thread(target=interrupt_twice, daemon=True).start()
            time.sleep(0.4)  # the server looks for signals ten times a second, then cancels what is under way
        if self.kind == "killed before":
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            return write()
        finally:
            if self.kind == "killed after":
                os.kill(os.getpid(), signal.SIGKILL)

    def wrapped(self, function, what):
        """A function whose calls are writes."""

        @functools.wraps(function)
        def call(*args, **settings):
            return self.around(lambda: function(*args, **settings), what)

        return call


def interrupt_twice():
    """Do what somebody does who presses Ctrl-C twice."""
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)


def inject():
    """Count the writes of this process, and choose the fault that the environment asks for."""
    from perceptrons.serve.model.mark import Mark

    if "FAULT_FOLDER" not in os.environ:
        return
    injector = Injector(os.environ["FAULT_FOLDER"], int(os.environ["FAULT_AT"]), os.environ["FAULT_KIND"])

    class Counting(sqlite3.Connection):
        """A connection to a log."""

        def __init__(self, database, *args, **settings):
            super().__init__(database, *args, **settings)
            self.writes = "mode=ro" not in str(database)

        def execute(self, sql, *args):
            act = functools.partial(super().execute, sql, *args)
            return injector.around(act, sql[:40]) if self.writes and STATEMENTS.match(sql) else act()

        def close(self):
            return injector.around(super().close, "close") if self.writes else super().close()

        def __exit__(self, *args):
            return injector.around(functools.partial(super().__exit__, *args), "commit")

    sqlite3.connect = functools.partial(sqlite3.connect, factory=Counting)
    Mark.write = injector.wrapped(Mark.write, "mark")
    for name in ("rename", "replace", "unlink", "remove", "rmdir", "mkdir", "fsync"):
        setattr(os, name, injector.wrapped(getattr(os, name), name))


# -- the requests ---------------------------------------------------------------------------------------------


class Operation(NamedTuple):
    """A request during which the server stops. `learns`: examples that model a gets from it."""

    method: str
    path: str
    body: object = None
    kind: str = "application/json"
    learns: tuple = ()
    keyed: bool = True


def example(seed):
    """A pair of indices and values, and its label."""
    random = np.random.default_rng(seed)
    indices = np.unique(random.integers(0, 50, 6)).tolist()
    return [indices, random.normal(size=len(indices)).tolist()], float(random.choice([-1.0, 1.0]))


def request(*rows):
    """The body of a request that learns from examples."""
    many = [{"x": x, "y": y} for x, y in rows]
    return many[0] if len(many) == 1 else {"examples": many}


def svmlight(rows):
    """Examples as lines of svmlight."""
    return "".join(f"{y} " + " ".join(f"{i}:{v}" for i, v in zip(*x, strict=True)) + "\n" for x, y in rows).encode()


def learned(requests):
    """A model of the library that has learned requests, example by example."""
    model = Perceptron(readout="averaged")
    for x, y in (row for rows in requests for row in rows):
        model.learn_one(tuple(x), y)
    return model


def content(path):
    """What a model file holds, as bytes, without the report of the last call: that tells how many rows it had."""
    saved = read(path)
    saved.report = {}
    write(saved, path)
    return path.read_bytes()


SINGLES = [[example(k)] for k in range(5)]
BATCH, BODY = [example(k) for k in range(10, 14)], [example(k) for k in range(20, 50)]
LABELLED, WAITS, LAST = example(60), example(61), example(62)
HISTORY = [*SINGLES, BATCH, BODY, [LABELLED], [LAST]]  # what model a has learned before, request by request
MORE = [example(k) for k in range(70, 74)]
A = "/v1/models/a"
OPERATIONS = {
    "learn": Operation("POST", f"{A}/learn", request(MORE[0]), learns=tuple(MORE[:1])),
    "batch": Operation("POST", f"{A}/learn", request(*MORE), learns=tuple(MORE)),
    "body": Operation("POST", f"{A}/learn", svmlight(MORE), SVMLIGHT, tuple(MORE)),
    "label": Operation("POST", f"{A}/label", {"id": "waits", "y": WAITS[1]}, learns=(WAITS,)),
    "snapshot": Operation("POST", f"{A}/snapshot", keyed=False),
    "rollback": Operation("POST", f"{A}/rollback", {"position": 7}),
    "create": Operation("POST", "/v1/models/c", {"params": {"readout": "averaged"}}),
    "upload": Operation("POST", "/v1/models/c", None, "application/octet-stream"),
    "delete": Operation("DELETE", "/v1/models/b", keyed=False),
    "start": Operation("GET", A, keyed=False),  # the server stops while it starts
}


# -- the client -----------------------------------------------------------------------------------------------


class Faulty(Parent):
    """A process that forks servers which stop at a write."""

    def __init__(self, folder):
        self.folder = Path(folder)
        path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path.rstrip(os.pathsep)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", FORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout.readline() == "ready\n"


class Running:
    """A server on a folder."""

    def __init__(self, parent, folder, **environment):
        self.parent, self.out, self.err, self.code = parent, folder / "out", folder / "err", None
        self.out.write_text("")
        args = ["serve", str(folder / "served"), "--port", "0"]
        self.pid = parent.order(args=args, out=str(self.out), err=str(self.err), environment=environment)
        while "http://" not in self.out.read_text() and not self.has_ended:
            time.sleep(0.003)

    @property
    def has_ended(self):
        if self.code is None:
            self.code = self.parent.order(poll=self.pid)
        return self.code is not None

    def connection(self):
        assert not self.has_ended, self.err.read_text()
        return closing(Connection(int(self.out.read_text().split("http://127.0.0.1:")[1].split()[0])))

    def end(self, how=None):
        """Send a signal, if any, and wait for the end."""
        if how is not None and not self.has_ended:
            os.kill(self.pid, how)
        until = time.monotonic() + 20.0
        while not self.has_ended:
            if time.monotonic() > until:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError("the server did not end")
            time.sleep(0.003)


class Faults:
    """Runs on copies of folders that a server has filled before."""

    def __init__(self, folder):
        self.folder, self.parent, self.runs = Path(folder), Faulty(folder), 0
        self.open = self.forgotten = 0  # requests without an answer; those among them whose keys went with the log
        self.uploaded = self.folder / "uploaded"
        save(learned(SINGLES), self.uploaded)
        self.expected = {}
        for keep in KEEPS:
            self.fill(self.folder / f"keep-{keep}", keep)
        self.writes = {}  # of each operation and choice of what to keep

    def close(self):
        self.parent.close()

    def content_of(self, history):
        """The content of a model that has learned a history."""
        key = json.dumps(history)
        if key not in self.expected:
            path = self.folder / "expected"
            save(learned(history), path)
            self.expected[key] = content(path)
        return self.expected[key]

    def fill(self, folder, keep):
        """Create two models, and end with a kill, or with a part of a model that was being made."""
        folder.mkdir()
        server = Running(self.parent, folder)
        with server.connection() as connection:

            def post(path, body, **headers):
                status, answer = connection.call("POST", path, body, **headers)
                assert status in (200, 201), answer

            for name in "ab":
                settings = {"params": {"readout": "averaged"}, "keep": keep}
                post(f"/v1/models/{name}", settings)
                for k, rows in enumerate(SINGLES):
                    post(f"/v1/models/{name}/learn", request(*rows), Idempotency_Key=f"single-{k}")
            post(f"{A}/snapshot", None)
            post(f"{A}/learn", request(*BATCH), Idempotency_Key="batch")
            post(f"{A}/learn", svmlight(BODY), Idempotency_Key="body", Content_Type=SVMLIGHT)
            for id, (x, _) in (("labelled", LABELLED), ("waits", WAITS)):
                post(f"{A}/predict", {"x": x, "id": id})
            post(f"{A}/label", {"id": "labelled", "y": LABELLED[1]}, Idempotency_Key="label")
            post(f"{A}/learn", request(LAST), Idempotency_Key="last")
        server.end(signal.SIGKILL)
        models = folder / "served" / "models"
        shutil.copytree(models / "b", models / ".new-0123456789abcdef")
        shutil.copyfile(models / "b" / "mark", models / "a" / "snapshot-000000000003-01234567.perceptron")

    def cases(self):
        """All operations with all faults: (operation, keep, n, kind), first without a fault, to count writes."""
        for name in OPERATIONS:
            for keep in KEEPS:
                self.writes[name, keep] = self.run(name, keep, 0, "none")
        return [
            (name, keep, n, kind)
            for (name, keep), count in self.writes.items()
            for n in range(1, count + 1)
            for kind in KINDS
        ]

    def run(self, name, keep, n, kind):
        """One operation with a fault; returns the number of writes."""
        self.runs += 1
        folder = self.folder / f"run-{self.runs}"
        shutil.copytree(self.folder / f"keep-{keep}", folder)
        operation, armed = OPERATIONS[name], folder / "armed"
        if name == "start":
            armed.touch()
        try:
            faults = {"FAULT_FOLDER": str(folder), "FAULT_AT": str(n), "FAULT_KIND": kind}
            server = Running(self.parent, folder, **faults)
            armed.touch()
            status = self.send(server, operation)
            server.end(None if (folder / "fired").exists() else signal.SIGTERM)
            armed.unlink()
            server = Running(self.parent, folder)
            try:
                with server.connection() as connection:
                    Check(self, folder, connection, name, status).all()
            finally:
                server.end(signal.SIGKILL)
        except Exception as fault:
            raise AssertionError(f"{name}, keep {keep}, {kind} write {n}, files in {folder}: {fault!r}") from fault
        written = (folder / "writes").read_text().splitlines() if (folder / "writes").exists() else []
        shutil.rmtree(folder)
        return len(written)

    def send(self, server, operation):
        """Send the request of an operation; returns its status, or None if there was no answer."""
        if server.has_ended:
            return None
        try:
            with server.connection() as connection:
                return self.call(connection, operation)[0]
        except (OSError, http.client.HTTPException, AssertionError):
            return None

    def call(self, connection, operation):
        """Send the request of an operation, with its key."""
        headers = {"Idempotency_Key": "operation"} if operation.keyed else {}
        body = operation.body
        if operation.kind == "application/octet-stream":
            body = self.uploaded.read_bytes()
        if body is not None:
            headers["Content_Type"] = operation.kind
        return connection.call(operation.method, operation.path, body, **headers)


class Check:
    """What must hold after a restart. `status`: of the operation's answer; None if there was none."""

    def __init__(self, faults, folder, connection, name, status):
        self.faults, self.folder, self.connection, self.name = faults, folder, connection, name
        self.status, self.operation = status, OPERATIONS[name]
        self.acknowledged = status is not None and status < 300
        assert status is None or status < 500 or status == 503, status

    def all(self):
        """Check everything, first as it is, then after repetitions of the operation."""
        self.files()
        after = HISTORY[:7] if self.name == "rollback" else HISTORY
        after = [*after, list(self.operation.learns)] if self.operation.learns else after
        possible = [after] if self.acknowledged else [HISTORY] if self.status is not None else [after, HISTORY]
        self.is_one_of("a", possible)
        self.others(repeated=False)
        self.faults.open += self.status is None
        if self.operation.learns and self.get(A)["oldest"] == len(after):  # a key lives as long as its part of the log
            self.faults.forgotten += self.status is None
            return
        answers = [self.faults.call(self.connection, self.operation) for _ in range(2)]
        self.repeated(answers)
        self.is_one_of("a", [after])
        self.others(repeated=True)
        self.goes_on("a", after)
        self.files()

    def get(self, path):
        status, answer = self.connection.call("GET", path)
        assert status == 200, (path, status, answer)
        return answer

    def is_one_of(self, name, histories):
        """A model has learned one of these histories: counts, positions and weights; and so has its replay."""
        state = self.get(f"/v1/models/{name}")
        seen, position = state["n_seen"], state["position"]
        assert state["broken"] is None and state["durable"] == position, state
        found = [each for each in histories if (len(each), sum(map(len, each))) == (position, seen)]
        assert found, (name, position, seen, [(len(each), sum(map(len, each))) for each in histories])
        self.has_learned(name, found[0])
        status, again = self.connection.call("POST", f"/v1/models/{name}/replay", {"position": position})
        assert status == 200, again
        for count in ("n_seen", "n_mistakes", "n_updates", "n_features", "classes"):
            assert again[count] == state[count], (name, count, again, state)

    def has_learned(self, name, history):
        path = self.folder / "downloaded"
        path.write_bytes(self.get(f"/v1/models/{name}/file"))
        assert content(path) == self.faults.content_of(history), f"{name} has other bits"

    def others(self, repeated):
        """Other models: b is as it was, or deleted; c is not there, or complete."""
        names = {each["name"] for each in self.get("/v1/models")["models"]}
        deletes, creates = self.name == "delete", self.name in ("create", "upload")
        done = repeated or self.acknowledged
        assert names <= {"a", "b", "c"} and "a" in names, names
        assert ("b" in names) or deletes, "b is lost"
        assert not ("b" in names and deletes and done), "b was deleted, and is there"
        assert ("c" in names) == creates or (creates and not done), names
        if "b" in names:
            self.is_one_of("b", [SINGLES])
        if "c" in names and self.name == "upload":
            state = self.get("/v1/models/c")
            assert (state["n_seen"], state["position"], state["broken"]) == (5, 0, None), state
            self.has_learned("c", SINGLES)
        elif "c" in names:
            state = self.get("/v1/models/c")
            assert (state["n_seen"], state["position"], state["broken"]) == (0, 0, None), state

    def repeated(self, answers):
        """Two repetitions of the operation have the same answer."""
        (first, one), (second, two) = answers
        if self.name == "delete":
            assert first in ((404,) if self.acknowledged else (204, 404)) and second == 404, answers
            return
        assert first in (200, 201) and second == 200 and one == two, answers

    def goes_on(self, name, history):
        """Old keys have their answers, the prediction that waited is labelled once, and the model learns on."""
        state = self.get(A)
        if state["oldest"] < 6:
            again = self.connection.call("POST", f"{A}/learn", request(*BATCH), Idempotency_Key="batch")
            assert again[0] == 200 and again[1]["position"] == 6, again
        for _ in range(2):
            status, answer = self.connection.call(
                "POST", f"{A}/label", {"id": "waits", "y": WAITS[1]}, Idempotency_Key="late"
            )
            if self.name == "label":
                assert status == 404, answer
            else:
                assert status == 200 and answer["position"] == len(history) + 1, answer
        history = history if self.name == "label" else [*history, [WAITS]]
        self.is_one_of(name, [history])
        if self.name == "rollback":  # a late repetition undoes nothing
            assert self.faults.call(self.connection, self.operation)[0] == 200
            self.is_one_of(name, [history])
        for other in {each["name"] for each in self.get("/v1/models")["models"]} - {name}:
            status, answer = self.connection.call("POST", f"/v1/models/{other}/learn", request(LAST))
            assert status == 200, answer

    def files(self):
        """The folders have no file that no model needs."""
        models = self.folder / "served" / "models"
        for folder in models.iterdir():
            assert not folder.name.startswith("."), f"{folder.name} stays"
            names = {path.name for path in folder.iterdir()}
            assert all(map(FILES.fullmatch, names)), names
            with closing(sqlite3.connect(f"{(folder / 'log.sqlite').as_uri()}?mode=ro", uri=True)) as connection:
                known = {file for (file,) in connection.execute("SELECT file FROM snapshots")}
            assert {file for file in names if file.startswith("snapshot")} == known, (names, known)


def spread(cases, n, seed=0):
    """n of all cases, at random; all of them come before one comes again."""
    order = np.random.default_rng(seed).permutation(len(cases))
    return [cases[order[k % len(cases)]] for k in range(n)]
