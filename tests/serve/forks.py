"""Servers in processes of their own that start at once: a process that has imported everything forks them.

Each is a real server with a real directory; only the seconds that Python takes to import are saved.
"""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

PARENT = """
import json, os, sys
from perceptrons.cli import main
from perceptrons.core.jit import native
from perceptrons.serve.messages import Example
from perceptrons.serve.model import bulk
import perceptrons.serve.web.server, perceptrons.models, perceptrons.store.estimators
import scipy.sparse

native.enable(lambda: None)
for settings in {"rule": "arow"}, {"readout": "averaged"}, {}:  # loads compiled functions, which all servers need
    model = perceptrons.models.Perceptron(**settings)
    for x, y in ({"a": 1.0, "b": "c"}, 0), ({"a": 2.0}, 1), ({"a": 3.0, "b": "d"}, 1):
        model.learn_one(x, y).predict_one(x)
    model.learn_many([{"a": 1.0}], [1])
    model.learn_one(([1, 2], [1.0, 2.0]), 1)
for readout in "averaged", "last":
    rows = bulk.parts_of([Example([float(k)], k) for k in range(3)])
    bulk.learn_parts(perceptrons.models.Perceptron(readout=readout), rows, None)
perceptrons.serve.model.monitor.Monitor().add(b"\\0\\1", 2)
print("ready", flush=True)
children = set()
for line in sys.stdin:
    order = json.loads(line)
    if "poll" in order:
        found, status = os.waitpid(order["poll"], os.WNOHANG)
        children.discard(found)
        print(json.dumps(os.waitstatus_to_exitcode(status) if found else None), flush=True)
        continue
    child = os.fork()
    if child == 0:
        for number, path in (1, order["out"]), (2, order["err"]):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        os.environ.update(order["environment"])
        main.main(order["args"])
    children.add(child)
    print(child, flush=True)
for child in children:
    os.kill(child, 9)
"""


class Parent:
    """The process that forks servers."""

    def __init__(self, folder):
        self.folder = Path(folder)
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        if self.process.stdout.readline() != "ready\n":
            self.close()
            raise RuntimeError("the process that forks servers did not start: see its error above")

    def order(self, **order):
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


class Forks:
    """Servers on one directory, one after another."""

    def __init__(self, folder):
        self.folder, self.parent, self.child = Path(folder), Parent(folder), None

    def start(self):
        """Start a server; returns its port."""
        out = self.folder / "out"
        out.write_text("")
        args = ["serve", str(self.folder / "served"), "--port", "0"]
        self.child = self.parent.order(args=args, out=str(out), err=str(self.folder / "err"), environment={})
        while "http://" not in (text := out.read_text()):
            assert self.parent.order(poll=self.child) is None, (self.folder / "err").read_text()
            time.sleep(0.005)
        return int(text.split("http://127.0.0.1:")[1].split()[0])

    def kill(self):
        """End the server at once."""
        os.kill(self.child, 9)
        while self.parent.order(poll=self.child) is None:
            time.sleep(0.001)
        self.child = None

    def close(self):
        """End the parent, and its last child if that is still there."""
        if self.child is not None:
            with suppress(ProcessLookupError):
                os.kill(self.child, 9)
        self.parent.close()
