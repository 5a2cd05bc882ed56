"""What all pictures share: colours and marks that are told apart by colour-blind people and in grey, and axes."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import numpy.typing as npt

# Okabe & Ito 2008. Marks, lines and hatches tell things apart as well; there are more marks than colours, so that the
# eighth class, whose colour is the first's, has a mark of its own.
INK = "#222222"
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
MARKS = ("o", "^", "s", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")
HATCHES = ("", "//", "..", "\\\\", "xx", "--")

# How a run ended, by `Trace.stop`.
STOPS = {
    "converged": "converged",
    "margin": "gave up",
    "stuck": "stuck",
    "validation": "stopped by the held-out error",
    "max_iter": "stopped by max_iter",
}

MOST_POINTS = 5_000  # drawn of all rows: more would be one blot, and a file of many megabytes


def pyplot() -> Any:
    """matplotlib's pyplot; it is loaded when the first picture is made."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('pictures need matplotlib: pip install "perceptrons[plots]"') from error
    return plt


def axes(ax: Any, **options: Any) -> Any:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    return pyplot().subplots(layout="constrained", **options)[1]


def halo() -> list[Any]:
    """White around letters, so that they can be read on top of points."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=3.0, foreground="white")]


def integers() -> Any:
    """Where an axis of whole numbers has its ticks."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True)


def cycle(choices: tuple[str, ...], number: int) -> str:
    """The choice for thing number so and so; they repeat when there are more things than choices."""
    return choices[number % len(choices)]


def legend(ax: Any, note: str | None = None) -> Any:
    """A legend beside the axes, where it hides nothing, with a note where there is something to say."""
    look = {"frameon": False, "borderaxespad": 0.0, "alignment": "left"}
    legend = ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), title=note, **look)
    for handle in legend.legend_handles:
        if hasattr(handle, "set_sizes"):  # points, which may be too small to see of what kind they are
            handle.set_sizes([45.0])
    return legend


def legend_below(ax: Any, note: str | None = None, **options: Any) -> Any:
    """A legend under the axes, with a note where there is something to say."""
    title = None if note is None else textwrap.fill(note, 60)
    look = {"frameon": False, "borderaxespad": 0.0, "alignment": "left"}
    return ax.legend(loc="upper left", bbox_to_anchor=(0.0, -0.17), title=title, **look, **options)


def drawn(where: npt.NDArray[np.bool_], most: int = MOST_POINTS) -> npt.NDArray[np.intp]:
    """The rows of a mask that are drawn: all, or a random sample, the same each time."""
    rows = np.flatnonzero(where)
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def tally(shown: int, of: int) -> str:
    """How many there are, and that not all of them are drawn."""
    return f"{of:,}" if shown == of else f"{of:,}, {shown:,} drawn"
