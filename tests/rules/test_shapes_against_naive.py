"""Rules with a covariance or a scale do what `naive_shapes` does, which keeps dense matrices and every hypothesis."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_shapes import METRIC, SCALE, alpha_and_c, scaled_step
from scipy.stats import norm
from shape_cases import (
    DIAGONAL,
    FULL,
    LAYOUTS,
    NAMES,
    RULES,
    TOLERANCE,
    UNEVEN,
    assert_same,
    close,
    data,
    estimator,
    joined,
    twin,
)
from shape_cases import SCALE as SCALED

from perceptrons import Perceptron
from perceptrons import rules as page

# -- the formulas on the page of rules, without compiling ------------------------------------------------------------


@pytest.mark.parametrize("name", METRIC)
@given(st.floats(-20, 20), st.floats(1e-3, 1e3), st.sampled_from([1.0, 0.25, 3.0]), st.floats(0.51, 0.99))
def test_formulas_of_metrics(name, m, v, weight, eta):
    rule = page.RULES[name]()
    if "eta" in rule._fields:
        rule = rule._replace(eta=eta)
    weight = weight if page.takes_weights(rule) else 1.0
    expected = alpha_and_c(name, m, v, weight, **rule._asdict())
    # Where m is just below φ√v, α is a small difference of large numbers.
    np.testing.assert_allclose(rule.metric(m, v, weight), expected, rtol=1e-6, atol=1e-6 * (1 + abs(m) / v))


@pytest.mark.parametrize("name", [*SCALE, "aggressive"])
@given(st.integers(0, 10**6), st.integers(0, 100), st.sampled_from([0.0, 0.1, 1.0, 30.0]))
def test_formulas_of_scales(name, seed, k, length):
    rule = page.ROMMA(aggressive=True) if name == "aggressive" else page.RULES[name]()
    w, z = np.random.default_rng(seed).normal(size=(2, 5))
    w *= length
    s, tau = rule.scale(w @ z, z @ z, w @ w, float(k), 1.0)
    expected = scaled_step("romma" if name == "aggressive" else name, w, z, w @ z, k, **rule._asdict())
    np.testing.assert_allclose(s * w + tau * z, w if expected is None else expected, rtol=1e-9, atol=1e-12)


@given(st.floats(0.5, 1 - 1e-12))
def test_quantiles(p):
    np.testing.assert_allclose(page.quantile(p), norm.ppf(p), rtol=2e-9, atol=1e-12)


# -- streams ---------------------------------------------------------------------------------------------------------

# Each line is compiled for some seconds in a fresh clone. Formulas do not know layouts, classes and readouts, so it
# takes no full product: one rule of each kind meets them all.
COVER = [(name, "dense", 2, "last") for name in RULES]
COVER += [(name, "csr", 3, "averaged") for name in ("arow", "arow full", "shifting", "romma", "romma aggressive")]
COVER += [("romma", "dense", 2, "averaged"), ("alma", "dense", 2, "averaged"), ("arow", "csr", 2, "averaged")]


@pytest.mark.parametrize(("name", "layout", "n_classes", "readout"), COVER)
def test_streams(name, layout, n_classes, readout):
    checked = 0
    for seed in range(8):
        for integers in (False, True):
            for fit_intercept in (True, False):
                X, y, Q = data(n_classes, seed, integers=integers)
                slow = twin(name, fit_intercept=fit_intercept, classes=NAMES[:n_classes])
                slow.partial_fit(X, y)
                if slow.unclear:
                    continue
                model = estimator(name, readout=readout, fit_intercept=fit_intercept)
                model.partial_fit(LAYOUTS[layout](X), y, classes=NAMES[:n_classes])
                assert_same(model, slow, TOLERANCE[name])
                scores = slow.decision_function(Q, readout)
                close(model.decision_function(Q), scores[:, 0] if n_classes == 2 else scores, 10 * TOLERANCE[name])
                checked += 1
    assert checked >= 16


def test_the_data_are_worth_it():
    """They meet right answers and mistakes, steps and none, cut-off steps and restarts."""
    X, y, _ = data(2)
    for name in RULES:
        slow = twin(name, classes=NAMES[:2])
        slow.partial_fit(X, y)
        assert 3 < slow.n_mistakes < slow.n_seen - 3 and slow.n_updates > 3
        assert (slow.averaged() != slow.last()).any()
    cut = twin("scw1", classes=NAMES[:2])
    free = twin("cw", classes=NAMES[:2])
    for slow in (cut, free):
        slow.partial_fit(X, y)
    assert not np.allclose(cut.w, free.w)


@pytest.mark.parametrize("name", [name for name in RULES if page.takes_weights(RULES[name]) and "full" not in name])
def test_weights_of_examples(name):
    """r/weight for AROW, C·weight for NHERD and SCW, k copies for SOP; uneven margins scale the step. 0: left out."""
    for seed in range(4):
        X, y, _ = data(2, seed)
        weight = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 8.0], size=len(y))
        slow = twin(name, classes=NAMES[:2])
        slow.partial_fit(X, y, weight)
        model = estimator(name).partial_fit(X, y, classes=NAMES[:2], sample_weight=weight)
        assert_same(model, slow, TOLERANCE[name])


@pytest.mark.parametrize("name", [name for name in RULES if not page.takes_weights(RULES[name])])
def test_weights_that_mean_nothing_are_refused(name):
    X, y, _ = data(2)
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=rf"the rule {type(RULES[name]).__name__} does not accept sample_weight"):
            getattr(estimator(name), method)(X, y, sample_weight=np.full(len(y), 2.0))


@pytest.mark.parametrize("name", RULES)
def test_ties_that_count_as_positive(name):
    """Rows of zeros are ties for ever without a bias, and make no step."""
    checked = 0
    for seed in range(4):
        X, y, _ = data(2, seed, integers=name in UNEVEN)
        X[[0, 1, 2, 7, 11]] = 0
        for fit_intercept in (True, False):
            for tie in ("positive", "mistake"):
                slow = twin(name, fit_intercept=fit_intercept, classes=NAMES[:2], tie=tie)
                slow.partial_fit(X, y)
                if slow.unclear:  # a bias of 1 may meet a row of zeros again
                    continue
                model = estimator(name, fit_intercept=fit_intercept, tie=tie).partial_fit(X, y, classes=NAMES[:2])
                assert_same(model, slow, TOLERANCE[name])
                checked += 1
    assert checked >= 8


@pytest.mark.parametrize("name", [*DIAGONAL, *FULL, "uneven"])
def test_eta0_scales_steps_of_w(name):
    X, y, _ = data(2, seed=2)
    slow = twin(name, classes=NAMES[:2], eta0=0.25)
    slow.partial_fit(X, y)
    assert_same(estimator(name, eta0=0.25).partial_fit(X, y, classes=NAMES[:2]), slow, TOLERANCE[name])


@pytest.mark.parametrize("name", SCALED)
def test_eta0_means_nothing_where_w_is_scaled(name):
    X, y, _ = data(2)
    with pytest.raises(ValueError, match="eta0"):
        estimator(name, eta0=0.5).partial_fit(X, y)
    with pytest.raises(ValueError, match="eta0"):
        estimator(name, eta0=0.5).fit(X, y)


@pytest.mark.parametrize("name", RULES)
def test_the_constant_feature_may_have_another_value(name):
    """It is one more feature of the value c: its variance counts in v, and b = c·(its weight)."""
    X, y, _ = data(2, seed=3)
    wide = np.column_stack([X, np.full(len(X), 3.0)])
    slow = twin(name, classes=NAMES[:2], fit_intercept=False)
    slow.partial_fit(wide, y)
    model = estimator(name, readout="last", intercept_scaling=3.0).partial_fit(X, y, classes=NAMES[:2])
    w = slow.last()
    close(joined(model), np.column_stack([w[:, :-2], 3.0 * w[:, -2]]), TOLERANCE[name])


# -- passes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["arow", "arow full", "sop", "nherd", "romma", "alma", "shifting", "uneven"])
def test_fit(name):
    for seed in range(3):
        X, y, _ = data(2, seed)
        slow = twin(name)
        slow.fit(X, y, 5)
        model = estimator(name, max_iter=5).fit(X, y)
        assert_same(model, slow, 10 * TOLERANCE[name])
        assert model.mistakes_.tolist() == slow.mistakes and model.converged_ == slow.converged


@pytest.mark.parametrize("name", ["arow", "shifting"])
def test_pocket(name):
    for seed in range(5):
        X, y, _ = data(2, seed)
        slow = twin(name)
        slow.fit(X, y, 5)
        assert_same(estimator(name, max_iter=5, readout="pocket").fit(X, y), slow, 10 * TOLERANCE[name])


@pytest.mark.parametrize("name", ["arow", "arow full", "romma", "alma", "shifting"])
def test_weights_to_start_from(name):
    X, y, _ = data(2, seed=4)
    random = np.random.default_rng(0)
    coef, intercept = random.normal(size=(1, 4)), random.normal(size=1)
    slow = twin(name, coef=coef, intercept=intercept)
    slow.fit(X, y, 2)
    for readout in ("last", "averaged") if name in SCALED else ("last",):
        model = estimator(name, max_iter=2, readout=readout).fit(X, y, coef_init=coef, intercept_init=intercept)
        assert_same(model, slow, 10 * TOLERANCE[name])


def test_random_start():
    X, y, _ = data(2)
    for rule in ("arow", "romma"):
        model = Perceptron(rule=rule, init="random", max_iter=3).fit(X, y)
        assert np.isfinite(model.coef_).all() and not np.allclose(
            model.coef_, Perceptron(rule=rule, max_iter=3).fit(X, y).coef_
        )
