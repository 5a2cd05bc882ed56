"""Examples from a source, batch by batch, for `fit`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.core.random import GOLDEN, shuffle
from perceptrons.data.arrays import Rows
from perceptrons.data.batches import Batch, Source
from perceptrons.data.cache import Cached
from perceptrons.data.mixing import is_spread, mixed_pieces, read_groups, whole_batches
from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.examples import Examples
from perceptrons.learn.fit import Passes
from perceptrons.learn.holdout import chosen, chosen_of
from perceptrons.learn.labels import Array, say_unknown, union
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.scale.scaling import Scaling, fill_with_means
from perceptrons.learn.scale.statistics import Statistics, statistics_of
from perceptrons.learn.targets import Classes, Targets

SPARE = 1.25  # growth factor for new features, so that weights are rarely copied


class Summary(NamedTuple):
    """Facts about a source, found by reading it once."""

    n_rows: int
    n_features: int
    classes: Array
    counts: dict[Any, int]  # number of rows of each class, or of each group of values


def summary(
    source: Source,
    look: Callable[[Batch, int, dict[Any, int]], None] | None = None,
    targets: Targets | None = None,
) -> Summary:
    """Read all rows and count them. look: called with each batch, the number of its first row, and its labels."""
    n_rows, width, targets = 0, 0, targets or Classes()
    counts: dict[Any, int] = {}
    classes = np.empty(0)
    for batch in source.batches():
        here, by_label = targets.count(labelled(source, batch.y))
        if look is not None:
            look(batch, n_rows, by_label)
        n_rows, width = n_rows + len(batch.rows), batch.rows.n_features
        classes = union(classes, here) if len(here) else classes
        for label, count in by_label.items():
            counts[label] = counts.get(label, 0) + count
    if n_rows == 0:
        raise ValueError(f"{source.name} has no rows")
    return Summary(n_rows, width, classes, counts)


def labelled(source: Source, y: Array | None) -> Array:
    if y is None:
        raise ValueError(f"{source.name} has no labels to learn from")
    return y


class Stream:
    """The examples of a source, as material of `fit`.

    share: the part of the rows to hold out, chosen by their numbers and `seed`. watch: called after each batch with the
    source, and the rows and mistakes of this pass so far. Set before the first pass: `targets`, what is learned (of
    classes, other labels are an error), and `class_weight`, one number per class.

    Shuffling orders the rows within a batch. Once all rows have been read, batches come in random order, too. If
    classes are not spread evenly over the source, batches mix the rows of all of it.
    """

    def __init__(
        self,
        source: Source,
        *,
        share: float = 0.0,
        seed: int = 0,
        watch: Callable[[Source, int, int], None] | None = None,
        targets: Targets | None = None,
    ) -> None:
        self.source, self.share, self.seed, self.watch = source, share, seed, watch
        self.targets = targets or Classes()
        self.class_weight: npt.NDArray[np.float64] | None = None
        self.widest: int | None = None  # maximum number of features, once known
        self.check: Callable[[], None] | None = None  # called for each batch, to compare its features with the model's
        self.known: Summary | None = None  # facts about all rows, if they were read before the first pass
        self.n_rows = 0  # number of rows of the last pass, without those held out
        self.counts: Array | None = None  # number of these rows in each class or group, once a pass has ended
        self.offset = 0  # number of the first row, if the source is a shard of a larger one
        self.scales = False  # whether features are to be scaled by statistics of these rows
        self.centred = True  # whether they may be centred, too
        self.scaling: Scaling | None = None
        self._statistics: Statistics | None = None
        self._by_batch: list[dict[Any, int]] = []  # number of rows of each class in each batch, once all were read
        self._settled = False  # whether all rows were read before the first pass
        self._running = False  # whether the rows are read only once, so that statistics grow from batch to batch
        self._begun: Iterator[Batch] | None = None

    def settle(self, everything: bool, often: bool = False) -> tuple[Rows, Summary | None]:
        """Read the first batch, with which the first pass will begin, and set the targets; return its rows.

        everything: read all rows first, and also return a summary. This is also done if the first batch has only one
        class, if the source is a stream, so that training cannot restart, or if the source will be read often and its
        features or values are to be scaled.
        """
        if self.scales and often and not everything:
            self.scales = everything = self.targets.scaled or self._looks_uneven()
        known = None
        if everything or self.source.is_stream:
            known = self.known = summary(self.source, self._look if self.scales and often else None, self.targets)
            self._settled = self._statistics is not None or self.targets.scaled
            self.scaling = self._found_scaling()
        batches = self.source.batches()
        first = next(batches, None)
        if first is None:
            raise ValueError(f"{self.source.name} has no rows")
        self._begun = chain([first], batches)
        y, held = labelled(self.source, first.y), self._held(0, len(first.rows))
        self.targets = self.targets.found(y, None if known is None else known.classes, held)
        if not self.targets.enough and known is None:
            return self.settle(True, often)
        self.targets.check(f" in {self.source.name}")
        if self.scales and not often:
            self._running = True
            self._observe(first.rows, 0)  # the pass goes on from here
            self._running = self._statistics is not None
            self.scaling = self._found_scaling()
        if known is None:
            return first.rows, None
        self.widest = known.n_features
        return first.rows if first.rows.indices is None else first.rows.wide(known.n_features), known

    def settled_by(self, by_batch: list[dict[Any, int]]) -> None:
        """Note that all rows have been read: the number of rows of each class in each batch."""
        self._by_batch, self._settled = by_batch, True

    def _looks_uneven(self) -> bool:
        """Whether features are to be scaled, as far as the first batch tells; a source that says so is not read."""
        if self.source.scale == "standard" or self.source.is_stream:
            return True
        batches = self.source.batches()
        first = next(batches, None)
        if isinstance(batches, Generator):
            batches.close()
        return first is not None and statistics_of(self.source, first.rows, self._held(0, len(first.rows))) is not None

    def _held(self, first: int, n: int) -> npt.NDArray[np.bool_] | None:
        """Which of n rows, numbered from `first` in the source, are held out."""
        return chosen(self.offset + first, n, self.share, self.seed) if self.share else None

    def _observe(self, rows: Rows, first: int) -> None:
        """Add rows to the statistics of features, except those held out; `first`: number of the first row."""
        held = self._held(first, len(rows))
        if first == 0:
            always = self.targets.scaled
            self._statistics = statistics_of(self.source, rows, held, once=self._running, always=always)
        if self._statistics is not None:
            self._statistics.add(rows, held)

    def _found_scaling(self) -> Scaling | None:
        """The scaling that follows from the statistics so far."""
        return None if self._statistics is None else self._statistics.scaling(self.centred, self.targets.limit)

    def _look(self, batch: Batch, first: int, by_label: dict[Any, int]) -> None:
        """Add a batch to the statistics of features, and note the labels of its rows, without those held out."""
        self._observe(batch.rows, first)
        held, y = self._held(first, len(batch.rows)), labelled(self.source, batch.y)
        if held is not None:
            _, by_label = self.targets.count(y[~held])
        self.targets.note(y if held is None else y[~held])
        self._by_batch.append(by_label)

    @cached_property
    def _mixes(self) -> bool:
        """Whether batches must mix the rows of the whole source, because its classes are not spread evenly."""
        labels = list(dict.fromkeys(label for counts in self._by_batch for label in counts))
        return not is_spread(np.array([[counts.get(label, 0) for label in labels] for counts in self._by_batch]))

    def begin(self, learner: LinearLearner) -> None:
        """Nothing to do before the first batch."""

    def at_once(self, learner: LinearLearner) -> int:
        return 1

    def learn(self, learner: LinearLearner, number: int, lines: int, passes: Passes) -> list[int]:
        mistakes, n_rows, width, updates, seed = 0, 0, 0, learner.totals.updates, passes.seed
        counts: Any = 0
        try:
            for batch, examples, held in self._examples(number, seed):
                width = max(width, examples.rows.n_features)
                if width > learner.n_features:
                    learner.resize(max(width, int(SPARE * learner.n_features)))
                order = examples.order()
                order = order if held is None else order[~held[order]]
                if seed is not None:
                    own = (seed + int(GOLDEN) * batch) % 2**64  # a different seed for each batch
                    shuffle(order[np.newaxis], np.uint64(own), np.uint64(number))
                learner.scaling = self.scaling
                mistakes += learner.once(examples, order)
                n_rows += len(order)
                if self.counts is None:
                    here = self.targets.tally(examples.codes[order])
                    counts = counts + here
                    if not self._settled:
                        self._by_batch.append(dict(enumerate(here.tolist())))
                if self.watch is not None:
                    self.watch(self.source, n_rows, mistakes)
        finally:
            if self.widest is None and 0 < width < learner.n_features:
                learner.resize(width)
            if self._running and self.scaling is not None and self.scaling.rarity is not None:  # words count no longer
                self.scaling = learner.scaling = replace(self.scaling, rarity=self.scaling.rarity.frozen())
        if n_rows == 0:
            raise ValueError(f"{self.source.name} has no rows to learn from")
        self.n_rows, self.widest = n_rows, learner.n_features
        self.counts = counts if self.counts is None else self.counts
        learner.course.quiet = updates == learner.totals.updates
        return [mistakes]

    def confirms(self, learner: LinearLearner) -> bool:
        return bool(learner.course.quiet) or all(
            learner.mistakes_of(examples if held is None else examples.take(~held), learner.current) == 0
            for _, examples, held in self._examples()
        )

    def guesses(self, learner: LinearLearner) -> Array:
        return np.concatenate([learner.guesses(examples) for examples, _ in self.parts()])

    def error(self, learner: LinearLearner) -> float:
        """The error of the readout on the held-out rows."""
        wrong, total = 0.0, 0
        for _, examples, held in self._examples():
            assert held is not None
            examples = examples.take(held)
            if len(examples):
                wrong += learner.wrong(examples)
                total += len(examples)
        if total == 0:
            raise ValueError(f"a share of {self.share:g} of {self.source.name} holds out no row: choose a larger one")
        return wrong / total

    def parts(self) -> Iterator[tuple[Examples, Array | None]]:
        """All examples, batch by batch, and which of them are held out."""
        return ((examples, held) for _, examples, held in self._examples())

    def predictions(self, learner: LinearLearner) -> Iterator[tuple[Array, Array, Array | None]]:
        """Codes of all rows and what the readout predicts, batch by batch; and which of the rows are held out."""
        for examples, held in self.parts():
            yield examples.codes, learner.predict(learner.decide(examples.rows)), held

    def _examples(
        self, number: int = 0, seed: int | None = None
    ) -> Iterator[tuple[int, Examples, npt.NDArray[np.bool_] | None]]:
        """All batches with their numbers, and which of their rows are held out.

        With a seed, and once all rows have been read, batches come in random order, or mix rows of the whole source.
        """
        source = self.source
        ready = isinstance(source, Cached) and source.ready and len(source.starts) > 2
        if seed is not None and ready and (number > 0 or self._settled):
            assert isinstance(source, Cached)
            groups = (mixed_pieces if self._mixes else whole_batches)(source.starts, seed, number)
            read = read_groups(source, groups, self._prepared, narrow=self.scaling is not None)
            for position, (examples, held) in enumerate(read):
                yield position, examples, held
            return
        batches, self._begun = self._begun or source.batches(), None
        first = 0
        for position, batch in enumerate(batches):
            if self._running and self.n_rows == 0 and first > 0:
                self._observe(batch.rows, first)
                self.scaling = self._found_scaling()
            examples, held = self._prepared(batch, np.arange(first, first + len(batch.rows)))
            yield position, examples, held
            first += len(batch.rows)

    def _prepared(self, batch: Batch, numbers: npt.NDArray[np.int64]) -> tuple[Examples, npt.NDArray[np.bool_] | None]:
        """A batch as examples, and which of its rows are held out; `numbers` are those of its rows in the source."""
        rows, numbers = batch.rows, numbers + self.offset
        if self.check is not None:
            self.check()
        if self.widest is not None and rows.n_features > self.widest:  # or the file has changed since
            raise ValueError(f"X has {rows.n_features} features, but the model is expecting {self.widest} features")
        codes = self.targets.encode(labelled(self.source, batch.y), self.source.name)
        weight = None if self.class_weight is None else self.class_weight[codes]
        held = chosen_of(numbers, self.share, self.seed) if self.share else None
        scaled = rows if self.scaling is None else self.scaling.apply(rows)
        return Examples(scaled, codes, weight, numbers=numbers), held


class Watched:
    """The error of the readout on all rows of another source.

    like: the training source, whose features these rows must have. often: whether the source is read more than once.
    """

    def __init__(self, learner: ClassLearner, source: Source, targets: Targets, like: Source, *, often: bool) -> None:
        self.learner, self.source, self.targets, self.like, self.often = learner, source, targets, like, often
        targets.reads(source)
        self._told = False  # whether labels that training has not seen were mentioned

    def __call__(self) -> float:
        wrong, total = 0.0, 0
        for examples in self.parts():
            wrong += self.learner.wrong(examples)
            total += len(examples)
        if total == 0:
            raise ValueError(f"{self.source.name} has no rows")
        return wrong / total

    def predictions(self) -> Iterator[tuple[Array, Array]]:
        """Codes of all rows and what the readout predicts, batch by batch."""
        for examples in self.parts():
            yield examples.codes, self.learner.predict(self.learner.decide(examples.rows))

    def parts(self) -> Iterator[Examples]:
        """All examples, batch by batch, on the learner's scale."""
        fill_with_means(self.source.encoding, self.learner.scaling)
        self.source = self.source.again(self.often)  # not earlier: a copy depends on the categories seen in training
        strange: dict[Any, int] = {}  # labels that training has not seen, with their numbers of rows
        for rows, y in self.source.batches():
            if self.like.encoding is not None:
                check_features(self.source, self.like.encoding.agrees(self.source.encoding))
            codes, unknown = self.targets.encode_held_out(labelled(self.source, y), self.source.name)
            for label in unknown.tolist():
                strange[label] = strange.get(label, 0) + 1
            n_features = self.learner.n_features if isinstance(self.learner, LinearLearner) else rows.n_features
            yield Examples(self.learner.scaled(fitting(rows, n_features), self.source.encoding), codes)
        if strange and not self._told:
            self._told = True
            say_unknown(list(strange), sum(strange.values()), self.source.name)


def check_features(source: Source, agree: bool) -> None:
    """Raise an error for a table whose columns or categories are numbered differently from those in training."""
    if not agree:
        raise ValueError(
            f"{source.name} has other features than the model was trained on: read it in the same way as the training "
            "table, with source(..., like=model.encoding_)"
        )


def fitting(rows: Any, n_features: int) -> Any:
    """Rows with `n_features` features; features that the model has never seen are left out."""
    if rows.indices is None:
        if rows.n_features != n_features:
            raise ValueError(
                f"X has {rows.n_features} features, but the model is expecting {n_features} features as input"
            )
        return rows
    return rows.narrow(n_features).wide(n_features)
