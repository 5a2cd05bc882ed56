"""Random requests to served models of all kinds, valid and invalid: an error answer changes neither model nor log.

    python tests/serve/unchanged.py [requests=5000] [seed=0]

A model gets random requests. After each error answer its state must be as before; now and then its file and its log are
compared, too. A request that learns adds one position. At the end, the log must give the same model again, also after
kill -9; and so must a second model that gets only the requests that were answered with success, which finds what a
state does not show.
"""

import json
import random
import sys
import tempfile
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

from forks import Forks
from killing import Connection

JSON, NDJSON, SVMLIGHT, CSV = "application/json", "application/x-ndjson", "text/x-svmlight", "text/csv"
LEARNING = ("learn", "predict-learn")
VERBS = ("learn",) * 8 + ("predict-learn",) * 4 + ("label",) * 3 + ("keep",) * 3 + ("predict", "explain", "replay")
EVERY = 5  # error answers between comparisons of files and logs
STUCK = 12  # error answers in a row after which the model goes back: it may have got labels of another type

BAD_LABELS = (
    *('"text"', "7", "7.5", "-1", "true", "false", "null", "[]", "[1]", "{}", '""', '" "', '"1"', '"True"', '"nan"'),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775809", "1" * 30, "1" * 400, "9007199254740993"),
    *("1e308", "-1e308", "1e-320", "1e400", "-0.0", "NaN", "Infinity", f'"{"l" * 300}"', '"\\u0000"', '"yes\\u0000"'),
    *('"\\ud800"', '"n\\nl"'),
)
BAD_ROWS = (
    *("[]", "[1.0]", "[1.0,2.0]", "[1,2,3,4,5,6,7]", '[1.0,"2.0",3.0]', '["a","b","c"]', "[1.0,null,3.0]", "[[1.0]]"),
    *("[[1.0,2.0,3.0]]", "[[],[],[]]", "[1e308,1e308,1e308]", "[-1e308,1.0,0.0]", "[1e200,1e200,1e200]", "[1e400,1,1]"),
    *("[1,NaN,2]", "[true,false,true]", "[123456789012345678901234567890,1,1]", "[1e155,-1e155,1e-155]", "[0,0,0]"),
)
BAD_PAIRS = (
    *(
        "[[-1],[1.0]]",
        "[[0,0],[1.0,2.0]]",
        "[[2,1],[1.0,2.0]]",
        "[[1,2],[1.0]]",
        "[[1.5],[1.0]]",
        "[[],[]]",
        "[[],[1]]",
    ),
    *('[["a"],[1.0]]', '[[0],["a"]]', "[[0],[null]]", "[[0],[[1.0]]]", "[[0],[1e308]]", "[[0,1],[1e200,-1e200]]"),
    *(
        "[[3000000],[1.0]]",
        "[[9223372036854775807],[1.0]]",
        "[[9223372036854775808],[1]]",
        "[[true],[1.0]]",
        "[[0],1.0]",
    ),
)
BAD_NAMES = (
    *("{}", '{"":1}', '{"a":null}', '{"a":[1]}', '{"a":{"b":1}}', '{"a":1e308,"b":1e308}', '{"a":1e400}', '{"a":NaN}'),
    *('{"a=b":1,"a":"b"}', '{"a":"b","a=b":2}', '{"a":1,"a":2}', '{"a":"x","b":"y=z","b=y":"z"}', '{"a":"nan"}'),
    *(
        '{"a":123456789012345678901234567890}',
        '{"a":true}',
        '{"\\u0000":1}',
        '{"a":"\\u0000"}',
        '{"a":"%s"}' % ("v" * 3000),
    ),
    *('{"a":-1e308,"new":1e308}', '{"a":1e200,"b":-1e200}', '{"\\ud800":1}', '{"age":"old","job":3}', '{"a":1e-320}'),
)
BAD_X = ("null", "5", '"x"', "true", "[" * 2000, '{"a":' * 2000, *BAD_ROWS, *BAD_PAIRS, *BAD_NAMES)
BAD_BODIES = (
    *("", "{", "[]", "null", "{}", '{"examples":[]}', '{"examples":{}}', '{"x":[1,2,3]}', '{"y":1}', '{"x":{"a":1}}'),
    *('{"x":{"a":1},"y":1,"z":2}', '{"x":{"a":1},"y":1,"id":7}', '{"examples":[5]}', '{"examples":[{"y":1}]}', "\0\0"),
    *('{"x":{"a":1},"y":"yes","y":7}', '{"position":1}', '{"examples":[{"x":{"a":1},"y":1}],"x":[1]}'),
)
BAD_SVMLIGHT = (
    *("1 2:3 1:4", "1 a:3", "yes 1:2", "1 1:1e999", "1 99999999999:1", "1 -1:2", "1 1:2 1:3", "1 1:nan", "nan 1:1"),
    *(
        "1e308 1:1",
        "1 1:1e308 2:1e308",
        "",
        "# nothing",
        "1",
        "1 1",
        "1 1:",
        "1e400 1:1",
        "7 1:1",
        "1 0:1e200 1:-1e200",
    ),
)
BAD_CELLS = ("", "nan", "1e308", "-1e308", "1e400", "text", '"', "1,2", "inf", "1_000", "\0", "7")
BAD_TABLES = ("", "\n\n", "a,b\n1,2\n", "a,a,y\n1,2,3\n", 'a,"b\n1,2', "y\n1\n", "a,y\n", "\xff", "a,y\n1,yes,3\n")

ROWS = [
    f"{x:.2f},{'cook' if i % 3 else 'smith'},{'yes' if i % 2 else 'no'}"
    for i, x in enumerate(random.Random(0).gauss(0, 2) for _ in range(40))
]


class Kind(NamedTuple):
    """A kind of model. body: what creates it, or the words of a command that makes its file; y: its labels; x: rows."""

    body: dict | list
    y: str = "text"
    x: str = "names"


def perceptron(rule, y="text", x="names", **params):
    return Kind({"estimator": "Perceptron", "params": {"rule": rule, **params}}, y, x)


def kernel(x="rows", y="text", **params):
    return Kind({"estimator": "KernelPerceptron", "params": params}, y, x)


def regressor(x="rows", **params):
    return Kind({"estimator": "PassiveAggressiveRegressor", "params": params}, "values", x)


def with_classes(kind, *classes):
    return kind._replace(body={**kind.body, "classes": list(classes)})


KINDS = {
    "perceptron": perceptron("perceptron"),
    "averaged": perceptron("perceptron", "numbers", "pairs", readout="averaged"),
    "voted": perceptron("perceptron", readout="voted", x="rows"),
    "scaled": perceptron("pa1", scale="online"),
    "scaled, averaged": perceptron("perceptron", "numbers", "rows", scale="online", readout="averaged"),
    "pa1": perceptron("pa1", "numbers", "pairs"),
    "arow": perceptron("arow"),
    "arow, averaged": perceptron("arow", "numbers", "pairs", readout="averaged"),
    "arow, full": perceptron({"rule": "arow", "covariance": "full"}, x="rows"),
    "scw1": perceptron("scw1", x="pairs"),
    "sop": perceptron("sop", "numbers", "rows"),
    "romma": perceptron("romma", "bools", "rows"),
    "alma": perceptron("alma", x="pairs"),
    "shifting": perceptron("shifting"),
    "classifier": Kind({"estimator": "PassiveAggressiveClassifier", "params": {"average": True}}, "numbers", "rows"),
    "classifier, scaled": Kind({"estimator": "PassiveAggressiveClassifier", "params": {"scale": "online"}}, "bools"),
    "regressor": regressor("names"),
    "regressor, arow": regressor(rule="arow"),
    "regressor, scaled": regressor("pairs", scale="online", average=True),
    "kernel": kernel(gamma=0.5),
    "kernel of names": kernel("names", "numbers", kernel="poly", degree=2),
    "kernel, averaged": kernel("pairs", readout="averaged", rule="pa1"),
    "budget": kernel(y="numbers", budget=5, policy="random"),
    "projectron": kernel(budget=4, gamma=1.0),
    "classes: bools": with_classes(perceptron("perceptron", "bools"), True, False),
    "classes: text": with_classes(perceptron("arow", x="rows"), "yes", "no", "perhaps"),
    "classes: numbers": with_classes(kernel(y="numbers", budget=6), 1, 2, 3),
    "snapshots": Kind({"params": {"readout": "averaged"}, "keep": 3}),
    "table": Kind(["--rule", "arow"], x="table"),
    "table, averaged": Kind(["--readout", "averaged"], x="table"),
}


class Request(NamedTuple):
    """A request. id: of a prediction that waits for its label."""

    verb: str
    body: bytes
    type: str = JSON
    key: str | None = None
    query: str = ""
    id: str | None = None


class Requests:
    """Random requests to a model of a kind; `sent` is told what became of each."""

    def __init__(self, kind, seed):
        self.kind, self.pick = kind, random.Random(seed)
        self.keyed, self.waiting, self.gone, self.n, self.position, self.stuck = [], [], ["never"], 0, 0, 0
        self.bad = False  # whether the next value may be a bad one

    def next(self):
        """The next request; about half of them are wrong in some way."""
        pick, self.n = self.pick, self.n + 1
        self.bad = pick.random() < 0.5
        if self.stuck >= STUCK or pick.random() < 0.03:
            position = pick.choice((0, self.position // 2, max(0, self.position - pick.randrange(9))))
            return Request("rollback", self.places(position))
        if pick.random() < 0.02:
            return Request("snapshot", b"{}")
        if self.keyed and pick.random() < 0.06:
            return pick.choice(self.keyed)
        request = self.of(pick.choice(VERBS))
        if request.verb in (*LEARNING, "label") and pick.random() < 0.3:
            reused = self.keyed and pick.random() < 0.2
            request = request._replace(key=pick.choice(self.keyed).key if reused else f"key{self.n}")
        return request

    def sent(self, request, status, position):
        """Take note of an answer, and of the position after it."""
        self.position, self.stuck = position, self.stuck + 1 if status >= 300 else 0
        if status < 300:
            if request.key is not None:
                self.keyed.append(request)
            if request.verb == "predict" and request.id is not None:
                self.waiting.append(request.id)
            if request.verb == "label" and request.id in self.waiting:
                self.waiting.remove(request.id)
                self.gone.append(request.id)

    def of(self, verb):
        """A request with this verb."""
        pick = self.pick
        if verb == "label":
            id = pick.choice(self.gone if not self.waiting or self.broken(0.3) else self.waiting)
            return Request("label", f'{{"id":{json.dumps(id)},"y":{self.y()}}}'.encode(), id=id)
        if verb == "replay":
            return Request("replay", self.places(pick.randint(0, self.position)))
        if verb == "explain":
            label = f',"label":{self.y()}' if pick.random() < 0.5 else ""
            return Request("explain", f'{{"x":{self.x()}{label}}}'.encode())
        if verb == "keep":
            old = [*self.waiting, "i" * 300, ""]
            id = pick.choice(old) if self.broken(0.3) else f"id{self.n}"
            y = f',"y":{self.y()}' if self.broken(0.1) else ""
            return Request("predict", f'{{"x":{self.x()},"id":{json.dumps(id)}{y}}}'.encode(), id=id)
        body, type, query = self.examples()
        if verb == "predict" and pick.random() < 0.3:
            query = pick.choice(("?scores=true", "?ask=true", "?ask=true&b=0", "?colour=red"))
        return Request(verb, body, type, query=query)

    def broken(self, chance):
        """Whether to put the fault of this request here, if it has one."""
        here = self.bad and self.pick.random() < chance
        self.bad = self.bad and not here
        return here

    def places(self, position):
        if self.broken(0.3):
            position = self.pick.choice((-1, self.position + 1, 10**30, '"1"', 1.5, "null", "true"))
        return f'{{"position":{position}}}'.encode()

    def examples(self):
        """A body with examples, its type and its query."""
        pick = self.pick
        how = pick.choice(("one",) * 8 + ("examples",) * 4 + ("ndjson",) * 3 + ("csv",) * 3 + ("svmlight",))
        if how == "svmlight" and self.kind.y in ("text", "bools") and pick.random() < 0.7:
            how = "csv" if self.kind.x == "table" else "one"
        if self.broken(0.08):
            type = pick.choice((JSON, JSON, NDJSON, SVMLIGHT, CSV, "text/plain"))
            return pick.choice((*BAD_BODIES, *BAD_SVMLIGHT, *BAD_TABLES)).encode("latin-1"), type, ""
        if how == "one":
            return self.example().encode(), JSON, ""
        n = pick.choice((1, 2, 3, 10, 40, 130)) if pick.random() < 0.95 else pick.choice((1001, 1500, 2300))
        at = pick.randrange(n // 2, n) if self.bad else -1  # the row with the fault
        rows, was, self.bad = [], self.bad, False
        make = {"svmlight": self.line, "csv": self.cells}.get(how, self.example)
        for i in range(n):
            self.bad = i == at and was
            rows.append(make())
        if how == "examples":
            return f'{{"examples":[{",".join(rows)}]}}'.encode(), JSON, ""
        if how == "csv":
            header = "age,job,y" if self.kind.x == "table" else pick.choice(("a,b,y", "a,colour,y"))
            return "\n".join([header, *rows, ""]).encode(), CSV, pick.choice(("", "", "", "?target=y"))
        type = SVMLIGHT if how == "svmlight" else NDJSON
        return "\n".join([*rows, ""]).encode(), type, "?zero_based=false" if self.broken(0.5) else ""

    def example(self):
        """An example in JSON."""
        if self.broken(0.05):
            return self.pick.choice(BAD_BODIES).replace("\n", " ")
        if self.broken(0.5):
            return f'{{"x":{self.pick.choice(BAD_X)},"y":{self.y()}}}'
        x = self.x()
        return f'{{"x":{x},"y":{self.y()}}}'

    def y(self):
        """A label in JSON."""
        if self.broken(0.7):
            return self.pick.choice(BAD_LABELS)
        if self.kind.y == "values":
            return f"{self.pick.gauss(0, 3):.2f}"
        own = {"text": ('"yes"', '"no"'), "numbers": ("1", "2", "3"), "bools": ("true", "false")}[self.kind.y]
        return self.pick.choice(own)

    def x(self):
        """Features in JSON: mostly of the form that this model gets."""
        pick = self.pick
        if self.broken(0.6):
            own = {"rows": BAD_ROWS, "pairs": BAD_PAIRS}.get(self.kind.x, BAD_NAMES)
            return pick.choice(own if pick.random() < 0.7 else BAD_X)
        form = pick.choice(("rows", "pairs", "names")) if pick.random() < 0.02 else self.kind.x
        if form == "rows":
            return json.dumps([self.number() for _ in range(3)])
        if form == "pairs":
            where = sorted(pick.sample(range(12), pick.randint(0, 4)))
            return json.dumps([where, [self.number() for _ in where]])
        if form == "table":
            return json.dumps({"age": self.number(), "job": pick.choice(("cook", "smith"))})
        found = {name: self.number() for name in pick.sample("abcdefgh", pick.randint(1, 4))}
        if pick.random() < 0.5:
            found["colour"] = pick.choice(("red", "green", f"c{pick.randrange(30)}"))
        return json.dumps(found)

    def number(self):
        return round(self.pick.gauss(0, 2), 2)

    def line(self):
        """A line in svmlight format."""
        if self.broken(0.9):
            return self.pick.choice(BAD_SVMLIGHT)
        y = self.y() if self.kind.y in ("numbers", "values") else self.pick.choice(("1", "2"))
        where = sorted(self.pick.sample(range(3 if self.kind.x == "rows" else 12), self.pick.randint(0, 3)))
        return " ".join([y, *(f"{i}:{self.number()}" for i in where)])

    def cells(self):
        """A row of a CSV body."""
        category = self.pick.choice(("cook", "smith") if self.kind.x == "table" else ("red", "green", "1.5"))
        found = [f"{self.number()}", category, self.y().strip('"')]
        if self.broken(0.8):
            found[self.pick.randrange(3)] = self.pick.choice(BAD_CELLS)
        return ",".join(found[: 2 if self.broken(0.3) else 3])


class Changed(AssertionError):
    """A model that a request should not have changed has changed, or one that cannot be had again from its log."""


class Watched:
    """A model on a server, and what it was after the last request."""

    def __init__(self, port, name, kind, base=None):
        self.connection, self.path, self.kind = Connection(port), f"/v1/models/{name}", kind
        body = json.dumps(kind.body).encode() if base is None else base
        type = JSON if base is None else "application/octet-stream"
        status, answer = self.connection.call("POST", self.path, body, Content_Type=type)
        assert status == 201, answer
        self.answers = {}  # the first answer to each request with a key
        self.n_errors, self.state, self.whole = 0, self.read_state(), self.read_whole()

    def read_state(self):
        """The state, without what depends on the moment and on its name."""
        status, state = self.connection.call("GET", self.path)
        assert status == 200, state
        return {name: value for name, value in state.items() if name not in ("name", "queue")}

    def read_whole(self):
        """What the model file holds, and the log."""
        status, file = self.connection.call("GET", f"{self.path}/file")
        assert status in (200, 409), file
        return content_of(file) if status == 200 else None, self.connection.call("GET", f"{self.path}/log")

    def send(self, request):
        """Send a request; returns its status and its answer."""
        headers = {"Content_Type": request.type} | ({} if request.key is None else {"Idempotency_Key": request.key})
        return self.connection.call("POST", f"{self.path}/{request.verb}{request.query}", request.body, **headers)

    def step(self, request, *, whole=False):
        """Send a request and check what became of it; whole: compare file and log after an error in any case.

        Returns the status.
        """
        status, answer = self.send(request)
        before, self.state = self.state, self.read_state()
        if status >= 300:
            self.n_errors += 1
            expect(self.state == before, f"state after {status} {answer}: {differences(before, self.state)}")
            expect(status < 500, f"{status} {answer}")
            if whole or self.n_errors % EVERY == 0:
                self.compare(f"after {status} {answer}")
            valid = self.is_valid_position(request, before)
            expect(not valid, f"position {request.body} cannot be had: {status} {answer}")
            return status
        if request.key is not None and (first := self.answers.setdefault(request.key, answer)) is not answer:
            expect(answer == first, f"first {first}, then {answer}")
            expect(self.state == before, f"state after a repetition: {differences(before, self.state)}")
            return status
        # A key lives as long as its part of the log.
        self.answers = {key: each for key, each in self.answers.items() if each["position"] > self.state["oldest"]}
        position = before["position"] + (request.verb in (*LEARNING, "label"))
        if request.verb == "rollback":
            position = json.loads(request.body)["position"]
        expect(self.state["position"] == self.state["durable"] == position, f"position {position}: {self.state}")
        if request.verb in (*LEARNING, "label", "rollback"):
            self.whole = self.read_whole() if whole else None
        return status

    def is_valid_position(self, request, state):
        """Whether a request asks for a position that there is."""
        if request.verb not in ("rollback", "replay"):
            return False
        asked = json.loads(request.body)["position"]
        return type(asked) is int and state["oldest"] <= asked <= state["position"]

    def compare(self, when):
        """Compare file and log with those that were read last, if nothing was learned since."""
        found = self.read_whole()
        if self.whole is not None:
            expect(found == self.whole, f"file or log {when}: {differences(self.whole[0], found[0])}")
        self.whole = found

    def check_log(self):
        """The log gives the same model again."""
        state = self.read_state()
        status, again = self.connection.call("POST", f"{self.path}/replay", {"position": state["position"]})
        expect(status == 200, f"replay: {status} {again}")
        names = ("n_seen", "n_mistakes", "n_updates", "n_features", "classes")
        expect([again[n] for n in names] == [state[n] for n in names], f"replay gives {again}, but it is {state}")
        status, file = self.connection.call("GET", f"{self.path}/file?position={state['position']}")
        found, live = content_of(file) if status == 200 else None, self.read_whole()[0]
        expect(found == live, f"replay: {differences(live, found)}")

    def moved(self, port):
        """Go on with another server of the directory."""
        self.connection.close()
        self.connection = Connection(port)


def expect(true, what):
    if not true:
        raise Changed(what)


def content_of(file):
    """What a model file holds, without the report of the last call: settings, and all arrays."""
    end = 8 + int.from_bytes(file[:8], "little")
    header = json.loads(file[8:end])
    model = json.loads(header.pop("__metadata__")["model"])
    del model["report"]
    for name, facts in header.items():
        if not name.startswith("report."):
            begin, stop = facts["data_offsets"]
            model[name] = facts["dtype"], facts["shape"], file[end + begin : end + stop]
    return model


def differences(before, after):
    """Where two dicts differ, as text."""
    before, after = before or {}, after or {}
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return "; ".join(f"{name}: {before.get(name)!r:.300} -> {after.get(name)!r:.300}" for name in names)


class Run:
    """Random requests to models of all kinds on one server."""

    def __init__(self, forks, seed=0):
        self.forks, self.seed, self.n_models, self.n_requests, self.n_errors = forks, seed, 0, 0, 0
        self.found = []  # violations: kind, requests, what
        self.alive = []  # models that must survive a kill
        self.files, self.port = {}, forks.start()

    def create(self, label):
        """A new model of a kind."""
        kind = KINDS[label]
        if isinstance(kind.body, list) and label not in self.files:
            self.files[label] = trained(self.forks.folder, kind.body)
        self.n_models += 1
        return Watched(self.port, f"m{self.n_models}", kind, self.files.get(label))

    def model(self, label, n):
        """Send n requests to a model of this kind, then compare it with its log and with a second one."""
        model, done = self.create(label), []
        requests = Requests(KINDS[label], f"{self.seed} {label}")
        try:
            for _ in range(n):
                request = requests.next()
                done.append([request, None])
                self.n_requests += 1
                done[-1][1] = status = model.step(request)
                requests.sent(request, status, model.state["position"])
            model.compare("at the end")
            model.check_log()
            self.check_second(label, model, [request for request, status in done if status < 300])
            self.alive.append((label, model, [request for request, _ in done]))
        except (AssertionError, OSError, HTTPException) as changed:
            self.found.append((label, [request for request, _ in done], f"{type(changed).__name__}: {changed}"))
        self.n_errors += model.n_errors

    def check_second(self, label, model, succeeded):
        """A model that gets only the requests that were answered with success is the same."""
        second = self.create(label)
        for request in succeeded:
            status, answer = second.send(request)
            expect(status < 300, f"only after refused requests {request} succeeds; alone: {status} {answer}")
        state, live = second.read_state(), model.read_state()
        expect(state == live, f"without the refused requests: {differences(state, live)}")
        whole, live = second.read_whole(), model.read_whole()
        expect(whole == live, f"without the refused requests: {differences(whole[0], live[0])}")
        second.connection.call("DELETE", second.path)
        second.connection.close()

    def kill(self):
        """Kill the server: afterwards all models are as they were."""
        for _, model, _ in self.alive:
            model.moved(self.port)  # the server closes connections that nothing comes over for a while
        before = [(model.read_state(), model.read_whole()) for _, model, _ in self.alive]
        self.forks.kill()
        self.port = self.forks.start()
        for (label, model, requests), (state, whole) in zip(self.alive, before, strict=True):
            model.moved(self.port)
            try:
                now = model.read_state()
                expect(now == state, f"after a kill: {differences(state, now)}")
                again = model.read_whole()
                expect(again == whole, f"after a kill: {differences(whole[0], again[0])}")
            except AssertionError as changed:
                self.found.append((label, requests, str(changed)))
            model.connection.close()

    def all(self, n):
        """Send about n requests to models of all kinds, one after another; returns a line that tells the result."""
        for i, label in enumerate(KINDS):
            self.model(label, (n * (i + 1)) // len(KINDS) - (n * i) // len(KINDS))
        self.kill()
        return (
            f"{self.n_requests:,} random requests over {len(KINDS)} models: {self.n_errors:,} error answers, "
            f"{len(self.found)} changed a model or its log"
        )


def trained(folder, words):
    """The model file that `perceptrons train` makes of a table."""
    from perceptrons.cli.main import main

    table, file = Path(folder) / "table.csv", Path(folder) / "table.perceptron"
    table.write_text("\n".join(["age,job,y", *ROWS, ""]))
    try:
        main(["train", str(table), "--target", "y", "--model", str(file), "--quiet", *words])
    except SystemExit as end:
        assert not end.code, end
    return file.read_bytes()


def run(n, seed=0):
    """Send n random requests; prints the result, and returns what was found."""
    with tempfile.TemporaryDirectory() as folder:
        forks = Forks(folder)
        try:
            done = Run(forks, seed)
            print(done.all(n))
            forks.kill()
        finally:
            forks.close()
    for label, requests, what in done.found:
        print(f"{label}, request {len(requests)}: {requests[-1]!r:.600}\n    {what:.1500}")
    return done.found


if __name__ == "__main__":
    sys.exit(bool(run(*map(int, sys.argv[1:] or ["5000"]))))
