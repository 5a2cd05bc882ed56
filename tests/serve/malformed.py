"""Requests that a server must refuse, or survive: for the tests, and in thousands for the benchmark."""

import json
import random

GOOD = b'{"x": {"a": 1.0, "b": "red"}, "y": "yes"}'
VALUES = (
    "null",
    "[]",
    "{}",
    "1e400",
    "-1e308",
    "NaN",
    "Infinity",
    "123456789012345678901234567890",
    '"\\ud800"',
    '"\\u0000"',
    "[" * 2000,
    '{"a":' * 2000,
    "true",
    '""',
    "[[1],[2],[3]]",
    "[[-1],[2]]",
    "[[9223372036854775808],[1]]",
    "[[1.5],[1]]",
    "[[1,1],[1]]",
    '["a"]',
    '[["a"],["b"]]',
    '{"a": {"b": 1}}',
    '{"a": [1, 2]}',
    '{"a": null}',
)
TYPES = (
    "application/json",
    "application/x-ndjson",
    "text/x-svmlight",
    "text/csv",
    "text/plain",
    "application/octet-stream",
)
TEXTS = (
    b"1 2:3 1:4\n",
    b"1 a:3\n",
    b"yes 1:2\n",
    b"1 1:1e999\n",
    b"1 99999999999:1\n",
    b"\xff\xfe\n",
    b"a,b,y\n1,2\n",
    b"a,a,y\n1,2,3\n",
    b'a,"b\n1,2',
    b"\n\n\n",
    b'{"x": {"a": 1}, "y": 1}\n{"x": {"a": ',
    b'{"x": {"a": 1}}\n',
    b"\x00" * 100,
)
PATHS = (
    "/v1/models/../../etc/passwd",
    "/v1/models/%2e%2e%2fx/learn",
    "/v1/models//learn",
    "/v1/models/" + "x" * 300,
    "/v1/models/NAME/nothing",
    "/v9",
    "/v1/models/NAME/learn?target=y&zero_based=maybe",
    "/v1/models/NAME/predict?ask=perhaps",
    "/v1/models/NAME/predict?ask=true&b=-1",
    "/v1/models/NAME/log?after=x",
    "/v2/models/NAME/infer",
)
VERBS = ("learn", "predict", "predict-learn", "label", "explain", "rollback", "replay")


def malformed(model, seed):
    """A request as method, path, body and type; most are wrong in some way, and none may change what others see."""
    pick = random.Random(seed)
    verb, kind = pick.choice(VERBS), pick.choice(TYPES)
    path = f"/v1/models/{model}/{verb}"
    how = pick.randrange(6)
    if how == 0:  # a value where another is expected
        x, y = pick.choice(VALUES), pick.choice(('"yes"', *VALUES))
        return "POST", path, f'{{"x": {x}, "y": {y}}}'.encode(), "application/json"
    if how == 1:  # a good request with damage
        body = bytearray(GOOD)
        for _ in range(pick.randint(1, 4)):
            body[pick.randrange(len(body))] = pick.randrange(256)
        return "POST", path, bytes(body), kind
    if how == 2:
        return "POST", path, pick.choice(TEXTS), kind
    if how == 3:
        method = pick.choice(("GET", "POST", "PUT", "DELETE", "PATCH"))
        strange = pick.choice(PATHS)
        if method == "DELETE":  # the model itself stays
            strange = "/v1/models/there-is-none"
        return method, strange.replace("NAME", model), pick.choice((GOOD, b"", b"[")), kind
    if how == 4:
        return "POST", path, GOOD[: pick.randrange(len(GOOD))], kind
    many = [
        pick.choice((json.loads(GOOD), {"x": [1.0]}, {"x": [[1], [2.0]], "y": 1}, {"y": 1}, {}, 5)) for _ in range(3)
    ]
    return "POST", path, json.dumps({"examples": many}).encode(), "application/json"
