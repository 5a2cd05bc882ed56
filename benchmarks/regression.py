"""Regression at the first try: the defaults of `perceptrons train --regression` beside the mean and ridge regression.

Tables are made here or come with scikit-learn: columns in raw units, categories, gaps, values with a few that are far
off. 70 % of the rows are for training. Printed are R² and the mean absolute error (MAE) on the others.

    python benchmarks/regression.py            # the defaults
    python benchmarks/regression.py --rules    # other rules and parameters, too
"""

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from perceptrons import PassiveAggressiveRegressor
from perceptrons.data import source
from perceptrons.learn.linear.defaults import VALUES
from perceptrons.rules import AROW, PA1, PA2

QUARTERS = {"north": 0, "south": 15e3, "east": -20e3, "west": 5e3, "centre": 90e3, "harbour": 60e3}
KINDS = {"flat": 0, "house": 40e3, "villa": 220e3}


def named(X, y):
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)


def houses(random, n=4000):
    """Prices of houses: areas are skewed, some cells are missing."""
    area, distance = np.exp(random.normal(4.6, 0.4, n)), np.exp(random.normal(1.5, 0.7, n))
    rooms, year = np.clip((area / 25 + random.randn(n)).round(), 1, None), random.randint(1890, 2023, n)
    quarter, kind = random.choice(list(QUARTERS), n), random.choice(list(KINDS), n, p=[0.6, 0.35, 0.05])
    price = area * 2100 + rooms * 4000 + (year - 1950) * 350 - distance * 4500 + random.randn(n) * 3e4
    price += [QUARTERS[q] + KINDS[k] for q, k in zip(quarter, kind, strict=True)]
    rooms[random.rand(n) < 0.03] = np.nan
    columns = {"area": area.round(1), "rooms": rooms, "year": year, "quarter": quarter, "kind": kind}
    return pd.DataFrame({**columns, "distance": distance.round(2), "y": price.round(-2)})


def outliers(random, n=3000):
    """Columns of very different sizes, and 2 % of the values far off."""
    X = random.randn(n, 12) * 10 ** random.uniform(-2, 3, 12) + random.randn(12) * 100
    y = (X - X.mean(axis=0)) / X.std(axis=0) @ random.randn(12) * 50 + 1000 + random.randn(n) * 20
    bad = random.rand(n) < 0.02
    y[bad] += random.standard_cauchy(bad.sum()) * 2000
    return named(X, y)


def tables():
    random = np.random.RandomState(1)
    diabetes = load_diabetes(as_frame=True, scaled=False)
    correlated = random.randn(2000, 40) @ random.randn(40, 40)
    noisy = random.randn(20000, 30)
    return {
        "diabetes": diabetes.data.assign(y=diabetes.target),
        "friedman1": named(*make_friedman1(3000, noise=1.0, random_state=0)),
        "houses": houses(random),
        "outliers": outliers(random),
        "noisy": named(noisy, noisy @ random.randn(30) + random.randn(20000) * 3),
        "correlated": named(correlated, correlated @ random.randn(40) + random.randn(2000) * 5),
    }


def ridge():
    numbers, words = make_column_selector(dtype_include="number"), make_column_selector(dtype_exclude="number")
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers), (OneHotEncoder(handle_unknown="ignore"), words)
    )
    return make_pipeline(columns, Ridge())


def scores(predict, found):
    """R² and MAE on the test rows of each table; predict: from the name of a table and its halves to predictions."""
    for name, (train, test) in found.items():
        guesses = predict(name, train, test)
        yield f"{r2_score(test.y, guesses):7.4f} {mean_absolute_error(test.y, guesses):9.5g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rules", action="store_true", help="other rules and parameters, too")
    args, found = parser.parse_args(), {}
    warnings.simplefilter("ignore")
    folder = Path(tempfile.mkdtemp())
    for name, table in tables().items():
        kept = np.random.RandomState(0).rand(len(table)) < 0.7
        found[name] = table[kept], table[~kept]
        for part, rows in zip(("train", "test"), found[name], strict=True):
            rows.to_csv(folder / f"{name}-{part}.csv", index=False)

    def ours(rule):
        def predict(name, train, test):
            model = PassiveAggressiveRegressor(rule=rule, average=True, max_iter=10, tol=None, random_state=0)
            model.fit(source(folder / f"{name}-train.csv", target="y"))
            return model.predict(source(folder / f"{name}-test.csv", like=model.encoding_))

        return predict

    rules = [PA1(VALUES["C"])]
    if args.rules:
        rules += [PA1(1.0), PA1(0.01), PA1(0.001), PA2(0.1), PA2(0.01), AROW(1.0), AROW(10.0), AROW(1.0, "full")]
    lines = {
        "mean": lambda name, train, test: np.full(len(test), train.y.mean()),
        "ridge, one-hot and scaled": lambda name, train, test: (
            ridge().fit(train.drop(columns="y"), train.y).predict(test)
        ),
        **{f"{rule}, averaged": ours(rule) for rule in rules},
    }
    print(" " * 40, *(f"{name + ' R², MAE':>17}" for name in found))
    for name, predict in lines.items():
        print(f"{name:40}", *scores(predict, found), flush=True)


if __name__ == "__main__":
    main()
