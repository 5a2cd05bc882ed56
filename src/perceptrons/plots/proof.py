"""Draw the two halves of Novikoff's proof at work; for rows that are not separable, how a run finds that out."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from perceptrons import rules
from perceptrons.plots import palette, style
from perceptrons.shown import count
from perceptrons.solver.rounding import down, up
from perceptrons.theory.trace import Trace

BLUE, ORANGE = palette.COLOURS[1], palette.COLOURS[0]
LINES = (
    *("progress_", "progress_bound_", "sq_norm_", "sq_norm_bound_", "cosine_", "cosine_bound_", "limit_"),
    *("relative_bound_", "guide_", "tol_", "end_"),
)


class ProofDisplay:
    """The reason why a run must stop.

    Separable rows: ``w*·w_k ≥ k·γ`` grows with every update, but ``‖w_k‖² ≤ k·R²`` grows slowly. So the cosine between
    w_k and the best separator w* is at least ``√k·γ/R``, which would exceed 1 after (R/γ)² updates. If the bounds do
    not hold for the run (`Trace.reason`), only its curves are drawn.

    Other rows: every separator has a margin of at most ``‖w_k‖/Στ``. When this upper bound falls below ``tol·R``, the
    run gives up.

    R is the length of the longest row. With an intercept, a row is (x, c), where c is the constant, usually 1, and its
    length and the margins are those of (x, c).

    Parameters
    ----------
    trace : Trace
        The run, from `perceptrons.theory.trace`.

    Raises
    ------
    TypeError
        If `trace` is something else.
    ValueError
        If the run made no updates, or has nothing to draw; the message says why.

    Attributes
    ----------
    ax_, axes_, figure_ : Axes, list of Axes, Figure
        Where the picture is drawn; `ax_` is the first of `axes_`.
    progress_, progress_bound_ : Line2D or None
        w*·w_k and k·γ. Each line is None if it is not drawn.
    sq_norm_, sq_norm_bound_ : Line2D or None
        ‖w_k‖² and k·R².
    cosine_, cosine_bound_ : Line2D or None
        The cosine and √k·γ/R.
    limit_ : Line2D or None
        The largest possible number of updates.
    relative_bound_, guide_, tol_ : Line2D or None
        ‖w‖/(R·Στ), its upper bound, and tol.
    end_ : Line2D or None
        The point where the run ended.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptrons import Perceptron
    >>> from perceptrons.plots import ProofDisplay
    >>> from perceptrons.theory import trace
    >>> X, y = load_iris(return_X_y=True)
    >>> len(ProofDisplay.from_trace(trace(Perceptron(), X, y == 0)).axes_)
    3
    """

    progress_: Any
    progress_bound_: Any
    sq_norm_: Any
    sq_norm_bound_: Any
    cosine_: Any
    cosine_bound_: Any
    limit_: Any
    relative_bound_: Any
    guide_: Any
    tol_: Any
    end_: Any

    def __init__(self, trace: Trace) -> None:
        if not isinstance(trace, Trace):
            raise TypeError(f"ProofDisplay takes a Trace, made by perceptrons.theory.trace, got {type(trace).__name__}")
        if len(trace) == 0:
            raise ValueError("the run made no updates: there is nothing to draw")
        if trace.progress is None and trace.relative_bound is None:
            raise ValueError(f"there is nothing to draw. {trace.reason} The ratio ‖w‖/(R·Στ) needs a start from zeros.")
        self.trace = trace

    @classmethod
    def from_trace(cls, trace: Trace, *, ax: Any = None) -> Self:
        """Draw the trace of a run.

        Parameters
        ----------
        trace : Trace
            The run, from `perceptrons.theory.trace`.
        ax : matplotlib Axes or list of Axes, optional
            Three axes for separable rows, one for others. By default a new figure is made.

        Returns
        -------
        ProofDisplay
            What was drawn.

        Raises
        ------
        TypeError, ValueError, ImportError
            As for the class and for `plot`.
        """
        return cls(trace).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or list of Axes, optional
            Three axes for separable rows, one for others. By default a new figure is made.

        Returns
        -------
        ProofDisplay
            This object.

        Raises
        ------
        ValueError
            If `ax` has another number of axes.
        ImportError
            If matplotlib is not installed.
        """
        parts = [self._plot_progress, self._plot_sq_norm, self._plot_cosine]
        parts = [self._plot_ratio] if self.trace.progress is None else parts
        self._own = ax is None
        if ax is None:
            size = (7.5, 5.5) if len(parts) == 1 else (13.5, 5.5)
            ax = style.pyplot().subplots(1, len(parts), layout="constrained", figsize=size)[1]
        self.axes_ = list(np.ravel(ax))
        if len(self.axes_) != len(parts):
            raise ValueError(f"this picture needs {len(parts)} axes, got {len(self.axes_)}")
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        for name in LINES:
            setattr(self, name, None)
        for part, axes in zip(parts, self.axes_, strict=True):
            part(axes)
        return self

    def _curve(self, ax: Any, values: Any, label: str) -> Any:
        """Draw a value that was measured after each update."""
        trace = self.trace
        (line,) = ax.plot(trace.update, values, color=BLUE, linewidth=1.8, label=label, zorder=3)
        if len(trace) <= 50:
            line.set(marker="o", markersize=4)
        ax.xaxis.set_major_locator(style.integers())
        return line

    def _describe(self, ax: Any, title: str, ylabel: str) -> None:
        """Write the title and the labels."""
        stride = self.trace.stride
        xlabel = "update k" if stride == 1 else f"update k (one in {stride:,} is drawn)"
        style.describe(ax, self._own, title=title, xlabel=xlabel, ylabel=ylabel)

    def _longest(self) -> str:
        """What R is, with its value."""
        bias = self.trace.rerun.learner.bias
        row = f"row (x,{bias:g})" if bias else "row"
        return f"R = {up(self.trace.radius)}, the length of the longest {row}"

    def _growth(self) -> tuple[str, str]:
        """Two formulas: the bound of ‖w_k‖² after k updates, and the root of the bound for one update."""
        trace = self.trace
        double = "" if len(trace.model.classes_) == 2 else "2"
        rule = rules.resolve(trace.model.rule)
        if isinstance(rule, rules.Margin | rules.Uneven):
            beta = r"\beta" if isinstance(rule, rules.Margin) else r"\max(\beta_+,\beta_-)"
            return rf"k\,({double}R^2+2{beta})", rf"\sqrt{{{double}R^2+2{beta}}}"
        return rf"{double}k\,R^2", r"\sqrt{2}R" if double else "R"

    # -- separable rows ---------------------------------------------------------------------------------------

    def _plot_progress(self, ax: Any) -> None:
        trace = self.trace
        self.progress_ = self._curve(ax, trace.progress, r"measured: $w^\star\!\cdot w_k$")
        title = r"1. Progress along $w^\star$"
        if trace.progress_bound is not None and trace.margin is not None:
            k = np.array([0, trace.n_updates])
            margin = rf"$\gamma$ = {down(trace.margin)}, the margin of the best separator $w^\star$"
            label = rf"proved: at least $k\,\gamma$, with {margin}"
            (self.progress_bound_,) = ax.plot(k, k * trace.margin, "--", color=ORANGE, label=label)
            title = r"1. $w$ moves along $w^\star$ …"
        self._describe(ax, title, r"$w^\star\!\cdot w_k$")
        style.legend(ax, self._own, trace.reason, below=True)

    def _plot_sq_norm(self, ax: Any) -> None:
        trace = self.trace
        self.sq_norm_ = self._curve(ax, trace.sq_norm, r"measured: $\|w_k\|^2$")
        if trace.growth is not None:
            k = np.array([0, trace.n_updates])
            label = f"proved: at most ${self._growth()[0]}$, with {self._longest()}"
            (self.sq_norm_bound_,) = ax.plot(k, k * trace.growth, "--", color=ORANGE, label=label)
        self._describe(ax, "2. … but it grows slowly …" if trace.growth else "2. Length of $w$", r"$\|w_k\|^2$")
        style.legend(ax, self._own, below=True)

    def _plot_cosine(self, ax: Any) -> None:
        trace = self.trace
        assert trace.cosine is not None
        self.cosine_ = self._curve(ax, trace.cosine, r"measured: $\cos(w^\star, w_k)$")
        label = f"{style.STOPS[trace.stop]} after {count(trace.n_updates, 'update')}"
        (self.end_,) = ax.plot(trace.update[-1:], trace.cosine[-1:], "D", color=style.ink(ax), label=label, zorder=4)
        ax.axhline(1.0, color=style.ink(ax), linewidth=1.0)
        if trace.max_updates is not None and trace.margin is not None and trace.growth is not None:
            meet = trace.growth / trace.margin**2
            k = np.geomspace(1.0, meet, 200)
            root = self._growth()[1]
            label = rf"proved by 1 and 2: at least $\sqrt{{k}}\,\gamma\,/\,{root}$"
            (self.cosine_bound_,) = ax.plot(k, np.sqrt(k / meet), "--", color=ORANGE, label=label)
            label = f"proved: at most {count(trace.max_updates, 'update')}, because a cosine is at most 1"
            self.limit_ = ax.axvline(meet, linestyle=":", color=style.ink(ax), label=label)
            _log_of_updates(ax, meet)
        title = "3. … so training must stop" if self.limit_ else r"3. Angle between $w^\star$ and $w$"
        self._describe(ax, title, r"cosine of the angle, $\cos(w^\star, w_k)$")
        flat = trace.cosine.min() > 0.9  # without a lower limit, the axis could begin at 1
        ax.set(ylim=(0.0 if flat else None, 1.06))
        style.legend(ax, self._own, below=True)

    # -- other rows -------------------------------------------------------------------------------------------

    def _final(self) -> float:
        """The bound on the margin that the model proved, relative to R, with a reserve for the rounding of R."""
        rounding = 1 + 4 * (self.trace.model.n_features_in_ + 4) * np.finfo(np.float64).eps
        return float(self.trace.model.margin_bound_ / self.trace.radius * rounding)

    def _plot_ratio(self, ax: Any) -> None:
        trace = self.trace
        assert trace.relative_bound is not None
        ratio, zero = trace.relative_bound, trace.relative_bound == 0
        if zero.any():  # a logarithmic axis has no 0
            lowest = min([*ratio[~zero].tolist(), trace.tol or 1.0]) / 2
            ratio = np.where(zero, lowest, ratio)
        label = r"proved: margin$\,/\,R$ is at most $\|w_k\|\,/\,(R\,\Sigma\tau)$"
        self.relative_bound_ = self._curve(ax, ratio, label)
        if trace.growth is not None:
            k = np.geomspace(1.0, trace.n_updates, 200)
            label = rf"the bound is never higher, because $\|w_k\|^2\leq {self._growth()[0]}$"
            (self.guide_,) = ax.plot(k, np.sqrt(trace.growth / k) / trace.radius, "-.", color=ORANGE, label=label)
        if trace.tol:
            label = f"tol = {trace.tol:g}: training gives up below it"
            self.tol_ = ax.axhline(trace.tol, linestyle="--", color=style.ink(ax), label=label)
        after = f"{count(trace.n_updates, 'update')} in {count(trace.n_passes, 'pass', 'passes')}"
        label = f"{style.STOPS[trace.stop]} after {after}: margin ≤ {up(self._final())}·R"
        look = {"color": style.ink(ax), "label": label, "zorder": 4, "clip_on": not zero[-1]}
        (self.end_,) = ax.plot(trace.update[-1:], ratio[-1:], "D", **look)
        verdict = "Not separable" if trace.separable is False else "No separator known"
        _log_of_updates(ax, trace.n_updates)
        self._describe(ax, f"{verdict}: the largest possible margin shrinks", "upper bound on margin / R")
        ax.set_yscale("log")
        notes = [f"{self._longest()}."]
        if trace.separable is not False and trace.reason is not None:
            notes.append(trace.reason)
        if zero.any():
            ax.set_ylim(bottom=lowest)
            notes.append("Points at the lower edge are 0: all weights are 0 there.")
        style.legend(ax, self._own, " ".join(notes), below=True)


def _log_of_updates(ax: Any, most: float) -> None:
    """Make the axis of updates logarithmic; if there are fewer than ten, label each."""
    ax.set_xscale("log")
    if most < 10:
        from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter

        ax.xaxis.set(major_locator=FixedLocator(range(1, int(most) + 1)), minor_locator=NullLocator())
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.set_xlim(0.9, 1.1 * most)
