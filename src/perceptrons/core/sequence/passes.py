"""Passes over sequences: learning, and finding labels.

All weights are in one matrix `w`, with one column per label. Row 0 stays zero; rows from 1 on belong to histories,
numbered like the links of `lattice`; then come the features that a step has touched, in the order of their first step.
`rows` has the row of each feature, 0 if it has none. There are many features, and most are never part of a step: this
keeps the weights in use close together. `links` are the weights of histories for the search, with −∞ for labels that
are not allowed.

Most features meet few labels. With many labels, rows are therefore paged: `w` has lines of eight columns, and
`pages[row, p]` is the line with the weights of labels 8·p to 8·p + 7, or 0, the line of zeros. A step makes the lines
that it touches. Without pages, `pages` is None, and a row is a line.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from perceptrons.core import counters as at
from perceptrons.core.jit.compiled import Compiled, is_finite
from perceptrons.core.jit.deferred import by_class, forms
from perceptrons.core.rows import ONE, U
from perceptrons.core.sequence.beam import beam_search, best_of, trace, violation
from perceptrons.core.sequence.emissions import CALLED, emissions, rows_ahead
from perceptrons.core.sequence.lattice import best_labels, k_best
from perceptrons.core.sequence.steps import FREE, difference, gram, lengths, move


class How(NamedTuple):
    """Settings of a pass."""

    rule: Any  # formula and parameters of the step
    target: float  # the margin that the rule requires for each wrong label
    markov: Any  # the order of the chain: Zeroth, First or Second
    search: Any  # Viterbi, Lists or Beam
    augmented: bool  # whether the search adds the cost of wrong labels to scores
    eta: float  # scales every step
    averaged: bool  # whether `kept` collects the sum for the mean of all hypotheses


class Work(NamedTuple):
    """Working memory of passes, large enough for the longest sequence; S is the number of labels."""

    emit: Any  # scores of tokens, by label
    delta: Any  # scores that search keeps for each token
    marks: Any  # labels and counts that search keeps beside them
    room: Any  # lines of S for one token
    near: Any  # rows of the features of one token
    paths: Any  # labels that search has found
    keys: Any  # the table of differences: the weight at each place
    changes: Any  # its difference, one column per rival
    used: Any  # places that are filled
    small: Any  # lines for margins, costs, steps and scores of rivals, then their inner products


# -- search -----------------------------------------------------------------------------------------------------------


@forms("viterbi beam lists", by_class("search"), **CALLED)
def find(markov, search, n, emit, links, delta, marks, room, paths, path_scores):
    """The best labels of n ≥ 1 tokens; fills one line of paths, or up to k for `Lists`; returns the number of lines."""
    path_scores[0] = best_labels(markov, n, emit, links, delta, paths[0])
    return ONE


@find.beam
def _find_beam(markov, search, n, emit, links, delta, marks, room, paths, path_scores):
    beam_search(markov, U(search.width), n, emit, links, delta, marks, room)
    best = best_of(U(delta.shape[1]), n - ONE, delta, marks)
    trace(markov, n - ONE, best, links, delta, marks, paths[0])
    return ONE


@find.lists
def _find_lists(markov, search, n, emit, links, delta, marks, room, paths, path_scores):
    return k_best(markov, U(search.k), n, emit, links, delta, marks, paths, path_scores)


@forms("viterbi beam", by_class("search"), **CALLED)
def compared(markov, search, n, gold, begin, emit, links, delta, marks, paths):
    """The number of tokens that a step is about; with a beam, puts the wrong beginning into paths[0]."""
    return n


@compared.beam
def _compared_beam(markov, search, n, gold, begin, emit, links, delta, marks, paths):
    m = violation(markov, search, n, gold, begin, emit, links, delta, marks)
    if m > U(0):
        best = best_of(U(delta.shape[1]), m - ONE, delta, marks)
        trace(markov, m - ONE, best, links, delta, marks, paths[0])
    return m


@Compiled
def learn(indices, values, indptr, bounds, gold, order, how, rows, pages, w, kept, links, totals, course, work):
    """One pass over sequences; updates rows, pages, w, kept, links, totals and course in place.

    A mistake is a sequence whose best labels are not the right ones.
    """
    emit, delta, marks, room, near, paths = work.emit, work.delta, work.marks, work.room, work.near, work.paths
    keys, changes, used, small = work.keys, work.changes, work.used, work.small
    labels, count = U(links.shape[1]), U(order.size)
    margins, costs, alphas, path_scores, inner = small[0], small[1], small[2], small[3], small[4:]
    for q in range(count):
        i = U(order[q])
        begin = bounds[i]
        n = bounds[i + ONE] - begin
        if q + ONE < count:
            ahead = U(order[q + ONE])
            rows_ahead(indices, indptr, rows, pages, w, bounds[ahead], bounds[ahead + ONE] - bounds[ahead])
        totals[at.SEEN] += 1.0
        totals[at.AVERAGED] += 1.0
        if n == U(0):
            continue
        emissions(indices, values, indptr, rows, pages, w, begin, n, emit, near)
        found = find(how.markov, how.search, n, emit, links, delta, marks, room, paths, path_scores)
        wrong = 0.0
        for t in range(n):
            wrong += paths[0, t] != gold[begin + t]
        totals[at.TOKENS] += float(n)
        totals[at.WRONG_TOKENS] += wrong
        totals[at.MISTAKES] += wrong > 0.0
        if how.augmented:
            for t in range(n):
                for c in range(labels):
                    emit[t, c] += how.target
                emit[t, U(gold[begin + t])] -= how.target
            found = find(how.markov, how.search, n, emit, links, delta, marks, room, paths, path_scores)
            wrong = 1.0
        if wrong == 0.0 and found == ONE:  # the right labels are no constraint, but others of the k best may be
            continue
        m = compared(how.markov, how.search, n, gold, begin, emit, links, delta, marks, paths)
        filled = U(0)
        for j in range(found):
            filled, costs[j] = difference(
                indices, values, indptr, gold, begin, n, m, how.markov, rows, labels, paths[j], j, keys, changes, used,
                filled, course
            )  # fmt: skip
        gram(found, pages, w, labels, keys, changes, used, filled, inner, margins)
        lengths(how.rule, how.target, found, inner, margins, costs, alphas)
        total, sq_norm = 0.0, 0.0
        for j in range(found):
            total += alphas[j]
            sq_norm = max(sq_norm, inner[j, j])
        if not is_finite(total + margins[0]):
            course[at.OVERFLOW] = i + 1.0
            return
        if total > 0.0:
            totals[at.UPDATES] += 1.0
            totals[at.TAU] += how.eta * total
            totals[at.SQ_RADIUS] = max(totals[at.SQ_RADIUS], sq_norm)
            move(
                how.markov, how.eta, how.averaged, found, keys, changes, used, filled, alphas, pages, w, kept, links,
                totals, course
            )  # fmt: skip
            if not is_finite(totals[at.SQ_NORM]):
                course[at.OVERFLOW] = i + 1.0
                return
        for p in range(filled):
            keys[U(used[p])] = FREE


@Compiled
def tag(indices, values, indptr, bounds, markov, search, rows, pages, w, links, work, out):
    """The best labels of all tokens; fills out."""
    emit, paths = work.emit, work.paths
    count = U(bounds.size) - ONE
    for i in range(count):
        begin = bounds[i]
        n = bounds[i + ONE] - begin
        if i + ONE < count:
            rows_ahead(indices, indptr, rows, pages, w, bounds[i + ONE], bounds[i + U(2)] - bounds[i + ONE])
        if n > U(0):
            emissions(indices, values, indptr, rows, pages, w, begin, n, emit, work.near)
            find(markov, search, n, emit, links, work.delta, work.marks, work.room, paths, work.small[3])
            for t in range(n):
                out[begin + t] = paths[0, t]


@Compiled
def tag_lists(indices, values, indptr, bounds, markov, search, rows, pages, w, links, work, out, scores):
    """The k best labellings of each sequence; fills out, best first, and scores, −∞ if there are fewer."""
    emit, paths = work.emit, work.paths
    for i in range(U(bounds.size) - ONE):
        begin = bounds[i]
        n = bounds[i + ONE] - begin
        for j in range(U(scores.shape[1])):
            scores[i, j] = -np.inf
        if n == U(0):
            scores[i, 0] = 0.0
            continue
        emissions(indices, values, indptr, rows, pages, w, begin, n, emit, work.near)
        found = k_best(markov, U(search.k), n, emit, links, work.delta, work.marks, paths, scores[i])
        for j in range(found):
            for t in range(n):
                out[j, begin + t] = paths[j, t]
