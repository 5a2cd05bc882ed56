"""Threads: two models learn as they would alone, and one model loses no example."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from stream_cases import CASES, assert_equal_bits, growing, one_by_one, same_width

from perceptrons import KernelPerceptron, PassiveAggressiveRegressor, Perceptron

FEW = ["perceptron-last-2", "perceptron-averaged-4", "perceptron-voted-2", "values-arow-last"]


def all_at_once(*works):
    """Run functions in threads of their own, and raise the first error."""
    begin = threading.Barrier(len(works))

    def run(work):
        begin.wait()
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return [done.result() for done in [pool.submit(run, work) for work in works]]


@pytest.mark.parametrize("case", FEW)
def test_two_models_in_two_threads(case):
    make, n_classes = CASES[case]
    streams = [growing(seed, 300, 40, n_classes) for seed in range(2)]
    models = all_at_once(*(lambda stream=stream: one_by_one(make(), stream) for stream in streams))
    for model, stream in zip(models, streams, strict=True):
        assert_equal_bits(model, one_by_one(make(), stream))


@pytest.mark.parametrize("case", FEW)
def test_one_model_in_three_threads(case):
    """Two learn, with names and classes of their own; the third predicts, scores, explains and reads counts."""
    make, n_classes = CASES[case]
    model = make()
    done, seen = threading.Event(), []

    def learn(which):
        for i, each in enumerate(same_width(which, 150, 5, n_classes, forms=("dict",))):
            x = {f"{which} {name}" if i % 10 == 0 else name: value for name, value in each.x.items()}
            if i % 7 == 3:
                model.learn_many([x, x], [each.y, each.y])
            else:
                model.learn_one(x, each.y)

    def both():
        try:
            all_at_once(lambda: learn(0), lambda: learn(1))
        finally:
            done.set()

    def read():
        while not done.is_set():
            guess, score = model.predict_one({"n0": 1.0, "n2": -1.0}), model.score_one({"n0": 1.0})
            assert score is not None
            assert len(set(model.predict_many([{"n0": 1.0}] * 5).tolist())) == 1  # by one hypothesis
            if guess is None:
                continue
            assert np.isfinite(guess) if n_classes is None else guess in model.classes_
            if "voted" not in case:
                model.explain_one({"n0": 1.0, "n1": 1.0})
            seen.append(model.n_seen_)

    all_at_once(both, read)
    assert model.n_seen_ == 2 * (150 + len(range(3, 150, 7)))
    assert seen == sorted(seen)
    assert len(model.feature_names_in_) == model.n_features_in_ == len(set(model.feature_names_in_)) == 15


def test_the_model_is_one_that_some_order_makes():
    """Sums of whole numbers that every example adds to do not depend on the order: all examples must be in them."""
    model = PassiveAggressiveRegressor(C=1.0, epsilon=0.0)

    def learn(which):
        for _ in range(200):
            model.learn_one({f"n{which}": 1.0}, 10.0**9)  # C = 1 limits each step: w and b get +1

    all_at_once(lambda: learn(0), lambda: learn(1))
    by_name = dict(zip(model.feature_names_in_.tolist(), model.coef_.tolist(), strict=True))
    assert by_name == {"n0": 200.0, "n1": 200.0} and model.intercept_.tolist() == [400.0]


def test_a_kernel_perceptron_in_three_threads():
    model = KernelPerceptron(gamma=0.5, budget=5).learn_one({"a": 1.0}, 0)
    done = threading.Event()

    def learn(which):
        for i in range(60):
            model.learn_one({"a": float(i % 5), f"n{which}": float(i % 3)}, (i + which) % 2)

    def read():
        while not done.is_set():
            assert model.predict_one({"a": 1.0}) in (0, 1)

    def both():
        try:
            all_at_once(lambda: learn(0), lambda: learn(1))
        finally:
            done.set()

    all_at_once(both, read)
    assert model.n_seen_ == 121 and model.n_features_in_ == 3


def test_single_calls_and_batches_of_one_model():
    """`learn_one`, `partial_fit` and `predict_then_learn` in threads."""
    model = Perceptron(readout="averaged").learn_one([1.0, 2.0, 3.0], 0).learn_one([1.0, -2.0, 3.0], 1)
    random = np.random.default_rng(0)
    X, y = random.normal(size=(100, 3)), random.integers(2, size=100)

    def singles():
        for row, label in zip(X, y, strict=True):
            model.learn_one(row, label)

    def batches():
        for begin in range(0, 100, 5):
            model.partial_fit(X[begin : begin + 5], y[begin : begin + 5])

    def guesses():
        for begin in range(0, 100, 5):
            model.predict_then_learn(X[begin : begin + 5], y[begin : begin + 5])

    all_at_once(singles, batches, guesses)
    assert model.n_seen_ == 302


@pytest.mark.parametrize("make", [Perceptron, lambda: KernelPerceptron(budget=5)])
def test_several_threads_predict_many_while_one_learns(make):
    """None waits for another forever."""
    stream = growing(1, 100, 10, 2, forms=("dict",))
    model, asked = one_by_one(make(), stream), [each.x for each in stream[:20]]
    before = model.n_seen_
    work = [lambda: [model.predict_many(asked).tolist() for _ in range(20)] for _ in range(3)]
    all_at_once(lambda: one_by_one(model, stream), *work)
    assert model.n_seen_ == before + 100
    assert model.predict_many(asked).tolist() == [model.predict_one(x) for x in asked]
