"""Projective dependency trees: the best one by Eisner's algorithm, and features of arcs by hashing.

Tokens are numbered from 1; 0 is the root of every tree, which has one child. Arrays `words` and `tags` hold hashes of
strings, with two entries before the first token (beyond the sentence, the root) and one after the last.
"""

from __future__ import annotations

import numpy as np

from perceptrons.core.jit.compiled import OPTIONS, Compiled
from perceptrons.core.jit.deferred import register_jitable

U = np.uint64
ZERO, ONE, TWO = U(0), U(1), U(2)
MIX = U(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio (Knuth, §6.4)
HALF = U(32)
FIXED = 34  # features of an arc, besides one for each token between its ends

# Which table a sum of the chart is read from; the other half of each square holds its mirror image, so that both
# parts of a sum are read along a line.
RIGHT, LEFT, ARCS = U(0), U(1), U(2)


# -- the best tree --------------------------------------------------------------------------------------------


@register_jitable(**OPTIONS)
def best_sum(first, second, shift, begin, end):
    """The largest first[r] + second[r + shift] for begin ≤ r < end, and the smallest such r."""
    best, at = first[begin] + second[begin + shift], begin
    for r in range(begin + ONE, end):
        total = first[r] + second[r + shift]
        if total > best:
            best, at = total, r
    return best, at


@Compiled
def best_tree(scores, chart, stack, heads):
    """The projective tree with the largest sum of scores[head, token]; fills heads (from 1 on), returns the sum.

    Eisner (1996), with one child of the root. chart[RIGHT][i, j], i ≤ j: the best tree of tokens i…j below i;
    chart[LEFT][i, j]: below j; both again at [j, i]. chart[ARCS][i, j]: with the arc i → j and open between;
    chart[ARCS][j, i]: with j → i. `stack` has three columns and a line for each token.
    """
    n = U(heads.size) - ONE
    right, left, arcs = chart[RIGHT], chart[LEFT], chart[ARCS]
    for i in range(ONE, n + ONE):
        right[i, i] = 0.0
        left[i, i] = 0.0
    for length in range(ONE, n):
        for i in range(ONE, n + ONE - length):
            j = i + length
            inner = best_sum(right[i], left[j], ONE, i, j)[0]  # i's tree reaches r, j's begins at r + 1
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
    # Which sums were the largest is found again on the way back, for the spans that are in the tree only.
    stack[0, 0], stack[0, 1], stack[0, 2] = LEFT, ONE, top
    stack[1, 0], stack[1, 1], stack[1, 2] = RIGHT, top, n
    filled = TWO
    while filled > ZERO:
        filled -= ONE
        kind, i, j = U(stack[filled, 0]), U(stack[filled, 1]), U(stack[filled, 2])
        if i == j:
            continue
        if kind == LEFT:
            r = best_sum(left[i], arcs[j], ZERO, i, j)[1]
            heads[r] = j
            stack[filled, 0], stack[filled, 1], stack[filled, 2] = LEFT, i, r
            filled += ONE
            low, high = r, j
        else:
            r = best_sum(arcs[i], right[j], ZERO, i + ONE, j + ONE)[1]
            heads[r] = i
            stack[filled, 0], stack[filled, 1], stack[filled, 2] = RIGHT, r, j
            filled += ONE
            low, high = i, r
        r = best_sum(right[low], left[high], ONE, low, high)[1]
        stack[filled, 0], stack[filled, 1], stack[filled, 2] = RIGHT, low, r
        filled += ONE
        stack[filled, 0], stack[filled, 1], stack[filled, 2] = LEFT, r + ONE, high
        filled += ONE
    return best


# -- features of arcs -----------------------------------------------------------------------------------------


@register_jitable(**OPTIONS)
def mixed(hashed, code):
    """The hash of what was hashed so far, followed by one more code."""
    hashed = (hashed ^ code) * MIX
    return hashed ^ (hashed >> HALF)


@register_jitable(**OPTIONS)
def way(head, token):
    """Direction and distance of an arc: 1, 2, 3, 4, 5 to 9, 10 and more. A number from 2 to 13."""
    distance = token - head if token > head else head - token
    bucket = distance
    if distance >= U(10):
        bucket = U(6)
    elif distance >= U(5):
        bucket = U(5)
    return TWO * bucket + (ONE if token > head else ZERO)


@register_jitable(**OPTIONS)
def arc_features(words, tags, head, token, mask, out):
    """Numbers of the features of one arc (McDonald, Crammer & Pereira 2005, table 1); fills out, returns their count.

    Of head and token: words and tags, each alone, in pairs, and all; tags with those beside them; and the tags of both
    ends with that of each token between. All but the last kind also with direction and distance.
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
    bucket = way(head, token)
    count = ZERO
    for key in keys:
        number = key & mask
        out[count] = number
        out[count + ONE] = (number ^ bucket) & mask  # close to the other one: weights are read from one place in memory
        count += TWO
    ends = mixed(mixed(U(18) + (bucket & ONE), ht), mt)
    low, high = (h, m) if h < m else (m, h)
    for between in range(low + ONE, high):
        out[count] = mixed(ends, tags[between]) & mask
        count += ONE
    return count


@Compiled
def arc_scores(words, tags, weights, mask, room, scores):
    """scores[head, token] of all arcs, those of a token with itself left out; fills scores."""
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
    """Numbers of the features of all arcs of a tree; fills out, returns their count."""
    count = ZERO
    for token in range(ONE, U(heads.size)):
        found = arc_features(words, tags, U(heads[token]), token, mask, room)
        for k in range(found):
            out[count + k] = room[k]
        count += found
    return count
