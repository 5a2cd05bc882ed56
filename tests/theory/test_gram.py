"""Theory on kernel matrices: verdicts and margins are those of the points of the feature space, and are proved."""

from dataclasses import fields, replace
from fractions import Fraction
from math import inf, sqrt

import naive_theory
import numpy as np
import pytest
from naive_theory import sq_margin, verdict
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel, sigmoid_kernel
from sklearn.svm import SVC

from perceptrons.theory import CertificateError, KernelSeparability, margins, mistake_bound, separability

BIAS = pytest.mark.parametrize("fit_intercept", [True, False])
XOR = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])


# -- data ---------------------------------------------------------------------------------------------------------


def small(random, n_classes=2, most=8, d=3):
    """A few rows of small integers, so small that rows repeat, lie on lines and hulls touch."""
    n, d, size = random.integers(n_classes, most + 1), random.integers(1, d + 1), random.integers(1, 4)
    X = random.integers(-size, size + 1, size=(n, d)).astype(float)
    y = np.r_[range(n_classes), random.integers(0, n_classes, size=n - n_classes)]
    order = random.permutation(n)
    return X[order], y[order]


def squares(X):
    """Features whose inner products are (1 + x·x′)² = 1 + x·x′ + x·x′ + (x⊗x)·(x′⊗x′), all of them integers."""
    return np.column_stack([np.ones(len(X)), X, X, np.einsum("ni,nj->nij", X, X).reshape(len(X), -1)])


def gaussian(n, n_classes=2, seed=0, gamma=1.0, d=4):
    random = np.random.default_rng(seed)
    K = rbf_kernel(random.normal(size=(n, d)), gamma=gamma)
    return np.maximum(K, K.T), np.arange(n) % n_classes  # BLAS may round K_ij and K_ji in two ways


def noisy(K, error, random):
    """A symmetric matrix nowhere farther from K than the error."""
    noise = random.uniform(-error, error, size=K.shape) * 0.999
    return K + np.triu(noise) + np.triu(noise, 1).T


# -- proofs by substitution ---------------------------------------------------------------------------------------


def assert_proved(result, Phi, y):
    """What the result shows holds for explicit points Φ with K = ΦΦᵀ, in exact arithmetic."""
    assert all(isinstance(weight, Fraction) and weight > 0 for weight in result.weights)
    assert sum(result.weights) == 1
    point, bias = naive_theory.hull_point(
        Phi, y, result.support.tolist(), result.weights, np.asarray(result.rivals).tolist()
    )
    assert not (result.fit_intercept and any(bias))
    assert Fraction(result.radius) ** 2 >= max(naive_theory.dot(x, x) for x in naive_theory.exact(Phi))
    if not result.separable:
        assert not any(point)
        return
    low, high = result.margin_bounds
    assert 0 < low == result.margin <= high
    assert naive_theory.dot(point, point) <= Fraction(high) ** 2
    points = np.array(naive_theory.exact(Phi), dtype=object)
    for dual_coef, intercept, margin, counts in (
        (result.dual_coef, result.intercept, low, False),
        (result.augmented_dual_coef, result.augmented_intercept, result.augmented_margin, True),
    ):
        alpha = np.array(naive_theory.exact(np.atleast_2d(dual_coef)), dtype=object)
        W = alpha @ points  # w = Σ α φ(x)
        assert result.fit_intercept or not np.any(intercept)
        least = min(naive_theory.scores(Phi, y, W, intercept))
        square = naive_theory.sq_length(W, intercept if counts else 0.0)
        assert least > 0 and least**2 >= Fraction(margin) ** 2 * square
        assert result.K_error or abs(square - 1) < 1e-9 or dual_coef.dtype == object


def assert_right(Phi, y, fit_intercept, width=1e-6):
    """The verdict on K = ΦΦᵀ is the exact one on Φ, and the largest margin of Φ is enclosed."""
    K = Phi @ Phi.T
    result = separability(K=K, y=y, fit_intercept=fit_intercept)
    assert isinstance(result, KernelSeparability)
    assert result.separable is verdict(Phi, y, fit_intercept)
    assert result.other is verdict(Phi, y, not fit_intercept)
    assert result.check(K=K, y=y) is True
    assert_proved(result, Phi, y)
    if result.separable:
        linear = separability(Phi, y, fit_intercept=fit_intercept)
        low, high = result.margin_bounds
        assert low <= linear.margin_bounds[1] and linear.margin_bounds[0] <= high
        assert high - low <= width * low
        assert result.augmented_margin == pytest.approx(linear.augmented_margin, rel=1e-6)
    return result


# -- the feature space is the space of explicit features ----------------------------------------------------------


@BIAS
def test_the_linear_kernel_is_the_linear_problem(fit_intercept):
    """On small integers, where K = XXᵀ is exact; degenerate very often, and of lower rank than rows."""
    random = np.random.default_rng(0)
    seen = set()
    for k in range(60):
        X, y = small(random)
        result = assert_right(X, y, fit_intercept)
        seen.add(result.separable)
        if result.separable and k % 2 == 0:
            low, high = result.margin_bounds
            assert Fraction(low) ** 2 <= sq_margin(X, y, fit_intercept) <= Fraction(high) ** 2
    assert seen == {True, False}


@BIAS
def test_the_linear_kernel_of_several_classes(fit_intercept):
    random = np.random.default_rng(1)
    for _ in range(20):
        X, y = small(random, n_classes=random.integers(3, 5), most=7, d=2)
        assert_right(X, y, fit_intercept)


@BIAS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_polynomial_kernel_is_its_explicit_features(n_classes, fit_intercept):
    random = np.random.default_rng(2)
    for _ in range(20):
        X, y = small(random, n_classes, most=9, d=2)
        Phi = squares(X)
        np.testing.assert_array_equal(Phi @ Phi.T, polynomial_kernel(X, degree=2, gamma=1, coef0=1))
        assert_right(Phi, y, fit_intercept)


@BIAS
def test_irreducible_rows(fit_intercept):
    """They cannot be separated, and without any one of them they can."""
    random = np.random.default_rng(3)
    found = 0
    while found < 15:
        X, y = small(random, most=10, d=2)
        result = separability(K=X @ X.T, y=y, fit_intercept=fit_intercept)
        if result.separable:
            continue
        found += 1
        rows = result.irreducible.tolist()
        assert sorted(rows) == sorted(set(rows)) == sorted(result.support.tolist())
        assert not verdict(X[rows], y[rows], fit_intercept, [0, 1])
        for k in range(len(rows)):
            fewer = [*rows[:k], *rows[k + 1 :]]
            assert not fewer or verdict(X[fewer], y[fewer], fit_intercept, [0, 1])


def test_exclusive_or_takes_the_square():
    X, y = XOR
    assert separability(K=X @ X.T, y=y).separable is False
    result = assert_right(squares(X), y, True)
    assert result.margin == pytest.approx(sqrt(3 / 32))
    text = str(result)
    assert text.startswith("separable with a bias, separable without one, in the kernel's feature space (4 rows, 2 c")
    assert "suppose that K is positive semi-definite" in text


# -- the Gaussian kernel ------------------------------------------------------------------------------------------


@BIAS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_distinct_points_are_separable_by_the_gaussian_kernel_and_copies_are_not(n_classes, fit_intercept):
    K, y = gaussian(60, n_classes)
    result = separability(K=K, y=y, fit_intercept=fit_intercept)
    low, high = result.margin_bounds
    assert result.separable is result.other is True
    assert high - low <= 1e-9 * low
    assert result.check(K=K, y=y)
    at = np.r_[:60, 7]
    copied, labels = K[np.ix_(at, at)], np.r_[y, (y[7] + 1) % n_classes]
    never = separability(K=copied, y=labels, fit_intercept=fit_intercept)
    assert never.separable is never.other is False
    assert set(never.irreducible.tolist()) == {7, 60}
    assert never.check(K=copied, y=labels)
    same = separability(K=copied, y=np.r_[y, y[7]], fit_intercept=fit_intercept)
    assert same.separable is True and same.margin == pytest.approx(result.margin, rel=1e-9)


def test_the_margin_is_that_of_a_support_vector_machine():
    K, y = gaussian(150, gamma=0.5)
    result = separability(K=K, y=y)
    machine = SVC(kernel="precomputed", C=1e10, tol=1e-10).fit(K, y)
    alpha = machine.dual_coef_[0]
    length = sqrt(alpha @ K[np.ix_(machine.support_, machine.support_)] @ alpha)
    assert result.margin == pytest.approx(1 / length, rel=1e-4)
    assert result.support.tolist() == sorted(machine.support_.tolist())
    shown = np.zeros(150)
    shown[machine.support_] = alpha / length
    np.testing.assert_allclose(result.dual_coef, shown, atol=1e-4 * np.abs(shown).max())
    assert result.intercept == pytest.approx(machine.intercept_[0] / length, abs=1e-6)


def test_the_enclosure_is_narrow():
    """Also with a margin of 2e-4 of R, and where directions are lost to rounding."""
    for gamma, width in ((1.0, 1e-9), (0.1, 1e-7)):
        K, y = gaussian(500, gamma=gamma, d=5)
        result = separability(K=K, y=np.random.default_rng(0).permutation(y))
        low, high = result.margin_bounds
        assert result.separable and high - low <= width * low


def test_the_augmented_margin_is_that_of_the_kernel_plus_one():
    K, y = gaussian(40)
    one, other = separability(K=K, y=y), separability(K=K + 1, y=y, fit_intercept=False)
    assert one.augmented_margin == pytest.approx(other.margin, rel=1e-9)
    assert one.augmented_margin <= other.margin_bounds[1]


# -- errors of K --------------------------------------------------------------------------------------------------


@BIAS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_is_said_with_an_error_holds_for_every_matrix_within_it(n_classes, fit_intercept):
    """K is off by up to ε from integers; what is said of K is checked on the true points."""
    random = np.random.default_rng(5)
    seen = set()
    for k in range(40):
        X, y = small(random, n_classes, most=7, d=3)
        error = 10.0 ** random.integers(-9, 0)
        K = noisy(X @ X.T, error, random)
        result = separability(K=K, y=y, fit_intercept=fit_intercept, K_error=error)
        seen.add(result.separable)
        assert result.separable in (True, None)  # never False
        if not result.separable:
            with pytest.raises(CertificateError, match="no verdict"):
                result.check(K=K, y=y)
            continue
        assert result.check(K=K, y=y)
        assert_proved(result, X, y)
        if k % 4 == 0 and n_classes == 2:
            low, high = result.margin_bounds
            assert Fraction(low) ** 2 <= sq_margin(X, y, fit_intercept) <= Fraction(high) ** 2
    assert seen == {True, None}


def test_a_larger_error_proves_less():
    K, y = gaussian(50)
    results = [separability(K=K, y=y, K_error=error) for error in (0.0, 1e-12, 1e-6, 1e-3, 0.1)]
    assert [result.separable for result in results] == [True, True, True, True, None]
    lows, highs = zip(*(result.margin_bounds for result in results[:4]), strict=True)
    assert sorted(lows, reverse=True) == list(lows) and sorted(highs) == list(highs)
    assert "nothing is proved to separate" in results[4].reason
    assert "within 1e-06 of K" in str(results[2])


def test_copies_are_open_with_an_error():
    """Two points with the same inner products need not be the same if these are not exact."""
    K = np.ones((2, 2))
    assert separability(K=K, y=[0, 1]).separable is False
    assert separability(K=K, y=[0, 1], K_error=1e-15).separable is None


def test_what_hangs_on_rounding_is_left_open():
    """K = XXᵀ of more rows than columns, rounded: of full rank by nothing but that."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(100, 3)), np.arange(100) % 2
    result = separability(K=X @ X.T, y=y)
    assert result.separable is None and "rounding" in result.reason
    assert "undecided with a bias" in str(result)


# -- certificates -------------------------------------------------------------------------------------------------


def changes(result):
    """Each field that is verified, changed."""
    swapped = [*result.weights[1:], result.weights[0]]
    yield from (
        {"weights": swapped if swapped != result.weights else [Fraction(1)] + [Fraction(0)] * (len(swapped) - 1)},
        {"weights": [2 * weight for weight in result.weights]},
        {"support": (result.support + 1) % result.n_rows},
        {"radius": result.radius * 0.999},
        {"n_rows": result.n_rows + 1},
        {"separable": not result.separable},
        {"separable": None},
        {"classes": result.classes + 5},
        {"rivals": np.roll(result.classes, 1)[np.zeros(len(result.rivals), dtype=int)]},
        {"K_error": -1e-3},
    )
    if not result.separable:
        yield from ({"K_error": 1e-12}, {"irreducible": result.irreducible[1:]})
        return
    low, high = result.margin_bounds
    yield from (
        {"margin": low * (1 + 1e-6), "margin_bounds": (low * (1 + 1e-6), high * (1 + 1e-6))},
        {"margin_bounds": (low, low * (1 - 1e-6)), "margin": low},
        {"margin": low * (1 - 1e-5), "margin_bounds": (low * (1 - 1e-5), high * (1 - 1e-6))},
        {"margin": low / 2},
        {"augmented_margin": result.augmented_margin * (1 + 1e-6)},
        {"K_error": 1e-3},
        {"margin": None, "margin_bounds": None},
    )
    for name in ("dual_coef", "augmented_dual_coef"):
        value = getattr(result, name)
        wrong = value.copy()
        wrong[..., 0] += 0.1
        yield from ({name: -value}, {name: wrong}, {name: 0 * value}, {name: np.full_like(value, np.nan)})
        yield {name: value[..., 1:]}
    for name in ("intercept", "augmented_intercept"):
        wrong = np.array(getattr(result, name)) + np.eye(max(1, np.size(getattr(result, name))))[0]
        yield {name: wrong if wrong.size > 1 else float(wrong[0])}


@BIAS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_check_refuses_what_is_not_proved(n_classes, fit_intercept):
    K, y = gaussian(24, n_classes)
    at = np.r_[:24, 3]
    for table, labels in ((K, y), (K[np.ix_(at, at)], np.r_[y, (y[3] + 1) % n_classes])):
        result = separability(K=table, y=labels, fit_intercept=fit_intercept)
        assert result.check(K=table, y=labels)
        for change in changes(result):
            if n_classes > 2 and "irreducible" in change:
                continue
            with pytest.raises(ValueError):
                replace(result, **change).check(K=table, y=labels)
                pytest.fail(f"{change} went through")
        with pytest.raises(ValueError):
            result.check(K=np.eye(len(table)), y=labels)
        with pytest.raises(ValueError):
            result.check(K=table, y=np.r_[labels[:-1], labels[3]] if len(labels) == 25 else labels[::-1])


def test_check_of_pairs():
    K, y = gaussian(30, 3)
    result = separability(K=K, y=y, pairwise=True)
    assert list(result.pairs) == [(0, 1), (0, 2), (1, 2)]
    assert result.check(K=K, y=y)
    for (a, b), pair in result.pairs.items():
        both = np.flatnonzero((y == a) | (y == b))
        alone = separability(K=K[np.ix_(both, both)], y=y[both])
        assert pair.margin == pytest.approx(alone.margin, rel=1e-9)
    wrong = replace(result.pairs[0, 1], radius=0.5)
    with pytest.raises(CertificateError):
        replace(result, pairs=result.pairs | {(0, 1): wrong}).check(K=K, y=y)
    assert "0 | 1: separable" in str(result)


# -- ends of the range --------------------------------------------------------------------------------------------


def test_points_of_length_zero():
    """φ(x) = 0 scores b: without a bias it is on no side."""
    K, y = np.zeros((3, 3)), [0, 1, 1]
    for fit_intercept in (True, False):
        result = separability(K=K, y=y, fit_intercept=fit_intercept)
        assert result.separable is False and result.radius == 0 and result.check(K=K, y=y)
    K = np.diag([0.0, 1.0, 1.0])
    assert separability(K=K, y=y).separable is True
    zero = separability(K=K, y=y, fit_intercept=False)
    assert zero.separable is False and zero.irreducible.tolist() == [0] and zero.other is True
    assert_right(np.array([[0.0, 0], [1, 0], [0, 1]]), np.array(y), True)


def test_two_points():
    """Half the distance, and without a bias the distance from 0 to the segment of y·φ."""
    K = np.array([[5.0, 2.0], [2.0, 8.0]])
    assert separability(K=K, y=[0, 1]).margin == pytest.approx(1.5)
    through = separability(K=K, y=["no", "yes"], fit_intercept=False)
    assert through.margin == pytest.approx(sqrt((40 - 4) / 17))
    assert through.rivals.tolist() == ["yes", "no"]
    assert separability(K=np.array([[1.0, 2.0], [2.0, 4.0]]), y=[0, 1], fit_intercept=False).separable is False


def test_one_class_has_nothing_to_separate():
    result = separability(K=np.eye(3), y=[1, 1, 1])
    assert result.separable is True and result.margin_bounds == (inf, inf) and result.check(K=np.eye(3), y=[1, 1, 1])
    with pytest.raises(ValueError, match="two classes"):
        mistake_bound(K=np.eye(3), y=[1, 1, 1])


@pytest.mark.parametrize("scale", [2.0**-600, 1e-30, 1e30, 2.0**600])
def test_the_scale_of_a_kernel_scales_margins(scale):
    K, y = gaussian(20)
    one, other = (separability(K=table, y=y, fit_intercept=False) for table in (K, scale * K))
    assert other.margin == pytest.approx(one.margin * sqrt(scale), rel=1e-9)
    assert other.check(K=scale * K, y=y)


def test_layouts_and_read_only_matrices():
    K, y = gaussian(30)
    before, K.flags.writeable = K.copy(), False
    expected = separability(K=K, y=y)
    np.testing.assert_array_equal(K, before)
    assert separability(K=np.asfortranarray(K), y=y).margin == expected.margin
    assert separability(K=K.tolist(), y=y.tolist()).margin == expected.margin
    narrow = separability(K=K.astype(np.float32), y=y)
    assert narrow.margin == pytest.approx(expected.margin, rel=1e-4) and narrow.check(K=K.astype(np.float32), y=y)
    assert separability(K=np.eye(3, dtype=int), y=[0, 1, 0]).separable is True


def test_the_upper_triangle_counts_where_rounding_made_a_difference():
    K, y = gaussian(30)
    skew = K + np.tril(np.full_like(K, 1e-14), -1)
    assert separability(K=skew, y=y).margin_bounds == separability(K=K, y=y).margin_bounds


GOOD = {"K": np.eye(3), "y": [0, 1, 1]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.eye(3)}, "either rows X or their kernel matrix K, got both"),
        ({"K": None}, "either rows X or their kernel matrix K, got none"),
        ({"K": np.ones((3, 2))}, r"square.*\(3, 2\)"),
        ({"K": np.array([[1, 0, 0], [0, 1, np.nan], [0, np.nan, 1]])}, "NaN at row 1, column 2"),
        ({"K": np.array([[1, 0, 0], [0, 1, 0.5], [0, 0.25, 1]])}, "0.5 at row 1, column 2 and 0.25 at row 2, column 1"),
        ({"K": np.diag([1.0, -1.0, 1.0])}, "-1 at row 1, column 1"),
        ({"K": np.array([[1.0, 2, 0], [2, 1, 0], [0, 0, 1]])}, "semi-definite: it has the eigenvalue -1,"),
        ({"K": np.full((3, 3), 2**60)}, r"K has integers beyond 2\^53"),
        ({"y": [0, 1]}, r"\[3, 2\]"),
        ({"y": None}, "labels y"),
        ({"K_error": -1.0}, "K_error"),
        ({"K_error": np.nan}, "K_error"),
        ({"K": None, "X": np.eye(3), "K_error": 1.0}, "K_error"),
    ],
)
def test_what_is_wrong_is_said(change, message):
    for function in (separability, mistake_bound):
        with pytest.raises(ValueError, match=message):
            function(**(GOOD | change))


def test_kernels_that_are_not_semi_definite_are_refused():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(40, 3)), np.arange(40) % 2
    with pytest.raises(ValueError, match="Use another kernel"):
        separability(K=sigmoid_kernel(X, gamma=1.0, coef0=-1.0) + 2.0, y=y)
    with pytest.raises(ValueError, match="coef is a hypothesis about rows"):
        mistake_bound(K=np.eye(3), y=[0, 1, 1], coef=[1.0, 2.0, 3.0])


# -- bounds on mistakes -------------------------------------------------------------------------------------------


def kernel_perceptron(K, y, fit_intercept, order, passes):
    """Mistakes of the plain rule on α, from zeros: a whole pass without one, or so many passes, end it."""
    n_classes = max(2, y.max() + 1)
    table, A, mistakes = K + fit_intercept, np.zeros((n_classes, len(y))), 0
    for _ in range(passes):
        before = mistakes
        for i in order:
            scores = A @ table[:, i]
            rival = max((r for r in range(n_classes) if r != y[i]), key=lambda r: scores[r])
            if scores[y[i]] <= scores[rival]:
                A[y[i], i] += 1
                A[rival, i] -= 1
                mistakes += 1
        if mistakes == before:
            break
    return mistakes


@BIAS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_novikoff_in_feature_space(n_classes, fit_intercept):
    for seed in range(4):
        K, y = gaussian(40, n_classes, seed=seed)
        result = mistake_bound(K=K, y=y, fit_intercept=fit_intercept)
        gamma = separability(K=K, y=y, fit_intercept=fit_intercept).augmented_margin
        R2 = (K.max() + fit_intercept) * (1 if n_classes == 2 else 2)
        assert result.theorem == "novikoff" and result.coef is None and result.check(K=K, y=y)
        assert result.bound == pytest.approx(R2 / gamma**2, rel=1e-6)
        order = np.random.default_rng(seed).permutation(len(y))
        assert kernel_perceptron(K, y, fit_intercept, order, 1000) <= result.bound


@BIAS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_pass_in_feature_space(n_classes, fit_intercept):
    """The same bounds as for explicit features, up to the search; never less than a perceptron does."""
    random = np.random.default_rng(1)
    for seed in range(3):
        X = random.integers(-3, 4, size=(60, 2)).astype(float)
        y = (X[:, 0] > 0) + (n_classes > 2) * (X[:, 1] > 0)
        y[:6] = (y[:6] + 1) % n_classes
        X, y = np.vstack([X, X[:1]]), np.r_[y, (y[0] + 1) % n_classes]
        Phi = squares(X)
        result = mistake_bound(K=Phi @ Phi.T, y=y, fit_intercept=fit_intercept)
        linear = mistake_bound(Phi, y, fit_intercept=fit_intercept)
        assert result.theorem in ("freund-schapire", "gentile", "n") and result.check(K=Phi @ Phi.T, y=y)
        assert result.bound == pytest.approx(linear.bound, rel=0.05)
        order = np.random.default_rng(seed).permutation(len(y))
        assert kernel_perceptron(Phi @ Phi.T, y, fit_intercept, order, 1) <= result.bound


def test_few_wrong_labels_cost_little():
    """Two far groups and a few points with two labels: far fewer mistakes than rows, and the formula is substituted."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2)) * 0.3 + np.where(np.arange(300) % 2, 2.0, -2.0)[:, np.newaxis]
    X, y = np.vstack([X, X[:2]]), np.r_[np.arange(300) % 2, 1, 0]
    K = rbf_kernel(X, gamma=0.1)
    result = mistake_bound(K=K, y=y)
    assert result.theorem != "n" and result.bound < 60
    scores = np.where(y == 1, 1, -1) * (K @ result.dual_coef + result.intercept)
    short, length = np.maximum(0, 1 - scores), result.dual_coef @ K @ result.dual_coef + result.intercept**2
    a, L, D = length, short.sum(), sqrt((short**2).sum())  # R² = 2
    expected = {"gentile": a + L + sqrt(2 * a * L + a * a), "freund-schapire": (sqrt(2 * length) + D) ** 2}
    assert result.bound == pytest.approx(expected[result.theorem], rel=1e-6)
    assert kernel_perceptron(K, y, True, np.arange(302), 1) <= result.bound
    for change in (
        {"bound": result.bound * 0.99},
        {"radius": result.radius * 0.99},
        {"margin": result.margin * 1.01},
        {"dual_coef": -result.dual_coef},
        {"intercept": result.intercept + 10},
        {"dual_coef": result.dual_coef[1:]},
        {"K_error": 1e-2},
        {"n_rows": 301},
        {"theorem": "novikoff"},
        {"coef": result.dual_coef},
    ):
        with pytest.raises(CertificateError):
            replace(result, **change).check(K=K, y=y)
    with pytest.raises(CertificateError, match="not rows X"):
        result.check(K, y)


@BIAS
def test_bounds_with_an_error_hold_for_the_true_kernel(fit_intercept):
    random = np.random.default_rng(7)
    for k in range(12):
        X, y = small(random, 2 + k % 2, most=12, d=2)
        Phi, error = squares(X), 1e-4
        truth, K = Phi @ Phi.T, noisy(Phi @ Phi.T, error, random)
        result, exact = (
            mistake_bound(K=t, y=y, fit_intercept=fit_intercept, K_error=e) for t, e in ((K, error), (truth, 0))
        )
        assert result.check(K=K, y=y)
        passes = 10**4 if result.theorem == "novikoff" else 1
        assert kernel_perceptron(truth, y, fit_intercept, range(len(y)), passes) <= result.bound
        if result.theorem == exact.theorem == "novikoff":
            assert result.bound >= exact.bound * (1 - 1e-9)


def test_all_points_zero():
    result = mistake_bound(K=np.zeros((4, 4)), y=[0, 1, 0, 1])
    assert (result.theorem, result.bound) == ("n", 4) and result.check(K=np.zeros((4, 4)), y=[0, 1, 0, 1])


# -- margins by a model -------------------------------------------------------------------------------------------


class Model(BaseEstimator):
    """A fitted model of a feature space."""

    def __init__(self, K, A, b, classes):
        self.A, self.b, self.classes_, self.K = np.atleast_2d(A), np.atleast_1d(b), np.array(classes), K

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return self.K is not None

    @property
    def dual_coef_(self):
        return self.A

    def decision_function(self, X):
        scores = X @ self.A.T + self.b
        return scores[:, 0] if len(self.A) == 1 else scores

    def feature_space_norm(self):
        return sqrt(sum(a @ self.K @ a for a in self.A))


class Voted(Model):
    @property
    def dual_coef_(self):
        raise AttributeError("votes")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_margins_by_a_model_of_a_feature_space(n_classes):
    K, y = gaussian(30, n_classes)
    names = np.array(["a", "b", "c"])
    result = separability(K=K, y=y)
    model = Model(K, result.dual_coef, result.intercept, names[:n_classes])
    found = margins(K, names[y], model)
    assert found.min() == pytest.approx(result.margin, rel=1e-9)
    assert found[result.support] == pytest.approx(result.margin, rel=1e-6)
    Phi = np.linalg.cholesky(K)
    np.testing.assert_allclose(found, margins(Phi, y, result.dual_coef @ Phi, result.intercept), rtol=1e-6)
    doubled = Model(K, 2 * result.dual_coef, 2 * np.array(result.intercept), names[:n_classes])
    np.testing.assert_allclose(margins(K, names[y], doubled), found, rtol=1e-12)


def test_models_without_one_hypothesis_have_no_margins():
    K, y = gaussian(10)
    with pytest.raises(ValueError, match="votes are those of many"):
        margins(K, y, Voted(K, np.ones(10), 0.0, [0, 1]))
    with pytest.raises(ValueError, match="not all zero"):
        margins(K, y, Model(K, np.zeros(10), 0.0, [0, 1]))
    with pytest.raises(ValueError, match="not fitted"):
        margins(K, y, Model(None, np.ones(10), 0.0, [0, 1]))
    with pytest.raises(ValueError, match="none of the classes"):
        margins(K, y + 1, Model(K, np.ones(10), 0.0, [0, 1]))


def test_the_result_cannot_be_changed_and_says_what_it_is():
    result = separability(K=np.eye(2), y=[0, 1])
    assert repr(result).startswith("<KernelSeparability: separable, margin=0.707")
    assert "coef" not in {field.name for field in fields(result)}
    with pytest.raises(AttributeError):
        result.margin = 1.0
