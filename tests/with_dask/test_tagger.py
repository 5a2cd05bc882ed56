"""DaskSequenceTagger on a cluster: the same as on one machine, or as mixing without a cluster."""

import os
import pickle
import signal
import threading

import dask.bag as db
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tagger_cases import data, state

from perceptrons import SequenceTagger, load, save
from perceptrons.dask import DaskSequenceTagger
from perceptrons.data import DataError, conll_source, read_conll

WORDS = {"the": "DT", "a": "DT", "cat": "NN", "dog": "NN", "Rome": "NNP", "sleeps": "VB", "in": "IN"}
SETTINGS = {"features": ["word[0]", "word[-1] & word[0]", "pos[1]"], "max_iter": 4, "random_state": 2}


def chunked(seed, n=60):
    """Lines of words with tags and chunks, some of which are wrong."""
    random, lines = np.random.default_rng(seed), []
    for _ in range(n):
        inside = False
        for word in random.choice([*WORDS], random.integers(1, 7)).tolist():
            noun = (WORDS[word] in ("DT", "NN", "NNP")) ^ (random.random() < 0.1)
            lines.append(f"{word} {WORDS[word]} {('I-NP' if inside else 'B-NP') if noun else 'O'}")
            inside = noun
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tagger")
    (folder / "train.txt").write_text(chunked(0))
    (folder / "test.txt").write_text(chunked(1, 20))
    return folder


@pytest.fixture(scope="module")
def train(folder):
    return conll_source(folder / "train.txt")


def bag(*lists, n=3):
    """A bag of the members of lists, in n partitions."""
    return db.from_sequence(list(zip(*lists, strict=True)) if len(lists) > 1 else lists[0], npartitions=n)


# -- the same as on one machine ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("early_stopping", [False, True])
def test_one_shard_is_the_local_tagger(threads, train, early_stopping):
    settings = {**SETTINGS, "early_stopping": early_stopping}
    local = SequenceTagger(**settings).fit(train.read(), "chunk")
    model = DaskSequenceTagger(**settings, n_shards=1, client=threads).fit(train, "chunk")
    assert state(model) == state(local)
    for name in ("mistakes_", "token_mistakes_", "validation_errors_"):
        assert getattr(model, name).tolist() == getattr(local, name).tolist()
    assert (model.n_iter_, model.converged_) == (local.n_iter_, local.converged_)
    assert model.shard_mistakes_.tolist() == [[count] for count in local.mistakes_]


def test_shards_share_features_labels_and_held_out_sentences(threads, train, folder):
    settings = {**SETTINGS, "max_iter": 30, "early_stopping": True}
    local = SequenceTagger(**settings).fit(train.read(), "chunk")
    model = DaskSequenceTagger(**settings, n_shards=4, client=threads).fit(train, "chunk")
    assert (model.n_features_, model.classes_, model.scheme_) == (local.n_features_, local.classes_, local.scheme_)
    assert model.attributes_ == local.attributes_
    assert model.shard_mistakes_.shape == (model.n_iter_, 4)
    assert model.shard_mistakes_.sum(axis=1).tolist() == model.mistakes_.tolist()
    assert len(model.validation_errors_) == len(model.token_mistakes_) == model.n_iter_ < 30
    assert model._n_rows == local._n_rows  # tokens that are not held out
    other = DaskSequenceTagger(**settings, n_shards=4, client=threads).fit(train, "chunk")
    assert state(other) == state(model)


def test_bags_are_learned_as_files_are(threads, train):
    """Files are cut by bytes; a bag with the same sentences in its partitions gives the same result."""
    parts = [part.read() for part in train.shards(3)]
    model = DaskSequenceTagger(**SETTINGS, n_shards=3, client=threads).fit(train, "chunk")
    X, y = [], []
    for tokens in parts:
        X.append([[word[:2] for word in tokens[i]] for i in range(len(tokens))])
        y.append(tokens.lists("chunk"))
    both = [db.from_delayed([partition(part) for part in each]) for each in (X, y)]
    with_two = DaskSequenceTagger(**SETTINGS, client=threads).fit(*both)
    assert state(with_two) == state(model)
    pairs = db.from_delayed([partition(list(zip(*each, strict=True))) for each in zip(X, y, strict=True)])
    assert state(DaskSequenceTagger(**SETTINGS, client=threads).fit(pairs)) == state(model)
    grouped = DaskSequenceTagger(**SETTINGS, n_shards=1, client=threads).fit(*both)
    assert state(grouped) == state(SequenceTagger(**SETTINGS).fit(train.read(), "chunk"))


def partition(part):
    """A partition of a bag."""
    from dask import delayed

    return delayed(list)(part)


def test_features_by_name(threads):
    X, Y = data(0, n=24)
    model = DaskSequenceTagger(max_iter=3, n_shards=1, client=threads).fit(bag(X), bag(Y))
    assert state(model) == state(SequenceTagger(max_iter=3).fit(X, Y))


def test_separate_held_out_sentences(threads, train, folder):
    held = conll_source(folder / "test.txt")
    model = DaskSequenceTagger(**SETTINGS, n_shards=2, client=threads).fit(train, "chunk", held, "chunk")
    assert len(model.validation_errors_) == 4
    assert model.validation_errors_[-1] == pytest.approx(1 - model.score(held.read(), "chunk"))
    X, Y = data(0, n=24)
    model = DaskSequenceTagger(max_iter=3, client=threads).fit(bag(X, Y), X_val=bag(X[:9], Y[:9]))
    assert model.validation_errors_[-1] == pytest.approx(1 - model.score(X[:9], Y[:9]))


def test_processes_give_the_same_bits(processes, threads, train):
    found = [
        DaskSequenceTagger(**SETTINGS, n_shards=3, client=each).fit(train, "chunk") for each in (processes, threads)
    ]
    assert state(found[0]) == state(found[1])


def test_a_worker_that_dies_changes_nothing(processes, train):
    """Its shards are read again elsewhere, with the same numbers of features."""
    settings = {**SETTINGS, "max_iter": 40, "n_shards": 3, "client": processes}
    expected = DaskSequenceTagger(**settings).fit(train, "chunk")

    def kill():
        os.kill(next(iter(processes.cluster.workers.values())).process.pid, signal.SIGKILL)

    killer = threading.Timer(0.3, kill)
    killer.start()
    found = DaskSequenceTagger(**settings).fit(train, "chunk")
    killer.join()
    assert state(found) == state(expected)


# -- predictions and other methods ------------------------------------------------------------------------------------


def test_predictions_of_bags_are_lazy(threads):
    X, Y = data(0, n=24)
    model = DaskSequenceTagger(max_iter=3, client=threads).fit(bag(X, Y))
    lazy = model.predict(bag(X, n=5))
    assert isinstance(lazy, db.Bag) and lazy.npartitions == 5
    assert lazy.compute() == model.predict(X) == model.to_local().predict(X)


def test_a_fitted_model_is_an_ordinary_tagger(threads, train, tmp_path):
    model = DaskSequenceTagger(**SETTINGS, client=threads).fit(train, "chunk")
    local = model.to_local()
    assert type(local) is SequenceTagger and state(local) == state(model)
    save(local, tmp_path / "model")
    assert state(load(tmp_path / "model")) == state(model)
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None and state(again) == state(model)
    copied = clone(model)
    assert copied.client is threads and copied.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copied.predict(bag([["a"]], n=1))


def test_fit_can_be_submitted(threads, train):
    model = DaskSequenceTagger(**SETTINGS, n_shards=2).submit(train, "chunk").result()
    assert state(model) == state(DaskSequenceTagger(**SETTINGS, n_shards=2).fit(train, "chunk"))


# -- errors and warnings ----------------------------------------------------------------------------------------------


def test_a_scheme_that_is_given_up_is_told(threads):
    X, Y = [[["a"], ["b"]]] * 12, [["B-X", "I-X"]] * 11 + [["O", "I-X"]]
    with pytest.warns(UserWarning) as told:
        SequenceTagger(max_iter=2).fit(X, Y)
    with pytest.warns(UserWarning) as found:
        DaskSequenceTagger(max_iter=2, client=threads).fit(bag(X, Y))
    assert [str(each.message) for each in found] == [str(each.message) for each in told]
    assert found[0].filename == __file__


def test_what_cannot_be_learned_is_refused(threads, train, folder, tmp_path):
    model = DaskSequenceTagger(**SETTINGS, client=threads)
    X, Y = data(0, n=6)
    for fitted, error, message in [
        (lambda: model.fit(X, Y), TypeError, "use SequenceTagger for sequences in memory"),
        (lambda: model.fit(read_conll(folder / "train.txt"), "chunk"), TypeError, "got Tokens"),
        (lambda: model.fit(train), TypeError, "y must be the name of the column"),
        (lambda: model.fit(train, "pos"), ValueError, "the templates use the column 'pos', which has the labels"),
        (lambda: model.fit(train, "nothing"), DataError, "there is no column 'nothing'"),
        (lambda: model.fit(bag(X), Y), TypeError, "y must be a Dask bag"),
        (lambda: model.fit(bag(X), bag(Y, n=2)), ValueError, "X has 3 partitions, but y has 2"),
        (lambda: model.fit(train, "chunk", train), ValueError, "X_val and y_val go together"),
        (lambda: DaskSequenceTagger(client=threads).fit(train, "chunk"), TypeError, "there are no templates"),
        (lambda: DaskSequenceTagger(client=threads, mixing="x").fit(train, "chunk"), ValueError, "'mixing' parameter"),
        (
            lambda: DaskSequenceTagger(client=threads).fit(bag([[["a"]], [[3]]], [["O"], ["O"]], n=2)),
            ValueError,
            "n 1 of",
        ),
    ]:
        with pytest.raises(error, match=message):
            fitted()
    (tmp_path / "bad.txt").write_text("a b c\n\na b\n")
    with pytest.raises(DataError, match=r"bad\.txt:3: 2 columns, expected 3"):
        model.fit(conll_source(tmp_path / "bad.txt"), "chunk")
