"""Draw the distribution of margins, of one model or of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from perceptrons.data.sparse import safe_csr
from perceptrons.plots import palette, style
from perceptrons.plots.regions import encode, feature_length, weights

Floats = npt.NDArray[np.float64]
BINS = (8, 40)  # the smallest and the largest number of bins
HATCHES = ("", "///", "...", "xxx")
FEW = 100  # up to this number, rows are marked one by one
PAIRS = 0.1  # if a larger share of rows is not won by the highest score, scores are of pairs; fewer may be ties


class MarginsDisplay:
    """The distribution of margins: how far rows are on the correct side of the boundary.

    Parameters
    ----------
    margins : dict of ndarrays
        The margins of the rows, by name of the model.
    distances : bool, default=True
        Whether margins are distances from the boundary, ``y·(w·x + b)/‖w‖``, for kernels in feature space. Otherwise
        they are ``y·score``.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Where the picture is drawn.
    steps_ : list of StepPatch
        The distribution of each model.
    zero_ : Line2D
        The boundary.
    edges_ : ndarray
        The edges of the bins.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptrons import Perceptron
    >>> from perceptrons.plots import MarginsDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {rule: Perceptron(rule=rule).fit(X, y == 0) for rule in ("perceptron", "pa")}
    >>> display = MarginsDisplay.from_estimators(models, X, y == 0)
    >>> print(display.legend_.get_texts()[0].get_text())
    perceptron: 0 of 150 misclassified (0.00%), smallest margin 0.56
    """

    def __init__(self, margins: Mapping[str, Floats], *, distances: bool = True) -> None:
        self.margins, self.distances = dict(margins), distances

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, ax: Any = None) -> Self:
        """Draw the margins of one classifier.

        Parameters
        ----------
        estimator : fitted classifier
            It must have `decision_function`.
        X : array, sparse matrix or data frame of shape (n, n_features)
            The rows.
        y : array of shape (n,)
            Their labels.
        name : str, optional
            The name in the legend, by default that of the class.
        ax : matplotlib Axes, optional
            Where to draw. By default a new figure is made.

        Returns
        -------
        MarginsDisplay
            What was drawn.

        Raises
        ------
        sklearn.exceptions.NotFittedError, ValueError, ImportError
            As for `from_estimators`.
        """
        return cls.from_estimators({name or type(estimator).__name__: estimator}, X, y, ax=ax)

    @classmethod
    def from_estimators(cls, estimators: Mapping[str, Any], X: Any, y: Any, *, ax: Any = None) -> Self:
        """Draw the margins of several classifiers in one picture.

        Parameters
        ----------
        estimators : dict of str to fitted classifier
            Each must have `decision_function`.
        X : array, sparse matrix or data frame of shape (n, n_features)
            The rows.
        y : array of shape (n,)
            Their labels.
        ax : matplotlib Axes, optional
            Where to draw. By default a new figure is made.

        Returns
        -------
        MarginsDisplay
            What was drawn.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If a classifier is not fitted.
        ValueError
            If there are no classifiers, the margins of some are distances and of others not, or a label is not one of
            the classes.
        ImportError
            If matplotlib is not installed.
        """
        if not estimators:
            raise ValueError("estimators must contain at least one estimator, got none")
        for estimator in estimators.values():
            check_is_fitted(estimator)
        if sp.issparse(X):
            X = safe_csr(X)
        elif not hasattr(X, "iloc"):
            X = np.asarray(X)
        lengths = {name: _length(name, estimator, X) for name, estimator in estimators.items()}
        curved = [name for name, length in lengths.items() if length is None]
        if curved and len(curved) < len(lengths):
            raise ValueError(
                f"the margins of {', '.join(curved)} are not distances, because there is no weight vector for each "
                "class: draw them separately"
            )
        found = {name: _scores(e, X, y) / (lengths[name] or 1.0) for name, e in estimators.items()}
        return cls(found, distances=not curved).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. By default a new figure is made.

        Returns
        -------
        MarginsDisplay
            This object.
        """
        own, ax = ax is None, style.axes(ax, figsize=(7.5, 5.0))
        self.ax_, self.figure_ = ax, ax.figure
        together = np.concatenate(list(self.margins.values()))
        n_bins = int(np.clip(2 * np.sqrt(len(together) / len(self.margins)), *BINS))
        low, high = min(0.0, float(together.min())), max(0.0, float(together.max()))
        width = (high - low or 1.0) / n_bins
        first = min(np.floor(low / width), -1.0 if (together <= 0).any() else 0.0)
        self.edges_ = width * np.arange(first, np.ceil(high / width) + 1)  # 0 is one of them
        self.steps_: list[Any] = []
        for number, (name, values) in enumerate(self.margins.items()):
            # An edge belongs to the bin on its left: a margin of 0 is a mistake, and counts with the mistakes.
            counts = np.histogram(-values, bins=-self.edges_[::-1])[0][::-1]
            wrong = np.count_nonzero(values <= 0)
            share = f"{wrong:,} of {len(values):,} misclassified ({wrong / len(values):.2%})"
            label = f"{style.name(name)}: {share}, smallest margin {values.min() + 0.0:.2g}"
            # The first two colours are exchanged: a single model is blue.
            colour = palette.colour(number if number > 1 else 1 - number)
            line = palette.cycle(palette.LINES, number)
            self.steps_.append(
                ax.stairs(counts / len(values), self.edges_, color=colour, linestyle=line, linewidth=1.8, label=label)
            )
            look = {"facecolor": (colour, 0.12), "edgecolor": (colour, 0.35), "hatch": palette.cycle(HATCHES, number)}
            ax.stairs(counts / len(values), self.edges_, fill=True, linewidth=0, zorder=0.5, **look)
            if len(values) <= FEW:
                height = np.full(len(values), 0.02 + 0.04 * number)
                marks = {"marker": "|", "markersize": 9, "linestyle": "none", "color": colour}
                ax.plot(values, height, transform=ax.get_xaxis_transform(), **marks)
        label = "boundary: rows at or left of it are misclassified"
        self.zero_ = ax.axvline(0.0, color=style.ink(ax), linewidth=2.0, linestyle=":", label=label)
        what = "distance from the boundary" if self.distances else "y·score, which is not a distance"
        xlabel = f"margin: {what} (negative: wrong side)"
        style.describe(ax, own, title="Margins of the rows", xlabel=xlabel, ylabel="share of rows")
        ax.set_ylim(0, None)
        self.legend_ = style.legend(ax, own, below=True)
        return self


def _length(name: str, estimator: Any, X: Any) -> float | None:
    """‖W‖ of all weight vectors together: scores divided by it are distances. None without weight vectors.

    For a kernel both are in its feature space.
    """
    coef, _ = weights(estimator, X)
    if coef is not None and not coef.any():
        raise ValueError(f"all weights of {name!r} are 0: it has no boundary to measure distances from")
    if coef is not None:
        return float(np.linalg.norm(coef))
    length = feature_length(estimator)
    if length == 0.0:
        raise ValueError(f"all coefficients of {name!r} are 0: it has no boundary to measure distances from")
    return length


def _scores(estimator: Any, X: Any, y: Any) -> Floats:
    """y·score for two classes; for several, the score of the correct class minus the highest other score."""
    codes = encode(estimator, X, y)
    scores = np.array(estimator.decision_function(X), dtype=np.float64)
    if scores.ndim == 1:
        return np.where(codes == 1, scores, -scores)
    winners = np.searchsorted(estimator.classes_, estimator.predict(X))
    if scores.shape[1] != len(estimator.classes_) or (scores.argmax(axis=1) != winners).mean() > PAIRS:
        raise ValueError(
            f"{type(estimator).__name__} does not predict the class with the highest score, so it has no margins. "
            'Its scores may be those of pairs of classes: is decision_function_shape "ovo"?'
        )
    rows = np.arange(len(codes))
    right = scores[rows, codes]
    scores[rows, codes] = -np.inf
    return np.asarray(right - scores.max(axis=1))
