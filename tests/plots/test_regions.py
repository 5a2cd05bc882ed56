"""Which class is predicted where: regions of linear and other models, in the plane that is drawn."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from perceptrons import Perceptron
from perceptrons.plots import BoundaryDisplay
from perceptrons.plots.plane import choose
from perceptrons.plots.regions import fields, grid, weights


def test_regions_of_a_linear_model_are_computed_in_the_plane():
    X, y = load_iris(return_X_y=True)
    model = Perceptron(readout="averaged", tol=0.01).fit(X, y)
    names = [f"feature {j}" for j in range(4)]
    plane = choose(X, names, model.coef_, model.intercept_, 3)
    across, up = grid((-2.0, 2.0, -1.0, 1.0))
    scores = model.decision_function(plane.lift(np.column_stack([across.ravel(), up.ravel()])))
    projected = fields(model, plane, across, up, model.coef_, model.intercept_, X)
    lifted = fields(model, plane, across, up, None, None, X)
    for c in range(3):
        expected = scores[:, c] - np.delete(scores, c, axis=1).max(axis=1)
        np.testing.assert_allclose(projected[c].ravel(), expected, atol=1e-9 * np.abs(scores).max())
        np.testing.assert_allclose(lifted[c].ravel(), expected, atol=1e-9 * np.abs(scores).max())


@pytest.mark.parametrize("straight", [True, False])
def test_many_features_take_little_memory(straight):
    random = np.random.default_rng(0)
    n, d = (300, 5_000) if straight else (20, 2_000)
    X = sp.random(n, d, 0.01, format="csr", random_state=0)
    y = random.integers(4, size=n)
    model = (Perceptron(readout="averaged", max_iter=3) if straight else SVC()).fit(X, y)
    tracemalloc.start()
    try:
        BoundaryDisplay.from_estimator(model, X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.2 * 8 * 150**2 * d  # all points of the grid as dense rows


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_weights_of_pairs_of_classes_are_not_taken_for_those_of_classes(kind, shape):
    X, y = load_iris(return_X_y=True)
    model = SVC(kernel="linear", decision_function_shape=shape).fit(kind(X), y)
    assert model.coef_.shape == (3, 4)
    assert weights(model, kind(X)) == (None, None)
    display = BoundaryDisplay.from_estimator(model, kind(X), y)
    assert display.sliced and "1st principal component, " in display.ax_.get_xlabel()
    plane = choose(X, list("abcd"), None, None, 3)
    across, up, found = display.regions
    rows = plane.lift(np.column_stack([across.ravel(), up.ravel()]))
    agree = np.argmax(found, axis=0).ravel() == model.predict(kind(rows))
    assert agree.mean() > 0.999


def test_sparse_weights():
    X, y = load_iris(return_X_y=True)
    X = sp.csr_matrix(X)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    dense = BoundaryDisplay.from_estimator(model, X, y)
    sparse = BoundaryDisplay.from_estimator(model.sparsify(), X, y)
    np.testing.assert_allclose(sparse.regions[2], dense.regions[2], atol=1e-12)
    assert not sparse.sliced
    two = SVC(kernel="linear").fit(X, y == 0)
    assert sp.issparse(two.coef_) and BoundaryDisplay.from_estimator(two, X, y == 0).normal is not None
