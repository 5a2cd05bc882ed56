"""What all pictures share: legends that fit, colours of their own for many classes, dark backgrounds, odd names."""

import warnings
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from sklearn.datasets import load_iris, make_blobs

from perceptrons import KernelPerceptron, Perceptron
from perceptrons.plots import BoundaryDisplay, MarginsDisplay, MistakesDisplay, ProofDisplay, palette, style
from perceptrons.theory import trace

BLOBS = make_blobs(80, centers=[[-2, -1], [2, 1.5]], cluster_std=0.9, random_state=3)
IRIS = load_iris(return_X_y=True)


def not_separable():
    X = np.random.default_rng(0).normal(size=(200, 4))
    return X, (X[:, 0] > 0) ^ (np.arange(200) < 20)


def boundary(ax=None):
    return BoundaryDisplay.from_estimator(Perceptron(max_iter=10, tol=None).fit(*IRIS), *IRIS, ax=ax)


def line(ax=None):
    return BoundaryDisplay.from_estimator(Perceptron().fit(*BLOBS), *BLOBS, ax=ax)


def margins(ax=None):
    return MarginsDisplay.from_estimator(Perceptron(max_iter=10, tol=None).fit(*IRIS), *IRIS, ax=ax)


def mistakes(ax=None):
    return MistakesDisplay.from_estimator(Perceptron(max_iter=10, tol=None).fit(*IRIS), ax=ax)


def counts(ax=None):
    return MistakesDisplay.from_estimator(Perceptron(early_stopping=True).fit(*not_separable()), count=True, ax=ax)


def ratio(ax=None):
    return ProofDisplay.from_trace(trace(Perceptron(tol=0.02), *not_separable()), ax=ax)


KINDS = (boundary, line, margins, mistakes, counts, ratio)


def inside(box, frame, slack=1.0):
    """Whether a box is inside a frame, in pixels."""
    return (
        frame.x0 - slack <= box.x0
        and frame.y0 - slack <= box.y0
        and box.x1 <= frame.x1 + slack
        and box.y1 <= frame.y1 + slack
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", [None, "tight", "constrained"])
@pytest.mark.parametrize("shape, size", [((1, 3), (13.0, 4.0)), ((2, 2), (8.0, 7.0)), ((2, 2), None)])
def test_in_given_axes_the_legend_is_inside_of_them(kind, layout, shape, size):
    figure, axes = plt.subplots(*shape, figsize=size, layout=layout)
    display = kind(ax=axes.ravel()[0])
    assert display.ax_ is axes.ravel()[0] and display.figure_ is figure
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.draw_without_rendering()
    legend = display.ax_.get_legend()
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts and all(texts)
    # A layout made later may shrink the axes a little.
    slack = 1.0 if layout is None else 0.1 * display.ax_.get_window_extent().height
    assert inside(legend.get_window_extent(), display.ax_.get_window_extent(), slack)


@pytest.mark.parametrize("kind", [margins, mistakes, counts, ratio])
def test_in_given_axes_curves_end_below_the_legend(kind):
    figure, axes = plt.subplots(1, 3, figsize=(13.0, 4.0))
    display = kind(ax=axes[1])
    figure.draw_without_rendering()
    floor = display.ax_.get_legend().get_window_extent().y0
    lines = [line for ax in figure.axes for line in ax.lines if len(line.get_xdata()) > 2 and line.get_marker() != "|"]
    for each in lines:
        top = np.nanmax(each.get_transform().transform(each.get_xydata())[:, 1])
        assert top <= floor + 1
    for patch in display.ax_.patches:
        assert patch.get_window_extent().y1 <= floor + 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_in_a_new_figure_the_legend_is_outside_of_the_axes_and_inside_of_the_figure(kind):
    display = kind()
    display.figure_.draw_without_rendering()
    legend, axes = display.ax_.get_legend().get_window_extent(), display.ax_.get_window_extent()
    assert inside(legend, display.figure_.bbox) and inside(display.ax_.title.get_window_extent(), display.figure_.bbox)
    assert legend.x0 >= axes.x1 or legend.y1 <= axes.y0


def test_legends_of_the_three_parts_of_a_proof_do_not_meet():
    display = ProofDisplay.from_trace(trace(Perceptron(), *BLOBS))
    display.figure_.draw_without_rendering()
    boxes = [ax.get_legend().get_window_extent() for ax in display.axes_]
    titles = [ax.title.get_window_extent() for ax in display.axes_]
    for row in (boxes, titles):
        assert all(inside(box, display.figure_.bbox) for box in row)
        assert all(left.x1 <= right.x0 for left, right in pairwise(row))


@pytest.mark.parametrize("n", [10, 20])
def test_every_class_has_its_own_colour_and_neighbours_have_other_marks(n):
    X, y = make_blobs(10 * n, centers=n, center_box=(-20, 20), cluster_std=0.5, random_state=0)
    display = BoundaryDisplay.from_estimator(Perceptron(readout="averaged", max_iter=30, tol=None).fit(X, y), X, y)
    colours = {tuple(points.get_facecolor()[0]) for points in display.points_}
    marks = [points.get_paths()[0].vertices.tobytes() for points in display.points_]
    assert len(colours) == n and len(set(marks)) == min(n, len(palette.MARKS))
    listed = [text.get_text() for text in display.legend_.get_texts()]
    assert [f"{c} (10)" for c in range(n)] == listed[:n]


def test_colours_are_told_apart():
    colours = np.array([to_rgb(palette.colour(number)) for number in range(40)])
    apart = np.linalg.norm(palette._perceived(colours)[:, np.newaxis] - palette._perceived(colours), axis=2)
    np.fill_diagonal(apart, 1.0)
    assert apart[:12, :12].min() > 0.1 and apart[:20, :20].min() > 0.08 and apart.min() > 0.05
    assert len({palette.colour(number) for number in range(800)}) == 800


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_lines_are_seen_on_a_dark_background(kind):
    with plt.style.context("dark_background"):
        display = kind()
    drawn = [line.get_color() for line in display.ax_.lines if line.get_linestyle() != "None" and len(line.get_xdata())]
    for colour in drawn:
        assert max(to_rgb(colour)) > 0.6
    assert style.ink(display.ax_) == style.LIGHT and style.paper(display.ax_) == (0.0, 0.0, 0.0)
    assert style.ink(plt.subplots()[1]) == style.DARK


def test_names_with_signs_that_matplotlib_reads_and_very_long_names(rendered):
    X, y = BLOBS
    long = "a name that somebody has copied from a spreadsheet, "
    for names in (["_hidden", "$x_{$"], [long + "one", long + "two"]):
        labels = np.array(names)[y]
        frame = pd.DataFrame(X, columns=["$a_{$", "_c"])
        display = BoundaryDisplay.from_estimator(Perceptron().fit(frame, labels), frame, labels)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rendered(display.figure_)
        texts = [text.get_text() for text in display.legend_.get_texts()]
        assert texts[2] == "boundary" and texts[0] != texts[1] and all("(40)" in text for text in texts[:2])
        assert display.ax_.get_window_extent().width > 0.4 * display.figure_.bbox.width


@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_vector_formats(suffix, tmp_path):
    X, y = BLOBS
    display = BoundaryDisplay.from_estimator(KernelPerceptron(gamma=1.0).fit(X, y), X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display.figure_.savefig(tmp_path / f"a.{suffix}")
    assert (tmp_path / f"a.{suffix}").stat().st_size > 1000


def test_formulas_are_not_broken():
    text = r"proved: at most $k\,R^2 + 2 \beta$ and more words"
    assert r"$k\,R^2 + 2 \beta$" in style.folded(text, 60.0, 10.0)
    assert style.folded("one two three four", 60.0, 10.0).count("\n") >= 1
