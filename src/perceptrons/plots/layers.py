"""The layers of a boundary picture: regions, points, rings, the margin band and the weight vector."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.plots import palette, style

Floats = npt.NDArray[np.float64]
Limits = tuple[float, float, float, float]  # left, right, bottom, top
SIZES = ((20, 80.0), (200, 40.0), (600, 26.0), (2000, 14.0))  # up to this number of rows, points have this size
SMALLEST = 6.0  # size of the points of more rows
MOST_LISTED = 24  # the most lines of the legend for classes
MOST_RINGS = 300  # more would hide the points


def point_size(n: int) -> float:
    """The size of the points of n rows."""
    return next((size for most, size in SIZES if n <= most), SMALLEST)


def draw_regions(ax: Any, x: Floats, y: Floats, fields: list[Floats]) -> list[Any]:
    """Colour the part of the plane where each class is predicted; returns one contour set a class."""
    regions = []
    for c, field in enumerate(fields):
        if (field > 0).any():
            colour = palette.colour(c)
            look = {"colors": [colour], "alpha": 0.13, "hatches": [palette.cycle(palette.HATCHES, c)]}
            region = ax.contourf(x, y, field, levels=[0.0, field.max()], **look)
            region.set(edgecolor=(colour, 0.25), linewidth=0.0)
            regions.append(region)
    return regions


def draw_points(ax: Any, points: Floats, codes: npt.NDArray[Any], classes: Any) -> list[Any]:
    """Draw the rows of each class; returns one collection a class."""
    most, n = style.MOST_POINTS // len(classes), len(classes)
    listed = n if n <= MOST_LISTED else MOST_LISTED - 1
    collections = []
    for c, name in enumerate(classes):
        members = codes == c
        shown = style.drawn(members, most)
        look = {"s": point_size(len(points)), "linewidths": 0.5, "edgecolors": [style.paper(ax)], "zorder": 3}
        look |= {"color": palette.colour(c), "marker": palette.mark(c)}
        label = f"{style.name(name)} ({style.tally(len(shown), int(members.sum()))})" if c < listed else None
        collections.append(ax.scatter(*points[shown].T, label=label, rasterized=len(shown) > 1000, **look))
    if listed < n:
        ax.plot([], [], linestyle="none", label=f"… {n - listed:,} more classes")
    return collections


def draw_rings(ax: Any, points: Floats, wrong: npt.NDArray[np.bool_]) -> Any:
    """Ring the misclassified rows; returns None if there are none."""
    shown = style.drawn(wrong, MOST_RINGS)
    if not len(shown):
        return None
    size = point_size(len(points))
    look = {"s": 4 * size if size > 10 else 30.0, "linewidths": 1.0, "zorder": 4}
    label = f"misclassified ({style.tally(len(shown), int(wrong.sum()))})"
    return ax.scatter(*points[shown].T, facecolors="none", edgecolors=style.ink(ax), label=label, **look)


def draw_closest(ax: Any, rows: Floats) -> Any:
    """Mark the closest row of each class."""
    look = {"s": 130, "marker": "D", "facecolors": "none", "edgecolors": style.ink(ax), "linewidths": 1.2}
    return ax.scatter(*rows.T, label="closest row of each class", zorder=4, **look)


def line_ends(limits: Limits, normal: Floats, offset: float) -> Floats:
    """Two points of the line ``normal·p + offset = 0`` beyond the limits; their middle is nearest to the centre."""
    left, right, bottom, top = limits
    centre = np.array([(left + right) / 2, (bottom + top) / 2])
    foot = centre - (normal @ centre + offset) * normal
    along = np.array([-normal[1], normal[0]]) * (right - left + top - bottom)
    return np.array([foot - along, foot + along])


def draw_arrow(ax: Any, points: Floats, limits: Limits, normal: Floats, foot: Floats) -> Any:
    """Draw the weight vector, standing on the boundary where it hides fewest points.

    `foot` is a point of the boundary. Returns None if the boundary is too far away.
    """
    left, right, bottom, top = limits
    size = min(right - left, top - bottom)
    feet = foot + np.linspace(-0.4, 0.4, 9)[:, np.newaxis] * size * np.array([-normal[1], normal[0]])
    clear = np.array([0.0, 0.05 * size])[:, np.newaxis, np.newaxis]  # the letter at the end needs space around it
    for length in (0.2, 0.1):
        step = length * size * normal
        letter = step + 0.04 * size * normal
        ends = np.stack([feet, feet + letter])
        inside = (ends > np.array([left, bottom]) + clear) & (ends < np.array([right, top]) - clear)
        seen = inside.all(axis=(0, 2))
        if seen.any():
            break
    else:
        return None
    feet = feet[seen]
    along = feet[:, np.newaxis] + np.linspace(0.2, 1.0, 6)[:, np.newaxis] * letter  # (feet, 6, 2)
    some = points[style.drawn(np.ones(len(points), dtype=np.bool_), 500)]
    space = np.linalg.norm(along[:, :, np.newaxis] - some, axis=3).min(axis=(1, 2))
    foot = feet[np.argmax(space)]
    look = {"angles": "xy", "scale_units": "xy", "scale": 1, "color": style.ink(ax), "width": 0.008, "zorder": 5}
    arrow = ax.quiver(*foot, *step, **look)
    ax.plot(*np.stack([foot, foot + letter]).T, linewidth=0.0)  # legends avoid lines, but not arrows
    label = {"ha": "center", "va": "center", "fontsize": 12, "fontweight": "bold", "zorder": 5}
    ax.text(*(foot + letter), "w", color=style.ink(ax), path_effects=style.halo(ax), **label)
    return arrow
