"""SequenceTagger does what its twin does, keeps what is proved about it, and refuses without harm."""

from itertools import pairwise, product
from pathlib import Path

import naive_sequences
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_sequences import NaiveTagger, dot, minus, phi
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from perceptrons import SequenceTagger
from perceptrons.data import Tokens

WORDS = ["a", "b", "c", "d", "e"]
TAGS = ["D", "N", "V"]
CHUNKS = ["B-X", "I-X", "O"]
N = 16  # means of 16, 32 and 64 whole numbers are exact


def data(seed, labels=TAGS, scheme=None, n=N, longest=4):
    """Sequences of tokens with a few names, and labels that no hypothesis explains."""
    random = np.random.default_rng(seed)
    X, Y = [], []
    while len(X) < n:
        y = random.choice(labels, random.integers(0, longest + 1)).tolist()
        if naive_sequences.obeys(y, scheme):
            X.append([random.choice(WORDS, random.integers(1, 4), replace=False).tolist() for _ in y])
            Y.append(y)
    return X, Y


def numbered(X):
    """Tokens as the twin takes them."""
    return [[dict.fromkeys(token, 1) for token in x] for x in X]


def streaming(readout="averaged", scheme="auto"):
    """A tagger and its twin."""
    return SequenceTagger(readout=readout, scheme=scheme), NaiveTagger(scheme=scheme)


def state(model):
    """All that can be seen of a model."""
    return (
        (model.state_features_, model.transition_features_, model.classes_, model.scheme_),
        (model.n_features_, model.n_seen_, model.n_mistakes_, model.n_updates_, model.margin_bound_),
    )


def assert_same(model, twin, Q):
    w = getattr(twin, model.readout)()
    assert model.state_features_ == {key[1:]: v for key, v in w.items() if key[0] == "feature" and v}
    edges = {"start": None, "stop": None}
    steps = {tuple(edges.get(x, x) for x in key[1:]): v for key, v in w.items() if key[0] == "step" and v}
    assert model.transition_features_ == steps
    assert model.classes_ == twin.labels and model.scheme_ == twin.scheme
    assert (model.n_seen_, model.n_mistakes_) == (len(twin.after), sum(twin.mistakes))
    assert model.n_updates_ == twin.n_updates
    assert model.predict(Q) == twin.predict(numbered(Q), model.readout)


# -- against the twin -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("labels", "scheme"), [(TAGS, None), (CHUNKS, "BIO")])
@pytest.mark.parametrize("readout", ["last", "averaged"])
def test_fit(readout, labels, scheme):
    """The scheme is recognised."""
    X, Y = data(0, labels, scheme)
    model = SequenceTagger(readout=readout, shuffle=False, max_iter=4).fit(X, Y)
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


@pytest.mark.filterwarnings("ignore:new labels do not obey")
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
        assert state(SequenceTagger(readout="last").partial_fit(X, Y)) == state(model)


@pytest.mark.filterwarnings("ignore:new labels do not obey")
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
    assert state(model) == state(SequenceTagger(readout=readout).partial_fit(X, Y))


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


# -- schemes ----------------------------------------------------------------------------------------------------------

LEGAL = {
    "BIO": ["B-X", "B-Y-Z", "I-X", "I-Y-Z", "O"],
    "BILOU": ["B-X", "I-X", "L-X", "O", "U-X"],
    "BIOES": ["B", "E", "I", "O", "S"],
}


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
    model = SequenceTagger(readout="last", scheme=None, max_iter=100_000, random_state=seed).fit(X, Y)
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
        model = SequenceTagger(beam=beam, update=update, order=2, max_iter=1000, random_state=0).fit(X, Y)
        assert model.converged_ and 0 < model.n_updates_ <= sq_radius * sq_length / gamma**2
        assert model.margin_bound_ >= gamma / np.sqrt(sq_length)


# -- refusals ---------------------------------------------------------------------------------------------------------

GOOD = [["a"], ["new"]]
REFUSED = {
    "lengths": ([GOOD, GOOD], [["O", "O"], ["O"]], "sequence 1 has 2 tokens in X and 1 labels"),
    "number": ([GOOD, GOOD], [["O", "O"]], "2 sequences"),
    "nan": ([[{"new": 1.0}, {"a": np.nan}]], [["O", "O"]], "sequence 0, token 1"),
    "infinity": ([[{"new": np.inf}]], [["O"]], "sequence 0, token 0"),
    "name": ([GOOD, [[3]]], [["O", "O"], ["O"]], "sequence 1, token 0"),
    "token": ([GOOD, [None]], [["O", "O"], ["O"]], "sequence 1, token 0"),
    "label": ([GOOD], [["O", None]], "labels"),
    "text": ([GOOD], ["OO"], "sequence 0 of y must be a list"),
    "scheme": ([GOOD], [["O", "I-X"]], "sequence 0 does not obey scheme='BIO': O I-X"),
    "no label of it": ([GOOD], [["O", "U-X"]], "sequence 0 does not obey"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_changes_nothing(case):
    wrong_X, wrong_Y, message = REFUSED[case]
    (X, Y), (more, labels) = data(0, CHUNKS, "BIO"), data(1, CHUNKS, "BIO")
    model, other = (SequenceTagger(scheme="BIO").partial_fit(X, Y) for _ in range(2))
    before = state(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(wrong_X, wrong_Y)
    assert state(model) == before and model.predict(more) == other.predict(more)
    with pytest.raises(ValueError, match=message):
        model.fit(wrong_X, wrong_Y)
    assert state(model) == before
    assert state(model.partial_fit(more, labels)) == state(other.partial_fit(more, labels))  # and it goes on as if not
    with pytest.raises(ValueError, match=message):
        SequenceTagger(scheme="BIO").partial_fit(wrong_X, wrong_Y)


@pytest.mark.parametrize("large", ["values", "steps"])
def test_sums_that_overflow_change_nothing(large):
    X, Y = data(0)
    settings = {"order": 0, "rule": "margin"} if large == "values" else {}
    X = [[dict.fromkeys(token, 2.0) for token in x] for x in X] if large == "values" else X
    model, other = (SequenceTagger(**settings).partial_fit(X, Y) for _ in range(2))
    before = state(model)
    with pytest.raises(ValueError, match="overflow"):
        if large == "values":
            model.partial_fit([[dict.fromkeys(token, 1.5e308) for token in x] for x in X], Y)
        else:
            model.set_params(eta0=1e308).partial_fit(X, Y)
    assert state(model) == before
    assert state(model.set_params(eta0=1.0).partial_fit(X, Y)) == state(other.partial_fit(X, Y))


def test_settings_that_shape_the_model_cannot_change():
    X, Y = data(0)
    for change in ({"order": 2}, {"readout": "last"}, {"scheme": None}, {"features": "pos"}):
        model = SequenceTagger().partial_fit(X, Y)
        before = state(model)
        with pytest.raises(ValueError, match=f"{next(iter(change))} was changed"):
            model.set_params(**change).partial_fit(X, Y)
        assert state(model) == before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"order": 3}, "order"),
        ({"beam": 0}, "beam"),
        ({"scheme": "IOB1"}, "scheme"),
        ({"k_best": 2}, "k_best"),
        ({"k_best": 2, "rule": "pa", "beam": 3}, "k_best and beam"),
        ({"readout": "voted"}, "readout"),
        ({"update": "late"}, "update"),
    ],
)
def test_settings_that_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        SequenceTagger(**settings).fit(*data(0))


def test_steps_that_grow_and_grow_change_nothing():
    """PA with steps far longer than the rule's own moves ever further."""
    X, Y = data(0)
    model = SequenceTagger(rule="pa1", eta0=1e6, order=2).set_params(rule__C=1e300)
    X = numbered(X)
    X[0] = [{**token, "half": 0.5} for token in X[0]]  # values, as in the other tests of this rule
    before = state(model.partial_fit(X[:4], Y[:4]))
    with pytest.raises(ValueError, match="overflow"):
        model.partial_fit(X * 9, Y * 9)
    assert state(model) == before
    assert model.set_params(eta0=1.0).partial_fit(X, Y).n_seen_ == 4 + N


def test_ctrl_c_while_room_is_made_changes_nothing(monkeypatch):
    X, Y = data(0)
    model, other = (SequenceTagger().partial_fit(X, Y) for _ in range(2))

    def interrupted(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(model._tagger.learner), "add_features", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit([[[f"new{i}"] for i in range(9)]], [["N"] * 9])
    assert state(model) == state(other) and model.predict(X) == other.predict(X)
    assert state(model.partial_fit(X, Y)) == state(other.partial_fit(X, Y))


def test_a_pass_that_ctrl_c_came_too_late_for_counts(monkeypatch):
    X, Y = data(0)
    model = SequenceTagger(shuffle=False)
    learner = type(SequenceTagger().partial_fit(X, Y)._tagger.learner)
    learn = learner.learn

    def interrupted(self, *args):
        wrong = learn(self, *args)
        if self.totals.seen == 2 * N:
            raise KeyboardInterrupt
        return wrong

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(learner, "learn", interrupted)
        model.fit(X, Y)
    assert state(model) == state(SequenceTagger(shuffle=False, max_iter=2).fit(X, Y))
    assert len(model.mistakes_) == len(model.token_mistakes_) == model.n_iter_ == 2


def test_few_sequences_are_read_out_by_themselves():
    X, Y = data(0)
    own = [[[*token, *(f"{i} {t} {k}" for k in range(9))] for t, token in enumerate(x)] for i, x in enumerate(X)]
    model = SequenceTagger(max_iter=2, random_state=0).fit(own, Y)
    assert model._tagger.learner._read is None
    one_by_one = [model.predict_single(x) for x in X]
    assert model._tagger.learner._read is None
    assert one_by_one == model.predict(X * 9)[:N] and model._tagger.learner._read is not None


def test_labels_of_two_kinds_are_told_where_they_are():
    for Y, place in (([["D"], ["N", 3]], "sequence 1, token 1"), ([["D"], ["N", None]], "sequence 1, token 1")):
        with pytest.raises(ValueError, match=place):
            SequenceTagger().fit([[["a"]], [["a"], ["b"]]], Y)
    model = SequenceTagger().partial_fit([[["a"]]], [["D"]])
    with pytest.raises(ValueError, match="all strings or all numbers"):
        model.partial_fit([[["a"]]], [[1]])
    with pytest.raises(ValueError, match="must be a list of labels, got None"):
        model.partial_fit([[["a"]]], [None])


def test_what_else_is_refused():
    X, Y = data(0)
    with pytest.raises(ValueError, match="held-out sequences must have tokens"):
        SequenceTagger().fit(X, Y, [[]], [[]])
    with pytest.raises(ValueError, match="search every sequence once for each"):
        SequenceTagger(readout="voted").fit(X, Y)
    with pytest.raises(ValueError, match="set columns to the order in which tokens have them"):
        SequenceTagger(["b[0]", "a[0]"]).fit([[("x", "y")]], [["N"]])
    assert (
        SequenceTagger(["pos[0]", "word[0]"], max_iter=1)
        .fit([[("x", "y"), ("x", "z")]], [["N", "V"]])
        .state_features_["word[0]=x", "V"]
    )
    tokens = Tokens.of([[("x", "y")]], ["word", "pos"])
    with pytest.raises(ValueError, match="the templates use the column 'pos'"):
        SequenceTagger(["word[0]", "pos[-1]"]).fit(tokens, "pos")
    with pytest.raises(NotFittedError):
        SequenceTagger().partial_fit([], []).predict(X)


def test_a_scheme_is_not_lost_without_a_word():
    model = SequenceTagger().partial_fit([[["a"], ["b"]]], [["B-X", "I-X"]])
    with pytest.warns(UserWarning, match="do not obey BIO"):
        model.partial_fit([[["a"], ["b"]]], [["O", "I-X"]])
    assert model.scheme_ is None


def test_a_stop_by_tol_is_told():
    X, Y = data(0)
    with pytest.warns(ConvergenceWarning, match="margin relative to R is below tol"):
        SequenceTagger(tol=0.5, random_state=0).fit(X, Y)


# -- size -------------------------------------------------------------------------------------------------------------


STATM = Path("/proc/self/statm")


@pytest.mark.skipif(not STATM.exists(), reason="the size of a process is read as Linux tells it")
def test_a_long_stream_takes_no_more_memory_than_a_short_one():
    """A million tokens, in chunks of 20,000."""
    random = np.random.default_rng(0)
    names = [[f"word{i}"] for i in range(500)]
    words, tags = random.integers(500, size=(4, 1000, 20)), random.integers(3, size=(4, 1000, 20))
    chunks = [
        ([[names[i] for i in x] for x in some], [[TAGS[i] for i in y] for y in labels])
        for some, labels in zip(words.tolist(), tags.tolist(), strict=True)
    ]
    model, sizes = SequenceTagger(), []
    for number in range(50):
        model.partial_fit(*chunks[number % 4])
        sizes.append(int(STATM.read_text().split()[1]) * 4096)
    assert model.n_seen_ == 50_000 and model.n_features_ == 500
    assert sizes[-1] - sizes[3] < 2**22  # five bytes a token would be more
