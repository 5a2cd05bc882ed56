"""Are the probabilities of rules with a covariance near to frequencies? Beside calibrated scores and a logistic model.

On the test files of a9a and ijcnn1 (two classes) and letter (26 classes):

- error: the share of rows whose label `predict` gets wrong;
- Brier score: the mean of (p − y)² for two classes, p the probability of the second and y = 1 for its rows, else 0; for
  several classes, the mean of the sum of (p_c − y_c)² over all of them;
- ECE, the expected calibration error: rows fall into 15 bins of p, all of the same width. It is the mean over rows of
  |mean p − share of rows with y = 1| of their bin. For several classes, p is that of the most probable class, and y = 1
  if the row is of that class;
- too sure: the mean probability of the most probable class, minus the share of rows that are of that class. Above 0,
  the model is overconfident;
- differ: the share of rows whose most probable class is not the predicted one.

    python benchmarks/calibration.py [FOLDER]      # default ../shared/data, holds a9a/a9a, a9a/a9a.t, ijcnn1/…
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_svmlight_files
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from perceptrons import Perceptron
from perceptrons.rules import RULES, kind_of

FILES = {
    "a9a": ("a9a", "a9a.t"),
    "ijcnn1": ("ijcnn1.trn.bz2", "ijcnn1.tst.bz2"),
    "letter_scale": ("letter.scale", "letter.scale.t"),
}
BINS = 15


def calibration_error(p: Any, y: Any) -> float:
    """Expected calibration error: Σ over bins of |Σ p − Σ y|, divided by the number of rows."""
    of = np.minimum((p * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(of, p - y, BINS)).sum() / len(y))


def models() -> Iterator[tuple[str, Any]]:
    """Names and models."""
    yield "LogisticRegression", LogisticRegression(max_iter=1000)
    for rule in ("perceptron", "arow"):
        model = Perceptron(rule=rule, readout="averaged", max_iter=5, tol=None)
        yield f"CalibratedClassifierCV, averaged {rule}", CalibratedClassifierCV(model)
    names = [name for name, rule in RULES.items() if kind_of(rule) == "metric"]
    for name, covariance, readout, passes in product(names, ("diagonal", "full"), ("last", "averaged"), (1, 5)):
        label = f"{name:<6} {covariance:<9} {readout:<9} {passes} {'pass' if passes == 1 else 'passes'}"
        rule = RULES[name](covariance=covariance)
        yield label, Perceptron(rule=rule, readout=readout, max_iter=passes, tol=None)


def measured(model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> str:
    """Fit a model and measure its probabilities on the test rows."""
    try:
        model.fit(X, y)
    except ValueError as error:
        return f"   {str(error).split(';')[0]}"
    p, predicted = model.predict_proba(X_test), model.predict(X_test)
    truth, best = y_test[:, np.newaxis] == model.classes_, p.argmax(axis=1)
    right, sure = model.classes_[best] == y_test, p.max(axis=1)
    two = p.shape[1] == 2
    brier = np.mean(np.sum((p - truth) ** 2, axis=1)) / (2 if two else 1)
    ece = calibration_error(p[:, 1], truth[:, 1]) if two else calibration_error(sure, right)
    differ = np.mean(model.classes_[best] != predicted)
    error = np.mean(predicted != y_test)
    return f"{error:>8.4f}{brier:>8.4f}{ece:>8.4f}{sure.mean() - right.mean():>+10.4f}{differ:>8.4f}"


def main(folder: Path) -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name, files in FILES.items():
        paths = [folder / name / file for file in files]
        missing = [str(path) for path in paths if not path.exists()]
        if missing:
            print(f"no {', '.join(missing)}: pass the folder of data sets as argument")
            continue
        X, y, X_test, y_test = load_svmlight_files([str(path) for path in paths])
        print(f"\n{name}: {X.shape[0]:,} rows to learn from, {X_test.shape[0]:,} test rows, {X.shape[1]} features")
        print(f"{'':<42}{'error':>8}{'Brier':>8}{'ECE':>8}{'too sure':>10}{'differ':>8}")
        for label, model in models():
            print(f"{label:<42}{measured(model, X, y, X_test, y_test)}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
