"""The pass in a kernel's feature space: w = Σ_j α_j φ(x_j), where only inner products k(x_j, x) are known.

The scores of all rows are kept up to date: a step of length τ towards x_i adds ±τ·k(x_i, x_r) to the score of every row
r. `scores` has one entry per row for two classes, and one column per class for more (Fortran order, so that a step
changes whole columns); its number of axes picks the code, like that of w in `spaces`. The coefficients α are not needed
here: the caller adds them up from the log of updates.
"""

from __future__ import annotations

import numpy as np

from perceptrons.core import counters as at
from perceptrons.core.counters import count
from perceptrons.core.jit.compiled import Compiled, is_finite
from perceptrons.core.jit.deferred import forms
from perceptrons.core.linear.readouts import log_step
from perceptrons.core.rows import JIT, U
from perceptrons.core.rule import tau
from perceptrons.core.spaces import by_axes, judge, scaled, scratch

# Why a pass returned before its end: course[at.WAITS].
NOTHING, LINE, TRIAL = range(3)
# Rows without a line in the table: not computed, requested, or in another table.
MISSING, ASKED, ELSEWHERE = -1, -2, -3


@forms("one several", by_axes("scores"), **JIT)
def read(scores, i, out):
    """The scores of row i; updates out in place."""
    out[0] = scores[i]


@read.several
def _read(scores, i, out):
    for c in range(U(out.size)):
        out[c] = scores[i, c]


@forms("one several", by_axes("scores"), **JIT)
def move(scores, line, step, code, rival):
    """A step towards the row whose kernel values are `line`; updates scores in place."""
    signed = step * (2.0 * code - 1.0)
    for r in range(U(line.size)):
        scores[r] += signed * line[r]


@move.several
def _move(scores, line, step, code, rival):
    up, down = scores[:, code], scores[:, rival]
    for r in range(U(line.size)):
        up[r] += step * line[r]
    for r in range(U(line.size)):
        down[r] -= step * line[r]


@Compiled
def learn(table, lines, codes, weight, sq_norm, order, how, scores, log, totals, course, mistakes, predicted):
    """Make passes, one per line of `order`, like `passes.learn`; continues from visit number course[at.VISITS].

    Updates scores, log, totals, course, mistakes (one entry per pass) and predicted (unless None) in place.
    `table[lines[i]]` has the kernel values of row i with all rows; if lines[i] < 0, they are not in the table.
    The pass returns early, with the reason in course[at.WAITS], before an update whose line is missing, and when a
    hypothesis should be tried for the pocket (never, if LONGEST is infinite).
    """
    out = scratch(scores)
    n = U(order.shape[1])
    visits = U(order.size)
    course[at.WAITS] = NOTHING
    v = U(course[at.VISITS])
    while v < visits:
        p, q = v // n, v % n
        if q == U(0):
            course[at.QUIET] = 1.0
        i = U(order[p, q])
        example_weight = 1.0
        if weight is not None:
            example_weight = weight[i]
        code = U(codes[i])
        read(scores, i, out)
        margin, rival, answer = judge(out, code, how.tie_positive, scores)
        if example_weight != 0.0:
            sq_length = scaled(scores, sq_norm[i])
            step = how.eta * tau(how.rule, margin, sq_length, example_weight, 2.0 * code - 1.0)
            if not is_finite(margin + step):
                course[at.OVERFLOW] = i + 1.0
                return
            if step > 0.0 and lines[i] < 0:
                course[at.VISITS], course[at.WAITS] = v, LINE
                return
            count(totals, margin <= 0.0, step)
            if margin <= 0.0:
                mistakes[p] += 1.0
            if step > 0.0:
                move(scores, table[U(lines[i])], step, code, rival)
                log_step(i, step, code, rival, log, totals, course)
                totals[at.SQ_NORM] += step * (2.0 * margin + step * sq_length)  # ‖w + δ‖² = ‖w‖² + 2w·δ + ‖δ‖²
                course[at.QUIET] = course[at.RUN] = course[at.TRIED] = 0.0
            elif margin > 0.0:
                course[at.RUN] += 1.0
                if course[at.RUN] > course[at.LONGEST]:
                    course[at.LONGEST] = course[at.RUN]
                    if course[at.TRIED] == 0.0:
                        course[at.TRIED], course[at.WAITS] = 1.0, TRIAL
            else:
                course[at.RUN] = 0.0  # a mistake without a step, on a row of zeros
        if predicted is not None:
            predicted[i] = answer
        v += U(1)
        course[at.VISITS] = v
        if v % n == U(0):
            course[at.PASSES] += 1.0
            length = np.sqrt(max(0.0, totals[at.SQ_NORM]))
            stuck = mistakes[p] == 0.0 or course[at.QUIET] == 1.0
            if stuck or (how.give_up > 0.0 and length < how.give_up * totals[at.TAU]):
                course[at.VISITS] = visits
                return
        if course[at.WAITS] == TRIAL:
            return


@Compiled
def ahead(lines, codes, sq_norm, order, first, how, scores, found):
    """Find the rows from visit `first` on that would make a step now and whose line is missing, each once.

    Updates found in place, and marks these rows in lines as ASKED; returns their number, at most `found.size`.
    """
    out = scratch(scores)
    n = U(order.shape[1])
    count = U(0)
    for v in range(U(first), (U(first) // n + U(1)) * n):  # to the end of this pass
        i = U(order[v // n, v % n])
        if lines[i] != MISSING:
            continue
        read(scores, i, out)
        code = U(codes[i])
        margin, _, _ = judge(out, code, how.tie_positive, scores)
        if tau(how.rule, margin, scaled(scores, sq_norm[i]), 1.0, 2.0 * code - 1.0) > 0.0:
            lines[i] = ASKED
            found[count] = i
            count += U(1)
            if count == U(found.size):
                break
    return count


@Compiled
def spread(table, lines, steps, scores):
    """Make the steps of rows whose kernel values are in these lines of the table; updates scores in place.

    `steps` are the changes of the rows' coefficients, by class if there are several.
    """
    for k in range(U(lines.size)):
        lift(scores, table[U(lines[k])], steps, k)


@forms("one several", by_axes("scores"), **JIT)
def lift(scores, line, steps, k):
    """Add line k of `steps` times `line` to the scores; updates them in place."""
    for r in range(U(line.size)):
        scores[r] += steps[k] * line[r]


@lift.several
def _lift(scores, line, steps, k):
    for c in range(U(scores.shape[1])):
        step, column = steps[k, c], scores[:, c]
        if step != 0.0:
            for r in range(U(line.size)):
                column[r] += step * line[r]


@Compiled
def errors(scores, codes, weight, tie_positive):
    """The number of mistakes by these scores, weighted if rows have weights."""
    out = scratch(scores)
    total = 0.0
    for i in range(U(scores.shape[0])):
        read(scores, i, out)
        margin, _, _ = judge(out, U(codes[i]), tie_positive, scores)
        if margin <= 0.0:
            if weight is None:
                total += 1.0
            else:
                total += weight[i]
    return total


@Compiled
def smallest(scores, codes, weight):
    """The smallest margin of the rows whose weight is not 0."""
    out = scratch(scores)
    least = np.inf
    for i in range(U(scores.shape[0])):
        if weight is None or weight[i] > 0.0:
            read(scores, i, out)
            margin, _, _ = judge(out, U(codes[i]), False, scores)
            least = min(least, margin)
    return least
