"""The bytes of a model file: named arrays and settings, with a digest of all of it.

A model file is a safetensors file: the length of a header, the header in JSON, the arrays. The header's metadata has
the settings as JSON, and the SHA-256 digest of the whole file with 64 zeros in the digest's place. Nothing in it is
ever executed. It is written and read here rather than by the library so that the digest is worked out on the way,
arrays need no second copy in memory, and nothing is allocated that the file does not hold.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from perceptrons.data.atomic import replaced

Array = npt.NDArray[Any]
Tensors = dict[str, Array]

VERSION = 1
LARGEST_HEADER = 1 << 24  # bytes: long lists are arrays
NAMES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BOOL": "|b1", "U8": "|u1", "I8": "|i1"}
NAMES |= {f"{kind}{8 * size}": f"<{kind.lower()}{size}" for kind in "IU" for size in (2, 4, 8)}
TYPES = {name: np.dtype(kind) for name, kind in NAMES.items()}
START = b'{"__metadata__":{"format":"perceptrons model","digest":"'  # of every header
ZEROS = b"0" * 64
DIGEST = slice(8 + len(START), 8 + len(START) + len(ZEROS))  # where the digest stands in a file
PIECE = 1 << 24  # bytes that are read at a time


class ModelFileError(ValueError):
    """A file that is no model, or no sound one."""


def damaged(path: str, what: str) -> ModelFileError:
    return ModelFileError(f"{path} is damaged: {what}; restore it from a copy")


def _finite(array: Array) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


# -- writing --------------------------------------------------------------------------------------------------


def write_file(path: str | os.PathLike[str], settings: dict[str, Any], tensors: Tensors) -> None:
    """Write settings, ready for JSON, and arrays; the file at `path` is replaced when all is on the disk."""
    for name, array in tensors.items():
        if not _finite(array):
            raise ValueError(f"the model has NaN or infinite numbers in {name!r}: it cannot be saved")
    header, order = _header(settings, tensors)
    with replaced(path) as file:
        digest = hashlib.sha256(header)
        file.write(header)
        for name in order:
            array = tensors[name]
            content = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).data
            digest.update(content)
            file.write(content)
        file.seek(DIGEST.start)
        file.write(digest.hexdigest().encode())


def _header(settings: dict[str, Any], tensors: Tensors) -> tuple[bytes, list[str]]:
    """The header with its length before it and zeros as its digest, and the order of the arrays."""
    names = {kind: name for name, kind in TYPES.items()}
    # The widest numbers first: then all arrays are aligned, for programs that map the file into memory.
    order = sorted(tensors, key=lambda name: (-tensors[name].itemsize, name))
    metadata = {
        "format": "perceptrons model",
        "digest": ZEROS.decode(),
        "version": str(VERSION),
        "model": json.dumps(settings, allow_nan=False),
    }
    entries: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name in order:
        array, begin = tensors[name], end
        end += array.nbytes
        kind = names[array.dtype.newbyteorder("<")]
        entries[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > LARGEST_HEADER:
        raise ValueError(f"the settings of the model take {len(text):,} bytes, more than {LARGEST_HEADER:,}")
    return len(text).to_bytes(8, "little") + text, order


# -- reading --------------------------------------------------------------------------------------------------


def read_file(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Tensors]:
    """Settings and arrays of a model file whose digest is right. Nothing is known yet about what they mean."""
    name = os.fspath(path)
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ModelFileError(f"{name} is no perceptrons model: it is no regular file")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = _start(name, file, size)
        length = int.from_bytes(start[:8], "little")
        if not DIGEST.stop - 8 < length <= min(LARGEST_HEADER, size - 8):
            raise damaged(name, f"its header would have {length:,} bytes, the file has {size:,}")
        header = start + file.read(8 + length - len(start))
        model, layout = _layout(name, header[8:], size - 8 - length)
        digest = hashlib.sha256(header[: DIGEST.start] + ZEROS + header[DIGEST.stop :])
        tensors = {key: _array(name, file, kind, shape, digest) for key, (kind, shape) in layout.items()}
        if file.read(1) or digest.hexdigest().encode() != header[DIGEST]:
            raise damaged(name, "the digest of its content does not match the one that was saved with it")
    try:
        settings = json.loads(model)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{name} cannot be read: its settings are no JSON ({error})") from error
    if not isinstance(settings, dict):
        raise ModelFileError(f"{name} cannot be read: its settings are no JSON object")
    for key, array in tensors.items():
        if not _finite(array):
            raise ModelFileError(f"{name} cannot be read: it has NaN or infinite numbers in {key!r}")
    return settings, tensors


def _start(name: str, file: BinaryIO, size: int) -> bytes:
    """The bytes up to the end of the digest; a file that begins in another way is none of ours."""
    start = file.read(DIGEST.stop)
    if start[8 : DIGEST.start] == START and len(start) == DIGEST.stop:
        return start
    if size < DIGEST.stop and START.startswith(start[8:]):
        raise (
            damaged(name, f"it ends after {size} bytes")
            if size
            else ModelFileError(f"{name} is no perceptrons model: it is empty")
        )
    raise ModelFileError(
        f"{name} is no perceptrons model: it begins with {start[:16]!r}, which no file written by perceptrons.save does"
    )


def _layout(name: str, header: bytes, room: int) -> tuple[str, dict[str, tuple[np.dtype[Any], tuple[int, ...]]]]:
    """The settings, still as text, and types and shapes of the arrays, in order: they fill the file exactly."""
    try:
        entries = json.loads(header)
        metadata = entries.pop("__metadata__")
        version, model = metadata["version"], metadata["model"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise damaged(name, "its header cannot be read") from error
    if version != str(VERSION):
        raise ModelFileError(
            f"{name} has version {version!r} of the format of model files, this perceptrons knows {VERSION}: "
            "read it with the version of perceptrons that wrote it, or a newer one"
        )
    layout, end = {}, 0
    for key, entry in entries.items():
        try:
            kind, shape, offsets = TYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
            whole = all(type(number) is int and number >= 0 for number in [*shape, *offsets])
        except (KeyError, TypeError) as error:
            raise damaged(name, f"its header does not describe {key!r}") from error
        if not whole or len(shape) > 2 or offsets != [end, end + math.prod(shape) * kind.itemsize]:
            raise damaged(name, f"its header has sizes of {key!r} that do not fit: {entry}"[:300])
        end, layout[key] = offsets[1], (kind, tuple(shape))
    if end != room:
        raise damaged(name, f"its arrays should take {end:,} bytes, there are {room:,}")
    if type(model) is not str:
        raise damaged(name, "its header has no settings")
    return model, layout


def _array(name: str, file: BinaryIO, kind: np.dtype[Any], shape: tuple[int, ...], digest: Any) -> Array:
    """The next array of a file."""
    array = np.empty(shape, dtype=kind)
    content = array.reshape(-1).view(np.uint8).data
    for begin in range(0, len(content), PIECE):
        piece = content[begin : begin + PIECE]
        if file.readinto(piece) != len(piece):  # type: ignore[attr-defined]
            raise damaged(name, "it ended while it was read")
        digest.update(piece)
    if kind.kind == "b" and (array.view(np.uint8) > 1).any():
        raise damaged(name, "it has truth values that are neither true nor false")
    return array.astype(kind.newbyteorder("="), copy=False)
