"""Servers in processes of their own that start at once: a process that has imported everything forks them.

Each is a real server with a real directory; only the seconds that Python takes to import are saved.
"""

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

PARENT = """
import json, os, sys
from perceptrons.cli import main
from perceptrons.core.jit import native
import perceptrons.serve.web.server, perceptrons.models, perceptrons.store.estimators
import scipy.sparse

native.enable(lambda: None)
from perceptrons import Perceptron
from perceptrons.serve.model.bulk import body_parts, learn_parts
from perceptrons.serve.model.monitor import Monitor
for model in (Perceptron(rule="arow"), Perceptron(readout="averaged")):  # what a process does once
    for y in "ab" * 3:
        model.learn_one({"x": 1.0, "k": y}, y).predict_one({"x": 1.0})
    model = Perceptron(**model.get_params(deep=False))
    learn_parts(model, body_parts(model, "svmlight", b"1 1:2\\n-1 2:1\\n", {}), None)
    model.learn_one(([1, 2], [1.0, 2.0]), 1.0)
Monitor().add(b"\\0\\1", 2)
print("ready", flush=True)
for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if child == 0:
        out = os.open(order["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(out, 1)
        os.dup2(out, 2)
        main.main(["serve", *order["args"]])
    print(child, flush=True)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


class Forks:
    """Makes servers, one after another."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.parent = subprocess.Popen(
            [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.parent.stdout.readline() == "ready\n"
        self.child = None

    def start(self, *args):
        """Start a server on the directory; returns its port."""
        out = self.folder / "out"
        out.write_text("")
        order = {"args": [str(self.folder / "served"), "--port", "0", *args], "out": str(out)}
        self.parent.stdin.write(json.dumps(order) + "\n")
        self.parent.stdin.flush()
        self.child = int(self.parent.stdout.readline())
        while "http://" not in (text := out.read_text()):
            assert os.path.exists(f"/proc/{self.child}/stat") and "error" not in text, text
        return int(text.split("http://127.0.0.1:")[1].split()[0])

    def kill(self, how=9):
        """End the server."""
        os.kill(self.child, how)
        self.child = None
        assert self.parent.stdout.readline() == "ended\n"

    def close(self):
        """End the parent, and its last child if that is still there."""
        if self.child is not None:
            with suppress(ProcessLookupError):
                os.kill(self.child, 9)
        self.parent.stdin.close()
        self.parent.wait(10)
        self.parent.stdout.close()
