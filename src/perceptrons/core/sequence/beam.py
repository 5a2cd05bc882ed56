"""Beam search: keep the best few beginnings of a sequence at each token; and find where a step is sound.

Beginnings with the same last label (with second order, the same last two) have the same future and are merged: the
better one stays. A beam is sorted by these labels, so the smaller of equals comes first. `scores[t, b]` is the score of
beginning b of tokens 0…t. `marks[t]` has its last label at b, with second order the label before at width + b, then the
number of beginnings, then room. The beginning that it extends is found only when a path is traced back. The width is at
least one more than the beam's, padded to a multiple of eight with beginnings of score −∞.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from perceptrons.core.jit.deferred import forms, overload, register_jitable
from perceptrons.core.rows import JIT, ONE, U
from perceptrons.core.sequence.emissions import CALLED
from perceptrons.core.sequence.lanes import LANES
from perceptrons.core.sequence.lattice import LOWEST, pair_of, start_of, stop_of
from perceptrons.core.sequence.markov import Second, by_order, is_a, is_second


class Beam(NamedTuple):
    """Search that keeps the `width` best beginnings; `early` chooses where to step, see `violation`."""

    width: int
    early: bool


@forms("first second", by_order, **JIT)
def row_of(markov, labels, width, t, b, marks):
    """The row of links for the labels that follow beginning b at t."""
    return U(marks[t, b])


@row_of.second
def _row_of(markov, labels, width, t, b, marks):
    before = start_of(labels) if t == U(0) else U(marks[t, width + b])
    return pair_of(labels, before, U(marks[t, b]))


@forms("first second", by_order, **CALLED)
def merge(markov, width, t, links, scores, marks, room):
    """Extend the beginnings at t − 1 by every label; fills room, returns the number of groups.

    Line g of room has the best score of group g for each label, without that of the token. With first order there is
    one group, with second order one for each last label.
    """
    labels, s = U(links.shape[1]), t - ONE
    for c in range(labels):
        room[0, c] = LOWEST
    for b in range(U(0), U(marks[s, U(2) * width]), U(LANES)):  # eight at a time, as in `strongest`
        i, j, k, m = U(marks[s, b]), U(marks[s, b + ONE]), U(marks[s, b + U(2)]), U(marks[s, b + U(3)])
        s0, s1, s2, s3 = scores[s, b], scores[s, b + ONE], scores[s, b + U(2)], scores[s, b + U(3)]
        b += U(4)
        n, o, p, q = U(marks[s, b]), U(marks[s, b + ONE]), U(marks[s, b + U(2)]), U(marks[s, b + U(3)])
        s4, s5, s6, s7 = scores[s, b], scores[s, b + ONE], scores[s, b + U(2)], scores[s, b + U(3)]
        for c in range(labels):
            a, d, e, f = s0 + links[i, c], s1 + links[j, c], s2 + links[k, c], s3 + links[m, c]
            a = a if a > d else d
            e = e if e > f else f
            a = a if a > e else e
            best = room[0, c]
            best = a if a > best else best
            a, d, e, f = s4 + links[n, c], s5 + links[o, c], s6 + links[p, c], s7 + links[q, c]
            a = a if a > d else d
            e = e if e > f else f
            a = a if a > e else e
            room[0, c] = a if a > best else best
    return ONE


@merge.second
def _merge(markov, width, t, links, scores, marks, room):
    labels, before, groups = U(links.shape[1]), t - ONE, U(0)
    for b in range(U(marks[before, U(2) * width])):
        row, score = row_of(markov, labels, width, before, b, marks), scores[before, b]
        if b == U(0) or marks[before, b] != marks[before, b - ONE]:
            groups += ONE
            marks[t, U(2) * width + groups] = marks[before, b]
            for c in range(labels):
                room[groups - ONE, c] = LOWEST
        for c in range(labels):
            s, best = score + links[row, c], room[groups - ONE, c]
            room[groups - ONE, c] = s if s > best else best
    return groups


def limit_of(markov, most, t, groups, scores, room):
    """The lowest of the `most` highest scores in room, and how many of these equal it.

    Uses scores[t] as working memory.
    """


@overload(limit_of, jit_options=CALLED)
def _limit_of(markov, most, t, groups, scores, room):
    def ranks(markov, most, t, groups, scores, room):
        # Compares all pairs of labels, but in whole vectors and without branches to predict.
        labels, limit, above = U(room.shape[1]), np.inf, 0.0
        for c in range(labels):
            room[1, c] = 0.0
        for d in range(U(0), labels, U(LANES)):
            a, b, e, f = room[0, d], room[0, d + ONE], room[0, d + U(2)], room[0, d + U(3)]
            g, h, i, j = room[0, d + U(4)], room[0, d + U(5)], room[0, d + U(6)], room[0, d + U(7)]
            for c in range(labels):
                x = room[0, c]
                greater = (1.0 if a > x else 0.0) + (1.0 if b > x else 0.0) + (1.0 if e > x else 0.0)
                greater += (1.0 if f > x else 0.0) + (1.0 if g > x else 0.0) + (1.0 if h > x else 0.0)
                room[1, c] += greater + (1.0 if i > x else 0.0) + (1.0 if j > x else 0.0)
        for c in range(labels):
            among = room[1, c] < most
            score, greater = room[0, c] if among else np.inf, room[1, c] if among else 0.0
            limit = score if score < limit else limit
            above = greater if greater > above else above
        return limit, most - U(above)

    def falling(markov, most, t, groups, scores, room):
        for b in range(most):  # the highest so far
            scores[t, b] = LOWEST
        for g in range(groups):
            for c in range(U(room.shape[1])):
                score = room[g, c]
                if score > scores[t, most - ONE]:
                    b = most - ONE
                    while b > U(0) and score > scores[t, b - ONE]:
                        scores[t, b] = scores[t, b - ONE]
                        b -= ONE
                    scores[t, b] = score
        limit, equals = scores[t, most - ONE], U(0)
        for b in range(most):
            equals += U(scores[t, b] == limit)
        return limit, equals

    return falling if is_a(markov, Second) else ranks


@register_jitable(**CALLED)
def keep_best(markov, width, most, t, groups, scores, marks, room):
    """Keep the `most` best of the beginnings, whose scores are in room, at t; updates scores and marks in place."""
    labels = U(room.shape[1])
    limit, equals = limit_of(markov, most, t, groups, scores, room)
    kept = U(0)
    for c in range(labels):
        for g in range(groups):
            score = room[g, c]
            equal = (score == limit) & (score > LOWEST) & (equals > U(0))
            equals -= U(equal)
            # Always write, and keep by incrementing `kept`: branches that cannot be predicted would take longer.
            scores[t, kept], marks[t, kept] = score, c
            marks[t, width + kept] = marks[t, U(2) * width + ONE + g]
            kept += U((score > limit) | equal)
    for b in range(kept, width):
        scores[t, b], marks[t, b] = LOWEST, 0
    marks[t, U(2) * width] = kept


@register_jitable(**CALLED)
def beam_search(markov, most, n, emit, links, scores, marks, room):
    """The beams of n ≥ 1 tokens, `most` wide; fills scores and marks. The last beam's scores include STOP."""
    labels, width = U(links.shape[1]), U(scores.shape[1])
    for t in range(n):
        groups = ONE
        if t == U(0):
            for c in range(labels):
                room[0, c] = links[start_of(labels), c]
        else:
            groups = merge(markov, width, t, links, scores, marks, room)
        for g in range(groups):
            for c in range(labels):
                room[g, c] += emit[t, c]
            if t == n - ONE:
                for c in range(labels):
                    room[g, c] += links[stop_of(labels), c]
        keep_best(markov, width, most, t, groups, scores, marks, room)


@register_jitable(**JIT)
def best_of(width, t, scores, marks):
    """The best of the beginnings at t."""
    best = U(0)
    for b in range(ONE, U(marks[t, U(2) * width])):
        if scores[t, b] > scores[t, best]:
            best = b
    return best


@register_jitable(**CALLED)
def origin(markov, width, t, b, links, scores, marks):
    """The beginning at t − 1 that beginning b at t ≥ 1 extends; the first of equals."""
    labels, before, label = U(links.shape[1]), t - ONE, U(marks[t, b])
    chosen, best = U(0), LOWEST
    for a in range(U(marks[before, U(2) * width])):
        if not is_second(markov) or marks[before, a] == marks[t, width + b]:
            score = scores[before, a] + links[row_of(markov, labels, width, before, a, marks), label]
            if score > best:
                chosen, best = a, score
    return chosen


@register_jitable(**CALLED)
def trace(markov, t, b, links, scores, marks, path):
    """The labels of beginning b at t; fills path[: t + 1]."""
    width = U(scores.shape[1])
    for back in range(t):
        path[t - back] = marks[t - back, b]
        b = origin(markov, width, t - back, b, links, scores, marks)
    path[0] = marks[0, b]


@register_jitable(**CALLED)
def score_at(markov, t, n, gold, begin, emit, links):
    """What label t of the right sequence of n tokens adds to its score; the last one includes STOP."""
    labels, label = U(links.shape[1]), U(gold[begin + t])
    row = start_of(labels)
    if t > U(0):
        row = U(gold[begin + t - ONE])
        if is_second(markov):
            row = pair_of(labels, U(gold[begin + t - U(2)]) if t > ONE else start_of(labels), row)
    stop = links[stop_of(labels), label] if t == n - ONE else 0.0
    return links[row, label] + emit[t, label] + stop


@register_jitable(**CALLED)
def follow(markov, width, t, right, gold, begin, links, scores, marks):
    """Whether the right beginning, which is `right` at t − 1, is still in the beam at t, and where."""
    for b in range(U(marks[t, U(2) * width])):
        if marks[t, b] == gold[begin + t]:
            if t == U(0):
                return True, b
            if not is_second(markov) or marks[t, width + b] == gold[begin + t - ONE]:
                return origin(markov, width, t, b, links, scores, marks) == right, b
    return False, U(0)


@register_jitable(**CALLED)
def violation(markov, search, n, gold, begin, emit, links, scores, marks):
    """The length, in tokens, of the best and the right beginning between which to step. 0: no step.

    A step is sound only if the model prefers the wrong beginning (Huang, Fayong & Guo 2012). This is the case where the
    right one has fallen off the beam: early update takes the first such place. Max-violation takes the place where the
    right one is furthest behind, the last of equals. If search ends with the right sequence, there is no step.
    """
    width = U(scores.shape[1])
    right, total, chosen, worst, best = U(0), 0.0, U(0), LOWEST, U(0)
    on = True  # the right beginning is in the beam, at `right`
    for t in range(n):
        total += score_at(markov, t, n, gold, begin, emit, links)
        if on:
            on, right = follow(markov, width, t, right, gold, begin, links, scores, marks)
        if not on and search.early:
            return t + ONE
        best = best_of(width, t, scores, marks)
        if (not on or best != right) and scores[t, best] - total >= worst:
            chosen, worst = t + ONE, scores[t, best] - total
    if on and best == right:
        return U(0)
    return n if search.early else chosen
