"""What a picture of margins shows, read from its artists; and what is said where matplotlib is missing."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from perceptrons import Perceptron
from perceptrons.plots import MarginsDisplay
from perceptrons.theory.margins import margins


def noisy(n=300):
    random = np.random.default_rng(1)
    X = random.normal(size=(n, 2))
    return X, np.where(X[:, 0] + 0.5 * random.normal(size=n) > 0, "yes", "no")


def labels(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def test_one_model_against_another(rendered):
    X, y = noisy()
    models = {"last": Perceptron(tol=0.05).fit(X, y), "logistic": LogisticRegression().fit(X, y)}
    display = MarginsDisplay.from_estimators(models, X, y)
    assert 0.0 in display.edges_ and set(display.zero_.get_xdata()) == {0.0}
    for (name, model), steps, label in zip(models.items(), display.steps_, labels(display), strict=False):
        signed = np.where(y == "yes", 1, -1) * model.decision_function(X) / np.linalg.norm(model.coef_)
        np.testing.assert_allclose(display.margins[name], signed)
        values, edges, _ = steps.get_data()
        assert values.sum() == pytest.approx(1)
        np.testing.assert_allclose(values[edges[1:] <= 0].sum(), np.mean(signed <= 0))
        wrong = np.count_nonzero(model.predict(X) != y)
        assert label.startswith(f"{name}: {wrong} of 300 misclassified ({wrong / 300:.2%})")
    assert len({steps.get_linestyle() for steps in display.steps_}) == 2  # told apart without colour
    assert "distance from the boundary" in display.ax_.get_xlabel() and display.ax_.get_ylabel() == "share of rows"
    rendered(display.figure_)


def test_a_margin_of_zero_is_drawn_among_the_mistakes():
    display = MarginsDisplay({"a": np.array([0.0, 0.0, 1.0, 2.0])}).plot()
    values, edges, _ = display.steps_[0].get_data()
    assert values[edges[1:] <= 0].sum() == 0.5 and "2 of 4 misclassified (50.00%)" in labels(display)[0]


def test_several_classes_and_models_without_weights(rendered):
    X, y = load_iris(return_X_y=True)
    model = Perceptron(readout="averaged", tol=0.01).fit(X, y)
    display = MarginsDisplay.from_estimator(model, X, y, name="iris")
    np.testing.assert_allclose(display.margins["iris"], margins(X, y, model))
    for kernel in (SVC(), Perceptron(readout="voted", tol=0.02)):
        kernel.fit(X, y)
        display = MarginsDisplay.from_estimator(kernel, X, y)
        found = next(iter(display.margins.values()))
        np.testing.assert_array_equal(found > 0, kernel.predict(X) == y)
        assert "not a distance" in display.ax_.get_xlabel()
    rendered(display.figure_)
    with pytest.raises(ValueError, match="are not distances"):
        MarginsDisplay.from_estimators({"line": model, "curve": SVC().fit(X, y)}, X, y)


def test_weights_of_pairs_of_classes_give_no_distances():
    X, y = load_iris(return_X_y=True)
    model = SVC(kernel="linear").fit(X, y)
    display = MarginsDisplay.from_estimator(model, X, y)
    scores = model.decision_function(X)
    rivals = np.where(np.eye(3, dtype=bool)[y], -np.inf, scores).max(axis=1)
    np.testing.assert_array_equal(display.margins["SVC"], scores[np.arange(150), y] - rivals)
    assert not display.distances and "not a distance" in display.ax_.get_xlabel()
    with pytest.raises(ValueError, match="pairs of classes"):
        MarginsDisplay.from_estimator(SVC(kernel="linear", decision_function_shape="ovo").fit(X, y), X, y)


def test_sparse_weights_are_distances():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    expected = margins(X, y, model)
    display = MarginsDisplay.from_estimator(model.sparsify(), sp.csr_matrix(X), y)
    np.testing.assert_allclose(display.margins["LogisticRegression"], expected)


def test_what_has_no_margins():
    X, y = noisy()
    model = Perceptron(tol=0.05).fit(X, y)
    with pytest.raises(ValueError, match="at least one estimator"):
        MarginsDisplay.from_estimators({}, X, y)
    with pytest.raises(NotFittedError):
        MarginsDisplay.from_estimator(Perceptron(), X, y)
    for some in (model, SVC().fit(X, y)):
        with pytest.raises(ValueError, match="label 'maybe' at row 3 of y is not one of the classes"):
            MarginsDisplay.from_estimator(some, X, [*y[:3], "maybe", *y[4:]])
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[300, 299\]"):
            MarginsDisplay.from_estimator(some, X, y[:-1])
    xor = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    with pytest.raises(ValueError, match="all weights of 'Perceptron' are 0"):
        MarginsDisplay.from_estimator(Perceptron(readout="last", shuffle=False).fit(*xor), *xor)


def test_few_rows_are_marked_one_by_one(rendered):
    X, y = noisy(6)
    display = MarginsDisplay.from_estimator(Perceptron(tol=0.1).fit(X, y), X, y)
    (marks,) = [line for line in display.ax_.lines if line.get_marker() == "|"]
    np.testing.assert_array_equal(marks.get_xdata(), display.margins["Perceptron"])
    rendered(display.figure_)


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "perceptrons\[plots\]"'):
        MarginsDisplay({"a": np.array([1.0, 2.0])}).plot()
