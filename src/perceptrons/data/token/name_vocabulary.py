"""A vocabulary of the features that tokens name themselves."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from numbers import Real
from operator import getitem
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from perceptrons.data.arrays import readonly
from perceptrons.data.files import DataError
from perceptrons.data.token.sequences import Sequences
from perceptrons.data.token.tokens import shortened

SEPARATOR = ":"  # between the parts of a feature's name
ABSENT = -1  # the code of a feature that is left out
MOST_VALUES = 100  # numbers under one key that are remembered while tokens are converted

Codes = npt.NDArray[np.int32]
Ends = npt.NDArray[np.int64]

State = tuple[dict[str, Any], dict[str, list[str]], dict[str, npt.NDArray[Any]]]


class NameVocabulary:
    """Number the features that tokens name, by first occurrence. Tokens are as in python-crfsuite.

    A token is a list or set of names, or a dict. ``{"word": "the"}`` has the feature word:the. A number under a key is
    the value of the feature named by the key; True stands for 1, and False and 0 for no feature. Lists, sets and dicts
    under a key are further names, which the key precedes. Bytes are strings in UTF-8.

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
    def joined(cls, states: Sequence[State]) -> tuple[Self, list[npt.NDArray[np.uint32]]]:
        """Join vocabularies.

        Parameters
        ----------
        states : list
            The `state` of each vocabulary.

        Returns
        -------
        vocabulary : NameVocabulary
            The same as if one vocabulary had read the tokens of all, one after the other.
        numbers : list of ndarray
            For each vocabulary, the new numbers of its features.
        """
        found, parts = cls(), [lists["names"] for _, lists, _ in states]
        found._numbers = {name: number for number, name in enumerate(dict.fromkeys(chain.from_iterable(parts)))}
        number = found._numbers.__getitem__
        return found, [readonly(np.fromiter(map(number, part), dtype=np.uint32, count=len(part))) for part in parts]

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


class _Rows:
    """Converts tokens to rows.

    Each feature has a code: its number, or ABSENT if it is left out, or −2 − k if its value is not 1. Its number and
    value are then entry k of `others` and `values`. All loops over items of dicts are loops of the interpreter in C.
    """

    def __init__(self, numbers: dict[str, int], grow: bool) -> None:
        self.numbers, self.grow = numbers, grow
        self.names, self.keys = _Names(self), _Keys(self)
        self.others, self.values = array("i"), array("d")

    def of(self, X: Iterable[Iterable[Any]]) -> Sequences:
        """Convert all sequences."""
        if isinstance(X, str | bytes | Mapping):
            raise DataError(f"X must be a list of sequences, got {shortened(X)}")
        sequences = []
        for s, sequence in enumerate(X):
            if isinstance(sequence, str | bytes | Mapping) or not isinstance(sequence, Iterable):
                raise DataError(f"sequence {s} must be a list of tokens, got {shortened(sequence)}")
            sequences.append(sequence if isinstance(sequence, list) else list(sequence))
        bounds = ends_of(map(len, sequences), len(sequences))
        tokens = list(chain.from_iterable(sequences))
        try:
            codes, ends = self.quickly(tokens)
        except (TypeError, DataError):  # tokens of other forms, or no tokens
            codes, ends = self.slowly(tokens, bounds)
        there = codes != ABSENT
        if not there.all():
            ends = ends - np.searchsorted(np.flatnonzero(~there), ends)  # without the absent ones before each end
            codes = codes[there]
        values = self.values_of(codes)
        indptr, edges = (readonly(each.astype(np.uint64)) for each in (ends, bounds))
        return Sequences(readonly(codes.astype(np.uint32)), values, indptr, edges)

    def quickly(self, tokens: list[Any]) -> tuple[Codes, Ends]:
        """Codes of all features, if tokens are all dicts or all lists, and no value is a list, set or dict."""
        kinds = set(map(type, tokens))
        ends = ends_of(map(len, tokens), len(tokens))
        if kinds <= {dict}:
            values = chain.from_iterable(map(dict.values, tokens))
            found = map(getitem, map(self.keys.__getitem__, chain.from_iterable(tokens)), values)
        elif kinds <= {list}:
            found = map(self.names.__getitem__, chain.from_iterable(tokens))
        else:
            raise TypeError
        return np.fromiter(found, dtype=np.int32, count=int(ends[-1])), ends

    def slowly(self, tokens: list[Any], bounds: Ends) -> tuple[Codes, Ends]:
        """Codes of all features of tokens of any form. An error says where it is."""
        codes: list[int] = []
        ends = [0]
        for i, token in enumerate(tokens):
            try:
                codes += [self.keys[key][value] for key, value in plain(token)]
            except DataError as error:
                s = int(np.searchsorted(bounds, i, side="right")) - 1
                raise DataError(f"sequence {s}, token {i - int(bounds[s])}: {error}") from None
            ends.append(len(codes))
        return np.array(codes, dtype=np.int32), np.array(ends)

    def number(self, name: str) -> int:
        """The number of a feature, which may be new; ABSENT if it is left out."""
        if self.grow:
            return self.numbers.setdefault(name, len(self.numbers))
        return self.numbers.get(name, ABSENT)

    def weighted(self, name: str, value: float) -> int:
        """The code of a feature with a value."""
        number = self.number(name) if value else ABSENT
        if value == 1.0 or number == ABSENT:
            return number
        self.others.append(number)
        self.values.append(value)
        return -1 - len(self.others)

    def values_of(self, codes: Codes) -> npt.NDArray[np.float64] | None:
        """Values of features, None if all are 1; replaces the codes of other values by numbers."""
        if not len(self.others):
            return None
        other = codes < ABSENT
        which = -2 - codes[other]
        values = np.ones(len(codes))
        values[other] = np.frombuffer(self.values)[which]
        codes[other] = np.frombuffer(self.others, dtype=np.int32)[which]
        return readonly(values)


class _Names(dict[Any, int]):
    """Codes of features by name; looking up a new name adds it."""

    def __init__(self, rows: _Rows) -> None:
        self.rows = rows

    def __missing__(self, name: Any) -> int:
        self[name] = code = self.rows.number(text_of(name))
        return code


class _Values(dict[Any, int]):
    """Codes of features by the value under one key."""

    __slots__ = ("key", "rows")

    def __init__(self, rows: _Rows, key: str) -> None:
        self.rows, self.key = rows, key

    def __missing__(self, value: Any) -> int:
        if type(value) is str or isinstance(value, (str, bytes)):
            self[value] = code = self.rows.number(self.key + SEPARATOR + text_of(value))
            return code
        number = number_of(self.key, value)
        code = self.rows.weighted(self.key, number)
        if len(self) < MOST_VALUES:  # numbers may all be different
            self[value] = code
        return code


class _Keys(dict[Any, _Values]):
    """Codes of features by key and value; looking up a new key adds it."""

    def __init__(self, rows: _Rows) -> None:
        self.rows = rows

    def __missing__(self, key: Any) -> _Values:
        self[key] = found = _Values(self.rows, text_of(key))
        return found


def ends_of(lengths: Iterable[int], count: int) -> Ends:
    """Where groups of these lengths begin and end."""
    ends = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.fromiter(lengths, dtype=np.int64, count=count), out=ends[1:])
    return ends


def plain(token: Any) -> list[tuple[str, Any]]:
    """The features of a token of any form, as pairs of a name and a string or a number."""
    if isinstance(token, Mapping):
        return [pair for key, value in token.items() for pair in pairs_of(text_of(key), value)]
    if isinstance(token, list | tuple | set | frozenset):
        return [(name, True) for name in in_order(token)]
    raise DataError(f"a token must be a dict or a list of feature names, got {shortened(token)}")


def pairs_of(key: str, value: Any) -> list[tuple[str, Any]]:
    """The features of a key of a dict and its value, as `plain` returns them."""
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return [(key + SEPARATOR + name, part) for name, part in plain(value)]
    if isinstance(value, str | bytes):
        return [(key + SEPARATOR + text_of(value), True)]
    return [(key, number_of(key, value))]


def number_of(key: str, value: Any) -> float:
    """The value of a feature."""
    if not isinstance(value, float | bool | np.bool_ | Real):
        raise DataError(f"{key} must be a string, number, bool, list, set or dict, got {shortened(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise DataError(f"{key} must be a finite number, got {shortened(value)}")
    return number


def text_of(name: Any) -> str:
    """A name, or a string that is part of one; bytes are UTF-8."""
    if isinstance(name, str):
        return name
    if not isinstance(name, bytes):
        raise DataError(f"feature names must be strings, got {shortened(name)}")
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise DataError(f"feature names that are bytes must be UTF-8, got {shortened(name)}") from None


def in_order(names: Iterable[Any]) -> list[str]:
    """List names; those of sets are sorted, so that features have the same numbers in every run."""
    found = list(map(text_of, names))
    return found if isinstance(names, list | tuple) else sorted(found)
