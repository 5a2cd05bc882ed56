"""What is proved of rules with a covariance: what a step reaches, and what all steps together are."""

import numpy as np
import pytest
from scipy.stats import norm
from shape_cases import DIAGONAL, FULL, LAYOUTS, NAMES, TOLERANCE, close, covariances, data, estimator

from perceptrons import Perceptron
from perceptrons.rules import AROW, CW, NHERD, SCW1, SCW2, SOP


def signs(y):
    return np.where(y == NAMES[1], 1.0, -1.0)


def told_one_by_one(model, X, y):
    """Learn row after row; yields the row with its constant, its sign, and (μ, Σ) before and after each update."""
    mean, sigma, updates = np.zeros(X.shape[1] + 1), None, 0
    for x, label in zip(X, y, strict=True):
        model.partial_fit(x[np.newaxis], [label], classes=NAMES[:2])
        now, spread = np.append(model.coef_[0], model.intercept_), covariances(model)[0]
        if model.n_updates_ > updates and sigma is not None:
            yield np.append(x, 1.0), (1.0 if label == NAMES[1] else -1.0), (mean, sigma), (now, spread)
        mean, sigma, updates = now, spread, model.n_updates_


# -- what a step reaches ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [CW(eta=0.8, covariance="full"), SCW1(C=np.inf, eta=0.6, covariance="full")])
def test_cw_reaches_its_confidence_exactly(rule):
    """P(m > 0) = η under the new distribution: m = φ√v. With C = ∞, SCW-I is CW."""
    X, y, _ = data(2, n=40)
    steps = 0
    for x, sign, _, (mean, sigma) in told_one_by_one(Perceptron(readout="last", rule=rule), X, y):
        believed = norm.cdf(sign * mean @ x / np.sqrt(x @ sigma @ x))
        np.testing.assert_allclose(believed, rule.eta, rtol=1e-7)
        steps += 1
    assert steps > 20


@pytest.mark.parametrize("rule", [SCW1(C=0.05, eta=0.8, covariance="full"), SCW2(C=0.5, eta=0.8, covariance="full")])
def test_scw_goes_towards_its_confidence_and_not_beyond(rule):
    X, y, _ = data(2, n=40)
    for x, sign, (mean, sigma), (new_mean, new_sigma) in told_one_by_one(Perceptron(readout="last", rule=rule), X, y):
        before, after = (norm.cdf(sign * w @ x / np.sqrt(x @ s @ x)) for w, s in ((mean, sigma), (new_mean, new_sigma)))
        assert before < after < rule.eta + 1e-7


def test_loss_and_variance_after_a_step_of_arow_and_nherd():
    """AROW: both 1 − m and v shrink by r/(v + r). Normal herd: 1 − m by 1/(1 + Cv), v by its square."""
    X, y, _ = data(2, n=40)
    for rule in (AROW(r=0.3, covariance="full"), NHERD(C=0.7, covariance="full")):
        for x, sign, (mean, sigma), (new_mean, new_sigma) in told_one_by_one(
            Perceptron(readout="last", rule=rule), X, y
        ):
            v = x @ sigma @ x
            shrunk = 0.3 / (v + 0.3) if isinstance(rule, AROW) else 1 / (1 + 0.7 * v)
            np.testing.assert_allclose(1 - sign * new_mean @ x, shrunk * (1 - sign * mean @ x), rtol=1e-9)
            power = 1 if isinstance(rule, AROW) else 2
            np.testing.assert_allclose(x @ new_sigma @ x, shrunk**power * v, rtol=1e-9)


def test_without_a_limit_scw_is_cw():
    X, y, _ = data(2, n=60)
    for covariance in ("diagonal", "full"):
        cw = Perceptron(rule=CW(eta=0.8, covariance=covariance)).partial_fit(X, y)
        scw1 = Perceptron(rule=SCW1(C=np.inf, eta=0.8, covariance=covariance)).partial_fit(X, y)
        scw2 = Perceptron(rule=SCW2(C=np.inf, eta=0.8, covariance=covariance)).partial_fit(X, y)
        np.testing.assert_array_equal(scw1.coef_, cw.coef_)
        close(scw2.coef_, cw.coef_, 1e-8)
        assert scw1.n_updates_ == scw2.n_updates_ == cw.n_updates_


# -- what all steps are together -------------------------------------------------------------------------------------


def fired(rule, X, y, weight=None):
    """Which rows made a step."""
    model, steps = Perceptron(rule=rule, readout="last"), []
    for i in range(len(X)):
        before = model.n_updates_ if i else 0
        own = None if weight is None else weight[i : i + 1]
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=NAMES[:2], sample_weight=own)
        steps.append(model.n_updates_ > before)
    return model, np.array(steps)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rule", [AROW(r=0.7, covariance="full"), SOP(a=0.7, covariance="full")])
def test_arow_and_sop_are_ridge_regression_on_the_rows_that_made_a_step(rule, weighted):
    """w = (0.7·I + Σ k·xxᵀ)⁻¹ Σ k·y·x, where k is the weight of a row; for the second-order perceptron this is its
    own form, θ += k·y·x, Σ⁻¹ += k·xxᵀ, w = Σθ."""
    X, y, _ = data(2, n=60)
    weight = np.random.default_rng(1).choice([0.5, 1.0, 3.0], size=60) if weighted else None
    model, steps = fired(rule, X, y, weight)
    assert 10 < steps.sum() < 60
    Z, k = np.column_stack([X, np.ones(60)])[steps], (np.ones(60) if weight is None else weight)[steps]
    gram = (Z.T * k) @ Z
    w = np.linalg.solve(0.7 * np.eye(5) + gram, Z.T @ (k * signs(y)[steps]))
    close(np.append(model.coef_[0], model.intercept_), w)
    size = 0.7 if isinstance(rule, AROW) else 1.0  # AROW counts Σ in units of r
    close(covariances(model)[0], size * np.linalg.inv(0.7 * np.eye(5) + gram))


def test_arow_between_its_limits():
    """r → ∞: nothing moves. r → 0: rows that make a step get the margin 1, as long as there are features enough."""
    X, y, _ = data(2, n=60)
    for covariance in ("diagonal", "full"):
        model = Perceptron(readout="last", rule=AROW(r=1e12, covariance=covariance)).partial_fit(
            X, y, classes=NAMES[:2]
        )
        assert model.n_updates_ == 60
        assert 0 < np.abs(model.coef_).max() < 1e-9
        np.testing.assert_allclose([np.diag(s) for s in covariances(model)], 1.0, rtol=1e-9)
    rows = np.random.default_rng(0).normal(size=(4, 4))
    model = Perceptron(readout="last", rule=AROW(r=1e-10, covariance="full")).partial_fit(
        rows, y[:4], classes=NAMES[:2]
    )
    assert model.n_updates_ > 1
    np.testing.assert_allclose(np.minimum(1.0, signs(y[:4]) * model.decision_function(rows)), 1.0, rtol=1e-6)


# -- diagonal and full -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "layout", "n_classes", "readout"),
    [*((name, "dense", 2, "last") for name in DIAGONAL), ("arow", "csr", 3, "averaged")],
)
def test_full_is_diagonal_on_rows_with_one_feature_each(name, layout, n_classes, readout):
    """No two features meet, so that no covariance arises."""
    random = np.random.default_rng(0)
    X = np.eye(5)[random.integers(5, size=80)] * random.normal(size=(80, 1))
    y = NAMES[random.integers(n_classes, size=80)]
    models = [
        estimator(each, readout=readout, fit_intercept=False).partial_fit(LAYOUTS[layout](X), y)
        for each in (name, f"{name} full")
    ]
    close(models[1].coef_, models[0].coef_)
    assert models[0].n_mistakes_ == models[1].n_mistakes_ > 10
    if "cw" not in name:  # CW reaches m = φ√v exactly: rounding decides whether the next row with the feature steps
        assert models[0].n_updates_ == models[1].n_updates_
    for one, other in zip(*map(covariances, models), strict=True):
        close(other, one)


@pytest.mark.parametrize("name", FULL)
def test_full_covariance_knows_no_axes(name):
    """Rows in other coordinates, turned by an orthogonal matrix, give the same scores."""
    X, y, _ = data(2, n=60)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    one = estimator(name).partial_fit(X, y)
    other = estimator(name).partial_fit(np.ascontiguousarray(X @ turn), y)
    assert one.n_updates_ == other.n_updates_
    close(other.coef_, one.coef_ @ turn, 10 * TOLERANCE[name])
    close(other.intercept_, one.intercept_, 10 * TOLERANCE[name])


@pytest.mark.parametrize("name", DIAGONAL)
def test_variances_only_shrink(name):
    X, y, _ = data(2, n=40)
    model, before = estimator(name, fit_intercept=False), None
    for i in range(0, 40, 4):
        now = np.diag(covariances(model.partial_fit(X[i : i + 4], y[i : i + 4], classes=NAMES[:2]))[0])
        assert (now > 0).all() and (before is None or (now <= before).all())
        before = now
    assert (before[:-1] < before[-1]).all()  # there is no bias: its variance is that of the start


# -- a million updates -----------------------------------------------------------------------------------------------

UNITS = {"even": np.ones(5), "uneven": np.array([1e-4, 1e-2, 1.0, 1e2, 1e4])}
MANY = {
    "arow": AROW(r=1.0, covariance="full"),
    "scw1": SCW1(C=0.01, eta=0.9, covariance="full"),
    "scw2": SCW2(C=1.0, eta=0.75, covariance="full"),
    "nherd": NHERD(C=0.1, covariance="full"),
    "sop": SOP(a=1.0, covariance="full"),
}


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("name", MANY)
def test_covariances_stay_positive_definite_for_a_million_updates(name, units):
    """Labels are noise, so that updates never end."""
    random = np.random.default_rng(0)
    model = Perceptron(rule=MANY[name])
    while not hasattr(model, "n_updates_") or model.n_updates_ < 1_000_000:
        X = random.normal(size=(250_000, 5)) * UNITS[units]
        model.partial_fit(X, random.integers(2, size=len(X)), classes=[0, 1])
        assert model.n_seen_ < 5_000_000
    (sigma,) = covariances(model)
    np.testing.assert_array_equal(sigma, sigma.T)
    assert np.isfinite(sigma).all() and np.isfinite(model.coef_).all()
    spread = np.sqrt(np.diag(sigma))
    smallest = np.linalg.eigvalsh(sigma / np.outer(spread, spread))[0]  # of correlations: units play no part
    assert smallest > 0.1, smallest  # features are independent
    if name in ("arow", "sop"):
        # Every row gives Σ⁻¹ the same gain c·xxᵀ on the mean: c·(number of updates)·E[xxᵀ].
        expected = 1 / (model.n_updates_ * np.append(UNITS[units] ** 2, 1.0))
        np.testing.assert_allclose(np.diag(sigma)[1:], expected[1:], rtol=0.02 if units == "even" else 0.5)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_noise_makes_cw_certain_but_never_fail(covariance):
    """Each example of noise shrinks variances by a factor. When they have all but vanished, there are no more steps."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(20_000, 5)), random.integers(2, size=20_000)
    model = Perceptron(rule=CW(eta=0.9, covariance=covariance)).partial_fit(X, y)
    assert np.isfinite(model.coef_).all() and model.n_seen_ == 20_000
    for sigma in covariances(model):
        assert np.isfinite(sigma).all() and (np.diag(sigma) >= 0).all()


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_one_outlier_after_much_certainty(covariance):
    """Rows that have long been sure, then one on the wrong side: √u is a difference that vanishes in floats."""
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 4))
    X[:, 0] = np.where(X[:, 0] > 0, 1, -1) * (1 + np.abs(X[:, 0]))
    model = Perceptron(readout="last", rule=CW(eta=0.99, covariance=covariance)).partial_fit(X * 1e5, X[:, 0] > 0)
    model.partial_fit([[1e9, 0.0, 0.0, 0.0]], [False])
    assert np.isfinite(model.coef_).all() and not model.predict([[1e9, 0.0, 0.0, 0.0]])[0]
