"""Projective dependency trees: Eisner's algorithm for the best tree, and hashed features of arcs.

Tokens are numbered from 1; 0 is the root of every tree and has one child. The arrays `words` and `tags` hold hashes of
strings, with two entries before the first token (outside of the sentence, and the root) and one after the last.
"""

from __future__ import annotations

import numpy as np

from perceptrons.core.jit.compiled import OPTIONS, Compiled
from perceptrons.core.jit.deferred import register_jitable

U = np.uint64
ZERO, ONE, TWO = U(0), U(1), U(2)
MIX = U(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio (Knuth, §6.4)
HALF = U(32)
FIXED = 34  # features of every arc; each token between its ends adds one

# The tables of the chart. The lower half of RIGHT and LEFT mirrors the upper half, so that both terms of a sum are read
# along a row.
RIGHT, LEFT, ARCS = U(0), U(1), U(2)


# -- the best tree --------------------------------------------------------------------------------------------


@register_jitable(**OPTIONS)
def best_sum(first, second, shift, begin, end):
    """The largest first[r] + second[r + shift] for begin ≤ r < end, and the smallest r that attains it."""
    best, at = first[begin] + second[begin + shift], begin
    for r in range(begin + ONE, end):
        total = first[r] + second[r + shift]
        if total > best:
            best, at = total, r
    return best, at


@register_jitable(**OPTIONS)
def push(stack, filled, side, i, j):
    """Put a span on the stack, in place; returns how many spans the stack now has."""
    stack[filled, 0], stack[filled, 1], stack[filled, 2] = side, i, j
    return filled + ONE


@Compiled
def best_tree(scores, chart, stack, heads):
    """Find the projective tree with the largest sum of scores[head, token]; fills heads (from 1 on), returns the sum.

    Eisner (1996), with one child of the root. For i ≤ j, chart[RIGHT][i, j] is the best sum of a tree of the tokens i…j
    with root i, and chart[LEFT][i, j] that with root j; both are mirrored at [j, i]. chart[ARCS][i, j] is the best sum
    of an incomplete span with the arc i → j, chart[ARCS][j, i] with the arc j → i. `stack` has three columns and two
    rows a token.
    """
    n = U(heads.size) - ONE
    right, left, arcs = chart[RIGHT], chart[LEFT], chart[ARCS]
    for i in range(ONE, n + ONE):
        right[i, i] = 0.0
        left[i, i] = 0.0
    for length in range(ONE, n):
        for i in range(ONE, n + ONE - length):
            j = i + length
            inner = best_sum(right[i], left[j], ONE, i, j)[0]  # the tree of i ends at r, that of j begins at r + 1
            arcs[i, j] = inner + scores[i, j]
            arcs[j, i] = inner + scores[j, i]
            below_j = best_sum(left[i], arcs[j], ZERO, i, j)[0]  # i…r below r, then the arc j → r
            left[i, j] = below_j
            left[j, i] = below_j
            below_i = best_sum(arcs[i], right[j], ZERO, i + ONE, j + ONE)[0]  # the arc i → r, then r…j below r
            right[i, j] = below_i
            right[j, i] = below_i
    best, top = left[ONE, ONE] + right[ONE, n] + scores[0, ONE], ONE
    for r in range(TWO, n + ONE):
        total = left[ONE, r] + right[r, n] + scores[0, r]
        if total > best:
            best, top = total, r
    heads[top] = 0
    # Trace back: only spans in the tree need the position of their largest sum, so it is computed again.
    filled = push(stack, ZERO, LEFT, ONE, top)
    filled = push(stack, filled, RIGHT, top, n)
    while filled > ZERO:
        filled -= ONE
        side, i, j = U(stack[filled, 0]), U(stack[filled, 1]), U(stack[filled, 2])
        if i == j:
            continue
        if side == LEFT:
            r = best_sum(left[i], arcs[j], ZERO, i, j)[1]
            heads[r] = j
            filled = push(stack, filled, LEFT, i, r)
            low, high = r, j
        else:
            r = best_sum(arcs[i], right[j], ZERO, i + ONE, j + ONE)[1]
            heads[r] = i
            filled = push(stack, filled, RIGHT, r, j)
            low, high = i, r
        r = best_sum(right[low], left[high], ONE, low, high)[1]
        filled = push(stack, filled, RIGHT, low, r)
        filled = push(stack, filled, LEFT, r + ONE, high)
    return best


# -- features of arcs -----------------------------------------------------------------------------------------


@register_jitable(**OPTIONS)
def mixed(hashed, code):
    """Extend a hash by one code."""
    hashed = (hashed ^ code) * MIX
    return hashed ^ (hashed >> HALF)


@register_jitable(**OPTIONS)
def direction_and_distance(head, token):
    """A number from 2 to 13 for the direction of an arc and its distance: 1, 2, 3, 4, 5 to 9, or 10 and more."""
    distance = token - head if token > head else head - token
    bucket = distance
    if distance >= U(10):
        bucket = U(6)
    elif distance >= U(5):
        bucket = U(5)
    return TWO * bucket + (ONE if token > head else ZERO)


@register_jitable(**OPTIONS)
def arc_features(words, tags, head, token, mask, out):
    """Number the features of one arc (McDonald, Crammer & Pereira 2005, table 1); fills out, returns their count.

    The features combine: the words and tags of head and token, alone, in pairs and all together; the tags of both ends
    with the tags beside them; the tags of both ends with the tag of each token between. All but the last group occur
    twice, without and with direction and distance.
    """
    h, m = head + ONE, token + ONE
    hw, ht, mw, mt = words[h], tags[h], words[m], tags[m]
    before_h, after_h, before_m, after_m = tags[h - ONE], tags[h + ONE], tags[m - ONE], tags[m + ONE]
    keys = (
        mixed(U(1), hw),
        mixed(U(2), ht),
        mixed(mixed(U(3), hw), ht),
        mixed(U(4), mw),
        mixed(U(5), mt),
        mixed(mixed(U(6), mw), mt),
        mixed(mixed(mixed(mixed(U(7), hw), ht), mw), mt),
        mixed(mixed(mixed(U(8), ht), mw), mt),
        mixed(mixed(mixed(U(9), hw), mw), mt),
        mixed(mixed(mixed(U(10), hw), ht), mt),
        mixed(mixed(mixed(U(11), hw), ht), mw),
        mixed(mixed(U(12), hw), mw),
        mixed(mixed(U(13), ht), mt),
        mixed(mixed(mixed(mixed(U(14), ht), after_h), before_m), mt),
        mixed(mixed(mixed(mixed(U(15), before_h), ht), before_m), mt),
        mixed(mixed(mixed(mixed(U(16), ht), after_h), mt), after_m),
        mixed(mixed(mixed(mixed(U(17), before_h), ht), mt), after_m),
    )
    bucket = direction_and_distance(head, token)
    count = ZERO
    for key in keys:
        number = key & mask
        out[count] = number
        out[count + ONE] = (number ^ bucket) & mask  # close to the first, so that both weights share a cache line
        count += TWO
    ends = mixed(mixed(U(18) + (bucket & ONE), ht), mt)
    low, high = (h, m) if h < m else (m, h)
    for between in range(low + ONE, high):
        out[count] = mixed(ends, tags[between]) & mask
        count += ONE
    return count


@Compiled
def arc_scores(words, tags, weights, mask, room, scores):
    """Score all arcs between different tokens; fills scores[head, token]."""
    n = U(tags.size) - U(3)
    for head in range(n + ONE):
        for token in range(ONE, n + ONE):
            if head != token:
                count = arc_features(words, tags, head, token, mask, room)
                total = 0.0
                for k in range(count):
                    total += weights[room[k]]
                scores[head, token] = total


@Compiled
def tree_features(words, tags, heads, mask, room, out):
    """Number the features of all arcs of a tree; fills out, returns their count."""
    count = ZERO
    for token in range(ONE, U(heads.size)):
        found = arc_features(words, tags, U(heads[token]), token, mask, room)
        for k in range(found):
            out[count + k] = room[k]
        count += found
    return count
