"""The estimators for tables: columns, labels, streams, explanations, searches, copies, files, graphs."""

import pickle
import re

import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from table_cases import KINDS, assert_same, people

from perceptrons import Perceptron, TableClassifier, TableRegressor, load, save
from perceptrons.data import DataError, source
from perceptrons.rules import PA1
from perceptrons.store import ModelFileError, export_onnx, read, write


@pytest.fixture(scope="module")
def df():
    return people(200, target="several")


@pytest.fixture(scope="module")
def model(df):
    return TableClassifier().fit(df, "y")


def test_columns_are_those_of_the_frame(df, model):
    X = df.drop(columns="y")
    assert model.feature_names_in_.tolist() == list(X.columns) and model.n_features_in_ == len(X.columns)
    expected = model.predict(df)
    for convert in KINDS.values():
        np.testing.assert_array_equal(model.predict(convert(X)), expected)  # with the labels and without
    for columns, message in [
        (X.columns[::-1], "Feature names must be in the same order as they were in fit"),
        (X.columns[1:], "Feature names seen at fit time, yet now missing:\n- id"),
        ([*X.columns, "more"], "Feature names unseen at fit time:\n- more"),
    ]:
        for method in (
            model.predict,
            model.decision_function,
            model.explain,
            lambda rows: model.partial_fit(rows, df.y),
        ):
            with pytest.raises(ValueError, match=message):
                method(X.assign(more=1)[list(columns)])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_array_equal(model.predict(X.to_numpy()), expected)


def test_labels_stay_what_they_are(df):
    X = df.drop(columns="y")
    for labels in (
        pd.Series([" a", "b ", "?"] * 66 + ["?", "?"]),
        pd.Series([3, 1, 2] * 66 + [1, 1]).astype("category"),
        pd.Series([3.0, 1.0, 2.0] * 66 + [1, 1]),
        pd.Series([True, False] * 100),
        pl.Series(["u", "v"] * 100, dtype=pl.Categorical),
        pa.chunked_array([["u"] * 100, ["v"] * 100]),
        ["10", "9"] * 100,
    ):
        model = TableClassifier().fit(X, labels)
        values = list(np.asarray(labels))
        assert model.classes_.tolist() == sorted(set(values)) and set(model.predict(X).tolist()) <= set(values)
    model = TableClassifier().fit(df.assign(y=pd.Categorical(df.y)), "y")
    assert model.classes_.tolist() == ["high", "low", "middle"]


def test_what_is_refused(df, model):
    X = df.drop(columns="y")
    refused = [
        (lambda: TableClassifier().fit(X, "z"), "X has no column 'z'"),
        (lambda: TableClassifier().fit(X), "requires y to be passed"),
        (lambda: TableClassifier().fit(X, df.y[:-1]), "inconsistent numbers of samples"),
        (lambda: TableClassifier().fit(df.assign(y=df.y.where(df.index != 7)), "y"), "row 7 .*: the label is missing"),
        (lambda: TableClassifier().fit(X.assign(l=[[1]] * 200), df.y), "column 'l' holds list.*: drop it"),
        (lambda: TableClassifier(drop=["agee"]).fit(X, df.y), "has no column 'agee'. Did you mean 'age'"),
        (lambda: TableClassifier(hash_bits=0).fit(X, df.y), "'hash_bits' parameter"),
        (lambda: TableClassifier(scale="loud").fit(X, df.y), "'scale' parameter"),
        (lambda: TableClassifier(rule="pa3").fit(X, df.y), "rule must be one of"),
        (lambda: TableRegressor(rule="margin").fit(X, df.age), "rule must be one of 'pa'"),
        (lambda: TableRegressor().fit(X, df.y), "expected numbers to predict"),
        (lambda: model.predict(X.assign(age="many")), r"row 0 \(counted from 0\): column 'age': expected a number"),
        (lambda: model.predict(X.assign(smokes="maybe")), "column 'smokes': expected true or false, got 'maybe'"),
        (lambda: model.predict(X.assign(height=np.inf)), "column 'height': got inf, expected a finite number"),
        (lambda: model.explain(X, 200), "there is no row 200"),
        (lambda: model.predict(X[:0]), "0 sample"),
        (lambda: source(df, target="y", delimiter=";"), "has no setting 'delimiter'"),
        (lambda: source(df, target="y", format="csv"), "a data frame has no format"),
        (lambda: list(source(df).batches()), "name the column of labels with target"),
    ]
    before = model.coef_.copy()
    for call, message in refused:
        with pytest.raises((ValueError, TypeError), match=message):
            call()
    np.testing.assert_array_equal(model.coef_, before)
    with pytest.raises(NotFittedError):
        TableClassifier().predict(X)
    assert not hasattr(TableClassifier(), "coef_") and not hasattr(TableClassifier(), "classes_")


def test_unknown_categories_and_missing_cells_count_for_nothing(df, model):
    row = df.drop(columns="y")[:1]
    blank = row.assign(job="pilot", height=np.nan, smokes=None, zip=None)
    assert model.predict(blank).shape == (1,)
    assert "job=pilot" not in [each.feature for each in model.explain(blank)]


def test_columns_of_mixed_objects_and_odd_types():
    frame = pd.DataFrame(
        {
            "mixed": [1, "two", None, "three"] * 10,
            "between": pd.cut(range(40), 4),
            "month": pd.period_range("2024-01", periods=40, freq="M"),
            "sparse": pd.arrays.SparseArray([0, 0, 1, 2] * 10),
            7: ["a", "b"] * 20,
        }
    )
    model = TableClassifier(categorical=["month"]).fit(frame, [0, 1] * 20)
    assert model.score(frame, [0, 1] * 20) == 1.0 and not hasattr(model, "feature_names_in_")
    treated = {each.column: each.kind for each in model.describe().guesses}
    assert treated == dict.fromkeys(["mixed", "between", "month", "7"], "category") | {
        "sparse": "number",
        "target": "label",
    }


def test_partial_fit(df, tmp_path):
    X = df.drop(columns="y")
    model = TableClassifier().partial_fit(X[:100], df.y[:100], classes=["high", "low", "middle", "none"])
    assert model.classes_.tolist() == ["high", "low", "middle", "none"] and model.n_seen_ == 100
    save(model, tmp_path / "m")
    again = load(tmp_path / "m").partial_fit(pl.from_pandas(df[100:]), "y")
    model.partial_fit(X[100:], df.y[100:])
    assert_same(again, model)
    assert model.n_seen_ == 200
    values = TableRegressor().partial_fit(X[:100], df.age[:100] * 2.0)
    assert values.partial_fit(X[100:], df.age[100:] * 2.0).score(X, df.age * 2.0) > 0.5


def test_explain_adds_up(df, model):
    for row in (0, 17):
        told = model.explain(df, row)
        assert told.intercept + sum(each.contribution for each in told) == pytest.approx(told.score)
        assert {each.feature.split("=")[0].split(":")[0] for each in told} <= set(df.columns)
    assert model.explain(df, label="low").label == "low"
    values = TableRegressor().fit(df.drop(columns="y"), df.age * 3.0)
    assert values.explain(df.drop(columns="y"), 5).score == pytest.approx(values.predict(df.drop(columns="y"))[5])
    assert model.feature_weights(top=2)[0].label == "high"


def test_describe_and_what_notebooks_show(df, model):
    told = str(model.describe())
    assert re.search(r"^since +dropped: date +dates or times +2020-01-01; ", told, re.MULTILINE)
    bundle = model._repr_mimebundle_()
    assert told in bundle["text/plain"] and "dropped: date" in bundle["text/html"]
    assert "dropped: date" in model._repr_html_() and "dropped" not in TableClassifier()._repr_html_()
    found = source(df.rename(columns={"job": "<b>"}), target="y")
    assert "&lt;b&gt;" in found._repr_html_() and "dropped: date" in repr(found)
    assert repr(source(df, target="agee")).startswith("FrameSource('the data frame'): the data frame has no column")


def test_searches_pipelines_and_copies(df):
    X, y = df.drop(columns="y"), df.y
    assert cross_val_score(TableClassifier(), X, y, cv=3).mean() > 0.5
    search = GridSearchCV(TableClassifier(rule=PA1(), max_iter=2), {"rule__C": [1e-6, 1.0], "ngrams": [1, 2]}, cv=2)
    best = search.fit(X, y).best_estimator_
    assert best.rule.C == 1.0
    pipeline = make_pipeline(FunctionTransformer(lambda X: X.assign(old=X.age > 60)), TableClassifier()).fit(X, y)
    assert "old" in pipeline[-1].feature_names_in_
    assert_same(pickle.loads(pickle.dumps(best)), best)
    assert_same(clone(best).fit(X, y), best)
    assert not hasattr(TableClassifier(), "predict_proba")
    belief = TableClassifier(rule="arow").fit(X, y).predict_proba(X)
    assert belief.shape == (200, 3) and np.allclose(belief.sum(axis=1), 1.0)


def test_model_files(df, model, tmp_path):
    named = TableClassifier(drop=pd.Index(["note"]), rule=PA1(0.5), class_weight={"low": 2.0}).fit(df, "y")
    for each in (model, named, TableRegressor(numeric=["id"]).fit(df.drop(columns="y"), df.age * 1.0)):
        save(each, tmp_path / "m")
        again = load(tmp_path / "m")
        assert type(again) is type(each) and again.feature_names_in_.tolist() == each.feature_names_in_.tolist()
        rows = df[each.feature_names_in_]
        np.testing.assert_array_equal(again.predict(rows), each.predict(rows))
        assert again.describe().lines[0][:3] == each.describe().lines[0][:3]
    save(model.model_, tmp_path / "inside")  # a Perceptron stays one
    assert type(load(tmp_path / "inside")) is Perceptron
    save(model, tmp_path / "m")
    for part, wrong in [
        ("estimator", "Perceptron"),
        ("params", {"bogus": 1}),
        ("params", {"rule": "pa3"}),
        ("params", [1]),
        ("columns", [1]),
        ("columns", None),
        ("guesses", [["a", "boat", "", 0]]),
        ("guesses", [["a"]]),
        ("sampled", "many"),
    ]:
        saved = read(tmp_path / "m")
        saved.table[part] = wrong
        write(saved, tmp_path / "wrong")
        with pytest.raises(ModelFileError, match="cannot be read"):
            load(tmp_path / "wrong")


def test_onnx_takes_the_columns(df, tmp_path):
    X = df[["age", "height", "job", "smokes"]].assign(job=df.job.str.strip().replace("?", None))
    model = TableClassifier().fit(X, df.y)
    export_onnx(model, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    types = {"tensor(double)": float, "tensor(string)": object, "tensor(bool)": bool}
    inputs = {
        each.name: X[each.name]
        .fillna("" if each.type == "tensor(string)" else np.nan)
        .to_numpy(types[each.type])[:, None]
        for each in session.get_inputs()
    }
    assert session.run(["label"], inputs)[0].tolist() == model.predict(X).tolist()


def test_sources_of_files(df, tmp_path, trained):
    df.to_csv(tmp_path / "rows.csv", index=False)
    model = TableClassifier().fit(source(tmp_path / "rows.csv", target="y"))
    assert_same(model, trained(df))
    assert model.score(source(tmp_path / "rows.csv", like=model.encoding_)) == model.score(df, "y")
    (tmp_path / "rows.svm").write_text("1 1:2\n0 2:1\n")
    with pytest.raises(ValueError, match="is not a table"):
        TableClassifier().fit(source(tmp_path / "rows.svm"))
    with pytest.raises(ValueError, match="do not pass y"):
        TableClassifier().fit(source(df, target="y"), df.y)


@pytest.mark.parametrize("kind", KINDS)
def test_estimators_for_numbers_name_the_columns(df, kind):
    frame = KINDS[kind](df.drop(columns="y"))
    with pytest.raises(ValueError, match=r"Columns 'pay', 'job', 'since', 'born', 'note' of X hold no numbers."):
        Perceptron().fit(frame, df.y)
    with pytest.raises(ValueError, match=r"Column 'job' of X holds no numbers. TableClassifier and .* OneHotEncoder"):
        Perceptron().fit(KINDS[kind](df[["age", "job"]].fillna("-")), df.y)


def test_a_frame_that_does_not_fit_in_memory_twice_is_copied_to_a_file(df, monkeypatch):
    expected = TableClassifier().fit(df, "y")
    monkeypatch.setattr("perceptrons.data.cache.MEMORY", 1000)
    assert_same(TableClassifier().fit(df, "y"), expected)
    with pytest.raises(DataError):
        TableClassifier(missing="error").fit(df, "y")
