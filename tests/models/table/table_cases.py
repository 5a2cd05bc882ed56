"""Tables with every kind of column, and what makes two models for tables the same."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

KINDS = {
    "pandas": lambda df: df,
    "polars": pl.from_pandas,
    "arrow": lambda df: pa.Table.from_pandas(df, preserve_index=False),
}
WORDS = ["free", "win", "lunch", "hello", "Ärger", "you", "now", 'say "so"', "a,b"]


def people(n=300, seed=0, target="two"):
    """Numbers, whole numbers, amounts, codes, flags, categories, dates, text and missing cells."""
    random = np.random.default_rng(seed)
    df = pd.DataFrame(
        {
            "id": np.arange(n) + 1000,
            "age": random.integers(18, 90, n),
            "height": random.normal(170.0, 9.0, n),
            "children": random.integers(0, 4, n).astype(float),
            "pay": [f"${amount:,}" for amount in random.integers(100, 9000, n)],
            "zip": random.choice(["01067", "50667", "80331"], n),
            "job": random.choice(["nurse", " cook", 'a, "b"', "x\ny", "?"], n),
            "smokes": random.random(n) < 0.4,
            "since": pd.date_range("2020-01-01", periods=n),
            "born": random.choice(["1980-02-03", "1990-05-06", "2001-09-08"], n),
            "note": [f"{' '.join(random.choice(WORDS, 5))} {i}" for i in range(n)],
            "empty": np.full(n, np.nan),
        }
    )
    for name in ("height", "children", "job"):
        df.loc[random.random(n) < 0.1, name] = None
    score = (df.age - 50) / 10 + 2 * df.smokes + df.children.fillna(1) + random.normal(size=n)
    values = {
        "two": np.where(score > 1, "yes", "no"),
        "whole": (score > 1).astype(int) + 3,
        "flag": score > 1,
        "several": pd.cut(score, [-99, 0, 2, 99], labels=["low", "middle", "high"]).astype(str),
        "value": score * 1000.0,
    }
    return df.assign(y=values[target])


def assert_same(a, b):
    """The same weights, bit for bit, of the same features."""
    assert type(a) is type(b)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    np.testing.assert_array_equal(a.intercept_, b.intercept_)
    assert a.encoding_.seen == b.encoding_.seen
    assert getattr(a, "classes_", np.empty(0)).tolist() == getattr(b, "classes_", np.empty(0)).tolist()
    assert a.get_params(deep=False) == b.get_params(deep=False)
    told = [[(g.column, g.kind, g.why, g.missing) for g in model.describe().guesses] for model in (a, b)]
    for one, other in zip(*told, strict=True):
        assert one == other
