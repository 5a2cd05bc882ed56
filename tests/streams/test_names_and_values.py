"""Dicts as users have them: odd names, all types of numbers, text, subclasses, and a million keys."""

import pickle
from collections import ChainMap, OrderedDict, defaultdict
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from stream_cases import assert_equal_bits

from perceptrons import KernelPerceptron, PassiveAggressiveRegressor, Perceptron, load, save
from perceptrons.models.examples import names_of

ODD = [
    "",
    " ",
    "a b",
    "a=b",
    "=",
    "naïve",
    "名前",
    "\U0001f600",
    "e\u0301",
    "\u00e9",
    "line\nbreak",
    "\x00",
    "x",
    "x-1",
]


def test_odd_names(tmp_path):
    """Each is a feature of its own, and survives a model file."""
    x = {name: float(j + 1) for j, name in enumerate(ODD)}
    model = Perceptron().learn_one(x, "yes").learn_one({}, "no").learn_one(x, "yes")
    assert model.feature_names_in_.tolist() == ODD
    assert {each.feature for each in model.explain_one(x)} == set(ODD)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.feature_names_in_.tolist() == ODD
    for name in ODD:
        assert again.score_one({name: 1.0}) == model.score_one({name: 1.0})
    assert "\x00" not in str(model.explain_one(x)) and len(str(model.explain_one(x)).splitlines()) == len(ODD) + 4


def test_the_name_of_a_feature_without_a_name():
    """A dict that says "x3" means feature 3, if that has no other name; otherwise a new feature."""
    model = Perceptron().learn_one([1.0, 2.0], "yes").learn_one({"x1": 1.0}, "no")
    assert model.n_features_in_ == 2
    model.learn_one({"x01": 1.0, "x2": 1.0, "X1": 1.0, "x١": 1.0}, "no")  # not one of them is feature 1
    assert model.feature_names_in_.tolist() == ["x0", "x1", "x01", "x2", "X1", "x١"]
    other = Perceptron().learn_one({"x1": 1.0, "x0": 2.0}, "yes")
    assert other.feature_names_in_.tolist() == ["x1", "x0"]
    other.learn_one(([3], [1.0]), "no").learn_one({"x3": 1.0, "x2": 1.0}, "yes")
    assert other.feature_names_in_.tolist() == ["x1", "x0", "x2", "x3"]


def test_a_name_that_a_feature_without_a_name_would_have():
    """The feature that a dict has named keeps the name."""
    model = Perceptron().learn_one({"x2": 1.0}, "yes").learn_one(([4], [1.0]), "no").learn_one({"x2": 1.0}, "no")
    names = model.feature_names_in_.tolist()
    assert len(names) == 5 and names[0] == "x2"
    assert model.score_one({"x2": 1.0}) == model.score_one(([0], [1.0]))
    again = pickle.loads(pickle.dumps(model))
    assert again.score_one({"x2": 1.0}) == model.score_one({"x2": 1.0})


def test_whole_numbers_as_keys():
    model = Perceptron().learn_one({7: 1.0, np.int64(3): 2.0}, "yes").learn_one({"7": -1.0}, "no")
    assert model.feature_names_in_.tolist() == ["7", "3"]
    assert model.score_one({7: 2.0}) == model.score_one({"7": 2.0}) == model.score_one({np.uint8(7): 2.0})
    assert model.learn_one({-1: 1.0}, "no").feature_names_in_.tolist() == ["7", "3", "-1"]
    assert {type(name) for name in model.feature_names_in_} == {str}


def test_subclasses_of_text():
    class Text(str):
        pass

    model = Perceptron().learn_one({np.str_("a"): 1.0, Text("b"): np.str_("c")}, "yes").learn_one({"a": -1.0}, "no")
    assert model.feature_names_in_.tolist() == ["a", "b=c"]
    assert model.score_one({Text("a"): 1.0, "b": Text("c")}) == model.score_one({"a": 1.0, "b": "c"})


VALUES = [
    2.5,
    3,
    True,
    False,
    np.float64(2.5),
    np.float32(0.1),
    np.float16(0.1),
    np.longdouble(1.5),
    np.int8(-3),
    np.uint64(2**63),
    np.bool_(True),
    Decimal("0.1"),
    Fraction(1, 3),
    10**300 // 10**200,
    -0.0,
    5e-324,
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_types_of_numbers(value):
    """Each counts as the float that it converts to."""
    model, twin = Perceptron(), Perceptron()
    for y in ("no", "yes", "no"):
        model.learn_one({"a": value, "b": 1.0}, y)
        twin.learn_one({"a": float(value), "b": 1.0}, y)
    assert_equal_bits(model, twin)
    assert model.score_one({"a": value}) == twin.score_one({"a": float(value)})


def test_text_is_one_hot():
    model = Perceptron().learn_one({"job": "cook", "age": 41}, "yes").learn_one({"job": "nurse"}, "no")
    assert model.feature_names_in_.tolist() == ["job=cook", "age", "job=nurse"]
    assert model.score_one({"job": "cook"}) == model.score_one({"job=cook": 1.0})
    assert model.score_one({"job": "pilot"}) == model.score_one({})
    assert model.learn_one({"job": ""}, "no").feature_names_in_[3] == "job="


def test_one_name_with_text_and_with_numbers():
    model = Perceptron().learn_one({"age": 41}, "yes").learn_one({"age": "unknown"}, "no")
    assert model.feature_names_in_.tolist() == ["age", "age=unknown"]


def test_mappings():
    x = {"b": 1.0, "a": -2.0, "job": "cook"}
    default = defaultdict(float, x)
    forms = [OrderedDict(x), default, MappingProxyType(x), pd.Series(x), ChainMap(x)]
    expected = Perceptron().learn_one(x, "yes").learn_one({"a": 1.0}, "no")
    for form in forms:
        names = sorted(form) if isinstance(form, ChainMap) else list(form.keys())
        if names != list(x):
            continue
        model = Perceptron().learn_one(form, "yes").learn_one({"a": 1.0}, "no")
        assert_equal_bits(model, expected)
        assert model.score_one(form) == expected.score_one(x) and model.predict_one(form) == expected.predict_one(x)
    assert dict(default) == x


def test_the_dict_of_the_caller_stays_as_it_is():
    x = {"a": 1, "b": "text", 7: True}
    copy = dict(x)
    model = Perceptron().learn_one(x, "yes").learn_one({}, "no").learn_one(x, "yes")
    model.predict_one(x), model.score_one(x), model.explain_one(x)
    assert x == copy and list(x) == list(copy)
    row, pair = np.ones(3), (np.arange(3), np.ones(3))
    before = model.score_one(row), model.score_one(pair)
    model.learn_one(row, "no").learn_one(pair, "yes")
    assert row.tolist() == pair[1].tolist() == [1.0] * 3 and before[0] == before[1]


def test_arrays_that_the_caller_changes_later():
    """A model must not keep a view of a row: voted readouts keep rows."""
    for readout in ("last", "averaged", "voted"):
        random = np.random.default_rng(0)
        X, y = random.normal(size=(30, 4)), random.integers(2, size=30)
        model, twin = Perceptron(readout=readout), Perceptron(readout=readout).partial_fit(X, y)
        room, indices, values = np.empty(4), np.empty(4, dtype=np.int64), np.empty(4)
        for i, (row, label) in enumerate(zip(X, y, strict=True)):
            if i % 2:
                room[:] = row
                model.learn_one(room, label)
            else:
                indices[:], values[:] = np.arange(4), row
                model.learn_one((indices, values), label)
        room[:], indices[:], values[:] = 9e9, 0, 9e9
        np.testing.assert_allclose(model.decision_function(X), twin.decision_function(X), rtol=1e-9)


def test_a_million_keys(tmp_path):
    names = [f"word{j}" for j in range(1_000_000)]
    x = dict.fromkeys(names, 1.0)
    model = (
        Perceptron(readout="last")
        .learn_one(x, "spam")
        .learn_one({"word5": 1.0, "other": 2.0}, "ham")
        .learn_one(x, "spam")
    )
    assert model.n_features_in_ == 1_000_001 and model.n_updates_ >= 1
    assert model.predict_one(x) == "spam" and model.score_one(x) == float(
        model.decision_function([[1.0] * 10**6 + [0]])[0]
    )
    told = model.explain_one({**dict.fromkeys(names[:100_000], 1.0), "unknown": 1.0})
    assert told.unknown == ["unknown"] and len(str(told).splitlines()) < 30
    assert np.isclose(sum(each.contribution for each in told) + told.intercept, told.score)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.score_one(x) == model.score_one(x)
    assert_equal_bits(
        again.learn_one({"new": 1.0}, "ham"), model.learn_one({"new": 1.0}, "ham"), np.ones((1, 1_000_002))
    )
    assert again.feature_names_in_[-2:].tolist() == ["other", "new"]


def test_many_new_names_one_by_one():
    """Every call brings new names; room must not be made anew each time at a cost that grows with the square."""
    model = PassiveAggressiveRegressor()
    for i in range(3000):
        model.learn_one({f"name{i}": 1.0, "shared": 0.5}, float(i % 3))
    assert model.n_features_in_ == 3001
    assert model.feature_names_in_[-1] == "name2999" and model.coef_.shape == (3001,)


def test_names_of_data_frames_are_read_once():
    """For models without a short way, too; after another fit, they are read anew."""
    frame, y = pd.DataFrame({"a": [1.0, -1.0, 0.5], "b": [0.0, 2.0, 1.0]}), ["no", "yes", "no"]
    for model in (KernelPerceptron(budget=3).partial_fit(frame, y), Perceptron(readout="voted").partial_fit(frame, y)):
        score, names = model.score_one({"b": 1.0}), names_of(model)
        assert names_of(model) is names and model.score_one({"b": 1.0}) == score
        model.fit(frame.rename(columns={"a": "b", "b": "c"}), y)
        assert names_of(model) is not names
        assert model.score_one({"c": 1.0, "a": 5.0}) == model.score_one((np.array([1]), np.array([1.0])))
