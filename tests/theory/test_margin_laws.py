"""How the largest margin changes with the rows: scaled, moved, repeated, added, relabelled."""

from math import inf

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from theory_cases import SEEDS, assert_same_margin, property_test, separated, small

from perceptrons.theory import separability


@given(seed=SEEDS, fit_intercept=st.booleans(), k=st.sampled_from([-300, -60, -1, 3, 60, 300]))
@property_test
def test_scaling_all_rows_scales_the_margin(seed, fit_intercept, k):
    X, y = separated(seed, fit_intercept)
    one, scaled = (separability(Z, y, fit_intercept=fit_intercept) for Z in (X, 2.0**k * X))
    assert_same_margin(one, scaled, 2.0**k)
    assert scaled.check(2.0**k * X, y) is True


@given(seed=SEEDS, shift=st.sampled_from([1.0, -50.0, 2.0**20]))
@property_test
def test_with_a_bias_moving_all_rows_moves_no_margin(seed, shift):
    X, y = separated(seed, True)
    moved = X + shift * np.arange(1, X.shape[1] + 1)
    assert_same_margin(separability(X, y), separability(moved, y))


@given(seed=SEEDS, fit_intercept=st.booleans(), n_classes=st.sampled_from([2, 3]))
@property_test
def test_repeated_and_reordered_rows_change_nothing(seed, fit_intercept, n_classes):
    random = np.random.default_rng(seed)
    X, y = separated(seed, fit_intercept, n_classes)
    rows = random.permutation(np.r_[np.arange(len(y)), random.integers(0, len(y), size=5)])
    assert_same_margin(*(separability(X[r], y[r], fit_intercept=fit_intercept) for r in (slice(None), rows)))


@given(seed=SEEDS, fit_intercept=st.booleans())
@property_test
def test_more_rows_never_have_a_larger_margin(seed, fit_intercept):
    """And what cannot be separated never can be with more rows."""
    X, y = small(np.random.default_rng(seed), most=8, d=2)
    margin = inf
    for n in range(1, len(y) + 1):
        if len(set(y[:n].tolist())) < 2:
            continue
        result = separability(X[:n], y[:n], fit_intercept=fit_intercept)
        margin = margin if result.separable else 0.0
        assert result.separable is (margin > 0)
        if result.separable:
            assert result.margin_bounds[0] <= margin
            margin = result.margin_bounds[1]


@given(seed=SEEDS, fit_intercept=st.booleans())
@property_test
def test_turning_labels_round_keeps_the_margin(seed, fit_intercept):
    X, y = separated(seed, fit_intercept)
    one, turned = (separability(X, labels, fit_intercept=fit_intercept) for labels in (y, 1 - y))
    assert_same_margin(one, turned)
    np.testing.assert_allclose(turned.coef, -one.coef, atol=1e-4)
