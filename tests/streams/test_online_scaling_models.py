"""Models of streams with scale="online": undoing, saving, exporting, weights for raw rows, edges."""

import copy
import json
import pickle

import numpy as np
import onnxruntime
import pytest
from naive_scaling import NaiveScaling
from online_scaling_cases import D, assert_same, csr, learn, numbers, stream
from sklearn.base import clone

from perceptrons import PassiveAggressiveClassifier, PassiveAggressiveRegressor, Perceptron, load, save, theory
from perceptrons.cli.main import main
from perceptrons.data import source
from perceptrons.data.arrays import as_rows
from perceptrons.data.svmlight import SvmlightSource
from perceptrons.learn.scale import running
from perceptrons.store import ModelFileError, export_onnx

DENSE, SPARSE = ["dense"] * 40, ["dense"] * 5 + ["csr"] * 35


def online(**params):
    return Perceptron(scale="online", **params)


@pytest.fixture(scope="module")
def data():
    return numbers(7)


# -- settings -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [Perceptron, PassiveAggressiveClassifier, PassiveAggressiveRegressor])
def test_fit_refuses_it(make, data, tmp_path):
    X, _, y = data
    y = y == "a"
    with pytest.raises(ValueError, match=r"streams.*partial_fit.*StandardScaler"):
        make(scale="online").fit(X, y)
    np.savetxt(tmp_path / "rows.csv", np.column_stack([y, X]), delimiter=",")
    with pytest.raises(ValueError, match="streams"):
        make(scale="online").fit(source(tmp_path / "rows.csv", target=0, header=False), None)
    with pytest.raises(ValueError, match="'scale' parameter"):
        make(scale="standard").partial_fit(X, y)


def test_it_cannot_change_on_the_way(data):
    X, _, y = data
    for before, after in (("online", "none"), ("none", "online")):
        model = Perceptron(scale=before).partial_fit(X, y)
        twin = copy.deepcopy(model)
        with pytest.raises(ValueError, match="scale was changed"):
            model.set_params(scale=after).partial_fit(X, y)
        assert_same(model, twin)
        assert_same(model.set_params(scale=before).partial_fit(X, y), twin.partial_fit(X, y))
    assert clone(online()).scale == "online"


# -- undoing --------------------------------------------------------------------------------------------------


def test_bad_input_changes_nothing(data):
    X, present, y = data
    model = stream(online(), X, present, y, SPARSE)
    twin = copy.deepcopy(model)
    huge, sparse = X.copy(), csr(X, present)
    huge[3, 2], huge[4, 2] = 1.3e154, -1.3e154  # each row is fine, but not their variance
    bad = X.copy()
    bad[5, 1] = np.nan
    for call in (
        lambda: model.partial_fit(huge, y),
        lambda: model.partial_fit(bad, y),
        lambda: model.partial_fit(X, y[:-1]),
        lambda: model.partial_fit(sparse, y, sample_weight=-np.ones(len(y))),
        lambda: model.learn_one({"x0": 1.0, "new": float("inf")}, "a"),
        lambda: model.learn_many([{"x0": 1.0, "new": 2.0}, {"x1": "1", "x2": None}], ["a", "b"]),
        lambda: model.learn_many([{"new": 1.3e154}, {"new": -1.3e154}, {"new": -1.3e154}], ["a", "b", "a"]),
    ):
        with pytest.raises(ValueError):
            call()
        assert_same(model, twin)
    assert model.n_features_in_ == D
    assert_same(stream(model, X, present, y, SPARSE), stream(twin, X, present, y, SPARSE))


def test_the_error_for_large_numbers_names_the_feature():
    with pytest.raises(ValueError, match="feature 1 is too large to be scaled at row 2"):
        online().partial_fit([[0.0, 1.0], [1.0, 1.3e154], [2.0, -1.3e154]], [0, 1, 0])


# -- edges ----------------------------------------------------------------------------------------------------


def test_rows_with_weight_0_are_not_observed(data):
    X, present, y = data
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    for forms in (DENSE, SPARSE):
        model = stream(online(), X, present, y, forms, weight=weight)
        kept = weight > 0
        twin = stream(online(), X[kept], present[kept], y[kept], np.array(forms)[kept])
        for name in running.ARRAYS:  # the weights may differ: a class exists from its first row on, whatever its weight
            assert np.array_equal(model._learner.state[name], twin._learner.state[name]), name


def test_constant_huge_and_tiny_values():
    random, y = np.random.default_rng(1), np.arange(60) % 2
    noise = random.normal(size=60)
    X = np.column_stack([np.full(60, 0.1), 1e150 * noise, 1e-150 * noise, 1e9 + noise, np.zeros(60), noise])
    model = online().partial_fit(X, y)
    Z = model._learner.scaled(as_rows(X)).matrix()
    np.testing.assert_allclose(Z[:, 1], Z[:, 5], rtol=1e-9)
    np.testing.assert_allclose(Z[:, 2], Z[:, 5], rtol=1e-9)
    np.testing.assert_allclose(Z[:, 3], Z[:, 5], atol=1e-5)
    assert model._learner.scaling.constant == [0, 4] and not Z[:, [0, 4]].any()
    assert np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all()


def test_without_a_bias_nothing_is_centred(data):
    X, present, y = data
    model, twin = stream(online(fit_intercept=False), X, present, y, DENSE), NaiveScaling(centred=False)
    for x in X:
        twin.observe(dict(enumerate(x.tolist())))
    assert not model._learner.scaling.centre.any() and not model.intercept_.any()
    assert model._learner.scaling.factor.tolist() == [twin.factor[j] for j in range(D)]


def test_float32_is_read_as_it_is(data):
    X, _, y = data
    narrow = X.astype(np.float32)
    assert_same(online().partial_fit(narrow, y), online().partial_fit(narrow.astype(np.float64), y))


# -- weights, files, pickles ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("readout", ["last", "averaged"])
def test_weights_for_raw_rows(n_classes, readout):
    X, present, y = numbers(5, n_classes=n_classes)
    model = stream(online(readout=readout), X, present, y, SPARSE)
    scores = model.decision_function(X).reshape(len(X), -1)
    near = {"rtol": 1e-9, "atol": 1e-9 * (1 + np.abs(scores).max())}
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, scores, **near)
    assert (theory.margins(X, y, model) > 0).tolist() == (model.predict(X) == y).tolist()
    same = model.normalized()
    assert same.predict(X).tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(np.linalg.norm(same.coef_), 1.0)


@pytest.mark.parametrize(
    "params", [{}, {"rule": "pa1", "readout": "averaged"}, {"rule": "arow"}, {"rule": "pa1", "readout": "voted"}]
)
def test_saved_in_the_middle_of_a_stream(params, data, tmp_path):
    X, present, y = data
    half = slice(20), slice(20, None)

    def part(model, which):
        return stream(model, X[which], present[which], y[which], ["csr"] * 20)

    model = learn(online(**params), X[:1], present[:1], y[:1], "dense")
    model = part(model, half[0])
    save(model, tmp_path / "all")
    save(model, tmp_path / "short", drop_zeros=True)
    copies = [load(tmp_path / "all"), load(tmp_path / "short"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    assert_scores(model, copies, X, present)
    part(model, half[1])
    for again in copies:
        assert again.scale == "online"
        part(again, half[1])
    assert_scores(model, copies, X, present)


def assert_scores(model, copies, X, present):
    for again in copies:
        assert_state(model, again)
        for rows in (X, csr(X, present)):
            assert np.array_equal(again.decision_function(rows), model.decision_function(rows))


def assert_state(one, other):
    for name in one._learner.state:
        assert np.array_equal(one._learner.state[name], other._learner.state[name]), name


def test_a_damaged_file_is_refused(data, tmp_path):
    X, present, y = data
    for name, value in (
        (running.COUNT, 0.5),
        (running.COUNT, 41.0),
        (running.SQUARES, -1.0),
        (running.FACTOR, -1.0),
        (running.ROWS, -1.0),
    ):
        model = stream(online(), X, present, y, DENSE)
        model._learner.state[name][0] = value
        save(model, tmp_path / "model")
        with pytest.raises(ModelFileError, match=r"running\."):
            load(tmp_path / "model")


# -- exports --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_onnx(n_classes, tmp_path):
    X, present, y = numbers(6, n_classes=n_classes)
    model, X = stream(online(readout="averaged"), X, present, y, SPARSE), X.astype(np.float32)
    export_onnx(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    label, scores = session.run(["label", "scores"], {"X": X})
    expected = model.decision_function(X.astype(np.float64))
    np.testing.assert_allclose(scores.reshape(expected.shape), expected, atol=1e-9 * (1 + np.abs(expected).max()))
    assert label.tolist() == model.predict(X.astype(np.float64)).tolist()


def test_skl2onnx(data):
    skl2onnx = pytest.importorskip("skl2onnx")
    X, present, y = data
    model = stream(online(), X, present, y, SPARSE)
    made = skl2onnx.to_onnx(model, X[:1])
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    _, scores = session.run(["label", "scores"], {session.get_inputs()[0].name: X})
    expected = model.decision_function(X)
    np.testing.assert_allclose(scores.reshape(len(X), -1)[:, -1], expected, atol=1e-9 * (1 + np.abs(expected).max()))


# -- sources and commands -------------------------------------------------------------------------------------


def svmlight(path, X, present, y):
    rows = zip(X.tolist(), present, y, strict=True)
    lines = [" ".join([str(label), *(f"{j}:{x[j]!r}" for j in range(D) if mask[j])]) for x, mask, label in rows]
    path.write_text("\n".join(lines))
    return path


def test_batches_of_a_file_are_cuts_of_a_stream(data, tmp_path):
    X, present, y = data
    y = (y == "a").astype(float)
    made = SvmlightSource([str(svmlight(tmp_path / "rows.svm", X, present, y))], block=500, zero_based=True)
    assert len(list(made.batches())) > 3
    model, twin = online(), online()
    for _ in range(2):
        guesses = model.predict_then_learn(made)
        assert guesses.tolist() == twin.predict_then_learn(csr(X, present), y).tolist()
    assert_same(model, twin)
    assert np.array_equal(model.decision_function(made), twin.decision_function(csr(X, present)))
    assert model.score(made) == twin.score(csr(X, present), y)


def test_tables_with_categories_and_missing_numbers(data, tmp_path):
    """Numbers that are never missing are centred; a missing one contributes 0, here and in ONNX."""
    X, present, y = data
    rows = zip(X.tolist(), present, strict=True)
    cells = [[repr(x) if there else "" for x, there in zip(*row, strict=True)] for row in rows]
    words = ["red", "blue", "green"]
    table = [",".join([label, words[i % 3], *row]) for i, (row, label) in enumerate(zip(cells, y, strict=True))]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["label,colour,a,b,c,d,e,f", *table]))
    for model in (online(), online(rule="arow")):
        model.partial_fit(source(path, target="label"))
        model.partial_fit(source(path, like=model.encoding_))
        numbers, found = model.encoding_.numbers, model._learner.scaling
        centred = {name for name, centre in zip(numbers, found.centre, strict=False) if centre != 0.0}
        assert centred == {"a", "b", "e"}
        made = source(path, like=model.encoding_)
        scores = model.decision_function(made)
        export_onnx(model, tmp_path / "model.onnx")
        session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
        columns = {name: np.where(present[:, [j]], X[:, [j]], np.nan) for j, name in enumerate("abcdef")}
        columns["colour"] = np.array([[words[i % 3]] for i in range(len(y))], dtype=object)
        label, computed = session.run(["label", "scores"], columns)
        np.testing.assert_allclose(computed.ravel(), scores, atol=1e-9 * (1 + np.abs(scores).max()))
        assert label.tolist() == model.predict(made).tolist()


def test_commands_read_the_model(data, tmp_path, capsys):
    X, present, y = data
    model = stream(online(), X, present, y, SPARSE)
    save(model, tmp_path / "model")
    svmlight(tmp_path / "rows.svm", X, np.ones_like(present), np.zeros(len(y)))

    def run(*args):
        with pytest.raises(SystemExit) as leave:
            main([*map(str, args)])
        assert not leave.value.code
        return capsys.readouterr().out

    assert "per_spread" in run("inspect", tmp_path / "model", "--json")
    assert "the scaled rows cannot be separated" in run("inspect", tmp_path / "model")
    scores = [float(line) for line in run("predict", tmp_path / "model", tmp_path / "rows.svm", "--scores").split()]
    assert scores == model.decision_function(csr(X, np.ones_like(present))).tolist()
    told = json.loads(run("explain", tmp_path / "model", tmp_path / "rows.svm", "--row", 3, "--json"))
    assert told["score"] == scores[3]
    assert told["total"] == pytest.approx(scores[3])
    assert all(each["contribution"] == each["scaled"] * each["weight"] for each in told["contributions"])
