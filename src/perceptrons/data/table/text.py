"""Columns of text as features: hashed words, and groups of neighbouring words with `ngrams` of 2 or more.

A word is a run of the characters ``[0-9A-Za-z_]`` and of characters outside of ASCII. A to Z become lower case; other
letters stay as they are. The low bits of its hash (`perceptrons.core.parse.hashing`) are its feature; neighbouring
words are hashed with one blank between them. The value of a feature is its count, divided by the length √(Σ count²) of
all counts of the text, so that long and short texts move the weights equally far.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.parse.hashing import hash_strings, hash_words
from perceptrons.data.arrays import readonly

Csr = tuple[npt.NDArray[np.float64], npt.NDArray[np.uint32], npt.NDArray[np.uint64]]


def word_rows(column: Any, ngrams: int, bits: int, first: int) -> Csr:
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
    found: Csr = hash_words(*_strings(column), ngrams, _mask(bits), np.uint32(first))
    return found


def hashes(column: Any, bits: int) -> npt.NDArray[np.uint32]:
    """Hash each string of an Arrow array to a number of this many bits."""
    found: npt.NDArray[np.uint32] = hash_strings(*_strings(column), _mask(bits))
    return found


def _mask(bits: int) -> np.uint32:
    return np.uint32((1 << bits) - 1)


def _strings(column: Any) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The bytes of an Arrow array of strings without nulls, and where each string begins."""
    import pyarrow as pa

    column = column.cast(pa.large_string())
    _, offsets, text = column.buffers()
    begins = np.frombuffer(offsets, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    letters = np.frombuffer(text if text is not None and text.size else b"\0", dtype=np.uint8)
    return readonly(letters), readonly(begins)  # writable buffers would compile a second variant
