"""What default settings reach on tables, beside what a user would pick instead.

    python benchmarks/defaults.py [FOLDER]     # default ../shared/data, holds tables/, and the sets of `others`

Columns are prepared as usual: numbers scaled, categories one-hot, three random splits in thirds. Ratios are geometric
means over tables; the errors of a table are those of its three splits together. `chosen on` are the tables that the
defaults were chosen on, `others` are sets that they were not chosen on: 2,000 rows each. All parts take some minutes.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import public_sets
from side_by_side import ratio
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model import Perceptron as Theirs
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from perceptrons import KernelPerceptron, Perceptron

SEEDS = (0, 1, 2)
FEW = 3_500  # rows of tables that kernels are compared on
SOME = 2_000  # rows to learn from, of the other sets
Make = Callable[[], Any]


class Split(NamedTuple):
    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def prepared(name: str, X: pd.DataFrame, y: np.ndarray, rows: int | None = None) -> Iterator[Split]:
    """Three splits of a table. rows: the most to learn from."""
    for seed in SEEDS:
        parts = train_test_split(X, y, test_size=1 / 3, random_state=seed, stratify=y)
        numbers = make_pipeline(SimpleImputer(), StandardScaler())
        categories = make_pipeline(
            SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        )
        columns = make_column_transformer(
            (numbers, make_column_selector(dtype_include="number")),
            (categories, make_column_selector(dtype_exclude="number")),
        )
        train, labels = parts[0][:rows], parts[2][:rows]
        columns.fit(train)
        yield Split(name, columns.transform(train), labels, columns.transform(parts[1]), parts[3])


def tables(folder: Path) -> list[Split]:
    """The tables of the folder, and those of scikit-learn."""
    found: list[Split] = []
    for path in sorted((folder / "tables").glob("*.csv")):
        table = pd.read_csv(path)
        found += prepared(path.stem, table.iloc[:, :-1], table.iloc[:, -1].to_numpy())
    for load in (load_iris, load_wine, load_breast_cancer, load_digits):
        X, y = load(return_X_y=True)
        found += prepared(load.__name__.removeprefix("load_"), pd.DataFrame(X), y)
    return found


def others(folder: Path) -> list[Split]:
    """Sets that no default was chosen on."""
    found: list[Split] = []
    sets = {name: getattr(public_sets, name)(folder)[:2] for name in ("letter", "ijcnn1", "a9a", "mnist")}
    sets |= {"covtype": public_sets.covtype(folder, 20_000)[:2], "elec2": public_sets.elec2(folder)}
    sets |= {"svmguide3": public_sets.svmguide3(folder)}
    for name, (X, y) in sets.items():
        chosen = np.random.default_rng(0).permutation(len(y))[: 3 * SOME]
        X = X[chosen]
        X = X.toarray() if hasattr(X, "toarray") else X
        found += prepared(name, pd.DataFrame(X), y[chosen], SOME)
    return found


def wrong(make: Make, splits: list[Split]) -> dict[str, int]:
    """Errors on held-out rows, by table."""
    found: dict[str, int] = {}
    for split in splits:
        guesses = make().fit(split.X, split.y).predict(split.X_test)
        found[split.name] = found.get(split.name, 0) + int(np.sum(guesses != split.y_test))
    return found


def compare(title: str, make: Make, peer: Make, splits: list[Split], bar: str) -> None:
    """Print the geometric mean of the ratios of errors, for all tables and for each half of them."""
    begun = time.process_time()
    ours = wrong(make, splits)
    taken = time.process_time() - begun
    begun = time.process_time()
    theirs = wrong(peer, splits)
    other = time.process_time() - begun
    logs = np.log([(ours[name] + 0.5) / (theirs[name] + 0.5) for name in theirs])
    halves = ", ".join(f"{np.exp(half.mean()):.3f}" for half in (logs[::2], logs[1::2]))
    print(
        f"{title:<62} {np.exp(logs.mean()):6.3f}   {bar:<8} (every second table: {halves}; {taken:.1f} s, theirs "
        f"{other:.1f} s; {len(theirs)} tables)",
        flush=True,
    )


def slowest(splits: list[Split]) -> None:
    """Print how long a fit takes beside scikit-learn's Perceptron, where that is longest."""
    found = []
    for split in splits[:: len(SEEDS)]:
        _, _, factor = ratio(
            lambda split=split: Perceptron().fit(split.X, split.y), lambda split=split: Theirs().fit(split.X, split.y)
        )
        found.append((1 / factor, split.name))
    factors = [factor for factor, _ in found]
    print(
        f"{'time of fit against scikit-learn, the slowest table: ' + max(found)[1]:<62} {max(factors):6.3f}   <= 3     "
        f"(median {np.median(factors):.2f})"
    )


def main(folder: Path) -> None:
    if not (folder / "tables").is_dir():
        print(f"no {folder / 'tables'}: pass the folder of data sets as argument")
        return
    logistic, last = partial(LogisticRegression, max_iter=1000), partial(Perceptron, readout="last")
    splits = tables(folder)
    few = [split for split in splits if len(split.y) + len(split.y_test) <= FEW]
    files = [split for split in few if (folder / "tables" / f"{split.name}.csv").exists()]
    print(f"{'errors against a peer':<62} {'ratio':>6}   bar")
    compare("Perceptron(), LogisticRegression, chosen on", Perceptron, logistic, splits, "<= 1.03")
    compare("  readout='last'", last, logistic, splits, "")
    compare("  scikit-learn's Perceptron()", Theirs, logistic, splits, "")
    slowest(splits)
    compare("KernelPerceptron(), SVC(), chosen on", KernelPerceptron, SVC, few, "<= 0.82")
    compare("  without scikit-learn's tables", KernelPerceptron, SVC, files, "")
    unseen = others(folder)
    compare("Perceptron(), LogisticRegression, others", Perceptron, logistic, unseen, "")
    compare("  readout='last'", last, logistic, unseen, "")
    compare("KernelPerceptron(), SVC(), others", KernelPerceptron, SVC, unseen, "")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
