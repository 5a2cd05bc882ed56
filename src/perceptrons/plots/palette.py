"""Colours, marks, lines and hatches that tell things apart, also for colour-blind people and in print."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Okabe & Ito 2008, without yellow, which is hard to see on white.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKS = ("o", "^", "s", "D", "v", "P", "X", "*", "<", "p", ">", "d", "H")
LINES = ("-", "--", "-.", ":")
HATCHES = ("", "//", "..", "\\\\", "xx", "--")
SIDE = 11  # colours that may be added: a cube of red, green and blue with this many values each …
LIGHTNESS = (0.4, 0.8)  # … between these lightnesses, so that they are seen on white and on black


def cycle(choices: tuple[str, ...], number: int) -> str:
    """The choice with this number; choices repeat if there are too few."""
    return choices[number % len(choices)]


def colour(number: int) -> str:
    """The colour of a class. About 900 classes have different colours; the first ones differ most."""
    return cycle(_colours(), number)


def mark(number: int) -> str:
    """The mark of a class."""
    return cycle(MARKS, number)


@cache
def _colours() -> tuple[str, ...]:
    """All colours: the fixed ones, then always the one that is farthest from those before it."""
    fixed = np.array([[int(text[k : k + 2], 16) for k in (1, 3, 5)] for text in COLOURS]) / 255
    steps = np.linspace(0.0, 1.0, SIDE)
    cube = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)
    lightness = _perceived(cube)[:, 0]
    cube = cube[(lightness > LIGHTNESS[0]) & (lightness < LIGHTNESS[1])]
    seen, distance = _perceived(cube), np.full(len(cube), np.inf)
    for place in _perceived(fixed):
        distance = np.minimum(distance, np.linalg.norm(seen - place, axis=1))
    chosen = list(COLOURS)
    while distance.max() > 0:
        best = int(np.argmax(distance))
        chosen.append("#" + "".join(f"{round(255 * part):02X}" for part in cube[best]))
        distance = np.minimum(distance, np.linalg.norm(seen - seen[best], axis=1))
    return tuple(chosen)


def _perceived(rgb: Floats) -> Floats:
    """Coordinates in which distances are as people see them: Oklab (Ottosson 2020)."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    opponents = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.asarray(np.cbrt(linear @ np.array(cones).T) @ np.array(opponents).T)
