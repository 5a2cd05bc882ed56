"""What a model file tells about its training: the report of the last fit, and where the examples came from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perceptrons.store.values import MOST, Settings, from_json


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _rows(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(map(_count, value)))


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _duration(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= MOST


def _source(value: Any) -> bool:
    return isinstance(value, dict) and all(SOURCE[name][1](value[name]) for name in SOURCE if name in value)


Check = tuple[str, Callable[[Any], bool]]  # what is expected, and a function that tells whether a value is that
COUNT: Check = ("a whole number >= 0", _count)
TEXT: Check = ("text", _text)
FLAG: Check = ("true or false", _flag)
OPTIONAL: Check = ("text or null", lambda value: value is None or _text(value))

# Names that this package writes. Others may be anything.
SOURCE = {"format": TEXT, "target": OPTIONAL, "delimiter": OPTIONAL}
SOURCE |= {"zero_based": FLAG, "header": FLAG, "quotes": FLAG}
REPORT = {"n_iter": COUNT, "n_rows": COUNT, "n_tokens": COUNT, "converged": FLAG, "stop": OPTIONAL}
REPORT |= {"contradiction": ("a list of row numbers or null", _rows)}
TRAINED = {"files": ("a list of names", _texts), "rows": COUNT, "sentences": COUNT, "tokens": COUNT}
TRAINED |= {"seconds": ("a number of seconds", _duration), "date": TEXT, "version": TEXT}
TRAINED |= {"source": ("how files were read", _source)}


def unpack_facts(settings: Settings, part: str, checks: dict[str, Check]) -> dict[str, Any]:
    """Restore facts by name, and check those that this package uses."""
    facts = {name: from_json(value) for name, value in settings.part(part).found.items()}
    for name, (expected, holds) in checks.items():
        if name in facts and not holds(facts[name]):
            raise ValueError(f"{name} of {part} must be {expected}, got {facts[name]!r:.100}")
    return facts
