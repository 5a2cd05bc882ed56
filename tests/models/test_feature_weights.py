"""`feature_weights` lists `coef_` by name, the largest first."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from perceptrons import PassiveAggressiveClassifier, Perceptron
from perceptrons.data import source

rng = np.random.default_rng(0)
X = rng.integers(-3, 4, size=(40, 6)).astype(np.float64)
TWO, THREE = np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)], rng.integers(3, size=40)
FEW = {"max_iter": 3, "random_state": 0}


@pytest.mark.parametrize("estimator", [Perceptron(**FEW), PassiveAggressiveClassifier(average=True, **FEW)])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("top", [None, 0, 2, 100])
def test_triples(estimator, y, top):
    model = estimator.fit(X, y)
    found = list(model.feature_weights(top=top))
    expected = []
    for label, line in zip(model.classes_[-len(model.coef_) :].tolist(), model.coef_, strict=True):
        order = sorted(np.flatnonzero(line).tolist(), key=lambda j: (-abs(line[j]), j))[:top]
        expected += [(f"x{j}", label, line[j]) for j in order]
    assert found == expected


def test_names_of_frames_and_arguments():
    names = ["a", "b", "c", "d", "e", "f"]
    model = Perceptron(**FEW).fit(pd.DataFrame(X, columns=names), TWO)
    assert {each.feature for each in model.feature_weights()} <= set(names)
    best = model.feature_weights(top=1)[0]
    assert best.weight == model.coef_[0, names.index(best.feature)] and best.label == "yes"
    other = model.feature_weights([name * 2 for name in names], top=1)[0]
    assert other.feature == 2 * best.feature
    with pytest.raises(ValueError, match=r"feature_names must be 6 names, one per feature, got shape \(5,\)"):
        model.feature_weights(names[:5])
    with pytest.raises(ValueError, match="top must be a whole number >= 0, or None for all, got -1"):
        model.feature_weights(top=-1)


def test_names_of_tables(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("job,age,kind\nnurse,3,a\ncook,5,b\nnurse,2,a\ncook,1,b\n")
    model = Perceptron(**FEW).fit(source(path, target="kind"))
    assert {each.feature for each in model.feature_weights()} <= {"age", "job=nurse", "job=cook"}


def test_words_of_a_pipeline():
    pipeline = make_pipeline(CountVectorizer(), Perceptron(**FEW)).fit(["good day", "bad day", "good"], [1, 0, 1])
    found = pipeline[-1].feature_weights(pipeline[:-1].get_feature_names_out())
    signs = {each.feature: np.sign(each.weight) for each in found}
    assert signs["bad"] < 0


def test_tables_for_people():
    model = Perceptron(**FEW).fit(pd.DataFrame(X, columns=["a\x1b[2J", *"bcdef"]), TWO)
    table = model.feature_weights()
    lines = str(table).split("\n")
    assert len(lines) == 1 + len(table) and lines[0].split() == ["feature", "label", "weight"]
    assert "\x1b" not in str(table) and len(set(map(len, lines))) == 1
    frame = table.to_frame()
    assert list(frame.columns) == ["feature", "label", "weight"] and frame.weight.tolist() == [w for *_, w in table]
    assert str(model.feature_weights(top=0)).split() == ["feature", "label", "weight"]


def test_a_vote_has_no_weights():
    with pytest.raises(AttributeError, match="many hypotheses vote"):
        Perceptron(readout="voted", **FEW).fit(X, TWO).feature_weights()
