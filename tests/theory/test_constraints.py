"""The error of float margins has a proved bound, which everything that is decided by floats rests on."""

from fractions import Fraction

import numpy as np
import pytest

from perceptrons.data import as_rows
from perceptrons.solver.constraints import Constraints, Hypothesis


def exact_margins(X, codes, w, b):
    """min_r z_ir·v of each row in rationals; `b` is all zeros without a bias."""
    for line, own in zip(X.tolist(), codes.tolist(), strict=True):
        scores = [
            sum((Fraction(x) * Fraction(weight) for x, weight in zip(line, weights, strict=True)), Fraction(bias))
            for weights, bias in zip(w.tolist(), b.tolist(), strict=True)
        ]
        if len(scores) == 1:
            yield scores[0] if own else -scores[0]
        else:
            yield scores[own] - max(score for rival, score in enumerate(scores) if rival != own)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("large", [0.0, 1.0, 1e8, 1e17])
def test_float_margins_are_within_their_error(n_classes, large):
    """Even if the bias is much larger than w·x, or nearly cancels it."""
    random = np.random.default_rng(0)
    X, codes = random.normal(size=(200, 3)), random.integers(0, n_classes, size=200).astype(np.uint8)
    blocks = 1 if n_classes == 2 else n_classes
    w, b = random.normal(size=(blocks, 3)), large * random.normal(size=blocks)
    hypothesis = Hypothesis(w, b)
    constraints = Constraints(as_rows(X), codes, n_classes, bias=large > 0)
    found, _ = constraints.margins(hypothesis)
    error = constraints.error(hypothesis)
    exact = list(exact_margins(X, codes, w, b))
    wrong = [abs(Fraction(one) - other) for one, other in zip(found.tolist(), exact, strict=True)]
    assert all(one <= Fraction(bound) for one, bound in zip(wrong, error.tolist(), strict=True))
    assert large == 0 or max(wrong) > 0  # it is not idle
