"""A tagger learns IOB1 as BIO, and labels come back as they were given."""

import pickle
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_sequences import NaiveTagger, converted, obeys
from tagger_cases import N, assert_same, data, numbered, state, streaming

import perceptrons
from perceptrons import SequenceTagger

OLD = ["B-X", "I-X", "I-Y", "O"]  # Y never touches Y
BOTH = ["B-X", "B-Y", "I-X", "I-Y", "O"]


def as_bio(Y):
    return [converted(y, "BIO") for y in Y]


def as_iob1(Y):
    return [converted(y, "IOB1") for y in Y]


@pytest.mark.parametrize("settings", [{}, {"rule": "pa1", "k_best": 3}, {"order": 2, "readout": "last"}, {"beam": 2}])
def test_fit_is_that_of_the_twin(settings):
    X, Y = data(0, OLD, "IOB1")
    X[3], Y[3] = [["a"], ["b"]], ["I-X", "B-X"]
    usual = {"rule": "perceptron", "readout": "averaged", "shuffle": False, "max_iter": 4}
    model = SequenceTagger(**usual | settings).fit(X, Y)
    assert model.scheme_ == "IOB1" and model.classes_ == OLD
    assert model.predict(X) and all(obeys(y, "IOB1") for y in model.predict(X))
    if settings:
        return  # ties of fractions may fall either way
    twin = NaiveTagger(OLD, scheme="IOB1").fit(numbered(X), Y, 4)
    Q, _ = data(1, OLD)
    assert_same(model, twin, Q)
    for x, found in zip(numbered(Q), model.predict_k_best(Q, 5), strict=True):
        assert found == [(list(y), score) for score, y in twin.k_best(x, 5, "averaged")]


@pytest.mark.parametrize("settings", [{}, {"rule": "pa1", "k_best": 3}, {"order": 2}, {"beam": 2}, {"rule": "margin"}])
def test_it_is_the_model_of_the_labels_in_bio(settings):
    """If all labels of BIO occur, and entities of each type touch, the weights are the same."""
    X, Y = data(2, BOTH, "IOB1", n=40)
    Q, right = data(3, BOTH, "IOB1")
    assert {label for y in as_bio(Y) for label in y} == set(BOTH)
    old = SequenceTagger(max_iter=5, **settings).fit(X, Y, Q, right)
    new = SequenceTagger(max_iter=5, **settings).fit(X, as_bio(Y), Q, as_bio(right))
    assert (old.scheme_, new.scheme_) == ("IOB1", "BIO")
    assert state(old)[0] == state(new)[0] and state(old)[2] == state(new)[2] and old.classes_ == new.classes_
    assert old.predict(Q) == as_iob1(new.predict(Q))
    lists = [[(converted(y, "IOB1"), score) for y, score in each] for each in new.predict_k_best(Q, 4)]
    assert old.predict_k_best(Q, 4) == lists
    assert old.report(Q, right).micro == new.report(Q, as_bio(right)).micro
    for model in (old, new):  # right labels may be in either scheme
        assert model.report(Q, right) == model.report(Q, as_bio(right))
        assert model.score(Q, right) == model.score(Q, as_bio(right))
        assert model.score(Q, right) == pytest.approx(1 - model.validation_errors_[-1])
    assert old.score(Q, right) == np.mean(np.concatenate(old.predict(Q)) == np.concatenate(right))


def test_labels_that_were_never_seen_are_never_predicted():
    """Also in files without any B, in which no two entities touch."""
    X, Y = data(4, ["I-X", "O"], "IOB1", n=30)
    model = SequenceTagger(max_iter=3).fit(X, Y)
    assert model.scheme_ == "IOB1" and model.classes_ == ["I-X", "O"]
    labellings = [y for each in model.predict_k_best(X, 50) for y, _ in each]
    assert {label for y in labellings for label in y} == {"I-X", "O"}
    per_sequence = [[tuple(y) for y, _ in each] for each in model.predict_k_best(X, 50)]
    assert [len(set(each)) for each in per_sequence] == [min(50, 2 ** len(x)) for x in X]


@pytest.mark.filterwarnings("ignore:the labels do not obey")
def test_streams():
    """IOB1 is in force from its first entity on, until a sequence breaks it; a label exists from its first sequence."""
    Y = [["O"], ["O", "I-X"], ["I-X", "B-X"], ["I-X", "I-Y"], ["I-X", "I-X"], ["O", "B-X"], ["O", "I-X"]]
    X = [[["a"], ["b"]][: len(y)] for y in Y]
    model, twin = streaming("last")
    found = []
    for x, y in zip(X, Y, strict=True):
        twin.fit(numbered([x]), [y])
        assert_same(model.partial_fit([x], [y]), twin, X)
        found.append(model.scheme_)
    assert found == [None, "IOB1", "IOB1", "IOB1", "IOB1", None, None]
    assert state(SequenceTagger(rule="perceptron", readout="last").partial_fit(X, Y)) == state(model)


@pytest.mark.filterwarnings("ignore:the labels do not obey")
@settings(max_examples=25)
@given(cuts=st.sets(st.integers(1, N - 1)), late=st.booleans(), readout=st.sampled_from(["last", "averaged"]))
def test_how_a_stream_is_cut_does_not_matter(cuts, late, readout):
    X, Y = data(5, OLD, "IOB1")
    X[9], Y[9] = [["new"], ["a"], ["b"]], ["I-Z", "I-Z", "B-Z"]
    if late:
        X[12], Y[12] = [["new", "a"], ["newer"], ["a"]], ["O", "B-X", "I-X"]
    model, twin = streaming(readout)
    for begin, end in pairwise([0, *sorted(cuts), N]):
        model.partial_fit(X[begin:end], Y[begin:end])
    assert_same(model, twin.fit(numbered(X), Y), X)
    assert state(model) == state(SequenceTagger(rule="perceptron", readout=readout).partial_fit(X, Y))
    assert model.scheme_ == (None if late else "IOB1")


def test_classes_may_be_announced():
    model = SequenceTagger(scheme="IOB1").partial_fit([], [], classes=OLD)
    assert model.classes_ == OLD and model.scheme_ == "IOB1"
    X, Y = data(6, OLD, "IOB1")
    model.partial_fit(X, Y)
    assert all(obeys(y, "IOB1") for y in model.predict(X))


def test_models_are_saved_and_continue(tmp_path):
    X, Y = data(7, OLD, "IOB1")
    more = data(8, OLD, "IOB1")
    model = SequenceTagger(max_iter=2).fit(X, Y)
    perceptrons.save(model, tmp_path / "m")
    for again in (perceptrons.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        assert state(again) == state(model) and again.predict(X) == model.predict(X)
        other = SequenceTagger(max_iter=2).fit(X, Y).partial_fit(*more)
        again.partial_fit(*more)
        assert state(again) == state(other) and again.predict(X) == other.predict(X)


def test_refusals_name_the_scheme():
    X = [[["a"], ["b"]]] * 3
    with pytest.raises(ValueError, match=r"sequence 0 does not obey scheme='BIO': O I-X; .*set scheme='IOB1'"):
        SequenceTagger(scheme="BIO").fit(X, [["O", "I-X"], ["O", "O"], ["I-X", "B-X"]])
    with pytest.raises(ValueError, match=r"sequence 2 does not obey scheme='IOB1': O B-X; correct it"):
        SequenceTagger(scheme="IOB1").fit(X, [["O", "I-X"], ["O", "O"], ["O", "B-X"]])
    with pytest.warns(UserWarning, match="do not obey IOB1 .sequence 2, token 1: 'B-X' after 'O'; 1 of 3"):
        SequenceTagger(max_iter=1).fit(X, [["O", "I-X"], ["I-X", "I-X"], ["O", "B-X"]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SequenceTagger(max_iter=1, scheme=None).fit(X, [["O", "I-X"], ["I-X", "I-X"], ["O", "B-X"]])
    assert model.scheme_ is None and model.classes_ == ["B-X", "I-X", "O"]


def test_the_set_ner_needs_no_tags():
    """It uses the column pos if tokens have it, and only words otherwise."""
    X = [["Ann", "sees", "Rome"], ["the", "Bob"]]
    Y = [["I-PER", "O", "I-LOC"], ["O", "I-PER"]]
    tagged = [[(word, word[:1]) for word in x] for x in X]
    words, both = SequenceTagger("ner").fit(X, Y), SequenceTagger("ner").fit(tagged, Y)
    assert state(words) == state(SequenceTagger("ner-words").fit(X, Y)) and words.predict(X) == Y
    assert both.n_features_ > words.n_features_ and both.predict(tagged) == Y
    assert words.partial_fit(X, Y).predict(X) == both.partial_fit(tagged, Y).predict(tagged) == Y
    tokens = perceptrons.data.Tokens.of(tagged, ["word", "pos"])
    assert SequenceTagger("ner").fit(tokens, "pos").classes_ == ["A", "B", "R", "s", "t"]
