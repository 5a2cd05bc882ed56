"""Programs written for sklearn_crfsuite.CRF work with SequenceTagger, and labels that break a scheme are named."""

import json
import pickle
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, cross_validate, learning_curve
from tagger_cases import CHUNKS, TAGS, data, state

from perceptrons import SequenceTagger
from perceptrons.data.files import DataError


def dicts(seed=0, n=30, longest=4):
    X, Y = data(seed, TAGS, n=n, longest=longest)
    return [[{"word": token[0], "long": len(token) > 1, "bias": 1.0} for token in x] for x in X], Y


@make_scorer
def flat_f1(Y, predicted):
    truth, guess = ([label for y in each for label in y] for each in (Y, predicted))
    return f1_score(truth, guess, average="weighted", zero_division=0)


# -- scikit-learn ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("same_length", [False, True])
def test_cross_val_predict(same_length):
    """Each prediction is that of the model which has not seen the sequence, in the order of X."""
    X, Y = dicts()
    if same_length:
        X, Y = ([each[:2] for each in some if len(each) > 1] for some in (X, Y))
    found = cross_val_predict(SequenceTagger(max_iter=2), X, Y, cv=3)
    assert found.shape == (len(X),) and list(map(len, found)) == list(map(len, Y))
    third = len(X) // 3 if len(X) % 3 == 0 else len(X) // 3 + 1
    rest = SequenceTagger(max_iter=2).fit(X[third:], Y[third:])
    assert found[:third].tolist() == rest.predict(X[:third])


def test_searches_and_scores():
    X, Y = dicts()
    model = SequenceTagger(max_iter=2)
    scores = cross_val_score(model, X, Y, cv=3, scoring=flat_f1)
    assert cross_validate(model, X, Y, cv=3, scoring={"f1": flat_f1})["test_f1"].tolist() == scores.tolist()
    search = GridSearchCV(model, {"max_iter": [1, 2]}, cv=3, scoring=flat_f1).fit(X, Y)
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(scores.mean())
    assert learning_curve(model, X, Y, cv=3, scoring=flat_f1, train_sizes=[1.0])[2].tolist() == [scores.tolist()]


def test_predictions_are_lists():
    X, Y = dicts()
    found = SequenceTagger().fit(X, Y).predict(X)
    assert isinstance(found, list) and found == [list(labels) for labels in found]
    assert json.loads(json.dumps(found)) == found == pickle.loads(pickle.dumps(found))
    for some in (found, found[:0], found[:1]):
        assert np.asarray(type(found)(some)).shape == (len(some),)
    same = type(found)([["A", "B"], ["B", "A"]])
    assert np.array(same, dtype="<U1").tolist() == [["A", "B"], ["B", "A"]]


# -- the interface of a CRF --------------------------------------------------------------------------------------------


def test_bytes_are_strings():
    X, Y = dicts()
    encoded = [[{b"word": token["word"].encode(), **{k: token[k] for k in ("long", "bias")}} for token in x] for x in X]
    assert state(SequenceTagger().fit(encoded, Y)) == state(SequenceTagger().fit(X, Y))
    token = {"w": "café".encode(), b"k": "v", "l": ["a", b"b"], "d": {b"e": {"f": 1.5, "g": b"h"}}, "no": False, "0": 0}
    names = ["w:café", "k:v", "l:a", "l:b", "d:e:f", "d:e:g:h"]
    assert SequenceTagger().fit([[token, [b"x"]]], [["A", "A"]]).attributes_ == [*names, "x"]
    with pytest.raises(DataError, match=r"sequence 0, token 1: .* must be UTF-8"):
        SequenceTagger().fit([[token, {"w": b"\xff"}]], [["A", "A"]])


def test_numbers_of_every_kind():
    """Equal numbers are equal features; more different ones than are remembered do no harm."""
    X = [[{"x": i / 7, "y": np.float32(i % 2), "z": i % 3 == 0}] for i in range(400)]
    Y = [["A" if i % 5 else "B"] for i in range(400)]
    lists = [[{"x": x["x"], "y": float(x["y"]), "z": int(x["z"])} for (x,) in X]]
    one = SequenceTagger(max_iter=2, shuffle=False).fit(X, Y)
    two = SequenceTagger(max_iter=2, shuffle=False).fit([[x] for x in lists[0]], Y)
    assert state(one) == state(two) and one.attributes_ == ["z", "x", "y"]


def test_held_out_sequences_have_two_names():
    X, Y = dicts()
    runs = [
        SequenceTagger(max_iter=3).fit(X, Y, X[:5], Y[:5]),
        SequenceTagger(max_iter=3).fit(X, Y, X_val=X[:5], y_val=Y[:5]),
        SequenceTagger(max_iter=3).fit(X, Y, X_dev=X[:5], y_dev=Y[:5]),
    ]
    assert len({tuple(model.validation_errors_) for model in runs}) == 1 and len(runs[0].validation_errors_) == 3
    with pytest.raises(ValueError, match="X_dev and y_dev are other names for X_val and y_val: pass one pair"):
        SequenceTagger().fit(X, Y, X[:5], Y[:5], X_dev=X[:5], y_dev=Y[:5])
    with pytest.raises(ValueError, match="X_dev and y_dev go together"):
        SequenceTagger().fit(X, Y, X_dev=X[:5])
    with pytest.raises(DataError, match="1 labels in y_dev"):
        SequenceTagger().fit(X, Y, X_dev=[[{"a": 1}] * 2], y_dev=[["D"]])


def test_weights_can_be_counted_and_sorted():
    X, Y = dicts()
    model = SequenceTagger(max_iter=2).fit(X, Y)
    steps = model.transition_features_
    assert sorted(steps) and Counter(steps).most_common(3) and Counter(model.state_features_).most_common(3)
    assert {label for pair in steps for label in pair} <= set(model.classes_)
    assert {*model.start_features_, *model.end_features_} <= set(model.classes_) and model.start_features_
    assert len(model.attributes_) == model.num_attributes_ == model.n_features_
    assert {name for name, _ in model.state_features_} <= set(model.attributes_)
    x = X[next(i for i, y in enumerate(Y) if len(y) == 3)]
    ((labels, score),) = model.predict_k_best([x], 1)[0]
    emitted = sum(
        model.state_features_.get((name, label), 0.0)
        for token, label in zip(x, labels, strict=True)
        for name in [f"word:{token['word']}", "bias", *(["long"] if token["long"] else [])]
    )
    passed = sum(steps.get(pair, 0.0) for pair in pairwise(labels))
    edges = model.start_features_.get(labels[0], 0.0) + model.end_features_.get(labels[-1], 0.0)
    assert score == pytest.approx(emitted + passed + edges)


# -- schemes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("labels", "place"),
    [
        (["O", "I-X", "O"], "token 1: 'I-X' after 'O'"),
        (["I-X", "O"], "token 0: 'I-X' at the beginning"),
        (["O", "B-X", "typo"], "token 2: 'typo' after 'B-X'"),
    ],
)
def test_a_scheme_that_few_sequences_break_is_named(learn, labels, place):
    X, Y = data(3, CHUNKS, "BIO", n=40)
    X[30], Y[30] = [["a"]] * len(labels), labels
    with pytest.warns(UserWarning) as told:
        model = getattr(SequenceTagger(max_iter=1), learn)(X, Y)
    (message,) = (str(each.message) for each in told)
    assert f"the labels do not obey BIO (sequence 30, {place}; 1 of 40 sequences breaks it)" in message
    assert "scheme=None" in message and "scheme='BIO'" in message
    assert model.scheme_ is None and told[0].filename == __file__


def test_the_end_of_a_sequence_may_break_a_scheme():
    X = [[["a"], ["b"], ["c"]]] * 3
    Y = [["B-X", "L-X", "O"], ["U-X", "O", "O"], ["O", "O", "B-X"]]
    with pytest.warns(UserWarning, match="obey BILOU .sequence 2, token 2: 'B-X' at the end; 1 of 3"):
        SequenceTagger(max_iter=1).fit(X, Y)


@pytest.mark.filterwarnings("error")
def test_no_word_of_schemes_where_none_is_meant():
    """Parts of speech, one of them called S; entities without beginnings; labels of a scheme; a scheme set to None."""
    X = [[["a"], ["b"]]] * 4
    for Y in (
        [["D", "N"], ["S", "N"], ["D", "S"], ["N", "N"]],
        [["O", "I-X"], ["I-X", "I-X"], ["I-X", "O"], ["O", "O"]],
        [["B-X", "I-X"], ["O", "B-X"], ["B-X", "B-X"], ["O", "O"]],
    ):
        SequenceTagger(max_iter=1).fit(X, Y)
        SequenceTagger(max_iter=1).partial_fit(X, Y)
    SequenceTagger(max_iter=1, scheme=None).fit(X, [["O", "I-X"], ["B-X", "I-X"], ["O", "O"], ["O", "O"]])
