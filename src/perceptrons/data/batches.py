"""What every source of examples is: a stream of batches that can be started again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy.typing as npt

from perceptrons.data.arrays import Rows


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

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """All rows from the beginning, cut the same way in every call, each batch of bounded size."""

    @abstractmethod
    def signature(self) -> dict[str, Any]:
        """What the rows depend on: files with their sizes and times, and settings. Ready for JSON."""
