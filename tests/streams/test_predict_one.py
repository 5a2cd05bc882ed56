"""`predict_one` and `score_one` say what `predict` and `decision_function` say of the same row, bit for bit."""

import numpy as np
import pytest
from naive import Naive
from stream_cases import CASES, FULL, LABELS, csr, everything, in_chunks, one_by_one, same_width

from perceptrons import KernelPerceptron, PassiveAggressiveClassifier, PassiveAggressiveRegressor, Perceptron

ALL = {**CASES, **FULL}


def score(model, X):
    """What `score_one` should return for a matrix with one row."""
    if not hasattr(model, "classes_"):
        return float(model.predict(X)[0])
    scores = model.decision_function(X)
    return float(scores[0]) if scores.ndim == 1 else dict(zip(model.classes_.tolist(), scores[0].tolist(), strict=True))


@pytest.mark.parametrize("case", ALL)
def test_dicts_rows_and_pairs(case):
    make, n_classes = ALL[case]
    stream = same_width(1, 50, 7, n_classes)
    model = one_by_one(make(), stream)
    before = everything(model)
    asked = {type(each.x) for each in stream}
    assert asked == {dict, list, np.ndarray, tuple}
    for each in stream:
        assert model.score_one(each.x) == score(model, each.X)
        assert model.predict_one(each.x) == model.predict(each.X)[0]
    assert everything(model) == before


@pytest.mark.parametrize("width", [1, 2, 5, 8, 31, 64, 70])
def test_rows_of_every_length(width):
    stream = same_width(width, 20, width, 2)
    model = one_by_one(Perceptron(), stream)
    for each in stream:
        assert model.score_one(each.x) == score(model, each.X)


@pytest.mark.parametrize(
    "model", [Perceptron(), PassiveAggressiveClassifier(), PassiveAggressiveRegressor(), KernelPerceptron(budget=3)]
)
@pytest.mark.parametrize("x", [{}, {"a": 1.0}, {"a": "text"}, [1.0, 2.0], ([0, 5], [1.0, 2.0])], ids=str)
def test_before_learning(model, x):
    before = everything(model)
    assert model.predict_one(x) is None and model.score_one(x) == 0.0
    assert everything(model) == before and not hasattr(model, "n_features_in_")


def test_after_one_class():
    model = Perceptron().learn_one({"a": 1.0}, "only")
    assert model.predict_one({"a": -3.0}) == model.predict_one({"b": 1.0}) == "only"
    assert model.score_one({"a": -3.0}) == 0.0


@pytest.mark.parametrize(
    "case", ["perceptron-last-2", "perceptron-averaged-4", "perceptron-voted-2", "values-arow-last"]
)
def test_unknown_features_are_ignored(case):
    make, n_classes = CASES[case]
    model = one_by_one(make(), same_width(2, 40, 4, n_classes))
    before = everything(model)
    known = {"n1": 0.5, "n3": -2.0}
    more = {"new": 7.0, "n1": 0.5, "job": "cook", "n3": -2.0, 12: 1.0, "x9": 3.0}
    assert model.score_one(known) == model.score_one(more)
    assert model.predict_one(known) == model.predict_one(more)
    assert model.score_one(([1, 3], [0.5, -2.0])) == model.score_one(([1, 3, 4, 10**6], [0.5, -2.0, 9.0, 9.0]))
    assert model.score_one({"q": 1.0}) == model.score_one({}) == score(model, csr([], [], 4))
    assert everything(model) == before


def test_types_of_labels():
    """Labels come back as plain Python objects."""
    for labels, kind in (([0, 1], int), ([False, True], bool), (["a", "b"], str), (np.array([2, 7]), int)):
        model = Perceptron().learn_one({"a": 1.0}, labels[0]).learn_one({"a": -1.0}, labels[1])
        assert type(model.predict_one({"a": -1.0})) is kind
    model = PassiveAggressiveRegressor().learn_one({"a": 1.0}, np.float32(2.0))
    assert type(model.predict_one({"a": 1.0})) is type(model.score_one({"a": 1.0})) is float
    several = Perceptron().partial_fit(np.eye(3), LABELS[:3])
    scores = several.score_one([1.0, 0.0, 0.0])
    assert list(scores) == ["ant", "bee", "cat"] and {type(each) for each in scores.values()} == {float}


@pytest.mark.parametrize("n_classes", [2, 4])
def test_predictions_before_each_example_are_those_of_the_twin(n_classes):
    """See, predict, be told, learn: on whole numbers, where all sums are exact."""
    random = np.random.default_rng(0)
    X = random.integers(-2, 3, size=(60, 5)).astype(float)
    y = LABELS[random.integers(n_classes, size=60)]
    model, twin = Perceptron(readout="last"), Naive()
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        x = [{f"n{j}": v for j, v in enumerate(row)}, row, (np.flatnonzero(row), row[row != 0])][i % 3]
        guess = model.predict_one(x)
        expected = twin.partial_fit(row[np.newaxis], [label])[0]
        assert guess == expected
        model.learn_one(x, label)
    assert (model.n_mistakes_, model.n_updates_) == (twin.n_mistakes, twin.n_updates)
    np.testing.assert_array_equal(np.column_stack([model.coef_, model.intercept_]), twin.last())


@pytest.mark.parametrize("policy", ["projectron++", "random"])
def test_kernel_perceptrons_with_a_budget(policy):
    """Support rows are dense or sparse for good, so streams of one form are compared."""
    make = lambda: KernelPerceptron(gamma=0.5, budget=6, policy=policy)  # noqa: E731
    for forms, first in ((("dict", "pair"), 0), (("row",), 1)):
        stream = same_width(3, 50, 4, 2, forms=forms)[first:]
        model, twin, chunks = one_by_one(make(), stream), in_chunks(make(), stream, most=1), in_chunks(make(), stream)
        assert (model.n_seen_, model.n_mistakes_) == (twin.n_seen_, twin.n_mistakes_)
        np.testing.assert_array_equal(model.dual_coef_, twin.dual_coef_)
        np.testing.assert_array_equal(model.dual_coef_, chunks.dual_coef_)  # scores add them in another order
        for each in stream:
            assert model.score_one(each.x) == float(twin.decision_function(each.X)[0])
            assert model.predict_one(each.x) == twin.predict(each.X)[0]
