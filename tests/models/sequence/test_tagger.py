"""SequenceTagger does what its twin does, keeps what is proved about it, and refuses without harm."""

from itertools import pairwise, product

import naive_sequences
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_sequences import NaiveTagger, dot, minus, phi
from tagger_cases import (
    CHUNKS,
    LEGAL,
    TAGS,
    WORDS,
    N,
    assert_same,
    data,
    numbered,
    state,
    streaming,
)

from perceptrons import SequenceTagger

# -- against the twin -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("labels", "scheme"), [(TAGS, None), (CHUNKS, "BIO")])
@pytest.mark.parametrize("readout", ["last", "averaged"])
def test_fit(readout, labels, scheme):
    """The scheme is recognised."""
    X, Y = data(0, labels, scheme)
    model = SequenceTagger(rule="perceptron", readout=readout, shuffle=False, max_iter=4).fit(X, Y)
    twin = NaiveTagger(labels, scheme=scheme).fit(numbered(X), Y, 4)
    Q, _ = data(1, labels)
    assert_same(model, twin, Q)
    assert model.mistakes_.tolist() == [sum(twin.mistakes[i * N : (i + 1) * N]) for i in range(4)]
    assert model.token_mistakes_.sum() == twin.wrong_tokens
    assert model.n_iter_ == 4 and not model.converged_
    assert model.predict_single(Q[0]) == model.predict(Q)[0]
    for x, found in zip(numbered(Q), model.predict_k_best(Q, 3), strict=True):
        assert found == [(list(y), score) for score, y in twin.k_best(x, 3, readout)]


@pytest.mark.parametrize("readout", ["last", "averaged"])
def test_labels_and_features_that_come_later(readout):
    model, twin = streaming(readout)
    Q, _ = data(9, ["N", "V"])
    for seed, labels in enumerate([["N"], ["D", "N"], ["A", "N", "V"], ["B-X", "O"]]):
        X, Y = data(seed, labels)
        X = [[[f"{name}{seed}" if name == "e" else name for name in token] for token in x] for x in X]
        model.partial_fit(X, Y)
        twin.fit(numbered(X), Y)
        if seed != 2:  # then the mean is over 48 sequences, and its ties are not exact
            assert_same(model, twin, [*X, *Q])
    assert model.classes_ == ["A", "B-X", "D", "N", "O", "V"]


@pytest.mark.filterwarnings("ignore:the labels do not obey")
def test_schemes_that_come_and_go():
    """A scheme is in force from the first label on that begins something, until a sequence breaks it."""
    for stream in (
        {("O",): None, ("O", "U-X"): "BILOU", ("B-X", "L-X"): "BILOU", ("O", "S-X"): None, ("O", "U-Y"): None},
        {("O", "O"): None, ("B", "I"): "BIO", ("B", "O"): "BIO", ("I", "B"): None, ("B",): None},
    ):
        model, twin = streaming("last")
        X, Y = [[["a"], ["b"]][: len(y)] for y in stream], [list(y) for y in stream]
        for x, y, scheme in zip(X, Y, stream.values(), strict=True):
            twin.fit(numbered([x]), [y])
            assert_same(model.partial_fit([x], [y]), twin, X)
            assert model.scheme_ == scheme
        assert state(SequenceTagger(rule="perceptron", readout="last").partial_fit(X, Y)) == state(model)


@pytest.mark.filterwarnings("ignore:the labels do not obey")
@settings(max_examples=25)
@given(cuts=st.sets(st.integers(1, N - 1)), late=st.booleans(), readout=st.sampled_from(["last", "averaged"]))
def test_chunks_equal_one_pass(cuts, late, readout):
    """Also where labels, features and breaks of the scheme come up in the middle."""
    X, Y = data(3, CHUNKS, "BIO")
    if late:
        X[10], Y[10] = [["new", "a"], ["newer"], ["a"]], ["O", "I-X", "B-Y"]
    model, twin = streaming(readout)
    ends = [0, *sorted(cuts), N]
    for begin, end in pairwise(ends):
        model.partial_fit(X[begin:end], Y[begin:end])
    assert_same(model, twin.fit(numbered(X), Y), X)
    assert state(model) == state(SequenceTagger(rule="perceptron", readout=readout).partial_fit(X, Y))


def test_dicts_and_lists_of_names_are_the_same():
    X, Y = data(4)
    models = [SequenceTagger(random_state=0, max_iter=3) for _ in range(4)]
    dicts = [[dict.fromkeys(token, True) for token in x] for x in X]
    for x in dicts:
        for token in x:
            token["absent"] = False
    numbers = [[dict.fromkeys(token, 1.0) for token in x] for x in X]
    tuples = [[tuple(token) for token in x] for x in X]
    for model, some in zip(models, (X, dicts, numbers, tuples), strict=True):
        assert state(model.fit(some, Y)) == state(models[0])
        assert model.predict(dicts) == models[0].predict(X)
    words = SequenceTagger(random_state=0, max_iter=3).fit([[{"w": token[0]} for token in x] for x in X], Y)
    named = SequenceTagger(random_state=0, max_iter=3).fit([[["w:" + token[0]] for token in x] for x in X], Y)
    assert state(words) == state(named) and words.state_features_


def test_all_labellings_are_among_the_k_best():
    X, Y = data(2)
    model = SequenceTagger(random_state=0, scheme=None, max_iter=2).fit(X, Y)
    found = model.predict_k_best([[["a"], ["b"], ["c"]]], 40)[0]
    assert sorted(tuple(y) for y, _ in found) == sorted(product(TAGS, repeat=3))
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    with pytest.raises(ValueError, match="k must be"):
        model.predict_k_best(X, 0)


# -- corners ----------------------------------------------------------------------------------------------------------


def test_features_that_were_never_seen_are_as_if_not_there():
    X, Y = data(5)
    model = SequenceTagger(random_state=0).fit(X, Y)
    before = state(model)
    strange = [[[*token, "strange", "stranger"] for token in x] for x in X]
    assert model.predict(strange) == model.predict(X)
    assert model.predict([[["strange"]] * 3]) == model.predict([[[]] * 3])
    assert state(model) == before


def test_sequences_of_no_token_and_of_one():
    X, Y = [[], [["a"]], [], [["b"]]], [[], ["N"], [], ["V"]]
    model = SequenceTagger(max_iter=5, random_state=0).fit(X, Y)
    assert model.predict(X) == Y and model.converged_
    assert model.predict([]) == [] and model.predict([[]]) == [[]]
    assert model.predict_k_best([[]], 3) == [[([], 0.0)]]
    seen = model.n_seen_
    assert seen == 4 * model.n_iter_
    model.partial_fit([], []).partial_fit([[]], [[]])
    assert model.n_seen_ == seen + 1 and model.predict(X) == Y


def test_a_single_label():
    X, _ = data(6)
    Y = [["N"] * len(x) for x in X]
    model = SequenceTagger(scheme=None).fit(X, Y)
    assert model.predict(X) == Y and model.converged_ and model.n_mistakes_ == 0
    assert [len(found) for found in model.predict_k_best(X[:5], 4)] == [1] * 5
    assert model.score(X, Y) == 1 and model.margin_bound_ == np.inf


def test_labels_need_not_be_strings():
    X, Y = data(7)
    model = SequenceTagger(random_state=0).fit(X, [[TAGS.index(label) for label in y] for y in Y])
    named = SequenceTagger(random_state=0).fit(X, Y)
    assert [[TAGS[label] for label in y] for y in model.predict(X)] == named.predict(X)
    assert model.classes_ == [0, 1, 2]


def test_score_and_report():
    X, Y = data(8, CHUNKS, "BIO")
    model = SequenceTagger(random_state=0, max_iter=2).fit(X, Y)
    Y[0] = ["B-new"] * len(Y[0])  # a label that the model does not know
    X[0], Y[0] = X[0] or [["a"]], Y[0] or ["B-new"]
    predicted = model.predict(X)
    right = [a == b for y, found in zip(Y, predicted, strict=True) for a, b in zip(y, found, strict=True)]
    assert model.score(X, Y) == pytest.approx(np.mean(right))
    report, scores = model.report(X, Y), naive_sequences.entity_scores(Y, predicted)
    assert report.token_accuracy == pytest.approx(np.mean(right))
    assert report.micro.f1 == pytest.approx(scores[None][2]) and report.macro.f1 == pytest.approx(scores["macro"][2])
    assert set(report.types) == {"X", "new"} and report.types["new"].correct == 0


@pytest.mark.parametrize("scheme", LEGAL)
def test_predictions_obey_the_scheme(scheme):
    """Untrained, and with whatever was learned."""
    Q, _ = data(1, n=60, longest=6)
    model = SequenceTagger(scheme=scheme).partial_fit([], [], classes=LEGAL[scheme])
    for seed in range(4):
        assert model.scheme_ == scheme
        for y in model.predict(Q):
            assert naive_sequences.obeys(y, scheme), y
        for found in model.predict_k_best(Q[:8], 4):
            assert all(naive_sequences.obeys(y, scheme) for y, _ in found)
        model.partial_fit(*data(seed, LEGAL[scheme], scheme, longest=5))


# -- what is proved ---------------------------------------------------------------------------------------------------


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_no_more_updates_than_the_bound_allows(seed):
    """Collins 2002, theorem 1: at most R²‖u‖²/γ² for any u that prefers the right labels by γ, in any order."""
    random = np.random.default_rng(seed)
    every = [("feature", name, label) for name in WORDS for label in TAGS]
    every += [("step", a, b) for a in ["start", *TAGS] for b in TAGS] + [("step", a, "stop") for a in TAGS]
    u = {key: int(random.integers(-3, 4)) for key in every}
    X, Y, gamma, sq_radius = [], [], np.inf, 0.0
    for x in data(seed, longest=3)[0]:
        token_dicts = numbered([x])[0]
        ranked = NaiveTagger(TAGS).ranked(u, token_dicts)
        if len(x) == 0 or ranked[0][0] == ranked[1][0]:
            continue
        gold = ranked[0][1]
        deltas = [minus(phi(token_dicts, gold, 1), phi(token_dicts, y, 1)) for _, y in ranked[1:]]
        gamma = min(gamma, *(dot(u, delta) for delta in deltas))
        sq_radius = max(sq_radius, *(dot(delta, delta) for delta in deltas))
        X.append(x)
        Y.append(list(gold))
    sq_length = dot(u, u)
    model = SequenceTagger(rule="perceptron", readout="last", scheme=None, max_iter=100_000, random_state=seed).fit(
        X, Y
    )
    assert model.converged_ and model.predict(X) == Y and model.mistakes_[-1] == 0
    assert model.n_updates_ == model.n_mistakes_ <= sq_radius * sq_length / gamma**2
    assert model.margin_bound_ >= gamma / np.sqrt(sq_length) * (1 - 1e-12)  # no separator has more


@pytest.mark.parametrize("update", ["early", "max_violation"])
def test_updates_with_a_beam_are_at_most_the_bound(update):
    """Some u has a margin on all beginnings, too: each word has one right label, so that every wrong label costs 1."""
    random = np.random.default_rng(0)
    words = random.integers(12, size=(30, 5))
    X = [[{f"word{i}": 2.0} for i in x] for x in words]
    Y = [[TAGS[i % 3] for i in x] for x in words]
    sq_length, gamma = 12 / 4, 1.0  # u is 1/2 for each word with its label
    sq_radius = 2 * (2.0 * 5) ** 2 + 2 * 6**2 + 2 * 4**2  # features, transitions, pairs of labels before a label
    for beam in (1, 3):
        model = SequenceTagger(rule="perceptron", beam=beam, update=update, order=2, max_iter=1000, random_state=0).fit(
            X, Y
        )
        assert model.converged_ and 0 < model.n_updates_ <= sq_radius * sq_length / gamma**2
        assert model.margin_bound_ >= gamma / np.sqrt(sq_length)
