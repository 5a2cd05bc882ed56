"""How the columns of a table become features. It is saved with a model, so that new tables are read the same way."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.parse.columns import NONE
from perceptrons.data.table.dialects.dialect import CsvDialect
from perceptrons.data.table.lexicon import STATE, Lexicon
from perceptrons.data.table.settings import MEAN, Fill
from perceptrons.data.table.states import FORMERLY, check_state
from perceptrons.data.table.text import TFIDF

MISSING = ""  # the category that replaces missing ones, and marks missing numbers; no cell has it
SHOWN = "(missing)"  # its name for people


@dataclass
class Encoding:
    """The columns of a table and the numbers of their features.

    Features are numbered in this order: one for each column of numbers; with `hash_bits`, 2^hash_bits features that
    all categories share, each hashed as "column=category"; 2^text_bits for each column of text; without `hash_bits`,
    one for each category, in the order in which categories first occur, row by row. With missing="mean", a column of
    numbers with missing cells has one more feature, which is 1 in rows without a number: "age=(missing)".

    Parameters
    ----------
    target : str or None
        The column of labels.
    label : {"int64", "float64", "bool", "str"}
        The type of the labels.
    numbers, categories, texts : list of str
        The columns of numbers, categories and text.
    flags : list of str
        The columns of categories that hold booleans.
    hash_bits, ngrams, text_bits, missing
        See `TableSource`.
    seen : list of (str, str)
        The column and name of each category, by its number.
    scale : {"none", "standard"}
        How the numbers should be scaled. With "standard", sparse rows contain all numbers, also zeros.
    sparse : bool
        Whether rows are sparse although all columns are numbers, because some are missing.
    means : dict of str to float
        What replaces missing numbers with missing="mean", when a model reads new rows; by default 0.
    dialect : CsvDialect, optional
        How the CSV files were written.
    weighting : {"counts", "binary", "tfidf"}
        How words are weighed. Files of earlier versions do not say: they count.
    absent : str
        Cells that are the same category as missing ones: none, but in files of earlier versions the word "missing".
    lexicon : Lexicon
        The words of training rows.

    Examples
    --------
    >>> encoding = Encoding("y", "int64", ["age"], ["job"], [], [])
    >>> _ = encoding.number([np.array([0, 1, 0])], [["teacher", "nurse"]], grow=True)
    >>> encoding.feature_names
    ['age', 'job=teacher', 'job=nurse']
    """

    target: str | None
    label: str
    numbers: list[str]
    categories: list[str]
    flags: list[str]
    texts: list[str]
    hash_bits: int | None = None
    ngrams: int = 1
    text_bits: int = 18
    missing: Fill = None
    seen: list[tuple[str, str]] = field(default_factory=list)
    scale: str = "none"
    sparse: bool = False
    means: dict[str, float] = field(default_factory=dict)
    dialect: CsvDialect | None = None
    weighting: str = "counts"
    absent: str = MISSING
    lexicon: Lexicon = field(default_factory=Lexicon, compare=False, repr=False)

    def __post_init__(self) -> None:
        self._known: dict[str, dict[str, int]] = {name: {} for name in [*self.categories, *self.numbers]}
        for number, (column, category) in enumerate(self.seen):
            self._known[column][category] = number

    @property
    def columns(self) -> list[str]:
        """The names of all columns that become features."""
        return [*self.numbers, *self.categories, *self.texts]

    @property
    def dense(self) -> bool:
        """Whether all columns are numbers, so that rows are dense."""
        return not self.categories and not self.texts and not self.sparse

    @property
    def weighs_words(self) -> bool:
        """Whether a learner weighs words by their rarity."""
        return bool(self.texts) and self.weighting == TFIDF

    @property
    def n_hashed(self) -> int:
        """The number of features that hashed categories share."""
        return 1 << self.hash_bits if self.hash_bits is not None and self.categories else 0

    @property
    def begin_text(self) -> int:
        """The number of the first feature of words."""
        return len(self.numbers) + self.n_hashed

    @property
    def begin_onehot(self) -> int:
        """The number of the first one-hot feature."""
        return self.begin_text + (len(self.texts) << self.text_bits)

    @property
    def n_features(self) -> int:
        """The number of features found so far."""
        return self.begin_onehot + len(self.seen)

    @property
    def feature_names(self) -> list[str]:
        """The names of all features; see `feature_name`."""
        return [self.feature_name(j) for j in range(self.n_features)]

    @property
    def named(self) -> bool:
        """Whether every feature has its own name: no feature is hashed, and so shared."""
        return not self.n_hashed and not self.texts

    def agrees(self, other: Encoding) -> bool:
        """Whether all features of another encoding have the same numbers here.

        Parameters
        ----------
        other : Encoding

        Returns
        -------
        bool
        """
        mine, theirs = (
            (each.numbers, each.n_hashed, each.texts, each.ngrams, each.text_bits, each.weighting, each.absent)
            for each in (self, other)
        )
        return mine == theirs and other.seen == self.seen[: len(other.seen)]

    def feature_name(self, j: int) -> str:
        """Name a feature.

        Parameters
        ----------
        j : int

        Returns
        -------
        str
            "age" for a number, "job=teacher" for a category, "job=(missing)" for missing ones, "message: free" for a
            word. A hashed feature whose word is not known is "hash[731]" or "message[731]".
        """
        if j < len(self.numbers):
            return self.numbers[j]
        if j >= self.begin_onehot:
            name, category = self.seen[j - self.begin_onehot]
            return f"{name}={SHOWN if category == MISSING else category}"
        j -= len(self.numbers)
        if j < self.n_hashed:
            return f"hash[{j}]"
        column, bucket = divmod(j - self.n_hashed, 1 << self.text_bits)
        word = self.lexicon.words.get(j - self.n_hashed)
        return f"{self.texts[column]}[{bucket}]" if word is None else f"{self.texts[column]}: {word}"

    def with_words_of(self, features: npt.NDArray[Any]) -> Encoding:
        """A copy that knows the words of only these features, for a model file.

        Parameters
        ----------
        features : ndarray of int

        Returns
        -------
        Encoding
        """
        return replace(self, lexicon=self.lexicon.only(features - self.begin_text, self.text_bits))

    def fill(self, column: str) -> float | None:
        """The number that replaces missing values of a column.

        Parameters
        ----------
        column : str

        Returns
        -------
        float or None
            None if missing values are refused; 0 with missing="mean".
        """
        found = self.missing.get(column) if isinstance(self.missing, dict) else self.missing
        return 0.0 if isinstance(found, str) else found

    @property
    def indicates(self) -> bool:
        """Whether a feature of its own marks missing numbers."""
        return self.missing == MEAN and not self.dense

    def knows(self, column: str, category: str) -> bool:
        """Tell whether a category has a feature.

        Parameters
        ----------
        column, category : str

        Returns
        -------
        bool
        """
        return category in self._known[column]

    def number(
        self,
        codes: list[npt.NDArray[Any]],
        categories: list[list[str]],
        *,
        grow: bool,
        columns: list[str] | None = None,
    ) -> npt.NDArray[np.uint32]:
        """Number the categories of rows.

        Parameters
        ----------
        codes : list of ndarray
            For each column of categories, the code of each row: a position in `categories`, or −1 for no feature.
        categories : list of list of str
            For each column, its categories in the order in which they occur.
        grow : bool
            Whether new categories get the next numbers; otherwise they have no feature.
        columns : list of str, optional
            The names of the columns; by default all columns of categories.

        Returns
        -------
        ndarray of shape (rows, columns)
            Feature numbers.
        """
        fresh, numbers = [], []
        columns = self.categories if columns is None else columns
        for c, (code, words) in enumerate(zip(codes, categories, strict=True)):
            known = self._known[columns[c]]
            numbers.append(np.array([known.get(word, -1) for word in words], dtype=np.int64))
            new = np.flatnonzero(numbers[c] < 0).tolist() if grow else []
            if new:
                first = np.flatnonzero(np.diff(np.maximum.accumulate(code), prepend=-1))
                fresh += [(int(first[i]), c, i) for i in new]
        for _, c, i in sorted(fresh):  # row by row, so that numbers do not depend on where batches end
            numbers[c][i] = self._known[columns[c]][categories[c][i]] = len(self.seen)
            self.seen.append((columns[c], categories[c][i]))
        found = np.empty((len(codes[0]), len(codes)), dtype=np.uint32)
        for c, code in enumerate(codes):
            features = np.where(numbers[c] < 0, NONE, numbers[c] + self.begin_onehot).astype(np.uint32)
            found[:, c] = np.append(features, NONE)[code]
        return found

    def state(self, *, words: bool = True) -> tuple[dict[str, Any], dict[str, list[str]]]:
        """Convert the encoding to plain data.

        Parameters
        ----------
        words : bool, default=True
            Whether the words behind hashes are included; rows do not depend on them.

        Returns
        -------
        meta : dict
            Settings, ready for JSON.
        lists : dict of list of str
            Lists that may be long.
        """
        meta = asdict(replace(self, seen=[], lexicon=Lexicon()))
        del meta["seen"], meta["lexicon"]
        seen = {"column": [column for column, _ in self.seen], "category": [word for _, word in self.seen]}
        return meta, seen | (self.lexicon.state(self.text_bits, words=words) if self.texts else {})

    @classmethod
    def from_state(cls, meta: dict[str, Any], lists: dict[str, list[str]]) -> Encoding:
        """Restore an encoding from its `state`, which may come from a file that somebody else wrote.

        Parameters
        ----------
        meta : dict
        lists : dict of list of str

        Returns
        -------
        Encoding

        Raises
        ------
        ValueError
            If no encoding has this state.
        """
        check_state(meta, lists, set(cls.__dataclass_fields__) - {"seen", "lexicon"})
        meta = dict(meta)
        if meta.get("dialect") is not None:
            meta["dialect"] = CsvDialect.from_state(meta["dialect"])
        meta.setdefault("absent", FORMERLY)
        categories = [MISSING if word == meta["absent"] else word for word in lists["category"]]
        found = cls(**meta, seen=list(zip(lists["column"], categories, strict=True)))
        if set(STATE) <= set(lists):
            found.lexicon = Lexicon.from_state(lists, found.begin_onehot - found.begin_text)
        return found
