"""`explain_one`: contributions add up to the score, the largest first, by name."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from stream_cases import CASES, FULL, everything, one_by_one, same_width

from perceptrons import (
    KernelPerceptron,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    load,
    save,
)
from perceptrons.data import source

VOTED = [case for case in CASES if "voted" in case]
LINEAR = {case: what for case, what in {**CASES, **FULL}.items() if case not in VOTED}


def total(told):
    return sum(each.contribution for each in told) + told.intercept


def score_of(model, x, label=None):
    """The score that is explained, from `score_one`; and the classes that it is about."""
    score = model.score_one(x)
    if not hasattr(model, "classes_"):
        return score, None, None
    if not isinstance(score, dict):
        label = model.classes_.tolist()[1] if label is None else label
        return (score if label == model.classes_[1] else -score), label, None
    if label is not None:
        return score[label], label, None
    first = model.predict_one(x)
    second = max((name for name in score if name != first), key=lambda name: score[name])
    return score[first] - score[second], first, second


@pytest.mark.parametrize("case", LINEAR)
def test_contributions_add_up_to_the_score(case):
    make, n_classes = LINEAR[case]
    stream = same_width(1, 40, 7, n_classes)
    model = one_by_one(make(), stream)
    before = everything(model)
    for each in stream:
        for label in (None, *([] if n_classes is None else model.classes_.tolist())):
            told = model.explain_one(each.x, label=label)
            score, of, against = score_of(model, each.x, label)
            assert (told.score, told.label, told.against) == (score, of, against)
            assert np.isclose(total(told), score, rtol=1e-12, atol=1e-12)
            sizes = [abs(one.contribution) for one in told]
            assert sizes == sorted(sizes, reverse=True) and all(sizes) and told.unknown == []
    assert everything(model) == before


def test_each_contribution_is_weight_times_value():
    stream = same_width(2, 40, 5, 4)
    model = one_by_one(Perceptron(readout="averaged"), stream)
    x = {"n0": 2.0, "n3": -1.5, "n4": 0.0, "job": "cook"}
    told = model.explain_one(x, "bee")
    coef = dict(zip(model.feature_names_in_, model.coef_[model.classes_.tolist().index("bee")], strict=True))
    expected = {name: (x[name], coef[name], x[name] * coef[name]) for name in ("n0", "n3")}
    assert {each.feature: (each.value, each.weight, each.contribution) for each in told} == expected
    assert told.intercept == model.intercept_[1] and told.unknown == ["job=cook"]
    assert all(each.scaled == each.value for each in told)


def test_names():
    """Of dicts, of data frames, and of neither."""
    x = {"free": 2, "from": "bank", 7: 1}
    model = Perceptron().learn_one(x, "spam").learn_one({}, "ham").learn_one(x, "spam")
    assert [each.feature for each in model.explain_one(x)] == ["free", "from=bank", "7"]
    assert [each.feature for each in model.explain_one(([0, 1], [2.0, 1.0]))] == ["free", "from=bank"]
    assert [each.feature for each in model.explain_one([2.0, 1.0, 1.0])] == ["free", "from=bank", "7"]
    plain = Perceptron().partial_fit([[1.0, 2.0], [-1.0, 0.5]], [0, 1])
    assert {each.feature for each in plain.explain_one([1.0, 3.0])} == {"x0", "x1"}
    assert {each.feature for each in plain.explain_one({"x1": 3.0, "x2": 1.0})} == {"x1"}
    frame = pd.DataFrame({"age": [1.0, -1.0, 2.0], "pay": [2.0, 0.5, -1.0]})
    framed = Perceptron().fit(frame, [0, 1, 0])
    assert {each.feature for each in framed.explain_one(frame.iloc[0])} == {"age", "pay"}
    assert framed.explain_one(frame.iloc[0]).score == framed.score_one({"age": 1.0, "pay": 2.0})


def test_unknown_features():
    model = Perceptron().learn_one({"a": 1.0}, 0).learn_one({"b": 1.0}, 1)
    assert model.explain_one({"a": 1.0, "c": 2.0, "d": "e", 9: 1.0}).unknown == ["c", "d=e", "9"]
    assert model.explain_one(([0, 1, 7], [1.0, 1.0, 1.0])).unknown == ["x7"]
    assert model.explain_one({"c": float("nan")}).unknown == ["c"]  # as `predict_one` ignores it
    assert model.explain_one([1.0, 2.0]).unknown == []


def test_tables_keep_their_names_and_their_scale(tmp_path):
    """Features of tables are scaled, and a number that a dict does not have is missing."""
    lines = [f"{'cook' if i % 3 else 'nurse'},{20 + i * 7 % 13},{i * i},{i % 2}" for i in range(30)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["job,age,pay,kind", *lines]) + "\n")
    for model in (Perceptron(max_iter=3), PassiveAggressiveRegressor(max_iter=3, random_state=0)):
        model.fit(source(path, target="kind"))
        for x in ({"job": "cook", "age": 33, "pay": 5.0}, {"age": 60}, {"job": "nurse"}, {}):
            told = model.explain_one(x)
            assert np.isclose(told.score, model.score_one(x)) and np.isclose(total(told), told.score)
            assert {each.feature for each in told} <= {"age", "pay", "job=cook", "job=nurse"}
            assert all(np.isclose(each.contribution, each.weight * each.scaled) for each in told)
        told = model.explain_one({"job": "cook", "age": 33, "pay": 5.0})
        assert [each.value for each in told if each.feature == "age"] == [33.0]
        assert "scaled" in told.to_frame().columns and "scaled" in str(told).split("\n")[1]
        save(model, tmp_path / "model")
        assert list(load(tmp_path / "model").explain_one({"age": 60})) == list(model.explain_one({"age": 60}))


def test_printed():
    model = Perceptron().learn_one({"a\x1b[2J": 1.0, "b": 2.5}, "no\n").learn_one({"b": 1.0}, "yes")
    text = str(model.explain_one({"a\x1b[2J": 1.0, "b": 1.0}))
    lines = text.split("\n")
    assert lines[0] == "score: above 0 means yes" and lines[1].split() == ["feature", "value", "weight", "contribution"]
    assert [line.split()[0] for line in lines[-2:]] == ["(bias)", "sum"]
    assert len({len(line) for line in lines[1:]}) == 1 and "\x1b" not in text and repr(model.explain_one({})) != ""
    model.learn_one({"c": 1.0}, "maybe")
    first = str(model.explain_one({"c": 1.0})).split("\n")[0]
    assert first.startswith("score of maybe minus score of ") and first.endswith(", the runner-up")
    assert str(model.explain_one({"c": 1.0}, "no\n")).split("\n")[0] == "score of no\\n"
    value = PassiveAggressiveRegressor().learn_one({"a": 1.0}, 3.0)
    assert str(value.explain_one({"a": 1.0})).startswith("predicted value\n")


def test_long_tables_are_cut():
    x = {f"word{j}": 1.0 + j for j in range(50)}
    model = Perceptron(readout="last").learn_one(x, "spam").learn_one({}, "ham").learn_one(x, "spam")
    told = model.explain_one(x)
    lines = str(told).split("\n")
    assert len(told) == 50 and "(30 other features)" in lines[22]
    amounts = [float(line.split()[-1]) for line in lines[2:-1]]
    assert sum(amounts) == float(lines[-1].split()[-1]) == told.score


def test_frames():
    model = Perceptron().learn_one({"a": 1.0, "b": 2.0}, "no").learn_one({"b": 1.0}, "yes")
    told = model.explain_one({"a": 1.0, "b": 3.0})
    frame = told.to_frame()
    assert list(frame.columns) == ["feature", "value", "weight", "contribution"]
    assert frame.contribution.tolist() == [each.contribution for each in told] and len(told) == len(frame)
    assert told[0].feature == frame.feature[0]
    assert list(model.explain_one({}).to_frame().columns) == list(frame.columns)


def test_before_learning():
    for model in (Perceptron(), PassiveAggressiveClassifier(), PassiveAggressiveRegressor()):
        with pytest.raises(NotFittedError):
            model.explain_one({"a": 1.0})
    one = Perceptron().learn_one({"a": 1.0}, "only").explain_one({"a": 1.0})
    assert (one.label, one.score, len(one)) == ("only", 0.0, 0)


@pytest.mark.parametrize("case", VOTED)
def test_a_vote_is_no_sum_over_features(case):
    make, n_classes = CASES[case]
    model = one_by_one(make(), same_width(0, 20, 3, n_classes))
    with pytest.raises(AttributeError, match="readout='voted' has no contributions of features: many hypotheses vote"):
        model.explain_one({"n1": 1.0})
    assert not hasattr(KernelPerceptron, "explain_one")


def test_labels():
    model = one_by_one(Perceptron(), same_width(0, 40, 3, 4))
    with pytest.raises(ValueError, match="label 'cow' is not one of the classes: 'ant', 'bee', 'cat', 'dog'"):
        model.explain_one({"n1": 1.0}, label="cow")
    with pytest.raises(ValueError, match="label must be None in regression"):
        PassiveAggressiveRegressor().learn_one({"a": 1.0}, 3.0).explain_one({"a": 1.0}, label=1)
    truth = Perceptron().learn_one({"a": 1.0}, False).learn_one({"a": -1.0}, True)
    assert truth.explain_one({"a": 1.0}, label=np.bool_(False)).label is False
