"""Probabilities of classes under the distribution of weights that a rule with a metric keeps.

The weights of each class are normal with mean w and covariance Σ. So the score of a row is normal with mean s = w·x and
variance v = xᵀΣx, where x includes the constant feature of the bias.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from perceptrons.data.arrays import Rows
from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.state import Floats, Ints
from perceptrons.rules import RULES, kind_of

BLOCK = 1 << 19  # maximum entries of a temporary array
REACH = 6.0  # standard deviations beyond which a normal distribution is cut off: Φ(−6) is 1e-9
POINTS, STEP = 8, 2.0  # of the Gauss-Legendre rule: points in a stretch, and its length in standard deviations
FARTHEST, NARROWEST = 1e30, 1e-250  # limits of scores and standard deviations, beside the largest of these


def believes(learner: ClassLearner) -> bool:
    """Whether a learner has probabilities of classes."""
    return kind_of(learner.rule) == "metric"


def with_belief() -> list[str]:
    """Names of the rules that have probabilities."""
    return [name for name, rule in RULES.items() if kind_of(rule) == "metric"]


def probabilities(learner: ClassLearner, rows: Rows) -> Floats:
    """P(class) of scaled rows, one column per class. The rule must have a metric.

    Two classes have one normal score, and a positive one means the second: P = Φ(s/√v). With several, P is the
    probability that the score of the class is the largest.
    """
    assert isinstance(learner, LinearLearner)
    scores = learner.decide(rows)
    if learner.n_classes < 2:
        return np.ones_like(scores)
    variances = learner.shape.variances(learner.state, rows, learner.bias)
    assert variances is not None
    return two_sided(scores[:, 0], variances[:, 0]) if learner.n_classes == 2 else largest(scores, variances)


def two_sided(scores: Floats, variances: Floats) -> Floats:
    """P(score < 0) and P(score > 0) of normal scores: Φ(∓s/√v). A score of 0 gives 1/2, also if v = 0."""
    from scipy.special import ndtr  # slow to import

    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(scores == 0.0, 0.0, scores / np.sqrt(variances))
    return np.asarray(ndtr(np.column_stack([-z, z])))


# -- several classes --------------------------------------------------------------------------------------------------


def largest(scores: Floats, variances: Floats) -> Floats:
    """P(score c is the largest) for independent normal scores, one column per class.

    P_c = ∫ Π_{r≠c} Φ((t − s_r)/σ_r) dΦ((t − s_c)/σ_c). Absolute errors are below 1e-6.
    """
    n_rows, n_classes = scores.shape
    found = np.empty((n_rows, n_classes))
    at_once = max(1, BLOCK // (2 * n_classes * n_classes))
    for begin in range(0, n_rows, at_once):
        part = slice(begin, begin + at_once)
        found[part] = _largest(scores[part], np.sqrt(variances[part]))
    return found


def _largest(scores: Floats, sd: Floats) -> Floats:
    """`largest` for a block of rows and standard deviations."""
    found = (scores == scores.max(axis=1, keepdims=True)).astype(np.float64)  # if nothing varies, the best share
    varies = np.flatnonzero(sd.max(axis=1) > 0.0)
    found[varies] = 0.0
    scores, sd, widest = scores[varies], sd[varies], sd[varies].max(axis=1, keepdims=True)
    # Measure scores from the left end of the range of the largest one. Classes with a small σ can only win near to it,
    # where floats are dense.
    with np.errstate(over="ignore"):
        scores = np.maximum((scores - (scores - REACH * sd).max(axis=1, keepdims=True)) / widest, -FARTHEST)
    sd = np.maximum(sd / widest, NARROWEST)
    for row, t, weight in _nodes(scores, sd):
        first = np.flatnonzero(np.diff(row, prepend=-1))
        parts = _densities(t, scores[row], sd[row]) * weight[:, np.newaxis]
        found[varies[row[first]]] += np.add.reduceat(parts, first)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _densities(t: Floats, scores: Floats, sd: Floats) -> Floats:
    """The integrand at t for each class: Π_{r≠c} Φ(z_r) · φ(z_c)/σ_c with z = (t − s)/σ."""
    from scipy.special import ndtr

    z = (t[:, np.newaxis] - scores) / sd
    below = ndtr(z)  # at least Φ(−REACH)
    with np.errstate(over="ignore"):
        density = np.exp(-0.5 * z * z)
    density /= below * sd
    density *= below.prod(axis=1, keepdims=True) / np.sqrt(2.0 * np.pi)
    return np.asarray(density)


def _nodes(scores: Floats, sd: Floats) -> Iterator[tuple[Ints, Floats, Floats]]:
    """Nodes of the integrals, part by part: numbers of rows, in order, t, and weights."""
    row, left, width = _stretches(scores, sd)
    x, weight = np.polynomial.legendre.leggauss(POINTS)
    at_once = max(1, BLOCK // (POINTS * scores.shape[1]))
    for begin in range(0, len(row), at_once):
        part = slice(begin, begin + at_once)
        t = left[part, np.newaxis] + width[part, np.newaxis] * (0.5 + 0.5 * x)
        yield np.repeat(row[part], POINTS), t.ravel(), (width[part, np.newaxis] * (0.5 * weight)).ravel()


def _stretches(scores: Floats, sd: Floats) -> tuple[Ints, Floats, Floats]:
    """Cut the range of the largest score into stretches: row, left end and width of each.

    A stretch is at most STEP times as long as the smallest standard deviation of the classes within whose reach it is;
    beyond it, their distribution functions are constant. Standard deviations are rounded down to powers of two, so that
    classes with similar ones share their stretches.
    """
    low, high = scores - REACH * sd, scores + REACH * sd
    begin, end = low.max(axis=1, keepdims=True), high.max(axis=1, keepdims=True)
    ends = np.sort(np.clip(np.concatenate([low, high], axis=1), begin, end), axis=1)
    middle = 0.5 * (ends[:, 1:] + ends[:, :-1])[:, :, np.newaxis]
    inside = (low[:, np.newaxis] <= middle) & (middle <= high[:, np.newaxis])
    grain = np.where(inside, np.exp2(np.floor(np.log2(sd)))[:, np.newaxis], np.inf).min(axis=2)
    row, piece = np.nonzero(ends[:, 1:] > ends[:, :-1])
    left, right, grain = ends[row, piece], ends[row, piece + 1], grain[row, piece]
    new = (np.diff(row, prepend=-1) != 0) | (np.diff(grain, prepend=0.0) != 0.0)  # merge others with the one before
    last = np.append(new[1:], True)[: len(new)]
    row, left, right, grain = row[new], left[new], right[last], grain[new]
    count = np.ceil((right - left) / (STEP * grain)).astype(np.intp)
    number = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    width = np.repeat((right - left) / count, count)
    return np.repeat(row, count), np.repeat(left, count) + number * width, width
