"""What shards have learned in one epoch, as sums that can be added up in a tree, and sent as few bytes.

In each epoch every shard makes one pass from the same weights w₀. Shard i moves them by δ_i and returns k_i·δ_i, where
k_i says how much it counts. The learner then moves by Σ k_i·δ_i/Σ k_i. Entries that no step has changed need not be
sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from perceptrons.data.arrays import readonly

Floats = npt.NDArray[np.float64]
Keys = npt.NDArray[np.unsignedinteger[Any]]
SPARSE = 64  # fewer keys than 1/SPARSE of all entries are sorted


def key_type(size: int) -> type[np.unsignedinteger[Any]]:
    """The smallest type of keys of `size` entries."""
    return np.uint32 if size < 1 << 32 else np.uint64


def is_smaller(n: int, size: int, n_arrays: int) -> bool:
    """Whether n entries of each of some arrays take fewer bytes with their keys than all `size` entries without."""
    return n * (key_type(size)().itemsize + 8 * n_arrays) < size * 8 * n_arrays


@dataclass(frozen=True)
class Part:
    """What one or several shards have learned in an epoch.

    Parameters
    ----------
    size : int
        Number of entries of a hypothesis.
    keys : ndarray or None
        Numbers of the entries that have changed, rising; None if all are given.
    arrays : dict of ndarray
        One number for each key, by name: sums over shards.
    numbers : dict of float
        Other sums over shards, by name.
    sq_radius : float
        The largest squared length of a row, or of a step.
    mistakes : dict of int
        Number of mistakes, by the number of the shard.
    """

    size: int
    keys: Keys | None
    arrays: Mapping[str, Floats]
    numbers: Mapping[str, float]
    sq_radius: float = 0.0
    mistakes: Mapping[int, int] = field(default_factory=dict)

    @property
    def n_bytes(self) -> int:
        """The bytes that it takes to send."""
        sent = [*self.arrays.values(), *([] if self.keys is None else [self.keys])]
        return sum(array.nbytes for array in sent)

    def __sizeof__(self) -> int:
        return self.n_bytes + 1000

    def on(self, base: Floats, name: str) -> Floats:
        """Add the array `name` to a copy of `base`, which has all entries in the order of memory."""
        moved = base.copy(order="K")
        flat = moved.ravel(order="K")
        if self.keys is None:
            flat += self.arrays[name]
        else:
            flat[self.keys] += self.arrays[name]
        return moved


def part_of(size: int, keys: npt.NDArray[Any], arrays: Mapping[str, Floats], **rest: Any) -> Part:
    """A part with these entries, with or without keys, whichever is smaller."""
    if is_smaller(len(keys), size, len(arrays)):
        return Part(size, keys.astype(key_type(size)), arrays, **rest)
    if len(keys) == size:
        return Part(size, None, arrays, **rest)
    return Part(size, None, {name: _spread(size, keys, values) for name, values in arrays.items()}, **rest)


def _spread(size: int, keys: npt.NDArray[Any], values: Floats) -> Floats:
    """All entries, of which those without a key are 0."""
    whole = np.zeros(size)
    whole[keys] = values
    return whole


def added(parts: Sequence[Part]) -> Part:
    """Add parts, from left to right. The result does not depend on which of them have keys.

    >>> a = part_of(9, np.array([1, 4]), {"moved": np.array([1.0, 2.0])}, numbers={"seen": 3.0})
    >>> b = part_of(9, np.array([4]), {"moved": np.array([5.0])}, numbers={"seen": 1.0})
    >>> both = added([a, b])
    >>> both.keys.tolist(), both.arrays["moved"].tolist(), both.numbers
    ([1, 4], [1.0, 7.0], {'seen': 4.0})
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    arrays: dict[str, Floats]
    keys, size, names = None, first.size, list(first.arrays)
    lists = [part.keys for part in parts if part.keys is not None]
    if len(lists) == len(parts):
        there, places = _union(lists, size)
        arrays = {name: np.zeros(len(there)) for name in names}
        for part, place in zip(parts, places, strict=True):
            for name, values in part.arrays.items():
                arrays[name][place] += values
        keys = there if is_smaller(len(there), size, len(names)) else None
        if keys is None:
            arrays = {name: _spread(size, there, values) for name, values in arrays.items()}
    else:
        whole = next(part for part in parts if part.keys is None)
        arrays = {name: np.zeros_like(values) for name, values in whole.arrays.items()}
        for part in parts:
            for name, values in part.arrays.items():
                arrays[name][... if part.keys is None else part.keys] += values
    return Part(
        size,
        keys,
        arrays,
        _summed(part.numbers for part in parts),
        max(part.sq_radius for part in parts),
        {number: count for part in parts for number, count in part.mistakes.items()},
    )


def _union(lists: Sequence[Keys], size: int) -> tuple[Keys, list[npt.NDArray[Any]]]:
    """All keys, rising, and the places of each list of keys among them."""
    if sum(map(len, lists)) < size // SPARSE:
        there = np.unique(np.concatenate(lists))
        return there, [np.searchsorted(there, keys) for keys in lists]
    marked = np.zeros(size, dtype=np.bool_)  # faster than sorting, if there are many
    for keys in lists:
        marked[keys] = True
    there = np.flatnonzero(marked).astype(lists[0].dtype)
    number = np.empty(size, dtype=np.uint32 if size < 1 << 32 else np.uint64)
    number[there] = np.arange(len(there))
    return there, [number[keys] for keys in lists]


def _summed(numbers: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for each in numbers:
        for name, number in each.items():
            total[name] = total.get(name, 0.0) + number
    return total


@dataclass(frozen=True)
class Sent:
    """What a shard needs of a hypothesis to go on from it. Entries of 0 are left out where that is smaller.

    Parameters
    ----------
    arrays : dict of ndarray
        By name, in the order of memory.
    keys : dict of ndarray
        For arrays without entries of 0, the numbers of the entries that are there.
    shapes : dict of tuple
        The shapes of all arrays.
    averages : bool
        Whether the sum of hypotheses is wanted.
    """

    arrays: Mapping[str, npt.NDArray[Any]]
    keys: Mapping[str, Keys]
    shapes: Mapping[str, tuple[int, ...]]
    averages: bool

    def __sizeof__(self) -> int:
        return 1000 + sum(array.nbytes for array in (*self.arrays.values(), *self.keys.values()))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_found"}

    def whole(self, name: str, layout: Literal["C", "F"] = "C") -> npt.NDArray[Any]:
        """An array with all its entries, read-only. All shards of a worker share it."""
        known: dict[str, npt.NDArray[Any]] = self.__dict__.setdefault("_found", {})
        if name not in known:
            shape, values = self.shapes[name], self.arrays[name]
            if name in self.keys:
                found = np.zeros(shape, dtype=values.dtype, order=layout)
                found.ravel(order="K")[self.keys[name]] = values
            else:
                found = values.reshape(shape, order=layout)
            known[name] = readonly(found)
        return known[name]


def sent_of(averages: bool, **arrays: npt.NDArray[Any]) -> Sent:
    """Arrays ready to be sent.

    >>> sent = sent_of(False, w=np.array([0.0, 0.0, 0.0, 5.0]))
    >>> sent.keys["w"].tolist(), sent.whole("w").tolist()
    ([3], [0.0, 0.0, 0.0, 5.0])
    """
    values, keys = dict[str, npt.NDArray[Any]](), dict[str, Keys]()
    for name, array in arrays.items():
        flat = array.ravel(order="K")
        there = np.flatnonzero(flat)
        if is_smaller(len(there), flat.size, 1):
            keys[name], flat = there.astype(key_type(flat.size)), flat[there]
        values[name] = flat
    return Sent(values, keys, {name: array.shape for name, array in arrays.items()}, averages)
