"""Model files, spoiled: every setting may be missing, or anything, and the digest is right."""

import copy
import hashlib
import json

ODD = (KeyError, None, True, -1, 0.5, 2**70, 1e308, "x", [], {}, {"float": "nan"}, {"float": "x"}, {"tuple": 3})
ODD += ({"dict": [[[], 1]]}, [[]], {"rule": "pickle"})


def leaves(value, way=()):
    """The ways to all entries of settings."""
    yield way
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[key], (*way, key))


def changed(settings, way, value):
    """Settings with another value at the end of a way; KeyError: with none."""
    new = copy.deepcopy(settings)
    place = new
    for key in way[:-1]:
        place = place[key]
    if value is KeyError:
        del place[way[-1]]
    else:
        place[way[-1]] = value
    return new


KINDS = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32", "int16": "I16"}
KINDS |= {"int8": "I8", "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL"}


def forged(settings, tensors, *, version="1", entries=None, tail=b"", first="format"):
    """A file with a right digest, whatever it holds: its author knows how to compute one."""
    text = settings if isinstance(settings, str) else json.dumps(settings)
    metadata = {first: "perceptrons model", "digest": "0" * 64, "version": version, "model": text}
    header, content = {"__metadata__": metadata}, b""
    for name, array in tensors.items():
        offsets = [len(content), len(content) + array.nbytes]
        header[name] = {"dtype": KINDS[array.dtype.name], "shape": list(array.shape), "data_offsets": offsets}
        content += array.tobytes()
    header |= entries or {}
    text = json.dumps(header, separators=(",", ":")).encode()
    whole = len(text).to_bytes(8, "little") + text + content + tail
    return whole.replace(b"0" * 64, hashlib.sha256(whole).hexdigest().encode(), 1)
