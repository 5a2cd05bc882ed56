"""The learner of sequences does what its twin does: the same labels, steps, weights and counts."""

import naive_sequences
import numpy as np
import pytest
from naive_sequences import START, STOP, NaiveTagger

from perceptrons.data.arrays import readonly
from perceptrons.data.token.sequences import Sequences
from perceptrons.learn.readouts import READOUTS
from perceptrons.learn.sequence.learner import SequenceLearner
from perceptrons.rules import PA, PA1, PA2, Margin, Plain

RULES = {
    "perceptron": Plain(),
    "margin": Margin(beta=2.0),
    "pa": PA(),
    "pa1": PA1(C=0.1),
    "pa2": PA2(C=0.3),
}
FEATURES = 6
N = 16  # means of 16, 32 and 64 whole numbers are exact


def sequences(X):
    """Tokens of numbered features as the learner reads them."""
    tokens = [token for x in X for token in x]
    values = np.array([value for token in tokens for value in token.values()], dtype=np.float64)
    return Sequences(
        readonly(np.array([name for token in tokens for name in token], dtype=np.uint32)),
        None if (values == 1).all() else readonly(values),
        readonly(np.cumsum([0, *map(len, tokens)]).astype(np.uint64)),
        readonly(np.cumsum([0, *map(len, X)]).astype(np.uint64)),
    )


def data(seed, labels, values, scheme=None, longest=4):
    """Sequences whose labels no hypothesis explains, legal ones if there is a scheme, without tokens some of them.

    values: "ones", "whole" or "real". On whole numbers the first two rules make exact sums, and ties are true ties. PA
    divides; values with digits keep it off ties.
    """
    random = np.random.default_rng(seed)
    X, Y = [], []
    while len(X) < N:
        length = random.integers(0, longest + 1)
        y = tuple(random.choice(labels, length).tolist())
        if naive_sequences.obeys(y, scheme):
            X.append([])
            Y.append(y)
            for _ in y:
                names = random.choice(FEATURES, random.integers(1, 4), replace=False)
                numbers = np.ones(len(names)) if values == "ones" else random.choice([-2.0, -1.0, 1.0, 2.0], len(names))
                numbers += random.normal(size=len(names)) / 4 if values == "real" else 0
                X[-1].append(dict(zip(names.tolist(), numbers.tolist(), strict=True)))
    return X, Y


def codes(Y, labels):
    return np.array([labels.index(label) for y in Y for label in y], dtype=np.uint32)


def made(labels, rule="perceptron", order=1, scheme=None, beam=None, update="max_violation", k_best=1, eta0=1.0):
    """A learner and its twin."""
    learner = SequenceLearner(list(labels), FEATURES, order, "averaged")
    learner.adopt(rule=RULES[rule], eta=eta0, beam=beam, early=update == "early", k_best=k_best)
    learner.constrain(scheme)
    options = {"order": order, "scheme": scheme, "beam": beam, "update": update, "k_best": k_best, "eta0": eta0}
    return learner, NaiveTagger(labels, rule, **options, **RULES[rule]._asdict())


def places(learner):
    """Where the matrix has the weights that the twin has under these keys."""
    width, labels = learner.width, list(enumerate(learner.labels))
    befores = [*labels, (width, START)]
    found = {("step", a, b): (1 + i, j) for i, a in befores for j, b in labels}
    found |= {("step", a, STOP): (2 + width, i) for i, a in labels}
    if learner.markov == 2:
        row = 3 + width
        found |= {("pair", a, b, c): (row + i * width + j, k) for i, a in befores for j, b in labels for k, c in labels}
    rows = learner.state["rows"]
    found |= {("feature", n, a): (int(row), i) for n, row in enumerate(rows) if row for i, a in labels}
    return found


def weights(learner, averaged):
    w = learner.reading()[0] if averaged else learner.state["w"]
    found = {key: w[place] for key, place in places(learner).items()}
    assert np.count_nonzero(w) == np.count_nonzero(list(found.values()))  # there is nothing anywhere else
    return found


def equip(learner, twin, seed):
    """Give both the same weights: small whole numbers, so that many labellings are equally good."""
    random = np.random.default_rng(seed)
    learner.state["rows"][:] = np.arange(FEATURES) + learner.used
    learner.course.used_rows += FEATURES
    for key, place in places(learner).items():
        if learner.markov or key[0] == "feature":
            learner.state["w"][place] = twin.w[key] = random.integers(-1, 2)
    learner.readout = READOUTS["last"]()  # they are what predicts
    learner.constrain(learner.scheme)


def assert_same_weights(learner, twin):
    exact = not twin.rule.startswith("pa")
    precision = 1e-9 if twin.k == 1 else 1e-6  # how far coordinate ascent has come
    for averaged in (False, True):
        ours, theirs = weights(learner, averaged), twin.averaged() if averaged else twin.last()
        assert not {key for key, value in theirs.items() if value} - set(ours)
        for key, value in ours.items():
            expected = theirs.get(key, 0)
            assert value == (expected if exact else pytest.approx(expected, rel=precision, abs=precision)), key


def assert_same(learner, twin, Q):
    assert twin.close_calls == 0  # rounding cannot have led them different ways
    assert learner.totals.seen == len(twin.after) and learner.totals.mistakes == sum(twin.mistakes)
    assert learner.totals.updates == twin.n_updates and learner.totals.wrong_tokens == twin.wrong_tokens
    assert_same_weights(learner, twin)
    assert labels_of(learner, Q) == twin.predict(Q, "averaged")


def labels_of(learner, X):
    learner.adopt(rule=Plain(), beam=getattr(learner.search, "width", None))  # search for one rule compiles once
    found = iter(learner.predict(sequences(X)).tolist())
    return [[learner.labels[next(found)] for _ in x] for x in X]


# -- search -----------------------------------------------------------------------------------------------------------

SCHEMED = {None: range(3), "BIO": ["B-X", "I-X", "O"], "BIOES": ["B-X", "E-X", "I-X", "O", "S-X"]}
VALUES = ["whole", "ones", "whole"]  # by order: each order meets one kind, which is one compiled variant


@pytest.mark.parametrize("scheme", SCHEMED)
@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_best_labels_are_the_best_of_all(order, scheme):
    for seed in range(4):
        learner, twin = made(SCHEMED[scheme], order=order, scheme=scheme)
        equip(learner, twin, seed)
        X, _ = data(seed, SCHEMED[scheme], VALUES[order])
        assert labels_of(learner, X) == twin.predict(X)
        assert all(naive_sequences.obeys(y, scheme) for y in labels_of(learner, X))


@pytest.mark.parametrize("order", [1, 2])
def test_the_k_best_are_the_k_best_of_all(order):
    for seed, (scheme, labels) in enumerate(SCHEMED.items()):
        learner, twin = made(labels, order=order, scheme=scheme)
        equip(learner, twin, seed)
        X, _ = data(seed, labels, VALUES[order], longest=3)
        found, scores = learner.k_best(sequences(X), 5)
        at = 0
        for x, row in zip(X, scores, strict=True):
            expected = twin.k_best(x, 5)
            assert row.tolist() == [score for score, _ in expected] + [-np.inf] * (5 - len(expected))
            for j, (_, y) in enumerate(expected):
                assert tuple(learner.labels[c] for c in found[j, at : at + len(x)]) == y
            at += len(x)


@pytest.mark.parametrize("width", [1, 2, 3, 50])
@pytest.mark.parametrize("order", [1, 2])
def test_a_beam_keeps_what_it_should(order, width):
    """A beam that is wide enough is exact."""
    for seed, (scheme, labels) in enumerate(SCHEMED.items()):
        learner, twin = made(labels, order=order, beam=width, scheme=scheme)
        equip(learner, twin, seed)
        X, _ = data(seed, labels, "whole")
        assert labels_of(learner, X) == twin.predict(X)
        if width == 50:
            twin.beam = None
            assert labels_of(learner, X) == twin.predict(X)


# -- learning ---------------------------------------------------------------------------------------------------------

# Few compiled variants in which each rule, order and search is met.
EXACT = [("perceptron", 1, "ones"), ("margin", 0, "whole"), ("pa1", 2, "real")]
BEAMS = [("perceptron", 2, "whole"), ("pa2", 1, "real")]


def trained(rule, values, scheme=None, passes=4, **options):
    """A learner and its twin after the same passes, and sequences to ask them about.

    The data are the first whose sums rounding cannot turn another way.
    """
    labels = SCHEMED[scheme]
    for seed in range(100):
        learner, twin = made(labels, rule, scheme=scheme, **options)
        X, Y = data(seed, labels, values, scheme, longest=3 if len(labels) > 3 else 4)
        twin.fit(X, Y, passes)
        if twin.close_calls == 0:
            break
    for _ in range(passes):
        learner.learn(sequences(X), codes(Y, learner.labels), np.arange(N, dtype=np.uint32))
    return learner, twin, data(seed + 100, labels, values)[0]


@pytest.mark.parametrize("scheme", SCHEMED)
@pytest.mark.parametrize(("rule", "order", "values"), EXACT)
def test_learning_with_exact_search(rule, order, values, scheme):
    assert_same(*trained(rule, values, scheme, order=order))
    assert_same(*trained(rule, values, scheme, order=order, eta0=0.5, passes=1))


@pytest.mark.parametrize("scheme", SCHEMED)
@pytest.mark.parametrize("update", ["early", "max_violation"])
@pytest.mark.parametrize(("rule", "order", "values"), BEAMS)
def test_learning_with_a_beam(rule, order, values, update, scheme):
    for beam in (1, 2):
        assert_same(*trained(rule, values, scheme, order=order, beam=beam, update=update))


def test_learning_from_the_k_best():
    """A step is made for rivals that are too close, too, when the best labels are right."""
    learner, twin, Q = trained("pa", "real", passes=2, k_best=4)
    assert twin.n_updates > sum(twin.mistakes)
    assert_same(learner, twin, Q)
