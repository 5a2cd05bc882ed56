"""Read one example, a dict or a pair of arrays, into a sparse row.

A dict is read by compiled code that holds Python's lock (see `pyobjects`), in a twentieth of the time of a loop in
Python. Nothing is called that could run Python code. Whatever is unusual, such as keys that are not text, values that
are neither numbers nor text, or a new name, is left to the caller.

Passing an array to compiled code takes as long as reading two entries of a dict. So what does not change from dict to
dict is passed in one array, the desk: numbers, and the addresses of arrays that the caller keeps alive.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons.core.jit.compiled import Compiled, is_finite
from perceptrons.core.jit.deferred import register_jitable
from perceptrons.core.pyobjects import (
    CONTENT,
    KEY,
    OVERFLOW,
    POSITION,
    TYPE,
    VALUE,
    floats,
    item,
    next_entry,
    real,
    this_thread,
    whole,
    word,
    words,
)
from perceptrons.core.rows import JIT, ONE, U, dot, survey_row

UNUSUAL, CROWDED, UNSORTED = -1, -2, -3  # what `read_dict` returns instead of the number of entries
FEW = 64  # entries that are sorted here
EXACT = 2**53  # integers up to this are floats
# Entries of the desk, after those of `pyobjects`.
TEXT, FLOAT, FLOAT64, INT, BOOL, TRUE = range(4, 10)  # addresses of types, and of True
NAMES, CATEGORIES = 10, 11  # addresses of dicts: the feature of each name; for each name, that of each text
WIDTH, ALL_NAMED, CAPACITY, N_TEXTS, N_WEIGHTS = range(12, 17)
# Addresses of arrays: names; the row; what was measured; weights and the bias; the thread that owns the model.
TEXTS, VALUES, INDICES, INDPTR, SQ_NORM, MISTAKES, WEIGHTS, BIAS, OWNER = range(17, 26)
# At each place of a dict, the address of the key that was there, and its feature.
PLACES, EXPECTED = 1 << 10, 26
NUMBERS, SIZE = EXPECTED + PLACES, EXPECTED + 2 * PLACES


def new_desk(numbers: dict[Any, int], categories: dict[Any, dict[str, int]]) -> Any:
    """A desk for names of features. The caller fills in the rest, and keeps all that it refers to alive.

    numbers: the feature of each name. categories: for each name, the feature of each text that was its value.
    """
    desk = np.zeros(SIZE, dtype=np.int64)
    known = str, float, np.float64, int, bool, True, numbers, categories
    desk[TEXT : CATEGORIES + 1] = [id(each) for each in known]
    return desk


@register_jitable(**JIT)
def number_of(value, kind, desk):
    """The number that a value of this type is, and whether it is one that is read here; updates the desk in place."""
    if kind == desk[FLOAT64]:
        return real(value + CONTENT), True
    if kind == desk[INT]:
        desk[OVERFLOW] = 0
        found = whole(value, desk)
        return float(found), desk[OVERFLOW] == 0 and -EXACT <= found <= EXACT
    if kind == desk[BOOL]:
        return 1.0 if value == desk[TRUE] else 0.0, True
    return 1.0, kind == desk[TEXT]


NEW, STRANGE = np.int64(-1), np.int64(-2)  # instead of a feature


@register_jitable(**JIT)
def feature_of(key, place, desk):
    """Find the feature whose name is the key at this place of the dict; NEW for a new name, STRANGE for another key.

    The desk has the address of the key that was at each place of an earlier dict, and its feature. Only names that are
    kept alive are expected again: otherwise another text might have that address. Updates the desk in place.
    """
    if word(key + TYPE) != desk[TEXT]:
        return STRANGE
    found = item(desk[NAMES], key)
    if found == 0:
        return NEW
    j = whole(found, desk)
    if place < U(PLACES) and j < desk[N_TEXTS] and word(desk[TEXTS] + 8 * j) == key:
        desk[U(EXPECTED) + place], desk[U(NUMBERS) + place] = key, j
    return j


@register_jitable(**JIT)
def category_of(key, text, desk):
    """The feature of a name with a text as its value; STRANGE if it has not been noted. Updates the desk in place."""
    if word(key + TYPE) != desk[TEXT]:
        return STRANGE
    texts = item(desk[CATEGORIES], key)
    found = item(texts, text) if texts != 0 else 0
    return whole(found, desk) if found != 0 else STRANGE


@register_jitable(**JIT)
def sort_few(indices, values, n):
    """Sort the first n entries of a row by their indices, in place; whether all indices differ."""
    for k in range(ONE, n):
        j, x, to = indices[k], values[k], k
        while to > U(0) and indices[to - ONE] > j:
            indices[to], values[to] = indices[to - ONE], values[to - ONE]
            to -= ONE
        indices[to], values[to] = j, x
        if to > U(0) and indices[to - ONE] == j:
            return False
    return True


@register_jitable(**JIT)
def read(address, skips, desk, values, indices, indptr):
    """Read the dict at an address; fills the row, updates the desk in place, returns the number of entries.

    skips: whether names that are not known are left out; otherwise they are unusual.
    """
    desk[POSITION] = 0
    n, place, last, rises = U(0), U(0), np.int64(-1), True
    usual, width, room = desk[FLOAT], desk[WIDTH], U(values.size)  # kept in registers
    while next_entry(address, desk) != 0:
        key, value = desk[KEY], desk[VALUE]
        kind = word(value + TYPE)
        if kind == usual:
            x = real(value + CONTENT)
        else:
            x, plain = number_of(value, kind, desk)
            if not plain:
                return UNUSUAL
        if place < U(PLACES) and desk[U(EXPECTED) + place] == key and kind != desk[TEXT]:
            j = desk[U(NUMBERS) + place]
        elif kind == desk[TEXT]:
            j = category_of(key, value, desk)
        else:
            j = feature_of(key, place, desk)
        place += ONE
        if j == NEW and skips and desk[ALL_NAMED] != 0:
            continue
        if j < 0 or j >= width:
            return UNUSUAL
        if n == room:
            return CROWDED
        rises = rises and j > last
        last = j
        indices[n], values[n] = j, x
        n += ONE
    indptr[1] = n
    if not rises:
        if n > FEW:
            return UNSORTED
        if not sort_few(indices, values, n):
            return UNUSUAL
    return np.int64(n)


def _read_dict(address, skips, desk):
    """Read and measure a dict: see `read`. A row that is not finite is unusual.

    Unless it skips names, sets the number of mistakes to 0, and keeps the last one in the entry behind it.
    """
    values, indices = floats(desk[VALUES], desk[CAPACITY]), words(desk[INDICES], desk[CAPACITY], np.uint32)
    indptr, sq_norm = words(desk[INDPTR], 2, np.uint64), floats(desk[SQ_NORM], 1)
    n = read(address, skips, desk, values, indices, indptr)
    if n < 0 and n != UNSORTED:
        return n
    sq_norm[0], _ = survey_row(values, indices, indptr, U(0), U(desk[WIDTH]))
    if not is_finite(sq_norm[0]):
        return UNUSUAL
    if n >= 0 and not skips:
        mistakes = floats(desk[MISTAKES], 2)
        mistakes[1], mistakes[0] = mistakes[0], 0.0
    return n


def _score_dict(address, desk):
    """The score of a dict by one weight vector; NaN if the dict is unusual, or if this thread does not own the model.

    The owner needs no lock: to take the ownership away, another thread must hold Python's lock, which this one has.
    """
    if word(desk[OWNER]) != this_thread():
        return np.nan
    values, indices = floats(desk[VALUES], desk[CAPACITY]), words(desk[INDICES], desk[CAPACITY], np.uint32)
    indptr, w = words(desk[INDPTR], 2, np.uint64), floats(desk[WEIGHTS], desk[N_WEIGHTS])
    if read(address, True, desk, values, indices, indptr) < 0:
        return np.nan
    return dot(values, indices, indptr, U(0), w) + real(desk[BIAS]) * w[U(w.size) - ONE]


# They must hold Python's lock, which other compiled functions release.
read_dict, score_dict = (Compiled(each, nogil=False) for each in (_read_dict, _score_dict))


@Compiled
def read_pair(indices, values, width, skips, out, to, indptr):
    """Read a pair; fills the row `out`, `to`, `indptr` and returns its length, or UNUSUAL.

    skips: whether features from `width` on are left out; otherwise they are unusual, as are indices that do not rise.
    """
    n, last = U(0), np.int64(-1)
    for k in range(U(indices.size)):
        j = np.int64(indices[k])
        if j <= last or (j >= width and not skips):
            return UNUSUAL
        last = j
        if j < width:
            out[n], to[n] = values[k], j
            n += ONE
    indptr[1] = n
    return np.int64(n)
