"""Which model for which data: held-out errors of rules, readouts and kernels beside scikit-learn, as a Markdown table.

    python benchmarks/choose.py [FOLDER]     # default ../shared/data

All models learn from the same rows, as the files have them, and take default parameters. Perceptrons make at most five
passes. The errors of linear perceptrons are means of three seeds; votes and all other models are trained once. Of
MNIST, the first 20,000 training images are used. The last line has the standard error of the line `averaged`,
√(p(1 − p)/n) with n held-out rows: figures would change by about that much with other held-out rows. Everything takes
some ten minutes on two cores. docs/choose/index.md has the table.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import public_sets
from public_sets import Split, csr
from sklearn.datasets import load_digits
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model import Perceptron as Theirs
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from perceptrons import KernelPerceptron, Perceptron

PASSES = 5
SEEDS = (0, 1, 2)
IMAGES = 20_000  # of the 60,000 of MNIST
WIDE = 1_000  # rows with fewer features are stored densely for kernels and votes, which is faster
REFERENCE = "averaged"


class Setting(NamedTuple):
    """How to make a model."""

    make: Callable[[int, float], Any]  # from a seed and γ
    seeds: tuple[int, ...] = SEEDS[:1]
    dense: bool = False


def linear(rule: str, readout: str) -> Setting:
    """A linear perceptron."""
    settings: dict[str, Any] = {"rule": rule, "readout": readout, "max_iter": PASSES, "tol": None}
    voted = readout == "voted"
    return Setting(lambda seed, gamma: Perceptron(**settings, random_state=seed), SEEDS[: 1 if voted else 3], voted)


def kernel(**settings: Any) -> Setting:
    """A perceptron with the Gaussian kernel."""
    settings = {"rule": "perceptron", "max_iter": PASSES, "tol": None, "n_iter_no_change": PASSES, **settings}
    return Setting(lambda seed, gamma: KernelPerceptron(gamma=gamma, random_state=seed, **settings), dense=True)


def features(seed: int, gamma: float) -> Any:
    """An averaged perceptron over approximate features of the same kernel."""
    sample = Nystroem(gamma=gamma, n_components=300, random_state=seed)
    return make_pipeline(sample, linear("perceptron", "averaged").make(seed, gamma))


SETTINGS = {
    "largest class": Setting(lambda seed, gamma: DummyClassifier()),
    "last": linear("perceptron", "last"),
    "averaged": linear("perceptron", "averaged"),
    "voted": linear("perceptron", "voted"),
    "pocket": linear("perceptron", "pocket"),
    "`margin`, averaged": linear("margin", "averaged"),
    "`pa1`, averaged": linear("pa1", "averaged"),
    "`arow`, last": linear("arow", "last"),
    "`scw1`, averaged": linear("scw1", "averaged"),
    "`KernelPerceptron`, averaged": kernel(readout="averaged"),
    "`KernelPerceptron`, `budget=500`": kernel(budget=500),
    "`Nystroem` (300), averaged": Setting(features, dense=True),
    "scikit-learn's `Perceptron`": Setting(lambda seed, gamma: Theirs(random_state=seed), SEEDS),
    "scikit-learn's `LinearSVC`": Setting(lambda seed, gamma: LinearSVC(random_state=seed)),
    "scikit-learn's `LogisticRegression`": Setting(lambda seed, gamma: LogisticRegression(max_iter=1000)),
    "scikit-learn's `RandomForestClassifier`": Setting(lambda seed, gamma: RandomForestClassifier(random_state=seed)),
}


def sets(folder: Path) -> dict[str, Split]:
    X, y, X_test, y_test = public_sets.mnist(folder)
    pixels, digits = load_digits(return_X_y=True)
    return {
        "a9a": public_sets.a9a(folder),
        "ijcnn1": public_sets.ijcnn1(folder),
        "letter": public_sets.letter(folder),
        "mnist": (csr(X[:IMAGES]), y[:IMAGES], csr(X_test), y_test),
        "mushroom": public_sets.mushroom(folder),
        "newsgroups": public_sets.news(folder),
        "digits": public_sets.cut(pixels / 16.0, digits),
    }


def error(setting: Setting, split: Split) -> float:
    """The error on held-out rows, a mean over seeds."""
    X, y, X_test, y_test = split
    gamma = 1.0 / (X.shape[1] * (X.power(2).mean() - X.mean() ** 2))  # gamma="scale"
    if setting.dense and X.shape[1] < WIDE:
        X, X_test = X.toarray().astype(np.float32), X_test.toarray().astype(np.float32)
    models = [setting.make(seed, gamma).fit(X, y) for seed in setting.seeds]
    return float(np.mean([model.predict(X_test) != y_test for model in models]))


def line(name: str, cells: list[str]) -> None:
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main(folder: Path) -> None:
    if not (folder / "a9a").exists():
        print(f"no {folder / 'a9a'}: pass the folder of data sets as argument")
        return
    warnings.simplefilter("ignore", ConvergenceWarning)  # five passes are what is measured
    splits, deviation = sets(folder), []
    line("error in %", list(splits))
    line("---", ["---:"] * len(splits))
    line("rows to learn from", [f"{split[0].shape[0]:,}" for split in splits.values()])
    line("held-out rows", [f"{split[2].shape[0]:,}" for split in splits.values()])
    line("features", [f"{split[0].shape[1]:,}" for split in splits.values()])
    line("classes", [str(len(np.unique(split[1]))) for split in splits.values()])
    for name, setting in SETTINGS.items():
        errors = [error(setting, split) for split in splits.values()]
        line(name, [f"{100 * p:.1f}" for p in errors])
        if name == REFERENCE:
            rows = [split[2].shape[0] for split in splits.values()]
            deviation = [np.sqrt(p * (1 - p) / n) for p, n in zip(errors, rows, strict=True)]
    line("standard error of *averaged*", [f"{100 * each:.1f}" for each in deviation])


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
