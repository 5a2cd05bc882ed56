"""Features that the user names, token by token, and their numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.data.arrays import readonly
from perceptrons.data.files import DataError
from perceptrons.data.sequences import Sequences

SEPARATOR = ":"  # between the parts of a name

State = tuple[dict[str, Any], dict[str, list[str]], dict[str, npt.NDArray[Any]]]


class Named:
    """Features given as dicts or lists of strings, as python-crfsuite takes them, numbered by first occurrence.

    A token is a list or set of names, or a dict. ``{"word": "the"}`` has the feature word:the; a number is the value of
    the feature that its key names; True stands for 1, False for nothing; lists, sets and dicts under a key are further
    names, with the key before them.

    >>> vocabulary = Named()
    >>> rows = vocabulary.sequences([[{"word": "the", "title": False}, {"word": "cat", "length": 3}]], grow=True)
    >>> vocabulary.names(rows.indices), rows.values
    (['word:the', 'word:cat', 'length'], array([1., 1., 3.]))
    """

    kind = "names"

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    @property
    def columns(self) -> list[str]:
        """The columns that tokens must have: there are no columns here."""
        return []

    @property
    def n_features(self) -> int:
        return len(self._numbers)

    def sequences(self, X: Iterable[Iterable[Any]], grow: bool) -> Sequences:
        """Rows of features. With `grow` unknown ones get the next numbers, otherwise they are left out."""
        mark = self.mark()
        try:
            return _Rows(self._numbers, grow).of(X)
        except BaseException:
            self.back_to(mark)
            raise

    def names(self, ids: Iterable[int]) -> list[str]:
        """The names of features of these numbers."""
        names, found = list(self._numbers), []
        for number in ids:
            if not 0 <= number < len(names):
                raise DataError(f"there is no feature {number}: there are {len(names)}")
            found.append(names[number])
        return found

    def mark(self) -> int:
        """What `back_to` goes back to."""
        return len(self._numbers)

    def back_to(self, mark: int) -> None:
        """Forget all that was learned since."""
        while len(self._numbers) > mark:
            self._numbers.popitem()

    def kept(self, mask: npt.NDArray[np.bool_]) -> Named:
        """A vocabulary of the features that are marked, numbered in the same order."""
        if mask.shape != (self.n_features,):
            raise ValueError(f"mask must be of shape ({self.n_features},), got {mask.shape}")
        less = Named()
        there = [name for name, keep in zip(self._numbers, mask.tolist(), strict=True) if keep]
        less._numbers = {name: number for number, name in enumerate(there)}
        return less

    def state(self) -> State:
        """Settings ready for JSON, lists of text that may be long, and arrays."""
        return {"kind": self.kind}, {"names": list(self._numbers)}, {}

    @classmethod
    def from_state(cls, meta: Any, lists: dict[str, list[str]], arrays: dict[str, npt.NDArray[Any]]) -> Named:
        """The vocabulary that `state` was taken of. What does not fit raises a ValueError."""
        if set(lists) != {"names"} or arrays:
            raise ValueError(f"there must be names and nothing else, got {', '.join([*lists, *arrays])}"[:200])
        found = cls()
        found._numbers = {name: number for number, name in enumerate(lists["names"])}
        if found.n_features < len(lists["names"]):
            raise ValueError("some name is there twice")
        return found


class _Rows:
    """Rows in the making."""

    def __init__(self, numbers: dict[str, int], grow: bool) -> None:
        self.numbers, self.grow = numbers, grow
        self.indices: list[int] = []
        self.values: list[float] = []
        self.joined: dict[str, dict[str, str]] = {}  # key and string -> name: joining them takes longer

    def of(self, X: Iterable[Iterable[Any]]) -> Sequences:
        if isinstance(X, str | bytes | Mapping):
            raise DataError(f"X must be a list of sequences, got {_shown(X)}")
        ends, bounds = [0], [0]
        for s, sequence in enumerate(X):
            if isinstance(sequence, str | bytes | Mapping) or not isinstance(sequence, Iterable):
                raise DataError(f"sequence {s} must be a list of tokens, got {_shown(sequence)}")
            for i, token in enumerate(sequence):
                try:
                    self.add(token)
                except DataError as error:
                    raise DataError(f"sequence {s}, token {i}: {error}") from None
                ends.append(len(self.indices))
            bounds.append(len(ends) - 1)
        values = np.array(self.values)
        arrays = (np.array(numbers, dtype=np.uint64) for numbers in (ends, bounds))
        indptr, edges = (readonly(array) for array in arrays)
        plain = None if (values == 1.0).all() else readonly(values)
        return Sequences(readonly(np.array(self.indices, dtype=np.uint32)), plain, indptr, edges)

    def add(self, token: Any, before: str = "") -> None:
        """The features of a token, or of what stands under a key."""
        if isinstance(token, Mapping):
            for key, value in token.items():
                if not isinstance(key, str):
                    raise DataError(f"names of features must be strings, got {_shown(key)}")
                self.item(before + key, value)
        elif isinstance(token, list | tuple | set | frozenset):
            for name in sorted(token) if isinstance(token, set | frozenset) else token:
                if not isinstance(name, str):
                    raise DataError(f"names of features must be strings, got {_shown(name)}")
                self.feature(before + name, 1.0)
        else:
            raise DataError(f"a token must be a dict, or a list of names of features, got {_shown(token)}")

    def item(self, key: str, value: Any) -> None:
        """A key of a dict and what stands under it."""
        if isinstance(value, str):
            names = self.joined.setdefault(key, {})
            name = names.get(value)
            if name is None:
                name = names[value] = key + SEPARATOR + value
            self.feature(name, 1.0)
        elif isinstance(value, Mapping | list | tuple | set | frozenset):
            self.add(value, key + SEPARATOR)
        elif isinstance(value, bool | np.bool_):
            if value:
                self.feature(key, 1.0)
        elif isinstance(value, Real):
            if not math.isfinite(value):
                raise DataError(f"{key} must be a finite number, got {value}")
            self.feature(key, float(value))
        else:
            raise DataError(f"{key} must be a string, a number, True or False, or a list or dict, got {_shown(value)}")

    def feature(self, name: str, value: float) -> None:
        number = self.numbers.get(name)
        if number is None:
            if not self.grow:
                return
            number = self.numbers[name] = len(self.numbers)
        self.indices.append(number)
        self.values.append(value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
