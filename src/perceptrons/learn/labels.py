"""Labels: the classes among them, and the number of each label's class."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.rules import takes_weights

Array = npt.NDArray[Any]


class UnknownLabel(ValueError):
    """A label that is not one of the classes."""


def distinct(y: Array) -> Array:
    """The classes among labels, sorted."""
    try:
        # Usually there are two classes: then two comparisons are enough, and labels need not be sorted.
        two = np.array([y.min(), y.max()]) if y.size and y.dtype.kind in "biuf" else np.unique(y[:1000])
        classes = two[:1] if (two == two[:1]).all() else two
        if len(classes) > 2 or not ((y == classes[0]) | (y == classes[-1])).all():
            classes = np.unique(y)
    except TypeError as error:
        raise _unsortable(error) from error
    odd = classes[classes % 1 != 0] if classes.dtype.kind == "f" else classes[:0]
    if odd.size:
        raise ValueError(
            f"Unknown label type: continuous. A classifier expects discrete classes, got {odd[0]!s} among the labels"
        )
    return classes


def encode(y: Array, classes: Array, input_name: str = "y") -> Array:
    """The number of each label's class, in the smallest type that fits; other labels are an error."""
    codes, unknown = _codes(y, classes)
    if unknown.size:
        row = int(unknown[0])
        label = y[row : row + 1].tolist()[0]
        raise UnknownLabel(f"label {label!r} at row {row} of {input_name} is not one of the classes: {_some(classes)}")
    return codes.astype(np.uint8 if len(classes) <= 256 else np.uint32)


def encode_held_out(y: Array, classes: Array, input_name: str) -> tuple[Array, Array]:
    """As `encode`; other labels get the number after the last class, so that no prediction is right. Also returns them.

    Numbers and text have no labels in common: that is an error.
    """
    _refuse_other_types(classes, y)
    codes, unknown = _codes(y, classes)
    if unknown.size == 0:
        return encode(y, classes, input_name), unknown
    found = codes.astype(np.uint32)
    found[unknown] = len(classes)
    return found, y[unknown]


def say_unknown(labels: list[Any], n_rows: int, input_name: str) -> None:
    """Warn that some labels of held-out rows are not among the classes."""
    rows, who = ("1 row has a label", "it counts") if n_rows == 1 else (f"{n_rows:,} rows have labels", "they count")
    some = ", ".join(map(repr, labels[:3])) + (", …" if len(labels) > 3 else "")
    warnings.warn(f"{rows} in {input_name} that training has not seen ({some}): {who} as wrong", stacklevel=3)


def new_classes(y: Array, known: Array) -> list[int]:
    """The first row of each class that is not known, in order."""
    if len(known):
        _refuse_other_types(known, y)
        _, unknown = _codes(y, known)
    else:
        unknown = np.arange(len(y))
    if unknown.size == 0:
        return []
    try:
        _, first = np.unique(y[unknown], return_index=True)
    except TypeError as error:
        raise _unsortable(error) from error
    return sorted(unknown[first].tolist())


def _codes(y: Array, classes: Array) -> tuple[Array, Array]:
    """The number of each label's class, and the rows whose label is not one of the classes."""
    if len(classes) == 2:
        first, second = y == classes[0], y == classes[1]
        return second.view(np.uint8), (~(first | second)).nonzero()[0]
    try:
        codes = np.searchsorted(classes, y)
    except TypeError as error:
        raise _unsortable(error) from error
    codes[codes == len(classes)] = 0
    return codes, (classes[codes] != y).nonzero()[0]


def _unsortable(error: TypeError) -> ValueError:
    return ValueError(f"labels must have types that can be sorted together: {error}")


def union(classes: Array, more: Array) -> Array:
    """Known and new classes, sorted."""
    if len(classes) == 0:
        return distinct(more)
    _refuse_other_types(classes, more)
    both = np.concatenate([classes, more])
    if both.dtype.kind == "f" and "f" not in (classes.dtype.kind, more.dtype.kind):
        raise ValueError(f"labels do not match: {classes.dtype} and {more.dtype} have no common integer type")
    return distinct(both)


def _refuse_other_types(classes: Array, more: Array) -> None:
    """Raise an error if numbers meet text: NumPy would turn the numbers into text."""
    if (classes.dtype.kind in "biuf") != (more.dtype.kind in "biuf"):
        raise ValueError(
            f"labels do not match: known classes are {_some(classes)} ({classes.dtype}), "
            f"got {_some(more)} ({more.dtype}). Use labels of one type in every call."
        )


def announced(classes: Any) -> Array:
    """The classes that were passed to `partial_fit`."""
    array = np.asarray(sorted(classes) if isinstance(classes, (set, frozenset)) else classes)
    if array.ndim != 1:
        raise ValueError(f"classes must be a list of labels, got {classes!r}")
    return distinct(array)


def _some(classes: Array) -> str:
    return ", ".join(map(repr, classes[:5].tolist())) + (", …" if len(classes) > 5 else "")


def refuse_weights(rule: Any) -> None:
    """Raise an error if a rule does not accept weights."""
    if not takes_weights(rule):
        raise ValueError(
            f"the rule {type(rule).__name__} does not accept sample_weight or class_weight: {rule.no_weights}."
        )


def weights_of_classes(class_weight: Any, classes: Array, counts: dict[Any, int] | None, rule: Any) -> Array | None:
    """One weight per class: from a dict, with 1 for other classes; or "balanced": n/(classes·count). None if not given.

    counts: number of rows of each class.
    """
    if class_weight is None:
        return None
    refuse_weights(rule)
    if isinstance(class_weight, str):
        assert counts is not None
        absent = [label for label in classes.tolist() if label not in counts]
        if absent:
            raise ValueError(f"class_weight='balanced' needs rows of every class, but class {absent[0]!r} has none")
        per_class = np.array([counts[label] for label in classes.tolist()])
        return np.asarray(per_class.sum() / (len(classes) * per_class))
    strangers = [label for label in class_weight if label not in classes.tolist()]
    if strangers:
        raise ValueError(f"label {strangers[0]!r} of class_weight is not one of the classes: {_some(classes)}")
    weights = np.array([class_weight.get(label, 1.0) for label in classes.tolist()], dtype=np.float64)
    for label, weight in zip(classes.tolist(), weights.tolist(), strict=True):
        if not 0 <= weight < np.inf:
            raise ValueError(f"class_weight must be >= 0 and finite, got {weight} for class {label!r}")
    return weights


def weights_of_rows(
    rule: Any, sample_weight: Array | None, class_weight: Any, classes: Array, y: Array, codes: Array
) -> Array | None:
    """One weight per row: that of the example times that of its class; None if neither is given."""
    if sample_weight is None and class_weight is None:
        return None
    refuse_weights(rule)
    total = np.ones(len(y)) if sample_weight is None else sample_weight
    if class_weight is not None:
        counts = dict(zip(*(part.tolist() for part in np.unique(y, return_counts=True)), strict=True))
        by_class = weights_of_classes(class_weight, classes, counts, rule)
        assert by_class is not None
        total = total * by_class[codes]
    return total
