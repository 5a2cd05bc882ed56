"""Examples from a source, batch by batch: what `train` takes where they are not all in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.core.linear import passes
from perceptrons.core.linear.readouts import QUIET, UPDATES
from perceptrons.data.arrays import Rows
from perceptrons.data.batches import Batch, Source
from perceptrons.data.cache import Cached
from perceptrons.learn.examples import Examples
from perceptrons.learn.labels import Array, UnknownLabel, distinct, encode, union

GOLDEN = 0x9E3779B97F4A7C15  # 2⁶⁴ over the golden ratio: seeds of one batch and the next have nothing in common
SPARE = 1.25  # room that is made for features still to come, so that weights are seldom moved


class Summary(NamedTuple):
    """What can be known of a source by reading it once."""

    n_rows: int
    n_features: int
    classes: Array
    counts: dict[Any, int]  # rows of each class


def summary(source: Source) -> Summary:
    """Read all rows and count them."""
    n_rows, width = 0, 0
    counts: dict[Any, int] = {}
    classes = np.empty(0)
    for rows, y in source.batches():
        y = labelled(source, y)
        n_rows, width = n_rows + len(rows), rows.n_features
        here, how_many = np.unique(y, return_counts=True)
        classes = union(classes, here)
        for label, count in zip(here.tolist(), how_many.tolist(), strict=True):
            counts[label] = counts.get(label, 0) + count
    if n_rows == 0:
        raise ValueError(f"{source.name} has no rows")
    return Summary(n_rows, width, classes, counts)


def labelled(source: Source, y: Array | None) -> Array:
    if y is None:
        raise ValueError(f"{source.name} has no labels to learn from")
    return y


class Stream:
    """The examples of a source, for `train`.

    share: this part of the rows is held out, chosen by their numbers and `seed`. watch: called after each batch, with
    the rows and mistakes of this pass so far. To be set before the first pass: classes, sorted, another label is an
    error; class_weight, one number a class.

    Within a batch, rows come in random order if asked for; from the second pass on also batches, where they can.
    """

    def __init__(
        self,
        source: Source,
        *,
        share: float = 0.0,
        seed: int = 0,
        watch: Callable[[int, float], None] | None = None,
    ) -> None:
        self.source, self.share, self.seed, self.watch = source, share, seed, watch
        self.classes: Array = np.empty(0)
        self.class_weight: npt.NDArray[np.float64] | None = None
        self.widest: int | None = None  # features that there may be, once that is known
        self.check: Callable[[], None] | None = None  # called with each batch: whether features mean what they did
        self.n_rows = 0  # of the last pass, without those held out
        self._begun: Iterator[Batch] | None = None

    def settle(self, everything: bool) -> tuple[Rows, Summary | None]:
        """Look at the first batch, from which the first pass will go on, and set the classes; returns its rows.

        everything: read all rows first. That is done also where the first batch has one class only, or where there is
        no beginning anew; what is then known is returned as well.
        """
        known = summary(self.source) if everything or self.source.is_stream else None
        batches = self.source.batches()
        first = next(batches, None)
        if first is None:
            raise ValueError(f"{self.source.name} has no rows")
        self._begun = chain([first], batches)
        self.classes = distinct(labelled(self.source, first.y)) if known is None else known.classes
        if len(self.classes) < 2 and known is None:
            return self.settle(everything=True)
        if len(self.classes) < 2:
            only = self.classes.tolist()[0]
            raise ValueError(
                f"The number of classes has to be greater than one; got 1 class: {only!r} in {self.source.name}"
            )
        if known is None:
            return first.rows, None
        self.widest = known.n_features
        return first.rows if first.rows.indices is None else first.rows.wide(known.n_features), known

    def begin(self, learner: Any) -> None:
        pass

    def at_once(self, learner: Any) -> int:
        return 1

    def learn(
        self, learner: Any, number: int, lines: int, seed: int | None, tol: float | None, *, last: bool
    ) -> list[int]:
        mistakes, n_rows, width, updates = 0.0, 0, 0, learner.counts[UPDATES]
        try:
            for batch, examples, held in self._examples(number, seed):
                width = max(width, examples.rows.n_features)
                if width > learner.n_features:
                    learner.resize(max(width, int(SPARE * learner.n_features)))
                order = examples.order()
                order = order if held is None else order[~held[order]]
                if seed is not None:
                    passes.shuffle(order[np.newaxis], np.uint64((seed + GOLDEN * batch) % 2**64), np.uint64(number))
                mistakes += learner.once(examples, order)
                n_rows += len(order)
                if self.watch is not None:
                    self.watch(n_rows, mistakes)
        finally:
            if self.widest is None and 0 < width < learner.n_features:
                learner.resize(width)
        if n_rows == 0:
            raise ValueError(f"{self.source.name} has no rows to learn from")
        self.n_rows, self.widest = n_rows, learner.n_features
        learner.counts[QUIET] = updates == learner.counts[UPDATES]
        return [int(mistakes)]

    def confirms(self, learner: Any) -> bool:
        return bool(learner.counts[QUIET]) or all(
            learner.errors(examples if held is None else part(examples, ~held)) == 0
            for _, examples, held in self._examples()
        )

    def error(self, learner: Any, held_out: bool) -> float:
        """The error of the learner's readout on the rows held out, or on the others."""
        wrong, total = 0, 0
        for _, examples, held in self._examples():
            if held is not None:
                examples = part(examples, held if held_out else ~held)
            if len(examples.codes):
                wrong += int(np.count_nonzero(learner.predict(learner.decide(examples.rows)) != examples.codes))
                total += len(examples.codes)
        if total == 0:
            raise ValueError(f"a share of {self.share:g} of {self.source.name} has no row: hold out a larger one")
        return wrong / total

    def _examples(
        self, number: int = 0, seed: int | None = None
    ) -> Iterator[tuple[int, Examples, npt.NDArray[np.bool_] | None]]:
        """All batches with their numbers, and which of their rows are held out."""
        source, order = self.source, None
        if seed is not None and number > 0 and isinstance(source, Cached) and source.table is not None:
            order = np.arange(len(source.table), dtype=np.uint32)
            passes.shuffle(order[np.newaxis], np.uint64(seed), np.uint64(number))
            batches, starts = source.batches(order.tolist()), source.starts
        else:
            batches, self._begun = self._begun or source.batches(), None
        first = 0
        for position, (rows, y) in enumerate(batches):
            batch = position if order is None else int(order[position])
            first = first if order is None else starts[batch]
            if self.check is not None:
                self.check()
            if self.widest is not None and rows.n_features > self.widest:  # or the file has changed between passes
                raise ValueError(f"X has {rows.n_features} features, but the model is expecting {self.widest} features")
            codes = encode(labelled(source, y), self.classes, self.source.name)
            weight = None if self.class_weight is None else self.class_weight[codes]
            held = chosen(first, len(rows), self.share, self.seed) if self.share else None
            yield batch, Examples(rows, codes, weight, first), held
            first += len(rows)


class Watched:
    """The error of the readout on the rows of another source, all of them.

    like: what is learned from, whose features these rows must have. often: whether the rows are read more than once.
    """

    def __init__(self, learner: Any, source: Source, classes: Array, like: Source, *, often: bool) -> None:
        self.learner, self.source, self.classes, self.like, self.often = learner, source, classes, like, often

    def __call__(self) -> float:
        wrong, total = 0, 0
        self.source = self.source.again(self.often)  # not before: a copy depends on categories that training has seen
        for rows, y in self.source.batches():
            if self.like.encoding is not None:
                check_features(self.source, self.like.encoding.agrees(self.source.encoding))
            try:
                codes = encode(labelled(self.source, y), self.classes, self.source.name)
            except UnknownLabel as error:  # all rows to learn from have been seen: beginning anew would not help
                raise ValueError(str(error)) from None
            scores = self.learner.decide(fitting(rows, self.learner.n_features))
            wrong += int(np.count_nonzero(self.learner.predict(scores) != codes))
            total += len(codes)
        if total == 0:
            raise ValueError(f"{self.source.name} has no rows")
        return wrong / total


def check_features(source: Source, agree: bool) -> None:
    """Refuse a table whose columns or categories are numbered otherwise than those that were learned from."""
    if not agree:
        raise ValueError(
            f"{source.name} has other features than the model was trained on: read it as the table of the training "
            "was, with source(..., like=model.encoding_)"
        )


def fitting(rows: Any, n_features: int) -> Any:
    """Rows with as many features as a model knows; what it has never seen is left out."""
    if rows.indices is None:
        if rows.n_features != n_features:
            raise ValueError(
                f"X has {rows.n_features} features, but the model is expecting {n_features} features as input"
            )
        return rows
    return rows.narrow(n_features).wide(n_features)


def part(examples: Examples, where: npt.NDArray[np.bool_]) -> Examples:
    """Some of the examples."""
    weight = None if examples.weight is None else examples.weight[where]
    return Examples(examples.rows.take(np.flatnonzero(where)), examples.codes[where], weight, examples.first)


def chosen(first: int, n: int, share: float, seed: int) -> npt.NDArray[np.bool_]:
    """Which of n rows, numbered from `first` on, belong to a random share: the same ones however they are cut.

    SplitMix64's output for seed and number (Steele, Lea & Flood 2014).
    """
    state = np.arange(first, first + n, dtype=np.uint64) * np.uint64(GOLDEN) + np.uint64(seed)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((state ^ (state >> np.uint64(31))) < np.uint64(int(share * 2**64)))
