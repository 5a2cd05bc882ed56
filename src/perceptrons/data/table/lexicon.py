"""The words behind the hashes of texts."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.parse.hashing import LONGEST
from perceptrons.data.table.noted_words import NotedWords

Array = npt.NDArray[Any]
Whole = npt.NDArray[np.uint32]
NOTHING = np.empty(0, dtype=np.uint32)
STATE = ("word",)  # list in the state of an encoding


class Lexicon:
    """The words of training rows. Features are counted from the first one of the first column of text."""

    def __init__(self) -> None:
        self.noted: list[NotedWords] = []  # for each column of text, while words are noted
        self.words: dict[int, str] = {}  # by feature, once words are no longer noted

    def note(self, noted: list[NotedWords]) -> None:
        """Add the words of a piece, with one table for each column of text."""
        self.noted = self.noted or [NotedWords(0) for _ in noted]
        for mine, new in zip(self.noted, noted, strict=True):
            mine.add(new)

    @classmethod
    def joined(cls, parts: Sequence[Lexicon], bits: int) -> Lexicon:
        """Join the words of all parts. Parts from files do not know how often words occur: then the first ones win."""
        made = cls()
        if not any(part.words for part in parts):
            for part in parts:
                if part.noted:
                    made.note(part.noted)
            return made
        for features, texts in (part.named(bits) for part in parts):
            for feature, text in zip(features.tolist(), texts, strict=True):
                made.words.setdefault(feature, text)
        made.words = dict(sorted(made.words.items()))
        return made

    def named(self, bits: int) -> tuple[Whole, list[str]]:
        """The features that have words, in order, and the most frequent word of each."""
        if not self.noted:
            return np.array(list(self.words), dtype=np.uint32), list(self.words.values())
        features, texts = [], []
        for column, words in enumerate(self.noted):
            found, text = words.by_feature(bits)
            features.append(found + np.uint32(column << bits))
            texts += text.split("\n")[:-1]
        return np.concatenate(features), texts

    def only(self, features: Array, bits: int) -> Lexicon:
        """A copy with only the words of these features, which is small enough for a model file."""
        copied = Lexicon()
        known, texts = self.named(bits)
        kept = np.flatnonzero(np.isin(known, features))
        copied.words = {int(known[i]): texts[i] for i in kept.tolist()}
        return copied

    def state(self, bits: int, *, words: bool = True) -> dict[str, list[str]]:
        """Convert it to plain data: lists of text, which hold numbers as base64 of 32 bits each."""
        known, texts = self.named(bits) if words else (NOTHING, [])
        return {"word": [_coded(known), "\n".join(texts)] if len(known) else []}

    @classmethod
    def from_state(cls, lists: dict[str, list[str]], width: int) -> Lexicon:
        """Restore it from its state, which may come from a file that somebody else wrote; `width`: all features.

        Raises
        ------
        ValueError
        """
        made = cls()
        if lists["word"]:
            code, text = _parts(lists, "word", 2)
            features, texts = _decoded(code), text.split("\n")
            _check(features, width)
            if len(features) != len(texts) or max(map(len, texts)) > LONGEST:
                raise ValueError(f"each word must have a feature, and at most {LONGEST} characters")
            made.words = dict(zip(features.tolist(), texts, strict=True))
        return made


def _parts(lists: dict[str, list[str]], name: str, size: int) -> list[str]:
    if len(lists[name]) != size:
        raise ValueError(f"{name} must have {size} parts, got {len(lists[name])}")
    return lists[name]


def _check(features: Whole, width: int) -> None:
    """Check that features are in order and exist: compiled code trusts them."""
    if len(features) and (int(features[-1]) >= width or (features[1:] <= features[:-1]).any()):
        raise ValueError(f"the features of words must ascend and be below {width}")


def _coded(numbers: Whole) -> str:
    return base64.b64encode(numbers.astype("<u4").tobytes()).decode()


def _decoded(text: str) -> Whole:
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("the numbers of words cannot be read") from error
    if len(raw) % 4:
        raise ValueError("the numbers of words must have 32 bits each")
    return np.frombuffer(raw, dtype="<u4").astype(np.uint32)
