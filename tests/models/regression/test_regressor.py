"""The regressor as users meet it: parameters, bad values, warm starts, held-out rows, files of models, ONNX."""

import pickle

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import skl2onnx
from sklearn.datasets import make_regression

from perceptrons import PassiveAggressiveRegressor, load, save
from perceptrons.rules import AROW, PA1, Margin
from perceptrons.store import ModelFileError, export_onnx, read, write

X, y = make_regression(80, 4, noise=3.0, random_state=0)
FAST = {"max_iter": 5, "tol": None, "random_state": 0}


def test_no_traces_of_classes():
    model = PassiveAggressiveRegressor(**FAST).fit(X, y)
    for name in ("classes_", "decision_function", "contradiction_", "normalized", "class_weight", "tie"):
        assert not hasattr(model, name)
    assert model.coef_.shape == (4,) and model.intercept_.shape == (1,)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_)
    model.coef_[:] = 0.0  # a copy
    assert model.coef_.any()


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([1.0, np.nan, 2.0], "Input y contains NaN at row 1"),
        ([1.0, 2.0, np.inf], "Input y contains infinity at row 2"),
        (["1", "2", "three"], "expected numbers to predict, got 'three' at row 2 of y"),
        ([1.0, 2.0], "inconsistent numbers of samples"),
        ([[1.0, 2.0]] * 3, "y should be a 1d array"),
        (None, "requires y to be passed"),
    ],
)
def test_bad_values_are_named_and_change_nothing(bad, message):
    model = PassiveAggressiveRegressor(**FAST).fit(X, y)
    before = model.coef_
    for verb in (model.fit, model.partial_fit, model.predict_then_learn):
        with pytest.raises(ValueError, match=message):
            verb(X[:3], bad)
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16, np.float32, bool, object, str])
def test_values_of_any_type(kind):
    values = np.arange(len(y)) % 7
    values = values > 3 if kind is bool else values.astype(kind)
    expected = PassiveAggressiveRegressor(**FAST).fit(X, values.astype(float))
    model = PassiveAggressiveRegressor(**FAST).fit(X, values)
    np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_rules():
    assert PassiveAggressiveRegressor(C=0.5)._settings()["rule"] == PA1(0.5)
    assert PassiveAggressiveRegressor(rule="pa1", C=0.5)._settings()["rule"] == PA1(0.5)
    assert PassiveAggressiveRegressor(rule=PA1(2.0), C=0.5)._settings()["rule"] == PA1(2.0)
    for rule in ("perceptron", Margin(2.0), "cw", "romma"):
        with pytest.raises(ValueError, match="rule must be one of 'pa', 'pa1', 'pa2', 'arow' or an object"):
            PassiveAggressiveRegressor(rule=rule).fit(X, y)
    with pytest.raises(ValueError, match="PA does not accept sample_weight"):
        PassiveAggressiveRegressor(rule="pa").fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(ValueError, match="PA does not accept sample_weight"):
        PassiveAggressiveRegressor(rule="pa").partial_fit(X, y, sample_weight=np.ones(len(y)))


def test_a_warm_start_goes_on():
    params = {**FAST, "max_iter": 2, "shuffle": False}
    long = PassiveAggressiveRegressor(**{**params, "max_iter": 4}).fit(X, y)
    model = PassiveAggressiveRegressor(**params, warm_start=True).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(model.coef_, long.coef_)
    given = PassiveAggressiveRegressor(**params).fit(X, y)
    started = PassiveAggressiveRegressor(**params).fit(X, y, coef_init=given.coef_, intercept_init=given.intercept_)
    np.testing.assert_allclose(started.coef_, long.coef_)


def test_held_out_errors_are_mean_absolute_errors():
    model = PassiveAggressiveRegressor(**FAST).fit(X[:60], y[:60], X_val=X[60:], y_val=y[60:])
    np.testing.assert_allclose(model.validation_errors_[-1], np.abs(y[60:] - model.predict(X[60:])).mean())
    stopped = PassiveAggressiveRegressor(early_stopping=True, n_iter_no_change=3, random_state=0).fit(X, y)
    errors = stopped.validation_errors_
    assert len(errors) - 1 - errors.argmin() == 3  # and the best pass is kept


def test_what_training_says(capsys):
    PassiveAggressiveRegressor(max_iter=2, tol=None, verbose=2, early_stopping=True).fit(X, y)
    out = capsys.readouterr().out
    assert "values off by more than epsilon" in out and "held-out mean absolute error" in out and "margin" not in out
    with pytest.warns(UserWarning, match="stopped by max_iter=2 before converging. Values off by more than epsilon"):
        PassiveAggressiveRegressor(max_iter=2).fit(X, y)


def test_feature_weights():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = PassiveAggressiveRegressor(**FAST).fit(frame, y)
    table = model.feature_weights(top=2)
    assert [each.weight for each in table] == sorted(model.coef_, key=abs, reverse=True)[:2]
    assert str(table).split()[:2] == ["feature", "weight"] and "label" not in table.to_frame()


MODELS = [PassiveAggressiveRegressor(**FAST), PassiveAggressiveRegressor(rule=AROW(r=2.0), average=True, **FAST)]


@pytest.mark.parametrize("model", MODELS, ids=["pa1", "arow"])
def test_model_files_and_pickles(model, tmp_path):
    model.fit(X, y)
    save(model, tmp_path / "m", drop_zeros=True)
    for again in (load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        assert again.get_params() == model.get_params() and again.n_updates_ == model.n_updates_
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        more = pickle.loads(pickle.dumps(model)).partial_fit(X, y)
        np.testing.assert_array_equal(again.partial_fit(X, y).coef_, more.coef_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda saved: setattr(saved.learner, "unit", saved.learner.unit._replace(spread=0.0)), "spread of values"),
        (lambda saved: setattr(saved.learner, "unit", saved.learner.unit._replace(spread=-1.0)), "spread of values"),
        (lambda saved: setattr(saved.learner, "epsilon", -1.0), "epsilon must be a number"),
        (lambda saved: setattr(saved.learner, "rule", Margin(1.0)), "rule must be one of"),
        (lambda saved: setattr(saved.learner, "n_classes", 3), "n_classes"),
    ],
)
def test_damaged_model_files_are_refused(change, message, tmp_path):
    save(PassiveAggressiveRegressor(**FAST).fit(X, y), tmp_path / "m")
    saved = read(tmp_path / "m")
    change(saved)
    write(saved, tmp_path / "m")
    with pytest.raises(ModelFileError, match=message):
        read(tmp_path / "m")


@pytest.mark.parametrize("model", MODELS, ids=["pa1", "arow"])
def test_onnx(model, tmp_path):
    model.fit(X, y)
    rows = X.astype(np.float32)
    export_onnx(model, tmp_path / "m.onnx")
    (value,) = onnxruntime.InferenceSession(tmp_path / "m.onnx").run(["value"], {"X": rows})
    np.testing.assert_allclose(value, model.predict(rows), rtol=1e-12)
    graph = skl2onnx.to_onnx(model, rows[:1])
    (value,) = onnxruntime.InferenceSession(graph.SerializeToString()).run(["value"], {"X": rows})
    assert value.shape == (len(X), 1)
    np.testing.assert_allclose(value[:, 0], model.predict(rows), rtol=1e-4, atol=1e-4)
