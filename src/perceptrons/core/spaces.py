"""Steps in weight space: one weight vector for two classes, or one per class, by the number of axes of `w`.

`code` is the number of the right class, `rival` that of the strongest wrong one. With one weight vector the
classes are 0 (y = −1) and 1 (y = +1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from perceptrons.core.jit.compiled import UNCOUNTED, Compiled
from perceptrons.core.jit.deferred import forms, overload
from perceptrons.core.rows import JIT, ONE, U, axpy, axpy_pair, dot, dots

TINY = 5e-324  # the smallest margin of a right answer


def by_axes(name):
    """Pick the form for one weight vector, or for one per class, by the axes of the argument `name`."""
    return lambda types: "one" if types[name].ndim == 1 else "several"


def scratch(w: Any) -> Any:
    """Room for the scores of one example."""
    if w.ndim == 1:
        return np.empty(1)
    room = np.empty(w.shape[1] + 7)
    begin = -room.ctypes.data // 8 % 8  # start at a cache line: vectors that cross two lines are slow
    return room[begin : begin + w.shape[1]]


@overload(scratch)
def _scratch(w):
    if w.ndim == 1:
        return lambda w: np.empty(1)
    return lambda w: np.empty(w.shape[1])


class Scoring(Compiled):
    """A compiled function whose last parameter, room for the scores of one example, is added to each call.

    The room is allocated outside, like the array of a `Filling` function.
    """

    def __init__(self, function: Callable[..., Any], **others: Any) -> None:
        super().__init__(function, **{**UNCOUNTED, **others})
        self.at = function.__code__.co_varnames.index("w")

    def __call__(self, *args: Any) -> Any:
        return super().__call__(*args, scratch(args[self.at]))

    def for_rule(self, rule: object) -> Callable[..., Any]:
        compiled = super().for_rule(rule)
        return lambda *args: compiled(*args, scratch(args[self.at]))


def scaled(w, sq_norm):
    """Squared length of the direction of a step: ‖x‖², or 2‖x‖² when two weight vectors move."""


@overload(scaled)
def _scaled(w, sq_norm):
    if w.ndim == 1:
        return lambda w, sq_norm: sq_norm
    return lambda w, sq_norm: 2.0 * sq_norm


@forms("one several", by_axes("w"), **JIT)
def score(values, indices, indptr, i, bias, w, scores):
    """Scores of x_i; updates scores in place."""
    scores[0] = dot(values, indices, indptr, i, w) + bias * w[U(w.size) - ONE]


@score.several
def _score(values, indices, indptr, i, bias, w, scores):
    last = U(w.shape[0]) - ONE
    for c in range(U(scores.size)):
        scores[c] = bias * w[last, c]
    dots(values, indices, indptr, i, w, scores)


@forms("one several", by_axes("w"), **JIT)
def judge(scores, code, tie_positive, w):
    """The margin of an example, its strongest rival, and the class that is predicted.

    Two classes: m = y·a(x). Several: m = score_y − max_{r≠y} score_r, the first of equals.
    A tie is a mistake. With `tie_positive`, a tie that predicts the right class is right, with the smallest margin.
    """
    y = 2.0 * code - 1.0
    a = scores[0]
    margin = y * a
    if tie_positive and a == 0.0 and y > 0.0:
        margin = TINY
    predicted = U(1) if (a > 0.0 or (tie_positive and a == 0.0)) else U(0)
    return margin, ONE - code, predicted


@judge.several
def _judge(scores, code, tie_positive, w):
    rival = ONE if code == U(0) else U(0)
    strongest = scores[rival]
    for c in range(rival + ONE, U(scores.size)):
        if c != code and scores[c] > strongest:
            rival, strongest = c, scores[c]
    margin = scores[code] - strongest
    predicted = code if margin > 0.0 else rival
    if margin == 0.0 and code < rival:
        predicted = code
        if tie_positive:
            margin = TINY
    return margin, rival, predicted


@forms("one several", by_axes("w"), **JIT)
def move(values, indices, indptr, i, step, bias, code, rival, w):
    """One step of length `step` towards class `code`; updates w in place."""
    signed = step * (2.0 * code - 1.0)
    axpy(values, indices, indptr, i, signed, w)
    w[U(w.size) - ONE] += signed * bias


@move.several
def _move(values, indices, indptr, i, step, bias, code, rival, w):
    axpy_pair(values, indices, indptr, i, step, w, code, rival)
    last = U(w.shape[0]) - ONE
    w[last, code] += step * bias
    w[last, rival] -= step * bias
