"""Malformed .npy and .npz files."""

import io
import zipfile

import numpy as np
from damage import damaged, fit, written

from perceptrons.data import source

TYPES = ["f4", "f8", "i4", "u1", "?", "f2", ">f8", "f16", "U3", "S3", "u8", "c16"]
HEADERS = [  # what to replace, and by what
    (b"<f8", b"<U9"), (b"<f8", b"|O "), (b"'descr': '<f8'", b"'descr': ((((("), (b"False", b"True "),
    (b"False", b"fals\\"), (b"shape': (", b"shape': (-"), (b", }", b",L}"), (b", }", b"9,}"),
    (b"shape': (", b"shape': (9999999"), (b"{", b"{'a':1,"), (b"<f8", b"<U100000000"), (b"(", b"(1,"), (b"(", b"(L"),
    (b"\x93NUMPY\x01", b"\x93NUMPY\x02"), (b"<f8", b"\\N{"),
]  # fmt: skip


def array(random, value):
    """The bytes of a .npy file, with a header that may be wrong."""
    file = io.BytesIO()
    np.save(file, value, allow_pickle=False)
    content = file.getvalue()
    if random.random() < 0.1:
        content = content.replace(*HEADERS[random.integers(len(HEADERS))], 1)
    return damaged(random, content, 0.1)


def archive(random, arrays):
    """The bytes of a .npz file."""
    file = io.BytesIO()
    kind = [*[zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED] * 4, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA][random.integers(10)]
    with zipfile.ZipFile(file, "w", kind) as packed:
        for name, value in arrays.items():
            packed.writestr(f"{name}.npy", array(random, value))
    return damaged(random, file.getvalue(), 0.4)


def sparse(random, X):
    """The arrays of a CSR matrix, of which one may be wrong."""
    mask = X != 0
    arrays = {
        "data": X[mask],
        "indices": np.nonzero(mask)[1].astype("i4"),
        "indptr": np.append(0, mask.sum(axis=1).cumsum()).astype("i4"),
        "shape": np.array(X.shape),
        "format": np.array(b"csr"),
    }
    if random.random() < 0.5:
        name = list(arrays)[random.integers(5)]
        old = arrays[name]
        if name != "format":
            changes = [
                old + 2,
                old + 0.5,
                old[::-1],
                old[:-1],
                -old,
                old[:, None],
                np.append(old, old),
                old.astype("f4"),
            ]
            arrays[name] = changes[random.integers(len(changes))]
    return arrays


def case(random, folder):
    n, width = int(random.choice([0, 1, 5, 30])), int(random.integers(1, 6))
    X = random.integers(-2, 3, (n, width)).astype(TYPES[random.integers(8) if random.random() < 0.8 else 0])
    if random.random() < 0.1:
        X = X.astype(TYPES[random.integers(len(TYPES))])
    X = np.asfortranarray(X) if random.random() < 0.3 else X
    y = random.integers(0, 2, n).astype(TYPES[random.integers(len(TYPES))])
    if random.random() < 0.4:
        path = written(random, folder / "a.npy", damaged(random, array(random, X), 0.4))
    else:
        arrays = {"X": X} if random.random() < 0.5 else sparse(random, random.integers(-1, 2, (n, width)).astype("f8"))
        path = written(random, folder / "a.npz", archive(random, arrays | {"y": y}))
    found = [len(batch.rows) for batch in source(path, cache=False).batches()]
    assert sum(found) < 1 << 20
    if sum(found) and random.random() < 0.05:
        fit(source(path, cache=False))
