"""What a picture of the proof shows, read from its artists."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from perceptrons import Perceptron
from perceptrons.plots import ProofDisplay
from perceptrons.theory.trace import trace


def rows(n=200, gap=0.25, flipped=0):
    """Rows of two classes with a gap between them; some labels may be flipped."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 4))
    score = X @ [1.0, -1.0, 2.0, 0.0] + 0.3
    X, y = X[np.abs(score) > gap], score[np.abs(score) > gap] > 0
    y[:flipped] = ~y[:flipped]
    return X, y


def slope(line):
    x, y = line.get_data()
    assert x[0] == y[0] == 0
    return y[-1] / x[-1]


@pytest.mark.parametrize("rule", ["perceptron", "margin"])
def test_both_halves_and_why_it_must_stop(rule, rendered):
    run = trace(Perceptron(rule=rule), *rows())
    display = ProofDisplay.from_trace(run)
    assert len(display.axes_) == 3 and display.ax_ is display.axes_[0]
    for line, values in (
        (display.progress_, run.progress),
        (display.sq_norm_, run.sq_norm),
        (display.cosine_, run.cosine),
    ):
        np.testing.assert_array_equal(line.get_xdata(), run.update)
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert slope(display.progress_bound_) == pytest.approx(run.margin)
    assert slope(display.sq_norm_bound_) == pytest.approx(run.growth)
    assert run.growth == pytest.approx(run.radius**2 + (2.0 if rule == "margin" else 0.0))
    k, bound = display.cosine_bound_.get_data()
    np.testing.assert_allclose(bound, np.sqrt(k) * run.margin / np.sqrt(run.growth))
    # k·γ meets √k·R where the cosine would be 1: there is the line that no run crosses.
    meet = display.limit_.get_xdata()[0]
    assert bound[-1] == pytest.approx(1) and k[-1] == pytest.approx(meet)
    assert meet * run.margin == pytest.approx(np.sqrt(meet * run.growth)) and int(meet) == run.max_updates
    assert display.end_.get_xdata()[0] == run.n_updates <= meet
    assert display.tol_ is display.relative_bound_ is None
    assert all(ax.get_xlabel() and ax.get_ylabel() and ax.get_legend() for ax in display.axes_)
    styles = {line.get_linestyle() for line in (display.progress_, display.progress_bound_)}
    assert len(styles) == 2  # told apart without colour
    rendered(display.figure_)


def test_rules_without_the_proof_are_drawn_without_bounds_and_it_is_said_why():
    run = trace(Perceptron(rule="pa1"), *rows())
    display = ProofDisplay.from_trace(run)
    assert display.progress_bound_ is display.sq_norm_bound_ is display.cosine_bound_ is display.limit_ is None
    note = display.ax_.get_legend().get_title().get_text()
    assert note.replace("\n", " ") == run.reason and "not for PA1" in note
    assert not any("must" in ax.get_title() for ax in display.axes_)


def test_rows_without_a_separator_show_how_the_possible_margin_falls(rendered):
    run = trace(Perceptron(tol=0.02), *rows(flipped=20))
    display = ProofDisplay.from_trace(run)
    assert display.axes_ == [display.ax_] and display.progress_ is None
    np.testing.assert_array_equal(display.relative_bound_.get_ydata(), run.relative_bound)
    k, guide = display.guide_.get_data()
    np.testing.assert_allclose(guide, 1 / np.sqrt(k), rtol=1e-9)  # ‖w‖ ≤ √k·R, Στ = k
    assert set(display.tol_.get_ydata()) == {0.02}
    x, y = display.end_.get_data()
    assert x[0] == run.n_updates and y[0] == run.relative_bound[-1] <= 0.02
    assert "gave up" in display.end_.get_label()
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    rendered(display.figure_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_ratio_of_zero_is_drawn_at_the_lower_edge(rendered):
    xor = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    run = trace(Perceptron(shuffle=False, n_iter_no_change=1), *xor)
    assert run.relative_bound[-1] == 0
    display = ProofDisplay.from_trace(run)
    bottom, ratio = display.ax_.get_ylim()[0], display.relative_bound_.get_ydata()
    np.testing.assert_array_equal(ratio[:-1], run.relative_bound[:-1])
    assert 0 < ratio[-1] == display.end_.get_ydata()[0] == bottom < run.tol and not display.end_.get_clip_on()
    assert "lower edge are 0" in display.ax_.get_legend().get_title().get_text().replace("\n", " ")
    rendered(display.figure_)


def test_one_update(rendered):
    run = trace(Perceptron(fit_intercept=False), np.array([[-1.0, 0.0], [1.0, 0.0]]), [0, 1])
    display = ProofDisplay.from_trace(run)
    assert run.n_updates == 1 and display.limit_.get_label().startswith("proved: at most 1 update,")
    rendered(display.figure_)
    for ax in display.axes_:
        low, high = ax.get_xlim()
        ticks = [tick for tick in ax.get_xticks() if low <= tick <= high]
        assert 1 in ticks and all(tick == int(tick) for tick in ticks)


def test_a_thinned_trace_is_said_to_be_one():
    run = trace(Perceptron(tol=0.02), *rows(flipped=20), limit=10)
    display = ProofDisplay.from_trace(run)
    assert f"one in {run.stride} is drawn" in display.ax_.get_xlabel() and run.stride > 1


def test_given_axes_and_what_cannot_be_drawn():
    X, y = rows()
    run = trace(Perceptron(), X, y)
    axes = plt.subplots(1, 3)[1]
    assert ProofDisplay.from_trace(run, ax=axes).axes_ == list(axes)
    table = plt.subplots(1, 3, squeeze=False)[1]
    assert ProofDisplay.from_trace(run, ax=table).axes_ == list(table[0])
    with pytest.raises(TypeError, match=r"takes a Trace, made by perceptrons\.theory\.trace, got Perceptron"):
        ProofDisplay.from_trace(run.model)
    with pytest.raises(ValueError, match="needs 3 axes, got 1"):
        ProofDisplay.from_trace(run, ax=axes[0])
    with pytest.raises(ValueError, match="no update"):
        ProofDisplay.from_trace(
            trace(Perceptron(), X, y, coef_init=100 * run.model.coef_, intercept_init=100 * run.model.intercept_)
        )
    flipped = rows(flipped=20)
    with pytest.raises(ValueError, match="nothing to draw"):
        ProofDisplay.from_trace(trace(Perceptron(init="random", max_iter=3), *flipped))
