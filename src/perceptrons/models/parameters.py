"""Parameters that estimators share: what is allowed, and how their documentation is put together."""

from __future__ import annotations

import re
from functools import cache
from numbers import Integral, Real
from typing import Any, TypeVar

from sklearn.utils._param_validation import Interval, StrOptions

from perceptrons.learn.readouts import READOUTS
from perceptrons.models.base import Online

T = TypeVar("T", bound=type)

COMMON: dict[str, Any] = {
    "rule": "no_validation",  # rules.resolve says what is wrong with it
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


@cache
def _shared() -> dict[str, str]:
    """What the docstring of `Online` says of each parameter and attribute, by its first name."""
    entries = re.split(r"\n(?=    \w|\n)", Online.__doc__ or "")
    return {re.split(r"[ ,]", entry.strip())[0]: entry for entry in entries}


def documented(cls: T) -> T:
    """Replace lines such as ``{shared: rule readout}`` in a docstring by what that of `Online` says of each."""
    if cls.__doc__:
        cls.__doc__ = re.sub(
            r"^    \{shared: ([\w ]+)\}$",
            lambda found: "\n".join(_shared()[name] for name in found.group(1).split()),
            cls.__doc__,
            flags=re.MULTILINE,
        )
    return cls
