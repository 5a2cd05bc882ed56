"""Beam search: at each token the best few beginnings of a sequence stay; and where a step is sound when search is
inexact.

Beginnings that the future cannot tell apart (same last label; of second order, same last two) are merged: the better
stays. A beam is kept in the order of these labels, so that of equals the smaller comes first. `scores[t, b]` is the
score of beginning b of tokens 0…t; `marks[t]` has its last label at b, the beginning that it extends at width + b,
and in the end how many there are.
"""

from __future__ import annotations

from typing import NamedTuple

from perceptrons.core.deferred import overload, register_jitable
from perceptrons.core.lattice import CALLED, LOWEST, Second, is_a, pair_of, start_of, stop_of
from perceptrons.core.rows import JIT, ONE, U


class Beam(NamedTuple):
    """Search that keeps the `width` best beginnings; `early` says where a step is made, see `violation`."""

    width: int
    early: bool


@register_jitable(**JIT)
def label_before(marks, width, t, b):
    """The last but one label of beginning b of tokens 0…t, t ≥ 1."""
    return U(marks[t - ONE, U(marks[t, width + b])])


def merge(order, width, t, links, scores, marks, room):
    """Extend the beginnings at t − 1 by every label; fills room, returns how many groups of them there are.

    Group g has the lines 2g (the best scores without that of the token, by label) and 2g + 1 (which beginning it
    extends) of room. Of first order there is one group, of second order one for each last label.
    """


@overload(merge, jit_options=CALLED)
def _merge(order, width, t, links, scores, marks, room):
    wide = is_a(order, Second)

    def extended(order, width, t, links, scores, marks, room):
        labels, before, groups = U(links.shape[1]), t - ONE, U(0)
        for b in range(U(marks[before, U(2) * width])):
            last, score = U(marks[before, b]), scores[before, b]
            if wide:
                begins = start_of(labels) if before == U(0) else label_before(marks, width, before, b)
                row = pair_of(labels, begins, last)
            else:
                row = last
            if b == U(0) or (wide and last != U(marks[before, b - ONE])):
                groups += ONE
                for c in range(labels):
                    room[U(2) * groups - U(2), c] = LOWEST
                    room[U(2) * groups - ONE, c] = 0.0
            line, origin = U(2) * groups - U(2), float(b)
            for c in range(labels):
                s = score + links[row, c]
                higher = s > room[line, c]
                room[line, c] = s if higher else room[line, c]
                room[line + ONE, c] = origin if higher else room[line + ONE, c]
        return groups

    return extended


@register_jitable(**CALLED)
def keep_best(width, t, groups, emit, scores, marks, room):
    """Of the groups' beginnings, whose scores are in room, keep the best at t; updates scores and marks in place."""
    labels = U(room.shape[1])
    for b in range(width):  # scores[t] is, at first, a falling list of the highest
        scores[t, b] = LOWEST
    for g in range(groups):
        for c in range(labels):
            score = room[U(2) * g, c]
            if score > scores[t, width - ONE]:
                b = width - ONE
                while b > U(0) and score > scores[t, b - ONE]:
                    scores[t, b] = scores[t, b - ONE]
                    b -= ONE
                scores[t, b] = score
    limit, equals = scores[t, width - ONE], U(0)
    for b in range(width):
        equals += U(scores[t, b] == limit)
    kept = U(0)
    for c in range(labels):
        for g in range(groups):
            score = room[U(2) * g, c]
            if score > limit or (score == limit and score > LOWEST and equals > U(0)):
                equals -= U(score == limit)
                scores[t, kept] = score
                marks[t, kept] = c
                marks[t, width + kept] = U(room[U(2) * g + ONE, c])
                kept += ONE
    marks[t, U(2) * width] = kept
    if kept == U(0):  # nothing is allowed: then anything will do
        scores[t, 0], marks[t, 0], marks[t, width] = LOWEST, 0, 0


@register_jitable(**CALLED)
def beam_search(order, width, n, emit, links, scores, marks, room):
    """The beams of n ≥ 1 tokens; fills scores and marks. The score of STOP is in the last one's."""
    labels = U(links.shape[1])
    for t in range(n):
        groups = ONE
        if t == U(0):
            for c in range(labels):
                room[0, c] = links[start_of(labels), c]
                room[1, c] = 0.0
        else:
            groups = merge(order, width, t, links, scores, marks, room)
        for g in range(groups):
            for c in range(labels):
                room[U(2) * g, c] += emit[t, c]
            if t == n - ONE:
                for c in range(labels):
                    room[U(2) * g, c] += links[stop_of(labels), c]
        keep_best(width, t, groups, emit, scores, marks, room)


@register_jitable(**JIT)
def best_of(width, t, scores, marks):
    """The best of the beginnings at t."""
    best = U(0)
    for b in range(ONE, U(marks[t, U(2) * width])):
        if scores[t, b] > scores[t, best]:
            best = b
    return best


@register_jitable(**CALLED)
def trace(width, t, b, marks, path):
    """The labels of beginning b at t; fills path[: t + 1]."""
    for back in range(t + ONE):
        path[t - back] = marks[t - back, b]
        b = U(marks[t - back, width + b])


def score_at(order, t, n, gold, begin, emit, links):
    """What label t of the right sequence of n tokens adds to its score, with that of STOP for the last."""


@overload(score_at, jit_options=CALLED)
def _score_at(order, t, n, gold, begin, emit, links):
    wide = is_a(order, Second)

    def added(order, t, n, gold, begin, emit, links):
        labels, label = U(links.shape[1]), U(gold[begin + t])
        row = start_of(labels)
        if t > U(0):
            row = U(gold[begin + t - ONE])
            if wide:
                row = pair_of(labels, U(gold[begin + t - U(2)]) if t > ONE else start_of(labels), row)
        stop = links[stop_of(labels), label] if t == n - ONE else 0.0
        return links[row, label] + emit[t, label] + stop

    return added


@register_jitable(**CALLED)
def violation(order, search, n, gold, begin, emit, links, scores, marks):
    """How many tokens long the beginnings are that a step is made for: the best one, and the right one. 0: no step.

    A step is sound only if the model prefers the wrong one (Huang, Fayong & Guo 2012). That is so where the right
    beginning has fallen off the beam: early update takes the first such place. Max-violation takes the place where it
    is furthest behind, the last of equals. Search that ends with the right sequence makes no step.
    """
    width = U(search.width)
    right, total, chosen, worst = U(0), 0.0, U(0), LOWEST
    on = True  # the right beginning is in the beam, at `right`
    for t in range(n):
        total += score_at(order, t, n, gold, begin, emit, links)
        still = False
        if on:
            for b in range(U(marks[t, U(2) * width])):
                if marks[t, b] == gold[begin + t] and (t == U(0) or U(marks[t, width + b]) == right) and not still:
                    still, now = True, b
        on = still
        best = best_of(width, t, scores, marks)
        if on:
            right = now
        elif search.early:
            return t + ONE
        if (not on or best != right) and scores[t, best] - total >= worst:
            chosen, worst = t + ONE, scores[t, best] - total
    if on and best == right:
        return U(0)
    return n if search.early else chosen
