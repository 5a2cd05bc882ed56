"""Animate the boundary, update by update."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.plots import palette, style
from perceptrons.plots.layers import line_ends
from perceptrons.plots.regions import Limits, limits_of
from perceptrons.shown import count
from perceptrons.theory.trace import Trace

Floats = npt.NDArray[np.float64]
SUFFIXES = (".gif", ".mp4", ".html")
CORNERS = ("lower left", "lower right", "upper left", "upper right")


class Frame:
    """The model after one update: a linear classifier with the weights (w, b/c) in the shape that learners use."""

    def __init__(self, weights: Floats, model: Any, bias: float) -> None:
        lines = np.atleast_2d(weights.T)
        self.coef_, self.intercept_, self.classes_ = lines[:, :-1], lines[:, -1] * bias, model.classes_
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


class Stage:
    """Axes whose limits are the same in all frames: one for the rows and, with two classes, one for the vectors."""

    def __init__(self, trace: Trace, X: Floats, ax: Any) -> None:
        self.trace, self.X, self.own = trace, X, ax is None
        self.weights, self.start = trace.hypotheses(), trace.rerun.learner.current
        two = self.start.ndim == 1
        if self.own:
            figure = style.pyplot().figure(figsize=(11.0, 5.8) if two else (7.0, 5.8))
            ax = figure.subplots(1, 2 if two else 1)
            figure.subplots_adjust(left=0.07 if two else 0.11, right=0.98, bottom=0.32, top=0.88, wspace=0.2)
        self.ax, *more = np.ravel(ax).tolist()
        self.vectors = more[0] if more and two else None
        self.view = limits_of(X, None, 0.0)
        self.corner = _emptiest(X, self.view[0])

    def before(self, k: int) -> Floats:
        """(w, b/c) before an update, of two classes. If the one before it is not recorded, the step is taken back."""
        trace = self.trace
        if k < 0 or trace.update[k] == 1:
            return self.start
        if k > 0 and trace.update[k] == trace.update[k - 1] + 1:
            return np.asarray(self.weights[k - 1])
        x = np.append(self.X[trace.row[k]], trace.rerun.learner.bias)
        return np.asarray(self.weights[k] - self.sign(k) * trace.tau[k] * x)  # w ← w + τ·y·x

    def sign(self, k: int) -> int:
        """y of the row of an update: +1 for the second class, −1 for the first."""
        return 1 if self.trace.label[k] == self.trace.model.classes_[1] else -1

    def model(self, k: int) -> Frame:
        """The model after an update; before the first for k = −1."""
        return Frame(self.weights[k] if k >= 0 else self.start, self.trace.model, self.trace.rerun.learner.bias)

    def clear(self) -> None:
        """Remove what the last frame drew."""
        for ax in filter(None, (self.ax, self.vectors)):
            ax.clear()

    def draw_update(self, k: int) -> None:
        """Draw the row in work and the boundary before the update, and describe them; draw the vectors."""
        ax, ink = self.ax, style.ink(self.ax)
        if k >= 0:
            old = self.before(k) if self.start.ndim == 1 else np.zeros(3)
            if old[:-1].any():
                length = np.linalg.norm(old[:-1])
                ends = line_ends(self.view[0], old[:-1] / length, float(old[-1] / length))
                ax.plot(*ends.T, "-.", color="gray", linewidth=1.6, label="boundary before it", zorder=2)
            look = {"s": 260, "marker": "*", "color": "none", "edgecolors": ink, "linewidths": 1.4, "zorder": 6}
            ax.scatter(*self.X[self.trace.row[k]], label="row of this update", **look)
        names = [
            style.name(name, 40) for name in getattr(self.trace.model, "feature_names_in_", ("feature 0", "feature 1"))
        ]
        style.describe(ax, False, title=caption(self.trace, k), xlabel=names[0], ylabel=names[1])
        if self.own:
            _legend_below(ax)
        else:
            style.legend(ax, False, loc=self.corner)
        if self.vectors is not None:
            self._draw_vectors(self.vectors, k, names)

    def _draw_vectors(self, ax: Any, k: int, names: list[str]) -> None:
        """Draw w before the update, the step at its tip, and w after it."""
        limits, equal = limits_of(np.vstack([np.zeros(2), self.start[:2], self.weights[:, :2]]), None, 0.0)
        left, right, bottom, top = limits
        ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal" if equal else "auto")
        ax.axhline(0.0, color="gray", linewidth=0.6, zorder=1)
        ax.axvline(0.0, color="gray", linewidth=0.6, zorder=1)
        old = self.before(k)[:2]
        new = self.weights[k][:2] if k >= 0 else old
        zero = np.zeros(2)
        colour, ink = palette.colour(int(k >= 0 and self.sign(k) > 0)), style.ink(ax)
        arrows = [("w before", zero, old, "gray", 0.009), ("w after", zero, new, ink, 0.012)]
        arrows.append(("step τ·y·x", old, new, colour, 0.007))  # on top: the first step and w after it are the same
        for text, tail, tip, colour, width in arrows if k >= 0 else [("w at the start", zero, old, ink, 0.012)]:
            look = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": width, "zorder": 3}
            ax.quiver(*tail, *(tip - tail), color=colour, **look)
            ax.plot([], [], color=colour, linewidth=3, label=text)
        ax.plot(*zero, "o", color=style.ink(ax), markersize=4, zorder=4)
        style.describe(ax, False, title=self._sum(k), xlabel=f"weight of {names[0]}", ylabel=f"weight of {names[1]}")
        _legend_below(ax)

    def _sum(self, k: int) -> str:
        """The update in numbers."""
        if k < 0:
            return f"w = {_pair(self.start)}, b = {_number(self.start[-1])}"
        trace = self.trace
        y = "+1" if self.sign(k) > 0 else "−1"
        terms = f"w + τ·y·x = {_pair(self.before(k))} + {trace.tau[k]:.3g}·({y})·{_pair(self.X[trace.row[k]])}"
        return f"{terms}\n= {_pair(self.weights[k])}, and b = {_number(self.weights[k][-1])}"


def _emptiest(points: Floats, limits: Limits) -> str:
    """The corner of axes that is farthest from all points."""
    left, right, bottom, top = limits
    space = {}
    for name, corner in zip(CORNERS, ((left, bottom), (right, bottom), (left, top), (right, top)), strict=True):
        space[name] = (np.abs(points - corner) / (right - left, top - bottom)).max(axis=1).min()
    return max(space, key=lambda name: space[name])


def _legend_below(ax: Any) -> None:
    """Put a legend at a place that does not depend on its size."""
    ax.legend(loc="upper left", bbox_to_anchor=(0.0, -0.14), frameon=False, ncols=2, fontsize=9.0, borderaxespad=0.0)


def _number(value: float) -> str:
    """Format a number with a minus sign that is as wide as a plus sign."""
    return f"{value + 0.0:.3g}".replace("-", "−")


def _pair(vector: Floats) -> str:
    """Format the first two numbers of a vector."""
    return f"({_number(vector[0])}, {_number(vector[1])})"


def caption(trace: Trace, k: int) -> str:
    """Describe an update."""
    if k < 0:
        return f"before the first of {count(trace.n_updates, 'update')}"
    reason = {"margin": "correct, but inside the margin"}.get(str(trace.kind[k]), str(trace.kind[k]))
    if reason == "mistake":
        reason = f"{style.name(trace.rival[k])} has at least the same score"
    return (
        f"update {trace.update[k]:,} of {trace.n_updates:,}, pass {trace.pass_[k]:,}\n"
        f"row {trace.row[k]:,} ({style.name(trace.label[k])}): {reason}"
    )


def film(figure: Any, show: Callable[[int], None], n: int, frames: int, fps: int) -> Any:
    """Animate the start and n updates, or `frames` of them, evenly spaced, with the first and the last."""
    from matplotlib.animation import FuncAnimation

    numbers = np.unique(np.linspace(0, n - 1, min(n, frames)).round().astype(np.intp))
    held = [-1, *numbers.tolist(), *[n - 1] * round(2 * fps)]  # hold the last frame for two seconds
    return FuncAnimation(figure, show, held, init_func=lambda: None, interval=1000 / fps)


def save(film: Any, path: Any, fps: int) -> None:
    """Write an animation in the format of the suffix."""
    from matplotlib.animation import FFMpegWriter, PillowWriter

    path = Path(path)
    if path.suffix.lower() == ".html":
        path.write_text(film.to_jshtml(fps=fps), encoding="utf-8")
    else:
        film.save(path, writer=PillowWriter(fps=fps) if path.suffix.lower() == ".gif" else FFMpegWriter(fps=fps))
