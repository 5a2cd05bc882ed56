"""Damage to the bytes of files, as disks, programs and attackers do it."""

import bz2
import gzip
import struct
import warnings

import pyarrow as pa

from perceptrons import Perceptron

EXTREMES = [
    b"\0" * 4,
    b"\xff" * 4,
    b"\xff" * 8,
    b"\x7f" * 8,
    b"\xff\xff\xff\x7f",
    struct.pack("<q", 2**40),
    b"\x80" * 4,
]


def damaged(random, content, often=0.9):
    """The content with a few faults; now and then as it is."""
    if random.random() > often:
        return content
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        content = DAMAGES[random.integers(len(DAMAGES))](random, bytearray(content))
    return bytes(content)


def fit(source):
    """Train a model that need not be good."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Perceptron(max_iter=2).fit(source)


def place(random, content):
    """A position; the beginning and the end of a file are likely, because formats keep their lengths there."""
    size = len(content)
    near = int(random.integers(0, min(size, 64) + 1))
    return [near, size - near, int(random.integers(0, size + 1))][random.integers(3)]


def flip(random, content):
    for _ in range(random.choice([1, 1, 2])):
        if content:
            content[min(place(random, content), len(content) - 1)] ^= 1 << int(random.integers(8))
    return content


def cut(random, content):
    return content[: place(random, content)]


def insert(random, content):
    at = place(random, content)
    content[at:at] = random.bytes(int(random.integers(1, 9)))
    return content


def remove(random, content):
    at = place(random, content)
    del content[at : at + int(random.integers(1, 17))]
    return content


def double(random, content):
    at, size = place(random, content), int(random.integers(1, 100))
    content[at:at] = content[at : at + size]
    return content


def swap(random, content):
    a, b, size = place(random, content), place(random, content), int(random.integers(1, 33))
    content[a : a + size], content[b : b + size] = content[b : b + size], content[a : a + size]
    return content


def overwrite(random, content):
    at, what = place(random, content), EXTREMES[random.integers(len(EXTREMES))]
    content[at : at + len(what)] = what
    return content


DAMAGES = [*[flip] * 9, cut, insert, remove, double, swap, overwrite]
COMPRESSIONS = {
    "": bytes,
    ".gz": lambda content: gzip.compress(content, 1),
    ".bz2": bz2.compress,
    ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}


def written(random, path, content):
    """Write content to a file: mostly as it is, sometimes compressed, and then perhaps damaged once more."""
    ending = [*[""] * 8, *COMPRESSIONS][random.integers(8 + len(COMPRESSIONS))]
    packed = COMPRESSIONS[ending](content)
    if ending and random.random() < 0.5:
        packed = damaged(random, packed)
    path = path.with_name(path.name + ending)
    path.write_bytes(packed)
    return path
