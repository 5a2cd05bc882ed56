"""What a boundary picture shows, read from its artists."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from perceptrons import KernelPerceptron, Perceptron
from perceptrons.plots import BoundaryDisplay
from perceptrons.theory.margins import margins

BLOBS = make_blobs(80, centers=[[-2, -1], [2, 1.5]], cluster_std=0.9, random_state=3)


def noisy(n=300, d=2):
    """Rows of two classes that no line separates."""
    random = np.random.default_rng(1)
    X = random.normal(size=(n, d))
    return X, np.where(X[:, 0] + 0.5 * random.normal(size=n) > 0, "yes", "no")


def offsets(collection):
    return np.asarray(collection.get_offsets())


def test_boundary_band_arrow_and_closest_rows_of_separated_rows(rendered):
    X, y = BLOBS
    model = Perceptron().fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    w, b, length = model.coef_[0], model.intercept_[0], np.linalg.norm(model.coef_)
    gamma = margins(X, y, model).min()
    ends = display.boundary_.get_xydata()
    np.testing.assert_allclose(ends @ w + b, 0, atol=1e-9 * length)
    for edge, side in zip(display.band_, (-1, 1), strict=True):
        np.testing.assert_allclose((edge.get_xydata() @ w + b) / length, side * gamma)
    arrow = np.array([display.arrow_.U, display.arrow_.V]).ravel()
    assert arrow @ (ends[1] - ends[0]) == pytest.approx(0, abs=1e-9) and arrow @ w > 0
    assert display.ax_.get_aspect() == 1.0  # else the angle would not look right
    assert w @ offsets(display.arrow_)[0] + b == pytest.approx(0, abs=1e-9)
    distances = np.abs(X @ w + b) / length
    nearest = [np.flatnonzero(y == c)[distances[y == c].argmin()] for c in (0, 1)]
    assert display.closest.tolist() == nearest and display.margin == pytest.approx(gamma)
    np.testing.assert_array_equal(offsets(display.closest_), X[nearest])
    assert display.wrong_ is None
    for c, points in enumerate(display.points_):
        np.testing.assert_array_equal(offsets(points), X[y == c])
    marks = {points.get_paths()[0].vertices.tobytes() for points in display.points_}
    assert len(marks) == 2  # told apart without colour
    labels = [text.get_text() for text in display.legend_.get_texts()]
    assert {"0 (40)", "1 (40)", "boundary", "closest row of each class"} <= set(labels)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("feature 0", "feature 1")
    rendered(display.figure_)


def test_misclassified_rows_are_ringed_and_there_is_no_band():
    X, y = noisy()
    model = Perceptron(readout="pocket", tol=0.05).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    wrong = model.predict(X) != y
    assert wrong.any()
    np.testing.assert_array_equal(offsets(display.wrong_), X[wrong])
    assert display.band_ is None and display.closest_ is None and display.closest.size == 0
    assert display.ax_.get_title() == f"{wrong.sum()} of 300 rows misclassified"
    x, y_grid, (negative, positive) = display.regions
    grid = np.column_stack([x.ravel(), y_grid.ravel()])
    np.testing.assert_array_equal(positive.ravel() > 0, model.predict(grid) == "yes")
    np.testing.assert_array_equal(negative, -positive)
    assert len(display.regions_) == 2


def test_more_features_are_shown_in_the_plane_of_w_and_the_main_spread_across_it(rendered):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = Perceptron(readout="averaged", tol=0.01).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    w = model.coef_[0] / np.linalg.norm(model.coef_)
    np.testing.assert_allclose(display.points[:, 1], model.decision_function(X) / np.linalg.norm(model.coef_))
    rest = X - X.mean(axis=0)
    rest -= np.outer(rest @ w, w)
    main = np.linalg.svd(rest, full_matrices=False)[2][0]
    shown = display.points[:, 0] - display.points[:, 0].mean()
    np.testing.assert_allclose(np.abs(shown), np.abs(rest @ main), atol=1e-6)
    total = X.var(axis=0).sum()
    assert f"{100 * (rest @ main).var() / total:.0f} % of variance" in display.ax_.get_xlabel()
    assert f"{100 * (X @ w).var() / total:.0f} % of variance" in display.ax_.get_ylabel()
    np.testing.assert_allclose(display.boundary_.get_ydata(), 0, atol=1e-9)
    # Sparse rows give the same picture.
    sparse = BoundaryDisplay.from_estimator(model, sp.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.points, display.points, atol=1e-6)
    assert sparse.ax_.get_xlabel() == display.ax_.get_xlabel()
    rendered(display.figure_)


def test_several_classes_are_regions(rendered):
    X, y = load_iris(return_X_y=True)
    for columns in ([0, 2], [0, 1, 2, 3]):
        model = Perceptron(readout="averaged", tol=0.01).fit(X[:, columns], y)
        display = BoundaryDisplay.from_estimator(model, X[:, columns], y)
        assert len(display.regions_) == len(display.points_) == 3 and display.arrow_ is None
        np.testing.assert_array_equal(display.wrong, model.predict(X[:, columns]) != y)
        # Every row lies in the region of the class that is predicted for it, also where the plane is a projection.
        across, up, fields = display.regions
        column = np.abs(across[0][:, np.newaxis] - display.points[:, 0]).argmin(axis=0)
        line = np.abs(up[:, 0][:, np.newaxis] - display.points[:, 1]).argmin(axis=0)
        seen = np.array(fields)[:, line, column]
        clear = np.sort(seen, axis=0)[-1] > 0.05 * np.abs(seen).max()
        assert clear.sum() > 100
        np.testing.assert_array_equal(seen.argmax(axis=0)[clear], model.predict(X[:, columns])[clear])
    rendered(display.figure_)


@pytest.mark.parametrize("kernel", ["rbf", "voted", "pipeline", "pairs"])
def test_any_classifier_with_a_decision_function(kernel, rendered):
    X, y = noisy(120)
    if kernel == "pairs":
        y = np.where(X[:, 1] > 0.7, "up", y)
    model = {
        "rbf": SVC(),
        "voted": Perceptron(readout="voted", tol=0.05),
        "pipeline": make_pipeline(StandardScaler(), SVC(C=10)),
        "pairs": SVC(decision_function_shape="ovo"),
    }[kernel].fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    across, up, fields = display.regions
    predicted = model.predict(np.column_stack([across.ravel(), up.ravel()]))
    np.testing.assert_array_equal(model.classes_[np.argmax(fields, axis=0).ravel()], predicted)
    np.testing.assert_array_equal(offsets(display.wrong_), X[model.predict(X) != y])
    assert display.normal is display.arrow_ is display.band_ is None
    edge = np.concatenate([path.vertices for path in display.boundary_[0].get_paths()])
    if kernel == "rbf":
        assert np.abs(model.decision_function(edge)).max() < 0.05 * np.abs(model.decision_function(X)).max()
    rendered(display.figure_)


def test_where_regions_are_those_of_a_plane_only_it_is_said_so():
    X, y = load_iris(return_X_y=True)
    for model, sliced in ((SVC(), True), (Perceptron(readout="averaged", tol=0.01), False)):
        display = BoundaryDisplay.from_estimator(model.fit(X, y), X, y)
        assert display.sliced == sliced == ("plane" in display.legend_.get_title().get_text())
        assert "of variance" in display.ax_.get_xlabel() and "of variance" in display.ax_.get_ylabel()


def test_a_linear_model_of_another_library_and_names_of_a_data_frame():
    X, y = BLOBS
    frame = pd.DataFrame(X, columns=["width", "height"])
    model = LinearSVC().fit(frame, y)
    display = BoundaryDisplay.from_estimator(model, frame, y)
    np.testing.assert_allclose(display.boundary_.get_xydata() @ model.coef_[0] + model.intercept_, 0, atol=1e-9)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("width", "height")
    assert BoundaryDisplay.from_estimator(SVC().fit(frame, y), frame, y).arrow_ is None


def test_many_rows_are_thinned_and_few_are_not():
    random = np.random.default_rng(0)
    X = random.normal(size=(100_000, 2))
    y = (X @ [1.0, 2.0] + random.normal(size=len(X)) > 0).astype(int)
    display = BoundaryDisplay.from_estimator(Perceptron(max_iter=2).fit(X, y), X, y)
    assert sum(len(offsets(points)) for points in display.points_) == 5000
    assert all(points.get_rasterized() for points in display.points_)
    labels = " ".join(text.get_text() for text in display.legend_.get_texts())
    assert "2,500 drawn" in labels and "300 drawn" in labels
    few = BoundaryDisplay.from_estimator(Perceptron().fit(X[:5], [0, 1, 0, 1, 1]), X[:5], [0, 1, 0, 1, 1])
    assert sum(len(offsets(points)) for points in few.points_) == 5


def test_of_many_classes_some_are_listed(rendered):
    X, y = make_blobs(520, centers=26, random_state=0)
    display = BoundaryDisplay.from_estimator(Perceptron(readout="averaged", tol=0.1).fit(X, y), X, y)
    labels = [text.get_text() for text in display.legend_.get_texts()]
    assert labels[22:24] == ["22 (20)", "… 3 more classes"] and labels[-1] == "boundary"
    assert len(display.points_) == 26
    rendered(display.figure_)
    box = display.ax_.get_position()
    assert box.width > 0.5 and box.height > 0.6


@pytest.mark.parametrize("angle", np.linspace(0, 2 * np.pi, 12, endpoint=False))
def test_the_letter_of_the_weight_vector_is_inside_the_frame(angle):
    X, y = BLOBS
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    display = BoundaryDisplay.from_estimator(Perceptron().fit(X @ turn, y), X @ turn, y)
    display.figure_.draw_without_rendering()
    (letter,) = display.ax_.texts
    letter, frame = letter.get_window_extent(), display.ax_.get_window_extent()
    assert frame.x0 < letter.x0 < letter.x1 < frame.x1 and frame.y0 < letter.y0 < letter.y1 < frame.y1


@pytest.mark.parametrize("factors", [(1, 400), (1e6, 1), (1, 12), (1e6, 1, 1)])
def test_flat_rows_fill_the_picture_and_scales_that_do_not_compare_are_said_to_be_so(factors):
    X, y = BLOBS
    X = np.column_stack([X, X[:, 0] ** 2])[:, : len(factors)] * factors
    display = BoundaryDisplay.from_estimator(Perceptron(max_iter=20, tol=None).fit(X, y), X, y)
    assert display.arrow_ is None and display.ax_.get_aspect() == "auto"
    assert "different scale" in display.legend_.get_title().get_text()
    left, right, bottom, top = display.limits
    assert (np.ptp(display.points, axis=0) > 0.3 * np.array([right - left, top - bottom])).all()


def test_rows_that_are_not_flat_are_drawn_with_right_angles():
    X, y = BLOBS
    for factors in ((1, 1), (4, 1), (0, 1)):
        display = BoundaryDisplay.from_estimator(Perceptron().fit(X * factors, y), X * factors, y)
        assert display.ax_.get_aspect() == 1.0 and display.arrow_ is not None
        assert not display.legend_.get_title().get_text()


def test_one_feature_and_given_axes():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    _, ax = plt.subplots()
    model = Perceptron().fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y, ax=ax)
    assert display.ax_ is ax and display.figure_ is ax.figure
    np.testing.assert_allclose(display.boundary_.get_xdata(), -model.intercept_[0] / model.coef_[0, 0])
    assert len(ax.get_yticks()) == 0  # the second axis means nothing


def test_a_boundary_out_of_sight():
    X, y = BLOBS
    model = SVC().fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X[y == 0][:5], y[y == 0][:5])
    assert display.boundary_ == [] and len(display.regions_) == 1
    assert "outside of the picture" in display.legend_.get_title().get_text().replace("\n", " ")
    line = Perceptron().fit(X, y)
    far = X[y == 0][:5] - 100 * line.coef_
    assert BoundaryDisplay.from_estimator(line, far, y[y == 0][:5]).arrow_ is None
    assert BoundaryDisplay.from_estimator(line, X[:1], y[:1]).arrow_ is not None


def test_weights_that_are_all_zero_have_no_boundary(rendered):
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    model = Perceptron(readout="last", shuffle=False).fit(X, y)
    assert not model.coef_.any()
    display = BoundaryDisplay.from_estimator(model, X, y)
    assert display.flat and display.boundary_ == [] and display.normal is None
    assert "boundary" not in [text.get_text() for text in display.legend_.get_texts()]
    note = display.legend_.get_title().get_text().replace("\n", " ")
    assert note == "There is no boundary, because all weights are 0: every row is predicted as 0."
    assert display.ax_.get_title() == "no boundary (w = 0): 2 of 4 rows misclassified"
    drawn = np.concatenate([offsets(points) for points in display.points_])
    assert sorted(drawn.tolist()) == sorted(X.tolist())
    (region,) = display.regions_  # one class is predicted everywhere, and coloured
    assert region.get_facecolor()[0, :3].tolist() == display.points_[0].get_facecolor()[0, :3].tolist()
    assert (display.regions[2][0] > 0).all() and (model.predict(X) == 0).all()
    left, right, bottom, top = display.limits
    assert left < 0 < 1 < right and bottom < 0 < 1 < top
    rendered(display.figure_)


def test_a_kernel_whose_coefficients_are_all_zero_and_classes_without_weights():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    kernel = KernelPerceptron(kernel="linear", shuffle=False).fit(0 * X, y)
    several = Perceptron(max_iter=1, shuffle=False).fit(0 * X, [0, 1, 2, 0])
    for model in (kernel, several):
        display = BoundaryDisplay.from_estimator(model, X, y)
        (winner,) = set(model.predict(X).tolist())
        assert len(display.regions_) == 1 and (display.regions[2][winner] > 0).all()
        assert f"predicted as {winner}" in display.legend_.get_title().get_text().replace("\n", " ")


@pytest.mark.parametrize("same", [True, False])
def test_two_rows_and_rows_that_are_all_the_same(same, rendered):
    X, y = (np.ones((10, 2)), np.arange(10) % 2) if same else (np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([0, 1]))
    display = BoundaryDisplay.from_estimator(Perceptron().fit(X, y), X, y)
    left, right, bottom, top = display.limits
    assert left < X[:, 0].min() <= X[:, 0].max() < right and bottom < X[:, 1].min() <= X[:, 1].max() < top
    rendered(display.figure_)


def test_what_cannot_be_drawn():
    X, y = BLOBS
    with pytest.raises(NotFittedError, match="Perceptron instance is not fitted"):
        BoundaryDisplay.from_estimator(Perceptron(), X, y)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[80, 79\]"):
        BoundaryDisplay.from_estimator(Perceptron().fit(X, y), X, y[:-1])
    with pytest.raises(TypeError, match="StandardScaler has no decision_function"):
        BoundaryDisplay.from_estimator(StandardScaler(), X, y)
    with pytest.raises(ValueError, match=r"label 7 at row [0-9]+ of y is not one of the classes"):
        BoundaryDisplay.from_estimator(Perceptron().fit(X, y), X, np.where(y == 1, 7, 0))


def test_kernels_have_a_curved_band_through_the_closest_rows():
    X, y = make_moons(60, noise=0.05, random_state=0)
    model = KernelPerceptron(gamma=2.0, rule="margin").fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    margin = margins(X, y, model)
    assert display.margin == pytest.approx(margin.min()) and "feature space" in display.ax_.get_title()
    for row in display.closest:  # each has the smallest margin of its class
        assert margin[row] == pytest.approx(margin[y == y[row]].min())
    for side, contour in zip((-1, 1), display.band_, strict=True):
        line = np.concatenate([path.vertices for path in contour.get_paths()])
        scores = model.decision_function(line) / model.feature_space_norm()
        np.testing.assert_allclose(scores, side * margin.min(), atol=0.02 * np.abs(margin).max())
    assert BoundaryDisplay.from_estimator(KernelPerceptron(readout="voted").fit(X, y), X, y).band_ is None


def test_a_kernel_matrix_has_no_plane():
    X, y = make_moons(30, random_state=0)
    model = KernelPerceptron(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="cannot be drawn in a plane"):
        BoundaryDisplay.from_estimator(model, X @ X.T, y)
