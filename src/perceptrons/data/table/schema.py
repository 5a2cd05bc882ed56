"""Decide which columns of a table are labels, numbers, categories and text; explain what does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from perceptrons.data.files import DataError
from perceptrons.data.table.columns import floats_of
from perceptrons.data.table.encoding import Encoding
from perceptrons.data.table.settings import MEAN, Settings

SHOWN = 20  # the most column names in a message
LONGEST = 100  # the most characters of each


def listed(names: Sequence[str]) -> str:
    """List column names in a message.

    >>> listed(["age", "job"])
    "'age', 'job'"
    """
    more = f" and {len(names) - SHOWN} more, the last of them {_short(names[-1])}" if len(names) > SHOWN else ""
    return ", ".join(map(_short, names[:SHOWN])) + more


def _short(name: str) -> str:
    """Quote a name; one that is very long, and probably not a name, is cut."""
    return repr(name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…")


def check_names(wanted: Iterable[str], names: list[str], where: str) -> None:
    """Refuse the first column that does not exist, and suggest a similar name."""
    for name in wanted:
        if name not in names:
            close = get_close_matches(name, names, 1)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            hint = ""
            if len(names) == 1:
                other = [mark for mark in ";\t|," if mark in names[0]]
                hint = f" Perhaps its delimiter is {other[0]!r}?" if other else ""
            raise DataError(f"{where} has no column {name!r}.{meant} Its columns are {listed(names)}.{hint}")


def find_target(target: str | None, names: list[str], where: str) -> str:
    """Check that the column of labels exists."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{where} has more than one column {twice!r}: rename one of them")
    if target is None:
        raise DataError(f"{where}: name the column of labels with target. Its columns are {listed(names)}")
    check_names([target], names, where)
    return target


def kind_of(type: Any) -> str | None:
    """What a column of an Arrow type holds: a "number", "flag" or "category"; None if it cannot be a feature."""
    from pyarrow import types

    if types.is_integer(type) or types.is_floating(type) or types.is_decimal(type) or types.is_null(type):
        return "number"
    if types.is_boolean(type):
        return "flag"
    if types.is_dictionary(type):
        return None if kind_of(type.value_type) is None else "category"
    view = getattr(types, "is_string_view", None)  # not in older versions
    text = types.is_string(type) or types.is_large_string(type) or (view is not None and view(type))
    return "category" if text else None


def label_of(type: Any, name: str, where: str) -> str:
    """The type of labels that a column of an Arrow type gives."""
    from pyarrow import types

    kind = kind_of(type)
    if kind is None:
        raise DataError(f"{where}: the labels in column {name!r} are {type}, expected numbers, text or booleans")
    if kind == "number":
        return "int64" if types.is_integer(type) else "float64"
    return "bool" if kind == "flag" else "str"


def build(settings: Settings, names: list[str], sample: Any, where: str) -> Encoding:
    """Make the encoding for a table with these columns; `sample` is an Arrow table of the first rows."""
    schema = sample.schema
    target = find_target(settings.target, names, where)
    marked = settings.marked
    fills = list(settings.missing) if isinstance(settings.missing, dict) else []
    check_names([*(settings.features or ()), *settings.drop, *marked, *settings.text, *fills], names, where)
    both = [name for name in marked if name in settings.text]
    if both:
        raise DataError(f"column {both[0]!r} is both in categorical and in text: keep it in one of them")
    chosen = names if settings.features is None else dict.fromkeys([*settings.features, *settings.text])
    features = [name for name in chosen if name != target and name not in settings.drop]
    if not features:
        raise DataError(f"{where} has no columns of features besides the labels {target!r}")
    kinds: dict[str, list[str]] = {"number": [], "flag": [], "category": [], "text": []}
    for name in features:
        kinds[_kind(name, schema.field(name).type, marked, settings.text, where)].append(name)
    return Encoding(
        target,
        label_of(schema.field(target).type, target, where),
        kinds["number"],
        [name for name in features if name in kinds["flag"] or name in kinds["category"]],
        kinds["flag"],
        kinds["text"],
        settings.hash_bits,
        settings.ngrams,
        settings.text_bits,
        settings.missing,
        scale=settings.scale,
        weighting=settings.weighting,
        sparse=settings.missing == MEAN
        and any(np.isnan(floats_of(sample.column(name))).any() for name in kinds["number"]),
    )


def means_of(encoding: Encoding, sample: Any) -> dict[str, float]:
    """The means of columns of numbers in the first rows, without missing cells; 0 for a column without numbers."""
    found = {}
    for name in encoding.numbers:
        values = floats_of(sample.column(name))
        values = values[np.isfinite(values)]
        with np.errstate(over="ignore"):
            mean = float(values.mean()) if values.size else 0.0
        found[name] = mean if np.isfinite(mean) else 0.0
    return found


def _kind(name: str, type: Any, marked: Sequence[str], text: Sequence[str], where: str) -> str:
    """How to treat a column: as a "number", "flag", "category" or "text"."""
    kind = kind_of(type)
    if type.num_fields == 0 and name in text:
        return "text"
    if type.num_fields == 0 and name in marked and kind != "flag":
        return "category"  # also dates
    if kind is None:
        remedy = "" if type.num_fields else f", or treat its values as categories with categorical=[{name!r}]"
        raise DataError(f"{where}: column {name!r} holds {type}, which cannot be a feature: drop it{remedy}")
    return kind


def csv_types(encoding: Encoding, target: str | None) -> dict[str, Any]:
    """The Arrow types with which to read the columns of a CSV file; other columns are not read."""
    import pyarrow as pa

    words = pa.dictionary(pa.int32(), pa.string())
    types = {name: pa.float64() for name in encoding.numbers}
    types |= {name: pa.bool_() if name in encoding.flags else words for name in encoding.categories}
    types |= {name: pa.large_string() for name in encoding.texts}
    if target is not None:
        types[target] = words if encoding.label == "str" else pa.type_for_alias(encoding.label)
    return types


def check_types(encoding: Encoding, target: str | None, schema: Any, where: str) -> None:
    """Refuse an Arrow schema in which a column changed its type."""
    wanted = dict.fromkeys(encoding.numbers, "number") | dict.fromkeys(encoding.flags, "flag")
    if target is not None:
        wanted[target] = {"str": "category", "bool": "flag"}.get(encoding.label, "number")
    for name, kind in wanted.items():
        type = schema.field(name).type
        if kind_of(type) != kind and str(type) != "null":
            expected = {"number": "numbers", "flag": "booleans", "category": "text"}[kind]
            raise DataError(f"{where}: column {name!r} holds {type}, expected {expected} as before")
