"""What to learn streams with: errors of predictions before each example, as a Markdown table.

    python benchmarks/drifting.py [FOLDER]     # default ../shared/data, holds elec2

Each example is predicted, then learned, behind River's StandardScaler. `elec2` is real; the others are made by River,
20,000 examples each, and most change while they run. The last column is the geometric mean of the errors, divided by
those of River's LogisticRegression. docs/guides/streams.md has the table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from public_sets import elec2
from river import linear_model, preprocessing
from river.datasets import synth

from perceptrons import rules
from perceptrons.river import Perceptron

N = 20_000
Stream = Iterator[tuple[dict[Any, Any], Any]]


def electricity(folder: Path) -> Stream:
    X, y = elec2(folder)
    names = [f"x{j}" for j in range(X.shape[1])]
    return ((dict(zip(names, row, strict=True)), label == y.max()) for row, label in zip(X.tolist(), y, strict=True))


def moving(first: Any, then: Any) -> Any:
    """One concept that becomes another one in the middle."""
    return synth.ConceptDriftStream(first, then, position=N // 2, width=N // 20, seed=0)


STREAMS: dict[str, Callable[[], Any]] = {
    "hyperplane, slow": lambda: synth.Hyperplane(seed=0, n_features=10, n_drift_features=5, mag_change=0.001),
    "hyperplane, fast": lambda: synth.Hyperplane(seed=0, n_features=10, n_drift_features=10, mag_change=0.01),
    "SEA, sudden": lambda: moving(synth.SEA(variant=0, noise=0.1, seed=0), synth.SEA(variant=3, noise=0.1, seed=1)),
    "Agrawal, sudden": lambda: moving(
        synth.Agrawal(classification_function=0, seed=0), synth.Agrawal(classification_function=2, seed=1)
    ),
    "RBF, moving": lambda: synth.RandomRBFDrift(
        seed_model=0,
        seed_sample=0,
        n_classes=2,
        n_features=10,
        n_centroids=10,
        change_speed=0.001,
        n_drift_centroids=10,
    ),
    "Mixed, sudden": lambda: moving(synth.Mixed(classification_function=0, seed=0), synth.Mixed(1, seed=1)),
    "hyperplane, still": lambda: synth.Hyperplane(seed=0, n_features=10, n_drift_features=0, noise_percentage=0.1),
}

MODELS: dict[str, Callable[[], Any]] = {
    "River's LogisticRegression": linear_model.LogisticRegression,
    "last": lambda: Perceptron(readout="last"),
    "averaged": lambda: Perceptron(readout="averaged"),
    "`pa1(C=.01)`, last": lambda: Perceptron(rule=rules.PA1(0.01), readout="last"),
    "`pa1(C=.01)`, averaged": lambda: Perceptron(rule=rules.PA1(0.01), readout="averaged"),
    "`scw2`, last": lambda: Perceptron(rule="scw2", readout="last"),
    "`arow`, last": lambda: Perceptron(rule="arow", readout="last"),
    "`shifting`, last": lambda: Perceptron(rule="shifting", readout="last"),
}


def error(model: Any, stream: Stream) -> float:
    """The share of examples that are predicted wrong before they are learned."""
    model, wrong, n = preprocessing.StandardScaler() | model, 0, 0
    for x, y in stream:
        wrong += model.predict_one(x) != y
        model.learn_one(x, y)
        n += 1
    return wrong / n


def main(folder: Path) -> None:
    streams: dict[str, Callable[[], Stream]] = {
        name: lambda make=make: ((x, bool(y)) for x, y in islice(make(), N)) for name, make in STREAMS.items()
    }
    if (folder / "elec2").exists():
        streams = {"elec2": lambda: electricity(folder), **streams}
    else:
        print(f"no {folder / 'elec2'}: pass the folder of data sets as argument\n")
    print(f"| error in % | {' | '.join(streams)} | to River's |")
    print(f"|---|{'---:|' * (len(streams) + 1)}")
    reference: np.ndarray | None = None
    for name, make in MODELS.items():
        errors = np.array([error(make(), stream()) for stream in streams.values()])
        reference = errors if reference is None else reference
        ratio = float(np.exp(np.log(errors / reference).mean()))
        print(f"| {name} | {' | '.join(f'{100 * each:.1f}' for each in errors)} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
