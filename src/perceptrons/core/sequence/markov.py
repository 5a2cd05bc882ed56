"""The order of the chain: how many previous labels a label depends on. A type for each order picks the code."""

from __future__ import annotations

from typing import NamedTuple

from perceptrons.core.jit.deferred import overload
from perceptrons.core.rows import JIT


class Zeroth(NamedTuple):
    """Transitions have no weights; forbidden ones stay forbidden."""


class First(NamedTuple):
    """A label is scored with the previous one."""


class Second(NamedTuple):
    """A label is scored with the previous one, and with the previous two."""


def is_a(marker, kind):
    return issubclass(marker.instance_class, kind)


def by_order(types):
    return "second" if is_a(types["markov"], Second) else "first"


def is_second(markov):
    """Whether a label depends on the previous two; decided at compile time."""


@overload(is_second, jit_options=JIT)
def _is_second(markov):
    return (lambda markov: True) if is_a(markov, Second) else (lambda markov: False)
