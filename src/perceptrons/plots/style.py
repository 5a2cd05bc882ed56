"""Shared by all pictures: axes, texts that fit, and legends that hide nothing."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.shown import shown

DARK, LIGHT = "#222222", "#EEEEEE"  # of lines and letters, on a light and on a dark background

# How a run ended: texts for `Trace.stop`.
STOPS = {
    "converged": "converged",
    "margin": "gave up",
    "inseparable": "gave up",
    "stuck": "stuck",
    "validation": "stopped by the held-out error",
    "settled": "predictions settled",
    "stalled": "mistakes stopped falling",
    "loss": "loss stopped falling",
    "max_iter": "stopped by max_iter",
}

MOST_POINTS = 5_000  # more would cover each other, and make large files
LONGEST = 24  # letters of a name in a legend
LETTER = 0.56  # average width of a letter, in font sizes
FORMULA = re.compile(r"(?<!\\)\$[^$]+(?<!\\)\$")  # in the language of matplotlib
UNPRINTED = re.compile(r"\\(?:[,!]|[a-z]+(?=[a-z{])|(?=[a-z|]))|[${}^_]")  # the letters of a formula that are not seen
HOLE = "\0"  # stands for a letter of a formula while text is broken into lines
SIZES = (9.0, 8.0, 7.0, 6.0)  # font sizes of legends inside axes
SHARES = (0.3, 0.5)  # of the axes that such a legend may take: with one column, and with more of them


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


def paper(ax: Any) -> tuple[float, float, float]:
    """The colour behind everything that is drawn in these axes."""
    from matplotlib.colors import to_rgba

    seen = np.ones(3)
    for part in (ax.figure.figure, ax.figure, ax):  # of a subfigure, the figure is behind it
        *rgb, alpha = to_rgba(part.get_facecolor())
        seen = alpha * np.array(rgb) + (1 - alpha) * seen
    red, green, blue = seen.tolist()
    return red, green, blue


def ink(ax: Any) -> str:
    """A colour for lines and letters that is seen in these axes."""
    red, green, blue = paper(ax)
    return DARK if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else LIGHT


def halo(ax: Any) -> list[Any]:
    """An outline that makes letters readable on top of points."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=3.0, foreground=paper(ax))]


def integers() -> Any:
    """A locator of ticks at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True)


def name(value: Any, longest: int = LONGEST) -> str:
    """A name for a label: without its middle if it is long, and without what matplotlib takes for a command."""
    text = shown(value)
    if len(text) > longest:
        text = f"{text[: longest // 2]}…{text[longest // 2 - longest + 1 :]}"
    text = text.replace("$", r"\$")  # else formulas
    return f"'{text}'" if text[:1] in ("", "_") else text  # labels that begin with _ are left out of legends


def folded(text: str, points: float, size: float) -> str:
    """Break text into lines that are not longer than this many points, in this font size; not inside formulas."""
    width = max(8, int(points / (LETTER * size)))
    formulas = FORMULA.findall(text)
    text = FORMULA.sub(lambda found: HOLE * len(UNPRINTED.sub("", found[0])), text)
    lines = "\n".join(textwrap.fill(line, width, break_long_words=False) for line in text.split("\n"))
    rest = iter(formulas)
    return re.sub(f"{HOLE}+", lambda _: next(rest), lines)


def extent(ax: Any) -> tuple[float, float]:
    """Width and height of axes in points."""
    box, dpi = ax.get_window_extent(), ax.figure.dpi
    return float(box.width * 72 / dpi), float(box.height * 72 / dpi)


def describe(ax: Any, own: bool, *, title: str, xlabel: str, ylabel: str) -> None:
    """Write the title and the labels of axes. In axes that are not ours, they fit between the neighbours."""
    width, height = extent(ax)
    if own:
        ax.set(title=title if "$" not in title else folded(title, width, 12.0), xlabel=xlabel, ylabel=ylabel)
        return
    ax.set_title(folded(title, width, 10.0), fontsize=10.0)
    ax.set_xlabel(folded(xlabel.replace("\n", " "), width, 9.0), fontsize=9.0)
    ax.set_ylabel(folded(ylabel.replace("\n", " "), height, 9.0), fontsize=9.0)


def legend(
    ax: Any, own: bool, note: str | None = None, *, below: bool = False, handles: Any = None, loc: str = "best"
) -> Any:
    """Explain what is drawn, with an optional note.

    In a figure of our own the legend is beside or below the axes, where it hides nothing. In axes that were given, it
    is inside, because neighbours may be beside and below: at `loc`, by default where it hides least. With `below`, it
    is at the top instead, and the y-axis grows, so that it hides nothing.
    """
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    look = {"frameon": False, "borderaxespad": 0.0, "alignment": "left", "handles": handles}
    if not own:
        legend = _inside(ax, note, handles, loc="upper right" if below else loc)
        if below:
            _make_room(ax, legend)
    elif below:
        width = extent(ax)[0]
        labels = [folded(handle.get_label(), width - 30.0, 10.0) for handle in handles]
        title = None if note is None else folded(note, width, 10.0)
        legend = ax.legend(labels=labels, loc="upper left", bbox_to_anchor=(0.0, -0.17), title=title, **look)
    else:
        title = None if note is None else textwrap.fill(note, 34)
        columns = 1 + len(handles) // 20
        legend = ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), title=title, ncols=columns, **look)
    for handle in legend.legend_handles:
        if hasattr(handle, "set_sizes"):  # points, which may be too small to recognise
            handle.set_sizes([45.0 if own else 25.0])
    return legend


def _inside(ax: Any, note: str | None, handles: Any, loc: str) -> Any:
    """Put a legend inside the axes: in the largest font, with the fewest columns and all the lines that fit."""
    width, height = extent(ax)
    look = {"loc": loc, "framealpha": 0.75, "alignment": "left", "handlelength": 1.4, "handletextpad": 0.5}
    look |= {"borderpad": 0.3, "labelspacing": 0.25, "markerscale": 0.7, "columnspacing": 0.8, "borderaxespad": 0.3}
    tries = [(size, 1, len(handles), SHARES[0]) for size in SIZES]
    tries += [(SIZES[-1], columns, len(handles), SHARES[1]) for columns in (1, 2, 3)]
    tries += [(SIZES[-1], 1, most, SHARES[1]) for most in range(len(handles) - 1, 0, -1)]
    for size, columns, most, share in tries:
        room = 0.9 * width / columns - 3.0 * size
        labels = [folded(handle.get_label(), room, size) for handle in handles[:most]]
        shown = handles[:most]
        if most < len(handles):
            shown, labels = [*shown, _blank()], [*labels, f"… {len(handles) - most} more"]
        title = None if note is None else folded(note, 0.9 * width, size)
        legend = ax.legend(shown, labels, title=title, fontsize=size, title_fontsize=size, ncols=columns, **look)
        legend.set(in_layout=False)
        box = legend.get_window_extent()
        across, up = (72 / ax.figure.dpi * side for side in (box.width, box.height))
        if across <= 0.97 * width and up <= 0.97 * height and across * up <= share * width * height:
            break
    return legend


def _make_room(ax: Any, legend: Any) -> None:
    """Extend the y-axis, and that of a twin, upwards by the height of the legend."""
    share = min(0.7, legend.get_window_extent().height / ax.get_window_extent().height + 0.04)
    for each in ax.figure.axes:
        if each.get_position().bounds == ax.get_position().bounds:
            scale = each.yaxis.get_transform()
            low, high = scale.transform(each.get_ylim())
            each.set_ylim(top=float(scale.inverted().transform(low + (high - low) / (1 - share))))


def _blank() -> Any:
    """A line of a legend without a mark."""
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none")


def drawn(where: npt.NDArray[np.bool_], most: int = MOST_POINTS) -> npt.NDArray[np.intp]:
    """Pick the rows of a mask to draw: all, or a random sample that is always the same."""
    rows = np.flatnonzero(where)
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def tally(shown: int, of: int) -> str:
    """Format a count, and how many of them are drawn if not all are."""
    return f"{of:,}" if shown == of else f"{of:,}, {shown:,} drawn"
