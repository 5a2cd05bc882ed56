"""A slow perceptron for rules of any kind: it applies their formulas to dense matrices, one row after the other."""

from fractions import Fraction

import numpy as np
import pytest

from perceptrons import rules
from perceptrons.data import as_rows
from perceptrons.rules import ALMA, AROW, PA, PA1, PA2, ROMMA, SOP, Margin, Uneven
from perceptrons.theory.facts import Facts, log_det
from perceptrons.theory.theorems import any_passes, counts_updates

FIRST = [Margin(0.5), Margin(20.0), Uneven(3.0, 0.5), PA(), PA1(1.0), PA1(0.03), PA2(1.0), PA2(0.05)]
SCALED = [ROMMA(), ROMMA(aggressive=True), ALMA(), ALMA(1.0), ALMA(0.4)]
METRIC = [AROW(r, "full") for r in (0.1, 1.0, 10.0)] + [SOP(a, "full") for a in (0.01, 1.0, 100.0)]
RULES = [*FIRST, *SCALED, *METRIC]
each_rule = pytest.mark.parametrize("rule", RULES, ids=str)
TINY = np.finfo(float).tiny  # the margin of a tie that is predicted right


def classes_for(rule, seed):
    """Two classes, or with rules that have a bound for it sometimes three."""
    return 2 if rule in METRIC or isinstance(rule, Uneven) else 2 + seed % 2


def run(rule, X, y, fit_intercept=True, passes=1, tie="mistake"):
    """The mistakes and updates of a run from zeros over rows in their order, with classes 0, 1, ….

    Two classes have one weight vector, several have one each. A hypothesis is a vector of all weights, and a step goes
    along z: y·x, or x in the block of the class and −x in that of the strongest rival.
    """
    rule, n_classes = rules.resolve(rule), int(np.max(y)) + 1
    X = np.column_stack([np.asarray(X, dtype=float), np.ones(len(y))]) if fit_intercept else np.asarray(X, dtype=float)
    d, blocks = X.shape[1], 1 if n_classes == 2 else n_classes
    w, k, mistakes = np.zeros(d * blocks), 0, 0
    cov = np.eye(d * blocks) / getattr(rule, "a", 1.0)
    for _ in range(passes):
        for x, label in zip(X, y, strict=True):
            z = np.zeros((blocks, d))
            rival = 1 - label
            if blocks == 1:
                z[0] = x if label == 1 else -x
            else:
                scores = w.reshape(blocks, d) @ x
                scores[label] = -np.inf
                rival = int(np.argmax(scores))
                z[label], z[rival] = x, -x
            z = z.ravel()
            margin = float(w @ z)
            if tie == "positive" and margin == 0 and (label == 1 if blocks == 1 else label < rival):
                margin = TINY
            mistakes += margin <= 0
            before = w, cov
            w, cov = _step(rule, w, cov, z, margin, k, label)
            k += not (before[0] is w and before[1] is cov)
    return mistakes, k


def _step(rule, w, cov, z, margin, k, label):
    """The hypothesis and the covariance after an example; the same objects if it makes no step."""
    kind = rules.kind_of(rule)
    if kind == "metric":
        assert rule.covariance == "full" and len(w) == len(cov)
        along = cov @ z
        variance = float(z @ along)
        alpha, c = rule.metric(margin, variance, 1.0)
        if alpha == c == 0:
            return w, cov
        return w + alpha * along, cov - c / (1 + c * variance) * np.outer(along, along)
    if kind == "scale":
        s, tau = rule.scale(margin, float(z @ z), float(w @ w), k, 1.0)
        return (w, cov) if (s, tau) == (1.0, 0.0) else (s * w + tau * z, cov)
    more = (2.0 * label - 1.0,) if rules.takes_label(rule) else ()
    tau = rule.tau(margin, float(z @ z), 1.0, *more)
    return (w, cov) if tau == 0 else (w + tau * z, cov)


def counted(rule, theorem, X, y, fit_intercept, passes):
    """What a bound counts, at its worst: updates or mistakes, in one pass or, if that is claimed, in several."""
    passes = passes if any_passes(theorem) else 1
    runs = [run(rule, X, y, fit_intercept, passes, tie) for tie in ("mistake", "positive")]
    return max(max(pair) if counts_updates(rule) else pair[0] for pair in runs)


def facts(X, y, W, fit_intercept):
    """Exact facts about any hypothesis W with rational entries, one line for two classes and one a class for more."""
    rows = [[Fraction(v) for v in x] + [Fraction(1)] * fit_intercept for x in np.asarray(X).tolist()]
    scores = [[sum(a * b for a, b in zip(line, x, strict=True)) for line in W] for x in rows]
    if len(W) == 1:
        margins = [s[0] if label == 1 else -s[0] for s, label in zip(scores, y, strict=True)]
    else:
        others = [max(v for c, v in enumerate(s) if c != label) for s, label in zip(scores, y, strict=True)]
        margins = [s[label] - other for s, label, other in zip(scores, y, others, strict=True)]
    double = 1 if len(W) == 1 else 2
    q = [double * sum(v * v for v in x) for x in rows]
    return Facts(
        margins=np.array(margins, dtype=object),
        errors=np.zeros(len(margins), dtype=int),
        sq_steps=np.array(q, dtype=object),
        slack=0,
        squares=sum((v * v for line in W for v in line), Fraction(0)),
        longest=max(q),
        unknowns=min(len(rows), len(rows[0])),
        log_det=lambda a: log_det(as_rows(np.asarray(X, dtype=float)), fit_intercept, a),
    )
