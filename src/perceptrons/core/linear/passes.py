"""Passes over examples: learning, counting mistakes, scoring, and the votes of all hypotheses.

A pass knows neither the layout of rows (`rows`), nor the number of classes (`spaces`), nor the rule (`rules`), nor
which hypothesis is kept (`keeping`): types pick each of them when the pass is compiled.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from perceptrons.core.jit.compiled import Compiled, Filling, is_finite
from perceptrons.core.jit.deferred import overload, register_jitable
from perceptrons.core.linear import readouts as keeping
from perceptrons.core.linear.readouts import (
    AVERAGED,
    MISTAKES,
    OVERFLOW,
    PASSES,
    QUIET,
    RUN,
    SEEN,
    TAU,
    UPDATES,
    keep_right,
    keep_step,
)
from perceptrons.core.rows import JIT, U, abs_dot, ahead, n_rows, point_ahead, prefetch
from perceptrons.core.spaces import Scoring, judge, move, scaled, score, scratch

# Rows are prefetched this far ahead of the one in work; what tells where they are, further ahead. In a random order
# a row is asked for twice: processors drop requests while too many are under way.
AGAIN, NEAR, FAR = U(3), U(8), U(16)

GOLDEN = U(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio: SplitMix64's stride


class How(NamedTuple):
    """What a pass must know besides the data: scalars, and two types that pick code."""

    rule: Any  # formula and parameters of the step
    readout: Any  # which hypothesis is kept: one of `keeping`
    eta: float  # scales every step
    bias: float  # value of the constant feature: 1, or 0 without a bias
    tie_positive: bool
    give_up: float  # stop when ‖w‖ < give_up·Στ; 0 for never


def tau(rule, margin, sq_norm, weight):
    """Length of the step by the rule's own formula."""


@overload(tau, strict=False, jit_options=JIT)
def _tau(rule, margin, sq_norm, weight):
    return rule.instance_class.tau


@register_jitable(**JIT)
def mixed(state):
    """SplitMix64's output for a state."""
    state = (state ^ (state >> U(30))) * U(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> U(27))) * U(0x94D049BB133111EB)
    return state ^ (state >> U(31))


@register_jitable(**JIT)
def norm(w):
    """‖w‖, over all classes."""
    total = 0.0
    for x in w.flat:
        total += x * x
    return np.sqrt(total)


@Scoring
def learn(values, indices, indptr, codes, weight, sq_norm, order, how, w, kept, counts, mistakes, predicted, scores):
    """Pass after pass, a line of `order` each, until one has no mistake or no step, or margins are proved too small.

    Updates w, kept, counts, mistakes (one entry a pass), predicted (unless None) and scores in place.
    """
    n = U(order.shape[1])
    for p in range(U(order.shape[0])):
        mistakes_before, updates_before = counts[MISTAKES], counts[UPDATES]
        for q in range(n):
            if q + FAR < n:
                far = U(order[p, q + FAR])
                prefetch(codes, far)
                prefetch(sq_norm, far)
                point_ahead(values, indices, indptr, far)
                ahead(values, indices, indptr, U(order[p, q + NEAR]))
                if far != U(order[p, q]) + FAR:
                    ahead(values, indices, indptr, U(order[p, q + AGAIN]))
            i = U(order[p, q])
            example_weight = 1.0
            if weight is not None:
                example_weight = weight[i]
            code = U(codes[i])
            score(values, indices, indptr, i, how.bias, w, scores)
            margin, rival, answer = judge(scores, code, how.tie_positive, w)
            if predicted is not None:
                predicted[i] = answer
            if example_weight == 0.0:
                continue
            step = how.eta * tau(how.rule, margin, scaled(w, sq_norm[i] + how.bias), example_weight)
            if not is_finite(margin + step):
                counts[OVERFLOW] = i + 1.0
                return
            counts[AVERAGED] += 1.0
            counts[SEEN] += 1.0
            if margin <= 0.0:
                counts[MISTAKES] += 1.0
            if step > 0.0:
                move(values, indices, indptr, i, step, how.bias, code, rival, w)
                counts[UPDATES] += 1.0
                counts[TAU] += step
                keep_step(how.readout, values, indices, indptr, i, step, how.bias, code, rival, kept, counts)
            elif margin > 0.0:
                readout, tie_positive = how.readout, how.tie_positive
                keep_right(
                    readout, values, indices, indptr, codes, weight, how.bias, tie_positive, w, kept, counts, scores
                )
            else:
                counts[RUN] = 0.0  # a mistake on a row of zeros
        mistakes[p] += counts[MISTAKES] - mistakes_before
        counts[PASSES] += 1.0
        counts[QUIET] = 1.0 if counts[UPDATES] == updates_before else 0.0
        stuck = mistakes[p] == 0.0 or counts[QUIET] == 1.0
        if stuck or (how.give_up > 0.0 and norm(w) < how.give_up * counts[TAU]):
            return


@Compiled
def shuffle(orders, seed, first):
    """A random order for each line; updates orders in place. Line p is the same whichever lines stand before it.

    Fisher & Yates with SplitMix64 (Steele, Lea & Flood 2014): twelve times as fast as NumPy's `permuted`, which would
    take a tenth of a pass.
    """
    for p in range(U(orders.shape[0])):
        state = mixed(U(seed) + mixed(U(first) + p))
        for q in range(U(orders.shape[1]) - U(1), U(0), -1):
            state += GOLDEN
            narrow = ((mixed(state) >> U(32)) * (U(q) + U(1))) >> U(32)
            other = narrow if q < U(1 << 32) else mixed(state) % (U(q) + U(1))
            orders[p, U(q)], orders[p, other] = orders[p, other], orders[p, U(q)]


@Scoring
def errors(values, indices, indptr, codes, weight, bias, tie_positive, w, scores):
    """The mistakes of w on all rows, by their weights if they have any; updates scores in place."""
    return keeping.errors(values, indices, indptr, codes, weight, bias, tie_positive, w, np.inf, scores)


class FillingAndScoring(Filling, Scoring):
    """A kernel whose last parameters are the array that it fills and room for scores."""


@partial(FillingAndScoring, lambda values, indices, indptr, bias, w: (n_rows(values, indices, indptr), scratch(w).size))
def decide(values, indices, indptr, bias, w, out, scores):
    """Scores of all rows, one column a weight vector; fills out."""
    for i in range(U(out.shape[0])):
        score(values, indices, indptr, i, bias, w, scores)
        for c in range(U(scores.size)):
            out[i, c] = scores[c]


@Compiled
def margins(values, indices, indptr, codes, bias, w, rivals):
    """The margin of each row, and for several classes its strongest rival; updates rivals (unless None) in place."""
    scores = scratch(w)
    out = np.empty(n_rows(values, indices, indptr))
    for i in range(U(out.size)):
        score(values, indices, indptr, i, bias, w, scores)
        out[i], rival, _ = judge(scores, U(codes[i]), False, w)
        if rivals is not None:
            rivals[i] = rival
    return out


@Compiled
def sizes(values, indices, indptr, bias, w):
    """Σ_j |x_j|·w_j of each row, for one vector w ≥ 0 with the constant's weight last: what bounds rounding errors."""
    out = np.empty(n_rows(values, indices, indptr))
    for i in range(U(out.size)):
        out[i] = abs_dot(values, indices, indptr, i, w) + bias * w[U(w.size) - U(1)]
    return out


@Compiled
def vote(gram, column, log, lasts, tie_positive, scores, votes):
    """The votes of successive hypotheses on some rows; updates scores and votes in place.

    Hypothesis k differs from the one before by the step in line k of `log`; `gram[i, column[k]]` is the inner
    product of row i with the row of that step (with the constant of the bias), and `lasts[k]` is the number of
    examples after which the hypothesis was in force.
    """
    for i in range(U(gram.shape[0])):
        for k in range(U(log.shape[0])):
            moved = log[k, keeping.STEP] * gram[i, column[k]]
            tally(scores[i], votes[i], moved, U(log[k, keeping.UP]), U(log[k, keeping.DOWN]), lasts[k], tie_positive)


@register_jitable(**JIT)
def tally(scores, votes, moved, up, down, weight, tie_positive):
    """Move the scores of one row by a step, then vote: with one score for its sign, with several for the largest."""
    if scores.size == 1:
        scores[0] += moved * (2.0 * up - 1.0)
        positive = scores[0] > 0.0 or (tie_positive and scores[0] == 0.0)
        votes[0] += weight if positive else -weight
    else:
        scores[up] += moved
        scores[down] -= moved
        votes[np.argmax(scores)] += weight
