"""Columns of text as features: hashed words, and neighbouring words with `ngrams` of 2 and more.

A word is what ``[0-9A-Za-z_]`` and all characters outside of ASCII make up in a row; A to Z become small, other
letters stay as they are. Its feature is its hash's low bits (`perceptrons.core.parse.hashing`); words that stand beside
each other are hashed with one blank between them. The value is how often it occurs, the values of a text divided
by their length √(Σ count²): long and short texts then move the weights equally far.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.parse.hashing import hash_strings, hash_words
from perceptrons.data.arrays import readonly

Csr = tuple[npt.NDArray[np.float64], npt.NDArray[np.uint32], npt.NDArray[np.uint64]]


def word_rows(column: Any, ngrams: int, bits: int, first: int) -> Csr:
    """CSR arrays of an Arrow array of strings; features are numbered from `first` on.

    >>> import pyarrow
    >>> values, indices, indptr = word_rows(pyarrow.array(["Win, WIN!", ""]), 1, 18, 0)
    >>> values, indptr
    (array([1.]), array([0, 1, 1], dtype=uint64))
    """
    found: Csr = hash_words(*_strings(column), ngrams, _mask(bits), np.uint32(first))
    return found


def hashes(column: Any, bits: int) -> npt.NDArray[np.uint32]:
    """The hash of each string of an Arrow array, so many bits."""
    found: npt.NDArray[np.uint32] = hash_strings(*_strings(column), _mask(bits))
    return found


def _mask(bits: int) -> np.uint32:
    return np.uint32((1 << bits) - 1)


def _strings(column: Any) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The bytes of an Arrow array of strings without missing ones, and where each begins."""
    import pyarrow as pa

    column = column.cast(pa.large_string())
    _, offsets, text = column.buffers()
    begins = np.frombuffer(offsets, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    letters = np.frombuffer(text if text is not None and text.size else b"\0", dtype=np.uint8)
    return readonly(letters), readonly(begins)  # a buffer may be writable or not; each would be compiled for
