"""Parameters that estimators share: which values are valid, and their documentation."""

from __future__ import annotations

import inspect
import re
import textwrap
from functools import cache
from numbers import Integral, Real
from typing import Any, TypeVar

from sklearn.utils._param_validation import Interval, StrOptions

from perceptrons.learn.readouts import READOUTS
from perceptrons.models.base import Online
from perceptrons.rules import RULES

T = TypeVar("T", bound=type)
ENTRY = r"^(\w+)[\w, ]* : .*(?:\n+ +.*)*"  # of a docstring: a line with names, and all lines below that are indented

COMMON: dict[str, Any] = {
    "rule": "no_validation",  # checked by rules.resolve
    "readout": [StrOptions(set(READOUTS))],
    "fit_intercept": ["boolean"],
    "eta0": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left"), None],
    "shuffle": ["boolean"],
    "random_state": ["random_state"],
    "tie": [StrOptions({"mistake", "positive"})],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "warm_start": ["boolean"],
    "verbose": ["verbose"],
}

SCALE = [StrOptions({"none", "online"})]  # of linear models


def _rules() -> str:
    """The names of all rules, in lines of a docstring."""
    names = ", ".join(f'"{name}"' for name in RULES) + ","
    return textwrap.fill(names, 116, initial_indent=4 * " ", subsequent_indent=4 * " ")


def entries(docstring: str | None) -> dict[str, str]:
    """The entries of parameters and attributes in a docstring, by their first name.

    >>> entries("Title.\\n\\n    C : float\\n        Largest step.\\n    a, b : int\\n    ")
    {'C': 'C : float\\n    Largest step.', 'a': 'a, b : int'}
    """
    text = inspect.cleandoc(docstring or "")
    return {found.group(1): found.group() for found in re.finditer(ENTRY, text, flags=re.MULTILINE)}


@cache
def _shared() -> dict[str, str]:
    return entries(inspect.cleandoc(Online.__doc__ or "").replace("    {rules},", _rules()))


def with_entries(docstring: str | None, found: dict[str, str]) -> str:
    """A docstring without its indentation, where entries have replaced lines such as ``{shared: rule readout}``."""
    return re.sub(
        r"^\{shared: ([\w ]+)\}$",
        lambda line: "\n".join(found[name] for name in line.group(1).split()),
        inspect.cleandoc(docstring or ""),
        flags=re.MULTILINE,
    )


def documented(cls: T) -> T:
    """Let a docstring have entries of `Online`, which it names in lines such as ``{shared: rule readout}``."""
    if cls.__doc__:
        cls.__doc__ = with_entries(cls.__doc__, _shared())
    return cls
