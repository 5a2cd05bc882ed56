"""Passes over examples: learning, counting mistakes, scoring, and the votes of all hypotheses.

A pass does not depend on the layout of rows (`rows`), the number of classes (`spaces`), the rule (`rules`) or the
readout (`readouts`): types pick the code for each of them when the pass is compiled.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from perceptrons.core.counters import LOSS, MISTAKES, OVERFLOW, PASSES, QUIET, RUN, TAU, UPDATES, count
from perceptrons.core.jit.compiled import Compiled, Filling, is_finite
from perceptrons.core.jit.deferred import register_jitable
from perceptrons.core.linear import readouts
from perceptrons.core.linear.readouts import keep_right, keep_step
from perceptrons.core.rows import JIT, U, abs_dot, ahead, n_rows, point_ahead, prefetch
from perceptrons.core.rule import tau
from perceptrons.core.spaces import Scoring, judge, move, scaled, score, scratch

# Rows are prefetched NEAR ahead, and the pointers to them FAR ahead. In a random order, a row is requested once more
# AGAIN ahead, because processors drop requests while too many are pending.
AGAIN, NEAR, FAR = U(3), U(8), U(16)


@register_jitable(**JIT)
def norm(w):
    """‖w‖, over all classes."""
    total = 0.0
    for x in w.flat:
        total += x * x
    return np.sqrt(total)


@Scoring
def learn(
    values, indices, indptr, codes, weight, sq_norm, order, how, w, kept, totals, course, mistakes, predicted, scores
):
    """Make passes, one per line of `order`, until one has no mistake or no step, or the margin is proved too small.

    Updates w, kept, totals, course, mistakes (one entry per pass), predicted (unless None) and scores in place.
    """
    n = U(order.shape[1])
    for p in range(U(order.shape[0])):
        mistakes_before, updates_before = totals[MISTAKES], totals[UPDATES]
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
            step = how.eta * tau(how.rule, margin, scaled(w, sq_norm[i] + how.bias * how.bias), example_weight)
            if not is_finite(margin + step):
                course[OVERFLOW] = i + 1.0
                return
            count(totals, margin, step)
            course[LOSS] += max(0.0, 1.0 - margin)
            if step > 0.0:
                move(values, indices, indptr, i, step, how.bias, code, rival, w)
                keep_step(how.readout, values, indices, indptr, i, step, how.bias, code, rival, kept, totals, course)
            elif margin > 0.0:
                readout, tie_positive = how.readout, how.tie_positive
                keep_right(
                    readout, values, indices, indptr, codes, weight, how.bias, tie_positive, w, kept, course, scores
                )
            else:
                course[RUN] = 0.0  # a mistake without a step, on a row of zeros
        mistakes[p] += totals[MISTAKES] - mistakes_before
        course[PASSES] += 1.0
        course[QUIET] = 1.0 if totals[UPDATES] == updates_before else 0.0
        stuck = mistakes[p] == 0.0 or course[QUIET] == 1.0
        if stuck or (how.give_up > 0.0 and norm(w) < how.give_up * totals[TAU]):
            return


@Scoring
def errors(values, indices, indptr, codes, weight, bias, tie_positive, w, scores):
    """The number of mistakes of w on all rows, weighted if rows have weights; updates scores in place."""
    return readouts.errors(values, indices, indptr, codes, weight, bias, tie_positive, w, np.inf, scores)


class FillingAndScoring(Filling, Scoring):
    """A compiled function whose last parameters are the array that it fills and room for scores."""


@partial(FillingAndScoring, lambda values, indices, indptr, bias, w: (n_rows(values, indices, indptr), scratch(w).size))
def decide(values, indices, indptr, bias, w, out, scores):
    """Scores of all rows, one column per weight vector; fills out."""
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
    """Σ_j |x_j|·w_j of each row, for one vector w ≥ 0 whose last entry is the bias; it bounds rounding errors."""
    out = np.empty(n_rows(values, indices, indptr))
    for i in range(U(out.size)):
        out[i] = abs_dot(values, indices, indptr, i, w) + bias * w[U(w.size) - U(1)]
    return out


@Compiled
def vote(gram, column, log, lasts, tie_positive, scores, votes):
    """The votes of successive hypotheses on some rows; updates scores and votes in place.

    Hypothesis k differs from the one before by the step in line k of `log`; `gram[i, column[k]]` is the inner
    product of row i with the row of that step (plus the constant of the bias), and `lasts[k]` is the number of
    examples for which the hypothesis lasted.
    """
    for i in range(U(gram.shape[0])):
        for k in range(U(log.shape[0])):
            moved = log[k, readouts.STEP] * gram[i, column[k]]
            tally(scores[i], votes[i], moved, U(log[k, readouts.UP]), U(log[k, readouts.DOWN]), lasts[k], tie_positive)


@register_jitable(**JIT)
def tally(scores, votes, moved, up, down, weight, tie_positive):
    """Add a step to the scores of one row, then vote: by the sign of one score, or for the largest of several."""
    if scores.size == 1:
        scores[0] += moved * (2.0 * up - 1.0)
        positive = scores[0] > 0.0 or (tie_positive and scores[0] == 0.0)
        votes[0] += weight if positive else -weight
    else:
        scores[up] += moved
        scores[down] -= moved
        votes[np.argmax(scores)] += weight
