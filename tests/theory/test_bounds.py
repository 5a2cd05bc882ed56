"""Bounds on mistakes: never below what a perceptron does, and what they say follows from the hypothesis they name."""

from dataclasses import replace
from fractions import Fraction
from math import floor, inf, isfinite, nextafter, sqrt

import naive_theory
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_theory import sq_margin, verdict
from scipy import sparse

from perceptrons import Perceptron
from perceptrons.theory import augment, mistake_bound, separability

SEEDS = st.integers(0, 10**6)
property_test = settings(max_examples=30, deadline=None)
BIAS = pytest.mark.parametrize("fit_intercept", [True, False])
ONE_PASS = {"freund-schapire", "gentile", "n"}


# -- data ---------------------------------------------------------------------------------------------------------


def separable(seed, fit_intercept, n_classes=2, n=20):
    """Rows and labels of small integers, and integer weights that separate them. Repeated rows occur."""
    random = np.random.default_rng(seed)
    lines = 1 if n_classes == 2 else n_classes
    while True:
        d = random.integers(1, 5)
        W, b = random.integers(-3, 4, size=(lines, d)).astype(float), random.integers(-3, 4, size=lines) * 1.0
        b *= fit_intercept
        X = random.integers(-3, 4, size=(n, d)).astype(float)
        scores = X @ W.T + b
        y = (scores[:, 0] > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
        if len(set(y.tolist())) < n_classes:
            continue
        keep = np.array(naive_theory.scores(X, y, W, b, range(n_classes))) > 0
        if len(set(y[keep].tolist())) == n_classes:
            return X[keep], y[keep], W, b


def inseparable(seed, fit_intercept, n_classes=2, n=40):
    """The same with wrong labels and a row that has two."""
    random = np.random.default_rng(seed)
    X, y, W, b = separable(seed, fit_intercept, n_classes, n)
    flipped = random.random(len(y)) < 0.1
    y = np.where(flipped, (y + 1) % n_classes, y)
    row = random.integers(len(y))
    X, y = np.vstack([X, X[row]]), np.r_[y, (y[row] + 1) % n_classes]
    missing = [label for label in range(n_classes) if label not in y]
    return np.vstack([X, np.ones((len(missing), X.shape[1]))]), np.r_[y, missing].astype(int), W, b


def one_pass(X, y, fit_intercept, order):
    """Mistakes of the plain rule, each row once, from zeros."""
    model = Perceptron(fit_intercept=fit_intercept)
    rows = np.random.default_rng(order).permutation(len(y)) if order else np.arange(len(y))
    guesses = model.predict_then_learn(X[rows], y[rows], classes=np.unique(y))
    assert model.n_mistakes_ >= (guesses != y[rows]).sum()  # a score of 0 is a mistake whatever was predicted
    return model.n_mistakes_


# -- substitution -------------------------------------------------------------------------------------------------


def substituted(result, X, y, fit_intercept):
    """What the theorem says for the hypothesis of the result: a bound that may be rounded down to a whole number."""
    if result.theorem == "n":
        return len(y)
    w, b = result.coef, result.intercept
    if result.theorem == "novikoff":
        return naive_theory.novikoff(X, y, w, b, fit_intercept)
    if result.theorem == "gentile":
        return naive_theory.gentile(X, y, w, b, fit_intercept)
    assert result.theorem == "freund-schapire"
    return naive_theory.freund_schapire(X, y, w, b, result.margin, fit_intercept)


def assert_follows(result, X, y, fit_intercept):
    """Not below the theorem, which holds for whole numbers, nor above it by more than roundings; it checks itself."""
    exact = substituted(result, X, y, fit_intercept)
    assert result.bound >= floor(exact)
    assert result.bound <= float(exact) * (1 + 1e-9)
    R2 = max(naive_theory.dot(x, x) for x in naive_theory.exact(X)) + fit_intercept
    assert Fraction(result.radius) ** 2 >= R2
    assert result.radius == pytest.approx(sqrt(R2), rel=1e-12)
    assert fit_intercept or not np.any(result.intercept)
    assert result.check(X, y) is True


# -- separable rows: Novikoff -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=SEEDS, fit_intercept=st.booleans())
@property_test
def test_novikoff(n_classes, seed, fit_intercept):
    """At most R²‖w*‖²/γ² updates, in any order and any number of passes; several classes: 2R²."""
    X, y, _, _ = separable(seed, fit_intercept, n_classes)
    result = mistake_bound(X, y, fit_intercept=fit_intercept)
    assert result.theorem == "novikoff"
    assert_follows(result, X, y, fit_intercept)
    for order in range(4):
        model = Perceptron(fit_intercept=fit_intercept, tol=None, shuffle=order > 0, random_state=order, max_iter=10**5)
        model.fit(X, y)
        assert model.converged_
        assert model.n_updates_ <= result.bound


@given(seed=SEEDS, fit_intercept=st.booleans())
@property_test
def test_novikoff_for_the_best_separator_is_least(seed, fit_intercept):
    """R²/γ² with the largest margin γ of the rows, the constant among them."""
    X, y, W, b = separable(seed, fit_intercept, n=8)
    result = mistake_bound(X, y, fit_intercept=fit_intercept)
    rows = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    least = naive_theory.sq_reach(X, y, fit_intercept) / sq_margin(rows, y, False)
    assert floor(least) <= result.bound <= least * (1 + Fraction(1, 10**5))
    given_one = mistake_bound(X, y, fit_intercept=fit_intercept, coef=W[0], intercept=b[0])
    assert given_one.bound >= result.bound * (1 - 1e-5) - 1


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=SEEDS, fit_intercept=st.booleans(), scale=st.sampled_from([1.0, 0.125, 64.0]))
@property_test
def test_novikoff_for_a_given_separator(n_classes, seed, fit_intercept, scale):
    """Any separator proves a bound, whatever its scale."""
    X, y, W, b = separable(seed, fit_intercept, n_classes)
    coef, intercept = (W[0], b[0]) if n_classes == 2 else (W, b)
    result = mistake_bound(X, y, fit_intercept=fit_intercept, coef=scale * coef, intercept=scale * intercept)
    assert result.theorem == "novikoff"
    assert_follows(result, X, y, fit_intercept)
    exact = naive_theory.novikoff(X, y, W, b, fit_intercept)
    assert floor(exact) <= result.bound <= float(exact) * (1 + 1e-9)
    model = Perceptron(fit_intercept=fit_intercept, tol=None, shuffle=False, max_iter=10**5).fit(X, y)
    assert model.n_updates_ <= result.bound


def test_novikoff_uses_the_augmented_margin():
    """Rows 1 and 3: R²/γ² is 9 by the rows alone, but with the constant R² = 10 and γ² = 1/5, which makes 50."""
    X, y = np.array([[1.0], [3.0]]), [0, 1]
    result = mistake_bound(X, y)
    assert 50 <= result.bound <= 50 * (1 + 1e-5)
    assert result.margin == pytest.approx(sqrt(0.2), rel=1e-6)
    assert result.radius == pytest.approx(sqrt(10))
    assert separability(X, y).margin == pytest.approx(1, rel=1e-6)


@given(seed=SEEDS)
@property_test
def test_the_bias_is_the_weight_of_the_constant(seed):
    X, y, _, _ = separable(seed, True)
    one, other = mistake_bound(X, y), mistake_bound(augment(X), y, fit_intercept=False)
    assert one.bound == pytest.approx(other.bound, rel=1e-5, abs=1)
    assert one.radius == pytest.approx(other.radius)
    assert one.margin == pytest.approx(other.margin, rel=1e-6)


def test_the_bound_is_attained():
    """Orthonormal rows: every one of n rows is a mistake, and R²/γ² = n."""
    for n in (2, 5, 16):
        X, y = np.eye(n), np.arange(n) % 2
        result = mistake_bound(X, y, fit_intercept=False)
        model = Perceptron(fit_intercept=False, tol=None).fit(X, y)
        assert model.n_updates_ == n <= result.bound <= n * (1 + 1e-5)


def test_a_tiny_margin_has_a_huge_bound():
    """Not an infinite one, nor one of a separator that floats take for one."""
    X, y = np.array([[1.0], [nextafter(1.0, 2)]]), [0, 1]
    result = mistake_bound(X, y)
    assert 1e31 < result.bound < inf
    exact = 2 / sq_margin(augment(X), y, False)
    assert result.bound >= floor(exact)
    assert result.check(X, y) is True


# -- rows that cannot be separated: one pass ----------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=SEEDS, fit_intercept=st.booleans())
@property_test
def test_freund_schapire_and_gentile(n_classes, seed, fit_intercept):
    """One pass from zeros, in any order, makes no more mistakes than the bound, which is never above n."""
    X, y, _, _ = inseparable(seed, fit_intercept, n_classes)
    assert separability(X, y, fit_intercept=fit_intercept).separable is False
    result = mistake_bound(X, y, fit_intercept=fit_intercept)
    assert result.theorem in ONE_PASS
    assert_follows(result, X, y, fit_intercept)
    assert result.bound <= len(y)
    for order in range(4):
        assert one_pass(X, y, fit_intercept, order) <= result.bound


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=SEEDS, fit_intercept=st.booleans(), scale=st.sampled_from([1.0, 0.125, 64.0]))
@property_test
def test_one_pass_by_a_given_hypothesis_that_does_not_separate(n_classes, seed, fit_intercept, scale):
    """The better of both theorems for its direction: at least as good as with the weights and any γ as given."""
    X, y, W, b = inseparable(seed, fit_intercept, n_classes)
    coef, intercept = (W[0], b[0]) if n_classes == 2 else (W, b)
    result = mistake_bound(X, y, fit_intercept=fit_intercept, coef=scale * coef, intercept=scale * intercept)
    assert result.theorem in ONE_PASS
    assert_follows(result, X, y, fit_intercept)
    assert result.bound <= len(y)
    assert one_pass(X, y, fit_intercept, 1) <= result.bound
    if result.theorem != "n":  # the hypothesis is the one given, at some scale
        ours, theirs = (
            np.r_[np.ravel(w), np.ravel(c)] for w, c in ((result.coef, result.intercept), (coef, intercept))
        )
        np.testing.assert_allclose(ours / np.linalg.norm(ours), theirs / np.linalg.norm(theirs), atol=1e-9)


def test_one_pass_by_a_hypothesis_that_does_not_separate_separable_rows():
    X, y, W, b = separable(2, True)
    assert verdict(X, y)
    result = mistake_bound(X, y, coef=-W[0], intercept=-b[0])
    assert result.theorem in ONE_PASS
    assert_follows(result, X, y, True)
    assert one_pass(X, y, True, 0) <= result.bound <= len(y)


@BIAS
def test_few_wrong_labels_cost_little(fit_intercept):
    """2,000 rows at a distance of 1, five of them on the wrong side: L = 10 for the weights (1, 0), R² = 3 or 2."""
    random = np.random.default_rng(0)
    X = np.column_stack([random.choice([-1.0, 1.0], size=2000), random.uniform(-1, 1, size=2000)])
    y = (X[:, 0] > 0).astype(int)
    y[::400] = 1 - y[::400]
    expected = float(naive_theory.gentile(X, y, [1.0, 0.0], 0.0, fit_intercept))
    result = mistake_bound(X, y, fit_intercept=fit_intercept)
    assert result.theorem in {"freund-schapire", "gentile"}
    assert_follows(result, X, y, fit_intercept)
    assert result.bound <= 1.2 * expected
    for order in range(3):
        assert one_pass(X, y, fit_intercept, order) <= result.bound


# -- check, layouts and errors ------------------------------------------------------------------------------------


@BIAS
@pytest.mark.parametrize("make", [separable, inseparable])
def test_check_refuses_other_rows(make, fit_intercept):
    X, y, _, _ = make(4, fit_intercept, n=60)
    result = mistake_bound(X, y, fit_intercept=fit_intercept)
    assert result.check(X, y) is True
    for rows, labels in ((100.0 * X + 1e3, y), (X[:, 1:], y), (X, y[:-1])):
        with pytest.raises(ValueError):
            result.check(rows, labels)
    if make is separable:
        with pytest.raises(ValueError):
            result.check(X, 1 - y)


@BIAS
@pytest.mark.parametrize("make", [separable, inseparable])
def test_check_refuses_less_than_the_theorem_says(make, fit_intercept):
    """Nor a hypothesis that says something else."""
    X, y, _, _ = make(4, fit_intercept, n=60)
    result = mistake_bound(X, y, fit_intercept=fit_intercept)
    for change in ({"bound": result.bound - 1}, {"bound": result.bound / 2}, {"bound": float("nan")}):
        with pytest.raises(ValueError):
            replace(result, **change).check(X, y)
    if result.theorem != "n":
        with pytest.raises(ValueError):
            replace(result, coef=-result.coef, intercept=-result.intercept).check(X, y)


@BIAS
@pytest.mark.parametrize("make", [separable, inseparable])
def test_check_refuses_rows_with_more_columns(make, fit_intercept):
    X, y, _, _ = make(4, fit_intercept, n=60)
    with pytest.raises(ValueError):
        mistake_bound(X, y, fit_intercept=fit_intercept).check(np.column_stack([X, X]), y)


@BIAS
@pytest.mark.parametrize("make", [separable, inseparable])
def test_check_refuses_what_the_bound_is_not_made_of(make, fit_intercept):
    X, y, _, _ = make(4, fit_intercept, n=60)
    result = mistake_bound(X, y, fit_intercept=fit_intercept)
    changes = [{"theorem": "none", "bound": 0.0}, {"radius": result.radius / 2}]
    if result.theorem != "n":
        changes.append({"margin": 2 * result.margin})
    for change in changes:
        with pytest.raises(ValueError):
            replace(result, **change).check(X, y)


def test_a_bound_beyond_all_floats_is_infinite():
    """R/γ = 1e200."""
    X, y = np.array([[1.0, 1e-200], [1.0, -1e-200]]), [1, 0]
    result = mistake_bound(X, y, fit_intercept=False)
    assert result.bound == inf
    assert result.check(X, y) is True
    assert "beyond all floats" in str(result)


@BIAS
def test_sparse_equals_dense_and_float32_equals_double(fit_intercept):
    for make in (separable, inseparable):
        X, y, _, _ = make(6, fit_intercept)
        dense = mistake_bound(X, y, fit_intercept=fit_intercept)
        for rows in (sparse.csr_matrix(X), X.astype(np.float32)):
            result = mistake_bound(rows, y, fit_intercept=fit_intercept)
            assert_follows(result, rows, y, fit_intercept)
            assert result.bound == pytest.approx(dense.bound, rel=1e-3, abs=1)
            assert result.radius == pytest.approx(dense.radius, rel=1e-12)


def test_rows_may_be_read_only():
    X, y, _, _ = separable(6, True)
    before = X.copy()
    X.flags.writeable = y.flags.writeable = False
    assert isfinite(mistake_bound(X, y).bound)
    np.testing.assert_array_equal(X, before)


def test_the_report_names_the_theorem_and_the_bound():
    X, y = np.eye(4), [0, 1, 0, 1]
    text = str(mistake_bound(X, y, fit_intercept=False))
    assert text.startswith("at most 4 mistakes in any number of passes (4 rows)\n  Novikoff 1962: (R·‖w‖/γ)² updates")


def test_the_report_of_several_classes_can_be_substituted():
    """Two weight vectors move at once, so R² counts twice."""
    X, y = np.eye(3), [0, 1, 2]
    result = mistake_bound(X, y, fit_intercept=False)
    assert "(√2·R·‖w‖/γ)²" in str(result)
    assert result.bound == pytest.approx(2 * result.radius**2 / result.margin**2)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]),
        ([[-1, -1], [-1, 1], [1, -1], [1, 1]], [0, 1, 1, 0]),
        ([[1, 2], [1, 2]], [0, 1]),
        ([[0, 0], [0, 0]], [0, 1]),
    ],
)
def test_where_no_weights_are_better_than_none_the_bound_is_the_number_of_rows(X, y):
    for fit_intercept in (True, False):
        result = mistake_bound(X, y, fit_intercept=fit_intercept)
        assert (result.theorem, result.bound) == ("n", len(X)) and result.check(X, y)
        assert f"at most {len(X)} mistakes in one pass" in str(result)


def test_a_model_in_place_of_coef():
    X, y, _, _ = separable(4, True, n=60)
    model = Perceptron().fit(X, y)
    one = mistake_bound(X, y, coef=model)
    two = mistake_bound(X, y, coef=model.coef_, intercept=model.intercept_)
    assert one.bound == two.bound and model.n_updates_ <= one.bound
    with pytest.raises(ValueError, match="its own intercept"):
        mistake_bound(X, y, coef=model, intercept=1.0)


GOOD = {"X": np.array([[0.0, 1.0], [2.0, 3.0], [5.0, -1.0]]), "y": [0, 1, 1]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.array([[0.0, 1.0], [2.0, np.nan], [5.0, -1.0]])}, "NaN at row 1, column 1"),
        ({"y": [0, 1]}, r"\[3, 2\]"),
        ({"coef": [1.0, 2.0, 3.0]}, "coef"),
        ({"coef": np.ones((3, 2))}, "coef"),
        ({"coef": [1.0, np.nan]}, "coef"),
        ({"coef": [1.0, 2.0], "intercept": [1.0, 2.0]}, "intercept"),
        ({"coef": [1.0, 2.0], "intercept": 1.0, "fit_intercept": False}, "intercept"),
        ({"intercept": 1.0}, "coef"),
    ],
)
def test_what_is_wrong_is_said(change, message):
    with pytest.raises(ValueError, match=message):
        mistake_bound(**(GOOD | change))


def test_one_class_has_no_bound():
    """With one class nothing can be learned: `fit` says so too."""
    with pytest.raises(ValueError, match="class"):
        mistake_bound(GOOD["X"], [1, 1, 1])
