"""Flip single bits in the folders of served models, and compare what comes back with what was acknowledged.

Many copies of one model lie beside another model. In each copy one bit is flipped, then a server starts. Each answer
about a copy must be the one from before, or an error that names a file; the other model must go on.
"""

import random
import shutil
from pathlib import Path

import numpy as np
from forks import Forks
from injected import BATCH, BODY, LABELLED, LAST, SINGLES, SVMLIGHT, WAITS, request, svmlight
from killing import Connection
from unchanged import content_of

COPIES = 50  # models of one server


class Flips:
    """Servers on copies of a directory, with flipped bits."""

    def __init__(self, folder, seed=0):
        self.folder, self.pick, self.forks = Path(folder), random.Random(seed), Forks(folder)
        self.n, self.found = {"without effect": 0, "reported": 0}, []
        self.models = self.folder / "served" / "models"
        self.fill()

    def close(self):
        self.forks.close()

    def fill(self):
        """Make both models, with a snapshot, keys, a prediction that waits, and a rollback; end with a kill."""
        connection = Connection(self.forks.start())

        def post(path, body, **headers):
            status, answer = connection.call("POST", path, body, **headers)
            assert status in (200, 201), answer

        for name in ("copied", "other"):
            path = f"/v1/models/{name}"
            post(path, {"params": {"readout": "averaged"}})
            for k, rows in enumerate(SINGLES):
                post(f"{path}/learn", request(*rows), Idempotency_Key=f"single-{k}")
            post(f"{path}/learn", request(*BATCH))
            post(f"{path}/rollback", {"position": 5})
            post(f"{path}/snapshot", None)
            post(f"{path}/learn", request(*BATCH))
            post(f"{path}/learn", svmlight(BODY), Content_Type=SVMLIGHT)
            for id, (x, _) in (("labelled", LABELLED), ("waits", WAITS)):
                post(f"{path}/predict", {"x": x, "id": id})
            post(f"{path}/label", {"id": "labelled", "y": LABELLED[1]})
            post(f"{path}/learn", request(LAST), Idempotency_Key="last")
        self.before = self.about(connection, "copied")
        connection.close()
        self.forks.kill()
        self.original = self.folder / "original"
        shutil.move(self.models / "copied", self.original)

    def about(self, connection, name):
        """All that a server tells about a model: (status, answer) of some requests."""
        path = f"/v1/models/{name}"
        asked = {
            "state": ("GET", path, None),
            "log": ("GET", f"{path}/log", None),
            "file": ("GET", f"{path}/file", None),
            **{f"file at {at}": ("GET", f"{path}/file?position={at}", None) for at in (0, 3, 5, 6)},
            "predict": ("POST", f"{path}/predict", {"x": LAST[0]}),
        }
        found = {what: connection.call(*request) for what, request in asked.items()}
        for what, (status, answer) in found.items():
            if status == 200 and what == "state":
                for other in ("name", "queue", "snapshot", "log_bytes"):
                    answer.pop(other, None)
            elif status == 200 and what.startswith("file"):
                found[what] = status, content_of(answer)
        return found

    def flip(self, folder):
        """Flip one bit in one of the files, each of them equally often; returns where it is."""
        path = self.pick.choice(sorted(path for path in folder.iterdir() if path.stat().st_size))
        return self.flip_in(path)

    def flip_in(self, path):
        content = bytearray(path.read_bytes())
        # most of a database is empty pages: half of the flips hit bytes that are not 0
        used = np.flatnonzero(np.frombuffer(content, dtype=np.uint8)) if self.pick.random() < 0.5 else ()
        at = int(self.pick.choice(used)) if len(used) else self.pick.randrange(len(content))
        bit = self.pick.randrange(8)
        content[at] ^= 1 << bit
        path.write_bytes(content)
        return f"{path.name}, byte {at}, bit {bit}"

    def round(self, n):
        """Start a server on n copies, each with a flipped bit."""
        where = {}
        for k in range(n):
            folder = self.models / f"c{k}"
            shutil.copytree(self.original, folder)
            where[folder.name] = self.flip(folder)
        connection = Connection(self.forks.start())
        for name, what in where.items():
            try:
                self.check(connection, name)
            except AssertionError as fault:
                self.found.append(f"{what}: {fault}")
        other = "/v1/models/other"
        assert connection.call("GET", f"{other}/file")[0] == 200
        assert connection.call("POST", f"{other}/learn", request(LAST))[0] == 200
        connection.close()
        self.forks.kill()
        for name in where:
            shutil.rmtree(self.models / name)

    def check(self, connection, name):
        """Each answer is the one from before, or an error with a reason; and no key is learned again."""
        now, reported = self.about(connection, name), False
        for what, (status, answer) in now.items():
            if status >= 400:  # nothing has been learned at position 0, so there is no file
                reported |= what != "file at 0"
                assert isinstance(answer, dict) and len(answer["error"]) > 20, (what, status, answer)
            elif what == "state" and answer["broken"]:
                reported = True
                assert str(self.models / name) in answer["broken"], answer
            elif what == "log" and answer != self.before[what][1]:
                reported = self.is_cut(answer)
            else:
                assert (status, answer) == self.before[what], f"{what} is {answer!r:.300}"
        path = f"/v1/models/{name}"
        for key, body in (("single-2", request(*SINGLES[2])), ("last", request(LAST))):
            status, answer = connection.call("POST", f"{path}/learn", body, Idempotency_Key=key)
            assert status >= 400, f"{key} was learned again: {answer}"
            reported |= "came with another request before" not in answer["error"]  # the one to the copied model
        status, answer = connection.call("POST", f"{path}/label", {"id": "waits", "y": WAITS[1]})
        assert status == 200 or reported, answer
        if status == 200:
            position = self.before["state"][1]["position"]
            assert answer["position"] == position + 1, answer
            assert connection.call("GET", path)[1]["n_seen"] == self.before["state"][1]["n_seen"] + 1
        self.n["reported" if reported else "without effect"] += 1

    def is_cut(self, log):
        """Whether a log, which is sent while it is read, ends where it is damaged: each line is one from before."""
        before = self.before["log"][1].splitlines()
        lines = log.splitlines()
        assert lines == before[: len(lines)], f"the log is {log!r:.300}"
        return True

    def run(self, n):
        """Flip n bits; returns a line that tells the result."""
        while n:
            now = min(n, COPIES)
            self.round(now)
            n -= now
        told = ", ".join(f"{count:,} {what}" for what, count in self.n.items())
        return f"{sum(self.n.values()) + len(self.found):,} flipped bits: {told}, {len(self.found)} silent"


if __name__ == "__main__":
    import sys
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        flips = Flips(folder)
        try:
            print(flips.run(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))
        finally:
            flips.close()
        print("\n".join(flips.found))
