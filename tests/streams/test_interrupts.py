"""Ctrl-C at random moments: an example is learned or not, and nothing is left half done."""

import signal
import time

import numpy as np
import pytest
from stream_cases import assert_equal_bits

from perceptrons import PassiveAggressiveRegressor, Perceptron
from perceptrons.learn.single.names import Names

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers of POSIX")
CASES = {
    "last": Perceptron,
    "averaged": lambda: Perceptron(readout="averaged"),
    "voted": lambda: Perceptron(readout="voted"),
    "online": lambda: Perceptron(scale="online"),
    "values": lambda: PassiveAggressiveRegressor(C=0.1),
}


@pytest.fixture
def interrupted():
    """A function that makes a call and raises KeyboardInterrupt after some seconds, if the call is not over then."""

    def stop(*_):
        raise KeyboardInterrupt

    def run(call, seconds):
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            call()
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            return True
        return False

    before = signal.signal(signal.SIGALRM, stop)
    yield run
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def stream(n):
    """Dicts with more and more names, some of them categories."""
    random = np.random.default_rng(5)
    for i in range(n):
        x = {f"n{random.integers(9 + i // 4)}": float(random.integers(-3, 4)) for _ in range(5)}
        if random.random() < 0.2:
            x["job"] = str(random.choice(list("abcdefgh")))
        yield x, int(random.integers(2))


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # Ctrl-C in a callback of a weak reference
@pytest.mark.parametrize("case", CASES)
def test_examples_are_learned_or_not(case, interrupted):
    examples = list(stream(400))
    model, random = CASES[case](), np.random.default_rng(0)
    for x, y in examples[:3]:
        model.learn_one(x, y)
    start = time.perf_counter()
    for x, y in examples[:3] * 5:
        CASES[case]().learn_one(x, y)
    slow = (time.perf_counter() - start) / 15
    learned, n = examples[:3], 0
    for x, y in examples[3:]:
        seen = model.n_seen_
        if random.random() < 0.6:
            n += interrupted(lambda x=x, y=y: model.learn_one(x, y), slow * 10 ** random.uniform(-3, 0.3))
        else:
            model.learn_one(x, y)
        assert model.n_seen_ in (seen, seen + 1)
        if model.n_seen_ > seen:
            learned.append((x, y))
        names = model._names.texts
        assert model.n_features_in_ == model._learner.n_features and max(names) < model.n_features_in_
    assert n > 20
    twin = CASES[case]()
    for x, y in learned:
        twin.learn_one(x, y)
    assert (model.n_updates_, model.n_mistakes_) == (twin.n_updates_, twin.n_mistakes_)
    assert [model.score_one(x) for x, _ in examples[:100]] == [twin.score_one(x) for x, _ in examples[:100]]


def test_names_that_the_model_never_got():
    """Ctrl-C may leave names beyond the last feature: they are unknown, and disappear when others get their numbers."""
    names = Names(["a"])
    names.add(["ghost"], 1)
    assert names.find("ghost", 1) is None
    names.add(["b"], 1)
    assert names.find("b", 2) == 1 and names.find("ghost", 2) is None
    names.add(["c", "d"], 2)
    names.cut(2)
    assert names.texts == {0: "a", 1: "b"} and names.numbers == {"a": 0, "b": 1}


def test_an_error_undoes_the_statistics_of_online_scaling():
    """The second value of "a" makes its variance overflow, after "b" has been observed."""
    models = [Perceptron(scale="online") for _ in range(2)]
    for model in models:
        for x, y in [({"b": 1.0, "a": 2.0}, 0), ({"b": 3.0, "a": -2.0}, 1), ({"b": 2.0, "a": 1.0}, 0)]:
            model.learn_one(x, y)
    with pytest.raises(ValueError, match="overflow"):
        models[0].learn_one({"b": 7.0, "a": 1e160}, 1)
    for model in models:
        model.learn_one({"b": 4.0, "a": 1.0}, 1)
    assert_equal_bits(*models)
