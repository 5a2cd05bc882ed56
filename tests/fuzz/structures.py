"""Sequences of tokens, and problems of structures, made of odd Python objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptrons import SequenceTagger, StructuredPerceptron
from perceptrons.structures import ProjectiveParsing, Ranking

ODD = (None, "", "x", "\0", "a b", "\ud800", 0, 1, -1, 2**70, 0.5, np.nan, np.inf, 1e308, True, b"x", 1j, [], {}, ())


def case(random: np.random.Generator, folder: Path) -> None:
    [tag, ask, rank][random.integers(3)](random)


def odd(random: np.random.Generator, usual: Any, often: float = 0.03) -> Any:
    """The usual value, or now and then an odd one."""
    return ODD[random.integers(len(ODD))] if random.random() < often else usual


def token(random: np.random.Generator, kind: int) -> Any:
    word = odd(random, f"w{random.integers(9)}")
    if kind == 0:
        return word
    if kind == 1:
        return odd(random, {odd(random, "word"): word, "n": odd(random, 0.5), "more": odd(random, ["a", "b"], 0.1)})
    return odd(random, [word, odd(random, "bias")])


def tag(random: np.random.Generator) -> None:
    kind = int(random.integers(3))
    lengths = random.integers(4, size=int(random.integers(5)))
    X = odd(random, [odd(random, [token(random, kind) for _ in range(n)]) for n in lengths])
    y = odd(random, [odd(random, [odd(random, f"L{random.integers(3)}") for _ in range(n)]) for n in lengths])
    features = odd(random, "pos" if kind == 0 else None)
    model = SequenceTagger(features=features, order=int(random.integers(3)), max_iter=2)
    learn = model.fit if random.random() < 0.5 else model.partial_fit
    assert len(learn(X, y).predict(X)) == len(X)
    if random.random() < 0.3:
        model.predict_k_best(X, k=odd(random, 2, 0.2))


class Problem:
    """Two classes, whose features and searches are odd now and then."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random, self.form = random, random.integers(3)

    def features(self, x: Any, y: Any) -> Any:
        values = np.zeros(6)
        values[3 * int(y == 1) :][:3] = x
        made: Any = {j: value for j, value in enumerate(values)} if self.form == 0 else values
        if self.form == 2:
            made = sp.csr_array(values[np.newaxis])
            if self.random.random() < 0.1:
                part = str(self.random.choice(["indptr", "indices", "data"]))
                setattr(made, part, getattr(made, part) * int(self.random.choice([-1, 7, 2**20])))
        return odd(self.random, made, 0.01)

    def argmax(self, x: Any, weights: Any) -> Any:
        return odd(self.random, int(self.random.integers(2)), 0.01)

    def loss(self, y: Any, found: Any) -> Any:
        return odd(self.random, float(y != found), 0.01)


def ask(random: np.random.Generator) -> None:
    X = [random.normal(size=3) for _ in range(5)]
    model = StructuredPerceptron(Problem(random), rule=str(random.choice(["perceptron", "pa", "pa1"])), max_iter=2)
    assert len(model.fit(X, [0, 1, 0, 1, 1]).predict(X)) == 5


def rank(random: np.random.Generator) -> None:
    if random.random() < 0.5:
        X = [odd(random, random.normal(size=(3, 2)) * odd(random, 1.0)) for _ in range(3)]
        Y = [odd(random, [odd(random, each) for each in random.permutation(3).tolist()]) for _ in range(3)]
        assert len(StructuredPerceptron(Ranking(), max_iter=2).fit(X, Y).predict(X)) == 3
        return
    X = [odd(random, [odd(random, (f"w{random.integers(5)}", "N")) for _ in range(3)]) for _ in range(3)]
    Y = [odd(random, [odd(random, head) for head in (0, 1, 1)]) for _ in range(3)]
    assert len(StructuredPerceptron(ProjectiveParsing(), max_iter=2).fit(X, Y).predict(X)) == 3
