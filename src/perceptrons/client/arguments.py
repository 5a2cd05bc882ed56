"""Arguments of calls, in the form in which they are sent."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from perceptrons.client.transport import Answer


def to_row(x: Any) -> Any:
    """An example.

    >>> to_row((range(2), (0.5, 1))), to_row((0.5, 1)), to_row({7: 0.5, "from": "Eva"})
    ([[0, 1], [0.5, 1]], [0.5, 1], {'7': 0.5, 'from': 'Eva'})
    """
    if isinstance(x, Mapping):
        if strange := [name for name in x if not isinstance(name, str | int)]:
            raise TypeError(f"names of features must be text, got {strange[0]!r}")
        return {str(name): value for name, value in x.items()}
    if isinstance(x, tuple) and len(x) == 2 and all(isinstance(part, Iterable) for part in x):
        indices, values = (to_row(to_list(part, "x")) for part in x)
        if len(indices) != len(values):
            raise ValueError(f"x has {len(indices)} indices, but {len(values)} values")
        return [indices, values]
    row = [to_plain(value) for value in to_list(x, "x")]
    if strange := [value for value in row if not isinstance(value, int | float)]:
        raise TypeError(f"x must be a dict, a row of numbers or a tuple (indices, values), but contains {strange[0]!r}")
    return row


def to_examples(X: Iterable[Any], y: Iterable[Any] | None = None) -> list[Answer]:
    examples = [{"x": to_row(x)} for x in to_list(X, "X")]
    if y is None:
        return examples
    labels = [to_label(label) for label in to_list(y, "y")]
    if len(examples) != len(labels):
        raise ValueError(f"X has {len(examples)} examples, but y has {len(labels)} labels")
    return [example | {"y": label} for example, label in zip(examples, labels, strict=True)]


def to_label(y: Any) -> Any:
    if not isinstance(to_plain(y), str | int | float):
        raise TypeError(f"a label must be text or a number, got {y!r}")
    return to_plain(y)


def to_id(id: str) -> str:
    if not isinstance(id, str):
        raise TypeError(f"id must be text, got {id!r}")
    return id


def to_position(position: int | None) -> int | None:
    if position is not None and operator.index(position) < 0:
        raise ValueError(f"a position must be >= 0, got {position}")
    return position if position is None else operator.index(position)


def to_list(values: Any, name: str) -> list[Any]:
    listed = to_plain(values)
    if isinstance(listed, str | bytes | Mapping) or not isinstance(listed, Iterable):
        raise TypeError(f"{name} must be a list or an array, got {values!r}")
    return list(listed)


def to_plain(value: Any) -> Any:
    """Convert a NumPy array or number; return anything else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value


def to_parameter(name: str, value: Any) -> Any:
    """A parameter of an estimator.

    >>> from perceptrons.rules import PA1
    >>> to_parameter("rule", PA1(C=0.1))
    {'rule': 'pa1', 'C': 0.1}
    """
    if isinstance(value, Mapping) and not all(isinstance(key, str) for key in value):
        raise TypeError(f"keys of {name} must be text, got {value!r}: upload a saved model with this parameter instead")
    if not (isinstance(value, tuple) and hasattr(value, "_asdict")):
        return value
    from perceptrons.rules import RULES

    for rule, kind in RULES.items():
        if type(value) is kind:
            return {"rule": rule, **value._asdict()}
    raise ValueError(f"{name} must be one of the rules {', '.join(RULES)}, got {value!r}")


def to_query(**options: Any) -> str:
    given = {name: str(value).lower() if value is True or value is False else value for name, value in options.items()}
    text = urlencode({name: value for name, value in given.items() if value is not None})
    return "?" + text if text else ""
