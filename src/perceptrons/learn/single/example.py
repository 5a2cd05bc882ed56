"""One example as a row: a dict of named features, or a pair of indices and values."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from perceptrons.core.rows import GOOD, survey
from perceptrons.data.arrays import Rows, as_rows, readonly
from perceptrons.learn.single.names import Names

MOST = 2**32 - 1  # features


class Example(NamedTuple):
    """One row, and the names in it that are new: their features follow those of the model."""

    rows: Rows
    new: list[str]


def from_dict(x: Mapping[Any, Any], names: Names, n_features: int, *, grows: bool) -> Example:
    """Read a dict of named features. A text counts as the feature "name=text" with the value 1.

    grows: whether names that are not known get numbers; otherwise they are left out.

    >>> found = from_dict({"age": 41, "job": "cook"}, Names(["age"]), 1, grows=True)
    >>> found.rows.indices, found.rows.values, found.new
    (array([0, 1], dtype=uint32), array([41.,  1.]), ['job=cook'])
    """
    entries: dict[int, float] = {}
    new: dict[str, int] = {}
    for key, given in x.items():
        name, value = (f"{key}={given}", 1.0) if isinstance(given, str) else (_key(key), _number(key, given))
        found = names.find(name, n_features)
        if found is not None and isinstance(given, str):
            names.note(key, given, found)
        if found is None:
            text = str(name)
            found = new.get(text)
            if found is None:
                if not grows:
                    continue
                found = new[text] = n_features + len(new)
        if found in entries:
            raise ValueError(f"the feature {str(name)!r:.80} occurs twice in x, as {key!r:.80} and under another key")
        entries[found] = value
    if n_features + len(new) > MOST:
        raise ValueError(f"x has too many new features: a model can have at most {MOST:,}")
    order = sorted(entries)
    values = np.array([entries[j] for j in order], dtype=np.float64)
    rows = _row(values, np.array(order, dtype=np.uint32), n_features + len(new))
    if rows is None:
        bad = next((key for key, given in x.items() if not isinstance(given, str) and not isfinite(given)), None)
        if bad is None:
            raise ValueError("x is too large: its squared length overflows float64. Rescale the features.")
        what = "NaN" if x[bad] != x[bad] else "infinite"
        raise ValueError(f"the feature {bad!r:.80} of x is {what}: leave it out, or impute it")
    return Example(rows, list(new))


def _key(key: Any) -> Any:
    if type(key) is str or isinstance(key, str):
        return str.__str__(key)  # without the methods of a subclass
    if isinstance(key, numbers.Integral) and not isinstance(key, bool | np.bool_):
        return int(key)
    if type(key) is tuple and all(isinstance(part, str | int) for part in key):
        return str(key)  # as River's n-grams and random features have them
    raise ValueError(f"names of features must be text, whole numbers, or tuples of these, got {key!r:.80} in x")


def _number(key: Any, given: Any) -> float:
    """The value of a feature."""
    real = isinstance(given, numbers.Real | np.bool_)
    if real or (isinstance(given, numbers.Number) and not isinstance(given, numbers.Complex)):  # such as Decimal
        try:
            return float(given)
        except OverflowError:
            raise ValueError(f"the feature {key!r:.80} of x is too large for float64: {given!r:.40}") from None
    missing = " Leave out features that are missing." if given is None else ""
    raise ValueError(f"the feature {key!r:.80} of x must be a number or text, got {given!r:.80}.{missing}")


def from_pair(indices: Any, values: Any, n_features: int, *, grows: bool) -> Example:
    """Read a pair of arrays: numbers of features, and their values. Values of equal numbers are added.

    grows: whether numbers that are not known make room; otherwise they are left out.

    >>> found = from_pair([5, 2], [1.0, 3.0], 4, grows=True)
    >>> found.rows.indices, found.rows.values, found.rows.n_features
    (array([2, 5], dtype=uint32), array([3., 1.]), 6)
    """
    where, what = np.asarray(indices), np.asarray(values)
    if where.ndim != 1 or where.shape != what.shape:
        raise ValueError(
            f"a pair must have as many indices as values, in two sequences; got {where.shape} and {what.shape}"
        )
    if where.size and where.dtype.kind not in "iu":
        raise ValueError(f"the indices of a pair must be whole numbers, got {where.dtype}: a pair is (indices, values)")
    if what.dtype.kind not in "biuf":
        raise ValueError(f"the values of a pair must be numbers, got {what.dtype}")
    if what.dtype not in (np.float32, np.float64):
        what = what.astype(np.float64)
    if where.size and (int(where.min()) < 0 or int(where.max()) >= MOST):
        bad = int(where.min()) if int(where.min()) < 0 else int(where.max())
        raise ValueError(f"the indices of a pair must be 0 or more and below {MOST:,}, got {bad}")
    if not grows:
        known = where < n_features
        where, what = where[known], what[known]
    width = max(n_features, int(where.max()) + 1) if where.size else n_features
    rising = bool((where[1:] > where[:-1]).all())
    rows = _row(np.ascontiguousarray(what), where.astype(np.uint32), width) if rising else None
    if rows is not None:
        return Example(rows, [])
    from scipy.sparse import csr_array

    matrix = csr_array((what, where.astype(np.int64), np.array([0, where.size])), shape=(1, max(1, width)))
    rows = as_rows(matrix, input_name="x").wide(width)
    return Example(replace(rows, indices=readonly(np.asarray(rows.indices).astype(np.uint32))), [])


def _row(values: Any, indices: Any, n_features: int) -> Rows | None:
    """One sparse row; None if its values cannot be used."""
    arrays = readonly(values), readonly(indices), readonly(np.array([0, len(values)], dtype=np.uint64))
    sq_norm, verdict, _ = survey(*arrays, np.uint64(n_features))
    return Rows(*arrays, n_features, sq_norm) if verdict == GOOD else None
