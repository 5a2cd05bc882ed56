"""How the columns of a table become features: what has to be kept with a model to read new tables as it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.data.files import DataError

NONE = np.uint32(0xFFFFFFFF)  # in place of a feature's number: there is none
MISSING = "missing"  # the category of cells without one, where they are filled
Fill = float | dict[str, float] | None


class Settings(NamedTuple):
    """What is asked for of the columns of a table."""

    target: str | None = None
    features: list[str] | None = None
    drop: Sequence[str] = ()
    categorical: str | Sequence[str] = "auto"
    hash_bits: int | None = None
    text: Sequence[str] = ()
    ngrams: int = 1
    text_bits: int = 18
    missing: Fill = None

    @property
    def marked(self) -> list[str]:
        """Columns of categories by name."""
        return [] if self.categorical == "auto" else list(self.categorical)

    def check(self) -> None:
        """Raise an error for what makes no sense whatever the table."""
        for name, bits in {"hash_bits": self.hash_bits, "text_bits": self.text_bits}.items():
            if bits is not None and not 1 <= bits <= 28:
                raise DataError(f"{name} must lie between 1 and 28, got {bits}")
        if not 1 <= self.ngrams <= 8:
            raise DataError(f"ngrams must lie between 1 and 8, got {self.ngrams}")
        fills = self.missing.values() if isinstance(self.missing, dict) else [self.missing]
        for fill in fills:
            if fill is not None and not np.isfinite(fill):
                raise DataError(f"missing must be filled by a finite number, got {fill}")


@dataclass
class Encoding:
    """Columns in the order of their features.

    Features are numbered: first one for each column of numbers; then, with `hash_bits`, 2^hash_bits that all
    categories share, each hashed as "column=category"; then 2^text_bits for each column of text; then, without
    `hash_bits`, one for each category, in the order in which they are first seen, row by row.

    >>> encoding = Encoding("y", "int64", ["age"], ["job"], [], [])
    >>> _ = encoding.number([np.array([0, 1, 0])], [["teacher", "nurse"]], grow=True)
    >>> encoding.feature_names
    ['age', 'job=teacher', 'job=nurse']
    """

    target: str | None
    label: str  # what the labels are: int64, float64, bool or str
    numbers: list[str]
    categories: list[str]  # columns of categories
    flags: list[str]  # those of them that are true or false
    texts: list[str]
    hash_bits: int | None = None
    ngrams: int = 1
    text_bits: int = 18
    missing: Fill = None
    seen: list[tuple[str, str]] = field(default_factory=list)  # column and category, by their number

    def __post_init__(self) -> None:
        self._known: dict[str, dict[str, int]] = {name: {} for name in self.categories}
        for number, (column, category) in enumerate(self.seen):
            self._known[column][category] = number

    @property
    def columns(self) -> list[str]:
        """Names of all columns that features come from."""
        return [*self.numbers, *self.categories, *self.texts]

    @property
    def dense(self) -> bool:
        """Whether all features are numbers, so that rows are dense."""
        return not self.categories and not self.texts

    @property
    def n_hashed(self) -> int:
        """How many features the hashed categories share."""
        return 1 << self.hash_bits if self.hash_bits is not None and self.categories else 0

    @property
    def begin_onehot(self) -> int:
        """The first feature of a category of its own."""
        return len(self.numbers) + self.n_hashed + (len(self.texts) << self.text_bits)

    @property
    def n_features(self) -> int:
        """How many features there are by now."""
        return self.begin_onehot + len(self.seen)

    @property
    def feature_names(self) -> list[str]:
        """A name for each feature; see `feature_name`."""
        return [self.feature_name(j) for j in range(self.n_features)]

    @property
    def named(self) -> bool:
        """Whether every feature has a name of its own: none is shared by whatever is hashed to it."""
        return not self.n_hashed and not self.texts

    def agrees(self, other: Encoding) -> bool:
        """Whether features of the same number are the same, as far as the other knows them."""
        mine, theirs = (
            (each.numbers, each.n_hashed, each.texts, each.ngrams, each.text_bits) for each in (self, other)
        )
        return mine == theirs and other.seen == self.seen[: len(other.seen)]

    def feature_name(self, j: int) -> str:
        """ "age" for a number, "job=teacher" for a category; "hash[731]" and "message[731]" where many share one."""
        if j < len(self.numbers):
            return self.numbers[j]
        if j >= self.begin_onehot:
            return "=".join(self.seen[j - self.begin_onehot])
        j -= len(self.numbers)
        if j < self.n_hashed:
            return f"hash[{j}]"
        column, bucket = divmod(j - self.n_hashed, 1 << self.text_bits)
        return f"{self.texts[column]}[{bucket}]"

    def fill(self, column: str) -> float | None:
        """What stands in for missing values of a column; None where they are refused."""
        return self.missing.get(column) if isinstance(self.missing, dict) else self.missing

    def number(
        self, codes: list[npt.NDArray[Any]], categories: list[list[str]], *, grow: bool
    ) -> npt.NDArray[np.uint32]:
        """The feature of each row and column of categories; new ones get the next numbers, or none.

        `codes` point into `categories`, which stand in the order in which they occur.
        """
        fresh, numbers = [], []
        for c, (code, words) in enumerate(zip(codes, categories, strict=True)):
            known = self._known[self.categories[c]]
            numbers.append(np.array([known.get(word, -1) for word in words], dtype=np.int64))
            new = np.flatnonzero(numbers[c] < 0).tolist() if grow else []
            if new:
                first = np.flatnonzero(np.diff(np.maximum.accumulate(code), prepend=-1))
                fresh += [(int(first[i]), c, i) for i in new]
        for _, c, i in sorted(fresh):  # by rows: the numbers do not depend on where batches end
            numbers[c][i] = self._known[self.categories[c]][categories[c][i]] = len(self.seen)
            self.seen.append((self.categories[c], categories[c][i]))
        found = np.empty((len(codes[0]), len(codes)), dtype=np.uint32)
        for c, code in enumerate(codes):
            found[:, c] = np.where(numbers[c] < 0, NONE, numbers[c] + self.begin_onehot).astype(np.uint32)[code]
        return found

    def state(self) -> tuple[dict[str, Any], dict[str, list[str]]]:
        """Settings ready for JSON, and lists of text that may be long."""
        meta = asdict(self)
        del meta["seen"]
        return meta, {"column": [column for column, _ in self.seen], "category": [word for _, word in self.seen]}

    @classmethod
    def from_state(cls, meta: dict[str, Any], lists: dict[str, list[str]]) -> Encoding:
        """The encoding that `state` was taken of."""
        return cls(**meta, seen=list(zip(lists["column"], lists["category"], strict=True)))
