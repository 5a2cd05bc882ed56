"""Hash text to feature numbers: words, pairs of words, and so on.

The hash is MurmurHash3_x86_32 with seed 0 (Austin Appleby, public domain:
https://github.com/aappleby/smhasher/blob/master/src/MurmurHash3.cpp), which scikit-learn's FeatureHasher uses too.
Strings are stored as in Arrow: the bytes of all strings in one array, and the offsets where strings begin and end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from perceptrons.core.jit.compiled import Compiled
from perceptrons.core.jit.deferred import register_jitable
from perceptrons.core.parse.bits import U

W = np.uint32
ONE = U(1)
LONGEST = U(64)  # bytes of a word that is noted
MOST = W(0xFFFFFFFF)
COUNTS, BINARY, LOGS = range(3)  # how words are weighed
GAPS = tuple(U(gap) for gap in (88573, 29524, 9841, 3280, 1093, 364, 121, 40, 13, 4, 1))  # Knuth: (3^k − 1) / 2


class Table(NamedTuple):
    """Noted words: arrays with an entry for each slot, the letters that begins and sizes refer to, and what is used.

    `used` has the number of words, and of letters.
    """

    hashes: Any
    counts: Any
    begins: Any
    sizes: Any
    letters: Any
    used: Any


class Room(NamedTuple):
    """Room for the words of one string."""

    line: Any
    begins: Any
    ends: Any


@register_jitable()
def rotated(x, left):
    return W(x << W(left)) | W(x >> W(32 - left))


@register_jitable()
def scrambled(k):
    return W(rotated(W(k * W(0xCC9E2D51)), 15) * W(0x1B873593))


@register_jitable()
def murmur3(text, begin, end):
    """MurmurHash3_x86_32 of text[begin:end]."""
    h, at = W(0), begin
    while at + U(4) <= end:
        k = W(text[at]) | W(W(text[at + ONE]) << W(8)) | W(W(text[at + U(2)]) << W(16))
        h = W(h ^ scrambled(W(k | W(W(text[at + U(3)]) << W(24)))))
        h = W(W(rotated(h, 13) * W(5)) + W(0xE6546B64))
        at += U(4)
    if at < end:
        k = W(0)
        for i in range(end - at):
            k = W(k | W(W(text[at + i]) << W(U(8) * i)))
        h = W(h ^ scrambled(k))
    h = W(h ^ W(end - begin))
    h = W(W(h ^ (h >> W(16))) * W(0x85EBCA6B))
    h = W(W(h ^ (h >> W(13))) * W(0xC2B2AE35))
    return W(h ^ (h >> W(16)))


@register_jitable()
def in_word(byte):
    """Whether a byte belongs to a word: an ASCII letter, a digit, _, or part of a character outside of ASCII."""
    letter = byte | 32
    return (letter >= 97 and letter <= 122) or (byte >= 48 and byte <= 57) or byte == 95 or byte >= 128


@register_jitable()
def sort(array, begin, end):
    """Sort array[begin:end] in place by Shell's method, which is short, and fast for a few thousand words."""
    for gap in GAPS:
        for i in range(begin + gap, end):
            x, at = array[i], i
            while at >= begin + gap and array[at - gap] > x:
                array[at] = array[at - gap]
                at -= gap
            array[at] = x


@Compiled
def hash_strings(text, offsets, mask):
    """Hash each string; `mask` picks the low bits."""
    hashes = np.empty(offsets.size - 1, dtype=np.uint32)
    for i in range(U(hashes.size)):
        hashes[i] = murmur3(text, U(offsets[i]), U(offsets[i + ONE])) & mask
    return hashes


@register_jitable()
def note(word, line, begin, end, table):
    """Count a word, given by its hash and by line[begin:end], in a table, which is updated in place.

    The table is open: a word is in the first free slot from its hash on. Half of the slots stay free. Once the others
    are full, or the room for letters is, new words are not noted.
    """
    hashes, counts, used, size = table.hashes, table.counts, table.used, end - begin
    if hashes.size == 0 or size > LONGEST:
        return
    last = U(hashes.size) - ONE
    slot = U(word) & last
    while counts[slot] > W(0):
        if hashes[slot] == word:
            counts[slot] += W(counts[slot] < MOST)
            return
        slot = (slot + ONE) & last
    if U(2) * used[0] > last or used[1] + size > U(table.letters.size):
        return
    hashes[slot], counts[slot], table.begins[slot], table.sizes[slot] = word, W(1), used[1], size
    for i in range(size):
        table.letters[used[1] + i] = line[begin + i]
    used[0] += ONE
    used[1] += size


@Compiled
def merge_words(table, more):
    """Add the words of one table to another, which is updated in place."""
    hashes, counts = table.hashes, table.counts
    last = U(hashes.size) - ONE
    for at in range(U(more.hashes.size)):
        if more.counts[at] > W(0):
            word, begin = more.hashes[at], U(more.begins[at])
            note(word, more.letters, begin, begin + U(more.sizes[at]), table)
            slot = U(word) & last
            while counts[slot] > W(0) and hashes[slot] != word:
                slot = (slot + ONE) & last
            if counts[slot] > W(0):  # it has been noted once more
                counts[slot] = W(min(U(counts[slot]) + U(more.counts[at]) - ONE, U(MOST)))


@Compiled
def join_words(letters, begins, sizes, out):
    """Write the letters of words into out, each followed by a line feed."""
    at = U(0)
    for i in range(U(begins.size)):
        for k in range(U(sizes[i])):
            out[at] = letters[U(begins[i]) + k]
            at += ONE
        out[at] = 10
        at += ONE


@Compiled
def count_words(text, offsets, counts):
    """Count the words of all strings, and the bytes of the longest string; fills counts with the two."""
    words, longest = U(0), U(0)
    for i in range(U(offsets.size) - ONE):
        inside = False
        for at in range(U(offsets[i]), U(offsets[i + ONE])):
            now = in_word(text[at])
            words += U(now and not inside)
            inside = now
        longest = max(longest, U(offsets[i + ONE] - offsets[i]))
    counts[0], counts[1] = words, longest


@Compiled
def hash_words(text, offsets, ngrams, mask, first, weighting, table, room, values, indices, indptr):
    """Hash the words of each string to CSR arrays (see `perceptrons.data.table.text`); `first` is the first feature.

    Fills values, indices and indptr. `weighting`: COUNTS, BINARY or LOGS. Words are noted in the `table`, if it has
    slots. The `room` is for the words of one string: in lower case and separated by blanks, where they begin and end.
    """
    line, begins, ends = room
    end = U(0)
    indptr[0] = end
    for i in range(U(offsets.size) - ONE):
        count = split(text, U(offsets[i]), U(offsets[i + ONE]), line, begins, ends)
        begin = end
        for length in range(U(ngrams)):
            for at in range(count - min(count, length)):
                word = murmur3(line, begins[at], ends[at + length])
                note(word, line, begins[at], ends[at + length], table)
                indices[end] = word & mask
                end += ONE
        sort(indices, begin, end)
        end = count_equal(indices, values, begin, end)
        weigh_counts(values, begin, end, weighting)
        for at in range(begin, end):
            indices[at] += first
        indptr[i + ONE] = end


@register_jitable()
def split(text, begin, end, line, begins, ends):
    """Write the words of text[begin:end] into line, in lower case; returns their number. Fills begins and ends."""
    count, size, inside = U(0), U(0), False
    for at in range(begin, end):
        byte = text[at]
        if in_word(byte):
            if not inside:
                begins[count] = size
                inside = True
            line[size] = byte | np.uint8(32) if byte >= 65 and byte <= 90 else byte
            size += ONE
        elif inside:
            ends[count] = size
            line[size] = 32
            size += ONE
            count += ONE
            inside = False
    if inside:
        ends[count] = size
        count += ONE
    return count


@register_jitable()
def count_equal(indices, values, begin, end):
    """Join equal neighbours in indices[begin:end] and count them in values; returns where they end now."""
    kept = begin
    for at in range(begin, end):
        if kept > begin and indices[kept - ONE] == indices[at]:
            values[kept - ONE] += 1.0
        else:
            indices[kept], values[kept] = indices[at], 1.0
            kept += ONE
    return kept


@register_jitable()
def weigh_counts(values, begin, end, weighting):
    """Replace the counts in values[begin:end] by their weights, of length 1 in all."""
    length = 0.0
    for at in range(begin, end):
        if weighting == BINARY:
            values[at] = 1.0
        elif weighting == LOGS and values[at] > 1.0:
            values[at] = 1.0 + np.log(values[at])
        length += values[at] * values[at]
    for at in range(begin, end):
        values[at] /= np.sqrt(length)
