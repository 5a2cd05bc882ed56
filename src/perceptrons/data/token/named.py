"""Features that the user names, token by token, and their numbers."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.data.arrays import readonly
from perceptrons.data.files import DataError
from perceptrons.data.token.sequences import Sequences
from perceptrons.data.token.tokens import shown

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


class _Strings(dict[str, int | None]):
    """Numbers of the features that strings under one key make; None for those that are left out."""

    def __init__(self, rows: _Rows, key: str) -> None:
        self.rows, self.key = rows, key

    def __missing__(self, string: str) -> int | None:
        self[string] = number = self.rows.number(self.key + SEPARATOR + string)
        return number


class _Keys(dict[str, _Strings]):
    """What is known of the strings under each key: looking there takes half as long as joining key and string."""

    def __init__(self, rows: _Rows) -> None:
        self.rows = rows

    def __missing__(self, key: str) -> _Strings:
        self[checked(key)] = found = _Strings(self.rows, key)
        return found


class _Rows:
    """Rows in the making."""

    def __init__(self, numbers: dict[str, int], grow: bool) -> None:
        self.numbers, self.grow = numbers, grow
        self.keys = _Keys(self)
        self.indices: list[int] = []
        self.positions, self.others = array("Q"), array("d")  # of values other than 1, and these

    def of(self, X: Iterable[Iterable[Any]]) -> Sequences:
        if isinstance(X, str | bytes | Mapping):
            raise DataError(f"X must be a list of sequences, got {shown(X)}")
        ends, bounds = [0], [0]
        for s, sequence in enumerate(X):
            if isinstance(sequence, str | bytes | Mapping) or not isinstance(sequence, Iterable):
                raise DataError(f"sequence {s} must be a list of tokens, got {shown(sequence)}")
            for i, token in enumerate(sequence):
                try:
                    self.add(token)
                except DataError as error:
                    raise DataError(f"sequence {s}, token {i}: {error}") from None
                ends.append(len(self.indices))
            bounds.append(len(ends) - 1)
        values = None
        if self.others:
            values = np.ones(len(self.indices))
            values[np.frombuffer(self.positions, dtype=np.uint64)] = np.frombuffer(self.others)
            values = readonly(values)
        indptr, edges = (readonly(np.array(each, dtype=np.uint64)) for each in (ends, bounds))
        return Sequences(readonly(np.array(self.indices, dtype=np.uint32)), values, indptr, edges)

    def number(self, name: str) -> int | None:
        """The number of a feature, a new one if need be; None: it is left out."""
        number = self.numbers.get(name)
        if number is None and self.grow:
            number = self.numbers[checked(name)] = len(self.numbers)
        return number

    def add(self, token: Any) -> None:
        """The features of a token."""
        kind = type(token)
        if kind is dict:
            keys, append = self.keys, self.indices.append
            for key, value in token.items():
                if type(value) is str:
                    number = keys[key][value]
                    if number is not None:
                        append(number)
                elif value is not False:
                    self.item(checked(key), value)
        elif kind is list:
            self.strings(token, "")
        elif isinstance(token, Mapping | list | tuple | set | frozenset):
            self.add(dict(token) if isinstance(token, Mapping) else in_order(token))
        else:
            raise DataError(f"a token must be a dict, or a list of names of features, got {shown(token)}")

    def strings(self, names: list[str], before: str) -> None:
        """Names of features, with something before each."""
        if before:
            names = [before + checked(name) for name in names]
        try:
            found: list[Any] = list(map(self.numbers.get, names))
        except TypeError:  # some cannot be hashed
            found = [None] * len(names)
        if None in found:
            fixed = [self.number(checked(names[k])) if each is None else each for k, each in enumerate(found)]
            found = [each for each in fixed if each is not None]
        self.indices += found

    def item(self, key: str, value: Any) -> None:
        """A key of a dict and what stands under it, unless it is a plain string."""
        if isinstance(value, bool | np.bool_):
            if value:
                self.value(key, 1.0)
        elif isinstance(value, str):
            self.value(key + SEPARATOR + value, 1.0)
        elif isinstance(value, Real):
            try:
                number = float(value)
            except OverflowError:
                number = math.inf
            if not math.isfinite(number):
                raise DataError(f"{key} must be a finite number, got {shown(value)}")
            self.value(key, number)
        elif isinstance(value, Mapping):
            for name, part in value.items():
                self.item(key + SEPARATOR + checked(name), part)
        elif isinstance(value, list | tuple | set | frozenset):
            self.strings(in_order(value), key + SEPARATOR)
        else:
            raise DataError(f"{key} must be a string, a number, True or False, or a list or dict, got {shown(value)}")

    def value(self, name: str, value: float) -> None:
        """A feature that has a value."""
        number = self.number(name)
        if number is not None:
            if value != 1.0:
                self.positions.append(len(self.indices))
                self.others.append(value)
            self.indices.append(number)


def checked(name: Any) -> Any:
    """The name, if it is one."""
    if not isinstance(name, str):
        raise DataError(f"names of features must be strings, got {shown(name)}")
    return name


def in_order(names: Iterable[Any]) -> list[Any]:
    """Names as a list; those of sets in alphabetical order, so that features get the same numbers in every run."""
    return list(names) if isinstance(names, list | tuple) else sorted(map(checked, names))
