"""Number distinct things by first occurrence: strings of bytes, and keys of several codes.

Hash tables use open addressing: a search begins at the slot that the hash names and ends at the first empty slot. A
slot holds the hash in its upper and the number plus one in its lower 32 bits; 0 is empty. Tables have 2^k slots, at
least half of them empty. Things with equal hashes are compared, so that no two share a number. Nothing is allocated
here: a function that runs out of room stops, returns where, and continues when called again with more room.
"""

from __future__ import annotations

import numpy as np

from perceptrons.core.jit.compiled import Compiled
from perceptrons.core.jit.deferred import register_jitable
from perceptrons.core.parse.bits import PLAIN, U, eight, product
from perceptrons.core.rows import prefetch

PADDING = 64  # bytes that must follow a text, because it is read in words and windows
ONE = U(1)
LOW = U(0xFFFFFFFF)
ODD = U(0x9E3779B97F4A7C15)  # 2⁶⁴ divided by the golden ratio, whose multiples spread evenly (Knuth, vol. 3, §6.4)

# Codes that stand for no value. Positions outside of the sentence have markers: EDGE − 2(d − 1) at distance d before
# its beginning, and one less at distance d after its end.
UNKNOWN = np.uint32(0xFFFFFFFF)
EDGE = np.uint32(0xFFFFFFFE)
FARTHEST = 255  # largest distance that has a marker
FIRST_MARKER = int(EDGE) - 2 * FARTHEST  # codes of values are smaller


@register_jitable(**PLAIN)
def mixed(h, word):
    """Extend a hash by one word: both halves of a product, so that the lowest bits depend on every bit."""
    high, low = product(h ^ word, ODD)
    return high ^ low


@register_jitable(**PLAIN)
def lowest(word, n):
    """Keep the n lowest bytes of a word, n < 8."""
    return word & ((ONE << (n << U(3))) - ONE)


@register_jitable(**PLAIN)
def hash_of(text, begin, n):
    """Hash n bytes."""
    h, at = n, begin
    while n >= U(8):
        h = mixed(h, eight(text, at))
        at += U(8)
        n -= U(8)
    return mixed(h, lowest(eight(text, at), n)) & LOW


@register_jitable(**PLAIN)
def equal(text, a, b, n):
    """Whether the n bytes at two positions are the same."""
    while n >= U(8):
        if eight(text, a) != eight(text, b):
            return False
        a += U(8)
        b += U(8)
        n -= U(8)
    return lowest(eight(text, a), n) == lowest(eight(text, b), n)


@Compiled
def spread(old, slots):
    """Copy all entries of a table into a larger one, which must be empty."""
    mask = U(slots.size) - ONE
    for i in range(U(old.size)):
        if old[i] != U(0):
            at = (old[i] >> U(32)) & mask
            while slots[at] != U(0):
                at = (at + ONE) & mask
            slots[at] = old[i]


@Compiled
def intern(text, begins, lengths, first, count, slots, homes, codes):
    """Number strings by first occurrence, beginning with string `first`; fills slots, homes and codes.

    homes: for each number, the first string that has it. Returns where it stopped, and how many numbers there are.
    """
    mask, n = U(slots.size) - ONE, U(count)
    for i in range(U(first), U(begins.size)):
        if n == U(homes.size):
            return i, n
        begin, length = begins[i], U(lengths[i])
        h = hash_of(text, begin, length)
        at = h & mask
        while True:
            slot = slots[at]
            if slot == U(0):
                homes[n] = i
                codes[i] = n
                n += ONE
                slots[at] = (h << U(32)) | n
                break
            if slot >> U(32) == h:
                number = (slot & LOW) - ONE
                home = U(homes[number])
                if U(lengths[home]) == length and equal(text, begins[home], begin, length):
                    codes[i] = number
                    break
            at = (at + ONE) & mask
    return U(begins.size), n


@register_jitable(**PLAIN)
def same_key(keys, number, template, values, parts, begin, end):
    """Whether the key with this number belongs to the template and to these values of its parts."""
    same = keys[number, U(0)] == template
    for k in range(begin, end):
        same = same and keys[number, k - begin + ONE] == values[U(parts[k])]
    return same


@Compiled
def number(codes, bounds, cells, parts, ends, grow, slots, keys, values, hashes, indices, indptr, counts):
    """Number the features of tokens; fills slots, keys, indices and indptr, and updates counts.

    codes: one row a view, one column a token. cells: the view and offset of each cell. parts: the cells of all
    templates, one template after the other; ends: where the cells of each template end. The key of a feature is its
    template and the values of its cells. With `grow` a new feature gets the next number; otherwise it is left out.
    Features with an unknown value are always left out. values and hashes: scratch space for one token. counts:
    sequences done, tokens done, features in the table, features found.
    """
    mask, n_templates = U(slots.size) - ONE, U(ends.size)
    done, i, n, nnz = U(counts[0]), U(counts[1]), U(counts[2]), U(counts[3])
    full = False
    while done < U(bounds.size) - ONE and not full:
        begin, end = bounds[done], bounds[done + ONE]
        while i < end:
            if grow and n + n_templates > U(keys.shape[0]):
                full = True
                break
            for c in range(U(cells.shape[0])):
                j = np.int64(i) + cells[c, U(1)]
                if j < np.int64(begin):
                    values[c] = U(EDGE) - U(2) * U(np.int64(begin) - j - 1)
                elif j >= np.int64(end):
                    values[c] = U(EDGE) - U(2) * U(j - np.int64(end)) - ONE
                else:
                    values[c] = codes[U(cells[c, U(0)]), U(j)]
            first = U(0)
            for t in range(n_templates):
                h, known = mixed(U(0), t + ONE), True
                for k in range(first, U(ends[t])):
                    value = U(values[U(parts[k])])
                    known = known and value != U(UNKNOWN)
                    h = mixed(h, value)
                hashes[t] = (h & LOW) if known else ~U(0)
                prefetch(slots, h & mask)
                first = U(ends[t])
            for t in range(n_templates):
                slot = slots[hashes[t] & mask]
                if slot != U(0):
                    prefetch(keys, ((slot & LOW) - ONE) * U(keys.shape[1]))
            first = U(0)
            for t in range(n_templates):
                last = U(ends[t])
                h = hashes[t]
                if h != ~U(0):
                    at = h & mask
                    while True:
                        slot = slots[at]
                        if slot == U(0):
                            if grow:
                                keys[n, U(0)] = t
                                for k in range(first, last):
                                    keys[n, k - first + ONE] = values[U(parts[k])]
                                indices[nnz] = n
                                nnz += ONE
                                n += ONE
                                slots[at] = (h << U(32)) | n
                            break
                        if slot >> U(32) == h and same_key(keys, (slot & LOW) - ONE, t, values, parts, first, last):
                            indices[nnz] = (slot & LOW) - ONE
                            nnz += ONE
                            break
                        at = (at + ONE) & mask
                first = last
            i += ONE
            indptr[i] = nnz
        if not full:
            done += ONE
    counts[0], counts[1], counts[2], counts[3] = done, i, n, nnz
    return done


@register_jitable(**PLAIN)
def key_size(keys, i, ends):
    """The number of values of a key, by its template."""
    t = U(keys[i, U(0)])
    return U(ends[t]) - (U(ends[t - ONE]) if t > U(0) else U(0))


@register_jitable(**PLAIN)
def key_hash(keys, i, size):
    """Hash a key as `number` does."""
    h = mixed(U(0), U(keys[i, U(0)]) + ONE)
    for k in range(size):
        h = mixed(h, U(keys[i, k + ONE]))
    return h & LOW


@register_jitable(**PLAIN)
def equal_keys(a, i, b, j, size):
    """Whether a[i] and b[j] are the same key; `size` is the number of values of one of them."""
    same = True
    for k in range(size + ONE):
        same = same and a[i, k] == b[j, k]
    return same


@Compiled
def index(keys, first, n, ends, slots):
    """Add the keys `first` to n − 1 to a table with room; returns the first duplicate key, or n if there is none."""
    mask = U(slots.size) - ONE
    for i in range(U(first), U(n)):
        size = key_size(keys, i, ends)
        h = key_hash(keys, i, size)
        at = h & mask
        while slots[at] != U(0):
            if slots[at] >> U(32) == h and equal_keys(keys, i, keys, (slots[at] & LOW) - ONE, size):
                return i
            at = (at + ONE) & mask
        slots[at] = (h << U(32)) | (i + ONE)
    return U(n)


@Compiled
def join(given, first, count, ends, slots, keys, numbers):
    """Number keys, beginning with `given[first]`, in a table that has `count` keys; fills slots, keys and numbers.

    A new key gets the next number. Returns where it stopped, and how many keys the table has.
    """
    mask, n = U(slots.size) - ONE, U(count)
    for i in range(U(first), U(given.shape[0])):
        if n == U(keys.shape[0]):
            return i, n
        size = key_size(given, i, ends)
        h = key_hash(given, i, size)
        at = h & mask
        while True:
            slot = slots[at]
            if slot == U(0):
                for k in range(size + ONE):
                    keys[n, k] = given[i, k]
                numbers[i] = n
                n += ONE
                slots[at] = (h << U(32)) | n
                break
            if slot >> U(32) == h and equal_keys(given, i, keys, (slot & LOW) - ONE, size):
                numbers[i] = (slot & LOW) - ONE
                break
            at = (at + ONE) & mask
    return U(given.shape[0]), n
