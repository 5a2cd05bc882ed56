"""Conversion of parameters to JSON and of text to arrays, and back; and settings, which are checked when read."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from perceptrons import rules
from perceptrons.store.format import Array, Tensors

MOST = 2**53  # the largest count: float64 holds whole numbers up to here
LARGEST = sys.float_info.max
DEEPEST = 100  # how far parameters may nest

# -- parameters -----------------------------------------------------------------------------------------------


def to_json(value: Any, name: str) -> Any:
    """Convert a parameter to JSON. NumPy numbers become plain ones; types that JSON lacks become objects.

    >>> to_json({1: 0.5, "b": float("inf")}, "class_weight")
    {'dict': [[1, 0.5], ['b', {'float': 'inf'}]]}
    >>> to_json(rules.PA1(C=0.1), "rule")
    {'rule': 'pa1', 'C': 0.1}
    """
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value if value is None or type(value) in (bool, int, str) else _plain(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        parameters: dict[str, Any] = value._asdict()
        return {"rule": rule_name(value), **{key: to_json(part, name) for key, part in parameters.items()}}
    if isinstance(value, dict):
        if isinstance(value.get("rule"), str):
            return {str(key): to_json(part, name) for key, part in value.items()}
        return {"dict": [[to_json(key, name), to_json(part, name)] for key, part in value.items()]}
    if isinstance(value, list | tuple):
        parts = [to_json(part, name) for part in value]
        return {"tuple": parts} if isinstance(value, tuple) else parts
    raise ValueError(f"{name}={value!r} cannot be saved: use numbers, text, None, and lists, tuples and dicts of them")


def _plain(value: Any) -> Any:
    """Convert an object of a subclass, such as an enumeration, to its basic type."""
    return str(value) if isinstance(value, str) else int(value)


def from_json(value: Any, depth: int = DEEPEST) -> Any:
    """Restore a parameter from `to_json`; a rule stays a dict. Lists and dicts nest at most `depth` times."""
    if not isinstance(value, list | dict):
        return value
    if depth == 0:
        raise ValueError(f"lists and objects are nested more than {DEEPEST} times")
    inner = depth - 1
    if isinstance(value, list):
        return [from_json(part, inner) for part in value]
    if set(value) == {"float"}:
        return float(value["float"])
    if set(value) == {"tuple"}:
        return tuple(from_json(part, inner) for part in value["tuple"])
    if set(value) == {"dict"}:
        return {from_json(key, inner): from_json(part, inner) for key, part in value["dict"]}
    return {key: from_json(part, inner) for key, part in value.items()}


def rule_name(rule: Any) -> str:
    """The name of a rule of this package; other rules cannot be saved, because their formula is code."""
    for name, kind in rules.RULES.items():
        if type(rule) is kind and kind.__module__ == rules.__name__:
            return name
    raise ValueError(
        f"the rule {type(rule).__name__} cannot be saved: it is not part of perceptrons, and model files hold no code."
        f" Use one of {', '.join(_own_rules())}"
    )


def _own_rules() -> list[str]:
    return [name for name, kind in rules.RULES.items() if kind.__module__ == rules.__name__]


def rule_from(value: Any) -> Any:
    """Restore a rule from `to_json`, or from a name, and check its parameters."""
    name = value.get("rule") if isinstance(value, dict) else value
    if not isinstance(name, str) or name not in _own_rules():
        raise ValueError(f"rule must be one of {', '.join(_own_rules())} with its parameters, got {value!r}"[:300])
    kind = rules.RULES[name]
    if isinstance(value, str):
        return rules.resolve(kind())
    parameters = {key: part for key, part in value.items() if key != "rule"}
    if set(parameters) != set(kind._fields):
        raise ValueError(f"the rule {name} must have the parameters {list(kind._fields)}, got {list(parameters)}")
    return rules.resolve(kind(**parameters))


# -- text -----------------------------------------------------------------------------------------------------


def pack(texts: Sequence[str], name: str) -> Tensors:
    """Convert texts to two arrays: all their bytes, and where each text ends.

    >>> pack(["ab", "", "c"], "names")["names.ends"]
    array([2, 2, 3], dtype=uint64)
    """
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.uint64)
    return {f"{name}.bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{name}.ends": ends}


def unpack(tensors: Tensors, name: str) -> list[str]:
    """Restore texts from `pack`."""
    content, ends = take(tensors, f"{name}.bytes", "u1", (None,)), take(tensors, f"{name}.ends", "u8", (None,))
    if len(content) != (ends[-1] if len(ends) else 0) or (ends[1:] < ends[:-1]).any():
        raise ValueError(f"the ends of the texts {name!r} do not match their bytes")
    whole, stops = content.tobytes(), ends.tolist()
    return [whole[a:b].decode("utf-8", "surrogatepass") for a, b in zip([0, *stops], stops, strict=False)]


# -- arrays ---------------------------------------------------------------------------------------------------


def take(tensors: Tensors, name: str, kind: str, shape: tuple[int | None, ...]) -> Array:
    """Remove an array from `tensors` and return it; it must have this type and shape (None: any length)."""
    if name not in tensors:
        raise ValueError(f"the array {name!r} is missing")
    array = tensors.pop(name)
    fits = array.ndim == len(shape) and all(b is None or a == b for a, b in zip(array.shape, shape, strict=True))
    if array.dtype != np.dtype(kind) or not fits:
        expected = f"{np.dtype(kind)} of shape ({', '.join('any' if n is None else str(n) for n in shape)})"
        raise ValueError(f"the array {name!r} must be {expected}, got {array.dtype} of shape {array.shape}")
    return array


def check_range(name: str, array: Array, below: float) -> None:
    """Check that all numbers are whole, >= 0 and below a limit: they are used as indices, unchecked."""
    whole = array.dtype.kind != "f" or bool((array == np.floor(array)).all())
    if array.size and not (whole and bool((array >= 0).all()) and bool((array < below).all())):
        raise ValueError(f"{name} must be whole numbers from 0 to {below - 1}")


# -- settings -------------------------------------------------------------------------------------------------


class Settings:
    """Settings found in a file; each method checks the type and range of the one it returns."""

    def __init__(self, found: Any) -> None:
        if not isinstance(found, dict):
            raise ValueError(f"settings must be a JSON object, got {found!r}"[:200])
        self.found: dict[str, Any] = found

    def any(self, name: str) -> Any:
        if name not in self.found:
            raise ValueError(f"the setting {name!r} is missing")
        return from_json(self.found[name])

    def whole(self, name: str, low: int = 0, high: int = 2**63 - 1) -> int:
        value = self.any(name)
        if type(value) is not int or not low <= value <= high:
            raise ValueError(f"{name} must be a whole number from {low} to {high}, got {value!r}"[:200])
        return value

    def number(self, name: str, low: float = 0.0, high: float = math.inf) -> float:
        value = self.any(name)
        if type(value) not in (int, float) or not low <= value <= high:
            raise ValueError(f"{name} must be a number from {low} to {high}, got {value!r}"[:200])
        return float(value)

    def flag(self, name: str) -> bool:
        value = self.any(name)
        if type(value) is not bool:
            raise ValueError(f"{name} must be true or false, got {value!r}"[:200])
        return value

    def choice(self, name: str, choices: Sequence[str]) -> str:
        value = self.any(name)
        if type(value) is not str or value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}"[:200])
        return value

    def part(self, name: str) -> Settings:
        if name not in self.found:
            raise ValueError(f"the setting {name!r} is missing")
        return Settings(self.found[name])
