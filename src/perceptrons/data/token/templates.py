"""Templates: they say which values around a token become its features.

>>> word, pos = column("word"), column("pos")
>>> print(word[-1] & word[0].suffix(3))
word[-1] & word[0].suffix(3)
>>> parse("word[-1] & word[0].suffix(3)") == word[-1] & word[0].suffix(3)
True

A template has one or several parts. A part is the value of a column at a distance from the token, changed by string
functions such as ``lower``. Positions before the sentence have the values ``_B-1``, ``_B-2``, … by distance, positions
after it ``_B+1``, ….
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from perceptrons.core.parse.interning import FARTHEST
from perceptrons.data.files import DataError


class _Letters(dict[int, str]):
    """A table for `str.translate` that is filled on demand."""

    def __init__(self, change: Callable[[str], str]) -> None:
        self.change = change

    def __missing__(self, point: int) -> str:
        self[point] = changed = self.change(chr(point))
        return changed


SHAPE = _Letters(lambda c: "A" if c.isupper() else "a" if c.isalpha() else "9" if c.isdecimal() else c)
DIGITS = _Letters(lambda c: "0" if c.isdecimal() else c)
DIGIT, RUN = re.compile(r"\d"), re.compile(r"(.)\1+", re.DOTALL)
FLAG = ("no", "yes")


@lru_cache(1 << 16)  # there are few different shapes
def collapsed(shape: str) -> str:
    """Replace each run of one character by a single one."""
    return RUN.sub(r"\1", shape)


# The string functions by name. Those in SIZED also take a number of characters.
PLAIN: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "shape": lambda s: s.translate(SHAPE),  # McDonald's-2 -> AaAaaaaa'a-9
    "short_shape": lambda s: collapsed(s.translate(SHAPE)),  # McDonald's-2 -> AaAa'a-9
    "digits": lambda s: s.translate(DIGITS),  # 1999-12 -> 0000-00
    "has_digit": lambda s: FLAG[DIGIT.search(s) is not None],
    "has_hyphen": lambda s: FLAG["-" in s],
    "has_upper": lambda s: FLAG[s != s.lower()],
    "is_title": lambda s: FLAG[s[:1].isupper()],
    "is_caps": lambda s: FLAG[s.isupper()],
}
SIZED: dict[str, Callable[[int], Callable[[str], str]]] = {
    "prefix": lambda n: itemgetter(slice(None, n)),
    "suffix": lambda n: itemgetter(slice(-n, None)),
}

NAME = re.compile(r"[^\s\[\]&]+")
PART = re.compile(r"(?P<column>[^\s\[\]&]+)\[(?P<offset>[+-]?[0-9]+)\](?P<calls>(?:\.[a-z_]+\([0-9]*\))*)")
CALL = re.compile(r"\.([a-z_]+)\(([0-9]*)\)")
CRFPP = re.compile(r"[UB][^:%]*:?(?:%x\[[+-]?[0-9]+,[0-9]+\]/?)*")  # a line of a CRF++ template file
CRFPP_PART = re.compile(r"%x\[([+-]?[0-9]+),([0-9]+)\]")


class Change(NamedTuple):
    """The name of a string function, and the number of characters that it takes, or 0."""

    name: str
    size: int

    def __str__(self) -> str:
        return f".{self.name}({self.size or ''})"

    @property
    def function(self) -> Callable[[str], str]:
        return SIZED[self.name](self.size) if self.size else PLAIN[self.name]


class View(NamedTuple):
    """A column after some changes."""

    column: str
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        return self.column + "".join(map(str, self.changes))

    def of(self, values: Iterable[str]) -> list[str]:
        """Apply the changes to values."""
        for change in self.changes:
            values = map(change.function, values)
        return list(values)


class Part(NamedTuple):
    """A view at a distance from the token."""

    view: View
    offset: int

    def __str__(self) -> str:
        return f"{self.view.column}[{self.offset}]" + "".join(map(str, self.view.changes))


@dataclass(frozen=True, repr=False)
class Template:
    """One feature per token: the values of one or several parts together.

    `a & b` has the parts of both. The functions that `column` lists change a template with a single part.

    Parameters
    ----------
    parts : tuple of Part
    """

    parts: tuple[Part, ...]

    def __str__(self) -> str:
        return " & ".join(map(str, self.parts))

    def __repr__(self) -> str:
        return f"<{self}>"

    def __and__(self, other: Template) -> Template:
        return Template(self.parts + other.parts)

    def __getattr__(self, name: str) -> Callable[..., Template]:
        if name not in PLAIN and name not in SIZED:
            raise AttributeError(f"a template has no {name!r}: its functions are {', '.join([*PLAIN, *SIZED])}")
        return lambda *size: self._changed(name, *size)

    def _changed(self, name: str, size: int = 0) -> Template:
        if len(self.parts) > 1:
            raise DataError(f"{name} changes a single part, got {self}: call it before joining parts with &")
        if not isinstance(size, int) or (size > 0) != (name in SIZED):
            expected = "a number of characters, at least 1" if name in SIZED else "no argument"
            raise DataError(f"{name} takes {expected}, got {size!r}" if size else f"{name} takes {expected}")
        ((column, changes), offset) = self.parts[0]
        return Template((Part(View(column, (*changes, Change(name, size))), offset),))


class column:
    """A column of tokens, to make templates of.

    ``column("word")[-1]`` is the template for the word one token before. ``&`` joins templates. These functions change
    a template, and can be chained, as in ``word[0].lower().suffix(3)``:

    ===============  ==============================================================
    lower()          lower case: Rome -> rome
    prefix(n)        the first n characters
    suffix(n)        the last n characters
    shape()          letters as A and a, digits as 9: McDonald's-2 -> AaAaaaaa'a-9
    short_shape()    the same, each run once: McDonald's-2 -> AaAa'a-9
    digits()         digits as 0: 1999-12 -> 0000-00
    has_digit()      yes or no: does it contain a digit
    has_hyphen()     yes or no: does it contain a hyphen
    has_upper()      yes or no: does it contain a capital letter
    is_title()       yes or no: is the first letter a capital
    is_caps()        yes or no: are all letters capitals
    ===============  ==============================================================

    Parameters
    ----------
    name : str
        The name of the column. It must not contain blanks, [, ] or &.

    Raises
    ------
    DataError
        If the name has such characters.

    Examples
    --------
    >>> word = column("word")
    >>> [word[0], word[-1] & word[0], word[0].lower().suffix(3), *word.window(1, 2)]
    [<word[0]>, <word[-1] & word[0]>, <word[0].lower().suffix(3)>, <word[1]>, <word[2]>]
    """

    def __init__(self, name: str) -> None:
        if not NAME.fullmatch(name):
            raise DataError(f"a column name must not contain blanks, [, ] or &, got {name!r}")
        self.name = name

    def __repr__(self) -> str:
        return f"column({self.name!r})"

    def __getitem__(self, offset: int) -> Template:
        if not isinstance(offset, int) or abs(offset) > FARTHEST:
            raise DataError(f"{self.name}[{offset!r}]: expected a whole number from -{FARTHEST} to {FARTHEST}")
        return Template((Part(View(self.name, ()), int(offset)),))

    def window(self, first: int, last: int) -> list[Template]:
        """Make a template for each distance.

        Parameters
        ----------
        first, last : int
            The first and the last distance from the token; negative before it.

        Returns
        -------
        list of Template
            ``self[first]``, …, ``self[last]``.

        Raises
        ------
        DataError
            If a distance is not a whole number, or too large.
        """
        return [self[offset] for offset in range(first, last + 1)]

    def ngrams(self, n: int, first: int, last: int) -> list[Template]:
        """Make a template for each group of neighbouring values.

        Parameters
        ----------
        n : int
            Number of values in a group.
        first, last : int
            The first and the last distance from the token; negative before it.

        Returns
        -------
        list of Template
            For n = 2: ``self[first] & self[first + 1]``, …, ``self[last - 1] & self[last]``.

        Raises
        ------
        DataError
            If n < 1, or a distance is not a whole number, or too large.
        """
        if n < 1:
            raise DataError(f"n must be >= 1, got {n}")
        return [joined(self[at + k] for k in range(n)) for at in range(first, last - n + 2)]


def joined(templates: Iterable[Template]) -> Template:
    """Join the parts of several templates in one."""
    return Template(tuple(part for template in templates for part in template.parts))


def parse(text: str) -> Template:
    """Make a template of its text.

    Parameters
    ----------
    text : str
        Parts such as ``word[0].suffix(3)``, joined by &.

    Returns
    -------
    Template

    Examples
    --------
    >>> parse("word[0].sufix(3)")
    Traceback (most recent call last):
    perceptrons.data.files.DataError: 'word[0].sufix(3)': no function 'sufix': there are lower, shape, ...
    """
    parts = []
    for piece in text.split("&"):
        found = PART.fullmatch(piece.strip())
        if found is None:
            raise DataError(_no_template(text, piece.strip()))
        part = column(found["column"])[int(found["offset"])]
        for name, size in CALL.findall(found["calls"]):
            if name not in PLAIN and name not in SIZED:
                raise DataError(f"{text!r}: no function {name!r}: there are {', '.join([*PLAIN, *SIZED])}")
            part = part._changed(name, *([int(size)] if size else []))
        parts.append(part)
    return joined(parts)


def _no_template(text: str, piece: str) -> str:
    """Explain why a text is not a template; translate a template of CRF++."""
    if text.startswith("B") and CRFPP.fullmatch(text) and "%x" not in text:
        return f"{text!r} is a CRF++ template for pairs of labels: leave it out, pairs are always learned"
    if CRFPP.fullmatch(text) and "%x" in text:
        names = {"0": "word", "1": "pos"}
        parts = [f"{names.get(k, f'column{int(k) + 1}')}[{int(at)}]" for at, k in CRFPP_PART.findall(text)]
        return f"{text!r} is a CRF++ template: write {' & '.join(parts)}, with the names of your columns"
    expected = "expected column[offset], such as word[0], word[-1] & word[0] or word[0].suffix(3)"
    return f"{text!r} is not a template: {expected}" + (f", got {piece!r}" if piece != text.strip() else "")
