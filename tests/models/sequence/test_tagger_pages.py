"""With many labels, weights lie in pages. Nothing else changes."""

import pytest
from naive_sequences import NaiveTagger
from tagger_cases import assert_same, data, numbered, state, streaming

import perceptrons
from perceptrons import SequenceTagger
from perceptrons.learn.sequence import weights

MANY = [f"T{i:03d}" for i in range(weights.WIDEST + 7)]
SETTINGS = [{}, {"readout": "last"}, {"rule": "pa1"}, {"rule": "pa1", "k_best": 3}, {"beam": 4}, {"order": 2}]


def is_paged(model):
    return model._tagger.fitted.pages is not None


def test_many_labels_come_one_by_one(tmp_path):
    """Whole rows become pages, and pages become more; files keep both."""
    model, twin = streaming("last")
    for seed, labels in enumerate([MANY[1::2], MANY[::2], ["A", "Z"]]):
        X, Y = data(seed, labels, longest=2)
        X, Y = [*X, *([["a"]] for _ in labels)], [*Y, *([label] for label in labels)]
        model.partial_fit(X, Y)
        assert_same(model, twin.fit(numbered(X), Y), X[:8])
        assert is_paged(model) == (seed > 0)
        perceptrons.save(model, tmp_path / "m")
        model = perceptrons.load(tmp_path / "m")
        assert is_paged(model) == (seed > 0)
        assert_same(model, twin, X[:8])


def test_fit():
    X, Y = data(0, MANY, longest=2, n=128 - len(MANY))  # the mean of 128 whole numbers is exact
    X, Y = [*X, *([["a"]] for _ in MANY)], [*Y, *([label] for label in MANY)]
    model = SequenceTagger(rule="perceptron", shuffle=False, max_iter=1).fit(X, Y)
    assert is_paged(model)
    assert_same(model, NaiveTagger(MANY).fit(numbered(X), Y), X[:8])


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("values", [False, True])
def test_pages_are_as_whole_rows(settings, values, monkeypatch):
    X, Y = data(5, MANY[:20], n=60)
    if values:
        X = [[{name: 0.5 + k for k, name in enumerate(token)} for token in x] for x in X]
    models = []
    for widest in (weights.WIDEST, 0):
        monkeypatch.setattr(weights, "WIDEST", widest)
        models.append(SequenceTagger(**settings, max_iter=4).fit(X, Y))
        models[-1].partial_fit(X[:9], [y[::-1] for y in Y[:9]])
    one, two = models
    assert is_paged(two) and not is_paged(one)
    assert two.state_features_ == pytest.approx(one.state_features_, abs=1e-9)
    assert two.transition_features_ == pytest.approx(one.transition_features_, abs=1e-9)
    assert two.start_features_ == pytest.approx(one.start_features_, abs=1e-9)
    assert two.predict(X) == one.predict(X) and two.predict(X[:1]) == one.predict(X[:1])
    for few, many in zip(two.predict_k_best(X, 3), one.predict_k_best(X, 3), strict=True):
        assert [score for _, score in few] == pytest.approx([score for _, score in many])
    assert (one.n_mistakes_, one.n_updates_) == (two.n_mistakes_, two.n_updates_)
    assert one.margin_bound_ == pytest.approx(two.margin_bound_)


def test_the_best_hypothesis_comes_back():
    earlier = 0
    for seed in range(4):
        X, Y = data(seed, MANY, n=120)
        Q, R = X[:20], Y[:10] + [y[::-1] for y in Y[10:20]]
        stopped = SequenceTagger(early_stopping=True, n_iter_no_change=1, max_iter=20).fit(X, Y, Q, R)
        errors = stopped.validation_errors_.tolist()
        best = len(errors) - errors[::-1].index(min(errors))  # of equals the latest
        again = SequenceTagger(max_iter=best).fit(X, Y, Q, R)
        assert is_paged(stopped) and state(stopped)[:2] == state(again)[:2]
        assert stopped.predict(Q[:1]) == again.predict(Q)[:1]
        earlier += best < len(errors)
    assert earlier
