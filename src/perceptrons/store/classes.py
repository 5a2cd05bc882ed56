"""Classes in a model file: numbers, booleans and dates as they are, text as bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons.store.format import TYPES, Array, Tensors
from perceptrons.store.memory import Memory
from perceptrons.store.values import Settings, pack, take, unpack

ROOM = 1 << 20  # characters up to which an array of text keeps its width
UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")


def pack_classes(classes: Array) -> tuple[dict[str, Any], Tensors]:
    """Convert classes to settings and arrays."""
    if classes.dtype.kind == "U":
        longest = max(map(len, classes.tolist()), default=0)
        width = classes.dtype.itemsize // 4
        width = width if width * len(classes) <= ROOM else longest
        return {"kind": "text", "width": max(1, width)}, pack(classes.tolist(), "classes")
    if classes.dtype == object and all(type(label) is str for label in classes):
        return {"kind": "objects"}, pack(classes.tolist(), "classes")
    if classes.dtype.kind == "M":
        unit, step = np.datetime_data(classes.dtype)
        return {"kind": "dates", "unit": unit, "step": step}, {"classes": classes.astype("<M8").view(np.int64)}
    if classes.dtype.newbyteorder("<") not in TYPES.values():
        raise ValueError(f"classes of type {classes.dtype} cannot be saved: use numbers, booleans, text or dates")
    return {"kind": "numbers"}, {"classes": classes}


def unpack_classes(settings: Settings, tensors: Tensors, n_classes: int, memory: Memory) -> Array:
    """Restore classes from `pack_classes`, and check their number and order."""
    kind = settings.choice("kind", ("text", "objects", "dates", "numbers"))
    classes: Array
    if kind in ("text", "objects"):
        texts = unpack(tensors, "classes")
        if kind == "objects":
            classes = np.array(texts, dtype=object)
        else:
            width, longest = settings.whole("width", 1), max(map(len, texts), default=0)
            if width < longest or (width > longest + 1 and width * len(texts) > ROOM):
                raise ValueError(f"texts of {longest} characters do not fit a width of {width}")
            memory.take(4 * width * len(texts))  # one long text makes all of them wide
            classes = np.array(texts, dtype=f"U{width}")
    elif kind == "dates":
        unit, step = settings.choice("unit", UNITS), settings.whole("step", 1, 2**31 - 1)
        classes = take(tensors, "classes", "i8", (n_classes,)).view(f"M8[{step}{unit}]")
    else:
        if "classes" not in tensors:
            raise ValueError("the array 'classes' is missing")
        classes = tensors.pop("classes")
    if classes.shape != (n_classes,):
        raise ValueError(f"there must be {n_classes} classes, got an array of shape {classes.shape}")
    if not bool((classes[1:] > classes[:-1]).all()):
        raise ValueError("classes must be sorted and distinct")
    return classes
