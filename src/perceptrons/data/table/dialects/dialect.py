"""How the records of a CSV file are written: what separates cells, what quotes mean, what stands for a missing cell."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from perceptrons.core.parse.records import NO_QUOTE, records
from perceptrons.data.files import DataError

ALL = np.iinfo(np.int64).max
BLANKS = tuple(" " * n for n in range(1, 9))
# What Arrow takes for missing numbers, and what else people write.
USUAL = ["#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A", "NA", "NULL"]
USUAL += ["NaN", "n/a", "nan", "null"]
FURTHER = ["?", "-", "--", ".", "None", "none", "Null", "<NA>", "na", "#DIV/0!", "#VALUE!", "#REF!"]
UNKNOWN = "?"  # a missing category in models of earlier versions
# What stands for a missing category or label: marks that hardly ever are words. ("none" and "-" may be.)
WORDS = ("?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "Null", "null")


@dataclass(frozen=True)
class CsvDialect:
    """How the records of a CSV file are written.

    Parameters
    ----------
    delimiter : str
        The character between cells.
    header : bool
        Whether the first record holds the names of the columns.
    quotes : bool
        Whether " has a special meaning at the beginning of a cell.
    decimal : {".", ","}
        The decimal point of numbers.
    encoding : str, optional
        The encoding of the text. By default blocks that are not UTF-8 are read as Windows-1252.
    na : tuple of str
        What stands for a missing number, besides an empty cell, "NA", "-" and the like.
    words : tuple of str
        What stands for a missing category or label, besides an empty cell.
    """

    delimiter: str = ","
    header: bool = True
    quotes: bool = True
    decimal: str = "."
    encoding: str | None = None
    na: tuple[str, ...] = ()
    words: tuple[str, ...] = WORDS

    def check(self) -> None:
        """Refuse a dialect in which no file can be written."""
        if len(self.delimiter) != 1 or not self.delimiter.isascii() or self.delimiter in '"\r\n\0':
            raise DataError(f"delimiter must be one ASCII character, but not a quote, got {self.delimiter!r}")
        if self.decimal not in (".", ","):
            raise DataError(f"decimal must be '.' or ',', got {self.decimal!r}")
        if self.encoding is not None:
            try:
                text = codecs.lookup(self.encoding)._is_text_encoding
            except LookupError:
                text = False
            if not text:
                raise DataError(f"encoding must name an encoding of text such as latin-1, got {self.encoding!r}")

    @property
    def missing_numbers(self) -> list[str]:
        """The cells that are missing numbers."""
        marks = (*USUAL, *FURTHER, *self.na)
        return ["", *BLANKS, *marks, *(f" {mark}" for mark in marks)]

    @property
    def missing_words(self) -> list[str]:
        """The cells that are missing categories or labels, besides empty ones."""
        return list(self.words)

    def walk(self, text: Any, stop: int) -> tuple[int, int, int]:
        """Skip up to `stop` records: how many were complete, where the next begins, and the line feeds before it."""
        quote = ord('"') if self.quotes else NO_QUOTE
        found, begin, lines = records(np.frombuffer(text, dtype=np.uint8), ord(self.delimiter), quote, stop)
        return int(found), int(begin), int(lines)

    def cut(self, text: bytearray) -> int:
        """The position where the last, incomplete record begins."""
        if self.quotes and b'"' in text:  # a line feed may be part of a value
            return self.walk(text, ALL)[1]
        return text.rfind(b"\n") + 1 or text.rfind(b"\r") + 1

    @classmethod
    def from_state(cls, state: Any) -> CsvDialect:
        """Restore a dialect from its fields, which may come from a file that somebody else wrote."""
        if type(state) is not dict or not set(state) <= {field.name for field in fields(cls)}:
            raise ValueError("a dialect must have the parts " + ", ".join(field.name for field in fields(cls)))
        kinds: dict[str, set[type]] = {"delimiter": {str}, "header": {bool}, "quotes": {bool}, "decimal": {str}}
        kinds |= {"encoding": {str, type(None)}, "na": {list, tuple}, "words": {list, tuple}}
        for name, value in state.items():
            if type(value) not in kinds[name]:
                raise ValueError(f"{name} of a dialect has the wrong type: {value!r:.60}")
        na = tuple(state.get("na", ()))
        words = tuple(state.get("words", (UNKNOWN, *na)))  # files of earlier versions do not say
        if not all(type(mark) is str for mark in (*na, *words)):
            raise ValueError("na and words of a dialect must hold strings")
        found = cls(**{**state, "na": na, "words": words})
        found.check()
        return found
