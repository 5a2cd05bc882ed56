"""Examples from tables: CSV, Parquet and Arrow files, read by pyarrow, in batches and in parallel."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from importlib.util import find_spec
from typing import Any, NamedTuple, cast

from perceptrons.data import files
from perceptrons.data.batches import Batch, Source, in_order
from perceptrons.data.files import DataError
from perceptrons.data.table import schema
from perceptrons.data.table.arrow_files import ArrowBlock, read_arrow
from perceptrons.data.table.columns import Piece, encode
from perceptrons.data.table.csv_blocks import CsvBlock, CsvDialect, Flaw, read_csv
from perceptrons.data.table.encoding import Encoding, Fill, Settings

WORKERS = 8  # at most; each has a block under way
DELIMITERS = {"csv": ",", "tsv": "\t"}


class TableSource(Source):
    """Rows of tables, their columns found by name. Rows are dense where all features are numbers, else CSR.

    What a column holds is settled by the beginning of the first file: numbers stay numbers. In CSV files, numbers
    are missing where a cell is empty, NA, NaN or null; categories and labels where it is empty.

    Parameters
    ----------
    paths : list of str
        Files, plain or compressed; "-" is standard input.
    format : {"csv", "tsv", "parquet", "arrow"}
    target : str, optional
        The column of the labels. With `like`, by default the one of `like`, and rows have no labels without it.
    features, drop : list of str
        Columns that features come from (by default all others), and columns to leave out.
    categorical : "auto" or list of str
        Text, dictionaries and booleans are categories; these columns are as well.
    hash_bits : int, optional
        Hash categories into 2^hash_bits features, which they share, instead of one feature for each.
    text, ngrams, text_bits : list of str, int, int
        Columns of text, of which each word is a feature; with ngrams 2 also each pair of neighbours, and so on;
        hashed into 2^text_bits features for each column. See `perceptrons.data.table.text`.
    missing : float or dict of column to float, optional
        What stands in for missing numbers. Missing categories then are the category "missing", and missing
        texts have no words. By default they are refused.
    delimiter, header, quotes : str, bool, bool
        How CSV files are written. Without a header columns are named "0", "1", …; without quotes a " is a
        character like others.
    like : Encoding, optional
        Read the features that this encoding has, and no new ones: categories that it does not know have none.
    """

    def __init__(
        self,
        paths: list[str],
        *,
        format: str,
        target: str | None = None,
        features: list[str] | None = None,
        drop: Sequence[str] = (),
        categorical: str | Sequence[str] = "auto",
        hash_bits: int | None = None,
        text: Sequence[str] = (),
        ngrams: int = 1,
        text_bits: int = 18,
        missing: Fill = None,
        delimiter: str | None = None,
        header: bool = True,
        quotes: bool = True,
        like: Encoding | None = None,
    ) -> None:
        if find_spec("pyarrow") is None:
            raise DataError('tables are read by pyarrow, which is not installed: pip install "perceptrons[tables]"')
        if format not in (*DELIMITERS, "parquet", "arrow"):
            raise DataError(f"format must be csv, tsv, parquet or arrow, got {format!r}")
        delimiter = delimiter or DELIMITERS.get(format, ",")
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
            raise DataError(f"delimiter must be one ASCII character other than quotes, got {delimiter!r}")
        self.paths, self.name, self.format = paths, files.display(paths), format
        self.dialect = CsvDialect(delimiter, header, quotes)
        self.settings = Settings(
            target, features, tuple(drop), categorical, hash_bits, tuple(text), ngrams, text_bits, missing
        )
        self.settings.check()
        if like is not None and not isinstance(like, Encoding):
            raise TypeError(f"like must be an Encoding, as in model.encoding_, got {type(like).__name__}")
        if like is not None:
            usual = Settings(target, missing=missing)
            given = [name for name in Settings._fields if getattr(self.settings, name) != getattr(usual, name)]
            if given:
                raise DataError(f"{given[0]} cannot be given together with like, which settles it")
            like = like if missing in (None, like.missing) else replace(like, missing=missing)
        self.frozen = like is not None
        self.encoding = like or Encoding(target, "str", [], [], [], [])  # made when the first file is opened
        self.n_bytes = files.n_bytes(paths)
        self._names: list[str] = []  # of the first file
        self._checked = self.frozen

    def signature(self) -> dict[str, Any]:
        like = None
        if self.frozen:
            like = hashlib.sha256(json.dumps(self.encoding.state()).encode()).hexdigest()
        settings = {"settings": self.settings._asdict(), "dialect": asdict(self.dialect), "like": like}
        found = {"format": self.format, "files": files.signature(self.paths), **settings}
        return cast(dict[str, Any], json.loads(json.dumps(found)))  # lists for tuples

    def batches(self) -> Iterator[Batch]:
        self.begin()
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        workers = min(WORKERS, cores)
        with ThreadPoolExecutor(workers, thread_name_prefix="table") as pool:
            tasks = (pool.submit(self._work, job) for job in self._jobs())
            for job, pieces in in_order(tasks, workers + 1):
                if isinstance(pieces, Flaw):
                    raise _located(job.block, pieces)
                for piece in pieces:
                    rows = piece.rows(self.encoding, grow=not self.frozen)
                    self.bytes_done = job.done
                    yield Batch(rows, piece.y)
        self.bytes_done = self.n_bytes or self.bytes_done

    def _jobs(self) -> Iterator[Job]:
        before = 0
        for path in self.paths:
            for block, target in self._csv(path) if self.format in DELIMITERS else self._arrow(path):
                yield Job(block, target, before + block.position)
            before += 0 if path == files.STDIN else os.path.getsize(path)

    def _work(self, job: Job) -> tuple[Job, list[Piece] | Flaw]:
        """What comes of a block, or what is wrong with it; done by a worker."""
        import pyarrow as pa

        try:
            table = job.block.table(schema.csv_types(self.encoding, job.target))
            return job, encode(table, self.encoding, job.target)
        except Flaw as flaw:
            return job, flaw
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:  # a type that is neither text nor numbers
            return job, Flaw(0, None, str(error))

    def _csv(self, path: str) -> Iterator[tuple[CsvBlock, str | None]]:
        opened, target = False, None
        for block in read_csv(path, self.dialect):
            if block.empty:
                continue
            if not opened:
                try:
                    target, opened = self._open(path, block.names, block.schema), True
                    if not self._checked:
                        marked = [*self.encoding.flags, *self.settings.marked]
                        block.check_categories([name for name in self.encoding.categories if name not in marked])
                        self._checked = True
                except Flaw as flaw:
                    raise _located(block, flaw) from None
            yield block, target
        if not opened and not self.frozen:
            schema.find_target(self.settings.target, block.names, files.display([path]))

    def _arrow(self, path: str) -> Iterator[tuple[ArrowBlock, str | None]]:
        target: str | None = None

        def choose(found: Any) -> list[str]:
            nonlocal target
            target = self._open(path, found.names, lambda: found)
            schema.check_types(self.encoding, target, found, files.display([path]))
            return [*self.encoding.columns, *([] if target is None else [target])]

        for block in read_arrow(path, self.format, choose):
            yield block, target

    def _open(self, path: str, names: list[str], types: Callable[[], Any]) -> str | None:
        """Make the encoding by the columns of the first file, or find them in a further one; returns the target."""
        where = files.display([path])
        if not self.frozen and not self._names:
            found = schema.find_target(self.settings.target, names, where)
            self.encoding, self._names = schema.build(self.settings, types(), where), names
            return found
        target: str | None = self.settings.target or self.encoding.target
        if self.frozen and self.settings.target is None and target not in names:
            target = None
        wanted = [*self.encoding.columns, *([] if target is None else [target])]
        gone = [name for name in wanted if name not in names]
        new = [name for name in names if name not in self._names]
        new = [] if self.frozen or self.settings.features is not None else new
        if gone or new:
            if self.frozen and self.format in DELIMITERS and not self.dialect.header:
                places = "without a header columns are told by their places, that of the labels included"
                raise DataError(f"{where} has no column {gone[0]!r} (counted from 0): {places}")
            if self.frozen:
                schema.check_names(gone, names, where)
            others = f"those of {files.display(self.paths[:1])}"
            parts = [
                f"{what} {schema.listed(which)}" for what, which in {"without": gone, "with": new}.items() if which
            ]
            raise DataError(f"{where}: its columns are not {others}, but {' and '.join(parts)}")
        return target


class Job(NamedTuple):
    """A block to be parsed."""

    block: CsvBlock | ArrowBlock
    target: str | None
    done: int  # bytes of all files up to the end of it


def _located(block: CsvBlock | ArrowBlock, flaw: Flaw) -> DataError:
    place = block.place(flaw.row)
    return DataError(
        f"{place}: {flaw.what}" if flaw.column is None else f"{place}: column {flaw.column!r}: {flaw.what}"
    )
