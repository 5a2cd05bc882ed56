"""Points, half-spaces and the boundary between them, with the weight vector at right angles to it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from perceptrons.plots import animation, style
from perceptrons.plots.plane import choose
from perceptrons.plots.regions import UNEQUAL, encode, feature_length, fields, grid, limits_of, weights
from perceptrons.theory.trace import Trace

Floats = npt.NDArray[np.float64]
SIZES = ((200, 40.0), (600, 26.0), (2000, 14.0))  # rows up to so many are drawn of this size
MOST_LISTED = 12  # lines of the legend that classes may take
MOST_RINGS = 300  # more would hide what they ring


class BoundaryDisplay:
    """What a classifier makes of rows, in a plane.

    Two classes with a weight vector: the half-spaces, the boundary, w at right angles to it, and where all rows are
    right the margin band and the row of each class that is closest; the same, curved, of a `KernelPerceptron`. Several
    classes, and other classifiers without `coef_` (votes, pipelines): their regions. Misclassified rows are ringed. Of
    rows with more than two features one sees the projection onto a plane, whose axes say how much of the spread it
    shows; with two classes and a weight vector, or three with one each, every row is seen on its right side.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        The rows in the plane.
    codes : ndarray of shape (n,)
        The number of each row's class.
    classes : sequence
        Names of the classes.
    wrong : ndarray of shape (n,)
        Whether the row is misclassified.
    names : pair of str
        Labels of the axes.
    regions : tuple (x, y, fields)
        For each class a field over a grid that is positive where the class is predicted.
    limits : tuple of 4 floats
        The part of the plane that is shown: left, right, bottom, top.
    normal, offset : ndarray of shape (2,) and float, or None
        The signed distance of a point p from the boundary is ``normal·p + offset``.
    distances : ndarray of shape (n,) or None
        Signed distances of the rows from the boundary, positive on their right side.
    length : float or None
        ‖w‖ in the feature space of a kernel, by which scores become distances there.
    sliced : bool
        Whether regions are only those of the plane, and rows off it may be seen in others than their own.
    flat : bool
        Whether all weights are 0, so that there is no boundary.

    Attributes
    ----------
    ax_, figure_ : where it was drawn
    points_ : list of PathCollection, one a class
    wrong_ : PathCollection or None, the rings
    regions_ : list of QuadContourSet, one a class
    boundary_ : Line2D, or a list of QuadContourSet where it need not be straight
    arrow_ : Quiver or None, the weight vector
    band_ : list of two Line2D, or of two QuadContourSet where it is curved, or None
    closest_ : PathCollection or None
    closest : ndarray, the numbers of the closest rows
    margin : float or None, the smallest distance

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptrons import Perceptron
    >>> from perceptrons.plots import BoundaryDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = BoundaryDisplay.from_estimator(Perceptron().fit(X, y == 0), X, y == 0)
    >>> display.ax_.get_title()
    'all 150 rows are right, margin 0.57'
    """

    def __init__(
        self,
        *,
        points: Floats,
        codes: npt.NDArray[Any],
        classes: Any,
        wrong: npt.NDArray[np.bool_],
        names: tuple[str, str],
        regions: tuple[Floats, Floats, list[Floats]],
        limits: tuple[float, float, float, float],
        normal: Floats | None = None,
        offset: float = 0.0,
        distances: Floats | None = None,
        length: float | None = None,
        sliced: bool = False,
        flat: bool = False,
    ) -> None:
        self.points, self.codes, self.classes, self.wrong = points, codes, classes, wrong
        self.names, self.regions, self.limits = names, regions, limits
        self.normal, self.offset, self.distances = normal, offset, distances
        self.length, self.sliced, self.flat = length, sliced, flat
        self.margin = None if distances is None else float(distances.min())
        self.closest = np.empty(0, dtype=np.intp)
        if distances is not None and self.margin is not None and self.margin > 0:
            rows = (np.flatnonzero(codes == c) for c in np.unique(codes))
            self.closest = np.array([of[np.argmin(distances[of])] for of in rows])

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> Self:
        """Draw a fitted classifier that has `decision_function`, and rows with their labels."""
        if not hasattr(estimator, "decision_function"):
            raise TypeError(f"{type(estimator).__name__} has no decision_function, which its boundary is drawn by")
        check_is_fitted(estimator)
        if getattr(getattr(get_tags(estimator), "input_tags", None), "pairwise", False):
            raise ValueError(
                f"{type(estimator).__name__} was fitted to a kernel matrix, which has no plane to draw: use the rows "
                "and the kernel's name or function"
            )
        return cls._computed(estimator, X, y).plot(ax)

    @classmethod
    def _computed(cls, estimator: Any, X: Any, y: Any, limits: Any = None) -> Self:
        rows = X.tocsr() if sp.issparse(X) else np.asarray(X)
        names = [str(name) for name in getattr(X, "columns", [f"feature {j}" for j in range(rows.shape[1])])]
        classes, codes = np.asarray(estimator.classes_), encode(estimator, rows, y)
        coef, intercept = weights(estimator, X if hasattr(X, "iloc") else rows)
        flat = coef is not None and not coef.any()
        plane = choose(rows, names, None if flat else coef, intercept, len(classes))
        points = plane.project(rows)
        normal = distances = None
        offset = 0.0
        if coef is not None and intercept is not None and len(classes) == 2 and not flat:
            length = np.linalg.norm(coef[0])
            normal = plane.directions @ coef[0] / length
            offset = float((plane.origin @ coef[0] + intercept[0]) / length)
            distances = np.where(codes == 1, 1.0, -1.0) * estimator.decision_function(X) / length
        curved = feature_length(estimator) if coef is None and len(classes) == 2 else None
        if curved:
            distances = np.where(codes == 1, 1.0, -1.0) * estimator.decision_function(X) / curved
        limits = limits or limits_of(points, normal, offset)
        across, up = grid(limits)
        return cls(
            points=points,
            codes=codes,
            classes=classes,
            wrong=np.asarray(estimator.predict(X)) != classes[codes],
            names=plane.names,
            regions=(across, up, fields(estimator, plane, across, up, coef, intercept, X)),
            limits=limits,
            normal=normal,
            offset=offset,
            distances=distances,
            length=curved,
            sliced=rows.shape[1] > 2 and not flat and (coef is None or len(classes) > 3),
            flat=flat,
        )

    @classmethod
    def animate(
        cls, trace: Trace, X: Any, y: Any, path: Any = None, *, frames: int = 100, fps: int = 4, ax: Any = None
    ) -> Any:
        """The boundary after each update of a run over rows of two features, as a matplotlib animation.

        With `path` it is also written: as .gif, as .mp4 where ffmpeg is installed, or as .html, a page with buttons.
        Of long runs `frames` updates are shown, evenly chosen, the first and the last among them.
        """
        X = np.asarray(X)
        animation.check(trace, X, frames, path)
        limits = limits_of(X, None, 0.0)
        ax = animation.stage() if ax is None else ax

        def show(k: int) -> None:
            assert trace.weights is not None
            ax.clear()
            frame = animation.Frame(trace.weights[k], trace.model)
            cls._computed(frame, X, y, limits).plot(ax)
            look = {"s": 260, "marker": "*", "color": "none", "edgecolors": style.INK, "linewidths": 1.4, "zorder": 6}
            ax.scatter(*X[trace.row[k]], label="row of this update", **look)
            ax.set_title(animation.caption(trace, k), fontsize="medium")
            style.legend(ax)

        film = animation.film(ax.figure, show, len(trace), frames, fps)
        if path is not None:
            animation.save(film, path, fps)
        return film

    def plot(self, ax: Any = None) -> Self:
        """Draw it, on the given axes or on new ones."""
        ax = style.axes(ax, figsize=(8.0, 5.0))
        self.ax_, self.figure_ = ax, ax.figure
        left, right, bottom, top = self.limits
        ax.set(xlim=(left, right), ylim=(bottom, top), xlabel=self.names[0], ylabel=self.names[1], title=self._title())
        spread = np.ptp(self.points, axis=0)
        slim = spread.min() > 0 and spread.max() / spread.min() > UNEQUAL
        self.arrow_: Any = None
        self.band_: Any = None
        self.closest_: Any = None
        self._plot_regions()
        self._plot_points()
        if self.normal is None:
            x, y, fields = self.regions
            some = [field for field in (fields[:1] if len(fields) == 2 else fields) if field.min() < 0 < field.max()]
            self.boundary_: Any = [
                ax.contour(x, y, field, levels=[0.0], colors=[style.INK], linewidths=1.6) for field in some
            ]
            if some:
                ax.plot([], [], color=style.INK, linewidth=1.6, label="boundary")
            if self.length and self.margin is not None and self.margin > 0:
                self._plot_curved_band(self.margin * self.length)
        else:
            self._plot_line(self.normal, arrow=not slim)
        if self.normal is not None and not slim:
            ax.set_aspect("equal", adjustable="box", anchor="W")
        note = "regions are those of the plane\nthrough the mean row" if self.sliced else None
        if self.flat:
            note = "all weights are 0:\nthere is no boundary"
        if self.normal is not None and slim:
            note = "axes of different scale:\nright angles are not seen"
        self.legend_ = style.legend(ax, note)
        return self

    def _title(self) -> str:
        wrong, n = np.count_nonzero(self.wrong), len(self.wrong)
        if wrong:
            return f"{wrong:,} of these {n:,} rows {'is' if wrong == 1 else 'are'} wrong"
        where = " in feature space" if self.length else ""
        margin = "" if self.margin is None else f", margin {self.margin:.2g}{where}"
        return f"all {n:,} rows are right{margin}"

    def _plot_regions(self) -> None:
        x, y, fields = self.regions
        self.regions_: list[Any] = []
        for c, field in enumerate(fields):
            if not (field > 0).any():
                continue
            colour = style.cycle(style.COLOURS, c)
            region = self.ax_.contourf(
                x,
                y,
                field,
                levels=[0.0, field.max()],
                colors=[colour],
                alpha=0.13,
                hatches=[style.cycle(style.HATCHES, c)],
            )
            region.set(edgecolor=(colour, 0.25), linewidth=0.0)
            self.regions_.append(region)

    def _plot_points(self) -> None:
        ax = self.ax_
        self.points_: list[Any] = []
        size = next((size for n, size in SIZES if len(self.points) <= n), 6.0)
        most, n = style.MOST_POINTS // len(self.classes), len(self.classes)
        listed = n if n <= MOST_LISTED else MOST_LISTED - 1
        for c, name in enumerate(self.classes):
            of = self.codes == c
            shown = style.drawn(of, most)
            label = f"{name} ({style.tally(len(shown), int(of.sum()))})" if c < listed else None
            options = {
                "s": size,
                "linewidths": 0.5,
                "edgecolors": "white",
                "zorder": 3,
                "rasterized": len(shown) > 1000,
            }
            colour, mark = style.cycle(style.COLOURS, c), style.cycle(style.MARKS, c)
            self.points_.append(ax.scatter(*self.points[shown].T, color=colour, marker=mark, label=label, **options))
        if listed < n:
            ax.plot([], [], linestyle="none", label=f"… {n - listed:,} more")
        shown = style.drawn(self.wrong, MOST_RINGS)
        self.wrong_: Any = None
        if len(shown):
            self.wrong_ = ax.scatter(
                *self.points[shown].T,
                s=4 * size if size > 10 else 30.0,
                facecolors="none",
                edgecolors=style.INK,
                linewidths=1.0,
                zorder=4,
                rasterized=len(shown) > 1000,
                label=f"misclassified ({style.tally(len(shown), int(self.wrong.sum()))})",
            )

    def _plot_curved_band(self, score: float) -> None:
        """The points as far from the boundary, in feature space, as the closest row; and the closest rows."""
        x, y, fields = self.regions
        look = {"colors": [style.INK], "linewidths": 1.0, "linestyles": "dashed"}
        self.band_ = [self.ax_.contour(x, y, fields[1], levels=[level], **look) for level in (-score, score)]
        label = f"as far as the closest row\n({self.margin:.2g} in feature space)"
        self.ax_.plot([], [], "--", color=style.INK, linewidth=1.0, label=label)
        self._plot_closest()

    def _plot_closest(self) -> None:
        options = {"s": 130, "marker": "D", "facecolors": "none", "edgecolors": style.INK, "linewidths": 1.2}
        rows = self.points[self.closest]
        self.closest_ = self.ax_.scatter(*rows.T, label="closest row of each class", zorder=4, **options)

    def _plot_line(self, normal: Floats, arrow: bool) -> None:
        """The straight boundary and what belongs to it."""
        ax = self.ax_
        left, right, bottom, top = self.limits
        centre = np.array([(left + right) / 2, (bottom + top) / 2])
        foot = centre - (normal @ centre + self.offset) * normal  # the boundary's point nearest to the centre
        along = np.array([-normal[1], normal[0]]) * (right - left + top - bottom)
        ends = np.array([foot - along, foot + along])
        (self.boundary_,) = ax.plot(*ends.T, color=style.INK, linewidth=1.8, label="boundary", zorder=2)
        if self.margin is not None and self.margin > 0:
            band = [ends + side * self.margin * normal for side in (-1.0, 1.0)]
            label = f"margin band (± {self.margin:.2g})"
            self.band_ = [
                ax.plot(*edge.T, "--", color=style.INK, linewidth=1.0, label=text, zorder=2)[0]
                for edge, text in zip(band, (label, None), strict=True)
            ]
            self._plot_closest()
            for p in self.points[self.closest]:
                ax.plot(*np.array([p, p - (normal @ p + self.offset) * normal]).T, ":", color=style.INK, linewidth=1.2)
        if arrow:
            self._plot_arrow(normal, foot)

    def _plot_arrow(self, normal: Floats, foot: Floats) -> None:
        """The weight vector, standing on the boundary where it hides fewest points."""
        left, right, bottom, top = self.limits
        size = min(right - left, top - bottom)
        feet = foot + np.linspace(-0.4, 0.4, 9)[:, np.newaxis] * size * np.array([-normal[1], normal[0]])
        clear = np.array([0.0, 0.05 * size])[:, np.newaxis, np.newaxis]  # the letter, at the end, needs some around it
        for length in (0.2, 0.1):
            step = length * size * normal
            letter = step + 0.04 * size * normal
            ends = np.stack([feet, feet + letter])
            inside = (ends > np.array([left, bottom]) + clear) & (ends < np.array([right, top]) - clear)
            seen = inside.all(axis=(0, 2))
            if seen.any():
                break
        else:  # the boundary is too far off
            return
        feet = feet[seen]
        along = feet[:, np.newaxis] + np.linspace(0.2, 1.0, 6)[:, np.newaxis] * letter  # (feet, 6, 2)
        some = self.points[style.drawn(np.ones(len(self.points), dtype=np.bool_), 500)]
        room = np.linalg.norm(along[:, :, np.newaxis] - some, axis=3).min(axis=(1, 2))
        foot = feet[np.argmax(room)]
        look = {"angles": "xy", "scale_units": "xy", "scale": 1, "color": style.INK, "width": 0.008, "zorder": 5}
        self.arrow_ = self.ax_.quiver(*foot, *step, **look)
        label = {"ha": "center", "va": "center", "fontsize": 12, "fontweight": "bold", "zorder": 5}
        self.ax_.text(*(foot + letter), "w", path_effects=style.halo(), **label)
