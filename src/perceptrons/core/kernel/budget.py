"""Compiled perceptrons that keep at most B rows: a policy decides what happens to a new support row.

Each policy is a NamedTuple whose type picks the code. A hypothesis is Σ_s α_s·k̃(x_s, ·) over the slots s in use; k̃
includes the constant of the bias. `alpha`, `(B,)` for two classes or `(B, classes)`, replaces `w` in the verbs of
`spaces`. `n` is the number of slots in use, `k` the kernel values of an example with their rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from perceptrons.core.counters import MISTAKES, OVERFLOW, UPDATES, count
from perceptrons.core.jit.compiled import Compiled, is_finite
from perceptrons.core.jit.deferred import by_class, forms, register_jitable
from perceptrons.core.kernel.projection import decompose
from perceptrons.core.random import GOLDEN, mixed
from perceptrons.core.rows import JIT, ONE, U
from perceptrons.core.rule import tau
from perceptrons.core.spaces import TINY, by_axes, judge, scaled, scratch

# Entries of `memory`, an array of floats that starts with zeros.
(
    USED,  # slots in use
    DAMAGE,  # Forgetron: Q, the total cost of removals so far
    RADIUS,  # Forgetron: R² = the largest k̃(x, x) of an update so far, at least 1
    PROJECTIONS,  # steps that were projected onto the rows kept
    RESIDUAL,  # the largest ‖k − K·d‖/‖k‖ of a projection
    SIZE,
) = range(6)


class Random(NamedTuple):
    """RBP (Cavallanti, Cesa-Bianchi & Gentile 2007): removes a random row. Any rule, any number of classes.

    The k-th update uses the k-th number of SplitMix64 for `seed`, an np.uint64, so there is no generator to store.
    """

    seed: np.uint64


class Forgetron(NamedTuple):
    """Self-tuned Forgetron (Dekel, Shalev-Shwartz & Singer 2008, §5): shrinks all α, then removes the oldest row.

    Two classes, the plain rule.
    """


class Projectron(NamedTuple):
    """Projectron (Orabona, Keshet & Caputo 2009, §3): a step near the span of the rows kept adds no row.

    `threshold` is η, the largest squared distance Δ from the span at which a step is projected. The plain rule.
    """

    threshold: float


class ProjectronPP(NamedTuple):
    """Projectron++ (Orabona, Keshet & Caputo 2009, §4): also steps on right rows with a margin below 1."""

    threshold: float


@forms("one several", by_axes("alpha"), **JIT)
def evaluate(alpha, k, n, scores):
    """Scores Σ_s α_s·k_s; updates scores in place."""
    total = 0.0
    for s in range(n):
        total += alpha[s] * k[s]
    scores[0] = total


@evaluate.several
def _evaluate(alpha, k, n, scores):
    scores[:] = 0.0
    for s in range(n):
        for c in range(U(scores.size)):
            scores[c] += alpha[s, c] * k[s]


@forms("one several", by_axes("alpha"), **JIT)
def nudge(alpha, s, length, code, rival):
    """Move the coefficients of slot s towards class `code`; updates alpha in place."""
    alpha[s] += length * (2.0 * code - 1.0)


@nudge.several
def _nudge(alpha, s, length, code, rival):
    alpha[s, code] += length
    alpha[s, rival] -= length


@forms("random projectron projectronpp", by_class("policy"), **JIT)
def project(policy, k, n, sq_norm, margin, table, factor, work, memory):
    """Δ of an example that may make a step, and whether its row is far enough from the span to be kept.

    Updates work and memory in place. Policies that do not project keep every row.
    """
    return 0.0, True


@project.projectron
def _project(policy, k, n, sq_norm, margin, table, factor, work, memory):
    return onto_rows(policy, k, n, sq_norm, margin < TINY, table, factor, work, memory)


@project.projectronpp
def _project_pp(policy, k, n, sq_norm, margin, table, factor, work, memory):
    return onto_rows(policy, k, n, sq_norm, margin < 1.0, table, factor, work, memory)


@register_jitable(**JIT)
def onto_rows(policy, k, n, sq_norm, steps, table, factor, work, memory):
    """`project` onto the span of the rows kept, if the example `steps`; a margin of NaN makes no step."""
    if not steps:
        return 0.0, False
    delta, least, residual = decompose(k, n, sq_norm, table, factor, work)
    memory[RESIDUAL] = max(memory[RESIDUAL], residual)
    return delta, delta > max(policy.threshold, least)


@forms("random projectronpp", by_class("policy"), **JIT)
def margin_step(policy, margin, sq_norm, delta, weight, alpha):
    """Length of the step on an example that is right, without the factor η of all steps."""
    return 0.0


# Orabona et al. 2009, §4: τ = min(ℓ/‖P‖², 1, 2(ℓ − Δ/η)/‖P‖²) with ‖P‖² = k̃(x, x) − Δ. The weight scales the 1, which
# bounds τ like C in PA-I. With several classes, two of them move: ‖P‖² and Δ double, and so does η, which is meant for
# one projection, so Δ/η does not change.
@margin_step.projectronpp
def _margin_step(policy, margin, sq_norm, delta, weight, alpha):
    if margin <= 0.0 or margin >= 1.0:
        return 0.0
    loss = 1.0 - margin
    sure = loss - delta / policy.threshold if delta > 0.0 else loss
    sq_projection = scaled(alpha, sq_norm - delta)
    if sure <= 0.0 or sq_projection <= 0.0:
        return 0.0
    return min(loss, weight * sq_projection, 2.0 * sure) / sq_projection


@register_jitable(**JIT)
def shrinkage(delta, mu, slack):
    """The largest φ in (0, 1] with p(φ) = (δ² − 2δμ)φ² + 2δφ − slack ≤ 0, for δ ≥ 0 and slack > 0.

    p(0) < 0. If p(1) ≤ 0, φ is 1. Otherwise p has exactly one root in (0, 1): with leading coefficient a ≥ 0, p
    increases there; with a < 0, p is concave and stays positive after its root. The root is
    (−δ + √(δ² + a·slack))/a, written without cancellation.
    """
    a = delta * (delta - 2.0 * mu)
    if a + 2.0 * delta <= slack:
        return 1.0
    return min(1.0, slack / (delta + np.sqrt(max(0.0, delta * delta + a * slack))))


@forms("random forgetron projectron projectronpp", by_class("policy"), **JIT)
def make_room(policy, k, n, sq_norm, step, far, code, alpha, born, table, memory, totals):
    """The slot for a new row, and the length of its step; slot B if the step must be projected instead.

    Updates alpha and memory in place.
    """
    budget = U(alpha.shape[0])
    if n < budget:
        return n, step
    number = mixed(U(policy.seed) + U(totals[UPDATES]) * GOLDEN)
    return ((number >> U(32)) * budget) >> U(32), step


@make_room.forgetron
def _make_room_forgetron(policy, k, n, sq_norm, step, far, code, alpha, born, table, memory, totals):
    # The analysis is for k̃(x, x) ≤ 1. The kernel k̃/R² with the same α makes the same mistakes; its μ is μ/R².
    memory[RADIUS] = max(1.0, memory[RADIUS], sq_norm)
    if n < U(alpha.shape[0]):
        return n, step
    r = U(0)
    for s in range(ONE, n):
        if born[s] < born[r]:
            r = s
    score = step * (2.0 * code - 1.0) * k[r]  # f(x_r), with the new row in f
    for s in range(n):
        score += alpha[s] * table[r, s]
    lost = abs(alpha[r])  # δ
    mu = (score if alpha[r] > 0.0 else -score) / memory[RADIUS]  # μ = y_r·f(x_r)
    limit = 0.46875 * totals[MISTAKES]  # (15/32)·M
    phi = shrinkage(lost, mu, limit - memory[DAMAGE])
    for s in range(n):
        alpha[s] *= phi
    # Q += (δφ)² + 2δφ(1 − φμ). By the choice of φ, Q ≤ (15/32)·M, except for rounding.
    damage = memory[DAMAGE] + lost * phi * (lost * phi + 2.0 * (1.0 - phi * mu))
    memory[DAMAGE] = min(limit, damage)
    return r, phi * step


@make_room.projectronpp
@make_room.projectron
def _make_room_projectron(policy, k, n, sq_norm, step, far, code, alpha, born, table, memory, totals):
    return (n if far else U(alpha.shape[0])), step  # n is B if there is no room


@register_jitable(**JIT)
def enter(slot, k, n, sq_norm, delta, table, factor, work):
    """Add a new row to K and L; updates table and factor in place."""
    if table.size > 0:
        for s in range(n):
            table[slot, s] = k[s]
            table[s, slot] = k[s]
        table[slot, slot] = sq_norm
    if factor.size > 0:
        for s in range(n):
            factor[slot, s] = work[1, s]
        factor[slot, slot] = np.sqrt(delta)


@Compiled
def learn(
    gram, sq_norm, codes, weight, how, policy, alpha, source, born, table, factor, memory, totals, course, predicted
):
    """Learn from a block of examples once, in order, with at most B rows kept at any time.

    `gram` has k̃ of the block's rows with the m rows kept before the block, then with the block's own rows. The row of
    slot s is column `source[s]`, at first s. `born[s]` is the update that added it. `table` is K, k̃ among the rows
    kept, and `factor` its Cholesky factor, both (B, B); `Random` needs neither, `Forgetron` no factor: then (0, 0).
    Updates alpha, source, born, table, factor, memory, totals, course and predicted (unless None) in place.
    """
    scores = scratch(alpha)
    budget = U(alpha.shape[0])
    k, work = np.empty(budget), np.empty((3, budget))
    first = U(gram.shape[1]) - U(gram.shape[0])  # m: the column of the block's first row
    for a in range(U(gram.shape[0])):
        n = U(memory[USED])
        for s in range(n):
            k[s] = gram[a, U(source[s])]
        example_weight = 1.0
        if weight is not None:
            example_weight = weight[a]
        code = U(codes[a])
        evaluate(alpha, k, n, scores)
        margin, rival, answer = judge(scores, code, how.tie_positive, alpha)
        if predicted is not None:
            predicted[a] = answer
        if example_weight == 0.0:
            continue
        delta, far = project(policy, k, n, sq_norm[a], margin, table, factor, work, memory)
        step = tau(how.rule, margin, scaled(alpha, sq_norm[a]), example_weight, 2.0 * code - 1.0)
        if step == 0.0:
            step = margin_step(policy, margin, sq_norm[a], delta, example_weight, alpha)
            far = False  # always project
        step *= how.eta
        if not is_finite(margin + step + sq_norm[a] + delta):
            course[OVERFLOW] = a + 1.0
            return
        count(totals, margin <= 0.0, step)
        if step > 0.0:
            slot, step = make_room(policy, k, n, sq_norm[a], step, far, code, alpha, born, table, memory, totals)
            if slot < budget:
                enter(slot, k, n, sq_norm[a], delta, table, factor, work)
                alpha[slot] = 0.0
                nudge(alpha, slot, step, code, rival)
                source[slot] = first + a
                born[slot] = totals[UPDATES]
                memory[USED] = max(n, slot + ONE)
            else:
                for s in range(n):
                    nudge(alpha, s, step * work[0, s], code, rival)
                memory[PROJECTIONS] += 1.0
