"""Check the saved state of an encoding, which may come from a file that somebody else wrote."""

from __future__ import annotations

from math import isfinite
from typing import Any

from perceptrons.data.table.lexicon import STATE
from perceptrons.data.table.settings import Settings

LISTS = ("numbers", "categories", "flags", "texts")
FORMERLY = "missing"  # the name of the category of missing cells in files of earlier versions
LABELS = ("int64", "float64", "bool", "str")


def check_state(meta: dict[str, Any], lists: dict[str, list[str]], known: set[str]) -> None:
    """Check the state of an encoding: names and types of everything, and that it fits together.

    Parameters
    ----------
    meta, lists : dict
        See `Encoding.state`.
    known : set of str
        The names that `meta` may have.

    Raises
    ------
    ValueError
    """
    needed = {"target", "label", *LISTS}
    seen = {"column", "category"}
    if not needed <= set(meta) <= known or set(lists) not in (seen, {*seen, *STATE}):
        raise ValueError(f"the parts of an encoding must be {', '.join(sorted(known))}")
    for name, names in [*((name, meta[name]) for name in LISTS), *lists.items()]:
        if type(names) is not list or not all(type(each) is str for each in names):
            raise ValueError(f"{name} must be a list of names, got {names!r}"[:200])
    columns, pairs = meta["numbers"] + meta["categories"] + meta["texts"], (lists["column"], lists["category"])
    both = [*zip(*pairs, strict=True)]
    if len(set(columns)) < len(columns) or len(set(both)) < len(both):
        raise ValueError("columns and categories must be different")
    if not set(meta["flags"]) <= set(meta["categories"]):
        raise ValueError("flags must be among the columns with categories")
    if not set(lists["column"]) <= {*meta["categories"], *meta["numbers"]}:
        raise ValueError("the columns of categories must be columns with categories or numbers")
    if not isinstance(meta["target"], str | None) or meta["label"] not in LABELS:
        raise ValueError(f"target must be the name of a column, and label one of {', '.join(LABELS)}")
    if meta.get("absent", FORMERLY) not in ("", FORMERLY):
        raise ValueError(f"absent must be '' or {FORMERLY!r}")
    _check_settings(meta)
    means = meta.get("means", {})
    if type(means) is not dict or not set(means) <= set(meta["numbers"]):
        raise ValueError("means must have the names of columns of numbers")
    if not all(type(mean) in (int, float) and isfinite(mean) for mean in means.values()):
        raise ValueError("means must be finite numbers")


def _check_settings(meta: dict[str, Any]) -> None:
    """Check the numbers and words of an encoding."""
    numbers = {name: meta[name] for name in ("hash_bits", "ngrams", "text_bits") if name in meta}
    if numbers.get("hash_bits") is None:
        numbers.pop("hash_bits", None)
    missing, scale, weighting = meta.get("missing"), meta.get("scale", "none"), meta.get("weighting", "counts")
    fills = missing.values() if isinstance(missing, dict) else [missing]
    if not {*map(type, numbers.values())} <= {int} or not {*map(type, fills)} <= {int, float, str, type(None)}:
        raise ValueError("hash_bits, ngrams and text_bits must be whole numbers, and missing a number")
    if not {type(scale), type(weighting)} <= {str} or type(meta.get("sparse", False)) is not bool:
        raise ValueError("scale and weighting must be words, and sparse true or false")
    Settings(**numbers, missing=missing, scale=scale, weighting=weighting).check()
