"""What one request does to a model. Requests and the replay of the log call the same functions.

A bit tells of each example whether it was predicted wrong. If the client was told a prediction, that one counts;
otherwise the one that the model made before it learned from the example.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import UNSET, json
from sklearn.base import ClassifierMixin

from perceptrons.serve.messages import Label, Record, read_record
from perceptrons.serve.model.bulk import NOT_NUMBERS, Bits, are_numbers, body_parts, learn_parts, parts_of
from perceptrons.serve.model.records import Row


def given_x(x: Any) -> Any:
    """An example as `learn_one` takes it: JSON has neither arrays nor tuples."""
    if type(x) is dict:
        return x
    if len(x) == 2 and type(x[0]) is list and type(x[1]) is list:
        if not (are_numbers(x[0]) and are_numbers(x[1])):
            raise ValueError("a pair must be two lists of numbers, [indices, values]")
        indices, values = (np.array(part) if part else np.empty(0, kind) for part, kind in zip(x, "if", strict=True))
        return indices, values.astype(np.float64) if values.dtype.kind in "iub" else values
    if not are_numbers(x):
        raise ValueError(NOT_NUMBERS)
    return np.array(x, dtype=np.float64)


def mistakes_of(model: Any) -> int:
    """The mistakes that a model has counted."""
    learner = model.__dict__.get("_learner")
    return 0 if learner is None else int(learner.totals.mistakes)


def learn_single(model: Any, x: Any, y: Label, classes: list[Any] | None) -> int:
    """Learn from one example; returns 1 if the model had predicted it wrong.

    classes: those that exist before their first example, as long as the model has learned nothing.
    """
    before = mistakes_of(model)
    if "_learner" in model.__dict__:
        model.learn_one(x, y)
    else:
        model.learn_one(x, y, classes=classes)
    return mistakes_of(model) - before


def is_wrong(model: Any, given: Any, y: Any) -> int:
    """Whether a prediction that a client was told was wrong. Before anything is learned, nothing is predicted."""
    if given is None:
        return 0
    return int(given != y if isinstance(model, ClassifierMixin) else abs(given - y) > model.epsilon)


def learn_line(model: Any, line: Record, classes: list[Any] | None) -> Bits:
    """Learn from a line of the log: one example, or several."""
    if line.examples is not UNSET:
        return learn_parts(model, parts_of(line.examples), classes)[0]
    wrong = learn_single(model, given_x(line.x), line.y, classes)  # type: ignore[arg-type]
    if line.given is not UNSET:
        wrong = is_wrong(model, line.given, line.y)
    return np.array([wrong], dtype=np.uint8)


def learn_row(model: Any, row: Row, classes: list[Any] | None) -> Bits:
    """Learn from a row of the log: the same as the requests did that it holds."""
    if row.kind != "json":
        parts = body_parts(model, row.kind, row.body, json.decode(row.settings))
        return learn_parts(model, parts, classes)[0]
    return np.concatenate([learn_line(model, read_record(line), classes) for line in row.body.split(b"\n")])
