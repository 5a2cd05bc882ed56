"""Malformed svmlight files: rows and errors as the slow twin has them, wherever blocks end."""

import naive_svmlight as naive
from damage import damaged, fit, written
from svmlight_cases import as_bytes, joined, read

from perceptrons.data import source

TOKENS = [b"1", b"-1", b"0", b"+1", b"1e200", b"1e400", b".5", b"nan", b"1,2", b"qid:3", b"0:1", b"1:2.5", b"2:-3e-2",
          b"3:1e200", b"7:.5", b"9:", b":1", b"a:3", b"268435455:1", b"268435456:1", b"9223372036854775808:1",
          b"99999999999999999999:1", b"5:12345678901234567890123", b"#", b"# x", b"\0", b"\xff"]  # fmt: skip
SPACES = [b" ", b" ", b" ", b"\t", b"  ", b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\n\n", b"\r\n\r\n", b""]
ROW = b"1 1:2 3:4.5 7:-1\n-1 2:1 5:0.25\n"


def case(random, folder):
    content = b"".join(
        TOKENS[random.integers(len(TOKENS))] + SPACES[random.integers(len(SPACES))]
        for _ in range(random.integers(0, 20))
    )
    if random.random() < 0.5:
        content = ROW * int(random.integers(0, 5)) + content
    content = damaged(random, content, 0.5)
    path = written(random, folder / "a.svm", content)
    settings = {"zero_based": random.random() < 0.8, "n_features": 8 if random.random() < 0.3 else None}
    if path.suffix != ".svm":
        whole = source(path, cache=False, block=int(random.integers(1, 100)), **settings)
        for _ in whole.batches():
            pass
        return
    found = [read([path], block=block, **settings) for block in (int(random.integers(1, 60)), 1 << 20)]
    assert found[0][1] == found[1][1]
    try:
        expected = naive.parse(content, **settings)
    except naive.Refused as refused:
        assert found[0][1].startswith(f"{path}:{refused.line}:{refused.column}: "), (found[0][1], refused)
    else:
        assert found[0][1] is None and joined(found[0][0]) == joined(found[1][0]) == as_bytes(*expected)
        if random.random() < 0.05 and len(set(expected.y.tolist())) > 1:
            fit(source(path, cache=False, zero_based=settings["zero_based"], n_features=8))
