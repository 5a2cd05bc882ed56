"""Defaults of training, also by what the columns of a table hold, and how it ends.

`perceptrons train`, TableClassifier and TableRegressor share them.
"""

from __future__ import annotations

from typing import Any

from perceptrons import rules
from perceptrons.learn.fit import Passes
from perceptrons.learn.readouts import READOUTS

PASSES = 10
READOUT = "averaged"
EPSILON = 0.1  # of regression, in standard deviations of the values

# Chosen by benchmarks/text.py. Texts have length 1. A constant of 1 would weigh as much as all words together, and
# learn from every mistake mostly that its class is more frequent. Steps of PA-I bring a text to its margin at once;
# C = 2 lets them do so for a text on the wrong side, too.
TEXT = {"rule": "pa1", "C": 2.0, "passes": 5}  # later passes change the held-out error by 0.1 points
CONSTANT = 0.1
# Chosen by benchmarks/tables.py. Rows of scaled columns are several units long. The margin β keeps learning from rows
# that are right by little, so that the mean over all hypotheses leans less on the few rows that are wrong.
COLUMNS = {"rule": "margin", "beta": 20.0}


# Chosen by benchmarks/regression.py: as good as ridge regression, and better if some values are far off. Texts have
# length 1, so that their steps must be longer.
VALUES, VALUES_OF_TEXTS = {"rule": "pa1", "C": 0.1}, {"rule": "pa1", "C": 0.3}


# Chosen by benchmarks/defaults.py. A Gaussian kernel is at most 1: rows are learned until their margin is twice that.
KERNEL: dict[str, Any] = {"rule": "margin", "beta": 2.0, "passes": 100}


def with_stops(passes: Passes, rule: Any, readout: str) -> Passes:
    """Add the stops of a linear perceptron for when nothing is proved, unless `tol` is None.

    >>> with_stops(Passes(1000, tol=0.001, least=5), rules.resolve("perceptron"), "averaged").settles
    True
    >>> with_stops(Passes(1000, tol=0.001, least=5), rules.resolve("arow"), "averaged").stall
    5
    """
    if passes.tol is None:
        return passes
    if rules.kind_of(rule) == "metric":  # nothing proves that the margin is small
        return passes._replace(stall=passes.least)
    best = passes.keep_best or passes.patience is not None
    return passes._replace(settles=readout in READOUTS and READOUTS[readout].sums and not best)


def for_values(encoding: Any) -> dict[str, Any]:
    """The rule and its parameter for regression; encoding: as for `for_columns`."""
    return VALUES_OF_TEXTS if encoding is not None and encoding.texts else VALUES


def for_columns(encoding: Any) -> dict[str, Any]:
    """The rule, its parameter, passes and the constant feature for a table; empty for other rows and raw numbers.

    encoding: of the table's columns; None if rows come from no table.

    >>> from perceptrons.data.table.encoding import Encoding
    >>> for_columns(Encoding("y", "str", [], [], [], ["message"]))
    {'rule': 'pa1', 'C': 2.0, 'passes': 5, 'intercept_scaling': 0.1}
    >>> for_columns(Encoding("y", "str", ["age"], [], [], ["message"]))
    {'rule': 'pa1', 'C': 2.0, 'passes': 5, 'intercept_scaling': 1.0}
    >>> for_columns(Encoding("y", "str", ["age"], ["job"], [], [], scale="standard"))
    {'rule': 'margin', 'beta': 20.0, 'intercept_scaling': 1.0}
    """
    if encoding is None or (encoding.scale == "none" and not encoding.texts):
        return {}
    only_texts = not encoding.numbers and not encoding.categories
    usual = TEXT if encoding.texts else COLUMNS
    return {**usual, "intercept_scaling": CONSTANT if only_texts else 1.0}
