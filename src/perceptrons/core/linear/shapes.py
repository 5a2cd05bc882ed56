"""What rules keep besides w, and the steps that follow: nothing, a covariance of the weights, or a scale of w.

`shape` is the array that a rule keeps; the kind of the rule and the axes of the array pick the code:

- tau: None.
- diagonal: σ, the variance of each weight, in the shape of w.
- full: a square root S of the covariance, Σ = SSᵀ; one per class, if there are several. Steps change S such that SSᵀ
  is the new Σ (Potter 1963), so that no rounding makes a variance negative.
- scale: the numbers below. The hypothesis is w = s·v, and the array `w` of passes holds v: a sparse row costs its
  non-zeros.
"""

from __future__ import annotations

import numpy as np

from perceptrons.core.counters import AVERAGED, TAU
from perceptrons.core.jit.compiled import OPTIONS, is_finite
from perceptrons.core.jit.deferred import by_class, forms, register_jitable
from perceptrons.core.rows import JIT, ONE, U, add_rows, axpy_by, sq_dot, step_by
from perceptrons.core.rule import metric, scale, target, tau
from perceptrons.core.spaces import by_axes, move, scaled
from perceptrons.rules import kind_of

# Entries of the array of a rule with a scale.
(
    SCALE,  # s: w = s·v
    SUM,  # for averages: s at their start, plus s after each example
    SQ_LENGTH,  # ‖w‖²
    STEPS,  # k, the number of steps
    ORIGIN,  # product of all s since the origin, from which the bound on the margin is measured
    OWN,  # 1 if all entries of w and kept may be changed, 0 if a caller has saved only those of its rows
    DOUBT,  # bound on the relative error of SQ_LENGTH
    ENTRIES,
) = range(8)
EPSILON = 2.0**-52
DOUBTFUL = 2.0**-36  # more DOUBT than this, and ‖w‖² is summed up again
LEAST, MOST = 2.0**-10, 2.0**100  # of s. Averages lose as many digits as s does; a large s only overflows
# If noise makes w ever longer, as with ROMMA, all hypotheses are made shorter: no prediction changes. Beside scores of
# this size, the margin of 1 that a rule asks for is lost in rounding errors anyway.
LONG, SHORTER = 2.0**400, 2.0**-100
LARGEST = 2.0**1000  # of Στ, which grows faster still; a smaller one proves less


def by_shape(types):
    """Pick the form for what a rule keeps."""
    kind = kind_of(types["rule"].instance_class)
    if kind == "metric":
        return "diagonal" if types["shape"].ndim == types["w"].ndim else "full"
    return kind


@forms("tau scale", by_shape, **JIT)
def lift(rule, w, shape, scores):
    """Turn scores of v into scores of w; updates them in place."""


@lift.scale
def _lift(rule, w, shape, scores):
    for c in range(U(scores.size)):
        scores[c] *= shape[SCALE]


@forms("tau scale", by_shape, **JIT)
def size(rule, w, shape):
    """s, or 1."""
    return 1.0


@size.scale
def _size(rule, w, shape):
    return shape[SCALE]


# -- what a rule answers ----------------------------------------------------------------------------------------------


@forms("tau diagonal full scale", by_shape, **JIT)
def ask(rule, values, indices, indptr, i, bias, margin, sq_norm, weight, code, rival, w, shape, room):
    """The length of the step, 0 for none, and the second number of the rule's answer: c or s. May change room."""
    return tau(rule, margin, scaled(w, sq_norm), weight, 2.0 * code - 1.0), 0.0


@ask.diagonal
def _ask_diagonal(rule, values, indices, indptr, i, bias, margin, sq_norm, weight, code, rival, w, shape, room):
    if margin > target(rule):
        return 0.0, 0.0
    v = variance(values, indices, indptr, i, bias, code, rival, shape, w)
    if v <= 0.0:  # a row of zeros has no direction
        return 0.0, 0.0
    return sound(metric(rule, margin, v, weight), v)


@ask.full
def _ask_full(rule, values, indices, indptr, i, bias, margin, sq_norm, weight, code, rival, w, shape, room):
    if margin > target(rule):
        return 0.0, 0.0
    v = full_variance(values, indices, indptr, i, bias, code, rival, shape, room, w)
    if v <= 0.0:
        return 0.0, 0.0
    return sound(metric(rule, margin, v, weight), v)


@register_jitable(**JIT)
def sound(answer, v):
    """α and c; NaN for α if Σ would not stay positive: c < 0, or c·v overflows."""
    alpha, c = answer
    if not (c >= 0.0 and is_finite(c * v)):
        alpha = np.nan
    return alpha, c


@ask.scale
def _ask_scale(rule, values, indices, indptr, i, bias, margin, sq_norm, weight, code, rival, w, shape, room):
    if shape[DOUBT] > DOUBTFUL:
        measure(w, shape)
    s, step = scale(rule, margin, scaled(w, sq_norm), shape[SQ_LENGTH], shape[STEPS], weight)
    if shape[SQ_LENGTH] == 0.0:
        s = 1.0  # of w = 0
    return step, s


@forms("one several", by_axes("w"), **JIT)
def variance(values, indices, indptr, i, bias, code, rival, sigma, w):
    """v = Σ_j σ_j·x_j², over the classes that would move."""
    return sq_dot(values, indices, indptr, i, sigma) + bias * bias * sigma[U(sigma.size) - ONE]


@variance.several
def _variance(values, indices, indptr, i, bias, code, rival, sigma, w):
    last = U(sigma.shape[0]) - ONE
    total = bias * bias * (sigma[last, code] + sigma[last, rival])
    total += sq_dot(values, indices, indptr, i, sigma[:, code])
    return total + sq_dot(values, indices, indptr, i, sigma[:, rival])


@register_jitable(**OPTIONS)
def project(values, indices, indptr, i, bias, root, f):
    """f = Sᵀx; fills f and returns ‖f‖² = xᵀΣx."""
    last = U(f.size) - ONE
    for k in range(U(f.size)):
        f[k] = bias * root[last, k]
    add_rows(values, indices, indptr, i, root, f)
    total = 0.0
    for k in range(U(f.size)):
        total += f[k] * f[k]
    return total


@forms("one several", by_axes("w"), **JIT)
def full_variance(values, indices, indptr, i, bias, code, rival, root, room, w):
    """v = xᵀΣx, over the classes that would move; fills room with f = Sᵀx of each."""
    return project(values, indices, indptr, i, bias, root, room[0])


@full_variance.several
def _full_variance(values, indices, indptr, i, bias, code, rival, root, room, w):
    total = project(values, indices, indptr, i, bias, root[code], room[0])
    return total + project(values, indices, indptr, i, bias, root[rival], room[2])


def by_form(types):
    one, diagonal = types["w"].ndim == 1, types["shape"].ndim == types["w"].ndim
    return f"{'one' if one else 'several'}_{'diagonal' if diagonal else 'full'}"


@forms("one_diagonal several_diagonal one_full several_full", by_form, **JIT)
def variances_of(values, indices, indptr, i, bias, w, shape, room, out):
    """xᵀΣx of row i for each class; fills out."""
    out[0] = sq_dot(values, indices, indptr, i, shape) + bias * bias * shape[U(shape.size) - ONE]


@variances_of.several_diagonal
def _variances_several(values, indices, indptr, i, bias, w, shape, room, out):
    for c in range(U(out.size)):
        own = sq_dot(values, indices, indptr, i, shape[:, c])
        out[c] = own + bias * bias * shape[U(shape.shape[0]) - ONE, c]


@variances_of.one_full
def _variances_full(values, indices, indptr, i, bias, w, shape, room, out):
    out[0] = project(values, indices, indptr, i, bias, shape, room[0])


@variances_of.several_full
def _variances_several_full(values, indices, indptr, i, bias, w, shape, room, out):
    for c in range(U(out.size)):
        out[c] = project(values, indices, indptr, i, bias, shape[c], room[0])


# -- steps ------------------------------------------------------------------------------------------------------------


@forms("tau diagonal full scale", by_shape, **JIT)
def push(rule, values, indices, indptr, i, step, bias, code, rival, w, shape, room):
    """Move w, or a sum of hypotheses, by `step` towards class `code`; updates w in place."""
    move(values, indices, indptr, i, step, bias, code, rival, w)


@push.diagonal
def _push_diagonal(rule, values, indices, indptr, i, step, bias, code, rival, w, shape, room):
    push_by(values, indices, indptr, i, step, bias, code, rival, w, shape)


@push.full
def _push_full(rule, values, indices, indptr, i, step, bias, code, rival, w, shape, room):
    push_along(step, code, rival, w, room)


@push.scale
def _push_scale(rule, values, indices, indptr, i, step, bias, code, rival, w, shape, room):
    move(values, indices, indptr, i, step / shape[SCALE], bias, code, rival, w)


@forms("one several", by_axes("w"), **JIT)
def push_by(values, indices, indptr, i, step, bias, code, rival, w, sigma):
    """w += step·y·σ∘x; updates w in place."""
    signed, last = step * (2.0 * code - 1.0), U(w.size) - ONE
    axpy_by(values, indices, indptr, i, signed, sigma, w)
    w[last] += signed * bias * sigma[last]


@push_by.several
def _push_by(values, indices, indptr, i, step, bias, code, rival, w, sigma):
    last = U(w.shape[0]) - ONE
    axpy_by(values, indices, indptr, i, step, sigma[:, code], w[:, code])
    axpy_by(values, indices, indptr, i, -step, sigma[:, rival], w[:, rival])
    w[last, code] += step * bias * sigma[last, code]
    w[last, rival] -= step * bias * sigma[last, rival]


@forms("one several", by_axes("w"), **JIT)
def push_along(step, code, rival, w, room):
    """w += step·y·Σx, where room has Σx of the classes that move; updates w in place."""
    signed = step * (2.0 * code - 1.0)
    for j in range(U(w.size)):
        w[j] += signed * room[1, j]


@push_along.several
def _push_along(step, code, rival, w, room):
    for j in range(U(w.shape[0])):
        w[j, code] += step * room[1, j]
        w[j, rival] -= step * room[3, j]


@forms("tau diagonal full scale", by_shape, **JIT)
def begin_step(readout, rule, step, second, margin, sq_norm, code, rival, w, kept, shape, room, totals):
    """Called before a step, whose length it returns; changes shape, room and totals, and may scale w and kept."""
    return step


@begin_step.full
def _begin_step_full(readout, rule, step, second, margin, sq_norm, code, rival, w, kept, shape, room, totals):
    turn(second, code, rival, shape, room, w)
    return step


@begin_step.scale
def _begin_step_scale(readout, rule, step, second, margin, sq_norm, code, rival, w, kept, shape, room, totals):
    # ‖s·w + τ·y·x‖² = s²‖w‖² + 2sτm + τ²‖x‖². An error of ‖w‖² is multiplied by s² and rounding adds more, so it
    # grows as fast as the sum is short beside its parts: by ROMMA with every step.
    far = step * np.sqrt(scaled(w, sq_norm))
    old, new = second * second * shape[SQ_LENGTH], far * far
    sq_length = max(0.0, old + 2.0 * second * step * margin + new)
    wrong = old * shape[DOUBT] + 8.0 * EPSILON * (old + new)
    shape[DOUBT] = wrong / sq_length if wrong < sq_length else 1.0
    shorter = SHORTER if is_long(sq_norm, shape) else 1.0
    shape[SQ_LENGTH] = shorter * shorter * sq_length
    shape[STEPS] += 1.0
    shape[ORIGIN] *= shorter * second
    totals[TAU] = min(LARGEST, shorter * second * totals[TAU])
    if leaves(second, shape) or shorter < 1.0:
        fold(readout, second, shorter, w, kept, shape)
    else:
        shape[SCALE] *= second
    return shorter * step


@forms("tau diagonal", by_shape, **JIT)
def advance(rule, values, indices, indptr, i, step, second, bias, code, rival, w, shape, room):
    """The step of w, after that of a sum of hypotheses; updates w, and σ, in place."""
    push(rule, values, indices, indptr, i, step, bias, code, rival, w, shape, room)


@advance.diagonal
def _advance(rule, values, indices, indptr, i, step, second, bias, code, rival, w, shape, room):
    advance_by(values, indices, indptr, i, step, second, bias, code, rival, w, shape)


@forms("tau scale", by_shape, **JIT)
def end_example(rule, w, shape):
    """Called after each example; changes shape in place."""


@end_example.scale
def _end_example(rule, w, shape):
    shape[SUM] += shape[SCALE]


# -- a covariance -----------------------------------------------------------------------------------------------------


@register_jitable(**JIT)
def advance_one(values, indices, indptr, i, step, c, bias, w, sigma):
    """w += step·σ∘x, then 1/σ_j += c·x_j²; updates w and σ in place."""
    last = U(w.size) - ONE
    step_by(values, indices, indptr, i, step, c, sigma, w)
    w[last] += step * bias * sigma[last]
    sigma[last] /= 1.0 + c * sigma[last] * bias * bias


@forms("one several", by_axes("w"), **JIT)
def advance_by(values, indices, indptr, i, step, c, bias, code, rival, w, sigma):
    """A step of the classes that move, and of their variances; updates w and σ in place."""
    advance_one(values, indices, indptr, i, step * (2.0 * code - 1.0), c, bias, w, sigma)


@advance_by.several
def _advance_by(values, indices, indptr, i, step, c, bias, code, rival, w, sigma):
    advance_one(values, indices, indptr, i, step, c, bias, w[:, code], sigma[:, code])
    advance_one(values, indices, indptr, i, -step, c, bias, w[:, rival], sigma[:, rival])


@register_jitable(**OPTIONS)
def turn_root(c, root, f, g):
    """Σ⁻¹ += c·xxᵀ for Σ = SSᵀ and f = Sᵀx; updates S in place and fills g = Σx, for the Σ before.

    S ← S(I − γ·ffᵀ) with γ = c/(q² + q), q² = 1 + c·‖f‖²: then SSᵀ loses c/(1 + cv)·Σxxᵀ Σ.
    """
    v = 0.0
    for k in range(U(f.size)):
        v += f[k] * f[k]
    square = 1.0 + c * v
    gamma = c / (square + square**0.5)
    for j in range(U(f.size)):
        total = 0.0
        for k in range(U(f.size)):
            total += root[j, k] * f[k]
        g[j] = total
        total *= gamma
        for k in range(U(f.size)):
            root[j, k] -= total * f[k]


@forms("one several", by_axes("w"), **JIT)
def turn(c, code, rival, root, room, w):
    """Σ⁻¹ += c·xxᵀ, for the classes that move; updates root in place, and fills room with Σx."""
    turn_root(c, root, room[0], room[1])


@turn.several
def _turn(c, code, rival, root, room, w):
    turn_root(c, root[code], room[0], room[1])
    turn_root(c, root[rival], room[2], room[3])


# -- a scale ----------------------------------------------------------------------------------------------------------


@register_jitable(**OPTIONS)  # not inlined: it is rarely called
def measure(w, shape):
    """Sum up ‖w‖² for w = s·v; updates shape in place."""
    total = 0.0
    for x in w.flat:
        total += x * x
    shape[SQ_LENGTH] = shape[SCALE] * shape[SCALE] * total
    shape[DOUBT] = 0.0


@register_jitable(**JIT)
def leaves(s, shape):
    """Whether a step with this s takes the scale out of its range."""
    new = s * shape[SCALE]
    return not (LEAST <= new <= MOST)


@forms("tau scale", by_shape, **JIT)
def must_pause(rule, step, second, sq_norm, w, shape):
    """Whether a step changes entries of w that the caller has not saved."""
    return False


@must_pause.scale
def _must_pause(rule, step, second, sq_norm, w, shape):
    return step > 0.0 and shape[OWN] == 0.0 and (leaves(second, shape) or is_long(sq_norm, shape))


@register_jitable(**JIT)
def is_long(sq_norm, shape):
    """Whether scores are so large, ‖w‖²‖x‖², that all hypotheses should be made shorter."""
    return shape[SQ_LENGTH] * sq_norm > LONG


@register_jitable(**OPTIONS)  # not inlined: it is rarely called
def fold(readout, s, shorter, w, kept, shape):
    """Multiply v by the scale and by s, so that the scale is 1 again; updates w, kept and shape in place.

    shorter: a factor for all hypotheses, also for those of the past.
    """
    drop_sum(readout, shorter, w, kept, shape)
    rescale(w, shorter * s * shape[SCALE])
    shape[SCALE], shape[SUM] = 1.0, 0.0


@forms("last averaged", by_class("readout"), **JIT)
def drop_sum(readout, shorter, w, kept, shape):
    """Make the sum of hypotheses, SUM·v − kept, independent of v, and all of them shorter; updates kept in place."""


@drop_sum.averaged
def _drop_sum(readout, shorter, w, kept, shape):
    subtract(w, kept, shape[SUM])
    if shorter < 1.0:
        rescale(kept, shorter)


@forms("one several", by_axes("w"), **JIT)
def subtract(w, kept, factor):
    """kept −= factor·w; updates kept in place."""
    for j in range(U(w.size)):
        kept[j] -= factor * w[j]


@subtract.several
def _subtract(w, kept, factor):
    for j in range(U(w.shape[0])):
        for c in range(U(w.shape[1])):
            kept[j, c] -= factor * w[j, c]


@forms("one several", by_axes("w"), **JIT)
def rescale(w, factor):
    """w *= factor, in place."""
    for j in range(U(w.size)):
        w[j] *= factor


@rescale.several
def _rescale(w, factor):
    for j in range(U(w.shape[0])):
        for c in range(U(w.shape[1])):
            w[j, c] *= factor


@forms("tau scale", by_shape, **JIT)
def share(rule, w, shape, totals):
    """What the averaged readout multiplies a step by: the number of this example, or SUM."""
    return totals[AVERAGED]


@share.scale
def _share(rule, w, shape, totals):
    return shape[SUM]
