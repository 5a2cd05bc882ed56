"""One example as a row: a dict of named features, or a pair of indices and values."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Set
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from perceptrons.core.rows import GOOD, survey
from perceptrons.data.arrays import Rows, as_rows, readonly
from perceptrons.learn.single.names import Names

MOST = 2**32 - 1  # features
PLAIN = (float, int, bool, np.float64)  # types of most numbers


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
    entries, new = entries_of(x, names, n_features, grows=grows)
    order = sorted(entries)
    rows = _row(np.array([entries[j] for j in order]), np.array(order, dtype=np.uint32), n_features + len(new))
    if rows is None:
        raise unusable(x)
    return Example(rows, new)


def entries_of(
    x: Mapping[Any, Any], names: Names, n_features: int, *, grows: bool
) -> tuple[dict[int, float], list[str]]:
    """The values of a dict by feature, in any order, and the names that are new. Values may be infinite or NaN."""
    entries: dict[int, float] = {}
    new: dict[str, int] = {}
    known, total = names.numbers, n_features
    for key, given in x.items():
        if type(given) is float and type(key) is str:  # as most are
            name, value = key, given
        elif isinstance(given, str):
            name, value = f"{key}={given}", 1.0
        elif given is None and not grows and names.find(_key(key), n_features) is None:
            continue  # as NaN is
        else:
            name, value = _key(key), _number(key, given)
        found = known.get(name)
        if found is None or found >= n_features:
            found = names.find(name, n_features)
        if found is None:
            text = str(name)
            found = new.get(text)
            if found is None:
                if not grows:
                    continue
                found = new[text] = total
                total += 1
        elif value == 1.0 and isinstance(given, str):
            names.note(key, given, found)
        if found in entries:
            raise ValueError(f"the feature {str(name)!r:.80} occurs twice in x, as {key!r:.80} and under another key")
        entries[found] = value
    if total > MOST:
        raise ValueError(f"x has too many new features: a model can have at most {MOST:,}")
    return entries, list(new)


def unusable(x: Mapping[Any, Any]) -> ValueError:
    """The error for a dict whose values cannot be used."""
    finite = {key: isinstance(given, str) or given is None or isfinite(given) for key, given in x.items()}
    bad = next((key for key in x if not finite[key]), None)
    if bad is None:
        return ValueError("x is too large: its squared length overflows float64. Rescale the features.")
    what = "NaN" if x[bad] != x[bad] else "infinite"
    return ValueError(f"the feature {bad!r:.80} of x is {what}: leave it out, or impute it")


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
    real = type(given) in PLAIN or isinstance(given, numbers.Real | np.bool_)
    if real or (isinstance(given, numbers.Number) and not isinstance(given, numbers.Complex)):  # such as Decimal
        try:
            return float(given)
        except OverflowError:
            raise ValueError(f"the feature {key!r:.80} of x is too large for float64: {given!r:.40}") from None
    hint = ""
    if given is None:
        hint = " Leave out features that are missing."
    elif isinstance(given, Mapping):
        inner = next(iter(given), "inner")
        hint = f" Flatten it: give each of its values a name, such as '{key!s:.40}.{inner!s:.40}'."
    elif isinstance(given, list | tuple | Set | np.ndarray):
        hint = (
            f" Flatten it: give each value a name, such as '{key!s:.40}.0'; of texts, '{key!s:.40}=text': 1 for each."
        )
    raise ValueError(f"the feature {key!r:.80} of x must be a number or text, got {given!r:.80}.{hint}")


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
    rows = _row(readonly(np.ascontiguousarray(what)), where.astype(np.uint32), width) if rising else None
    if rows is not None:
        return Example(rows, [])
    from scipy.sparse import csr_array

    matrix = csr_array((what, where.astype(np.int64), np.array([0, where.size])), shape=(1, max(1, width)))
    rows = as_rows(matrix, input_name="x").wide(width)
    return Example(replace(rows, indices=readonly(np.asarray(rows.indices).astype(np.uint32))), [])


def _row(values: Any, indices: Any, n_features: int) -> Rows | None:
    """One sparse row of arrays that become read-only; None if its values cannot be used."""
    arrays = values, indices, np.array([0, len(values)], dtype=np.uint64)
    for array in arrays:
        array.flags.writeable = False  # as `readonly` does, but without a view
    sq_norm, verdict, _ = survey(*arrays, np.uint64(n_features))
    return Rows(*arrays, n_features, sq_norm) if verdict == GOOD else None
