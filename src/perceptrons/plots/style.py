"""Shared by all pictures: axes, legends, and colours and marks that colour-blind people can distinguish."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import numpy.typing as npt

# Okabe & Ito 2008. Marks, lines and hatches also distinguish things. There are more marks than colours, so that the
# eighth class, which has the first colour, has its own mark.
INK = "#222222"
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
MARKS = ("o", "^", "s", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")
HATCHES = ("", "//", "..", "\\\\", "xx", "--")

# How a run ended: texts for `Trace.stop`.
STOPS = {
    "converged": "converged",
    "margin": "gave up",
    "inseparable": "gave up",
    "stuck": "stuck",
    "validation": "stopped by the held-out error",
    "loss": "loss stopped falling",
    "max_iter": "stopped by max_iter",
}

MOST_POINTS = 5_000  # more would cover each other, and make large files


def pyplot() -> Any:
    """Import matplotlib's pyplot, when the first picture is made."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('drawing needs matplotlib: pip install "perceptrons[plots]"') from error
    return plt


def axes(ax: Any, **options: Any) -> Any:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    return pyplot().subplots(layout="constrained", **options)[1]


def halo() -> list[Any]:
    """A white outline that makes letters readable on top of points."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=3.0, foreground="white")]


def integers() -> Any:
    """A locator of ticks at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True)


def cycle(choices: tuple[str, ...], number: int) -> str:
    """The choice with this number; choices repeat if there are too few."""
    return choices[number % len(choices)]


def legend(ax: Any, note: str | None = None) -> Any:
    """Put a legend beside the axes, where it hides nothing, with an optional note."""
    look = {"frameon": False, "borderaxespad": 0.0, "alignment": "left"}
    legend = ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), title=note, **look)
    for handle in legend.legend_handles:
        if hasattr(handle, "set_sizes"):  # points, which may be too small to recognise
            handle.set_sizes([45.0])
    return legend


def legend_below(ax: Any, note: str | None = None, **options: Any) -> Any:
    """Put a legend under the axes, with an optional note."""
    title = None if note is None else textwrap.fill(note, 60)
    look = {"frameon": False, "borderaxespad": 0.0, "alignment": "left"}
    return ax.legend(loc="upper left", bbox_to_anchor=(0.0, -0.17), title=title, **look, **options)


def drawn(where: npt.NDArray[np.bool_], most: int = MOST_POINTS) -> npt.NDArray[np.intp]:
    """Pick the rows of a mask to draw: all, or a random sample that is always the same."""
    rows = np.flatnonzero(where)
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def tally(shown: int, of: int) -> str:
    """Format a count, and how many of them are drawn if not all are."""
    return f"{of:,}" if shown == of else f"{of:,}, {shown:,} drawn"
