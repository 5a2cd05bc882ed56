"""Are the probabilities of rules with a covariance nearer to frequencies than those of calibrated scores?

For the second class of a9a and ijcnn1, on the test files:

- error: the share of rows that are predicted wrong;
- Brier score: the mean of (p − y)², y = 1 for the second class, else 0;
- expected calibration error: rows fall into 15 bins of p, all of the same width. The error is the mean over rows of
  |mean p − share of the second class| of their bin;
- too sure: the mean of max(p, 1 − p) minus the share of rows that are right; above 0 the model is overconfident.

    python benchmarks/calibration.py [FOLDER]      # default ../shared/data, holds a9a/a9a and a9a.t, ijcnn1/ijcnn1.*
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

FILES = {"a9a": ("a9a", "a9a.t"), "ijcnn1": ("ijcnn1.trn.bz2", "ijcnn1.tst.bz2")}
BINS = 15


def calibration_error(p: Any, y: Any) -> float:
    """Expected calibration error: Σ over bins of |Σ p − Σ y|, divided by the number of rows."""
    of = np.minimum((p * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(of, p - y, BINS)).sum() / len(y))


def models() -> Iterator[tuple[str, Any]]:
    """Names and models."""
    yield "LogisticRegression", LogisticRegression(max_iter=1000)
    perceptron = Perceptron(readout="averaged", max_iter=5, tol=None)
    for method in ("sigmoid", "isotonic"):
        yield f"calibrated averaged perceptron, {method}", CalibratedClassifierCV(perceptron, method=method)
    arow = Perceptron(rule="arow", readout="averaged", max_iter=5, tol=None)
    arow.predict_proba = None
    yield "calibrated averaged arow, sigmoid", CalibratedClassifierCV(arow)
    names = [name for name, rule in RULES.items() if kind_of(rule) == "metric"]
    for name, covariance, readout, passes in product(names, ("diagonal", "full"), ("last", "averaged"), (1, 5)):
        rule = RULES[name](covariance=covariance)
        label = f"{name:<6} {covariance:<9} {readout:<9} {passes} {'pass' if passes == 1 else 'passes'}"
        yield label, Perceptron(rule=rule, readout=readout, max_iter=passes, tol=None)


def measured(model: Any, data: tuple[Any, ...]) -> str:
    """Fit a model and measure its probabilities on the test rows."""
    X, y, X_test, y_test = data
    try:
        p = model.fit(X, y).predict_proba(X_test)[:, 1]
    except ValueError as error:
        return f"   {str(error).split(';')[0]}"
    true = y_test == model.classes_[1]
    right = (p > 0.5) == true
    brier, sure = np.mean((p - true) ** 2), np.mean(np.maximum(p, 1 - p)) - right.mean()
    return f"{1 - right.mean():>8.4f}{brier:>8.4f}{calibration_error(p, true):>8.4f}{sure:>+10.4f}"


def main(folder: Path) -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name, files in FILES.items():
        paths = [folder / name / file for file in files]
        missing = [str(path) for path in paths if not path.exists()]
        if missing:
            print(f"no {', '.join(missing)}: pass the folder of data sets as argument")
            continue
        X, y, X_test, y_test = load_svmlight_files([str(path) for path in paths])
        print(f"\n{name}: {X.shape[0]:,} rows of training, {X_test.shape[0]:,} of test, {X.shape[1]} features")
        print(f"{'':<42}{'error':>8}{'Brier':>8}{'ECE':>8}{'too sure':>10}")
        for label, model in models():
            print(f"{label:<42}{measured(model, (X, y, X_test, y_test))}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
