"""`learn_one` learns what `partial_fit` learns of the same rows, bit for bit: weights, counts, readouts, bounds."""

import numpy as np
import pytest
from stream_cases import (
    CASES,
    FULL,
    LABELS,
    Example,
    assert_equal_bits,
    csr,
    growing,
    in_chunks,
    one_by_one,
    same_width,
)

from perceptrons import PassiveAggressiveClassifier, PassiveAggressiveRegressor, Perceptron
from perceptrons.rules import AROW, PA1

ALL = {**CASES, **FULL}


@pytest.mark.parametrize("case", ALL)
def test_dicts_rows_and_pairs_in_turn(case):
    """With `partial_fit` of one row a call, and of several."""
    make, n_classes = ALL[case]
    for seed in range(6):
        width = (1, 3, 8, 13, 30, 47)[seed] if case in CASES else seed + 1
        stream = same_width(seed, 60, width, n_classes)
        model = one_by_one(make(), stream)
        assert model.n_seen_ == 60
        assert_equal_bits(model, in_chunks(make(), stream, most=1))
        assert_equal_bits(model, in_chunks(make(), stream, seed))


@pytest.mark.parametrize("case", CASES)
def test_features_and_classes_that_appear_late(case):
    """The twin has had room for all features from the beginning."""
    make, n_classes = CASES[case]
    for seed in range(6):
        stream = growing(seed, 50, 5 + 9 * seed, n_classes)
        assert_equal_bits(one_by_one(make(), stream), in_chunks(make(), stream, seed))


@pytest.mark.parametrize("case", FULL)
def test_full_covariances_of_features_that_appear_late(case):
    """Sums over all features may be taken in another order, so only the values agree."""
    make, n_classes = FULL[case]
    for seed in range(4):
        stream = growing(seed, 30, 4 + seed, n_classes)
        model, twin = one_by_one(make(), stream), in_chunks(make(), stream, seed)
        np.testing.assert_allclose(model.coef_, twin.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model._learner.state["root"], twin._learner.state["root"], rtol=1e-9, atol=1e-12)
        assert (model.n_seen_, model.n_updates_) == (twin.n_seen_, twin.n_updates_)


@pytest.mark.parametrize("case", ["perceptron-last-2", "perceptron-averaged-4"])
@pytest.mark.parametrize("form", ["dict", "row", "pair"])
def test_rows_of_every_length(case, form):
    """Compiled loops take several values at a time: what is left over must be right, too."""
    make, n_classes = CASES[case]
    random = np.random.default_rng(0)
    for width in range(1, 71):
        stream = same_width(width, 6, width, n_classes, forms=(form,))
        whole = np.arange(width), random.normal(size=width)
        stream.append(stream[-1]._replace(x=whole[1].copy(), X=whole[1][np.newaxis]))
        assert_equal_bits(one_by_one(make(), stream), in_chunks(make(), stream, width, most=3))


@pytest.mark.parametrize("case", ["perceptron-last-2", "pa1-last-2", "values-pa1-last"])
def test_rows_of_single_precision(case):
    make, n_classes = CASES[case]
    for seed in range(3):
        stream = same_width(seed, 40, 9 + seed, n_classes, dtype=np.float32)
        assert any(each.X.dtype == np.float32 for each in stream)
        assert_equal_bits(one_by_one(make(), stream), in_chunks(make(), stream, seed))


@pytest.mark.parametrize(
    ("make", "n_classes"),
    [
        (lambda: Perceptron(), 2),
        (lambda: Perceptron(rule=PA1(C=0.1), class_weight={"dog": 2.0}), 4),
        (lambda: Perceptron(rule=AROW(r=0.5), class_weight={"cat": 0.5, "dog": 3.0}), 2),
        (lambda: PassiveAggressiveClassifier(C=0.1, average=10), 2),
        (lambda: PassiveAggressiveRegressor(C=0.1), None),
    ],
    ids=["perceptron", "pa1 by class", "arow by class", "burn-in", "values"],
)
def test_weights(make, n_classes):
    """Of examples, and of classes; examples of weight 0 are left out."""
    for seed in range(3):
        stream = same_width(seed, 50, 6, n_classes, forms=("dict", "pair"))
        weights = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 2.0], size=50)
        weights[:8] = 1.0
        model = one_by_one(make(), stream, weights.tolist())
        assert_equal_bits(model, in_chunks(make(), stream, seed, most=1, weights=weights))
        assert_equal_bits(model, in_chunks(make(), stream, seed, weights=weights))


@pytest.mark.parametrize("readout", ["last", "averaged"])
def test_weights_of_classes_without_weights_of_examples(readout):
    make = lambda: Perceptron(readout=readout, class_weight={"dog": 2.0, "ant": 0.5})  # noqa: E731
    stream = same_width(5, 50, 6, 4, forms=("dict", "pair"))
    assert_equal_bits(one_by_one(make(), stream), in_chunks(make(), stream))


@pytest.mark.parametrize("settings", [{"fit_intercept": False}, {"tie": "positive"}, {"eta0": 0.25}], ids=str)
def test_settings(settings):
    for n_classes in (2, 4):
        stream = same_width(3, 50, 6, n_classes)
        assert_equal_bits(one_by_one(Perceptron(**settings), stream), in_chunks(Perceptron(**settings), stream))


def test_every_step_on_the_way():
    """Not only the end of a stream agrees."""
    stream = same_width(1, 40, 5, 4)
    model, twin = Perceptron(readout="averaged"), Perceptron(readout="averaged")
    for each in stream:
        model.learn_one(each.x, each.y)
        twin.partial_fit(each.X, [each.y])
        assert_equal_bits(model, twin)


def test_calls_in_turn():
    """`learn_one`, `learn_many`, `partial_fit` and `predict_then_learn` of one model."""
    random = np.random.default_rng(4)
    stream = same_width(4, 80, 5, 4)
    model, twin = Perceptron(readout="averaged"), Perceptron(readout="averaged")
    for each in stream:
        call = random.integers(4)
        if call == 0:
            model.partial_fit(each.X, [each.y])
        elif call == 1:
            model.predict_then_learn(each.X, [each.y])
        elif call == 2 and isinstance(each.x, dict):
            model.learn_many([each.x], [each.y])
        else:
            model.learn_one(each.x, each.y)
        twin.partial_fit(each.X, [each.y])
    assert_equal_bits(model, twin)


FEW = ["perceptron-last-2", "perceptron-averaged-4", "perceptron-voted-2", "values-arow-last"]


@pytest.mark.parametrize("case", FEW)
def test_long_and_short_examples_in_turn(case):
    """Room that calls keep for the next example must grow with the examples, and with the features."""
    make, n_classes = CASES[case]
    for seed in range(4):
        random = np.random.default_rng(seed)
        known, width, stream = 150, 700, same_width(seed, 8, 150, n_classes)
        stream = [each for each in stream if not isinstance(each.x, (list, np.ndarray))]
        while known < width:
            more = int(random.integers(4)) if random.random() < 0.8 else min(90, width - known)
            more = min(more, width - known)
            size = int(random.choice([1, 5, 70, 140]))
            old = np.sort(random.permutation(known)[:size])
            some = np.concatenate([old, np.arange(known, known + more)]) if random.random() < 0.5 else old
            known += more if len(some) > len(old) else 0
            values = random.normal(size=len(some))
            x = {f"n{j}": v for j, v in zip(some.tolist(), values.tolist(), strict=True)}
            x = (some, values) if len(some) == len(old) and random.random() < 0.5 else x
            y = float(random.normal()) if n_classes is None else str(LABELS[random.integers(n_classes)])
            stream.append(Example(x, csr(some, values, width), y))
        for each in stream:
            each.X.resize(1, width)
        model = one_by_one(make(), stream)
        assert_equal_bits(model, in_chunks(make(), stream, seed))


def test_a_long_pair_between_short_dicts():
    """Dicts get their room before the pair comes, and new names after it."""
    random = np.random.default_rng(0)
    pairs = [(np.arange(150), random.normal(size=150)) for _ in range(3)]
    stream = [({f"n{j}": v for j, v in enumerate(pairs[0][1].tolist())}, csr(*pairs[0], 160), "no")]
    for j, y in ((1, "yes"), (2, "no"), (3, "yes")):
        stream.append(({f"n{j}": 1.5}, csr([j], [1.5], 160), y))
    stream += [(pair, csr(*pair, 160), y) for pair, y in zip(pairs[1:], ("no", "yes"), strict=True)]
    for i in range(30):
        values, j = random.normal(size=3), 150 + i // 3
        x = dict(zip(("n1", "n140", f"n{j}"), values.tolist(), strict=True))
        stream.append((x, csr([1, 140, j], values, 160), ("no", "yes")[i % 2]))
    for readout in ("last", "averaged"):
        examples = [Example(*each) for each in stream]
        model = one_by_one(Perceptron(readout=readout), examples)
        assert_equal_bits(model, in_chunks(Perceptron(readout=readout), examples))
