"""Named small sets of points, each of which shows one thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
CORNERS = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
DIGITS = 3  # after the point, of coordinates
SEED = 2


class Points(NamedTuple):
    """Rows, and the number of each row's class."""

    rows: Any
    labels: Any


class NamedSet(NamedTuple):
    """What a set is called, what it is for, and the function that makes it."""

    title: str
    about: str
    make: Callable[[np.random.RandomState], Points]


SETS: dict[str, NamedSet] = {}


def named(name: str, title: str, about: str) -> Callable[[Any], Any]:
    """Enter a set under a name."""

    def enter(make: Callable[[np.random.RandomState], Points]) -> Any:
        SETS[name] = NamedSet(title, about, make)
        return make

    return enter


def points_of(name: str) -> tuple[list[list[float]], list[int]]:
    """The rows and labels of a named set.

    >>> points_of("and")
    ([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 0, 0, 1])
    """
    if name not in SETS:
        raise ValueError(f"there is no set {name!r}: the sets are {', '.join(SETS)}")
    rows, labels = SETS[name].make(np.random.RandomState(SEED))
    return np.round(np.asarray(rows, dtype=np.float64), DIGITS).tolist(), [int(code) for code in labels]


def _cloud(random: np.random.RandomState, n: int, centre: tuple[float, float], spread: float) -> Floats:
    return random.normal(centre, spread, size=(n, 2))


@named("clouds", "Two clouds", "Two classes that a line separates.")
def clouds(random: np.random.RandomState) -> Points:
    low, high = _cloud(random, 15, (-1.0, -0.6), 0.55), _cloud(random, 15, (1.0, 0.8), 0.55)
    return Points(np.vstack([low, high]), _halves(15))


@named("and", "AND", "Logical AND: separable, but not by a line through the origin.")
def logical_and(random: np.random.RandomState) -> Points:
    return Points(CORNERS, [0, 0, 0, 1])


@named("or", "OR", "Logical OR: separable with a bias.")
def logical_or(random: np.random.RandomState) -> Points:
    return Points(CORNERS, [0, 1, 1, 1])


@named("xor", "XOR", "Exclusive or: no line separates it. A kernel, or a product of the features, does.")
def logical_xor(random: np.random.RandomState) -> Points:
    return Points(CORNERS, [0, 1, 1, 0])


@named("offset", "Offset only", "Separable, but not through the origin: only the bias can tell the classes apart.")
def offset(random: np.random.RandomState) -> Points:
    low, high = random.uniform((0.6, 0.6), (1.4, 1.4), (8, 2)), random.uniform((2.6, 2.6), (3.4, 3.4), (8, 2))
    return Points(np.vstack([low, high, [[1.0, 1.0], [3.0, 3.0]]]), [*_halves(8), 0, 1])


@named("thin", "A thin margin", "Separable by a hair: the perceptron needs many updates.")
def thin(random: np.random.RandomState) -> Points:
    along = np.linspace(-2.0, 2.0, 12)
    rows = np.vstack([np.column_stack([along, 0.4 * along + 0.06]), np.column_stack([along, 0.4 * along - 0.06])])
    return Points(rows, [*[1] * 12, *[0] * 12])


@named(
    "touching", "Touching hulls", "The hulls of the classes share a point: the margin is 0, so no line separates them."
)
def touching(random: np.random.RandomState) -> Points:
    return Points([[-2, 0], [-1, 1], [0, 0], [-1, -1], [0, 1], [0, -1], [2, 1], [2, -1], [1, 0]], [*[0] * 4, *[1] * 5])


@named("noise", "Noise", "Clouds that overlap: whatever one does, some points stay wrong.")
def noise(random: np.random.RandomState) -> Points:
    return Points(np.vstack([_cloud(random, 30, (-0.8, 0.0), 1.0), _cloud(random, 30, (0.8, 0.4), 1.0)]), _halves(30))


@named("recency", "Recency", "Sorted by class: the last w remembers the last class best. Averaging helps.")
def recency(random: np.random.RandomState) -> Points:
    return Points(np.vstack([_cloud(random, 25, (-0.7, -0.3), 0.9), _cloud(random, 25, (0.9, 0.5), 0.9)]), _halves(25))


@named("moons", "Moons", "Two half circles: a curved boundary separates them.")
def moons(random: np.random.RandomState) -> Points:
    angle = np.linspace(0.0, np.pi, 25)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    lower = np.column_stack([1.0 - np.cos(angle), 0.4 - np.sin(angle)])
    return Points(np.vstack([upper, lower]) + random.normal(0.0, 0.08, (50, 2)), _halves(25))


@named("three", "Three classes", "Three clouds: each class has a weight vector of its own.")
def three(random: np.random.RandomState) -> Points:
    centres = ((-1.6, -0.9), (1.6, -0.9), (0.0, 1.8))
    return Points(np.vstack([_cloud(random, 12, centre, 0.5) for centre in centres]), np.repeat([0, 1, 2], 12))


def _halves(n: int) -> list[int]:
    return [0] * n + [1] * n
