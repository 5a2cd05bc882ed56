"""Sparse matrices whose parts were set to anything."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptrons import KernelPerceptron, PassiveAggressiveClassifier, Perceptron
from perceptrons.data import as_rows
from perceptrons.theory import augment, margins, separability, trace

ROWS, WIDTH = 12, 6
FORMATS = ("csr", "csr", "csr", "csr", "csc", "bsr", "coo", "dia", "lil", "dok")
PARTS = {
    "csr": ("indptr", "indptr", "indices", "data"),
    "csc": ("indptr", "indices", "data"),
    "bsr": ("indptr", "indices", "data"),
    "coo": ("row", "col", "data"),
    "dia": ("offsets", "data"),
    "lil": ("rows", "data"),
    "dok": (),
}
EXTREMES = (-1, -2, 0, 1, WIDTH, ROWS, 127, 2**31 - 1, 2**31, 2**32 - 1, 2**62, -(2**31))


def case(random: np.random.Generator, folder: Path) -> None:
    X = matrix(random)
    for _ in range(random.integers(1, 3)):
        damage(random, X)
    y = random.integers(2, size=ROWS)
    use(random, X, y)


def matrix(random: np.random.Generator) -> Any:
    """A valid matrix, sometimes with duplicates or spare room."""
    dense = np.round(random.normal(size=(ROWS, WIDTH)) * (random.random((ROWS, WIDTH)) < 0.4), 2)
    form = str(random.choice(FORMATS))
    made = getattr(sp, f"{form}_{random.choice(['array', 'matrix'])}")(dense)
    if form == "csr" and random.random() < 0.2:
        made.data, made.indices = np.append(made.data, [1e300] * 3), np.append(made.indices, [0] * 3)
    return made


def damage(random: np.random.Generator, X: Any) -> None:
    """Change one of the parts of a matrix."""
    if not PARTS[X.format]:
        X._dict[int(random.choice(EXTREMES)), int(random.choice(EXTREMES))] = 1.0
        return
    part = str(random.choice(PARTS[X.format]))
    array = getattr(X, part)
    if not isinstance(array, np.ndarray):  # damaged before
        return
    how = random.integers(9)
    if how == 0:  # another type, which may wrap or lose numbers
        kinds = ["u1", "i1", "u2", "u4", "u8", "i8", "f4", "f8", ">i4", ">f8", "?"] if X.format != "lil" else ["O"]
        with np.errstate(all="ignore"):
            array = array.astype(random.choice(kinds))
    elif how <= 4 and array.size:  # a few entries
        array = array.copy()
        for _ in range(random.integers(1, 4)):
            at = tuple(random.integers(n) for n in array.shape)
            value: Any = random.choice(EXTREMES)
            if X.format == "lil":
                value = [int(value)] * int(random.integers(4))
            elif array.dtype.kind == "f":
                value = random.choice([np.nan, np.inf, 1e200, 0.5])
            else:
                value = np.asarray(value).astype(array.dtype)
            array[at] = value
    elif how == 5:  # longer or shorter
        n = int(random.integers(2 * len(array) + 2))
        array = np.resize(array, (n, *array.shape[1:]))
    elif how == 6:
        array = array.reshape(-1, 1) if random.random() < 0.5 else array.ravel()
    elif how == 7:
        array = array.tolist() if random.random() < 0.5 else None
    else:
        array = array[::-1] if random.random() < 0.5 else np.repeat(array, 2, axis=0)[::2]
    try:
        setattr(X, part, array)
    except Exception:  # SciPy refuses some of it
        return
    if random.random() < 0.1 and X.format == "csr":
        X.has_canonical_format = True


@cache
def fitted(name: str) -> Any:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(ROWS, WIDTH)), random.integers(2, size=ROWS)
    model = {"linear": Perceptron, "kernel": KernelPerceptron}[name]
    return model(max_iter=3).fit(X, y)


def use(random: np.random.Generator, X: Any, y: Any) -> None:
    """Give the matrix to one of the entries; what is accepted must have an answer for each row."""
    entry = random.integers(12)
    if entry == 0:
        assert len(Perceptron(max_iter=3).fit(X, y).predict(X)) == ROWS
    elif entry == 1:
        assert len(fitted("linear").predict(X)) == ROWS
    elif entry == 2:
        assert Perceptron().partial_fit(X, y).n_seen_ == ROWS
    elif entry == 3:
        assert len(KernelPerceptron(max_iter=3, gamma="scale").fit(X, y).predict(X)) == ROWS
    elif entry == 4:
        assert len(fitted("kernel").predict(X)) == ROWS
    elif entry == 5:
        trace(Perceptron(max_iter=3), X, y)
    elif entry == 6:
        separability(X, y)
    elif entry == 7:
        good = random.normal(size=(ROWS, WIDTH))
        Perceptron(max_iter=3, early_stopping=True).fit(good, y, X_val=X, y_val=y)
    elif entry == 8:
        assert augment(X).shape == (ROWS, WIDTH + 1)
    elif entry == 9:
        assert len(margins(X, y, fitted("linear"))) == ROWS
    elif entry == 10:
        assert len(PassiveAggressiveClassifier().predict_then_learn(X, y)) == ROWS
    else:
        assert len(as_rows(X)) == ROWS
