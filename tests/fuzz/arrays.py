"""Rows, labels and weights as dense arrays, lists and frames of odd types, shapes and contents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from perceptrons import KernelPerceptron, PassiveAggressiveClassifier, Perceptron
from perceptrons.theory import margins, separability, trace

SHAPES = ((9, 3), (1, 4), (0, 4), (9, 0), (36,), (9, 2, 2), (), (8, 4))
ODD = (np.nan, np.inf, -np.inf, 1e200, 1e308, 5e-324, -0.0, 2.0**53 + 2)
OBJECTS = (None, "x", "1", 1.5, 2**70, 1j, [1], {}, b"x", np.nan, pd.NA, pd.NaT, True)


def case(random: np.random.Generator, folder: Path) -> None:
    X, y = rows(random), labels(random)
    weight = weights(random) if random.random() < 0.3 else None
    use(random, X, y, weight)


def rows(random: np.random.Generator) -> Any:
    shape = SHAPES[random.integers(len(SHAPES))] if random.random() < 0.1 else (9, 4)
    X: Any = np.round(np.asarray(random.normal(size=shape)), 2)
    if X.size and random.random() < 0.2:
        X.flat[random.integers(X.size)] = random.choice(ODD)
    how = random.integers(20)
    with np.errstate(all="ignore"):
        if how == 0:
            X = X.astype(random.choice(["f4", "f2", ">f8", "i8", "u1", "?", "O", "S8", "U8", "c16", "m8[s]", "f8,f8"]))
        elif how == 1:
            X = np.asfortranarray(X)
        elif how == 2 and X.ndim == 2:
            X = np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]
        elif how == 3:
            X = X.tolist()
        elif how == 4 and X.ndim == 2:
            X = pd.DataFrame(X, columns=[f"c{j % 3}" for j in range(X.shape[1])])
        elif how == 5 and X.size:
            X = np.asarray(X.astype(object))
            X.flat[random.integers(X.size)] = OBJECTS[random.integers(len(OBJECTS))]
        elif how == 6 and X.size:
            X = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)  # not aligned
    return X


def labels(random: np.random.Generator) -> Any:
    n = int(random.choice([8, 0, 1])) if random.random() < 0.1 else 9
    y: Any = random.integers(random.integers(1, 4), size=n)
    how = random.integers(20)
    if how == 0:
        y = y.astype(random.choice(["f8", "U3", "S3", "?", "M8[s]", "O", "c16", "u8", "i1"]))
    elif how == 1 and n:
        y = y.astype(float)
        y[random.integers(n)] = random.choice(ODD)
    elif how == 2 and n:
        y = y.astype(object)
        y[random.integers(n)] = OBJECTS[random.integers(len(OBJECTS))]
    elif how == 3:
        y = y.tolist()
    elif how == 4:
        y = np.stack([y, y], axis=1) if random.random() < 0.5 else y[:, np.newaxis]
    elif how == 5:
        y = OBJECTS[random.integers(len(OBJECTS))]
    return y


def weights(random: np.random.Generator) -> Any:
    found: Any = random.random(int(random.choice([9, 9, 8, 0])))
    if found.size and random.random() < 0.5:
        found[random.integers(found.size)] = random.choice([*ODD, -1.0, 0.0])
    return random.choice([1.0, 0.0, -1.0, np.nan]) if random.random() < 0.1 else found


def use(random: np.random.Generator, X: Any, y: Any, weight: Any) -> None:
    entry = random.integers(9)
    if entry < 2:
        model = Perceptron(max_iter=3, readout=str(random.choice(["last", "averaged", "voted", "pocket"])))
        assert len(model.fit(X, y, sample_weight=weight).predict(X)) == len(X)
    elif entry == 2:
        model = Perceptron().partial_fit(np.eye(4), [0, 1, 0, 1])
        before = model.coef_
        try:
            model.partial_fit(X, y, sample_weight=weight)
        except Exception:
            assert (model.coef_ == before).all() and model.n_seen_ == 4  # an error changes nothing
            raise
    elif entry == 3:
        kernel = str(random.choice(["rbf", "linear", "poly", "precomputed"]))
        KernelPerceptron(kernel=kernel, max_iter=3).fit(X, y, sample_weight=weight).predict(X)
    elif entry == 4:
        separability(X, y)
    elif entry == 5:
        separability(K=X, y=y)
    elif entry == 6:
        trace(PassiveAggressiveClassifier(max_iter=3), X, y, sample_weight=weight)
    elif entry == 7:
        margins(X, y, random.normal(size=(1, 4)))
    else:
        PassiveAggressiveClassifier(max_iter=3).fit(np.eye(4), [0, 1, 2, 0]).score(X, y, weight)
