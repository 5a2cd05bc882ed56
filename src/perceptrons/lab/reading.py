"""Read a small table of numbers with labels, from a file, an upload or pasted text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from perceptrons.data import DataError, Source, files, source
from perceptrons.data.numpy_files import MAGIC, NumpySource
from perceptrons.data.source import ENDINGS, detect_format
from perceptrons.data.table.dialects.decoding import WIDE
from perceptrons.data.table.dialects.guessing import SAMPLE
from perceptrons.data.table.schema import listed
from perceptrons.data.table.tables import TableSource
from perceptrons.lab.columns import CAP, NAMED, Columns, Floats, Label, Part, capped, plain_labels
from perceptrons.lab.limits import BYTES, CLASSES, FEATURES, ROWS
from perceptrons.shown import count, shown

CHUNK = 4096  # sparse rows that are written out at once
PASTED = "pasted text"
LABEL = "label"  # what the labels of svmlight files are called here


class Table(NamedTuple):
    """Rows of numbers with their labels."""

    name: str  # of the file, or "pasted text"
    names: list[str]  # of the features
    values: Floats  # one row for each example
    labels: list[Label]
    target: str  # the column of the labels
    targets: list[str]  # the columns that could be the target
    notes: list[str]  # what the user should know


class Sample(NamedTuple):
    """Some rows of a file."""

    values: Floats
    labels: list[Label]
    notes: list[str]


def read_bytes(name: str, content: bytes, target: str | None = None) -> Table:
    r"""Read an uploaded file or pasted text. Its name is for messages, and its ending tells the format.

    >>> table = read_bytes("pasted text", b"x1,x2,colour\n1,2,red\n3,4,blue\n")
    >>> table.names, table.values.tolist(), table.labels, table.target
    (['x1', 'x2'], [[1.0, 2.0], [3.0, 4.0]], ['red', 'blue'], 'colour')
    """
    name = shown(re.split(r"[\\/]", name)[-1].strip())[-100:] or PASTED
    if len(content) > BYTES:
        remedy = "save it in a file and run `perceptrons lab FILE`, which draws a sample of its rows"
        raise DataError(f"{name} has more than {BYTES:,} bytes, the most that the page takes: {remedy}")
    if not content.strip():
        raise DataError(f"{name} is empty: expected rows such as 1.5,2,a with numbers and a class")
    ending = files.extension(name)
    with TemporaryDirectory(prefix="perceptrons-") as folder:
        path = os.path.join(folder, "table" + (ending if ending in ENDINGS else ""))
        Path(path).write_bytes(content)
        try:
            return _read(path, name, target)
        except ValueError as error:
            raise DataError(str(error).replace(path, name)) from None


def read_path(path: str, target: str | None = None) -> Table:
    """Read a file of any format that `perceptrons.data.source` reads; it may be larger than memory."""
    found = files.expand(path)
    if len(found) > 1:
        raise DataError(f"{path} stands for {len(found)} files: name one of them")
    if files.is_stream(found[0]):  # it can be read only once
        with files.open_binary(found[0]) as stream:
            return read_bytes(files.display(found), stream.read(BYTES + 1), target)
    return _read(found[0], os.path.basename(found[0]), target)


def _read(path: str, name: str, target: str | None) -> Table:
    made = source(path, format=_format(path), cache=False, scale="none")
    if isinstance(made, TableSource):
        return _from_table(made, name, target)
    return _from_numpy(made, name, target) if isinstance(made, NumpySource) else _from_svmlight(made, name, target)


def _format(path: str) -> str:
    """The format of a file. Text of no other format counts as CSV."""
    try:
        return detect_format(path)
    except DataError:
        with files.open_binary(path) as stream:
            begin = stream.read(SAMPLE)
        if b"\0" in begin and begin[:2] not in WIDE:
            what = "has NUL characters, so it is not text: save the table as CSV"
            raise DataError(f"{path} {what}, or give it one of the endings {', '.join(ENDINGS)}") from None
        return "csv"


def _from_svmlight(made: Source, name: str, target: str | None) -> Table:
    if target not in (None, LABEL):
        raise DataError(f"{made.name} has no column {target!r}: the labels of svmlight files are called {LABEL!r}")
    width, sample = _gathered(made, LABEL)
    first = 1 if width > 1 and not sample.values[:, 0].any() else 0  # where indices begin
    return _numbered(name, range(first, width), sample._replace(values=sample.values[:, first:]), LABEL)


def _from_numpy(made: NumpySource, name: str, target: str | None) -> Table:
    with files.open_binary(made.paths[0]) as stream:
        single = stream.read(len(MAGIC)) == MAGIC  # one array, in which the labels are a column
    if single and target is not None and not re.fullmatch(r"\d{1,9}", target, re.ASCII):
        raise DataError(f"{made.name} has no column {target!r}: its columns have the numbers 0, 1, …")
    made.target = target
    width, sample = _gathered(made, target or ("last" if single else "y"))
    if not single:
        return _numbered(name, range(width), sample, target or "y")
    column = width if target is None else int(target)
    return _numbered(name, [j for j in range(width + 1) if j != column], sample, str(column))


def _gathered(made: Source, target: str) -> tuple[int, Sample]:
    """The number of features of a matrix, and some rows of its first features."""
    width = 0

    def parts() -> Iterator[Part]:
        nonlocal width
        for rows, y in made.batches():
            if y is None:
                raise DataError(f"{made.name} has no labels: add an array y with the class of each row")
            width, labels = rows.n_features, plain_labels(y)
            for begin in range(0, len(rows), CHUNK):
                matrix = rows.part(begin, begin + CHUNK).narrow(FEATURES + 1).matrix()
                some = matrix.toarray() if hasattr(matrix, "toarray") else matrix[:, : FEATURES + 1]
                X = np.zeros((len(some), FEATURES + 1))  # later rows may have more features
                X[:, : some.shape[1]] = some
                yield X, [labels[begin : begin + CHUNK]]

    sample = _sampled(parts(), made.name, target, [target])
    return width, sample


def _numbered(name: str, features: Sequence[int], sample: Sample, target: str) -> Table:
    names = [str(j) for j in features[:FEATURES]]
    values = np.ascontiguousarray(sample.values[:, : len(names)])
    return Table(name, names, values, sample.labels, target, [target], [*_too_wide(len(features)), *sample.notes])


def _from_table(made: TableSource, name: str, target: str | None) -> Table:
    columns = Columns(made, target)
    target = columns.default() if target is None else target
    for column, error in columns.strays.items():
        if column != target:
            raise error
    features = [column for column in columns.numbers if column != target]
    if not features:
        what = f"has no column of numbers besides the class, column {target!r}: add one"
        raise DataError(f"{made.name} {what}. Its columns are {listed(columns.names)}")
    fitting = set(columns.fitting) | {target}
    targets = [column for column in columns.names if column in fitting]
    sample = _sampled(columns.parts(features[:FEATURES], target), made.name, target, targets)
    told = [note.split(": if ")[0].replace(made.name, f"The file {name}") for note in sorted(columns.notes)]
    notes = [f"{note[0].upper()}{note[1:]}." for note in told]
    used = {*features, target}
    ignored = [column for column in columns.names if column not in used]
    if ignored:
        more = f" and {len(ignored) - NAMED:,} more" if len(ignored) > NAMED else ""
        notes.append(f"Ignored, because not all values are numbers: {listed(ignored[:NAMED])}{more}.")
    notes += [*_too_wide(len(features)), *sample.notes]
    return Table(name, features[:FEATURES], sample.values, sample.labels, target, targets, notes)


def _sampled(parts: Iterator[Part], where: str, target: str, targets: list[str]) -> Sample:
    """Draw up to ROWS rows that have all numbers and a label, the first of each class among them, in their order."""
    random = np.random.default_rng(0)
    keys, values, labels = np.empty(0), np.empty((0, 0)), np.empty(0, dtype=object)
    read, complete, classes = 0, 0, set[Label]()
    for X, (y,) in capped(parts):
        whole = ~np.isnan(X).any(axis=1) & np.array([label is not None for label in y], dtype=np.bool_)
        read, complete = read + len(X), complete + int(whole.sum())
        X, y, drawn = X[whole], y[whole], random.random(int(whole.sum()))
        first = {label: i for i, label in reversed(list(enumerate(y)))}
        drawn[[first[label] for label in set(first) - classes]] = -1.0  # so that no class gets lost
        classes |= set(first)
        keys, labels = np.concatenate([keys, drawn]), np.concatenate([labels, y])
        values = np.concatenate([values if len(values) else X[:0], X])
        kept = np.sort(np.argsort(keys)[:ROWS])
        keys, values, labels = keys[kept], values[kept], labels[kept]
    if not complete:
        raise DataError(f"{where} has no row with all numbers and a label")
    _check_classes(classes, where, target, [other for other in targets if other != target])
    notes = []
    if complete < read:
        left_out = "were" if read - complete > 1 else "was"
        notes.append(f"{count(read - complete, 'row')} with a missing number or label {left_out} left out.")
    if complete > ROWS or read == CAP:
        of = f"the first {CAP:,}" if read == CAP else f"{complete:,}"
        notes.append(f"{len(keys):,} of {of} rows, drawn at random.")
    return Sample(np.ascontiguousarray(values), labels.tolist(), notes)


def _check_classes(classes: set[Label], where: str, target: str, others: list[str]) -> None:
    """Refuse a target that has too few different values, or too many."""
    if 2 <= len(classes) <= CLASSES:
        return
    remedy = "add rows of other classes" if len(classes) < 2 else "join some of them to one class"
    if others:
        remedy = f"choose another column as the target, such as {listed(others[:NAMED])}"
    what = f"has {count(len(classes), 'different value')}, expected 2 to {CLASSES} classes"
    raise DataError(f"{where}: column {target!r} {what}: {remedy}")


def _too_wide(n: int) -> list[str]:
    return [f"Only the first {FEATURES} of {n:,} columns of numbers are used."] if n > FEATURES else []
