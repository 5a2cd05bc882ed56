"""Sentences as columns of strings; each distinct string is stored once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.data.arrays import readonly
from perceptrons.data.files import DataError
from perceptrons.data.sparse import are_pointers
from perceptrons.data.token.sequences import Ends, Numbers, spans


class Column(NamedTuple):
    """One string per token: token i has `types[codes[i]]`. Types are in the order of first occurrence."""

    codes: Numbers
    types: list[str]


class Lines(NamedTuple):
    """The text that tokens were read from, and where the line of each token begins and ends, without line ends."""

    text: bytes
    begins: Ends
    ends: Ends


class Tokens:
    """Sentences of tokens with one or several columns, such as word and pos.

    ``len(tokens)`` is the number of sentences; an index gives one sentence, a slice gives `Tokens`.

    Parameters
    ----------
    columns : dict of str to Column
        A pair (codes, types) by name: token i has the string ``types[codes[i]]``.
    bounds : ndarray of uint64 of shape (n_sentences + 1,)
        Sentence i has the tokens from number ``bounds[i]`` up to, but not including, ``bounds[i + 1]``.
    lines : Lines, optional
        The text that the tokens were read from.

    Examples
    --------
    >>> tokens = Tokens.of([[("the", "DT"), ("cat", "NN")], [("the", "DT")]], ["word", "pos"])
    >>> tokens.columns["word"]
    Column(codes=array([0, 1, 0], dtype=uint32), types=['the', 'cat'])
    >>> tokens.bounds
    array([0, 2, 3], dtype=uint64)
    >>> len(tokens), tokens[0], tokens[1:], tokens.lists("pos")
    (2, [('the', 'DT'), ('cat', 'NN')], <1 sentence, 1 token, columns word, pos>, [['DT', 'NN'], ['DT']])
    """

    def __init__(self, columns: Mapping[str, Column], bounds: Ends, lines: Lines | None = None) -> None:
        self.columns, self.bounds, self.lines = dict(columns), bounds, lines

    def check(self) -> None:
        """Check that bounds and codes fit together, which compiled code relies on.

        Raises
        ------
        DataError
            If they do not.
        """
        bounds = self.bounds
        if not isinstance(bounds, np.ndarray) or bounds.dtype != np.uint64 or bounds.ndim != 1 or not len(bounds):
            raise DataError("the bounds of tokens must be an array of uint64 with one axis")
        if not are_pointers(bounds, int(bounds[-1])):
            raise DataError("the bounds of tokens must begin with 0 and never fall")
        for name, (codes, types) in self.columns.items():
            if not isinstance(codes, np.ndarray) or codes.dtype.kind not in "iu" or codes.shape != (self.n_tokens,):
                raise DataError(f"column {name!r} must have {self.n_tokens} codes, whole numbers, one for each token")
            if codes.size and not 0 <= codes.min() <= codes.max() < len(types):
                raise DataError(f"column {name!r} has a code outside of its {len(types)} strings")

    @property
    def n_tokens(self) -> int:
        """The number of tokens."""
        return int(self.bounds[-1])

    @property
    def n_sequences(self) -> int:
        """The number of sentences."""
        return len(self.bounds) - 1

    def __repr__(self) -> str:
        sizes = ((self.n_sequences, "sentence"), (self.n_tokens, "token"))
        counts = ", ".join(f"{n:,} {name}{'' if n == 1 else 's'}" for n, name in sizes)
        return f"<{counts}, columns {', '.join(self.columns)}>"

    @classmethod
    def of(cls, X: Iterable[Iterable[Any]], names: Sequence[str]) -> Tokens:
        """Convert lists to tokens.

        Parameters
        ----------
        X : list of list of tokens
            One list of tokens per sentence. A token is a string, or a tuple or list with a string for each name.
        names : list of str
            Names of the columns.

        Returns
        -------
        Tokens
            The same sentences.

        Raises
        ------
        DataError
            If X is not a list of lists, a token does not have one string per name, or a name occurs twice.
        """
        check_names(names)
        if isinstance(X, str | bytes | Mapping):
            raise DataError(f"X must be a list of sentences, got {shortened(X)}")
        sentences = [each if isinstance(each, Sequence) else _sentence(each, i) for i, each in enumerate(X)]
        for i, each in enumerate(sentences):
            if isinstance(each, str | bytes):
                raise DataError(f"sentence {i} must be a list of tokens, got {shortened(each)}: split it into tokens")
        bounds = np.zeros(len(sentences) + 1, dtype=np.uint64)
        np.cumsum(np.fromiter(map(len, sentences), dtype=np.uint64), out=bounds[1:])
        flat = list(chain.from_iterable(sentences))
        if len(names) == 1 and not (flat and isinstance(flat[0], tuple | list)):
            return cls({names[0]: interned(flat, bounds, names[0])}, readonly(bounds))
        types = set(map(type, flat))
        if not all(issubclass(type, tuple | list) for type in types) or not set(map(len, flat)) <= {len(names)}:
            raise DataError(_misfit(flat, bounds, names))
        return cls({name: interned(flat, bounds, name, j) for j, name in enumerate(names)}, readonly(bounds))

    def column(self, name: str) -> Column:
        """Get a column.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        Column
            The pair (codes, types): token i has the string ``types[codes[i]]``.

        Raises
        ------
        DataError
            If there is no column of this name.
        """
        if name not in self.columns:
            raise DataError(f"there is no column {name!r}: the columns are {', '.join(self.columns)}")
        return self.columns[name]

    def lists(self, name: str) -> list[list[str]]:
        """Get the strings of a column, sentence by sentence.

        Parameters
        ----------
        name : str
            The name of the column.

        Returns
        -------
        list of list of str
            One list per sentence.

        Raises
        ------
        DataError
            If there is no column of this name.
        """
        codes, types = self.column(name)
        flat, ends = [types[code] for code in codes.tolist()], self.bounds.tolist()
        return [flat[begin:end] for begin, end in pairwise(ends)]

    def __len__(self) -> int:
        return self.n_sequences

    def __getitem__(self, which: int | slice) -> list[Any] | Tokens:
        """Get a sentence, as `of` takes it, or the sentences of a slice."""
        numbers = range(len(self))[which]
        if isinstance(numbers, range):
            return self.take(numbers)
        columns = [self.take([numbers]).lists(name)[0] for name in self.columns]
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))

    def take(self, order: npt.ArrayLike) -> Tokens:
        """Copy some sentences.

        Parameters
        ----------
        order : array-like
            Numbers of the sentences, or a mask.

        Returns
        -------
        Tokens
            The sentences in the given order, without `lines`.
        """
        positions, bounds = spans(self.bounds, order)
        columns = {}
        for name, (codes, types) in self.columns.items():
            taken = codes[positions]
            first = np.full(len(types), len(taken))
            first[taken[::-1]] = np.arange(len(taken))[::-1]  # for equal indices NumPy keeps the last value
            used = np.argsort(first, kind="stable")[: int((first < len(taken)).sum())]
            renumbered = np.zeros(len(types), dtype=np.uint32)
            renumbered[used] = np.arange(len(used))
            columns[name] = Column(readonly(renumbered[taken]), [types[i] for i in used.tolist()])
        return Tokens(columns, bounds)

    def renamed(self, names: Mapping[str, str]) -> Tokens:
        """Rename columns: `tokens.renamed({"form": "word"})`.

        Parameters
        ----------
        names : dict of str to str
            New names by old names. Other columns keep their names.

        Returns
        -------
        Tokens
            The same sentences.

        Raises
        ------
        DataError
            If there is no column of an old name, or two columns would have the same name.
        """
        for name in names:
            self.column(name)
        after = [names.get(name, name) for name in self.columns]
        check_names(after)
        return Tokens(dict(zip(after, self.columns.values(), strict=True)), self.bounds, self.lines)


class _Numbered(dict[Any, int]):
    """Numbers of things by first occurrence: looking up a new thing adds it."""

    def __missing__(self, thing: Any) -> int:
        self[thing] = number = len(self)
        return number


def interned(tokens: list[Any], bounds: Ends, name: str, j: int | None = None) -> Column:
    """Make a column of strings, or of the j-th string of each token."""
    numbers = _Numbered()
    strings = tokens if j is None else map(itemgetter(j), tokens)
    try:
        codes = np.fromiter(map(numbers.__getitem__, strings), dtype=np.uint32, count=len(tokens))
        if not all(isinstance(each, str) for each in numbers):
            raise TypeError
    except TypeError:  # some are not strings, or cannot even be hashed
        strings = tokens if j is None else [token[j] for token in tokens]
        at, wrong = next((i, each) for i, each in enumerate(strings) if not isinstance(each, str))
        raise DataError(f"{_place(bounds, at)}: {name} must be a string, got {shortened(wrong)}") from None
    return Column(readonly(codes), list(map(str, numbers)))


def check_names(names: Sequence[str]) -> None:
    """Refuse column names that are not a list of different strings."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise DataError(f"column names must be a list of strings, got {names!r}")
    for i, name in enumerate(names):
        if name in names[:i]:
            raise DataError(f"two columns are called {name!r}: give them different names")


def _sentence(given: Any, i: int) -> list[Any]:
    """List the tokens of a sentence that is neither a list nor a tuple, for instance an array."""
    try:
        if isinstance(given, Mapping | set):
            raise TypeError
        return list(given)
    except TypeError:
        raise DataError(f"sentence {i} must be a list of tokens, got {shortened(given)}") from None


def _misfit(flat: list[Any], bounds: Ends, names: Sequence[str]) -> str:
    """Describe the first token that does not have a string for each name."""
    for at, token in enumerate(flat):
        if not isinstance(token, tuple | list) or len(token) != len(names):
            what = f"a token must be a tuple of {len(names)} strings ({', '.join(names)})"
            return f"{_place(bounds, at)}: {what}, got {shortened(token)}"
    raise AssertionError("one token does not fit")


def _place(bounds: Ends, at: int) -> str:
    """The sentence and position of a token, for messages."""
    sentence = int(np.searchsorted(bounds, at, side="right")) - 1
    return f"sentence {sentence}, token {at - int(bounds[sentence])}"


def shortened(value: Any) -> str:
    """The `repr` of a value, at most 60 characters of it, for messages."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
