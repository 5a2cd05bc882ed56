"""Margins are signed distances, and the constant appended to every row turns an offset into one more weight."""

from math import sqrt

import naive_theory
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import RidgeClassifier

from perceptrons import Perceptron
from perceptrons.theory import augment, margins, separability

SEEDS = st.integers(0, 10**6)
property_test = settings(max_examples=30, deadline=None)
X = np.array([[3.0, 4.0], [-3.0, -4.0], [8.0, -6.0], [0.0, 0.0]])
y = np.array([1, 0, 1, 0])


def problem(seed, n_classes=2):
    """Rows, labels, weights and intercepts of small integers, nothing of them separable."""
    random = np.random.default_rng(seed)
    n, d = random.integers(n_classes, 12), random.integers(1, 5)
    rows = random.integers(-5, 6, size=(n, d)).astype(float)
    labels = np.r_[range(n_classes), random.integers(0, n_classes, size=n - n_classes)]
    lines = 1 if n_classes == 2 else n_classes
    coef = random.integers(-5, 6, size=(lines, d)).astype(float)
    coef[0, 0] = 3.0  # not all weights are 0
    return rows, labels, coef, random.integers(-5, 6, size=lines).astype(float)


# -- margins ------------------------------------------------------------------------------------------------------


def test_a_margin_is_the_distance_from_the_boundary_and_negative_on_the_wrong_side():
    """w = (3, 4) is 5 long; the boundary 3a + 4b + 5 = 0 is 1 away from the origin."""
    np.testing.assert_allclose(margins(X, y, [3.0, 4.0]), [5, 5, 0, 0], atol=1e-15)
    np.testing.assert_allclose(margins(X, y, [3.0, 4.0], 5.0), [6, 4, 1, -1], rtol=1e-15)
    np.testing.assert_allclose(margins(X, y, [[3.0, 4.0]], [5.0]), [6, 4, 1, -1], rtol=1e-15)


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [1, 2], [False, True], [-1.0, 1.0]])
def test_the_larger_label_is_positive(labels):
    np.testing.assert_allclose(margins(X, np.array(labels)[y], [3.0, 4.0], 5.0), [6, 4, 1, -1], rtol=1e-15)
    np.testing.assert_allclose(margins(X, np.array(labels)[1 - y], [3.0, 4.0], 5.0), [-6, -4, -1, 1], rtol=1e-15)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@given(seed=SEEDS, labels=st.sampled_from([range(4), "abcd"]))
@property_test
def test_margins_are_scores_over_the_length_of_all_weights(n_classes, seed, labels):
    """y·(w·x + b)/‖w‖; several classes: (score_y − max of the others)/‖W‖_F."""
    rows, codes, coef, intercept = problem(seed, n_classes)
    named = np.array(list(labels))[codes]
    exact = naive_theory.scores(rows, named, coef, intercept)
    expected = [float(score) / sqrt(naive_theory.sq_length(coef)) for score in exact]
    np.testing.assert_allclose(margins(rows, named, coef, intercept), expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(
        margins(sparse.csr_matrix(rows), named, coef, intercept), expected, rtol=1e-13, atol=1e-13
    )
    np.testing.assert_allclose(margins(rows.astype(np.float32), named, coef, intercept), expected, rtol=1e-6, atol=1e-6)


def test_one_intercept_for_several_classes_moves_no_margin():
    rows, labels, coef, _ = problem(3, 3)
    np.testing.assert_allclose(margins(rows, labels, coef, 7.0), margins(rows, labels, coef), atol=1e-12)


@pytest.mark.parametrize("scale", [0.25, 3.0, 1e200, 1e-200])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_scale_of_a_hypothesis_does_not_matter(n_classes, scale):
    """Not even where the square of a weight leaves the range of floats."""
    rows, labels, coef, intercept = problem(5, n_classes)
    expected = margins(rows, labels, coef, intercept)
    np.testing.assert_allclose(margins(rows, labels, scale * coef, scale * intercept), expected, rtol=1e-12)
    if n_classes == 2:
        np.testing.assert_allclose(margins(rows, labels, -scale * coef, -scale * intercept), -expected, rtol=1e-12)


@pytest.mark.parametrize("readout", ["last", "averaged"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_fitted_model_stands_in_place_of_its_weights(n_classes, readout):
    rows, labels, _, _ = problem(7, n_classes)
    named = np.array(["a", "b", "c"])[labels]
    model = Perceptron(readout=readout, max_iter=20, random_state=0).fit(rows, named)
    np.testing.assert_allclose(
        margins(rows, named, model), margins(rows, named, model.coef_, model.intercept_), rtol=1e-12, atol=1e-12
    )


def test_any_linear_model_will_do():
    model = RidgeClassifier().fit(X, y)
    expected = np.where(y == 1, 1, -1) * model.decision_function(X) / np.linalg.norm(model.coef_)
    np.testing.assert_allclose(margins(X, y, model), expected, rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_classes_are_those_of_the_model(n_classes):
    """Rows of some classes only have the margins they have among all rows."""
    rows, labels, _, _ = problem(9, n_classes)
    model = Perceptron(max_iter=20, random_state=0).fit(rows, labels)
    expected = margins(rows, labels, model)
    for label in range(n_classes):
        chosen = labels == label
        np.testing.assert_allclose(margins(rows[chosen], labels[chosen], model), expected[chosen], atol=1e-12)


def test_a_model_without_weights_has_no_margins():
    with pytest.raises(ValueError, match="not fitted"):
        margins(X, y, Perceptron())
    voted = Perceptron(readout="voted").fit(X, y)
    with pytest.raises((ValueError, TypeError, AttributeError), match="coef"):
        margins(X, y, voted)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.array([[0.0, 1], [2, 3], [4, np.nan], [6, 7]])}, "NaN at row 2, column 1"),
        ({"X": sparse.csr_matrix(np.array([[0.0, 1], [2, 3], [4, np.inf], [6, 7]]))}, "row 2, column 1"),
        ({"y": y[:3]}, r"\[4, 3\]"),
        ({"coef": [1.0, 2.0, 3.0]}, "coef"),
        ({"coef": np.ones((3, 2))}, "coef"),
        ({"coef": [1.0, np.nan]}, "coef"),
        ({"coef": [0.0, 0.0]}, "coef"),
        ({"intercept": [1.0, 2.0]}, "intercept"),
        ({"intercept": np.inf}, "intercept"),
    ],
)
def test_what_is_wrong_is_said(change, message):
    given = {"X": X, "y": y, "coef": [3.0, 4.0]} | change
    with pytest.raises(ValueError, match=message):
        margins(**given)


# -- the constant appended ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [1.0, -2.5])
def test_augment_appends_the_constant(dtype, value):
    rows = X.astype(dtype)
    expected = np.column_stack([rows, np.full(len(rows), value)])
    dense = augment(rows, value)
    assert dense.dtype == dtype
    np.testing.assert_array_equal(dense, expected)
    for layout in (sparse.csr_matrix, sparse.csr_array):
        csr = augment(layout(rows), value)
        assert csr.format == "csr"
        assert csr.dtype == dtype
        assert csr.shape == expected.shape
        np.testing.assert_array_equal(csr.toarray(), expected)
    np.testing.assert_array_equal(rows, X)


def test_the_constant_is_one_unless_told():
    np.testing.assert_array_equal(augment(X), augment(X, 1.0))
    np.testing.assert_array_equal(augment([[1, 2], [3, 4]]), [[1, 2, 1], [3, 4, 1]])


def test_augment_leaves_its_input_alone():
    rows = X.copy()
    rows.flags.writeable = False
    out = augment(rows)
    out[:] = 9.0
    np.testing.assert_array_equal(rows, X)
    csr = sparse.csr_matrix(X)
    out = augment(csr)
    out.data[:] = 9.0
    np.testing.assert_array_equal(csr.toarray(), X)


@given(seed=SEEDS, value=st.sampled_from([1.0, -1.0, 0.25, 8.0]))
@property_test
def test_separable_with_an_offset_is_separable_through_the_origin_after_augment(seed, value):
    """Either way round: an offset b is the weight b/value of the constant."""
    random = np.random.default_rng(seed)
    d, n = random.integers(1, 4), random.integers(2, 9)
    rows = random.integers(-2, 3, size=(n, d)).astype(float)
    labels = np.r_[0, 1, random.integers(0, 2, size=n - 2)]
    plain = separability(rows, labels)
    constant = separability(augment(rows, value), labels, fit_intercept=False)
    assert plain.separable == constant.separable
    if plain.separable:
        w, b = constant.coef[:-1], constant.coef[-1] * value
        assert min(naive_theory.scores(rows, labels, w, b)) > 0
        if value == 1.0:
            assert plain.augmented_margin == pytest.approx(constant.margin, rel=1e-6)
            assert plain.augmented_margin <= constant.margin_bounds[1]


def test_an_offset_is_needed_for_two_rows_on_one_side_of_the_origin():
    rows, labels = np.array([[1.0], [2.0]]), [0, 1]
    assert separability(rows, labels).separable
    assert not separability(rows, labels, fit_intercept=False).separable
    assert separability(augment(rows), labels, fit_intercept=False).separable


def test_weights_that_compare_pairs_of_classes_are_no_weights_of_classes():
    """A support vector machine of three classes has three lines, one for each pair."""
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC, LinearSVC

    random = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = random.normal(size=(60, 2)) + np.array([[0, 0], [6, 0], [0, 6]])[y]
    with pytest.raises(ValueError, match="one line for each class"):
        margins(X, y, SVC(kernel="linear").fit(X, y))
    assert (margins(X, y, LinearSVC().fit(X, y)) > 0).mean() > 0.9
    with pytest.raises(ValueError, match="pass its last step"):
        margins(X, y, make_pipeline(LinearSVC()).fit(X, y))


@pytest.mark.parametrize("value", [1e-50, 1e50])
def test_a_constant_must_survive_in_the_type_of_the_rows(value):
    assert augment(np.eye(2), value)[0, 2] == value
    with pytest.raises(ValueError, match="even when rounded to float32"):
        augment(np.eye(2, dtype=np.float32), value)
