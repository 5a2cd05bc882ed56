"""Hash text to feature numbers: words, pairs of words, and so on.

The hash is MurmurHash3_x86_32 with seed 0 (Austin Appleby, public domain:
https://github.com/aappleby/smhasher/blob/master/src/MurmurHash3.cpp), which scikit-learn's FeatureHasher uses too.
Strings are stored as in Arrow: the bytes of all strings in one array, and the offsets where strings begin and end.
"""

from __future__ import annotations

import numpy as np

from perceptrons.core.jit.compiled import Compiled
from perceptrons.core.jit.deferred import register_jitable
from perceptrons.core.parse.bits import U

W = np.uint32
ONE = U(1)
GAPS = tuple(U(gap) for gap in (88573, 29524, 9841, 3280, 1093, 364, 121, 40, 13, 4, 1))  # Knuth: (3^k − 1) / 2


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


@Compiled
def hash_words(text, offsets, ngrams, mask, first):
    """Hash the words of each string to CSR arrays (see `perceptrons.data.table.text`); `first` is the first feature."""
    n = U(offsets.size) - ONE
    words, longest = U(0), U(0)
    for i in range(n):
        inside = False
        for at in range(U(offsets[i]), U(offsets[i + ONE])):
            now = in_word(text[at])
            words += U(now and not inside)
            inside = now
        longest = max(longest, U(offsets[i + ONE] - offsets[i]))
    room = words * U(ngrams)
    values, indices = np.empty(room), np.empty(room, dtype=np.uint32)
    indptr = np.zeros(n + ONE, dtype=np.uint64)
    # The words of one string in lower case, separated by blanks, and where they begin and end.
    line = np.empty(longest + ONE, dtype=np.uint8)
    begins, ends = np.empty(longest + ONE, dtype=np.uint64), np.empty(longest + ONE, dtype=np.uint64)
    end = U(0)
    for i in range(n):
        count, size, inside = U(0), U(0), False
        for at in range(U(offsets[i]), U(offsets[i + ONE])):
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
        begin = end
        for length in range(U(ngrams)):
            for word in range(count - min(count, length)):
                indices[end] = murmur3(line, begins[word], ends[word + length]) & mask
                end += ONE
        sort(indices, begin, end)
        kept, length = begin, 0.0  # count equal features
        for at in range(begin, end):
            if kept > begin and indices[kept - ONE] == indices[at]:
                values[kept - ONE] += 1.0
            else:
                indices[kept], values[kept] = indices[at], 1.0
                kept += ONE
        for at in range(begin, kept):
            length += values[at] * values[at]
        for at in range(begin, kept):
            values[at] /= np.sqrt(length)
            indices[at] += first
        end = kept
        indptr[i + ONE] = end
    return values[:end].copy(), indices[:end].copy(), indptr
