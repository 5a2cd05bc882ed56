"""Copies of rows with anything in them: training gives the model of the source, or another one, but never crashes.

Half of the copies have digests that are right for what they hold, as if somebody had made them on purpose.
"""

import copy as copying
import hashlib
import json
import os
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from perceptrons import Perceptron
from perceptrons.data import cache_file
from perceptrons.data.cache import Cached
from perceptrons.data.cache_file import MAGIC, PAGE, Entry
from perceptrons.data.numpy_files import NumpySource
from perceptrons.data.svmlight import SvmlightSource
from perceptrons.data.table import tables

TIME = 1_700_000_000_000_000_000  # of all source files, so that their copies stay good
STRANGE = [0, 1, -1, 2, 7, 4096, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 10**30, -(10**30)]
STRANGE += [True, False, None, 1.5, float("nan"), "5", "", "<f4", "<f8", "<U3", "|O", [], {}, [[]], ["a"]]
_good: dict[Any, "Good"] = {}  # the copies that cases are made of


class Parts(NamedTuple):
    """A copy in pieces."""

    head: bytes
    batches: list[bytes]  # with their padding
    contents: Any

    def joined(self, *, digests: bool = True) -> bytes:
        """The bytes of the copy; with `digests`, those of the batches are computed anew, if their entries allow it."""
        contents = copying.deepcopy(self.contents)
        with suppress(ValueError, TypeError, KeyError, AttributeError):
            for batch, entry in zip(self.batches, contents["batches"] if digests else [], strict=False):
                entry["digest"] = hashlib.sha256(batch[: Entry(**entry).size]).hexdigest()
        return sealed(self.head, self.batches, json.dumps(contents).encode())


class Good(NamedTuple):
    """A good copy, and what is learned from it."""

    name: str
    content: bytes
    coef: Any


def sealed(head, batches, contents):
    """The bytes of a copy, with a right footer."""
    digest = hashlib.sha256(head + contents).digest()
    return b"".join([head, *batches, contents, len(contents).to_bytes(8, "little"), digest, MAGIC])


def taken_apart(content):
    """The parts of a good copy."""
    end = len(content) - cache_file.FOOT
    size = int.from_bytes(content[end : end + 8], "little")
    contents = json.loads(content[end - size : end])
    ends = [entry["at"] for entry in contents["batches"]] + [end - size]
    batches = [content[a:b] for a, b in pairwise(ends)]
    return Parts(content[: ends[0]], batches, contents)


def arrays_of(batch, entry):
    """Writable views of the arrays of a batch, by name."""
    found, at = {}, 0
    for name, (kind, shape) in Entry(**entry).arrays().items():
        count = int(np.prod(shape))
        found[name] = np.frombuffer(batch, dtype=kind, count=count, offset=at).reshape(shape)
        at += -(-count * kind.itemsize // cache_file.ALIGNED) * cache_file.ALIGNED
    return found


def opened(kind, folder):
    """A source of this kind; its file is written anew, the same in every call."""
    lines = [f"{i % 2 * 2 - 1} {i % 7}:{i % 5 - 2} {7 + i % 3}:{i % 4}.5" for i in range(90)]
    rows = np.arange(360.0).reshape(90, 4) % 7 - 3
    path = os.path.join(folder, f"rows.{kind}")
    if kind == "svm":
        with open(path, "w") as file:
            file.write("\n".join(lines))
        made = SvmlightSource([path], block=400)
    elif kind == "csv":
        jobs = [f"{'abcdef'[i % 6]},{i % 4},{'yes' if i % 3 else 'no'}" for i in range(40)]
        with open(path, "w") as file:
            file.write("\n".join(["job,age,y", *jobs]) + "\n")
        made = tables.TableSource([path], format="csv", target="y")
    else:
        np.save(path, np.column_stack([rows, rows.sum(axis=1) > 0]))
        made = NumpySource([path])
    os.utime(path, ns=(TIME, TIME))
    made.caching = str(folder)
    return made


def learned(source):
    """What a model learns from a source, in several passes."""
    return Perceptron(max_iter=2, tol=None, random_state=0).fit(source).coef_


def good(kind, folder):
    """A good copy of a source of this kind in this folder."""
    if (kind, folder) not in _good:
        source = opened(kind, folder)
        coef = learned(source)
        path = Cached(source, str(folder)).path
        with open(path, "rb") as file:
            _good[kind, folder] = Good(os.path.basename(path), file.read(), coef)
        assert np.array_equal(learned(source), coef)  # now from the copy
    return _good[kind, folder]


def damaged(random, content):
    """Change bytes, but no digests."""
    content, n = bytearray(content), len(content)
    way = random.integers(4)
    if way == 0:
        for place in random.integers(0, n, random.integers(1, 9)).tolist():
            content[place] ^= 1 << int(random.integers(8))
    elif way == 1:
        return bytes(content[: random.integers(n)])
    elif way == 2:  # two blocks change places
        size = 8 << int(random.integers(0, 12))
        a, b = (int(each) * 8 for each in random.integers(0, max(1, (n - size) // 8), 2))
        content[a : a + size], content[b : b + size] = content[b : b + size], content[a : a + size]
    else:
        place = int(random.integers(n))
        content[place:place] = random.bytes(random.integers(1, 5000))
    return bytes(content)


def forged(random, content):
    """Change what a copy says, and compute its digests anew."""
    parts = taken_apart(content)
    which = int(random.integers(len(parts.batches)))
    entry = parts.contents["batches"][which]
    way = random.integers(5)
    if way == 0:
        batch = bytearray(parts.batches[which])
        arrays = arrays_of(batch, entry)
        name = random.choice(list(arrays))
        words = arrays[name].reshape(-1).view(np.uint8)
        words = words.view(f"u{random.choice([size for size in (1, 4, 8) if words.size % size == 0])}")
        for place in random.integers(0, words.size, random.integers(1, 4)).tolist():
            old, top = int(words[place]), int(np.iinfo(words.dtype).max)
            words[place] = [0, 1, top, top >> 1, top // 3, (old + 1) % top, max(old, 1) - 1][random.integers(7)]
        parts.batches[which] = bytes(batch)
    elif way == 1:
        entry[random.choice(list(entry))] = _strange(random)
    elif way == 2:
        _alter(random, parts.contents)
    elif way == 3:
        whole = bytearray(json.dumps(parts.contents).encode())
        for place in random.integers(0, len(whole), random.integers(1, 4)).tolist():
            whole[place] = int(random.choice(list(b'0123456789[]{},:"- truenf')))
        return sealed(parts.head, parts.batches, bytes(whole))
    else:  # batches that are missing, double, or in another order
        order = random.integers(0, len(parts.batches), random.integers(0, len(parts.batches) + 2)).tolist()
        parts.contents["batches"] = [dict(parts.contents["batches"][k]) for k in order]
        parts = parts._replace(batches=[parts.batches[k] for k in order])
        at = len(parts.head)
        for batch, each in zip(parts.batches, parts.contents["batches"], strict=True):
            each["at"], at = at, at + len(batch)
        if random.random() < 0.3:
            parts.batches.append(bytes(PAGE))
    return parts.joined()


def _strange(random):
    return copying.deepcopy(STRANGE[random.integers(len(STRANGE))])


def _alter(random, tree):
    """Change something in a tree of lists and dicts."""
    while True:
        keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        if not keys:
            return
        key = keys[random.integers(len(keys))]
        below = tree[key]
        if isinstance(below, list | dict) and below and random.random() < 0.8:
            tree = below
            continue
        way = random.integers(3)
        if way == 0:
            del tree[key]
        elif way == 1 and isinstance(tree, list):
            tree.append(copying.deepcopy(below))
        else:
            tree[key] = _strange(random)
        return


def case(random, folder):
    """Train from a copy that is not as it was made."""
    kind = random.choice(["svm", "svm", "svm", "npy", "npy", "csv"])
    right = good(kind, folder)
    source, honest = opened(kind, folder), random.random() < 0.5
    with open(os.path.join(folder, right.name), "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write((damaged if honest else forged)(random, right.content))
    coef = learned(source)
    assert np.isfinite(coef).all()
    if honest:
        assert np.array_equal(coef, right.coef)
