"""Requests with many examples: JSON, NDJSON, svmlight and CSV.

A body is parsed completely before the first example is learned, so that a fault anywhere changes nothing. It is learned
in parts, so that predictions can be made between them.
"""

from __future__ import annotations

import copy
import csv
import io
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import UNSET
from sklearn.base import ClassifierMixin

from perceptrons.data.arrays import Rows
from perceptrons.learn.single.example import Example as Row
from perceptrons.learn.single.example import from_pair
from perceptrons.models import one, validation
from perceptrons.models.examples import at_row, can_grow, examples_of, n_features_of
from perceptrons.serve.errors import Refused
from perceptrons.serve.messages import Example, Examples, read_example

Bits = npt.NDArray[np.uint8]
NOT_NUMBERS = "a row must consist of numbers. Give categories names: {'job': 'cook', 'age': 41}"
NUMBERS = "numbers"  # the type of labels that are numbers, in words
LABEL = 255  # the most characters of a label
PART = 1000  # examples that are learned at once
SCORES = 1 << 16  # the most scores of an answer
FORMATS = ("examples", "ndjson", "svmlight", "csv")  # of large bodies; the first is JSON with a list of examples


class Part(ABC):
    """Some examples of a request. y: their labels, or None. width: the number of features that they take, if known."""

    y: Any
    width: int | None = None

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def read(self, model: Any, *, grows: bool) -> tuple[Row, Any]:
        """The examples as rows for this model, and the names of features; grows: whether new features make room."""

    def learn(self, model: Any, classes: Any) -> Any:
        """Learn from these examples, all or none; returns what was predicted before each was learned."""
        return one.learn_batch(model, lambda: self.read(model, grows=True), self.y, None, classes, predict=True)

    def predict(self, model: Any) -> Any:
        """Predict the labels of these examples."""
        (rows, _), named = self.read(model, grows=False)
        encoding = None if named is None else getattr(model, "encoding_", None)
        found = []  # in pieces, because each row has a score for each class
        for begin in range(0, len(rows), PART):
            scaled = model._learner.scaled(rows.part(begin, begin + PART), encoding)
            found.append(one.predicted(model, model._learner.decide(scaled)))
        return np.concatenate(found)

    def new_names(self, names: dict[Any, int]) -> set[str]:
        """The names of features that are not among these."""
        return set()

    def labels(self, model: Any) -> list[Any]:
        """The labels: all of those in a list, since 1 and true are equal; the different ones of an array."""
        return self.y if isinstance(self.y, list) else np.unique(self.y).tolist()


class Dicts(Part):
    """Examples with named features."""

    def __init__(self, xs: list[Any], y: Any) -> None:
        self.xs, self.y = xs, y

    def __len__(self) -> int:
        return len(self.xs)

    def read(self, model: Any, *, grows: bool) -> tuple[Row, Any]:
        return examples_of(model, self.xs, grows=grows)

    def predict(self, model: Any) -> Any:
        return model.predict_many(self.xs)

    def new_names(self, names: dict[Any, int]) -> set[str]:
        return set().union(*map(names_in, self.xs)) - names.keys()


def names_in(x: dict[str, Any]) -> set[str]:
    """The names of the features of a dict: a text is a category."""
    return {f"{key}={value}" if type(value) is str else key for key, value in x.items()}


class Dense(Part):
    """Rows of numbers."""

    def __init__(self, xs: Any, y: Any) -> None:
        for i, x in enumerate(xs):
            if len(x) != len(xs[0]):
                raise at_row(i, ValueError(f"x has {len(x)} numbers, but the first row has {len(xs[0])}"))
            if type(x) is list and not are_numbers(x):
                raise at_row(i, ValueError(NOT_NUMBERS))
        self.X, self.y, self.width = np.array(xs), y, len(xs[0])

    def __len__(self) -> int:
        return len(self.X)

    def read(self, model: Any, *, grows: bool) -> tuple[Row, Any]:
        known = "_learner" in model.__dict__
        if known and self.width != n_features_of(model):
            name = type(model).__name__
            raise ValueError(f"x has {self.width} features, but {name} is expecting {n_features_of(model)} features")
        nameless = copy.copy(model)  # rows have no names, and need none
        nameless.__dict__.pop("feature_names_in_", None)
        nameless.__dict__.pop("_names", None)
        return Row(validation.features(nameless, self.X.astype(np.float64), reset=not known), []), None


class Sparse(Part):
    """Rows in CSR format."""

    def __init__(self, rows: Rows, y: Any) -> None:
        self.rows, self.y, self.width = rows, y, rows.n_features

    def __len__(self) -> int:
        return len(self.rows)

    def read(self, model: Any, *, grows: bool) -> tuple[Row, Any]:
        known, rows = n_features_of(model), self.rows
        grows = grows and can_grow(model)
        return Row(rows.wide(max(known, rows.n_features)) if grows else rows.narrow(known).wide(known), []), None


class Table(Part):
    """A CSV body for a model of tables: read as the training table was, by the parser of CSV files."""

    def __init__(self, body: bytes) -> None:
        self.body, self.y = body, None

    def __len__(self) -> int:
        return 0  # not known before it is read

    @contextmanager
    def source(self, model: Any) -> Iterator[Any]:
        """The body as a file."""
        from perceptrons.data import source

        with tempfile.NamedTemporaryFile(suffix=".csv") as file:
            file.write(self.body)
            file.flush()
            table = source(file.name, format="csv", like=model.encoding_, cache=False)
            try:
                yield table
            except ValueError as error:
                raise ValueError(str(error).replace(file.name, "body")) from None

    def read(self, model: Any, *, grows: bool) -> tuple[Row, Any]:
        raise NotImplementedError

    def labels(self, model: Any) -> list[Any]:
        with self.source(model) as table:
            self.y = np.concatenate([y for _, y in table.batches() if y is not None] or [np.empty(0)])
        return super().labels(model)

    def learn(self, model: Any, classes: Any) -> Any:
        self.labels(model)
        with self.source(model) as table:
            return model.predict_then_learn(table)

    def predict(self, model: Any) -> Any:
        with self.source(model) as table:
            return model.predict(table)


# -- learning and predicting ----------------------------------------------------------------------------------


def learn_parts(model: Any, parts: list[Part], classes: list[Any] | None) -> tuple[Bits, list[Any]]:
    """Learn from parts one after another; returns the bits, and what was predicted before each example was learned.

    If a part is refused, the parts before it have been learned: the caller restores the model.
    """
    bits, guesses = [np.empty(0, dtype=np.uint8)], list[Any]()
    for part in parts:
        found = part.learn(model, None if "_learner" in model.__dict__ else classes)
        bits.append(wrong_bits(model, found, np.asarray(part.y)))
        guesses += found.tolist()
    return np.concatenate(bits), guesses


def wrong_bits(model: Any, guesses: Any, y: Any) -> Bits:
    """Which guesses were wrong."""
    wrong = guesses != y if isinstance(model, ClassifierMixin) else np.abs(guesses - y) > model.epsilon
    return np.asarray(wrong).astype(np.uint8)


def predict_parts(model: Any, parts: list[Part]) -> list[Any]:
    """Predict the labels of all examples; None for each if nothing has been learned yet."""
    if "_learner" not in model.__dict__:
        return [None] * sum(map(len, parts))
    found: list[Any] = []
    for part in parts:
        with model._guard.mine():
            model._guard.settle()
            found += part.predict(model).tolist()
    return found


def check_scores(model: Any, n_rows: int) -> None:
    """Refuse to answer more scores than an answer may have."""
    n_classes = len(getattr(model, "classes_", ()))
    found = n_rows * (n_classes if n_classes > 2 else 1)
    if found > SCORES:
        raise Refused(413, f"the answer would have {found:,} scores: the limit is {SCORES:,}. Ask in several requests")


# -- bodies ---------------------------------------------------------------------------------------------------


def body_parts(model: Any, kind: str, body: bytes, settings: dict[str, Any], labelled: bool = True) -> list[Part]:
    """The examples of a body in one of `FORMATS`; labelled: whether all must have labels."""
    if kind == "svmlight":
        return _svmlight(body, settings)
    if kind == "csv":
        return [Table(body)] if "encoding_" in model.__dict__ else _csv(body, settings, labelled)
    found = msgspec.json.decode(body, type=Examples).examples if kind == "examples" else ndjson_examples(body)
    return parts_of(found, labelled)


def parts_of(examples: list[Example], labelled: bool = True) -> list[Part]:
    """Cut examples into parts; raises an error if they are of different kinds, or if a label is missing."""
    if not examples:
        raise ValueError("there are no examples")
    kinds = {kind_of(example.x) for example in examples}
    if len(kinds) > 1:
        raise ValueError(
            "the examples of one request must be all of one kind: named features, rows of numbers, or pairs [indices, "
            f"values]; got {' and '.join(sorted(kinds))}"
        )
    for i, example in enumerate(examples):
        if labelled and example.y is UNSET:
            raise at_row(i, ValueError("the example has no label y"))
    check_labels([example.y for example in examples if example.y is not UNSET])
    make = {"named features": Dicts, "rows of numbers": Dense, "pairs": _pairs}[kinds.pop()]
    parts = [examples[begin : begin + PART] for begin in range(0, len(examples), PART)]
    return [make([each.x for each in part], [each.y for each in part]) for part in parts]


def label_kind(y: Any) -> str:
    """The type of a label, in words."""
    return "text" if type(y) is str else "true or false" if type(y) is bool else NUMBERS


def check_labels(labels: Collection[Any]) -> None:
    """Raise an error for labels of different types: NumPy would turn them all into text; or for huge ones."""
    kinds = {label_kind(y) for y in labels}
    if len(kinds) > 1:
        raise ValueError(f"labels must be of one type, got {' and '.join(sorted(kinds))}")
    for y in labels:
        if type(y) is str and (len(y) > LABEL or y.endswith("\0")):
            raise ValueError(f"labels must have at most {LABEL} characters and not end with NUL, got {y!r:.80}")
        if type(y) is int and not -(2**63) <= y < 2**63:
            raise ValueError(f"whole numbers as labels must fit into 64 bits, got {str(y)[:80]}")
        if type(y) is float and not isfinite(y):
            raise ValueError(f"labels must be finite, got {y}")


def are_numbers(values: list[Any]) -> bool:
    """Whether a list has only numbers that NumPy can hold; otherwise an array of them could take much memory."""
    return all(type(value) is float or (type(value) in (int, bool) and abs(value) < 2**63) for value in values)


def kind_of(x: Any) -> str:
    """What an example is, in words."""
    if type(x) is dict:
        return "named features"
    return "pairs" if len(x) == 2 and type(x[0]) is list else "rows of numbers"


def _pairs(xs: list[Any], y: Any) -> Part:
    """Examples that are pairs [indices, values]."""
    found = []
    for i, (indices, values) in enumerate(xs):
        try:
            if type(values) is not list or not (are_numbers(indices) and are_numbers(values)):
                raise ValueError("a pair must be two lists of numbers, [indices, values]")
            where = np.array(indices) if indices else np.empty(0, dtype=np.int64)
            found.append(from_pair(where, np.array(values, dtype=None if values else np.float64), 1, grows=True).rows)
        except (ValueError, TypeError) as error:
            raise at_row(i, ValueError(str(error))) from None
    width = max(rows.n_features for rows in found)
    return Sparse(Rows.joined([rows.wide(width).widened() for rows in found]), y)


def ndjson_examples(body: bytes) -> list[Example]:
    """The examples of a body with one JSON object a line."""
    found = []
    for number, line in enumerate(body.split(b"\n"), 1):
        if line.strip():
            try:
                found.append(read_example(line))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise ValueError(f"line {number}: {error}") from None
    return found


def _svmlight(body: bytes, settings: dict[str, Any]) -> list[Part]:
    from perceptrons.data.svmlight import SvmlightText

    source = SvmlightText(body, "body", zero_based=settings.get("zero_based", True))
    parts: list[Part] = [Sparse(rows, y) for rows, y in source.batches()]
    if not parts:
        raise ValueError("the body has no rows")
    return parts


def _csv(body: bytes, settings: dict[str, Any], labelled: bool) -> list[Part]:
    """Rows of a CSV body with a header, as named features.

    As in dicts, a cell that is a number is a number, other text is a category, and an empty cell is left out.
    """
    try:
        text = io.StringIO(body.decode("utf-8-sig"), newline="")
        names, *lines = [line for line in csv.reader(text, strict=True) if line] or [[]]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"the body is not CSV in UTF-8: {error}") from None
    target = settings.get("target", "y")
    if labelled and target not in names:
        raise ValueError(f"the header has no column {target!r} with the labels: name it with ?target=COLUMN")
    if len(set(names)) < len(names):
        raise ValueError("the header has the same name twice")
    found = []
    for number, line in enumerate(lines, 2):
        if len(line) != len(names):
            raise ValueError(f"row {number} has {len(line)} cells, but the header has {len(names)} columns")
        cells = {name: _cell(text) for name, text in zip(names, line, strict=True)}
        y = cells.pop(target, UNSET)
        if labelled and y == "":
            raise ValueError(f"row {number} has no label in the column {target!r}")
        found.append(Example({name: value for name, value in cells.items() if value != ""}, y))
    return parts_of(found, labelled)


def _cell(text: str) -> float | str:
    try:
        number = float(text)
    except ValueError:
        return text.strip()
    return number if isfinite(number) and "_" not in text else text.strip()
