"""Columns of text as features: hashed words, and groups of neighbouring words with `ngrams` of 2 or more.

A word is a run of the characters ``[0-9A-Za-z_]`` and of characters outside of ASCII. A to Z become lower case; other
letters stay as they are. The low bits of its hash (`perceptrons.core.parse.hashing`) are its feature; neighbouring
words are hashed with one blank between them. The value of a feature depends on the weighting:

- "counts": the number of times that it occurs in the text;
- "binary": 1;
- "tfidf": 1 + log count. A learner multiplies it by log((n + 1)/(d + ½)), where n is the number of training rows and d
  the number of those that have the feature (the inverse document frequency of BM25, Robertson & Zaragoza 2009, §3.1),
  so that words that most texts have count little; see `perceptrons.learn.scale.rarity`.

All values of a text are divided by their length √(Σ value²), so that long and short texts move the weights equally far.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.parse.hashing import BINARY, COUNTS, LOGS, Room, count_words, hash_strings, hash_words
from perceptrons.data.arrays import readonly
from perceptrons.data.table.csr import Csr
from perceptrons.data.table.noted_words import NotedWords

TFIDF = "tfidf"
CODES = {"counts": COUNTS, "binary": BINARY, TFIDF: LOGS}


def word_rows(
    column: Any, ngrams: int, bits: int, first: int, weighting: str = "counts", noted: NotedWords | None = None
) -> Csr:
    """Hash the words of texts.

    Parameters
    ----------
    column : pyarrow array of strings
    ngrams : int
        The most neighbouring words that make one feature.
    bits : int
        There are 2^bits features.
    first : int
        Number of the first feature.
    weighting : {"counts", "binary", "tfidf"}
        Values of features.
    noted : NotedWords, optional
        Where to note the words behind the hashes.

    Returns
    -------
    values, indices, indptr : ndarray
        A CSR matrix.

    Examples
    --------
    >>> import pyarrow
    >>> values, indices, indptr = word_rows(pyarrow.array(["Win, WIN!", ""]), 1, 18, 0)
    >>> values, indptr
    (array([1.]), array([0, 1, 1], dtype=uint64))
    """
    letters, begins = strings_of(column)
    counts = np.zeros(2, dtype=np.uint64)
    count_words(letters, begins, counts)
    words, longest = map(int, counts)
    values, indices = np.empty(words * ngrams), np.empty(words * ngrams, dtype=np.uint32)
    indptr = np.empty(begins.size, dtype=np.uint64)
    line, *places = np.empty(longest + 1, dtype=np.uint8), *np.empty((2, longest + 1), dtype=np.uint64)
    how = ngrams, _mask(bits), np.uint32(first), np.uint64(CODES[weighting])
    hash_words(letters, begins, *how, (noted or NotedWords(0)).table, Room(line, *places), values, indices, indptr)
    end = int(indptr[-1])
    return values[:end].copy(), indices[:end].copy(), indptr


def hashes(column: Any, bits: int) -> npt.NDArray[np.uint32]:
    """Hash each string of an Arrow array to a number of this many bits."""
    found: npt.NDArray[np.uint32] = hash_strings(*strings_of(column), _mask(bits))
    return found


def _mask(bits: int) -> np.uint32:
    return np.uint32((1 << bits) - 1)


def strings_of(column: Any) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The bytes of an Arrow array of strings without nulls, and where each string begins."""
    import pyarrow as pa

    column = column.cast(pa.large_string())
    _, offsets, text = column.buffers()
    begins = np.frombuffer(offsets, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    letters = np.frombuffer(text if text is not None and text.size else b"\0", dtype=np.uint8)
    return readonly(letters), readonly(begins)  # writable buffers would compile a second variant
