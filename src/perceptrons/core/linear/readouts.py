"""What a pass keeps for the readout, besides w: nothing, a sum, a log or a pocket.

Each readout is an empty NamedTuple whose type picks the code, so that the others cost nothing.
`totals` and `course` are the counters of the pass: see `counters`.
"""

from __future__ import annotations

from typing import NamedTuple

from perceptrons.core.counters import AVERAGED, LOGGED, LONGEST, POCKET, RUN, TRIED
from perceptrons.core.jit.compiled import OPTIONS
from perceptrons.core.jit.deferred import by_class, forms, register_jitable
from perceptrons.core.linear.shapes import push, share
from perceptrons.core.rows import JIT, U, n_rows
from perceptrons.core.spaces import by_axes, judge, score

# Columns of the log of updates.
AT, ROW, STEP, UP, DOWN, COLUMNS = range(6)


class Last(NamedTuple):
    """Keep nothing: the final w is read out."""


class Averaged(NamedTuple):
    """Keep u = w_0 + Σ t·δ_t, with δ_t the step made at example t: Σ_t w_t = (T + 1)·w_T − u.

    If w is kept as s·v: u = w_0 + Σ S_{t−1}·δ_t with δ_t the step of v and S_t = s_0 + … + s_t; Σ_t w_t = S_T·v_T − u.
    """


class Voted(NamedTuple):
    """Keep a line for each update: the example's number, its row, the step, the classes that move up and down."""


class Pocket(NamedTuple):
    """Keep the w with the fewest mistakes on all rows (Gallant 1990, with ratchet)."""


@register_jitable(**JIT)
def log_step(i, step, code, rival, log, totals, course):
    """Write one update into the next line of the log; changes log and course in place."""
    line = U(course[LOGGED])
    log[line, AT] = totals[AVERAGED]
    log[line, ROW] = i
    log[line, STEP] = step
    log[line, UP] = code
    log[line, DOWN] = rival
    course[LOGGED] += 1.0


@forms("last averaged voted pocket", by_class("readout"), **JIT)
def keep_step(readout, rule, values, indices, indptr, i, step, bias, code, rival, kept, shape, room, totals, course):
    """Called at an update; changes kept and course in place."""


@keep_step.averaged
def _keep_step_averaged(
    readout, rule, values, indices, indptr, i, step, bias, code, rival, kept, shape, room, totals, course
):
    far = step * share(rule, kept, shape, totals)
    push(rule, values, indices, indptr, i, far, bias, code, rival, kept, shape, room)


@keep_step.voted
def _keep_step_voted(
    readout, rule, values, indices, indptr, i, step, bias, code, rival, kept, shape, room, totals, course
):
    log_step(i, step, code, rival, kept, totals, course)


@keep_step.pocket
def _keep_step_pocket(
    readout, rule, values, indices, indptr, i, step, bias, code, rival, kept, shape, room, totals, course
):
    course[RUN] = 0.0
    course[TRIED] = 0.0


@forms("one several", by_axes("w"), **JIT)
def copy(w, length, kept):
    """kept = length·w, entry by entry: assigning whole arrays takes six seconds to compile, because of its messages."""
    for j in range(U(w.size)):
        kept[j] = length * w[j]


@copy.several
def _copy(w, length, kept):
    for j in range(U(w.shape[0])):
        for c in range(U(w.shape[1])):
            kept[j, c] = length * w[j, c]


@forms("last pocket", by_class("readout"), **JIT)
def keep_right(readout, values, indices, indptr, codes, weight, bias, tie_positive, length, w, kept, course, scores):
    """Called after a right answer without an update; changes kept, course and scores in place."""


@keep_right.pocket
def _keep_right(readout, values, indices, indptr, codes, weight, bias, tie_positive, length, w, kept, course, scores):
    course[RUN] += 1.0
    if course[RUN] <= course[LONGEST]:
        return
    course[LONGEST] = course[RUN]
    if course[TRIED] == 0.0:
        course[TRIED] = 1.0
        found = errors(values, indices, indptr, codes, weight, bias, tie_positive, w, course[POCKET], scores)
        if found < course[POCKET]:
            course[POCKET] = found
            copy(w, length, kept)


@register_jitable(**OPTIONS)  # not inlined: it is rarely called
def errors(values, indices, indptr, codes, weight, bias, tie_positive, w, limit, scores):
    """The number of mistakes of w on all rows, weighted if rows have weights; stops counting at `limit`.

    `scores` is room for one example.
    """
    total = 0.0
    for i in range(n_rows(values, indices, indptr)):
        score(values, indices, indptr, i, bias, w, scores)
        margin, _, _ = judge(scores, U(codes[i]), tie_positive, w)
        if margin <= 0.0:
            if weight is None:
                total += 1.0
            else:
                total += weight[i]
            if total >= limit:
                break
    return total
