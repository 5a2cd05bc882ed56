"""Shards of rows: what a worker holds of the data. A shard that is lost can be made anew anywhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from socket import gethostname
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.core.random import GOLDEN, shuffle
from perceptrons.data.arrays import Rows
from perceptrons.data.batches import Source
from perceptrons.data.cache import Cached
from perceptrons.data.files import DataError
from perceptrons.data.mixing import is_spread
from perceptrons.learn.examples import Examples
from perceptrons.learn.fit import InMemory, Material, Passes
from perceptrons.learn.holdout import chosen
from perceptrons.learn.labels import Array
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.scale.scaling import Scaling, fill_with_means
from perceptrons.learn.scale.statistics import Statistics, statistics_of
from perceptrons.learn.shards.locked import Locked
from perceptrons.learn.state import Ints
from perceptrons.learn.stream import Stream, check_features, fitting, labelled, summary
from perceptrons.learn.targets import Targets

PIECE = 1 << 22  # bytes of rows that are shuffled together
MANY = 1 << 18  # features, from which on those that occur in a shard are noted


class Facts(NamedTuple):
    """What a worker finds out about a shard by reading it once."""

    n_rows: int
    n_features: int
    dense: bool
    classes: Array
    counts: dict[Any, int]  # number of rows of each class
    encoding: Any = None  # of the columns of a table


@dataclass(frozen=True)
class Plan:
    """What every worker needs to know about all shards together."""

    template: LinearLearner  # makes passes
    reader: LinearLearner  # decides
    targets: Targets
    starts: list[int]  # number of each shard's first row, and the number of all rows
    n_features: int
    class_weight: npt.NDArray[np.float64] | None = None
    share: float = 0.0  # of rows that are held out
    seed: int = 0
    scaling: Scaling | None = None
    encoding: Any = None

    def held(self, number: int) -> npt.NDArray[np.bool_] | None:
        """Which rows of a shard are held out."""
        begin, end = self.starts[number : number + 2]
        return chosen(begin, end - begin, self.share, self.seed) if self.share else None

    def n_learned(self, number: int) -> int:
        """Number of rows of a shard that are not held out."""
        held, (begin, end) = self.held(number), self.starts[number : number + 2]
        return end - begin if held is None else int(np.count_nonzero(~held))

    def errors(self, learner: LinearLearner, examples: Examples) -> tuple[float, int]:
        """Number of rows that a learner decides wrong, and of all."""
        return learner.wrong(examples), len(examples)


class InPieces(InMemory[Examples]):
    """Rows in memory, shuffled in pieces that fit into the cache of a core, if classes are spread evenly over them.

    Pieces come in random order. So a pass waits less for memory than in an order without pieces.
    """

    def __init__(self, examples: Examples) -> None:
        super().__init__(examples)
        rows, n = examples.rows, max(1, len(examples))
        size = sum(array.nbytes for array in rows.arrays if array is not None)
        self.edges = np.linspace(0, self.n_rows, 1 + min(n, -(-size // PIECE))).astype(int)
        counts = [np.bincount(examples.codes[self.order[a:b]]) for a, b in pairwise(self.edges)]
        width = max(map(len, counts), default=0)
        self.pieces = is_spread(np.array([np.pad(each, (0, width - len(each))) for each in counts]))

    def learn(self, learner: Any, number: int, lines: int, passes: Passes) -> list[int]:
        if not self.pieces or passes.seed is None:
            return super().learn(learner, number, lines, passes)
        whole, order = self.order.copy(), np.arange(len(self.edges) - 1, dtype=np.uint32)
        shuffle(order[np.newaxis], np.uint64(passes.seed), np.uint64(number))
        parts = [whole[self.edges[k] : self.edges[k + 1]] for k in order.tolist()]
        for k, part in zip(order.tolist(), parts, strict=True):
            own = (passes.seed + int(GOLDEN) * (k + 1)) % 2**64
            shuffle(part[np.newaxis], np.uint64(own), np.uint64(number))
        return [learner.once(self.examples, np.concatenate(parts))]


class Touched:
    """The features that may occur in rows with very many features; others are not worth the work."""

    def __init__(self) -> None:
        self.marks: npt.NDArray[np.bool_] | None = None
        self.few = False  # whether there were rows with fewer features

    def add(self, rows: Rows) -> Touched:
        """Mark the features of rows."""
        if rows.indices is None or rows.n_features < MANY:
            self.few = True
            return self
        if self.marks is None:  # any feature may have occurred in the rows before
            self.marks = np.full(MANY, self.few)
        if len(self.marks) < rows.n_features:
            self.marks = np.concatenate([self.marks, np.zeros(2 * rows.n_features - len(self.marks), dtype=np.bool_)])
        self.marks[rows.indices] = True
        return self

    @property
    def features(self) -> Ints | None:
        """The features, if there are very many others."""
        return None if self.marks is None else np.flatnonzero(self.marks)


class Shard(Locked, ABC):
    """A shard of rows. It keeps what it has prepared for a plan."""

    name = "X"

    def __init__(self) -> None:
        self._prepared: tuple[Any, Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_prepared")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _prepared=None)

    @abstractmethod
    def facts(self, targets: Targets) -> Facts:
        """Read the shard and count its rows."""

    def is_uneven(self, plan: Plan, number: int) -> bool:
        """Whether features are to be scaled, as far as the first batch tells."""
        return False

    def statistics(self, plan: Plan, number: int) -> Statistics | None:
        """Statistics of the features of the rows that are not held out."""
        return None

    def prepared(self, plan: Plan, number: int) -> Any:
        """What `prepare` returns; it is called once for a plan."""
        if self._prepared is None or self._prepared[0] is not plan:
            self._prepared = plan, self.prepare(plan, number)
        return self._prepared[1]

    @abstractmethod
    def prepare(self, plan: Plan, number: int) -> Any:
        """Get ready for passes."""

    @abstractmethod
    def material(self, plan: Plan, number: int) -> Material[Any]:
        """The examples to learn from."""

    @abstractmethod
    def held_out(self, plan: Plan, number: int) -> Any:
        """Examples that are held out, batch by batch."""

    @abstractmethod
    def everything(self, plan: Plan) -> Any:
        """All examples as held-out ones, batch by batch, each with the labels that training has not seen."""


class ArrayShard(Shard):
    """Rows in memory, with labels and weights."""

    def __init__(self, rows: Rows, y: Array, weight: npt.NDArray[np.float64] | None = None, name: str = "X") -> None:
        super().__init__()
        self.rows, self.y, self.weight, self.name = rows, y, weight, name

    def __sizeof__(self) -> int:
        arrays = (*self.rows.arrays, self.rows.sq_norm, self.y, self.weight)
        return sum(array.nbytes for array in arrays if array is not None)

    def facts(self, targets: Targets) -> Facts:
        classes, counts = targets.count(self.y) if len(self.rows) else (self.y[:0], {})
        self.touched = Touched().add(self.rows).features
        return Facts(len(self.rows), self.rows.n_features, self.rows.indices is None, classes, counts)

    def prepare(self, plan: Plan, number: int) -> tuple[InMemory[Examples], Examples | None]:
        codes, held = plan.targets.encode(self.y, self.name), plan.held(number)
        weight = self.weight
        if plan.class_weight is not None:
            weight = plan.class_weight[codes] if weight is None else weight * plan.class_weight[codes]
        rows, kept = self.rows.padded(plan.n_features), None
        if plan.scaling is not None:  # of a model that has learned from files before
            rows = plan.scaling.apply(rows, zeros=True)
        if held is not None:
            kept = Examples(rows.take(np.flatnonzero(held)), codes[held])
            weight = np.where(held, 0.0, 1.0 if weight is None else weight)
        examples = Examples(rows, codes, weight, plan.starts[number])
        return InPieces(examples) if len(plan.starts) > 2 else InMemory(examples), kept

    def material(self, plan: Plan, number: int) -> Material[Any]:
        material: Material[Any] = self.prepared(plan, number)[0]
        return material

    def held_out(self, plan: Plan, number: int) -> Any:
        kept = self.prepared(plan, number)[1]
        return [kept] if kept is not None and len(kept) else []

    def everything(self, plan: Plan) -> Any:
        codes, unknown = plan.targets.encode_held_out(self.y, self.name)
        return [(Examples(self.rows, codes), unknown)] if len(self.rows) else []


class SourceShard(Shard):
    """Rows of files, which are parsed once: they stay in memory, or in a copy on the disk of the worker."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source, self.name = source, source.name
        self._size, self._by_batch = 0, list[dict[Any, int]]()

    def __getstate__(self) -> dict[str, Any]:
        kept = ("source", "name", "_size", "_by_batch", "touched")
        return {name: value for name, value in vars(self).items() if name in kept}

    def __sizeof__(self) -> int:
        return self._size

    def read(self, encoding: Any = None) -> Source:
        """The source with the features of `encoding`, if it is a table; it is parsed once."""
        source, known = self.source, vars(self).get("_read")
        if known is None or known[0] is not encoding:
            if source.numbers_as_read and encoding is not None:
                source = source.reading_like(encoding)
            known = vars(self)["_read"] = encoding, source.again(True)
        found: Source = known[1]
        return found

    def facts(self, targets: Targets) -> Facts:
        self._size, self._by_batch, dense, touched = 0, [], [], Touched()

        def look(batch: Any, first: int, by_label: dict[Any, int]) -> None:
            self._by_batch.append(by_label)
            if self.source.encoding is None:  # otherwise features may get other numbers
                touched.add(batch.rows)
            self._size += batch.n_bytes
            dense.append(batch.rows.indices is None)

        source = self.source
        try:
            # Of a table whose categories get other numbers when all shards are known, no copy is kept yet.
            source = source if source.numbers_as_read else self.read()
            found = summary(source, look, targets)
        except OSError as error:
            raise DataError(
                f"{error.filename or source.name}: {error.strerror or error}, on the machine {gethostname()}: all "
                "workers must be able to read the files"
            ) from error
        except ValueError as error:
            if self._by_batch or isinstance(error, DataError) or not str(error).endswith("has no rows"):
                raise
            return Facts(0, 1, True, np.empty(0), {}, source.encoding)
        self.touched = touched.features
        return Facts(found.n_rows, found.n_features, all(dense), found.classes, found.counts, source.encoding)

    def is_uneven(self, plan: Plan, number: int) -> bool:
        batch, held = next(iter(self.read(plan.encoding).batches()), None), plan.held(number)
        if batch is None:
            return False
        left_out = None if held is None else held[: len(batch.rows)]
        return statistics_of(self.source, batch.rows, left_out) is not None

    def statistics(self, plan: Plan, number: int) -> Statistics | None:
        found, at, held = None, 0, plan.held(number)
        for rows, _ in self.read(plan.encoding).batches():
            found = found or statistics_of(self.source, rows, always=True)
            if found is None:
                return None
            found.add(rows, None if held is None else held[at : at + len(rows)])
            at += len(rows)
        return found

    def prepare(self, plan: Plan, number: int) -> Stream:
        source = self.read(plan.encoding)
        # The order of a pass depends on these two. A shard that was lost and made anew must have them, too.
        if not self._by_batch or (isinstance(source, Cached) and not source.ready):
            self._by_batch = [plan.targets.count(labelled(source, y))[1] for _, y in source.batches()]
        stream = Stream(source, share=plan.share, seed=plan.seed, targets=plan.targets)
        stream.offset, stream.widest, stream.scaling = plan.starts[number], plan.n_features, plan.scaling
        stream.class_weight = plan.class_weight
        stream.settled_by(self._by_batch)
        return stream

    def material(self, plan: Plan, number: int) -> Material[Any]:
        stream: Material[Any] = self.prepared(plan, number)
        return stream

    def held_out(self, plan: Plan, number: int) -> Any:
        stream: Stream = self.prepared(plan, number)
        return (examples.take(held) for examples, held in stream.parts() if held is not None and held.any())

    def everything(self, plan: Plan) -> Any:
        source = self.source
        fill_with_means(source.encoding, plan.scaling)
        for rows, y in self.read().batches():
            check_features(source, plan.encoding is None or plan.encoding.agrees(self.read().encoding))
            codes, unknown = plan.targets.encode_held_out(labelled(source, y), source.name)
            fitted = fitting(rows, plan.n_features)
            scaled = fitted if plan.scaling is None else plan.scaling.apply(fitted, zeros=source.encoding is None)
            yield Examples(scaled, codes), unknown
