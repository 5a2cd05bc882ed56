"""Convert pieces of an Arrow table to arrays. Workers can do this in parallel."""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.core.parse.columns import matrix
from perceptrons.core.rows import GOOD, survey
from perceptrons.data import batches, files
from perceptrons.data.arrays import OVERFLOW, Rows, readonly
from perceptrons.data.table.csr import Csr, beside, compact, nonzeros, ones, present
from perceptrons.data.table.csv_blocks import Flaw
from perceptrons.data.table.encoding import MISSING, SHOWN, Encoding
from perceptrons.data.table.noted_words import NotedWords
from perceptrons.data.table.settings import MEAN
from perceptrons.data.table.text import hashes, word_rows
from perceptrons.data.table.values import array_of, is_view, nulls_of, values_of

MISSING_LABEL = "the label is missing: remove the row"
SHARED = 4  # a dictionary of texts may take SHARED times the longest row


class Piece(NamedTuple):
    """Rows as arrays. Only the numbers of categories are missing, because they depend on earlier rows."""

    X: npt.NDArray[np.float64]
    sq_norm: npt.NDArray[np.float64]
    hashed: Csr | None
    columns: list[str]  # with features that are numbered in the order in which they occur
    codes: list[npt.NDArray[Any]]  # for each of them, the category of each row; −1 for none
    categories: list[list[str]]  # in the order in which they occur
    missing: dict[str, int]  # number of missing cells of each column that has any
    y: npt.NDArray[Any] | None
    words: list[NotedWords]  # the words behind hashes, for each column of text; empty if they are not noted

    def rows(self, encoding: Encoding, *, grow: bool) -> Rows:
        """Make the rows for a pass; with `grow`, new categories are added to the encoding."""
        if encoding.dense:
            return Rows(readonly(self.X), None, None, encoding.n_features, self.sq_norm)
        parts: list[Csr] = []
        if encoding.numbers:
            parts.append(nonzeros(self.X) if encoding.scale == "none" else present(self.X))
        if self.hashed is not None:
            parts.append(self.hashed)
        if self.codes:
            parts.append(ones(encoding.number(self.codes, self.categories, grow=grow, columns=self.columns)))
        values, indices, indptr = _side_by_side(parts)
        arrays = readonly(values), readonly(indices), readonly(indptr)
        sq_norm, _, _ = survey(*arrays, np.uint64(encoding.n_features))  # always finite: X was checked
        return Rows(*arrays, encoding.n_features, sq_norm)


def encode(
    table: Any,
    encoding: Encoding,
    target: str | None,
    means: dict[str, float] | None = None,
    *,
    notes_words: bool = False,
) -> list[Piece]:
    """Convert a table to pieces.

    Parameters
    ----------
    table : pyarrow.Table
    encoding : Encoding
    target : str or None
        The column of labels.
    means : dict of str to float, optional
        What replaces missing numbers if missing="mean". By default sparse rows have no entry for them.
    notes_words : bool
        Whether to note the words behind hashes.

    Returns
    -------
    list of Piece

    Raises
    ------
    Flaw
        The first flaw of the first piece that has one.
    """
    pieces = []
    rows = _rows_at_once(table, encoding, target)
    for begin in range(0, table.num_rows, rows):
        part = table.slice(begin, rows)
        flaws: list[Flaw] = []
        X, sq_norm, absent = _numbers(part, encoding, means, flaws)
        missing = {name: int(mask.sum()) for name, mask in absent.items()}
        categories = [_categories(part.column(name), encoding, name, flaws, missing) for name in encoding.categories]
        texts = [_texts(part.column(name), encoding, name, flaws, missing) for name in encoding.texts]
        y = None if target is None else _labels(part.column(target), encoding.label, target, flaws)
        if flaws:
            first = min(flaws, key=lambda flaw: flaw.row)
            raise Flaw(begin + first.row, first.column, first.what)
        noted = [NotedWords.for_piece(column.nbytes) for column in texts] if notes_words else []
        hashed = _hashed(categories, texts, encoding, noted) if encoding.n_hashed or texts else None
        names, onehot = ([], []) if encoding.n_hashed else (list(encoding.categories), categories)
        codes, words = [codes for codes, _ in onehot], [column.to_pylist() for _, column in onehot]
        if encoding.indicates:  # the feature "age=(missing)"
            names += list(absent)
            codes += [mask.astype(np.int64) - 1 for mask in absent.values()]
            words += [[MISSING] for _ in absent]
        pieces.append(Piece(X, sq_norm, hashed, names, codes, words, missing, y, noted))
    return pieces


def _rows_at_once(table: Any, encoding: Encoding, target: str | None) -> int:
    """The number of rows in a piece: fewer than usual if rows share texts that could take too much, written out."""
    import pyarrow as pa

    rows = batches.MOST_ROWS
    for name in [*encoding.categories, *encoding.texts, *([] if target is None else [target])]:
        column = table.column(name).combine_chunks()
        coded = pa.types.is_dictionary(column.type)
        sizes = _sizes(column.dictionary if coded else column)
        if sizes is None or not sizes.size:
            continue
        longest = int(sizes.max())
        most = f"{files.LONGEST >> 20} MB"
        if longest > files.LONGEST:
            at = int(sizes.argmax())
            row = int(np.argmax(values_of(column.indices.cast("int64").fill_null(-1), np.int64) == at)) if coded else at
            raise Flaw(row, name, f"the text is longer than {most}: shorten it")
        if coded and sizes.sum() > SHARED * files.LONGEST:
            raise Flaw(0, name, f"the dictionary takes over {SHARED} times {most}: write it as plain text")
        if longest and (name in encoding.texts if coded else is_view(column.type)):
            rows = max(1, min(rows, files.LONGEST // longest))
    return rows


def _sizes(column: Any) -> npt.NDArray[Any] | None:
    """The number of bytes of each text; None if the column holds no text."""
    import pyarrow as pa

    begin, end = column.offset, column.offset + len(column)
    if is_view(column.type):  # each view begins with its size
        return np.frombuffer(column.buffers()[1], dtype=np.int32).reshape(-1, 4)[begin:end, 0]
    if len(column) and (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        dtype = np.int32 if pa.types.is_string(column.type) else np.int64
        return np.diff(np.frombuffer(column.buffers()[1], dtype=dtype)[begin : end + 1])
    return None


def _numbers(
    part: Any, encoding: Encoding, means: dict[str, float] | None, flaws: list[Flaw]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], dict[str, npt.NDArray[np.bool_]]]:
    """The columns of numbers as one matrix, the squared lengths of its rows, and where columns have missing cells."""
    import pyarrow as pa

    n, columns = np.uint64(part.num_rows), []
    absent: dict[str, npt.NDArray[np.bool_]] = {}
    for name in encoding.numbers:
        column = _as(part.column(name), pa.float64()).combine_chunks()
        values = values_of(column, np.float64)
        if column.null_count:
            absent[name] = nulls_of(column)
            values = np.where(absent[name], 0.0, values)
        columns.append(values)
    X = matrix(np.array([column.__array_interface__["data"][0] for column in columns], dtype=np.uint64), n)
    sq_norm, verdict, row = survey(readonly(X), None, None, np.uint64(X.shape[1]))
    if verdict == GOOD and not absent:
        return X, sq_norm, absent
    left_out = encoding.indicates and encoding.scale != "none" and means is None
    for j, name in enumerate(encoding.numbers):
        nan, fill = np.isnan(X[:, j]) | absent.get(name, False), encoding.fill(name)
        if nan.any():
            absent[name] = nan
            if fill is None:
                flaws.append(_missing(nan, name, "a number"))
            X[nan, j] = (means or {}).get(name, 0.0) if encoding.missing == MEAN else fill or 0.0
        infinite = np.flatnonzero(np.isinf(X[:, j]))
        if infinite.size:
            what = f"got {X[infinite[0], j]}, expected a finite number"
            flaws.append(Flaw(int(infinite[0]), name, what))
            X[infinite, j] = 0.0
    sq_norm, verdict, row = survey(readonly(X), None, None, np.uint64(X.shape[1]))
    if verdict != GOOD:
        flaws.append(Flaw(int(row), None, OVERFLOW))
    if left_out:
        for j, name in enumerate(encoding.numbers):
            if name in absent:
                X[absent[name], j] = np.nan
    return X, sq_norm, {name: absent[name] for name in encoding.numbers if name in absent}


def _as(column: Any, type: Any) -> Any:
    """Cast a column to a type; a column that has the type needs no import for casting."""
    return column if column.type == type else column.cast(type, safe=False)


def _categories(
    column: Any, encoding: Encoding, name: str, flaws: list[Flaw], missing: dict[str, int]
) -> tuple[npt.NDArray[np.int64], Any]:
    """Convert a column to codes and the categories they stand for, in order of first occurrence."""
    import pyarrow as pa
    from pyarrow import compute

    if name in encoding.flags:
        column = compute.if_else(column.cast("bool"), "True", "False")
    codes, words = coded(column)
    blank = compute.equal(words, MISSING)
    empty = np.append(values_of(blank.cast("uint8"), np.bool_), True)[codes]  # an empty CSV cell is null, code −1
    if empty.any():
        missing[name] = int(empty.sum())
        if encoding.fill(name) is None:
            flaws.append(_missing(empty, name, f"the category {SHOWN!r}"))
    if encoding.absent != MISSING:
        words = compute.if_else(compute.equal(words, encoding.absent), MISSING, words)
    last = pa.repeat(pa.scalar(MISSING, pa.large_string()), 1)  # the category of nulls, whose code is −1
    unique = pa.concat_arrays([words, last]).dictionary_encode()
    codes, used = compact(values_of(unique.indices, np.int32).astype(np.int64)[codes], len(unique.dictionary))
    return codes, unique.dictionary.take(array_of(used))


def coded(column: Any) -> tuple[npt.NDArray[np.int64], Any]:
    """Convert a column of any type to codes, −1 for nulls, and the strings they stand for."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.large_string()).dictionary_encode()
    column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # each chunk has its own dictionary
        column = column.unify_dictionaries().combine_chunks()
    codes = values_of(column.indices.cast("int64").fill_null(-1), np.int64)
    return codes, column.dictionary.cast("large_string").fill_null("")


def _texts(column: Any, encoding: Encoding, name: str, flaws: list[Flaw], missing: dict[str, int]) -> Any:
    """Read a column of text; a missing text has no words."""
    column = _strings(column)
    if column.null_count:
        missing[name] = column.null_count
        if encoding.fill(name) is None:
            flaws.append(_missing(column.is_null(), name, "a text without words"))
        column = column.fill_null("")  # which imports pandas
    return column


def _labels(column: Any, type: str, name: str, flaws: list[Flaw]) -> npt.NDArray[Any]:
    """Convert a column to labels of the encoding's type."""
    import pyarrow as pa

    if type == "str":
        codes, words = coded(column)
        texts = words.to_pylist()
        long = np.array([*(len(text) > files.LONGEST_LABEL for text in texts), False])
        if long[codes].any():
            row = int(long[codes].argmax())
            what = f"the label has {len(texts[codes[row]])} characters, expected at most {files.LONGEST_LABEL}"
            flaws.append(Flaw(row, name, f"{what}: is this the column of labels?"))
        y = np.array([*("" if long[j] else text for j, text in enumerate(texts)), ""])[codes]
        empty = (y == "") & ~long[codes]
    else:
        column = column.combine_chunks()
        if pa.types.is_integer(column.type) and not column.null_count:
            y = values_of(column, column.type.to_pandas_dtype())  # floats are not exact beyond 2⁵³
            empty = np.zeros(len(y), dtype=np.bool_)
        else:
            floats = _as(column, pa.float64())
            y = values_of(floats.fill_null(np.nan) if floats.null_count else floats, np.float64)
            empty = np.isnan(y)
            y = np.where(empty, 0.0, y)
        if type == "int64":  # labels of a later file may be fractions, or too large for int64
            broken = np.flatnonzero(np.rint(y) != y if y.dtype.kind == "f" else y > np.iinfo(np.int64).max)
            if broken.size:
                what = f"expected a 64-bit integer, got {y[broken[0]]}"
                flaws.append(Flaw(int(broken[0]), name, what))
                return y
    if empty.any():
        flaws.append(Flaw(int(empty.argmax()), name, MISSING_LABEL))
    return np.asarray(y, dtype=None if type == "str" else type)


def _hashed(categories: list[tuple[Any, Any]], texts: list[Any], encoding: Encoding, noted: list[NotedWords]) -> Csr:
    """The hashed features, of categories and words; words are noted if there are tables for them."""
    import pyarrow as pa
    from pyarrow import compute

    parts: list[Csr] = []
    first = len(encoding.numbers)
    if encoding.hash_bits is not None and encoding.n_hashed:
        features = np.empty((len(categories[0][0]), len(categories)), dtype=np.uint32)
        for c, (name, (codes, words)) in enumerate(zip(encoding.categories, categories, strict=True)):
            begin = pa.scalar(f"{name}=", pa.large_string())
            if encoding.absent != MISSING:
                words = compute.if_else(compute.equal(words, MISSING), encoding.absent, words)
            full = compute.binary_join_element_wise(begin, words, pa.scalar("", pa.large_string()))
            features[:, c] = (hashes(full, encoding.hash_bits) + np.uint32(first))[codes]
        parts.append(ones(features))
    for t, column in enumerate(texts):
        begin, table = encoding.begin_text + (t << encoding.text_bits), noted[t] if noted else None
        parts.append(word_rows(column, encoding.ngrams, encoding.text_bits, begin, encoding.weighting, table))
    return _side_by_side(parts)


def _side_by_side(parts: list[Csr]) -> Csr:
    """Join matrices with the same rows; each has its features after those of the one before."""
    return reduce(beside, parts)


def _strings(column: Any) -> Any:
    """Convert a column of any type to one array of strings."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column.cast(pa.large_string()).combine_chunks()
    codes, words = coded(column)
    return words.take(array_of(codes, codes >= 0))


def _missing(empty: Any, name: str, instead: str) -> Flaw:
    row = np.flatnonzero(np.asarray(empty))[0]
    what = f"the value is missing: remove the row, drop the column, or put {instead} in its place with missing='mean'"
    return Flaw(int(row), name, what)
