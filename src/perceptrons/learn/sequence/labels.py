"""Labels of sequences as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.data.files import DataError
from perceptrons.data.token.tokens import Tokens

Codes = npt.NDArray[np.uint32]
MOST_SHOWN = 300  # labels in a message


class Labels(NamedTuple):
    """A label for each token: `names[codes[i]]` for token i. Names are sorted."""

    codes: Codes
    names: list[Any]

    def among(self, names: Sequence[Any]) -> Codes:
        """Numbers of the labels in another list; len(names) for labels that are not in it."""
        number = {name: code for code, name in enumerate(names)}
        return np.array([number.get(name, len(names)) for name in self.names], dtype=np.uint32)[self.codes]

    def shown(self, bounds: npt.NDArray[np.uint64], sequence: int) -> str:
        """The labels of a sequence, or the first of many, for messages."""
        first, end = int(bounds[sequence]), int(bounds[sequence + 1])
        return " ".join(str(self.names[code]) for code in self.codes[first : min(end, first + MOST_SHOWN)])


def labels_of(y: Any, bounds: npt.NDArray[np.uint64], name: str = "y") -> Labels:
    """The labels of sequences; their lengths must match `bounds`."""
    if isinstance(y, str | bytes) or not isinstance(y, Iterable):
        raise DataError(f"{name} must be a list of label sequences, got {y!r}"[:200])
    sequences = [each if isinstance(each, str) else list(each) if isinstance(each, Iterable) else each for each in y]
    lengths = np.diff(bounds).astype(np.int64)
    if len(sequences) != len(lengths):
        raise DataError(f"X has {len(lengths)} sequences, {name} has {len(sequences)}")
    for number, (each, length) in enumerate(zip(sequences, lengths.tolist(), strict=True)):
        if not isinstance(each, list):
            raise DataError(f"sequence {number} of {name} must be a list of labels, got {each!r}"[:200])
        if len(each) != length:
            raise DataError(f"sequence {number} has {length} tokens in X and {len(each)} labels in {name}")
    flat = list(chain.from_iterable(sequences))
    try:
        distinct = list(dict.fromkeys(flat))
    except TypeError:
        distinct = flat  # some are not hashable
    names = in_order(distinct, bounds, flat, name)
    codes = {each: code for code, each in enumerate(names)}
    return Labels(np.fromiter(map(codes.__getitem__, flat), dtype=np.uint32, count=len(flat)), names)


def in_order(
    names: list[Any], bounds: npt.NDArray[np.uint64], flat: list[Any], name: str, known: Sequence[Any] = ()
) -> list[Any]:
    """New and known labels, sorted. They must be of one kind; `flat` locates one that is not."""
    first = next(iter([*known, *names]), "")
    kind = next((kind for kind in (str, Real) if isinstance(first, kind)), type(first))
    for label in names:
        if label is None or not isinstance(label, kind) or label != label:
            at = next((number for number, each in enumerate(flat) if each is label), 0)
            sequence = int(np.searchsorted(bounds, at, side="right")) - 1
            place = f"sequence {sequence}, token {at - int(bounds[sequence])}: " if flat else ""
            raise DataError(
                f"{place}labels of {name} must be all strings or all numbers, without missing ones, "
                f"got {label!r} beside {first!r}"[:300]
            )
    return sorted({*known, *names})


def labels_in(tokens: Tokens, column: str) -> Labels:
    """The labels in a column of tokens."""
    tokens.check()
    codes, types = tokens.column(column)
    names = sorted(types)
    number = {name: code for code, name in enumerate(names)}
    return Labels(np.array([number[name] for name in types], dtype=np.uint32)[codes], names)
