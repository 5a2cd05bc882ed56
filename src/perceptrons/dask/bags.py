"""Files of sentences, and Dask bags of them, as shards: consecutive partitions make a shard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from dask import delayed
from dask.bag import Bag

from perceptrons.dask.collections import Blocks, groups
from perceptrons.data.token.conll_source import ConllSource
from perceptrons.data.token.tokens import Tokens
from perceptrons.data.token.vocabulary import Vocabulary
from perceptrons.learn.sequence import shards
from perceptrons.learn.sequence.labels import labels_of
from perceptrons.learn.shards.sentences import Sentences, Text, opened

Made = Callable[[], Vocabulary]  # makes a new vocabulary


def pairs(X: Any, y: Any) -> tuple[Any, Any]:
    """Sentences and labels; a bag without labels has pairs of them."""
    return (X.pluck(0), X.pluck(1)) if isinstance(X, Bag) and y is None else (X, y)


def from_files(
    X: ConllSource, target: str, only: Sequence[str], vocabulary: Made, n_shards: int | None = None
) -> list[Any]:
    """Delayed shards of files; `only` are the columns to read."""
    make = delayed(opened, pure=False, traverse=False)
    return [make(Text(part, target, vocabulary)) for part in X.shards(n_shards, only)]


def from_bags(X: Bag, y: Any, columns: list[str] | None, vocabulary: Made, n_shards: int | None) -> list[Any]:
    """Delayed shards of a bag of sentences and a bag of their labels. columns: names of the members of a token."""
    if not isinstance(y, Bag):
        raise TypeError(f"y must be a Dask bag of lists of labels, as X is a bag, got {type(y).__name__}")
    if X.npartitions != y.npartitions:
        raise ValueError(
            f"X has {X.npartitions} partitions, but y has {y.npartitions}: take both from one bag, or pass a bag of "
            "pairs (sentence, labels) as X"
        )
    sentences, labels = X.to_delayed(), y.to_delayed()
    make = delayed(_made, pure=False, traverse=False)
    return [
        make([sentences[k] for k in group], [labels[k] for k in group], group.start, columns, vocabulary)
        for group in groups(Blocks(sentences, [np.nan] * len(sentences)), n_shards, 0.0)
    ]


def _made(X: list[Any], y: list[Any], first: int, columns: list[str] | None, vocabulary: Made) -> Sentences:
    """A shard of some partitions, in a task."""
    sentences, labels = [list(part) for part in X], [list(part) for part in y]
    for k, (ours, theirs) in enumerate(zip(sentences, labels, strict=True), start=first):
        if len(ours) != len(theirs):
            raise ValueError(f"partition {k} of X has {len(ours)} sentences, but that of y has {len(theirs)}")
    flat, given = list(chain.from_iterable(sentences)), list(chain.from_iterable(labels))
    last = first + len(X) - 1
    try:
        tokens = flat if columns is None else Tokens.of(flat, columns)
        return Sentences(None, shards.read(vocabulary(), tokens, lambda bounds: labels_of(given, bounds)))
    except ValueError as error:
        where = f"partition {first}" if first == last else f"partitions {first} to {last}"
        raise ValueError(f"{where} of X: {error}") from error


def labelled(part: Any, model: Any) -> list[list[Any]]:
    """Label the sentences of a partition, in a task."""
    return list(model.predict(list(part)))
