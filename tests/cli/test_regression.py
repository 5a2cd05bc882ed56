"""`train --regression`, and what the other commands do with such a model."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_absolute_error, r2_score

from perceptrons import load
from perceptrons.data import source


@pytest.fixture(scope="module")
def houses(tmp_path_factory):
    """Prices in raw units, with categories; two files, and a folder for models."""
    random = np.random.default_rng(0)
    area, quarter = random.uniform(30, 200, 400).round(1), random.choice(["north", "south", "centre"], 400)
    price = (2000 * area + 50_000 * (quarter == "centre") + 20_000 * random.normal(size=400)).round(-2)
    frame = pd.DataFrame({"area": area, "quarter": quarter, "price": price.astype(int)})
    folder = tmp_path_factory.mktemp("houses")
    frame[:300].to_csv(folder / "train.csv", index=False)
    frame[300:].to_csv(folder / "test.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def model(houses):
    from perceptrons.cli.main import main

    path = houses / "m.perceptron"
    with pytest.raises(SystemExit) as leave:
        main(["train", str(houses / "train.csv"), "--target", "price", "--regression", "-m", str(path), "--quiet"])
    assert not leave.value.code
    return path


def test_training_is_good_at_the_first_try(run, ask, houses, tmp_path):
    train = ("train", houses / "train.csv", "--target", "price", "--regression", "-m", tmp_path / "m")
    done = run(*train, "--validation", "0.2")
    assert done.code == 0 and "value to predict" in done.out and "predicts 'price', mean" in done.out
    assert "held-out MAE" in done.out and "baseline (always the mean, " in done.out and "R² 0.9" in done.out
    assert "class" not in done.out and "mistakes" not in done.out
    told = ask(*train, "--validation", houses / "test.csv")
    found, test = told["evaluation"], pd.read_csv(houses / "test.csv")
    again = load(tmp_path / "m")
    guesses = again.predict(source(houses / "test.csv", like=again.encoding_))
    np.testing.assert_allclose(found["r2"], r2_score(test.price, guesses))
    np.testing.assert_allclose(found["mean_absolute_error"], mean_absolute_error(test.price, guesses))
    np.testing.assert_allclose(told["held_out_error"], found["mean_absolute_error"])
    mean = pd.read_csv(houses / "train.csv").price.mean()
    np.testing.assert_allclose(told["baseline"]["mean"], mean)
    np.testing.assert_allclose(told["baseline"]["error"], np.abs(test.price - mean).mean())
    assert found["r2"] > 0.9 and told["warning"] is None and told["kept_pass"] and "classes" not in told


def test_an_estimator_with_the_same_parameters_learns_the_same(houses, model):
    saved = load(model)
    again = type(saved)(**saved.get_params(deep=False)).fit(source(houses / "train.csv", target="price"))
    np.testing.assert_array_equal(again.coef_, saved.coef_)
    np.testing.assert_array_equal(again.intercept_, saved.intercept_)


def test_predict(run, houses, model, tmp_path):
    again = load(model)
    expected = again.predict(source(houses / "test.csv", like=again.encoding_)).tolist()
    assert [float(line) for line in run("predict", model, houses / "test.csv").lines] == expected
    objects = [json.loads(line) for line in run("predict", model, houses / "test.csv", "--json").lines]
    assert objects == [{"value": value} for value in expected]
    pd.read_csv(houses / "test.csv").drop(columns="price").to_csv(tmp_path / "new.csv", index=False)
    assert [float(line) for line in run("predict", model, tmp_path / "new.csv").lines] == expected
    done = run("predict", model, houses / "test.csv", "--scores")
    assert done.code == 2 and "--scores needs a model of classes" in done.err


def test_evaluate(run, ask, houses, model):
    test, again = pd.read_csv(houses / "test.csv"), load(model)
    guesses = again.predict(source(houses / "test.csv", like=again.encoding_))
    told = ask("evaluate", model, houses / "test.csv")
    np.testing.assert_allclose(told["r2"], r2_score(test.price, guesses))
    np.testing.assert_allclose(told["mean_absolute_error"], mean_absolute_error(test.price, guesses))
    np.testing.assert_allclose(told["root_mean_squared_error"], np.sqrt(((test.price - guesses) ** 2).mean()))
    assert told["rows"] == 100 and told["warning"] is None
    out = run("evaluate", model, houses / "test.csv").out
    assert f"R² {told['r2']:.4f}" in out and "baseline (always the mean, " in out and "precision" not in out


def test_inspect(run, ask, model):
    told, again = ask("inspect", model), load(model)
    assert told["estimator"] == "PassiveAggressiveRegressor" and told["classes"] == [] and told["epsilon"] > 1000
    weights = {each["name"]: each["weight"] for each in told["heaviest"][0]["features"]}
    expected = dict(zip(again.model_.feature_names_in_, again.coef_, strict=True))
    assert weights == pytest.approx(expected)
    assert told["heaviest"][0]["intercept"] == pytest.approx(again.intercept_[0])
    done = run("inspect", model)
    assert "predicts" in done.out and "'price', mean" in done.out and "mistake" not in done.out


def test_contributions_add_up_to_the_value(run, ask, houses, model):
    value = float(run("predict", model, houses / "test.csv").lines[7])
    told = ask("explain", model, houses / "test.csv", "--row", "7")
    assert told["predicted"] == value and told["total"] == pytest.approx(value)
    parts = [each["contribution"] for each in told["contributions"]]
    assert sum(parts) + told["others"] + told["intercept"] == pytest.approx(value)
    assert "sum" in run("explain", model, houses / "test.csv", "--row", "7").out


def test_export(run, houses, model, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    assert run("export", model, "--onnx", tmp_path / "m.onnx").code == 0
    test = pd.read_csv(houses / "test.csv")
    inputs = {"area": test[["area"]].to_numpy(), "quarter": test[["quarter"]].to_numpy(dtype=object)}
    (value,) = onnxruntime.InferenceSession(tmp_path / "m.onnx").run(["value"], inputs)
    expected = [float(line) for line in run("predict", model, houses / "test.csv").lines]
    np.testing.assert_allclose(value, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rule", "margin"], "--regression needs --rule pa, pa1, pa2, arow"),
        (["--estimator", "kernel"], "--estimator needs a model of classes"),
        (["--class-weight", "balanced"], "--class-weight needs a model of classes"),
        (["--readout", "voted"], "--readout voted needs a model of classes"),
        (["--tune"], "--tune compares error rates of classes"),
        (["--intercept-scaling", "2"], "--intercept-scaling needs --estimator perceptron"),
        (["--r", "2"], "--r needs --rule arow"),
    ],
)
def test_options_that_do_not_combine(run, houses, tmp_path, options, message):
    train = ("train", houses / "train.csv", "--target", "price", "-m", tmp_path / "m")
    done = run(*train, "--regression", *options)
    assert done.code == 2 and message in done.err and not (tmp_path / "m").exists()


def test_numbers_without_regression_are_refused_with_its_name(run, houses, model, tmp_path):
    done = run("train", houses / "train.csv", "--target", "price", "-m", tmp_path / "m")
    assert done.code == 2 and "to predict numbers, pass --regression" in done.err
    done = run("train", houses / "train.csv", "--target", "quarter", "-m", tmp_path / "m", "--epsilon", "1")
    assert done.code == 2 and "--epsilon needs --regression" in done.err
    done = run("train", houses / "train.csv", "--target", "quarter", "-m", tmp_path / "m", "--regression")
    assert done.code == 2 and "expected numbers to predict" in done.err
    done = run("plot", model, houses / "test.csv", "-o", tmp_path / "p.png")
    assert done.code == 2 and "pictures show classes" in done.err


def test_other_rules_and_formats(ask, houses, tmp_path):
    frame = pd.read_csv(houses / "train.csv")
    np.save(tmp_path / "rows.npy", frame[["area", "price"]].to_numpy(dtype=float))
    lines = [f"{price} 1:{area}\n" for area, price in zip(frame.area, frame.price, strict=True)]
    (tmp_path / "rows.svm").write_text("".join(lines))
    for name in ("rows.npy", "rows.svm"):
        told = ask("train", tmp_path / name, "--regression", "-m", tmp_path / "m")
        assert told["evaluation"]["r2"] > 0.8, name
        assert ask("evaluate", tmp_path / "m", tmp_path / name)["r2"] == pytest.approx(told["evaluation"]["r2"])
    arow = ("--rule", "arow", "--r", "2", "--epsilon", "0", "--passes", "2", "--readout", "last")
    told = ask("train", houses / "train.csv", "--target", "price", "--regression", "-m", tmp_path / "m", *arow)
    assert told["params"]["rule"] == {"rule": "arow", "r": 2.0, "covariance": "diagonal"}
    assert told["params"]["average"] is False and told["evaluation"]["r2"] > 0.9


def test_large_files_are_not_read_once_more(ask, houses, tmp_path, monkeypatch):
    """The baseline then comes from the first pass."""
    monkeypatch.setattr("perceptrons.cli.training.fitting.SMALL", 0)
    train = ("train", houses / "train.csv", "--target", "price", "--regression", "-m", tmp_path / "m", "--passes", "1")
    told, price = ask(*train), pd.read_csv(houses / "train.csv").price
    assert told["evaluation"] is None and told["training_error"] is None and told["warning"] is None
    assert told["baseline"] == pytest.approx({"mean": price.mean(), "error": np.abs(price - price.mean()).mean()})
