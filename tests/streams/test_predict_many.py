"""`predict_many` equals `predict_one` of each dict."""

import numpy as np
import pandas as pd
import pytest
from stream_cases import CASES, everything, growing, one_by_one

from perceptrons import KernelPerceptron, PassiveAggressiveRegressor, Perceptron, load, save
from perceptrons.data import source

KERNEL = {"kernel": (lambda: KernelPerceptron(gamma=0.5, budget=6), 2)}


def whole_numbers(stream):
    """The same stream with small whole numbers, so that scores are often 0."""
    return [each._replace(x={name: float(round(value)) for name, value in each.x.items()}) for each in stream]


@pytest.mark.parametrize("case", [*CASES, *KERNEL])
def test_equals_each(case, tmp_path):
    """Of known, unknown and no names; after single examples, after a file, and after a batch."""
    make, n_classes = (CASES | KERNEL)[case]
    for stream in (growing(5, 40, 12, n_classes, forms=("dict",)), growing(6, 40, 12, n_classes, forms=("dict",))):
        model = one_by_one(make(), whole_numbers(stream))
        asked = [{**each.x, "strange": 1.0} for each in stream] + [each.x for each in whole_numbers(stream)] + [{}]
        save(model, tmp_path / "model")
        batch = make().learn_many([each.x for each in stream], [each.y for each in stream])
        for each in (model, load(tmp_path / "model"), batch):
            before = everything(each) if case not in KERNEL else None
            found = each.predict_many(asked)
            assert isinstance(found, np.ndarray) and found.shape == (len(asked),)
            assert found.dtype == (each.classes_.dtype if n_classes else np.float64)
            assert found.tolist() == [each.predict_one(x) for x in asked]
            assert each.predict_many(asked).tolist() == found.tolist()
            assert case in KERNEL or everything(each) == before


def test_forms_of_input():
    frame = pd.DataFrame({"age": [41.0, 20.0, 35.0], "job": ["cook", "nurse", "cook"]})
    records, y = frame.to_dict("records"), ["a", "b", "a"]
    model = Perceptron().learn_many(frame, y)
    for form in (frame, records, tuple(records), iter(records), (dict(each) for each in records)):
        assert model.predict_many(form).tolist() == [model.predict_one(x) for x in records]
    assert model.predict_many([]).tolist() == [] and model.predict_many([]).dtype == model.classes_.dtype


def test_nothing_learned():
    for model in (Perceptron(), KernelPerceptron(), PassiveAggressiveRegressor()):
        assert model.predict_many([{"a": 1.0}, {}]).tolist() == [None, None] == [model.predict_one({})] * 2


BAD = {
    "NaN": ([{"a": 1.0}, {"b": 1.0}, {"a": float("nan")}], "at row 2: the feature 'a' of x is NaN"),
    "a list": ([{}, {"late": [1.0]}], "at row 1: the feature 'late' of x must be a number or text"),
    "not a dict": ([{}, [1.0]], "expected dicts, got list at row 1: use predict for arrays"),
    "one dict": ({"a": 1.0}, "X must be several dicts, or a data frame, got dict: for one, use predict_one"),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_input(bad):
    X, message = BAD[bad]
    for make in (Perceptron, lambda: Perceptron(readout="voted"), lambda: KernelPerceptron(budget=3)):
        model = make().learn_one({"a": 1.0}, "no").learn_one({"b": 1.0}, "yes")
        with pytest.raises(ValueError, match=message):
            model.predict_many(X)
        assert model.predict_many([{"a": 1.0}]).tolist() == [model.predict_one({"a": 1.0})]
        assert model.feature_names_in_.tolist() == ["a", "b"]


@pytest.mark.parametrize("scale", ["none", "auto"])
def test_models_of_tables(scale, tmp_path):
    """Their features, and values to predict, may be scaled: dicts have the values of the table."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"size": random.normal(size=60) * 100.0, "place": random.choice(["north", "south"], size=60)})
    value = 1000.0 + X["size"] + 50.0 * (X["place"] == "north")
    for make, y in ((Perceptron, np.where(value > 1000.0, "much", "little")), (PassiveAggressiveRegressor, value)):
        X.assign(y=y).to_csv(tmp_path / "table.csv", index=False)
        model = make(max_iter=3, tol=None, random_state=0)
        with pytest.warns():  # that it did not converge
            model.fit(source(tmp_path / "table.csv", target="y", scale=scale))
        expected = model.predict(source(tmp_path / "table.csv", target="y", like=model.encoding_))
        found = model.predict_many(X)
        if make is Perceptron:
            assert found.tolist() == expected.tolist() == [model.predict_one(x) for x in X.to_dict("records")]
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-9)
            np.testing.assert_allclose([model.predict_one(x) for x in X.to_dict("records")], expected, rtol=1e-9)
