"""Features and classes that appear late: what room is made, what they are called, and what the twin says."""

import numpy as np
import pandas as pd
import pytest
from naive import Naive
from stream_cases import LABELS, Example, assert_equal_bits, everything, growing, one_by_one

from perceptrons import PassiveAggressiveRegressor, Perceptron


@pytest.mark.parametrize("readout", ["last", "averaged", "voted"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_against_the_twin(readout, n_classes):
    """Whole numbers, so that all sums are exact, and 64 examples, so that means are."""
    for seed in range(4):
        stream = growing(seed, 64, 9, n_classes)
        rows = [np.rint(2 * each.X.toarray()) for each in stream]
        model, twin = Perceptron(readout=readout), Naive()
        for each, row in zip(stream, rows, strict=True):
            if isinstance(each.x, dict):
                x = {name: float(np.rint(2 * value)) for name, value in each.x.items()}
            else:
                x = each.x[0], np.rint(2 * each.x[1])
            model.learn_one(x, each.y)
            twin.partial_fit(row, [each.y])
        assert (model.n_seen_, model.n_mistakes_, model.n_updates_) == (64, twin.n_mistakes, twin.n_updates)
        assert model.classes_.tolist() == list(twin.classes)
        Q = np.random.default_rng(seed).integers(-3, 4, size=(20, 9)).astype(float)
        expected = twin.decision_function(Q, readout)
        np.testing.assert_array_equal(
            model.decision_function(Q), expected[:, 0] if len(twin.classes) == 2 else expected
        )
        np.testing.assert_array_equal(model.predict(Q), twin.predict(Q, readout))


def test_names_by_arrival():
    model = Perceptron().learn_one({"b": 1.0, "a": 2.0}, 0)
    assert model.feature_names_in_.tolist() == ["b", "a"]
    model.learn_one({"a": 1.0, "job": "cook", "c": 0.0}, 1)
    assert model.feature_names_in_.tolist() == ["b", "a", "job=cook", "c"]
    model.learn_one({}, 1)
    assert model.n_features_in_ == 4 and model.n_seen_ == 3
    assert model.predict(np.eye(4)).shape == (4,)


def test_pairs_beyond_the_last_feature():
    """Features that a pair brings are called x and their number; a later dict may use that name."""
    model = Perceptron().learn_one({"a": 1.0}, 0).learn_one(([3], [2.0]), 1)
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == ["a", "x1", "x2", "x3"]
    twin = Perceptron().partial_fit([[1.0, 0, 0, 0], [0, 0, 0, 2.0]], [0, 1])
    np.testing.assert_array_equal(model.coef_, twin.coef_)
    model.learn_one({"x3": -1.0, "x2": 5.0, "x4": 1.0, "b": 1.0}, 1)
    assert model.feature_names_in_.tolist() == ["a", "x1", "x2", "x3", "x4", "b"]
    assert model.score_one({"x3": 1.0}) == model.score_one(([3], [1.0]))
    model.learn_one(([7], [1.0]), 1)
    assert model.feature_names_in_.tolist() == ["a", "x1", "x2", "x3", "x4", "b", "x6", "x7"]


def test_names_are_right_however_often_they_are_asked_for():
    """The array is made when it is asked for: every growth must make a new one."""
    model, asked = Perceptron(), Perceptron()
    for i, each in enumerate([Example({"first": 1.0}, None, "ant"), *growing(5, 40, 20, 2)]):
        model.learn_one(each.x, each.y)
        asked.learn_one(each.x, each.y)
        assert len(asked.feature_names_in_) == asked.n_features_in_, i
    assert model.feature_names_in_.tolist() == asked.feature_names_in_.tolist()


def test_names_of_frames_when_pairs_bring_more():
    frame = pd.DataFrame({"a": [1.0, -1.0], "b": [0.5, 2.0]})
    for model, y in ((Perceptron(), ["no", "yes"]), (PassiveAggressiveRegressor(), [1.0, 2.0])):
        model.fit(frame, y).learn_one(([3], [1.0]), y[0])
        assert model.n_features_in_ == 4
        assert model.feature_names_in_.tolist() == ["a", "b", "x2", "x3"]
        assert {each.feature for each in model.explain_one(([0, 3], [1.0, 1.0]))} <= {"a", "x3"}
        model.feature_weights()


def test_order_of_keys():
    """Known features in any order are the same example."""
    random = np.random.default_rng(0)
    stream = growing(0, 40, 12, 4, forms=("dict",))
    model, twin = Perceptron(readout="averaged"), Perceptron(readout="averaged")
    for each in stream:
        model.learn_one(each.x, each.y)
        known = set(getattr(twin, "feature_names_in_", ()))
        old = [name for name in each.x if name in known]
        new = [name for name in each.x if name not in known]
        order = [*random.permutation(old).tolist(), *new] if old else new
        twin.learn_one({name: each.x[name] for name in order}, each.y)
    assert_equal_bits(model, twin)


def test_a_class_between_the_others():
    """Classes are sorted, so that a new one may come between, and the weights of the others follow."""
    model = Perceptron()
    for x, y in (({"a": 1.0}, "dog"), ({"b": 1.0}, "ant"), ({"c": 1.0}, "cat"), ({"d": 1.0}, "bee")):
        model.learn_one(x, y)
    assert model.classes_.tolist() == sorted(LABELS)
    assert list(model.score_one({})) == sorted(LABELS)
    scores = model.score_one({"c": 1.0})  # only "cat" has learned that it speaks for it
    assert scores["cat"] - model.score_one({})["cat"] == max(
        scores[name] - model.score_one({})[name] for name in scores
    )


def test_classes_by_partial_fit_are_kept():
    model = Perceptron().partial_fit([[1.0, 2.0]], ["bee"], classes=LABELS)
    model.learn_one([1.0, -1.0], "cat").learn_one(([4], [1.0]), "eel")
    assert model.classes_.tolist() == [*LABELS, "eel"] and model.n_features_in_ == 5


def test_rows_need_the_width_of_the_model():
    model = Perceptron().learn_one([1.0, 2.0], 0)
    before = everything(model)
    for wrong in ([1.0], [1.0, 2.0, 3.0], np.ones(0)):
        for call in (lambda x: model.learn_one(x, 1), model.predict_one, model.score_one, model.explain_one):
            with pytest.raises(ValueError, match="features, but Perceptron is expecting 2 features as input"):
                call(wrong)
    assert everything(model) == before
    model.learn_one({"new": 1.0}, 1)
    assert model.n_features_in_ == 3 and model.predict_one([1.0, 2.0, 3.0]) in (0, 1)


def test_pairs_in_any_order_and_twice():
    """Values of equal indices are added, as in sparse matrices."""
    model = Perceptron().learn_one(([5, 2, 5], [1.0, 3.0, 0.5]), 0).learn_one(([2, 0], [1.0, 1.0]), 1)
    twin = Perceptron().learn_one(([2, 5], [3.0, 1.5]), 0).learn_one(([0, 2], [1.0, 1.0]), 1)
    assert_equal_bits(model, twin)
    assert model.score_one(([2, 2], [1.0, 1.0])) == model.score_one(([2], [2.0]))


def test_empty_examples():
    """They move only the bias."""
    for x in ({}, ([], []), (np.empty(0, dtype=int), np.empty(0))):
        model = Perceptron().learn_one({"a": 1.0}, 0).learn_one(x, 1)
        twin = Perceptron().partial_fit([[1.0], [0.0]], [0, 1])
        np.testing.assert_array_equal(model.coef_, twin.coef_)
        np.testing.assert_array_equal(model.intercept_, twin.intercept_)
    first = Perceptron().learn_one({}, "a").learn_one({}, "b").learn_one({"late": 1.0}, "a")
    assert first.n_features_in_ == 1 and first.predict_one({}) in ("a", "b")


def test_one_by_one_from_empty_pairs():
    stream = growing(3, 20, 6, 2)
    model = one_by_one(Perceptron().learn_one(([], []), "dog"), stream)
    assert model.n_features_in_ == 6 and model.n_seen_ == 21


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64, ">i4", ">i8"])
def test_types_of_indices(kind):
    """Also after the first example, which takes another way; and slices, and rows in the other byte order."""
    model, twin = Perceptron(), Perceptron()
    for k in range(6):
        indices, values = np.array([0, 2 + k, 9]), np.array([1.0, -2.0, 0.5 * k])
        wide = np.zeros(6, dtype=kind)
        wide[::2] = indices
        model.learn_one((wide[::2], values.astype(">f8") if k % 2 else values), k % 2)
        twin.learn_one((indices.tolist(), values.tolist()), k % 2)
        assert model.score_one((indices.astype(kind), values)) == twin.score_one((indices, values))
    assert_equal_bits(model, twin)


@pytest.mark.parametrize("bad", [np.array([2**63, 1], dtype=np.uint64), np.array([-(2**63)]), np.array([2**32])])
def test_indices_out_of_range(bad):
    model = Perceptron().learn_one(([0, 1], [1.0, 2.0]), 0).learn_one(([0], [1.0]), 1)
    before = everything(model)
    with pytest.raises(ValueError, match="must be 0 or more and below"):
        model.learn_one((bad, np.ones(len(bad))), 0)
    assert everything(model) == before


def test_rows_of_all_types():
    X = np.array([[1, 0, 2], [0, 1, 1], [2, 1, 0], [1, 1, 1]])
    twin = Perceptron().partial_fit(X.astype(float), [0, 1, 0, 1])
    for kind in ("?", "i1", "u2", "i8", "f2", "f4", "f8", ">f8", "g", "O"):
        rows = X.astype(bool) if kind == "?" else X.astype(kind)
        expected = Perceptron().partial_fit(rows.astype(float), [0, 1, 0, 1]) if kind == "?" else twin
        model = Perceptron()
        for row, y in zip(rows, [0, 1, 0, 1], strict=True):
            model.learn_one(row, y)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
    strided, fortran = Perceptron(), Perceptron()
    wide, columns = np.repeat(X.astype(float), 2, axis=1), np.asfortranarray(X.astype(float))
    for i, y in enumerate([0, 1, 0, 1]):
        strided.learn_one(wide[i, ::2], y)
        fortran.learn_one(columns[i], y)
    assert_equal_bits(strided, twin)
    assert_equal_bits(fortran, twin)
