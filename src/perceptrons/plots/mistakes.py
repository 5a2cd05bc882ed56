"""Draw the mistakes in each pass, and the error on held-out rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from perceptrons.plots import palette, style

FEW = 40  # up to this number, passes are marked one by one
MANY = 400  # above this number, passes are drawn on a logarithmic axis


class MistakesDisplay:
    """The mistakes in each pass over the training rows, and the error on held-out rows after it.

    Parameters
    ----------
    mistakes : ndarray of shape (passes,)
        Number of mistakes in each pass.
    n_rows : int
        Number of rows in each pass.
    validation_errors : ndarray of shape (passes,) or (0,)
        Share of held-out rows that are misclassified after each pass; empty if no rows were held out.
    kept : int, optional
        The pass whose model early stopping kept.
    unit : str, default="rows"
        What is counted: rows, tokens or structures.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        Where the picture is drawn.
    mistakes_ : Line2D
        The mistakes.
    held_out_ : Line2D or None
        The error on held-out rows.
    kept_ : Line2D or None
        The mark of the pass that early stopping kept.
    held_out_ax_ : Axes
        The axes of the error on held-out rows: a second axis if mistakes are counts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptrons import Perceptron
    >>> from perceptrons.plots import MistakesDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = MistakesDisplay.from_estimator(Perceptron().fit(X, y == 0))
    >>> display.mistakes.tolist(), display.n_rows
    ([7, 0], 150)
    """

    def __init__(
        self,
        *,
        mistakes: npt.NDArray[Any],
        n_rows: int,
        validation_errors: npt.NDArray[np.float64],
        kept: int | None = None,
        unit: str = "rows",
    ) -> None:
        self.mistakes, self.n_rows, self.validation_errors, self.kept = mistakes, n_rows, validation_errors, kept
        self.unit = unit

    @classmethod
    def from_estimator(cls, estimator: Any, *, count: bool = False, ax: Any = None) -> Self:
        """Draw the last `fit` of an estimator. For taggers, mistakes are tokens.

        Parameters
        ----------
        estimator : fitted estimator
            It must have `mistakes_`.
        count : bool, default=False
            Whether to draw numbers of mistakes; otherwise shares of the rows.
        ax : matplotlib Axes, optional
            Where to draw. By default a new figure is made.

        Returns
        -------
        MistakesDisplay
            What was drawn.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If it has no `mistakes_`, or is a regressor.
        ImportError
            If matplotlib is not installed.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "mistakes_"):
            raise TypeError(f"{type(estimator).__name__} does not count its mistakes: it has no mistakes_")
        if is_regressor(estimator):
            raise TypeError(f"{type(estimator).__name__} predicts values: its errors are not shares of mistakes")
        errors = getattr(estimator, "validation_errors_", np.empty(0))
        stopped = getattr(estimator, "early_stopping", False) and len(errors)
        display = cls(
            mistakes=getattr(estimator, "token_mistakes_", estimator.mistakes_),
            n_rows=estimator._n_rows,
            validation_errors=errors,
            kept=len(errors) - int(np.argmin(errors[::-1])) if stopped else None,
            unit=getattr(estimator, "_unit", "rows"),
        )
        return display.plot(ax, count=count)

    def plot(self, ax: Any = None, *, count: bool = False) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. By default a new figure is made.
        count : bool, default=False
            Whether to draw numbers of mistakes; otherwise shares of the rows.

        Returns
        -------
        MistakesDisplay
            This object.
        """
        own, ax = ax is None, style.axes(ax, figsize=(7.5, 4.8))
        self.ax_, self.figure_ = ax, ax.figure
        passes = np.arange(1, len(self.mistakes) + 1)
        few = len(passes) <= FEW
        values = self.mistakes if count else self.mistakes / self.n_rows
        label = f"mistakes during the pass ({self.n_rows:,} training {self.unit})"
        marks = {"marker": "o" if few else None, "markersize": 5, "linewidth": 1.6 if len(passes) <= MANY else 0.8}
        (self.mistakes_,) = ax.plot(
            passes, values, "-", color=palette.COLOURS[1], label=label, clip_on=not few, **marks
        )
        self.held_out_: Any = None
        self.kept_: Any = None
        self.held_out_ax_ = ax
        if len(self.validation_errors):
            self._plot_held_out(passes[: len(self.validation_errors)], count, {**marks, "marker": "s" if few else None})
        highest = [values.max()] if self.held_out_ax_ is not ax else [values.max(), *self.validation_errors]
        ax.set_ylim(0, 1.08 * max(highest) or 1.0)
        last = f"{self.mistakes[-1]:,} mistake{'' if self.mistakes[-1] == 1 else 's'}"
        title = f"{last} in the last of {len(passes):,} passes" if len(passes) > 1 else f"{last} in one pass"
        ylabel = "mistakes" if count else f"share of {self.unit} misclassified"
        style.describe(ax, own, title=title, xlabel="pass", ylabel=ylabel)
        if len(passes) > MANY:
            ax.set_xscale("log")
        else:
            ax.xaxis.get_major_locator().set_params(integer=True)
        if not count:
            ax.yaxis.set_major_formatter(_percent)
        note = None if self.held_out_ else f"No {self.unit} were held out: the error on new {self.unit} is not known."
        lines = [line for line in (self.mistakes_, self.held_out_, self.kept_) if line is not None]
        self.legend_ = style.legend(ax, own, note, below=True, handles=lines)
        return self

    def _plot_held_out(self, passes: npt.NDArray[Any], count: bool, marks: dict[str, Any]) -> None:
        """Draw the error after each pass: a share, which needs a second axis beside counts."""
        if count:
            self.held_out_ax_ = self.ax_.twinx()
            self.held_out_ax_.set(ylabel=f"share of held-out {self.unit}")
            self.held_out_ax_.yaxis.set_major_formatter(_percent)
        errors, ax = self.validation_errors, self.held_out_ax_
        label = f"error on held-out {self.unit} after the pass" + (" (right axis)" if count else "")
        (self.held_out_,) = ax.plot(
            passes, errors, "--", color=palette.COLOURS[0], label=label, clip_on=not marks["marker"], **marks
        )
        ax.set_ylim(0, 1.08 * errors.max() or 1.0)
        if self.kept is not None:
            label = f"kept: the model after pass {self.kept}, {_percent(errors[self.kept - 1])} held-out error"
            (self.kept_,) = ax.plot(
                [self.kept], [errors[self.kept - 1]], "D", color=style.ink(ax), label=label, zorder=4
            )


def _percent(share: float, position: int | None = None) -> str:
    return f"{100 * share:.3g} %"
