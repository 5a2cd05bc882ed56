"""Online mistake rates on svmguide3 against LIBOL's published table (Hoi, Wang & Zhao 2014).

One pass without a bias, mean of 10 permutations; a rate within 0.01 of the table's is a match.

    python benchmarks/published.py [FOLDER]      # default ../shared/data, holds svmguide3/svmguide3
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from perceptrons import Perceptron
from perceptrons.rules import PA1, PA2

TABLE = {"perceptron": 0.332, "pa": 0.318, PA1(1 / 16): 0.236, PA2(1 / 16): 0.253}


def main(folder: Path) -> None:
    path = folder / "svmguide3" / "svmguide3"
    if not path.exists():
        print(f"no {path}: pass the folder of data sets as argument")
        return
    X, y = load_svmlight_file(str(path))
    X = X.toarray()
    print(
        f"\nOnline mistake rate, svmguide3 ({len(y)} rows), 10 permutations\n"
        f"{'rule':<16}{'ours':>8}{'LIBOL':>8}{'off by':>8}   bar"
    )
    for rule, published in TABLE.items():
        rates = []
        for seed in range(10):
            order = np.random.default_rng(seed).permutation(len(y))
            model = Perceptron(rule=rule, fit_intercept=False)
            rates.append(model.partial_fit(X[order], y[order], classes=[-1, 1]).n_mistakes_ / len(y))
        off = abs(np.mean(rates) - published)
        print(f"{rule!s:<16}{np.mean(rates):>8.3f}{published:>8.3f}{off:>8.3f}   <= 0.010")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
