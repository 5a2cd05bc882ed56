"""A vocabulary of the features that tokens name themselves."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from perceptrons.data.arrays import readonly
from perceptrons.data.files import DataError
from perceptrons.data.token.sequences import Sequences
from perceptrons.data.token.tokens import shortened

SEPARATOR = ":"  # between the parts of a feature's name

State = tuple[dict[str, Any], dict[str, list[str]], dict[str, npt.NDArray[Any]]]


class NameVocabulary:
    """Number the features that tokens name, by first occurrence. Tokens are as in python-crfsuite.

    A token is a list or set of names, or a dict. ``{"word": "the"}`` has the feature word:the. A number under a key is
    the value of the feature named by the key; True stands for 1, and False for no feature. Lists, sets and dicts under
    a key are further names, which the key precedes.

    Examples
    --------
    >>> vocabulary = NameVocabulary()
    >>> rows = vocabulary.sequences([[{"word": "the", "title": False}, {"word": "cat", "length": 3}]], grow=True)
    >>> vocabulary.names(rows.indices), rows.values
    (['word:the', 'word:cat', 'length'], array([1., 1., 3.]))
    """

    kind = "names"

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    @property
    def columns(self) -> list[str]:
        """The columns that tokens must have: none."""
        return []

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self._numbers)

    def sequences(self, X: Iterable[Iterable[Any]], grow: bool) -> Sequences:
        """Convert tokens to rows of features. With `grow` new features get numbers; otherwise they are left out."""
        mark = self.mark()
        try:
            return _Rows(self._numbers, grow).of(X)
        except BaseException:
            self.back_to(mark)
            raise

    def names(self, ids: Iterable[int]) -> list[str]:
        """Name features."""
        names, found = list(self._numbers), []
        for number in ids:
            if not 0 <= number < len(names):
                raise DataError(f"feature {number} does not exist: there are {len(names)} features")
            found.append(names[number])
        return found

    def mark(self) -> int:
        """Remember the current state for `back_to`."""
        return len(self._numbers)

    def back_to(self, mark: int) -> None:
        """Remove all features that were added since a mark."""
        while len(self._numbers) > mark:
            self._numbers.popitem()

    def subset(self, mask: npt.NDArray[np.bool_]) -> NameVocabulary:
        """Make a vocabulary of the features that a mask marks, in the same order."""
        if mask.shape != (self.n_features,):
            raise ValueError(f"mask must have shape ({self.n_features},), got {mask.shape}")
        smaller = NameVocabulary()
        names = [name for name, keep in zip(self._numbers, mask.tolist(), strict=True) if keep]
        smaller._numbers = {name: number for number, name in enumerate(names)}
        return smaller

    def state(self) -> State:
        """Convert the vocabulary to settings ready for JSON, lists of text that may be long, and arrays."""
        return {"kind": self.kind}, {"names": list(self._numbers)}, {}

    @classmethod
    def from_state(cls, meta: Any, lists: dict[str, list[str]], arrays: dict[str, npt.NDArray[Any]]) -> Self:
        """Restore a vocabulary from its `state`; raise a ValueError if the state is not valid."""
        if set(lists) != {"names"} or arrays:
            raise ValueError(f"expected names and nothing else, got {', '.join([*lists, *arrays])}"[:200])
        found = cls()
        found._numbers = {name: number for number, name in enumerate(lists["names"])}
        if found.n_features < len(lists["names"]):
            raise ValueError("a name occurs twice")
        return found


class _Strings(dict[str, int | None]):
    """The numbers of the features key:string for one key; None for features that are left out."""

    def __init__(self, rows: _Rows, key: str) -> None:
        self.rows, self.key = rows, key

    def __missing__(self, string: str) -> int | None:
        self[string] = number = self.rows.number(self.key + SEPARATOR + string)
        return number


class _Keys(dict[str, _Strings]):
    """The known strings under each key: a lookup here takes half as long as joining key and string."""

    def __init__(self, rows: _Rows) -> None:
        self.rows = rows

    def __missing__(self, key: str) -> _Strings:
        self[checked(key)] = found = _Strings(self.rows, key)
        return found


class _Rows:
    """Rows under construction."""

    def __init__(self, numbers: dict[str, int], grow: bool) -> None:
        self.numbers, self.grow = numbers, grow
        self.keys = _Keys(self)
        self.indices: list[int] = []
        self.positions, self.others = array("Q"), array("d")  # where values differ from 1, and these values

    def of(self, X: Iterable[Iterable[Any]]) -> Sequences:
        """Convert all sequences."""
        if isinstance(X, str | bytes | Mapping):
            raise DataError(f"X must be a list of sequences, got {shortened(X)}")
        ends, bounds = [0], [0]
        for s, sequence in enumerate(X):
            if isinstance(sequence, str | bytes | Mapping) or not isinstance(sequence, Iterable):
                raise DataError(f"sequence {s} must be a list of tokens, got {shortened(sequence)}")
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
        """The number of a feature, which may be new; None if it is left out."""
        number = self.numbers.get(name)
        if number is None and self.grow:
            number = self.numbers[checked(name)] = len(self.numbers)
        return number

    def add(self, token: Any) -> None:
        """Add the features of a token."""
        if type(token) is dict:
            keys, append = self.keys, self.indices.append
            for key, value in token.items():
                if type(value) is str:
                    number = keys[key][value]
                    if number is not None:
                        append(number)
                elif value is not False:
                    self.item(checked(key), value)
        elif type(token) is list:
            self.strings(token, "")
        elif isinstance(token, Mapping | list | tuple | set | frozenset):
            self.add(dict(token) if isinstance(token, Mapping) else in_order(token))
        else:
            raise DataError(f"a token must be a dict or a list of feature names, got {shortened(token)}")

    def strings(self, names: list[str], prefix: str) -> None:
        """Add features by name, each with a prefix."""
        if prefix:
            names = [prefix + checked(name) for name in names]
        try:
            found: list[Any] = list(map(self.numbers.get, names))
        except TypeError:  # some names cannot be hashed
            found = [None] * len(names)
        if None in found:
            fixed = [self.number(checked(names[k])) if each is None else each for k, each in enumerate(found)]
            found = [each for each in fixed if each is not None]
        self.indices += found

    def item(self, key: str, value: Any) -> None:
        """Add the features of a key of a dict and its value, unless the value is a plain string."""
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
                raise DataError(f"{key} must be a finite number, got {shortened(value)}")
            self.value(key, number)
        elif isinstance(value, Mapping):
            for name, part in value.items():
                self.item(key + SEPARATOR + checked(name), part)
        elif isinstance(value, list | tuple | set | frozenset):
            self.strings(in_order(value), key + SEPARATOR)
        else:
            raise DataError(f"{key} must be a string, number, bool, list, set or dict, got {shortened(value)}")

    def value(self, name: str, value: float) -> None:
        """Add a feature with its value."""
        number = self.number(name)
        if number is not None:
            if value != 1.0:
                self.positions.append(len(self.indices))
                self.others.append(value)
            self.indices.append(number)


def checked(name: Any) -> Any:
    """Refuse a name that is not a string."""
    if not isinstance(name, str):
        raise DataError(f"feature names must be strings, got {shortened(name)}")
    return name


def in_order(names: Iterable[Any]) -> list[Any]:
    """List names; those of sets are sorted, so that features have the same numbers in every run."""
    return list(names) if isinstance(names, list | tuple) else sorted(map(checked, names))
