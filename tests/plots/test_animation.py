"""Animations of a run: their frames, their files, and what is refused."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib import animation as films
from sklearn.datasets import make_blobs

from perceptrons import Perceptron
from perceptrons.plots import BoundaryDisplay
from perceptrons.plots.animation import Frame
from perceptrons.theory.trace import trace

BLOBS = make_blobs(80, centers=[[-2, -1], [2, 1.5]], cluster_std=0.9, random_state=3)


def test_a_film_of_the_run(tmp_path):
    from PIL import Image

    X, y = BLOBS
    run = trace(Perceptron(), X, y)
    film = BoundaryDisplay.animate(run, X, y, tmp_path / "run.gif", frames=3, fps=1)
    with Image.open(tmp_path / "run.gif") as image:
        assert image.n_frames > 1
    ax = film._fig.axes[0]  # it stands at its end
    w = run.weights[-1]
    line = next(line for line in ax.lines if line.get_label() == "boundary")
    np.testing.assert_allclose(line.get_xydata() @ w[:2] + w[2], 0, atol=1e-9)
    assert ax.get_title().startswith(
        f"update {run.n_updates} of {run.n_updates}, pass {run.pass_[-1]}\nrow {run.row[-1]} "
    )
    star = next(points for points in ax.collections if points.get_label() == "row of this update")
    np.testing.assert_array_equal(np.asarray(star.get_offsets()), X[run.row[-1:]])
    BoundaryDisplay.animate(run, X, y, tmp_path / "run.html", frames=1, fps=1)
    assert "<script" in (tmp_path / "run.html").read_text()


def frames(film):
    """Draws all frames, one after the other."""
    film._draw_was_started = True  # else matplotlib warns that it was not drawn
    for k in film.new_frame_seq():
        film._func(k)
        yield k, film._fig.axes


def named(artists, label):
    return [artist for artist in artists if artist.get_label() == label]


def test_the_first_frame_is_before_the_first_update_and_axes_stay():
    X, y = BLOBS
    run = trace(Perceptron(), X, y)
    film = BoundaryDisplay.animate(run, X, y, fps=1)
    seen = []
    for k, axes in frames(film):
        film._fig.draw_without_rendering()
        seen.append([(*ax.get_xlim(), *ax.get_ylim(), *ax.get_window_extent().extents) for ax in axes])
        lines = named(axes[0].lines, "boundary")
        if k < 0:
            assert len(seen) == 1 and not lines and not named(axes[0].collections, "row of this update")
            assert axes[0].get_title() == f"before the first of {run.n_updates} updates"
            assert axes[1].get_title() == "w = (0, 0), b = 0"
            assert (
                sum(len(points.get_offsets()) for points in axes[0].collections if points.get_label()[:1] in "01") == 80
            )
        else:
            assert len(lines) == 1
    assert len(seen) == 1 + run.n_updates + 2  # the last one is held for two seconds
    np.testing.assert_allclose(seen, np.broadcast_to(seen[0], np.shape(seen)))
    low, high = X.min(axis=0), X.max(axis=0)
    left, right, bottom, top = seen[0][0][:4]
    assert left < low[0] and right > high[0] and bottom < low[1] and top > high[1]


@pytest.mark.parametrize("limit", [100_000, 4])
def test_vectors_show_w_the_step_and_their_sum(limit):
    X, y = BLOBS
    y = np.where(np.arange(len(y)) % 9 == 0, 1 - y, y)
    run = trace(Perceptron(shuffle=False, max_iter=2, tol=None), X, y, limit=limit)
    assert (run.stride > 1) == (limit == 4)
    w, hypotheses = np.zeros(3), []  # by the formula
    whole = trace(Perceptron(shuffle=False, max_iter=2, tol=None), X, y)
    for row in whole.row:
        hypotheses.append((w.copy(), w := w + (2 * y[row] - 1) * np.append(X[row], 1.0)))
    film = BoundaryDisplay.animate(run, X, y)
    for k, (ax, vectors) in frames(film):
        arrows = np.array([np.r_[np.ravel(q.get_offsets()), q.U, q.V] for q in vectors.collections])
        if k < 0:
            np.testing.assert_array_equal(arrows, np.zeros((1, 4)))
            continue
        before, after = hypotheses[run.update[k] - 1]
        tip, row = before[:2], run.row[k]
        expected = [[0, 0, *tip], [0, 0, *after[:2]], [*tip, *((2 * y[row] - 1) * X[row])]]
        np.testing.assert_allclose(arrows, expected, atol=1e-12)
        assert f"·({'+' if y[row] else '−'}1)·" in vectors.get_title()
        star = named(ax.collections, "row of this update")[0]
        np.testing.assert_array_equal(np.asarray(star.get_offsets())[0], X[row])
        if before[:2].any():
            (old,) = named(ax.lines, "boundary before it")
            np.testing.assert_allclose(old.get_xydata() @ before[:2] + before[2], 0, atol=1e-9)


def test_a_film_in_given_axes_keeps_its_legend_in_one_corner():
    X, y = BLOBS
    figure, axes = plt.subplots(1, 2, figsize=(10, 4))
    film = BoundaryDisplay.animate(trace(Perceptron(), X, y), X, y, ax=axes[0])
    corners = set()
    for _, (ax, other) in frames(film):
        figure.draw_without_rendering()
        box, frame = ax.get_legend().get_window_extent(), ax.get_window_extent()
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
        corners.add((box.x0 + box.x1 > frame.x0 + frame.x1, box.y0 + box.y1 > frame.y0 + frame.y1))
        assert not other.has_data()
    assert len(corners) == 1


@pytest.mark.parametrize("tie", ["positive", "mistake"])
def test_frames_of_a_film_break_ties_as_the_model_does(tie):
    X, y = BLOBS
    frame = Frame(np.array([1.0, 0.0, 0.0]), Perceptron(tie=tie).fit(X, y), 1.0)
    assert frame.predict(np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])).tolist() == [0, int(tie == "positive"), 1]


def test_a_film_of_three_classes(tmp_path):
    X, y = make_blobs(60, centers=3, random_state=7)
    run = trace(Perceptron(), X, y)
    film = BoundaryDisplay.animate(run, X, y, tmp_path / "run.gif", frames=2, fps=1)
    assert (tmp_path / "run.gif").stat().st_size > 1000
    (ax,) = film._fig.axes  # no vectors
    star = named(ax.collections, "row of this update")[0]
    np.testing.assert_array_equal(np.asarray(star.get_offsets()), X[run.row[-1:]])


def test_films_that_cannot_be_made(tmp_path, monkeypatch):
    X, y = BLOBS
    run = trace(Perceptron(), X, y)
    with pytest.raises(ValueError, match=r"must end in one of .gif, .mp4, .html, got 'run.avi'"):
        BoundaryDisplay.animate(run, X, y, tmp_path / "run.avi")
    monkeypatch.setattr(films.FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    with pytest.raises(RuntimeError, match="needs the program ffmpeg"):
        BoundaryDisplay.animate(run, X, y, tmp_path / "run.mp4")
    with pytest.raises(ValueError, match="rows that were traced"):
        BoundaryDisplay.animate(run, X[:3], y[:3])
    wide = np.column_stack([X, X])
    with pytest.raises(ValueError, match="only rows with 2 features can be animated, got 4"):
        BoundaryDisplay.animate(trace(Perceptron(), wide, y), wide, y)
