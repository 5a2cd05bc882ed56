"""Single examples and lists of dicts as rows, for the methods of `models.one`."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptrons.data.arrays import Rows
from perceptrons.learn.single.example import Example, from_dict, from_pair
from perceptrons.learn.single.names import Names
from perceptrons.models import validation

if TYPE_CHECKING:
    from perceptrons.models.supervised import Supervised


def names_of(model: Supervised) -> Names:
    """The names of a model's features."""
    found: Names | None = vars(model).get("_names")
    if found is not None:
        return found
    encoding = getattr(model, "encoding_", None)
    if encoding is not None and not encoding.named:
        raise ValueError(
            "this model was trained on a table whose features have no names of their own, because they are hashed or "
            "words of texts: it cannot read dicts. Write the examples to a table, and read that with "
            "source(..., like=model.encoding_)"
        )
    given, guard = getattr(model, "feature_names_in_", ()), model._guard
    if guard.names is None or guard.names[0] is not given:
        guard.names = given, Names(given)
    kept: Names = guard.names[1]
    return kept


def n_features_of(model: Supervised) -> int:
    """The number of features that a model has. Its learner may have more than it knows of: shallow copies share it."""
    if not hasattr(model, "_learner"):
        return 0
    found: int = getattr(model._learner, "n_features", model.n_features_in_)
    return found


def can_grow(model: Supervised) -> bool:
    """Whether new features make room in a model. One that was trained on a table has the features of its columns."""
    return "encoding_" not in vars(model)


def example_of(model: Supervised, x: Any, *, grows: bool) -> tuple[Example, Names | None]:
    """One example, not scaled yet; and the names of features, if it has some.

    grows: whether new features make room if the model can grow; otherwise they are left out.
    """
    n_features, grows = n_features_of(model), grows and can_grow(model)
    if not isinstance(x, Mapping) and hasattr(x, "to_dict") and hasattr(x, "index") and not hasattr(x, "columns"):
        x = x.to_dict()  # a row of a data frame
    if isinstance(x, Mapping) and not hasattr(x, "tocsr"):  # as a sparse matrix in DOK format has
        names = names_of(model)
        return from_dict(x, names, n_features, grows=grows), names
    if is_pair(x):
        return from_pair(x[0], x[1], n_features, grows=grows), None
    remedy = _remedy(x)
    if remedy:
        raise _no_example(type(x).__name__, remedy)
    try:
        row = np.asarray(x)
    except ValueError:  # of NumPy, about its shape
        raise _no_example(f"a {type(x).__name__} with sequences of different lengths", "Make it flat") from None
    if row.ndim != 1:
        raise _no_example(f"shape {row.shape}", "For several rows, use partial_fit or predict; a pair is a tuple")
    if hasattr(model, "_learner") and len(row) != n_features:
        name = type(model).__name__
        raise ValueError(f"x has {len(row)} features, but {name} is expecting {n_features} features as input")
    nameless = copy.copy(model)  # a row has no names, and needs none
    nameless.__dict__.pop("feature_names_in_", None)
    nameless.__dict__.pop("_names", None)
    try:
        rows = validation.features(nameless, row[np.newaxis], reset=not hasattr(model, "_learner"), input_name="x")
    except ValueError as error:
        if row.dtype.kind not in "US":
            raise
        raise _no_example(f"text: {error}", "Give categories names, in a dict: {'job': 'cook', 'age': 41}") from None
    return Example(rows, []), None


def is_pair(x: Any) -> bool:
    """Whether x is (indices, values)."""
    return type(x) is tuple and len(x) == 2 and all(hasattr(part, "__len__") for part in x) and not _has_dicts(x)


def _has_dicts(x: Any) -> bool:
    return isinstance(x, list | tuple) and any(isinstance(part, Mapping) for part in x)


def _no_example(got: str, remedy: str) -> ValueError:
    """The error for what is not one example."""
    return ValueError(
        f"x must be one example: a dict, a row of numbers, or a pair (indices, values); got {got}. {remedy}"
    )


def _remedy(x: Any) -> str | None:
    """What to do if x is of a type that is not one example; None if it may be one."""
    if isinstance(x, str | bytes | bytearray):
        return "Of a text, pass the counts of its words: Counter(text.lower().split())"
    if hasattr(x, "tocsr"):
        return "Of a sparse matrix in CSR format with one row, pass the pair (x.indices, x.data)"
    if hasattr(x, "columns"):
        return "Of a data frame, pass the rows as dicts, or use learn_many and predict_many"
    if _has_dicts(x):
        return "For several dicts, use learn_many or predict_many"
    if isinstance(x, Set):
        return "Of a set, pass dict.fromkeys(x, 1)"
    if not hasattr(x, "__len__") and hasattr(x, "__iter__"):
        return "Pass dict(x) if it gives pairs of a name and a value, or list(x) if it gives numbers"
    if x is None:
        return "For an example without features, pass {}"
    if not hasattr(x, "__len__"):
        return "If there is only one feature, give it a name: {'size': x}"
    return None


def dicts_of(X: Any, method: str) -> Iterable[Any]:
    """The rows of a data frame as dicts, or X itself if it may be dicts. method: what takes one example instead."""
    if hasattr(X, "iter_rows"):
        rows: Iterable[Any] = X.iter_rows(named=True)  # of Polars
        return rows
    if hasattr(X, "to_dict") and hasattr(X, "columns"):
        rows = X.to_dict("records")  # of pandas
        return rows
    if isinstance(X, Mapping | str | bytes) or not hasattr(X, "__iter__"):
        raise ValueError(f"X must be several dicts, or a data frame, got {type(X).__name__}: for one, use {method}")
    found: Iterable[Any] = X
    return found


def check_dict(x: Any, i: int, method: str) -> None:
    """Raise an error if x, the example at row i, is not a dict. method: what takes arrays instead."""
    if not isinstance(x, Mapping):
        raise ValueError(f"expected dicts, got {type(x).__name__} at row {i}: use {method} for arrays")


def at_row(i: int, error: Exception) -> ValueError:
    """The error for the example at row i."""
    return ValueError(f"at row {i}: {error}")


def examples_of(model: Supervised, X: Iterable[Any], *, grows: bool) -> tuple[Example, Names]:
    """Several dicts as rows, not scaled yet, and the names of features; new names get numbers at once."""
    names, n_features, learns = names_of(model), n_features_of(model), grows
    grows = grows and can_grow(model)
    found, new = list[Rows](), list[str]()
    try:
        for i, x in enumerate(X):
            check_dict(x, i, "partial_fit" if learns else "predict")
            try:
                rows, more = from_dict(x, names, n_features + len(new), grows=grows)
            except ValueError as error:
                raise at_row(i, error) from None
            if more:
                names.add(more, n_features + len(new))
                new += more
            found.append(rows)
        if not found:
            raise ValueError("X has no rows")
    except BaseException:
        if grows:
            names.cut(n_features)
        raise
    width = n_features + len(new)
    return Example(Rows.joined([rows.wide(width) for rows in found]), new), names
