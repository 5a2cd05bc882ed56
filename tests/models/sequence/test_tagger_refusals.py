"""What a tagger refuses changes nothing; errors and warnings say what is wrong."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from tagger_cases import CHUNKS, REFUSED, STATM, TAGS, N, data, numbered, state

from perceptrons import SequenceTagger
from perceptrons.data import Tokens
from perceptrons.data.token.tokens import Column


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
        ({"scheme": "IOE1"}, "scheme"),
        ({"k_best": 2, "rule": "perceptron"}, "k_best"),
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


@pytest.mark.parametrize(
    ("bounds", "codes", "message"),
    [
        ([0, 500_000_000, 2], [0, 1], "bounds of tokens must begin with 0 and never fall"),
        ([1, 2], [0, 1], "bounds of tokens must begin with 0"),
        ([], [0, 1], "bounds of tokens must be an array of uint64"),
        ([0, 9], [0, 1], "column 'word' must have 9 codes"),
        ([0, 2], [0, 7], "column 'word' has a code outside of its 2 strings"),
    ],
)
def test_tokens_whose_parts_do_not_fit_are_refused(bounds, codes, message):
    tagger = SequenceTagger(features=["word[0]", "word[-1] & word[0]"]).fit([["a", "b"], ["b"]], [["X", "Y"], ["Y"]])
    tokens = Tokens.of([["a", "b"]], ["word"])
    tokens.bounds = np.array(bounds, dtype=np.uint64)
    tokens.columns["word"] = Column(np.array(codes, dtype=np.uint32), ["a", "b"])
    for use in (tagger.predict, lambda X: tagger.partial_fit(X, [["X", "Y"]])):
        with pytest.raises(ValueError, match=message):
            use(tokens)
    tokens.columns["tag"] = tokens.columns["word"]
    with pytest.raises(ValueError, match=message):
        tagger.score(Tokens(tokens.columns, tokens.bounds), "tag")
