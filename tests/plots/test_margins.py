"""What a picture of margins shows, read from its artists; and what is said where matplotlib is missing."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris
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
        assert label.startswith(f"{name}: {wrong} of 300 rows wrong ({wrong / 300:.2%})")
    assert len({steps.get_linestyle() for steps in display.steps_}) == 2  # told apart without colour
    assert "distance from the boundary" in display.ax_.get_xlabel() and display.ax_.get_ylabel() == "share of rows"
    rendered(display.figure_)


def test_a_margin_of_zero_is_drawn_among_the_mistakes():
    display = MarginsDisplay({"a": np.array([0.0, 0.0, 1.0, 2.0])}).plot()
    values, edges, _ = display.steps_[0].get_data()
    assert values[edges[1:] <= 0].sum() == 0.5 and "2 of 4 rows wrong (50.00%)" in labels(display)[0]


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
        assert "no distance" in display.ax_.get_xlabel()
    rendered(display.figure_)
    with pytest.raises(ValueError, match="are no distances"):
        MarginsDisplay.from_estimators({"line": model, "curve": SVC().fit(X, y)}, X, y)


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
