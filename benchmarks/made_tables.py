"""Tables with the columns that people have: wild scales, heavy tails, offsets, codes, rare levels, missing cells.

Each function draws a table with its classes in the column `y`. A hidden linear score of normal variables decides the
class; columns show these variables in other units. So a linear model on the right scale does well, but not perfectly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

Random = np.random.Generator
MADE: dict[str, Callable[[Random], pd.DataFrame]] = {}


def made(function: Callable[[Random], pd.DataFrame]) -> Callable[[Random], pd.DataFrame]:
    """Register a table by the name of its function."""
    MADE[function.__name__.replace("_", " ")] = function
    return function


def drawn(random: Random, n: int, d: int) -> np.ndarray:
    return random.normal(size=(n, d))


def classes(random: Random, score: np.ndarray, *, noise: float = 0.05, share: float = 0.5) -> np.ndarray:
    """Classes by the sign of the score, `share` of them "yes"; a part of them, `noise`, is turned over."""
    y = score > np.quantile(score, 1 - share)
    return np.where(y ^ (random.random(len(y)) < noise), "yes", "no")


def teacher(random: Random, z: np.ndarray) -> np.ndarray:
    score = z @ random.normal(size=z.shape[1])
    return score + 0.3 * score.std() * random.normal(size=len(z))


def frame(columns: np.ndarray, y: np.ndarray, **more: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({f"c{j}": column for j, column in enumerate(columns.T)} | more | {"y": y})


@made
def units_from_1e_6_to_1e9(random: Random) -> pd.DataFrame:
    z = drawn(random, 3000, 16)
    return frame(z * 10.0 ** np.linspace(-6, 9, 16), classes(random, teacher(random, z)))


@made
def one_column_in_the_billions(random: Random) -> pd.DataFrame:
    z = drawn(random, 2000, 8)
    scale = np.array([1e9, 1, 1, 1, 1, 1, 1, 1])
    return frame(z * scale, classes(random, z[:, 1:] @ random.normal(size=7)))


@made
def offsets_beyond_the_spread(random: Random) -> pd.DataFrame:
    z = drawn(random, 3000, 8)
    offset = np.array([1.7e9, 2000, 1e6, -1e5, 273, 1e4, 50, 0])
    return frame(z * [1e6, 10, 5, 1, 3, 20, 1, 1] + offset, classes(random, teacher(random, z)))


@made
def amounts_of_money(random: Random) -> pd.DataFrame:
    z = drawn(random, 4000, 8)
    return frame(np.round(np.exp(1.5 * z + 5), 2), classes(random, teacher(random, z), noise=0.02))


@made
def tails_of_a_power_law(random: Random) -> pd.DataFrame:
    z = drawn(random, 4000, 8)
    ranks = z.argsort(axis=0).argsort(axis=0) / len(z)
    tails = np.where(np.arange(8) < 4, (1 - ranks) ** -1.0, z)  # Pareto, without a variance
    return frame(tails, classes(random, teacher(random, z)))


@made
def raw_tails_decide(random: Random) -> pd.DataFrame:
    x = random.standard_t(2, size=(4000, 8))
    return frame(x * 100, classes(random, teacher(random, x)))


@made
def cells_with_typing_errors(random: Random) -> pd.DataFrame:
    z = drawn(random, 3000, 10)
    wrong = np.where(random.random(z.shape) < 0.001, 1e4, 1.0)
    return frame((z + 5) * wrong, classes(random, teacher(random, z)))


@made
def constant_and_rare_columns(random: Random) -> pd.DataFrame:
    z = drawn(random, 1500, 6)
    rare = (random.random((1500, 4)) < 0.003) * 1.0
    return frame(np.hstack([z, rare, np.full((1500, 2), 1e7)]), classes(random, teacher(random, z)))


@made
def codes_as_integers(random: Random) -> pd.DataFrame:
    codes = random.integers(0, 12, size=(5000, 5))
    effect = random.normal(size=(5, 12))
    z = drawn(random, 5000, 5)
    score = teacher(random, z) + effect[np.arange(5), codes].sum(axis=1)
    return frame(np.hstack([codes * 100 + 1000, z]), classes(random, score))


@made
def counts_with_many_zeros(random: Random) -> pd.DataFrame:
    z = drawn(random, 5000, 10)
    counts = random.poisson(np.exp(1.2 * z - 0.5))
    return frame(counts, classes(random, teacher(random, np.log1p(counts))))


@made
def rare_levels(random: Random) -> pd.DataFrame:
    shares = 1 / np.arange(1, 301)
    levels = random.choice(300, size=(5000, 4), p=shares / shares.sum())
    effect = random.normal(size=(4, 300))
    z = drawn(random, 5000, 3)
    score = teacher(random, z) + effect[np.arange(4), levels].sum(axis=1)
    text = {f"k{j}": np.array([f"L{level}" for level in levels[:, j]]) for j in range(4)}
    return frame(z * [1e3, 1e-3, 1], classes(random, score), **text)


@made
def missing_cells(random: Random) -> pd.DataFrame:
    z = drawn(random, 4000, 10)
    columns = z * 10.0 ** np.arange(-3, 7) + 3 * 10.0 ** np.arange(-3, 7)
    columns[random.random(z.shape) < 0.15] = np.nan
    group = np.where(random.random(4000) < 0.1, None, np.where(z[:, 0] > 0.5, "high", "low"))
    return frame(columns, classes(random, teacher(random, z)), group=group)


@made
def one_in_twenty(random: Random) -> pd.DataFrame:
    z = drawn(random, 8000, 10)
    return frame(z * 10.0 ** np.linspace(0, 6, 10), classes(random, teacher(random, z), noise=0.01, share=0.05))


@made
def five_classes(random: Random) -> pd.DataFrame:
    y = random.integers(0, 5, 4000)
    z = random.normal(size=(5, 8))[y] + drawn(random, 4000, 8)
    return frame(z * 10.0 ** random.uniform(-3, 6, 8), np.array([f"class {label}" for label in y]))


@made
def twelve_uneven_classes(random: Random) -> pd.DataFrame:
    shares = 0.7 ** np.arange(12)
    y = random.choice(12, size=6000, p=shares / shares.sum())
    z = 1.5 * random.normal(size=(12, 6))[y] + drawn(random, 6000, 6)
    return frame(np.hstack([z * 10.0 ** random.uniform(-3, 6, 6), 1e5 + drawn(random, 6000, 6)]), y)


@made
def few_rows(random: Random) -> pd.DataFrame:
    z = drawn(random, 300, 20)
    return frame(z * 10.0 ** random.uniform(-2, 5, 20), classes(random, teacher(random, z[:, :6])))


@made
def many_rows(random: Random) -> pd.DataFrame:
    z = drawn(random, 40_000, 12)
    group = np.array(["north", "south", "east", "west"])[random.integers(0, 4, 40_000)]
    score = teacher(random, z) + (group == "north") - (group == "west")
    return frame(np.round(z * 10.0 ** np.arange(0, 12) / 2), classes(random, score), group=group)


@made
def columns_that_repeat_each_other(random: Random) -> pd.DataFrame:
    hidden = drawn(random, 2500, 4)
    z = hidden @ random.normal(size=(4, 30)) + 0.1 * drawn(random, 2500, 30)
    return frame(z * 10.0 ** random.uniform(-3, 6, 30), classes(random, teacher(random, hidden)))


@made
def a_quarter_of_labels_wrong(random: Random) -> pd.DataFrame:
    z = drawn(random, 4000, 10)
    return frame(z * 10.0 ** np.linspace(-3, 6, 10), classes(random, teacher(random, z), noise=0.25))


@made
def what_no_line_separates(random: Random) -> pd.DataFrame:
    z = drawn(random, 4000, 6)
    score = z[:, 0] + 2 * z[:, 1] * z[:, 2] + z[:, 3] ** 2
    return frame(z * [1, 1e3, 1e3, 1e-3, 1, 1e6], classes(random, score))
