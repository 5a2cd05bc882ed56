"""Taggers that are mixed: as a slow twin does it, and as one machine does it with one shard. No cluster."""

import pickle
from functools import partial
from itertools import accumulate, pairwise

import numpy as np
import pytest
from naive_sequences import NaiveTagger, converted
from tagger_cases import CHUNKS, TAGS, data

from perceptrons import SequenceTagger, rules
from perceptrons.data import DataError, conll_source
from perceptrons.data.token.vocabulary import NameVocabulary, TemplateVocabulary
from perceptrons.learn.fit import Passes, fit
from perceptrons.learn.holdout import chosen
from perceptrons.learn.sequence import shards as sequence_shards
from perceptrons.learn.sequence.labels import labels_of
from perceptrons.learn.sequence.tagger import Plan
from perceptrons.learn.shards.crew import Here
from perceptrons.learn.shards.sentences import Sentences, Text, from_sentences, opened

SIZES = [5, 3, 0, 8]  # of shards; one is empty


def cut(X, sizes=SIZES):
    return [X[begin:end] for begin, end in pairwise(accumulate(sizes, initial=0))]


def valued(X, seed=0):
    """Tokens with random values of features: then scores of different labellings hardly ever tie."""
    random = np.random.default_rng(seed)
    return [[{name: random.uniform(0.5, 2) for name in token} for token in x] for x in X]


def crew_of(X, Y, sizes=SIZES):
    """Shards of sentences in memory."""
    parts = zip(cut(X, sizes), cut(Y, sizes), strict=True)
    return Here([Sentences(None, sequence_shards.read(NameVocabulary(), x, partial(labels_of, y))) for x, y in parts])


def task_of(crew, mixing="mistakes", share=None, seed=0, **settings):
    rule = rules.resolve(settings.pop("rule", "perceptron"))
    return from_sentences(Plan(rule, **settings), crew, mixing, share, seed)


def trained(task, passes=4, seed=None, **settings):
    return fit(task.tagger.fitted, task.material, Passes(passes, seed=seed, **settings), held_out=task.held_out)


def model_of(task):
    """An estimator with the tagger of a task."""
    model = SequenceTagger()
    model._tagger = task.tagger
    return model


def weights(model):
    """All weights of the readout by the names that the twin has for them."""
    found = {("feature", *key): value for key, value in model.state_features_.items()}
    found |= {("step", *key): value for key, value in model.transition_features_.items()}
    found |= {("step", "start", label): value for label, value in model.start_features_.items()}
    return found | {("step", label, "stop"): value for label, value in model.end_features_.items()}


def assert_close(found, expected):
    for key in {**found, **expected}:
        assert found.get(key, 0) == pytest.approx(expected.get(key, 0), abs=1e-9), key


class Mixed:
    """The slow twin: in each epoch, all shards go on from the same weights, w′ = Σ μ_i·w_i with Σ μ_i = 1."""

    def __init__(self, parts, labels, mixing, **params):
        self.parts, self.labels, self.mixing, self.params = parts, labels, mixing, params
        self.w, self.after, self.mistakes, self.wrong_tokens = {}, [], [], []

    def epoch(self):
        twins = []
        for X, Y in self.parts:
            twin = NaiveTagger(self.labels, **self.params)
            twin.w = self.w
            twins.append(twin.fit(X, Y))
        updates = [twin.n_updates for twin in twins]
        share = [1 / len(twins) for _ in twins]
        if self.mixing == "mistakes" and sum(updates):
            share = [k / sum(updates) for k in updates]
        keys = {key for twin in twins for key in twin.w}
        self.w = {key: sum(mu * twin.w.get(key, 0) for mu, twin in zip(share, twins, strict=True)) for key in keys}
        self.after += [w for twin in twins for w in twin.after]
        self.mistakes.append([sum(twin.mistakes) for twin in twins])
        self.wrong_tokens.append(sum(twin.wrong_tokens for twin in twins))

    averaged = NaiveTagger.averaged

    def last(self):
        return self.w


@pytest.mark.parametrize("readout", ["averaged", "last"])
@pytest.mark.parametrize("mixing", ["mistakes", "uniform"])
@pytest.mark.parametrize(
    ("labels", "scheme", "params"),
    [
        (TAGS, None, {}),
        (CHUNKS, "BIO", {}),
        (TAGS, None, {"rule": "pa1"}),
        (TAGS, None, {"order": 0}),
        (TAGS, None, {"beam": 2}),
    ],
)
def test_mixing_is_that_of_the_slow_twin(labels, scheme, params, mixing, readout):
    """The weights of both readouts, and mistakes by shard and by token. The first shard lacks a label."""
    X, Y = data(5, labels, scheme)
    X = valued(X)
    Y[:5] = [[labels[-1] for _ in y] for y in Y[:5]]
    twin = Mixed(list(zip(cut(X), cut(Y), strict=True)), labels, mixing, scheme=scheme, **params)
    task = task_of(crew_of(X, Y), mixing, readout=readout, scheme=scheme, **params)
    run = trained(task, 3)
    for _ in range(3):
        twin.epoch()
    assert task.material.mistakes == twin.mistakes and run.mistakes == list(map(sum, twin.mistakes))
    assert run.token_mistakes == twin.wrong_tokens
    assert_close(weights(model_of(task)), getattr(twin, readout)())


def test_many_labels_are_mixed_as_few_are():
    """Rows of more than 64 labels are cut into pages. Sequences are short, because the twin tries all labels."""
    X, Y = data(2, [f"L{i:02}" for i in range(80)], n=300, longest=1)
    X, labels = valued(X), sorted({label for y in Y for label in y})
    twin = Mixed([(X[:180], Y[:180]), (X[180:], Y[180:])], labels, "mistakes")
    task = task_of(crew_of(X, Y, [180, 120]))
    trained(task, 2)
    twin.epoch()
    twin.epoch()
    assert task.tagger.fitted.pages is not None
    assert_close(weights(model_of(task)), twin.averaged())


def test_iob1_is_mixed_as_bio():
    X, Y = data(6, ["B-X", "I-X", "O"], "BIO", n=16)
    outside = [converted(y, "IOB1") for y in Y]
    assert any(label == "B-X" for y in outside for label in y)
    inside, task = task_of(crew_of(X, Y), scheme="BIO"), task_of(crew_of(X, outside))
    assert task.tagger.scheme == "IOB1"
    runs = [trained(each, 3) for each in (inside, task)]
    assert runs[0].mistakes == runs[1].mistakes
    assert weights(model_of(inside)) == weights(model_of(task))
    assert model_of(task).predict(X) == [converted(y, "IOB1") for y in model_of(inside).predict(X)]
    # errors are counted in the user's scheme
    task = task_of(crew_of(X, outside), share=0.25, seed=3)
    run = trained(task, 2)
    kept = np.flatnonzero(chosen(0, 16, 0.25, 3))
    right = model_of(task).score([X[i] for i in kept], [outside[i] for i in kept])
    assert run.validation_errors[-1] == pytest.approx(1 - right)


@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
@pytest.mark.parametrize("early_stopping", [False, True])
def test_one_shard_is_the_local_tagger(rule, early_stopping):
    X, Y = data(1, n=40)
    local = SequenceTagger(rule=rule, k_best=1, max_iter=6, early_stopping=early_stopping, n_iter_no_change=3).fit(X, Y)
    random = np.random.RandomState(0)
    share, seed = (0.1, int(random.randint(2**31))) if early_stopping else (None, 0)
    task = task_of(crew_of(X, Y, [40]), share=share, seed=seed, rule=rule)
    patience = 3 if early_stopping else None
    run = trained(task, 6, int(random.randint(2**31)), patience=patience, least=3)
    assert weights(model_of(task)) == weights(local)
    assert run.token_mistakes == local.token_mistakes_.tolist() and run.mistakes == local.mistakes_.tolist()
    assert run.validation_errors == local.validation_errors_.tolist()
    assert task.tagger.fitted.margin_bound == local.margin_bound_
    assert task.training_error() == pytest.approx(1 - local.score(*held_in(X, Y, share, seed)))


def held_in(X, Y, share, seed):
    """The sentences that are not held out."""
    left = range(len(X)) if share is None else np.flatnonzero(~chosen(0, len(X), share, seed))
    return [X[i] for i in left], [Y[i] for i in left]


def test_separable_sentences_converge_and_are_confirmed():
    X, Y = [[["a"], ["b"]], [["b"]], [["a"]]] * 4, [["D", "N"], ["N"], ["D"]] * 4
    task = task_of(crew_of(X, Y, [4, 4, 4]))
    run = trained(task, 50)
    assert run.converged and run.stop == "converged"
    assert model_of(task).predict(X) == Y


# -- shards -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    """A file of sentences with a column of labels, as a source."""
    X, Y = data(3, n=30)
    lines = [
        "".join(f"{''.join(t)} {label}\n" for t, label in zip(x, y, strict=True)) for x, y in zip(X, Y, strict=True)
    ]
    (tmp_path / "train.txt").write_text("\n".join(line for line in lines if line))
    return conll_source(tmp_path / "train.txt")


def from_files(source, n=3):
    vocabulary = partial(TemplateVocabulary, ["word[0]", "word[-1] & word[0]"])
    return [opened(Text(part, "tag", vocabulary)) for part in source.shards(n, ["word", "tag"])]


def sent(shard):
    """A shard as another process gets it."""
    return pickle.loads(pickle.dumps(shard))


def test_shards_that_move_to_another_process_are_read_again(files):
    here, there = Here(from_files(files)), Here([sent(shard) for shard in from_files(files)])
    found = []
    for crew in (here, there):
        task = task_of(crew, share=0.2, seed=1)
        shards = task.material.crew.shards
        if crew is there:
            task.material.crew.shards = [sent(shard) for shard in shards]
        run = trained(task, 3, seed=7)
        found.append((weights(model_of(task)), run.mistakes, run.validation_errors))
    assert found[0] == found[1]
    assert len(pickle.dumps(from_files(files)[0])) < 2000


def test_shards_tell_their_size(files):
    for shard in from_files(files):
        sequences = shard.found()[0].sequences
        assert shard.__sizeof__() > sequences.indices.nbytes + sequences.bounds.nbytes
        assert sent(shard).__sizeof__() < shard.__sizeof__()
    numbered_ones = task_of(Here(from_files(files))).material.crew.shards
    assert all(each.__sizeof__() > each.corpora()[0].codes.nbytes for each in numbered_ones)


def test_results_do_not_change_from_run_to_run(files):
    found = []
    for _ in range(2):
        task = task_of(Here(from_files(files)))
        trained(task, 3, seed=5)
        found.append(weights(model_of(task)))
    assert found[0] == found[1]


@pytest.mark.parametrize("sizes", [[40], [13, 27], [1, 0, 38, 1]])
def test_held_out_sentences_are_those_of_one_machine(sizes):
    X, Y = data(5, n=40)
    task = task_of(crew_of(X, Y, sizes), share=0.2, seed=9)
    left, _ = held_in(X, Y, 0.2, 9)
    assert task.sizes[:2] == (len(left), sum(map(len, left)))
    assert task.sizes.held_sentences == 40 - len(left)
    assert task.sizes.held_tokens == sum(map(len, X)) - task.sizes.tokens


def test_what_cannot_be_learned_is_refused():
    X, Y = data(5, n=4)
    with pytest.raises(ValueError, match=r"a share of 0\.1 of 4 sequences holds out no sequences"):
        task_of(crew_of(X, Y, [4]), share=0.1)
    with pytest.raises(DataError, match="X must have tokens"):
        task_of(crew_of([[], []], [[], []], [1, 1]))
    full = [[["a"]], [], [["a"]], []]
    held = chosen(0, 4, 0.5, 0)
    nothing = [[] if out else x for out, x in zip(held, full, strict=True)]
    with pytest.raises(DataError, match="both parts of the sequences, learned from and held out, must have tokens"):
        task_of(crew_of(nothing, [["D"] * len(x) for x in nothing], [2, 2]), share=0.5)
    with pytest.raises(DataError, match="sequence 3 does not obey scheme='BIO': I-X"):
        Y = [["O"], ["B-X"], ["O"], ["I-X"]]
        task_of(crew_of([[["a"]]] * 4, Y, [2, 2]), scheme="BIO")
