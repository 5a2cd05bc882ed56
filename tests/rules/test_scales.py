"""What is proved of rules that scale w, and means of scaled vectors over long runs."""

import numpy as np
import pytest
from naive import augmented
from naive_shapes import scaled_step
from shape_cases import LAYOUTS, METRIC, NAMES, close, data, estimator, joined, state_of

from perceptrons import Perceptron
from perceptrons.rules import ALMA, ROMMA, Margin, Shifting, Uneven


def told_one_by_one(model, X, y):
    """Learn row after row; yields the row with its constant, its sign, and w before and after each update."""
    w, updates = np.zeros(X.shape[1] + 1), 0
    for x, label in zip(X, y, strict=True):
        model.partial_fit(x[np.newaxis], [label], classes=NAMES[:2])
        now = joined(model)[0]
        if model.n_updates_ > updates:
            yield np.append(x, 1.0), (1.0 if label == NAMES[1] else -1.0), w, now
        w, updates = now, model.n_updates_


@pytest.mark.parametrize("aggressive", [False, True])
def test_romma_is_the_shortest_vector_with_both_its_constraints(aggressive):
    """y·w·x ≥ 1 and w·w_old ≥ ‖w_old‖²; no shorter vector has both (the condition of optimality: w is a sum of the
    two normals with factors ≥ 0, and a factor is 0 where its constraint is not tight)."""
    X, y, _ = data(2, n=60)
    steps = 0
    for x, sign, old, w in told_one_by_one(Perceptron(readout="last", rule=ROMMA(aggressive=aggressive)), X, y):
        np.testing.assert_allclose(sign * w @ x, 1.0, rtol=1e-7)
        slack = w @ old - old @ old
        assert slack >= -1e-7 * (old @ old)
        if not old.any():
            np.testing.assert_allclose(w, sign * x / (x @ x))
            continue
        factors, rest, *_ = np.linalg.lstsq(np.column_stack([old, sign * x]), w, rcond=None)
        assert (factors >= -1e-9).all() and rest.sum() < 1e-12 * (w @ w)
        assert abs(factors[0] * slack) < 1e-7 * (w @ w)
        steps += 1
    assert steps > 15


def test_romma_begins_anew_where_x_is_parallel_to_w():
    """No w has margin 1 on the row and w·w_old ≥ ‖w_old‖², so w is that of the row alone."""
    X = np.array([[2.0, 0.0], [4.0, 0.0], [0.0, 1.0]])
    for rows in (X[:2], X):
        model = Perceptron(readout="last", rule="romma", fit_intercept=False).partial_fit(
            rows, [1, 0, 0][: len(rows)], classes=[0, 1]
        )
        if len(rows) == 2:
            np.testing.assert_array_equal(model.coef_, [[-0.25, 0.0]])
    assert np.isfinite(model.coef_).all()


def test_lengths_of_alma_and_of_shifting_perceptrons():
    """ALMA stays in the unit ball; w of a shifting perceptron is a mean of rows ±x."""
    X, y, _ = data(2, n=60)
    radius = np.linalg.norm(augmented(X), axis=1).max()
    for rule, most in ((ALMA(alpha=0.5), 1.0), (ALMA(alpha=1.0), 1.0), (Shifting(lam=3.0), radius)):
        for *_, w in told_one_by_one(Perceptron(rule=rule), X, y):
            assert np.linalg.norm(w) <= most * (1 + 1e-12)


def test_alma_does_not_see_the_length_of_rows():
    X, y, _ = data(2, n=40)
    lengths = np.random.default_rng(0).choice([0.5, 1.0, 4.0], size=(40, 1))
    one, other = (
        Perceptron(rule=ALMA(alpha=0.5), fit_intercept=False).partial_fit(rows, y) for rows in (X, X * lengths)
    )
    close(other.coef_, one.coef_)
    assert one.n_updates_ == other.n_updates_


@pytest.mark.parametrize(("layout", "n_classes", "readout"), [("dense", 2, "last"), ("csr", 3, "averaged")])
def test_shifting_by_the_mean_is_the_perceptron(layout, n_classes, readout):
    """With λ = 1, λ_k = 1/(1 + k): w is the mean of all steps of the perceptron, which makes the same mistakes."""
    X, y, _ = data(n_classes, n=200, integers=False)
    rows = LAYOUTS[layout](X)
    plain = Perceptron(readout=readout).partial_fit(rows, y, classes=NAMES[:n_classes])
    mean = Perceptron(rule=Shifting(lam=1.0), readout=readout).partial_fit(rows, y, classes=NAMES[:n_classes])
    assert mean.n_mistakes_ == plain.n_mistakes_ and mean.n_updates_ == plain.n_updates_
    if readout == "last":
        close(mean.coef_, plain.coef_ / plain.n_updates_)


@pytest.mark.parametrize("beta", [0.0, 1.5])
def test_even_margins_are_the_perceptron_with_margin(beta):
    X, y, _ = data(2, n=60)
    uneven = Perceptron(rule=Uneven(beta_positive=beta, beta_negative=beta)).partial_fit(X, y)
    even = Perceptron(rule=Margin(beta=beta)).partial_fit(X, y)
    np.testing.assert_array_equal(joined(uneven), joined(even))
    rare = Perceptron(rule=Uneven(beta_positive=5.0, beta_negative=0.0), max_iter=5, shuffle=False).fit(X, y)
    wanted = y == NAMES[1]
    plain = Perceptron(max_iter=5, shuffle=False).fit(X, y)
    assert (rare.predict(X)[wanted] == NAMES[1]).mean() >= (plain.predict(X)[wanted] == NAMES[1]).mean()


# -- long runs -------------------------------------------------------------------------------------------------------


def brute_force(rule, X, y):
    """The last w and the mean of w after each example, added up one by one; and the number of updates."""
    name, params = type(rule).__name__.lower(), rule._asdict()
    w, total, updates = np.zeros(X.shape[1] + 1), np.zeros(X.shape[1] + 1), 0
    for x, sign in zip(augmented(X), np.where(y == NAMES[1], 1.0, -1.0), strict=True):
        moved = scaled_step(name, w, sign * x, sign * (w @ x), updates, **params)
        if moved is not None:
            w, updates = moved, updates + 1
        total += w
    return w, total / len(X), updates


LONG = [Shifting(lam=5.0), Shifting(lam=200.0), Shifting(lam=0.01), ALMA(alpha=0.5), ROMMA(), ROMMA(aggressive=True)]


@pytest.mark.parametrize("rule", LONG, ids=str)
def test_means_of_long_runs(rule):
    """The scale goes to 0 like k^−λ, or grows with every mistake: the sums that make up a mean must not cancel."""
    random = np.random.default_rng(0)
    n, d = 20_000, 12
    X = random.normal(size=(n, d))
    y = NAMES[((X[:, 0] + 0.5 * random.normal(size=n)) > 0).astype(int)]  # not separable
    w, mean, updates = brute_force(rule, X, y)
    if isinstance(rule, ROMMA):  # w grows with every mistake
        assert np.abs(w).max() > 1e3
    for readout, expected in (("last", w), ("averaged", mean)):
        model = Perceptron(rule=rule, readout=readout).partial_fit(X, y, classes=NAMES[:2])
        assert model.n_updates_ == updates
        close(joined(model)[0], expected, 1e-6)


@pytest.mark.parametrize("readout", ["last", "averaged"])
def test_noise_makes_romma_long_but_never_fail(readout):
    """Every mistake makes w longer by 1/sin of its angle to x. When floats are about to end, all hypotheses are made
    shorter, those in a mean too: no prediction changes."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(30_000, 3)), NAMES[random.integers(2, size=30_000)]
    for n in (1_200, 2_000, 2_400):  # before and after the first time; from 3,000 on, brute force overflows
        w, mean, updates = brute_force(ROMMA(), X[:n], y[:n])
        model = Perceptron(rule="romma", readout=readout).partial_fit(X[:n], y[:n], classes=NAMES[:2])
        expected = w if readout == "last" else mean
        shorter = np.linalg.norm(joined(model)) / np.linalg.norm(expected)
        assert model.n_updates_ == updates and (shorter < 1e-20) == (np.linalg.norm(w) > 1e65)
        close(joined(model)[0], expected * shorter, 1e-7)
    model = Perceptron(rule="romma", readout=readout).partial_fit(X, y)
    assert np.isfinite(joined(model)).all() and model.n_seen_ == 30_000
    assert np.isfinite(model._learner.totals.array).all() and 0 < model.margin_bound_ < 1e-6


@pytest.mark.parametrize("name", ["romma", "alma", "shifting"])
def test_margin_bounds_hold(name):
    """‖w‖/Στ, both scaled alike: no hypothesis has a larger margin."""
    random = np.random.default_rng(1)
    X = random.normal(size=(200, 4))
    best = np.array([1.0, -1.0, 0.5, 2.0])
    X, y = (part[np.abs(X @ best) > 0.3] for part in (X, NAMES[(X @ best > 0).astype(int)]))
    margin = (np.abs(X @ best) / np.linalg.norm(best)).min()
    model = estimator(name, fit_intercept=False, max_iter=2, warm_start=True).fit(X, y)
    assert margin <= model.margin_bound_ < 10 * margin
    assert model.fit(X, y).margin_bound_ >= margin
    start = estimator(name, fit_intercept=False, max_iter=2).fit(X, y, coef_init=[-best])
    assert start.margin_bound_ >= margin


@pytest.mark.parametrize("name", METRIC)
def test_rules_with_a_metric_prove_no_margin(name):
    """So the size of `tol` plays no part."""
    X, y, _ = data(2)
    one, other = (estimator(name, max_iter=40, tol=tol).fit(X, y) for tol in (0.5, 1e-9))
    assert one.margin_bound_ == np.inf
    assert joined(one).tolist() == joined(other).tolist()


def test_uneven_margins_are_for_two_classes():
    X, y, _ = data(3)
    for method in ("fit", "partial_fit"):
        with pytest.raises(
            ValueError, match=r"the rule Uneven does not combine with .*: it has a margin for each of two"
        ):
            getattr(Perceptron(rule="uneven"), method)(X, y)
    two = y != NAMES[2]
    model = Perceptron(rule="uneven").partial_fit(X[two], y[two])
    before = state_of(model)
    with pytest.raises(ValueError, match="the rule Uneven does not combine"):
        model.partial_fit(X, y)
    assert state_of(model) == before
