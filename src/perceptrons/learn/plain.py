"""Objects of this package as plain data: dicts, lists, tuples, numbers, text and arrays, for pickles and the like.

Formats that check types, such as skops, then find no type of this package below an estimator. An object becomes
``{TYPE: "learn.state.State", "of": {…}}``; dicts whose keys are not text become lists of pairs. Objects of other
packages, such as a user's rule, stay as they are.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

TYPE = "perceptrons"  # the key of an object's type
AGAIN = "again"  # a type that stands for an object that has occurred before, by its number
ROOMS = ("rules", "core", "data", "learn", "structures")  # whose classes can be restored: they run no code on import
PREFIX = "perceptrons."


def flattened(value: Any) -> Any:
    """Turn all objects of this package in `value` into plain data. Arrays are shared, not copied."""
    return _Flattener().visit(value)


class _Flattener:
    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}  # of objects and arrays, by id
        self.seen: list[Any] = []  # keeps them alive, so that no id occurs twice

    def visit(self, value: Any) -> Any:
        kind = type(value)
        if kind is dict:
            text = TYPE not in value and all(type(key) is str for key in value)
            return {key: self.visit(part) for key, part in value.items()} if text else self._pairs("dict", value)
        if kind in (list, tuple):
            return kind(self.visit(part) for part in value)
        own = kind.__module__.removeprefix(PREFIX)
        restorable = own != kind.__module__ and own.split(".")[0] in ROOMS and kind.__qualname__.isidentifier()
        if not restorable and not isinstance(value, np.ndarray):
            return value
        if id(value) in self.numbers:
            return {TYPE: AGAIN, "of": self.numbers[id(value)]}
        self.numbers[id(value)] = len(self.seen)
        self.seen.append(value)
        if not restorable:
            return value
        name = f"{own}.{kind.__qualname__}"
        if isinstance(value, dict):
            return self._pairs(name, value)
        return {TYPE: name, "of": self.visit(list(value) if isinstance(value, tuple) else vars(value))}

    def _pairs(self, name: str, value: dict[Any, Any]) -> dict[str, Any]:
        """A dict with any keys; many formats have only text for keys."""
        return {TYPE: name, "of": [(key, self.visit(part)) for key, part in value.items()]}


def restored(value: Any) -> Any:
    """Restore what `flattened` made."""
    return _Restorer().visit(value)


class _Restorer:
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def visit(self, value: Any) -> Any:
        kind = type(value)
        if kind is dict:
            return self._typed(value[TYPE], value["of"]) if TYPE in value else self._dict(value)
        if kind in (list, tuple):
            return kind(self.visit(part) for part in value)
        if isinstance(value, np.ndarray):  # it may have become a memory map
            self.seen.append(value)
        return value

    def _dict(self, value: dict[Any, Any]) -> dict[Any, Any]:
        return {key: self.visit(part) for key, part in value.items()}

    def _typed(self, name: str, content: Any) -> Any:
        if name == AGAIN:
            return self.seen[content]
        if name == "dict":
            return self._dict(dict(content))
        kind, number = _class(name), len(self.seen)
        self.seen.append(None)
        if issubclass(kind, dict):
            self.seen[number] = kind(self._dict(dict(content)))
        elif issubclass(kind, tuple):
            self.seen[number] = kind._make(self.visit(content))
        else:
            self.seen[number] = kind.__new__(kind)  # first, because its content may refer to it
            vars(self.seen[number]).update(self.visit(content))
        return self.seen[number]


def _class(name: str) -> Any:
    """A class of this package by its name, such as "learn.state.State"."""
    module, _, short = name.rpartition(".")
    if module.split(".")[0] not in ROOMS:
        raise ValueError(f"{name!r} is not a class that models consist of")
    found = getattr(importlib.import_module(PREFIX + module), short, None)
    if not isinstance(found, type) or found.__module__ != PREFIX + module:
        raise ValueError(f"{name!r} is not a class that models consist of")
    return found
