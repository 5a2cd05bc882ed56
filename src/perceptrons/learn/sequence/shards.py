"""A corpus in shards, each in another process: what a tagger needs from all of them to number features and labels.

1. Each process reads its shard with a vocabulary of its own: `read`. The `Summary` goes to one place.
2. There `agreed` joins vocabularies, labels and schemes. `Agreed.tagger` is the one that `Tagger.prepare` would make
   for all sequences, in the order of the shards.
3. Each process gets the numbers of its features, the labels and the scheme: `Shard.corpus`. Corpora of all shards, one
   after the other, are the one that `Tagger.prepare` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.data.arrays import readonly
from perceptrons.data.files import DataError
from perceptrons.data.token.sequences import Numbers, Sequences
from perceptrons.data.token.vocabulary import State, Vocabulary, joined
from perceptrons.learn.holdout import chosen
from perceptrons.learn.sequence.iob1 import IOB1, encoded
from perceptrons.learn.sequence.labels import Labels, in_order
from perceptrons.learn.sequence.learner import Corpus
from perceptrons.learn.sequence.schemes import SCHEMES, Break, begins_entities, first_break, meant
from perceptrons.learn.sequence.tagger import Disobeyed, Plan, Tagger


class Shard(NamedTuple):
    """Sequences of a shard, with its own numbers of features and labels."""

    sequences: Sequences
    labels: Labels

    def corpus(self, numbers: Numbers, labels: Sequence[Any], scheme: str | None) -> Corpus:
        """Make the corpus with the numbers of a tagger.

        Parameters
        ----------
        numbers : ndarray
            The tagger's numbers of the features of this shard, as in `Agreed.numbers`.
        labels : list
            The tagger's labels.
        scheme : str, optional
            The tagger's scheme.

        Returns
        -------
        Corpus
        """
        own = encoded(self.labels, self.sequences.bounds) if scheme == IOB1 else self.labels
        sequences = self.sequences._replace(indices=readonly(numbers[self.sequences.indices]))
        return Corpus(sequences, own.among(labels))


class Broken(NamedTuple):
    """How the labels of a shard break a scheme."""

    first: Break
    shown: str  # the labels of the first sequence that breaks it, for messages


class Summary(NamedTuple):
    """What `agreed` needs to know of a shard."""

    vocabulary: State
    labels: list[Any]
    n_sequences: int
    n_tokens: int
    broken: dict[str, Broken]  # for each scheme that some sequence breaks


class Sizes(NamedTuple):
    """How much there is to learn from in a shard or in all, and how much is held out."""

    sentences: int
    tokens: int
    held_sentences: int = 0
    held_tokens: int = 0


class Agreed(NamedTuple):
    """What all shards have in common, and what each shard must know."""

    vocabulary: Vocabulary
    labels: list[Any]
    scheme: str | None
    given_up: Break | None  # where labels break a scheme that they nearly obey
    numbers: list[Numbers]  # for each shard, the common numbers of its features
    firsts: list[int]  # for each shard, the number of its first sequence among all
    n_sequences: int

    def tagger(self, plan: Plan) -> Tagger:
        """The tagger with an untrained learner."""
        tagger = Tagger(self.vocabulary, plan)
        tagger.given_up = self.given_up
        tagger.begin(self.labels, self.scheme)
        return tagger


def read(vocabulary: Vocabulary, X: Any, y: Callable[[npt.NDArray[np.uint64]], Labels]) -> tuple[Shard, Summary]:
    """Number the features and labels of a shard.

    Parameters
    ----------
    vocabulary : Vocabulary
        A new one.
    X : Tokens, or list of sequences
        What the vocabulary reads.
    y : callable
        Returns the labels, given the bounds of sequences.

    Returns
    -------
    Shard
        To keep.
    Summary
        To send to where shards agree.
    """
    sequences = vocabulary.sequences(X, grow=True)
    labels, bounds = y(sequences.bounds), sequences.bounds
    broken = {}
    for scheme in SCHEMES:
        first = first_break(labels.codes, bounds, labels.names, scheme)
        if first is not None:
            broken[scheme] = Broken(first, labels.shown(bounds, first.sequence))
    size = sequences.n_sequences, sequences.n_tokens
    return Shard(sequences, labels), Summary(vocabulary.state(), labels.names, *size, broken)


def agreed(summaries: Sequence[Summary], scheme: str | None, name: str = "X") -> Agreed:
    """Join what is known of all shards, as `Tagger.prepare` finds it out from all sequences.

    Parameters
    ----------
    summaries : list of Summary
        One for each shard, in order; at least one.
    scheme : str, optional
        As in `Plan`.
    name : str
        Of the data, in errors.

    Returns
    -------
    Agreed
    """
    if not any(each.n_tokens for each in summaries):
        raise DataError(f"{name} must have tokens, got none")
    labels = in_order([label for each in summaries for label in each.labels], np.zeros(1, dtype=np.uint64), [], "y")
    ends = list(accumulate((each.n_sequences for each in summaries), initial=0))
    broken = _broken(summaries, ends)
    obeyed = [each for each in SCHEMES if each not in broken] if begins_entities(labels) else []
    recognised = obeyed[0] if obeyed else None
    if scheme in broken:
        raise Disobeyed(str(scheme), broken[scheme].first.sequence, broken[scheme].shown, recognised)
    vocabulary, numbers = joined([each.vocabulary for each in summaries])
    given_up = None
    if scheme == "auto":
        scheme = recognised
        if scheme is None:
            counts = {each: broken[each].first.broken if each in broken else 0 for each in SCHEMES}
            close = meant(labels, counts, ends[-1])
            given_up = broken[close].first if close in broken else None
    return Agreed(vocabulary, labels, scheme, given_up, numbers, ends[:-1], ends[-1])


def _broken(summaries: Sequence[Summary], ends: list[int]) -> dict[str, Broken]:
    """How the labels of all shards break schemes."""
    found = {}
    for scheme in SCHEMES:
        parts = [(i, each.broken[scheme]) for i, each in enumerate(summaries) if scheme in each.broken]
        if parts:
            i, (first, shown) = parts[0]
            count = sum(part.first.broken for _, part in parts)
            where = first._replace(sequence=ends[i] + first.sequence, broken=count, total=ends[-1])
            found[scheme] = Broken(where, shown)
    return found


def split(corpus: Corpus, first: int, share: float, seed: int) -> tuple[Corpus, Corpus]:
    """Split the corpus of a shard into what to learn from and what to hold out; either may be empty.

    Parameters
    ----------
    corpus : Corpus
    first : int
        The number of its first sequence among those of all shards.
    share : float
        Share of the sequences to hold out.
    seed : int
        Seed of the random choice.

    Returns
    -------
    learned, held_out : Corpus
        The same sequences as if the corpus of all shards had been split.
    """
    held = chosen(first, len(corpus), share, seed)
    return corpus.take(np.flatnonzero(~held)), corpus.take(np.flatnonzero(held))
