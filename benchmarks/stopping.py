"""When training ends: rows that contradict each other, losses that stop falling, noisy rows.

python benchmarks/stopping.py [FOLDER]   # default ../shared/data, holds newsgroups20, svmguide3, a9a and ijcnn1
"""

from __future__ import annotations

import sys
import tarfile
import warnings
from pathlib import Path

import numpy as np
from side_by_side import head, ratio, row
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import PassiveAggressiveClassifier as TheirPassiveAggressive
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.model_selection import cross_val_score

from perceptrons import PassiveAggressiveClassifier, Perceptron
from perceptrons.theory import separability


def contradicting(n: int = 500_000, d: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Separable rows, but for one pair of equal rows with different labels: 7 and 123,457."""
    random = np.random.default_rng(0)
    X, w = random.normal(size=(n, d)), random.normal(size=d)
    y = X @ w > 0
    X += np.outer(np.where(y, 0.3, -0.3), w / np.linalg.norm(w))
    X[123_457], y[123_457] = X[7], not y[7]
    return X, y.astype(np.int64)


def pair() -> None:
    head("500,000 × 20 rows, separable but for one contradicting pair, milliseconds", "fit", "verdict")
    X, y = contradicting()
    for readout in ("last", "averaged"):
        a, b, factor = ratio(lambda r=readout: Perceptron(readout=r).fit(X, y), lambda: separability(X, y))
        model = Perceptron(readout=readout).fit(X, y)
        row(f"{readout}: {model.n_iter_} passes, names rows {model.contradiction_}", a, b, 1 / factor, "<= 3")


def texts(folder: Path) -> tuple[list[str], list[str], list[str], list[str]]:
    """Messages of sci.* and talk.* groups, and whether they are about science: for training, and for testing."""
    found: dict[str, tuple[list[str], list[str]]] = {"train": ([], []), "test": ([], [])}
    with tarfile.open(folder / "newsgroups20" / "20news-bydate.tar.gz") as archive:
        for member in archive:
            parts = member.name.split("/")
            if member.isfile() and parts[-2].startswith(("sci.", "talk.")):
                X, y = found["train" if "train" in parts[-3] else "test"]
                X.append(archive.extractfile(member).read().decode("latin-1"))
                y.append(parts[-2].split(".")[0])
    return *found["train"], *found["test"]


def losses(folder: Path) -> None:
    head("PassiveAggressiveClassifier, sci.* against talk.*, tf-idf, milliseconds", "ours", "theirs")
    texts_, y, texts_test, y_test = texts(folder)
    words = TfidfVectorizer(sublinear_tf=True)
    X, X_test = words.fit_transform(texts_), words.transform(texts_test)
    for C in (0.01, 0.1, 1.0):
        mine, theirs = (kind(C=C, random_state=0) for kind in (PassiveAggressiveClassifier, TheirPassiveAggressive))
        a, b, factor = ratio(lambda m=mine: m.fit(X, y), lambda m=theirs: m.fit(X, y), 3)
        scores = " / ".join(f"{m.score(X_test, y_test):.3f} in {m.n_iter_}" for m in (mine, theirs))
        row(f"C={C:g}: accuracy {scores} passes", a, b, factor, "alike")


def noise(folder: Path) -> None:
    print("\nPerceptron with default settings, accuracy over 5 folds: ours, ours averaged, scikit-learn's")
    for name in ("svmguide3/svmguide3", "a9a/a9a", "ijcnn1/ijcnn1.trn.bz2"):
        X, y = load_svmlight_file(str(folder / name))
        models = (Perceptron(readout="last"), Perceptron(), TheirPerceptron())
        print(f"{name:<30}", *(f"{cross_val_score(model, X, y, cv=5).mean():.3f}" for model in models), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    pair()
    given = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
    if given.is_dir():
        losses(given)
        noise(given)
    else:
        print(f"\n{given} does not exist: pass the folder of the data sets for the rest")
