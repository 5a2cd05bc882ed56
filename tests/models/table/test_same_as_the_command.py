"""TableClassifier and TableRegressor learn from a frame what the command learns from the same rows as CSV."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from table_cases import KINDS, assert_same, people

from perceptrons import TableClassifier, TableRegressor, load, save
from perceptrons.data import batches
from perceptrons.data.table import csv_blocks
from perceptrons.rules import AROW, PA1


@pytest.mark.parametrize("target", ["two", "whole", "flag", "several"])
@pytest.mark.parametrize("kind", KINDS)
def test_classes(trained, kind, target):
    df = people(target=target)
    model = TableClassifier().fit(KINDS[kind](df), "y")
    assert_same(model, trained(df))
    assert_same(model, TableClassifier().fit(KINDS[kind](df.drop(columns="y")), df.y))
    assert model.score(df, "y") > 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_values(trained, kind):
    df = people(target="value")
    model = TableRegressor().fit(KINDS[kind](df), "y")
    assert_same(model, trained(df, "--regression"))
    assert_same(model, TableRegressor().fit(KINDS[kind](df.drop(columns="y")), df.y))
    assert model.score(df, "y") > 0.8


COLUMNS = [
    ["age", "height"],
    ["age"],
    ["note"],
    ["job", "smokes", "zip"],
    ["pay", "children"],
    ["height", "note", "job"],
]


@pytest.mark.parametrize("columns", COLUMNS, ids="+".join)
@pytest.mark.parametrize("target", ["several", "value"])
def test_some_columns(trained, columns, target):
    df = people(seed=len(columns), target=target)[[*columns, "y"]]
    values = target == "value"
    model = (TableRegressor if values else TableClassifier)().fit(df, "y")
    assert_same(model, trained(df, *["--regression"] * values))


SETTINGS = [
    ({"rule": "arow"}, ["--rule", "arow"]),
    ({"rule": AROW(r=3.0), "max_iter": 2}, ["--rule", "arow", "--r", "3", "--passes", "2"]),
    ({"rule": PA1(0.5), "readout": "last"}, ["--rule", "pa1", "--C", "0.5", "--readout", "last"]),
    ({"shuffle": False, "fit_intercept": False}, ["--no-shuffle", "--no-intercept"]),
    ({"random_state": 7, "class_weight": "balanced"}, ["--seed", "7", "--class-weight", "balanced"]),
    ({"text": ["job"], "drop": ["note", "pay"]}, ["--text", "job", "--drop", "note,pay"]),
    ({"categorical": ["age", "since"], "hash_bits": 6}, ["--categorical", "age,since", "--hash-bits", "6"]),
    ({"numeric": ["id"], "missing": 3.0}, ["--numeric", "id", "--missing", "3"]),
    (
        {"ngrams": 2, "text_bits": 10, "weighting": "counts"},
        ["--ngrams", "2", "--text-bits", "10", "--weighting", "counts"],
    ),
    ({"na": ["nurse"], "scale": "none"}, ["--na", "nurse", "--scale", "none"]),
    ({"tol": 1e-3, "intercept_scaling": 0.5}, ["--tol", "1e-3", "--intercept-scaling", "0.5"]),
]


@pytest.mark.parametrize("params, options", SETTINGS, ids=lambda each: "" if isinstance(each, dict) else " ".join(each))
def test_settings(trained, params, options):
    df = people(120, target="several")
    found = trained(df, *options)
    model = TableClassifier(**params).fit(df, "y")
    np.testing.assert_array_equal(model.decision_function(df), found.decision_function(df))
    if params.get("readout") != "voted":
        np.testing.assert_array_equal(model.coef_, found.coef_)
    again = TableClassifier(**found.get_params(deep=False)).fit(df, "y")  # its parameters are those of the options
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_early_stopping(trained):
    df = people(target="two")
    found = trained(df, "--validation", "0.2", "--patience", "2", "--passes", "30")
    params = {"early_stopping": True, "validation_fraction": 0.2, "n_iter_no_change": 2, "max_iter": 30}
    assert_same(TableClassifier(**params).fit(df, "y"), found)


@pytest.mark.parametrize("passes", [1, 4])
@pytest.mark.parametrize("block", [200, 5000])
def test_more_rows_than_a_batch(trained, monkeypatch, block, passes):
    monkeypatch.setattr(batches, "MOST_ROWS", 37)
    monkeypatch.setattr(batches, "MOST_BYTES", 6000)
    monkeypatch.setattr(csv_blocks, "BLOCK", block)  # the first block shows what columns hold
    for target in ("several", "value"):
        df = people(400, target=target).sort_values("y")
        values = target == "value"
        make = partial(TableRegressor if values else TableClassifier, max_iter=passes)
        found = trained(df, "--passes", str(passes), *["--regression"] * values)
        for convert in KINDS.values():
            assert_same(make().fit(convert(df), "y"), found)


def test_frames_that_were_read_from_the_file(trained, tmp_path):
    df = people().drop(columns="zip")  # pandas takes it for numbers
    found = trained(df)
    for read in (pd.read_csv(tmp_path / "rows.csv"), pl.read_csv(tmp_path / "rows.csv")):
        model = TableClassifier().fit(read, "y")
        np.testing.assert_array_equal(model.coef_, found.coef_)
    strings = pd.read_csv(tmp_path / "rows.csv", dtype=str, keep_default_na=False)
    np.testing.assert_array_equal(TableClassifier().fit(strings, "y").coef_, found.coef_)


def test_types_of_pandas_and_polars(trained):
    df = people().drop(columns=["since", "empty"])
    found = trained(df)
    typed = df.convert_dtypes().assign(job=df.job.astype("category"), age=df.age.astype("Int16"))
    np.testing.assert_array_equal(TableClassifier().fit(typed, "y").coef_, found.coef_)
    frame = pl.from_pandas(df).with_columns(pl.col("job").cast(pl.Categorical), pl.col("age").cast(pl.UInt8))
    np.testing.assert_array_equal(TableClassifier().fit(frame, "y").coef_, found.coef_)


def test_the_command_uses_what_python_saves(trained, run, tmp_path):
    for target in ("two", "several", "value"):
        df = people(80, target=target)
        df.to_csv(tmp_path / "rows.csv", index=False)
        model = (TableRegressor if target == "value" else TableClassifier)().fit(df, "y")
        save(model, tmp_path / "python")
        lines = run("predict", tmp_path / "python", tmp_path / "rows.csv").splitlines()
        expected = [f"{value:.17g}" for value in model.predict(df)] if target == "value" else model.predict(df).tolist()
        if target == "value":
            np.testing.assert_allclose([float(line) for line in lines], model.predict(df), rtol=1e-5)
        else:
            assert lines == expected
        assert "rows.csv" in run("evaluate", tmp_path / "python", tmp_path / "rows.csv")
        assert_same(load(tmp_path / "python"), model)


def test_describe_is_what_dry_run_prints(run, tmp_path):
    df = people().drop(columns="since")  # its examples are written in another way
    df.to_csv(tmp_path / "rows.csv", index=False)
    printed = run("train", tmp_path / "rows.csv", "--target", "y", "--dry-run")
    _, *told = str(TableClassifier().fit(df, "y").describe()).splitlines()
    assert told == [line for line in printed.splitlines() if line][1 : 1 + len(told)]


def test_text_that_looks_like_csv(trained):
    cells = ["", " ", '"', '""', "a\r\nb", "a\nb", ",", "'", "NA", "nan", "-", "1.5", "-3", "1e5", "yes", "#", "\t"]
    random = np.random.default_rng(0)
    df = pd.DataFrame(
        {"cell": random.choice(cells, 200), "n": random.normal(size=200), "y": random.choice(["a", "b"], 200)}
    )
    assert_same(TableClassifier().fit(df, "y"), trained(df))
