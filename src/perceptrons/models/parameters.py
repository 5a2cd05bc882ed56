"""Parameters that estimators share: which values are valid, and their documentation."""

from __future__ import annotations

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
    return textwrap.fill(names, 120, initial_indent=8 * " ", subsequent_indent=8 * " ")


@cache
def _shared() -> dict[str, str]:
    """Entries of parameters and attributes in the docstring of `Online`, by their first name."""
    text = (Online.__doc__ or "").replace("        {rules},", _rules())
    entries = re.split(r"\n(?=    \w|\n)", text)
    return {re.split(r"[ ,]", entry.strip())[0]: entry for entry in entries}


def documented(cls: T) -> T:
    """Replace lines such as ``{shared: rule readout}`` in a docstring by the entries of `Online`."""
    if cls.__doc__:
        cls.__doc__ = re.sub(
            r"^    \{shared: ([\w ]+)\}$",
            lambda found: "\n".join(_shared()[name] for name in found.group(1).split()),
            cls.__doc__,
            flags=re.MULTILINE,
        )
    return cls
