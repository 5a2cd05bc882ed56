"""Label schemes for spans of tokens: which labels may begin a sequence, follow each other, and end a sequence.

BIO (IOB2): an entity is B-type, then I-type. BILOU: B, then I, then L for its last token, and U for an entity of one
token. BIOES is BILOU with E for L and S for U. IOB1: an entity is I-type throughout, but begins with B-type if the
token before belongs to another entity of its type. O is outside of any entity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.uint32]
Bounds = npt.NDArray[np.uint64]

LAST_AND_SINGLE = {"BIO": ("", ""), "BILOU": ("L", "U"), "BIOES": ("E", "S"), "IOB1": ("", "")}
SCHEMES = tuple(LAST_AND_SINGLE)


class Allowed(NamedTuple):
    """What a scheme allows, by numbers of labels; labels outside the scheme are never allowed."""

    start: Bools  # [label]
    transition: Bools  # [label before, label]
    stop: Bools  # [label]


def parts(label: Any) -> tuple[str, str]:
    """Prefix and type of a label; the prefix is empty if the label belongs to no scheme.

    >>> parts("B-PER"), parts("I"), parts("L-work-of-art"), parts("O"), parts("NN")
    (('B', 'PER'), ('I', ''), ('L', 'work-of-art'), ('O', ''), ('', 'NN'))
    """
    text = str(label)
    if text[:1] in tuple("BILOUES") and text[1:2] in ("", "-"):
        return text[0], text[2:]
    return "", text


def allowed(labels: Sequence[Any], scheme: str) -> Allowed:
    """Which labels may begin a sequence, follow one another, and end a sequence.

    >>> allowed(["B-PER", "I-PER", "O"], "BIO").transition
    array([[ True,  True,  True],
           [ True,  True,  True],
           [ True, False,  True]])
    """
    if scheme not in SCHEMES:
        raise ValueError(f"scheme must be one of {', '.join(map(repr, SCHEMES))}, got {scheme!r}")
    last, single = LAST_AND_SINGLE[scheme]
    prefixes, types = _columns(labels)
    member = np.isin(prefixes, [prefix for prefix in ("B", "I", "O", last, single) if prefix])
    inside = np.isin(prefixes, ["B", "I"])  # the entity may continue after it
    # The entity, or in IOB1 one of its type, began before it.
    goes_on = np.isin(prefixes, ["B"] if scheme == "IOB1" else [prefix for prefix in ("I", last) if prefix])
    same = inside[:, None] & (types[:, None] == types)
    # In BIO and IOB1 an entity may end anywhere; in the other schemes its last label marks the end.
    elsewhere = ~inside if last else np.ones_like(inside)
    transition = np.where(goes_on, same, elsewhere[:, None])
    return Allowed(member & ~goes_on, member[:, None] & member & transition, member & elsewhere)


class Break(NamedTuple):
    """Where labels first break a scheme; `str` of it is a sentence."""

    scheme: str
    sequence: int
    token: int
    what: str  # the labels that break it
    broken: int  # number of sequences that break it
    total: int  # of this many

    def __str__(self) -> str:
        there = f"sequence {self.sequence}, token {self.token}: {self.what}"
        verb = "breaks" if self.broken == 1 else "break"
        counted = f"{self.broken:,} of {self.total:,} sequences {verb} it"
        return f"the labels do not obey {self.scheme} ({there}; {counted})"


def obeys(codes: Codes, bounds: Bounds, labels: Sequence[Any], scheme: str) -> Bools:
    """Whether each sequence obeys the scheme; empty sequences do.

    >>> codes, bounds = np.array([0, 1, 2, 2, 1], dtype=np.uint32), np.array([0, 3, 5], dtype=np.uint64)
    >>> obeys(codes, bounds, ["B-PER", "I-PER", "O"], "BIO")
    array([ True, False])
    """
    total = _breaks(codes, bounds, labels, scheme).cumsum()
    edges = np.asarray(bounds, dtype=np.int64)
    return np.asarray(total[edges[1:]] == total[edges[:-1]])


def _breaks(codes: Codes, bounds: Bounds, labels: Sequence[Any], scheme: str) -> npt.NDArray[np.int64]:
    """The number of rules of the scheme that each token breaks; entry 1 + t is about token t."""
    start, transition, stop = allowed(labels, scheme)
    edges = np.asarray(bounds, dtype=np.int64)
    filled = edges[:-1] < edges[1:]
    first, end = edges[:-1][filled], edges[1:][filled]
    wrong = np.zeros(len(codes) + 1, dtype=np.int64)
    wrong[2:] = ~transition[codes[:-1], codes[1:]]
    wrong[1 + first] = ~start[codes[first]]
    wrong[end] += ~stop[codes[end - 1]]
    return wrong


def recognised(codes: Codes, bounds: Bounds, labels: Sequence[Any]) -> str | None:
    """The first scheme that all sequences obey; None without a label that can begin an entity.

    >>> recognised(np.array([1, 0, 2], dtype=np.uint32), np.array([0, 3], dtype=np.uint64), ["B-LOC", "O", "L-LOC"])
    'BILOU'
    """
    if not begins_entities(labels):
        return None
    return next((scheme for scheme in SCHEMES if obeys(codes, bounds, labels, scheme).all()), None)


def begins_entities(labels: Iterable[Any]) -> bool:
    """Whether some label can begin an entity."""
    return any(parts(label)[0] in ("B", "I", "U", "S") for label in labels)


def nearly(codes: Codes, bounds: Bounds, labels: Sequence[Any]) -> Break | None:
    """Where labels break the scheme that is `meant`; None if they obey it, or if no scheme is meant."""
    if not begins_entities(labels):
        return None
    broken = {scheme: int((~obeys(codes, bounds, labels, scheme)).sum()) for scheme in SCHEMES}
    scheme = meant(labels, broken, len(bounds) - 1)
    return None if scheme is None else first_break(codes, bounds, labels, scheme)


def meant(labels: Sequence[Any], broken: Mapping[str, int], total: int) -> str | None:
    """The scheme that the fewest sequences break; `broken` counts them for each scheme, `total` is the number of all.

    A scheme is meant if some label can begin an entity, and if all labels belong to the scheme or half of the sequences
    obey it. Otherwise this is None.
    """
    scheme = min(SCHEMES, key=lambda each: broken[each])
    prefixes = {"B", "I", "O", *LAST_AND_SINGLE[scheme]} - {""}
    fits = all(parts(label)[0] in prefixes for label in labels) or 2 * broken[scheme] <= total
    return scheme if fits and begins_entities(labels) else None


def first_break(codes: Codes, bounds: Bounds, labels: Sequence[Any], scheme: str) -> Break | None:
    """Where labels first break a scheme; None if all sequences obey it.

    >>> str(first_break(np.array([0, 1], dtype=np.uint32), np.array([0, 2], dtype=np.uint64), ["B-X", "I-Y"], "BIO"))
    "the labels do not obey BIO (sequence 0, token 1: 'I-Y' after 'B-X'; 1 of 1 sequences breaks it)"
    """
    legal = obeys(codes, bounds, labels, scheme)
    if legal.all():
        return None
    sequence = int(np.argmin(legal))
    first, end = int(bounds[sequence]), int(bounds[sequence + 1])
    at = first + int(np.argmax(_breaks(codes, bounds, labels, scheme)[1 + first : 1 + end] > 0))
    start, follows, _ = allowed(labels, scheme)
    what = repr(labels[codes[at]])
    if not (start[codes[at]] if at == first else follows[codes[at - 1], codes[at]]):
        what += " at the beginning" if at == first else f" after {labels[codes[at - 1]]!r}"
    else:
        what += " at the end"
    return Break(scheme, sequence, at - first, what[:120], int((~legal).sum()), len(legal))


def _columns(labels: Sequence[Any]) -> tuple[npt.NDArray[np.str_], npt.NDArray[np.intp]]:
    """Prefixes of labels, and numbers of their types."""
    pairs = [parts(label) for label in labels]
    numbers: dict[str, int] = {}
    types = [numbers.setdefault(kind, len(numbers)) for _, kind in pairs]
    return np.array([prefix for prefix, _ in pairs], dtype="<U1"), np.array(types, dtype=np.intp)
