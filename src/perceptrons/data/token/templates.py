"""Templates: which values around a token become its features.

>>> word, pos = column("word"), column("pos")
>>> print(word[-1] & word[0].suffix(3))
word[-1] & word[0].suffix(3)
>>> parse("word[-1] & word[0].suffix(3)") == word[-1] & word[0].suffix(3)
True

A template has one or several parts. A part is the value of a column at a distance from the token, changed by functions
of strings, such as ``lower``. Before the sentence a value is ``_B-1``, ``_B-2``, … by distance, after it ``_B+1``, ….
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from perceptrons.core.parse.interning import FARTHEST
from perceptrons.data.files import DataError


class _Letters(dict[int, str]):
    """A table for `str.translate` that fills itself."""

    def __init__(self, change: Callable[[str], str]) -> None:
        self.change = change

    def __missing__(self, point: int) -> str:
        self[point] = changed = self.change(chr(point))
        return changed


SHAPE = _Letters(lambda c: "A" if c.isupper() else "a" if c.isalpha() else "9" if c.isdecimal() else c)
DIGITS = _Letters(lambda c: "0" if c.isdecimal() else c)
DIGIT, RUN = re.compile(r"\d"), re.compile(r"(.)\1+", re.DOTALL)
FLAG = ("no", "yes")


@lru_cache(1 << 16)  # there are few shapes
def collapsed(shape: str) -> str:
    """Each run of a character once."""
    return RUN.sub(r"\1", shape)


# What can be done with a string, by name. Those of SIZED take a number of characters as well.
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
CRFPP = re.compile(r"[UB][^:%]*:?(?:%x\[[+-]?[0-9]+,[0-9]+\]/?)*")  # a line of a template file of CRF++'s
CRFPP_PART = re.compile(r"%x\[([+-]?[0-9]+),([0-9]+)\]")


class Change(NamedTuple):
    """A function of strings by its name, with a number of characters where it takes one, else 0."""

    name: str
    size: int

    def __str__(self) -> str:
        return f".{self.name}({self.size or ''})"

    @property
    def function(self) -> Callable[[str], str]:
        return SIZED[self.name](self.size) if self.size else PLAIN[self.name]


class View(NamedTuple):
    """A column as seen through some changes."""

    column: str
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        return self.column + "".join(map(str, self.changes))

    def of(self, values: Iterable[str]) -> list[str]:
        """The values, changed."""
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
    """The values of some parts together. `a & b` has the parts of both; functions change a single part.

    ===============  ==============================================================
    lower()          in small letters: Rome -> rome
    prefix(n)        the first n characters
    suffix(n)        the last n characters
    shape()          letters as A and a, digits as 9: McDonald's-2 -> AaAaaaaa'a-9
    short_shape()    the same, each run once: McDonald's-2 -> AaAa'a-9
    digits()         digits as 0: 1999-12 -> 0000-00
    has_digit()      yes or no: is there a digit
    has_hyphen()     yes or no: is there a hyphen
    has_upper()      yes or no: is there a capital letter
    is_title()       yes or no: is the first letter a capital
    is_caps()        yes or no: are all letters capitals
    ===============  ==============================================================

    They may follow each other: ``word[0].lower().suffix(3)``.
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
            raise AttributeError(f"a template has no {name!r}: it has {', '.join([*PLAIN, *SIZED])}")
        return lambda *size: self._changed(name, *size)

    def _changed(self, name: str, size: int = 0) -> Template:
        if len(self.parts) > 1:
            raise DataError(f"{name} changes one part: put it before the &, not after ({self})")
        if not isinstance(size, int) or (size > 0) != (name in SIZED):
            expected = "a number of characters, at least 1" if name in SIZED else "nothing"
            raise DataError(f"{name} takes {expected}, got {size!r}" if size else f"{name} takes {expected}")
        ((column, changes), offset) = self.parts[0]
        return Template((Part(View(column, (*changes, Change(name, size))), offset),))


class column:
    """A column of tokens; `column("word")[-1]` is the template of its values one token before.

    Templates are joined by & and changed by functions: lower, prefix(n), suffix(n), shape, short_shape, digits,
    has_digit, has_hyphen, has_upper, is_title, is_caps. `Template` tells what each gives.

    >>> word = column("word")
    >>> [word[0], word[-1] & word[0], word[0].lower().suffix(3), *word.window(1, 2)]
    [<word[0]>, <word[-1] & word[0]>, <word[0].lower().suffix(3)>, <word[1]>, <word[2]>]
    """

    def __init__(self, name: str) -> None:
        if not NAME.fullmatch(name):
            raise DataError(f"a column's name has neither blanks nor any of [, ], &, got {name!r}")
        self.name = name

    def __repr__(self) -> str:
        return f"column({self.name!r})"

    def __getitem__(self, offset: int) -> Template:
        if not isinstance(offset, int) or abs(offset) > FARTHEST:
            raise DataError(f"{self.name}[{offset!r}]: expected a whole number from -{FARTHEST} to {FARTHEST}")
        return Template((Part(View(self.name, ()), int(offset)),))

    def window(self, first: int, last: int) -> list[Template]:
        """A template for each distance from `first` to `last`."""
        return [self[offset] for offset in range(first, last + 1)]

    def ngrams(self, n: int, first: int, last: int) -> list[Template]:
        """Each n neighbours from `first` to `last` together."""
        if n < 1:
            raise DataError(f"ngrams takes n of at least 1, got {n}")
        return [joined(self[at + k] for k in range(n)) for at in range(first, last - n + 2)]


def joined(templates: Iterable[Template]) -> Template:
    """One template with the parts of all."""
    return Template(tuple(part for template in templates for part in template.parts))


def parse(text: str) -> Template:
    """The template that this is the text of.

    >>> parse("word[0].sufix(3)")
    Traceback (most recent call last):
    perceptrons.data.files.DataError: 'word[0].sufix(3)': there is no 'sufix', but lower, shape, ...
    """
    parts = []
    for piece in text.split("&"):
        found = PART.fullmatch(piece.strip())
        if found is None:
            raise DataError(_no_template(text, piece.strip()))
        part = column(found["column"])[int(found["offset"])]
        for name, size in CALL.findall(found["calls"]):
            if name not in PLAIN and name not in SIZED:
                raise DataError(f"{text!r}: there is no {name!r}, but {', '.join([*PLAIN, *SIZED])}")
            part = part._changed(name, *([int(size)] if size else []))
        parts.append(part)
    return joined(parts)


def _no_template(text: str, piece: str) -> str:
    """Why a text is none, or what it would be here if it is one of CRF++."""
    if text.startswith("B") and CRFPP.fullmatch(text) and "%x" not in text:
        return f"{text!r} is a template of CRF++ for pairs of labels: leave it out, pairs are learned anyway"
    if CRFPP.fullmatch(text) and "%x" in text:
        names = {"0": "word", "1": "pos"}
        parts = [f"{names.get(k, f'column{int(k) + 1}')}[{int(at)}]" for at, k in CRFPP_PART.findall(text)]
        return f"{text!r} is a template of CRF++: write {' & '.join(parts)}, with the names of your columns"
    expected = "expected column[offset], such as word[0], word[-1] & word[0] or word[0].suffix(3)"
    return f"{text!r} is no template: {expected}" + (f", got {piece!r}" if piece != text.strip() else "")


def resolve(features: str | Iterable[Any]) -> list[Template]:
    """The templates of a ready set by its name, or those given, as templates or their texts; each once."""
    if isinstance(features, Template | column):
        one = features if isinstance(features, Template) else features[0]
        raise DataError(f"templates must be a list, got a single one: [{one}]")
    if isinstance(features, str):
        if features not in SETS:
            raise DataError(f"features must be a list of templates or one of {', '.join(SETS)}, got {features!r}")
        return list(SETS[features])
    found = []
    for each in features:
        if isinstance(each, list | tuple) and each and all(isinstance(one, Template) for one in each):
            raise DataError(f"a template must not be a list, got {each!r:.60}: unpack it with *, [*word.window(-2, 2)]")
        if isinstance(each, column):
            raise DataError(
                f"a template must be made of columns, got one: {each!r}; write {each.name}[0] for its value"
            )
        if not isinstance(each, str | Template):
            raise DataError(f"a template must be made of columns or given as text, got {each!r}")
        found.append(parse(each) if isinstance(each, str) else each)
    if not found:
        raise DataError("there must be at least one template, got none")
    for i, template in enumerate(found):
        if template in found[:i]:
            raise DataError(f"the template {template} is given twice: remove one")
    return found


def _crfpp() -> list[Template]:
    word, pos = column("word"), column("pos")
    tags = [template for n in (1, 2, 3) for template in pos.ngrams(n, -2, 2)]
    return [*word.window(-2, 2), word[-1] & word[0], word[0] & word[1], *tags]


def _chunking() -> list[Template]:
    word, pos = column("word"), column("pos")
    before, here, after = (word[at].lower() for at in (-1, 0, 1))
    affixes = [*(here.prefix(n) for n in range(1, 4)), *(here.suffix(n) for n in range(1, 5))]
    mixed = [here & pos[-1], here & pos[0], here & pos[1], before & pos[0], after & pos[0]]
    return [*_crfpp(), before, here, after, word[0].shape(), *affixes, *mixed]


def _pos() -> list[Template]:
    word = column("word")
    far, before, here, after, further = (word[at].lower() for at in range(-2, 3))
    looks = [word[0], *(getattr(word[0], look)() for look in ("shape", "has_digit", "has_hyphen", "is_title"))]
    shapes = [word[at].short_shape() for at in (-1, 0, 1)]
    affixes = [*(here.prefix(n) for n in range(1, 6)), *(here.suffix(n) for n in range(1, 7))]
    endings = [around.suffix(n) for around in (before, after) for n in (2, 3)]
    pairs = [before & here, here & after, before & after, far & before, after & further]
    mixed = [here.suffix(3) & before, here.suffix(3) & after]
    mixed += [here.suffix(2) & around.suffix(2) for around in (before, after)]
    shape_pairs = [shapes[0] & shapes[1], shapes[1] & shapes[2]]
    return [far, before, here, after, further, *looks, *shapes, *affixes, *endings, *pairs, *mixed, *shape_pairs]


def _ner() -> list[Template]:
    word, pos = column("word"), column("pos")
    before, here, after = (word[at].lower() for at in (-1, 0, 1))
    affixes = [change(n) for change in (here.prefix, here.suffix) for n in range(1, 5)]
    shapes = [word[at].short_shape() for at in (-1, 0, 1)]
    shapes += [word[at].shape() for at in (-1, 0, 1)] + [shapes[0] & shapes[1], shapes[1] & shapes[2]]
    pairs = [before & here, here & after, before & after]
    tags = [*pos.window(-2, 2), *pos.ngrams(2, -2, 2)]
    return [*word.window(-2, 2), before, here, after, *pairs, *affixes, *shapes, *tags]


# Templates ready for use, by task, and those of CRF++'s example of chunking. Columns: word and pos; of "pos" word only.
SETS: dict[str, list[Template]] = {"chunking": _chunking(), "pos": _pos(), "ner": _ner(), "crf++": _crfpp()}
