"""Values from files: as from arrays without scaling; otherwise on one scale for learning only."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from perceptrons import PassiveAggressiveRegressor, load, save
from perceptrons.data import DataError, source
from perceptrons.data.table import csv_blocks
from perceptrons.rules import AROW
from perceptrons.store import export_onnx

FAST = {"max_iter": 3, "tol": None, "random_state": 0, "average": True}
QUARTERS = ["north", "south", "centre"]


@pytest.fixture(scope="module")
def houses():
    """Prices in raw units, with a column of categories and some gaps."""
    random = np.random.default_rng(0)
    area, quarter = random.uniform(30, 200, 400).round(1), random.choice(QUARTERS, 400)
    price = 2000 * area + 50_000 * (quarter == "centre") + 20_000 * random.normal(size=400)
    frame = pd.DataFrame({"area": area, "quarter": quarter, "rooms": area // 25, "price": price.round(-2)})
    frame.loc[5, "area"] = np.nan
    return frame


@pytest.fixture(scope="module")
def path(houses, tmp_path_factory):
    path = tmp_path_factory.mktemp("houses") / "houses.csv"
    houses.to_csv(path, index=False)
    return path


@pytest.fixture(params=[64, 1 << 22], ids=["blocks", "whole"])
def block(request, monkeypatch):
    for name in ("BEGINNING", "BLOCK"):
        monkeypatch.setattr(csv_blocks, name, request.param)


@pytest.mark.parametrize("cut", [50, 400])
def test_files_without_scaling_give_the_same_as_arrays(cut, tmp_path, monkeypatch):
    random = np.random.default_rng(1)
    X = random.normal(size=(400, 3)).round(3)
    y = (X @ [1.0, 2.0, 3.0]).round(3) + random.integers(3, size=400)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    monkeypatch.setattr("perceptrons.data.batches.MOST_ROWS", cut)

    def file():
        return source(tmp_path / "rows.npy", scale="none")

    params = {**FAST, "shuffle": False}
    for early_stopping in (False, True):
        params["early_stopping"] = early_stopping
        a, b = PassiveAggressiveRegressor(**params).fit(X, y), PassiveAggressiveRegressor(**params).fit(file())
        np.testing.assert_array_equal(a.coef_, b.coef_)
        np.testing.assert_array_equal(a.intercept_, b.intercept_)
        np.testing.assert_allclose(a.validation_errors_, b.validation_errors_)
    params["early_stopping"] = False
    a, b = PassiveAggressiveRegressor(**params), PassiveAggressiveRegressor(**params)
    np.testing.assert_array_equal(a.predict_then_learn(X, y), b.predict_then_learn(file()))
    np.testing.assert_array_equal(a.coef_, b.coef_)
    np.testing.assert_array_equal(a.predict(X), b.predict(file()))
    np.testing.assert_allclose(a.score(X, y), b.score(file()))


@pytest.mark.parametrize("params", [{}, {"rule": AROW(), "fit_intercept": False}], ids=["pa1", "arow"])
def test_scaling_is_undone_in_whatever_is_read(path, houses, params, tmp_path):
    model = PassiveAggressiveRegressor(**FAST, **params).fit(source(path, target="price"))
    unit, price = model._learner.unit, houses.price
    if params.get("fit_intercept", True):
        np.testing.assert_allclose([unit.centre, unit.spread], [price.mean(), price.std(ddof=0)])
        assert model.score(source(path, like=model.encoding_)) > 0.9
    else:
        assert unit.centre == 0.0 and model.intercept_ == 0.0
    assert model.encoding_.label == "float64"
    predicted = model.predict(source(path, like=model.encoding_))
    # Weights are per unit of columns and prices; a missing area counts as the centre.
    names = {name: number for number, name in enumerate(model.feature_names_in_)}
    X = np.zeros((len(houses), len(names)))
    fill = houses.area.mean() if model.fit_intercept else 0.0
    X[:, names["area"]], X[:, names["rooms"]] = houses.area.fillna(fill), houses.rooms
    X[5, names["area=(missing)"]] = 1.0
    for row, quarter in enumerate(houses.quarter):
        X[row, names[f"quarter={quarter}"]] = 1.0
    np.testing.assert_allclose(X @ model.coef_ + model.intercept_, predicted, rtol=1e-9)
    save(model, tmp_path / "m")
    np.testing.assert_array_equal(load(tmp_path / "m").predict(source(path, like=model.encoding_)), predicted)
    export_onnx(model, tmp_path / "m.onnx")
    inputs = {name: houses[[name]].to_numpy(dtype=float) for name in ("area", "rooms")}
    inputs["quarter"] = houses[["quarter"]].to_numpy(dtype=object)
    (value,) = onnxruntime.InferenceSession(tmp_path / "m.onnx").run(None, inputs)
    np.testing.assert_allclose(value, predicted, rtol=1e-9)


def test_the_unit_of_prices_does_not_matter(houses, tmp_path):
    """Prices in thousands, shifted: the same predictions, in the other unit."""
    found = []
    for name, price in (("a", houses.price), ("b", houses.price / 1024 - 1000)):
        houses.assign(price=price).to_csv(tmp_path / name, index=False)
        model = PassiveAggressiveRegressor(**FAST).fit(source(tmp_path / name, target="price", format="csv"))
        found.append(model.predict(source(tmp_path / name, like=model.encoding_, format="csv")))
    np.testing.assert_allclose(found[0] / 1024 - 1000, found[1], rtol=1e-6)


def test_held_out_rows_do_not_set_the_unit(path, houses):
    model = PassiveAggressiveRegressor(**{**FAST, "early_stopping": True, "validation_fraction": 0.25})
    model.fit(source(path, target="price"))
    assert model._learner.unit.mean != houses.price.mean()
    assert model.validation_errors_.min() < 0.5 * np.abs(houses.price - houses.price.mean()).mean()
    other = PassiveAggressiveRegressor(**FAST).fit(source(path, target="price"), X_val=source(path, target="price"))
    expected = np.abs(houses.price - other.predict(source(path, like=other.encoding_))).mean()
    np.testing.assert_allclose(other.validation_errors_[-1], expected)


def test_streams_take_the_unit_of_their_first_batch(path, houses, block):
    model = PassiveAggressiveRegressor(average=True)
    guesses = model.predict_then_learn(source(path, target="price"))
    assert guesses.shape == (400,) and np.abs(guesses[200:] - houses.price[200:]).mean() < 60_000
    unit = model._learner.unit
    model.partial_fit(source(path, like=model.encoding_))
    assert model._learner.unit == unit and model.n_seen_ == 800


def test_files_that_are_sorted_by_value_are_mixed(houses, tmp_path, block):
    houses.sort_values("price").to_csv(tmp_path / "sorted.csv", index=False)
    model = PassiveAggressiveRegressor(**FAST).fit(source(tmp_path / "sorted.csv", target="price"))
    assert model.score(source(tmp_path / "sorted.csv", like=model.encoding_)) > 0.9


def test_what_is_not_a_number_is_refused(path, tmp_path):
    with pytest.raises(DataError, match="column 'quarter' holds 'centre', expected numbers to predict"):
        PassiveAggressiveRegressor().fit(source(path, target="quarter"))
    (tmp_path / "money.csv").write_text("a,y\n" + "".join(f'{i},"$1,{100 + i}"\n' for i in range(40)))
    model = PassiveAggressiveRegressor(**FAST).fit(source(tmp_path / "money.csv", target="y"))
    np.testing.assert_allclose(model._learner.unit.mean, 1119.5)
    (tmp_path / "money.csv").write_text("a,y\n" + "".join(f"{i},{100 + i}\n" for i in range(40)) + "7,soon\n")
    with pytest.raises(DataError, match=r"money.csv:42: column 'y': expected a number, got 'soon'"):
        PassiveAggressiveRegressor().fit(source(tmp_path / "money.csv", target="y"))
    (tmp_path / "gap.csv").write_text("a,y\n1,2\n2,\n3,4\n")
    with pytest.raises(DataError, match=r"gap.csv:3: column 'y': the label is missing"):
        PassiveAggressiveRegressor().fit(source(tmp_path / "gap.csv", target="y"))
    (tmp_path / "inf.svm").write_text("1 1:1\ninf 1:2\n")
    with pytest.raises(ValueError, match="inf"):
        PassiveAggressiveRegressor().fit(source(tmp_path / "inf.svm"))


def test_constant_values(tmp_path):
    (tmp_path / "same.csv").write_text("a,y\n" + "".join(f"{i},5\n" for i in range(40)))
    model = PassiveAggressiveRegressor(**FAST).fit(source(tmp_path / "same.csv", target="y"))
    np.testing.assert_array_equal(model.predict(source(tmp_path / "same.csv", like=model.encoding_)), 5.0)
    assert model.converged_ and model.score(source(tmp_path / "same.csv", like=model.encoding_)) == 1.0
