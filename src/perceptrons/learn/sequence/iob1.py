"""IOB1 outside, BIO inside: the codec for the labels of CoNLL-2003 and other files of its time.

IOB1 (Ramshaw & Marcus 1995) marks the tokens of an entity with I-type; its first token is B-type only if the token
before belongs to another entity of the same type. BIO marks every first token with B-type, which is easier to learn. So
a tagger for IOB1 learns and searches with BIO labels, and `decoded` writes them back. Both write a label with
one of two prefixes, so that one list of names, `closed`, serves for both.

    IOB1   I-PER I-PER B-PER O I-LOC
    BIO    B-PER I-PER B-PER O B-LOC
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from perceptrons.learn.sequence.labels import Labels
from perceptrons.learn.sequence.schemes import Allowed, Bools, Bounds, Codes, allowed, parts

IOB1 = "IOB1"


def closed(labels: Iterable[Any]) -> list[Any]:
    """All labels that may stand for some labels in BIO: with each of B and I also the other; sorted.

    >>> closed(["I-PER", "O"])
    ['B-PER', 'I-PER', 'O']
    """
    return sorted({each for label in labels for each in (label, _with(label, "B"), _with(label, "I"))})


def beginnings(labels: Iterable[Any]) -> tuple[Any, ...]:
    """The labels with the prefix B."""
    return tuple(dict.fromkeys(label for label in labels if parts(label)[0] == "B"))


def encoded(labels: Labels, bounds: Bounds) -> Labels:
    """Turn IOB1 into BIO: the first label of each entity gets the prefix B. BIO stays as it is.

    >>> labels = Labels(np.array([0, 0, 1, 0], dtype=np.uint32), ["I-PER", "O"])
    >>> found = encoded(labels, np.array([0, 4], dtype=np.uint64))
    >>> [found.names[code] for code in found.codes]
    ['B-PER', 'I-PER', 'O', 'B-PER']
    """
    names = closed(labels.names)
    return Labels(_switched(labels.among(names), bounds, names, "I", "B"), names)


def decoded(codes: Codes, bounds: Bounds, names: Sequence[Any]) -> Codes:
    """Turn BIO into IOB1: B stays only where the entity follows another one of its type. IOB1 stays as it is.

    `names` are `closed`; the code ``len(names)`` stands for a label that is not among them.
    """
    return _switched(codes, bounds, names, "B", "I")


def allowed_in(labels: Sequence[Any], scheme: str, touching: Collection[Any]) -> Allowed:
    """What the search may find. For IOB1, these are labellings in BIO that have no label outside `touching` as IOB1.

    `touching` are labels such as B-LOC. For other types two entities never stand side by side: their IOB1 has a label
    that no training sequence had.
    """
    if scheme != IOB1:
        return allowed(labels, scheme)
    start, transition, stop = allowed(labels, "BIO")
    pairs = [parts(label) for label in labels]
    for j, (prefix, kind) in enumerate(pairs):
        if prefix == "B" and labels[j] not in touching:
            transition[[i for i, before in enumerate(pairs) if before in (("B", kind), ("I", kind))], j] = False
    return Allowed(start, transition, stop)


def _switched(codes: Codes, bounds: Bounds, names: Sequence[Any], old: str, new: str) -> Codes:
    """Replace the prefix `old` by `new` where the token before does not belong to an entity of the same type."""
    pairs = [*map(parts, names), ("", "")]  # the last one is for codes that are no label
    numbers: dict[str, int] = {}
    types = np.array([numbers.setdefault(kind, len(numbers)) for _, kind in pairs])
    inside = np.array([prefix in ("B", "I") for prefix, _ in pairs])
    number = {name: code for code, name in enumerate(names)}
    other = [number[_with(name, new)] if parts(name)[0] == old else code for code, name in enumerate(names)]
    switch = np.array([*other, len(names)], dtype=np.uint32)

    follows: Bools = np.zeros(len(codes), dtype=bool)  # the token before belongs to an entity of the same type
    follows[1:] = inside[codes[:-1]] & (types[codes[:-1]] == types[codes[1:]])
    first = np.asarray(bounds[:-1], dtype=np.int64)
    follows[first[first < len(codes)]] = False
    return np.where(follows, codes, switch[codes]).astype(np.uint32)


def _with(label: Any, prefix: str) -> Any:
    """The label with another prefix; labels with neither B nor I stay."""
    return prefix + str(label)[1:] if parts(label)[0] in ("B", "I") else label
