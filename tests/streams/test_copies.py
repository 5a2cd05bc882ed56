"""Copies, pickles and model files in the middle of a stream: both halves go on alike, bit for bit."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from stream_cases import CASES, FULL, Example, assert_equal_bits, csr, everything, growing, one_by_one, same_width

from perceptrons import KernelPerceptron, Perceptron, load, save


def by_file(model, folder):
    save(model, folder / "model")
    return load(folder / "model")


WAYS = {
    "pickle": lambda model, folder: pickle.loads(pickle.dumps(model)),
    "deepcopy": lambda model, folder: copy.deepcopy(model),
    "file": by_file,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", [*CASES, *FULL])
def test_both_halves_go_on_alike(case, way, tmp_path):
    """With names, classes and indices that are new after it."""
    make, n_classes = {**CASES, **FULL}[case]
    stream = growing(7, 60, 24, n_classes)
    for cut in (1, 20, 45):
        model = one_by_one(make(), stream[:cut])
        if way == "file" and hasattr(model, "classes_") and len(model.classes_) < 2:
            continue
        again = WAYS[way](model, tmp_path)
        assert_equal_bits(again, model)
        for each in stream[cut:]:
            assert again.predict_one(each.x) == model.predict_one(each.x)
            assert again.score_one(each.x) == model.score_one(each.x)
            model.learn_one(each.x, each.y)
            again.learn_one(each.x, each.y)
        assert_equal_bits(again, model)
        assert list(again.feature_names_in_) == list(model.feature_names_in_)
        assert_equal_bits(model, one_by_one(make(), stream))


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_is_apart(way, tmp_path):
    """What one of them learns, the other does not know."""
    model = Perceptron(readout="averaged").learn_one({"a": 1.0}, "no").learn_one({"b": 1.0}, "yes")
    again = WAYS[way](model, tmp_path)
    before = everything(model)
    again.learn_one({"c": 1.0, "d": "e"}, "maybe").learn_one(([9], [1.0]), "yes")
    assert everything(model) == before and model.feature_names_in_.tolist() == ["a", "b"]
    model.learn_one({"z": 1.0}, "no")
    assert again.feature_names_in_.tolist() == ["a", "b", "c", "d=e", *(f"x{j}" for j in range(4, 10))]
    assert again.classes_.tolist() == ["maybe", "no", "yes"]


def test_shallow_copies():
    """scikit-learn makes them, too; a copy that learns must not take names away from the model."""
    model = Perceptron().learn_one({"a": 1.0}, "no").learn_one({"b": 1.0}, "yes")
    score = model.score_one({"a": 1.0})
    copied = copy.copy(model)
    assert copied.score_one({"a": 1.0}) == score and copied.feature_names_in_.tolist() == ["a", "b"]


@pytest.mark.parametrize("way", WAYS)
def test_arrays_after_names(way, tmp_path):
    """scikit-learn asks for names if they came with a data frame, and not if they came with dicts."""
    frame = pd.DataFrame({"a": [1.0, -1.0], "b": [0.0, 2.0]})
    of_frame = Perceptron().partial_fit(frame, ["no", "yes"])
    of_frame.predict_one({"a": 1.0})
    for model in (of_frame, WAYS[way](of_frame, tmp_path)):
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            model.predict([[1.0, 2.0]])
        assert model.feature_names_in_.tolist() == ["a", "b"] and "_names" not in vars(model)
    again = WAYS[way](of_frame.learn_one({"b": 3.0}, "no"), tmp_path)
    of_dicts = Perceptron().learn_many(frame.to_dict("records"), ["no", "yes"])
    for model in (again, of_dicts, WAYS[way](of_dicts, tmp_path)):  # warnings are errors
        assert model.predict([[1.0, 2.0]]).shape == (1,)
        assert model.feature_names_in_.tolist() == ["a", "b"]
        assert model.predict(frame).shape == (2,)


@pytest.mark.parametrize("make", [Perceptron, lambda: Perceptron(readout="averaged")])
def test_shallow_copies_share_what_they_learn(make):
    """Also names that are new to one of them."""
    model = make().learn_one({"a": 1.0}, "no").learn_one({"b": 1.0}, "yes")
    other = copy.copy(model)
    model.learn_one({"c": 1.0, "d": 2.0}, "no")
    for x in ({"c": 1.0}, {"d": -1.0, "a": 3.0}, {"e": 1.0}):
        assert other.score_one(x) == model.score_one(x) and other.predict_many([x]) == model.predict_many([x])
        assert other.explain_one(x).score == model.explain_one(x).score
    other.set_params(eta0=1.0)  # no short way is left
    assert other.learn_one({"d": 1.0, "e": 1.0}, "yes").n_features_in_ == 5
    assert model.score_one({"e": 1.0}) == other.score_one({"e": 1.0}) != 0.0


def test_clones_have_learned_nothing():
    for case in CASES:
        make, n_classes = CASES[case]
        model = one_by_one(make(), same_width(0, 15, 4, n_classes))
        fresh = clone(model)
        assert fresh.predict_one({"n1": 1.0}) is None and not hasattr(fresh, "feature_names_in_")
        stream = growing(1, 20, 6, n_classes)
        assert_equal_bits(one_by_one(fresh, stream), one_by_one(make(), stream))


def test_pickles_of_models_that_have_learned_nothing():
    stream = growing(1, 20, 6, 2)
    again = pickle.loads(pickle.dumps(Perceptron()))
    assert again.predict_one({"a": 1.0}) is None
    assert_equal_bits(one_by_one(again, stream), one_by_one(Perceptron(), stream))


@pytest.mark.parametrize("way", WAYS)
def test_pickles_right_after_predictions_and_after_learning(way, tmp_path):
    """Whatever calls keep for the next call must not get into a copy."""
    stream = same_width(2, 60, 5, 4)
    model, twin = Perceptron(readout="averaged"), one_by_one(Perceptron(readout="averaged"), stream)
    for i, each in enumerate(stream):
        model.predict_one(each.x)
        model.learn_one(each.x, each.y)
        if i > 20 and i % 5 == 0:
            model.predict_one(each.x)
            model = WAYS[way](model, tmp_path)
    assert_equal_bits(model, twin)


def test_bytes_of_files_do_not_depend_on_the_calls(tmp_path):
    """One by one or in one call: the same file."""
    stream = [Example({"a": 1.0, "b": 2.0}, None, "no"), *same_width(3, 30, 2, 2, forms=("pair",))[1:]]
    model = one_by_one(Perceptron(), stream)
    twin = Perceptron().learn_one(stream[0].x, stream[0].y)
    twin.partial_fit(np.concatenate([csr(*each.x, 2).toarray() for each in stream[1:]]), [e.y for e in stream[1:]])
    save(model, tmp_path / "a")
    save(pickle.loads(pickle.dumps(model)), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (model.n_seen_, model.n_updates_) == (twin.n_seen_, twin.n_updates_)


@pytest.mark.parametrize("way", WAYS)
def test_kernel_perceptrons(way, tmp_path):
    stream = growing(4, 50, 10, 2)
    model = one_by_one(KernelPerceptron(gamma=0.5, budget=6), stream[:25])
    again = WAYS[way](model, tmp_path)
    for each in stream[25:]:
        assert again.predict_one(each.x) == model.predict_one(each.x)
        model.learn_one(each.x, each.y)
        again.learn_one(each.x, each.y)
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)
    assert again.n_features_in_ == model.n_features_in_ == 10
    assert list(again.feature_names_in_) == list(model.feature_names_in_)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", ["perceptron-averaged-4", "pa1-averaged-4", "alma-last-4", "perceptron-voted-4"])
def test_models_of_dense_rows(case, way, tmp_path):
    """Their arrays lie otherwise in memory; they make room for names and indices all the same."""
    make, _ = CASES[case]
    random = np.random.default_rng(0)
    X, y = random.normal(size=(40, 5)), np.array(["ant", "bee", "cat", "dog"])[np.arange(40) % 4]
    model = make().partial_fit(X, y)
    again = WAYS[way](model, tmp_path)
    expected = make().partial_fit(np.column_stack([X, np.zeros((40, 20))]), y)
    for i in range(60):
        indices = np.array([i % 5, 5 + i // 3])
        values = random.normal(size=2)
        x = {f"x{indices[0]}": float(values[0]), f"x{indices[1]}": float(values[1])} if i % 4 else (indices, values)
        for each in (model, again):
            each.learn_one(x, y[i % 40])
            assert each.predict_one(x) in y
        expected.partial_fit(csr(indices, values, 25), y[i % 40 : i % 40 + 1])
    assert_equal_bits(again, model)
    np.testing.assert_allclose(model.decision_function(np.eye(25)), expected.decision_function(np.eye(25)), rtol=1e-9)


def test_shallow_copies_learn_with_their_own_parameters():
    """They share what was learned, and nothing else."""
    model = Perceptron(eta0=1.0, readout="last")
    for x, y in [({"a": 1.0}, 0), ({"a": 2.0}, 1), ({"a": 1.0}, 0)]:
        model.learn_one(x, y)
    other = copy.copy(model).set_params(eta0=10.0)
    before = model.coef_[0, 0]
    wrong = 1 - other.predict_one({"a": 4.0})
    model.predict_one({"a": 4.0})
    other.learn_one({"a": 4.0}, wrong)
    assert abs(other.coef_[0, 0] - before) == 40.0
