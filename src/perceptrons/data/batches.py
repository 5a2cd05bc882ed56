"""What every source of examples is: a stream of batches that can be started again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from perceptrons.data import files
from perceptrons.data.arrays import Rows

T = TypeVar("T")


class Batch(NamedTuple):
    """Rows in the order of the source, with their labels.

    Features of later batches may be more: `rows.n_features` counts those known so far.
    """

    rows: Rows
    y: npt.NDArray[Any] | None  # None where the source has no labels


class Source(ABC):
    """Examples that may be more than fit in memory."""

    name: str  # for messages: the files
    encoding: Any = None  # how the columns of a table become features, to be kept with a model
    n_bytes: int | None = None  # size of all files, as they lie on the disk
    bytes_done: int = 0  # how much of that has been read by now
    paths: list[str]
    _begun = False
    caching: str | bool = False  # whether, or in which folder, a copy of the rows may be kept

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """All rows from the beginning, cut the same way in every call, each batch of bounded size."""

    @abstractmethod
    def signature(self) -> dict[str, Any]:
        """What the rows depend on: files with their sizes and times, and settings. Ready for JSON."""

    def again(self, often: bool = True) -> Source:
        """This source for being read `often`, or once: from a copy of its rows, if there is one or will be."""
        if self.caching is False and not self.fleeting:
            return self
        from perceptrons.data.cache import Cached

        cached = Cached(self, self.caching if isinstance(self.caching, str) else None)
        return cached if often or self.fleeting or cached.table is not None else self

    @property
    def fleeting(self) -> bool:
        """Whether the rows come by once only."""
        return any(map(files.is_stream, self.paths))

    def begin(self) -> None:
        """To be called when reading begins: what comes by once only is not read twice."""
        if self._begun and self.fleeting:
            raise files.DataError(f"{self.name} can be read once only: write it to a file to read it again")
        self._begun, self.bytes_done = True, 0

    def arrays(self) -> tuple[Any, npt.NDArray[Any] | None]:
        """All rows in memory, as an array or a sparse matrix, and all labels."""
        rows, y = self.joined()
        return rows.matrix(), y

    def joined(self) -> tuple[Rows, npt.NDArray[Any] | None]:
        """All rows in memory, and all labels."""
        batches = list(self.batches())
        if not batches:
            raise ValueError(f"{self.name} has no rows")
        width = batches[-1].rows.n_features
        labels = [batch.y for batch in batches if batch.y is not None]
        return Rows.joined([batch.rows.wide(width) for batch in batches]), np.concatenate(labels) if labels else None


def in_order(tasks: Iterator[Future[T]], ahead: int) -> Iterator[T]:
    """Results in the order of the tasks, so many of them under way."""
    waiting: deque[Future[T]] = deque()
    try:
        for task in tasks:
            waiting.append(task)
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for task in waiting:
            task.cancel()
