"""What a picture of mistakes shows, read from its artists."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from perceptrons import Perceptron
from perceptrons.plots import MistakesDisplay


def noisy(n=300):
    random = np.random.default_rng(1)
    X = random.normal(size=(n, 5))
    return X, (X[:, 0] + random.normal(size=n) > 0).astype(int)


def note(display):
    return display.legend_.get_title().get_text()


def test_training_and_held_out_error_together(rendered):
    X, y = noisy()
    model = Perceptron(tol=None, max_iter=8).fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    display = MistakesDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.mistakes_.get_xdata(), np.arange(1, 9))
    np.testing.assert_allclose(display.mistakes_.get_ydata(), model.mistakes_ / 200)
    np.testing.assert_array_equal(display.held_out_.get_ydata(), model.validation_errors_)
    assert display.held_out_.get_linestyle() != display.mistakes_.get_linestyle()
    assert display.kept_ is None and not note(display)
    assert display.ax_.get_ylim()[0] == 0 and display.ax_.get_xlabel() == "pass"
    assert len(display.legend_.get_texts()) == 2
    rendered(display.figure_)


def test_without_held_out_rows_it_is_said_so(rendered):
    display = MistakesDisplay.from_estimator(Perceptron(max_iter=5, tol=None).fit(*noisy()))
    assert display.held_out_ is None and "No rows were held out" in note(display)
    rendered(display.figure_)


def test_early_stopping_marks_what_was_kept_and_counts_have_an_axis_of_their_own(rendered):
    X, y = noisy()
    model = Perceptron(early_stopping=True, tol=None, max_iter=30).fit(X, y)
    display = MistakesDisplay.from_estimator(model, count=True)
    np.testing.assert_array_equal(display.mistakes_.get_ydata(), model.mistakes_)
    assert display.held_out_ax_ is not display.ax_ and display.held_out_.axes is display.held_out_ax_
    (kept,), (error,) = display.kept_.get_data()
    assert error == model.validation_errors_.min() == model.validation_errors_[kept - 1]
    assert display.n_rows == 270
    rendered(display.figure_)


def test_a_warm_start_and_a_stream_count_their_own_rows():
    X, y = noisy()
    model = Perceptron(warm_start=True, max_iter=2, tol=None).fit(X, y).fit(X[:100], y[:100])
    assert MistakesDisplay.from_estimator(model).n_rows == 100
    display = MistakesDisplay.from_estimator(Perceptron().partial_fit(X, y))
    assert display.n_rows == 300 and display.ax_.get_title().endswith("in one pass")


def test_very_many_passes_are_drawn_on_a_logarithmic_axis():
    display = MistakesDisplay(mistakes=np.arange(1000)[::-1], n_rows=2000, validation_errors=np.empty(0)).plot()
    assert display.ax_.get_xscale() == "log" and display.mistakes_.get_marker() == "None"


def test_what_has_no_mistakes_to_draw():
    with pytest.raises(NotFittedError):
        MistakesDisplay.from_estimator(Perceptron())
    with pytest.raises(TypeError, match="LogisticRegression does not count its mistakes"):
        MistakesDisplay.from_estimator(LogisticRegression().fit(*noisy()))
