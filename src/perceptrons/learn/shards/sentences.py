"""Shards of sentences: what a worker holds of a corpus, and how training on all of them is set up.

A shard is read once, with its own numbers of features and labels. Then shards agree on common numbers, as
`learn.sequence.shards` describes. Each gets only its own map of numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from perceptrons.data.files import DataError
from perceptrons.data.token.conll_shards import ConllShard
from perceptrons.data.token.sequences import Numbers
from perceptrons.data.token.vocabulary import Vocabulary
from perceptrons.learn.fit import InMemory
from perceptrons.learn.holdout import some_chosen
from perceptrons.learn.sequence import shards
from perceptrons.learn.sequence.iob1 import IOB1, closed
from perceptrons.learn.sequence.labels import labels_in
from perceptrons.learn.sequence.learner import Corpus, SequenceLearner
from perceptrons.learn.sequence.shards import Agreed, Shard, Sizes, Summary, agreed, split
from perceptrons.learn.sequence.tagger import Plan, Tagger, wrong_tokens
from perceptrons.learn.shards.crew import Crew
from perceptrons.learn.shards.locked import Locked
from perceptrons.learn.shards.material import Shards
from perceptrons.learn.shards.part import Sent

# -- what a worker holds ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Text:
    """Sentences in files, with all that a worker needs to read them."""

    part: ConllShard
    target: str  # the column with the labels
    vocabulary: Callable[[], Vocabulary]  # makes a new one

    def read(self) -> tuple[Shard, Summary]:
        """Read the sentences."""
        tokens = self.part.read()
        return shards.read(self.vocabulary(), tokens, lambda bounds: labels_in(tokens, self.target))


class Sentences(Locked):
    """A shard with its own numbers of features and labels.

    text: where it can be read. A pickle of a shard that has it does not have the sentences. found: what was read.
    """

    def __init__(self, text: Text | None, found: tuple[Shard, Summary] | None = None) -> None:
        self.text, self._found = text, found

    def __getstate__(self) -> dict[str, Any]:
        return {"text": self.text, "_found": self._found if self.text is None else None}

    def __sizeof__(self) -> int:
        if self._found is None:
            return 1000
        shard, summary = self._found
        return 1000 + _n_bytes(shard.sequences, shard.labels.codes, *summary.vocabulary[2].values())

    def found(self) -> tuple[Shard, Summary]:
        """What was read; it is read once."""
        if self._found is None:
            assert self.text is not None
            self._found = self.text.read()
        return self._found


class Place(NamedTuple):
    """What a shard must know about its place among all shards."""

    numbers: Numbers  # the common numbers of its features
    labels: list[Any]
    scheme: str | None
    first: int  # the number of its first sentence among all
    share: float | None  # of sentences that are held out
    seed: int

    def corpora(self, shard: Shard) -> tuple[Corpus, Corpus | None]:
        """The sentences to learn from, and those held out."""
        corpus = shard.corpus(self.numbers, self.labels, self.scheme)
        return (corpus, None) if self.share is None else split(corpus, self.first, self.share, self.seed)


class Numbered(Locked):
    """A shard with the numbers that all shards have agreed on. Pickles are as those of `Sentences`."""

    def __init__(self, sentences: Sentences, place: Place) -> None:
        self.text, self.place = sentences.text, place
        self._corpora: tuple[Corpus, Corpus | None] | None = place.corpora(sentences.found()[0])

    def __getstate__(self) -> dict[str, Any]:
        return {"text": self.text, "place": self.place, "_corpora": self._corpora if self.text is None else None}

    def __sizeof__(self) -> int:
        there = [] if self._corpora is None else [corpus for corpus in self._corpora if corpus is not None]
        return 1000 + self.place.numbers.nbytes + sum(_n_bytes(each.sequences, each.codes) for each in there)

    def corpora(self) -> tuple[Corpus, Corpus | None]:
        """The sentences to learn from, and those held out; they are read again in another process."""
        if self._corpora is None:
            assert self.text is not None
            self._corpora = self.place.corpora(self.text.read()[0])
        return self._corpora

    def material(self, plan: SentencePlan, number: int) -> InMemory[Corpus]:
        """The examples to learn from."""
        return InMemory(self.corpora()[0])

    def held_out(self, plan: SentencePlan, number: int) -> list[Corpus]:
        """The examples that are held out."""
        kept = self.corpora()[1]
        return [kept] if kept is not None and kept.sequences.n_tokens else []


def _n_bytes(sequences: Any, *arrays: Any) -> int:
    """The bytes that sequences and arrays take."""
    return sum(array.nbytes for array in (*sequences, *arrays) if array is not None)


# -- what workers do --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SentencePlan:
    """What every worker needs to know about all shards together; `learn.shards.work` has what they do."""

    template: SequenceLearner  # makes passes
    reader: SequenceLearner  # decides
    sizes: list[Sizes]

    def n_learned(self, number: int) -> int:
        """Number of sentences of a shard that are not held out."""
        return self.sizes[number].sentences

    def errors(self, learner: SequenceLearner, examples: Corpus) -> tuple[float, int]:
        """Number of tokens that a learner labels wrong, and of all."""
        return float(wrong_tokens(learner, examples)), examples.sequences.n_tokens


def opened(text: Text) -> Sentences:
    """Read a shard."""
    shard = Sentences(text)
    shard.found()
    return shard


def summary(shard: Sentences, number: int) -> Summary:
    """What the others must know of a shard."""
    with shard.lock:
        return shard.found()[1]


def decided(
    summaries: list[Summary], scheme: str | None, share: float | None, seed: int, unit: str, name: str
) -> tuple[Agreed, list[Place]]:
    """What shards have in common, and the place of each shard. unit, name: of examples and of the data in errors."""
    common = agreed(summaries, scheme, name)
    if share is not None:
        some_chosen(common.n_sequences, share, seed, unit)
    inside = closed(common.labels) if common.scheme == IOB1 else common.labels
    places = [
        Place(numbers, inside, common.scheme, first, share, seed)
        for numbers, first in zip(common.numbers, common.firsts, strict=True)
    ]
    return common._replace(numbers=[]), places


def numbered(shard: Sentences, number: int, place: Place) -> Numbered:
    """The shard at its place."""
    with shard.lock:
        return Numbered(shard, place)


def size(shard: Numbered, number: int) -> Sizes:
    """How much there is in a shard."""
    with shard.lock:
        counts = [(len(each), each.sequences.n_tokens) for each in shard.corpora() if each is not None]
    return Sizes(*(count for pair in counts for count in pair))


def wrong_in_training(shard: Numbered, number: int, sent: Sent, plan: SentencePlan) -> float:
    """Number of tokens to learn from that the weights label wrong."""
    with shard.lock:
        return plan.errors(plan.reader.received(sent), shard.corpora()[0])[0]


# -- setting up -------------------------------------------------------------------------------------------------------


class SentenceTask(NamedTuple):
    """Training on shards that is ready for its first pass."""

    tagger: Tagger
    material: Shards
    sizes: Sizes
    held_out: Callable[[], float] | None

    def training_error(self) -> float:
        """The share of tokens to learn from that the tagger labels wrong."""
        sent = self.tagger.fitted.send_weights()
        found = self.material.crew.each(wrong_in_training, self.material.plan, sent=sent)
        return float(sum(found) / self.sizes.tokens)


def from_sentences(
    plan: Plan,
    crew: Crew,
    mixing: str,
    share: float | None = None,
    seed: int = 0,
    unit: str = "sequences",
    name: str = "X",
) -> SentenceTask:
    """Set up training of a tagger on shards, which are `Sentences`.

    share, seed: of sentences to hold out. unit, name: of examples and of the data in errors.
    """
    plan.check()
    decide = partial(decided, scheme=plan.scheme, share=share, seed=seed, unit=unit, name=name)
    common, crew = crew.agree(summary, decide, numbered)
    tagger = common.tagger(plan)
    learner, each = tagger.fitted, crew.each(size)
    total = Sizes(*np.sum(np.array(each), axis=0).tolist())
    if total.tokens == 0 or (share is not None and total.held_tokens == 0):
        raise DataError(f"both parts of the {unit}, learned from and held out, must have tokens, got none")
    kept = crew.keep(SentencePlan(learner.template(), learner.reader(), each))
    material = Shards(crew, kept, total.sentences, mixing)
    return SentenceTask(tagger, material, total, None if share is None else partial(material.error, learner))
