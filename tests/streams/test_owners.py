"""Who may use a model: predictions do not wait for training, and a signal handler may ask a model that learns."""

import signal
import threading
import time
import warnings

import numpy as np
import pytest

from perceptrons import PassiveAggressiveRegressor, Perceptron, load, save
from perceptrons.models.guard import Guard


def in_thread(work):
    """Run a function in a thread; returns a function that waits for its end and raises its error."""
    errors = []

    def run():
        try:
            work()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def wait(seconds=60):
        thread.join(seconds)
        assert not thread.is_alive(), "the thread has not ended"
        if errors:
            raise errors[0]

    return wait


def test_predictions_do_not_wait_for_training():
    """Another thread is inside of `fit`, which it holds up until the prediction is made."""
    model = Perceptron(max_iter=1, tol=None).learn_one([1.0, 2.0], 0).learn_one([2.0, -1.0], 1)
    begun, predicted = threading.Event(), threading.Event()

    def slow():
        with model._guard.learning:
            begun.set()
            assert predicted.wait(60)

    wait = in_thread(slow)
    assert begun.wait(60)
    for x in ([1.0, 2.0], np.array([1.0, 2.0]), ([0], [1.0])):
        assert model.predict_one(x) in (0, 1) and isinstance(model.score_one(x), float)
    predicted.set()
    wait()


def test_the_first_single_prediction_does_not_wait_for_training():
    """As above, for a model that has no lane yet."""
    X = np.array([[1.0, 2.0], [2.0, -1.0]])
    model = Perceptron().fit(X, [0, 1])
    begun, predicted = threading.Event(), threading.Event()

    def slow():
        with model._guard.learning:
            begun.set()
            assert predicted.wait(60)

    wait = in_thread(slow)
    assert begun.wait(60)
    assert [model.predict_one(x) for x in X] == [0, 1]
    predicted.set()
    wait()


def test_a_call_within_a_call_of_the_owner():
    """The lane is in use: the inner call is told to take the long way, and the outer one stays busy."""
    guard, found = Guard(), []

    class Lane:
        def outer(self):
            found.append((guard.owner.busy, guard.quickly(self.inner), guard.glance(self.inner), guard.owner.busy))
            return "outer"

        def inner(self):
            return "inner"

    guard.lane = Lane()
    assert guard.quickly(guard.lane.inner) == "inner"  # now this thread is the owner
    assert guard.quickly(guard.lane.outer) == "outer"
    assert found == [(True, None, None, True)]
    assert not guard.owner.busy


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers of POSIX")
def test_a_signal_handler_that_predicts():
    """While the model learns, at random moments, and another thread reads it: nobody waits for ever."""
    model, twin, asked = Perceptron(readout="averaged"), Perceptron(readout="averaged"), []
    examples = [({f"n{i % (3 + i // 20)}": 1.0 + i % 7, "a": float(i % 5)}, i % 2) for i in range(1500)]
    for x, y in examples:
        twin.learn_one(x, y)

    def ask(*_):
        asked.append(model.predict_one({"a": 1.0, "n1": 2.0}))
        asked.append(model.score_one({"a": 2.0}))

    over = threading.Event()

    def read():
        while not over.is_set():
            model.predict_one({"a": 1.0})
            time.sleep(1e-4)

    for x, y in examples[:2]:  # all classes
        model.learn_one(x, y)
    wait = in_thread(read)
    before = signal.signal(signal.SIGALRM, ask)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-3, 7e-4)
        for x, y in examples[2:]:
            model.learn_one(x, y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        over.set()
    wait()
    assert asked
    assert model.n_seen_ == len(examples)
    assert np.array_equal(model.coef_, twin.coef_)


def test_parameters_that_another_thread_sets_while_one_learns():
    """They hold for the next example, even if they came just before the lane was made."""
    model = PassiveAggressiveRegressor(C=1.0, epsilon=0.0).learn_one({"a": 1.0}, 0.0)
    known = model._known

    def late(**keywords):
        del model.__dict__["_known"]
        model.C = 0.25  # as if another thread did it, after the settings were read
        return known(**keywords)

    model.C = 0.5
    model.__dict__["_known"] = late
    model.learn_one({"a": 1.0}, 1e9)
    before = model.coef_.copy()
    model.learn_one({"a": 1.0}, 1e9)
    assert model.coef_ - before == [0.25]


def test_everything_at_once(tmp_path):
    """Four threads learn, predict, save and set parameters. No example is lost, and each saved model is whole."""
    model = PassiveAggressiveRegressor(C=1.0, epsilon=0.0).learn_one({"n0": 1.0, "n1": 1.0}, 10.0**9)
    X, counts, over = np.array([[1.0, 1.0]]), [0, 0, 0], time.monotonic() + 1.5

    def learn(which):
        while time.monotonic() < over:
            for _ in range(200 if counts[which] % 3 else 1):  # long enough to become the owner again
                model.learn_one({"n0": 1.0, "n1": 1.0}, 10.0**9)  # C = 1 limits each step: w and b get +1
                counts[which] += 1

    def learn_rows():
        while time.monotonic() < over:
            model.partial_fit(X, [10.0**9])
            model.predict_then_learn(np.concatenate([X, X]), [10.0**9] * 2)
            counts[2] += 3

    def read():
        path, seen = tmp_path / "model.safetensors", 0
        while time.monotonic() < over:
            model.set_params(verbose=0)
            a = model.predict_one({"n0": 1.0})
            b = model.predict(X)[0]
            assert a % 1.0 == 0.0 and b % 3.0 == 0.0 and 1.5 * a <= b
            save(model, path)
            saved = load(path)
            assert saved.n_seen_ >= seen and saved.coef_.tolist() == [saved.n_seen_] * 2
            seen = saved.n_seen_

    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for wait in [in_thread(work) for work in (lambda: learn(0), lambda: learn(1), learn_rows, read)]:
            wait()
    assert model.n_seen_ == 1 + sum(counts)
    assert model.coef_.tolist() == [model.n_seen_] * 2
