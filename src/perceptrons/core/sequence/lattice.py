"""The best labels of a sequence: Viterbi's algorithm of first and second order, and the k best.

The score of a sequence of n tokens with labels y is Σ_t emit[t, y_t] + Σ_t links[history at t, y_t]. Histories are rows
of `links`, numbered here: the label before, START before the first token, STOP after the last label; with second order
also pairs of labels. Labels are padded to a multiple of eight, so that inner loops are whole vectors; links to padding,
and to labels that are not allowed, are −∞. Among equally good sequences, the smallest is found, read from the last
label to the first.

With S labels, links has the rows: S labels, START, STOP, and for the second order (S + 1)·S pairs (before the
previous, previous).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from perceptrons.core.jit.deferred import forms, register_jitable
from perceptrons.core.rows import JIT, ONE, U
from perceptrons.core.sequence.emissions import CALLED
from perceptrons.core.sequence.lanes import LANES
from perceptrons.core.sequence.markov import by_order, is_second

LOWEST = -np.inf


class Viterbi(NamedTuple):
    """Exact search for the best sequence."""


class Lists(NamedTuple):
    """Exact search for the k best sequences."""

    k: int


@register_jitable(**JIT)
def start_of(labels):
    return labels


@register_jitable(**JIT)
def stop_of(labels):
    return labels + ONE


@register_jitable(**JIT)
def pair_of(labels, before, previous):
    """The row of a pair of labels; `before` may be START, which is `labels`."""
    return labels + U(2) + before * labels + previous


# -- the best sequence ------------------------------------------------------------------------------------------------


@register_jitable(**JIT)
def strongest(labels, links, row, stride, scores, at, step, out, t, first):
    """out[t, first + c] = max_i scores[at[0], at[1] + i·step] + links[row + i·stride, c], over i and for all c.

    Eight rows at a time: the running maximum is loaded and stored less often.
    """
    s, j = at
    for c in range(labels):
        out[t, first + c] = LOWEST
    for i in range(U(0), labels, U(LANES)):
        k, r, d = j + i * step, row + i * stride, stride
        s0, s1, s2, s3 = scores[s, k], scores[s, k + step], scores[s, k + U(2) * step], scores[s, k + U(3) * step]
        k += U(4) * step
        s4, s5, s6, s7 = scores[s, k], scores[s, k + step], scores[s, k + U(2) * step], scores[s, k + U(3) * step]
        for c in range(labels):
            a, b = s0 + links[r, c], s1 + links[r + d, c]
            e, f = s2 + links[r + U(2) * d, c], s3 + links[r + U(3) * d, c]
            a = a if a > b else b
            e = e if e > f else f
            a = a if a > e else e
            best = out[t, first + c]
            best = a if a > best else best
            a, b = s4 + links[r + U(4) * d, c], s5 + links[r + U(5) * d, c]
            e, f = s6 + links[r + U(6) * d, c], s7 + links[r + U(7) * d, c]
            a = a if a > b else b
            e = e if e > f else f
            a = a if a > e else e
            out[t, first + c] = a if a > best else best


@forms("first second", by_order, **CALLED)
def best_labels(markov, n, emit, links, delta, path):
    """The best labels of n ≥ 1 tokens; fills path[:n], uses delta. Returns their score.

    delta[t, c] is the score of the best labels of tokens 0…t that end in c; with second order, delta[t, p·S + c] is for
    those that end in p, c. Previous labels are found on the way back, only for the labels chosen.
    """
    labels = U(links.shape[1])
    for c in range(labels):
        delta[0, c] = links[start_of(labels), c] + emit[0, c]
    for t in range(ONE, n):
        strongest(labels, links, U(0), ONE, delta, (t - ONE, U(0)), ONE, delta, t, U(0))
        for c in range(labels):
            delta[t, c] += emit[t, c]
    last, best = U(0), LOWEST
    for c in range(labels):
        score = delta[n - ONE, c] + links[stop_of(labels), c]
        if score > best:
            last, best = c, score
    path[n - ONE] = last
    for back in range(ONE, n):
        t = n - back
        found, highest = U(0), LOWEST
        for i in range(labels):
            score = delta[t - ONE, i] + links[i, last]
            if score > highest:
                found, highest = i, score
        last = found
        path[t - ONE] = last
    return best


@best_labels.second
def _best_labels(markov, n, emit, links, delta, path):
    labels = U(links.shape[1])
    for c in range(labels):
        delta[0, c] = links[start_of(labels), c] + emit[0, c]
    for t in range(ONE, n):
        for p in range(labels):
            to = p * labels
            if t == ONE:
                row = pair_of(labels, start_of(labels), p)
                for c in range(labels):
                    delta[t, to + c] = delta[0, p] + links[row, c]
            else:
                row = pair_of(labels, U(0), p)
                strongest(labels, links, row, labels, delta, (t - ONE, p), labels, delta, t, to)
            for c in range(labels):
                delta[t, to + c] += emit[t, c]
    last, before, best = U(0), U(0), LOWEST
    for c in range(labels):
        for p in range(labels if n > ONE else ONE):
            score = delta[n - ONE, p * labels + c] + links[stop_of(labels), c]
            if score > best:
                last, before, best = c, p, score
    path[n - ONE] = last
    if n > ONE:
        path[n - U(2)] = before
    for back in range(ONE, n - ONE):
        t = n - back
        found, highest = U(0), LOWEST
        for i in range(labels):
            score = delta[t - ONE, i * labels + before] + links[pair_of(labels, i, before), last]
            if score > highest:
                found, highest = i, score
        last, before = before, found
        path[t - U(2)] = before
    return best


# -- the k best sequences ---------------------------------------------------------------------------------------------


@register_jitable(**CALLED)
def insert(scores, marks, t, at, k, score, mark):
    """Insert a score into a descending list of k, after its equals; updates scores and marks in place."""
    r = k - ONE
    while r > U(0) and score > scores[t, at + r - ONE]:
        scores[t, at + r], marks[t, at + r] = scores[t, at + r - ONE], marks[t, at + r - ONE]
        r -= ONE
    scores[t, at + r], marks[t, at + r] = score, mark


@register_jitable(**CALLED)
def k_best(markov, k, n, emit, links, delta, marks, paths, totals):
    """The k best labellings of n ≥ 1 tokens, best first; fills paths[:, :n] and totals; returns how many there are.

    Like `best_labels`, with a list of the k best instead of one best (delta and marks have k columns for each). Marks
    point to the entry at the token before. The last line of both is for whole sequences.
    """
    labels = U(links.shape[1])
    end = U(delta.shape[0]) - ONE
    for t in range(n):
        pairs = labels if is_second(markov) and t > U(0) else ONE
        for p in range(pairs):
            for c in range(labels):
                to = (p * labels + c) * k
                for r in range(k):
                    delta[t, to + r] = LOWEST
                if t == U(0):
                    delta[0, to] = links[start_of(labels), c] + emit[0, c]
                    continue
                for i in range(labels):
                    if is_second(markov):
                        if t == ONE and i > U(0):
                            break
                        at = p * k if t == ONE else (i * labels + p) * k
                        link = links[pair_of(labels, start_of(labels) if t == ONE else i, p), c]
                    else:
                        at, link = i * k, links[i, c]
                    for r in range(k):
                        score = delta[t - ONE, at + r] + link
                        if not score > delta[t, to + k - ONE]:
                            break
                        insert(delta, marks, t, to, k, score, at + r)
                for r in range(k):
                    delta[t, to + r] += emit[t, c]
    for r in range(k):
        delta[end, r] = LOWEST
    for c in range(labels):
        for p in range(labels if is_second(markov) and n > ONE else ONE):
            for r in range(k):
                at = (p * labels + c) * k + r
                score = delta[n - ONE, at] + links[stop_of(labels), c]
                if not score > delta[end, k - ONE]:
                    break
                insert(delta, marks, end, U(0), k, score, at)
    found = U(0)
    while found < k and delta[end, found] > LOWEST:
        at = U(marks[end, found])
        for back in range(n):
            t = n - ONE - back
            paths[found, t] = (at // k) % labels
            at = U(marks[t, at])
        totals[found] = delta[end, found]
        found += ONE
    return found
