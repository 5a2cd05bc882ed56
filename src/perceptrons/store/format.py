"""The bytes of a model file: named arrays, settings, and a digest of both.

A model file is a safetensors file: the length of the header, the header in JSON, the arrays. The header's metadata has
the settings as JSON and a SHA-256 digest, computed over the whole file with 64 zeros in place of the digest. Nothing
in a file is ever executed. This module does not use the safetensors library, because it computes the digest while it
reads or writes, keeps no second copy of arrays in memory, and allocates nothing that the file does not hold.
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
from perceptrons.shown import shown

Array = npt.NDArray[Any]
Tensors = dict[str, Array]

VERSION = 1
LARGEST_HEADER = 1 << 24  # bytes; long lists are stored as arrays
NAMES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BOOL": "|b1", "U8": "|u1", "I8": "|i1"}
NAMES |= {f"{kind}{8 * size}": f"<{kind.lower()}{size}" for kind in "IU" for size in (2, 4, 8)}
TYPES = {name: np.dtype(kind) for name, kind in NAMES.items()}
START = b'{"__metadata__":{"format":"perceptrons model","digest":"'  # of every header
ZEROS = b"0" * 64
DIGEST = slice(8 + len(START), 8 + len(START) + len(ZEROS))  # position of the digest in a file
PIECE = 1 << 24  # bytes to read at a time
LONGEST = 1000  # characters of an error message


class ModelFileError(ValueError):
    """A file is not a model file, is damaged, or has content that does not fit together.

    Parameters
    ----------
    message : str
        What is wrong. Control characters in it are escaped, because it may quote the file, and long ones are cut.

    Examples
    --------
    >>> import tempfile
    >>> from perceptrons import load
    >>> from perceptrons.store import ModelFileError
    >>> with tempfile.NamedTemporaryFile(suffix=".perceptron") as file:
    ...     try:
    ...         load(file.name)
    ...     except ModelFileError as error:
    ...         print(error)
    /.../....perceptron is not a perceptrons model: it is empty
    """

    def __init__(self, message: str) -> None:
        text = shown(message)  # it may quote the file
        super().__init__(text if len(text) <= LONGEST else text[:LONGEST] + " …")


def damaged(path: str, what: str) -> ModelFileError:
    return ModelFileError(f"{path} is damaged: {what}; restore it from a copy")


def _finite(array: Array) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


# -- writing --------------------------------------------------------------------------------------------------


def write_file(path: str | os.PathLike[str], settings: dict[str, Any], tensors: Tensors) -> None:
    """Write settings, ready for JSON, and arrays; replaces the file at `path` when all is on disk."""
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
    """The header, after its length and with zeros as digest, and the order of the arrays."""
    names = {kind: name for name, kind in TYPES.items()}
    # Widest numbers first, so that all arrays are aligned for programs that map the file into memory.
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
        raise ValueError(
            f"the model cannot be saved: its settings take {len(text):,} bytes, but at most {LARGEST_HEADER:,} fit"
        )
    return len(text).to_bytes(8, "little") + text, order


# -- reading --------------------------------------------------------------------------------------------------


def read_file(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Tensors]:
    """Read settings and arrays, and check the digest, but not what they mean."""
    name = os.fspath(path)
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ModelFileError(f"{name} is not a perceptrons model: it is not a regular file")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = _start(name, file, size)
        length = int.from_bytes(start[:8], "little")
        if not DIGEST.stop - 8 < length <= min(LARGEST_HEADER, size - 8):
            raise damaged(name, f"its header would have {length:,} bytes, but the file has {size:,}")
        header = start + file.read(8 + length - len(start))
        model, layout = _layout(name, header[8:], size - 8 - length)
        digest = hashlib.sha256(header[: DIGEST.start] + ZEROS + header[DIGEST.stop :])
        tensors = {key: _array(name, file, kind, shape, digest) for key, (kind, shape) in layout.items()}
        if file.read(1) or digest.hexdigest().encode() != header[DIGEST]:
            raise damaged(name, "its content does not match its digest")
    try:
        settings = json.loads(model)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{name} cannot be read: its settings are not JSON ({error})") from error
    if not isinstance(settings, dict):
        raise ModelFileError(f"{name} cannot be read: its settings are not a JSON object")
    for key, array in tensors.items():
        if not _finite(array):
            raise ModelFileError(f"{name} cannot be read: it has NaN or infinite numbers in {key!r}")
    return settings, tensors


def _start(name: str, file: BinaryIO, size: int) -> bytes:
    """Read the bytes up to the end of the digest; refuse a file that begins differently."""
    start = file.read(DIGEST.stop)
    if start[8 : DIGEST.start] == START and len(start) == DIGEST.stop:
        return start
    if size < DIGEST.stop and START.startswith(start[8:]):
        raise (
            damaged(name, f"it ends after {size} bytes")
            if size
            else ModelFileError(f"{name} is not a perceptrons model: it is empty")
        )
    raise ModelFileError(
        f"{name} is not a perceptrons model: it begins with {start[:16]!r}, unlike files of perceptrons.save"
    )


def _layout(name: str, header: bytes, room: int) -> tuple[str, dict[str, tuple[np.dtype[Any], tuple[int, ...]]]]:
    """The settings as text, and the types and shapes of the arrays in order, which fill the file exactly."""
    try:
        entries = json.loads(header)
        metadata = entries.pop("__metadata__")
        version, model = metadata["version"], metadata["model"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise damaged(name, "its header cannot be read") from error
    if version != str(VERSION):
        raise ModelFileError(
            f"{name} has version {version!r} of the model file format, but this perceptrons reads version {VERSION}: "
            "use the version of perceptrons that wrote it, or a newer one"
        )
    layout, end = {}, 0
    for key, entry in entries.items():
        try:
            kind, shape, offsets = TYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
            whole = all(type(number) is int and number >= 0 for number in [*shape, *offsets])
        except (KeyError, TypeError) as error:
            raise damaged(name, f"its header does not describe {key!r}") from error
        if not whole or len(shape) > 3 or offsets != [end, end + math.prod(shape) * kind.itemsize]:
            raise damaged(name, f"the sizes of {key!r} in its header do not fit: {entry}"[:300])
        end, layout[key] = offsets[1], (kind, tuple(shape))
    if end != room:
        raise damaged(name, f"its arrays should take {end:,} bytes, but there are {room:,}")
    if type(model) is not str:
        raise damaged(name, "its header has no settings")
    return model, layout


def _array(name: str, file: BinaryIO, kind: np.dtype[Any], shape: tuple[int, ...], digest: Any) -> Array:
    """Read the next array of a file."""
    array = np.empty(shape, dtype=kind)
    content = array.reshape(-1).view(np.uint8).data
    for begin in range(0, len(content), PIECE):
        piece = content[begin : begin + PIECE]
        if file.readinto(piece) != len(piece):  # type: ignore[attr-defined]
            raise damaged(name, "it became shorter while it was read")
        digest.update(piece)
    if kind.kind == "b" and (array.view(np.uint8) > 1).any():
        raise damaged(name, "it has booleans that are neither true nor false")
    return array.astype(kind.newbyteorder("="), copy=False)
