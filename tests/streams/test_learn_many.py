"""`learn_many` equals the loop of `learn_one`, but learns all examples or none."""

import numpy as np
import pandas as pd
import pytest
from stream_cases import CASES, assert_equal_bits, everything, growing, same_width

from perceptrons import PassiveAggressiveRegressor, Perceptron


@pytest.mark.parametrize("case", CASES)
def test_equals_the_loop(case):
    make, n_classes = CASES[case]
    for seed in range(3):
        stream = growing(seed, 40, 12, n_classes, forms=("dict",))
        model, loop, begin = make(), make(), 0
        sizes = np.random.default_rng(seed).integers(1, 10, size=40)
        for size in sizes:
            part = stream[begin : begin + size]
            begin += size
            if part:
                model.learn_many([each.x for each in part], [each.y for each in part])
        for each in stream:
            loop.learn_one(each.x, each.y)
        assert_equal_bits(model, loop)
        assert list(model.feature_names_in_) == list(loop.feature_names_in_)


def test_weights():
    stream = same_width(0, 30, 5, 2, forms=("dict",))
    weights = np.random.default_rng(0).choice([0.5, 1.0, 2.0], size=30)
    model, loop = Perceptron(), Perceptron()
    model.learn_many([each.x for each in stream], [each.y for each in stream], weights)
    for each, weight in zip(stream, weights.tolist(), strict=True):
        loop.learn_one(each.x, each.y, weight)
    assert_equal_bits(model, loop)


def test_forms_of_input():
    """Generators, and data frames with columns of text."""
    frame = pd.DataFrame({"age": [41.0, 20.0, 35.0], "job": ["cook", "nurse", "cook"]})
    records, y = frame.to_dict("records"), ["a", "b", "a"]
    model = Perceptron().learn_many(records, y)
    for other in (frame, iter(records), tuple(records), (dict(each) for each in records)):
        assert_equal_bits(Perceptron().learn_many(other, np.array(y)), model)
    assert list(model.feature_names_in_) == ["age", "job=cook", "job=nurse"]
    assert model.learn_many(records, y) is model


GOOD = [{"a": 1.0, "new": 2.0}, {"b": -1.0}, {"other": "text"}]
BAD = {
    "NaN": ([*GOOD, {"a": float("nan")}], list("ABAC"), "at row 3: the feature 'a' of x is NaN"),
    "text label": (GOOD, [1, 2, 3], "labels do not match"),
    "a list": ([*GOOD, [1.0, 2.0]], list("ABAB"), "expected dicts, got list at row 3"),
    "None": ([*GOOD, None], list("ABAB"), "expected dicts, got NoneType at row 3"),
    "too few labels": (GOOD, list("AB"), "inconsistent numbers of samples"),
    "no rows": ([], [], "X has no rows"),
    "overflow": ([*GOOD, {"huge": 1e200}], list("ABAB"), "overflows"),
    "a bad value": ([*GOOD, {"late": None}], list("ABAB"), "at row 3: the feature 'late' of x must be a number"),
    "one dict": (GOOD[0], ["A"], "X must be several dicts, or a data frame, got dict: for one, use learn_one"),
    "text": ("abc", list("ABA"), "X must be several dicts, or a data frame, got str"),
    "a number": (3.0, ["A"], "X must be several dicts, or a data frame, got float"),
    "an array": (np.ones((2, 2)), list("AB"), "expected dicts, got ndarray at row 0: use partial_fit"),
}


@pytest.mark.parametrize("fitted", [True, False], ids=["fitted", "new"])
@pytest.mark.parametrize("bad", BAD)
def test_all_or_none(bad, fitted):
    X, y, message = BAD[bad]
    model = Perceptron(readout="averaged")
    if fitted:
        model.learn_many([{"a": 1.0}, {"b": 2.0}], ["A", "B"])
    elif bad == "text label":
        pytest.skip("a model that has learned nothing takes labels of any type")
    before = everything(model)
    with pytest.raises(ValueError, match=message):
        model.learn_many(X, y)
    assert everything(model) == before
    model.learn_many(GOOD, list("ABA"))  # the names that were refused get numbers now
    twin = Perceptron(readout="averaged")
    if fitted:
        twin.learn_many([{"a": 1.0}, {"b": 2.0}], ["A", "B"])
    assert_equal_bits(model, twin.learn_many(GOOD, list("ABA")))
    assert list(model.feature_names_in_) == list(twin.feature_names_in_)


def test_frames_of_polars():
    polars = pytest.importorskip("polars", reason="data frames of Polars are for users who have it installed")
    given = {"age": [41.0, 20.0, 35.0], "job": ["cook", "nurse", "cook"]}
    frame, y = polars.DataFrame(given), ["a", "b", "a"]
    model = Perceptron().learn_many(frame, polars.Series(y))
    assert_equal_bits(model, Perceptron().learn_many(pd.DataFrame(given), y))
    assert model.predict_many(frame).tolist() == [model.predict_one(x) for x in frame.iter_rows(named=True)]


def test_a_generator_that_fails_changes_nothing():
    def broken():
        yield {"a": 1.0, "c": 2.0}
        raise RuntimeError("the stream broke")

    model = Perceptron().learn_one({"a": 1.0}, "A")
    before = everything(model)
    with pytest.raises(RuntimeError, match="the stream broke"):
        model.learn_many(broken(), ["A", "B"])
    assert everything(model) == before


def test_bad_weights_and_values():
    model = PassiveAggressiveRegressor().learn_one({"a": 1.0}, 2.0)
    before = everything(model)
    for weight in ([1.0, -1.0, 1.0], [1.0, np.nan, 1.0], [1.0, 2.0]):
        with pytest.raises(ValueError, match="sample_weight"):
            model.learn_many(GOOD, [1.0, 2.0, 3.0], weight)
    with pytest.raises(ValueError, match="infinity at row 2"):
        model.learn_many(GOOD, [1.0, 2.0, np.inf])
    assert everything(model) == before
