"""Label schemes for spans of tokens: which labels may begin a sequence, follow each other, and end a sequence.

BIO (IOB2): an entity is B-type, then I-type. BILOU: B, then I, then L for its last token, and U for an entity of one
token. BIOES is BILOU with E for L and S for U. O is outside of any entity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.uint32]
Bounds = npt.NDArray[np.uint64]

LAST_AND_SINGLE = {"BIO": ("", ""), "BILOU": ("L", "U"), "BIOES": ("E", "S")}
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
    goes_on = np.isin(prefixes, [prefix for prefix in ("I", last) if prefix])  # the entity began before it
    same = inside[:, None] & (types[:, None] == types)
    # In BIO an entity may end anywhere; in the other schemes its last label marks the end.
    elsewhere = np.ones_like(inside) if scheme == "BIO" else ~inside
    transition = np.where(goes_on, same, elsewhere[:, None])
    return Allowed(member & ~goes_on, member[:, None] & member & transition, member & elsewhere)


def obeys(codes: Codes, bounds: Bounds, labels: Sequence[Any], scheme: str) -> Bools:
    """Whether each sequence obeys the scheme; empty sequences do.

    >>> codes, bounds = np.array([0, 1, 2, 2, 1], dtype=np.uint32), np.array([0, 3, 5], dtype=np.uint64)
    >>> obeys(codes, bounds, ["B-PER", "I-PER", "O"], "BIO")
    array([ True, False])
    """
    start, transition, stop = allowed(labels, scheme)
    edges = np.asarray(bounds, dtype=np.int64)
    filled = edges[:-1] < edges[1:]
    first, end = edges[:-1][filled], edges[1:][filled]
    wrong = np.zeros(len(codes) + 1, dtype=np.int64)  # wrong[1 + t] is about token t
    wrong[2:] = ~transition[codes[:-1], codes[1:]]
    wrong[1 + first] = ~start[codes[first]]
    wrong[end] += ~stop[codes[end - 1]]
    total = wrong.cumsum()
    return np.asarray(total[edges[1:]] == total[edges[:-1]])


def recognised(codes: Codes, bounds: Bounds, labels: Sequence[Any]) -> str | None:
    """The first scheme that all sequences obey; None without a label that begins an entity.

    >>> recognised(np.array([1, 0, 2], dtype=np.uint32), np.array([0, 3], dtype=np.uint64), ["B-LOC", "O", "L-LOC"])
    'BILOU'
    """
    if not any(parts(label)[0] in ("B", "U", "S") for label in labels):
        return None
    return next((scheme for scheme in SCHEMES if obeys(codes, bounds, labels, scheme).all()), None)


def _columns(labels: Sequence[Any]) -> tuple[npt.NDArray[np.str_], npt.NDArray[np.intp]]:
    """Prefixes of labels, and numbers of their types."""
    pairs = [parts(label) for label in labels]
    numbers: dict[str, int] = {}
    types = [numbers.setdefault(kind, len(numbers)) for _, kind in pairs]
    return np.array([prefix for prefix, _ in pairs], dtype="<U1"), np.array(types, dtype=np.intp)
