"""Animate the boundary, update by update."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.plots import style
from perceptrons.theory.trace import Trace

Floats = npt.NDArray[np.float64]
SUFFIXES = (".gif", ".mp4", ".html")


class Frame:
    """The model after one update: a linear classifier with the weights (w, b) in the shape that learners use."""

    def __init__(self, weights: Floats, model: Any) -> None:
        lines = np.atleast_2d(weights.T)
        self.coef_, self.intercept_, self.classes_ = lines[:, :-1], lines[:, -1], model.classes_
        self.tie_positive = getattr(model, "tie", "mistake") == "positive"

    def decision_function(self, X: Any) -> Floats:
        scores = np.asarray(X @ self.coef_.T + self.intercept_)
        return scores[:, 0] if len(self.coef_) == 1 else scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
        scores = self.decision_function(X)
        if scores.ndim > 1:
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        positive = scores >= 0 if self.tie_positive else scores > 0
        return np.asarray(self.classes_[positive.astype(int)])


def check(trace: Trace, X: npt.NDArray[Any], frames: int, path: Any) -> None:
    """Refuse runs that cannot be animated, and files that cannot be written."""
    if trace.model.n_features_in_ != 2:
        raise ValueError(f"only rows with 2 features can be animated, got {trace.model.n_features_in_} features")
    if trace.weights is None:
        raise ValueError(f"the trace has no weights for {len(trace.model.classes_)} classes: animate fewer classes")
    if len(trace) == 0:
        raise ValueError("the run made no updates: there is nothing to animate")
    if X.ndim != 2 or X.shape[1] != 2 or len(X) <= trace.row.max():
        raise ValueError(f"X must be the rows that were traced, got an array of shape {X.shape}")
    if frames < 1:
        raise ValueError(f"frames must be >= 1, got {frames}")
    if path is None:
        return
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"path must end in one of {', '.join(SUFFIXES)}, got {Path(path).name!r}")
    style.pyplot()
    from matplotlib.animation import FFMpegWriter

    if suffix == ".mp4" and not FFMpegWriter.isAvailable():
        raise RuntimeError(
            "writing .mp4 needs the program ffmpeg, which was not found: install it, or write .gif or .html"
        )


def stage() -> Any:
    """Make axes in a new figure that keep their place while the legend changes."""
    figure, ax = style.pyplot().subplots(figsize=(9.0, 5.0))
    figure.subplots_adjust(left=0.08, right=0.7, bottom=0.11, top=0.92)
    return ax


def caption(trace: Trace, k: int) -> str:
    """Describe an update."""
    reason = {"margin": "correct, but inside the margin"}.get(str(trace.kind[k]), str(trace.kind[k]))
    return (
        f"update {trace.update[k]:,} of {trace.n_updates:,}, pass {trace.pass_[k]:,}: "
        f"row {trace.row[k]:,} ({trace.label[k]}), {reason}"
    )


def film(figure: Any, show: Callable[[int], None], n: int, frames: int, fps: int) -> Any:
    """Animate n updates, or `frames` of them, evenly spaced, with the first and the last."""
    from matplotlib.animation import FuncAnimation

    numbers = np.unique(np.linspace(0, n - 1, min(n, frames)).round().astype(np.intp))
    held = [*numbers.tolist(), *[n - 1] * round(2 * fps)]  # hold the last frame for two seconds
    return FuncAnimation(figure, show, held, init_func=lambda: None, interval=1000 / fps)


def save(film: Any, path: Any, fps: int) -> None:
    """Write an animation in the format of the suffix."""
    from matplotlib.animation import FFMpegWriter, PillowWriter

    path = Path(path)
    if path.suffix.lower() == ".html":
        path.write_text(film.to_jshtml(fps=fps), encoding="utf-8")
    else:
        film.save(path, writer=PillowWriter(fps=fps) if path.suffix.lower() == ".gif" else FFMpegWriter(fps=fps))
