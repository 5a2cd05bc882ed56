"""Choose held-out examples, in the same way for arrays, files, sentences and structures."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from perceptrons.core.random import GOLDEN, mixed
from perceptrons.learn.learner import Batch

B = TypeVar("B", bound=Batch)
U = np.uint64
ONE = 1 << 32  # shares are whole multiples of 1/ONE


def chosen(first: int, n: int, share: float, seed: int) -> npt.NDArray[np.bool_]:
    """Choose which of n examples, numbered from `first`, are held out. How the data is cut makes no difference.

    Each run of 1/share examples has one held-out example, at a random place that depends on the seed and the number of
    the run. So held-out examples are spread evenly, and their share is exact up to one example.

    >>> chosen(0, 12, 0.25, seed=1).sum(), (chosen(5, 7, 0.25, 1) == chosen(0, 12, 0.25, 1)[5:]).all()
    (np.int64(3), np.True_)
    """
    return chosen_of(np.arange(first, first + n), share, seed)


def chosen_of(numbers: npt.NDArray[np.integer[Any]], share: float, seed: int) -> npt.NDArray[np.bool_]:
    """Choose which of the examples with these numbers are held out, as `chosen` does."""
    part, number = U(max(1, round(share * ONE))), numbers.astype(U)
    run = number * part >> U(32)  # the examples i with ⌊i·share⌋ = k are run k
    begin, end = (((run + U(k)) * U(ONE) + part - U(1)) // part for k in (0, 1))
    place = (mixed((run + U(1)) * GOLDEN + U(seed)) >> U(32)) * (end - begin) >> U(32)
    return np.asarray(number == begin + place)


def split(examples: B, share: float, seed: int, unit: str) -> tuple[B, B]:
    """Split examples into those to learn from and those held out."""
    return examples.split(some_chosen(len(examples), share, seed, unit))


def some_chosen(n: int, share: float, seed: int, unit: str) -> npt.NDArray[np.bool_]:
    """Choose which of n examples are held out; raise an error if these are none or all."""
    held = chosen(0, n, share, seed)
    if not held.any() or held.all():
        what = "no" if not held.any() else "all"
        raise ValueError(
            f"a share of {share:g} of {n} {unit} holds out {what} {unit}: "
            f"choose a {'larger' if not held.any() else 'smaller'} share, or pass your own held-out {unit}"
        )
    return held
