"""The main job on a real data set: train, and say how well it went and what is proved.

Wisconsin breast cancer, which ships with scikit-learn: 569 tumours, 30 measurements each.
"""

from __future__ import annotations

import time
import warnings

from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from perceptrons import Perceptron


def main() -> None:
    """Train every readout on three quarters of the rows and print a table."""
    X, y = load_breast_cancer(return_X_y=True)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    print(f"Breast cancer (Wisconsin): {len(train)} rows to learn from, {len(test)} held out, {X.shape[1]} features.")
    print("The first run compiles each pass once; later runs do not.\n")
    print(f"{'':<24}{'training':>9}{'held-out':>9}")
    print(
        f"{'rule':<12}{'readout':<12}{'error':>9}{'error':>9}{'converged':>11}{'passes':>8}{'updates':>9}{'seconds':>9}"
    )
    for readout in ("last", "averaged", "voted", "pocket"):
        for rule in ("perceptron", "pa1"):
            model = make_pipeline(StandardScaler(), Perceptron(rule=rule, readout=readout))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(train, y_train)  # the first fit of its kind compiles
                begun = time.perf_counter()
                model.fit(train, y_train)
                seconds = time.perf_counter() - begun
            fitted = model[-1]
            print(
                f"{rule:<12}{readout:<12}{1 - model.score(train, y_train):>9.1%}{1 - model.score(test, y_test):>9.1%}"
                f"{'yes' if fitted.converged_ else 'no':>11}{fitted.n_iter_:>8}{fitted.n_updates_:>9}{seconds:>9.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
