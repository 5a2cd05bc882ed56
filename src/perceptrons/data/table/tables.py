"""Examples from tables: CSV, Parquet and Arrow files, read by pyarrow in parallel batches."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import asdict, replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, cast

from perceptrons.data import files
from perceptrons.data.batches import Batch, Source, in_order, n_workers, pool
from perceptrons.data.files import DataError
from perceptrons.data.shards.cutting import Span, check_cutting, shards_of
from perceptrons.data.shards.table_cuts import Cuts
from perceptrons.data.table import schema
from perceptrons.data.table.advice import BY_NAME, AnyBlock, located, no_column, other_columns
from perceptrons.data.table.arrow.files import ArrowBlock, read_arrow
from perceptrons.data.table.columns import Piece, encode
from perceptrons.data.table.counts import Counts
from perceptrons.data.table.csv_blocks import CsvBlock, Flaw, read_csv
from perceptrons.data.table.description import Description
from perceptrons.data.table.dialects.dialect import UNKNOWN, CsvDialect
from perceptrons.data.table.dialects.guessing import SAMPLE, cells, guessed, separates
from perceptrons.data.table.encoding import Encoding
from perceptrons.data.table.lexicon import Lexicon
from perceptrons.data.table.recut import recut
from perceptrons.data.table.roles import NUMERALS, ROWS, Guess
from perceptrons.data.table.settings import MEAN, Fill, Settings

DELIMITERS = {"csv": ",", "tsv": "\t"}
FORMATS = (*DELIMITERS, "parquet", "arrow", "frame")
FRAME = "the data frame"


class TableSource(Source):
    """Rows of tables, whose columns are found by name. Rows are dense if all features are numbers, otherwise CSR.

    The beginning of the first file decides what a column holds. In CSV files, a number is missing if its cell is empty,
    NA, NaN, null, or the like; a category or label also, but for marks that may be words, such as "-" and "none".

    Shards begin at row groups of Parquet files, record batches of Arrow files, and records of CSV files in UTF-8; other
    files are not cut. A CSV file in which quotes have a meaning is read once to find its records. Each shard numbers
    the categories that it finds; `joined_encoding` gives the numbers that they have in the whole table.

    Parameters
    ----------
    paths : list of str
        Files, plain or compressed; "-" is standard input.
    format : {"csv", "tsv", "parquet", "arrow"}
    target : str, optional
        The column of the labels. With `like`, the default is its target; if that column does not exist, rows have no
        labels.
    features, drop : list of str
        Columns that become features (by default all others), and columns to leave out.
    categorical : "auto" or list of str
        Further columns to treat as categories. Text, dictionaries and booleans are always categories.
    hash_bits : int, optional
        Hash all categories into 2^hash_bits shared features, instead of one feature for each category.
    text, ngrams, text_bits : list of str, int, int
        Columns of text. Each word is a feature; with ngrams=2 also each pair of neighbouring words, and so on. They
        are hashed into 2^text_bits features for each column. See `perceptrons.data.table.text`.
    weighting : {"tfidf", "binary", "counts"}, default="tfidf"
        How words count: more if few texts have them; all equally; or as often as they occur. Texts have length 1.
    missing : "mean", "error", float, or dict of column to float, default="mean"
        What replaces missing numbers. "mean": a learner that scales the rows takes the mean of the column, and one more
        feature marks the row; a number: this number; "error": missing values are refused. Unless they are refused,
        missing categories become a category of their own, and missing texts have no words.
    delimiter, header, quotes : str, bool, bool
        How CSV files are written. Without a header, columns are named "0", "1", …; without quotes, the character " has
        no special meaning.
    decimal : {".", ","}
        The decimal point in CSV files.
    encoding : str, optional
        The encoding of CSV files, for instance "latin-1".
    na : list of str, optional
        Cells of CSV files that count as missing, besides empty ones. Other marks, such as "NA" and "?", are then
        categories and labels like any other; in columns of numbers they are missing nevertheless.
    scale : {"standard", "none"}, default="standard"
        How the numbers should be scaled. Batches hold them as they are: a learner scales them.
    regression : bool, default=False
        Whether the target is a column of values to predict, not of classes. Regressors say so themselves.
    like : Encoding, optional
        Read the features of this encoding, and no new ones: categories that it does not contain have no feature. CSV
        files are read in the dialect of the encoding, as far as no other is given.
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
        numeric: Sequence[str] = (),
        hash_bits: int | None = None,
        text: Sequence[str] = (),
        ngrams: int = 1,
        text_bits: int = 18,
        missing: Fill = None,
        delimiter: str | None = None,
        header: bool | None = None,
        quotes: bool | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        na: Sequence[str] | None = None,
        scale: str | None = None,
        weighting: str = "tfidf",
        regression: bool = False,
        like: Encoding | None = None,
    ) -> None:
        if format not in FORMATS:
            raise DataError(f"format must be csv, tsv, parquet or arrow, got {format!r}")
        if like is not None and not isinstance(like, Encoding):
            raise TypeError(f"like must be an Encoding, as in model.encoding_, got {type(like).__name__}")
        self.paths, self.format = paths, format
        self.name = files.display(paths) if paths else FRAME
        told: dict[str, Any] = {"delimiter": delimiter, "header": header, "quotes": quotes, "decimal": decimal}
        marks = None if na is None else tuple(na)
        told |= {"encoding": encoding, "na": marks, "words": marks}
        self.given = {name: value for name, value in told.items() if value is not None}  # overrules everything else
        CsvDialect(**self.given).check()
        self.dialect: CsvDialect | None = None  # decided when the first file is opened
        fill = MEAN if missing is None else None if missing == "error" else missing
        columns = target, features, tuple(drop), categorical, hash_bits, tuple(text)
        texts = ngrams, text_bits, fill, scale or "standard", tuple(numeric), weighting
        self.settings = Settings(*columns, *texts, regression)
        self.settings.check()
        if like is not None:
            usual = Settings(target, missing=fill, scale=self.settings.scale)
            given = [name for name in Settings._fields if getattr(self.settings, name) != getattr(usual, name)]
            if given:
                raise DataError(f"{given[0]} cannot be given together with like, which determines it: leave one out")
            fill = like.missing if missing is None else fill
            like = replace(like, missing=fill, means=dict(like.means))  # of its own: others may read with it
        self.frozen = like is not None
        self.encoding = like or Encoding(target, "str", [], [], [], [])  # made when the first file is opened
        self.scale = self.settings.scale if like is None else like.scale
        self._means: dict[str, float] | None = None  # what replaces missing numbers
        self.n_bytes = files.n_bytes(paths)
        self.guesses: list[Guess] = []  # how the columns of the first file are treated
        self.sampled = 0  # rows that decide
        self.notes: set[str] = set()  # what the user should know about the files
        self.counts = Counts()  # missing cells, and categories without a feature
        self._names: list[str] = []  # the columns of the first file
        self._numerals: list[str] = []  # columns of numbers that Arrow cannot read as such
        self._ahead: Iterator[Job] | None = None  # what `look` has begun to read
        self._looked = False  # whether the beginning of the first file has been read
        self._complete = self.frozen  # whether all rows have been read once, so that all words are noted
        self._first = (
            self.name if not paths else paths[0]
        )  # the file that decides about the columns, which may belong to another shard
        self._basis: str | None = None  # identifies what the rows of a shard depend on besides its own files
        self._numbered = False  # whether the encoding has the features of all shards from the beginning

    def signature(self) -> dict[str, Any]:
        like = None
        if self.frozen:
            like = hashlib.sha256(json.dumps(self.encoding.state(words=False)).encode()).hexdigest()
        settings: dict[str, Any] = {"settings": self.settings._asdict(), "dialect": self.given, "like": like}
        found = {"format": self.format, "files": files.signature(self.paths), **settings}
        if self._basis is not None:
            found |= {"basis": self._basis, "spans": self.spans}
        return cast(dict[str, Any], json.loads(json.dumps(found)))  # tuples become lists

    def for_values(self) -> None:
        if not self.frozen and not self._looked:
            self.settings = self.settings._replace(regression=True)

    @property
    def numbers_as_read(self) -> bool:
        grown = self.encoding.categories and not self.encoding.n_hashed
        marked = self.encoding.numbers and self.encoding.indicates
        return not self.frozen and not self._numbered and bool(grown or marked)

    def shards(self, n: int | None = None) -> list[Source]:
        check_cutting(self, n)
        if self.spans is not None:
            return [self]
        if not self.frozen and not self._names:
            self._looked = False  # even if it was in vain
            self.look()
        elif self.dialect is None and self.format in DELIMITERS:
            next(self._jobs(), None)
        base = self.encoding if self.frozen else replace(self.encoding, seen=[], means={})
        found = shards_of(self._based_on(base, complete=self.frozen), n, Cuts(self).snap)
        for shard in found:
            shard.notes = set()
            shard.encoding = shard.encoding if self.frozen else replace(base, seen=[], means={}, lexicon=Lexicon())
        return list(found)

    def reading_like(self, encoding: Encoding) -> TableSource:
        """Read the rows of this shard with the features of all shards.

        Parameters
        ----------
        encoding : Encoding
            See `joined_encoding`. If it agrees with that of this shard, ``encoding.agrees(shard.encoding)``, the
            features have the same numbers anyway.

        Returns
        -------
        TableSource
            Its encoding does not have the words behind hashes.
        """
        made = self._based_on(encoding, complete=True)
        made._numbered = True
        return made

    def _based_on(self, encoding: Encoding, *, complete: bool) -> TableSource:
        """A copy of this source, which has looked at the first file, that begins with these features."""
        made = copy(self)
        made.encoding = replace(encoding, seen=list(encoding.seen), means=dict(encoding.means), lexicon=Lexicon())
        made._complete, made._ahead, made._cells = complete, None, []
        made.notes, made.counts, made.bytes_done = set(), Counts(), 0
        dialect = None if self.dialect is None else asdict(self.dialect)
        basis = made.encoding.state(), self._means, self._numerals, dialect
        made._basis = hashlib.sha256(json.dumps(basis).encode()).hexdigest()
        return made

    def look(self) -> list[Guess]:
        """Read the beginning of the first file, and guess how to treat its columns. It will not be read again.

        Returns
        -------
        list of Guess
        """
        if not self._looked and not self.frozen:
            self._looked = True
            self.begin()
            jobs = self._jobs()
            first = next(jobs, None)
            self._ahead = jobs if first is None else chain([first], jobs)
        return self.guesses

    def describe(self) -> Description:
        """Describe how the columns are treated, and why, from the beginning of the first file.

        Returns
        -------
        Description
            Without columns if a model determines them (`like`).
        """
        guesses = self.look()
        return Description(self.name, guesses, self.sampled, self.dialect)

    def __repr__(self) -> str:
        """The description; the name of a source that can be read only once, or that a model determines."""
        if self.is_stream or self.frozen:
            return f"{type(self).__name__}({self.name!r})"
        try:
            return str(self.describe())
        except (DataError, OSError) as error:
            return f"{type(self).__name__}({self.name!r}): {error}"

    def _repr_html_(self) -> str | None:
        return None if self.is_stream or self.frozen else self.describe()._repr_html_()

    def batches(self) -> Iterator[Batch]:
        return recut(self._parsed())

    def _parsed(self) -> Iterator[Batch]:
        """Read all rows, in batches that end where blocks of the files end."""
        self._looked = True
        jobs, self._ahead = self._ahead, None
        if jobs is None:
            self.begin()
            jobs = self._jobs()
        self.counts = Counts()
        (workers, ahead), lexicon = pool(n_workers(), n_workers() + 1, "table"), Lexicon()
        with workers:
            tasks = (workers.submit(self._work, job) for job in jobs)
            for job, pieces in in_order(tasks, ahead):
                if isinstance(pieces, Flaw):
                    raise self._located(job.block, pieces)
                for piece in pieces:
                    self.counts.add(piece, self.encoding if self.frozen else None)
                    if piece.words:
                        lexicon.note(piece.words)
                        self.encoding.lexicon = lexicon
                    rows = piece.rows(self.encoding, grow=not self.frozen)
                    self.bytes_done = job.done
                    yield Batch(rows, piece.y)
        self.bytes_done, self._complete = self.n_bytes or self.bytes_done, True

    def _jobs(self) -> Iterator[Job]:
        before = 0
        for path, span in self.parts():
            for block, target in self._csv(path, span) if self.format in DELIMITERS else self._arrow(path, span):
                yield Job(block, target, before + block.position)
            before += span.n_bytes

    def _work(self, job: Job) -> tuple[Job, list[Piece] | Flaw]:
        """Parse a block, in a worker: its pieces, or what is wrong with it."""
        import pyarrow as pa

        types = schema.csv_types(self.encoding, job.target, self._numerals)
        try:
            means = self.encoding.means if self.frozen else self._means
            settings, noting = (self.encoding, job.target, means), not self._complete
            return job, job.block.judged(lambda block: encode(block.table(types), *settings, notes_words=noting))
        except Flaw as flaw:
            return job, flaw
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:  # a type that is neither text nor a number
            return job, Flaw(0, None, str(error))

    def _located(self, block: AnyBlock, flaw: Flaw) -> DataError:
        return located(block, flaw, self.frozen, self.settings.numeric)

    def _csv(self, path: str, span: Span) -> Iterator[tuple[CsvBlock, str | None]]:
        opened, target = False, None
        dialect = self.encoding.dialect if self.frozen else None
        encoding = self.given.get("encoding") or (dialect and dialect.encoding)
        for block in read_csv(path, self._settle, encoding, self.notes, span):
            if block.empty:
                continue
            if not opened:
                try:
                    target, opened = self._open(path, block.names, partial(self._sample, block), block.numbers), True
                except Flaw as flaw:
                    raise self._located(block, flaw) from None
            yield block, target
        if not opened and not self.frozen:
            schema.find_target(self.settings.target, block.names, files.display([path]))

    def _settle(self, text: memoryview, ended: bool) -> CsvDialect:
        """Decide how CSV files are written, from the beginning of the first one."""
        if self.dialect is None:
            usual = DELIMITERS[self.format]
            known = asdict(self.encoding.dialect) if self.frozen and self.encoding.dialect is not None else {}
            named = self.encoding.columns if self.frozen else self.settings.named
            if known and "delimiter" not in self.given and not separates(text, known, named):
                del known["delimiter"], known["quotes"]
            if self.frozen and self.encoding.dialect is None and self.encoding.absent:  # a model of an earlier version
                known["words"] = (UNKNOWN,)
            self.dialect = guessed(text, ended, {**known, **self.given}, usual, named)
            self._cells = cells(bytes(text[:SAMPLE]), self.dialect.delimiter, self.dialect.quotes)
        return self.dialect

    def _sample(self, block: CsvBlock) -> Any:
        """The first rows of all columns that may be used."""
        return block.sample(schema.candidates(self.settings, block.names, files.display([block.path])))

    @property
    def _wording(self) -> CsvDialect | None:
        """How strings are read; None if they are only words."""
        return self.dialect

    def _raw(self, name: str) -> list[str]:
        """Some cells of a column of the first file, as they stand there."""
        if self.format not in DELIMITERS:
            return []
        j = self._names.index(name)
        begin = 1 if self.dialect is not None and self.dialect.header else 0
        return [row[j] for row in self._cells[begin:] if j < len(row)]

    def _arrow(self, path: str, span: Span) -> Iterator[tuple[ArrowBlock, str | None]]:
        opened, target, names = False, None, []
        where = files.display([path])

        def choose(found: Any) -> list[str]:
            nonlocal target, opened, names
            names = found.names
            if not self.frozen and not self._names:  # the first rows will decide
                return schema.candidates(self.settings, names, where)
            target, opened = self._open(path, names, found.empty_table), True
            schema.check_types(self.encoding, target, found, where)
            return [*self.encoding.columns, *([] if target is None else [target])]

        for block in read_arrow(path, self.format, choose, span):
            if not opened:
                try:  # Arrow does not check what it reads, but the table is checked
                    checked = block.table(dict.fromkeys(block.content.column_names))
                    target, opened = self._open(path, names, lambda: checked), True  # noqa: B023
                except Flaw as flaw:
                    raise self._located(block, flaw) from None
            yield block, target

    def _open(
        self,
        path: str,
        names: list[str],
        types: Callable[[], Any],
        reread: Callable[[list[str]], Any] | None = None,
    ) -> str | None:
        """Make the encoding from the first file, or check the columns of a later one; returns the target."""
        where = files.display([path])
        if not self.frozen and not self._names:
            found = schema.find_target(self.settings.target, names, where)
            self._names = names
            first = schema.First(names, types().slice(0, ROWS), where, self._wording, self._raw)
            try:
                self.encoding, self.guesses = schema.build(self.settings, first)
            except BaseException:
                self._names = []
                raise
            self.sampled = len(first.table)
            self._numerals = [each.column for each in self.guesses if each.why == NUMERALS]
            odd = [name for name in self.encoding.numbers if schema.kind_of(first.table.column(name).type) != "number"]
            numbers = first.table if reread is None or not odd else reread(self.encoding.numbers).slice(0, ROWS)
            means = schema.survey_numbers(self.encoding, numbers)
            self._means = means if self.encoding.dense else None
            return found
        target: str | None = self.settings.target or self.encoding.target
        if self.frozen and self.settings.target is None and target not in names:
            target = None
        wanted = [*self.encoding.columns, *([] if target is None else [target])]
        gone = [name for name in wanted if name not in names]
        new = [name for name in names if name not in self._names]
        new = [] if self.frozen or self.settings.features is not None else new
        if gone or new:
            headless = self.dialect is not None and not self.dialect.header
            if self.frozen and headless:
                raise no_column(where, gone[0], self.encoding)
            if self.frozen:
                none = self.dialect is not None and not set(wanted) & set(names)
                schema.check_names(gone, names, where, BY_NAME if none else "")
            raise other_columns(where, files.display([self._first]), gone, new)
        return target


class Job(NamedTuple):
    """A block to be parsed."""

    block: AnyBlock
    target: str | None
    done: int  # bytes of all files up to the end of the block
