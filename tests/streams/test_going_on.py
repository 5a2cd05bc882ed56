"""`learn_one` after every other call, and parameters that change in between, as with `partial_fit`."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from stream_cases import CASES, assert_equal_bits, everything, growing, in_chunks, one_by_one, same_width

from perceptrons import PassiveAggressiveClassifier, PassiveAggressiveRegressor, Perceptron, load, save
from perceptrons.data import source
from perceptrons.rules import ALMA, AROW, PA1, PA2

FEW = ["perceptron-last-2", "perceptron-averaged-4", "perceptron-voted-2", "values-pa1-last"]
CHANGES = [
    (lambda: Perceptron(), [{"eta0": 0.5}, {"eta0": 2.0}, {"tie": "positive"}]),
    (lambda: Perceptron(rule=PA1(C=0.1)), [{"rule__C": 0.01}, {"rule": PA2(C=0.01)}, {"rule": "perceptron"}]),
    (lambda: Perceptron(rule=AROW(r=0.5)), [{"rule__r": 10.0}, {"rule": "scw1"}]),
    (lambda: Perceptron(rule=ALMA(alpha=0.5)), [{"rule__alpha": 0.9}]),
    (lambda: Perceptron(), [{"class_weight": {"dog": 3.0}}, {"class_weight": {"dog": 0.5, "cow": 2.0}}]),
    (lambda: PassiveAggressiveClassifier(C=0.1), [{"C": 0.5}, {"loss": "squared_hinge"}, {"C": 0.01}]),
    (lambda: PassiveAggressiveRegressor(C=0.1), [{"C": 0.5}, {"epsilon": 0.5}, {"epsilon": 0.0}]),
]


@pytest.mark.parametrize(("make", "changes"), CHANGES, ids=lambda each: "" if callable(each) else str(each))
def test_parameters_that_change(make, changes):
    """They take effect with the next example."""
    n_classes = None if isinstance(make(), PassiveAggressiveRegressor) else 2
    for seed in range(2):
        stream = same_width(seed, 40, 5, n_classes, forms=("dict", "pair"))
        model, twin, plain = one_by_one(make(), stream), in_chunks(make(), stream), one_by_one(make(), stream)
        telling = False
        for k, change in enumerate(changes):
            stream = same_width(10 * seed + k, 40, 5, n_classes, forms=("dict", "pair"))
            model.set_params(**change), twin.set_params(**change)
            one_by_one(model, stream), one_by_one(plain, stream)
            assert_equal_bits(model, in_chunks(twin, stream))
            telling |= model.coef_.tolist() != plain.coef_.tolist()
        assert telling


@pytest.mark.parametrize("after", [{"eta0": 0.25}, {"rule": PA2(C=0.1)}], ids=str)
def test_parameters_that_changed_before_the_model_was_saved(tmp_path, after):
    """The loaded model learns with them, as the model itself would have done. PA1(C=0.1) is an equal tuple."""
    stream = same_width(0, 40, 5, 2, forms=("dict",))
    model, plain = (one_by_one(Perceptron(rule=PA1(C=0.1)), stream) for _ in range(2))
    save(model.set_params(**after), tmp_path / "model")
    loaded, twin = load(tmp_path / "model"), load(tmp_path / "model")
    assert_equal_bits(one_by_one(model, stream), one_by_one(loaded, stream))
    assert_equal_bits(model, in_chunks(twin, stream))
    assert model.coef_.tolist() != one_by_one(plain, stream).coef_.tolist()


def test_parameters_set_as_attributes():
    """As some users do, without `set_params`; and a dict of class weights that is changed in place."""
    stream = same_width(0, 40, 5, 2, forms=("dict",))
    model, twin = one_by_one(Perceptron(), stream), in_chunks(Perceptron(), stream)
    model.eta0 = twin.eta0 = 0.25
    assert_equal_bits(one_by_one(model, stream), in_chunks(twin, stream))
    weights = {"dog": 2.0}
    model.class_weight, twin.class_weight = weights, {"dog": 2.0}
    assert_equal_bits(one_by_one(model, stream), in_chunks(twin, stream))
    weights["dog"] = twin.class_weight["dog"] = 0.5
    assert_equal_bits(one_by_one(model, stream), in_chunks(twin, stream))


@pytest.mark.parametrize(
    "change",
    [{"readout": "last"}, {"fit_intercept": False}, {"intercept_scaling": 2.0}, {"rule": "arow"}, {"rule": "alma"}],
    ids=str,
)
def test_parameters_that_must_stay(change):
    stream = same_width(0, 20, 3, 2, forms=("dict",))
    model, twin = one_by_one(Perceptron(), stream), in_chunks(Perceptron(), stream)
    model.set_params(**change), twin.set_params(**change)
    before = everything(model)
    with pytest.raises(ValueError) as expected:
        twin.partial_fit(stream[0].X, [stream[0].y])
    with pytest.raises(ValueError) as error:
        model.learn_one({"n0": 1.0, "late": 1.0}, "ant")
    assert str(error.value) == str(expected.value)
    assert everything(model) == before
    model.set_params(**{name: getattr(Perceptron(), name) for name in change})
    assert_equal_bits(one_by_one(model, stream), one_by_one(one_by_one(Perceptron(), stream), stream))


def test_fit_starts_anew():
    """With other features, other classes and other names."""
    model = one_by_one(Perceptron(), growing(0, 30, 12, 4))
    X, y = np.array([[1.0, 2.0], [-1.0, 0.5], [0.0, 1.0]]), [0, 1, 0]
    model.fit(X, y)
    assert_equal_bits(model, Perceptron().fit(X, y))
    assert not hasattr(model, "feature_names_in_") and model.classes_.tolist() == [0, 1]
    model.learn_one({"x1": 1.0, "new": 2.0}, 1)
    assert model.feature_names_in_.tolist() == ["x0", "x1", "new"]
    frame = pd.DataFrame({"age": [1.0, 2.0], "pay": [3.0, -1.0]})
    model.fit(frame, ["a", "b"])
    assert model.feature_names_in_.tolist() == ["age", "pay"]
    assert model.predict_one({"new": 1.0, "n0": 3.0}) == model.predict_one({})


@pytest.mark.parametrize(
    "case", ["perceptron-last-2", "perceptron-averaged-4", "perceptron-voted-2", "values-pa1-last"]
)
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_after_fit_and_after_partial_fit(case, form):
    make, n_classes = CASES[case]
    stream = same_width(3, 50, 6, n_classes)[1:]
    random = np.random.default_rng(0)
    X = random.normal(size=(20, 6))
    y = [each.y for each in stream[:20]]
    X = sp.csr_matrix(X) if form == "csr" else X
    renamed = [
        each._replace(x={f"x{k[1:]}": v for k, v in each.x.items()} if isinstance(each.x, dict) else each.x)
        for each in stream
    ]
    for begin in ("fit", "partial_fit"):
        model, twin = make().set_params(max_iter=3, random_state=0), make().set_params(max_iter=3, random_state=0)
        getattr(model, begin)(X, y), getattr(twin, begin)(X, y)
        assert_equal_bits(one_by_one(model, renamed), in_chunks(twin, stream))
        assert model.n_features_in_ == 6


def test_models_of_data_frames(tmp_path):
    """Dicts, series and rows of the frame; after a model file, too."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(30, 3)), columns=["age", "pay", "size"])
    y = random.integers(2, size=30)
    model, twin = Perceptron(max_iter=2).fit(frame, y), Perceptron(max_iter=2).fit(frame.to_numpy(), y)
    save(model, tmp_path / "model")
    for begun in (model, load(tmp_path / "model")):
        expected = Perceptron(max_iter=2).fit(frame.to_numpy(), y)
        for i, (_, row) in enumerate(frame.iterrows()):
            x = row if i % 3 == 0 else dict(row) if i % 3 == 1 else row.to_numpy()
            guess = begun.predict_one(x)
            begun.learn_one(x, y[i])
            X = row.to_numpy()[np.newaxis]
            X = X if i % 3 == 2 else sp.csr_matrix((X[0], [0, 1, 2], [0, 3]), shape=(1, 3))
            assert guess == expected.predict(X)[0]
            expected.partial_fit(X, y[i : i + 1])
        np.testing.assert_array_equal(begun.coef_, expected.coef_)
        assert begun.feature_names_in_.tolist() == ["age", "pay", "size"]
        assert begun.learn_one({"new": 1.0}, 0).feature_names_in_.tolist() == ["age", "pay", "size", "new"]
    assert twin.n_seen_ == 60


def test_frames_after_dicts():
    """A frame with the same columns, in their order, as scikit-learn demands."""
    model = Perceptron().learn_one({"a": 1.0, "b": 2.0}, 0).learn_one({"a": -1.0, "b": 1.0}, 1)
    frame = pd.DataFrame({"a": [1.0], "b": [0.5]})
    assert model.decision_function(frame)[0] == model.score_one([1.0, 0.5])
    model.partial_fit(frame, [1])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a"]])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"b": "c"}))


def test_models_of_tables(tmp_path):
    """Numbers are scaled as in training, and a missing one counts as the mean. New categories are left out."""
    path = tmp_path / "table.csv"
    lines = [f"{'cook' if i % 3 else 'nurse'},{20 + i * 7 % 13},{i % 2}" for i in range(30)]
    path.write_text("\n".join(["job,age,kind", *lines]) + "\n")
    model = Perceptron(max_iter=3).fit(source(path, target="kind"))
    for i, line in enumerate(lines):
        job, age, _ = line.split(",")
        assert model.predict_one({"job": job, "age": int(age)}) == model.predict(source(path, target="kind"))[i]
    seen = model.n_seen_
    model.learn_one({"job": "pilot", "age": 30}, 1 - model.predict_one({"job": "pilot", "age": 30}))
    assert model.n_seen_ == seen + 1 and model.feature_names_in_.tolist() == ["age", "job=nurse", "job=cook"]
    assert np.isfinite(model.coef_).all() and model.score_one({"job": "pilot"}) == model.score_one({"job": "baker"})


def test_warm_starts_go_on():
    stream = same_width(0, 40, 4, 2, forms=("row",))[1:]
    X, y = np.concatenate([each.X for each in stream]), [each.y for each in stream]
    model = one_by_one(Perceptron(warm_start=True, max_iter=2), stream)
    twin = Perceptron(warm_start=True, max_iter=2).partial_fit(X, y)
    assert_equal_bits(model.fit(X, y), twin.fit(X, y))
    assert_equal_bits(one_by_one(model, stream), twin.partial_fit(X, y))


def test_returned_objects():
    model = Perceptron()
    assert model.learn_one({"a": 1.0}, 0) is model and not model.converged_
    assert model.learn_many([{"a": 1.0}], [1]) is model and model.n_iter_ == 1 and model.mistakes_.shape == (1,)
