"""Repeat logged updates, to see what each of them did."""

from __future__ import annotations

from perceptrons.core.jit.deferred import forms
from perceptrons.core.linear.passes import norm
from perceptrons.core.linear.readouts import DOWN, ROW, STEP, UP
from perceptrons.core.rows import JIT, U
from perceptrons.core.spaces import Scoring, by_axes, judge, move, scaled, score

# Columns of the notes on an update; w after the update follows them, if there is room.
BEFORE, AFTER, SQ_NORM, TOWARDS, COLUMNS = range(5)


@forms("one several", by_axes("w"), **JIT)
def along(scores, code, rival, w):
    """Inner product of the weights behind these scores with the direction of a step."""
    return (2.0 * code - 1.0) * scores[0]


@along.several
def _along(scores, code, rival, w):
    return scores[code] - scores[rival]


@Scoring
def replay(values, indices, indptr, sq_norm, log, bias, tie_positive, star, w, lines, scores):
    """Repeat the steps of a log, with one line of notes each; updates w and lines in place.

    A line has the margin of the row before and after the step, ‖w‖² after it, and w*·(the step), where w* is `star`.
    """
    total = norm(w) ** 2
    for k in range(U(log.shape[0])):
        i, code, rival, step = U(log[k, ROW]), U(log[k, UP]), U(log[k, DOWN]), log[k, STEP]
        score(values, indices, indptr, i, bias, star, scores)
        lines[k, TOWARDS] = step * along(scores, code, rival, w)
        score(values, indices, indptr, i, bias, w, scores)
        lines[k, BEFORE], _, _ = judge(scores, code, tie_positive, w)
        # ‖w + δ‖² = ‖w‖² + 2·w·δ + ‖δ‖²: the cost depends on the row, not on the size of w.
        total += step * (2.0 * along(scores, code, rival, w) + step * scaled(w, sq_norm[i] + bias * bias))
        lines[k, SQ_NORM] = max(total, 0.0)  # rounding may make it negative
        move(values, indices, indptr, i, step, bias, code, rival, w)
        score(values, indices, indptr, i, bias, w, scores)
        lines[k, AFTER], _, _ = judge(scores, code, tie_positive, w)
        column = U(COLUMNS)
        if U(lines.shape[1]) > column:
            for x in w.flat:
                lines[k, column] = x
                column += U(1)
