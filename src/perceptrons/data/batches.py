"""The interface of every source of examples: a stream of batches that can be restarted."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from perceptrons.data import files
from perceptrons.data.arrays import Rows
from perceptrons.data.shards.cutting import Span
from perceptrons.data.whole import check_memory

T = TypeVar("T")
MOST_WORKERS = 8  # each works on one block
MOST_ROWS = 1 << 16  # in a batch
MOST_BYTES = 1 << 25  # in a batch, unless one row has more
_most_threads: ContextVar[int | None] = ContextVar("most_threads", default=None)


class Batch(NamedTuple):
    """Consecutive rows of a source, with their labels.

    Later batches may have more features: `rows.n_features` counts those found so far.

    Attributes
    ----------
    rows : Rows
        The rows.
    y : ndarray of shape (n_rows,) or None
        Their labels; None if the source has no labels.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from perceptrons.data import source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "and.svm"
    ...     _ = path.write_text("-1 0:0 1:0\\n-1 0:1\\n-1 1:1\\n+1 0:1 1:1\\n")
    ...     (batch,) = source(path).batches()
    >>> len(batch.rows), batch.rows.n_features, batch.y.tolist()
    (4, 2, [-1.0, -1.0, -1.0, 1.0])
    """

    rows: Rows
    y: npt.NDArray[Any] | None

    @property
    def n_bytes(self) -> int:
        """The memory that it takes, in bytes."""
        return sum(array.nbytes for array in (*self.rows.arrays, self.rows.sq_norm, self.y) if array is not None)


class Source(ABC):
    """Examples in files, which may be larger than memory, or in a data frame. `perceptrons.data.source` makes it.

    Pass it to `fit`, `partial_fit`, `predict` or `score` in place of X, or read it yourself with `batches`.

    Attributes
    ----------
    name : str
        The files, for messages.
    paths : list of str
        The files.
    encoding : Encoding or None
        How the columns of a table become features; saved with a model.
    n_bytes : int or None
        Size of all files on the disk.
    bytes_done : int
        How many of these bytes have been read.
    caching : bool or str
        Whether, or in which folder, a copy of the rows may be kept.
    scale : {"auto", "standard", "none"}
        Whether training brings features to one scale. Rows are as they stand in the files in any case.
    spans : list of Span or None
        The part of each file that a shard reads; None if this is not a shard.

    Notes
    -----
    `source` takes these settings for svmlight files:

    - `zero_based` (True): whether index 0 is the first feature. With False, index 1 is the first.
    - `n_features`: the number of features; entries beyond it are left out. By default, the largest index decides.

    NumPy files:

    - `target`: in a .npy file the number of the column of labels, by default the last; in a .npz file the name of
      the array of labels, by default "y".
    - `labels` (True): whether there are labels. With False, all columns of a .npy file are features.

    Tables, which are CSV, TSV, Parquet and Arrow files, and data frames; what you leave out is guessed from the first
    rows, and printing the source tells how its columns are treated:

    - `target`: the column of labels.
    - `features`, `drop`: lists of columns to use (by default all others), and to ignore.
    - `numeric`, `categorical`, `text`: lists of columns to treat as numbers, categories or text. Other columns are
      guessed.
    - `hash_bits`: hash all categories into 2^hash_bits features. By default, each category has its own.
    - `ngrams` (1), `text_bits` (18): each word of a text is a feature; with ``ngrams=2`` also each pair of
      neighbouring words, and so on. They are hashed into 2^text_bits features for each column.
    - `weighting` ("tfidf"): how words count: more if few texts have them ("tfidf"), all equally ("binary"), or as
      often as they occur ("counts").
    - `missing` ("mean"): what replaces missing numbers: the mean of the column, with one more feature that marks
      the row; a number; or a dict of numbers by column. "error" refuses missing values.
    - `delimiter`, `header`, `quotes`, `decimal`, `encoding`, `na`: how CSV files are written. `header` and `quotes`
      are booleans; `na` is a list of cells that count as missing, besides empty ones. Data frames have only `na`, for
      columns of strings.
    - `regression` (False): whether the target is a number to predict, not a class. Regressors set it themselves.
    - `like`: an encoding, such as ``model.encoding_``. The table is read into the same features.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from perceptrons.data import source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "rows.svm"
    ...     _ = path.write_text("1 0:0.5 2:3\\n-1 1:4\\n")
    ...     rows = source(path)
    ...     X, y = rows.arrays()
    >>> X.toarray(), y
    (array([[0.5, 0. , 3. ],
           [0. , 4. , 0. ]]), array([ 1., -1.]))
    """

    name: str
    paths: list[str]
    encoding: Any = None
    scale: str = "none"
    n_bytes: int | None = None
    bytes_done: int = 0
    caching: str | bool = False
    spans: list[Span] | None = None
    _begun = False

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """Read all rows from the beginning, in the same batches in every call.

        Yields
        ------
        Batch
            Of bounded size: some megabytes, unless one row is longer.

        Raises
        ------
        DataError
            If a file cannot be read; the message names the place. Also if a stream, such as standard input, is read a
            second time.
        """

    @abstractmethod
    def signature(self) -> dict[str, Any]:
        """Describe what the rows depend on: files with their sizes and times, and settings.

        Returns
        -------
        dict
            Ready for JSON.
        """

    def again(self, often: bool = True) -> Source:
        """Choose how to read this source: directly, or so that its rows are kept for the next time.

        Parameters
        ----------
        often : bool, default=True
            Whether it will be read several times, so that keeping its rows pays.

        Returns
        -------
        Source
            This source, or one with the same rows that keeps them.
        """
        if self.caching is False and not self.is_stream:
            return self
        from perceptrons.data.cache import Cached

        cached = Cached(self, self.caching if isinstance(self.caching, str) else None)
        return cached if often or self.is_stream or cached.ready else self

    def shards(self, n: int | None = None) -> list[Source]:
        """Cut this source into consecutive shards, each of which another process can read.

        All rows of the first shard, then those of the second and so on are the rows of this source. A shard may have
        no rows, for instance if its part of the file has only comments.

        Parameters
        ----------
        n : int, optional
            About how many. There are fewer if the files have too few places to cut. By default files of 8 MB and more
            become 8 shards, or as many as make shards of at most 256 MB; smaller files become shards of at least 1 MB.

        Returns
        -------
        list of Source
            Of the same kind and with the same settings. They can be pickled. A source that cannot be cut, such as a
            shard, is its only shard.
        """
        return [self]

    @property
    def numbers_as_read(self) -> bool:
        """Whether features get their numbers in the order in which rows are read, so that shards may differ in them."""
        return False

    def reading_like(self, encoding: Any) -> Source:
        """Choose features: a shard of a table is read with those of the whole table.

        Parameters
        ----------
        encoding : Encoding
            Of all shards, joined.

        Returns
        -------
        Source
            This source, or one of the same rows with these features.
        """
        return self

    def for_values(self) -> None:
        """Read labels as values to predict, not as classes, if there is a difference."""
        return None

    @property
    def is_stream(self) -> bool:
        """Whether the rows can be read only once."""
        return any(map(files.is_stream, self.paths))

    def parts(self) -> Iterator[tuple[str, Span]]:
        """List the files, each with the part of it that is to be read.

        Yields
        ------
        path : str
            The file.
        span : Span
            The part; of a source that is not a shard, the whole file.
        """
        for k, path in enumerate(self.paths):
            yield path, Span(0, None, files.size(path)) if self.spans is None else self.spans[k]

    def begin(self) -> None:
        """Note that reading begins. Subclasses call this in `batches`.

        Raises
        ------
        DataError
            If the rows can be read only once, and reading has begun before.
        """
        if self._begun and self.is_stream:
            raise files.DataError(f"{self.name} can be read only once: write it to a file to read it again")
        self._begun, self.bytes_done = True, 0

    def arrays(self) -> tuple[Any, npt.NDArray[Any] | None]:
        """Read everything into memory.

        Returns
        -------
        X : ndarray or scipy.sparse.csr_array of shape (n_rows, n_features)
            The rows.
        y : ndarray of shape (n_rows,) or None
            Their labels, if the source has any.

        Raises
        ------
        ValueError
            If there are no rows.
        DataError
            As for `batches`. Also if the rows would take more memory than the machine has.
        """
        rows, y = self.joined()
        return rows.matrix(), y

    def joined(self) -> tuple[Rows, npt.NDArray[Any] | None]:
        """Read everything into memory, as one `Rows`.

        Returns
        -------
        rows : Rows
            The rows.
        y : ndarray of shape (n_rows,) or None
            Their labels, if the source has any.

        Raises
        ------
        ValueError, DataError
            As for `arrays`.
        """
        batches, size = [], 0
        for batch in self.batches():
            batches.append(batch)
            size += batch.n_bytes
            check_memory(2 * size, self.name)  # while they are joined, they are there twice
        if not batches:
            raise ValueError(f"{self.name} has no rows")
        width = batches[-1].rows.n_features
        labels = [batch.y for batch in batches if batch.y is not None]
        return Rows.joined([batch.rows.wide(width) for batch in batches]), np.concatenate(labels) if labels else None


def rows_at_once(n_columns: int) -> int:
    """The number of dense rows with this many columns in a batch."""
    return max(1, min(MOST_ROWS, MOST_BYTES // (8 * max(1, n_columns))))


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Limit the number of threads that read rows.

    The limit holds for the thread that enters this context, and for all reading that begins inside: a source reads
    until its end as it began, with its first batch.

    Parameters
    ----------
    n : int
        With 1, the calling thread does everything itself, and no other is started.

    Examples
    --------
    >>> with threads(1):
    ...     n_workers()
    1
    """
    if n < 1:
        raise ValueError(f"the number of threads must be at least 1, got {n}")
    before = _most_threads.set(n)
    try:
        yield
    finally:
        _most_threads.reset(before)


def alone() -> bool:
    """Whether the calling thread has to do everything itself; see `threads`."""
    return _most_threads.get() == 1


def n_workers() -> int:
    """The number of threads to parse with: one a core, up to a limit."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MOST_WORKERS, cores, _most_threads.get() or MOST_WORKERS)


def pool(n: int, ahead: int, name: str = "") -> tuple[Executor, int]:
    """Workers that work ahead of the thread that takes their results; see `in_order`.

    Parameters
    ----------
    n : int
        The number of workers.
    ahead : int
        How many tasks may run before the first result is taken.
    name : str
        What their threads are called.

    Returns
    -------
    workers : Executor
        The calling thread itself, if it is `alone`.
    ahead : int
        0 if the calling thread is alone, as nothing is gained.
    """
    return (CallingThread(), 0) if alone() else (ThreadPoolExecutor(n, thread_name_prefix=name), ahead)


class CallingThread(Executor):
    """Does every task at once, in the thread that submits it."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        done: Future[T] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


def in_order(tasks: Iterator[Future[T]], ahead: int) -> Iterator[T]:
    """Yield the results of tasks in their order. If an error ends the tasks, it comes after the results.

    Parameters
    ----------
    tasks : iterator of Future
    ahead : int
        How many tasks may run before the first result is taken.

    Yields
    ------
    result of a task
    """
    waiting: deque[Future[T]] = deque()
    error: Exception | None = None
    more = True
    try:
        while more or waiting:
            try:
                waiting.append(next(tasks))
            except StopIteration:
                more = False
            except Exception as found:
                more, error = False, found
            if waiting and (len(waiting) > ahead or not more):
                yield waiting.popleft().result()
        if error is not None:
            raise error
    finally:
        for task in waiting:
            task.cancel()
