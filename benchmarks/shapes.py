"""What rules with a covariance or a scale cost: against the plain rule, scikit-learn's Perceptron, and BLAS.

python benchmarks/shapes.py            # everything, about two minutes
python benchmarks/shapes.py full       # one part: diagonal, full
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from linear import teach, words
from scipy.linalg.blas import dgemv, dsyr
from side_by_side import head, ratio, row
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as TheirPerceptron
from threadpoolctl import threadpool_limits

from perceptrons import Perceptron
from perceptrons.rules import ALMA, AROW, SCW1

PASSES = 10
rng = np.random.default_rng(0)


def ours(X, y, shuffle: bool = True, passes: int = PASSES, **parameters):
    parameters = {"readout": "last", **parameters}
    return lambda: Perceptron(max_iter=passes, tol=None, shuffle=shuffle, **parameters).fit(X, y)


def diagonal() -> None:
    """One pass over CSR rows, 100,000 x 75 non-zeros of 50,000 features."""
    head(f"One pass over CSR rows ({PASSES} passes, divided), milliseconds", "ours", "other")
    X = words()
    y = teach(X)
    for kind in (np.float64, np.float32):
        rows = X.astype(kind)
        for shuffle in (False, True):
            order = f"{'shuffled' if shuffle else 'in order'}, {kind.__name__}"
            for rule, bar in ((AROW(), "<= 2.5 times as long"), (SCW1(), ""), (ALMA(), "")):
                a, b, factor = ratio(ours(rows, y, shuffle, rule=rule), ours(rows, y, shuffle))
                name = type(rule).__name__
                row(f"{name} against the plain rule, {order}", a / PASSES, b / PASSES, 1 / factor, bar)
            theirs = TheirPerceptron(max_iter=PASSES, tol=None, shuffle=shuffle)
            a, b, factor = ratio(ours(rows, y, shuffle, rule=AROW()), lambda their=theirs, X=rows: their.fit(X, y))
            row(f"AROW against scikit-learn's Perceptron, {order}", a / PASSES, b / PASSES, factor, ">= 1")


def full(n: int = 50_000, width: int = 500) -> None:
    """One pass with a full covariance, and what a firing costs at least: a product and a rank-one update in BLAS."""
    X = rng.normal(size=(n, width))
    y = teach(X)
    model = Perceptron(rule=AROW(covariance="full"), readout="last", fit_intercept=False)
    firings = model.partial_fit(X, y).n_updates_
    symmetric, x = np.eye(width, order="F"), X[0].copy()

    def blas() -> None:
        nonlocal symmetric
        for _ in range(firings):
            dgemv(1.0, symmetric, x)
            symmetric = dsyr(-1e-12, x, a=symmetric, overwrite_a=True)

    head(f"One pass, full covariance, {n:,} rows of {width} features, seconds", "ours", "BLAS")
    learn = lambda: Perceptron(rule=AROW(covariance="full"), readout="last", fit_intercept=False).partial_fit(X, y)  # noqa: E731
    with threadpool_limits(1):  # ours has one thread
        a, b, factor = ratio(learn, blas, 3)
    row(f"AROW, {firings:,} firings, against dgemv and dsyr for each", a, b, 1 / factor, "<= 3 times as long", 1.0)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    chosen = sys.argv[1:] or ["diagonal", "full"]
    for part in (diagonal, full):
        if part.__name__ in chosen:
            part()
