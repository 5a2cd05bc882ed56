"""Draw rows, the regions of their classes, the boundary, and the weight vector at right angles to it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from perceptrons.data.sparse import safe_csr
from perceptrons.plots import animation, layers, style
from perceptrons.plots.plane import choose
from perceptrons.plots.regions import Limits, encode, feature_length, fields, grid, limits_of, weights
from perceptrons.theory.trace import Trace

Floats = npt.NDArray[np.float64]


class BoundaryDisplay:
    """A classifier and its rows, drawn in a plane.

    For two classes and a weight vector w, the picture shows the half-spaces, the boundary and w at right angles to it.
    If all rows are classified correctly, it also shows the margin band and the closest row of each class. For a
    `KernelPerceptron` boundary and band are curved. For several classes, and for classifiers without `coef_` (votes,
    pipelines), it shows the regions of the classes. Misclassified rows are ringed.

    Rows with more than two features are projected onto a plane. The axes say how much of the spread the plane shows.
    For two classes with a weight vector, or three classes with one each, every row appears on its own side of the
    boundary. If rows are spread more than 5 times as much along one axis as along the other, the axes have different
    scales, and w is not drawn, because it would not be seen at right angles.

    Given axes also hold the legend, in a small font. The legend of a new figure is beside the axes.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Positions of the rows in the plane.
    codes : ndarray of shape (n,)
        The number of each row's class.
    classes : sequence
        Names of the classes.
    wrong : ndarray of shape (n,)
        Whether the row is misclassified.
    names : pair of str
        Labels of the axes.
    regions : tuple (x, y, fields)
        Grid coordinates, and for each class a field over the grid that is positive where the class is predicted.
    limits : tuple of 4 floats
        The part of the plane that is shown: left, right, bottom, top.
    normal, offset : ndarray of shape (2,) and float, or None
        The signed distance of a point p from the boundary is ``normal·p + offset``.
    distances : ndarray of shape (n,) or None
        Signed distances of the rows from the boundary; positive for rows on their correct side.
    length : float or None
        ‖w‖ in the feature space of a kernel. Scores divided by it are distances.
    sliced : bool
        Whether regions are valid only in the plane, so that rows outside of it may appear in a wrong region.
    flat : str or None
        If all weights are 0, so that there is no boundary: the class that is predicted for every row.
    equal : bool
        Whether both axes have the same scale. Otherwise right angles are distorted and the weight vector is not drawn.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Where the picture is drawn.
    points_ : list of PathCollection
        The rows of each class.
    wrong_ : PathCollection or None
        The rings around misclassified rows.
    regions_ : list of QuadContourSet
        The region of each class.
    boundary_ : Line2D or list of QuadContourSet
        The boundary; a list if it need not be straight.
    arrow_ : Quiver or None
        The weight vector.
    band_ : list of two Line2D, list of two QuadContourSet, or None
        The edges of the margin band, straight or curved.
    closest_ : PathCollection or None
        The marks of the closest rows.
    closest : ndarray
        The numbers of the closest rows.
    margin : float or None
        The smallest distance.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptrons import Perceptron
    >>> from perceptrons.plots import BoundaryDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = BoundaryDisplay.from_estimator(Perceptron().fit(X, y == 0), X, y == 0)
    >>> display.ax_.get_title()
    'all 150 rows are correct, margin 0.56'
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
        flat: str | None = None,
        equal: bool = True,
    ) -> None:
        self.points, self.codes, self.classes, self.wrong = points, codes, classes, wrong
        self.names, self.regions, self.limits = names, regions, limits
        self.normal, self.offset, self.distances = normal, offset, distances
        self.length, self.sliced, self.flat, self.equal = length, sliced, flat, equal
        self.margin = None if distances is None else float(distances.min())
        self.closest = np.empty(0, dtype=np.intp)
        if distances is not None and self.margin is not None and self.margin > 0:
            rows = (np.flatnonzero(codes == c) for c in np.unique(codes))
            self.closest = np.array([of[np.argmin(distances[of])] for of in rows])

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> Self:
        """Draw a fitted classifier and rows with their labels.

        Parameters
        ----------
        estimator : fitted classifier
            It must have `decision_function`.
        X : array, sparse matrix or data frame of shape (n, n_features)
            The rows.
        y : array of shape (n,)
            Their labels.
        ax : matplotlib Axes, optional
            Where to draw. By default a new figure is made.

        Returns
        -------
        BoundaryDisplay
            What was drawn.

        Raises
        ------
        TypeError
            If the classifier has no `decision_function`.
        sklearn.exceptions.NotFittedError
            If the classifier is not fitted.
        ValueError
            If it was fitted to a kernel matrix, or a label is not one of its classes.
        ImportError
            If matplotlib is not installed.
        """
        if not hasattr(estimator, "decision_function"):
            raise TypeError(f"{type(estimator).__name__} has no decision_function: its boundary cannot be drawn")
        check_is_fitted(estimator)
        if getattr(getattr(get_tags(estimator), "input_tags", None), "pairwise", False):
            raise ValueError(
                f"{type(estimator).__name__} was fitted to a kernel matrix, which cannot be drawn in a plane: "
                "fit it to the rows, with the kernel's name or function"
            )
        return cls._computed(estimator, X, y).plot(ax)

    @classmethod
    def _computed(cls, estimator: Any, X: Any, y: Any, view: tuple[Limits, bool] | None = None) -> Self:
        """Compute what is drawn; `view` is the part of the plane that is shown, and whether the axes compare."""
        rows = safe_csr(X) if sp.issparse(X) else np.asarray(X)
        named = getattr(X, "columns", None)
        names = [f"feature {j}" if named is None else style.name(named[j], 40) for j in range(min(2, rows.shape[1]))]
        classes, codes = np.asarray(estimator.classes_), encode(estimator, rows, y)
        coef, intercept = weights(estimator, X if hasattr(X, "iloc") else rows)
        curved = feature_length(estimator) if coef is None and len(classes) == 2 else None
        flat = curved == 0.0 if coef is None else not coef.any()
        plane = choose(rows, names, None if flat else coef, intercept, len(classes))
        points = plane.project(rows)
        normal = distances = None
        offset = 0.0
        if coef is not None and intercept is not None and len(classes) == 2 and not flat:
            length = np.linalg.norm(coef[0])
            normal = plane.directions @ coef[0] / length
            offset = float((plane.origin @ coef[0] + intercept[0]) / length)
            distances = np.where(codes == 1, 1.0, -1.0) * estimator.decision_function(X) / length
        if curved:
            distances = np.where(codes == 1, 1.0, -1.0) * estimator.decision_function(X) / curved
        limits, equal = view or limits_of(points, normal, offset)
        across, up = grid(limits)
        predicted = np.asarray(estimator.predict(X))
        return cls(
            points=points,
            codes=codes,
            classes=classes,
            wrong=predicted != classes[codes],
            names=plane.names,
            regions=(across, up, fields(estimator, plane, across, up, coef, intercept, X)),
            limits=limits,
            normal=normal,
            offset=offset,
            distances=distances,
            length=curved,
            sliced=rows.shape[1] > 2 and not flat and (coef is None or len(classes) > 3),
            flat=style.name(predicted[0]) if flat else None,
            equal=equal and len(classes) == 2 and coef is not None,
        )

    @classmethod
    def animate(
        cls, trace: Trace, X: Any, y: Any, path: Any = None, *, frames: int = 100, fps: int = 4, ax: Any = None
    ) -> Any:
        """Animate the boundary, update by update. The rows must have two features.

        The first frame is before the first update. Each other frame shows one update: the row that made it, and the
        boundary before and after. For two classes a second picture shows the step as a sum of vectors,
        ``w + τ·y·x``. Axes have the same limits in all frames.

        Parameters
        ----------
        trace : Trace
            The run, from `perceptrons.theory.trace`.
        X, y : array
            The rows and labels that were traced.
        path : str or path, optional
            Also write the animation to a file: .gif, .mp4 (which needs ffmpeg), or .html, a page with buttons.
        frames : int, default=100
            The most updates to show. They are evenly spaced, and include the first and the last.
        fps : int, default=4
            Frames per second.
        ax : matplotlib Axes or pair of Axes, optional
            Where to draw the rows, and the vectors. Without the second, there are no vectors. By default a new figure
            is made.

        Returns
        -------
        matplotlib.animation.FuncAnimation
            The animation. Keep a reference to it as long as it is shown.

        Raises
        ------
        ValueError
            If the rows do not have two features, the run made no updates, X is not what was traced, `frames` is below
            1, or the ending of `path` is not one of these.
        RuntimeError
            If `path` ends in .mp4 and the program ffmpeg is not found.
        """
        X = np.asarray(X)
        animation.check(trace, X, frames, path)
        stage = animation.Stage(trace, X, ax)

        def show(k: int) -> None:
            stage.clear()
            cls._computed(stage.model(k), X, y, stage.view)._draw(stage.ax)
            stage.draw_update(k)

        film = animation.film(stage.ax.figure, show, len(trace), frames, fps)
        if path is not None:
            animation.save(film, path, fps)
        return film

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. By default a new figure is made.

        Returns
        -------
        BoundaryDisplay
            This object.
        """
        width = 8.0 if len(self.classes) < layers.MOST_LISTED // 2 else 9.5  # the legend may have two columns
        own, ax = ax is None, style.axes(ax, figsize=(width, 5.0))
        self._draw(ax)
        style.describe(ax, own, title=self._title(), xlabel=self.names[0], ylabel=self.names[1])
        if own:  # at the left, because narrow axes are there
            ax.title.set(x=0.0, horizontalalignment="left")
            ax.set_anchor("W")
        self.legend_ = style.legend(ax, own, self._note())
        return self

    def _draw(self, ax: Any) -> None:
        """Draw everything but texts and legend."""
        self.ax_, self.figure_ = ax, ax.figure
        left, right, bottom, top = self.limits
        ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal" if self.equal else "auto")
        if not self.names[1]:  # one feature: the second axis means nothing
            ax.set_yticks([])
        self.arrow_: Any = None
        self.band_: Any = None
        self.closest_: Any = None
        self.regions_ = layers.draw_regions(ax, *self.regions)
        self.points_ = layers.draw_points(ax, self.points, self.codes, self.classes)
        self.wrong_ = layers.draw_rings(ax, self.points, self.wrong)
        if self.normal is not None:
            self._plot_line(self.normal)
            return
        x, y, fields = self.regions
        some = [field for field in (fields[:1] if len(fields) == 2 else fields) if field.min() < 0 < field.max()]
        look = {"levels": [0.0], "colors": [style.ink(ax)], "linewidths": 1.6}
        self.boundary_: Any = [ax.contour(x, y, field, **look) for field in some]
        if some:
            ax.plot([], [], color=style.ink(ax), linewidth=1.6, label="boundary")
        if self.length and self.margin is not None and self.margin > 0:
            self._plot_curved_band(self.margin * self.length)

    def _note(self) -> str | None:
        """What a reader of the picture must know."""
        if self.flat is not None:
            return f"There is no boundary, because all weights are 0: every row is predicted as {self.flat}."
        seen = sum(bool((field > 0).any()) for field in self.regions[2])
        notes = ["The boundary is outside of the picture."] if seen < 2 else []
        if self.sliced:
            notes.append("The background shows predictions in this plane; rows that are not in it can differ.")
        if self.normal is not None and not self.equal:
            notes.append("The axes have different scales, so w would not be at right angles to the boundary.")
        return " ".join(notes) or None

    def _title(self) -> str:
        wrong, n = np.count_nonzero(self.wrong), len(self.wrong)
        if self.flat is not None:
            return f"no boundary (w = 0): {wrong:,} of {n:,} rows misclassified"
        if wrong:
            return f"{wrong:,} of {n:,} rows misclassified"
        where = " in feature space" if self.length else ""
        margin = "" if self.margin is None else f", margin {self.margin:.2g}{where}"
        return f"all {n:,} rows are correct{margin}"

    def _plot_curved_band(self, score: float) -> None:
        """Draw the lines as far from the boundary, in feature space, as the closest row; mark the closest rows."""
        x, y, fields = self.regions
        look = {"colors": [style.ink(self.ax_)], "linewidths": 1.0, "linestyles": "dashed"}
        self.band_ = [self.ax_.contour(x, y, fields[1], levels=[level], **look) for level in (-score, score)]
        label = f"margin band (± {self.margin:.2g}\nin feature space)"
        self.ax_.plot([], [], "--", color=style.ink(self.ax_), linewidth=1.0, label=label)
        self.closest_ = layers.draw_closest(self.ax_, self.points[self.closest])

    def _plot_line(self, normal: Floats) -> None:
        """Draw a straight boundary, the margin band, the closest rows and the weight vector."""
        ax, ink = self.ax_, style.ink(self.ax_)
        ends = layers.line_ends(self.limits, normal, self.offset)
        (self.boundary_,) = ax.plot(*ends.T, color=ink, linewidth=1.8, label="boundary", zorder=2)
        if self.margin is not None and self.margin > 0:
            band = [ends + side * self.margin * normal for side in (-1.0, 1.0)]
            label = f"margin band (± {self.margin:.2g})"
            self.band_ = [
                ax.plot(*edge.T, "--", color=ink, linewidth=1.0, label=text, zorder=2)[0]
                for edge, text in zip(band, (label, None), strict=True)
            ]
            self.closest_ = layers.draw_closest(self.ax_, self.points[self.closest])
            for p in self.points[self.closest] if self.equal else ():
                ax.plot(*np.array([p, p - (normal @ p + self.offset) * normal]).T, ":", color=ink, linewidth=1.2)
        if self.equal:
            self.arrow_ = layers.draw_arrow(ax, self.points, self.limits, normal, ends.mean(axis=0))
