"""Animations of a run: their frames, their files, and what is refused."""

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
        f"update {run.n_updates} of {run.n_updates}, pass {run.pass_[-1]}: row {run.row[-1]}"
    )
    star = next(points for points in ax.collections if points.get_label() == "row of this update")
    np.testing.assert_array_equal(np.asarray(star.get_offsets()), X[run.row[-1:]])
    BoundaryDisplay.animate(run, X, y, tmp_path / "run.html", frames=1, fps=1)
    assert "<script" in (tmp_path / "run.html").read_text()


@pytest.mark.parametrize("tie", ["positive", "mistake"])
def test_frames_of_a_film_break_ties_as_the_model_does(tie):
    X, y = BLOBS
    frame = Frame(np.array([1.0, 0.0, 0.0]), Perceptron(tie=tie).fit(X, y))
    assert frame.predict(np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])).tolist() == [0, int(tie == "positive"), 1]


def test_a_film_of_three_classes(tmp_path):
    X, y = make_blobs(60, centers=3, random_state=7)
    BoundaryDisplay.animate(trace(Perceptron(), X, y), X, y, tmp_path / "run.gif", frames=2, fps=1)
    assert (tmp_path / "run.gif").stat().st_size > 1000


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
