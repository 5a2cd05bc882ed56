"""Passes over examples: learning, counting mistakes, scoring, and the votes of all hypotheses.

A pass does not depend on the layout of rows (`rows`), the number of classes (`spaces`), the rule (`rules`) or the
readout (`readouts`): types pick the code for each of them when the pass is compiled.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from perceptrons.core.counters import (
    LOSS,
    MISTAKES,
    OVERFLOW,
    PASSES,
    PAUSED,
    QUIET,
    RUN,
    SQ_RADIUS,
    TAU,
    UPDATES,
    count,
)
from perceptrons.core.jit.compiled import Compiled, Filling, is_finite
from perceptrons.core.jit.deferred import forms, register_jitable
from perceptrons.core.linear import readouts
from perceptrons.core.linear.readouts import keep_right, keep_step
from perceptrons.core.linear.shapes import (
    advance,
    ask,
    begin_step,
    end_example,
    lift,
    must_pause,
    size,
    variances_of,
)
from perceptrons.core.rows import JIT, ONE, U, abs_dot, ahead, n_rows, point_ahead, prefetch
from perceptrons.core.spaces import Scoring, judge, score, scratch

# Rows are prefetched NEAR ahead, and the pointers to them FAR ahead. In a random order, a row is requested once more
# AGAIN ahead, because processors drop requests while too many are pending.
AGAIN, NEAR, FAR = U(3), U(8), U(16)
# A longer step counts as an overflow. So no number of steps makes a weight, or a sum of weights, overflow, and a caller
# that learns from a single example need not save the weights first.
LONGEST = 2.0**900


@register_jitable(**JIT)
def norm(w):
    """‖w‖, over all classes."""
    total = 0.0
    for x in w.flat:
        total += x * x
    return np.sqrt(total)


@register_jitable(**JIT)
def look_ahead(values, indices, indptr, codes, sq_norm, order, p, q):
    """Prefetch the examples that follow place q of pass p."""
    if q + FAR < U(order.shape[1]):
        far = U(order[p, q + FAR])
        prefetch(codes, far)
        prefetch(sq_norm, far)
        point_ahead(values, indices, indptr, far)
        ahead(values, indices, indptr, U(order[p, q + NEAR]))
        if far != U(order[p, q]) + FAR:
            ahead(values, indices, indptr, U(order[p, q + AGAIN]))


def by_target(types):
    return "values" if types["codes"].dtype.name.startswith("float") else "classes"


@forms("classes values", by_target, **JIT)
def compare(scores, codes, i, how, w):
    """The margin of example i, the class to move to and its rival, the answer, and whether it is wrong."""
    code = U(codes[i])
    margin, rival, answer = judge(scores, code, how.tie_positive, w)
    return margin, code, rival, answer, margin <= 0.0


@compare.values
def _compare(scores, codes, i, how, w):
    # Regression: ℓ = max(0, |y − ŷ| − ε), and the step goes towards y. With m = 1 − ℓ, formulas are the same.
    apart = codes[i] - scores[0]
    loss = max(0.0, abs(apart) - how.epsilon)
    code = ONE if apart > 0.0 else U(0)
    return 1.0 - loss, code, ONE - code, scores[0], loss > 0.0


@register_jitable(**JIT)
def visit(
    values, indices, indptr, i, codes, weight, sq_norm, how, w, kept, shape, room, totals, course, answers, scores
):
    """Learn from example i; returns whether it did, or else cannot because of an overflow or a pause.

    Updates w, kept, shape, room, totals, course, answers (unless None) and scores in place.
    """
    rule, readout, bias, example_weight = how.rule, how.readout, how.bias, 1.0
    if weight is not None:
        example_weight = weight[i]
    score(values, indices, indptr, i, bias, w, scores)
    lift(rule, w, shape, scores)
    margin, code, rival, answer, wrong = compare(scores, codes, i, how, w)
    if answers is not None:
        answers[i] = answer
    if example_weight == 0.0:
        return True
    sq = sq_norm[i] + bias * bias
    step, second = ask(rule, values, indices, indptr, i, bias, margin, sq, example_weight, code, rival, w, shape, room)
    step *= how.eta
    if not is_finite(margin + step + second) or (step > 0.0 and step * np.sqrt(sq) > LONGEST):
        course[OVERFLOW] = i + 1.0
        return False
    if must_pause(rule, step, second, sq, w, shape):
        course[PAUSED] = 1.0
        return False
    if sq_norm[i] > totals[SQ_RADIUS]:
        totals[SQ_RADIUS] = sq_norm[i]
    if step > 0.0:
        step = begin_step(readout, rule, step, second, margin, sq, code, rival, w, kept, shape, room, totals)
    count(totals, wrong, step)
    course[LOSS] += max(0.0, 1.0 - margin)
    if step > 0.0:
        keep_step(readout, rule, values, indices, indptr, i, step, bias, code, rival, kept, shape, room, totals, course)
        advance(rule, values, indices, indptr, i, step, second, bias, code, rival, w, shape, room)
    elif not wrong:
        length, tie = size(rule, w, shape), how.tie_positive
        keep_right(readout, values, indices, indptr, codes, weight, bias, tie, length, w, kept, course, scores)
    else:
        course[RUN] = 0.0  # a mistake without a step, on a row of zeros
    end_example(rule, w, shape)
    return True


@Scoring
def learn(
    values,
    indices,
    indptr,
    codes,
    weight,
    sq_norm,
    order,
    how,
    w,
    kept,
    shape,
    room,
    totals,
    course,
    mistakes,
    answers,
    scores,
):
    """Make passes, one per line of `order`, until one has no mistake or no step, or the margin is proved too small.

    Returns False if it stopped at an example because of an overflow or a pause. Updates w, kept, shape, room, totals,
    course, mistakes (one entry per pass), answers (unless None) and scores in place. `codes` are numbers of classes, or
    in regression the values to predict.
    """
    for p in range(U(order.shape[0])):
        mistakes_before, updates_before = totals[MISTAKES], totals[UPDATES]
        for q in range(U(order.shape[1])):
            look_ahead(values, indices, indptr, codes, sq_norm, order, p, q)
            i = U(order[p, q])
            learned = visit(
                values,
                indices,
                indptr,
                i,
                codes,
                weight,
                sq_norm,
                how,
                w,
                kept,
                shape,
                room,
                totals,
                course,
                answers,
                scores,
            )
            if not learned:
                course[PAUSED] *= q + 1.0
                mistakes[p] += totals[MISTAKES] - mistakes_before
                return False
        mistakes[p] += totals[MISTAKES] - mistakes_before
        course[PASSES] += 1.0
        course[QUIET] = 1.0 if totals[UPDATES] == updates_before else 0.0
        stuck = mistakes[p] == 0.0 or course[QUIET] == 1.0
        if stuck or (how.give_up > 0.0 and norm(w) * size(how.rule, w, shape) < how.give_up * totals[TAU]):
            break
    return True


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


@partial(
    Filling, lambda values, indices, indptr, bias, w, shape, room: (n_rows(values, indices, indptr), scratch(w).size)
)
def variances(values, indices, indptr, bias, w, shape, room, out):
    """xᵀΣx of all rows, one column per weight vector; fills out, and changes room in place."""
    for i in range(U(out.shape[0])):
        variances_of(values, indices, indptr, i, bias, w, shape, room, out[i])


@partial(FillingAndScoring, lambda values, indices, indptr, codes, bias, w, rivals: (n_rows(values, indices, indptr),))
def margins(values, indices, indptr, codes, bias, w, rivals, out, scores):
    """The margin of each row, and for several classes its strongest rival; updates out and rivals (unless None)."""
    for i in range(U(out.size)):
        score(values, indices, indptr, i, bias, w, scores)
        out[i], rival, _ = judge(scores, U(codes[i]), False, w)
        if rivals is not None:
            rivals[i] = rival


@partial(Filling, lambda values, indices, indptr, bias, w: (n_rows(values, indices, indptr),))
def sizes(values, indices, indptr, bias, w, out):
    """Σ_j |x_j|·w_j of each row, for one vector w ≥ 0 whose last entry is the bias; it bounds rounding errors."""
    for i in range(U(out.size)):
        out[i] = abs_dot(values, indices, indptr, i, w) + bias * w[U(w.size) - U(1)]


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
