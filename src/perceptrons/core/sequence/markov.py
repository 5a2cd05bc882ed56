"""How many labels before a label it depends on: a type for each order, which picks code."""

from __future__ import annotations

from typing import NamedTuple

from perceptrons.core.jit.deferred import overload
from perceptrons.core.rows import JIT


class Zeroth(NamedTuple):
    """No score for transitions; forbidden ones stay so."""


class First(NamedTuple):
    """A label is scored with the one before."""


class Second(NamedTuple):
    """A label is scored with the one before, and with both before."""


def is_a(marker, kind):
    return issubclass(marker.instance_class, kind)


def by_order(types):
    return "second" if is_a(types["markov"], Second) else "first"


def is_second(markov):
    """Whether a label depends on two before it: known when the code is compiled."""


@overload(is_second, jit_options=JIT)
def _is_second(markov):
    return (lambda markov: True) if is_a(markov, Second) else (lambda markov: False)
